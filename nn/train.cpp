#include <pollen/nn/train.hpp>

#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/nn/checkpoint.hpp>
#include <pollen/nn/checks.hpp>
#include <pollen/nn/interrupt.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>

namespace pollen {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <Real T>
Evaluation evaluate_at(const T* theta, const Parameters<T>& parameters, const Module<T>& net,
                       const Likelihood<T>& likelihood, const Dataset<T>& data, std::int64_t batch) {
    data.check();
    if (data.size() == 0) throw ShapeError("evaluate: the data set is empty");
    Tape<T> tape(Recording::off);
    Pass<T> pass(tape, parameters);
    double log_prob = 0, score = 0;
    for (std::int64_t first = 0; first < data.size(); first += batch) {
        const Dataset<T> part = data.slice(first, std::min(batch, data.size() - first));
        tape.clear();
        pass.restart({}, theta);
        const Var<T> outputs = net(pass, tape.borrow(part.inputs));
        log_prob += static_cast<double>(likelihood.log_prob(pass, outputs, part).item());
        score += likelihood.score(outputs.value(), part);
    }
    return {-log_prob / static_cast<double>(data.size()), likelihood.finish(score, data.size())};
}

template <Real T>
Parameters<T> all_parameters(const Module<T>& net, const Likelihood<T>& likelihood) {
    Parameters<T> parameters(net);
    parameters.add("likelihood", likelihood);
    return parameters;
}

void check(const TrainOptions& o) {
    const auto need = [](bool good, const std::string& what) {
        if (!good) throw ValueError("train: " + what);
    };
    need(o.epochs >= 0, "epochs is " + std::to_string(o.epochs) + "; it must not be negative");
    need(o.batch >= 1, "batch is " + std::to_string(o.batch) + "; at least 1 is needed");
    need(o.prior_sd > 0, "prior_sd is " + to_text(o.prior_sd) + "; it must be positive");
    need(o.clip_norm > 0, "clip_norm is " + to_text(o.clip_norm) + "; it must be positive");
    need(o.patience >= 0, "patience is " + std::to_string(o.patience) + "; it must not be negative");
    need(o.checkpoint_every >= 1,
         "checkpoint_every is " + std::to_string(o.checkpoint_every) + "; at least 1 is needed");
    need(!o.resume || !o.checkpoint.empty(), "resume needs the name of a checkpoint");
}

template <Real T>
class Run {
  public:
    Run(Module<T>& net, Likelihood<T>& likelihood, const Dataset<T>& data, const TrainOptions& options,
        const Dataset<T>* validation)
        : net_(net),
          likelihood_(likelihood),
          data_(data),
          options_(options),
          validation_(validation),
          parameters_(all_parameters(net, likelihood)),
          network_tensors_(Parameters<T>(net).count()),
          batches_(data, {options.batch, options.draw, options.seed, options.augmentation}) {
        // -log p(theta) / N has the gradient theta / (N sd^2).
        decay_ = 1 / (static_cast<double>(data.size()) * options.prior_sd * options.prior_sd);
        start();
    }

    TrainResult operator()() {
        const Interrupt interrupt;
        const std::int64_t steps = options_.epochs * batches_.per_epoch();
        Progress progress(options_.show, steps, state_.step);
        if (state_.step > 0 && state_.step < steps)
            progress.say("going on from step " + std::to_string(state_.step) + " of " + std::to_string(steps));
        TrainResult result;
        while (state_.step < steps && !early()) {
            step();
            progress.update(state_.step, text());
            bool go_on = !options_.on_step || options_.on_step(last_);
            if (state_.step % batches_.per_epoch() == 0) {
                finish_epoch();
                go_on &= !options_.on_epoch || options_.on_epoch(state_.history.back());
            }
            if (!go_on || Interrupt::requested()) {
                result.end = go_on ? TrainResult::End::interrupted : TrainResult::End::callback;
                if (state_.step < steps) {
                    save_run();
                    progress.say("stopped after step " + std::to_string(state_.step) + " of " + std::to_string(steps) +
                                 (options_.checkpoint.empty() ? "" : "; the run is saved in " + options_.checkpoint));
                }
                break;
            }
        }
        if (early() && state_.step < steps) {
            result.end = TrainResult::End::early;
            progress.say("no better epoch since epoch " + std::to_string(state_.best_epoch) + ": ended early");
        }
        keep(state_.best_epoch > 0 ? state_.best : state_.theta);
        result.steps = state_.step;
        result.best_epoch = state_.best_epoch;
        result.history = state_.history;
        return result;
    }

