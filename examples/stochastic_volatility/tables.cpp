#include "tables.hpp"

#include "../common/table.hpp"
#include "model.hpp"

#include <pollen/autograd/math.hpp>

#include <utility>

using namespace pollen;

void show_posteriors(const Example& example, const Methods& methods, const Known* known) {
    ResultTable table({"method", "sigma", "sd of sigma", "nu", "sd of nu", "log evidence or ELBO"});
    if (known) {
        const Reference &sigma = known->of[0], &nu = known->of[1];
        table.row({"exact, by sums over grids",
                   {sigma.mean, 5},
                   {sigma.sd, 5},
                   {nu.mean, 2},
                   {nu.sd, 2},
                   {known->log_evidence, 1}});
        if (known->published) {
            table.row({"published: Stan, NUTS in s",
                       {sigma.stan, sigma.stan_error, 5},
                       {sigma.stan_sd, 5},
                       {nu.stan, nu.stan_error, 2},
                       {nu.stan_sd, 2},
                       ""});
            table.row({"published: PyMC, modes", "0.09 to 0.10", "", "9 to 10", "", ""});
            table.row({"published: hybrid, modes", "0.025", "", "9.75", "", ""});
        }
    }
    for (const Method& m : methods) {
        const QuantitySummary sigma = summarise(Chains(m["sigma"])), nu = summarise(Chains(m["nu"]));
        Cell bound = "";
        if (m.has("elbo")) {
            const QuantitySummary elbo = summarise(Chains(m["elbo"]));
            bound = Cell(elbo.mean, elbo.mcse, 1);
        }
        table.row({m.name, {sigma.mean, sigma.mcse, 5}, {sigma.sd, 5}, {nu.mean, nu.mcse, 2}, {nu.sd, 2}, bound});
    }
    table.show();
    table.save(example.path("stochastic_volatility"));
}

void show_costs(const Example& example, const Methods& methods, const Known* known) {
    ResultTable table({"method", "R-hat of sigma", "E-BFMI", "gradients a draw", "ESS of sigma", "chain-seconds",
                       "ESS of sigma a chain-second"});
    if (known && known->published) {
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

void show_agreement(const Example& example, const Method& method, const Known* known, const Tensor<double>& returns) {
    ResultTable table(
        {"quantity", method.name, "sd", "exact", "exact sd", "from exact, in errors", "Stan", "from Stan, in errors"});
    for (const Reference& r : known ? known->of : std::vector<Reference>{}) {
        QuantitySummary q;
        if (r.day == 0) {
            q = summarise(Chains(method[r.name]));
        } else {
            const Tensor<double>& s = method["s"];
            q = {.mean = s(r.day - 1, 0), .sd = s(r.day - 1, 1), .mcse = s(r.day - 1, 2)};
        }
        table.row({r.name,
                   {q.mean, q.mcse, 5},
                   {q.sd, 5},
                   {r.mean, 5},
                   {r.sd, 5},
                   {(q.mean - r.mean) / q.mcse, 2},
                   {r.stan, r.stan_error, 5},
                   {(q.mean - r.stan) / math::hypot(q.mcse, r.stan_error), 2}});
    }
    for (const auto& [name, form] : {std::pair("log density at a point, s", Form::centred),
                                     {"log density at a point, innovations", Form::innovations},
                                     {"log density at a point, filtered", Form::filtered}})
        table.row({name, {log_density_at_a_point(form, returns), 6}, "", "", "", "", "", ""});
    table.show();
    table.save(example.path("stochastic_volatility_agreement"));
}
