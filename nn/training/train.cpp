#include <pollen/nn/training/train.hpp>

#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/autograd/rows.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/detail/all_gathered.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/io/detail/hash_text.hpp>
#include <pollen/nn/training/detail/best_epoch.hpp>
#include <pollen/nn/training/detail/callbacks.hpp>
#include <pollen/nn/training/detail/check_options.hpp>
#include <pollen/nn/training/detail/checkpoint.hpp>
#include <pollen/nn/training/detail/evaluate_at.hpp>
#include <pollen/nn/training/detail/on_rank_0.hpp>
#include <pollen/nn/training/detail/progress_text.hpp>
#include <pollen/nn/training/detail/share_state.hpp>
#include <pollen/nn/training/detail/spread_step.hpp>
#include <pollen/nn/training/detail/stoppable.hpp>
#include <pollen/nn/training/update.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <cmath>
#include <numbers>
#include <optional>

namespace pollen {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <Real T>
bool all_finite(const Tensor<T>& x) {
    // A sum of x - x is 0, or NaN where one x is not finite.
    return kernels::reduce_all<kernels::Sum, T>(
               x.size(), [](const auto& v) { return v - v; }, kernels::Stream<T>{x.data()}) == T(0);
}

template <Real T>
class Run {
  public:
    Run(Module<T>& net, Likelihood<T>& likelihood, const Dataset<T>& data, const TrainOptions& options,
        const Dataset<T>* validation, detail::Callbacks& callbacks)
        : net_(net),
          likelihood_(likelihood),
          data_(data),
          options_(options),
          validation_(validation),
          callbacks_(callbacks),
          parameters_(parameters_of<T>(net, likelihood)),
          batches_(data, {options.batch, options.draw, options.seed, options.augmentation}) {
        if (parameters_.size() == 0) throw ValueError("train: the network has no parameters");
        if (options.patience > 0 && !validation && group_.rank() == 0)
            throw ValueError("train: patience needs validation data");
        if (!options.prior.flat() && !bayesian_weights(net).empty())
            throw ValueError("train: prior is " + options.prior.describe() +
                             ", but the network has Bayesian layers, which have priors of their own");
        if (options.spread || !bayesian_weights(net).empty()) parameters_.check_no_statistics("train");
        if (options.spread) spread_.emplace(net, likelihood, run_data_, options, *options.spread, pass_);
    }

    TrainResult operator()() {
        start();
        group_.together([this] {
            good_ = Tensor<T>(state_.theta.shape(), state_.theta.values());
            if (state_.step > 0) last_ = record_of(state_.step - 1);
        });
        const std::int64_t steps = options_.epochs * per_epoch();
        Progress progress(group_.rank() == 0 ? options_.show : Show::nothing, steps, state_.step);
        if (state_.step > 0 && (state_.step < steps || epoch_is_open()))
            progress.say("going on from step " + std::to_string(state_.step) + " of " + std::to_string(steps));
        if (checkpoint_ && !checkpoint_->locked() && !ended())
            progress.say(options_.checkpoint +
                         ": cannot be locked on this file system; make sure that no other run writes to it");
        TrainResult result;
        try {
            if (!ended() && stopped_at_start()) result.end = End::interrupted;
            while (!ended() && result.end == End::finished) result.end = advance(progress);
            if (ended()) {
                result.end = End::finished;
            } else {
                check_theta("step " + std::to_string(state_.step));
                save_run();
                progress.say("stopped after step " + std::to_string(state_.step) + " of " + std::to_string(steps) +
                             (options_.checkpoint.empty() ? "" : "; the run is saved in " + options_.checkpoint));
            }
        } catch (...) {
            keep_best();
            throw;
        }
        if (best_.ends_early(state_) && state_.step < steps) {
            result.end = End::early;
            progress.say("no better epoch since epoch " + std::to_string(state_.best_epoch) + " (validation " +
                         likelihood_.score_name() + " " + to_text(state_.best_so_far.score) +
                         "), which is kept: ended early");
        }
        keep_best();
        result.steps = state_.step;
        result.best_epoch = state_.best_epoch;
        result.history = state_.history;
        return result;
    }

  private:
    using End = TrainResult::End;

    std::int64_t per_epoch() const { return spread_ ? spread_->per_epoch() : batches_.per_epoch(); }
    bool interrupted() const { return spread_ ? losses_.interrupted : detail::stop_requested(options_.stop); }
    // Whether a stop was requested before the first step, on any rank.
    bool stopped_at_start() { return detail::total(group_, detail::stop_requested(options_.stop) ? 1 : 0) > 0; }

