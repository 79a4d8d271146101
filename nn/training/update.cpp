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
    if (const std::size_t n_priors = priors_.of_parameter.size(); n_priors != 0 && n_priors != pass_.leaves().size())
        throw ValueError("Update: " + std::to_string(n_priors) + " priors; the pass has " +
                         std::to_string(pass_.leaves().size()) + " parameters");
}

template <Real T>
double Update<T>::operator()(const Var<T>& loss, UpdateStep now, double clip_norm) {
    check();
    const bool clip = std::isfinite(clip_norm);
    now_ = now;
    moved_.assign(pass_.leaves().size(), false);
    all_.clear();
    for (const auto& [name, parameter, offset] : pass_.parameters().entries()) {
        Stretch<T> at{theta_.mutable_data() + offset, nullptr, {}, parameter->shape.size()};
        for (std::size_t m = 0; m < memory_.size(); ++m) at.memory[m] = memory_[m].mutable_data() + offset;
        all_.push_back(at);
    }
    backward(loss, !clip);
    double norm = std::numeric_limits<double>::quiet_NaN();
    if (clip) {
        norm = gradient_norm();
        if (!std::isfinite(norm)) return norm;
        now_.scale = std::min(1.0, clip_norm / norm);
    }
    for (std::size_t k = 0; k < all_.size(); ++k)
        if (!moved_[k]) move(k, 0, pass_.leaves()[k].grad().values());
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

// In double: the squares of large floats are no floats.
template <Real T>
double Update<T>::gradient_norm() const {
    double sum = 0;
    for (const Var<T>& leaf : pass_.leaves()) {
        const Tensor<T> g = leaf.grad();
        for (const T x : g) sum += static_cast<double>(x) * static_cast<double>(x);
    }
    return std::sqrt(sum);
}

template class Update<float>;
template class Update<double>;

}  // namespace pollen
