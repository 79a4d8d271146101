#include <pollen/samplers/run/detail/chain_runner.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/data/io/file.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

namespace pollen::detail {

namespace {

constexpr std::size_t most_text = std::size_t{1} << 22;  // bytes of rows that wait in memory
constexpr double look_pause = 0.01;                      // seconds

bool close_to(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance * (1 + std::abs(a)); }

}  // namespace

double pause_after_flush(double seconds) { return std::max(1.0, 20 * seconds); }

ChainRunner::ChainRunner(const RunPlan& plan, std::uint32_t chain, std::unique_ptr<AnyChain> any, double* values)
    : plan_(&plan), chain_(chain), any_(std::move(any)), values_(values) {
    record_.chain = chain + std::int64_t{1};
    record_.reserve(plan.options.draws);
    if (!values) row_.resize(static_cast<std::size_t>(plan.value_count));
    if (plan.options.directory.empty()) return;
    const std::filesystem::path path =
        std::filesystem::path(plan.options.directory) / ("chain_" + std::to_string(record_.chain));
    csv_path_ = path.string() + ".csv";
    state_path_ = path.string() + ".state";
}

void ChainRunner::begin() {
    const Energy energy = any_->begin();
    state_.start_prior = energy.prior;
    state_.start_likelihood = energy.likelihood;
    facts_ = any_->facts();
}

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

RunDescription ChainRunner::about() const {
    RunDescription about = plan_->about;
    about.emplace_back("chain", std::to_string(record_.chain) + " of " + std::to_string(plan_->options.chains));
    return about;
}

void ChainRunner::open() {
    if (csv_path_.empty()) return;
    std::error_code ignored;
    if (!plan_->options.resume && std::filesystem::exists(state_path_, ignored))
        throw FileError(state_path_ +
                        ": is there already; resume that run, remove its files, or choose another directory");
    if (std::filesystem::exists(state_path_, ignored) && !std::filesystem::exists(csv_path_, ignored))
        throw FileError(csv_path_ + ": is gone, but " + state_path_ +
                        " is there; without its draws the run cannot go on. Choose another directory");
    file_.open(csv_path_, !plan_->options.resume);
    // The files of this chain are ours from here on, and so are the leftovers of a killed run.
    for (const std::string& path : {csv_path_, state_path_})
        remove_temporaries(plan_->options.directory, std::filesystem::path(path).filename().string());
    saved_ = std::filesystem::exists(state_path_, ignored);
    if (saved_)
        restore();
    else
        check_fresh();
}

void ChainRunner::start() {
    if (csv_path_.empty()) return;
    const std::string top = header(plan_->options.draws);
    if (saved_) {
        file_.cut(std::ssize(top_) + state_.row_bytes);
        if (top_ != top) file_.replace_top(std::ssize(top_), top);
        top_bytes_ = std::ssize(top);
        last_flush_ = seconds_now();
        flush_pause_ = pause_after_flush(0);
        flushed_steps_ = state_.steps;
    } else {
        top_bytes_ = std::ssize(top);
        file_.cut(0);
        file_.append(top);
        flush();
    }
    top_ = {};  // a name for each number: for a network that is a lot
}

// A run that was killed before its first state was saved has left no more than a part of the header.
void ChainRunner::check_fresh() {
    const std::string mine = header(plan_->options.draws), top = top_of_file();
    const std::string held = file_.first(std::max(std::ssize(mine), std::ssize(top)) + 1);
    if (!mine.starts_with(held) && !top.starts_with(held))
        throw FileError(csv_path_ + ": holds something, but " + state_path_ +
                        ", from which the run could go on, is not there; choose another directory");
    created_ = true;
}

// The header of the run that the file is of, which may have asked for another number of draws.
std::string ChainRunner::top_of_file() const {
    const std::string mine = header(plan_->options.draws), mark = "\n#     num_samples = ";
    const std::string begin = file_.first(std::ssize(mine));
    const std::size_t at = begin.find(mark);
    if (at == begin.npos) return mine;
    std::int64_t steps = 0;
    std::from_chars(begin.data() + at + mark.size(), begin.data() + begin.size(), steps);
    return header(steps / plan_->options.thin);
}

// A run that may take so much memory reads files of that size, too.
ReadLimits ChainRunner::limits() const {
    return {.max_bytes = std::max(ReadLimits{}.max_bytes, plan_->options.max_memory)};
}

void ChainRunner::restore() {
    const RunState begun = state_;
    const RunOptions& o = plan_->options;
    TemperatureSums temperature;
    state_ = read_state(
        state_path_, [&](StateVisitor& visitor) { visit(visitor, temperature); }, about(), plan_->dimensions, limits());
    if (!temperature.kinetic.valid() || !temperature.configurational.valid())
        throw FileError(state_path_ + ": the batches of the temperature are impossible");
    state_.temperature = temperature;
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
    if (state_.steps > plan_->steps())
        throw FileError(state_path_ + ": the saved run has made " + std::to_string(state_.steps) +
                        " steps, this one has " + std::to_string(plan_->steps()) +
                        "; to have fewer draws, choose another directory");
    top_ = top_of_file();
    const std::int64_t bytes = std::ssize(top_) + state_.row_bytes;
    if (file_.size() < bytes)
        throw FileError(csv_path_ + ": has " + std::to_string(file_.size()) + " bytes, but had " +
                        std::to_string(bytes) + " when " + state_path_ + " was saved");
    if (!file_.begins_with(top_)) throw FileError(csv_path_ + ": does not begin as the file of this run does");
    read_back(bytes);
}

// The draws that the file holds in its first bytes.
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
    for (const std::uint64_t draw : state_.invalid_draws) {
        if (draw >= record_.invalid.size())
            throw FileError(state_path_ + ": invalid_draws: there is no draw " + std::to_string(draw));
        record_.invalid[static_cast<std::size_t>(draw)] = 1;
    }
}

