#pragma once

#include <pollen/autograd/support/group.hpp>

#include <functional>

namespace pollen {

// Calls f with the group of all processes of an MPI job, and returns what main() should: 0, or EXIT_FAILURE after an
// error. Part of the component mpi: find_package(pollen COMPONENTS mpi), target pollen::mpi.
//
//     int main() {
//         return pollen::run_mpi([](pollen::Group& group) { ... });
//     }
//
// and then `mpirun -n 4 ./program`. A program that is started without mpirun has a group of one.
//
// Processes that may use the same cores of a machine share them: parallel loops in f use the number of cores of the
// process, divided by the number of processes that are bound to them. To use another number, call with_threads() in f.
// A thread that f starts has all cores of the process, unless it calls with_threads(), too. Open MPI may bind each
// process to one core; `mpirun --bind-to none` gives it all of them.
//
// If f throws:
// - what all ranks know of, a GroupError: rank 0 writes the message to the standard error output, and all ranks return.
// - anything else: this rank writes "rank 3 of 8: message" and ends the whole job at once by MPI_Abort. A group of one
//   writes the message and returns.
// A rank that is killed, or crashes, ends the job, too: mpirun and Slurm see to it.
//
// If nobody has initialised MPI, run_mpi() does so and finalises it at its end, so it can be called once. A program
// that has initialised MPI itself needs MPI_THREAD_SERIALIZED or more, and may call run_mpi() as often as it likes.
// Throws an Error on all ranks if MPI has been finalised or does not support threads enough.
int run_mpi(const std::function<void(Group&)>& f);

}  // namespace pollen
