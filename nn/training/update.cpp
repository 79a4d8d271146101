#include <pollen/nn/training/update.hpp>

#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace pollen {

template <Real T>
Update<T>::Update(Optimiser optimiser, Tape<T>& tape, Pass<T>& pass, Tensor<T>& theta, std::vector<Tensor<T>>& memory,
                  UpdatePriors priors)
    : optimiser_(std::move(optimiser)),
      tape_(tape),
      pass_(pass),
      theta_(theta),
      memory_(memory),
      priors_(std::move(priors)) {}

template <Real T>
void Update<T>::check() const {
    const std::int64_t n = pass_.parameters().size();
    const auto need = [&](const std::string& what, const Tensor<T>& x) {
        if (x.size() != n)
            throw ShapeError("Update: " + what + " has " + std::to_string(x.size()) +
                             " numbers; the pass has parameters of " + std::to_string(n));
    };
    need("theta", theta_);
    if (std::ssize(memory_) != optimiser_.memories())
        throw ValueError("Update: " + std::to_string(memory_.size()) + " tensors of memory; the optimiser needs " +
                         std::to_string(optimiser_.memories()));
    for (std::size_t k = 0; k < memory_.size(); ++k) need("memory " + std::to_string(k), memory_[k]);
    if (const std::size_t n_priors = priors_.of_parameter.size();
        n_priors != 0 && n_priors != pass_.parameters().count())
        throw ValueError("Update: " + std::to_string(n_priors) + " priors; the pass has " +
                         std::to_string(pass_.parameters().count()) + " parameters");
}

template <Real T>
double Update<T>::operator()(const Var<T>& loss, UpdateStep now, double clip_norm) {
    start(now);
    backward(loss, !std::isfinite(clip_norm));
    return finish(clip_norm, [&](std::size_t k) { return pass_.leaves()[k].grad(); });
}

template <Real T>
double Update<T>::operator()(const Tensor<T>& gradient, UpdateStep now, double clip_norm) {
    if (gradient.size() != theta_.size())
        throw ShapeError("Update: a gradient of " + std::to_string(gradient.size()) + " numbers; theta has " +
                         std::to_string(theta_.size()));
    start(now);
    return finish(clip_norm, [&](std::size_t k) {
        const auto& entry = pass_.parameters().entries()[k];
        return Tensor<T>::borrow(gradient.data() + entry.offset, entry.parameter->shape);
    });
}

template <Real T>
void Update<T>::start(UpdateStep now) {
    check();
    now_ = now;
    moved_.assign(pass_.parameters().count(), false);
    all_.clear();
    for (const auto& [name, parameter, offset] : pass_.parameters().entries()) {
        Stretch<T> at{theta_.mutable_data() + offset, nullptr, {}, parameter->shape.size()};
        for (std::size_t m = 0; m < memory_.size(); ++m) at.memory[m] = memory_[m].mutable_data() + offset;
        all_.push_back(at);
    }
}

// Moves what has not been moved in pieces. The norm is summed in double: the squares of large floats are no floats.
template <Real T>
double Update<T>::finish(double clip_norm, const auto& gradient_of) {
    double norm = std::numeric_limits<double>::quiet_NaN();
    if (std::isfinite(clip_norm)) {
        double sum = 0;
        for (std::size_t k = 0; k < all_.size(); ++k) {
            const Tensor<T> g = gradient_of(k);
            for (const T x : g) sum += static_cast<double>(x) * static_cast<double>(x);
        }
        norm = std::sqrt(sum);
        if (!std::isfinite(norm)) return norm;
        now_.scale = std::min(1.0, clip_norm / norm);
    }
    const auto& entries = pass_.parameters().entries();
    for (std::size_t k = 0; k < all_.size(); ++k)
        if (!moved_[k] && !entries[k].parameter->statistic) move(k, 0, gradient_of(k).values());
    for (const auto& [parameter, next] : pass_.statistics())
        std::copy(next.begin(), next.end(), all_[pass_.parameters().find(*parameter).value()].theta);
    return norm;
}

// The leaves send pieces of their gradients to this object while it runs, whether it ends well or not.
template <Real T>
void Update<T>::backward(const Var<T>& loss, bool in_pieces) {
    struct Bound {
        ~Bound() {
            for (const Var<T>& leaf : pass.leaves()) pass.tape().accumulate_here(leaf);
        }
        Pass<T>& pass;
    } bound{pass_};
    if (in_pieces)
        for (std::size_t k = 0; k < all_.size(); ++k) tape_.accumulate_into(pass_.leaves()[k], *this, k);
    tape_.backward(loss);
}

template <Real T>
void Update<T>::take(std::size_t leaf, std::int64_t begin, std::span<const T> gradient) {
    if (begin == 0) moved_[leaf] = true;
    move(leaf, begin, gradient);
}

template <Real T>
void Update<T>::move(std::size_t leaf, std::int64_t begin, std::span<const T> gradient) const {
    Stretch<T> at = all_[leaf];
    at.theta += begin;
    for (std::size_t m = 0; m < memory_.size(); ++m) at.memory[m] += begin;
    at.gradient = gradient.data();
    at.size = std::ssize(gradient);
    if (priors_.of_parameter.empty())
        optimiser_.update(now_, at);
    else
        move_under(priors_.of_parameter[leaf], at);
}

// The slope of -log p / N: a decay of theta by 1 / (N sd^2) under a normal prior, what the prior says under others.
template <Real T>
void Update<T>::move_under(const Prior& prior, const Stretch<T>& at) const {
    UpdateStep now = now_;
    const auto items = static_cast<double>(priors_.items);
    if (const auto sd = prior.gaussian_sd()) {
        now.decay += 1 / (items * *sd * *sd);
        return optimiser_.update(now, at);
    }
    if (prior.flat()) return optimiser_.update(now, at);
    const T scale = static_cast<T>(std::exchange(now.scale, 1)), share = static_cast<T>(1 / items);
    constexpr std::int64_t block = 1024;
    alignas(64) T slopes[block];
    for (std::int64_t i = 0; i < at.size; i += block) {
        Stretch<T> piece = at;
        piece.theta += i;
        for (T*& memory : piece.memory)
            if (memory) memory += i;
        piece.size = std::min(block, at.size - i);
        prior.slopes(piece.theta, piece.size, slopes);
        for (std::int64_t k = 0; k < piece.size; ++k) slopes[k] = scale * at.gradient[i + k] - share * slopes[k];
        piece.gradient = slopes;
        optimiser_.update(now, piece);
    }
}

template class Update<float>;
template class Update<double>;

}  // namespace pollen
