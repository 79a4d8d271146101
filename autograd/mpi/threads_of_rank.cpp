#include <pollen/autograd/mpi/detail/threads_of_rank.hpp>

#include <pollen/autograd/parallel.hpp>

#include <sched.h>

#include <algorithm>

namespace pollen {

int threads_of_rank(MPI_Comm all) {
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    // In how many processes of the machine each core may be used.
    int uses[CPU_SETSIZE] = {};
    cpu_set_t cores;
    CPU_ZERO(&cores);
    // It fails on a machine with more cores than a mask has. Then all processes count as bound to all of them.
    const bool known = sched_getaffinity(0, sizeof cores, &cores) == 0;
    if (!known) CPU_SET(0, &cores);
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core) uses[core] = CPU_ISSET(core, &cores) ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, uses, CPU_SETSIZE, MPI_INT, MPI_SUM, machine);
    MPI_Comm_free(&machine);
    double share = 0;
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &cores)) share += 1.0 / uses[core];
    // A little more than the share, which may be 1.9999 because of the rounding.
    if (!known) share *= thread_count();
    return std::clamp(static_cast<int>(share + 1e-6), 1, thread_count());
}

}  // namespace pollen
