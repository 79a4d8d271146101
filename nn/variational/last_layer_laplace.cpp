#include <pollen/nn/variational/last_layer_laplace.hpp>

#include <pollen/autograd/kernels/constants.hpp>
#include <pollen/autograd/kernels/gemm.hpp>
#include <pollen/autograd/kernels/triangular.hpp>
#include <pollen/autograd/math.hpp>
#include <pollen/autograd/random.hpp>
#include <pollen/autograd/rows.hpp>
#include <pollen/autograd/streams.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/variational/detail/several_draws.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pollen {

namespace {

using kernels::Triangle;

constexpr std::int64_t items_at_once = 1000;

std::size_t place_of(std::int64_t i) { return static_cast<std::size_t>(i); }

double squared_length(const std::vector<double>& x) {
    double sum = 0;
    for (const double value : x) sum += value * value;
    return sum;
}

}  // namespace

template <Real T>
LastLayerLaplace<T>::LastLayerLaplace(const Sequential<T>& net, const Dataset<T>& data) : net_(net) {
    if (net.size() == 0) throw ValueError("LastLayerLaplace: the network has no parts");
    const auto* dense = dynamic_cast<const Dense<T>*>(&net[net.size() - 1]);
    if (!dense)
        throw ValueError("LastLayerLaplace: the last part of the network is " + net[net.size() - 1].describe() +
                         "; a Dense layer is needed");
    Parameters<T>(net).check_values();
    for (std::size_t k = 0; k + 1 < net.size(); ++k) body_.add(net[k].clone());
    data.check();
    if (data.size() == 0) throw ShapeError("LastLayerLaplace: there are no data");
    data.check_finite("LastLayerLaplace");
    const std::int64_t inputs = dense->weight.shape[1];
    outputs_ = dense->weight.shape[0];
    features_ = inputs + (dense->has_bias() ? 1 : 0);
    for (std::int64_t j = 0; j < outputs_; ++j) {
        for (std::int64_t i = 0; i < inputs; ++i)
            weights_.push_back(static_cast<double>(dense->weight.value.data()[j * inputs + i]));
        if (dense->has_bias()) weights_.push_back(static_cast<double>(dense->bias.value.data()[j]));
    }
}

template <Real T>
LastLayerLaplace<T>::LastLayerLaplace(const Sequential<T>& net, const Gaussian<T>& likelihood, const Dataset<T>& data,
                                      LaplaceOptions options)
    : LastLayerLaplace(net, data) {
    noise_ = likelihood.sd();
    size_ = features_;
    add_data(likelihood, data);
    finish(options);
}

template <Real T>
LastLayerLaplace<T>::LastLayerLaplace(const Sequential<T>& net, const Categorical<T>& likelihood,
                                      const Dataset<T>& data, LaplaceOptions options)
    : LastLayerLaplace(net, data) {
    size_ = features_ * outputs_;
    add_data(likelihood, data);
    finish(options);
}

template <Real T>
const Dense<T>& LastLayerLaplace<T>::last() const {
    return static_cast<const Dense<T>&>(net_[net_.size() - 1]);
}

// What the last layer gets, and ones for its bias.
template <Real T>
Tensor<double> LastLayerLaplace<T>::features(const Tensor<T>& x) const {
    const Tensor<T> inputs = body_.size() == 0 ? x : predict(body_, x);
    const std::int64_t width = last().weight.shape[1];
    if (inputs.rank() != 2 || inputs.shape()[1] != width)
        throw ShapeError("LastLayerLaplace: the last layer gets inputs of shape " + to_string(inputs.shape()) +
                         "; (n, " + std::to_string(width) + ") is needed");
    const std::int64_t rows = inputs.shape()[0];
    Tensor<double> out = Tensor<double>::full({rows, features_}, 1);
    double* to = out.mutable_data();
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t i = 0; i < width; ++i)
            to[row * features_ + i] = static_cast<double>(inputs.data()[row * width + i]);
    return out;
}

