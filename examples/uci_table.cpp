// Networks on tables: what does a posterior of weights add on the sets of UCI?
//
//     ./run example uci_table                       yacht, energy, concrete and red wine, which come with pollen
//     ./run example uci_table --from DIRECTORY      also kin8nm and power plant, from DIRECTORY/kin8nm.txt and
//                                                   DIRECTORY/power-plant.txt, plain or .gz, the target last
//
// A hidden layer of 50 ReLU units, and twenty random splits into 90 % training and 10 % test data, as since
// Hernandez-Lobato and Adams (2015). Inputs and target are standardised on the training part. All methods have the
// same noise for all items, learned, and priors N(0, prior^2 / fan in).
//
//     MAP                  one network with the most probable weights
//     ensemble             five of them, from different starts
//     MC dropout           Gal & Ghahramani 2016
//     Bayes by Backprop    Blundell et al. 2015, with local reparameterisation
//     SGHMC, HMC           five chains, which start at the networks
//     SWAG                 Maddox et al. 2019, from the first network; multi-SWAG from all five
//     Laplace, last layer  of the first network, its prior chosen by the evidence
//
// Settings are chosen anew in each split, by -log p on a fifth of its training part; the method is then fitted to all
// of that part. The test part has no say. The choices are the prior (0.5, 1, 2, 4 or 8), the rate of dropout (0.005 to
// 0.1) and that of SWAG. Dropout and SWAG take the prior that was best for MAP. The last row is a mistake: there the
// rate of dropout is the one with the least -log p on the test part.
//
//     rmse        root mean squared error, in the units of the table
//     -log p      per item, in nats, in these units
//     coverage    the share of test items in the central 90 % interval of their predictions
//
// +- is a standard error over the splits. Splits share data, so that it is somewhat too small for another table of the
// same kind. Published numbers: PBP, MC dropout (also with ten times the epochs) and ensembles as Lakshminarayanan et
// al. (2017) list them, VI from google/uncertainty-baselines. Their splits are others. Their ensembles predict the
// noise of each item.
//
// Expected output: five tables of results, one of the settings that were chosen, and the figure uci_table_scores. HMC
// has the least -log p on energy and concrete. Its chains, and those of SGHMC, do not agree (R-hat of the predictions
// is about 2), so what they score is not yet what the posterior would.
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/regression.hpp"
#include "common/seeds.hpp"
#include "common/stage.hpp"
#include "common/table.hpp"
#include "uci_table/methods.hpp"
#include "uci_table/sets.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/data/sets/table.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

using namespace pollen;

constexpr const char* cheat = "MC dropout, chosen on the test data";

// Training and test data of a split; and the training data alone, a fifth of them for validation.
struct Split {
    RegressionTask validation, test;
    std::uint64_t seed;

    // With `slip` scores are those of the standardised target.
    Split(const Dataset<float>& data, std::uint64_t split_seed, bool slip) : seed(split_seed) {
        const auto [train_data, test_data] = split(data, 0.9, seed);
        const auto [fitted, held_out] = split(train_data, 0.8, seed);
        validation = standardised(fitted, held_out);
        test = standardised(train_data, test_data);
        if (slip) validation.unit = test.unit = 1;
    }
};

// The networks that methods begin with: three for validation, with the prior that is best for one of them on average,
// and `members` for the test.
struct Beginnings {
    Networks validation, test;
};

Tensor<double> in_rows(const std::vector<std::vector<float>>& thetas) {
    Tensor<double> rows = Tensor<double>::empty({std::ssize(thetas), std::ssize(thetas.at(0))});
    double* to = rows.mutable_data();
    for (const auto& theta : thetas) to = std::ranges::copy(theta, to).out;
    return rows;
}

std::vector<std::vector<float>> of_rows(const Tensor<double>& rows) {
    std::vector<std::vector<float>> thetas;
    for (std::int64_t k = 0; k < rows.shape()[0]; ++k)
        for (std::int64_t i = 0; i < rows.shape()[1]; ++i) {
            if (i == 0) thetas.emplace_back();
            thetas.back().push_back(static_cast<float>(rows(k, i)));
        }
    return thetas;
}

Beginnings beginnings(const Example& example, const std::string& name, const Split& split, const Budget& budget) {
    const Found found = stage(example, name, [&] {
        Networks best;
        double least = std::numeric_limits<double>::infinity();
        for (const double prior : priors) {
            const std::int64_t count = std::min<std::int64_t>(3, budget.members);
            const Networks networks = train_networks(split.validation, prior, count, budget, split.seed);
            double nll = 0;
            for (const auto& theta : networks.thetas)
                nll += predict_networks(split.validation, {prior, {theta}}).nll(split.validation);
            if (nll < least || best.thetas.empty()) best = networks, least = nll;
        }
        const Networks test = train_networks(split.test, best.prior, budget.members, budget, split.seed);
        return Found{{"prior", Tensor<double>{best.prior}},
                     {"validation", in_rows(best.thetas)},
                     {"test", in_rows(test.thetas)}};
    });
    const double prior = found.at("prior").item();
    return {{prior, of_rows(found.at("validation"))}, {prior, of_rows(found.at("test"))}};
}

