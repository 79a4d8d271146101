#include <pollen/samplers/full_batch/detail/shared_rungs.hpp>

#include <pollen/autograd/support/detail/leading.hpp>

#include <exception>
#include <utility>

namespace pollen::detail {

namespace {

// What goes with a rung to its rank, and what comes back, beside vectors.
struct RungTask {
    double beta = 1, step_size = 1, prior = 0, likelihood = 0;
};
struct RungOutcome {
    double acceptance = 0, prior = 0, likelihood = 0;
    std::int64_t gradients = 0, invalid = 0, moved = 0;
};

}  // namespace

template <Real T>
SharedRungs<T>::SharedRungs(const Tempering& options, Phase<T> trial, std::function<void()> check_stop)
    : group_(options.group ? *options.group : Group::alone()),
      gradients_(options.kernel == Tempering::Kernel::hmc),
      kernel_(options, trial, std::move(check_stop)),
      name_("Tempering: step of " + std::to_string(options.temperatures.size()) + " rungs of " +
            std::to_string(trial.position.size()) + " numbers") {
    if (group_.rank() == 0) return;
    served_.resize(options.temperatures.size());
    for (std::size_t k = 0; k < served_.size(); ++k)
        if (owner(k) == group_.rank()) served_[k].z = served_[k].before = trial;
}

template <Real T>
Random SharedRungs<T>::move(Potential<T>& potential, const Step& step, std::span<Rung<T>> rungs) {
    for (Rung<T>& rung : rungs) rung.moved = false;
    exchange({.what = Order::step, .of = step}, rungs);
    std::exception_ptr own;
    try {
        group_.together([&] {
            try {
                move_own(potential, rungs);
            } catch (...) {
                own = std::current_exception();
                throw;
            }
        });
    } catch (...) {
        if (own) std::rethrow_exception(own);
        throw;
    }
    bring_back(rungs);
    return kernel_.random(std::ssize(rungs));
}

template <Real T>
void SharedRungs<T>::end(bool failed) {
    exchange({.what = failed ? Order::failed : Order::done}, {});
}

template <Real T>
void SharedRungs<T>::serve(Potential<T>& potential) {
    for (;;) {
        const Order order = exchange({}, served_);
        if (order.what == Order::done) return;
        if (order.what == Order::failed) throw_of_leader(group_);
        if (serve_once(group_, [&] { group_.together([&] { move_own(potential, served_); }); })) bring_back(served_);
    }
}

template <Real T>
template <class N>
void SharedRungs<T>::pass(Group::Call& call, int from, int to, std::span<N> numbers) {
    if (group_.rank() == from) call.send(to, std::as_bytes(numbers));
    if (group_.rank() == to) call.receive(from, std::as_writable_bytes(numbers));
}

// The order of rank 0 on all ranks. If it is a step, it begins, and rungs go to their ranks.
template <Real T>
auto SharedRungs<T>::exchange(Order order, std::span<Rung<T>> rungs) -> Order {
    {
        Group::Call call(group_, name_);
        call.broadcast(0, std::as_writable_bytes(std::span(&order, 1)));
        for (std::size_t k = 0; order.what == Order::step && k < rungs.size(); ++k) {
            if (owner(k) == 0) continue;
            Rung<T>& rung = rungs[k];
            RungTask task{rung.beta, rung.step_size, rung.z.energy.prior, rung.z.energy.likelihood};
            pass(call, 0, owner(k), std::span(&task, 1));
            rung.beta = task.beta;
            rung.step_size = task.step_size;
            rung.z.energy = {.prior = task.prior, .likelihood = task.likelihood};
            pass(call, 0, owner(k), std::span(rung.z.position));
            if (gradients_) pass(call, 0, owner(k), std::span(rung.z.gradient));
        }
    }
    if (order.what == Order::step)
        kernel_.begin(random_of(order.of.seed, static_cast<std::uint32_t>(order.of.chain), order.of.number));
    return order;
}

template <Real T>
void SharedRungs<T>::move_own(Potential<T>& potential, std::span<Rung<T>> rungs) {
    for (std::size_t k = 0; k < rungs.size(); ++k)
        if (owner(k) == group_.rank()) kernel_.move(potential, static_cast<std::int64_t>(k), rungs[k]);
}

// Rungs that have moved come back to rank 0, which keeps where they were.
template <Real T>
void SharedRungs<T>::bring_back(std::span<Rung<T>> rungs) {
    Group::Call call(group_, name_);
    for (std::size_t k = 0; k < rungs.size(); ++k) {
        if (owner(k) == 0) continue;
        Rung<T>& rung = rungs[k];
        RungOutcome outcome{rung.acceptance, rung.z.energy.prior, rung.z.energy.likelihood,
                            rung.gradients,  rung.invalid,        rung.moved};
        pass(call, owner(k), 0, std::span(&outcome, 1));
        Phase<T>& to = group_.rank() == 0 ? rung.before : rung.z;
        if (outcome.moved != 0) {
            pass(call, owner(k), 0, std::span(to.position));
            if (gradients_) pass(call, owner(k), 0, std::span(to.gradient));
        }
        if (group_.rank() > 0) continue;
        rung.acceptance = outcome.acceptance;
        rung.gradients = outcome.gradients;
        rung.invalid = outcome.invalid != 0;
        rung.moved = outcome.moved != 0;
        to.energy = {.prior = outcome.prior, .likelihood = outcome.likelihood};
        if (rung.moved) std::swap(rung.z, rung.before);
    }
}

template class SharedRungs<float>;
template class SharedRungs<double>;

}  // namespace pollen::detail
