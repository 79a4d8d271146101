#include <pollen/nn/training/detail/checkpoint.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/data/formats/detail/sealed_tensors.hpp>
#include <pollen/data/io/atomic_file.hpp>
#include <pollen/data/io/detail/file_place.hpp>
#include <pollen/nn/module/save.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace pollen::detail {

namespace {

constexpr Seal run_seal{"pollen training run", "1", "a saved training run"};
constexpr std::int64_t history_columns = 6;
constexpr const char* complexity = "complexity";
constexpr const char* anew = "to start anew, remove the file or choose another one";

std::string memory_name(std::size_t k) { return "memory" + std::to_string(k) + "."; }

// Runs were once saved without a format and a checksum.
bool is_old_run(const TensorFile& file) {
    return !file.metadata.contains("format") && file.metadata.contains("run.seed");
}

bool is_run(const TensorFile& file) {
    const auto format = file.metadata.find("format");
    return is_old_run(file) || (format != file.metadata.end() && format->second == run_seal.format);
}

[[noreturn]] void fail_other_file(const std::string& name) {
    throw FileError(name + ": is not a saved training run; choose another name for the checkpoint");
}

[[noreturn]] void fail_option(const std::string& source, const std::string& name, const std::string& saved,
                              const std::string& now) {
    throw FileError(source + ": the saved run has " + name + " " + saved + ", this one has " + now + "; " + anew);
}

void check_options(const TensorFile& file, const RunFacts& facts) {
    // Of a run that is not spread, files say nothing about blocks.
    const auto blocks = [](const std::map<std::string, std::string>& texts, const std::string& name) {
        const auto at = texts.find(name);
        return at == texts.end() ? "none" : at->second;
    };
    const std::string saved_blocks = blocks(file.metadata, "run.blocks"), now_blocks = blocks(facts.options, "blocks");
    if (saved_blocks != now_blocks) fail_option(file.source(), "blocks", saved_blocks, now_blocks);
    for (const auto& [name, text] : facts.options) {
        const std::string& saved = metadata_text(file, "run." + name, run_seal);
        if (saved != text) fail_option(file.source(), name, saved, text);
    }
}

void check_data(const TensorFile& file, const RunFacts& facts) {
    std::string others;
    for (const auto& [name, text] : facts.data)
        if (metadata_text(file, "data." + name, run_seal) != text) others += (others.empty() ? "" : ", ") + name;
    if (!others.empty())
        throw FileError(file.source() + ": these data are not those of the saved run: " + others +
                        "; go on with the same data, or, " + anew);
}

template <Real T>
std::vector<EpochRecord> read_history(const TensorFile& file, const RunFacts& facts, const TrainState<T>& state) {
    const std::string where = file.source() + ": history";
    const Tensor<double>& numbers = file.get<double>("history");
    const bool open = state.epoch_is_open(facts.per_epoch);
    const std::int64_t epochs = state.step / facts.per_epoch - (open ? 1 : 0);
    if (numbers.shape() != Shape{epochs, history_columns})
        throw FileError(where + " has shape " + to_string(numbers.shape()) + "; after " + std::to_string(state.step) +
                        " steps, of which an epoch has " + std::to_string(facts.per_epoch) +
                        (open ? ", and before the last validation" : "") + ", it must have " +
                        to_string(Shape{epochs, history_columns}));
    std::vector<EpochRecord> history;
    for (const double* row = numbers.begin(); row != numbers.end(); row += history_columns) {
        const std::int64_t epoch = std::ssize(history) + 1;
        const std::string at = where + ": row " + std::to_string(epoch - 1);
        if (row[0] != static_cast<double>(epoch))
            throw FileError(at + " is not that of epoch " + std::to_string(epoch));
        if (std::isnan(row[1])) throw FileError(at + ": the loss is nan");
        if (!facts.validation && !(std::isnan(row[4]) && std::isnan(row[5])))
            throw FileError(at + ": has a validation, but the run has no validation data");
        history.push_back({epoch, row[1], row[2], row[3], {row[4], row[5]}});
    }
    return history;
}

template <Real T>
Tensor<T> read_finite(const TensorFile& file, const std::string& prefix, const Parameters<T>& parameters) {
    Tensor<T> theta = get_parameters(file, prefix, parameters);
    for (const auto& [name, parameter, offset] : parameters.entries()) {
        const T* first = theta.data() + offset;
        if (!std::all_of(first, first + parameter->shape.size(), [](T x) { return std::isfinite(x); }))
            throw FileError(file.source() + ": tensor " + printable(prefix + name) +
                            ": its numbers are not all finite");
    }
    return theta;
}

// The sum of the losses in the epoch that is going on, or that is made and not validated.
template <Real T>
void read_loss(const TensorFile& file, const RunFacts& facts, TrainState<T>& state) {
    state.loss_items = metadata_number<std::int64_t>(file, "loss_items", run_seal);
    state.loss_sum = metadata_number<double>(file, "loss_sum", run_seal);
    const bool open = facts.validation && state.step > 0 && state.epoch_is_open(facts.per_epoch);
    const std::int64_t items = open ? facts.epoch_items : state.step % facts.per_epoch * facts.batch;
    if (open) state.complexity = metadata_number<double>(file, complexity, run_seal);
    if (state.loss_items != items)
        throw FileError(file.source() + ": metadata: loss_items: " + std::to_string(state.loss_items) + " after " +
                        std::to_string(state.step) + " steps; it must be " + std::to_string(items));
    if (std::isnan(state.loss_sum) || (items == 0 && state.loss_sum != 0))
        throw FileError(file.source() + ": metadata: loss_sum: " + to_text(state.loss_sum) + " over " +
                        std::to_string(items) + " items is impossible");
}

}  // namespace

