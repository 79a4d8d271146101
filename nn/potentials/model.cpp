#include <pollen/nn/potentials/model.hpp>

#include <pollen/autograd/random.hpp>
#include <pollen/autograd/rows.hpp>
#include <pollen/autograd/streams.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/nn/distributions/transform.hpp>
#include <pollen/nn/potentials/detail/column_name.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pollen {

namespace {

// One number that a term of the log density comes down to.
template <Real T>
Var<T> total(const Var<T>& term) {
    return term.size() == 1 ? term : sum(term);
}

void check_finite(std::string_view name, const char* side, double bound) {
    if (!std::isfinite(bound))
        throw ValueError("Model: " + std::string(name) + " is " + side + " " + to_text(bound) +
                         "; a bound must be finite");
}

// "theta" of "theta[3]", or nothing.
std::string array_of(const std::string& name) { return name.ends_with(']') ? name.substr(0, name.find('[')) : ""; }

}  // namespace

// The leaf of the next parameter, as numbers without bounds.
template <Real T>
Var<T> Model<T>::block(std::string_view name, const Shape& unconstrained) {
    if (declaring_) {
        for (const Quantity& q : blocks_)
            if (q.name == name) throw ValueError("Model: there are two parameters called " + std::string(name));
        blocks_.push_back({std::string(name), unconstrained, size_});
        Tensor<T> at = Tensor<T>::zeros(unconstrained);
        if (attempt_ > 0)
            fill_uniform({0, stream_of(Purpose::starts), attempt_}, static_cast<std::uint64_t>(size_),
                         at.mutable_values(), T(-2), T(2));
        leaves_.push_back(tape_.variable(std::move(at)));
        size_ += unconstrained.size();
        return leaves_.back();
    }
    if (next_block_ == blocks_.size() || blocks_[next_block_].name != name ||
        blocks_[next_block_].shape != unconstrained)
        throw ValueError("Model: the function asks for parameter " + std::string(name) + " " +
                         to_string(unconstrained) + " where its first call asked for " +
                         (next_block_ == blocks_.size()
                              ? "no more parameters"
                              : blocks_[next_block_].name + " " + to_string(blocks_[next_block_].shape)));
    const Quantity& q = blocks_[next_block_++];
    leaves_.push_back(tape_.state().leaf("parameter", Tensor<T>::borrow(theta_.data() + q.offset, q.shape), true));
    return leaves_.back();
}

// Draws find their values by name, so a name stands for one thing.
template <Real T>
void Model<T>::check_name(const std::string& name) const {
    const std::string column = column_name("Model", name);
    for (const Quantity& q : quantities_) {
        if (column_name("Model", q.name) == column)
            throw ValueError("Model: two quantities would have the columns " + column);
        if (array_of(name) == q.name || array_of(q.name) == name)
            throw ValueError("Model: there are quantities called " + q.name + " and " + name +
                             "; one would be an element of the other");
    }
}

template <Real T>
void Model<T>::keep(std::string_view name, const Var<T>& value) {
    if (declaring_) {
        check_name(std::string(name));
        const std::int64_t offset =
            quantities_.empty() ? 0 : quantities_.back().offset + quantities_.back().shape.size();
        quantities_.push_back({std::string(name), value.shape(), offset});
    } else if (keeping_) {
        const Quantity* q = next_quantity_ < quantities_.size() ? &quantities_[next_quantity_] : nullptr;
        if (!q || q->name != name || q->shape != value.shape())
            throw ValueError("Model: the function gives quantity " + std::string(name) + " " +
                             to_string(value.shape()) + " where its first call gave " +
                             (q ? q->name + " " + to_string(q->shape) : std::string("no more quantities")));
        ++next_quantity_;
        kept_.push_back(value);
    }
}

template <Real T>
template <class Transform>
Var<T> Model<T>::constrained(std::string_view name, const Shape& unconstrained, const Transform& transform) {
    const Constrained<T> c = transform.constrain(block(name, unconstrained));
    priors_.push_back({c.log_jacobian, true});
    keep(name, c.value);
    return c.value;
}

template <Real T>
Var<T> Model<T>::real(std::string_view name, const Shape& shape) {
    const Var<T> x = block(name, shape);
    keep(name, x);
    return x;
}

template <Real T>
Var<T> Model<T>::positive(std::string_view name, const Shape& shape) {
    return constrained(name, shape, Positive<T>());
}

template <Real T>
Var<T> Model<T>::above(std::string_view name, Number<T> low, const Shape& shape) {
    check_finite(name, "above", static_cast<double>(low));
    return constrained(name, shape, LowerBound<T>(low));
}

template <Real T>
Var<T> Model<T>::below(std::string_view name, Number<T> high, const Shape& shape) {
    check_finite(name, "below", static_cast<double>(high));
    return constrained(name, shape, UpperBound<T>(high));
}