void ChainRunner::undo_open() {
    if (!created_) return;
    std::error_code ignored;
    std::filesystem::remove(state_path_, ignored);
    std::filesystem::remove(csv_path_, ignored);
}

void ChainRunner::add_row(const StepStatistics& statistics, bool draw) {
    double* to = draw && values_ ? values_ + record_.draws() * plan_->value_count : nullptr;
    if (!to) {
        row_.resize(static_cast<std::size_t>(plan_->value_count));
        to = row_.data();
    }
    const std::span<double> values(to, static_cast<std::size_t>(plan_->value_count));
    any_->values(values);
    const double weight = facts_.weighted ? any_->weight() : 1;
    if (draw) {
        record_.add(statistics, weight);
        // At weight 0 there is nothing to measure, and after a step of 0 no momentum.
        if (weight > 0 && statistics.step_size > 0) {
            const Temperatures measured = any_->temperatures(statistics);
            if (!std::isnan(measured.kinetic)) state_.temperature.kinetic.add(measured.kinetic, weight);
            if (!std::isnan(measured.configurational))
                state_.temperature.configurational.add(measured.configurational, weight);
        }
        if (statistics.invalid) state_.invalid_draws.push_back(static_cast<std::uint64_t>(state_.draws));
    }
    if (file_.is_open()) {
        plan_->rows.append(text_, facts_, statistics, weight, values);
        if (text_.size() > most_text) append_rows();
    }
}

double ChainRunner::step_size_now() const {
    const double known = any_->facts().step_size;
    return std::isnan(known) ? last_step_size_ : known;
}

// mean and spread after Welford (1962)
void ChainRunner::add_energy(double hamiltonian) {
    const std::int64_t n = state_.steps - plan_->options.warmup;
    if (n > 1) state_.energy_jumps += (hamiltonian - state_.energy_last) * (hamiltonian - state_.energy_last);
    const double distance = hamiltonian - state_.energy_mean;
    state_.energy_mean += distance / static_cast<double>(n);
    state_.energy_spread += distance * (hamiltonian - state_.energy_mean);
    state_.energy_last = hamiltonian;
}

void ChainRunner::visit(StateVisitor& visitor, TemperatureSums& temperature) {
    any_->visit(visitor);
    temperature.kinetic.visit(visitor, "kinetic");
    temperature.configurational.visit(visitor, "configurational");
}

void ChainRunner::step() {
    const RunOptions& o = plan_->options;
    const StepStatistics s = any_->step();
    const std::int64_t warm = state_.steps++;  // the number of this step, from 0
    if (warm == o.warmup) {
        acceptance_sum_ = 0;
        acceptance_count_ = 0;
        state_.step_size = s.step_size;
        if (file_.is_open()) text_ += stan_csv_adaptation(s.step_size, any_->inverse_metric(), plan_->dimensions);
    }
    acceptance_sum_ += s.acceptance;
    ++acceptance_count_;
    last_step_size_ = s.step_size;
    if (warm < o.warmup) {
        // As many rows as CmdStan has: the first step of every `thin`.
        if (o.save_warmup && warm % o.thin == 0) add_row(s, false);
        if (warm >= o.warmup / 2) any_->learn_centre();
        return;
    }
    if (facts_.hamiltonian) add_energy(s.hamiltonian);
    state_.divergences += s.divergent;
    state_.invalid_steps += s.invalid;
    state_.deep_steps += facts_.max_tree_depth > 0 && s.tree_depth >= facts_.max_tree_depth;
    state_.gradients += s.gradients;
    if ((state_.steps - o.warmup) % o.thin != 0) return;
    add_row(s, true);
    ++state_.draws;
}

