#pragma once

#include <pollen/autograd/support/group.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

// What all examples share: their command line, the directory for their results, and how they end.
//
//     int main(int argc, char** argv) {
//         Example example("Thompson sampling on mushrooms", "2 minutes");
//         std::int64_t rounds = 50000;
//         example.option("--rounds", rounds, 500, "mushrooms that are offered");
//         return example.run(argc, argv, [&] { ... });
//     }
//
// Every example has --quick (small and fast, as the tests run it), --seed, --out, --new and --help.
class Example {
  public:
    // What it shows, and how long it takes in full on two cores.
    Example(std::string about, std::string time);
    ~Example();

    // An option, with its value where it is not given, in full and with --quick. Whole numbers below `least` or above a
    // billion are refused, and so are numbers that are not finite.
    void option(const std::string& name, std::int64_t& value, std::int64_t when_quick, const std::string& help,
                std::int64_t least = 0);
    void option(const std::string& name, double& value, double when_quick, const std::string& help);
    void option(const std::string& name, std::string& value, const std::string& help);
    void flag(const std::string& name, bool& value, const std::string& help);
    // A file that has to be there, if it is given; `name` is FILE, not --file.
    void file(const std::string& name, std::string& path, const std::string& help);

    // In the body: another default for an option, which depends on other options. It becomes the value if the command
    // line gives none and --quick is not given.
    void other_default(const std::string& name, std::int64_t& value, std::int64_t other) const;

    // Reads the command line, runs the body and returns what main() returns: 2, after one line that says what was
    // wrong, for a pollen::Error (a wrong option, a missing file, a directory that cannot be written) and 130 after
    // Ctrl-C, which stops the runs of the library that are under way, and those that begin afterwards.
    int run(int argc, char** argv, const std::function<void()>& body);
    // The same on all ranks of a group. All call the body; rank 0 alone prints, and makes OUT. If one of them throws,
    // all throw a GroupError.
    int run(int argc, char** argv, pollen::Group& group, const std::function<void()>& body);

    bool quick = false;
    std::uint64_t seed = 1;

    // The path of a result: path("figure") is OUT/figure.
    std::filesystem::path path(const std::string& name) const { return out_ / name; }
    // A directory in OUT for what an interrupted example goes on from. It is empty at the start where --new or --quick
    // is given, an option or the data differ from the last time, or the program was compiled anew. What is removed then
    // is said on the standard error output. On a group only rank 0 makes it.
    std::filesystem::path kept(const std::string& name) const;
    // Data that is read: its path and the number of its items. To be called before anything is kept:
    //
    //     example.data(directory, train_data.size());
    //
    // What is kept of other data, such as the small set where the full one has come since, is removed.
    void data(const std::string& path, std::int64_t items);

  private:
    struct CommandLine;
    int fail(const std::string& name, const std::string& what) const;
    int end(const std::string& name, pollen::Group& group, const std::function<void()>& f) const;
    void prepare();
    void keep_if_unchanged();
    void forget();
    bool has_kept() const;

    std::string about_, time_;
    std::filesystem::path out_;
    std::string settings_;         // all that results depend on, line after line
    std::string settings_before_;  // the same of the run that kept something, as far as it can be used
    bool fresh_ = false;
    bool leads_ = true;  // rank 0 of its group
    std::unique_ptr<CommandLine> line_;
};

// Thrown where Ctrl-C ended a run or a loop of the example; Example::run says what the same command does then.
struct Interrupted {
    std::string stage = {};  // the stage (stage.hpp) that was stopped and begins anew; empty: it goes on from there
};

// Throws Interrupted after Ctrl-C, in the loops of an example.
void stop_if_asked();

// What run_chains, train and others return, unless Ctrl-C ended it: unless_stopped(run_chains(...)).
template <class Result>
Result unless_stopped(Result result) {
    if constexpr (requires { result.interrupted; }) {
        if (result.interrupted) throw Interrupted();
    } else if (result.end == Result::End::interrupted)
        throw Interrupted();
    return result;
}