template <Real T>
Var<T> Model<T>::between(std::string_view name, Number<T> low, Number<T> high, const Shape& shape) {
    if (!(low < high && std::isfinite(high - low)))
        throw ValueError("Model: " + std::string(name) + " is between " + to_text(static_cast<double>(low)) + " and " +
                         to_text(static_cast<double>(high)) + "; the first must be below the second, and both finite");
    return constrained(name, shape, Interval<T>(low, high));
}

template <Real T>
Var<T> Model<T>::ordered(std::string_view name, const Shape& shape) {
    return constrained(name, shape, Ordered<T>());
}

template <Real T>
Var<T> Model<T>::simplex(std::string_view name, const Shape& shape) {
    if (shape.rank() == 0 || shape[shape.rank() - 1] < 2)
        throw ShapeError("Model: simplex " + std::string(name) + " " + to_string(shape) +
                         "; at least two numbers along the last axis are needed");
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(shape.rank()));
    for (int axis = 0; axis < shape.rank(); ++axis) sizes[static_cast<std::size_t>(axis)] = shape[axis];
    sizes.back() = Simplex<T>::unconstrained_size(sizes.back());
    return constrained(name, Shape(std::span<const std::int64_t>(sizes)), Simplex<T>());
}

template <Real T>
void Model<T>::prior(const Var<T>& log_density) {
    priors_.push_back({total(log_density)});
}

template <Real T>
void Model<T>::likelihood(const Var<T>& log_density) {
    likelihoods_.push_back(total(log_density));
}

template <Real T>
Var<T> Model<T>::quantity(std::string_view name, const Var<T>& value) {
    if (asked_) quantities_of_items_ = true;
    keep(name, value);
    return value;
}

template <Real T>
template <class X>
X Model<T>::rows_of(const X& x) {
    asked_ = true;
    if (all_items_.empty()) return x;
    if (x.rank() == 0 || x.shape()[0] != std::ssize(all_items_))
        throw ShapeError("Model: rows of a tensor " + to_string(x.shape()) + "; the model has " +
                         std::to_string(all_items_.size()) + " items, and the first axis must count them");
    if (batch_.data() == all_items_.data() && batch_.size() == all_items_.size()) return x;
    for (const std::int64_t item : batch_)
        if (item < 0 || item >= std::ssize(all_items_))
            throw ShapeError("Model: there is no item " + std::to_string(item) + "; the model has " +
                             std::to_string(all_items_.size()));
    return take_rows(x, batch_);
}

template <Real T>
Tensor<T> Model<T>::rows(const Tensor<T>& x) {
    return rows_of(x);
}

template <Real T>
Indices Model<T>::rows(const Indices& x) {
    return rows_of(x);
}

// Begins a call of the function.
template <Real T>
void Model<T>::restart(std::span<const std::int64_t> batch) {
    tape_.clear();
    leaves_.clear();
    priors_.clear();
    likelihoods_.clear();
    kept_.clear();
    batch_ = batch;
    asked_ = false;
    next_block_ = next_quantity_ = 0;
}

template <Real T>
ModelPotential<T>::ModelPotential(std::function<void(Model<T>&)> function, std::int64_t items)
    : function_(std::move(function)) {
    if (!function_) throw ValueError("ModelPotential: the function is empty");
    if (items < 0) throw ValueError("ModelPotential: items is " + std::to_string(items) + "; it must not be negative");
    all_items_.resize(static_cast<std::size_t>(items));
    std::iota(all_items_.begin(), all_items_.end(), 0);
    declare();
    if (size() == 0) throw ValueError("ModelPotential: the model has no parameters");
    if (model_.priors_.empty() && model_.likelihoods_.empty())
        throw ValueError("ModelPotential: the model adds nothing to the log density");
}

// Calls the function for the first time, which says what there is: at theta = 0, or, where the density is 0 there,
// somewhere else.
template <Real T>
void ModelPotential<T>::declare() {
    constexpr std::uint64_t points = 20;
    Model<T>& m = model_;
    m.all_items_ = all_items_;
    for (m.attempt_ = 0; m.declaring_; ++m.attempt_) {
        m.restart(all_items_);
        m.blocks_.clear();
        m.quantities_.clear();
        m.size_ = 0;
        try {
            function_(m);
            m.declaring_ = false;
        } catch (const DomainError& error) {
            if (m.attempt_ == points)
                throw ValueError("ModelPotential: the density is 0 at theta = 0 and at " + std::to_string(points) +
                                 " points between -2 and 2 on the scale without bounds, at the last one because of " +
                                 error.what());
        }
    }
}

template <Real T>
std::unique_ptr<Potential<T>> ModelPotential<T>::clone() const {
    auto copy = std::make_unique<ModelPotential>(function_, items());
    copy->set_temperature(this->temperature());
    return copy;
}

