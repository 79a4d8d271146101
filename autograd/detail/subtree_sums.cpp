#include <pollen/autograd/detail/subtree_sums.hpp>

#include <pollen/autograd/kernels/map.hpp>

namespace pollen {

template <Real T>
void add_to(T* sum, const T* x, std::int64_t n) {
    kernels::map_serial(
        n, sum, [](const auto& a, const auto& b) { return a + b; }, kernels::Stream<T>{sum}, kernels::Stream<T>{x});
}

template void add_to(float*, const float*, std::int64_t);
template void add_to(double*, const double*, std::int64_t);

}  // namespace pollen
