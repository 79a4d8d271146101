// mpirun -n N check_chains WHAT DIRECTORY ...: what test_run_ranks.cpp checks with threads, with the processes of an
// MPI job.
#include "../samplers/full_batch/shared_tempering.hpp"

#include <pollen/autograd/mpi/run_mpi.hpp>
#include <pollen/autograd/parallel.hpp>

#include <csignal>
#include <cstdlib>
#include <iostream>

using namespace pollen;
using namespace pollen::test;

namespace {

constexpr int five = 5;

RunOptions options_of(const std::string& directory, Group* group) {
    RunOptions options = quiet(directory);
    options.chains = five;
    options.group = group;
    options.resume = true;
    return options;
}

// What one process alone does.
Draws alone(const std::string& directory) { return run(options_of(directory, nullptr), Kind::nuts); }

// Draws and files are those of one process.
void check_same(Group& group, const std::string& directory, const std::string& own) {
    const Draws whole = alone(own + "/whole");
    const Draws draws = run(options_of(directory, &group), Kind::nuts);
    require(draws.elsewhere == (group.rank() > 0), "the draws are on rank 0");
    if (group.rank() > 0) return;
    require(different(draws, whole).empty(), "the draws differ in" + different(draws, whole));
    require(same_run(own + "/whole", directory, five), "the files differ");
    require(TemporaryDirectory::names_in(directory).size() == 2 * five, "there are other files");
}

// A signal to one rank stops all, and the run goes on. The ranks have directories of their own.
void check_stop(Group& group, const std::string& directory, const std::string& own) {
    const std::string mine = directory + "/" + std::to_string(group.rank());
    const bool signalled = group.rank() == std::min(group.size(), five) - 1;
    {
        const StoppingFuse stopping(signalled ? 100 : -1, SIGTERM);
        require(run(options_of(mine, &group), Kind::nuts).interrupted, "all ranks are interrupted");
    }
    check_same(group, mine, own);
}

// An exception on the last rank: all know the chain.
void check_throw(Group& group) {
    RunOptions options = options_of("", &group);
    options.resume = options.save_warmup = false;
    const std::string error =
        thrown_by([&] { run_chains(shapes_model<double>(), Walk{.bad_chain = 4, .bad_step = 70}, options); });
    require(error == (group.rank() == 0 ? "Error: run_chains: chain 5: a fault"
                                        : "GroupError: run_chains: chain 5: a fault"),
            error);
}

// Chains of Tempering whose rungs are shared: draws and files are those of one process.
void check_tempering(Group& group, const std::string& own) {
    const ModelPotential<double> model = tempered_model<double>();
    for (const auto kernel : {Tempering::Kernel::hmc, Tempering::Kernel::metropolis}) {
        const std::string name = own + (kernel == Tempering::Kernel::hmc ? "/hmc" : "/walk");
        const Draws draws = run_chains(model, five_rungs(kernel, &group), pair_of_chains(name));
        require(draws.elsewhere == (group.rank() > 0), "the draws are on rank 0");
        if (group.rank() > 0) continue;
        const Draws whole = run_chains(model, five_rungs(kernel), pair_of_chains(name + "_whole"));
        require(different(draws, whole).empty(), "the draws differ in" + different(draws, whole));
        require(same_run(name, name + "_whole", pair), "the files differ");
    }
    fuse.evaluations = 0;
    const std::string fault = thrown_by([&] {
        run_chains(tempered_model<double>([&](double) {
                       if (group.rank() == group.size() - 1 && fuse.evaluations > 400) throw Error("a fault");
                   }),
                   five_rungs(Tempering::Kernel::hmc, &group), pair_of_chains(""));
    });
    const std::string begin =
        group.rank() == 0 ? "Error: run_chains: chain " : "GroupError: rank 0: run_chains: chain ";
    require(fault.starts_with(begin) && fault.ends_with(": rank " + std::to_string(group.size() - 1) + ": a fault"),
            fault);
}

// kill: the rank that is killed, and at which evaluation of its model.
int check(const std::string& what, const std::string& directory, int rank, std::int64_t evaluation) {
    arm_files();  // without flushes to the disk
    const TemporaryDirectory own;
    return run_mpi([&](Group& group) {
        if (what == "same") {
            check_same(group, directory, own.path());
            if (group.rank() == 0) std::cout << "all is well on " << group.size() << " ranks" << std::endl;
        } else if (what == "all") {
            // Rank 0 has a directory for all.
            const std::string shared = group.broadcast(own.path());
            for (const int threads : {1, 2})
                with_threads(threads, [&] {
                    const std::string number = std::to_string(threads);
                    check_same(group, shared + "/run_" + number, own.path() + "/alone_" + number);
                });
            check_stop(group, shared + "/stop", own.path());
            check_throw(group);
            group.barrier();
        } else if (what == "tempering") {
            check_tempering(group, own.path());
        } else if (what == "kill") {
            fuse.evaluations = 0;
            if (group.rank() == rank) fuse.evaluation = evaluation;
            run(options_of(directory, &group), Kind::nuts);
        } else if (what == "fault") {
            RunOptions options = options_of("", &group);
            options.resume = options.save_warmup = false;
            run_chains(shapes_model<double>(), Walk{.bad_chain = 4, .bad_step = 70}, options);
        } else {
            throw ValueError("check_chains takes same, all, tempering, kill or fault, not " + what);
        }
    });
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return check(argc > 1 ? argv[1] : "all", argc > 2 ? argv[2] : "", argc > 3 ? std::atoi(argv[3]) : -1,
                     argc > 4 ? std::atoll(argv[4]) : -1);
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return EXIT_FAILURE;
    }
}