    // Makes a step and, if it was the last one of its epoch, ends the epoch. A run that was stopped in between goes on
    // with the end of the epoch. Returns why the run has to stop now, or `finished`.
    End advance(Progress& progress) {
        const bool makes_step = !epoch_is_open();
        if (makes_step && !detail::unless_stopped([this] { step(); })) return End::interrupted;
        const bool epoch_ends = epoch_is_open() && detail::unless_stopped([this] { finish_epoch(); });
        if (progress.due(state_.step)) progress.update(state_.step, text());
        if (asks_ && !detail::on_rank_0(group_, [&] { return ask(makes_step, epoch_ends); })) return End::callback;
        return epoch_is_open() || interrupted() ? End::interrupted : End::finished;
    }

    // The callbacks; returns whether the run goes on.
    bool ask(bool makes_step, bool epoch_ends) {
        bool go_on = true;
        if (makes_step && options_.on_step) go_on = callbacks_(options_.on_step, last_);
        if (epoch_ends && options_.on_epoch) {
            keep(state_.theta);
            go_on &= callbacks_(options_.on_epoch, state_.history.back());
        }
        return go_on;
    }

    void check_data(const std::string& which, const detail::RunData<T>& data) const {
        detail::check_run_data<T>(which, data, net_, likelihood_, parameters_, state_.theta.values(), options_.batch,
                                  options_.stop);
    }

    // A run that is resumed leaves the network as it is until it ends.
    void start() {
        detail::RunFacts facts;
        group_.together(
            [&] { facts = detail::run_facts<T>(net_, likelihood_, run_data_, options_, validation_, per_epoch()); });
        if (spread_) detail::agree_on_run(group_, facts, data_, options_);
        validates_ = detail::on_rank_0(group_, [&] { return validation_ != nullptr; });
        asks_ = detail::on_rank_0(group_, [&] { return options_.on_step || options_.on_epoch; });
        const bool saves = detail::on_rank_0(group_, [&] { return !options_.checkpoint.empty(); });
        if (saves) {
            detail::add_data_facts(facts, data_, options_, validation_);
            if (detail::on_rank_0(group_, [&] { return open_checkpoint(std::move(facts)); }))
                return detail::share_state(group_, state_, parameters_.size(), options_.optimiser.memories());
        }
        group_.together([&] {
            initialise<T>(net_, likelihood_, options_.seed, Which::missing);
            state_.theta = parameters_.flatten();
        });
        detail::share_numbers(group_, state_.theta, parameters_.size());
        group_.together([&] {
            // Data that do not fit should say so now, not in the middle of the run. Those of a saved run do.
            check_data("", run_data_);
            if (validation_) check_data("validation data: ", {*validation_, 0, validation_->size()});
            for (int k = 0; k < options_.optimiser.memories(); ++k)
                state_.memory.push_back(Tensor<T>::zeros(Shape{parameters_.size()}));
        });
        save_run();  // now, rather than after an epoch, is the time to learn that the file cannot be written
    }

    // Returns whether there is a saved run to go on with, which is then the state.
    bool open_checkpoint(detail::RunFacts facts) {
        const detail::Checkpoint<T>& checkpoint =
            checkpoint_.emplace(options_.checkpoint, parameters_, std::move(facts), options_.resume);
        const bool resumed = options_.resume && resume(checkpoint);
        if (!resumed || !ended()) checkpoint.check_writable();
        if (!resumed) checkpoint.check_may_replace();
        return resumed;
    }

    // Returns false if there is no saved run.
    bool resume(const detail::Checkpoint<T>& checkpoint) {
        std::optional<detail::TrainState<T>> saved = checkpoint.read();
        if (!saved) return false;
        state_ = std::move(*saved);
        best_.check_saved(state_);
        return true;
    }

    // Of step `step`, counted from 0, before it is made. A schedule of a user may return any rate.
    StepRecord record_of(std::int64_t step) const {
        const double rate = options_.optimiser.rate(step);
        if (!(rate >= 0) || std::isinf(rate))
            throw ValueError("train: the rate is " + to_text(rate) + " at step " + std::to_string(step + 1) +
                             "; it must be finite and not negative");
        return {.step = step + 1, .epoch = step / per_epoch() + 1, .rate = rate};
    }

