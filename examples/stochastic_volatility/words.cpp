#include "words.hpp"

#include <pollen/autograd/math.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

using namespace pollen;

namespace {

QuantitySummary summary(const Method& m, const std::string& name) { return summarise(Chains(m[name])); }

// The greatest distance between two of the runs of NUTS, in sigma or nu, in combined standard errors.
double greatest_distance(const Methods& methods) {
    double greatest = 0;
    for (const std::string name : {"sigma", "nu"})
        for (const Method& a : methods)
            for (const Method& b : methods) {
                if (!a.name.starts_with("NUTS") || !b.name.starts_with("NUTS")) continue;
                const QuantitySummary x = summary(a, name), y = summary(b, name);
                greatest = std::max(greatest, (x.mean - y.mean) / math::hypot(x.mcse, y.mcse));
            }
    return greatest;
}

}  // namespace

void say_what_it_shows(const Methods& methods, const Known& known) {
    const auto of = [&](const char* method, const char* name) { return summary(method_of(methods, method), name); };
    const double sigma = known.of[0].mean, sd = known.of[0].sd;
    const auto share = [&](const char* method) { return of(method, "sigma").mean / sigma; };
    std::printf(R"(
One posterior, three sets of coordinates for NUTS: their means of sigma and nu differ by %.1f combined standard errors
at most. Where sigma is drawn beside the path, it moves in small steps. Where the coordinates of the path are scaled by
what the returns leave open, given sigma, it moves freely.

Independent s_i cannot follow a walk: sigma comes out %.1f times as large as it is, and the bound is %.0f nats below the
log evidence. A Gaussian path whose precision is tridiagonal, as that of the posterior nearly is, has %.2f times the
exact sigma and is %.1f nats below the evidence. But it is independent of sigma: the sd of sigma is %.2f of the exact.

)",
                greatest_distance(methods), share("mean field in s"),
                known.log_evidence - of("mean field in s", "elbo").mean, share("Gaussian path"),
                known.log_evidence - of("Gaussian path", "elbo").mean, of("Gaussian path", "sigma").sd / sd);
    std::printf(R"(SGLD with a parameter for each s_i has %.2f times the exact sigma, and an R-hat of %.2f.

The hybrid's path is a mean plus sigma times a walk that no return pulls back. As published, without the priors of the
path, it has %.2f times the exact sigma; Eq. 39 has %.2f; the density of the model %.2f. (R-hat: %.2f, %.2f, %.2f.)
Without means the walk ignores the returns altogether, and sigma is %.4f times the exact one. (R-hat: %.2f.)
With a Gaussian path that has a scale of its own, and follows sigma and nu while these are sampled, the hybrid has %.2f
times the exact sigma, and an sd that is %.2f of the exact. (R-hat: %.2f.)

)",
                share("SGLD in s"), of("SGLD in s", "sigma").rhat, share("hybrid, as published"),
                share("hybrid, Eq. 39"), share("hybrid, full density"), of("hybrid, as published", "sigma").rhat,
                of("hybrid, Eq. 39", "sigma").rhat, of("hybrid, full density", "sigma").rhat, share("hybrid, no means"),
                of("hybrid, no means", "sigma").rhat, share("hybrid, Gaussian path"),
                of("hybrid, Gaussian path", "sigma").sd / sd, of("hybrid, Gaussian path", "sigma").rhat);
}

void say_verdict(const Methods& seeds, const Known& known) {
    bool passed = true;
    for (const std::size_t k : {0, 1}) {
        const Reference& r = known.of[k];
        double mean = 0, variance = 0;
        const double count = static_cast<double>(seeds.size());
        for (const Method& m : seeds) {
            const QuantitySummary q = summary(m, r.name);
            mean += q.mean / count;
            variance += q.mcse * q.mcse / (count * count);
        }
        const double z = (mean - r.mean) / std::sqrt(variance);
        std::printf("%s by NUTS with %zu seeds is %+.1f standard errors from the exact mean.\n", r.name.c_str(),
                    seeds.size(), z);
        passed &= std::abs(z) <= 4;
    }
    if (known.published) {
        const double speed = seeds.front().ess_per_second(), ratio = speed / stan_ess_per_second;
        std::printf("It has %.0f effective draws of sigma a chain-second, %.0f times Stan's %.2f.\n", speed, ratio,
                    stan_ess_per_second);
        passed &= ratio >= 10;
    }
    std::printf("Verdict: %s.\n", passed ? "passed" : "NOT passed");
}
