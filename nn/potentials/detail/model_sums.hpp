#pragma once

#include <pollen/nn/potentials/detail/block_sums.hpp>
#include <pollen/nn/potentials/model.hpp>

namespace pollen {

template <Real T>
struct ModelPotential<T>::Sums : BlockSums<T, Model<T>> {
    PassSize pass;
};

}  // namespace pollen
