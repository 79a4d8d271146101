#include <pollen/autograd/support/detail/leading.hpp>

#include <pollen/autograd/support/detail/errors_at.hpp>

#include <exception>

namespace pollen::detail {

void lead_group(Group& group, const std::function<void()>& f, const std::function<void(bool failed)>& end) {
    std::exception_ptr error;
    std::string text;
    try {
        f();
    } catch (...) {
        error = std::current_exception();
        text = what_of(error);
    }
    try {
        end(error != nullptr);
        if (error) group.broadcast(text);
    } catch (const GroupError&) {  // the others know
        if (!error) throw;
    }
    if (error) std::rethrow_exception(error);
}

void throw_of_leader(Group& group) { throw GroupError("rank 0: " + group.broadcast(std::string_view())); }

bool serve_once(const Group& group, const std::function<void()>& f) {
    try {
        f();
        return true;
    } catch (const DomainError&) {
    } catch (const GroupError&) {
        if (group.failed()) throw;
    }
    return false;
}

}  // namespace pollen::detail
