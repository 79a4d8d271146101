#include <pollen/autograd/mpi/run_mpi.hpp>

#include <pollen/autograd/mpi/detail/mpi_group.hpp>
#include <pollen/autograd/mpi/detail/threads_of_rank.hpp>
#include <pollen/autograd/parallel.hpp>

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace pollen {

namespace {

// MPI while it is in use. One thread at a time makes calls, but it may be any thread.
class Mpi {
  public:
    Mpi() {
        int initialised = 0, finalised = 0, threads = MPI_THREAD_SINGLE;
        MPI_Finalized(&finalised);
        if (finalised != 0) throw Error("run_mpi: MPI has been finalised, and cannot be started twice in a program");
        MPI_Initialized(&initialised);
        if (initialised != 0) {
            MPI_Query_thread(&threads);
        } else {
            MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threads);
            ours_ = true;
        }
        if (threads < MPI_THREAD_SERIALIZED) {
            end();
            throw Error(initialised != 0
                            ? "run_mpi: MPI was initialised without threads; initialise it by "
                              "MPI_Init_thread with MPI_THREAD_SERIALIZED or more"
                            : "run_mpi: this MPI has no support for threads; MPI_THREAD_SERIALIZED is needed");
        }
    }
    ~Mpi() { end(); }
    Mpi(const Mpi&) = delete;
    Mpi& operator=(const Mpi&) = delete;

  private:
    void end() const {
        if (ours_) MPI_Finalize();
    }

    bool ours_ = false;
};

void say(const std::string& message) {
    std::cout.flush();
    std::cerr << message << std::endl;
}

// The error that one rank alone knows of ends the job.
int end_of(const MpiGroup& group, const std::string& message) {
    say("rank " + std::to_string(group.rank()) + " of " + std::to_string(group.size()) + ": " + message);
    if (group.size() == 1) return EXIT_FAILURE;
    std::fflush(nullptr);
    group.abort();
}

}  // namespace

int run_mpi(const std::function<void(Group&)>& f) {
    const Mpi mpi;
    MpiGroup group(MPI_COMM_WORLD);
    try {
        with_threads(threads_of_rank(MPI_COMM_WORLD), [&] { f(group); });
        const Group::Call end(group, "the end of run_mpi");
        return EXIT_SUCCESS;
    } catch (const GroupError& error) {
        if (group.rank() == 0) say(error.what());
        try {
            group.fail(error.what());  // if this rank has left f because of it, and another one has not
        } catch (const Error&) {
        }
        group.wait_for_all();  // the job may end with the first process that returns an error, so rank 0 has its say
        return EXIT_FAILURE;
    } catch (const std::exception& error) {
        return end_of(group, error.what());
    } catch (...) {
        return end_of(group, "an exception that is no std::exception");
    }
}

}  // namespace pollen
