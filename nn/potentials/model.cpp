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
#include <functional>

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
X Model<T>::taken_rows(const X& x) const {
    if (batch_.data() == all_items_.data() && batch_.size() == all_items_.size()) return x;
    // Items that follow each other are a part of all items.
    const std::less_equal<> before;  // for pointers into different arrays, too
    if (before(all_items_.data(), batch_.data()) &&
        before(batch_.data() + batch_.size(), all_items_.data() + all_items_.size()))
        return share_rows(x, batch_.data() - all_items_.data(), std::ssize(batch_));
    for (const std::int64_t item : batch_)
        if (item < 0 || item >= std::ssize(all_items_))
            throw ShapeError("Model: there is no item " + std::to_string(item) + "; the model has " +
                             std::to_string(all_items_.size()));
    return take_rows(x, batch_);
}

template <Real T>
template <class X>
X Model<T>::rows_of(const X& x) {
    asked_ = true;
    if (all_items_.empty()) return x;
    if (x.rank() == 0 || x.shape()[0] != std::ssize(all_items_))
        throw ShapeError("Model: rows of a tensor " + to_string(x.shape()) + "; the model has " +
                         std::to_string(all_items_.size()) + " items, and the first axis must count them");
    X taken = taken_rows(x);
    taken_ += taken.size();
    return taken;
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
    outputs_.clear();
    batch_ = batch;
    asked_ = false;
    taken_ = 0;
    next_block_ = next_quantity_ = 0;
}

// Becomes a model of the same function that knows what its first call declared.
template <Real T>
void Model<T>::declare_as(const Model& other) {
    function_ = other.function_;
    all_items_ = other.all_items_;
    blocks_ = other.blocks_;
    quantities_ = other.quantities_;
    quantities_of_items_ = other.quantities_of_items_;
    size_ = other.size_;
    declaring_ = false;
}

template class Model<float>;
template class Model<double>;

}  // namespace pollen
