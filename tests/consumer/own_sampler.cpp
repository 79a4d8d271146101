// A sampler of your own: a random walk with Metropolis' acceptance, min(1, exp(-(U' - U) / T)).
#include <pollen/nn/distributions/normal.hpp>
#include <pollen/nn/potentials/model.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>

using namespace pollen;

template <Real T>
class WalkChain final : public Chain<T> {
  public:
    WalkChain(double scale, std::unique_ptr<Potential<T>> potential, const ChainStart<T>& start)
        : scale_(scale), start_(start), potential_(std::move(potential)), position_(start.position) {
        energy_ = potential_->evaluate(position_, {}).total();
    }

    StepStatistics step() override {
        // The random numbers of this step of this chain: a chain that goes on from a file draws the same ones.
        Random random = random_of(start_.seed, start_.chain, steps_++);
        std::vector<T> proposal = position_;
        for (T& x : proposal) x += T(scale_) * random.normal<T>();
        const double energy = potential_->evaluate(proposal, {}).total();  // infinite where the density is 0
        const double acceptance = std::min(1.0, std::exp((energy_ - energy) / potential_->temperature()));
        if (random.uniform() < acceptance) position_ = proposal, energy_ = energy;
        return {.energy = energy_ / potential_->temperature(), .acceptance = acceptance, .step_size = scale_};
    }
    std::span<const T> position() const override { return position_; }
    std::int64_t steps() const override { return steps_; }
    // Everything that the next step depends on: what a saved run keeps.
    void visit(StateVisitor& v) override {
        v.integer("steps", steps_), v.vector("position", position_), v.number("energy", energy_);
    }

  private:
    double scale_, energy_ = 0;
    ChainStart<T> start_;
    std::unique_ptr<Potential<T>> potential_;
    std::vector<T> position_;
    std::int64_t steps_ = 0;
};

// A sampler is a struct of options that can begin a chain.
struct Walk {
    double scale = 1;

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
        return std::make_unique<WalkChain<T>>(scale, std::move(potential), start);
    }
    std::string describe() const { return "Walk(scale " + std::to_string(scale) + ")"; }
};
static_assert(SamplerOf<Walk, double>);

int main() {
    const ModelPotential<double> normal([](Model<double>& m) { m.prior(normal_lpdf(m.real("x"), 3, 2)); });
    const Draws draws = run_chains(normal, Walk{.scale = 4}, {.draws = 5000, .seed = 1, .show = Show::nothing});
    std::cout << summary(draws);
    const QuantitySummary x = summarise(draws.values)[0];
    return std::abs(x.mean - 3) < 0.2 && std::abs(x.sd - 2) < 0.2 && x.rhat < 1.01 ? 0 : 1;
}
