#include <pollen/samplers/minibatch/preconditioner.hpp>

#include <pollen/autograd/kernels/map.hpp>
#include <pollen/samplers/options.hpp>

#include <cmath>
#include <limits>

namespace pollen {

// V = alpha V + (1 - alpha) (g / N)^2,  G = 1 / (lambda + sqrt(V)),  Gamma = dG/dtheta, or 0 (Li et al. 2016)
Preconditioner Preconditioner::rmsprop(double alpha, double lambda, Gamma gamma) {
    const bool estimated = gamma == Gamma::estimated;
    const std::string text = call("rmsprop", alpha, lambda, std::string(estimated ? "estimated" : "left_out"));
    if (!(alpha >= 0 && alpha < 1)) throw ValueError(text + ": alpha must be at least 0 and below 1");
    if (!(lambda > 0)) throw ValueError(text + ": lambda must be positive");
    const auto rule = [=]<Real T>(const PreconditionerStep<T>& at) {
        using kernels::Batch;
        using kernels::Stream;
        constexpr std::int64_t block = 1024;
        const Batch<T> keep(static_cast<T>(alpha)), add(static_cast<T>(1 - alpha)), small(static_cast<T>(lambda));
        const Batch<T> scale(1 / static_cast<T>(at.items)), one(T(1)), none(T(0));
        const Batch<T> most(std::numeric_limits<T>::max());  // a square that overflows would never be forgotten
        const auto update = [&](std::int64_t i, std::int64_t count) {
            T *const v = at.memory.data() + i, *const g = at.g.data() + i;
            const Stream<T> gradient{at.gradient.data() + i};
            kernels::map_serial(
                count, v,
                [&](const Batch<T>& old, const Batch<T>& u) {
                    return xsimd::min(keep * old + add * (scale * u) * (scale * u), most);
                },
                Stream<T>{v}, gradient);
            kernels::map_serial(
                count, g, [&](const Batch<T>& square) { return one / (small + xsimd::sqrt(square)); }, Stream<T>{v});
            if (!estimated) return;
            kernels::map_serial(
                count, at.gamma.data() + i,
                [&](const Batch<T>& square, const Batch<T>& metric, const Batch<T>& u, const Batch<T>& curvature) {
                    const Batch<T> root = xsimd::sqrt(square);
                    const Batch<T> slope = add * (scale * u) / root * (scale * curvature);
                    return xsimd::select(root > none, -metric * metric * slope, none);
                },
                Stream<T>{v}, Stream<T>{g}, gradient, Stream<T>{at.curvature.data() + i});
        };
        parallel_for(std::ssize(at.theta), kernels::map_grain, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; i += block) update(i, std::min(block, end - i));
        });
    };
    return {text, rule, {.memories = 1, .curvature = estimated}};
}

Preconditioner Preconditioner::fixed(std::vector<double> diagonal) {
    const std::string text = diagonal.size() == 1 ? to_text(diagonal[0]) : numbers_text(diagonal);
    for (const double g : diagonal)
        if (!(g > 0) || std::isinf(g))
            throw ValueError("fixed: the diagonal has " + to_text(g) + "; all of it must be positive and finite");
    const auto rule = [diagonal = std::move(diagonal)]<Real T>(const PreconditionerStep<T>& at) {
        if (diagonal.size() != 1 && diagonal.size() != at.g.size())
            throw ShapeError("fixed: the diagonal has " + std::to_string(diagonal.size()) + " numbers; 1 or " +
                             std::to_string(at.g.size()) + " are expected");
        for (std::size_t i = 0; i < at.g.size(); ++i) at.g[i] = static_cast<T>(diagonal[diagonal.size() == 1 ? 0 : i]);
    };
    return {call("fixed", text), rule};
}

}  // namespace pollen
