#pragma once

#include <pollen/autograd/random.hpp>
#include <pollen/autograd/tape.hpp>
#include <pollen/nn/potentials/potential.hpp>

#include <array>
#include <functional>
#include <span>
#include <vector>

// Laws q(theta) whose draws are a function of parameters and of normals that have none.
struct Family {
    using Vars = std::vector<pollen::Var<double>>;
    struct Draw {
        pollen::Var<double> theta, log_q;
    };

    std::vector<pollen::Tensor<double>> parameters;
    std::int64_t normals = 0;  // that a draw takes
    // Without `value` log_q may have a gradient only. The normals are a node that passes nothing back.
    std::function<Draw(const Vars& parameters, const pollen::Var<double>& normals, bool value)> draw;
};

// Adam on the parameters of a family, up the bound E_q[-U(theta) - log q(theta)].
class Climber {
  public:
    // A rate for each parameter of the family. The family must outlive the climber.
    Climber(Family& family, std::vector<double> rates);

    // One step, `factor` times the rates, along the mean gradient at draws `first`, ..., `first + draws - 1` of a key.
    // Each is a step of the key. Adds the mean of dU/dtheta to `slope`, if that is not empty.
    void step(pollen::Potential<double>& u, const pollen::RandomKey& key, std::int64_t draws, double factor,
              std::span<double> slope = {});

  private:
    Family& family_;
    std::vector<double> rates_;
    std::vector<std::array<pollen::Tensor<double>, 2>> memory_;
    std::vector<pollen::Tensor<double>> gradients_;
    std::vector<double> slope_;
    std::int64_t steps_ = 0;
    pollen::Tape<double> tape_;
};

// Steps of a climber along a cosine to 0. Throws Interrupted on Ctrl-C.
struct ClimbOptions {
    std::int64_t steps;
    std::vector<double> rates;
    std::int64_t draws = 1;  // of a step
    std::uint64_t seed = 1;
    std::uint32_t stream = 0;
};
void climb(Family& family, pollen::Potential<double>& u, const ClimbOptions& options);

// Draws from a family: the values of the potential (draws, value_count), and -U(theta) - log q(theta) (1, draws), whose
// mean is the bound. The same seed has the same normals in every family, as far as they go: differences are paired.
struct FamilyDraws {
    pollen::Tensor<double> values, elbo;
};
FamilyDraws draws_of(const Family& family, pollen::Potential<double>& u, std::int64_t draws, std::uint64_t seed);
