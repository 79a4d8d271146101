#include <pollen/samplers/run/detail/chain_runner.hpp>

#include <algorithm>
#include <cmath>

namespace pollen::detail {

namespace {

constexpr std::size_t most_text = std::size_t{1} << 22;  // bytes of rows that wait in memory
constexpr double look_pause = 0.01;                      // seconds between two looks at the clock

// Leaves a step that is stopped.
struct Stopped : Error {
    Stopped() : Error("the chain was stopped") {}
};

}  // namespace

double pause_after_flush(double seconds) { return std::max(1.0, 20 * seconds); }

ChainRunner::ChainRunner(const RunPlan& plan, std::uint32_t chain, std::unique_ptr<AnyChain> any, double* values,
                         Report report)
    : plan_(&plan), chain_(chain), any_(std::move(any)), values_(values), report_(std::move(report)) {
    record_.chain = chain + std::int64_t{1};
    record_.reserve(plan.options.draws);
    if (!values) row_.resize(static_cast<std::size_t>(plan.value_count));
    if (plan.options.directory.empty()) return;
    csv_path_ = plan.file(record_.chain, ".csv");
    state_path_ = plan.file(record_.chain, ".state");
}

void ChainRunner::begin() {
    const Energy energy = any_->begin([this] {
        if (stop_ && (*stop_)()) throw Stopped();
    });
    state_.start_prior = energy.prior;
    state_.start_likelihood = energy.likelihood;
    facts_ = any_->facts();
}

// Writes the present position to memory, if it is a draw, and as a row of the file. Returns what there is to report.
DrawRecord ChainRunner::add_row(const StepStatistics& statistics, bool draw) {
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
        // A draw of weight 0 does not count for the temperature, and after a step of size 0 there is no momentum.
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
    return {
        .chain = record_.chain, .draw = record_.draws(), .values = values, .weight = weight, .statistics = statistics};
}

double ChainRunner::step_size_now() const {
    const double known = any_->facts().step_size;
    return std::isnan(known) ? last_step_size_ : known;
}

// The mean and the spread of the Hamiltonian are those of Welford (1962).
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

// False if the step was stopped; nothing has happened then.
bool ChainRunner::step() {
    const RunOptions& o = plan_->options;
    StepStatistics s;
    try {
        s = any_->step();
    } catch (const Stopped&) {
        return false;
    }
    const std::int64_t number = state_.steps++;  // of this step, from 0
    if (number == o.warmup) {
        acceptance_sum_ = 0;
        acceptance_count_ = 0;
        state_.step_size = s.step_size;
        if (file_.is_open()) text_ += stan_csv_adaptation(s.step_size, any_->inverse_metric(), plan_->dimensions);
    }
    acceptance_sum_ += s.acceptance;
    ++acceptance_count_;
    last_step_size_ = s.step_size;
    if (number < o.warmup) {
        // As many rows as CmdStan has: the first step of every `thin`.
        if (o.save_warmup && number % o.thin == 0) add_row(s, false);
        if (number >= o.warmup / 2) any_->learn_centre();
        return true;
    }
    if (facts_.hamiltonian) add_energy(s.hamiltonian);
    state_.divergences += s.divergent;
    state_.invalid_steps += s.invalid;
    state_.deep_steps += facts_.max_tree_depth > 0 && s.tree_depth >= facts_.max_tree_depth;
    state_.gradients += s.gradients;
    if ((state_.steps - o.warmup) % o.thin != 0) return true;
    const DrawRecord draw = add_row(s, true);
    ++state_.draws;
    if (report_) report_(draw);
    return true;
}

void ChainRunner::advance(double seconds, const std::function<bool()>& stop, RunProgress& progress) {
    const RunOptions& o = plan_->options;
    stop_ = &stop;
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
        // So many steps are made before the next look at the clock; the end of the warm-up is always one.
        const bool warmup = state_.steps < o.warmup;
        const std::int64_t most = (warmup ? o.warmup : plan_->steps()) - state_.steps;
        const std::int64_t steps = std::min(most, steps_a_look_);
        bool stopped = false;
        for (std::int64_t k = 0; k < steps && !(stopped = stop() || !step()); ++k) {
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
        progress.update(static_cast<std::size_t>(chain_ - plan_->first_chain), status());
        if (stopped) break;
    }
    stop_ = nullptr;
    if (finished()) close(false);
}

ChainStatus ChainRunner::status() const {
    return {
        .steps = state_.steps,
        .warmup = state_.steps < plan_->options.warmup,
        .acceptance = acceptance_sum_ / static_cast<double>(std::max<std::int64_t>(acceptance_count_, 1)),
        .step_size = last_step_size_,
        .divergences = facts_.hamiltonian || state_.divergences > 0 ? std::optional(state_.divergences) : std::nullopt};
}

void ChainRunner::append_rows() {
    file_.append(text_);
    state_.rows.add(text_);
    text_.clear();
}

// Writes the rows to the file and the state beside it. A run that is resumed goes on from here.
void ChainRunner::flush() {
    const double begin = seconds_now();
    append_rows();
    file_.sync();
    write_state(
        state_path_, state_, [this](StateVisitor& visitor) { visit(visitor, state_.temperature); }, about());
    last_flush_ = seconds_now();
    flush_pause_ = pause_after_flush(last_flush_ - begin);
    flushed_steps_ = state_.steps;
}

// What the record of a chain has beside its draws.
void ChainRunner::close_record(bool after_error) {
    put_into(record_, state_, plan_->options.warmup);
    // No step was made after the warm-up.
    if (state_.steps == plan_->options.warmup) record_.step_size_after_warmup = step_size_now();
    if (!after_error || state_.steps > plan_->options.warmup) record_.inverse_metric = any_->inverse_metric();
}

void ChainRunner::end_file(bool after_error) {
    if (after_error)
        append_rows();
    else
        flush();
    // The saved state does not count what follows: if the run is resumed, it is cut off first.
    if (state_.steps == plan_->options.warmup && !after_error)
        file_.append(stan_csv_adaptation(step_size_now(), any_->inverse_metric(), plan_->dimensions));
    file_.append(stan_csv_footer(state_.warmup_seconds, state_.sampling_seconds));
    file_.sync();
    file_.close();
}

void ChainRunner::close(bool after_error) {
    try {
        close_record(after_error);
        if (file_.is_open()) end_file(after_error);
    } catch (...) {
        if (after_error) file_.close();  // nobody tries again, and what is in the file is copied to rank 0
        throw;
    }
}

}  // namespace pollen::detail
