// Which mushrooms to eat: a network that explores by what it does not know (Thompson sampling), and ones that do not.
//
//     ./run example mushroom_bandit                              # on mushrooms that are made up
//     ./run example mushroom_bandit agaricus-lepiota.data        # on 8124 real descriptions
//
// A mushroom comes along, described by 22 attributes. To eat an edible one is worth 5; a poisonous one 5 or -35, each
// with probability 1/2, which is -15 on average; to leave it 0. What is not eaten teaches nothing about eating. An
// agent that has been poisoned twice may never eat again: it has to explore, and the question is how (Blundell et al.,
// Weight uncertainty in neural networks, 2015).
//
//     greedy             a network predicts the reward of each choice, and the better one is taken
//     but for epsilon    the same, but 5 or 1 % of the choices are left to chance, for ever
//     Thompson, BBB      the network has a posterior q(w) by Bayes by Backprop; each choice is the better one in the
//                        eyes of one draw w ~ q. What is uncertain differs from draw to draw, and so is tried
//
// Regret is what a choice is expected to cost beside that of one who knows: 5 for an edible mushroom that is left, 15
// for a poisonous one that is eaten. Two layers of 100 units, the last 4096 mushrooms to learn from, batches of 64 as
// in the paper; 16 steps of learning for a mushroom instead of 64, and 5,000 mushrooms instead of 50,000, to fit into
// minutes. Agents of a run get the same mushrooms with the same luck; the difference to greedy is of pairs.
//
// The file is agaricus-lepiota.data of the data set Mushroom of the UCI Machine Learning Repository,
// archive.ics.uci.edu. Without it mushrooms are made up, 23 species that vary, with as many attributes and values.
//
// Expected output: on the file, with --runs 4 --mushrooms 3000, the regret is 1824 (standard error 247) for greedy,
// 3399 (272) and 2385 (231) with 5 and 1 % left to chance, 3140 (246) for Thompson sampling: more than greedy by 1316
// (270). In the last fifth all of them eat 96 to 99 % of the edible mushrooms, and 2 (greedy), 10, 6 and 4 % of the
// poisonous. In the paper Thompson sampling does best; here it does not. It learns more slowly at the beginning, and
// none of these runs of greedy stayed away from mushrooms for long. Why is not known: half of the poisonous ones taste
// well, which may be enough to explore by; and runs are shorter than the paper's, with fewer steps of learning.
//
// Settings were chosen on two other runs of the file, of 1,500 or 3,000 mushrooms (the early ones on one of the two,
// with 50 units or 8 steps): for Thompson sampling out of 27 combinations of noise, prior, initial width, rate and
// estimator, for greedy out of the rates 0.0003, 0.001, 0.002 and 0.003, which those with epsilon share. At 0.001 one
// of the two runs of greedy left most mushrooms for 2,100 offers and had a regret of 5070, at 0.002 2035.
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/seeds.hpp"
#include "common/stage.hpp"
#include "common/table.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/interrupt.hpp>
#include <pollen/data/formats/csv.hpp>
#include <pollen/nn/layers/activations.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/training/update.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

using namespace pollen;

// ---- Mushrooms. ----

struct Mushrooms {
    std::vector<std::vector<float>> features;  // 22 attributes, each a 1 at its value and 0 elsewhere
    std::vector<bool> edible;

    double share_edible() const {
        return static_cast<double>(std::ranges::count(edible, true)) / static_cast<double>(edible.size());
    }
};

