#include "climb.hpp"

#include "example.hpp"

#include <pollen/nn/training/adam.hpp>

#include <algorithm>

using namespace pollen;

namespace {

using D = Tensor<double>;

Family::Draw draw_of(const Family& family, Tape<double>& tape, const RandomKey& key, bool value, Family::Vars& leaves) {
    D normals = D::empty({family.normals});
    fill_normal(key, 0, normals.mutable_values());
    leaves.clear();
    for (const D& parameter : family.parameters) leaves.push_back(tape.borrow_variable(parameter));
    return family.draw(leaves, tape.constant(std::move(normals)), value);
}

}  // namespace

Climber::Climber(Family& family, std::vector<double> rates) : family_(family), rates_(std::move(rates)) {
    for (const D& parameter : family.parameters) {
        memory_.push_back({D::zeros(parameter.shape()), D::zeros(parameter.shape())});
        gradients_.push_back(D::zeros(parameter.shape()));
    }
}

void Climber::step(Potential<double>& u, const RandomKey& key, std::int64_t draws, double factor,
                   std::span<double> slope) {
    for (D& gradient : gradients_) std::ranges::fill(gradient.mutable_values(), 0.0);
    const double share = 1 / static_cast<double>(draws);
    for (std::int64_t k = 0; k < draws; ++k) {
        Family::Vars leaves;
        const RandomKey of_draw{key.seed, key.stream, key.step + static_cast<std::uint64_t>(k)};
        const Family::Draw draw = draw_of(family_, tape_, of_draw, false, leaves);
        D du = D::empty(draw.theta.shape());
        u.evaluate(draw.theta.value().values(), du.mutable_values());
        for (std::size_t i = 0; i < slope.size(); ++i) slope[i] += share * du.data()[i];
        tape_.backward({{draw.theta, du}, {draw.log_q, D::scalar(1)}});
        for (std::size_t p = 0; p < leaves.size(); ++p) {
            const D gradient = leaves[p].grad();
            for (std::int64_t i = 0; i < gradient.size(); ++i)
                gradients_[p].mutable_data()[i] += share * gradient.data()[i];
        }
        tape_.clear();
    }
    for (std::size_t p = 0; p < gradients_.size(); ++p)
        Adam{}.update<double>({.rate = factor * rates_[p], .step = steps_},
                              {family_.parameters[p].mutable_data(),
                               gradients_[p].data(),
                               {memory_[p][0].mutable_data(), memory_[p][1].mutable_data()},
                               gradients_[p].size()});
    ++steps_;
}

void climb(Family& family, Potential<double>& u, const ClimbOptions& options) {
    const Schedule factor = Schedule::cosine(1, options.steps);
    Climber climber(family, options.rates);
    for (std::int64_t t = 0; t < options.steps; ++t) {
        stop_if_asked();
        climber.step(u, {options.seed, options.stream, static_cast<std::uint64_t>(t * options.draws)}, options.draws,
                     factor(t));
    }
}

FamilyDraws draws_of(const Family& family, Potential<double>& u, std::int64_t draws, std::uint64_t seed) {
    const std::int64_t count = u.value_count();
    FamilyDraws found{D::empty({draws, count}), D::empty({1, draws})};
    Tape<double> tape;
    for (std::int64_t k = 0; k < draws; ++k) {
        Family::Vars leaves;
        const Family::Draw draw = draw_of(family, tape, {seed, 1, static_cast<std::uint64_t>(k)}, true, leaves);
        const std::span<const double> theta = draw.theta.value().values();
        found.elbo.mutable_data()[k] = -u.evaluate(theta, {}).total() - draw.log_q.item();
        u.values(theta, {found.values.mutable_data() + k * count, static_cast<std::size_t>(count)});
        tape.clear();
    }
    return found;
}
