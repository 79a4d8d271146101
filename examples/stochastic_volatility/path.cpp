#include "path.hpp"

#include "filter.hpp"
#include "model.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/ops.hpp>
#include <pollen/nn/potentials/function_potential.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

using namespace pollen;
using D = Tensor<double>;

namespace {

enum PathParameter : std::size_t { common, log_w, logit_k, mean };

// log q(s) = -1/2 sum eps_i^2 - n/2 log(2 pi) - sum log w_i
Family::Draw draw_path(std::span<const Var<double>> parameters, const Var<double>& eps, double level) {
    const std::int64_t n = eps.size();
    const auto a = slice(parameters[common], 0, 0, 1), c = slice(parameters[common], 0, 1, 2);
    const auto log_ws = parameters[log_w] + a, logits = parameters[logit_k] + c;
    const auto w = exp(log_ws), k = sigmoid(logits);
    const auto steps = w * (parameters[mean] + eps);
    double squares = 0;
    for (const double x : eps.value().values()) squares += x * x;
    return {filter(steps, k) + level,
            -sum(log_ws) - (0.5 * squares + 0.5 * static_cast<double>(n) * math::log(2 * std::numbers::pi))};
}

}  // namespace

Family path_family(const D& returns) {
    const std::int64_t n = returns.size();
    const PathScale near = path_scale(0.1);
    D both = D::empty({2});
    both.mutable_at(0) = -math::log(near.d);
    both.mutable_at(1) = math::log(near.e / (near.d - near.e));
    return {{both, D::zeros({n}), D::zeros({n}), D::zeros({n})},
            n,
            [level = level_of(returns)](const Family::Vars& parameters, const Var<double>& eps, bool) {
                return draw_path(parameters, eps, level);
            }};
}

std::vector<double> path_rates(double rate, double day_rate) { return {rate, day_rate, day_rate, rate}; }

Family path_and_parameters_family(const D& returns) {
    Family family = path_family(returns);
    const std::int64_t n = family.normals;
    D mu = D::empty({2});
    mu.mutable_at(0) = math::log(0.1);
    mu.mutable_at(1) = math::log(10.0);
    family.parameters.push_back(mu);
    family.parameters.push_back(D::full({2}, math::log(0.05)));
    family.normals = n + 2;
    family.draw = [level = level_of(returns), n](const Family::Vars& all, const Var<double>& noise, bool) {
        const auto eps = slice(noise, 0, 0, n), z = slice(noise, 0, n, n + 2);
        const Family::Draw path = draw_path(std::span(all).first(4), eps, level);
        const auto phi = all[4] + exp(all[5]) * z;
        double squares = 0;
        for (const double x : z.value().values()) squares += x * x;
        return Family::Draw{concat({phi, path.theta}),
                            path.log_q - sum(all[5]) - (0.5 * squares + math::log(2 * std::numbers::pi))};
    };
    return family;
}

FollowedByPath::FollowedByPath(const D& returns, Family path, std::int64_t path_steps)
    : returns_(returns),
      first_path_(path),
      path_(std::move(path)),
      path_steps_(path_steps),
      model_(volatility(Form::centred, returns).clone()),
      climber_(path_, path_rates(0.02, 0.002)),
      quantities_{{"sigma", {}, 0}, {"nu", {}, 1}, {"s", {returns.size()}, 2}},
      blocks_{{"log_sigma", {}, 0}, {"log_nu", {}, 1}} {}

std::unique_ptr<Potential<double>> FollowedByPath::clone() const {
    auto copy = std::make_unique<FollowedByPath>(returns_, first_path_, path_steps_);
    copy->set_temperature(temperature());
    return copy;
}

// The normals of an evaluation have the bits of theta as their seed: chains differ.
Energy FollowedByPath::evaluate(std::span<const double> theta, std::span<double> gradient) {
    const std::size_t n = static_cast<std::size_t>(returns_.size());
    std::vector<double> all(n + 2), slope(n + 2), sums(2);
    std::ranges::copy(theta, all.begin());
    double energy = 0;
    const double share = 1 / static_cast<double>(path_steps_);
    FunctionPotential<double> of_path(static_cast<std::int64_t>(n),
                                      [&](std::span<const double> s, std::span<double> ds) {
                                          std::ranges::copy(s, all.begin() + 2);
                                          const double u = model_->evaluate(all, slope).total();
                                          if (!ds.empty()) std::copy(slope.begin() + 2, slope.end(), ds.begin());
                                          energy += share * u;
                                          for (std::size_t k = 0; k < 2; ++k) sums[k] += share * slope[k];
                                          return u;
                                      });
    const RandomKey key{std::bit_cast<std::uint64_t>(theta[0]), 5, 0};
    for (std::int64_t k = 0; k < path_steps_; ++k) {
        const std::uint64_t step =
            evaluations_ * static_cast<std::uint64_t>(path_steps_ + 1) + static_cast<std::uint64_t>(k);
        climber_.step(of_path, {key.seed, key.stream, step}, 1, 1);
    }
    ++evaluations_;
    std::copy_n(sums.begin(), gradient.size(), gradient.begin());
    return {.prior = energy};
}

Energy FollowedByPath::evaluate(std::span<const double> theta, std::span<double> gradient,
                                std::span<const std::int64_t>) {
    return evaluate(theta, gradient);
}

void FollowedByPath::values(std::span<const double> theta, std::span<double> out) {
    out[0] = math::exp(theta[0]);
    out[1] = math::exp(theta[1]);
    Tape<double> tape(Recording::off);
    D normals = D::empty({path_.normals});
    fill_normal({std::bit_cast<std::uint64_t>(theta[0]), 6, evaluations_}, 0, normals.mutable_values());
    Family::Vars leaves;
    for (const D& parameter : path_.parameters) leaves.push_back(tape.borrow_variable(parameter));
    const Var<double> s = path_.draw(leaves, tape.constant(std::move(normals)), false).theta;
    std::ranges::copy(s.value().values(), out.begin() + 2);
}
