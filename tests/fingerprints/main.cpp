// Prints the fingerprints of this machine, or compares them with those in a file.
//
//     pollen_fingerprints                       prints the table
//     pollen_fingerprints EXPECTED              compares with the table in a file; the exit code is 1 if any differs
//     pollen_fingerprints --each                prints every case, to find the one that differs
//     options: --ops  only ops and distributions;  --threads N
#include "fingerprint.hpp"

#include <pollen/autograd/parallel.hpp>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace pollen;
using namespace pollen::test;

namespace {

std::string hex(std::uint64_t bits) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(bits));
    return text;
}

// One line for each name: 16 hexadecimal digits, a space, the name.
std::map<std::string, std::string> read_table(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        std::cerr << "pollen_fingerprints: cannot read " << path << "\n";
        std::exit(2);
    }
    std::map<std::string, std::string> table;
    for (std::string line; std::getline(file, line);) {
        if (line.size() > 17 && line[0] != '#') table[line.substr(17)] = line.substr(0, 16);
    }
    return table;
}

bool reads_as(std::string_view text, int& number) {
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && stop == text.data() + text.size();
}

int compare(const std::map<std::string, std::uint64_t>& here, const std::map<std::string, std::string>& expected,
            bool all) {
    int differences = 0;
    for (const auto& [name, bits] : here) {
        const auto found = expected.find(name);
        if (found != expected.end() && found->second == hex(bits)) continue;
        ++differences;
        std::cout << name << ": " << hex(bits) << " here, "
                  << (found == expected.end() ? "missing from the table" : found->second + " expected") << "\n";
    }
    for (const auto& [name, bits] : expected) {
        if (!all || here.contains(name)) continue;
        ++differences;
        std::cout << name << ": in the table, but not computed\n";
    }
    std::cout << here.size() << " fingerprints, " << differences << " differ\n";
    return differences == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    bool each = false, ops = false;
    int threads = 0;
    std::string expected;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--each")
            each = true;
        else if (word == "--ops")
            ops = true;
        else if (word == "--threads" && i + 1 < argc && reads_as(argv[i + 1], threads) && threads > 0)
            ++i;
        else if (!word.starts_with("-") && expected.empty())
            expected = word;
        else {
            std::cerr << "usage: pollen_fingerprints [--each] [--ops] [--threads NUMBER] [TABLE]\n";
            return 2;
        }
    }
    Fingerprints all;
    const auto run = [&] {
        add_ops(all);
        add_distributions(all);
        if (ops) return;
        add_layers(all);
        add_training(all);
        add_sampling(all);
    };
    if (threads > 0)
        with_threads(threads, run);
    else
        run();
    if (!expected.empty()) return compare(all.table(), read_table(expected), !ops);
    if (each)
        for (const auto& [name, bits] : all.each()) std::cout << hex(bits) << " " << name << "\n";
    else
        for (const auto& [name, bits] : all.table()) std::cout << hex(bits) << " " << name << "\n";
}
