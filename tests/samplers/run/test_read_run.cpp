#include "../../support.hpp"
#include "killable_run.hpp"
#include "same_draws.hpp"

#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/samplers/draws/predict_draws.hpp>
#include <pollen/samplers/full_batch/tempering.hpp>
#include <pollen/samplers/minibatch/cyclical.hpp>
#include <pollen/samplers/run/read_run.hpp>

#include <filesystem>

using namespace pollen;
using namespace pollen::test;

// Ranges of chains in jobs of their own, and the files of a run read without its model.
BOOST_AUTO_TEST_SUITE(read_run_)

namespace {

RunOptions part(const std::string& directory, std::int64_t first, std::int64_t last) {
    RunOptions options = quiet(directory);
    options.chains = 5;
    options.first_chain = first;
    options.last_chain = last;
    return options;
}

std::string read_error(const std::string& directory, const ReadRunOptions& options = {}) {
    return error_of<FileError>([&] { read_run(directory, options); });
}

// What differs between what a run returns and what its files say.
template <Real T, class S>
std::string read_back(const Potential<T>& potential, const S& sampler, RunOptions options = {}) {
    const TemporaryDirectory folder;
    if (options.directory.empty()) options = quiet("");
    options.directory = folder.path();
    const Draws draws = run_chains(potential, sampler, options);
    Draws read = read_run(folder.path());
    return different(draws, read);
}

}  // namespace

BOOST_AUTO_TEST_CASE(ranges_of_chains_are_those_of_one_run) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    const Draws whole = run(part(folder / "whole", 0, 0), Kind::nuts);
    BOOST_TEST(whole.chains_of_run == 0);
    for (const auto& [first, last] : {std::pair(5, 5), std::pair(1, 2), std::pair(3, 4)}) {
        const Draws some = run(part(folder / "jobs", first, last), Kind::nuts);
        BOOST_TEST(some.chains_of_run == 5);
        BOOST_TEST(std::ssize(some.chains) == last - first + 1);
        for (std::size_t c = 0; c < some.chains.size(); ++c) {
            const std::int64_t chain = some.chains[c].chain - 1;
            BOOST_TEST(chain == first - 1 + static_cast<std::int64_t>(c));
            BOOST_TEST(some.files[c] == folder / ("jobs/chain_" + std::to_string(chain + 1) + ".csv"));
            for (std::int64_t t = 0; t < some.size(); ++t)
                for (std::int64_t k = 0; k < some.value_count(); ++k)
                    BOOST_REQUIRE(some.values(static_cast<std::int64_t>(c), t, k) == whole.values(chain, t, k));
        }
        const std::string chains =
            first == last ? "\nchain 5" : "\nchains " + std::to_string(first) + " to " + std::to_string(last);
        BOOST_TEST(summary(some).find(chains + " of a run of 5; read_run reads all of them\n") != std::string::npos);
    }
    BOOST_TEST(same_run(folder / "whole", folder / "jobs", 5));
    BOOST_TEST(different(read_run(folder / "jobs"), whole) == "");
    BOOST_TEST(summary(read_run(folder / "jobs")) == summary(whole));
    // A run of all chains goes on from their files.
    RunOptions options = part(folder / "jobs", 0, 0);
    options.resume = true;
    BOOST_TEST(different(run(options, Kind::nuts), whole) == "");
}

BOOST_AUTO_TEST_CASE(impossible_ranges) {
    const auto error = [](std::int64_t first, std::int64_t last) {
        RunOptions options = part("", first, last);
        options.save_warmup = false;
        return error_of<ValueError>([&] { run(options, Kind::nuts); });
    };
    const std::string rule = "; they are 1 to 5, the first one not above the last one, or 0 and 0 for all";
    for (const auto& [first, last] :
         {std::pair(0, 3), std::pair(3, 0), std::pair(4, 3), std::pair(1, 6), std::pair(-1, 2), std::pair(6, 6)})
        BOOST_TEST(error(first, last) == "run_chains: first_chain is " + std::to_string(first) + " and last_chain " +
                                             std::to_string(last) + rule);
}

