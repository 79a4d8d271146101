#include <pollen/nn/distributions/detail/gamma_draws.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/tensor.hpp>

#include <cmath>

namespace pollen::kernels {

// Marsaglia and Tsang, A simple method for generating gamma variables, 2000. With d = a - 1/3, c = 1 / sqrt(9 d),
// z normal, u uniform and v = (1 + c z)^3, d v is a draw where
//     v > 0 and log u < z^2 / 2 + d - d v + d log v
// A shape below 1 takes a draw of shape a + 1 times u^(1/a).
//
// Attempt t for element i of n uses normal first + t n + i and uniform first + (t + 1) n + i.
void fill_log_gamma(const RandomKey& key, std::uint64_t first, std::span<const double> shape, std::span<double> out) {
    const std::uint64_t n = shape.size();
    const auto size = static_cast<std::int64_t>(n);
    Tensor<double> numbers = Tensor<double>::empty(Shape{3, size});
    const std::span<double> z(numbers.fresh_data(), n), u(z.data() + n, n), boost(u.data() + n, n);
    fill_normal(key, first, z);
    fill_uniform(key, first + n, u);
    fill_uniform(key, first, boost);
    parallel_for(size, 4096, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const auto k = static_cast<std::uint64_t>(i);
            const double a = shape[k], d = (a < 1 ? a + 1 : a) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
            double normal = z[k], uniform = u[k];
            for (std::uint64_t attempt = 1;; ++attempt) {
                const double root = 1 + c * normal, v = root * root * root;
                if (v > 0 && math::log(uniform) < 0.5 * normal * normal + d * (1 - v + math::log(v))) {
                    out[k] = math::log(d * v) + (a < 1 ? math::log1p(-boost[k]) / a : 0);
                    break;
                }
                normal = normal_at<double>(key, first + attempt * n + k);
                uniform = uniform_at<double>(key, first + (attempt + 1) * n + k);
            }
        }
    });
}

}  // namespace pollen::kernels