template <Real T>
TrainState<T> parse_checkpoint(Bytes bytes, const std::string& name, const Parameters<T>& parameters,
                               const RunFacts& facts, const ReadLimits& limits) {
    const TensorFile file = parse_safetensors(bytes, name, limits);
    if (!is_run(file)) fail_other_file(name);
    if (is_old_run(file))
        throw FileError(name + ": was saved by an older version of pollen, without a checksum; this version cannot " +
                        "go on with it; " + anew);
    check_seal(bytes, file, run_seal);
    check_options(file, facts);
    check_data(file, facts);

    TrainState<T> state;
    state.step = metadata_number<std::int64_t>(file, "step", run_seal);
    if (state.step > facts.steps)
        throw FileError(name + ": the saved run has made " + std::to_string(state.step) + " steps, this one has " +
                        std::to_string(facts.steps) + "; to train for fewer epochs, choose another file");
    const auto memories = metadata_number<std::int64_t>(file, "memories", run_seal);
    if (memories != facts.memories)
        throw FileError(name + ": metadata: memories: " + std::to_string(memories) + "; the optimiser has " +
                        std::to_string(facts.memories));
    state.theta = read_finite(file, "theta.", parameters);
    for (std::size_t k = 0; k < static_cast<std::size_t>(memories); ++k)
        state.memory.push_back(get_parameters(file, memory_name(k), parameters));
    read_loss(file, facts, state);
    state.history = read_history(file, facts, state);

    state.best_epoch = metadata_number<std::int64_t>(file, "best_epoch", run_seal);
    if (state.best_epoch > std::ssize(state.history))
        throw FileError(name + ": metadata: best_epoch: " + std::to_string(state.best_epoch) +
                        " is not in the history");
    if (state.best_epoch > 0) {
        state.best_so_far = state.history[static_cast<std::size_t>(state.best_epoch - 1)].validation;
        state.best = read_finite(file, "best.", parameters);
    }
    const std::size_t copies = 1 + state.memory.size() + (state.best_epoch > 0 ? 1 : 0);
    if (file.size() != copies * parameters.count() + 1)
        throw FileError(name + ": has " + std::to_string(file.size()) + " tensors; this run has " +
                        std::to_string(copies * parameters.count() + 1));
    return state;
}

template <Real T>
Checkpoint<T>::Checkpoint(std::string path, const Parameters<T>& parameters, RunFacts facts, bool resume)
    : path_(std::move(path)), parameters_(parameters), facts_(std::move(facts)), lock_(path_, resume) {
    if (!locked()) return;
    const FilePlace place = place_of_file(path_);
    remove_temporaries(place.directory, place.name);
}

template <Real T>
bool Checkpoint<T>::exists() const {
    std::error_code error;
    const bool there = std::filesystem::exists(path_, error);
    if (error) throw FileError(path_ + ": cannot be looked at: " + error.message());
    return there;
}

// A network that fits into memory may have a file that does not fit into the usual limit.
template <Real T>
ReadLimits Checkpoint<T>::limits() const {
    const auto numbers = static_cast<std::uint64_t>(parameters_.size() * (2 + facts_.memories));
    return {.max_bytes = ReadLimits{}.max_bytes + numbers * sizeof(T)};
}

template <Real T>
std::optional<TrainState<T>> Checkpoint<T>::read() const {
    if (!exists()) return {};
    return parse_checkpoint(read_bytes(path_, limits()), path_, parameters_, facts_, limits());
}

template <Real T>
void Checkpoint<T>::check_may_replace() const {
    if (!exists()) return;
    const std::vector<std::byte> bytes = read_bytes(path_, limits());
    TensorFile file;
    try {
        file = parse_safetensors(bytes, path_, limits());
    } catch (const FileError& error) {
        const std::string what = error.what(), start = path_ + ": ";
        throw FileError(start + "cannot be read as a saved training run (" +
                        (what.starts_with(start) ? what.substr(start.size()) : what) +
                        "); remove it or choose another name for the checkpoint");
    }
    if (!is_run(file)) fail_other_file(path_);
}

template <Real T>
void Checkpoint<T>::write(const TrainState<T>& state) const {
    TensorFile file;
    put_parameters(file, "theta.", parameters_, state.theta.values());
    for (std::size_t k = 0; k < state.memory.size(); ++k)
        put_parameters(file, memory_name(k), parameters_, state.memory[k].values());
    if (state.best_epoch > 0) put_parameters(file, "best.", parameters_, state.best.values());
    Tensor<double> history = Tensor<double>::zeros(Shape{std::ssize(state.history), history_columns});
    double* row = history.mutable_data();
    for (const EpochRecord& r : state.history) {
        for (const double x :
             {static_cast<double>(r.epoch), r.loss, r.rate, r.complexity, r.validation.loss, r.validation.score})
            *row++ = x;
    }
    file.set("history", history);
    for (const auto& [name, text] : facts_.options) file.metadata["run." + name] = text;
    for (const auto& [name, text] : facts_.data) file.metadata["data." + name] = text;
    file.metadata["step"] = to_text(state.step);
    file.metadata["memories"] = std::to_string(state.memory.size());
    file.metadata["loss_sum"] = to_text(state.loss_sum);
    file.metadata["loss_items"] = to_text(state.loss_items);
    file.metadata["best_epoch"] = to_text(state.best_epoch);
    if (state.epoch_is_open(facts_.per_epoch)) file.metadata[complexity] = to_text(state.complexity);
    write_sealed(path_, std::move(file), run_seal);
}

#define POLLEN_INSTANTIATE(T)                                                                                 \
    template class Checkpoint<T>;                                                                             \
    template TrainState<T> parse_checkpoint(Bytes, const std::string&, const Parameters<T>&, const RunFacts&, \
                                            const ReadLimits&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen::detail
