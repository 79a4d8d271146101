#include "../../autograd/support/group_checks.hpp"
#include "../../data/temporary_directory.hpp"
#include "../../support.hpp"
#include "spread_checks.hpp"

#include <pollen/autograd/support/thread_group.hpp>

// What all ranks are told if a run goes wrong on one of them.
BOOST_AUTO_TEST_SUITE(spread_train_errors)

using namespace pollen;
using namespace pollen::test;

namespace {

SpreadCase small_case() {
    return {"small", Sequential{Dense(36, 3)}, {.epochs = 2, .batch = 16, .seed = 5, .show = Show::nothing}};
}

// What a run throws, the same on all ranks. Afterwards the group makes another run, unless it cannot go on.
template <class F>
std::string error_on_all(int ranks, const F& run, bool goes_on = true) {
    std::vector<std::string> texts(static_cast<std::size_t>(ranks)), again(texts.size());
    const auto end = thrown_by([&] {
        run_group(ranks, [&](Group& group) {
            const auto rank = static_cast<std::size_t>(group.rank());
            texts[rank] = thrown_by([&] { run(group); });
            again[rank] = thrown_by([&] { train_case(small_case(), &group); });
        });
    });
    BOOST_TEST(end == (goes_on ? "" : texts[0]));
    for (const std::string& text : texts) BOOST_TEST(text == texts[0]);
    for (const std::string& text : again) BOOST_TEST(text == (goes_on ? "" : texts[0]));
    return texts[0];
}

// A run of three ranks whose options or data are changed. 7 blocks: the ranks have items 0 to 16, 17 to 33, 34 to 60.
std::string error_with(const std::function<void(int, Dataset<float>&, TrainOptions&)>& change, bool goes_on = true) {
    return error_on_all(
        3,
        [&](Group& group) {
            const SpreadCase c = small_case();
            TrainOptions options = c.options;
            options.spread.emplace(group, spread_items, 7);
            Dataset<float> mine = spread_data(false).slice(options.spread->first(), options.spread->count());
            change(group.rank(), mine, options);
            const auto net = c.net->clone();
            Categorical<float> likelihood;
            train<float>(*net, likelihood, mine, options);
        },
        goes_on);
}

// Throws in evaluation number 8 of a rank, which is in the middle of a run.
template <class E>
struct Fails final : Layer<Fails<E>, float> {
    explicit Fails(bool bad) : bad_(bad) {}
    Var<float> forward(Pass<float>&, Var<float> x) const override {
        if (bad_ && ++evaluations_ == 8) throw E("the layer is tired");
        return x;
    }
    static void members(auto&, auto&) {}
    std::string describe() const override { return "Fails"; }
    bool bad_;
    mutable int evaluations_ = 0;
};

// Sgd that throws in step 3.
struct FailingSgd {
    Schedule rate = 0.1;
    bool bad = false;
    static constexpr int memories = 0;
    template <Real T>
    void update(const UpdateStep& now, const Stretch<T>& at) const {
        if (bad && now.step == 3) throw ValueError("the optimiser is tired");
        Sgd{}.update(now, at);
    }
    std::string describe() const { return "FailingSgd"; }
};

// A Categorical that cannot compare scores.
struct Undecided final : Concrete<Undecided, Likelihood<float>> {
    bool bad = false;
    Categorical<float> own;
    Var<float> log_prob(Pass<float>& pass, Var<float> outputs, const Dataset<float>& batch) const override {
        return own.log_prob(pass, outputs, batch);
    }
    const char* score_name() const override { return "accuracy"; }
    bool higher_is_better() const override {
        if (bad) throw Error("no score is better");
        return true;
    }
    double score(const Tensor<float>& outputs, const Dataset<float>& batch) const override {
        return own.score(outputs, batch);
    }
    double finish(double total, std::int64_t items) const override { return own.finish(total, items); }
    std::string describe() const override { return "Undecided"; }
};

}  // namespace

