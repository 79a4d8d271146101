#pragma once

#include <pollen/autograd/support/progress.hpp>
#include <pollen/nn/potentials/potential.hpp>
#include <pollen/samplers/calibration/calibration.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

// What the tests by simulation share.
namespace pollen::detail {

// Calls work(0), ..., work(n - 1) on all threads, and shows how far it is: "replication 200/1000". Work that throws is
// an error, `who: replication 17: ...`, that of the lowest number at any number of threads. After a request to stop, or
// Ctrl-C, nothing is begun any more, and work ends where it calls check_stop(). Says which numbers are finished.
std::vector<bool> run_simulations(const char* who, const char* unit, std::int64_t n, Show show,
                                  const std::stop_token& stop, const std::function<void(std::int64_t)>& work);
// Leaves the work if it is to stop, by an exception that run_simulations catches.
void check_stop(const std::stop_token& stop);

// Throws unless simulation `number`, counted from 0, has the quantities of the first one.
void check_same_names(const char* who, const char* unit, std::size_t number, const std::vector<std::string>& names,
                      const std::vector<std::string>& first);

// Parameters from the prior with a posterior of data simulated from them. Checked: sizes that fit, temperature 1.
template <Real T>
struct Simulated {
    std::vector<T> theta;
    std::unique_ptr<Potential<T>> posterior;
};
template <Real T>
Simulated<T> simulate(const Simulation<T>& model, Random& random);
template <Real T>
std::unique_ptr<Potential<T>> simulate_data(const Simulation<T>& model, std::span<const T> theta, Random& random);

// Of the values at theta: the quantities, one name a number, and the energy.
template <Real T>
std::vector<std::string> tested_names(const Potential<T>& posterior);
template <Real T>
void tested_values(Potential<T>& posterior, std::span<const T> theta, std::span<double> out);

template <Real T>
void check_simulation(const char* who, const Simulation<T>& model);

// How often at least one of `tests` p-values is below the level by chance: "a right sampler fails in about one of 26
// such tests".
std::string false_alarms(std::int64_t tests, double level);
void check_level(const char* who, double level);

}  // namespace pollen::detail
