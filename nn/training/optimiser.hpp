#pragma once

#include <pollen/nn/training/schedule.hpp>

#include <pollen/autograd/tensor.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>

namespace pollen {

// What a step of an optimiser knows.
//
// `rate` is a step on the mean loss U~/N, with U~ the potential of a batch: in the samplers' terms e N / 2. The
// gradient g that a step goes along is
//
//     g = scale * gradient + decay * theta
//
// where `gradient` is that of the mean of -log p over the batch, `scale` is below 1 where the gradient is clipped, and
// decay = 1 / (N s^2) is a normal prior on theta with standard deviation s.
struct UpdateStep {
    double rate = 0;
    std::int64_t step = 0;  // 0, 1, ...
    double decay = 0;
    double scale = 1;
};

// A stretch of theta with its gradient and what the optimiser remembers of it.
template <Real T>
struct Stretch {
    T* theta;
    const T* gradient;
    std::array<T*, 2> memory;
    std::int64_t size;
};

// A rule is a struct of options with an update, such as Sgd (sgd.hpp). Any struct like it is an optimiser;
// `static_assert(UpdateRule<Mine>)` confirms it. update() is const and takes float and double. It moves each number by
// what is known of that number alone, because it may be called for any stretch of theta, and for several at once from
// several threads. describe() names every option, the rate included: resuming compares it.
template <class R>
concept UpdateRule = requires(const R& rule, const UpdateStep& now, const Stretch<float>& f, const Stretch<double>& d) {
    { rule.rate } -> std::convertible_to<Schedule>;
    { R::memories } -> std::convertible_to<int>;
    rule.update(now, f);
    rule.update(now, d);
    { rule.describe() } -> std::convertible_to<std::string>;
};

// For the check() of a rule: throws a ValueError unless 0 <= x < below. `rule` is the description of the rule.
void check_option(const std::string& rule, const char* name, double x, double below);

// Holds any rule.
class Optimiser {
  public:
    template <UpdateRule R>
    Optimiser(R rule) : rule_(std::make_shared<Holder<R>>(std::move(rule))) {
        static_assert(R::memories >= 0 && R::memories <= 2, "an optimiser remembers at most two numbers a parameter");
        if constexpr (requires { rule_->rate(0), std::declval<const R&>().check(); })
            static_cast<const Holder<R>&>(*rule_).rule.check();
    }

    int memories() const { return rule_->memories(); }  // numbers remembered for each parameter
    double rate(std::int64_t step) const { return rule_->rate(step); }
    std::string describe() const { return rule_->describe(); }
    template <Real T>
    void update(const UpdateStep& now, const Stretch<T>& at) const {
        rule_->update(now, at);
    }

  private:
    struct Rule {
        virtual ~Rule() = default;
        virtual int memories() const = 0;
        virtual double rate(std::int64_t step) const = 0;
        virtual std::string describe() const = 0;
        virtual void update(const UpdateStep& now, const Stretch<float>& at) const = 0;
        virtual void update(const UpdateStep& now, const Stretch<double>& at) const = 0;
    };
    template <class R>
    struct Holder final : Rule {
        explicit Holder(R r) : rule(std::move(r)) {}
        int memories() const override { return R::memories; }
        double rate(std::int64_t step) const override { return rule.rate(step); }
        std::string describe() const override { return rule.describe(); }
        void update(const UpdateStep& now, const Stretch<float>& at) const override { rule.update(now, at); }
        void update(const UpdateStep& now, const Stretch<double>& at) const override { rule.update(now, at); }
        R rule;
    };

    std::shared_ptr<const Rule> rule_;
};

}  // namespace pollen
