#pragma once

#include <pollen/autograd/support/error.hpp>

#include <exception>
#include <string>

namespace pollen::detail {

// The message of anything that was thrown.
std::string what_of(const std::exception_ptr& error);

// Throws an error of the same type, with the place in front of its message: `where: message`. What is not one of
// pollen's errors becomes one.
[[noreturn]] void rethrow_at(const std::string& where, const std::exception_ptr& error);

// Calls f(). If it throws something that is not one of pollen's errors, as the standard library does where there is no
// memory, an error with the place in front of its message is thrown in its place.
template <class F>
auto with_errors_at(const std::string& where, const F& f) {
    try {
        return f();
    } catch (const Error&) {
        throw;
    } catch (...) {
        rethrow_at(where, std::current_exception());
    }
}

}  // namespace pollen::detail
