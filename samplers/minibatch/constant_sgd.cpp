#include <pollen/samplers/minibatch/constant_sgd.hpp>

#include <pollen/autograd/kernels/triangular.hpp>
#include <pollen/samplers/adaptation/detail/symmetric.hpp>
#include <pollen/samplers/minibatch/detail/noise_estimate.hpp>
#include <pollen/samplers/minibatch/detail/stochastic_walk.hpp>

namespace pollen {

namespace {

using Form = ConstantSgd::Form;

template <Real T>
class ConstantSgdChain final : public detail::StochasticWalk<T> {
  public:
    ConstantSgdChain(const ConstantSgd& options, std::unique_ptr<Potential<T>> potential, ChainStart<T> start)
        : detail::StochasticWalk<T>("ConstantSgd", std::move(potential), std::move(start), options.batch),
          form_(options.form),
          estimated_(!options.noise.known()),
          estimate_(options.form == Form::full) {
        if (this->gradients_.full())
            throw ValueError("ConstantSgd: batch is " + std::to_string(options.batch) +
                             ", all items; its only noise is that of smaller batches");
        check_positive("ConstantSgd", "the temperature", this->temperature());
        if (!estimated_) {
            set_step(options.noise.values());
            return;
        }
        if (this->warmup_ < 1)
            throw ValueError("ConstantSgd: the noise is to be estimated in the warm-up, but the warm-up has no steps");
        // One pair may be the same batch twice.
        this->gradients_.begin(0);
        this->gradients_.draw();
        for (int pair = 0; pair < 10 || (pair < 100 && trace() == 0); ++pair) observe();
        set_scalar(trace());
    }

    // theta - E/2 g~
    StepStatistics step() override {
        StepStatistics statistics;
        const bool finite = move();
        statistics.step_size = scalar_;
        const bool moved = this->arrive(finite, statistics);
        if (estimated_ && this->steps_ <= this->warmup_) {
            const std::int64_t half = this->warmup_ / 2;
            if (this->steps_ == half + 1) estimate_.clear();
            if (moved) observe();
            statistics.gradients += moved;
            if (this->steps_ <= half) set_scalar(trace());
            if (this->steps_ == this->warmup_) {
                if (estimate_.count() == 0)
                    throw ValueError(
                        "ConstantSgd: no step of the second half of the warm-up led to a finite energy; the noise of "
                        "the batches is too small for the curvature");
                set_step(estimate_.mean());
                estimate_.clear();
            }
        }
        return statistics;
    }

    ChainFacts facts() const override { return {.acceptance = false, .step_size = scalar_}; }

    void visit(StateVisitor& visitor) override {
        detail::StochasticWalk<T>::visit(visitor);
        if (!estimated_) return;
        const std::size_t d = this->position_.size();
        estimate_.visit(visitor, d);
        visitor.number("step_size", scalar_);
        visitor.vector("steps_diagonal", diagonal_);
        visitor.vector("noise_factor", factor_);
        if (!diagonal_.empty()) check_saved_size("steps_diagonal", diagonal_.size(), d);
        if (!factor_.empty()) check_saved_size("noise_factor", factor_.size(), d * d);
    }

  private:
    bool move() {
        const std::size_t d = this->position_.size();
        if (!factor_.empty()) {
            // E g / 2 = 2 T V^-1 g with V = F F'
            const auto n = static_cast<std::int64_t>(d);
            solved_.assign(this->gradient_.begin(), this->gradient_.end());
            using kernels::Triangle;
            kernels::triangular_solve(Triangle::lower, false, false, n, 1, factor_.data(), n, solved_.data(), 1);
            kernels::triangular_solve(Triangle::lower, true, false, n, 1, factor_.data(), n, solved_.data(), 1);
            bool finite = true;
            for (std::size_t i = 0; i < d; ++i) {
                this->next_[i] =
                    static_cast<T>(static_cast<double>(this->position_[i]) - 2 * this->temperature() * solved_[i]);
                finite = finite && kernels::is_finite(this->next_[i]);
            }
            return finite;
        }
        if (diagonal_.empty())
            return kernels::langevin_step<T>(this->position_, this->gradient_, scalar_, 0, {}, this->next_);
        bool finite = true;
        for (std::size_t i = 0; i < d; ++i) {
            this->next_[i] = this->position_[i] - static_cast<T>(diagonal_[i] / 2) * this->gradient_[i];
            finite = finite && kernels::is_finite(this->next_[i]);
        }
        return finite;
    }

