#pragma once

#include <pollen/autograd/support/detail/foreign_errors.hpp>

#include <exception>
#include <string>

namespace pollen::detail {

// Throws an error of the same type, with the place in front of its message: `where: message`. What is not one of
// pollen's errors becomes one.
[[noreturn]] void rethrow_at(const std::string& where, const std::exception_ptr& error);

}  // namespace pollen::detail
