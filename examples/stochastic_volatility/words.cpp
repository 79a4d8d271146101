#include "words.hpp"

#include <pollen/autograd/math.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

using namespace pollen;

namespace {

QuantitySummary summary(const Method& m, const std::string& name) { return summarise(Chains(m[name])); }

// In combined standard errors.
double distance(const QuantitySummary& a, double mean, double error) {
    return (a.mean - mean) / math::hypot(a.mcse, error);
}

// The greatest distance between two of the runs, in sigma or nu.
double greatest_distance(const Methods& runs) {
    double greatest = 0;
    for (const std::string name : {"sigma", "nu"})
        for (const Method& a : runs)
            for (const Method& b : runs) {
                const QuantitySummary of_b = summary(b, name);
                greatest = std::max(greatest, distance(summary(a, name), of_b.mean, of_b.mcse));
            }
    return greatest;
}

// What ten common directions change. They could all be 0, so a fit with them can only be better, once it converged.
void say_gain(const QuantitySummary& with, const QuantitySummary& without) {
    const double gain = with.mean - without.mean, error = math::hypot(with.mcse, without.mcse);
    if (std::abs(gain) < 3 * error)
        std::printf("Ten common directions beside them gain nothing that can be told from chance.\n");
    else if (gain > 0)
        std::printf("Ten common directions beside them gain %.1f nats.\n", gain);
    else
        std::printf(
            "Ten common directions beside them lose %.1f nats: that fit has not converged, for they could all "
            "be 0.\n",
            -gain);
}

}  // namespace

void say_what_it_shows(const Methods& nuts, const Methods& others, const Known* known) {
    const QuantitySummary sigma = summary(nuts[0], "sigma");
    std::printf(R"(
One posterior, three sets of coordinates for NUTS: their means of sigma and nu differ by %.1f combined standard errors
at most. But sigma moves only in small steps where it is drawn beside the path whose roughness it is, and freely where
the coordinates of the path are scaled by what the returns leave open, given sigma.
)",
                greatest_distance(nuts));

    const Method &plain = others[0], &rank_10 = others[1], &filtered = others[2];
    const QuantitySummary plain_elbo = summary(plain, "elbo"), filtered_elbo = summary(filtered, "elbo");
    const QuantitySummary filtered_sigma = summary(filtered, "sigma");
    std::printf(R"(
Variational inference goes by coordinates in the same way. Independent s_i cannot follow a walk: sigma comes out %.1f
times as large as by NUTS, and the ELBO is %.0f nats below that of independent z_i.
)",
                summary(plain, "sigma").mean / sigma.mean, filtered_elbo.mean - plain_elbo.mean);
    say_gain(summary(rank_10, "elbo"), plain_elbo);
    if (known) std::printf("Independent z_i miss the log evidence by %.1f. ", known->log_evidence - filtered_elbo.mean);
    std::printf("Their sd of sigma is %.2f of that by NUTS, that of nu %.2f.\n", filtered_sigma.sd / sigma.sd,
                summary(filtered, "nu").sd / summary(nuts[0], "nu").sd);

    std::printf(R"(
The hybrid has the wrong sigma also with its full density, %.2f of that by NUTS: the noise of its path is a walk that no
return pulls back, so sigma must be small for the path to stay near the returns, nu small for the tails to cover the
rest, and the peak of 2008 is flattened. With the loss as published the missing prior lets the means follow the returns,
which hides it; sigma is %.2f of that by NUTS.
)",
                summary(others[3], "sigma").mean / sigma.mean, summary(others[4], "sigma").mean / sigma.mean);
}

void say_verdict(const Method& nuts, const Known* known) {
    if (!known) return;
    const Reference &sigma = known->of[0], &nu = known->of[1];
    const QuantitySummary our_sigma = summary(nuts, "sigma"), our_nu = summary(nuts, "nu");
    const auto agrees = [&](const char* with, double z_sigma, double z_nu) {
        const bool yes = std::abs(z_sigma) <= 4 && std::abs(z_nu) <= 4;
        std::printf("%s is %+.1f combined standard errors from %s in sigma, %+.1f in nu: %s.\n", nuts.name.c_str(),
                    z_sigma, with, z_nu, yes ? "within 4" : "NOT within 4");
        return yes;
    };
    std::printf("\n");
    bool passed = agrees("the exact mean", distance(our_sigma, sigma.mean, 0), distance(our_nu, nu.mean, 0));
    if (known->published) {
        passed &=
            agrees("Stan", distance(our_sigma, sigma.stan, sigma.stan_error), distance(our_nu, nu.stan, nu.stan_error));
        const double ratio = nuts.ess_per_second() / stan_ess_per_second;
        std::printf("It has %.0f effective draws of sigma a chain-second, %.0f times Stan's %.2f: %s.\n",
                    nuts.ess_per_second(), ratio, stan_ess_per_second, ratio >= 10 ? "at least 10" : "NOT at least 10");
        passed &= ratio >= 10;
    }
    std::printf("Verdict: %s.\n", passed ? "passed" : "NOT passed");
}
