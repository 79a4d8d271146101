#pragma once

#include <string>

namespace pollen::bench {

// Starts the program again with OPENBLAS_CORETYPE set, if that is needed for OpenBLAS to run its best kernels. OpenBLAS
// knows the CPU models of its time and gives any newer one the kernels for SSE3, at a fifth of the speed; it reads the
// variable before main(). A setting of the user's wins.
void use_best_openblas_kernels(char** argv);

// The kernels that OpenBLAS runs: "Haswell", "Zen", "SkylakeX", ...
std::string openblas_kernels();

// A sentence for the user if OPENBLAS_CORETYPE chooses other kernels than the best for this CPU; empty if not.
std::string openblas_warning();

}  // namespace pollen::bench
