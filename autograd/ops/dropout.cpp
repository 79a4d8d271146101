#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/ops.hpp>

#include <sstream>

namespace pollen {

using kernels::Batch;
using kernels::Splat;
using kernels::Stream;

// y = x m,  m = [u >= rate] / (1 - rate),  u uniform        dL/dx += dL/dy m        keeps m
//
// The mask belongs to the node: a tape that is replayed drops the same numbers again.
template <Real T>
Var<T> dropout(Var<T> x, Number<T> rate, const RandomKey& key, std::uint64_t first) {
    if (!(rate >= 0 && rate < 1)) {
        std::ostringstream text;
        text << "dropout: rate is " << rate << "; it must be at least 0 and less than 1";
        throw ValueError(text.str());
    }
    const Tensor<T>& in = x.value();
    Tensor<T> mask = x.state().empty(in.shape());
    T* m = mask.fresh_data();
    fill_uniform(key, first, std::span<T>(m, static_cast<std::size_t>(in.size())));
    kernels::map(
        in.size(), m,
        [](const Batch<T>& u, const Batch<T>& r, const Batch<T>& kept) {
            return xsimd::select(u < r, Batch<T>(T(0)), kept);
        },
        Stream<T>{m}, Splat<T>{rate}, Splat<T>{1 / (1 - rate)});
    const auto product = [](const Batch<T>& a, const Batch<T>& b) { return a * b; };
    const auto forward = [m, product](Forward<T>& node) {
        const Tensor<T>& v = node.input(0);
        kernels::map(v.size(), node.value(), product, Stream<T>{v.data()}, Stream<T>{m});
    };
    return record("dropout", {x}, in.shape(), forward, [mask = std::move(mask), product](Backward<T>& b) {
        kernels::map_into(b.slot(0), mask.size(), product, Stream<T>{b.grad()}, Stream<T>{mask.data()});
    });
}

template Var<float> dropout(Var<float>, float, const RandomKey&, std::uint64_t);
template Var<double> dropout(Var<double>, double, const RandomKey&, std::uint64_t);

}  // namespace pollen
