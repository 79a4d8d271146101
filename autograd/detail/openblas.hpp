#pragma once

#include <mutex>
#include <string>

// The one door to OpenBLAS: its working memory, the kernel family it runs, and the guard every call passes through.
namespace pollen::kernels {

// The family of kernels OpenBLAS runs: "Haswell", "Zen", "SkylakeX", ...
std::string openblas_family();

// Whether several threads may be inside OpenBLAS at once: it takes its working memory from pollen, a piece per thread.
bool openblas_is_concurrent();

// Held around every call into OpenBLAS. It costs a test of a flag, unless the program was linked in a way that leaves
// OpenBLAS with its own working memory (see openblas.cpp): then calls take turns.
class BlasCall {
  public:
    BlasCall() {
        if (!openblas_is_concurrent()) turn_ = std::unique_lock<std::mutex>(turns());
    }

  private:
    static std::mutex& turns();
    std::unique_lock<std::mutex> turn_;
};

}  // namespace pollen::kernels
