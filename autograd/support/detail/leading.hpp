#pragma once

#include <pollen/autograd/support/group.hpp>

#include <functional>

// Rank 0 of a group leads, and the others do what it asks for, until it says that it has ended.
namespace pollen::detail {

// On rank 0: calls f(), and then end(failed), which tells the others that f() has ended, and whether it has thrown.
// They call throw_of_leader() then. Throws what f() throws.
void lead_group(Group& group, const std::function<void()>& f, const std::function<void(bool failed)>& end);

// On the other ranks: throws a GroupError "rank 0: ..." with the message of what f() has thrown.
[[noreturn]] void throw_of_leader(Group& group);

// On the other ranks: calls f(), which all ranks call together. What they throw alike is left to rank 0, and the result
// is false then. Throws if the group has failed.
bool serve_once(const Group& group, const std::function<void()>& f);

}  // namespace pollen::detail
