#include "numpy_data.hpp"

#include <pollen/autograd/math.hpp>

#include <cmath>
#include <cstdint>
#include <random>

namespace {

// NumPy's RandomState: a Mersenne twister, 53 bits of two words, polar normals (Marsaglia).
class NumPyRandom {
  public:
    explicit NumPyRandom(std::uint32_t seed) : words_(seed) {}

    double uniform() {
        const double a = static_cast<double>(words_() >> 5), b = static_cast<double>(words_() >> 6);
        return (a * 67108864 + b) / 9007199254740992;
    }
    double normal(double mean, double sd) {
        has_second_ = !has_second_;
        if (!has_second_) return mean + sd * second_;
        double x, y, r2;
        do {
            x = 2 * uniform() - 1;
            y = 2 * uniform() - 1;
            r2 = x * x + y * y;
        } while (r2 >= 1 || r2 == 0);
        const double f = std::sqrt(-2 * pollen::math::log(r2) / r2);
        second_ = f * x;
        return mean + sd * f * y;
    }

  private:
    std::mt19937 words_;
    double second_ = 0;
    bool has_second_ = false;
};

}  // namespace

std::vector<double> numpy_data() {
    NumPyRandom random(3);
    std::vector<double> u(100), a(100), b(100);
    for (double& x : u) x = random.uniform();
    for (double& x : a) x = random.normal(0, 1.6);
    for (double& x : b) x = random.normal(1, 1.6);
    for (std::size_t i = 0; i < u.size(); ++i)
        if (u[i] > 0.5) b[i] = a[i];
    return b;
}
