#include <pollen/nn/potentials/model.hpp>

#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/nn/potentials/detail/model_sums.hpp>

#include <algorithm>
#include <numeric>

namespace pollen {

template <Real T>
ModelPotential<T>::~ModelPotential() = default;
template <Real T>
ModelPotential<T>::ModelPotential(ModelPotential&&) noexcept = default;
template <Real T>
ModelPotential<T>& ModelPotential<T>::operator=(ModelPotential&&) noexcept = default;

template <Real T>
ModelPotential<T>::ModelPotential(std::function<void(Model<T>&)> function, std::int64_t items) try
    : sums_(std::make_unique<Sums>()) {
    if (!function) throw ValueError("ModelPotential: the function is empty");
    if (items < 0) throw ValueError("ModelPotential: items is " + std::to_string(items) + "; it must not be negative");
    model_.function_ = std::move(function);
    std::vector<std::int64_t> all;
    detail::resize(all, static_cast<std::size_t>(items), "ModelPotential");
    std::iota(all.begin(), all.end(), 0);
    all_items_ = std::make_shared<const std::vector<std::int64_t>>(std::move(all));
    declare();
    if (size() == 0) throw ValueError("ModelPotential: the model has no parameters");
    if (model_.priors_.empty() && model_.likelihoods_.empty())
        throw ValueError("ModelPotential: the model adds nothing to the log density");
    measure();
} catch (const Error&) {
    throw;
} catch (...) {
    detail::throw_error_at("ModelPotential");
}

template <Real T>
ModelPotential<T>::ModelPotential(const ModelPotential& other)
    : ItemwisePotential<T>(), all_items_(other.all_items_), sums_(std::make_unique<Sums>()) {
    model_.declare_as(other.model_);
    sums_->pass = other.sums_->pass;
    this->set_temperature(other.temperature());
}

// Calls the function for the first time, which says what there is: at theta = 0, or, where the density is 0 there,
// somewhere else.
template <Real T>
void ModelPotential<T>::declare() {
    constexpr std::uint64_t points = 20;
    Model<T>& m = model_;
    m.all_items_ = *all_items_;
    for (m.attempt_ = 0; m.declaring_; ++m.attempt_) {
        m.restart(*all_items_);
        m.blocks_.clear();
        m.quantities_.clear();
        m.size_ = 0;
        try {
            m.function_(m);
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
    return std::unique_ptr<Potential<T>>(new ModelPotential(*this));
}

// A model for another thread.
template <Real T>
std::unique_ptr<Model<T>> ModelPotential<T>::worker() const {
    auto m = std::make_unique<Model<T>>();
    m->declare_as(model_);
    return m;
}

// Puts the model at theta on the tape.
template <Real T>
void ModelPotential<T>::call(Model<T>& m, std::span<const T> theta, std::span<const std::int64_t> batch,
                             bool keep) const {
    if (std::ssize(theta) != size())
        throw ShapeError("ModelPotential: theta has " + std::to_string(theta.size()) + " numbers; the model has " +
                         std::to_string(size()));
    m.restart(batch);
    m.theta_ = theta;
    m.keeping_ = keep;
    m.function_(m);
    if (m.next_block_ != m.blocks_.size())
        throw ValueError("ModelPotential: the function asked for " + std::to_string(m.next_block_) +
                         " parameters where its first call asked for " + std::to_string(m.blocks_.size()));
}

template <Real T>
Energy ModelPotential<T>::evaluate(std::span<const T> theta, std::span<T> gradient) {
    return evaluate(theta, gradient, *all_items_);
}

template <Real T>
Energy ModelPotential<T>::evaluate(std::span<const T> theta, std::span<T> gradient,
                                   std::span<const std::int64_t> batch) {
    if (batch.empty() && !all_items_->empty()) throw ValueError("ModelPotential: the batch is empty");
    if (!gradient.empty() && std::ssize(gradient) != size())
        throw ShapeError("ModelPotential: room for " + std::to_string(gradient.size()) + " numbers of the gradient; " +
                         std::to_string(size()) + " are needed");
    const std::int64_t n = std::ssize(batch);
    const double scale = n == 0 ? 1 : static_cast<double>(items()) / static_cast<double>(n);
    const ItemBlocks cut = ItemBlocks::cut(n, size(), sums_->pass, n);
    return this->unless_refused(gradient, [&] {
        std::fill(gradient.begin(), gradient.end(), T(0));
        if (cut.whole()) return block(model_, theta, batch, scale, Terms::all, gradient);
        Energy energy;
        energy.likelihood = sums_->add(
            cut, gradient, [&] { return worker(); },
            [&](Model<T>& m, const Items& part, std::span<T> to) {
                const auto first = static_cast<std::size_t>(part.begin), count = static_cast<std::size_t>(part.size());
                const Energy of_block = block(m, theta, batch.subspan(first, count), scale,
                                              first == 0 ? Terms::all : Terms::likelihood, to);
                if (first == 0) energy.prior = of_block.prior;
                return of_block.likelihood;
            });
        return energy;
    });
}

// -scale log p(items | theta) and -log p(theta), or one of them; adds the gradient to `to`.
template <Real T>
Energy ModelPotential<T>::block(Model<T>& m, std::span<const T> theta, std::span<const std::int64_t> items,
                                double scale, Terms terms, std::span<T> to) const {
    call(m, theta, items, false);
    if (items.size() < all_items_->size() && !m.likelihoods_.empty() && !m.asked_)
        throw ValueError(
            "ModelPotential: the function adds a likelihood but never asks for batch(); with batches it would count "
            "every item N/n times");
    if (terms == Terms::likelihood) m.priors_.clear();
    if (terms == Terms::prior) m.likelihoods_.clear();
    // exp(-U / T) is to have the Jacobian as it is, so U has T times its log.
    const auto weight = [t = this->temperature()](const auto& term) { return term.jacobian ? t : 1; };
    Energy energy;
    for (const auto& term : m.priors_) energy.prior -= weight(term) * static_cast<double>(term.log_density.item());
    for (const Var<T>& term : m.likelihoods_) energy.likelihood -= scale * static_cast<double>(term.item());
    if (to.empty()) return energy;
    // The terms of U are their negatives, each times its weight.
    const T once = -1, of_jacobian = static_cast<T>(-this->temperature()), of_likelihood = static_cast<T>(-scale);
    const auto add = [&](const Var<T>& term, const T& seed) {
        if (term.needs_grad()) m.outputs_.push_back({term, Tensor<T>::borrow(&seed, term.shape())});
    };
    for (const auto& term : m.priors_) add(term.log_density, term.jacobian ? of_jacobian : once);
    for (const Var<T>& term : m.likelihoods_) add(term, of_likelihood);
    for (std::size_t k = 0; k < m.leaves_.size(); ++k) {
        const Quantity& q = m.blocks_[k];
        m.tape_.accumulate_into(
            m.leaves_[k], to.subspan(static_cast<std::size_t>(q.offset), static_cast<std::size_t>(q.shape.size())));
    }
    m.tape_.backward(m.outputs_);
    return energy;
}

// Without the likelihood one item is enough.
template <Real T>
double ModelPotential<T>::prior(std::span<const T> theta, std::span<T> gradient) {
    const std::span<const std::int64_t> all = *all_items_;
    std::fill(gradient.begin(), gradient.end(), T(0));
    return block(model_, theta, all.first(std::min<std::size_t>(all.size(), 1)), 1, Terms::prior, gradient).prior;
}

template <Real T>
double ModelPotential<T>::likelihood(std::span<const T> theta, std::span<const std::int64_t> items, double scale,
                                     std::span<T> to) {
    constexpr std::int64_t most = 1000;  // items at a time: a measured cost could depend on the items that a rank has
    const auto m = sums_->borrow([&] { return worker(); });
    double energy = 0;
    ItemBlocks{std::ssize(items), 1, most}.each_block(0, [&](const Items& part) {
        std::span<const std::int64_t> some =
            items.subspan(static_cast<std::size_t>(part.begin), static_cast<std::size_t>(part.size()));
        // rows() does not copy a part of all items.
        if (are_a_run(some) && some.front() >= 0 && some.back() < this->items())
            some = std::span(*all_items_).subspan(static_cast<std::size_t>(some.front()), some.size());
        energy += block(*m, theta, some, scale, Terms::likelihood, to).likelihood;
    });
    return energy;
}

template <Real T>
bool ModelPotential<T>::large() const {
    return size() > ItemBlocks::most_parameters;
}

template <Real T>
std::string ModelPotential<T>::agreement() const {
    std::string text = "quantities";
    for (const Quantity& q : model_.quantities_) text += " " + q.name + to_string(q.shape);
    return text;
}

template <Real T>
void ModelPotential<T>::values(std::span<const T> theta, std::span<double> out) {
    if (std::ssize(out) != this->value_count())
        throw ShapeError("ModelPotential: room for " + std::to_string(out.size()) + " values; a draw has " +
                         std::to_string(this->value_count()));
    // Without quantities that may depend on the items, one item is enough.
    const std::span<const std::int64_t> all = *all_items_;
    call(model_, theta, model_.quantities_of_items_ ? all : all.first(std::min<std::size_t>(all.size(), 1)), true);
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

template class ModelPotential<float>;
template class ModelPotential<double>;

}  // namespace pollen
