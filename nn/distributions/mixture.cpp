#include <pollen/nn/distributions/mixture.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/distributions/detail/density_node.hpp>
#include <pollen/nn/distributions/detail/log_weights.hpp>

#include <algorithm>

namespace pollen {

using kernels::log_sum_exp;

namespace {

constexpr const char* mixture_node = "mixture_lpdf";

// Logits and terms written out in their common shape (..., K), where they do not have it.
template <Real T>
struct Terms {
    Shape shape;
    std::int64_t parts, rows;
    Tensor<T> held_logits, held_terms;
    const T *logits, *terms;

    Terms(const Shape& logits_shape, const T* l, const Shape& terms_shape, const T* t)
        : shape(broadcast(mixture_node, logits_shape, terms_shape)) {
        if (shape.rank() == 0 || shape[shape.rank() - 1] == 0)
            throw ShapeError("mixture_lpdf: logits have shape " + to_string(logits_shape) + " and log_probs " +
                             to_string(terms_shape) + "; their last axis must hold the parts of the mixture");
        parts = shape[shape.rank() - 1];
        rows = shape.size() / parts;
        logits = full(held_logits, logits_shape, l);
        terms = full(held_terms, terms_shape, t);
    }

    // log w_k + log p_k of row r, and the logarithm of the sum of the weights as they are
    T norm(std::int64_t r) const { return log_sum_exp(logits + r * parts, parts); }
    T term(std::int64_t r, std::int64_t k, T norm_r) const {
        return logits[r * parts + k] - norm_r + terms[r * parts + k];
    }
    T log_prob(std::int64_t r, T norm_r) const {
        T top = -std::numeric_limits<T>::infinity(), sum = 0;
        for (std::int64_t k = 0; k < parts; ++k) {
            const T t = term(r, k, norm_r);
            if (!(t <= top)) top = t;  // NaN too
        }
        if (!std::isfinite(top)) return top;
        for (std::int64_t k = 0; k < parts; ++k) sum += math::exp(term(r, k, norm_r) - top);
        return top + math::log(sum);
    }

