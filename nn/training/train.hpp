#pragma once

#include <pollen/autograd/support/progress.hpp>
#include <pollen/data/sets/batches.hpp>
#include <pollen/data/sets/spread.hpp>
#include <pollen/nn/likelihoods/likelihood.hpp>
#include <pollen/nn/module/module.hpp>
#include <pollen/nn/priors/gaussian_prior.hpp>
#include <pollen/nn/training/optimisers.hpp>
#include <pollen/nn/variational/kl_weight.hpp>

#include <functional>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace pollen {

// The mean of -log p(y | x) over a data set, in nats, and the likelihood's own score (accuracy, ...).
struct Evaluation {
    double loss = 0;
    double score = 0;
};
template <Real T>
Evaluation evaluate(const Module<T>& net, const Likelihood<T>& likelihood, const Dataset<T>& data,
                    std::int64_t batch = 1000);

// One epoch of a run. Likelihood and complexity are always told apart.
struct EpochRecord {
    std::int64_t epoch = 0;  // 1, 2, ...
    double loss = 0;         // -log p(y | x, w), the mean over the epoch's items, each at its step
    double rate = 0;         // at the epoch's last step
    double complexity = 0;   // KL[q || p] of Bayesian layers, in nats, estimated at the last step; 0 if there are none
    Evaluation validation;   // NaN without validation data

    // The complexity of each of n weights in bits.
    double bits_per_weight(std::int64_t n) const;
};

// One step of a run, for callbacks.
struct StepRecord {
    std::int64_t step = 0;  // 1, 2, ...
    std::int64_t epoch = 0;
    double loss = 0;  // of this batch, before the step
    double rate = 0;
    double gradient_norm = 0;  // only with clip_norm
};

struct TrainOptions {
    std::int64_t epochs = 10;
    std::int64_t batch = 128;
    Optimiser optimiser = Adam{};
    std::uint64_t seed = 0;  // of the first values, the batches, the augmentation and the random layers

    // The default prior: it holds for every parameter that set_prior gave no prior. GaussianPrior{sd} is the weight
    // decay 1 / (N sd^2). Bayesian layers do not use it: they are given their prior when they are made.
    Prior prior = FlatPrior{};
    // For Bayesian layers: how the complexity is shared among the batches, and how many draws of the weights are
    // averaged in each step.
    KlWeight kl = KlWeight::uniform();
    std::int64_t samples = 1;
    // Gradients longer than this are made shorter: g min(1, clip_norm / |g|).
    double clip_norm = std::numeric_limits<double>::infinity();

    Draw draw = Draw::epoch;
    Augmentation augmentation = {};

    // With validation data the network ends up with the parameters of its best epoch, by `watch`; and the run ends
    // early after `patience` epochs without a better one (0: never).
    enum class Watch { score, loss } watch = Watch::score;
    std::int64_t patience = 0;

    // Where the run is saved, each `checkpoint_every` epochs and when it is interrupted (empty: nowhere). With `resume`
    // it goes on from there, if the file exists, and ends with the same bits as a run that was never interrupted. A
    // file that is damaged, that has a run with other options or other data, or that another run has now, is a
    // FileError.
    std::string checkpoint = {};
    std::int64_t checkpoint_every = 1;
    bool resume = false;

    // The run is made by all ranks of a group, each with its own items of the data set (see train()).
    std::optional<Spread> spread = {};

    Show show = Show::automatic;
    // A request to stop, from any thread, ends the run soon. See train().
    std::stop_token stop = {};
    // Called after each step and epoch, by the thread that has called train(); the run ends if one returns false. At
    // the end of an epoch the network holds the current parameters; during an epoch it holds those of the epoch before.
    // What they throw leaves train() as it is.
    std::function<bool(const StepRecord&)> on_step = {};
    std::function<bool(const EpochRecord&)> on_epoch = {};
};

struct TrainResult {
    enum class End { finished, early, interrupted, callback };
    End end = End::finished;
    std::int64_t steps = 0;
    std::int64_t best_epoch = 0;  // 0 without validation data
    std::vector<EpochRecord> history;
};

// Fits the network, and what the likelihood has to learn, to the data by minimising
//
//     U / N = - 1/N sum_i log p(y_i | x_i, theta) - 1/N log p(theta)
//
// over batches, with the priors of priors_of(): the same U that a NetworkPotential has for samplers; for Bayesian
// layers, their posteriors by the evidence lower bound (KlWeight). Values that are there already are the starting
// point; parameters without one are initialised.
//
// A request to stop, by options.stop, ends the run after the current step: the network then has the best parameters so
// far, and `end` says so. A validation that is going on is broken off, and its epoch has no record in `history`; a
// resumed run makes the validation again. A step that averages several samples is broken off between two of them, and a
// run that begins after the request makes no step. Ctrl-C does the same to all runs while the program has an Interrupt;
// train() itself leaves signals alone. Check `end` if you call train() in a loop.
//
// Several threads may call train() at the same time, each with a network, a likelihood and a checkpoint of its own; the
// data may be shared. Each run has the bits that it has alone.
//
// A loss or parameters that are not finite throw a ValueError, and the network has the parameters of the last epoch
// that was good; whatever else is thrown, it has the best or latest ones. What a layer, a likelihood, a prior or a
// schedule of your own throws and is not derived from pollen::Error leaves train() as an Error: `train: message`.
//
// With options.spread it is a call of the whole group: each rank has the items [spread.first(), spread.last()) as
// `data`, and all have the same network, likelihood and options; otherwise a GroupError says who has what. All start
// from the values of rank 0, draw the same batches, and end with the same parameters and the same result.
// - Rank 0 alone has validation data, reads and writes the checkpoint, calls on_step and on_epoch, and shows progress;
//   what other ranks have of these does not matter. A request to stop, or Ctrl-C, on any rank stops all after the step.
// - The bits depend on the number of blocks, but not on the number of ranks or threads. With one block they are those
//   of a run that is not spread. With more, the rows of a batch are sorted by their blocks: random layers give an item
//   other random numbers, and sums are added in another order. A saved run can be resumed by another number of ranks.
// - The network must treat each item of a batch by itself, as all layers of the library do but BatchNorm
//   (which is refused unless it is frozen).
// - Each block that has items of a batch is evaluated by itself, and Bayesian layers draw the same weights again for
//   each block. So choose few blocks, such as one or two for each rank.
// - A rank holds, beside its items, what a single machine would hold (theta, the best theta, the memory of the
//   optimiser), a gradient for each of its blocks, and 8 bytes for each item of the whole data set.
// - What one rank throws is a GroupError on all: "rank 2: ..."; items are numbered as in the whole data set. After it,
//   each network has the parameters that it would have had on a single machine. Numbers that are not finite are a
//   ValueError on all ranks.
// - Functions of your own, such as a schedule, are compared by their text. If they do something else on some ranks, the
//   parameters differ, which is a GroupError at the end of the epoch.
template <Real T>
TrainResult train(Module<T>& net, Likelihood<T>& likelihood, const Dataset<T>& data, const TrainOptions& options = {},
                  const Dataset<T>* validation = nullptr);

}  // namespace pollen
