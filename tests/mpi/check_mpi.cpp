// mpirun -n N check_mpi WHAT: what test_group.cpp and test_spread_train.cpp check with threads, with the processes of
// an MPI job; and chains whose items are spread over them.
#include "../autograd/support/group_checks.hpp"
#include "../data/fuse.hpp"
#include "../nn/potentials/spread_cases.hpp"
#include "../nn/training/spread_checks.hpp"
#include "../samplers/run/run_files.hpp"
#include "../samplers/run/same_draws.hpp"

#include <pollen/autograd/mpi/detail/mpi_group.hpp>
#include <pollen/autograd/mpi/run_mpi.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/interrupt.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <sys/sysinfo.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>

using namespace pollen;
using namespace pollen::test;

namespace {

void check_all(Group& group) {
    check_messages(group);
    check_together(group);
    require(wrong_sums<float>(group, in_tree_order, 7) == 0, "sums of floats");
    require(wrong_sums<double>(group, in_tree_order, 7) == 0, "sums of doubles");
    require(wrong_sums<double>(group, by_subtrees, 7) == 0, "sums of subtrees");
    require(wrong_columns<double>(group, uneven_shares(7, group.size(), 5), 300000, in_tree_order) == 0, "long rows");
    if (group.size() > 2) require(wrong_sums<double>(group, in_rank_order, 7) > 0, "a sum in the order of the ranks");
}

// All processes are on this machine. Together they use no more threads than it has cores, or one each.
void check_threads(Group& group) {
    int threads = 0;
    for (const std::string& text : group.all_gather(std::to_string(thread_count()))) threads += std::stoi(text);
    require(threads <= std::max(get_nprocs(), group.size()), std::to_string(threads) + " threads");
}

// Groups that end in failure, each a group of its own.
void check_failures(Group& all) {
    for (int bad = 0; bad < all.size(); ++bad) {
        MpiGroup group(MPI_COMM_WORLD);
        const std::string got = thrown_by([&] {
            if (group.rank() == bad) group.fail("the disk is full");
            group.barrier();
        });
        const bool told = all.size() > 1 || group.rank() == bad;
        require(got == (told ? "GroupError: rank " + std::to_string(bad) + ": the disk is full" : ""), got);
    }
    if (all.size() == 1) return;
    const int last = all.size() - 1;
    const std::string others = last == 1   ? "rank 0"
                               : last == 2 ? "ranks 0 and 1"
                                           : "ranks 0 to " + std::to_string(last - 1);
    MpiGroup agreeing(MPI_COMM_WORLD), calling(MPI_COMM_WORLD);
    check_agree(agreeing, others);
    const std::string got = thrown_by([&] { all.rank() == last ? calling.barrier() : void(calling.gather("text")); });
    require(got == "GroupError: the ranks make different calls: " + others + ": gather; rank " + std::to_string(last) +
                       ": barrier",
            got);
}

// The draws of all ranks together have the bits of those of one process, and so have the files.
template <class S>
void check_chains(Group& group, const S& sampler) {
    const TemporaryDirectory folder;
    const Dataset<float> data = spread_data<float>(60);
    const auto draws_of = [&](Group& of, const std::string& name) {
        const RunOptions options{
            .chains = 2, .warmup = 5, .draws = 10, .seed = 7, .directory = folder / name, .show = Show::nothing};
        return run_chains(spread_potential<float>(NetworkCase<float>{}, of, data, 8), sampler, options);
    };
    const Draws draws = draws_of(group, "together");
    if (group.rank() > 0) return require(draws.size() == 0, "draws on another rank");
    const Draws alone = draws_of(Group::alone(), "alone");
    require(draws.size() == 10, "the number of draws");
    require(different(draws, alone).empty(), "the draws differ in" + different(draws, alone));
    require(same_run(folder / "alone", folder / "together", 2), "the files differ");
}

// Sends this process a signal in evaluation number 8, which is in the middle of a run.
struct Signals final : Layer<Signals, float> {
    explicit Signals(bool here) : here_(here) {}
    Var<float> forward(Pass<float>&, Var<float> x) const override {
        if (here_ && ++evaluations_ == 8) std::raise(SIGTERM);
        return x;
    }
    static void members(auto&, auto&) {}
    std::string describe() const override { return "Signals"; }
    bool here_;
    mutable int evaluations_ = 0;
};

// A signal to the last rank alone stops all after the same step.
void check_stop(Group& group) {
    const SpreadCase c("stop", Sequential{Signals(group.rank() == group.size() - 1), Dense(36, 3)},
                       {.epochs = 100, .batch = 16, .seed = 5, .show = Show::nothing});
    const Interrupt interrupt;
    const SpreadEnd end = train_case(c, &group);
    require(end.result.end == TrainResult::End::interrupted, "all ranks are interrupted");
    require(end.result.steps > 0 && end.result.steps < 20, std::to_string(end.result.steps) + " steps");
    for (const std::string& bits : group.all_gather(end.bits()))
        require(bits == end.bits(), "the ranks end with the same bits");
}

int run(const std::string& what) {
    if (what == "all") {
        return run_mpi([](Group& group) {
            check_all(group);
            MpiGroup small(MPI_COMM_WORLD, 1000);  // all but the shortest messages go in pieces
            check_all(small);
            check_failures(group);
            check_threads(group);
            if (group.rank() == 0) std::cout << "all is well on " << group.size() << " ranks" << std::endl;
        });
    }
    if (what == "chains") {
        arm_files();  // without flushes to the disk
        return run_mpi([](Group& group) {
            for (const int threads : {1, 2})
                with_threads(threads, [&] {
                    check_chains(group, Hmc{.steps = 2});
                    check_chains(group, Sghmc{.step_size = 1e-4, .friction = 0.1, .batch = 9});
                });
        });
    }
    if (what == "train")
        return run_mpi([](Group& group) {
            for (const int threads : {1, 2})
                with_threads(threads, [&] {
                    const std::string wrong = wrong_cases(group);
                    require(wrong.empty(), wrong);
                });
            check_stop(group);
        });
    // How a job ends.
    if (what == "lead")
        return run_mpi([](Group& group) {
            SpreadPotential<float> u = spread_potential<float>(NetworkCase<float>{}, group, spread_data<float>(60), 8);
            u.lead([&] {
                u.evaluate(std::vector<float>(42), {});
                throw Error("the disk is full");
            });
        });
    if (what == "throw")
        return run_mpi([](Group& group) {
            group.barrier();
            if (group.rank() == group.size() - 1) throw Error("this rank alone knows");
            group.barrier();
        });
    if (what == "fail") return run_mpi([](Group& group) { group.agree("the seed", std::to_string(group.rank() / 2)); });
    if (what == "leave")
        return run_mpi([](Group& group) {
            if (group.rank() > 0) group.barrier();
        });
    if (what == "kill")
        return run_mpi([](Group& group) {
            group.barrier();
            if (group.rank() == 1) std::raise(SIGKILL);
            group.barrier();
        });
    // A program with an MPI of its own.
    if (what == "own") {
        int threads = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &threads);
        const int results = run_mpi(check_messages) + run_mpi(check_messages);
        MPI_Finalize();
        const std::string again = thrown_by([] { run_mpi([](Group&) {}); });
        require(again == "Error: run_mpi: MPI has been finalised, and cannot be started twice in a program", again);
        return results;
    }
    if (what == "single") {
        int threads = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &threads);
        const std::string error = thrown_by([] { run_mpi([](Group&) {}); });
        MPI_Finalize();
        require(error ==
                    "Error: run_mpi: MPI was initialised without threads; initialise it by MPI_Init_thread with "
                    "MPI_THREAD_SERIALIZED or more",
                error);
        return 0;
    }
    throw ValueError("check_mpi takes all, chains, train, lead, throw, fail, leave, kill, own or single, not " + what);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc > 1 ? argv[1] : "all");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return EXIT_FAILURE;
    }
}