BOOST_AUTO_TEST_CASE(items_have_their_numbers_in_the_whole_data_set) {
    const auto with_label = [](int bad, std::int64_t item) {
        return error_with([=](int rank, Dataset<float>& mine, TrainOptions&) {
            if (rank == bad) mine.labels.mutable_at(item) = 7;
        });
    };
    const std::string alone =
        " of the data set, alone: Categorical: the label of item 0 is 7; outputs (1, 3) have classes 0 to 2";
    BOOST_TEST(with_label(2, 16) == "GroupError: rank 2: item 50" + alone);
    BOOST_TEST(with_label(0, 2) == "GroupError: rank 0: item 2" + alone);
    BOOST_TEST(error_with([](int rank, Dataset<float>& mine, TrainOptions&) {
                   if (rank == 1) mine.inputs.mutable_at(3, 5) = NAN;
               }) == "GroupError: rank 1: train: the inputs of item 20 of the data set are not all finite numbers");
    BOOST_TEST(error_with([](int rank, Dataset<float>& mine, TrainOptions&) {
                   if (rank == 1) mine = mine.slice(0, 10);
               }) == "GroupError: rank 1: Batches: a data set of 10 items; by the spread this rank has items 17 to 33");
}

BOOST_AUTO_TEST_CASE(what_one_rank_throws_all_throw) {
    for (const int bad : {0, 2})
        BOOST_TEST(error_on_all(3, [&](Group& group) {
                       const Fails<Error> layer(group.rank() == bad);
                       train_case({"tired", Sequential{layer, Dense(36, 3)}, small_case().options}, &group);
                   }) == "GroupError: rank " + std::to_string(bad) + ": the layer is tired");
    BOOST_TEST(error_on_all(3, [&](Group& group) {
                   const Fails<DomainError> layer(group.rank() == 2);
                   train_case({"tired", Sequential{layer, Dense(36, 3)}, small_case().options}, &group);
               }) == "GroupError: rank 2: the layer is tired");
    BOOST_TEST(error_with([](int, Dataset<float>&, TrainOptions& o) {
                   o.on_step = [](const StepRecord& now) -> bool {
                       if (now.step == 3) throw Error("enough");
                       return true;
                   };
               }) == "GroupError: rank 0: enough");
    BOOST_TEST(error_with([](int rank, Dataset<float>&, TrainOptions& o) {
                   if (rank == 1) o.batch = 0;
               }) == "GroupError: rank 1: train: batch is 0; at least 1 is needed");
    // The file is there alone that rank 0 has.
    const TemporaryDirectory folder;
    const std::string path = folder / "missing/run";
    const auto with_file = [&](TrainOptions& o) { o.checkpoint = path; };
    const std::string text = thrown_by([&] { train_case(small_case(), &Group::alone(), 7, with_file); });
    BOOST_TEST(text.starts_with("Error: " + path + ": "));
    BOOST_TEST(error_with([&](int, Dataset<float>&, TrainOptions& o) { with_file(o); }) ==
               "GroupError: rank 0: " + text.substr(7));
    // In the middle of a run.
    std::filesystem::create_directory(folder / "missing");
    const std::string middle = error_with([&](int, Dataset<float>&, TrainOptions& o) {
        with_file(o);
        o.on_step = [&](const StepRecord& now) {
            if (now.step == 2) std::filesystem::remove_all(folder / "missing");
            return true;
        };
    });
    BOOST_TEST(middle.starts_with("GroupError: rank 0: " + path + ": "));
}

// Each rank has its own copy of what a user gives.
BOOST_AUTO_TEST_CASE(functions_that_throw_on_one_rank) {
    for (const int bad : {0, 2}) {
        const std::string who = "GroupError: rank " + std::to_string(bad) + ": ";
        const auto with_rate = [&](const std::function<double(std::int64_t)>& f) {
            return error_with([&](int rank, Dataset<float>&, TrainOptions& o) {
                o.optimiser =
                    Sgd{.rate = Schedule("mine", [=](std::int64_t t) { return rank == bad && t == 3 ? f(t) : 0.1; })};
            });
        };
        BOOST_TEST(with_rate([](std::int64_t) -> double { throw Error("no rate"); }) == who + "no rate");
        BOOST_TEST(with_rate([](std::int64_t) { return -1.0; }) ==
                   who + "train: the rate is -1 at step 4; it must be finite and not negative");
        BOOST_TEST(error_with([&](int rank, Dataset<float>&, TrainOptions& o) {
                       o.optimiser = FailingSgd{.bad = rank == bad};
                   }) == who + "the optimiser is tired");
    }
}

