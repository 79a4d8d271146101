#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace pollen {

// A step size as a function of the step t = 0, 1, ... A plain number is a schedule that stays.
//
// A schedule has no state but t: a run that is resumed at step t goes on as if it had never stopped.
class Schedule {
  public:
    Schedule(double constant);
    // A function of your own. `text` describes it: a saved run is only resumed under the same description. The text is
    // all that is compared, so two functions need two texts.
    Schedule(std::string text, std::function<double(std::int64_t)> f);

    double operator()(std::int64_t step) const { return f_(step); }
    const std::string& describe() const { return text_; }
    // Whether it was made of a plain number.
    bool constant() const { return constant_; }

    // a (b + t)^-gamma (Welling & Teh 2011), after `burn_in` steps at the first value, a b^-gamma.
    static Schedule polynomial(double a, double b, double gamma, std::int64_t burn_in = 0);
    // The same law by its ends: from `first` at t = 0 to `last` at t = steps - 1.
    static Schedule polynomial_between(double first, double last, double gamma, std::int64_t steps);

    // first factor^floor(t / every)
    static Schedule steps(double first, std::int64_t every, double factor);

    // last + (first - last) (1 + cos(pi t / steps)) / 2, and `last` from t = steps on (Loshchilov & Hutter 2017, Eq. 5)
    static Schedule cosine(double first, std::int64_t steps, double last = 0);

    // first / 2 (cos(pi (t mod c) / c) + 1) with cycles of c = ceil(steps / cycles) steps (Zhang et al. 2020, Eq. 1)
    static Schedule cyclical_cosine(double first, std::int64_t steps, std::int64_t cycles);

    // A line from after(0) / steps up to after(0) in the first `steps` steps, then after(t - steps).
    static Schedule warm_up(std::int64_t steps, Schedule after);

  private:
    std::string text_;
    std::function<double(std::int64_t)> f_;
    bool constant_ = false;
};

}  // namespace pollen