  private:
    void start() {
        if (options_.resume && std::filesystem::exists(options_.checkpoint)) {
            state_ = read_checkpoint<T>(options_.checkpoint, parameters_, description());
            return;
        }
        if (!Parameters<T>(net_).have_values()) initialise<T>(net_, options_.seed);
        if (!Parameters<T>(likelihood_).have_values()) initialise<T>(likelihood_, options_.seed, 0x800000);
        state_.theta = parameters_.flatten();
        for (int k = 0; k < options_.optimiser.memories(); ++k)
            state_.memory.push_back(Tensor<T>::zeros(Shape{parameters_.size()}));
    }

    // All that a resumed run must have in common with the one that was saved.
    std::map<std::string, std::string> description() const {
        return {{"optimiser", options_.optimiser.describe()},
                {"likelihood", likelihood_.describe()},
                {"seed", std::to_string(options_.seed)},
                {"items", std::to_string(data_.size())},
                {"batch", std::to_string(options_.batch)},
                {"draw", options_.draw == Draw::epoch ? "epoch" : "fresh"},
                {"shift", std::to_string(options_.augmentation.shift)},
                {"flip", options_.augmentation.flip ? "yes" : "no"},
                {"prior_sd", to_text(options_.prior_sd)},
                {"clip_norm", to_text(options_.clip_norm)}};
    }

    void step() {
        const Dataset<T> batch = batches_.at(state_.step);
        tape_.clear();
        T* theta = state_.theta.mutable_data();
        pass_.restart({Mode::train, options_.seed, static_cast<std::uint64_t>(state_.step)}, theta);
        const Var<T> outputs = net_(pass_, tape_.borrow(batch.inputs));
        const Var<T> loss = likelihood_.log_prob(pass_, outputs, batch) * (-1.0 / static_cast<double>(batch.size()));
        last_ = {.step = state_.step + 1,
                 .epoch = state_.step / batches_.per_epoch() + 1,
                 .loss = static_cast<double>(loss.item()),
                 .rate = options_.optimiser.rate(state_.step)};
        if (!std::isfinite(last_.loss)) {
            keep(state_.best_epoch > 0 ? state_.best : state_.theta);
            throw ValueError("train: the loss is " + to_text(last_.loss) + " at step " + std::to_string(last_.step) +
                             "; a smaller rate (now " + to_text(last_.rate) + ") or a clip_norm may help");
        }
        tape_.backward(loss);
        UpdateStep now{.rate = last_.rate, .step = state_.step, .decay = 0, .scale = 1};
        if (std::isfinite(options_.clip_norm)) {
            last_.gradient_norm = gradient_norm();
            now.scale = std::min(1.0, options_.clip_norm / last_.gradient_norm);
        }
        for (std::size_t k = 0; k < parameters_.count(); ++k) {
            const auto& [name, parameter, offset] = parameters_.entries()[k];
            const Tensor<T> gradient = pass_.leaves()[k].grad();
            now.decay = k < network_tensors_ ? decay_ : 0;
            Stretch<T> at{theta + offset, gradient.data(), {}, gradient.size()};
            for (std::size_t m = 0; m < state_.memory.size(); ++m)
                at.memory[m] = state_.memory[m].mutable_data() + offset;
            options_.optimiser.update(now, at);
        }
        state_.loss_sum += last_.loss * static_cast<double>(batch.size());
        state_.loss_items += batch.size();
        ++state_.step;
    }