template <Real T>
Tensor<double> LastLayerLaplace<T>::outputs(const Tensor<double>& features) const {
    const std::int64_t rows = features.shape()[0];
    Tensor<double> out = Tensor<double>::zeros({rows, outputs_});
    kernels::gemm(false, true, rows, outputs_, features_, 1.0, features.data(), weights_.data(), 0.0,
                  out.mutable_data());
    return out;
}

// Batch after batch, each of the same items whatever the number of threads.
template <Real T>
void LastLayerLaplace<T>::add_data(const Likelihood<T>& likelihood, const Dataset<T>& data) {
    likelihood.check_data(Shape{data.size(), outputs_}, data);
    const Tensor<double> square = Tensor<double>::zeros({size_, size_});  // an error if it is too large
    curvature_.assign(square.begin(), square.end());
    for (std::int64_t first = 0; first < data.size(); first += items_at_once) {
        const Dataset<T> items = data.view(first, std::min(items_at_once, data.size() - first));
        const Tensor<double> phi = features(items.inputs), f = outputs(phi);
        if (noise_ > 0)
            add_numbers(phi, f, items.targets);
        else
            add_classes(phi, f, items.labels);
    }
}

template <Real T>
void LastLayerLaplace<T>::add_numbers(const Tensor<double>& phi, const Tensor<double>& f, const Tensor<T>& targets) {
    const double sd = noise_, log_sd = math::log(sd);
    for (std::int64_t k = 0; k < f.size(); ++k) {
        const double z = (static_cast<double>(targets.data()[k]) - f.data()[k]) / sd;
        log_likelihood_ -= z * z / 2 + log_sd + kernels::log_sqrt_2pi;
    }
    kernels::gemm(true, false, size_, size_, phi.shape()[0], 1 / (sd * sd), phi.data(), phi.data(), 1.0,
                  curvature_.data());
}

// The block of classes a and b is sum_i p_ia ([a = b] - p_ib) phi_i phi_i'.
template <Real T>
void LastLayerLaplace<T>::add_classes(const Tensor<double>& phi, const Tensor<double>& f, const Indices& labels) {
    const std::int64_t rows = phi.shape()[0];
    const Tensor<double> p = Categorical<double>::probabilities(f);
    for (std::int64_t i = 0; i < rows; ++i) {
        const double* logits = f.data() + i * outputs_;
        const double most = *std::max_element(logits, logits + outputs_);
        double rest = 0;
        for (std::int64_t c = 0; c < outputs_; ++c) rest += math::exp(logits[c] - most);
        log_likelihood_ += logits[labels.data()[i]] - most - math::log(rest);
    }
    Tensor<double> weighted = Tensor<double>::zeros(phi.shape());
    for (std::int64_t a = 0; a < outputs_; ++a)
        for (std::int64_t b = 0; b <= a; ++b) {
            for (std::int64_t i = 0; i < rows; ++i) {
                const double weight = p(i, a) * ((a == b ? 1 : 0) - p(i, b));
                for (std::int64_t k = 0; k < features_; ++k)
                    weighted.mutable_data()[i * features_ + k] = weight * phi(i, k);
            }
            kernels::gemm(true, false, features_, features_, rows, 1.0, weighted.data(), features_, phi.data(),
                          features_, 1.0, curvature_.data() + a * features_ * size_ + b * features_, size_);
        }
}

// Makes the factor of A at this precision of the prior, and returns log det A.
template <Real T>
double LastLayerLaplace<T>::log_det(double precision) {
    factor_ = curvature_;
    for (std::int64_t i = 0; i < size_; ++i) factor_[place_of(i * size_ + i)] += precision;
    if (kernels::cholesky(size_, factor_.data(), size_) != 0)
        throw ValueError("LastLayerLaplace: the curvature is not positive definite to rounding with prior_sd " +
                         to_text(1 / std::sqrt(precision)) + "; a smaller prior_sd is needed");
    double log_det = 0;
    for (std::int64_t i = 0; i < size_; ++i) log_det += 2 * math::log(factor_[place_of(i * size_ + i)]);
    return log_det;
}

