#include <pollen/nn/training/schedule.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>

#include <cmath>
#include <numbers>

namespace pollen {

namespace {

void need(bool good, const std::string& schedule, const char* what) {
    if (!good) throw ValueError(schedule + ": " + what);
}

}  // namespace

Schedule::Schedule(double constant)
    : text_(to_text(constant)), f_([constant](std::int64_t) { return constant; }), constant_(true) {
    need(constant >= 0 && std::isfinite(constant), "a step size of " + text_, "it must be finite and not negative");
}

Schedule::Schedule(std::string text, std::function<double(std::int64_t)> f) : text_(std::move(text)), f_(std::move(f)) {
    check_function("Schedule " + text_, f_);
}

Schedule Schedule::polynomial(double a, double b, double gamma, std::int64_t burn_in) {
    const std::string text = call("polynomial", a, b, gamma, burn_in);
    need(a >= 0 && b > 0, text, "a must not be negative and b must be positive");
    need(burn_in >= 0, text, "burn_in must not be negative");
    return {text, [=](std::int64_t t) {
                return a * math::pow(b + static_cast<double>(t < burn_in ? 0 : t - burn_in), -gamma);
            }};
}

// first / last = ((b + n) / b)^gamma with n = steps - 1, so b = n / ((first / last)^(1 / gamma) - 1)
Schedule Schedule::polynomial_between(double first, double last, double gamma, std::int64_t steps) {
    const std::string text = call("polynomial_between", first, last, gamma, steps);
    need(first > last && last > 0 && gamma > 0 && steps > 1, text,
         "first > last > 0, gamma > 0 and steps > 1 are needed");
    const double b = static_cast<double>(steps - 1) / (math::pow(first / last, 1 / gamma) - 1);
    const double a = first * math::pow(b, gamma);
    return {text, [=](std::int64_t t) { return a * math::pow(b + static_cast<double>(t), -gamma); }};
}

Schedule Schedule::steps(double first, std::int64_t every, double factor) {
    const std::string text = call("steps", first, every, factor);
    need(first >= 0 && factor >= 0 && every > 0, text, "first and factor must not be negative, every must be positive");
    return {text, [=](std::int64_t t) {
                const std::int64_t times = t / every;
                return first * math::pow(factor, static_cast<double>(times));
            }};
}

Schedule Schedule::cosine(double first, std::int64_t steps, double last) {
    const std::string text = call("cosine", first, steps, last);
    need(first >= 0 && last >= 0 && steps > 0, text, "first and last must not be negative, steps must be positive");
    return {text, [=](std::int64_t t) {
                if (t >= steps) return last;
                const double part = static_cast<double>(t) / static_cast<double>(steps);
                return last + (first - last) * (1 + math::cos(std::numbers::pi * part)) / 2;
            }};
}

Schedule Schedule::cyclical_cosine(double first, std::int64_t steps, std::int64_t cycles) {
    const std::string text = call("cyclical_cosine", first, steps, cycles);
    need(first >= 0 && steps > 0 && cycles > 0, text, "first must not be negative, steps and cycles must be positive");
    const std::int64_t length = (steps + cycles - 1) / cycles;
    return {text, [=](std::int64_t t) {
                const double part = static_cast<double>(t % length) / static_cast<double>(length);
                return first / 2 * (math::cos(std::numbers::pi * part) + 1);
            }};
}

Schedule Schedule::warm_up(std::int64_t steps, Schedule after) {
    const std::string text = call("warm_up", steps, after.describe());
    need(steps >= 0, text, "steps must not be negative");
    return {text, [steps, after = std::move(after)](std::int64_t t) {
                if (t >= steps) return after(t - steps);
                return after(0) * static_cast<double>(t + 1) / static_cast<double>(steps);
            }};
}

}  // namespace pollen
