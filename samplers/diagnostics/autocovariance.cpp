#include <pollen/autograd/math.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/diagnostics/detail/autocovariance.hpp>

#include <algorithm>
#include <bit>
#include <numbers>

namespace pollen {

namespace detail {

Fft::Fft(std::size_t size) : cosines_(size), sines_(size) {
    const std::size_t largest = size / 2;
    for (std::size_t j = 0; j < largest; ++j) {
        const double angle = std::numbers::pi * static_cast<double>(j) / static_cast<double>(largest);
        cosines_[largest + j] = math::cos(angle);
        sines_[largest + j] = -math::sin(angle);
    }
    for (std::size_t half = largest / 2; half > 0; half /= 2) {
        for (std::size_t j = 0; j < half; ++j) {
            cosines_[half + j] = cosines_[2 * (half + j)];
            sines_[half + j] = sines_[2 * (half + j)];
        }
    }
}

// butterfly(re0, im0, re1, im1, c, s) for all pairs of numbers that are `half` apart in blocks of 2 half.
template <class Butterfly>
void Fft::stage(std::size_t half, double* re, double* im, const Butterfly& butterfly) const {
    const double* const __restrict c = cosines_.data() + half;
    const double* const __restrict s = sines_.data() + half;
    for (std::size_t block = 0; block < size(); block += 2 * half) {
        double* const __restrict re0 = re + block;
        double* const __restrict im0 = im + block;
        double* const __restrict re1 = re + block + half;
        double* const __restrict im1 = im + block + half;
        for (std::size_t j = 0; j < half; ++j) butterfly(re0[j], im0[j], re1[j], im1[j], c[j], s[j]);
    }
}

void Fft::forward(double* re, double* im) const {
    for (std::size_t half = size() / 2; half > 0; half /= 2)
        stage(half, re, im, [](double& re0, double& im0, double& re1, double& im1, double c, double s) {
            const double dr = re0 - re1, di = im0 - im1;
            re0 += re1;
            im0 += im1;
            re1 = dr * c - di * s;
            im1 = dr * s + di * c;
        });
}

void Fft::backward(double* re, double* im) const {
    for (std::size_t half = 1; half < size(); half *= 2)
        stage(half, re, im, [](double& re0, double& im0, double& re1, double& im1, double c, double s) {
            const double tr = re1 * c + im1 * s, ti = im1 * c - re1 * s;
            re1 = re0 - tr;
            im1 = im0 - ti;
            re0 += tr;
            im0 += ti;
        });
}

// Twice the length, filled up with zeros, so that a chain's end does not meet its beginning.
MeanAutocovariance::MeanAutocovariance(std::size_t draws)
    : draws_(draws), fft_(2 * std::bit_ceil(draws)), re_(fft_.size()), im_(fft_.size()), power_(fft_.size()) {}

std::span<const double> MeanAutocovariance::operator()(const ChainBlock& x) {
    const auto load = [&](std::size_t c, std::vector<double>& out) {
        std::fill(out.begin(), out.end(), 0.0);
        if (c >= x.chains) return;
        const std::span<const double> chain = x.chain(c);
        const double centre = mean(chain);
        for (std::size_t t = 0; t < draws_; ++t) out[t] = chain[t] - centre;
    };
    std::fill(power_.begin(), power_.end(), 0.0);
    for (std::size_t c = 0; c < x.chains; c += 2) {
        load(c, re_);
        load(c + 1, im_);
        fft_.forward(re_.data(), im_.data());
        for (std::size_t k = 0; k < power_.size(); ++k) power_[k] += re_[k] * re_[k] + im_[k] * im_[k];
    }
    std::fill(im_.begin(), im_.end(), 0.0);
    fft_.backward(power_.data(), im_.data());
    const double scale = 1 / (static_cast<double>(power_.size()) * static_cast<double>(draws_ * x.chains));
    for (std::size_t t = 0; t < draws_; ++t) power_[t] *= scale;
    return std::span(power_).first(draws_);
}

}  // namespace detail

std::vector<double> autocovariance(std::span<const double> x) {
    if (x.empty()) throw ShapeError("autocovariance: there are no draws");
    detail::MeanAutocovariance of(x.size());
    const std::span<const double> values = of({1, x.size(), {x.begin(), x.end()}});
    return {values.begin(), values.end()};
}

std::vector<double> autocorrelation(std::span<const double> x) {
    if (x.empty()) throw ShapeError("autocorrelation: there are no draws");
    std::vector<double> values = autocovariance(x);
    const double first = values[0];
    for (double& v : values) v /= first;
    return values;
}

}  // namespace pollen
