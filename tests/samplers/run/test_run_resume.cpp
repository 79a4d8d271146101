#include "../../standard_error.hpp"
#include "../../support.hpp"
#include "killable_run.hpp"
#include "same_draws.hpp"

#include <pollen/samplers/run/detail/chain_runner.hpp>

#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>

#include <fcntl.h>
#include <cerrno>
#include <chrono>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(run_resume)

namespace {

std::string resume_error(RunOptions options, const Walk& walk = {}, double centre = 0) {
    options.resume = true;
    return error_of<FileError>([&] { run_chains(shapes_model<double>(centre), walk, options); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(another_run_is_not_resumed) {
    const TemporaryDirectory folder;
    RunOptions options = quiet(folder.path());
    run_chains(shapes_model<double>(), Walk{}, options);
    const std::string state = folder / "chain_1.state";
    const std::string anew = "; to start anew, choose another directory";
    BOOST_TEST(error_of<FileError>([&] { run_chains(shapes_model<double>(), Walk{}, options); }) ==
               state + ": is there already; resume that run, remove its files, or choose another directory");
    const auto with = [&](auto change) {
        RunOptions changed = options;
        change(changed);
        return resume_error(changed);
    };
    BOOST_TEST(with([](auto& o) { o.seed = 12; }) == state + ": the saved run has seed 11, this one has 12" + anew);
    BOOST_TEST(with([](auto& o) { o.draws = 29; }) ==
               state +
                   ": the saved run has made 100 steps, this one has 98; to have fewer draws, choose another "
                   "directory");
    BOOST_TEST(with([](auto& o) { o.warmup = 0; }) == state + ": the saved run has warmup 40, this one has 0" + anew);
    BOOST_TEST(with([](auto& o) { o.thin = 1; }) == state + ": the saved run has thin 2, this one has 1" + anew);
    BOOST_TEST(with([](auto& o) { o.chains = 5; }) == state + ": the saved run has chains 4, this one has 5" + anew);
    BOOST_TEST(with([](auto& o) { o.save_warmup = false; }) ==
               state + ": the saved run has save_warmup yes, this one has no" + anew);
    BOOST_TEST(with([](auto& o) { o.radius = 1; }) ==
               state + ": the saved run has starts within 2, this one has within 1" + anew);
    BOOST_TEST(resume_error(options, Walk{.scale = 1}) ==
               state + ": the saved run has sampler Walk(scale 0.500000), this one has Walk(scale 1.000000)" + anew);
    BOOST_TEST(resume_error(options, {}, 0.125)
                   .ends_with("; the model or its data are not the same; choose another directory"));
    options.resume = true;
    BOOST_TEST(error_of<FileError>([&] { run_chains(shapes_model<float>(), Walk{}, options); }) ==
               state + ": the saved run has numbers of type double, this one has float" + anew);
    BOOST_TEST(error_of<FileError>([&] {
                   auto model = shapes_model<double>();
                   model.set_temperature(0.5);
                   run_chains(model, Walk{}, options);
               }) == state + ": the saved run has temperature 1, this one has 0.5" + anew);
    const ModelPotential<double> other([](Model<double>& m) { m.prior(square(m.real("x")) * -0.5); });
    BOOST_TEST(error_of<FileError>([&] { run_chains(other, Walk{}, options); }) ==
               state + ": the saved run has model of x() s() w(2, 3), this one has model of x()" + anew);
    // How often it flushes and what it keeps does not matter.
    options.flush_every = 0;
    options.keep = false;
    run_chains(shapes_model<double>(), Walk{}, options);
}

BOOST_AUTO_TEST_CASE(damaged_files_are_not_resumed) {
    const TemporaryDirectory folder;
    const RunOptions options = quiet(folder.path());
    run_chains(shapes_model<double>(), Walk{}, options);
    const std::string state = folder / "chain_1.state", csv = folder / "chain_1.csv";
    const std::string state_text = contents(state), csv_text = contents(csv);
    TensorFile file = read_safetensors(folder / "chain_2.state");
    file.metadata["version"] = "1";
    write_safetensors(state, file);
    BOOST_TEST(resume_error(options) == state + ": metadata: version: \"1\"; this version of pollen reads 4");
    file.metadata["format"] = "a list";
    write_safetensors(state, file);
    BOOST_TEST(resume_error(options) == state + ": metadata: format: \"a list\" is not the state of a chain");
    file.metadata.erase("format");
    write_safetensors(state, file);
    BOOST_TEST(resume_error(options) == state + ": metadata: there is no format; is it the state of a chain?");
    put(state, contents(folder / "chain_2.state"));
    BOOST_TEST(resume_error(options) ==
               state +
                   ": the saved run has chain 2 of 4, this one has 1 of 4; to start anew, choose another directory");

    put(state, state_text);
    std::string text = csv_text;
    text[text.find("x_plus_s")] = 'y';
    put(csv, text);
    BOOST_TEST(resume_error(options) == csv + ": does not begin as the file of this run does");
    std::filesystem::remove(csv);
    BOOST_TEST(resume_error(options) == csv + ": is gone, but " + state +
                                            " is there; without its draws the run cannot go on. Choose another "
                                            "directory");
    BOOST_TEST(!std::filesystem::exists(csv));
    put(csv, csv_text);
    std::filesystem::remove(state);
    BOOST_TEST(resume_error(options) == csv + ": holds something, but " + state +
                                            ", from which the run could go on, is not there; choose another directory");
    BOOST_TEST(contents(csv) == csv_text);
}

// A run says where it goes on, and what it takes in memory.
BOOST_AUTO_TEST_CASE(what_a_resumed_run_says) {
    const TemporaryDirectory folder;
    RunOptions options = quiet(folder.path());
    options.show = Show::lines;
    const auto run = [&] { return written([&] { run_chains(shapes_model<double>(), Walk{}, options); }); };
    const auto first_line = [](const std::string& text) { return text.substr(0, text.find('\n')); };
    const std::string begin = run();
    BOOST_TEST(first_line(begin).find(" threads; memory: ") != begin.npos);
    BOOST_TEST(first_line(begin).find(" of draws, 16.8 MB of file buffers, 8.7 kB of chains; disk: at most ") !=
               begin.npos);
    BOOST_TEST(begin.find("going on") == begin.npos);
    options.resume = true;
    BOOST_TEST(run() == "complete: read from " + folder.path() + "\n");
    options.draws = 40;
    BOOST_TEST(run().find("\ngoing on from draw 30 of 40\n") != std::string::npos);
    options.directory = folder / "other";
    options.draws = 0;
    run();
    options.draws = 20;
    BOOST_TEST(run().find("\ngoing on from draw 0 of 20\n") != std::string::npos);
}

// Of two samplers of a kind, only what differs is named.
BOOST_AUTO_TEST_CASE(options_that_differ_are_named) {
    const TemporaryDirectory folder;
    RunOptions options = quiet(folder.path());
    run_chains(shapes_model<double>(), Hmc{}, options);
    options.resume = true;
    const auto error = [&](const auto& sampler) {
        return error_of<FileError>([&] { run_chains(shapes_model<double>(), sampler, options); });
    };
    const std::string state = folder / "chain_1.state: ", anew = "; to start anew, choose another directory";
    BOOST_TEST(error(Hmc{.target_acceptance = 0.9}) ==
               state + "target_acceptance: 0.8 in the saved run, 0.9 now" + anew);
    BOOST_TEST(error(Hmc{.inverse_metric = {1, 1, 1, 1, 1, 1, 1, 2}, .warmup = {.t0 = 9, .window = 30}}) ==
               state +
                   "inverse_metric: [] in the saved run, [1 1 1 1 1 1 1 2] now; warmup.t0: 10 in the saved run, 9 "
                   "now; warmup.window: 25 in the saved run, 30 now" +
                   anew);
    BOOST_TEST(error(Nuts{}).starts_with(state + "the saved run has sampler Hmc(step_size = 1, "));
}

BOOST_AUTO_TEST_CASE(a_directory_that_cannot_be_written) {
    const TemporaryDirectory folder;
    put(folder / "file", "text");
    RunOptions options = quiet(folder / "file/run");
    BOOST_TEST(error_of<FileError>([&] {
                   run_chains(shapes_model<double>(), Walk{}, options);
               }).starts_with(folder / "file/run: the directory cannot be made: "));
    // The system's answer to somebody who may not write there. (Who runs the tests may be allowed everything.)
    const ResetCalls reset;
    detail::file_calls().open = [](const char*, int, unsigned) {
        errno = EACCES;
        return -1;
    };
    options.directory = folder / "run";
    BOOST_TEST(error_of<FileError>([&] { run_chains(shapes_model<double>(), Walk{}, options); }) ==
               folder / "run/chain_1.csv: cannot be written: opening: Permission denied");
    detail::file_calls() = detail::FileCalls();
    // A chain that cannot begin leaves no files of the others, either.
    put(folder / "run/chain_3.csv", "mine");
    BOOST_TEST(error_of<FileError>([&] { run_chains(shapes_model<double>(), Walk{}, options); }) ==
               folder / "run/chain_3.csv" +
                   ": is there already; resume that run, remove its files, or choose another directory");
    BOOST_TEST(!std::filesystem::exists(folder / "run/chain_1.csv"));
    BOOST_TEST(!std::filesystem::exists(folder / "run/chain_1.state"));
    BOOST_TEST(contents(folder / "run/chain_3.csv") == "mine");
}

BOOST_AUTO_TEST_CASE(two_runs_do_not_write_to_one_file) {
    const TemporaryDirectory folder;
    detail::ChainFile one, other;
    one.open(folder / "chain_1.csv", true);
    BOOST_TEST(error_of<FileError>([&] { other.open(folder / "chain_1.csv", false); }) ==
               folder / "chain_1.csv: another run is writing to it now");
}

// A finished run is read from a place where nothing may be written. (Who runs the tests may be allowed everything.)
BOOST_AUTO_TEST_CASE(a_finished_run_is_read_where_nothing_may_be_written) {
    const TemporaryDirectory folder;
    RunOptions options = quiet(folder.path());
    const Draws whole = run_chains(shapes_model<double>(), Walk{}, options);
    std::vector<std::string> before;
    for (const std::string& name : folder.names()) before.push_back(contents(folder / name));
    const ResetCalls reset;
    const detail::FileCalls own;
    int reason = EROFS;
    detail::file_calls().open = [&](const char* path, int flags, unsigned mode) {
        if ((flags & O_ACCMODE) == O_RDONLY) return own.open(path, flags, mode);
        errno = reason;
        return -1;
    };
    options.resume = true;
    options.show = Show::lines;
    for (const int refusal : {EROFS, EACCES}) {
        reason = refusal;
        Draws again;
        const std::string said = written([&] { again = run_chains(shapes_model<double>(), Walk{}, options); });
        BOOST_TEST(said == "complete: read from " + folder.path() + "\n");
        BOOST_TEST(different(again, whole) == "");
        options.draws = 20;  // it is more than finished
        BOOST_TEST(resume_error(options) == folder / "chain_1.state" +
                                                ": the saved run has made 100 steps, this one has 80; to have fewer "
                                                "draws, choose another directory");
        options.draws = 31;
        BOOST_TEST(resume_error(options) == folder / "chain_1.csv" + ": cannot be written: opening: " +
                                                (refusal == EROFS ? "Read-only file system" : "Permission denied"));
        options.draws = 30;
    }
    reason = ENOSPC;
    BOOST_TEST(resume_error(options) == folder / "chain_1.csv: cannot be written: opening: No space left on device");
    std::vector<std::string> after;
    for (const std::string& name : folder.names()) after.push_back(contents(folder / name));
    BOOST_TEST(after == before);
}

// The file system that has no locks does not stop a run, and a lock is asked for by the same call as that of a training
// run.
BOOST_AUTO_TEST_CASE(a_file_system_without_locks) {
    const TemporaryDirectory folder;
    const ResetCalls reset;
    int reason = EWOULDBLOCK;
    detail::file_calls().flock = [&](int, int) {
        errno = reason;
        return -1;
    };
    const auto error = [&](const std::string& name) {
        detail::ChainFile file;
        return error_of<FileError>([&] { file.open(folder / name, false); });
    };
    BOOST_TEST(error("chain_1.csv") == folder / "chain_1.csv: another run is writing to it now");
    for (const int none : {ENOLCK, ENOSYS, EOPNOTSUPP, EINVAL}) {
        reason = none;
        BOOST_TEST(error("chain_1.csv") == "");
    }
    detail::file_calls().flock = [&](int, int) {  // another run gives it a new top at this moment
        std::filesystem::rename(folder / "chain_1.csv", folder / "old");
        put(folder / "chain_1.csv", "");
        return 0;
    };
    BOOST_TEST(error("chain_1.csv") == folder / "chain_1.csv: another run is writing to it now");
}

// The lock comes first: what looks like the leftovers of a killed run may be the file that another run is writing.
BOOST_AUTO_TEST_CASE(a_run_is_left_alone_by_a_second_one) {
    const TemporaryDirectory folder;
    RunOptions options = quiet(folder.path());
    run_chains(shapes_model<double>(), Walk{}, options);
    detail::ChainFile running;
    running.open(folder / "chain_1.csv", false);
    const std::string half = folder / ".chain_1.state.123-0.tmp";
    put(half, "half a state");
    BOOST_TEST(resume_error(options) == folder / "chain_1.csv: another run is writing to it now");
    BOOST_TEST(contents(half) == "half a state");
    running = detail::ChainFile();
    options.resume = true;
    run_chains(shapes_model<double>(), Walk{}, options);
    BOOST_TEST(!std::filesystem::exists(half));
}

BOOST_AUTO_TEST_CASE(a_file_with_a_new_top_is_locked) {
    const TemporaryDirectory folder;
    const std::string path = folder / "chain_1.csv";
    detail::ChainFile file;
    file.open(path, true);
    file.append("top\nrest\n");
    file.replace_top(4, "another top\n");
    BOOST_TEST(contents(path) == "another top\nrest\n");
    file.append("more\n");
    BOOST_TEST(contents(path) == "another top\nrest\nmore\n");
    detail::ChainFile other;
    BOOST_TEST(error_of<FileError>([&] { other.open(path, false); }) == path + ": another run is writing to it now");
}

BOOST_AUTO_TEST_CASE(one_bad_state_leaves_the_files_of_all_chains_as_they_are) {
    const TemporaryDirectory folder;
    const RunOptions options = quiet(folder.path());
    run_chains(shapes_model<double>(), Walk{}, options);
    put(folder / "chain_4.state", "damaged");
    const auto csv = [&](int c) { return contents(folder / ("chain_" + std::to_string(c) + ".csv")); };
    std::vector<std::string> before;
    for (int c = 1; c <= chains; ++c) before.push_back(csv(c));
    BOOST_TEST(resume_error(options).starts_with(folder / "chain_4.state: "));
    for (int c = 1; c <= chains; ++c) BOOST_TEST(csv(c) == before[static_cast<std::size_t>(c - 1)]);
}

BOOST_AUTO_TEST_CASE(a_longer_run_goes_on_from_a_shorter_one) {
    const TemporaryDirectory folder;
    RunOptions options = quiet(folder / "whole");
    options.draws = 70;
    const Draws whole = run(options, true);
    options.directory = folder / "grown";
    options.resume = true;
    // The header grows with the digits of the number of draws.
    for (const std::int64_t draws : {0, 3, 3, 40, 70}) {
        options.draws = draws;
        const Draws grown = run(options, true);
        BOOST_TEST(grown.size() == draws);
        for (std::int64_t t = 0; t < draws; ++t) BOOST_TEST(grown.values(3, t, 1) == whole.values(3, t, 1));
        if (draws == 40) std::filesystem::copy(folder / "grown/chain_2.state", folder / "old.state");
    }
    BOOST_TEST(same_run(folder / "whole", folder / "grown", chains));
    // Killed when the file had its new header, but the state was still that of the shorter run.
    std::filesystem::copy(folder / "old.state", folder / "grown/chain_2.state",
                          std::filesystem::copy_options::overwrite_existing);
    BOOST_TEST(run(options, true).values == whole.values);
    BOOST_TEST(same_run(folder / "whole", folder / "grown", chains));

    // What was asked for more, and interrupted, may also end with less.
    options.directory = folder / "shrunk";
    options.draws = 1000;
    {
        const StoppingFuse stopping(200);
        BOOST_TEST(run(options, true).interrupted);
    }
    options.draws = 70;
    BOOST_TEST(run(options, true).values == whole.values);
    BOOST_TEST(same_run(folder / "whole", folder / "shrunk", chains));
}

BOOST_AUTO_TEST_CASE(flushes_take_a_small_part_of_the_time) {
    BOOST_TEST(detail::pause_after_flush(0) == 1);
    BOOST_TEST(detail::pause_after_flush(0.05) == 1);
    BOOST_TEST(detail::pause_after_flush(3) == 60);
}

BOOST_AUTO_TEST_CASE(a_full_disk_loses_nothing_that_was_flushed) {
    const TemporaryDirectory folder;
    RunOptions options = quiet(folder / "whole");
    const Draws whole = run_chains(shapes_model<double>(), Walk{}, options);
    options.directory = folder / "full";
    std::atomic<std::int64_t> room = 60'000;
    const detail::FileCalls own;
    {
        const ResetCalls reset;
        detail::file_calls().write = [&](int file, const void* data, std::size_t bytes) -> std::ptrdiff_t {
            const std::int64_t left = room.fetch_sub(static_cast<std::int64_t>(bytes));
            if (left <= 0) {
                errno = ENOSPC;
                return -1;
            }
            return own.write(file, data, std::min(bytes, static_cast<std::size_t>(left)));
        };
        const std::string error = error_of<RunError>([&] { run_chains(shapes_model<double>(), Walk{}, options); });
        BOOST_TEST(error.starts_with("run_chains: chain "));
        BOOST_TEST(error.ends_with("No space left on device"));
    }
    std::int64_t draws = 0;
    for (int c = 1; c <= chains; ++c) {
        const std::string text = contents(folder / ("full/chain_" + std::to_string(c) + ".csv"));
        BOOST_TEST(text.ends_with('\n'));
        draws +=
            std::stoll(read_safetensors(folder / ("full/chain_" + std::to_string(c) + ".state")).metadata.at("steps"));
    }
    BOOST_TEST(draws > 20);
    options.resume = true;
    BOOST_TEST(run_chains(shapes_model<double>(), Walk{}, options).values == whole.values);
    BOOST_TEST(same_run(folder / "whole", folder / "full", chains));
}

BOOST_AUTO_TEST_SUITE_END()
