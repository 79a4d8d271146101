#include <pollen/nn/training/update.hpp>

#include <pollen/autograd/support/error.hpp>

#include <cmath>

namespace pollen {

template <Real T>
Update<T>::Update(Optimiser optimiser, Tape<T>& tape, Pass<T>& pass, Tensor<T>& theta, std::vector<Tensor<T>>& memory)
    : optimiser_(std::move(optimiser)), tape_(tape), pass_(pass), theta_(theta), memory_(memory) {
    pass_.sink = this;
}

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
}

template <Real T>
Update<T>::~Update() {
    pass_.sink = nullptr;
}

template <Real T>
double Update<T>::operator()(const Var<T>& loss, UpdateStep now, double clip_norm, std::size_t decayed) {
    check();
    const bool clip = std::isfinite(clip_norm);
    now_ = now;
    decayed_ = decayed;
    moved_.assign(pass_.leaves().size(), false);
    all_.clear();
    for (const auto& [name, parameter, offset] : pass_.parameters().entries()) {
        Stretch<T> at{theta_.mutable_data() + offset, nullptr, {}, parameter->shape.size()};
        for (std::size_t m = 0; m < memory_.size(); ++m) at.memory[m] = memory_[m].mutable_data() + offset;
        all_.push_back(at);
    }
    streaming_ = !clip;
    try {
        tape_.backward(loss);
    } catch (...) {
        streaming_ = false;
        throw;
    }
    streaming_ = false;
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

// Whatever else uses the parameter would add to its gradient later on.
template <Real T>
bool Update<T>::wants(std::size_t leaf) const {
    return streaming_ && tape_.state().uses(pass_.leaves()[leaf].index()) == 1;
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
    UpdateStep now = now_;
    if (leaf >= decayed_) now.decay = 0;
    optimiser_.update(now, at);
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