  private:
    const T* full(Tensor<T>& held, const Shape& from, const T* data) const {
        if (from == shape) return data;
        held = Tensor<T>::empty(shape);
        kernels::repeat_into<T>({held.fresh_data(), true}, shape, data, from);
        return held.data();
    }
};

template <Real T>
Tensor<T> each_of(const Terms<T>& all) {
    Tensor<T> out = Tensor<T>::empty(kernels::without_last(all.shape));
    T* to = out.fresh_data();
    kernels::parallel_rows(all.rows, all.parts, [&](std::int64_t r) { to[r] = all.log_prob(r, all.norm(r)); });
    return out;
}

// With r_k = w_k p_k / sum the share of each part:
//     dlog p/dlog p_k = r_k        dlog p/dlogit_k = r_k - w_k
template <Real T>
void pass_back(Backward<T>& b) {
    const Tensor<T>&l = b.input(0), &t = b.input(1);
    const Terms<T> all(l.shape(), l.data(), t.shape(), t.data());
    Tensor<T> to_logits = b.scratch(all.shape), to_terms = b.scratch(all.shape);
    T *dl = to_logits.fresh_data(), *dt = to_terms.fresh_data();
    const T g = b.grad()[0];
    kernels::parallel_rows(all.rows, all.parts, [&](std::int64_t r) {
        const T norm = all.norm(r), log_prob = all.log_prob(r, norm);
        const bool dead = log_prob == -std::numeric_limits<T>::infinity();
        for (std::int64_t k = 0; k < all.parts; ++k) {
            const T share = dead ? 0 : math::exp(all.term(r, k, norm) - log_prob);
            dt[r * all.parts + k] = g * share;
            dl[r * all.parts + k] = dead ? 0 : g * (share - math::exp(all.logits[r * all.parts + k] - norm));
        }
    });
    kernels::sum_to(static_cast<const T*>(dl), all.shape, b.slot(0), l.shape());
    kernels::sum_to(static_cast<const T*>(dt), all.shape, b.slot(1), t.shape());
}

}  // namespace

template <Real T>
Var<T> mixture_log_prob(const Arg<T>& logits, const Arg<T>& log_probs) {
    TapeState<T>& tape = tape_of(mixture_node, Args<T, 2>{logits, log_probs});
    const auto forward = [](Forward<T>& f) {
        const Tensor<T>&l = f.input(0), &t = f.input(1);
        const Tensor<T> each = each_of(Terms<T>(l.shape(), l.data(), t.shape(), t.data()));
        f.value()[0] =
            kernels::reduce_all<kernels::Sum, T>(each.size(), kernels::Keep{}, kernels::Stream<T>{each.data()});
    };
    return record(mixture_node, {logits.on(tape), log_probs.on(tape)}, Shape{}, forward,
                  [](Backward<T>& b) { pass_back(b); });
}

template <Real T>
Tensor<T> mixture_log_prob_each(const Tensor<T>& logits, const Tensor<T>& log_probs) {
    return each_of(Terms<T>(logits.shape(), logits.data(), log_probs.shape(), log_probs.data()));
}

namespace detail {

template <Real T>
Arg<T> log_of_weights(const Arg<T>& probabilities) {
    const T* p = probabilities.data();
    for (std::int64_t i = 0; i < probabilities.size(); ++i)
        if (!(p[i] >= 0 && std::isfinite(p[i])))
            throw DomainError("Mixture: probability is " + to_text(static_cast<double>(p[i])) + " at element " +
                              std::to_string(i) + "; it must not be negative, and be finite");
    const Shape& shape = probabilities.shape();
    const std::int64_t parts = shape.rank() > 0 ? std::max<std::int64_t>(1, shape[shape.rank() - 1]) : 1;
    for (std::int64_t i = 0; i < probabilities.size(); i += parts)
        if (std::all_of(p + i, p + i + parts, [](T x) { return x == 0; }))
            throw DomainError("Mixture: probabilities " + to_string(shape) + ": all of row " +
                              std::to_string(i / parts) + " are 0; one at least must be greater");
    if (probabilities.var()) return log(*probabilities.var());
    Tensor<T> logs = probabilities.value();
    for (T& x : logs.mutable_values()) x = math::log(x);
    return logs;
}

template <Real T>
Arg<T> with_last_axis(const Arg<T>& x) {
    const Shape shape = kernels::with_last(x.shape(), 1);
    if (x.var()) return reshape(*x.var(), shape);
    return x.value().reshaped(shape);
}

template <Real T>
Tensor<T> weighted_mean(const Tensor<T>& logits, const Tensor<T>& v) {
    const Terms<T> all(logits.shape(), logits.data(), v.shape(), v.data());
    Tensor<T> out = Tensor<T>::empty(kernels::without_last(all.shape));
    for (std::int64_t r = 0; r < all.rows; ++r) {
        const T norm = all.norm(r);
        T sum = 0;
        for (std::int64_t k = r * all.parts; k < (r + 1) * all.parts; ++k)
            if (const T w = math::exp(all.logits[k] - norm); w > 0) sum += w * all.terms[k];
        out.fresh_data()[r] = sum;
    }
    return out;
}

// sum_k w_k (v_k + (m_k - m)^2),  m = sum_k w_k m_k
template <Real T>
Tensor<T> mixture_variance(const Tensor<T>& logits, const Tensor<T>& means, const Tensor<T>& variances) {
    const Terms<T> m(logits.shape(), logits.data(), means.shape(), means.data());
    const Terms<T> v(logits.shape(), logits.data(), variances.shape(), variances.data());
    const Tensor<T> centre = weighted_mean(logits, means);
    Tensor<T> squares = Tensor<T>::empty(m.shape);
    for (std::int64_t i = 0; i < squares.size(); ++i) {
        const T d = m.terms[i] - centre.data()[i / m.parts];
        squares.fresh_data()[i] = v.terms[i] + d * d;
    }
    return weighted_mean(logits, squares);
}

template <Real T>
Tensor<T> pick(const Tensor<T>& logits, const Tensor<T>& v, const RandomKey& key) {
    const Terms<T> all(logits.shape(), logits.data(), v.shape(), v.data());
    Tensor<T> out = Tensor<T>::empty(kernels::without_last(all.shape));
    T* to = out.fresh_data();
    kernels::parallel_rows(all.rows, all.parts, [&](std::int64_t r) {
        const std::int64_t at = r * all.parts;
        to[r] = all.terms[at + kernels::draw_class(all.logits + at, all.parts, key, static_cast<std::uint64_t>(r))];
    });
    return out;
}

Shape with_components(const Shape& shape, const Shape& components) {
    if (components.rank() == 0)
        throw ShapeError("Mixture: the component's parameters are single numbers; their last axis must hold the parts");
    return kernels::with_last(shape, components[components.rank() - 1]);
}

}  // namespace detail

#define POLLEN_INSTANTIATE_MIXTURE(T)                                                                  \
    template Var<T> mixture_log_prob(const Arg<T>&, const Arg<T>&);                                    \
    template Tensor<T> mixture_log_prob_each(const Tensor<T>&, const Tensor<T>&);                      \
    template Arg<T> detail::log_of_weights(const Arg<T>&);                                             \
    template Arg<T> detail::with_last_axis(const Arg<T>&);                                             \
    template Tensor<T> detail::weighted_mean(const Tensor<T>&, const Tensor<T>&);                      \
    template Tensor<T> detail::mixture_variance(const Tensor<T>&, const Tensor<T>&, const Tensor<T>&); \
    template Tensor<T> detail::pick(const Tensor<T>&, const Tensor<T>&, const RandomKey&);
POLLEN_INSTANTIATE_MIXTURE(float)
POLLEN_INSTANTIATE_MIXTURE(double)

}  // namespace pollen
