#include "tuning.hpp"

#include "../common/seeds.hpp"

#include <cstdio>
#include <limits>

using namespace pollen;

namespace {

class Search {
  public:
    Search(const Example& example, const Setting& setting, const Sequential<float>& net, BayesSettings start)
        : example_(example), setting_(setting), net_(net), best_(start) {}

    // Tries settings; those with the smallest mean regret so far are best().
    void attempt(const BayesSettings& s) {
        char name[120];
        std::snprintf(name, sizeof name, "Thompson %g %g %g %g %d %d", s.noise_sd, s.initial_sd, s.rate, s.pi,
                      s.minus_log_sd1, s.minus_log_sd2);
        const std::vector<double> regrets = live_all(example_, setting_, thompson(name, net_, s)).regrets();
        table_.row({"Thompson, BBB",
                    {s.rate, 4},
                    {s.noise_sd, 0},
                    {s.initial_sd, 3},
                    {s.pi, 2},
                    {static_cast<double>(s.minus_log_sd1), 0},
                    {static_cast<double>(s.minus_log_sd2), 0},
                    mean_cell(regrets, 0)});
        if (mean_of(regrets) >= least_) return;
        least_ = mean_of(regrets);
        best_ = s;
    }
    void attempt_greedy(double rate) {
        const Mind mind = greedy(net_, rate, 0);
        table_.row(
            {"greedy", {rate, 4}, "", "", "", "", "", mean_cell(live_all(example_, setting_, mind).regrets(), 0)});
    }
    const BayesSettings& best() const { return best_; }
    const ResultTable& table() const { return table_; }

  private:
    const Example& example_;
    const Setting& setting_;
    const Sequential<float>& net_;
    BayesSettings best_;
    double least_ = std::numeric_limits<double>::infinity();
    ResultTable table_{{"agent", "rate", "noise sd", "initial sd", "pi", "-log sd1", "-log sd2", "regret"}};
};

}  // namespace

void tune(const Example& example, const Setting& setting, const Sequential<float>& net) {
    const BayesSettings start{
        .noise_sd = 2, .initial_sd = 0.02, .rate = 0.001, .pi = 0.5, .minus_log_sd1 = 0, .minus_log_sd2 = 6};
    Search search(example, setting, net, start);
    for (const double noise_sd : {2.0, 5.0, 10.0, 20.0})
        for (const double rate : {0.0005, 0.001, 0.002}) {
            BayesSettings s = start;
            s.noise_sd = noise_sd;
            s.rate = rate;
            search.attempt(s);
        }
    const BayesSettings noise_and_rate = search.best();
    for (const double initial_sd : {0.01, 0.05, 0.1}) {
        BayesSettings s = noise_and_rate;
        s.initial_sd = initial_sd;
        search.attempt(s);
    }
    const BayesSettings widths = search.best();
    for (const double pi : {0.25, 0.5, 0.75})
        for (const int sd1 : {0, 1, 2})
            for (const int sd2 : {6, 7, 8}) {
                BayesSettings s = widths;
                s.pi = pi;
                s.minus_log_sd1 = sd1;
                s.minus_log_sd2 = sd2;
                search.attempt(s);
            }
    for (const double rate : {0.0003, 0.001, 0.002, 0.003}) search.attempt_greedy(rate);
    search.table().show();
    search.table().save(example.path("mushroom_bandit_tuning"));
}
