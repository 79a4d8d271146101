#include <pollen/autograd/support/detail/errors_at.hpp>

#include <new>
#include <stdexcept>

namespace pollen::detail {

std::string what_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const std::bad_alloc&) {
        return "the system refused the memory";
    } catch (const std::length_error&) {
        return "the system cannot have so much memory";
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "something that is not a std::exception was thrown";
    }
}

void throw_error_at(std::string_view where) {
    const std::exception_ptr error = std::current_exception();
    const std::string message = std::string(where) + ": " + what_of(error);
    try {
        std::rethrow_exception(error);
    } catch (const std::bad_alloc&) {
        throw MemoryError(message);
    } catch (const std::length_error&) {
        throw MemoryError(message);
    } catch (...) {
        throw Error(message);
    }
}

}  // namespace pollen::detail
