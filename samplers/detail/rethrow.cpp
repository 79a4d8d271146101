#include <pollen/samplers/detail/rethrow.hpp>

#include <pollen/data/io/file.hpp>

namespace pollen::detail {

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
    } catch (...) {
        rethrow_foreign(where, error);
    }
}

}  // namespace pollen::detail