    // What may throw on one rank alone is called by group_.together(), or by the SpreadStep.
    void step() {
        const std::int64_t in_epoch = state_.step % per_epoch(), epoch = state_.step / per_epoch();
        const PassOptions how{.mode = Mode::train,
                              .seed = options_.seed,
                              .step = static_cast<std::uint64_t>(state_.step),
                              .complexity_value = in_epoch + 1 == per_epoch()};
        const auto kl_weight = [&](std::int64_t n) {
            return options_.kl(in_epoch, per_epoch(), n, run_data_.items, epoch) / static_cast<double>(n);
        };
        const auto next_record = [this] { last_ = record_of(state_.step); };
        const auto check_loss = [&](double loss, const auto& rows) {
            last_.loss = loss;
            if (!std::isfinite(loss)) fail_loss(rows);
            if (in_epoch == 0) std::copy_n(state_.theta.data(), state_.theta.size(), good_.mutable_data());
        };
        double norm = 0;
        const auto update = [&](const auto& loss_or_gradient) {
            norm = update_(loss_or_gradient, {.rate = last_.rate, .step = state_.step}, options_.clip_norm);
        };
        if (spread_) {
            losses_ = (*spread_)(state_.step, how, state_.theta.values(), next_record, std::cref(kl_weight));
            check_loss(losses_.cost, [this] { return spread_->rows(); });
            const Tensor<T> gradient = spread_->gradient();
            group_.together([&] { update(gradient); });
        } else {
            next_record();
            const Dataset<T> batch = batches_.at(state_.step);
            tape_.clear();
            pass_.restart(how, state_.theta.values());
            Var<T> loss = loss_.cost(batch, batch.size(), state_.theta.values());
            check_loss(loss_.last_cost(), [&] { return std::span(&batch, 1); });
            loss_.add_complexity(loss, kl_weight(batch.size()));
            losses_ = {.items = batch.size(), .complexity = loss_.last_complexity()};
            update(loss);
        }
        if (std::isfinite(options_.clip_norm)) {
            last_.gradient_norm = norm;
            if (!std::isfinite(norm))
                throw ValueError("train: the gradient is not finite at step " + std::to_string(last_.step));
        }
        state_.loss_sum += last_.loss * static_cast<double>(losses_.items);
        state_.loss_items += losses_.items;
        state_.complexity = losses_.complexity;
        ++state_.step;
    }

    [[noreturn]] void fail_loss(const auto& rows_of_batch) {
        state_.theta = good_;
        const std::string what = "train: the loss is " + to_text(last_.loss) + " at step " + std::to_string(last_.step);
        const auto check = [&](const char* part, const Tensor<T>& numbers, const Tensor<T>& all) {
            if (all_finite(numbers)) return;
            std::int64_t item = 0;
            while (item + 1 < data_.size() && all_finite(rows(all, item, 1))) ++item;
            throw ValueError(what + ": the " + part + " of item " + std::to_string(run_data_.first + item) +
                             " are not all finite numbers");
        };
        group_.together([&] {
            for (const Dataset<T>& part : rows_of_batch()) {
                check("inputs", part.inputs, data_.inputs);
                check("targets", part.targets, data_.targets);
            }
        });
        throw ValueError(what + "; a smaller rate (now " + to_text(last_.rate) + ") or a clip_norm may help");
    }

    // Schedules, priors and optimisers of a user are compared by their text alone.
    void check_theta(const std::string& when) {
        if (group_.size() > 1)
            group_.agree("the parameters after " + when +
                             " of train() (the optimiser, its schedule or a prior does something else on some ranks, "
                             "though its text is the same)",
                         detail::hash_text(std::as_bytes(state_.theta.values())));
        if (all_finite(state_.theta)) return;
        state_.theta = good_;
        throw ValueError("train: parameters are not finite after " + when + "; a smaller rate (now " +
                         to_text(last_.rate) + ") or a clip_norm may help");
    }

    void finish_epoch() {
        const std::int64_t epoch = state_.step / per_epoch();
        check_theta("epoch " + std::to_string(epoch));
        EpochRecord record{.epoch = epoch,
                           .loss = state_.loss_sum / static_cast<double>(state_.loss_items),
                           .rate = last_.rate,
                           .complexity = state_.complexity,
                           .validation = {nan, nan}};
        if (validates_) {
            record.validation = validate();
            if (best_.keep(state_, record)) state_.best = state_.theta;
        }
        state_.loss_sum = 0;
        state_.loss_items = 0;
        state_.history.push_back(record);
        const bool last = record.epoch == options_.epochs || best_.ends_early(state_);
        if (last || record.epoch % options_.checkpoint_every == 0) save_run();
    }

