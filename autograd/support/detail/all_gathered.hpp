#pragma once

#include <pollen/autograd/support/group.hpp>

#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace pollen::detail {

// Returns the numbers of all ranks, one rank after the other, on all of them. A rank may have any number of them. A
// call of the whole group.
template <Sendable N>
std::vector<N> all_gathered(Group& group, std::vector<N> mine) {
    if (group.size() == 1) return mine;
    const std::string_view bytes(reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(N));
    std::vector<N> numbers;
    for (const std::string& text : group.all_gather(bytes)) {
        const std::size_t count = numbers.size();
        numbers.resize(count + text.size() / sizeof(N));
        if (!text.empty()) std::memcpy(numbers.data() + count, text.data(), text.size());
    }
    return numbers;
}

// Returns the sum of all ranks, added in their order, on all of them. A call of the whole group.
template <Sendable N>
N total(Group& group, N mine) {
    const std::vector<N> all = all_gathered(group, std::vector<N>{mine});
    return std::accumulate(all.begin(), all.end(), N(0));
}

}  // namespace pollen::detail
