#include "stage.hpp"

#include <pollen/data/formats/npz.hpp>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <filesystem>

using namespace pollen;

Found stage(const Example& example, const std::string& name, const std::function<Found()>& work) {
    std::string file_name = name;
    std::ranges::replace_if(
        file_name, [](unsigned char c) { return !std::isalnum(c); }, '_');
    const std::string file = (example.kept("stages") / (file_name + ".npz")).string();
    Found found;
    if (std::filesystem::exists(file)) {
        const Npz npz = Npz::read(file);
        for (const std::string& key : npz.names()) found.emplace(key, npz.get<double>(key));
        std::printf("%-40s from an earlier run\n", name.c_str());
        return found;
    }
    const auto start = std::chrono::steady_clock::now();
    try {
        stop_if_asked();
        found = work();
    } catch (const Interrupted&) {
        throw Interrupted{name};
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    NpzArrays arrays;
    for (const auto& [key, values] : found) arrays.emplace_back(key, values);
    write_npz(file, arrays);
    std::printf("%-40s %.1f s\n", name.c_str(), seconds);
    return found;
}