    // On rank 0. If it is stopped there, all ranks throw TrainingStopped.
    Evaluation validate() {
        struct Found {
            Evaluation evaluation;
            bool stopped;
        };
        const Found found = detail::on_rank_0(group_, [&] {
            Found mine{};
            const std::int64_t batch = std::clamp<std::int64_t>(options_.batch, 128, 1000);
            mine.stopped = !detail::unless_stopped([&] {
                mine.evaluation = detail::evaluate_at<T>(state_.theta.values(), parameters_, net_, likelihood_,
                                                         *validation_, batch, &options_.stop);
            });
            return mine;
        });
        if (found.stopped) detail::stop_training();
        return found.evaluation;
    }

    bool epoch_is_open() const { return state_.epoch_is_open(per_epoch()); }

    bool ended() const {
        return !epoch_is_open() && (state_.step >= options_.epochs * per_epoch() || best_.ends_early(state_));
    }

    std::string text() const {
        return detail::progress_text(state_, last_, options_.epochs, !pass_.complexities().empty(),
                                     validates_ ? likelihood_.score_name() : nullptr);
    }

    void save_run() {
        detail::on_rank_0(group_, [&] {
            if (checkpoint_) checkpoint_->write(state_);
        });
    }

    void keep(const Tensor<T>& theta) {
        const std::int64_t used = unflatten<T>(net_, theta.values());
        unflatten<T>(likelihood_, theta.values().subspan(static_cast<std::size_t>(used)));
    }
    void keep_best() { keep(state_.best_epoch > 0 ? state_.best : state_.theta); }

    Module<T>& net_;
    Likelihood<T>& likelihood_;
    const Dataset<T>& data_;
    const TrainOptions& options_;
    const Dataset<T>* validation_;
    Group& group_ = options_.spread ? options_.spread->group() : Group::alone();
    const detail::RunData<T> run_data_{data_, options_.spread ? options_.spread->first() : 0,
                                       options_.spread ? options_.spread->items() : data_.size()};
    detail::Callbacks& callbacks_;
    bool validates_ = false, asks_ = false;  // whether rank 0 has validation data and callbacks
    Parameters<T> parameters_;
    Batches<T> batches_;
    const detail::BestEpoch<T> best_{options_, likelihood_};
    std::optional<detail::Checkpoint<T>> checkpoint_;
    typename detail::SpreadStep<T>::Losses losses_;  // of the last step
    detail::TrainState<T> state_;
    Tensor<T> good_;  // theta at the beginning of the last epoch, where the loss was finite
    StepRecord last_;
    Tape<T> tape_;
    Pass<T> pass_{tape_, parameters_};
    Update<T> update_{
        options_.optimiser, tape_,         pass_,
        state_.theta,       state_.memory, {priors_of<T>("train", net_, likelihood_, options_.prior), run_data_.items}};
    detail::BatchLoss<T> loss_{net_, likelihood_, run_data_, options_, pass_};
    std::optional<detail::SpreadStep<T>> spread_;
};

}  // namespace

double EpochRecord::bits_per_weight(std::int64_t n) const {
    return complexity / (static_cast<double>(n) * std::numbers::ln2);
}

template <Real T>
TrainResult train(Module<T>& net, Likelihood<T>& likelihood, const Dataset<T>& data, const TrainOptions& options,
                  const Dataset<T>* validation) {
    Group& group = options.spread ? options.spread->group() : Group::alone();
    if (group.rank() > 0) validation = nullptr;
    detail::Callbacks callbacks;
    try {
        return detail::with_errors_at("train", [&] {
            std::optional<Run<T>> run;
            group.together([&] {
                detail::check_options(options);
                run.emplace(net, likelihood, data, options, validation, callbacks);
            });
            return (*run)();
        });
    } catch (const Error& error) {
        if (group.size() == 1) {
            callbacks.rethrow();
            throw;
        }
        if (dynamic_cast<const DomainError*>(&error)) throw GroupError(error.what());
        // A ValueError says on all ranks that numbers are not finite. Of another error this rank alone may know.
        if (!dynamic_cast<const GroupError*>(&error) && !dynamic_cast<const ValueError*>(&error))
            group.fail(error.what());
        throw;
    }
}

#define POLLEN_INSTANTIATE(T) \
    template TrainResult train(Module<T>&, Likelihood<T>&, const Dataset<T>&, const TrainOptions&, const Dataset<T>*);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
