#pragma once

#include "full_batch_checks.hpp"

namespace pollen::test {

// NUTS by plain recursion, one vector for everything, diagonal metric: what the sampler's stack of trees must agree
// with, given the same random numbers.
class RecursiveNuts {
    using Vector = std::vector<double>;
    struct Point {
        Vector q, p, g;
        double u = 0;
    };
    // A stretch of trajectory: momenta and velocities of its ends in the order they were reached.
    struct Span {
        Vector p_first, v_first, p_last, v_last, rho;
        Point proposal;
        double log_weight = 0;
    };

  public:
    RecursiveNuts(std::unique_ptr<Potential<double>> potential, Vector at, Vector inverse, double step, int max_depth,
                  std::uint64_t seed, std::uint32_t chain)
        : u_(std::move(potential)), inverse_(inverse), step_(step), max_depth_(max_depth), seed_(seed), chain_(chain) {
        z_.q = std::move(at);
        z_.g.resize(z_.q.size());
        z_.u = u_->evaluate(z_.q, z_.g).total();
    }

    const Vector& position() const { return z_.q; }
    int depth() const { return depth_; }
    int leapfrogs() const { return leapfrogs_; }
    bool divergent() const { return divergent_; }
    double acceptance() const { return sum_acceptance_ / leapfrogs_; }

    void step() {
        Random random = random_of(seed_, chain_, t_++);
        random_ = &random;
        z_.p.resize(z_.q.size());
        random.fill_normal(z_.p);
        for (std::size_t i = 0; i < z_.p.size(); ++i) z_.p[i] /= std::sqrt(inverse_[i]);
        h0_ = hamiltonian(z_);
        leapfrogs_ = depth_ = 0;
        sum_acceptance_ = 0;
        divergent_ = false;
        Point ends[2] = {z_, z_};  // backward, forward
        // The whole trajectory from its backward to its forward end.
        Span whole{z_.p, velocity(z_.p), z_.p, velocity(z_.p), z_.p, z_, 0};
        while (depth_ < max_depth_) {
            const int forward = random.uniform<double>() > 0.5;
            Span added;
            if (!build(depth_, forward ? step_ : -step_, ends[forward], added)) break;
            ++depth_;
            if (added.log_weight > whole.log_weight ||
                random.uniform<double>() < std::exp(added.log_weight - whole.log_weight))
                whole.proposal = added.proposal;
            // In the order of time, and the momenta as they are in forward time.
            Span turned = added;
            if (!forward) {
                std::swap(turned.p_first, turned.p_last);
                std::swap(turned.v_first, turned.v_last);
            }
            const bool on = forward ? no_turn(whole, turned) : no_turn(turned, whole);
            if (forward) {
                whole.p_last = added.p_last;
                whole.v_last = added.v_last;
            } else {
                whole.p_first = added.p_last;
                whole.v_first = added.v_last;
            }
            whole.rho = sum(whole.rho, added.rho);
            whole.log_weight = log_sum(whole.log_weight, added.log_weight);
            if (!on) break;
        }
        const Point chosen = whole.proposal;
        z_ = chosen;
    }

  private:
    Vector velocity(const Vector& p) const {
        Vector v = p;
        for (std::size_t i = 0; i < v.size(); ++i) v[i] *= inverse_[i];
        return v;
    }
    static Vector sum(const Vector& a, const Vector& b) {
        Vector c = a;
        for (std::size_t i = 0; i < c.size(); ++i) c[i] += b[i];
        return c;
    }
    static double inner(const Vector& a, const Vector& b) {
        double s = 0;
        for (std::size_t i = 0; i < a.size(); ++i) s += a[i] * b[i];
        return s;
    }
    static double log_sum(double a, double b) {
        const double m = std::max(a, b);
        return m + std::log(std::exp(a - m) + std::exp(b - m));
    }
    static bool straight(const Vector& v, const Vector& w, const Vector& rho) {
        return inner(v, rho) > 0 && inner(w, rho) > 0;
    }
    static bool no_turn(const Span& a, const Span& b) {
        return straight(a.v_first, b.v_last, sum(a.rho, b.rho)) &&
               straight(a.v_first, b.v_first, sum(a.rho, b.p_first)) &&
               straight(a.v_last, b.v_last, sum(b.rho, a.p_last));
    }
    double hamiltonian(const Point& z) const { return z.u + inner(z.p, velocity(z.p)) / 2; }

    bool build(int depth, double step, Point& z, Span& out) {
        if (depth == 0) {
            for (std::size_t i = 0; i < z.q.size(); ++i) {
                z.p[i] -= step / 2 * z.g[i];
                z.q[i] += step * inverse_[i] * z.p[i];
            }
            z.u = u_->evaluate(z.q, z.g).total();
            for (std::size_t i = 0; i < z.q.size(); ++i) z.p[i] -= step / 2 * z.g[i];
            ++leapfrogs_;
            double h = hamiltonian(z);
            if (std::isnan(h)) h = std::numeric_limits<double>::infinity();
            sum_acceptance_ += std::min(1.0, std::exp(h0_ - h));
            out = {z.p, velocity(z.p), z.p, velocity(z.p), z.p, z, h0_ - h};
            divergent_ = divergent_ || h - h0_ > 1000;
            return h - h0_ <= 1000;
        }
        Span a, b;
        if (!build(depth - 1, step, z, a) || !build(depth - 1, step, z, b)) return false;
        out = {a.p_first,
               a.v_first,
               b.p_last,
               b.v_last,
               sum(a.rho, b.rho),
               a.proposal,
               log_sum(a.log_weight, b.log_weight)};
        if (random_->uniform<double>() < std::exp(b.log_weight - out.log_weight)) out.proposal = b.proposal;
        return no_turn(a, b);
    }

    std::unique_ptr<Potential<double>> u_;
    Vector inverse_;
    double step_;
    int max_depth_;
    std::uint64_t seed_;
    std::uint32_t chain_;
    std::int64_t t_ = 0;
    Point z_;
    Random* random_ = nullptr;
    double h0_ = 0, sum_acceptance_ = 0;
    int leapfrogs_ = 0, depth_ = 0;
    bool divergent_ = false;
};

}  // namespace pollen::test
