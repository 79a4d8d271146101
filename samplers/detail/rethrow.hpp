#pragma once

#include <exception>
#include <string>

namespace pollen::detail {

// Throws an error of the same type that says where it was: `where: what it said`.
[[noreturn]] void rethrow_at(const std::string& where, const std::exception_ptr& error);

}  // namespace pollen::detail
