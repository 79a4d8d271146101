#include <pollen/samplers/full_batch/uniform_range.hpp>

#include <pollen/autograd/support/checks.hpp>

#include <type_traits>

namespace pollen {

template <class N>
N UniformRange<N>::draw(Random& random) const {
    if (low == high) return low;
    if constexpr (std::is_integral_v<N>)
        return low + random.below(static_cast<std::uint64_t>(high - low + 1));
    else
        return random.uniform<N>(low, high);
}

template <class N>
std::string UniformRange<N>::describe() const {
    return to_text(low) + (low == high ? "" : ".." + to_text(high));
}

template struct UniformRange<std::int64_t>;
template struct UniformRange<double>;

}  // namespace pollen
