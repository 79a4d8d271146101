#include "../../data/fuse.hpp"
#include "../../standard_error.hpp"
#include "../../support.hpp"
#include "run_files.hpp"
#include "walk_sampler.hpp"

#include <pollen/autograd/support/interrupt.hpp>
#include <pollen/nn/potentials/function_potential.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <algorithm>
#include <csignal>
#include <map>
#include <system_error>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(run_disk)

namespace {

// "1.5 MB" as a number.
double bytes_in(const std::string& text) {
    std::size_t end = 0;
    const double number = std::stod(text, &end);
    const char unit = text.at(end + 1);
    return number * (unit == 'k' ? 1e3 : unit == 'M' ? 1e6 : unit == 'G' ? 1e9 : 1);
}

// From now on the file system says this of its space.
void say_space(std::uintmax_t capacity, std::uintmax_t available, std::error_code failure = {}) {
    detail::file_calls().space = [=](const char*, std::error_code& error) {
        error = failure;
        return std::filesystem::space_info{.capacity = capacity, .free = available, .available = available};
    };
}

}  // namespace

// The number is rounded to three digits.
BOOST_AUTO_TEST_CASE(a_run_says_at_most_what_its_files_take) {
    arm_files();  // without flushes to the disk
    const ResetCalls reset;
    const auto check = [](const auto& potential, const auto& sampler, RunOptions options) {
        const TemporaryDirectory folder;
        options.directory = folder.path();
        options.show = Show::lines;
        const std::string text = written([&] { run_chains(potential, sampler, options); });
        const std::size_t at = text.find("; disk: at most ");
        BOOST_REQUIRE(at != text.npos);
        const double said = bytes_in(text.substr(at + 16));
        double held = 0;
        for (const std::string& name : folder.names())
            held += static_cast<double>(std::filesystem::file_size(folder / name));
        BOOST_TEST(held < 1.005 * said, sampler.describe());
        BOOST_TEST(said < 1.6 * held, sampler.describe());
    };
    const auto shapes = shapes_model<double>();
    check(shapes, Walk{}, {.chains = 2, .warmup = 100, .draws = 3000});
    check(shapes, Walk{.weight = 2, .diverges = true},
          {.chains = 2, .warmup = 900, .draws = 2000, .thin = 3, .save_warmup = true});
    check(shapes_model<float>(), Sghmc{.step_size = 0.01}, {.chains = 2, .warmup = 0, .draws = 3000});
    check(shapes, Nuts{}, {.chains = 2, .warmup = 100, .draws = 1500});
    const ModelPotential<double> many([](Model<double>& m) {
        m.prior(sum(square(m.real("weights", {30, 10}))) * -0.5);
    });
    check(many, Nuts{.metric = MetricKind::dense}, {.chains = 2, .warmup = 30, .draws = 300});
    check(many, Sghmc{.step_size = 0.01, .noise = GradientNoise::estimated()},
          {.chains = 2, .warmup = 30, .draws = 100});
}

BOOST_AUTO_TEST_CASE(a_run_for_which_there_is_no_space_does_not_start) {
    const TemporaryDirectory folder;
    const ResetCalls reset;
    say_space(2'000'000'000'000, 1'500'000'000'000);
    constexpr std::int64_t d = 4'000'000;
    const FunctionPotential<float> potential(d, [](std::span<const float>, std::span<float> slope) {
        std::fill(slope.begin(), slope.end(), 0.0f);
        return 0.0;
    });
    RunOptions options{.chains = 1,
                       .warmup = 0,
                       .draws = 1'000'000,
                       .radius = 1,
                       .directory = folder / "run",
                       .keep = false,
                       .show = Show::nothing};
    BOOST_TEST(error_of<FileError>([&] { run_chains(potential, Sghmc{.step_size = 0.01}, options); }) ==
               folder /
                   "run: the files of this run need up to 104 TB of disk space, but only 1.5 TB are free; draw "
                   "less, thin more, or choose another directory");
    BOOST_TEST(TemporaryDirectory::names_in(folder / "run").empty());
}

