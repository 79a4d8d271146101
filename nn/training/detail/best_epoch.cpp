#include <pollen/nn/training/detail/best_epoch.hpp>

#include <cmath>
#include <utility>

namespace pollen::detail {

template <Real T>
bool BestEpoch<T>::better(const TrainState<T>& state, const Evaluation& now) const {
    const auto figure = [this](const Evaluation& e) {
        if (options_.watch == TrainOptions::Watch::loss) return -e.loss;
        return likelihood_.higher_is_better() ? e.score : -e.score;
    };
    if (std::isnan(figure(now))) return false;
    return state.best_epoch == 0 || figure(now) > figure(state.best_so_far);
}

template <Real T>
bool BestEpoch<T>::keep(TrainState<T>& state, const EpochRecord& record) const {
    if (!better(state, record.validation)) return false;
    state.best_epoch = record.epoch;
    state.best_so_far = record.validation;
    return true;
}

template <Real T>
bool BestEpoch<T>::ends_early(const TrainState<T>& state) const {
    return options_.patience > 0 && state.best_epoch > 0 &&
           std::ssize(state.history) - state.best_epoch >= options_.patience;
}

template <Real T>
void BestEpoch<T>::check_saved(TrainState<T>& state) const {
    const std::int64_t best = std::exchange(state.best_epoch, 0);
    for (const EpochRecord& record : state.history) {
        if (options_.patience > 0 && state.best_epoch > 0 && record.epoch > state.best_epoch + options_.patience)
            throw FileError(options_.checkpoint + ": the saved run has trained for " +
                            std::to_string(state.history.size()) + " epochs; with patience " +
                            std::to_string(options_.patience) + " it would have ended after epoch " +
                            std::to_string(record.epoch - 1) + "; give it more patience, or choose another file");
        keep(state, record);
    }
    if (state.best_epoch != best)
        throw FileError(options_.checkpoint + ": metadata: best_epoch: " + std::to_string(best) +
                        ", but by the history it is " + std::to_string(state.best_epoch));
}

template class BestEpoch<float>;
template class BestEpoch<double>;

}  // namespace pollen::detail
