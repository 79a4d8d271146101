#include "peers.hpp"

#include "openblas_peer.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace pollen::bench {

namespace {

bool works(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

void say(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

}  // namespace

Peers::Peers(const std::vector<std::string>& names) {
    std::vector<std::string> for_stan, for_torch;
    for (const std::string& name : names) (name.starts_with("nuts_") ? for_stan : for_torch).push_back(name);
    if (!for_torch.empty()) {
        if (!works("/usr/bin/python3 -c 'import torch'"))
            say("PyTorch is not installed (package python3-torch): its rows have no ratio.");
        else
            for (const std::string threads : {"1", "2"})
                ask("OPENBLAS_CORETYPE=" + openblas_kernels() + " OMP_NUM_THREADS=" + threads +
                        " OPENBLAS_NUM_THREADS=" + threads + " /usr/bin/python3 '" POLLEN_PEERS_DIR "/torch_peer.py' " +
                        threads,
                    for_torch, "PyTorch");
    }
    if (!for_stan.empty()) {
        if (!works("Rscript -e 'library(rstan)'")) {
            say("Stan is not installed (package r-cran-rstan): its rows have no ratio.");
        } else {
            say("Stan compiles its models; that takes a few minutes.");
            ask("Rscript '" POLLEN_PEERS_DIR "/stan_peer.R'", for_stan, "Stan");
        }
    }
}

// Keeps the least of what a program says, a line "name number" for each row.
void Peers::ask(const std::string& program, const std::vector<std::string>& names, const std::string& who) {
    std::string command = program;
    for (const std::string& name : names) command += " " + name;
    std::FILE* pipe = popen(command.c_str(), "r");
    if (!pipe) return;
    char name[100];
    double number = 0;
    while (std::fscanf(pipe, "%99s %lf", name, &number) == 2) {
        const auto [at, fresh] = values_.emplace(name, number);
        if (!fresh) at->second = std::min(at->second, number);
    }
    if (pclose(pipe) != 0) say("The peer program for " + who + " ended with an error; some rows have no ratio.");
}

std::optional<double> Peers::value(const std::string& name) const {
    const auto at = values_.find(name);
    if (at == values_.end()) return {};
    return at->second;
}

}  // namespace pollen::bench
