// Another thread stops a run: nothing is computed after the request, and all draws are kept.
#include <pollen/pollen.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iostream>
#include <latch>
#include <thread>

using namespace pollen;

// A thread that requests a stop when the run has come to the middle of a step. The run waits for it there.
class Stopping {
  public:
    explicit Stopping(std::int64_t middle) : middle_(middle) {}

    // Called at the beginning of each evaluation.
    void count() {
        if (source_.stop_requested()) ++after_;
        if (++evaluations_ != middle_) return;
        there_.count_down();
        requested_.wait();
    }
    std::stop_token token() const { return source_.get_token(); }
    std::int64_t after() const { return after_; }  // evaluations that began after the request

  private:
    const std::int64_t middle_;
    std::atomic<std::int64_t> evaluations_ = 0, after_ = 0;
    std::latch there_{1}, requested_{1};
    std::stop_source source_;
    std::jthread thread_{[this] {
        there_.wait();
        source_.request_stop();
        requested_.count_down();
    }};
};

// Chains whose steps have 1,000 gradients each.
bool stops_chains(const std::string& directory) {
    const auto run = [](const RunOptions& options, const std::function<void()>& count) {
        const FunctionPotential<double> u({"x", "y"}, [&](std::span<const double> x, std::span<double> slope) {
            count();
            if (!slope.empty()) slope[0] = x[0], slope[1] = 4 * x[1];
            return x[0] * x[0] / 2 + 2 * x[1] * x[1];
        });
        return run_chains(u, Hmc{.step_size = 2e-3, .steps = 1000, .warmup = {.step_size = false}}, options);
    };
    RunOptions options{.chains = 2, .warmup = 2, .draws = 10, .seed = 1, .show = Show::nothing};
    const Draws whole = run(options, [] {});

    Stopping stopping(10'500);
    std::vector<std::int64_t> reported(2);
    options.directory = directory;
    options.resume = true;
    options.stop = stopping.token();
    options.on_draw = [&](const DrawRecord& draw) {
        ++reported[std::size_t(draw.chain - 1)];
        return true;
    };
    bool right = run(options, [&] { stopping.count(); }).interrupted;
    // Each chain may have begun an evaluation as the request came.
    right = right && stopping.after() <= options.chains;
    std::int64_t kept = 0;
    for (std::int64_t chain = 1; chain <= 2; ++chain) {
        StanCsvReader reader(directory + "/chain_" + std::to_string(chain) + ".csv");
        std::int64_t rows = 0;
        for (StanCsvReader::Row row; reader.next(row); ++rows)
            right = right && row.values[0] == whole.values(chain - 1, rows, 0);
        right = right && rows == reported[std::size_t(chain - 1)];
        kept += rows;
    }
    std::cout << "chains: " << kept << " draws kept, " << stopping.after() << " evaluations after the request\n";
    // The run goes on where it was.
    options.stop = {};
    return right && kept > 0 && run(options, [] {}).values == whole.values;
}

// Steps that average 100 samples each.
bool stops_training() {
    const Dataset<double> data{.inputs = Tensor<double>::ones({10, 1}), .targets = Tensor<double>::ones({10, 1})};
    const auto run = [&](const TrainOptions& options, const std::function<void()>& count) {
        const Activation<double> counted("Counted", [&](Var<double> x) {
            count();
            return tanh(x);
        });
        Sequential<double> net{Dense<double>(1, 3), counted, Dense<double>(3, 1)};
        auto likelihood = Gaussian<double>::known(1);
        const TrainResult result = train(net, likelihood, data, options);
        return std::pair(result, Parameters<double>(net).flatten());
    };
    TrainOptions options{.epochs = 10, .batch = 10, .seed = 1, .samples = 100, .show = Show::nothing};
    options.on_step = [](const StepRecord& now) { return now.step < 4; };
    const auto [four, expected] = run(options, [] {});

    Stopping stopping(450);  // in the fifth step
    options.on_step = {};
    options.stop = stopping.token();
    const auto [result, theta] = run(options, [&] { stopping.count(); });
    std::cout << "training: " << result.steps << " steps, " << stopping.after() << " evaluations after the request\n";
    return result.end == TrainResult::End::interrupted && result.steps == 4 && theta == expected &&
           stopping.after() == 0;
}

int main() {
    const std::filesystem::path directory = std::filesystem::temp_directory_path() / "pollen_stopped";
    std::filesystem::remove_all(directory);
    const bool chains = stops_chains(directory.string()), training = stops_training();
    std::filesystem::remove_all(directory);
    return chains && training ? 0 : 1;
}
