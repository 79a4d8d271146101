#pragma once

#include "killable_run.hpp"
#include "same_draws.hpp"

#include "../../autograd/support/group_checks.hpp"

#include <pollen/autograd/support/thread_group.hpp>

#include <functional>
#include <mutex>
#include <optional>

// Runs whose chains are spread over the ranks of a group of threads.
namespace pollen::test {

// What a run gives on each rank: draws, or what it throws, "" if nothing.
struct RankResults {
    std::vector<Draws> draws;
    std::vector<std::string> errors;
    std::optional<Draws> kept;  // those of a RunError on rank 0

    const Draws& root() const { return draws.front(); }
    // Whether no rank has thrown, and rank 0 alone has draws.
    bool fine() const {
        bool fine = true;
        for (std::size_t rank = 0; rank < draws.size(); ++rank)
            fine = fine && errors[rank].empty() && draws[rank].elsewhere == (rank > 0);
        return fine;
    }
    // What all ranks throw; empty if they differ.
    std::string error() const {
        for (const std::string& text : errors)
            if (text != errors[0]) return "";
        return errors[0];
    }
};

// Calls run(group) on each rank.
inline RankResults on_ranks(int ranks, const std::function<Draws(Group&)>& run) {
    RankResults results{std::vector<Draws>(static_cast<std::size_t>(ranks)),
                        std::vector<std::string>(static_cast<std::size_t>(ranks)),
                        {}};
    try {
        run_group(ranks, [&](Group& group) {
            const auto rank = static_cast<std::size_t>(group.rank());
            results.errors[rank] = thrown_by([&] {
                try {
                    results.draws[rank] = run(group);
                } catch (const RunError& error) {
                    if (rank == 0) results.kept = error.draws();
                    throw;
                }
            });
        });
    } catch (const Error& error) {
        if (results.errors[0].empty()) results.errors[0] = std::string("in the end: ") + error.what();
    }
    return results;
}

}  // namespace pollen::test
