#include "gaussian_fit.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/ops.hpp>
#include <pollen/nn/variational/low_rank_log_q.hpp>

#include <algorithm>

using namespace pollen;

namespace {

using D = Tensor<double>;

// A mean field is one of rank 0.
Family::Draw draw_gaussian(const Family::Vars& parameters, const Var<double>& noise, bool value) {
    const Var<double>&mu = parameters[0], &rho = parameters[1], &rows = parameters[2];
    const std::int64_t n = mu.size();
    const auto sd = softplus(rho), eps = slice(noise, 0, 0, n);
    auto theta = mu + sd * eps;
    if (rows.size() > 0) theta = theta + matmul(slice(noise, 0, n, noise.size()), rows);
    return {theta, low_rank_log_q(rho, rows, noise, value)};
}

}  // namespace

Family mean_field_family(const std::vector<double>& mean, double sd) {
    D mu = D::empty({std::ssize(mean)});
    std::ranges::copy(mean, mu.mutable_data());
    const D rho = D::full(mu.shape(), math::log(math::expm1(sd)));
    return {{mu, rho, D::empty({0, mu.size()})}, mu.size(), draw_gaussian};
}

Family low_rank_family(const Family& mean_field, D rows) {
    const std::int64_t normals = mean_field.normals + rows.shape()[0];
    return {{mean_field.parameters[0], mean_field.parameters[1], std::move(rows)}, normals, draw_gaussian};
}
