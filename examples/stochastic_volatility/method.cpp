#include "method.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/support/error.hpp>

#include <algorithm>

using namespace pollen;
using D = Tensor<double>;

double Method::ess_per_second() const { return ess_bulk(Chains(found.at("sigma"))) / found.at("seconds").item(); }

Found summary_of_path(const D& s) {
    const std::int64_t chains = s.shape()[0], draws = s.shape()[1], n = s.shape()[2];
    D low = D::empty({n}), middle = D::empty({n}), high = D::empty({n}), moments = D::empty({n, 3});
    for (std::int64_t i = 0; i < n; ++i) {
        D day = D::empty({chains, draws});
        for (std::int64_t k = 0; k < day.size(); ++k) day.mutable_data()[k] = s.data()[k * n + i];
        const QuantitySummary q = summarise(Chains(day));
        low.mutable_at(i) = 100 * math::exp(q.q5);
        middle.mutable_at(i) = 100 * math::exp(q.q50);
        high.mutable_at(i) = 100 * math::exp(q.q95);
        moments.mutable_at(i, 0) = q.mean;
        moments.mutable_at(i, 1) = q.sd;
        moments.mutable_at(i, 2) = q.mcse;
    }
    return {{"low", low}, {"middle", middle}, {"high", high}, {"s", moments}};
}

void add_costs(Found& found, const Draws& run) {
    double seconds = 0, gradients = 0;
    for (const ChainRecord& chain : run.chains) {
        seconds += chain.warmup_seconds + chain.sampling_seconds;
        gradients += static_cast<double>(chain.gradient_count);
    }
    found["seconds"] = D::scalar(seconds);
    found["gradients"] = D::scalar(gradients);
}

Found summary_of(const Draws& run, const D& s) {
    Found found = summary_of_path(s);
    add_costs(found, run);
    found["sigma"] = run["sigma"];
    found["nu"] = run["nu"];
    return found;
}

const Method& method_of(const Methods& methods, const std::string& name) {
    for (const Method& m : methods)
        if (m.name == name) return m;
    throw ValueError("there is no method " + name);
}
