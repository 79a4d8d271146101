#include <pollen/nn/training/detail/share_state.hpp>

#include <array>

namespace pollen::detail {

template <Real T>
void share_numbers(Group& group, Tensor<T>& x, std::int64_t numbers) {
    if (group.size() == 1) return;
    group.together([&] {
        if (group.rank() > 0) x = Tensor<T>::zeros(Shape{numbers});
    });
    group.broadcast(x.mutable_values());
}

template <Real T>
void share_state(Group& group, TrainState<T>& state, std::int64_t numbers, int memories) {
    if (group.size() == 1) return;
    std::array<std::int64_t, 4> counts{state.step, state.loss_items, state.best_epoch, std::ssize(state.history)};
    group.broadcast(std::span<std::int64_t>(counts));
    state.step = counts[0];
    state.loss_items = counts[1];
    state.best_epoch = counts[2];
    group.broadcast(std::span(&state.loss_sum, 1));
    group.broadcast(std::span(&state.complexity, 1));
    group.broadcast(std::as_writable_bytes(std::span(&state.best_so_far, 1)));
    group.together([&] {
        state.history.resize(static_cast<std::size_t>(counts[3]));
        state.memory.resize(static_cast<std::size_t>(memories));
    });
    group.broadcast(std::as_writable_bytes(std::span(state.history)));
    share_numbers(group, state.theta, numbers);
    for (Tensor<T>& memory : state.memory) share_numbers(group, memory, numbers);
    if (state.best_epoch > 0) share_numbers(group, state.best, numbers);
}

#define POLLEN_INSTANTIATE(T)                                             \
    template void share_state(Group&, TrainState<T>&, std::int64_t, int); \
    template void share_numbers(Group&, Tensor<T>&, std::int64_t);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen::detail
