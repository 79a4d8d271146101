#include "minds.hpp"

#include <pollen/autograd/math.hpp>

#include <cstdio>

using namespace pollen;

Sequential<float> network(const Mushrooms& mushrooms, std::int64_t hidden) {
    return Sequential(Dense(mushrooms.width() + 2, hidden), Relu(), Dense(hidden, hidden), Relu(), Dense(hidden, 1));
}

Mind thompson(const std::string& name, const Sequential<float>& net, const BayesSettings& s) {
    const ScaleMixturePrior prior{.pi = s.pi,
                                  .sd1 = math::exp(-static_cast<double>(s.minus_log_sd1)),
                                  .sd2 = math::exp(-static_cast<double>(s.minus_log_sd2))};
    return {.name = name,
            .net = bayesian(net, {.prior = prior, .posterior = mean_field<float>(s.initial_sd)}),
            .rate = s.rate,
            .draws = 2,
            .noise_sd = s.noise_sd};
}

Mind greedy(const Sequential<float>& net, double rate, double epsilon) {
    char name[60];
    if (epsilon == 0)
        std::snprintf(name, sizeof name, "greedy, rate %g", rate);
    else
        std::snprintf(name, sizeof name, "%g %% chance, rate %g", 100 * epsilon, rate);
    return {.name = name, .net = net, .rate = rate, .epsilon = epsilon};
}
