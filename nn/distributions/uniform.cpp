#include <pollen/nn/distributions/uniform.hpp>

#include <pollen/nn/kernels/density_class.hpp>
#include <pollen/nn/kernels/noise.hpp>
#include <pollen/nn/kernels/special.hpp>

namespace pollen::distributions {

// Inside:        dlog p/dx = 0        dlog p/dlow = 1 / (high - low)        dlog p/dhigh = -1 / (high - low)
template <Real T>
struct UniformLaw {
    static constexpr const char* node = "uniform_lpdf";
    static void check(const Args<T, 3>& args);
    using B = Batch<T>;

    B low, high, log_width;

    UniformLaw(const B& l, const B& h) : low(l), high(h) {}
    void for_value() { log_width = kernels::log<T>(high - low); }

    auto off(const B& x) const { return x < low || x > high; }
    B value(const B& x) const { return outside<T>(off(x), (x - x) - log_width); }
    void slopes(const B& x, const Wanted&, B* d) const {
        d[0] = B(T(0));
        d[1] = zero_where<T>(off(x), B(T(1)) / (high - low));
        d[2] = -d[1];
    }
};

template <Real T>
void UniformLaw<T>::check(const Args<T, 3>& args) {
    const Arg<T>&low = *args[1], &high = *args[2];
    const auto refuse_pair = [](T l, T h, const std::string& where) {
        throw ValueError("Uniform: low is " + to_text(static_cast<double>(l)) + " and high is " +
                         to_text(static_cast<double>(h)) + where + "; low must be below high, and both finite");
    };
    const auto good = [](T l, T h) { return l < h && std::isfinite(h - l); };
    if (low.size() == 1 && high.size() == 1) {
        if (!good(*low.data(), *high.data())) refuse_pair(*low.data(), *high.data(), "");
        return;
    }
    const Shape shape = broadcast(node, low.shape(), high.shape());
    const Tensor<double> l = repeated<T>("Uniform", low, shape), h = repeated<T>("Uniform", high, shape);
    for (std::int64_t i = 0; i < shape.size(); ++i) {
        const T from = static_cast<T>(l.data()[i]), to = static_cast<T>(h.data()[i]);
        if (!good(from, to)) refuse_pair(from, to, " at element " + std::to_string(i));
    }
}

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

template <Real T>
Tensor<T> uniform_noise(const Shape& shape, const RandomKey& key) {
    return noise_of_uniforms<T>(shape, key, [](const Batch<T>& u) { return u; });
}

}  // namespace

template <Real T>
Tensor<T> Uniform<T>::sample(const Shape& shape, const RandomKey& key) const {
    for (const Arg<T>& p : this->parameters_) check_sample_shape("Uniform", p.shape(), shape);
    const Arg<T> u(uniform_noise<T>(shape, key));
    return law_each<UniformDraw<T>>("Uniform", Args<T, 3>{&u, &this->parameter(0), &this->parameter(1)});
}

template <Real T>
Var<T> Uniform<T>::rsample(const Shape& shape, const RandomKey& key) const {
    for (const Arg<T>& p : this->parameters_) check_sample_shape("Uniform", p.shape(), shape);
    const Arg<T> u(uniform_noise<T>(shape, key));
    return law_terms<UniformDraw<T>>("rsample", Args<T, 3>{&u, &this->parameter(0), &this->parameter(1)});
}

template <Real T>
Tensor<T> Uniform<T>::mean() const {
    return map_parameters("Uniform", this->parameters_, [](double l, double h) { return l + 0.5 * (h - l); });
}

template <Real T>
Tensor<T> Uniform<T>::variance() const {
    return map_parameters("Uniform", this->parameters_, [](double l, double h) { return (h - l) * (h - l) / 12; });
}

template <Real T>
Tensor<T> Uniform<T>::cdf(const Tensor<T>& x) const {
    return map_cdf("Uniform", x, this->parameters_, [](double at, double l, double h) {
        return at > h ? 1 : at > l ? (at - l) / (h - l) : zero_or_nan(at);
    });
}

POLLEN_INSTANTIATE_DENSITY(Uniform, 2)

}  // namespace pollen::distributions