// The data of the UCI repository: e or p (edible, poisonous), then 22 letters. A missing value, ?, is a letter as well.
Mushrooms read_mushrooms(const std::string& path) {
    const TextTable table = read_csv_text(path, {.header = CsvOptions::Header::no});
    const std::string hint = "; the file is agaricus-lepiota.data of the data set Mushroom at archive.ics.uci.edu";
    if (table.columns.size() != 23)
        throw ValueError(path + " has " + std::to_string(table.columns.size()) + " columns, not 23" + hint);
    std::vector<std::map<std::string, std::size_t>> places(22);
    std::size_t width = 0;
    for (std::size_t a = 0; a < 22; ++a) {
        for (const auto& row : table.rows) places[a].emplace(row[a + 1], 0);
        for (auto& [letter, place] : places[a]) place = width++;
    }
    if (width > 1000) throw ValueError(path + " has " + std::to_string(width) + " different values" + hint);
    Mushrooms mushrooms;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const auto& row = table.rows[i];
        if (row[0] != "e" && row[0] != "p")
            throw ValueError(path + ", row " + std::to_string(i + 1) + ": the class is " + row[0] + ", not e or p" +
                             hint);
        std::vector<float> features(width, 0);
        for (std::size_t a = 0; a < 22; ++a) features[places[a].at(row[a + 1])] = 1;
        mushrooms.features.push_back(std::move(features));
        mushrooms.edible.push_back(row[0] == "e");
    }
    return mushrooms;
}

// Mushrooms made up: as many attributes with as many values, and 23 species, of which 12 are edible. A mushroom has
// each attribute as its species has it with probability 0.8, else any.
Mushrooms make_mushrooms(std::size_t count) {
    constexpr std::array<unsigned, 22> values{6, 4, 10, 2, 9, 2, 2, 2, 12, 2, 5, 4, 4, 9, 9, 1, 4, 3, 5, 9, 6, 7};
    Random random(1);
    std::array<std::array<unsigned, 22>, 23> species{};
    for (auto& letters : species)
        for (std::size_t a = 0; a < 22; ++a) letters[a] = random.below(values[a]);
    Mushrooms mushrooms;
    for (std::size_t i = 0; i < count; ++i) {
        const unsigned kind = random.below(23);
        std::vector<float> features;
        for (std::size_t a = 0; a < 22; ++a) {
            const unsigned letter = random.uniform() < 0.8 ? species[kind][a] : random.below(values[a]);
            for (unsigned v = 0; v < values[a]; ++v) features.push_back(v == letter ? 1.0f : 0.0f);
        }
        mushrooms.features.push_back(std::move(features));
        mushrooms.edible.push_back(kind < 12);
    }
    return mushrooms;
}

constexpr double pleasure = 5, poisoning = -35;  // rewards; not to eat has 0
constexpr double regret_of_leaving = 5,
                 regret_of_poison = 15;  // what a choice costs on average, if it is the wrong one

// ---- Agents. ----

constexpr std::int64_t buffer_size = 4096, batch_size = 64;
constexpr double unit = 10, noise_sd = 2;            // rewards are learned in units of 10, with noise of 2 points
constexpr double prior_sd = 0.1, initial_sd = 0.02;  // of the weights of the Bayesian network

struct Mind {
    Sequential<float> net;
    double rate;         // of learning
    double epsilon = 0;  // how often it leaves the choice to chance
};

// A network that predicts the reward of eating and of leaving a mushroom, learns from the last 4096 it was offered, and
// takes what promises more: in the eyes of one draw of its weights if it is Bayesian, which is Thompson sampling.
class Agent {
  public:
    Agent(const Mind& mind, std::int64_t features, std::int64_t updates, std::uint64_t seed)
        : net_(mind.net),
          epsilon_(mind.epsilon),
          rate_(mind.rate),
          width_(features + 2),
          updates_(updates),
          random_(seed, 2) {
        initialise(net_, seed);
        theta_ = parameters_.flatten();
        for (int k = 0; k < optimiser_.memories(); ++k) memory_.push_back(Tensor<float>::zeros(theta_.shape()));
    }

