#pragma once

#include <pollen/autograd/detail/subtree_sums.hpp>
#include <pollen/autograd/detail/tree_sum.hpp>
#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/parallel.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace pollen {

// Objects that tasks work with, one at a time each: a task borrows one, which is made if all are in use. There are as
// many in the end as tasks ran at the same time.
template <class Worker>
class Workers {
  public:
    class Borrowed {
      public:
        Borrowed(Workers& from, std::unique_ptr<Worker> worker) : from_(from), worker_(std::move(worker)) {}
        ~Borrowed() {
            const std::lock_guard lock(from_.mutex_);
            from_.idle_.push_back(std::move(worker_));
        }
        Borrowed(const Borrowed&) = delete;
        Borrowed& operator=(const Borrowed&) = delete;
        Worker& operator*() const { return *worker_; }

      private:
        Workers& from_;
        std::unique_ptr<Worker> worker_;
    };

    template <class Make>
    Borrowed borrow(const Make& make) {
        {
            const std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                std::unique_ptr<Worker> worker = std::move(idle_.back());
                idle_.pop_back();
                return {*this, std::move(worker)};
            }
            idle_.reserve(++made_);  // so that giving back cannot fail
        }
        return {*this, make()};
    }

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<Worker>> idle_;
    std::size_t made_ = 0;
};

// The sum of the energies of several leaves and of their gradients, in the order of tree_sum(). Threads share the
// leaves.
template <Real T>
class LeafSums {
  public:
    // leaf(k, to) returns the energy of leaf k and adds its gradient to `to`, which is empty where none is wanted. The
    // sum of the gradients is added to `gradient`. If leaves throw, this throws what the first of them threw.
    template <class Leaf>
    double add(std::int64_t leaves, std::span<T> gradient, const Leaf& leaf) {
        if (leaves == 1) return leaf(0, gradient);
        const auto count = static_cast<std::size_t>(leaves), n = gradient.size();
        const std::size_t stride = (n + line - 1) / line * line;
        energies_.resize(count);
        errors_.assign(count, nullptr);
        if (gradients_.size() < stride * count) gradients_.resize(stride * count);
        parallel_for(leaves, 1, [&](std::int64_t begin, std::int64_t end) {
            for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
                const std::span<T> to = std::span(gradients_).subspan(k * stride, n);
                std::fill(to.begin(), to.end(), T(0));
                try {
                    energies_[k] = leaf(static_cast<std::int64_t>(k), to);
                } catch (...) {
                    errors_[k] = std::current_exception();
                }
            }
        });
        for (const std::exception_ptr& error : errors_)
            if (error) std::rethrow_exception(error);
        tree_sum(leaves, [&](std::int64_t i, std::int64_t j) {
            energies_[static_cast<std::size_t>(i)] += energies_[static_cast<std::size_t>(j)];
        });
        // The whole tree for a stretch of the gradient, which stays in the cache.
        parallel_for(static_cast<std::int64_t>(n), stretch, [&](std::int64_t begin, std::int64_t end) {
            const auto sum = [&](T* to, const T* from) { add_to(to, from, end - begin); };
            T* first = gradients_.data() + begin;
            const auto at = [&](std::int64_t k) { return first + k * static_cast<std::int64_t>(stride); };
            tree_sum(leaves, [&](std::int64_t i, std::int64_t j) { sum(at(i), at(j)); });
            sum(gradient.data() + begin, first);
        });
        return energies_[0];
    }

  private:
    static constexpr std::size_t line = 64 / sizeof(T);  // threads do not write to the same cache line
    static constexpr std::int64_t stretch = 4096;

    std::vector<double> energies_;
    std::vector<T> gradients_;
    std::vector<std::exception_ptr> errors_;
};

}  // namespace pollen
