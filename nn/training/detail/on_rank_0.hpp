#pragma once

#include <pollen/autograd/support/group.hpp>

#include <type_traits>

namespace pollen::detail {

// Calls f() on rank 0 alone and returns what it returned on all ranks: plain numbers, or nothing. A call of the whole
// group; if f throws, all ranks throw as Group::together() does.
template <class F>
auto on_rank_0(Group& group, const F& f) {
    using Result = std::invoke_result_t<F>;
    if constexpr (std::is_void_v<Result>) {
        group.together([&] {
            if (group.rank() == 0) f();
        });
    } else {
        static_assert(std::is_trivially_copyable_v<Result>);
        Result result{};
        group.together([&] {
            if (group.rank() == 0) result = f();
        });
        group.broadcast(std::as_writable_bytes(std::span(&result, 1)));
        return result;
    }
}

}  // namespace pollen::detail
