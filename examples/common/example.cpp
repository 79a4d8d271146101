#include "example.hpp"

#include "arguments.hpp"
#include "text_file.hpp"

#include <pollen/autograd/support/error.hpp>
#include <pollen/autograd/support/interrupt.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <new>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

namespace fs = std::filesystem;

struct Example::CommandLine {
    CLI::App app;
    std::vector<std::function<void(bool)>> chosen;       // sets the value for --quick where none was given
    std::vector<std::function<std::string()>> settings;  // name and value of each option, for the kept directory

    // read(text) returns the value, or throws.
    template <class Value, class Read>
    void add(const std::string& name, const char* type, Value& value, Value when_quick, const std::string& help,
             const Read& read) {
        std::ostringstream both;
        both << help << " [" << value;
        if (when_quick != value) both << ", with --quick " << when_quick;
        both << "]";
        CLI::Option* option = app.add_option_function<std::string>(
            name, [&value, read](const std::string& text) { value = read(text); }, both.str());
        option->type_name(type);
        chosen.push_back([option, &value, when_quick](bool is_quick) {
            if (is_quick && option->count() == 0) value = when_quick;
        });
        remember(name, value);
    }
    template <class Value>
    void remember(const std::string& name, const Value& value) {
        settings.push_back([name, &value] {
            std::ostringstream text;
            text.precision(17);
            text << name << " " << value << "\n";
            return text.str();
        });
    }
};

namespace {

// Of the numbers of an option. Examples add and multiply a few of them.
constexpr std::int64_t largest = 1'000'000'000;

// How settings differ from those of an earlier run: "--draws 100, now 200; it was compiled since".
std::string differences(const std::string& before, const std::string& now) {
    std::istringstream old_lines(before), new_lines(now);
    std::string text;
    for (std::string was, is; std::getline(new_lines, is);) {
        if (!std::getline(old_lines, was)) was = "nothing";
        if (was == is) continue;
        if (!text.empty()) text += "; ";
        if (is.starts_with("compiled "))
            text += "the program was compiled since";
        else
            text += was + ", now " + is.substr(is.find(' ') + 1);
    }
    return text;
}

}  // namespace

Example::Example(std::string about, std::string time)
    : about_(std::move(about)), time_(std::move(time)), line_(std::make_unique<CommandLine>()) {}
Example::~Example() = default;

void Example::option(const std::string& name, std::int64_t& value, std::int64_t when_quick, const std::string& help,
                     std::int64_t least) {
    line_->add(name, "INT", value, when_quick, least > 1 ? help + "; at least " + std::to_string(least) : help,
               [name, least](const std::string& text) { return whole_number(name, text, least, largest); });
}

void Example::option(const std::string& name, double& value, double when_quick, const std::string& help) {
    line_->add(name, "FLOAT", value, when_quick, help,
               [name](const std::string& text) { return finite_number(name, text); });
}

void Example::option(const std::string& name, std::string& value, const std::string& help) {
    line_->add(name, "TEXT", value, value, help, [](const std::string& text) { return text; });
}

void Example::flag(const std::string& name, bool& value, const std::string& help) {
    line_->app.add_flag(name, value, help);
    line_->remember(name, value);
}

void Example::file(const std::string& name, std::string& path, const std::string& help) {
    line_->app.add_option(name, path, help)->type_name("")->check([name](const std::string& given) {
        check_path(name, given);
        std::error_code ignored;
        return fs::is_regular_file(given, ignored) ? std::string() : "there is no file " + given;
    });
    line_->remember(name, path);
}

void Example::other_default(const std::string& name, std::int64_t& value, std::int64_t other) const {
    if (!quick && line_->app.get_option(name)->count() == 0) value = other;
}

int Example::run(int argc, char** argv, const std::function<void()>& body) {
    return run(argc, argv, pollen::Group::alone(), body);
}

int Example::run(int argc, char** argv, pollen::Group& group, const std::function<void()>& body) {
    leads_ = group.rank() == 0;
    const std::string name = fs::path(argv[0]).filename().string();
    CLI::App& app = line_->app;
    app.name(name);
    app.description(about_ + "\nTakes about " + time_ + " on two cores; --quick a few seconds.");
    app.get_formatter()->column_width(26);
    std::string out = "results/" + name;
    app.add_flag("--quick", quick, "small and fast, as the tests run it");
    app.add_option_function<std::string>(
           "--seed",
           [this](const std::string& text) {
               seed = whole_number<std::uint64_t>("--seed", text, 0, std::numeric_limits<std::uint64_t>::max());
           },
           "seed of all random numbers [1]")
        ->type_name("UINT");
    app.add_option("--out", out, "directory for figures, tables and what a stopped run goes on from [" + out + "]")
        ->type_name("DIRECTORY");
    app.add_flag("--new", fresh_, "begin anew, not where an earlier run was stopped");
    line_->remember("--quick", quick);
    line_->remember("--seed", seed);

    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp& help) {
        return leads_ ? app.exit(help) : 0;
    } catch (const CLI::ParseError& error) {
        return fail(name, std::string(error.what()) + "; --help lists the options");
    } catch (const pollen::Error& error) {
        return fail(name, error.what());
    }
    for (const auto& choose : line_->chosen) choose(quick);
    out_ = out;
    const pollen::Interrupt interrupt;
    return end(name, group, [&] {
        check_path("--out", out);
        group.together([&] {
            if (leads_) prepare();
        });
        if (leads_) {
            std::setvbuf(stdout, nullptr, _IOLBF, 0);  // results of a long run are seen in a pipe, too
            std::printf("%s\n%s\n\n", about_.c_str(),
                        quick ? "Quick: a small version, to see that it works. Figures mean little."
                              : ("Takes about " + time_ + " on two cores.").c_str());
        }
        body();
    });
}

