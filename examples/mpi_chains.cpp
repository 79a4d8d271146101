// Chains spread over the processes of an MPI job: the same draws as in one process, to the last bit.
//
//     ./run mpi 4 mpi_chains
//
// Eight chains of NUTS on eight schools (see eight_schools.cpp). Each process runs its share of them and writes its
// files into one directory; process 0 shows the progress, has all draws and prints the summary. If a process is killed,
// the job ends, and the same command goes on from the files, with any number of processes.
//
// Expected output: mu about 4.4 with sd 3.3 and tau about 3.6 with sd 3.2. The last digits do not depend on the number
// of processes.
#include "common/example.hpp"
#include "common/table.hpp"

#include <pollen/autograd/mpi/run_mpi.hpp>
#include <pollen/nn/distributions.hpp>
#include <pollen/nn/potentials/model.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <algorithm>
#include <cstdio>

using namespace pollen;

const Tensor<double> y{28, 8, -3, 7, -1, 1, 18, 12};
const Tensor<double> sigma{15, 10, 16, 11, 9, 11, 10, 18};

void schools(Model<double>& m) {
    const auto mu = m.real("mu");
    const auto tau = m.positive("tau");
    const auto z = m.real("z", {8});
    m.prior(normal_lpdf(mu, 0, 5));
    m.prior(half_cauchy_lpdf(tau, 5));
    m.prior(normal_lpdf(z, 0, 1));
    m.likelihood(normal_lpdf(y, m.quantity("theta", mu + tau * z), sigma));
}

int main(int argc, char** argv) {
    Example example("Eight chains of NUTS, spread over the processes of an MPI job.", "2 seconds");
    std::int64_t length = 1000;
    example.option("--draws", length, 250, "draws of each of eight chains, after as many of warm-up", 100);
    int status = 0;
    const int ended = run_mpi([&](Group& group) {
        status = example.run(argc, argv, group, [&] {
            const Draws draws =
                unless_stopped(run_chains(ModelPotential<double>(schools), Nuts{.target_acceptance = 0.95},
                                          {.chains = 8,
                                           .warmup = length,
                                           .draws = length,
                                           .seed = example.seed,
                                           .directory = example.kept("chains").string(),
                                           .resume = true,
                                           .name = "eight_schools",
                                           .group = &group}));
            if (group.rank() > 0) return;
            std::printf("%s\n", summary(draws).c_str());
            ResultTable table({"parameter", "mean", "sd", "published"});
            for (const auto& [name, published] : {std::pair("mu", "4.4 (sd 3.3)"), {"tau", "3.6 (sd 3.2)"}}) {
                const QuantitySummary s = summarise(Chains(draws[name]));
                table.row({name, {s.mean, s.mcse, 2}, {s.sd, 2}, published});
            }
            table.show();
            table.save(example.path("mpi_chains"));
        });
    });
    return std::max(status, ended);
}
