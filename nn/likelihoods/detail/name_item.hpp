#pragma once

#include <pollen/nn/likelihoods/likelihood.hpp>
#include <pollen/nn/module/module.hpp>

#include <stop_token>

namespace pollen::detail {

// Throws for the first item that is refused, if there is one, and unless the first two are refused: then it is not a
// fault of an item. Throws nothing else; ends early if a stop is requested, or after Ctrl-C. If these data are a part
// of a larger data set, `first` is the number of their first item there.
template <Real T>
void find_item(const Module<T>& net, const Likelihood<T>& likelihood, const Parameters<T>& parameters,
               std::span<const T> theta, const Dataset<T>& data, std::int64_t first = 0,
               const std::stop_token& stop = {});

// What f() returns: a network and a likelihood at some items of the data. If it throws a ValueError, the items are
// evaluated one by one, and the message gets the number of the first that is refused: `item 17 of the data set, alone:
// ...`. A DomainError may be due to the parameters and stays as it is.
template <Real T, class F>
auto name_item(const Module<T>& net, const Likelihood<T>& likelihood, const Parameters<T>& parameters,
               std::span<const T> theta, const Dataset<T>& data, const F& f, std::int64_t first = 0,
               const std::stop_token& stop = {}) {
    try {
        return f();
    } catch (const DomainError&) {
        throw;
    } catch (const ValueError&) {
        find_item(net, likelihood, parameters, theta, data, first, stop);
        throw;
    }
}

}  // namespace pollen::detail
