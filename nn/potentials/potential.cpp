#include <pollen/nn/potentials/potential.hpp>

#include <pollen/autograd/support/checks.hpp>

#include <cmath>

namespace pollen {

double Energy::total() const { return prior + likelihood; }

template <Real T>
const std::string& Potential<T>::block_of(std::int64_t coordinate) const {
    const std::vector<Quantity>& all = blocks();
    std::size_t k = all.size() - 1;
    while (k > 0 && all[k].offset > coordinate) --k;
    return all[k].name;
}

template <Real T>
std::vector<T> Potential<T>::start(std::uint64_t, std::uint32_t) const {
    return {};
}

template <Real T>
void Potential<T>::set_temperature(double temperature) {
    if (!(temperature >= 0) || std::isinf(temperature))
        throw ValueError("Potential: temperature is " + to_text(temperature) + "; it must be a number from 0 up");
    temperature_ = temperature;
}

template class Potential<float>;
template class Potential<double>;

}  // namespace pollen
