#include "../../data/bytes.hpp"
#include "../../data/temporary_directory.hpp"
#include "../../support.hpp"
#include "spread_checks.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/interrupt.hpp>
#include <pollen/autograd/support/thread_group.hpp>

#include <atomic>
#include <csignal>
#include <mutex>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(spread_train)

namespace {

const SpreadCase& case_of(const std::string& name) {
    static const std::vector<SpreadCase> cases = spread_cases();
    return *std::find_if(cases.begin(), cases.end(), [&](const SpreadCase& c) { return c.name == name; });
}

// What each rank returns.
template <class F>
auto on_ranks(int ranks, const F& f) {
    std::vector<std::invoke_result_t<F, Group&>> results(static_cast<std::size_t>(ranks));
    run_group(ranks, [&](Group& group) { results[static_cast<std::size_t>(group.rank())] = f(group); });
    return results;
}

// Requests a stop in its evaluation number 8, which is in the middle of a run.
struct Asking final : Layer<Asking, float> {
    explicit Asking(std::stop_source* to_ask) : source(to_ask) {}
    Var<float> forward(Pass<float>&, Var<float> x) const override {
        if (source && ++evaluations == 8) source->request_stop();
        return x;
    }
    static void members(auto&, auto&) {}
    std::string describe() const override { return "Asking"; }
    std::stop_source* source;
    mutable int evaluations = 0;
};

}  // namespace

BOOST_AUTO_TEST_CASE(same_bits_on_any_number_of_ranks_and_threads) {
    for (const int ranks : {1, 2, 3, 4, 7})
        for (const int threads : {1, 2}) {
            const auto wrong = on_ranks(ranks, [&](Group& group) {
                std::string names;
                with_threads(threads, [&] { names = wrong_cases(group); });
                return names;
            });
            for (const std::string& names : wrong)
                BOOST_TEST(names == "", ranks << " ranks, " << threads << " threads");
        }
}

// The same batches, random numbers and sums.
BOOST_AUTO_TEST_CASE(one_block_has_the_bits_of_a_run_that_is_not_spread) {
    for (const SpreadCase& c : spread_cases())
        BOOST_TEST(train_case(c, &Group::alone(), 1).bits() == train_case(c, nullptr).bits(), c.name);
}

// Without random layers the blocks change nothing but the order of sums.
BOOST_AUTO_TEST_CASE(blocks_change_nothing_but_rounding) {
    const SpreadCase images(
        "images", Sequential{Conv2d(1, 4, 3), Relu(), Flatten(), Dense(64, 3)},
        {.epochs = 3, .batch = 16, .seed = 5, .augmentation = {.shift = 1, .flip = true}, .show = Show::nothing}, true);
    for (const SpreadCase* const c :
         {&images, &case_of("Bayes by Backprop"), &case_of("Bayes by Backprop, two samples")}) {
        const SpreadEnd plain = train_case(*c, nullptr);
        for (const std::int64_t blocks : {2, 7, 61}) {
            const SpreadEnd spread = train_case(*c, &Group::alone(), blocks);
            for (std::size_t k = 0; k < plain.result.history.size(); ++k) {
                const EpochRecord &a = plain.result.history[k], &b = spread.result.history[k];
                BOOST_TEST(std::abs(a.loss - b.loss) <= 2e-5 * a.loss, c->name << " in " << blocks << " blocks");
                BOOST_TEST(std::abs(a.complexity - b.complexity) <= 2e-5 * a.complexity, c->name);
            }
            BOOST_TEST(spread.bits() != plain.bits());
        }
    }
}

namespace {

// The definition: gradients of the blocks, added up in the tree of ordered_sum() or from left to right.
template <class Sum>
std::vector<float> by_hand(std::int64_t blocks, const Sum& sum_rows) {
    const Dataset<float> data = spread_data(false);
    Dense<float> net(36, 3);
    initialise<float>(net, 5);
    const Parameters<float> parameters(net);
    Tensor<float> theta = parameters.flatten();
    BatchItems batches(spread_items, 16, Draw::epoch, 5);
    for (std::int64_t step = 0; step < 2 * batches.per_epoch(); ++step) {
        std::vector<std::vector<std::int64_t>> parts(static_cast<std::size_t>(blocks));
        std::int64_t n = 0;
        for (const std::int64_t item : batches.at(step)) {
            std::int64_t k = 0;
            while (spread_items * (k + 1) / blocks <= item) ++k;
            parts[static_cast<std::size_t>(k)].push_back(item);
            ++n;
        }
        std::vector<std::vector<float>> rows;
        for (const auto& items : parts) {
            rows.emplace_back(static_cast<std::size_t>(theta.size()));
            if (items.empty()) continue;
            const Dataset<float> part = data.take(items);
            Tape<float> tape;
            Pass<float> pass(tape, parameters, {.mode = Mode::train}, theta.values());
            tape.backward(cross_entropy(net(pass, tape.constant(part.inputs)), part.labels, Reduction::sum) *
                          (1 / static_cast<double>(n)));
            auto to = rows.back().begin();
            for (const Var<float>& leaf : pass.leaves()) {
                const Tensor<float> g = leaf.grad();
                to = std::copy(g.begin(), g.end(), to);
            }
        }
        const std::vector<float> gradient = sum_rows(rows);
        for (std::int64_t i = 0; i < theta.size(); ++i)
            theta.mutable_at(i) -= 0.1f * gradient[static_cast<std::size_t>(i)];
    }
    return {theta.begin(), theta.end()};
}

std::vector<float> plus(std::vector<float> a, const std::vector<float>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
}

std::vector<float> tree(const std::vector<std::vector<float>>& rows, std::size_t first, std::size_t last) {
    if (last - first == 1) return rows[first];
    std::size_t half = 1;
    while (2 * half < last - first) half *= 2;
    return plus(tree(rows, first, first + half), tree(rows, first + half, last));
}

std::vector<float> in_rank_order(const std::vector<std::vector<float>>& rows) {
    std::vector<float> sum = rows[0];
    for (std::size_t k = 1; k < rows.size(); ++k) sum = plus(sum, rows[k]);
    return sum;
}

}  // namespace