// The precision t = 1 / prior_sd^2 with the greatest evidence is where t |w*|^2 = gamma, the number of weights that the
// data determine (MacKay 1992, Eq. 31):
//
//     gamma = d - t tr A^-1 = sum_k e_k / (e_k + t),    e_k = the eigenvalues of A without the prior
//
// With s = log t, log gamma - log(t |w*|^2) falls with a slope from -2 to -1 everywhere. Steps of 2/3 of it divide the
// distance from its only zero by three or more.
template <Real T>
double LastLayerLaplace<T>::best_precision(double squares) {
    const auto d = static_cast<double>(std::ssize(weights_)), copies = d / static_cast<double>(size_);
    double s = 0;
    for (int turn = 0; turn < 200; ++turn) {
        const double precision = math::exp(s);
        log_det(precision);
        // tr A^-1 is the sum of the squares of L^-1.
        std::vector<double> inverse(factor_.size());
        for (std::int64_t i = 0; i < size_; ++i) inverse[place_of(i * size_ + i)] = 1;
        kernels::triangular_solve(Triangle::lower, false, false, size_, size_, factor_.data(), size_, inverse.data(),
                                  size_);
        const double gamma = d - precision * copies * squared_length(inverse);
        const double step = (math::log(gamma) - s - math::log(squares)) / 1.5;
        if (!std::isfinite(step)) break;
        s += step;
        if (std::abs(step) < 1e-10) return math::exp(s);
    }
    throw ValueError(
        "LastLayerLaplace: no prior_sd has the greatest evidence, because the weights of the last layer or its inputs "
        "are all 0, or nearly so; give a prior_sd");
}

template <Real T>
void LastLayerLaplace<T>::finish(LaplaceOptions options) {
    if (options.prior_sd && !(*options.prior_sd > 0 && std::isfinite(*options.prior_sd)))
        throw ValueError("LastLayerLaplace: prior_sd is " + to_text(*options.prior_sd) +
                         "; a finite number above 0 is needed");
    const double squares = squared_length(weights_), d = static_cast<double>(std::ssize(weights_));
    precision_ = options.prior_sd ? 1 / (*options.prior_sd * *options.prior_sd) : best_precision(squares);
    const double copies = d / static_cast<double>(size_);
    log_evidence_ =
        log_likelihood_ - precision_ * squares / 2 + d / 2 * math::log(precision_) - copies / 2 * log_det(precision_);
}

template <Real T>
double LastLayerLaplace<T>::prior_sd() const {
    return 1 / std::sqrt(precision_);
}

// J A^-1 J' = |L^-1 J'|^2 of an output at each row. With classes J is 0 but for the features at the place of the class,
// and so is the part of L^-1 J' before it.
template <Real T>
std::vector<double> LastLayerLaplace<T>::variances(const Tensor<double>& phi, std::int64_t output) const {
    const std::int64_t rows = phi.shape()[0], begin = noise_ > 0 ? 0 : output * features_, left = size_ - begin;
    std::vector<double> solved(place_of(left * rows)), sums(place_of(rows));
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t k = 0; k < features_; ++k) solved[place_of(k * rows + row)] = phi(row, k);
    kernels::triangular_solve(Triangle::lower, false, false, left, rows, factor_.data() + begin * (size_ + 1), size_,
                              solved.data(), rows);
    for (std::int64_t k = 0; k < left; ++k)
        for (std::int64_t row = 0; row < rows; ++row) {
            const double value = solved[place_of(k * rows + row)];
            sums[place_of(row)] += value * value;
        }
    return sums;
}

