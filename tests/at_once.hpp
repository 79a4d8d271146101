#pragma once

#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace pollen::test {

// Calls all functions at the same time, each in a thread of its own, and returns when they have returned. If one
// throws, so does this.
inline void at_once(const std::vector<std::function<void()>>& functions) {
    std::vector<std::exception_ptr> errors(functions.size());
    {
        std::vector<std::jthread> threads;
        for (std::size_t k = 0; k < functions.size(); ++k)
            threads.emplace_back([&, k] {
                try {
                    functions[k]();
                } catch (...) {
                    errors[k] = std::current_exception();
                }
            });
    }
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

}  // namespace pollen::test