    // Another batch at the present position.
    void observe() {
        const Energy energy = this->gradients_(this->position_, this->next_);
        if (std::isfinite(energy.total())) estimate_.add<T>(this->gradient_, this->next_);
    }
    double trace() const { return estimate_.trace(this->position_.size()); }

    // e* = 4 T D / Tr V
    void set_scalar(double sum) {
        check_positive("ConstantSgd", "the trace of the noise", sum);
        scalar_ = 4 * this->temperature() * static_cast<double>(this->position_.size()) / sum;
    }

    // 4 T / V_kk, or 4 T V^-1, of which the factor of V is kept. v: one number, the diagonal, or the matrix.
    void set_step(const std::vector<double>& v) {
        const std::size_t d = this->position_.size();
        if (v.size() != 1 && v.size() != d && v.size() != d * d)
            throw ShapeError("ConstantSgd: noise has " + std::to_string(v.size()) + " numbers; 1, " +
                             std::to_string(d) + " or " + std::to_string(d) + " x " + std::to_string(d) +
                             " are expected");
        const auto variance = [&](std::size_t k) { return v[v.size() == 1 ? 0 : v.size() == d ? k : k * d + k]; };
        double sum = 0;
        for (std::size_t k = 0; k < d; ++k) sum += variance(k);
        set_scalar(sum);
        if (form_ == Form::diagonal) {
            diagonal_.resize(d);
            for (std::size_t k = 0; k < d; ++k) {
                if (!(variance(k) > 0))
                    throw ValueError("ConstantSgd: the noise of number " + std::to_string(k) + " of theta (" +
                                     this->potential_->block_of(static_cast<std::int64_t>(k)) + ") is " +
                                     to_text(variance(k)) + "; a diagonal step needs it to be positive");
                diagonal_[k] = 4 * this->temperature() / variance(k);
            }
        } else if (form_ == Form::full) {
            factor_.assign(d * d, 0.0);
            for (std::size_t k = 0; k < d; ++k) factor_[k * d + k] = variance(k);
            if (v.size() == d * d) factor_ = detail::symmetric("ConstantSgd", "noise", static_cast<std::int64_t>(d), v);
            if (kernels::cholesky(static_cast<std::int64_t>(d), factor_.data(), static_cast<std::int64_t>(d)) != 0)
                throw ValueError(
                    "ConstantSgd: the covariance of the noise is not positive definite, so it has no inverse; a longer "
                    "warm-up (at least twice as many steps as dimensions), or the diagonal form, is needed");
        }
    }

    Form form_;
    bool estimated_;
    double scalar_ = 0;
    std::vector<double> diagonal_, factor_, solved_;
    detail::NoiseEstimate estimate_;
};

}  // namespace

template <Real T>
std::unique_ptr<Chain<T>> ConstantSgd::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    return std::make_unique<ConstantSgdChain<T>>(*this, std::move(potential), std::move(start));
}

std::string ConstantSgd::describe() const {
    const char* const forms[] = {"scalar", "diagonal", "full"};
    return describe_options(
        "ConstantSgd",
        {{"batch", to_text(batch)}, {"form", forms[static_cast<int>(form)]}, {"noise", noise.describe()}});
}

double ConstantSgd::state_bytes(std::int64_t size, std::size_t number) const {
    // Of a full step, the estimate of the noise, its mean and the factor.
    const double matrix = form == Form::full ? 3 * static_cast<double>(size) : 3;
    return vector_bytes(6, size, number) + vector_bytes(matrix, size, sizeof(double));
}

POLLEN_INSTANTIATE_SAMPLER(ConstantSgd)

}  // namespace pollen
