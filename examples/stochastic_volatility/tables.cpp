#include "tables.hpp"

#include "../common/table.hpp"
#include "model.hpp"

#include <pollen/autograd/math.hpp>

#include <cmath>
#include <utility>

using namespace pollen;

namespace {

QuantitySummary moments_of(const Method& method, const Reference& r) {
    if (r.day == 0) return summarise(Chains(method[r.name]));
    const Tensor<double>& s = method["s"];
    return {.mean = s(r.day - 1, 0), .sd = s(r.day - 1, 1), .mcse = s(r.day - 1, 2)};
}

}  // namespace

void show_posteriors(const Example& example, const Methods& methods, const Known& known) {
    ResultTable table({"method", "sigma", "sd of sigma", "nu", "sd of nu", "log evidence or ELBO"});
    const Reference &sigma = known.of[0], &nu = known.of[1];
    table.row({"exact, by sums over grids",
               {sigma.mean, 5},
               {sigma.sd, 5},
               {nu.mean, 2},
               {nu.sd, 2},
               {known.log_evidence, 1}});
    if (known.published) {
        table.row({"published: Stan, NUTS in s",
                   {sigma.stan, sigma.stan_error, 5},
                   {sigma.stan_sd, 5},
                   {nu.stan, nu.stan_error, 2},
                   {nu.stan_sd, 2},
                   ""});
        table.row({"published: PyMC, modes", "0.09 to 0.10", "", "9 to 10", "", ""});
        table.row({"published: hybrid, modes", "0.025", "", "9.75", "", ""});
    }
    for (const Method& m : methods) {
        const QuantitySummary of_sigma = summarise(Chains(m["sigma"])), of_nu = summarise(Chains(m["nu"]));
        Cell bound = "";
        if (m.has("elbo")) {
            const QuantitySummary elbo = summarise(Chains(m["elbo"]));
            bound = Cell(elbo.mean, elbo.mcse, 1);
        }
        table.row({m.name,
                   {of_sigma.mean, of_sigma.mcse, 5},
                   {of_sigma.sd, 5},
                   {of_nu.mean, of_nu.mcse, 2},
                   {of_nu.sd, 2},
                   bound});
    }
    table.show();
    table.save(example.path("stochastic_volatility"));
}

void show_bounds(const Example& example, const Methods& methods, const Known& known) {
    ResultTable table({"fit", "bound", "below the log evidence", "above mean field in s, draw by draw"});
    const Tensor<double>& first = methods.front()["elbo"];
    for (const Method& m : methods) {
        if (!m.has("elbo")) continue;
        Tensor<double> gain = Tensor<double>::empty(first.shape());
        for (std::int64_t k = 0; k < first.size(); ++k) gain.mutable_data()[k] = m["elbo"].data()[k] - first.data()[k];
        const QuantitySummary bound = summarise(Chains(m["elbo"])), more = summarise(Chains(gain));
        table.row({m.name,
                   {bound.mean, bound.mcse, 1},
                   {known.log_evidence - bound.mean, bound.mcse, 1},
                   &m == &methods.front() ? Cell("") : Cell(more.mean, more.mcse, 1)});
    }
    table.show();
    table.save(example.path("stochastic_volatility_bounds"));
}

void show_costs(const Example& example, const Methods& methods, const Known& known) {
    ResultTable table({"method", "R-hat of sigma", "E-BFMI", "gradients a draw", "ESS of sigma", "chain-seconds",
                       "ESS of sigma a chain-second"});
    if (known.published) {
        table.row({"published: Stan, NUTS in s", "", "low", "", {238, 0}, {1130, 0}, {stan_ess_per_second, 2}});
        table.row({"published: PyMC", "", "", "", "", "874 s for two chains", ""});
    }
    for (const Method& m : methods) {
        const Cell seconds(m["seconds"].item(), 1);
        if (m.has("elbo")) {  // its draws are independent
            table.row({m.name, "", "", "", "", seconds, ""});
            continue;
        }
        const Chains sigma(m["sigma"]);
        table.row({m.name,
                   {rhat(sigma), 3},
                   m.has("E-BFMI") ? Cell(m["E-BFMI"].item(), 2) : "",
                   {m["gradients"].item() / static_cast<double>(sigma.size()), 1},
                   {ess_bulk(sigma), 0},
                   seconds,
                   {m.ess_per_second(), 2}});
    }
    table.show();
    table.save(example.path("stochastic_volatility_cost"));
}

void show_agreement(const Example& example, const Methods& seeds, const Known& known, const Tensor<double>& returns) {
    ResultTable table({"quantity", "NUTS, all seeds", "exact", "from exact, in errors", "worst seed, in errors",
                       "root mean square of the seeds", "Stan", "from Stan, in errors"});
    const double count = static_cast<double>(seeds.size());
    for (const Reference& r : known.of) {
        double sum = 0, variance = 0, worst = 0, squares = 0;
        for (const Method& m : seeds) {
            const QuantitySummary q = moments_of(m, r);
            const double z = (q.mean - r.mean) / q.mcse;
            sum += q.mean / count;
            variance += q.mcse * q.mcse / (count * count);
            if (std::abs(z) > std::abs(worst)) worst = z;
            squares += z * z / count;
        }
        const double error = std::sqrt(variance);
        table.row({r.name,
                   {sum, error, 5},
                   {r.mean, 5},
                   {(sum - r.mean) / error, 2},
                   {worst, 2},
                   {std::sqrt(squares), 2},
                   {r.stan, r.stan_error, 5},
                   {(sum - r.stan) / math::hypot(error, r.stan_error), 2}});
    }
    for (const auto& [name, form] : {std::pair("log density at a point, s", Form::centred),
                                     {"log density at a point, innovations", Form::innovations},
                                     {"log density at a point, filtered", Form::filtered}})
        table.row({name, {log_density_at_a_point(form, returns), 6}, "", "", "", "", "", ""});
    table.show();
    table.save(example.path("stochastic_volatility_agreement"));
}
