#pragma once

#include <pollen/autograd/support/error.hpp>

#include <exception>
#include <string>

// Exceptions that are not pollen's: those of the standard library, and of what a user has written.
namespace pollen::detail {

// The message of anything that was thrown.
std::string what_of(const std::exception_ptr& error);

// Throws `where: message`: a MemoryError if there was no memory, and otherwise an Error.
[[noreturn]] void rethrow_foreign(const std::string& where, const std::exception_ptr& error);

// Calls f(). If it throws something that is not one of pollen's errors, an error with the place in front of its message
// is thrown in its place.
template <class F>
auto with_errors_at(const std::string& where, const F& f) {
    try {
        return f();
    } catch (const Error&) {
        throw;
    } catch (...) {
        rethrow_foreign(where, std::current_exception());
    }
}

}  // namespace pollen::detail
