#include "../../support.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/potentials/model.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/nn/prediction/predictive.hpp>
#include <pollen/nn/training/train.hpp>

#include <functional>
#include <new>
#include <stdexcept>

// What is thrown by parts that a user has written, and by callbacks.
BOOST_AUTO_TEST_SUITE(own_exceptions)

using namespace pollen;
using namespace pollen::test;

namespace {

struct Mine {  // not a std::exception
    int number;
};
struct MyError : Error {
    using Error::Error;
};

using Throws = std::function<void()>;

const Dataset<double>& data() {
    static const Dataset<double> all{normals({20, 3}, 1), normals({20, 1}, 2)};
    return all;
}

// A network whose layer calls f at each evaluation.
Sequential<double> network(const Throws& f) {
    Sequential<double> net{Dense<double>(3, 4),
                           Activation<double>("Own",
                                              [f](Var<double> x) {
                                                  f();
                                                  return tanh(x);
                                              }),
                           Dense<double>(4, 1)};
    initialise<double>(net, 1);
    return net;
}

// A likelihood that calls f for each batch, or for all data.
class Own final : public Concrete<Own, Likelihood<double>> {
  public:
    Own(Throws in_batch, Throws in_check) : in_batch_(std::move(in_batch)), in_check_(std::move(in_check)) {}

    Var<double> log_prob(Pass<double>& pass, Var<double> outputs, const Dataset<double>& batch) const override {
        in_batch_();
        return Gaussian<double>::known(1).log_prob(pass, outputs, batch);
    }
    void check_data(const Shape&, const Dataset<double>&) const override { in_check_(); }
    const char* score_name() const override { return ""; }
    bool higher_is_better() const override { return true; }
    double score(const Tensor<double>&, const Dataset<double>&) const override { return 0; }
    double finish(double, std::int64_t) const override { return 0; }
    std::string describe() const override { return "Own"; }

  private:
    Throws in_batch_, in_check_;
};

void nothing() {}

TrainOptions two_epochs() { return {.epochs = 2, .batch = 10, .seed = 5, .show = Show::nothing}; }

void run(const Throws& in_batch, const TrainOptions& options = two_epochs(), const Throws& in_layer = nothing) {
    Sequential<double> net = network(in_layer);
    Own likelihood(in_batch, nothing);
    pollen::train(net, likelihood, data(), options);
}

// What f makes of exceptions of several types, of which what the message begins with is the same. f gets a function
// that throws.
void check(const std::string& where, const std::function<void(const Throws&)>& f) {
    BOOST_TEST(error_of<Error>([&] { f([] { throw std::out_of_range("no such place"); }); }) ==
               where + ": no such place");
    BOOST_TEST(error_of<MemoryError>([&] { f([] { throw std::bad_alloc(); }); }) ==
               where + ": the system refused the memory");
    BOOST_TEST(error_of<MemoryError>([&] { f([] { std::vector<int>().reserve(~std::size_t{0}); }); }) ==
               where + ": the system cannot have so much memory");
    BOOST_TEST(error_of<Error>([&] { f([] { throw Mine{1}; }); }) ==
               where + ": something that is not a std::exception was thrown");
    BOOST_TEST(error_of<MyError>([&] { f([] { throw MyError("as it is"); }); }) == "as it is");
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_layers_and_likelihoods) {
    check("train", [](const Throws& f) { run(f); });
    check("evaluate", [](const Throws& f) { evaluate(network(nothing), Own(f, nothing), data()); });
    check("predict", [](const Throws& f) { predict(network(f), data().inputs); });
    check("predict", [](const Throws& f) { predict(network(f), data().inputs, {.batch = 7}); });
    check("predict", [](const Throws& f) { evaluate(network(f), Own(nothing, nothing), data()); });
    check("predict", [](const Throws& f) { run(nothing, two_epochs(), f); });
    check("predict",
          [](const Throws& f) { each_sample<double>(network(f), data().inputs, {.samples = 2}, [](const auto&) {}); });
    check("NetworkPotential",
          [](const Throws& f) { NetworkPotential<double>(network(nothing), Own(nothing, f), data()); });
    check("ModelPotential", [](const Throws& f) {
        ModelPotential<double>([&](Model<double>& m) {
            f();
            m.prior(m.real("x") * -0.5);
        });
    });
}

BOOST_AUTO_TEST_CASE(of_schedules) {
    check("train", [](const Throws& f) {
        TrainOptions options = two_epochs();
        options.optimiser = Sgd{.rate = Schedule("own", [&](std::int64_t step) {
                                    if (step == 3) f();
                                    return 0.01;
                                })};
        run(nothing, options);
    });
}

// Callbacks throw what they like, and the network has the parameters of that moment.
BOOST_AUTO_TEST_CASE(of_callbacks) {
    const auto thrown = [](auto f) {
        TrainOptions options = two_epochs();
        options.on_step = [&](const StepRecord& now) {
            if (now.step == 3) f();
            return true;
        };
        run(nothing, options);
    };
    BOOST_CHECK_EXCEPTION(thrown([] { throw Mine{7}; }), Mine, [](const Mine& mine) { return mine.number == 7; });
    BOOST_CHECK_THROW(thrown([] { throw std::bad_alloc(); }), std::bad_alloc);
    BOOST_TEST(error_of<std::out_of_range>([&] { thrown([] { throw std::out_of_range("enough"); }); }) == "enough");
    BOOST_TEST(error_of<MyError>([&] { thrown([] { throw MyError("enough"); }); }) == "enough");
    BOOST_TEST(error_of<std::runtime_error>([&] { thrown([] { throw DomainError("enough"); }); }) == "enough");

    TrainOptions options = two_epochs();
    options.on_epoch = [](const EpochRecord&) -> bool { throw Mine{8}; };
    BOOST_CHECK_EXCEPTION(run(nothing, options), Mine, [](const Mine& mine) { return mine.number == 8; });

    BOOST_CHECK_EXCEPTION(
        each_sample<double>(network(nothing), data().inputs, {.samples = 2}, [](const auto&) { throw Mine{9}; }), Mine,
        [](const Mine& mine) { return mine.number == 9; });

    // An error of the run after a callback has returned is one of pollen's.
    std::int64_t calls = 0, batches = 0;
    options = two_epochs();
    options.on_step = [&](const StepRecord&) { return ++calls > 0; };
    BOOST_TEST(error_of<Error>([&] {
                   run(
                       [&] {
                           if (++batches == 3) throw std::out_of_range("late");
                       },
                       options);
               }) == "train: late");
    BOOST_TEST(calls == 2);
}

// A schedule of one's own may return anything.
BOOST_AUTO_TEST_CASE(impossible_rates) {
    for (const auto& [rate, text] : {std::pair(-0.5, "-0.5"), std::pair(static_cast<double>(NAN), "nan"),
                                     std::pair(static_cast<double>(INFINITY), "inf")}) {
        TrainOptions options = two_epochs();
        options.optimiser =
            Sgd{.rate = Schedule("own", [rate = rate](std::int64_t step) { return step == 2 ? rate : 0.0; })};
        std::int64_t steps = 0;
        options.on_step = [&](const StepRecord& now) {
            steps = now.step;
            return true;
        };
        BOOST_TEST(error_of<ValueError>([&] { run(nothing, options); }) ==
                   std::string("train: the rate is ") + text + " at step 3; it must be finite and not negative");
        BOOST_TEST(steps == 2);
    }
}

BOOST_AUTO_TEST_SUITE_END()