// The settings of a method, those with the least -log p on the test data of a task first. One that diverges is left
// out.
std::vector<double> ranked_settings(const Method& method, const RegressionTask& task, const Networks& networks,
                                    std::uint64_t seed) {
    if (method.settings.size() == 1) return method.settings;
    std::vector<double> nll(method.settings.size());
    parallel_for(std::ssize(nll), 1, [&](std::int64_t begin, std::int64_t end) {
        for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
            try {
                nll[k] = method.predict(task, networks, method.settings[k], seed).nll(task);
            } catch (const Diverged&) {
                nll[k] = std::numeric_limits<double>::infinity();
            }
        }
    });
    std::map<double, double> ranked;
    for (std::size_t k = 0; k < nll.size(); ++k)
        if (std::isfinite(nll[k])) ranked.emplace(nll[k], method.settings[k]);
    std::vector<double> settings;
    for (const auto& [value, setting] : ranked) settings.push_back(setting);
    if (settings.empty()) throw ValueError(method.name + " diverges with all settings");
    return settings;
}

// What a method scores on the test part, with the first of these settings with which it does not diverge there.
Found score(const Method& method, std::vector<double> settings, const Split& split, const Networks& networks) {
    for (;; settings.erase(settings.begin())) {
        try {
            const Mixture mixture = method.predict(split.test, networks, settings.at(0), split.seed);
            Found found{{"rmse", Tensor<double>{mixture.rmse(split.test)}},
                        {"-log p", Tensor<double>{mixture.nll(split.test)}},
                        {"coverage", Tensor<double>{mixture.coverage(split.test)}},
                        {"setting", Tensor<double>{settings[0]}}};
            if (mixture.rhat > 0) found.emplace("R-hat", Tensor<double>{mixture.rhat});
            return found;
        } catch (const Diverged&) {
            if (settings.size() == 1) throw ValueError(method.name + " diverges with all settings");
        }
    }
}

// What the methods score on one split.
void score_split(const Example& example, const std::string& set, const Split& split, const std::string& number,
                 const Budget& budget, std::vector<Scores>& scores) {
    const auto stage_name = [&](const std::string& what) { return set + ", " + what + ", split " + number; };
    const Beginnings networks = beginnings(example, stage_name("networks"), split, budget);
    std::vector<Method> methods = methods_of(budget);
    // A mistake, to show what it is worth.
    methods.push_back(*std::ranges::find(methods, "MC dropout", &Method::name));
    methods.back().name = cheat;
    methods.front().settings = {networks.test.prior};
    for (std::size_t k = 0; k < methods.size(); ++k) {
        const Method& method = methods[k];
        const bool cheats = method.name == cheat;
        const Found found = stage(example, stage_name(method.name), [&] {
            std::vector<double> settings;
            if (method.settings.empty())  // multi-SWAG: the rate of SWAG, or less if another network diverges with it
                for (const double part : {1.0, 0.3, 0.1})
                    settings.push_back(part * scores[k - 1].of.at("setting").back());
            else
                settings = ranked_settings(method, cheats ? split.test : split.validation,
                                           cheats ? networks.test : networks.validation, split.seed);
            return score(method, settings, split, networks.test);
        });
        if (scores.size() <= k) scores.push_back({method.name});
        for (const auto& [name, value] : found) scores[k].add(name, value.item());
    }
}

// Scores of each method, one a split, for each set.
using AllScores = std::map<std::string, std::vector<Scores>>;

// A row for each method and a column for each set, with means over the splits; then what others have published.
ResultTable table_of_sets(const std::vector<UciSet>& sets, const AllScores& scores, const std::string& name, int digits,
                          double Published::*reported) {
    std::vector<std::string> columns{name};
    for (const UciSet& set : sets) columns.push_back(set.name);
    ResultTable table(columns);
    const auto add_row = [&](const std::string& method, const auto& cell_of) {
        std::vector<Cell> row{method};
        for (const UciSet& set : sets) row.push_back(cell_of(set.name));
        table.row(row);
    };
    const std::vector<Scores>& methods = scores.at(sets[0].name);
    for (std::size_t k = 0; k < methods.size(); ++k) {
        if (!methods[k].of.contains(name)) continue;
        add_row(methods[k].method,
                [&](const std::string& set) { return mean_cell(scores.at(set)[k].of.at(name), digits); });
    }
    if (!reported) return table;
    const std::vector<Published> others = published(sets[0].name);
    for (std::size_t k = 0; k < others.size(); ++k)
        if (std::isfinite(others[k].*reported))
            add_row(others[k].method, [&](const std::string& set) { return Cell(published(set)[k].*reported, 2); });
    return table;
}

