#pragma once

#include <pollen/autograd/support/error.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace pollen::detail {

// The message of anything that was thrown.
std::string what_of(const std::exception_ptr& error);

// Throws an error of pollen in the place of the exception that is being handled, with the place in front of its
// message: `where: message`. It is a MemoryError if there was no memory.
[[noreturn]] void throw_error_at(std::string_view where);

// Returns f(). If it throws something that is not one of pollen's errors, as the standard library does where there is
// no memory, an error with the place in front of its message is thrown in its place.
template <class F>
decltype(auto) with_errors_at(std::string_view where, const F& f) {
    try {
        return f();
    } catch (const Error&) {
        throw;
    } catch (...) {
        throw_error_at(where);
    }
}

}  // namespace pollen::detail