template <Real T>
LaplaceNumbers<T> LastLayerLaplace<T>::predict_numbers(const Tensor<T>& x) const {
    if (noise_ == 0)
        throw ValueError("LastLayerLaplace: predict_numbers() needs a Gaussian likelihood, not Categorical");
    LaplaceNumbers<T> out{predict(net_, x), {}, {}};
    out.epistemic = Tensor<T>::empty(out.mean.shape());
    out.sd = Tensor<T>::empty(out.mean.shape());
    T *epistemic = out.epistemic.mutable_data(), *sd = out.sd.mutable_data();
    const std::int64_t n = out.mean.shape()[0];
    for (std::int64_t first = 0; first < n; first += items_at_once) {
        const std::int64_t count = std::min(items_at_once, n - first);
        const std::vector<double> found = variances(features(rows(x, first, count)), 0);
        for (std::int64_t k = 0; k < count * outputs_; ++k) {
            const double variance = found[place_of(k / outputs_)];
            epistemic[first * outputs_ + k] = static_cast<T>(variance);
            sd[first * outputs_ + k] = static_cast<T>(std::sqrt(variance + noise_ * noise_));
        }
    }
    return out;
}

template <Real T>
Tensor<T> LastLayerLaplace<T>::probabilities(const Tensor<T>& x) const {
    if (noise_ > 0) throw ValueError("LastLayerLaplace: probabilities() needs a Categorical likelihood, not Gaussian");
    Tensor<T> logits = predict(net_, x);
    T* f = logits.mutable_data();
    const std::int64_t n = logits.shape()[0];
    for (std::int64_t first = 0; first < n; first += items_at_once) {
        const std::int64_t count = std::min(items_at_once, n - first);
        const Tensor<double> phi = features(rows(x, first, count));
        for (std::int64_t c = 0; c < outputs_; ++c) {
            const std::vector<double> found = variances(phi, c);
            for (std::int64_t row = 0; row < count; ++row) {
                T& logit = f[(first + row) * outputs_ + c];
                logit = static_cast<T>(static_cast<double>(logit) /
                                       std::sqrt(1 + std::numbers::pi / 8 * found[place_of(row)]));
            }
        }
    }
    return Categorical<T>::probabilities(logits);
}

// w = w* + L'^-1 z, which has the covariance L'^-1 L^-1 = A^-1
template <Real T>
Tensor<T> LastLayerLaplace<T>::draw(std::uint64_t seed, std::uint64_t k) const {
    std::vector<double> w(weights_.size());
    fill_normal({seed, stream_of(Purpose::predicted_weights), k}, 0, w);
    for (std::int64_t first = 0; first < std::ssize(w); first += size_)
        kernels::triangular_solve(Triangle::lower, true, false, size_, 1, factor_.data(), size_, w.data() + first, 1);
    const Parameters<T> parameters(net_);
    Tensor<T> theta = parameters.flatten();
    const auto offset = [&](const Parameter<T>& p) { return parameters.entries()[*parameters.find(p)].offset; };
    const std::int64_t inputs = last().weight.shape[1];
    T* const weight = theta.mutable_data() + offset(last().weight);
    T* const bias = last().has_bias() ? theta.mutable_data() + offset(last().bias) : nullptr;
    for (std::int64_t i = 0; i < std::ssize(w); ++i) {
        const std::int64_t output = i / features_, feature = i % features_;
        T& to = feature < inputs ? weight[output * inputs + feature] : bias[output];
        to = static_cast<T>(weights_[place_of(i)] + w[place_of(i)]);
    }
    return theta;
}

template <Real T>
std::vector<Tensor<T>> LastLayerLaplace<T>::draws(std::int64_t count, std::uint64_t seed, std::uint64_t first) const {
    return detail::several_draws<T>("LastLayerLaplace", *this, count, seed, first);
}

template class LastLayerLaplace<float>;
template class LastLayerLaplace<double>;

}  // namespace pollen
