#include <pollen/samplers/calibration/calibration.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/streams.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/calibration/detail/simulations.hpp>
#include <pollen/samplers/diagnostics/detail/draws_math.hpp>
#include <pollen/samplers/diagnostics/detail/text_table.hpp>
#include <pollen/samplers/diagnostics/diagnostics.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

namespace {

constexpr const char* who = "geweke_test";

void check(const GewekeOptions& o) {
    check_sizes(who, {{"chains", o.chains}, {"transitions", o.transitions}});
    if (o.chains > 10'000'000)
        throw ValueError("geweke_test: chains is " + std::to_string(o.chains) + "; at most 10000000 are possible");
    if (o.draws < 20) throw ValueError("geweke_test: draws is " + std::to_string(o.draws) + "; at least 20 are needed");
}

// Both simulations of one chain: draws of each tested value, one after the other.
struct BothDraws {
    std::vector<std::string> names;
    std::vector<double> prior, chain;
};

std::uint64_t fresh_seed(Random& random) {
    const std::uint64_t high = random.bits();
    return high << 32 | random.bits();
}

template <Real T>
void simulate_both(const Simulation<T>& model, const detail::BeginChain<T>& begin, const GewekeOptions& o,
                   std::uint32_t number, BothDraws& out) {
    Random random(o.seed, stream_of(Purpose::simulations, number));
    detail::Simulated<T> now = detail::simulate(model, random);
    out.names = detail::tested_names(*now.posterior);
    const std::size_t count = out.names.size(), draws = static_cast<std::size_t>(o.draws);
    std::vector<double> values(count);
    out.prior.resize(count * draws);
    out.chain.resize(count * draws);
    const auto check_stop = [&] { detail::check_stop(o.stop); };
    const auto keep = [&](std::vector<double>& to, std::size_t t, const detail::Simulated<T>& at) {
        detail::tested_values<T>(*at.posterior, at.theta, values);
        for (std::size_t k = 0; k < count; ++k) to[k * draws + t] = values[k];
    };
    for (std::size_t t = 0; t < draws; ++t) {
        keep(out.prior, t, detail::simulate(model, random));
        check_stop();
    }
    for (std::size_t t = 0; t < draws; ++t) {
        const auto chain =
            begin(std::move(now.posterior), ChainStart<T>{now.theta, fresh_seed(random), number, 0, 0, 1, check_stop});
        for (std::int64_t k = 0; k < o.transitions; ++k) {
            chain->step();
            check_stop();
        }
        now.theta.assign(chain->position().begin(), chain->position().end());
        now.posterior = detail::simulate_data<T>(model, now.theta, random);
        keep(out.chain, t, now);
        check_stop();
    }
}

// z = (mean of the prior's draws - mean of the chains') / sqrt(variance / n + mcse^2)
GewekeMoment compare(std::string name, std::span<const double> prior, std::span<const double> chain,
                     std::int64_t chains) {
    const Chains along(chain, chains);
    GewekeMoment m{.name = std::move(name), .prior = detail::mean(prior), .chain = detail::mean(chain)};
    m.ess = ess_mean(along);
    m.error = math::hypot(std::sqrt(detail::variance(prior) / static_cast<double>(prior.size())), mcse_mean(along));
    // Chains that do not move have no standard error; a quantity that is constant in both simulations is no fault.
    const double difference = m.chain - m.prior;
    const auto same = [&](double x) { return x == prior.front(); };
    m.constant = std::all_of(prior.begin(), prior.end(), same) && std::all_of(chain.begin(), chain.end(), same);
    m.z = m.error > 0 ? difference / m.error : difference == 0 ? 0 : std::copysign(HUGE_VAL, difference);
    m.p_value = math::erfc(std::abs(m.z) / std::sqrt(2.0));
    return m;
}

}  // namespace

bool GewekeTest::passed(double level) const {
    detail::check_level("GewekeTest", level);
    return !moments.empty() && std::none_of(moments.begin(), moments.end(),
                                            [&](const auto& m) { return !(m.p_value >= level) || m.too_dependent(); });
}

