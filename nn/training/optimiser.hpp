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

// The rules. Each is a struct of options with an update; any struct like these is an optimiser, which
// `static_assert(UpdateRule<Mine>)` confirms. update() is const and takes float and double; it moves each number by
// what is known of that number alone, since it may be called for any stretch of theta, and for several at once from
// several threads. describe() names every option, the rate included: it is what a resumed run is compared by.

// theta -= rate g
struct Sgd {
    Schedule rate = 0.1;

    static constexpr int memories = 0;
    template <Real T>
    void update(const UpdateStep& now, const Stretch<T>& at) const;
    std::string describe() const;
};

// classic    v = momentum v + g                       theta -= rate v                      (Polyak 1964)
// nesterov   v = momentum v + g                       theta -= rate (g + momentum v)       (Sutskever et al. 2013)
// averaged   p = (1 - b) p - b g, b = 1 - momentum    theta += rate p                      a running mean of g
struct Momentum {
    enum class Form { classic, nesterov, averaged };
    Schedule rate = 0.01;
    double momentum = 0.9;
    Form form = Form::classic;

    static constexpr int memories = 1;
    void check() const;
    template <Real T>
    void update(const UpdateStep& now, const Stretch<T>& at) const;
    std::string describe() const;
};

// v = alpha v + (1 - alpha) g^2        theta -= rate g / (sqrt(v) + epsilon)        (Tieleman & Hinton 2012)
struct RmsProp {
    Schedule rate = 0.001;
    double alpha = 0.99;
    double epsilon = 1e-8;

    static constexpr int memories = 1;
    void check() const;
    template <Real T>
    void update(const UpdateStep& now, const Stretch<T>& at) const;
    std::string describe() const;
};

// m = beta1 m + (1 - beta1) g        v = beta2 v + (1 - beta2) g^2        (Kingma & Ba 2015, Algorithm 1)
// theta -= rate m^ / (sqrt(v^) + epsilon),  m^ = m / (1 - beta1^t),  v^ = v / (1 - beta2^t),  t = 1, 2, ...
struct Adam {
    Schedule rate = 0.001;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;

    static constexpr int memories = 2;
    void check() const;
    template <Real T>
    void update(const UpdateStep& now, const Stretch<T>& at) const;
    std::string describe() const;
};

// Adam, and theta -= rate weight_decay theta besides (Loshchilov & Hutter 2019). This shrinkage is not the gradient of
// any prior; for a prior give the training run one.
struct AdamW {
    Schedule rate = 0.001;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 0.01;

    static constexpr int memories = 2;
    void check() const;
    template <Real T>
    void update(const UpdateStep& now, const Stretch<T>& at) const;
    std::string describe() const;
};

template <class R>
concept UpdateRule = requires(const R& rule, const UpdateStep& now, const Stretch<float>& f, const Stretch<double>& d) {
    { rule.rate } -> std::convertible_to<Schedule>;
    { R::memories } -> std::convertible_to<int>;
    rule.update(now, f);
    rule.update(now, d);
    { rule.describe() } -> std::convertible_to<std::string>;
};

// Any of the rules.
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
