#include "bench.hpp"

#include <pollen/autograd/random.hpp>

#include <memory>
#include <vector>

namespace pollen::bench {

namespace {

constexpr std::size_t n = 2400000;

const Register rows([] {
    auto numbers = std::make_shared<std::vector<float>>(n);
    auto doubles = std::make_shared<std::vector<double>>(n);
    const auto key = RandomKey{.seed = 1};
    add({.suite = "random",
         .name = "normals_2_4m",
         .unit = Unit::milliseconds(),
         .ours = [=] { fill_normal(key, 0, std::span<float>(*numbers)); },
         .peer = "PyTorch randn",
         .goal = 4});
    add({.suite = "random",
         .name = "normals_2_4m_one_thread",
         .unit = Unit::nanoseconds(static_cast<double>(n)),
         .ours = [=] { fill_normal(key, 0, std::span<float>(*numbers)); },
         .peer = "1.6 ns a normal, the trial's figure",
         .peer_value = 1.6,
         .threads = 1});
    add({.suite = "random",
         .name = "normals_double_one_thread",
         .unit = Unit::nanoseconds(static_cast<double>(n)),
         .ours = [=] { fill_normal(key, 0, std::span<double>(*doubles)); },
         .peer = "twice the float's 1.6 ns",
         .peer_value = 3.2,
         .threads = 1});
    add({.suite = "random",
         .name = "uniforms_2_4m_one_thread",
         .unit = Unit::nanoseconds(static_cast<double>(n)),
         .ours = [=] { fill_uniform(key, 0, std::span<float>(*numbers)); },
         .peer = "1.6 ns, a normal's",
         .peer_value = 1.6,
         .threads = 1});
});

}  // namespace

}  // namespace pollen::bench
