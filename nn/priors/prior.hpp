#pragma once

#include <pollen/nn/priors/fans.hpp>
#include <pollen/nn/priors/flat_prior.hpp>
#include <pollen/nn/priors/hierarchical_prior.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace pollen {

// A prior of weights, each weight by itself. Any struct like this one is a prior:
//
//     struct LogisticPrior {
//         double log_prob(double w) const;      // log p(w)
//         double slope(double w) const;         // d log p / dw
//         std::string describe() const;
//     };
//
// It may have a check(), which throws a ValueError if the prior cannot have its numbers, and a gaussian_sd(), if it is
// N(0, sd^2).
template <class P>
concept PriorOfOne = requires(const P& prior) {
    { prior.log_prob(0.0) } -> std::convertible_to<double>;
    { prior.slope(0.0) } -> std::convertible_to<double>;
    { prior.describe() } -> std::convertible_to<std::string>;
};

// A faster one takes a short stretch of weights at once, float and double: log_prob is the sum of log p(w_i), slopes
// writes d log p / d w_i. It may have a descent, which writes -d log p / d w_i and returns the sum.
template <class P>
concept PriorOfMany = requires(const P& prior, const float* f, const double* d, float* fo, double* dout) {
    { prior.log_prob(f, std::int64_t{}) } -> std::convertible_to<double>;
    { prior.log_prob(d, std::int64_t{}) } -> std::convertible_to<double>;
    prior.slopes(f, std::int64_t{}, fo);
    prior.slopes(d, std::int64_t{}, dout);
    { prior.describe() } -> std::convertible_to<std::string>;
};

template <class P>
concept ElementwisePrior = PriorOfOne<P> || PriorOfMany<P>;

// A prior that depends on how many inputs and outputs a weight tensor has.
template <class P>
concept PriorByFans = requires(const P& prior, Fans fans) {
    { prior.for_fans(fans) } -> ElementwisePrior;
    { prior.describe() } -> std::convertible_to<std::string>;
};

// Any prior.
class Prior {
  public:
    template <class P>
    requires(!std::same_as<P, Prior> && ElementwisePrior<P>) Prior(P prior)
        : text_(prior.describe()), law_(std::make_shared<Holder<P>>(prior)) {
        if constexpr (requires { prior.gaussian_sd(); }) sd_ = prior.gaussian_sd();
        flat_ = std::same_as<P, FlatPrior>;
        if constexpr (requires { prior.check(); }) prior.check();
    }
    template <class P>
    requires(!std::same_as<P, Prior> && PriorByFans<P>) Prior(P prior)
        : text_(prior.describe()), by_fans_([prior](Fans fans) { return Prior(prior.for_fans(fans)); }) {
        if constexpr (requires { prior.check(); }) prior.check();
    }
    Prior(HierarchicalPrior prior) : text_(prior.describe()), hierarchical_(prior) { prior.check(); }

    // The prior of a tensor with these fans.
    Prior for_fans(Fans fans) const { return by_fans_ ? by_fans_(fans) : *this; }

    // The standard deviation, if it is a normal law of known width: then KL terms have a closed form.
    std::optional<double> gaussian_sd() const { return sd_; }
    // Whether it is the FlatPrior.
    bool flat() const { return flat_; }
    // Set if tau is to be learned.
    const std::optional<HierarchicalPrior>& hierarchical() const { return hierarchical_; }

    // Throws for a hierarchical prior, and for a prior by fans before for_fans() is called.
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
        double log_prob(const float* w, std::int64_t n) const override { return sum(w, n); }
        double log_prob(const double* w, std::int64_t n) const override { return sum(w, n); }
        void slopes(const float* w, std::int64_t n, float* out) const override { each(w, n, out); }
        void slopes(const double* w, std::int64_t n, double* out) const override { each(w, n, out); }
        double descent(const float* w, std::int64_t n, float* out) const override { return both(w, n, out); }
        double descent(const double* w, std::int64_t n, double* out) const override { return both(w, n, out); }

        template <class T>
        double sum(const T* w, std::int64_t n) const {
            if constexpr (PriorOfMany<P>) {
                return prior.log_prob(w, n);
            } else {
                double total = 0;
                for (std::int64_t i = 0; i < n; ++i) total = plus(total, prior.log_prob(static_cast<double>(w[i])));
                return total;
            }
        }
        template <class T>
        void each(const T* w, std::int64_t n, T* out) const {
            if constexpr (PriorOfMany<P>)
                prior.slopes(w, n, out);
            else
                for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(prior.slope(static_cast<double>(w[i])));
        }
        template <class T>
        double both(const T* w, std::int64_t n, T* out) const {
            if constexpr (requires { prior.descent(w, n, out); }) {
                return prior.descent(w, n, out);
            } else {
                each(w, n, out);
                for (std::int64_t i = 0; i < n; ++i) out[i] = -out[i];
                return sum(w, n);
            }
        }
        P prior;
    };
    const Law& law() const {
        if (!law_) fail();
        return *law_;
    }
    [[noreturn]] void fail() const;
    // a + b. It is not inline: the flags of a program could fuse it with a multiplication of its prior.
    static double plus(double a, double b);

    std::string text_;
    std::shared_ptr<const Law> law_;
    std::optional<double> sd_;
    bool flat_ = false;
    std::function<Prior(Fans)> by_fans_;
    std::optional<HierarchicalPrior> hierarchical_;
};

}  // namespace pollen