// Where the ranks are not prepared for an error, it ends the group.
BOOST_AUTO_TEST_CASE(an_error_that_one_rank_alone_knows) {
    const std::string text = error_on_all(
        3,
        [](Group& group) {
            const SpreadCase c = small_case();
            TrainOptions options = c.options;
            options.spread.emplace(group, spread_items, 7);
            const Dataset<float> all = spread_data(false);
            const Dataset<float> mine = all.slice(options.spread->first(), options.spread->count());
            const auto net = c.net->clone();
            Undecided likelihood;
            likelihood.bad = group.rank() == 1;
            train<float>(*net, likelihood, mine, options, &all);
        },
        false);
    BOOST_TEST(text == "GroupError: rank 1: no score is better");
}

// Texts are alike, functions are not.
BOOST_AUTO_TEST_CASE(functions_that_differ_between_ranks) {
    const auto message = [](const std::string& when) {
        return "GroupError: the ranks do not agree on the parameters after " + when +
               " of train() (the optimiser, its schedule or a prior does something else on some ranks, though its "
               "text is the same): ranks 0 and 2: \"";
    };
    const auto with = [&](std::int64_t differs, std::int64_t until) {
        return error_with(
            [=](int rank, Dataset<float>&, TrainOptions& o) {
                o.optimiser = Sgd{
                    .rate = Schedule("mine", [=](std::int64_t t) { return rank == 1 && t == differs ? 0.2 : 0.1; })};
                o.on_step = [=](const StepRecord& now) { return now.step < until; };
            },
            false);
    };
    BOOST_TEST(with(1, 100).starts_with(message("epoch 1")));
    BOOST_TEST(with(5, 100).starts_with(message("epoch 2")));
    BOOST_TEST(with(1, 3).starts_with(message("step 3")));
    BOOST_TEST(error_with([](int, Dataset<float>&, TrainOptions& o) {
                   o.optimiser = Sgd{.rate = Schedule("mine", [](std::int64_t) { return 0.1; })};
               }) == "");
}

// Other ranks need no name of a file to go on with.
BOOST_AUTO_TEST_CASE(rank_0_alone_has_a_checkpoint) {
    const TemporaryDirectory folder;
    const auto resume = [&](int with_name) {
        return error_with([&, with_name](int rank, Dataset<float>&, TrainOptions& o) {
            o.resume = true;
            if (rank == with_name) o.checkpoint = folder / "run";
        });
    };
    BOOST_TEST(resume(0) == "");
    BOOST_TEST(resume(0) == "");
    BOOST_TEST(resume(1) == "GroupError: rank 0: train: resume needs the name of a checkpoint");
    BOOST_TEST((folder.names() == std::set<std::string>{"run"}));
}

// The networks then have the parameters that they would have on a single machine.
BOOST_AUTO_TEST_CASE(a_loss_that_is_not_finite) {
    SpreadCase c = small_case();
    c.options.epochs = 20;
    c.options.optimiser = Sgd{.rate = Schedule::steps(1e-30, 6, 1e34)};
    std::vector<std::string> texts, bits;
    for (const int ranks : {1, 3}) {
        std::vector<std::string> thetas(static_cast<std::size_t>(ranks));
        texts.push_back(error_on_all(ranks, [&](Group& group) {
            const auto net = c.net->clone();
            Categorical<float> likelihood;
            TrainOptions options = c.options;
            options.spread.emplace(group, spread_items, 7);
            const Dataset<float> mine = spread_data(false).slice(options.spread->first(), options.spread->count());
            try {
                train<float>(*net, likelihood, mine, options);
            } catch (...) {
                SpreadEnd end;
                const Tensor<float> theta = Parameters<float>(*net).flatten();
                end.theta.assign(theta.begin(), theta.end());
                thetas[static_cast<std::size_t>(group.rank())] = end.bits();
                throw;
            }
        }));
        bits.insert(bits.end(), thetas.begin(), thetas.end());
    }
    BOOST_TEST(texts[0].starts_with("ValueError: train: "), texts[0]);
    BOOST_TEST(texts[0].ends_with(" or a clip_norm may help"), texts[0]);
    BOOST_TEST(texts[0] == texts[1]);
    for (const std::string& some : bits) BOOST_TEST((some == bits[0] && !some.empty()));
}

