#include <pollen/nn/training/detail/checkpoint.hpp>

#include <pollen/nn/module/save.hpp>

#include <array>
#include <charconv>
#include <filesystem>

namespace pollen {

namespace {

constexpr std::int64_t history_columns = 6;

template <class N>
std::string exact_text(N number) {
    std::array<char, 64> text;
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
    return {text.data(), end};
}

template <class N>
N number(const TensorFile& file, const std::string& field) {
    const auto at = file.metadata.find(field);
    if (at == file.metadata.end())
        throw FileError(file.source() + ": metadata: there is no " + field + "; is it a saved training run?");
    N value{};
    const char *first = at->second.data(), *last = first + at->second.size();
    const auto [end, error] = std::from_chars(first, last, value);
    if (error != std::errc() || end != last)
        throw FileError(file.source() + ": metadata: " + field + ": \"" + at->second + "\" is not a number");
    return value;
}

std::int64_t count(const TensorFile& file, const std::string& field) {
    const auto value = number<std::int64_t>(file, field);
    if (value < 0)
        throw FileError(file.source() + ": metadata: " + field + ": " + std::to_string(value) + " is negative");
    return value;
}

void check_is_run(const TensorFile& file) {
    if (!file.metadata.contains("run.seed"))
        throw FileError(file.source() + ": is not a saved training run; choose another name for the checkpoint");
}

std::string memory_name(std::size_t k) { return "memory" + std::to_string(k) + "."; }

}  // namespace

template <Real T>
void write_checkpoint(const std::string& path, const TrainState<T>& state, const Parameters<T>& parameters,
                      const std::map<std::string, std::string>& about) {
    TensorFile file;
    put_parameters(file, "theta.", parameters, state.theta.values());
    for (std::size_t k = 0; k < state.memory.size(); ++k)
        put_parameters(file, memory_name(k), parameters, state.memory[k].values());
    if (state.best_epoch > 0) put_parameters(file, "best.", parameters, state.best.values());
    Tensor<double> history = Tensor<double>::zeros(Shape{std::ssize(state.history), history_columns});
    double* row = history.mutable_data();
    for (const EpochRecord& r : state.history) {
        for (const double x :
             {static_cast<double>(r.epoch), r.loss, r.rate, r.complexity, r.validation.loss, r.validation.score})
            *row++ = x;
    }
    file.set("history", history);
    for (const auto& [name, text] : about) file.metadata["run." + name] = text;
    file.metadata["step"] = exact_text(state.step);
    file.metadata["memories"] = exact_text(state.memory.size());
    file.metadata["loss_sum"] = exact_text(state.loss_sum);
    file.metadata["loss_items"] = exact_text(state.loss_items);
    file.metadata["best_epoch"] = exact_text(state.best_epoch);
    file.metadata["best_loss"] = exact_text(state.best_so_far.loss);
    file.metadata["best_score"] = exact_text(state.best_so_far.score);
    write_safetensors(path, file);
}

template <Real T>
TrainState<T> read_checkpoint(const std::string& path, const Parameters<T>& parameters,
                              const std::map<std::string, std::string>& about) {
    const TensorFile file = read_safetensors(path);
    check_is_run(file);
    for (const auto& [name, text] : about) {
        const auto at = file.metadata.find("run." + name);
        const std::string saved = at == file.metadata.end() ? "nothing" : at->second;
        if (saved != text)
            throw FileError(path + ": the saved run has " + name + " " + saved + ", this one has " + text +
                            "; to start anew, remove the file or choose another one");
    }
    TrainState<T> state;
    state.step = count(file, "step");
    const auto memories = static_cast<std::size_t>(count(file, "memories"));
    if (memories > 2)
        throw FileError(path + ": metadata: memories: " + std::to_string(memories) + "; at most 2 are known");
    state.theta = get_parameters(file, "theta.", parameters);
    for (std::size_t k = 0; k < memories; ++k) state.memory.push_back(get_parameters(file, memory_name(k), parameters));
    state.loss_sum = number<double>(file, "loss_sum");
    state.loss_items = count(file, "loss_items");
    state.best_epoch = count(file, "best_epoch");
    state.best_so_far = {number<double>(file, "best_loss"), number<double>(file, "best_score")};
    if (state.best_epoch > 0) state.best = get_parameters(file, "best.", parameters);
    const Tensor<double>& history = file.get<double>("history");
    if (history.rank() != 2 || history.shape()[1] != history_columns)
        throw FileError(path + ": history has shape " + to_string(history.shape()) + "; (epochs, " +
                        std::to_string(history_columns) + ") is needed");
    for (const double* row = history.begin(); row != history.end(); row += history_columns) {
        const std::int64_t epoch = std::ssize(state.history) + 1;
        if (row[0] != static_cast<double>(epoch))
            throw FileError(path + ": history: row " + std::to_string(epoch - 1) + " is not that of epoch " +
                            std::to_string(epoch));
        state.history.push_back({epoch, row[1], row[2], row[3], {row[4], row[5]}});
    }
    if (state.best_epoch > std::ssize(state.history))
        throw FileError(path + ": metadata: best_epoch: " + std::to_string(state.best_epoch) +
                        " is not in the history");
    return state;
}

void check_may_replace(const std::string& path) {
    if (std::filesystem::exists(path)) check_is_run(read_safetensors(path));
}

#define POLLEN_INSTANTIATE(T)                                                                      \
    template void write_checkpoint(const std::string&, const TrainState<T>&, const Parameters<T>&, \
                                   const std::map<std::string, std::string>&);                     \
    template TrainState<T> read_checkpoint(const std::string&, const Parameters<T>&,               \
                                           const std::map<std::string, std::string>&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
