#include "hybrid.hpp"

#include "market.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions.hpp>

using namespace pollen;
using D = Tensor<double>;

D random_walks(std::int64_t count, std::int64_t n, std::uint64_t seed) {
    D walks = D::empty({count, n});
    fill_normal({seed, 4}, 0, walks.mutable_values());
    for (std::int64_t k = 0; k < count; ++k) {
        double* w = walks.mutable_data() + k * n;
        w[0] = 0;
        for (std::int64_t i = 1; i < n; ++i) w[i] += w[i - 1];
    }
    return walks;
}

ModelPotential<double> hybrid(Loss loss, const D& returns, const D& walks) {
    const std::int64_t n = returns.size(), count = walks.shape()[0];
    const auto function = [=](Model<double>& m) {
        const bool published = loss == Loss::as_published;
        const auto sigma = published ? m.quantity("sigma", m.real("sigma_less_0.1") + 0.1) : m.positive("sigma");
        const auto nu = published ? m.quantity("nu", m.real("nu_less_10") + 10) : m.positive("nu");
        const auto first = m.real("s_1", {1}), z = m.real("z", {n - 1});
        const auto of_sigma = -10 * sigma, of_nu = 0.1 * nu;
        m.prior(of_sigma - of_nu);
        if (published) {
            m.prior(static_cast<double>(n - 1) * log(abs(sigma)));
        } else {
            m.prior(normal_lpdf(first, 0, 100));
            m.prior(normal_lpdf(z, 0, 1));
        }
        const auto path = m.quantity("path", cumsum(concat({first, published ? z : sigma * z}), 0));
        const auto s = path + sigma * m.rows(walks);
        m.likelihood(student_t_lpdf(returns, nu, 0, exp(s)) / static_cast<double>(count));
    };
    return ModelPotential<double>(function, count);
}

std::vector<double> start_of_hybrid(Loss loss, const D& returns) {
    std::vector<double> start(static_cast<std::size_t>(returns.size()) + 2, 0.0);
    if (loss == Loss::full_density) {
        start[0] = math::log(0.1);
        start[1] = math::log(10.0);
    }
    start[2] = level_of(returns);
    return start;
}

D with_noise(const D& path, const D& sigma, const D& walks) {
    const std::int64_t count = walks.shape()[0], n = walks.shape()[1];
    D s = D::empty(path.shape());
    for (std::int64_t k = 0; k < sigma.size(); ++k)
        for (std::int64_t i = 0; i < n; ++i)
            s.mutable_data()[k * n + i] = path.data()[k * n + i] + sigma.data()[k] * walks(k % count, i);
    return s;
}
