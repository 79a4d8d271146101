#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/io/atomic_file.hpp>
#include <pollen/data/io/file.hpp>
#include <pollen/samplers/draws/detail/check_rows.hpp>
#include <pollen/samplers/run/detail/chain_runner.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>

// How a chain opens its files, and how a saved chain is restored.
namespace pollen::detail {

namespace {

bool close_to(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance * (1 + std::abs(a)); }

}  // namespace

std::string ChainRunner::header(std::int64_t draws) const {
    const RunOptions& o = plan_->options;
    return stan_csv_header({.model = o.name,
                            .sampler = plan_->sampler,
                            .chain = record_.chain,
                            .warmup = o.warmup,
                            .draws = draws,
                            .thin = o.thin,
                            .save_warmup = o.save_warmup,
                            .seed = o.seed,
                            .radius = o.radius.value_or(2),
                            .file = std::filesystem::path(csv_path_).filename().string(),
                            .facts = facts_},
                           plan_->quantities);
}

RunDescription ChainRunner::about() const { return plan_->about_chain(record_.chain); }

void ChainRunner::open() {
    if (csv_path_.empty()) return;
    std::error_code ignored;
    if (!plan_->options.resume && std::filesystem::exists(state_path_, ignored))
        throw FileError(state_path_ +
                        ": is there already; resume that run, remove its files, or choose another directory");
    if (std::filesystem::exists(state_path_, ignored) && !std::filesystem::exists(csv_path_, ignored))
        throw FileError(csv_path_ + ": is gone, but " + state_path_ +
                        " is there; without its draws the run cannot go on. Choose another directory");
    saved_ = plan_->options.resume && std::filesystem::exists(state_path_, ignored);
    file_.open(csv_path_, !plan_->options.resume, saved_);
    // The file is locked, so temporary files can only be those of a killed run.
    if (!file_.read_only())
        for (const std::string& path : {csv_path_, state_path_})
            remove_temporaries(plan_->options.directory, std::filesystem::path(path).filename().string());
    saved_ = std::filesystem::exists(state_path_, ignored);
    if (saved_)
        restore();
    else
        check_fresh();
    if (!finished()) file_.check_writable();
}

void ChainRunner::start() {
    if (csv_path_.empty()) return;
    if (file_.read_only()) {  // there is nothing left to write
        file_.close();
        return;
    }
    const std::string top = header(plan_->options.draws);
    if (saved_) {
        file_.cut(std::ssize(top_) + state_.rows.bytes);
        if (top_ != top) file_.replace_top(std::ssize(top_), top);
        last_flush_ = seconds_now();
        flush_pause_ = pause_after_flush(0);
        flushed_steps_ = state_.steps;
    } else {
        file_.cut(0);
        file_.append(top);
        flush();
    }
    top_ = {};  // it has a name for each number, which is a lot of text for a network
}

double ChainRunner::copy() const {
    if (file_.read_only()) return 0;
    const std::string top = header(plan_->options.draws);
    return saved_ && top_ != top ? static_cast<double>(std::ssize(top)) + static_cast<double>(state_.rows.bytes) : 0;
}

// Without a saved state the file may hold a part of the header alone, from a run that was killed before its first state
// was saved.
void ChainRunner::check_fresh() {
    const std::string mine = header(plan_->options.draws), top = top_of_file();
    const std::string held = file_.first(std::max(std::ssize(mine), std::ssize(top)) + 1);
    if (!mine.starts_with(held) && !top.starts_with(held))
        throw FileError(csv_path_ + ": holds something, but " + state_path_ +
                        ", from which the run could go on, is not there; choose another directory");
    created_ = true;
}

// The header of the run that began the file. That run may have asked for another number of draws.
std::string ChainRunner::top_of_file() const {
    std::string mine = header(plan_->options.draws);
    const std::string mark = "\n#     num_samples = ";
    const std::string begin = file_.first(std::ssize(mine));
    const std::size_t at = begin.find(mark);
    if (at == begin.npos) return mine;
    std::int64_t steps = 0;
    std::from_chars(begin.data() + at + mark.size(), begin.data() + begin.size(), steps);
    return header(steps / plan_->options.thin);
}

// A run that may use more memory than usual may also read larger files.
ReadLimits ChainRunner::limits() const {
    return {.max_bytes = std::max(ReadLimits{}.max_bytes, plan_->options.max_memory)};
}

// Compares the restored chain with this run: `begun` is the state of a chain that has just begun.
void ChainRunner::check_restored(const RunState& begun) const {
    const RunOptions& o = plan_->options;
    const double tolerance = plan_->precision == "float" ? 1e-4 : 1e-9;
    if (!close_to(state_.start_prior, begun.start_prior, tolerance) ||
        !close_to(state_.start_likelihood, begun.start_likelihood, tolerance))
        throw FileError(state_path_ + ": the energy at the start of the saved run was " + to_text(state_.start_prior) +
                        " + " + to_text(state_.start_likelihood) + " (prior and likelihood), now it is " +
                        to_text(begun.start_prior) + " + " + to_text(begun.start_likelihood) +
                        "; the model or its data are not the same; choose another directory");
    if (state_.draws != std::max<std::int64_t>(0, state_.steps - o.warmup) / o.thin)
        throw FileError(state_path_ + ": metadata: draws: " + std::to_string(state_.draws) + " after " +
                        std::to_string(state_.steps) + " steps is impossible");
    if (any_->steps() != state_.steps || any_->size() != plan_->dimensions)
        throw FileError(state_path_ + ": the chain has made " + std::to_string(any_->steps()) + " steps and has " +
                        std::to_string(any_->size()) + " dimensions; it should be " + std::to_string(state_.steps) +
                        " and " + std::to_string(plan_->dimensions));
    if (!any_->finite()) throw FileError(state_path_ + ": a number of the position is not finite");
    if (state_.steps > plan_->steps())
        throw FileError(state_path_ + ": the saved run has made " + std::to_string(state_.steps) +
                        " steps, this one has " + std::to_string(plan_->steps()) +
                        "; to have fewer draws, choose another directory");
}

void ChainRunner::restore() {
    const RunState begun = state_;
    TemperatureSums temperature;
    const auto visit_chain = [&](StateVisitor& visitor) {
        try {
            visit(visitor, temperature);
        } catch (const FileError&) {
            throw;
        } catch (...) {
            throw FileError(state_path_ + ": " + what_of(std::current_exception()));
        }
    };
    state_ = read_state(state_path_, visit_chain, about(), plan_->dimensions, limits());
    if (!temperature.kinetic.valid() || !temperature.configurational.valid())
        throw FileError(state_path_ + ": the batches of the temperature are impossible");
    state_.temperature = temperature;
    check_restored(begun);
    top_ = top_of_file();
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() - std::ssize(top_);
    const std::int64_t bytes = std::ssize(top_) + std::min(state_.rows.bytes, most);
    if (file_.size() < bytes)
        throw FileError(csv_path_ + ": has " + std::to_string(file_.size()) + " bytes, but had " +
                        std::to_string(bytes) + " when " + state_path_ +
                        " was saved: rows are lost, and without them the run cannot go on. Choose another directory");
    if (!file_.begins_with(top_)) throw FileError(csv_path_ + ": does not begin as the file of this run does");
    check_rows(csv_path_, std::ssize(top_), state_.rows, state_path_, ". Choose another directory",
               [this](std::int64_t first, std::int64_t end, const auto& use) { file_.each_piece(first, end, use); });
    read_back(bytes);
}

// Reads the draws that the file holds in its first bytes.
void ChainRunner::read_back(std::int64_t bytes) {
    StanCsvReader reader(csv_path_, limits(), bytes);
    StanCsvReader::Row row;
    while (reader.next(row, values_ != nullptr)) {
        if (row.warmup) continue;
        if (record_.draws() == state_.draws) break;
        if (values_) std::copy(row.values.begin(), row.values.end(), values_ + record_.draws() * plan_->value_count);
        record_.add(row.statistics, row.weight);
    }
    if (record_.draws() != state_.draws || reader.next(row, false) || reader.cut_short())
        throw FileError(csv_path_ + ": does not hold the " + std::to_string(state_.draws) + " draws that " +
                        state_path_ + " speaks of");
    for (const std::uint64_t draw : state_.invalid_draws) record_.invalid[static_cast<std::size_t>(draw)] = 1;
}

void ChainRunner::undo_open() {
    if (!created_) return;
    std::error_code ignored;
    std::filesystem::remove(state_path_, ignored);
    std::filesystem::remove(csv_path_, ignored);
}

}  // namespace pollen::detail
