#include <pollen/nn/distributions/categorical.hpp>

#include <pollen/nn/distributions/detail/density_node.hpp>
#include <pollen/nn/distributions/detail/log_weights.hpp>

namespace pollen::distributions {

using kernels::log_sum_exp;

namespace {

// Which row of the logits belongs to each element of a tensor of shape x.
class Rows {
  public:
    Rows(const Shape& logits, const Shape& x) : single_(logits.size() == logits[logits.rank() - 1]) {
        const Shape lead = kernels::without_last(logits);
        if (!broadcasts_to(lead, x))
            throw ShapeError("Categorical: logits have shape " + to_string(logits) + " and x " + to_string(x) +
                             "; the logits' shape without its last axis must broadcast to that of x");
        if (single_ || lead == x) return;
        rows_ = Tensor<double>::empty(x);
        kernels::repeat_into<double>({rows_.fresh_data(), true}, x, Tensor<double>::arange(lead.size()).data(), lead);
    }
    std::int64_t operator[](std::int64_t i) const {
        return single_ ? 0 : rows_.size() > 0 ? static_cast<std::int64_t>(rows_.data()[i]) : i;
    }

  private:
    bool single_;
    Tensor<double> rows_;
};

// The logarithms of the normalising sums, a number for each row.
template <Real T>
Tensor<T> normalisers(const T* logits, const Shape& shape) {
    const std::int64_t k = shape[shape.rank() - 1], rows = k > 0 ? shape.size() / k : 0;
    Tensor<T> out = Tensor<T>::empty(Shape{rows});
    T* to = out.fresh_data();
    kernels::parallel_rows(rows, k, [&](std::int64_t r) { to[r] = log_sum_exp(logits + r * k, k); });
    return out;
}

}  // namespace

template <Real T>
Categorical<T>::Categorical(Arg<T> logits) : logits_(std::move(logits)) {
    const Shape shape = logits_.shape();
    if (shape.rank() == 0 || shape[shape.rank() - 1] == 0)
        throw ShapeError("Categorical: logits have shape " + to_string(shape) +
                         "; their last axis must hold the classes");
    const T* l = logits_.data();
    for (std::int64_t i = 0; i < shape.size(); ++i)
        if (std::isnan(l[i]))
            throw DomainError("Categorical: logits is nan at element " + std::to_string(i) + "; it must be a number");
}

template <Real T>
Tensor<T> Categorical<T>::log_prob_each(const Indices& x) const {
    const Shape shape = logits_.shape();
    const Rows rows(shape, x.shape());
    const std::int64_t k = shape[shape.rank() - 1];
    const Tensor<T> norm = normalisers(logits_.data(), shape);
    Tensor<T> out = Tensor<T>::empty(x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const std::int64_t c = x.data()[i], r = rows[i];
        out.fresh_data()[i] =
            c >= 0 && c < k ? logits_.data()[r * k + c] - norm.data()[r] : -std::numeric_limits<T>::infinity();
    }
    return out;
}

// dlog p/dlogits[k] = [x = k] - p_k
template <Real T>
Var<T> Categorical<T>::log_prob(const Indices& x) const {
    TapeState<T>& tape = tape_of("categorical_logit_lpmf", Args<T, 1>{logits_});
    const Tensor<T> each = log_prob_each(x);
    Tensor<T> y = tape.empty(Shape{});
    y.fresh_data()[0] =
        kernels::reduce_all<kernels::Sum, T>(each.size(), kernels::Keep{}, kernels::Stream<T>{each.data()});
    return record("categorical_logit_lpmf", {*logits_.var()}, std::move(y), [x](Backward<T>& b) {
        const Tensor<T>& logits = b.input(0);
        const std::int64_t k = logits.shape()[logits.rank() - 1];
        const Rows rows(logits.shape(), x.shape());
        const Tensor<T> norm = normalisers(logits.data(), logits.shape());
        Tensor<T> counts = Tensor<T>::zeros(norm.shape());
        T* count = counts.mutable_data();
        T* out = b.accumulate(0);
        if (!out) return;
        const T g = b.grad()[0];
        for (std::int64_t i = 0; i < x.size(); ++i) {
            const std::int64_t c = x.data()[i], r = rows[i];
            if (c < 0 || c >= k) continue;
            out[r * k + c] += g;
            count[r] += 1;
        }
        kernels::parallel_rows(norm.size(), k, [&](std::int64_t r) {
            if (count[r] == 0) return;
            for (std::int64_t j = r * k; j < (r + 1) * k; ++j)
                out[j] -= g * count[r] * std::exp(logits.data()[j] - norm.data()[r]);
        });
    });
}

template <Real T>
Indices Categorical<T>::sample(const Shape& shape, const RandomKey& key) const {
    const Shape from = logits_.shape();
    const Rows rows(from, shape);
    const std::int64_t k = from[from.rank() - 1];
    Indices out = Indices::empty(shape);
    std::int32_t* to = out.fresh_data();
    kernels::parallel_rows(shape.size(), k, [&](std::int64_t i) {
        to[i] = kernels::draw_class(logits_.data() + rows[i] * k, k, key, static_cast<std::uint64_t>(i));
    });
    return out;
}

template <Real T>
Tensor<T> Categorical<T>::probabilities() const {
    const Shape shape = logits_.shape();
    const std::int64_t k = shape[shape.rank() - 1];
    const Tensor<T> norm = normalisers(logits_.data(), shape);
    Tensor<T> out = Tensor<T>::empty(shape);
    for (std::int64_t i = 0; i < shape.size(); ++i)
        out.fresh_data()[i] = std::exp(logits_.data()[i] - norm.data()[i / k]);
    return out;
}

namespace {

template <Real T>
void check_same(const Categorical<T>& p, const Categorical<T>& q) {
    if (!(p.logits().shape() == q.logits().shape()))
        throw ShapeError("kl: the logits of two Categoricals have shapes " + to_string(p.logits().shape()) + " and " +
                         to_string(q.logits().shape()) + "; they must be the same");
}

}  // namespace

// KL = sum_k p_k (log p_k - log q_k), where p_k = 0 counts nothing
template <Real T>
Tensor<T> kl_each(const Categorical<T>& p, const Categorical<T>& q) {
    check_same(p, q);
    const Shape shape = p.logits().shape();
    const std::int64_t k = shape[shape.rank() - 1];
    const T *l = p.logits().data(), *m = q.logits().data();
    Tensor<T> out = Tensor<T>::empty(kernels::without_last(shape));
    T* to = out.fresh_data();
    kernels::parallel_rows(out.size(), k, [&](std::int64_t r) {
        const T norm_p = log_sum_exp(l + r * k, k), norm_q = log_sum_exp(m + r * k, k);
        T sum = 0;
        for (std::int64_t j = r * k; j < (r + 1) * k; ++j) {
            const T log_p = l[j] - norm_p;
            if (l[j] > -std::numeric_limits<T>::infinity()) sum += std::exp(log_p) * (log_p - (m[j] - norm_q));
        }
        to[r] = sum;
    });
    return out;
}

// With c_k = log p_k - log q_k:        dKL/dl_k = p_k (c_k - KL)        dKL/dm_k = q_k - p_k
template <Real T>
Var<T> kl(const Categorical<T>& p, const Categorical<T>& q) {
    TapeState<T>& tape = tape_of("kl", Args<T, 2>{p.logits(), q.logits()});
    const Tensor<T> each = kl_each(p, q);
    Tensor<T> y = tape.empty(Shape{});
    y.fresh_data()[0] =
        kernels::reduce_all<kernels::Sum, T>(each.size(), kernels::Keep{}, kernels::Stream<T>{each.data()});
    return record("kl", {p.logits().on(tape), q.logits().on(tape)}, std::move(y), [](Backward<T>& b) {
        const Shape& shape = b.input(0).shape();
        const std::int64_t k = shape[shape.rank() - 1];
        const T *l = b.input(0).data(), *m = b.input(1).data(), g = b.grad()[0];
        T *dl = b.accumulate(0), *dm = b.accumulate(1);
        kernels::parallel_rows(shape.size() / k, k, [&](std::int64_t r) {
            const T norm_p = log_sum_exp(l + r * k, k), norm_q = log_sum_exp(m + r * k, k);
            const auto c = [&](std::int64_t j) { return (l[j] - norm_p) - (m[j] - norm_q); };
            T sum = 0;
            for (std::int64_t j = r * k; j < (r + 1) * k; ++j)
                if (l[j] > -std::numeric_limits<T>::infinity()) sum += std::exp(l[j] - norm_p) * c(j);
            for (std::int64_t j = r * k; j < (r + 1) * k; ++j) {
                const T in_p = std::exp(l[j] - norm_p);
                if (dl && in_p > 0) dl[j] += g * in_p * (c(j) - sum);
                if (dm) dm[j] += g * (std::exp(m[j] - norm_q) - in_p);
            }
        });
    });
}

template class Categorical<float>;
template class Categorical<double>;
template Var<float> kl(const Categorical<float>&, const Categorical<float>&);
template Var<double> kl(const Categorical<double>&, const Categorical<double>&);
template Tensor<float> kl_each(const Categorical<float>&, const Categorical<float>&);
template Tensor<double> kl_each(const Categorical<double>&, const Categorical<double>&);

}  // namespace pollen::distributions