void stop_if_asked() {
    if (pollen::Interrupt::requested()) throw Interrupted();
}

// Prints why the example ends, on rank 0, and returns what main() returns.
int Example::fail(const std::string& name, const std::string& what) const {
    // An Error makes what comes from the command line safe to print.
    if (leads_) std::fprintf(stderr, "%s\n", pollen::Error(name + ": " + what).what());
    return 2;
}

// Calls f(), and says how it ended.
int Example::end(const std::string& name, pollen::Group& group, const std::function<void()>& f) const {
    const auto fail_on = [&](const std::string& what) {
        if (group.size() > 1) group.fail(name + ": " + what);
        return fail(name, what);
    };
    try {
        f();
    } catch (const Interrupted& stopped) {
        const std::string where = stopped.stage.empty() ? "from here" : "with " + stopped.stage + " from its beginning";
        if (leads_)
            std::fprintf(
                stderr, "\n%s: stopped. The same command %s.\n", name.c_str(),
                has_kept() && !quick ? ("goes on " + where + ", with --new it begins anew").c_str() : "begins anew");
        return 130;
    } catch (const pollen::GroupError&) {
        throw;  // all ranks have it
    } catch (const pollen::Error& error) {
        return fail_on(error.what());
    } catch (const fs::filesystem_error& error) {
        return fail_on(error.code().message() + ": " + error.path1().string() +
                       "; --out takes a directory that can be written");
    } catch (const std::bad_alloc&) {
        return fail_on("there is not enough memory for these options");
    }
    if (leads_) std::printf("\nResults are in %s.\n", out_.c_str());
    return 0;
}

// Makes OUT, and empties OUT/kept unless it belongs to this program with these options.
void Example::prepare() {
    fs::create_directories(out_);
    for (const auto& setting : line_->settings) settings_ += setting();
    std::error_code unknown;
    const auto compiled = fs::last_write_time("/proc/self/exe", unknown);
    settings_ += "compiled " + std::to_string(compiled.time_since_epoch().count()) + "\n";

    const fs::path kept = out_ / "kept";
    std::ifstream in(kept / "settings");
    if (!in.is_open() && fs::exists(kept) && !fs::is_empty(kept))
        throw pollen::ValueError(kept.string() + " was not made by an example; --out takes a directory without it");
    settings_before_.assign(std::istreambuf_iterator<char>(in), {});
    if (fresh_ || quick) forget();
    keep_if_unchanged();
}

void Example::data(const std::string& path, std::int64_t items) {
    settings_ += "data " + path + " " + std::to_string(items) + "\n";
    if (leads_) keep_if_unchanged();
}

// Empties OUT/kept where the settings so far are not those with which the last run began.
void Example::keep_if_unchanged() {
    if (settings_before_.starts_with(settings_)) return;
    forget();
    fs::create_directories(out_ / "kept");
    write_text((out_ / "kept" / "settings").string(), settings_);
    settings_before_ = settings_;
}

// Removes OUT/kept. If there was something to go on from, says so, and why it cannot be used. (What --quick kept never
// is.)
void Example::forget() {
    if (has_kept() && settings_before_.find("--quick 1\n") == std::string::npos)
        std::fprintf(stderr, "%s holds results of an earlier run (%s). They are removed, and this run begins anew.\n",
                     (out_ / "kept").c_str(),
                     fresh_ ? "--new is given" : differences(settings_before_, settings_).c_str());
    fs::remove_all(out_ / "kept");
    settings_before_.clear();
}

// Whether there is something to go on from: a file beside the settings.
bool Example::has_kept() const {
    if (!fs::exists(out_ / "kept")) return false;
    for (const auto& entry : fs::recursive_directory_iterator(out_ / "kept"))
        if (entry.is_regular_file() && entry.path() != out_ / "kept" / "settings") return true;
    return false;
}

fs::path Example::kept(const std::string& name) const {
    fs::path directory = out_ / "kept" / name;
    if (leads_) fs::create_directories(directory);
    return directory;
}
