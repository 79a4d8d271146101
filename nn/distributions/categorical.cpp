#include <pollen/nn/distributions/categorical.hpp>

#include <pollen/autograd/math.hpp>
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
    const Tensor<T> logits = logits_.value();
    const Rows rows(logits.shape(), x.shape());
    const std::int64_t k = logits.shape()[logits.rank() - 1];
    Tape<T> tape(Recording::off);
    const Tensor<T> log_p = log_softmax(tape.borrow(logits)).value();
    Tensor<T> out = Tensor<T>::empty(x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const std::int64_t c = x.data()[i];
        out.fresh_data()[i] = c >= 0 && c < k ? log_p.data()[rows[i] * k + c] : -std::numeric_limits<T>::infinity();
    }
    return out;
}

// With a row of logits for each class of x this is the op cross_entropy. Otherwise the classes that exist are looked up
// in log_softmax(logits).
template <Real T>
Var<T> Categorical<T>::log_prob(const Indices& x) const {
    tape_of("categorical_logit_lpmf", Args<T, 1>{logits_});
    const Var<T> logits = *logits_.var();
    const Shape shape = logits.shape();
    const std::int64_t k = shape[shape.rank() - 1];
    const Rows rows(shape, x.shape());
    std::int64_t existing = 0;
    for (const std::int32_t c : x) existing += c >= 0 && c < k;
    const bool all_exist = existing == x.size();
    if (all_exist && kernels::without_last(shape) == x.shape()) {
        const Shape of_rows{x.size(), k};
        const Var<T> matrix = shape == of_rows ? logits : reshape(logits, of_rows);
        return -cross_entropy(matrix, x.reshaped(Shape{x.size()}), Reduction::sum);
    }
    if (shape.size() > std::numeric_limits<std::int32_t>::max())
        throw ShapeError("Categorical: the logits have shape " + to_string(shape) +
                         ", more than 2147483647 numbers; take fewer rows at a time");
    Indices at = Indices::empty(Shape{existing});
    std::int32_t* next = at.fresh_data();
    for (std::int64_t i = 0; i < x.size(); ++i)
        if (const std::int32_t c = x.data()[i]; c >= 0 && c < k) *next++ = static_cast<std::int32_t>(rows[i] * k + c);
    const Var<T> log_p = reshape(log_softmax(logits), Shape{shape.size()});
    const Var<T> sum_of_logs = sum(index_select(log_p, 0, at));
    return all_exist ? sum_of_logs : sum_of_logs - std::numeric_limits<T>::infinity();
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
    const Tensor<T> logits = logits_.value();
    Tape<T> tape(Recording::off);
    return softmax(tape.borrow(logits)).value();
}

namespace {

template <Real T>
void check_same(const Categorical<T>& p, const Categorical<T>& q) {
    if (!(p.logits().shape() == q.logits().shape()))
        throw ShapeError("kl: the logits of two Categoricals have shapes " + to_string(p.logits().shape()) + " and " +
                         to_string(q.logits().shape()) + "; they must be the same");
}

// KL = sum_k p_k (log p_k - log q_k) of each row, where p_k = 0 counts nothing
template <Real T>
Tensor<T> kl_of_rows(const Shape& shape, const T* l, const T* m) {
    const std::int64_t k = shape[shape.rank() - 1];
    Tensor<T> out = Tensor<T>::empty(kernels::without_last(shape));
    T* to = out.fresh_data();
    kernels::parallel_rows(out.size(), k, [&](std::int64_t r) {
        const T norm_p = log_sum_exp(l + r * k, k), norm_q = log_sum_exp(m + r * k, k);
        T sum = 0;
        for (std::int64_t j = r * k; j < (r + 1) * k; ++j) {
            const T log_p = l[j] - norm_p;
            if (l[j] > -std::numeric_limits<T>::infinity()) sum += math::exp(log_p) * (log_p - (m[j] - norm_q));
        }
        to[r] = sum;
    });
    return out;
}

}  // namespace

template <Real T>
Tensor<T> kl_each(const Categorical<T>& p, const Categorical<T>& q) {
    check_same(p, q);
    return kl_of_rows(p.logits().shape(), p.logits().data(), q.logits().data());
}

// With c_k = log p_k - log q_k:        dKL/dl_k = p_k (c_k - KL)        dKL/dm_k = q_k - p_k
template <Real T>
Var<T> kl(const Categorical<T>& p, const Categorical<T>& q) {
    TapeState<T>& tape = tape_of("kl", Args<T, 2>{p.logits(), q.logits()});
    check_same(p, q);
    const auto forward = [](Forward<T>& node) {
        const Tensor<T> each = kl_of_rows(node.input(0).shape(), node.input(0).data(), node.input(1).data());
        node.value()[0] =
            kernels::reduce_all<kernels::Sum, T>(each.size(), kernels::Keep{}, kernels::Stream<T>{each.data()});
    };
    return record("kl", {p.logits().on(tape), q.logits().on(tape)}, Shape{}, forward, [](Backward<T>& b) {
        const Shape& shape = b.input(0).shape();
        const std::int64_t k = shape[shape.rank() - 1];
        const T *l = b.input(0).data(), *m = b.input(1).data(), g = b.grad()[0];
        T *dl = b.accumulate(0), *dm = b.accumulate(1);
        kernels::parallel_rows(shape.size() / k, k, [&](std::int64_t r) {
            const T norm_p = log_sum_exp(l + r * k, k), norm_q = log_sum_exp(m + r * k, k);
            const auto c = [&](std::int64_t j) { return (l[j] - norm_p) - (m[j] - norm_q); };
            T sum = 0;
            for (std::int64_t j = r * k; j < (r + 1) * k; ++j)
                if (l[j] > -std::numeric_limits<T>::infinity()) sum += math::exp(l[j] - norm_p) * c(j);
            for (std::int64_t j = r * k; j < (r + 1) * k; ++j) {
                const T in_p = math::exp(l[j] - norm_p);
                if (dl && in_p > 0) dl[j] += g * in_p * (c(j) - sum);
                if (dm) dm[j] += g * (math::exp(m[j] - norm_q) - in_p);
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
