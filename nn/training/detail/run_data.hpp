#pragma once

#include <pollen/nn/likelihoods/likelihood.hpp>

#include <stop_token>

namespace pollen::detail {

// The data of a run on one rank: items first, ..., first + data.size() - 1 of `items`.
template <Real T>
struct RunData {
    const Dataset<T>& data;
    std::int64_t first, items;
};

// Throws unless the data are finite and their targets or labels fit the likelihood. Messages have the number of an item
// in the whole data set. `which` is "", or "validation data: ". `theta` are the parameters; `batch` items are evaluated
// to see what the network makes of them. After a request to stop an item that is refused is not looked for.
template <Real T>
void check_run_data(const std::string& which, const RunData<T>& data, const Module<T>& net,
                    const Likelihood<T>& likelihood, const Parameters<T>& parameters, std::span<const T> theta,
                    std::int64_t batch, const std::stop_token& stop);

}  // namespace pollen::detail
