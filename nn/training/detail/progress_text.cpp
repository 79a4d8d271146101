#include <pollen/nn/training/detail/progress_text.hpp>

#include <cstdio>

namespace pollen::detail {

template <Real T>
std::string progress_text(const TrainState<T>& state, const StepRecord& last, std::int64_t epochs, bool bayesian,
                          const char* score) {
    char line[160];
    std::snprintf(
        line, sizeof line, "epoch %lld/%lld  loss %.4f", static_cast<long long>(last.epoch),
        static_cast<long long>(epochs),
        state.loss_items > 0 ? state.loss_sum / static_cast<double>(state.loss_items) : state.history.back().loss);
    std::string all = line;
    if (!state.history.empty() && bayesian) {
        std::snprintf(line, sizeof line, "  KL %.4g", state.history.back().complexity);
        all += line;
    }
    if (!state.history.empty() && score) {
        std::snprintf(line, sizeof line, "  validation %s %.4f", score, state.history.back().validation.score);
        all += line;
    }
    std::snprintf(line, sizeof line, "  rate %.3g", last.rate);
    return all + line;
}

template std::string progress_text(const TrainState<float>&, const StepRecord&, std::int64_t, bool, const char*);
template std::string progress_text(const TrainState<double>&, const StepRecord&, std::int64_t, bool, const char*);

}  // namespace pollen::detail
