// The posterior of a network whose data are spread over the processes of an MPI job.
//
//     ./run mpi 2 mpi_bnn
//
// Full-batch HMC on the weights of a network (784-30-10, tanh, 23,860 weights, prior N(0, 0.3^2)) that learns 5,000
// digits. The digits are cut into 64 blocks, and each process keeps its share of them. (Of data that are
// larger than its memory a process would read its share alone, for example by read_npy_rows().) Process 0 makes the
// steps of HMC; for each gradient it sends the weights to the others, and the gradients of all blocks are added up in
// the same order on any number of processes. So the draws are the same, to the last bit.
//
// Expected output: the mean prediction of the draws gets 91 % of the test digits right, one draw 88 %. The last digits
// do not depend on the number of processes.
#include "common/example.hpp"
#include "common/table.hpp"

#include <pollen/autograd/mpi/run_mpi.hpp>
#include <pollen/data/sets/embedded.hpp>
#include <pollen/data/sets/image_set.hpp>
#include <pollen/data/sets/spread.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/nn/potentials/spread_potential.hpp>
#include <pollen/samplers/draws/predict_draws.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <algorithm>
#include <cstdio>

using namespace pollen;

int main(int argc, char** argv) {
    Example example("HMC on the weights of a network whose digits are spread over the processes of an MPI job.",
                    "1 minute");
    std::int64_t digits = 5000, hidden = 30, draws = 100;
    example.option("--digits", digits, 300, "digits to learn from, 5000 at most", 64);
    example.option("--hidden", hidden, 5, "units in the hidden layer", 1);
    example.option("--draws", draws, 15, "draws, after half as many of warm-up", 10);
    int status = 0;
    const int ended = run_mpi([&](Group& group) {
        status = example.run(argc, argv, group, [&] {
            if (digits > 5000) throw ValueError("--digits is " + std::to_string(digits) + "; it must be 5000 at most");
            const std::string directory = embedded_data("mnist");
            const Spread spread(group, digits);
            const Dataset<float> mine = read_image_set<float>(directory, "train").slice(spread.first(), spread.count());
            std::printf("Process %d of %d has digits %lld to %lld.\n", group.rank() + 1, group.size(),
                        static_cast<long long>(spread.first() + 1), static_cast<long long>(spread.last()));
            example.data(directory, digits);

            const Sequential net{Flatten(), Dense(784, hidden), Tanh(), Dense(hidden, 10)};
            const NetworkPotential<float> part(net, Categorical<float>(), mine,
                                               {.prior = GaussianPrior{.sd = 0.3}, .first_item = spread.first()});
            const SpreadPotential<float> potential(part, spread);
            const Draws found = unless_stopped(run_chains(potential, Hmc{.step_size = 0.01, .time = 0.47},
                                                          {.chains = 1,
                                                           .warmup = draws / 2,
                                                           .draws = draws,
                                                           .seed = example.seed,
                                                           .directory = example.kept("chain").string(),
                                                           .resume = true}));
            if (group.rank() > 0) return;

            const Dataset<float> test = read_image_set<float>(directory, "test");
            ResultTable table({"prediction by", "accuracy %", "-log p"});
            const auto row = [&](const char* name, const Predictive<float>& p) {
                table.row({name,
                           {100 * accuracy(p.probabilities(), test.labels), 1},
                           {nll(p.probabilities(), test.labels), 4}});
            };
            row("the last draw", predict_draws<float>(net, found, test.inputs, {.every = draws}));
            row("the mean over all draws", predict_draws<float>(net, found, test.inputs));
            table.show();
            table.save(example.path("mpi_bnn"));
        });
    });
    return std::max(status, ended);
}
