#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>
#include <string_view>

// Memory of a size that comes from outside, or that may be large.
namespace pollen::detail {

// Throws a MemoryError: `what: the system has no 80 bytes left`.
[[noreturn]] void fail_allocation(std::string_view what, std::uint64_t bytes);

// Returns f(), which allocates about that many bytes. Throws a MemoryError where it cannot have them.
template <class F>
decltype(auto) allocating(std::string_view what, std::uint64_t bytes, const F& f) {
    try {
        return f();
    } catch (const std::bad_alloc&) {
        fail_allocation(what, bytes);
    } catch (const std::length_error&) {
        fail_allocation(what, bytes);
    }
}

template <class T>
constexpr std::uint64_t bytes_of(std::uint64_t count) {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    return count > most / sizeof(T) ? most : count * sizeof(T);
}

// vector.resize(count) and vector.reserve(count).
template <class Vector>
void resize(Vector& vector, std::size_t count, std::string_view what) {
    allocating(what, bytes_of<typename Vector::value_type>(count), [&] { vector.resize(count); });
}
template <class Vector>
void reserve(Vector& vector, std::size_t count, std::string_view what) {
    allocating(what, bytes_of<typename Vector::value_type>(count), [&] { vector.reserve(count); });
}

}  // namespace pollen::detail