    bool eats(const std::vector<float>& mushroom) {
        if (random_.uniform() < epsilon_) return random_.uniform() < 0.5;
        Tensor<float> both = Tensor<float>::zeros({2, width_});
        write(both.mutable_data(), mushroom, true);
        write(both.mutable_data() + width_, mushroom, false);
        const Tensor<float> reward = predict<float>(
            prediction_tape_, net_, parameters_, theta_.values(), both,
            {.mode = Mode::sample, .seed = random_.key().seed, .draw = static_cast<std::uint64_t>(seen_)});
        return reward(0, 0) > reward(1, 0);
    }

    void learn(const std::vector<float>& mushroom, bool eaten, double reward) {
        const std::int64_t row = seen_++ % buffer_size;
        write(buffer_.inputs.mutable_data() + row * width_, mushroom, eaten);
        buffer_.targets.mutable_at(row, 0) = static_cast<float>(reward / unit);
        for (std::int64_t k = 0; k < updates_; ++k) update();
    }

  private:
    // The attributes, and what is done about them.
    void write(float* row, const std::vector<float>& mushroom, bool eat) const {
        std::ranges::copy(mushroom, row);
        row[width_ - 2] = eat ? 1 : 0;
        row[width_ - 1] = eat ? 0 : 1;
    }

    // A step of Adam on  -1/64 sum_batch log p(reward | w) + (log q(w) - log p(w)) / N,  N the items in the buffer. A
    // network without random weights has no second term.
    void update() {
        const std::int64_t items = std::min(seen_, buffer_size);
        for (std::int64_t& item : chosen_) item = random_.below(static_cast<std::uint64_t>(items));
        const Dataset<float> batch = buffer_.take(chosen_);
        tape_.clear();
        pass_.restart({.mode = Mode::train, .seed = random_.key().seed, .step = static_cast<std::uint64_t>(step_)},
                      theta_.values());
        const Var<float> log_prob = likelihood_.log_prob(pass_, net_(pass_, tape_.borrow(batch.inputs)), batch);
        Var<float> loss = log_prob * (-1.0 / batch_size);
        const float share = 1 / static_cast<float>(items);
        for (const Var<float>& log_q_log_p : pass_.complexities())
            loss = loss + sum(log_q_log_p * Tensor<float>{share, -share});
        update_(loss, {.rate = rate_, .step = step_++});
    }

    Sequential<float> net_;
    double epsilon_, rate_;
    std::int64_t width_, updates_, seen_ = 0, step_ = 0;
    Random random_;
    Dataset<float> buffer_{Tensor<float>::zeros({buffer_size, width_}), Tensor<float>::zeros({buffer_size, 1})};
    std::vector<std::int64_t> chosen_ = std::vector<std::int64_t>(batch_size);

    Gaussian<float> likelihood_ = Gaussian<float>::known(noise_sd / unit);
    Optimiser optimiser_ = Adam{};
    Parameters<float> parameters_{net_};
    Tensor<float> theta_;
    std::vector<Tensor<float>> memory_;
    Tape<float> tape_, prediction_tape_{Recording::off};
    Pass<float> pass_{tape_, parameters_};
    Update<float> update_{optimiser_, tape_, pass_, theta_, memory_};
};

// ---- One run: an agent, and mushrooms that come along. ----

constexpr std::int64_t marks = 100;  // points of a curve

struct Run {
    std::array<double, marks> regret{};                 // so far
    double edible = 0, poisonous = 0, late_regret = 0;  // of the last fifth: what share is eaten, regret a mushroom
};

