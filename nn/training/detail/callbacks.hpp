#pragma once

#include <exception>
#include <functional>

namespace pollen::detail {

// Calls callbacks of a user, and knows what they have thrown from the errors of a run.
class Callbacks {
  public:
    template <class Record>
    bool operator()(const std::function<bool(const Record&)>& callback, const Record& record) {
        try {
            return callback(record);
        } catch (...) {
            error_ = std::current_exception();
            throw;
        }
    }
    // Throws what a callback has thrown, if one has.
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

  private:
    std::exception_ptr error_;
};

}  // namespace pollen::detail
