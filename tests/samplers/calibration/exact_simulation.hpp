#pragma once

#include "../../stopper.hpp"
#include "calibration_models.hpp"

#include <atomic>
#include <cmath>

// A model whose posterior is known, and a sampler that draws from it, rightly or wrongly, for the tests of
// samplers/calibration/calibration.hpp.
namespace pollen::test {

inline const CalibrationOptions few{
    .replications = 100, .draws = 49, .bins = 5, .warmup = 100, .thin = 3, .seed = 3, .show = Show::nothing};
inline const GewekeOptions some{.chains = 4, .draws = 500, .seed = 3, .show = Show::nothing};

// mu ~ N(0, 1),  y ~ N(mu, 1):  the posterior is N(y / 2, 1 / 2).
struct Conjugate {
    static constexpr std::size_t size = 1;
    static std::vector<Quantity> quantities() { return {{"mu", {}, 0}}; }
    static std::vector<double> prior(Random& random) { return {random.normal<double>()}; }

    Conjugate(std::span<const double> x, Random& random) : y(random.normal(x[0], 1.0)) {}
    double energy(std::span<const double> x, std::span<double> g) const {
        if (!g.empty()) g[0] = 2 * x[0] - y;
        return (x[0] * x[0] + (x[0] - y) * (x[0] - y)) / 2;
    }
    static void values(std::span<const double> x, std::span<double> out) { out[0] = x[0]; }

    double y;
};

// Independent draws from that posterior, with a mean that is off by `shift` and a standard deviation by the factor
// `width`.
struct Exact {
    double shift = 0, width = 1;
    std::int64_t stays = 1;       // steps at one place
    std::int64_t bad_chain = -1;  // throws
    std::int64_t also_bad = -1;
    std::atomic<int>* steps = nullptr;  // counted
    int interrupt = -1;                 // asks `stopper` to stop after this many
    Stopper* stopper = nullptr;

    std::unique_ptr<Chain<double>> begin(std::unique_ptr<Potential<double>> potential, ChainStart<double> start) const;
    std::string describe() const { return "Exact"; }
};

class ExactChain final : public Chain<double> {
  public:
    ExactChain(const Exact& options, std::unique_ptr<Potential<double>> potential, ChainStart<double> start)
        : o_(options), start_(std::move(start)), position_(start_.position) {
        std::vector<double> zero{0}, gradient(1);
        potential->evaluate(zero, gradient);
        y_ = -gradient[0];
    }
    StepStatistics step() override {
        if (start_.chain == o_.bad_chain || start_.chain == o_.also_bad) throw ShapeError("Exact: out of luck");
        if (o_.steps && ++*o_.steps == o_.interrupt) o_.stopper->ask();
        Random random = random_of(start_.seed, start_.chain, steps_);
        if (steps_++ % o_.stays == 0)
            position_[0] = y_ / 2 + o_.shift + o_.width * std::sqrt(0.5) * random.normal<double>();
        return {};
    }
    std::span<const double> position() const override { return position_; }
    std::int64_t steps() const override { return steps_; }
    void visit(StateVisitor&) override {}

  private:
    Exact o_;
    ChainStart<double> start_;
    std::vector<double> position_;
    double y_ = 0;
    std::int64_t steps_ = 0;
};

inline std::unique_ptr<Chain<double>> Exact::begin(std::unique_ptr<Potential<double>> potential,
                                                   ChainStart<double> start) const {
    return std::make_unique<ExactChain>(*this, std::move(potential), std::move(start));
}

// The same with quantities that have few values, and one.
struct Rounded : Conjugate {
    using Conjugate::Conjugate;
    static std::vector<Quantity> quantities() { return {{"rounded", {}, 0}, {"one", {}, 1}}; }
    static void values(std::span<const double> x, std::span<double> out) {
        out[0] = std::round(x[0]);
        out[1] = 1;
    }
};

}  // namespace pollen::test