// Agents with the same seed are offered the same mushrooms with the same luck.
Run live(Agent& agent, const Mushrooms& mushrooms, std::int64_t length, std::uint64_t seed) {
    Random world(seed, 1);
    Run run;
    double regret = 0;
    std::array<double, 2> offered{}, eaten{};  // poisonous, edible
    for (std::int64_t t = 0; t < length; ++t) {
        if (Interrupt::requested()) throw Interrupted();
        const std::size_t i = world.below(mushrooms.edible.size());
        const bool lucky = world.uniform() < 0.5, edible = mushrooms.edible[i];
        const bool eat = agent.eats(mushrooms.features[i]);
        agent.learn(mushrooms.features[i], eat, !eat ? 0 : edible || lucky ? pleasure : poisoning);
        const double cost = edible ? (eat ? 0 : regret_of_leaving) : (eat ? regret_of_poison : 0);
        regret += cost;
        run.regret[static_cast<std::size_t>(t * marks / length)] = regret;
        if (t < length - length / 5) continue;
        run.late_regret += cost / static_cast<double>(length / 5);
        ++offered[edible];
        eaten[edible] += eat;
    }
    run.edible = eaten[1] / std::max(1.0, offered[1]);
    run.poisonous = eaten[0] / std::max(1.0, offered[0]);
    return run;
}

// ---- All runs of all agents, in a table and a figure. ----

struct Setting {
    Mushrooms mushrooms;
    std::int64_t length, updates, runs;
    std::uint64_t seed;

    std::int64_t width() const { return static_cast<std::int64_t>(mushrooms.features[0].size()); }
};

struct Lives {
    std::string name;
    double epsilon;
    Found found;  // regret: (runs, marks); late: (runs, 3), edible and poisonous eaten, regret

    // A number of each run.
    std::vector<double> column(const std::string& key, std::int64_t k, double factor = 1) const {
        const Tensor<double>& x = found.at(key);
        std::vector<double> values;
        for (std::int64_t r = 0; r < x.shape()[0]; ++r) values.push_back(factor * x(r, k));
        return values;
    }
    std::vector<double> regret() const { return column("regret", marks - 1); }
};

Found live_all(const Setting& s, const Mind& mind) {
    const Interrupt interrupt;
    Found found{{"regret", Tensor<double>::zeros({s.runs, marks})}, {"late", Tensor<double>::zeros({s.runs, 3})}};
    double* regret = found["regret"].mutable_data();
    double* late = found["late"].mutable_data();
    parallel_for(s.runs, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t r = first; r < last; ++r) {
            const std::uint64_t seed = 1000 * s.seed + static_cast<std::uint64_t>(r);
            Agent agent(mind, s.width(), s.updates, seed);
            const Run run = live(agent, s.mushrooms, s.length, seed);
            std::ranges::copy(run.regret, regret + r * marks);
            std::ranges::copy(std::array{run.edible, run.poisonous, run.late_regret}, late + r * 3);
        }
    });
    return found;
}

// The first agent is greedy, whom the others are compared with, run by run.
ResultTable table_of(const Setting& s, const std::vector<Lives>& agents) {
    ResultTable table({"agent", "regret", "less than greedy by", "late regret of 1000", "of exploring alone",
                       "edible eaten, %", "poisonous eaten, %"});
    const double edible = s.mushrooms.share_edible(), offered = static_cast<double>(s.length);
    const double leaving = regret_of_leaving * edible, poison = regret_of_poison * (1 - edible);
    const std::vector<double> greedy = agents.front().regret();
    for (const Lives& agent : agents) {
        std::vector<double> gain = agent.regret();
        for (std::size_t r = 0; r < gain.size(); ++r) gain[r] = greedy[r] - gain[r];
        table.row({agent.name,
                   mean_cell(agent.regret(), 0),
                   &agent == &agents.front() ? Cell("-") : mean_cell(gain, 0),
                   mean_cell(agent.column("late", 2, 1000), 0),
                   {1000 * agent.epsilon * (leaving + poison) / 2, 0},
                   mean_cell(agent.column("late", 0, 100), 1),
                   mean_cell(agent.column("late", 1, 100), 1)});
    }
    table.row({"eats none", {leaving * offered, 0}, "", {1000 * leaving, 0}, "", {0, 1}, {0, 1}});
    table.row({"eats all", {poison * offered, 0}, "", {1000 * poison, 0}, "", {100, 1}, {100, 1}});
    return table;
}

