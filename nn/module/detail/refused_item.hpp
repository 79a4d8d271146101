#pragma once

#include <pollen/autograd/support/detail/stop_requested.hpp>
#include <pollen/autograd/support/error.hpp>

#include <cstdint>
#include <string>

namespace pollen::detail {

// Calls f(item) for the items first, ..., end - 1. If one throws a ValueError, a ValueError says which: `item 17 of
// all, alone: message`, with `all` for the set of items. If the first two are refused it is not a fault of an item, and
// nothing is thrown. In the message items are counted from `offset`, the number of item 0. What f throws because an
// item is alone, or because of the parameters (DomainError), refuses no item. Throws nothing else; ends early if a stop
// is requested, or after Ctrl-C.
template <class F>
void find_refused_item(std::int64_t first, std::int64_t end, const std::string& all, const F& f,
                       std::int64_t offset = 0, const std::stop_token& stop = {}) {
    const auto refusal = [&](std::int64_t item) -> std::string {
        try {
            f(item);
        } catch (const DomainError&) {
            return "";
        } catch (const ValueError& error) {
            return error.what();
        } catch (...) {
            return "";
        }
        return "";
    };
    std::string text;
    std::int64_t item = first;
    for (; item < end && text.empty() && !stop_requested(stop); ++item) text = refusal(item);
    if (text.empty() || (item == first + 1 && item < end && !refusal(item).empty())) return;
    throw ValueError("item " + std::to_string(offset + item - 1) + " of " + all + ", alone: " + text);
}

}  // namespace pollen::detail
