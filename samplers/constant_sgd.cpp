#include <pollen/samplers/constant_sgd.hpp>

#include <pollen/autograd/kernels/lapack.hpp>
#include <pollen/samplers/kernels/noise_estimate.hpp>
#include <pollen/samplers/kernels/stochastic_walk.hpp>

namespace pollen {

namespace {

using Form = ConstantSgd::Form;

template <Real T>
class ConstantSgdChain final : public kernels::StochasticWalk<T> {
  public:
    ConstantSgdChain(const ConstantSgd& options, std::unique_ptr<Potential<T>> potential, ChainStart<T> start)
        : kernels::StochasticWalk<T>("ConstantSgd", std::move(potential), std::move(start), options.batch),
          form_(options.form),
          estimated_(!options.noise.known()),
          estimate_(options.form == Form::full) {
        if (this->gradients_.full())
            throw ValueError("ConstantSgd: batch is " + std::to_string(options.batch) +
                             ", all items; its only noise is that of smaller batches");
        kernels::check_positive("ConstantSgd", "the temperature", this->temperature());
        if (!estimated_) {
            set_step(options.noise.values());
            return;
        }
        if (this->warmup_ < 1)
            throw ValueError("ConstantSgd: the noise is to be estimated in the warm-up, but the warm-up has no steps");
        this->gradients_.begin(0);
        this->gradients_.draw();
        observe();
        set_scalar(estimate_.trace(this->position_.size()));
    }

    // theta - E/2 g~
    StepStatistics step() override {
        StepStatistics statistics;
        const bool finite = move();
        statistics.step_size = scalar_;
        const bool moved = this->arrive(finite, statistics);
        if (estimated_ && this->steps_ <= this->warmup_) {
            // What the first half of the warm-up saw is left out in the end.
            if (this->steps_ == this->warmup_ / 2 + 1 && moved) estimate_.clear();
            if (moved) observe();
            statistics.gradients += moved;
            set_scalar(estimate_.trace(this->position_.size()));
            if (this->steps_ == this->warmup_) {
                set_step(estimate_.mean());
                estimate_.clear();
            }
        }
        return statistics;
    }

    void visit(StateVisitor& visitor) override {
        kernels::StochasticWalk<T>::visit(visitor);
        if (!estimated_) return;
        estimate_.visit(visitor);
        visitor.number("step_size", scalar_);
        visitor.vector("steps_diagonal", diagonal_);
        visitor.vector("noise_factor", factor_);
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
        this->gradients_(this->position_, this->next_);
        estimate_.add<T>(this->gradient_, this->next_);
    }

    void set_scalar(double trace) {
        kernels::check_positive("ConstantSgd", "the trace of the noise", trace);
        scalar_ = 4 * this->temperature() * static_cast<double>(this->position_.size()) / trace;
    }

    // v: one number, the diagonal, or the matrix.
    void set_step(const std::vector<double>& v) {
        const std::size_t d = this->position_.size();
        if (v.size() != 1 && v.size() != d && v.size() != d * d)
            throw ShapeError("ConstantSgd: noise has " + std::to_string(v.size()) + " numbers; 1, " +
                             std::to_string(d) + " or " + std::to_string(d) + " x " + std::to_string(d) +
                             " are expected");
        const auto variance = [&](std::size_t k) { return v[v.size() == 1 ? 0 : v.size() == d ? k : k * d + k]; };
        double trace = 0;
        for (std::size_t k = 0; k < d; ++k) trace += variance(k);
        set_scalar(trace);
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
            if (v.size() == d * d) factor_ = v;
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
    kernels::NoiseEstimate estimate_;
};

}  // namespace

template <Real T>
std::unique_ptr<Chain<T>> ConstantSgd::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    return std::make_unique<ConstantSgdChain<T>>(*this, std::move(potential), std::move(start));
}

std::string ConstantSgd::describe() const {
    const char* const forms[] = {"scalar", "diagonal", "full"};
    return kernels::describe_options(
        "ConstantSgd",
        {{"batch", to_text(batch)}, {"form", forms[static_cast<int>(form)]}, {"noise", noise.describe()}});
}

template std::unique_ptr<Chain<float>> ConstantSgd::begin(std::unique_ptr<Potential<float>>, ChainStart<float>) const;
template std::unique_ptr<Chain<double>> ConstantSgd::begin(std::unique_ptr<Potential<double>>,
                                                           ChainStart<double>) const;
static_assert(SamplerOf<ConstantSgd, float> && SamplerOf<ConstantSgd, double>);

}  // namespace pollen