void draw(const Example& example, const Setting& s, const std::vector<Lives>& agents) {
    Figure figure(example.path("mushroom_bandit"));
    Panel& panel = figure.panel("What wrong choices cost, added up (bars: one standard error)", "mushrooms offered",
                                "regret, points");
    const double offered = static_cast<double>(s.length);
    std::int64_t first_bar = 13;
    for (const Lives& agent : agents) {
        std::vector<double> at, mean, bar_at, bar, low, high;
        for (std::int64_t k = 0; k < marks; ++k) {
            const Cell so_far = mean_cell(agent.column("regret", k), 0);
            at.push_back(offered * static_cast<double>(k + 1) / marks);
            mean.push_back(so_far.value);
            if (k % 20 != first_bar) continue;
            bar_at.push_back(at.back());
            bar.push_back(so_far.value);
            low.push_back(so_far.value - so_far.error);
            high.push_back(so_far.value + so_far.error);
        }
        first_bar += 2;  // so that bars of different agents stand side by side
        panel.line(agent.name, at, mean);
        panel.intervals("", bar_at, bar, low, high);
    }
    panel.dashed("eats none", {0, offered}, {0, regret_of_leaving * s.mushrooms.share_edible() * offered});
    figure.save();
}

const char* const in_words = R"(
Regret grows while an agent learns, and later by what it goes on getting wrong: the column of late regret. An agent that
leaves some choices to chance pays for them for ever, what exploring alone costs; what its network gets wrong comes on
top. Thompson sampling explores where its posterior is wide. Whether that is worth it is the column of paired
differences to greedy, with its standard error: below 0 greedy did better, as it does on the real mushrooms (see the top
of the source), against the paper.
)";

int main(int argc, char** argv) {
    Example example("Mushrooms: Thompson sampling with Bayes by Backprop, and agents that do not know what they know.",
                    "5 minutes");
    std::string file;
    std::int64_t length = 5000, updates = 16, runs = 6, hidden = 100;
    example.file("FILE", file,
                 "agaricus-lepiota.data of the data set Mushroom, UCI Machine Learning Repository, "
                 "archive.ics.uci.edu; without it mushrooms are made up");
    example.option("--mushrooms", length, 1000, "mushrooms that are offered in a run", marks);
    example.option("--updates", updates, 8, "steps of learning after each", 0);
    example.option("--runs", runs, 2, "runs of each agent", 2);
    example.option("--hidden", hidden, 20, "units of each of two layers", 1);
    return example.run(argc, argv, [&] {
        const Setting s{file.empty() ? make_mushrooms(8124) : read_mushrooms(file), length, updates, runs,
                        example.seed};
        example.data(file.empty() ? "made up" : file, std::ssize(s.mushrooms.edible));
        std::printf("%zu mushrooms %s, %lld values of 22 attributes, %.1f %% edible\n\n", s.mushrooms.edible.size(),
                    file.empty() ? "that are made up (give the file of UCI for real ones, see --help)" : file.c_str(),
                    static_cast<long long>(s.width()), 100 * s.mushrooms.share_edible());

        const Sequential net{Dense(s.width() + 2, hidden), Relu(), Dense(hidden, hidden), Relu(), Dense(hidden, 1)};
        const Sequential twin =
            bayesian(net, {.prior = GaussianPrior{.sd = prior_sd}, .posterior = mean_field<float>(initial_sd)});
        std::vector<Lives> agents;
        const auto add = [&](const std::string& name, const Mind& mind) {
            agents.push_back({name, mind.epsilon, stage(example, name, [&] { return live_all(s, mind); })});
        };
        add("greedy", {net, 0.002});
        add("greedy but for 5 %", {net, 0.002, 0.05});
        add("greedy but for 1 %", {net, 0.002, 0.01});
        add("Thompson, BBB", {twin, 0.001});

        const ResultTable table = table_of(s, agents);
        table.show();
        table.save(example.path("mushroom_bandit"));
        draw(example, s, agents);
        std::printf("%s", in_words);
    });
}