// Puts the model at theta on the tape.
template <Real T>
void ModelPotential<T>::call(std::span<const T> theta, std::span<const std::int64_t> batch, bool keep) {
    if (std::ssize(theta) != size())
        throw ShapeError("ModelPotential: theta has " + std::to_string(theta.size()) + " numbers; the model has " +
                         std::to_string(size()));
    Model<T>& m = model_;
    m.restart(batch);
    m.theta_ = theta;
    m.keeping_ = keep;
    function_(m);
    if (m.next_block_ != m.blocks_.size())
        throw ValueError("ModelPotential: the function asked for " + std::to_string(m.next_block_) +
                         " parameters where its first call asked for " + std::to_string(m.blocks_.size()));
}

template <Real T>
Energy ModelPotential<T>::evaluate(std::span<const T> theta, std::span<T> gradient) {
    return evaluate(theta, gradient, all_items_);
}

template <Real T>
Energy ModelPotential<T>::evaluate(std::span<const T> theta, std::span<T> gradient,
                                   std::span<const std::int64_t> batch) {
    if (batch.empty() && !all_items_.empty()) throw ValueError("ModelPotential: the batch is empty");
    return this->unless_refused(gradient, [&] {
        call(theta, batch, false);
        return energy_on_tape(gradient, batch);
    });
}

template <Real T>
Energy ModelPotential<T>::energy_on_tape(std::span<T> gradient, std::span<const std::int64_t> batch) {
    Model<T>& m = model_;
    if (batch.size() < all_items_.size() && !m.likelihoods_.empty() && !m.asked_)
        throw ValueError(
            "ModelPotential: the function adds a likelihood but never asks for batch(); with batches it would count "
            "every item N/n times");
    const double scale = batch.empty() ? 1 : static_cast<double>(all_items_.size()) / static_cast<double>(batch.size());
    // exp(-U / T) is to have the Jacobian as it is, so U has T times its log.
    const auto weight = [t = this->temperature()](const auto& term) { return term.jacobian ? t : 1; };
    Energy energy;
    for (const auto& term : m.priors_) energy.prior -= weight(term) * static_cast<double>(term.log_density.item());
    for (const Var<T>& term : m.likelihoods_) energy.likelihood -= scale * static_cast<double>(term.item());
    if (gradient.empty()) return energy;
    if (std::ssize(gradient) != size())
        throw ShapeError("ModelPotential: room for " + std::to_string(gradient.size()) + " numbers of the gradient; " +
                         std::to_string(size()) + " are needed");
    // The terms of U are their negatives, each times its weight.
    const T once = -1, of_jacobian = static_cast<T>(-this->temperature()), of_likelihood = static_cast<T>(-scale);
    outputs_.clear();
    const auto add = [&](const Var<T>& term, const T& seed) {
        if (term.needs_grad()) outputs_.push_back({term, Tensor<T>::borrow(&seed, term.shape())});
    };
    for (const auto& term : m.priors_) add(term.log_density, term.jacobian ? of_jacobian : once);
    for (const Var<T>& term : m.likelihoods_) add(term, of_likelihood);
    std::fill(gradient.begin(), gradient.end(), T(0));
    for (std::size_t k = 0; k < m.leaves_.size(); ++k) {
        const Quantity& q = m.blocks_[k];
        m.tape_.accumulate_into(m.leaves_[k], gradient.subspan(static_cast<std::size_t>(q.offset),
                                                               static_cast<std::size_t>(q.shape.size())));
    }
    m.tape_.backward(outputs_);
    return energy;
}

template <Real T>
void ModelPotential<T>::values(std::span<const T> theta, std::span<double> out) {
    if (std::ssize(out) != this->value_count())
        throw ShapeError("ModelPotential: room for " + std::to_string(out.size()) + " values; a draw has " +
                         std::to_string(this->value_count()));
    // Without quantities that may depend on the items, one item is enough.
    const std::span<const std::int64_t> all = all_items_;
    call(theta, model_.quantities_of_items_ ? all : all.first(std::min<std::size_t>(all.size(), 1)), true);
    if (model_.next_quantity_ != model_.quantities_.size())
        throw ValueError("ModelPotential: the function gave " + std::to_string(model_.next_quantity_) +
                         " quantities where its first call gave " + std::to_string(model_.quantities_.size()));
    auto to = out.begin();
    for (const Var<T>& value : model_.kept_)
        to = std::transform(value.value().begin(), value.value().end(), to, [](T x) { return static_cast<double>(x); });
}

template <Real T>
std::string ModelPotential<T>::describe() const {
    std::string text = "model of";
    for (const Quantity& q : model_.blocks_) text += " " + q.name + to_string(q.shape);
    return text;
}

template class Model<float>;
template class Model<double>;
template class ModelPotential<float>;
template class ModelPotential<double>;

}  // namespace pollen
