#pragma once

#include <mpi.h>

namespace pollen {

// How many threads this process may use: the cores that it is bound to, shared evenly with the processes of the
// communicator that are bound to the same cores of the same machine. At least 1.
int threads_of_rank(MPI_Comm all);

}  // namespace pollen