BOOST_AUTO_TEST_CASE(files_say_what_the_run_returned) {
    arm_files();
    const ResetCalls reset;
    BOOST_TEST(read_back(shapes_model<double>(), Nuts{}) == "");
    BOOST_TEST(read_back(shapes_model<float>(), Nuts{.metric = MetricKind::dense}) == "");
    BOOST_TEST(read_back(shapes_model<float>(), Sghmc{.step_size = 0.01, .friction = 0.1}) == "");
    BOOST_TEST(read_back(shapes_model<double>(), Walk{.weight = 2}) == "");
    BOOST_TEST(read_back(shapes_model<double>(), Tempering{.temperatures = {1, 3}}) == "");
    BOOST_TEST(read_back(shapes_model<double>(), Cyclical{.step_size = 0.1, .steps = 100, .cycles = 2}) == "");
    // The names of weights have dots, which a file does not have.
    Dense<float> layer(2, 3);
    initialise<float>(layer, 1);
    const Dataset<float> data{.inputs = Tensor<float>::ones({4, 2}), .targets = Tensor<float>::ones({4, 3})};
    BOOST_TEST(read_back(NetworkPotential<float>(layer, Gaussian<float>::known(1), data), Nuts{.max_depth = 3}) == "");
    for (const auto& [warmup, draws] : {std::pair(0, 5), std::pair(20, 0)}) {
        RunOptions options = quiet("here");
        options.warmup = warmup;
        options.draws = draws;
        BOOST_TEST(read_back(shapes_model<double>(), Nuts{}, options) == "");
    }
}

BOOST_AUTO_TEST_CASE(a_run_that_is_not_complete) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    const std::string advice = "; run or resume these chains, or accept what is there (ReadRunOptions::incomplete)";
    BOOST_TEST(read_error(folder / "none") == folder / "none: cannot be read: No such file or directory");
    BOOST_TEST(read_error(folder.path()) ==
               folder.path() + ": there is no state of a chain (chain_1.state, ...) in it");
    const Draws whole = run(part(folder / "run", 2, 3), Kind::nuts);
    BOOST_TEST(read_error(folder / "run") == folder /
                                                     "run: the run is not complete: chain 1 is missing, chains 4 and 5 "
                                                     "are missing" +
                                                 advice);
    // More draws of one chain alone.
    RunOptions longer = part(folder / "run", 3, 3);
    longer.draws = 40;
    longer.resume = true;
    run(longer, Kind::nuts);
    BOOST_TEST(read_error(folder / "run") == folder /
                                                     "run: the run is not complete: chain 1 is missing, chain 2 has 30 "
                                                     "of 40 draws, chains 4 and 5 are missing" +
                                                 advice);
    const Draws some = read_run(folder / "run", {.incomplete = true});
    BOOST_TEST(some.interrupted);
    BOOST_TEST(some.chains.size() == 2U);
    BOOST_TEST(some.values == whole.values);  // both are cut to 30 draws, which are most in all
    BOOST_TEST(some.incomplete == (std::vector<std::string>{"chain 1 is missing", "chain 2 has 30 of 40 draws",
                                                            "chains 4 and 5 are missing"}));
    // One that is in its warm-up.
    {
        const StoppingFuse stopping(60);
        run(part(folder / "run", 4, 4), Kind::nuts);
    }
    const std::string steps = read_safetensors(folder / "run/chain_4.state").metadata.at("steps");
    BOOST_TEST(read_error(folder / "run") == folder /
                                                     "run: the run is not complete: chain 1 is missing, chain 2 has 30 "
                                                     "of 40 draws, chain 4 has made " +
                                                 steps + " of 40 steps of its warm-up, chain 5 is missing" + advice);
}