void ChainRunner::advance(double seconds, const std::function<bool()>& stop, RunProgress& progress) {
    const RunOptions& o = plan_->options;
    const double end = seconds_now() + seconds;
    double then = seconds_now();
    const auto account = [&](bool warmup) {
        const double now = seconds_now();
        (warmup ? state_.warmup_seconds : state_.sampling_seconds) += now - then;
        const double gone = now - then;
        then = now;
        return gone;
    };
    while (!finished() && then < end) {
        // The clock is looked at every hundredth of a second or so, and where the warm-up ends.
        const bool warmup = state_.steps < o.warmup;
        const std::int64_t most = (warmup ? o.warmup : plan_->steps()) - state_.steps;
        const std::int64_t steps = std::min(most, steps_a_look_);
        bool stopped = false;
        for (std::int64_t k = 0; k < steps && !(stopped = stop()); ++k) {
            step();
            if (o.flush_every > 0 && file_.is_open() && state_.steps - flushed_steps_ >= o.flush_every * o.thin) {
                account(warmup);
                flush();
                then = seconds_now();
            }
        }
        const double gone = account(warmup);
        if (gone < look_pause / 2) steps_a_look_ = std::min<std::int64_t>(2 * steps_a_look_, 1'000'000);
        if (gone > look_pause * 2) steps_a_look_ = std::max<std::int64_t>(steps_a_look_ / 2, 1);
        if (o.flush_every == 0 && file_.is_open() && then - last_flush_ >= flush_pause_) flush();
        progress.update(chain_, status());
        if (stopped) break;
    }
    if (finished()) close(false);
}

ChainStatus ChainRunner::status() const {
    return {.steps = state_.steps,
            .warmup = state_.steps < plan_->options.warmup,
            .acceptance = acceptance_sum_ / static_cast<double>(std::max<std::int64_t>(acceptance_count_, 1)),
            .step_size = last_step_size_,
            .divergences = state_.divergences};
}

void ChainRunner::append_rows() {
    file_.append(text_);
    text_.clear();
}

void ChainRunner::flush() {
    const double begin = seconds_now();
    append_rows();
    file_.sync();
    state_.row_bytes = file_.size() - top_bytes_;
    write_state(
        state_path_, state_, [this](StateVisitor& visitor) { visit(visitor, state_.temperature); }, about());
    last_flush_ = seconds_now();
    flush_pause_ = pause_after_flush(last_flush_ - begin);
    flushed_steps_ = state_.steps;
}

void ChainRunner::close(bool after_error) {
    const bool just_warm = state_.steps == plan_->options.warmup;  // and no step after the warm-up
    record_.step_size_after_warmup = just_warm ? step_size_now() : state_.step_size;
    if (!after_error || state_.steps > plan_->options.warmup) record_.inverse_metric = any_->inverse_metric();
    record_.warmup_seconds = state_.warmup_seconds;
    record_.sampling_seconds = state_.sampling_seconds;
    record_.steps = std::max<std::int64_t>(0, state_.steps - plan_->options.warmup);
    record_.divergences = state_.divergences;
    record_.invalid_steps = state_.invalid_steps;
    record_.deep_steps = state_.deep_steps;
    record_.temperature = state_.temperature;
    record_.warmup_steps = std::min(state_.steps, plan_->options.warmup);
    record_.ebfmi =
        record_.steps > 1 ? state_.energy_jumps / state_.energy_spread : std::numeric_limits<double>::quiet_NaN();
    record_.gradient_count = state_.gradients;
    if (!file_.is_open()) return;
    if (after_error)
        append_rows();
    else
        flush();
    // What follows is not counted: where the run goes on, it is cut off first.
    if (just_warm && !after_error)
        file_.append(stan_csv_adaptation(step_size_now(), any_->inverse_metric(), plan_->dimensions));
    file_.append(stan_csv_footer(state_.warmup_seconds, state_.sampling_seconds));
    file_.sync();
    const ChainFile closed = std::move(file_);
}

}  // namespace pollen::detail
