#pragma once

#include <pollen/autograd/error.hpp>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

// What all examples share: their command line, and how they end when something is wrong.
struct Arguments {
    bool quick = false;               // --quick: small and fast, as the tests run it
    bool fresh = false;               // --new: do not go on from a saved run
    std::vector<std::string> values;  // the others
};

// Runs body(arguments) and returns what main() returns; an error is told in one line.
template <class Body>
int run_example(int argc, char** argv, const Body& body) {
    Arguments arguments;
    for (int k = 1; k < argc; ++k) {
        const std::string argument = argv[k];
        if (argument == "--quick")
            arguments.quick = true;
        else if (argument == "--new")
            arguments.fresh = true;
        else if (argument.starts_with("-")) {
            std::fprintf(stderr, "The options are --quick and --new; the top of examples/%s.cpp says more.\n",
                         std::filesystem::path(argv[0]).filename().c_str());
            return argument == "--help" ? 0 : 1;
        } else
            arguments.values.push_back(argument);
    }
    try {
        return body(arguments);
    } catch (const pollen::Error& error) {
        std::fprintf(stderr, "%s: %s\n", std::filesystem::path(argv[0]).filename().c_str(), error.what());
        return 1;
    }
}