BOOST_AUTO_TEST_CASE(a_file_system_that_does_not_report_its_space_is_used) {
    const TemporaryDirectory folder;
    const ResetCalls reset;
    constexpr auto unknown = static_cast<std::uintmax_t>(-1);
    int runs = 0;
    const auto error = [&] {
        const RunOptions options{
            .chains = 1, .warmup = 0, .draws = 3, .directory = folder / std::to_string(runs++), .show = Show::nothing};
        return error_of<FileError>([&] { run_chains(shapes_model<double>(), Walk{}, options); });
    };
    say_space(0, 0);
    BOOST_TEST(error() == "");
    say_space(unknown, unknown);
    BOOST_TEST(error() == "");
    say_space(unknown, unknown, std::make_error_code(std::errc::function_not_supported));
    BOOST_TEST(error() == "");
    // A disk that is full is another thing.
    say_space(1'000'000'000, 0);
    BOOST_TEST(
        error().ends_with(" of disk space, but only 0 bytes are free; draw less, thin more, or choose another "
                          "directory"));
}

// A longer run has another header, for which the file of each chain is copied.
BOOST_AUTO_TEST_CASE(a_longer_run_needs_space_for_a_copy) {
    const TemporaryDirectory folder;
    arm_files();  // without flushes to the disk
    const ResetCalls reset;
    RunOptions options{
        .chains = 3, .warmup = 0, .draws = 8000, .directory = folder.path(), .resume = true, .show = Show::nothing};
    const auto run = [&] { run_chains(shapes_model<double>(), Walk{}, options); };
    run();
    std::map<std::string, std::string> before;
    std::uintmax_t longest = 0;
    for (const std::string& name : folder.names()) {
        before[name] = contents(folder / name);
        if (name.ends_with(".csv")) longest = std::max(longest, before[name].size());
    }
    say_space(1'000'000'000, longest * 9 / 10);
    run();  // which writes nothing
    options.draws = 8001;
    const std::string error = error_of<FileError>(run), start = folder.path() + ": the files of this run need up to ";
    BOOST_REQUIRE(error.starts_with(start));
    const double said = bytes_in(error.substr(start.size())), copied = static_cast<double>(longest);
    BOOST_TEST((said > 0.99 * copied && said < 1.01 * copied), error);
    BOOST_TEST((error.find("B more of disk space, but only ") != error.npos), error);
    for (const auto& [name, text] : before) BOOST_TEST((contents(folder / name) == text), name);
    BOOST_TEST(folder.names().size() == before.size());
    // One copy is made after the other.
    say_space(1'000'000'000, longest * 11 / 10);
    BOOST_TEST(error_of<FileError>(run) == "");
}

namespace {

// A run of the model `shapes` that is stopped at an evaluation; -1: at none.
struct StoppableShapes {
    std::int64_t evaluations = 0, at = -1;

    FunctionPotential<double> potential() {
        return {{"x", "y", "z"}, [this](std::span<const double> x, std::span<double> slope) {
                    if (++evaluations == at) std::raise(SIGINT);
                    double u = 0;
                    for (std::size_t k = 0; k < x.size(); ++k) {
                        if (!slope.empty()) slope[k] = x[k];
                        u += x[k] * x[k] / 2;
                    }
                    return u;
                }};
    }
};

std::uintmax_t bytes_of_files(const TemporaryDirectory& folder) {
    std::uintmax_t bytes = 0;
    for (const std::string& name : folder.names()) bytes += std::filesystem::file_size(folder / name);
    return bytes;
}

std::map<std::string, std::string> files_of(const TemporaryDirectory& folder) {
    std::map<std::string, std::string> files;
    for (const std::string& name : folder.names()) files[name] = contents(folder / name);
    return files;
}

}  // namespace

// A run that goes on needs space for what is not written yet, and for new states beside the old ones. If there is too
// little, nothing changes; if there is as much as it says, it runs to its end.
BOOST_AUTO_TEST_CASE(a_resumed_run_needs_space_for_the_rest) {
    const auto check = [](const auto& sampler, RunOptions options, std::int64_t stop_at) {
        const TemporaryDirectory folder;
        arm_files();
        const ResetCalls reset;
        options.directory = folder.path();
        options.show = Show::nothing;
        StoppableShapes shapes{.at = stop_at};
        const auto run = [&] {
            const Interrupt interrupt;
            return run_chains(shapes.potential(), sampler, options);
        };
        const auto said = [&](const std::string& more) {
            say_space(1'000'000'000, 0);
            const std::string error = error_of<FileError>(run),
                              begin = folder.path() + ": the files of this run need up to ",
                              end = more +
                                    " of disk space, but only 0 bytes are free; draw less, thin more, or choose "
                                    "another directory";
            BOOST_REQUIRE(error.size() > begin.size() + end.size());
            const std::string bytes = error.substr(begin.size(), error.size() - begin.size() - end.size());
            BOOST_TEST(error == begin + bytes + end);
            return bytes_in(bytes);
        };
        shapes.at = -1;
        const double of_all = said("");
        BOOST_TEST(folder.names().empty());

        say_space(1'000'000'000, 1'000'000'000);
        shapes = {.at = stop_at};
        BOOST_REQUIRE(run().interrupted);
        shapes.at = -1;
        options.resume = true;
        const std::map<std::string, std::string> before = files_of(folder);
        const double held = static_cast<double>(bytes_of_files(folder)), of_rest = said(" more");
        BOOST_TEST((files_of(folder) == before));
        BOOST_TEST(of_rest <= of_all);

        // The number is rounded to three digits.
        say_space(1'000'000'000, static_cast<std::uintmax_t>(0.995 * of_rest));
        BOOST_TEST(error_of<FileError>(run).find(" more of disk space, but only ") != std::string::npos);
        BOOST_TEST((files_of(folder) == before));
        say_space(1'000'000'000, static_cast<std::uintmax_t>(1.005 * of_rest));
        BOOST_TEST(!run().interrupted);
        const double written = static_cast<double>(bytes_of_files(folder)) - held;
        BOOST_TEST(written <= 1.005 * of_rest, sampler.describe());
        say_space(1'000'000'000, 0);
        BOOST_TEST(!run().interrupted);  // it is complete and writes nothing
        return of_rest / of_all;
    };
    // After a quarter and after three quarters of the draws; a step of Walk is one evaluation.
    const RunOptions plain{.chains = 1, .warmup = 0, .draws = 8000};
    const double early = check(Walk{}, plain, 2000), late = check(Walk{}, plain, 6000);
    BOOST_TEST((early > 0.7 && early < 0.85), early);
    BOOST_TEST((late > 0.2 && late < 0.4), late);
    // In the warm-up, whose rows are saved, and after it.
    const RunOptions with_warmup{.chains = 1, .warmup = 2000, .draws = 2000, .save_warmup = true};
    check(Walk{}, with_warmup, 1000);
    check(Walk{}, with_warmup, 3000);
    check(Nuts{.max_depth = 3, .metric = MetricKind::dense}, {.chains = 1, .warmup = 100, .draws = 2000}, 5000);
}

BOOST_AUTO_TEST_SUITE_END()
