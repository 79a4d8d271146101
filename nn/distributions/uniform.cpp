#include <pollen/nn/distributions/uniform.hpp>

#include <pollen/nn/distributions/detail/density_class.hpp>

namespace pollen::distributions {

namespace {

// x = low + (high - low) u, and not above high for rounding
template <Real T>
struct UniformDraw {
    using B = Batch<T>;
    B low, high;

    UniformDraw(const B& l, const B& h) : low(l), high(h) {}
    B value(const B& u) const { return xsimd::min(B(low + (high - low) * u), high); }
    void slopes(const B& u, const Wanted&, B* d) const {
        d[0] = high - low;
        d[1] = B(T(1)) - u;
        d[2] = u;
    }
};

}  // namespace

// Inside:        dlog p/dx = 0        dlog p/dlow = 1 / (high - low)        dlog p/dhigh = -1 / (high - low)
template <Real T>
struct UniformLaw {
    static constexpr const char *name = "Uniform", *node = "uniform_lpdf";
    static constexpr std::array parameters{Parameter{"low"}, Parameter{"high"}};
    static void check(const ArgRef<T>& low, const ArgRef<T>& high);
    using B = Batch<T>;

    B low, high, log_width;

    UniformLaw(const B& l, const B& h) : low(l), high(h), log_width(kernels::log<T>(h - l)) {}

    auto off(const B& x) const { return x < low || x > high; }
    B value(const B& x) const { return outside<T>(off(x), (x - x) - log_width); }
    void slopes(const B& x, const Wanted&, B* d) const {
        d[0] = B(T(0));
        d[1] = zero_where<T>(off(x), B(T(1)) / (high - low));
        d[2] = -d[1];
    }

    static double mean(double l, double h) { return l + 0.5 * (h - l); }
    static double variance(double l, double h) { return (h - l) * (h - l) / 12; }
    static double cdf(double x, double l, double h) { return x > h ? 1 : x > l ? (x - l) / (h - l) : zero_or_nan(x); }

    using Draw = UniformDraw<T>;
    static constexpr auto noise = uniform_noise<T>;
};

// low < high, element by element of their common shape
template <Real T>
void UniformLaw<T>::check(const ArgRef<T>& low, const ArgRef<T>& high) {
    const auto check_pair = [](T l, T h, const std::string& where) {
        if (l < h && std::isfinite(h - l)) return;
        throw DomainError("Uniform: low is " + to_text(static_cast<double>(l)) + " and high is " +
                          to_text(static_cast<double>(h)) + where + "; low must be below high, and both finite");
    };
    if (low.size() == 1 && high.size() == 1) return check_pair(*low.data(), *high.data(), {});
    const Shape from = low.shape() ? *low.shape() : Shape{}, to = high.shape() ? *high.shape() : Shape{};
    const Shape shape = broadcast(node, from, to);
    Tensor<T> l = Tensor<T>::empty(shape), h = Tensor<T>::empty(shape);
    kernels::repeat_into<T>({l.fresh_data(), true}, shape, low.data(), from);
    kernels::repeat_into<T>({h.fresh_data(), true}, shape, high.data(), to);
    for (std::int64_t i = 0; i < shape.size(); ++i)
        check_pair(l.data()[i], h.data()[i], " at element " + std::to_string(i));
}

POLLEN_INSTANTIATE_DENSITY(Uniform, 2, pathwise)

}  // namespace pollen::distributions
