#pragma once

#include <pollen/autograd/tensor.hpp>
#include <pollen/nn/module/init.hpp>

#include <cmath>
#include <concepts>
#include <memory>
#include <optional>
#include <string>

namespace pollen {

// Priors for weights, each weight by itself. Any struct like these is one: log_prob is the sum of log p(w_i) over a
// short stretch of weights, slopes writes d log p / d w_i. It may have a check(), which throws a ValueError if its
// numbers are none for a prior, and a descent, which writes -d log p / d w_i and returns the sum: both in one pass.

// The least width of a prior: 1 / width^2 must be a float.
inline constexpr double least_prior_width = 1e-19;

// N(0, sd^2)
struct GaussianPrior {
    double sd = 1;

    template <Real T>
    double log_prob(const T* w, std::int64_t n) const;
    template <Real T>
    void slopes(const T* w, std::int64_t n, T* out) const;
    template <Real T>
    double descent(const T* w, std::int64_t n, T* out) const;
    void check() const;
    std::string describe() const;
};

// N(0, scale^2 / fan_in): the outputs of a layer have about the size of its inputs, however wide it is (Neal 1996).
struct FanInPrior {
    double scale = 1;

    GaussianPrior for_fans(Fans fans) const {
        return {scale / std::sqrt(static_cast<double>(fans.in > 0 ? fans.in : 1))};
    }
    void check() const;
    std::string describe() const;
};

// pi N(0, sd1^2) + (1 - pi) N(0, sd2^2) (Blundell et al. 2015, Eq. 7), by log-sum-exp: no weight is too large for it.
struct ScaleMixturePrior {
    double pi = 0.5;
    double sd1 = 1;
    double sd2 = std::exp(-6.0);

    template <Real T>
    double log_prob(const T* w, std::int64_t n) const;
    template <Real T>
    void slopes(const T* w, std::int64_t n, T* out) const;
    void check() const;
    std::string describe() const;
};

// exp(-|w| / scale) / (2 scale)
struct LaplacePrior {
    double scale = 1;

    template <Real T>
    double log_prob(const T* w, std::int64_t n) const;
    template <Real T>
    void slopes(const T* w, std::int64_t n, T* out) const;
    void check() const;
    std::string describe() const;
};

// Student's t with nu degrees of freedom, about 0.
struct StudentTPrior {
    double nu = 4;
    double scale = 1;

    template <Real T>
    double log_prob(const T* w, std::int64_t n) const;
    template <Real T>
    void slopes(const T* w, std::int64_t n, T* out) const;
    void check() const;
    std::string describe() const;
};

// w ~ N(0, tau^2), tau ~ half-Cauchy(scale): one tau for each weight tensor, learned with the posterior, so that a
// tensor that is not needed shrinks as a whole (the global half of a horseshoe; Carvalho et al. 2010).
struct HierarchicalPrior {
    double scale = 1;
    void check() const;
    std::string describe() const;
};

template <class P>
concept ElementwisePrior = requires(const P& prior, const float* f, const double* d, float* fo, double* dout) {
    { prior.log_prob(f, std::int64_t{}) } -> std::convertible_to<double>;
    { prior.log_prob(d, std::int64_t{}) } -> std::convertible_to<double>;
    prior.slopes(f, std::int64_t{}, fo);
    prior.slopes(d, std::int64_t{}, dout);
    { prior.describe() } -> std::convertible_to<std::string>;
};

// Any of them.
class Prior {
  public:
    template <ElementwisePrior P>
    Prior(P prior) : text_(prior.describe()), law_(std::make_shared<Holder<P>>(prior)) {
        if constexpr (std::same_as<P, GaussianPrior>) sd_ = prior.sd;
        if constexpr (requires { prior.check(); }) prior.check();
    }
    Prior(FanInPrior prior) : text_(prior.describe()), fan_in_(prior) { prior.check(); }
    Prior(HierarchicalPrior prior) : text_(prior.describe()), hierarchical_(prior) { prior.check(); }

    // The prior of a tensor with these fans.
    Prior for_fans(Fans fans) const { return fan_in_ ? Prior(fan_in_->for_fans(fans)) : *this; }

    // The standard deviation, if it is a normal law of known width: then KL terms have a closed form.
    std::optional<double> gaussian_sd() const { return sd_; }
    // Set if tau is to be learned.
    const std::optional<HierarchicalPrior>& hierarchical() const { return hierarchical_; }

    // Errors for a hierarchical prior, and for a FanInPrior before for_fans().
    template <Real T>
    double log_prob(const T* w, std::int64_t n) const {
        return law().log_prob(w, n);
    }
    template <Real T>
    void slopes(const T* w, std::int64_t n, T* out) const {
        law().slopes(w, n, out);
    }
    // Writes -d log p / d w_i and returns the sum of log p(w_i).
    template <Real T>
    double descent(const T* w, std::int64_t n, T* out) const {
        return law().descent(w, n, out);
    }
    const std::string& describe() const { return text_; }

  private:
    struct Law {
        virtual ~Law() = default;
        virtual double log_prob(const float* w, std::int64_t n) const = 0;
        virtual double log_prob(const double* w, std::int64_t n) const = 0;
        virtual void slopes(const float* w, std::int64_t n, float* out) const = 0;
        virtual void slopes(const double* w, std::int64_t n, double* out) const = 0;
        virtual double descent(const float* w, std::int64_t n, float* out) const = 0;
        virtual double descent(const double* w, std::int64_t n, double* out) const = 0;
    };
    template <class P>
    struct Holder final : Law {
        explicit Holder(P p) : prior(p) {}
        double log_prob(const float* w, std::int64_t n) const override { return prior.log_prob(w, n); }
        double log_prob(const double* w, std::int64_t n) const override { return prior.log_prob(w, n); }
        void slopes(const float* w, std::int64_t n, float* out) const override { prior.slopes(w, n, out); }
        void slopes(const double* w, std::int64_t n, double* out) const override { prior.slopes(w, n, out); }
        double descent(const float* w, std::int64_t n, float* out) const override { return both(w, n, out); }
        double descent(const double* w, std::int64_t n, double* out) const override { return both(w, n, out); }
        template <class T>
        double both(const T* w, std::int64_t n, T* out) const {
            if constexpr (requires { prior.descent(w, n, out); }) return prior.descent(w, n, out);
            prior.slopes(w, n, out);
            for (std::int64_t i = 0; i < n; ++i) out[i] = -out[i];
            return prior.log_prob(w, n);
        }
        P prior;
    };
    const Law& law() const {
        if (!law_) fail();
        return *law_;
    }
    [[noreturn]] void fail() const;

    std::string text_;
    std::shared_ptr<const Law> law_;
    std::optional<double> sd_;
    std::optional<FanInPrior> fan_in_;
    std::optional<HierarchicalPrior> hierarchical_;
};

}  // namespace pollen
