#pragma once

#include <pollen/autograd/random.hpp>
#include <pollen/data/sets/spread.hpp>
#include <pollen/nn/distributions.hpp>
#include <pollen/nn/layers/activations.hpp>
#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/potentials/model.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/nn/potentials/spread_potential.hpp>

#include <memory>
#include <numeric>
#include <vector>

// Potentials whose items are spread over ranks: what their tests share.
namespace pollen::test {

template <Real T>
Dataset<T> spread_data(std::int64_t n = 203) {
    Dataset<T> set{.inputs = Tensor<T>::empty({n, 3}), .targets = Tensor<T>::empty({n, 1})};
    Random random(5);
    random.fill_normal(set.inputs.mutable_values());
    random.fill_normal(set.targets.mutable_values());
    return set;
}

// 41 parameters and a learned noise, or 80,001 and the noise.
template <Real T>
Sequential<T> spread_net(std::int64_t hidden = 8) {
    return Sequential<T>{Dense<T>(3, hidden), Tanh<T>(), Dense<T>(hidden, 1)};
}

template <Real T>
struct NetworkCase {
    std::int64_t hidden = 8;

    std::unique_ptr<ItemwisePotential<T>> part(const Dataset<T>& mine, std::int64_t first) const {
        return std::make_unique<NetworkPotential<T>>(spread_net<T>(hidden), Gaussian<T>::learned(), mine,
                                                     NetworkPotentialOptions{.piece = 7, .first_item = first});
    }
};

// A regression with bounds and a quantity.
template <Real T>
struct ModelCase {
    std::unique_ptr<ItemwisePotential<T>> part(const Dataset<T>& mine, std::int64_t) const {
        const auto function = [mine](Model<T>& m) {
            const auto beta = m.real("beta", {3, 1});
            const auto sigma = m.positive("sigma");
            m.prior(normal_lpdf(beta, 0, 2));
            m.prior(exponential_lpdf(sigma, 1));
            m.quantity("twice", sigma * T(2));
            m.likelihood(normal_lpdf(m.rows(mine.targets), matmul(m.rows(mine.inputs), beta), sigma));
        };
        return std::make_unique<ModelPotential<T>>(function, mine.size());
    }
};

// The potential of all ranks. A call of the whole group.
template <Real T, class Case>
SpreadPotential<T> spread_potential(const Case& from, Group& group, const Dataset<T>& all, std::int64_t blocks = 13) {
    const Spread spread(group, all.size(), blocks);
    return {*from.part(all.slice(spread.first(), spread.count()), spread.first()), spread};
}

}  // namespace pollen::test
