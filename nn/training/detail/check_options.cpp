#include <pollen/nn/training/detail/check_options.hpp>

#include <pollen/autograd/support/checks.hpp>

namespace pollen::detail {

void check_options(const TrainOptions& o) {
    const auto need = [](bool good, const std::string& what) {
        if (!good) throw ValueError("train: " + what);
    };
    const auto at_least_1 = [&](const char* name, std::int64_t n) {
        need(n >= 1, std::string(name) + " is " + std::to_string(n) + "; at least 1 is needed");
    };
    const auto positive = [&](const char* name, double x) {
        need(x > 0, std::string(name) + " is " + to_text(x) + "; it must be positive");
    };
    need(o.epochs >= 0, "epochs is " + std::to_string(o.epochs) + "; it must not be negative");
    need(o.epochs <= 1'000'000'000, "epochs is " + std::to_string(o.epochs) + "; at most a billion are possible");
    at_least_1("batch", o.batch);
    at_least_1("samples", o.samples);
    at_least_1("checkpoint_every", o.checkpoint_every);
    positive("clip_norm", o.clip_norm);
    need(o.patience >= 0, "patience is " + std::to_string(o.patience) + "; it must not be negative");
    const bool saves = !o.spread || o.spread->group().rank() == 0;
    need(!saves || !o.resume || !o.checkpoint.empty(), "resume needs the name of a checkpoint");
}

}  // namespace pollen::detail
