// Runs the rows of all suites with Google Benchmark, the two sides of a row in alternation, and compares the fastest
// repetition of each. usage: pollen_bench [SUITE | ROW]... [--json FILE]
#include "bench.hpp"
#include "openblas_peer.hpp"
#include "peers.hpp"

#include <pollen/autograd/parallel.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace pollen::bench {

namespace {

std::vector<Row>& rows() {
    static std::vector<Row> all;
    return all;
}

// Rows are measured in rounds, some time apart: a machine that is shared with others has its slow moments.
constexpr int rounds = 3, repetitions = 25;

// Keeps the fastest repetition of every benchmark, and shows that something is going on.
class Fastest : public benchmark::BenchmarkReporter {
  public:
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs) {
            if (run.run_type != Run::RT_Iteration) continue;
            const double seconds = run.real_accumulated_time / static_cast<double>(run.iterations);
            const auto [at, fresh] = seconds_.emplace(run.run_name.function_name, seconds);
            if (!fresh) at->second = std::min(at->second, seconds);
        }
    }
    double seconds(const std::string& name) const { return seconds_.at(name); }

  private:
    std::map<std::string, double> seconds_;
};

void run_pair(const Row& row, Fastest& fastest) {
    const auto start = [&](const std::string& side, const Work& work) {
        benchmark::RegisterBenchmark((row.name + "/" + side).c_str(),
                                     [&work, &row](benchmark::State& state) {
                                         const auto loop = [&] {
                                             for (auto _ : state) work();
                                         };
                                         row.threads ? with_threads(row.threads, loop) : loop();
                                     })
            ->UseRealTime()
            ->Repetitions(repetitions);
    };
    start("ours", row.ours);
    if (row.peer_work) start("peer", row.peer_work);
    benchmark::RunSpecifiedBenchmarks(&fastest);
    benchmark::ClearRegisteredBenchmarks();
}

struct Result {
    const Row* row;
    double ours;
    std::optional<double> peer;
    std::optional<double> ratio() const {
        if (!peer) return {};
        return row->unit.rate ? ours / *peer : *peer / ours;
    }
};

Result result_of(const Row& row, const Fastest& fastest, const Peers& peers) {
    Result result{&row, row.unit.of(fastest.seconds(row.name + "/ours") / row.pieces()), row.peer_value};
    if (row.peer_work)
        result.peer = row.unit.of(fastest.seconds(row.name + "/peer"));
    else if (!row.peer_value)
        result.peer = peers.value(row.name);
    return result;
}

void print_header() {
    std::printf("%-28s %9s  %-5s %-34s %9s  %6s  %5s\n", "name", "ours", "unit", "compared with", "its", "ratio",
                "goal");
}

void print(const Result& result) {
    const Row& row = *result.row;
    char peer[32] = "-", ratio[32] = "-";
    if (result.peer) {
        std::snprintf(peer, sizeof peer, "%.3g", *result.peer);
        std::snprintf(ratio, sizeof ratio, "%.2f%s", *result.ratio(), *result.ratio() < row.goal ? " <" : "  ");
    }
    std::printf("%-28s %9.3g  %-5s %-34s %9s  %8s  %5.2f\n", row.name.c_str(), result.ours, row.unit.name.c_str(),
                row.peer.c_str(), peer, ratio, row.goal);
    std::fflush(stdout);
}

std::string json(const std::optional<double>& number) {
    if (!number || !std::isfinite(*number)) return "null";
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", *number);
    return text;
}

bool write_json(const std::string& path, const std::vector<Result>& results) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (!file) return false;
    std::fputs("[", file);
    const char* separator = "\n";
    for (const Result& r : results) {
        std::fprintf(file,
                     "%s  {\"name\": \"%s\", \"ours\": %s, \"unit\": \"%s\", \"peer\": \"%s\", \"peer_value\": %s, "
                     "\"ratio\": %s, \"goal\": %s}",
                     separator, r.row->name.c_str(), json(r.ours).c_str(), r.row->unit.name.c_str(),
                     r.row->peer.c_str(), json(r.peer).c_str(), json(r.ratio()).c_str(), json(r.row->goal).c_str());
        separator = ",\n";
    }
    std::fputs("\n]\n", file);
    return std::fclose(file) == 0;
}

int fail(const std::string& message) {
    std::fprintf(stderr, "pollen_bench: %s\n", message.c_str());
    return 1;
}

int run(int argc, char** argv) {
    std::set<std::string> suites, names, asked;
    for (const Row& row : rows()) {
        suites.insert(row.suite);
        names.insert(row.name);
    }
    std::string path;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--json") {
            if (++i == argc) return fail("--json needs a file");
            path = argv[i];
        } else if (suites.contains(argument) || names.contains(argument)) {
            asked.insert(argument);
        } else {
            std::string known;
            for (const std::string& suite : suites) known += " " + suite;
            return fail("there is no suite and no row " + argument + "; the suites are:" + known);
        }
    }
    // Now, rather than after all rows, is the time to learn that the file cannot be written.
    if (!path.empty()) {
        std::FILE* file = std::fopen(path.c_str(), "a");
        if (!file) return fail("cannot write " + path);
        std::fclose(file);
    }
    std::vector<const Row*> chosen;
    for (const Row& row : rows())
        if (asked.empty() || asked.contains(row.suite) || asked.contains(row.name)) chosen.push_back(&row);

    char name[] = "pollen_bench", time[] = "--benchmark_min_time=0.02",
         interleave[] = "--benchmark_enable_random_interleaving=true";
    char* arguments[] = {name, time, interleave};
    int count = 3;
    benchmark::Initialize(&count, arguments);

    std::vector<std::string> wanted;
    for (const Row* row : chosen)
        if (!row->peer_work && !row->peer_value) wanted.push_back(row->name);
    const Peers peers(wanted);
    std::printf(
        "%d threads, OpenBLAS kernels: %s; the fastest of %d rounds of %d repetitions; a ratio below its goal "
        "is marked <\n\n",
        thread_count(), openblas_kernels().c_str(), rounds, repetitions);
    if (const std::string warning = openblas_warning(); !warning.empty()) std::printf("%s\n\n", warning.c_str());
    print_header();
    Fastest fastest;
    for (int round = 1; round < rounds; ++round)
        for (const Row* row : chosen) run_pair(*row, fastest);
    std::vector<Result> results;
    for (const Row* row : chosen) {
        run_pair(*row, fastest);
        results.push_back(result_of(*row, fastest, peers));
        print(results.back());
    }
    if (!path.empty() && !write_json(path, results)) return fail("cannot write " + path);
    return 0;
}

}  // namespace

void add(Row row) { rows().push_back(std::move(row)); }

void keep(const void* x) { benchmark::DoNotOptimize(x); }

}  // namespace pollen::bench

int main(int argc, char** argv) {
    pollen::bench::use_best_openblas_kernels(argv);
    return pollen::bench::run(argc, argv);
}
