#include <pollen/nn/model.hpp>

#include <pollen/autograd/error.hpp>
#include <pollen/nn/distributions/transform.hpp>

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

}  // namespace

// The leaf of the next parameter, as numbers without bounds.
template <Real T>
Var<T> Model<T>::block(std::string_view name, const Shape& unconstrained) {
    if (declaring_) {
        for (const Quantity& q : blocks_)
            if (q.name == name) throw ValueError("Model: there are two parameters called " + std::string(name));
        blocks_.push_back({std::string(name), unconstrained, std::ssize(first_)});
        leaves_.push_back(tape_.variable(Tensor<T>::zeros(unconstrained)));
        first_.resize(first_.size() + static_cast<std::size_t>(unconstrained.size()));
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

template <Real T>
void Model<T>::keep(std::string_view name, const Var<T>& value) {
    if (declaring_) {
        const std::int64_t offset =
            quantities_.empty() ? 0 : quantities_.back().offset + quantities_.back().shape.size();
        quantities_.push_back({std::string(name), value.shape(), offset});
    } else if (keeping_) {
        kept_.push_back(value);
    }
}

template <Real T>
template <class Transform>
Var<T> Model<T>::constrained(std::string_view name, const Shape& unconstrained, const Transform& transform) {
    const Constrained<T> c = transform.constrain(block(name, unconstrained));
    priors_.push_back(c.log_jacobian);
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
    return constrained(name, shape, LowerBound<T>(low));
}

template <Real T>
Var<T> Model<T>::below(std::string_view name, Number<T> high, const Shape& shape) {
    return constrained(name, shape, UpperBound<T>(high));
}

template <Real T>
Var<T> Model<T>::between(std::string_view name, Number<T> low, Number<T> high, const Shape& shape) {
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
    priors_.push_back(total(log_density));
}

template <Real T>
void Model<T>::likelihood(const Var<T>& log_density) {
    likelihoods_.push_back(total(log_density));
}

template <Real T>
Var<T> Model<T>::quantity(std::string_view name, const Var<T>& value) {
    keep(name, value);
    return value;
}

template <Real T>
ModelPotential<T>::ModelPotential(std::function<void(Model<T>&)> function, std::int64_t items)
    : function_(std::move(function)) {
    if (!function_) throw ValueError("ModelPotential: the function is empty");
    if (items < 0) throw ValueError("ModelPotential: items is " + std::to_string(items) + "; it must not be negative");
    all_items_.resize(static_cast<std::size_t>(items));
    std::iota(all_items_.begin(), all_items_.end(), 0);
    model_.batch_ = all_items_;
    function_(model_);
    model_.declaring_ = false;
    size_ = std::ssize(model_.first_);
    if (size_ == 0) throw ValueError("ModelPotential: the model has no parameters");
    if (model_.priors_.empty() && model_.likelihoods_.empty())
        throw ValueError("ModelPotential: the model adds nothing to the log density");
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
    if (std::ssize(theta) != size_)
        throw ShapeError("ModelPotential: theta has " + std::to_string(theta.size()) + " numbers; the model has " +
                         std::to_string(size_));
    Model<T>& m = model_;
    m.tape_.clear();
    m.leaves_.clear();
    m.priors_.clear();
    m.likelihoods_.clear();
    m.kept_.clear();
    m.theta_ = theta;
    m.batch_ = batch;
    m.keeping_ = keep;
    m.next_block_ = 0;
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
    refusal_.clear();
    try {
        call(theta, batch, false);
    } catch (const DomainError& error) {
        refusal_ = error.what();
        std::fill(gradient.begin(), gradient.end(), std::numeric_limits<T>::quiet_NaN());
        return {.prior = std::numeric_limits<double>::infinity()};
    }
    Model<T>& m = model_;
    const double scale = batch.empty() ? 1 : static_cast<double>(all_items_.size()) / static_cast<double>(batch.size());
    Energy energy;
    for (const Var<T>& term : m.priors_) energy.prior -= static_cast<double>(term.item());
    for (const Var<T>& term : m.likelihoods_) energy.likelihood -= scale * static_cast<double>(term.item());
    if (gradient.empty()) return energy;
    if (std::ssize(gradient) != size_)
        throw ShapeError("ModelPotential: room for " + std::to_string(gradient.size()) + " numbers of the gradient; " +
                         std::to_string(size_) + " are needed");
    TapeState<T>& tape = m.tape_.state();
    std::uint32_t last = 0;
    const auto seed = [&](const std::vector<Var<T>>& terms, double factor) {
        for (const Var<T>& term : terms) {
            if (!term.needs_grad()) continue;
            const GradientSlot<T> slot = tape.slot(term.index());
            *slot.data = (slot.fresh ? T(0) : *slot.data) - static_cast<T>(factor);
            last = std::max(last, term.index());
        }
    };
    seed(m.priors_, 1);
    seed(m.likelihoods_, scale);
    tape.run_backward(last);
    for (std::size_t k = 0; k < m.leaves_.size(); ++k) {
        const Quantity& q = m.blocks_[k];
        const auto n = static_cast<std::size_t>(q.shape.size());
        const auto to = gradient.subspan(static_cast<std::size_t>(q.offset), n);
        if (Buffer* g = tape.node(m.leaves_[k].index()).grad)
            std::copy_n(static_cast<const T*>(g->data()), n, to.data());
        else
            std::fill(to.begin(), to.end(), T(0));
    }
    return energy;
}

template <Real T>
void ModelPotential<T>::values(std::span<const T> theta, std::span<double> out) {
    if (std::ssize(out) != this->value_count())
        throw ShapeError("ModelPotential: room for " + std::to_string(out.size()) + " values; a draw has " +
                         std::to_string(this->value_count()));
    call(theta, all_items_, true);
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
