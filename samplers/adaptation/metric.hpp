#pragma once

#include <pollen/autograd/random.hpp>
#include <pollen/autograd/tensor.hpp>
#include <pollen/samplers/chain.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pollen {

// The mass matrix M of the momenta, stored as its inverse: a diagonal, a dense matrix or 1. It is best if M^-1 is the
// covariance of the target, so M^-1 is what a warm-up estimates.
//
//     p ~ N(0, M),    velocity v = M^-1 p ~ N(0, M^-1),    kinetic energy p' M^-1 p / 2
//
// A dense M^-1 = L L' is used by its Cholesky factor L.
template <Real T>
class Metric {
  public:
    // All ones on the diagonal.
    Metric(MetricKind kind, std::int64_t size);

    MetricKind kind() const { return kind_; }
    std::int64_t size() const { return size_; }

    // M^-1: the diagonal, or all numbers of the matrix, which has to be symmetric. `who` begins the message of an
    // error.
    void set_inverse(std::span<const double> inverse, const std::string& who);
    // Sets M^-1 to an estimate. The diagonal of a matrix is multiplied by 1 + sqrt(epsilon), so that it has a Cholesky
    // factor even if it comes from few draws. If it has none, nothing changes, and the result is false.
    bool estimate_inverse(std::vector<double> inverse);
    std::vector<double> inverse() const;

    // p = M^(1/2) z and v = M^(-1/2) z, with z the next size() normals. The same z gives v = M^-1 p.
    void draw_momentum(Random& random, std::span<T> p) const;
    void draw_velocity(Random& random, std::span<T> v) const;

    void velocity(const T* p, T* v) const;
    // p' v / 2 in double, with v = M^-1 p.
    double kinetic(const T* p, const T* v) const;
    // v' M v, which is z' z for a v that was drawn from z. `scratch` has room for size() numbers.
    double squared_length(const T* v, std::span<T> scratch) const;

    // The step of position and momentum that opens a leapfrog step, and the one that closes it:
    //     p -= kick g,  q += step M^-1 p          p -= kick g,  v = M^-1 p; returns p' v / 2
    void open(T kick, T step, const T* g, T* p, T* q, T* v) const;
    double close(T kick, const T* g, T* p, T* v) const;

    void visit(StateVisitor& visitor);

  private:
    std::int64_t assign(std::span<const double> inverse);

    MetricKind kind_;
    std::int64_t size_;
    std::vector<T> inverse_;
    std::vector<T> root_;  // diagonal: square roots of the inverse; dense: L, row by row, zeros above the diagonal
};

}  // namespace pollen