BOOST_AUTO_TEST_CASE(is_its_definition_and_no_other_order_of_sums) {
    const SpreadCase c("dense", Dense<float>(36, 3),
                       {.epochs = 2, .batch = 16, .optimiser = Sgd{.rate = 0.1}, .seed = 5, .show = Show::nothing});
    const auto definition = by_hand(7, [](const auto& rows) { return tree(rows, 0, rows.size()); });
    for (const int ranks : {1, 3, 7})
        for (const SpreadEnd& end : on_ranks(ranks, [&](Group& group) { return train_case(c, &group); }))
            BOOST_TEST((end.theta == definition), ranks << " ranks");
    BOOST_TEST((by_hand(7, in_rank_order) != definition));
}

// A run that is stopped by 3 ranks and goes on with 2 and then 7 has the file of an uninterrupted one, byte by byte.
BOOST_AUTO_TEST_CASE(a_run_is_resumed_by_another_number_of_ranks) {
    for (const char* name : {"clipped, fresh draws, a prior, two samples", "an early end", "Bayes by Backprop"}) {
        const SpreadCase& c = case_of(name);
        const TemporaryDirectory folder;
        const auto saved_in = [&](const std::string& file, std::int64_t until, bool resume) {
            return [&, file, until, resume](Group& group) {
                return train_case(c, &group, 7,
                                  [&](TrainOptions& o) {
                                      if (group.rank() > 0) return;
                                      o.checkpoint = folder / file;
                                      o.resume = resume;
                                      if (until > 0)
                                          o.on_step = [until](const StepRecord& now) { return now.step < until; };
                                  })
                    .bits();
            };
        };
        const std::string whole = on_ranks(4, saved_in("whole", 0, false))[3];
        on_ranks(3, saved_in("parts", 3, false));
        BOOST_TEST((contents(folder / "parts") != contents(folder / "whole")));
        on_ranks(2, saved_in("parts", 6, true));
        for (const std::string& bits : on_ranks(7, saved_in("parts", 0, true))) BOOST_TEST((bits == whole), name);
        BOOST_TEST((contents(folder / "parts") == contents(folder / "whole")), name);
        BOOST_TEST((folder.names() == std::set<std::string>{"parts", "whole"}));
        // A run that has ended is loaded.
        for (const std::string& bits : on_ranks(2, saved_in("whole", 0, true))) BOOST_TEST((bits == whole), name);
    }
}

BOOST_AUTO_TEST_CASE(callbacks_are_those_of_rank_0) {
    std::atomic<int> steps = 0, epochs = 0, others = 0;
    for (const bool by_epoch : {false, true}) {
        const auto ends = on_ranks(3, [&](Group& group) {
            return train_case(case_of("Sgd, dropout"), &group, 7,
                              [&](TrainOptions& o) {
                                  o.on_step = [&, r = group.rank()](const StepRecord& now) {
                                      ++(r == 0 ? steps : others);
                                      return by_epoch || now.step < 5;
                                  };
                                  o.on_epoch = [&, r = group.rank()](const EpochRecord& now) {
                                      ++(r == 0 ? epochs : others);
                                      return !by_epoch || now.epoch < 2;
                                  };
                              })
                .result;
        });
        for (const TrainResult& result : ends) {
            BOOST_TEST((result.end == TrainResult::End::callback));
            BOOST_TEST(result.steps == (by_epoch ? 8 : 5));
        }
    }
    BOOST_TEST(steps == 13);
    BOOST_TEST(epochs == 3);
    BOOST_TEST(others == 0);
}

// A request on one rank stops all, after the step or before the first one.
BOOST_AUTO_TEST_CASE(the_token_of_one_rank_stops_all) {
    for (const int asked : {0, 2})
        for (const bool early : {false, true}) {
            const auto ends = on_ranks(3, [&](Group& group) {
                std::stop_source source;
                if (early && group.rank() == asked) source.request_stop();
                const SpreadCase c("stop", Sequential{Asking(group.rank() == asked ? &source : nullptr), Dense(36, 3)},
                                   {.epochs = 100, .batch = 16, .seed = 5, .show = Show::nothing});
                return train_case(c, &group, 7, [&](TrainOptions& o) { o.stop = source.get_token(); });
            });
            for (const SpreadEnd& end : ends) {
                BOOST_TEST((end.result.end == TrainResult::End::interrupted));
                BOOST_TEST((early ? end.result.steps == 0 : end.result.steps > 0 && end.result.steps < 20));
                BOOST_TEST((end.bits() == ends[0].bits()));
            }
        }
}

// Threads share the signal. tests/mpi/check_mpi.cpp sends one to a single rank.
BOOST_AUTO_TEST_CASE(ctrl_c_stops_after_the_step) {
    const Interrupt interrupt;
    const auto ends = on_ranks(3, [&](Group& group) {
        return train_case(case_of("Sgd, dropout"), &group, 7,
                          [&](TrainOptions& o) {
                              o.on_step = [](const StepRecord& now) {
                                  return now.step != 2 || std::raise(SIGINT) == 0;
                              };
                          })
            .result;
    });
    for (const TrainResult& result : ends) {
        BOOST_TEST((result.end == TrainResult::End::interrupted));
        BOOST_TEST(result.steps == 3);  // the step that was under way is finished
    }
}

BOOST_AUTO_TEST_SUITE_END()
