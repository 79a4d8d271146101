#include <pollen/samplers/calibration/detail/simulations.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/detail/stop_requested.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/detail/rethrow.hpp>
#include <pollen/samplers/draws/draws.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>

namespace pollen::detail {

namespace {

struct SimulationStopped : Error {
    SimulationStopped() : Error("the simulation was stopped") {}
};

}  // namespace

void check_stop(const std::stop_token& stop) {
    if (stop_requested(stop)) throw SimulationStopped();
}

void check_same_names(const char* who, const char* unit, std::size_t number, const std::vector<std::string>& names,
                      const std::vector<std::string>& first) {
    if (names == first) return;
    const std::string where = std::string(who) + ": " + unit + " " + std::to_string(number + 1);
    // The energy is the last name.
    if (names.size() != first.size())
        throw ShapeError(where + " has " + std::to_string(names.size() - 1) + " quantities; others have " +
                         std::to_string(first.size() - 1));
    const auto [other, expected] = std::mismatch(names.begin(), names.end(), first.begin());
    throw ValueError(where + " has the quantity " + *other + " where others have " + *expected);
}

std::vector<bool> run_simulations(const char* who, const char* unit, std::int64_t n, Show show,
                                  const std::stop_token& stop, const std::function<void(std::int64_t)>& work) {
    Progress progress(show, n);
    std::mutex mutex;
    std::vector<bool> finished(static_cast<std::size_t>(n));
    std::int64_t done = 0;
    std::exception_ptr error;
    std::atomic<std::int64_t> failed = n;  // the lowest so far; what is below it goes on
    parallel_for(n, 1, [&](std::int64_t first, std::int64_t end) {
        for (std::int64_t k = first; k < end; ++k) {
            if (k > failed || stop_requested(stop)) continue;
            try {
                work(k);
                const std::lock_guard lock(mutex);
                finished[static_cast<std::size_t>(k)] = true;
                ++done;
                progress.update(done, std::string(unit) + " " + std::to_string(done) + "/" + std::to_string(n));
            } catch (const SimulationStopped&) {
                continue;
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (k > failed) continue;
                failed = k;
                error = std::current_exception();
            }
        }
    });
    if (error) rethrow_at(std::string(who) + ": " + unit + " " + std::to_string(failed + 1), error);
    return finished;
}

template <Real T>
std::unique_ptr<Potential<T>> simulate_data(const Simulation<T>& model, std::span<const T> theta, Random& random) {
    std::unique_ptr<Potential<T>> posterior = model.posterior(theta, random);
    if (!posterior) throw ValueError("there is no posterior");
    if (posterior->size() != std::ssize(theta))
        throw ShapeError("the prior draws " + std::to_string(theta.size()) + " numbers; the posterior has " +
                         std::to_string(posterior->size()));
    if (posterior->temperature() != 1)
        throw ValueError("the posterior has temperature " + to_text(posterior->temperature()) +
                         "; parameters drawn from the prior belong to that of 1");
    return posterior;
}

template <Real T>
Simulated<T> simulate(const Simulation<T>& model, Random& random) {
    std::vector<T> theta = model.prior(random);
    std::unique_ptr<Potential<T>> posterior = simulate_data<T>(model, theta, random);
    return {std::move(theta), std::move(posterior)};
}

template <Real T>
std::vector<std::string> tested_names(const Potential<T>& posterior) {
    Draws draws;
    draws.quantities = posterior.quantities();
    std::vector<std::string> names = draws.names();
    names.emplace_back("energy");
    return names;
}

template <Real T>
void tested_values(Potential<T>& posterior, std::span<const T> theta, std::span<double> out) {
    if (std::ssize(out) != posterior.value_count() + 1)
        throw ShapeError("the posterior has " + std::to_string(posterior.value_count()) + " quantities; another had " +
                         std::to_string(out.size() - 1));
    posterior.values(theta, out.first(out.size() - 1));
    out.back() = posterior.evaluate(theta, {}).total();
    for (std::size_t k = 0; k < out.size(); ++k) {
        if (!std::isfinite(out[k]))
            throw ValueError(tested_names(posterior)[k] + " is " + to_text(out[k]) + "; it must be finite");
    }
}

template <Real T>
void check_simulation(const char* who, const Simulation<T>& model) {
    if (!model.prior) throw ValueError(std::string(who) + ": the simulation has no prior");
    if (!model.posterior) throw ValueError(std::string(who) + ": the simulation has no posterior");
}

std::string false_alarms(std::int64_t tests, double level) {
    const double chance = -math::expm1(static_cast<double>(tests) * math::log1p(-level));
    return "a right sampler fails in about one of " + std::to_string(std::llround(1 / chance)) + " such tests";
}

void check_level(const char* who, double level) {
    if (!(level > 0 && level < 1))
        throw ValueError(std::string(who) + ": level is " + to_text(level) + "; it must be between 0 and 1");
}

#define POLLEN_INSTANTIATE(T)                                                                                \
    template std::unique_ptr<Potential<T>> simulate_data(const Simulation<T>&, std::span<const T>, Random&); \
    template Simulated<T> simulate(const Simulation<T>&, Random&);                                           \
    template std::vector<std::string> tested_names(const Potential<T>&);                                     \
    template void tested_values(Potential<T>&, std::span<const T>, std::span<double>);                       \
    template void check_simulation(const char*, const Simulation<T>&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen::detail
