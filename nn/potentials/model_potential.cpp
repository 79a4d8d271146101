#include <pollen/nn/potentials/model.hpp>

#include <pollen/autograd/random.hpp>
#include <pollen/autograd/streams.hpp>
#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/detail/foreign_errors.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/nn/potentials/detail/block_sums.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pollen {

namespace {

// What the function adds to the log density, term by term, and what that costs.
struct Added {
    std::vector<double> priors, likelihoods;
    std::int64_t cost = 0;
};

bool are_finite(const Added& added) {
    const auto finite = [](double x) { return std::isfinite(x); };
    return std::all_of(added.priors.begin(), added.priors.end(), finite) &&
           std::all_of(added.likelihoods.begin(), added.likelihoods.end(), finite);
}

// Whether the prior is the same for all items, for some of them and for the rest, and the likelihood of all is the sum
// of the other two, up to half of the digits of T. Where the function adds one term for each item there are as many
// terms, not the same ones.
template <Real T>
bool adds_up(const Added& all, const Added& some, const Added& rest) {
    const auto near = [](double x, double y, double scale) {
        return std::abs(x - y) <= std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon())) * scale;
    };
    const auto same = [&](double x, double y) { return near(x, y, std::abs(x)); };
    const auto sum = [&](double whole, double x, double y) {
        return near(whole, x + y, std::max({std::abs(whole), std::abs(x), std::abs(y)}));
    };
    const auto total = [](const std::vector<double>& terms) {
        return std::accumulate(terms.begin(), terms.end(), 0.0);
    };
    for (const Added* part : {&some, &rest})
        if (!std::equal(all.priors.begin(), all.priors.end(), part->priors.begin(), part->priors.end(), same))
            return false;
    const std::size_t terms = all.likelihoods.size();
    if (some.likelihoods.size() != terms || rest.likelihoods.size() != terms)
        return some.likelihoods.size() + rest.likelihoods.size() == terms &&
               sum(total(all.likelihoods), total(some.likelihoods), total(rest.likelihoods));
    for (std::size_t k = 0; k < terms; ++k)
        if (!sum(all.likelihoods[k], some.likelihoods[k], rest.likelihoods[k])) return false;
    return true;
}

}  // namespace

template <Real T>
struct ModelPotential<T>::Sums : BlockSums<T, Model<T>> {
    PassSize pass;
};

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
    detail::rethrow_foreign("ModelPotential", std::current_exception());
}

template <Real T>
ModelPotential<T>::ModelPotential(const ModelPotential& other)
    : Potential<T>(), all_items_(other.all_items_), sums_(std::make_unique<Sums>()) {
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

// Finds out whether the items can be cut into blocks, and what a pass over a block writes.
//
// In blocks a likelihood that does not depend on the batch would count several times, and a prior that does would count
// in part. Such a function is wrong with minibatches, too, but right if it gets all items at once. So it is called for
// some items and for both halves of them, at a theta at which no term is likely to be 0 by chance. Among four items a
// term that counts twice or not at all is a large part of the sum; among all items it could be lost in the rounding.
template <Real T>
void ModelPotential<T>::measure() {
    // What takes as long as to read one number of the data: about 0.1 ns.
    constexpr std::int64_t node = 1024, computed_number = 8;
    constexpr std::uint64_t points = 5;
    const std::span<const std::int64_t> all = *all_items_;
    const std::int64_t n = items();
    if (!model_.asked_ || model_.likelihoods_.empty() || n < 2 * ItemBlocks::least_block ||
        size() > ItemBlocks::most_parameters)
        return;
    std::vector<T> theta(static_cast<std::size_t>(size()));
    const auto call_with = [&](std::span<const std::int64_t> batch) {
        call(model_, theta, batch, false);
        Added added;
        for (const auto& term : model_.priors_) added.priors.push_back(static_cast<double>(term.log_density.item()));
        for (const Var<T>& term : model_.likelihoods_) added.likelihoods.push_back(static_cast<double>(term.item()));
        TapeState<T>& tape = model_.tape_.state();
        std::int64_t constants = 0;
        for (std::uint32_t k = 0; k < tape.size(); ++k) {
            const std::int64_t numbers = tape.node(k).value.size();
            if (tape.node(k).needs_grad)
                added.cost += node + computed_number * numbers;
            else
                constants += numbers;
        }
        added.cost += std::max(constants, model_.taken_);  // some ops read data that are no nodes
        return added;
    };
    struct Parts {
        Added whole, some, rest;
    };
    const auto parts_of = [&](std::span<const std::int64_t> batch) {
        const std::size_t half = batch.size() / 2;
        return Parts{call_with(batch), call_with(batch.first(half)), call_with(batch.subspan(half))};
    };
    for (std::uint64_t point = 1; point <= points; ++point) {
        fill_uniform({0, stream_of(Purpose::starts), point}, 0, std::span(theta), T(-2), T(2));
        try {
            const Parts parts[] = {parts_of(all.first(4)), parts_of(all.last(4)), parts_of(all)};
            const auto every = [&](const auto& holds) {
                return std::all_of(std::begin(parts), std::end(parts), holds);
            };
            if (!every([](const Parts& p) { return are_finite(p.whole) && are_finite(p.some) && are_finite(p.rest); }))
                continue;
            const auto& [whole, some, rest] = parts[2];
            const std::int64_t fixed = some.cost + rest.cost - whole.cost, per_item = (whole.cost - fixed) / n;
            if (per_item > 0 && every([](const Parts& p) { return adds_up<T>(p.whole, p.some, p.rest); }))
                sums_->pass = {per_item, fixed};
            break;
        } catch (const DomainError&) {  // try another point
        } catch (const std::exception&) {
            break;  // it takes nothing but all items
        }
    }
    // If the items are cut, no later evaluation needs as much memory as these calls for all items did.
    if (sums_->pass.per_item > 0) {
        model_.restart({});
        model_.tape_ = Tape<T>();
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
        if (cut.whole()) return block(model_, theta, batch, scale, true, gradient);
        Energy energy;
        energy.likelihood = sums_->add(
            cut, gradient, [&] { return worker(); },
            [&](Model<T>& m, const Items& part, std::span<T> to) {
                const auto first = static_cast<std::size_t>(part.begin), count = static_cast<std::size_t>(part.size());
                const Energy of_block = block(m, theta, batch.subspan(first, count), scale, first == 0, to);
                if (first == 0) energy.prior = of_block.prior;
                return of_block.likelihood;
            });
        return energy;
    });
}

// -scale log p(items | theta) and, if it is wanted, -log p(theta); adds the gradient of both to `to`.
template <Real T>
Energy ModelPotential<T>::block(Model<T>& m, std::span<const T> theta, std::span<const std::int64_t> items,
                                double scale, bool with_prior, std::span<T> to) const {
    call(m, theta, items, false);
    if (items.size() < all_items_->size() && !m.likelihoods_.empty() && !m.asked_)
        throw ValueError(
            "ModelPotential: the function adds a likelihood but never asks for batch(); with batches it would count "
            "every item N/n times");
    if (!with_prior) m.priors_.clear();
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