    double gradient_norm() const {
        double sum = 0;
        for (const Var<T>& leaf : pass_.leaves()) {
            const Tensor<T> g = leaf.grad();
            sum += static_cast<double>(kernels::reduce_all<kernels::Sum, T>(
                g.size(), [](const auto& x) { return x * x; }, kernels::Stream<T>{g.data()}));
        }
        return std::sqrt(sum);
    }

    void finish_epoch() {
        EpochRecord record{.epoch = state_.step / batches_.per_epoch(),
                           .loss = state_.loss_sum / static_cast<double>(state_.loss_items),
                           .rate = last_.rate,
                           .validation = {nan, nan}};
        state_.loss_sum = 0;
        state_.loss_items = 0;
        if (validation_) {
            record.validation = evaluate_at<T>(state_.theta.data(), parameters_, net_, likelihood_, *validation_, 1000);
            if (better(record.validation)) {
                state_.best_epoch = record.epoch;
                state_.best_so_far = record.validation;
                state_.best = state_.theta;
            }
        }
        state_.history.push_back(record);
        const bool last = record.epoch == options_.epochs || early();
        if (last || record.epoch % options_.checkpoint_every == 0) save_run();
    }

    bool better(const Evaluation& now) const {
        if (state_.best_epoch == 0) return true;
        const Evaluation& best = state_.best_so_far;
        if (options_.watch == TrainOptions::Watch::loss) return now.loss < best.loss;
        return likelihood_.higher_is_better() ? now.score > best.score : now.score < best.score;
    }

    bool early() const {
        return options_.patience > 0 && state_.best_epoch > 0 &&
               std::ssize(state_.history) - state_.best_epoch >= options_.patience;
    }

    std::string text() const {
        const double loss =
            state_.loss_items > 0 ? state_.loss_sum / static_cast<double>(state_.loss_items) : last_.loss;
        char line[160];
        std::snprintf(line, sizeof line, "epoch %lld/%lld  loss %.4f  rate %.3g", static_cast<long long>(last_.epoch),
                      static_cast<long long>(options_.epochs), loss, last_.rate);
        std::string all = line;
        if (!state_.history.empty() && validation_) {
            std::snprintf(line, sizeof line, "  validation %s %.4f", likelihood_.score_name(),
                          state_.history.back().validation.score);
            all += line;
        }
        return all;
    }

    void save_run() const {
        if (!options_.checkpoint.empty()) write_checkpoint(options_.checkpoint, state_, parameters_, description());
    }

    void keep(const Tensor<T>& theta) {
        const std::int64_t used = unflatten<T>(net_, theta.values());
        unflatten<T>(likelihood_, theta.values().subspan(static_cast<std::size_t>(used)));
    }

    Module<T>& net_;
    Likelihood<T>& likelihood_;
    const Dataset<T>& data_;
    const TrainOptions& options_;
    const Dataset<T>* validation_;
    Parameters<T> parameters_;
    std::size_t network_tensors_;
    Batches<T> batches_;
    double decay_ = 0;
    TrainState<T> state_;
    StepRecord last_;
    Tape<T> tape_;
    Pass<T> pass_{tape_, parameters_};
};

}  // namespace

template <Real T>
Evaluation evaluate(const Module<T>& net, const Likelihood<T>& likelihood, const Dataset<T>& data, std::int64_t batch) {
    if (batch < 1) throw ValueError("evaluate: batch is " + std::to_string(batch) + "; at least 1 is needed");
    return evaluate_at<T>(nullptr, all_parameters(net, likelihood), net, likelihood, data, batch);
}

template <Real T>
TrainResult train(Module<T>& net, Likelihood<T>& likelihood, const Dataset<T>& data, const TrainOptions& options,
                  const Dataset<T>* validation) {
    check(options);
    return Run<T>(net, likelihood, data, options, validation)();
}

#define POLLEN_INSTANTIATE(T)                                                                              \
    template Evaluation evaluate(const Module<T>&, const Likelihood<T>&, const Dataset<T>&, std::int64_t); \
    template TrainResult train(Module<T>&, Likelihood<T>&, const Dataset<T>&, const TrainOptions&, const Dataset<T>*);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
