#include <pollen/autograd/support/detail/foreign_errors.hpp>

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

void rethrow_foreign(const std::string& where, const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const std::bad_alloc&) {
        throw MemoryError(where + ": " + what_of(error));
    } catch (const std::length_error&) {
        throw MemoryError(where + ": " + what_of(error));
    } catch (...) {
        throw Error(where + ": " + what_of(error));
    }
}

}  // namespace pollen::detail