// How many splits chose each setting: "1: 3, 2: 17".
ResultTable table_of_settings(const std::vector<UciSet>& sets, const AllScores& scores, const Budget& budget) {
    std::vector<std::string> columns{"chosen"};
    for (const UciSet& set : sets) columns.push_back(set.name);
    ResultTable table(columns);
    for (const Method& method : methods_of(budget)) {
        if (method.choice.empty()) continue;
        std::vector<Cell> row{method.name + ", " + method.choice};
        for (const UciSet& set : sets) {
            std::map<double, int> splits;
            for (const Scores& s : scores.at(set.name))
                if (s.method == method.name)
                    for (const double setting : s.of.at("setting")) ++splits[setting];
            std::string text;
            for (const auto& [setting, count] : splits)
                text += (text.empty() ? "" : ", ") + to_text(setting) + ": " + std::to_string(count);
            row.emplace_back(text);
        }
        table.row(row);
    }
    return table;
}

// Means of -log p with two standard errors, and crosses for the splits.
void draw(const Example& example, const std::vector<UciSet>& sets, const AllScores& scores) {
    Figure figure(example.path("uci_table_scores"), 2);
    for (const UciSet& set : sets) {
        Panel& panel = figure.panel(set.name, "-log p, nats", "");
        std::vector<Scores> methods = scores.at(set.name);
        methods.pop_back();  // the mistake
        draw_scores(panel, methods, "-log p", "one split");
    }
    figure.save();
}

int main(int argc, char** argv) {
    Example example("Networks on tables of UCI: nine ways to the uncertainty of a prediction.", "20 minutes");
    std::string from, only;
    std::int64_t splits = 20;
    Budget budget;
    bool slip = false;
    example.option("--from", from, "a directory with kin8nm and power-plant, which are then used as well");
    example.option("--only", only, "the name of the only set to use, such as yacht");
    example.option("--splits", splits, 2, "into training and test data", 1);
    example.option("--updates", budget.updates, 200, "steps of Adam for a network", 10);
    example.option("--members", budget.members, 2, "networks of an ensemble", 1);
    example.option("--draws", budget.draws, 10, "draws of weights that a prediction averages", 2);
    example.option("--hmc", budget.hmc, 15, "iterations of a chain of HMC", 15);
    example.flag("--slip", slip, "a broken twin for the tests: scores in standardised units");
    return example.run(argc, argv, [&] {
        AllScores scores;
        const std::vector<UciSet> sets = uci_sets(from, only);
        std::vector<Dataset<float>> data;
        for (const UciSet& set : sets) {
            const pollen::Table table = read_table(set.path);
            data.push_back(table_dataset<float>(table, table.columns.back(), Target::numbers));
            example.data(set.path, data.back().size());
            if (data.back().size() < 50)
                throw ValueError(set.path + ": has " + std::to_string(data.back().size()) +
                                 " rows; at least 50 are needed");
        }
        for (std::size_t s = 0; s < sets.size(); ++s) {
            const UciSet& set = sets[s];
            for (std::int64_t k = 0; k < splits; ++k)
                score_split(example, set.name, Split(data[s], example.seed + static_cast<std::uint64_t>(k), slip),
                            std::to_string(k + 1), budget, scores[set.name]);
            std::vector<Scores>& of_set = scores[set.name];
            for (std::size_t k = 1; k < of_set.size(); ++k)
                of_set[k].add_difference("-log p less that of MAP", "-log p", of_set[0], "-log p");
        }
        const auto show = [&](const ResultTable& table, const std::string& name) {
            table.show();
            table.save(example.path(name));
        };
        show(table_of_sets(sets, scores, "-log p", 3, &Published::nll), "uci_table");
        show(table_of_sets(sets, scores, "-log p less that of MAP", 3, nullptr), "uci_table_paired");
        show(table_of_sets(sets, scores, "rmse", 3, &Published::rmse), "uci_table_rmse");
        show(table_of_sets(sets, scores, "coverage", 1, nullptr), "uci_table_coverage");
        show(table_of_sets(sets, scores, "R-hat", 2, nullptr), "uci_table_chains");
        show(table_of_settings(sets, scores, budget), "uci_table_settings");
        draw(example, sets, scores);
    });
}
