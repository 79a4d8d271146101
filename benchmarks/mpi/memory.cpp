// The memory of a rank whose items are spread: its share of the data, and what does not depend on it.
//
//     build/native/benchmarks/mpi_memory digits.npy                       makes a file of 100,000 random digits, 314 MB
//     mpirun -n 2 build/native/benchmarks/mpi_memory digits.npy           reads it, by its ranks
//
// Each rank reads its rows and computes three gradients of U for 784-100-10 together with the others. Printed: the most
// memory that it had beside the memory of the program before it read anything, and its share of the data.
#include <pollen/autograd/mpi/run_mpi.hpp>
#include <pollen/pollen.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace pollen;

namespace {

constexpr std::int64_t digits = 100'000;

// A line of /proc/self/status, in MB.
double megabytes(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == name + ":") {
            double kilobytes = 0;
            status >> kilobytes;
            return kilobytes / 1000;
        }
    return 0;
}

void measure(Group& group, const std::string& path) {
    const double before = megabytes("VmHWM");
    const Spread spread(group, digits, 256);
    Dataset<float> mine{.inputs = read_npy_rows<float>(path, spread.first(), spread.count()),
                        .labels = Indices::zeros({spread.count()})};
    const double share = static_cast<double>(mine.inputs.values().size_bytes()) / 1e6;
    const Sequential net{Dense(784, 100), Tanh(), Dense(100, 10)};
    const SpreadPotential<float> potential(
        NetworkPotential<float>(net, Categorical<float>(), mine, {.first_item = spread.first()}), spread);
    potential.lead([&] {
        const auto own = potential.clone();
        const std::vector<float> theta = potential.start(1, 0);
        std::vector<float> gradient(theta.size());
        for (int k = 0; k < 3; ++k) own->evaluate(theta, gradient);
    });
    char text[100];
    std::snprintf(text, sizeof text, "%.0f MB, of which the share of the data is %.0f MB", megabytes("VmHWM") - before,
                  share);
    const std::vector<std::string> texts = group.gather(text);
    for (std::size_t rank = 0; rank < texts.size(); ++rank)
        std::printf("rank %zu of %d: %s\n", rank, group.size(), texts[rank].c_str());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: mpi_memory FILE\n");
        return 2;
    }
    const std::string path = argv[1];
    if (std::filesystem::exists(path)) return run_mpi([&](Group& group) { measure(group, path); });
    Tensor<float> x = Tensor<float>::empty({digits, 784});
    Random(1).fill_uniform(x.mutable_values());
    write_npy(path, x);
}