BOOST_AUTO_TEST_CASE(ranks_that_do_not_agree) {
    const auto with = [](const auto& change) {
        return error_with(
            [&](int rank, Dataset<float>&, TrainOptions& o) {
                if (rank == 1) change(o);
            },
            false);
    };
    const auto message = [](const std::string& what, const std::string& others, const std::string& one) {
        return "GroupError: the ranks do not agree on the " + what + " of train(): ranks 0 and 2: \"" + others +
               "\"; rank 1: \"" + one + "\"";
    };
    BOOST_TEST(with([](TrainOptions& o) { o.seed = 6; }) == message("seed", "5", "6"));
    BOOST_TEST(with([](TrainOptions& o) { o.epochs = 3; }) == message("epochs", "2", "3"));
    BOOST_TEST(with([](TrainOptions& o) { o.optimiser = Sgd{.rate = 0.5}; }) ==
               message("optimiser", "Adam(rate 0.001, beta1 0.9, beta2 0.999, epsilon 1e-08)", "Sgd(rate 0.5)"));
    BOOST_TEST(with([](TrainOptions& o) { o.checkpoint_every = 2; }) == message("checkpoint_every", "1", "2"));
    BOOST_TEST(error_with(
                   [](int rank, Dataset<float>& mine, TrainOptions&) {
                       if (rank == 1) mine.inputs = mine.inputs.reshaped({-1, 6, 6});
                   },
                   false) == message("shape of an input", "(36)", "(6, 6)"));
    const std::string network = error_on_all(
        2,
        [](Group& group) {
            train_case({"other", Sequential{Dense(36, group.rank() + 3)}, small_case().options}, &group);
        },
        false);
    BOOST_TEST(network.starts_with("GroupError: the ranks do not agree on the network of train(): rank 0: \""),
               network);
}

// The data of each rank belong to a saved run, however many ranks there are.
BOOST_AUTO_TEST_CASE(other_data_of_one_rank_are_refused) {
    const TemporaryDirectory folder;
    const std::string path = folder / "run";
    train_case(small_case(), &Group::alone(), 7, [&](TrainOptions& o) { o.checkpoint = path; });
    const auto resume = [&](int bad) {
        return error_with([&, bad](int rank, Dataset<float>& mine, TrainOptions& o) {
            o.checkpoint = path;
            o.resume = true;
            if (rank == bad) mine.labels.mutable_at(0) = 2 - mine.labels(0) / 2 * 2;
        });
    };
    const auto refused = "GroupError: rank 0: " + path +
                         ": these data are not those of the saved run: training labels; go on with the same data, or, "
                         "to start anew, remove the file or choose another one";
    for (const int bad : {0, 1, 2}) BOOST_TEST(resume(bad) == refused);
    BOOST_TEST(resume(3) == "");
}

// A run that is spread and one that is not are not the same.
BOOST_AUTO_TEST_CASE(blocks_belong_to_a_saved_run) {
    const TemporaryDirectory folder;
    const auto run = [&](std::int64_t blocks) {
        Group* group = blocks > 0 ? &Group::alone() : nullptr;
        return thrown_by([&] {
            train_case(small_case(), group, blocks, [&](TrainOptions& o) {
                o.checkpoint = folder / "run";
                o.resume = true;
            });
        });
    };
    const auto refused = [&](const char* saved, const char* now) {
        return "Error: " + folder / "run" + ": the saved run has blocks " + saved + ", this one has " + now +
               "; to start anew, remove the file or choose another one";
    };
    BOOST_TEST(run(7) == "");
    BOOST_TEST(run(7) == "");
    BOOST_TEST(run(1) == refused("7", "1"));
    BOOST_TEST(run(0) == refused("7", "none"));
    std::filesystem::remove(folder / "run");
    BOOST_TEST(run(0) == "");
    BOOST_TEST(run(1) == refused("none", "1"));
}

BOOST_AUTO_TEST_SUITE_END()