std::string summary(const GewekeTest& test, double level) {
    detail::check_level("summary", level);
    using detail::number_text;
    std::vector<std::vector<std::string>> rows{{"", "prior", "chain", "error", "z", "p", "ess"}};
    for (const GewekeMoment& m : test.moments)
        rows.push_back({m.name, number_text(m.prior), number_text(m.chain), number_text(m.error), number_text(m.z),
                        number_text(m.p_value), number_text(m.ess)});
    std::string text = detail::text_table(rows) + '\n' + std::to_string(test.chains) + " chains of " +
                       std::to_string(test.draws) + " draws, " + std::to_string(test.transitions) +
                       (test.transitions == 1 ? " transition" : " transitions") + " each; as many of prior and data\n";
    if (test.interrupted) text += "Warning: interrupted before all chains were done.\n";
    bool enough = true;
    for (const GewekeMoment& m : test.moments) {
        if (m.constant || m.ess >= 400) continue;
        enough = false;
        text += "Warning: the chains are worth " + number_text(m.ess) + " independent draws of " + m.name +
                "; its z says little. Take more draws, or more transitions for each.\n";
    }
    for (const GewekeMoment& m : test.moments) {
        if (!(m.p_value >= level))
            text += "Warning: " + m.name + " is " + number_text(m.chain) + " along the chains and " +
                    number_text(m.prior) + " by simulation of prior and data (z = " + number_text(m.z) + ").\n";
    }
    if (test.passed(level) && enough)
        text += "Nothing speaks against equal means at the level " + to_text(level) + " (" +
                detail::false_alarms(std::ssize(test.moments), level) + ").\n";
    return text;
}

namespace detail {

namespace {

template <Real T>
GewekeTest tested(const Simulation<T>& model, const BeginChain<T>& begin, const GewekeOptions& options) {
    check(options);
    check_simulation(who, model);
    std::vector<BothDraws> both(static_cast<std::size_t>(options.chains));
    const std::vector<bool> finished =
        run_simulations(who, "chain", options.chains, options.show, options.stop, [&](std::int64_t c) {
            simulate_both(model, begin, options, static_cast<std::uint32_t>(c), both[static_cast<std::size_t>(c)]);
        });
    GewekeTest result{.moments = {}, .draws = options.draws, .transitions = options.transitions};
    std::vector<BothDraws> done;
    for (std::size_t c = 0; c < both.size(); ++c) {
        if (!finished[c]) continue;
        done.push_back(std::move(both[c]));
        check_same_names(who, "chain", c, done.back().names, done.front().names);
    }
    result.chains = std::ssize(done);
    result.interrupted = result.chains < options.chains;
    if (done.empty()) return result;
    const auto draws = static_cast<std::size_t>(options.draws);
    for (std::size_t k = 0; k < done[0].names.size(); ++k) {
        std::vector<double> prior, chain;
        for (const BothDraws& one : done) {
            const auto row = [&](const std::vector<double>& all) { return std::span(all).subspan(k * draws, draws); };
            std::ranges::copy(row(one.prior), std::back_inserter(prior));
            std::ranges::copy(row(one.chain), std::back_inserter(chain));
        }
        result.moments.push_back(compare(done[0].names[k], prior, chain, result.chains));
        for (std::vector<double>* x : {&prior, &chain})
            for (double& v : *x) v *= v;
        result.moments.push_back(compare(done[0].names[k] + "^2", prior, chain, result.chains));
    }
    return result;
}

}  // namespace

template <Real T>
GewekeTest geweke_test_chains(const Simulation<T>& model, const BeginChain<T>& begin, const GewekeOptions& options) {
    return with_errors_at(who, [&] { return tested(model, begin, options); });
}

template GewekeTest geweke_test_chains(const Simulation<float>&, const BeginChain<float>&, const GewekeOptions&);
template GewekeTest geweke_test_chains(const Simulation<double>&, const BeginChain<double>&, const GewekeOptions&);

}  // namespace detail

}  // namespace pollen
