#include "peers.hpp"

#include <pollen/autograd/kernels/gemm.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace pollen::bench {

Peers::Peers(const std::vector<std::string>& names) {
    if (names.empty()) return;
    if (std::system("/usr/bin/python3 -c 'import torch' >/dev/null 2>&1") != 0) {
        std::printf("PyTorch is not installed (package python3-torch): its rows have no ratio.\n");
        return;
    }
    for (const char* threads : {"1", "2"}) {
        std::string command = "OPENBLAS_CORETYPE=" + kernels::blas_kernel_family() + " OMP_NUM_THREADS=" + threads +
                              " OPENBLAS_NUM_THREADS=" + threads +
                              " /usr/bin/python3 '" POLLEN_PEERS_DIR "/torch_peer.py' " + threads;
        for (const std::string& name : names) command += " " + name;
        std::FILE* pipe = popen(command.c_str(), "r");
        if (!pipe) return;
        char name[100];
        double value = 0;
        while (std::fscanf(pipe, "%99s %lf", name, &value) == 2) {
            const auto [at, fresh] = milliseconds_.emplace(name, value);
            if (!fresh) at->second = std::min(at->second, value);
        }
        if (pclose(pipe) != 0) std::printf("The PyTorch peer ended with an error; some rows have no ratio.\n");
    }
}

std::optional<double> Peers::milliseconds(const std::string& name) const {
    const auto at = milliseconds_.find(name);
    if (at == milliseconds_.end()) return {};
    return at->second;
}

}  // namespace pollen::bench
