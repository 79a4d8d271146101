#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/diagnostics/temperature.hpp>

#include <cstddef>
#include <string>

namespace pollen {

namespace {

void check_dimensions(const std::string& function, std::size_t d) {
    if (d == 0) throw ShapeError(function + ": there are no dimensions");
}

}  // namespace

template <Real T>
double kinetic_temperature(std::span<const T> momentum, double inverse_mass) {
    check_dimensions("kinetic_temperature", momentum.size());
    double total = 0;
    for (const T p : momentum) total += static_cast<double>(p) * static_cast<double>(p);
    return total * inverse_mass / static_cast<double>(momentum.size());
}

template <Real T>
double kinetic_temperature(std::span<const T> momentum, const Tensor<T>& inverse_mass) {
    check_dimensions("kinetic_temperature", momentum.size());
    const std::int64_t d = std::ssize(momentum);
    const bool diagonal = inverse_mass.shape() == Shape{d};
    if (!diagonal && inverse_mass.shape() != Shape{d, d})
        throw ShapeError("kinetic_temperature: inverse_mass is " + to_string(inverse_mass.shape()) +
                         " for a momentum of " + std::to_string(d) + "; " + to_string(Shape{d}) + " or " +
                         to_string(Shape{d, d}) + " is expected");
    double total = 0;
    const T* m = inverse_mass.data();
    for (const T& p : momentum) {
        double velocity = 0;
        if (diagonal) {
            velocity = static_cast<double>(*m++) * static_cast<double>(p);
        } else {
            for (const T& q : momentum) velocity += static_cast<double>(*m++) * static_cast<double>(q);
        }
        total += velocity * static_cast<double>(p);
    }
    return total / static_cast<double>(d);
}

template <Real T>
double configurational_temperature(std::span<const T> position, std::span<const T> gradient,
                                   std::span<const T> centre) {
    check_dimensions("configurational_temperature", position.size());
    if (gradient.size() != position.size() || (!centre.empty() && centre.size() != position.size()))
        throw ShapeError("configurational_temperature: a position of " + std::to_string(position.size()) +
                         ", a gradient of " + std::to_string(gradient.size()) + " and a centre of " +
                         std::to_string(centre.size()) + "; all need the same size, or the centre none");
    double total = 0;
    for (std::size_t k = 0; k < position.size(); ++k) {
        const double from = centre.empty() ? 0 : static_cast<double>(centre[k]);
        total += (static_cast<double>(position[k]) - from) * static_cast<double>(gradient[k]);
    }
    return total / static_cast<double>(position.size());
}

template <Real T>
double configurational_temperature(const Tensor<T>& positions, const Tensor<T>& gradients, std::span<const T> centre) {
    if (positions.rank() != 2 || gradients.shape() != positions.shape())
        throw ShapeError("configurational_temperature: positions are " + to_string(positions.shape()) +
                         " and gradients " + to_string(gradients.shape()) + "; both must be (draws, dimensions)");
    if (positions.shape()[0] == 0) throw ShapeError("configurational_temperature: there are no draws");
    const auto d = static_cast<std::size_t>(positions.shape()[1]);
    double total = 0;
    for (std::int64_t t = 0; t < positions.shape()[0]; ++t) {
        const std::size_t at = static_cast<std::size_t>(t) * d;
        total +=
            configurational_temperature(positions.values().subspan(at, d), gradients.values().subspan(at, d), centre);
    }
    return total / static_cast<double>(positions.shape()[0]);
}

#define POLLEN_INSTANTIATE(T)                                                                                \
    template double kinetic_temperature(std::span<const T>, double);                                         \
    template double kinetic_temperature(std::span<const T>, const Tensor<T>&);                               \
    template double configurational_temperature(std::span<const T>, std::span<const T>, std::span<const T>); \
    template double configurational_temperature(const Tensor<T>&, const Tensor<T>&, std::span<const T>);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
