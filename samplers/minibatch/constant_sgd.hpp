#pragma once

#include <pollen/samplers/chain.hpp>
#include <pollen/samplers/minibatch/gradient_noise.hpp>

namespace pollen {

// SGD with a step that stays, as an approximate sampler (Mandt, Hoffman & Blei, Stochastic gradient descent as
// approximate Bayesian inference, 2017):
//
//     theta -= E/2 grad U~
//
// The only noise is that of the batches, V = Cov grad U~. The steps that bring the stationary law nearest to exp(-U /
// T) are (their Eq. 36 to 38, whose step is e N / 2 on the mean loss)
//
//     scalar    E = 4 T d / Tr V            diagonal    E_kk = 4 T / V_kk            full    E = 4 T V^-1
//
// On a Gaussian with precision L the covariance S solves S = M S M' + E V E' / 4 with M = I - E L / 2; E must be small
// enough for that to have a solution. `full` keeps a d x d matrix and solves with it in each step.
//
// If V is not given, the warm-up estimates it. The first half uses the scalar step of the noise seen so far. The second
// half keeps the last of these steps and estimates V.
struct ConstantSgd {
    enum class Form { scalar, diagonal, full };

    std::int64_t batch = 0;  // items drawn for each step; at least 1, less than all
    Form form = Form::scalar;
    GradientNoise noise = GradientNoise::estimated();  // V: one number, one a dimension, a matrix, or estimated

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const;
    std::string describe() const;
    double state_bytes(std::int64_t size, std::size_t number) const;
};

}  // namespace pollen
