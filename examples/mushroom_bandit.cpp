// Which mushrooms to eat: a network that explores by what it does not know (Thompson sampling), and ones that do not.
//
//     ./run example mushroom_bandit                                  # 5,000 mushrooms, ten runs
//     ./run example mushroom_bandit --mushrooms 50000 --rates 1 --out results/mushroom_bandit_long
//     ./run example mushroom_bandit --tune --mushrooms 1000 --runs 3 --out results/mushroom_bandit_tuning
//
// A mushroom comes along, described by 22 attributes. To eat an edible one is worth 5; a poisonous one 5 or -35, each
// with probability 1/2, which is -15 on average; to leave it 0. What is not eaten teaches nothing about eating. An
// agent that has been poisoned twice may never eat again: it has to explore, and the question is how (Blundell et al.,
// Weight uncertainty in neural networks, 2015). The mushrooms are the data set of UCI.
//
//     greedy             a network predicts the reward of each choice, and the better one is taken
//     1 or 5 % chance    the same, but 1 or 5 % of all choices are left to chance, for ever
//     Thompson, BBB      the network has a posterior q(w) by Bayes by Backprop; each choice is the better one in the
//                        eyes of two draws w ~ q, averaged. What is uncertain differs from draw to draw, and so is
//                        tried
//
// Regret is what a choice is expected to cost beside that of one who knows: 5 for an edible mushroom that is left, 15
// for a poisonous one that is eaten. As in the paper: two layers of 100 units, the last 4,096 mushrooms to learn from,
// 64 steps of learning after each, on batches of 64, log q(w) - log p(w) divided by 64 batches, and a scale mixture as
// prior. Unlike the paper: Adam in the place of SGD, and 5,000 mushrooms in the place of 50,000 in the shorter run.
// Agents of a run get the same mushrooms with the same luck; differences to Thompson sampling are of pairs.
//
// Settings were chosen by --tune, on three runs of 1,000 mushrooms with other seeds: for Thompson sampling out of 12
// combinations of noise and rate, 4 initial widths, and the paper's 27 priors; for greedy out of the rates 0.0003,
// 0.001, 0.002 and 0.003, of which both of the two best are shown. Differences between most settings are smaller than
// their standard errors: from 762 (209) to 1325 (92) for the 27 priors, 798 (262) for greedy at its best rate.
//
// Expected output, ten runs of 5,000 mushrooms: the regret is 3426 (standard error 316) for Thompson sampling, 3442
// (597) for greedy at the rate 0.002 and 4505 (1433) at the rate 0.001, with medians of 3265, 2972 and 2440. Paired,
// greedy has 16 (729) and 1079 (1501) more. At the rate 0.001, two of the ten greedy agents soon eat nothing any more,
// as in the paper, and have regrets of 12,770 and 12,815; the worst run of Thompson sampling has 5010.
//
//     mushroom_bandit/   mushrooms: the data            agent: a network that learns and chooses
//                        minds: what agents there are   lives: runs, kept and gone on with
//                        results: table, figures        tuning: the search for settings
#include "common/example.hpp"
#include "common/seeds.hpp"
#include "mushroom_bandit/lives.hpp"
#include "mushroom_bandit/minds.hpp"
#include "mushroom_bandit/results.hpp"
#include "mushroom_bandit/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace pollen;

// What --tune found.
constexpr BayesSettings tuned{
    .noise_sd = 2, .initial_sd = 0.05, .rate = 0.001, .pi = 0.25, .minus_log_sd1 = 2, .minus_log_sd2 = 6};
constexpr double greedy_rates[] = {0.002, 0.001};

void say_what_it_shows(const std::vector<Lives>& agents) {
    std::printf(
        "Regret grows while an agent learns, and later by what it goes on getting wrong. What a greedy agent has\n"
        "more than Thompson sampling in runs with the same mushrooms and the same luck, in standard errors:\n");
    const std::vector<double> thompson = agents.front().regrets();
    for (auto agent = agents.begin() + 1; agent != agents.end(); ++agent) {
        std::vector<double> more = agent->regrets();
        for (std::size_t r = 0; r < more.size(); ++r) more[r] -= thompson[r];
        const Cell difference = mean_cell(more, 0);
        std::printf("    %-26s %+8.0f  %+5.1f  more in %lld of %zu runs\n", agent->name.c_str(), difference.value,
                    difference.value / difference.error,
                    static_cast<long long>(std::ranges::count_if(more, [](double x) { return x > 0; })), more.size());
    }
}

int main(int argc, char** argv) {
    Example example("Mushrooms: Thompson sampling with Bayes by Backprop, and agents that do not know what they know.",
                    "12 minutes");
    std::int64_t length = 5000, updates = 64, runs = 10, hidden = 100, rates = 2;
    bool tuning = false, flipped = false;
    example.option("--mushrooms", length, 500, "mushrooms that are offered in a run", marks);
    example.option("--updates", updates, 8, "steps of learning after each", 0);
    example.option("--runs", runs, 3, "runs of each agent", 2);
    example.option("--hidden", hidden, 50, "units of each of two layers", 1);
    example.option("--rates", rates, 1, "rates of the greedy agents: 1 for 0.002, 2 for 0.001, too", 1);
    example.flag("--tune", tuning, "try settings instead, on runs of other seeds");
    example.flag("--flip", flipped, "a broken twin for the tests: rewards are learned with the wrong sign");
    return example.run(argc, argv, [&] {
        const Mushrooms mushrooms = read_mushrooms();
        const Sequential net = network(mushrooms, hidden);
        const std::uint64_t first_seed = 1000 * example.seed;
        if (tuning) return tune(example, {mushrooms, length, updates, runs, first_seed + 500}, net);
        std::printf("%zu mushrooms, %lld values of 22 attributes, %.1f %% edible\n\n", mushrooms.edible.size(),
                    static_cast<long long>(mushrooms.width()), 100 * mushrooms.share_edible());

        const Setting s{mushrooms, length, updates, runs, first_seed};
        std::vector<Mind> minds{thompson("Thompson, BBB", net, tuned)};
        for (const double rate : std::span(greedy_rates).first(rates == 1 ? 1 : 2))
            for (const double epsilon : {0.0, 0.01, 0.05}) minds.push_back(greedy(net, rate, epsilon));
        std::vector<Lives> agents;
        for (Mind& mind : minds) {
            mind.flipped = flipped;
            agents.push_back(live_all(example, s, mind));
        }
        const std::string name = length > 5000 ? "mushroom_bandit_long" : "mushroom_bandit";
        show_table(example, name, s, agents);
        draw_curves(example, name, s, agents);
        draw_runs(example, name, s, agents);
        say_what_it_shows(agents);
    });
}
