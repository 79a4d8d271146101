#pragma once

#include <pollen/samplers/draws/draws.hpp>

#include <cstdint>
#include <string>

namespace pollen {

struct ReadRunOptions {
    // Accept a run with chains that are missing or have not made all of their draws. Draws::incomplete names them.
    bool incomplete = false;
    // Whether the values of draws are read into memory; if not, they are in the files alone.
    bool keep = true;
    // More bytes of draws are refused.
    std::uint64_t max_memory = std::uint64_t{4} << 30;
};

// Reads the files that run_chains() has written to a directory, for example those of several jobs with a part of the
// chains each. Needs neither the model nor the sampler, takes no steps and changes no file. Returns what run_chains()
// would return for all chains.
//
// Throws a FileError if a file is missing, damaged or changed, if the chains do not belong to one run, or if the run is
// not complete: it says which chains are missing, and how far others are. Throws a ValueError if there is not memory
// enough.
Draws read_run(const std::string& directory, const ReadRunOptions& options = {});

}  // namespace pollen
