// Whether the likelihood of a model is a sum over items.
#include <pollen/autograd/random.hpp>
#include <pollen/autograd/streams.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/nn/potentials/detail/model_sums.hpp>
#include <pollen/nn/potentials/model.hpp>

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

// The same function for some items and for both halves of them.
struct Parts {
    Added whole, some, rest;

    bool finite() const { return are_finite(whole) && are_finite(some) && are_finite(rest); }
};

// f(batch) for a batch and both halves of it.
template <class F>
Parts parts_of(std::span<const std::int64_t> batch, const F& f) {
    const std::size_t half = batch.size() / 2;
    return {f(batch), f(batch.first(half)), f(batch.subspan(half))};
}

constexpr std::uint64_t tried_points = 5;  // at which the function is called, until all terms are finite

// At such a theta no term is likely to be 0 by chance.
template <Real T>
void fill_point(std::uint64_t point, std::span<T> theta) {
    fill_uniform({0, stream_of(Purpose::starts), point}, 0, theta, T(-2), T(2));
}

}  // namespace

template <Real T>
struct ModelPotential<T>::Trial {
    // Calls the function for some items at theta.
    static Added call(ModelPotential& potential, std::span<const T> theta, std::span<const std::int64_t> batch) {
        // What takes as long as to read one number of the data: about 0.1 ns.
        constexpr std::int64_t node = 1024, computed_number = 8;
        Model<T>& m = potential.model_;
        potential.call(m, theta, batch, false);
        Added added;
        for (const auto& term : m.priors_) added.priors.push_back(static_cast<double>(term.log_density.item()));
        for (const Var<T>& term : m.likelihoods_) added.likelihoods.push_back(static_cast<double>(term.item()));
        TapeState<T>& tape = m.tape_.state();
        std::int64_t constants = 0;
        for (std::uint32_t k = 0; k < tape.size(); ++k) {
            const std::int64_t numbers = tape.node(k).value.size();
            if (tape.node(k).needs_grad)
                added.cost += node + computed_number * numbers;
            else
                constants += numbers;
        }
        added.cost += std::max(constants, m.taken_);  // some ops read data that are no nodes
        return added;
    }
};

// Finds out whether the items can be cut into blocks, and what a pass over a block writes.
//
// In blocks a likelihood that does not depend on the batch would count several times, and a prior that does would count
// in part. Such a function is wrong with minibatches, too, but right if it gets all items at once. So it is called for
// some items and for both halves of them, at a theta at which no term is likely to be 0 by chance. Among four items a
// term that counts twice or not at all is a large part of the sum; among all items it could be lost in the rounding.
template <Real T>
void ModelPotential<T>::measure() {
    const std::span<const std::int64_t> all = *all_items_;
    const std::int64_t n = items();
    if (!model_.asked_ || model_.likelihoods_.empty() || n < 2 * ItemBlocks::least_block ||
        size() > ItemBlocks::most_parameters)
        return;
    std::vector<T> theta(static_cast<std::size_t>(size()));
    const auto call_with = [&](std::span<const std::int64_t> batch) { return Trial::call(*this, theta, batch); };
    for (std::uint64_t point = 1; point <= tried_points; ++point) {
        fill_point(point, std::span(theta));
        try {
            const Parts parts[] = {parts_of(all.first(4), call_with), parts_of(all.last(4), call_with),
                                   parts_of(all, call_with)};
            const auto every = [&](const auto& holds) {
                return std::all_of(std::begin(parts), std::end(parts), holds);
            };
            if (!every([](const Parts& p) { return p.finite(); })) continue;
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

// Calls the function for the first four items and the last four. If there are fewer, some items come twice.
template <Real T>
void ModelPotential<T>::check_itemwise() {
    const auto refuse = [](const std::string& why) {
        throw ValueError("ModelPotential: the items cannot be spread over ranks: " + why);
    };
    if (model_.quantities_of_items_)
        refuse("a quantity may depend on them; declare it before the function asks for batch() or rows()");
    const std::int64_t n = items();
    if (n == 0) refuse("the model has no items");
    std::vector<std::int64_t> first, last;
    for (std::int64_t k = 0; k < 4; ++k) {
        first.push_back(k % n);
        last.push_back((std::max<std::int64_t>(n - 4, 0) + k) % n);
    }
    std::vector<T> theta(static_cast<std::size_t>(size()));
    for (std::uint64_t point = 1; point <= tried_points; ++point) {
        fill_point(point, std::span(theta));
        const auto call_with = [&](std::span<const std::int64_t> batch) {
            Added added = Trial::call(*this, theta, batch);
            if (!model_.asked_ || added.likelihoods.empty())
                refuse("the function adds no likelihood of batch() or rows()");
            return added;
        };
        try {
            const Parts begin = parts_of(first, call_with), end = parts_of(last, call_with);
            if (!begin.finite() || !end.finite()) continue;
            for (const Parts* p : {&begin, &end})
                if (!adds_up<T>(p->whole, p->some, p->rest))
                    refuse(
                        "the likelihood of four items is not the sum of those of two and two, or their prior is "
                        "another one");
            return;
        } catch (const DomainError&) {  // try another point
        }
    }
    refuse("it could not be found out whether the likelihood is a sum over items; it is not finite at " +
           std::to_string(tried_points) + " points between -2 and 2 on the scale without bounds");
}

template void ModelPotential<float>::measure();
template void ModelPotential<double>::measure();
template void ModelPotential<float>::check_itemwise();
template void ModelPotential<double>::check_itemwise();

}  // namespace pollen