BOOST_AUTO_TEST_CASE(files_that_do_not_belong_together) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    run(part(folder / "run", 1, 4), Kind::nuts);
    RunOptions other = part(folder / "run", 5, 5);
    other.seed = 12;
    run(other, Kind::nuts);
    const std::string first = folder / "run/chain_1.state", last = folder / "run/chain_5.state";
    BOOST_TEST(read_error(folder / "run") == last + ": is not a chain of the same run as " + first +
                                                 ": seed is \"12\" in it, and \"11\" in the other");
    std::filesystem::remove(last);
    std::filesystem::remove(folder / "run/chain_5.csv");
    other.seed = 11;
    other.chains = 6;
    run(other, Kind::nuts);
    BOOST_TEST(read_error(folder / "run") == last + ": is not a chain of the same run as " + first +
                                                 ": chains is \"6\" in it, and \"5\" in the other");
    std::filesystem::copy_file(folder / "run/chain_4.state", last, std::filesystem::copy_options::overwrite_existing);
    BOOST_TEST(read_error(folder / "run") == last + ": is that of chain \"4 of 5\", not of 5 of 5");
    std::filesystem::remove(last);
    std::filesystem::copy_file(folder / "run/chain_4.state", folder / "run/chain_6.state");
    std::filesystem::copy_file(folder / "run/chain_4.csv", folder / "run/chain_6.csv");
    BOOST_TEST(read_error(folder / "run") ==
               folder / "run/chain_6.state" + ": is that of chain \"4 of 5\", not of 6 of 5");
}

BOOST_AUTO_TEST_CASE(damaged_files_are_not_read) {
    const TemporaryDirectory folder;
    arm_files();
    const ResetCalls reset;
    const Draws whole = run(part(folder / "run", 0, 0), Kind::nuts);
    const std::string csv = folder / "run/chain_2.csv", state = folder / "run/chain_2.state";
    const std::string csv_text = contents(csv), state_text = contents(state);
    const auto with = [&](const std::string& path, const std::string& text) {
        const std::string before = contents(path);
        put(path, text);
        std::string error = read_error(folder / "run");
        put(path, before);
        return error;
    };
    std::string changed = csv_text;
    const std::size_t at = csv_text.rfind('7', csv_text.rfind("# \n#  Elapsed"));
    changed[at] = '8';
    const std::string lines = error_of<FileError>([&] {
        put(csv, changed);
        read_run(folder / "run");
    });
    put(csv, csv_text);
    BOOST_TEST(lines.starts_with(csv + ": lines "));
    BOOST_TEST(lines.ends_with("; the file was damaged or changed"));
    BOOST_TEST(with(csv, csv_text.substr(0, csv_text.size() / 2)).starts_with(csv + ": has "));
    BOOST_TEST(with(csv, "") == csv + ": there is no line of column names; is it a file of draws?");
    for (std::size_t k = 0; k < state_text.size(); k += 61) {
        std::string text = state_text;
        text[k] = static_cast<char>(text[k] ^ (1 << k % 8));
        BOOST_TEST(with(state, text).starts_with(state + ": "), "byte " << k);
    }
    std::filesystem::remove(csv);
    BOOST_TEST(read_error(folder / "run") == csv + ": cannot be opened: No such file or directory");
    put(csv, csv_text);
    BOOST_TEST(error_of<ValueError>([&] { read_run(folder / "run", {.max_memory = 10'000}); }) ==
               "read_run: 5 chains of 30 draws of 18 numbers are more than max_memory, 10000 bytes");
    // Without values the memory is enough, and the draws are read from the files, which are compared again.
    const Draws kept = read_run(folder / "run", {.keep = false, .max_memory = 20'000});
    std::vector<double> read;
    const auto collect = [&](std::int64_t, std::int64_t, std::span<const double> values, double) {
        read.insert(read.end(), values.begin(), values.end());
    };
    each_draw(kept, 1, collect);
    BOOST_TEST(read == std::vector<double>(whole.values.begin(), whole.values.end()));
    put(csv, changed);
    const std::string refused = error_of<FileError>([&] { each_draw(kept, 1, collect); });
    const std::size_t place = lines.find(state);
    BOOST_REQUIRE(place != lines.npos);
    BOOST_TEST(refused == lines.substr(0, place) + "these draws" + lines.substr(place + state.size()));
}

BOOST_AUTO_TEST_SUITE_END()
