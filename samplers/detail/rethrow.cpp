#include <pollen/samplers/detail/rethrow.hpp>

#include <pollen/data/io/file.hpp>

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

void rethrow_at(const std::string& where, const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const DomainError& e) {
        throw DomainError(where + ": " + e.what());
    } catch (const ValueError& e) {
        throw ValueError(where + ": " + e.what());
    } catch (const ShapeError& e) {
        throw ShapeError(where + ": " + e.what());
    } catch (const TapeError& e) {
        throw TapeError(where + ": " + e.what());
    } catch (const MemoryError& e) {
        throw MemoryError(where + ": " + e.what());
    } catch (const FileError& e) {
        throw FileError(where + ": " + e.what());
    } catch (const std::bad_alloc&) {
        throw MemoryError(where + ": " + what_of(error));
    } catch (const std::length_error&) {
        throw MemoryError(where + ": " + what_of(error));
    } catch (...) {
        throw Error(where + ": " + what_of(error));
    }
}

}  // namespace pollen::detail
