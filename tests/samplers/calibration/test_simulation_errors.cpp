#include "../../support.hpp"
#include "exact_simulation.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/potentials/function_potential.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/full_batch/metropolis.hpp>

using namespace pollen;
using namespace pollen::test;

// What calibrate() and geweke_test() refuse, and how they end before their time.
BOOST_AUTO_TEST_SUITE(check_errors)

namespace {

// The model Conjugate, which asks for the end at one of its evaluations.
class Interrupting final : public Potential<double> {
  public:
    Interrupting(const Conjugate& model, std::int64_t* evaluations, std::int64_t last, Stopper* stopper)
        : model_(model), evaluations_(evaluations), last_(last), stopper_(stopper) {}

    std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<Interrupting>(*this); }
    std::int64_t size() const override { return Conjugate::size; }
    std::int64_t items() const override { return 0; }
    Energy evaluate(std::span<const double> x, std::span<double> g) override {
        if (++*evaluations_ == last_) stopper_->ask();
        return {0, model_.energy(x, g)};
    }
    Energy evaluate(std::span<const double> x, std::span<double> g, std::span<const std::int64_t>) override {
        return evaluate(x, g);
    }
    const std::vector<Quantity>& quantities() const override {
        static const std::vector<Quantity> all = Conjugate::quantities();
        return all;
    }
    void values(std::span<const double> x, std::span<double> out) override { Conjugate::values(x, out); }
    const std::vector<Quantity>& blocks() const override { return quantities(); }
    std::string describe() const override { return "interrupting"; }

  private:
    Conjugate model_;
    std::int64_t *evaluations_, last_;
    Stopper* stopper_;
};

// Calls f(stopper) for a stop by a signal, and for one by the token.
template <class F>
void by_either(const F& f) {
    for (const int signal : {SIGINT, 0}) {
        const Interrupt interrupt;
        Stopper stopper{.signal = signal};
        f(stopper);
    }
}

// `few` and `some` with the token.
CalibrationOptions few_until(const Stopper& stopper) {
    CalibrationOptions options = few;
    options.stop = stopper.token();
    return options;
}
GewekeOptions some_until(const Stopper& stopper) {
    GewekeOptions options = some;
    options.stop = stopper.token();
    return options;
}

}  // namespace

// On one thread: other threads may finish their chains before the signal is delivered.
BOOST_AUTO_TEST_CASE(interrupts) {
    with_threads(1, [] {
        by_either([](Stopper& stopper) {
            std::atomic<int> steps = 0;
            const Calibration c =
                calibrate(simulation_of<Conjugate>(), Exact{.steps = &steps, .interrupt = 5000, .stopper = &stopper},
                          few_until(stopper));
            BOOST_TEST(c.interrupted);
            BOOST_TEST(c.replications > 0);
            BOOST_TEST(c.replications < 100);
            BOOST_TEST(std::ssize(c.quantities[0].ranks) == c.replications);
            BOOST_TEST(summary(c).find("Warning: interrupted before all replications were done.\n") !=
                       std::string::npos);
        });
        by_either([](Stopper& stopper) {
            std::atomic<int> steps = 0;
            const GewekeTest g =
                geweke_test(simulation_of<Conjugate>(), Exact{.steps = &steps, .interrupt = 100, .stopper = &stopper},
                            some_until(stopper));
            BOOST_TEST(g.interrupted);
            BOOST_TEST(g.chains == 0);
            BOOST_TEST(!g.passed());
        });
        by_either([](Stopper& stopper) {
            std::atomic<int> steps = 0;
            BOOST_TEST(!calibrate(simulation_of<Conjugate>(),
                                  Exact{.steps = &steps, .interrupt = 1, .stopper = &stopper}, few_until(stopper))
                            .passed());
        });
    });
}

// They end at the next step, also between two draws, at the next simulation, and within a step of many gradients.
BOOST_AUTO_TEST_CASE(interrupts_end_the_work_at_once) {
    with_threads(1, [] {
        by_either([](Stopper& stopper) {
            std::atomic<int> steps = 0;
            CalibrationOptions thinned = few_until(stopper);
            thinned.warmup = 0;
            thinned.thin = 100000;
            const Exact sampler{.steps = &steps, .interrupt = 5, .stopper = &stopper};
            BOOST_TEST(calibrate(simulation_of<Conjugate>(), sampler, thinned).interrupted);
            BOOST_TEST(steps == 5);
        });
        by_either([](Stopper& stopper) {
            std::atomic<int> steps = 0;
            GewekeOptions many = some_until(stopper);
            many.transitions = 100000;
            const Exact sampler{.steps = &steps, .interrupt = 5, .stopper = &stopper};
            BOOST_TEST(geweke_test(simulation_of<Conjugate>(), sampler, many).interrupted);
            BOOST_TEST(steps == 5);
        });
        by_either([](Stopper& stopper) {
            int simulated = 0;
            Simulation<double> model = simulation_of<Conjugate>();
            model.prior = [&, prior = model.prior](Random& random) {
                if (++simulated == 7) stopper.ask();
                return prior(random);
            };
            BOOST_TEST(geweke_test(model, Exact{}, some_until(stopper)).interrupted);
            BOOST_TEST(simulated == 7);
        });
        const auto in_a_long_step = [](const auto& interrupted) {
            by_either([&](Stopper& stopper) {
                std::int64_t evaluations = 0;
                const Simulation<double> counted{Conjugate::prior, [&](std::span<const double> x, Random& random) {
                                                     return std::make_unique<Interrupting>(
                                                         Conjugate(x, random), &evaluations, 2000, &stopper);
                                                 }};
                const Hmc long_steps{.step_size = 1e-3, .steps = 100000, .warmup = {.step_size = false}};
                BOOST_TEST(interrupted(counted, long_steps, stopper));
                BOOST_TEST(evaluations == 2000);
            });
        };
        in_a_long_step([](const auto& model, const auto& sampler, const Stopper& stopper) {
            return calibrate(model, sampler, few_until(stopper)).interrupted;
        });
        in_a_long_step([](const auto& model, const auto& sampler, const Stopper& stopper) {
            return geweke_test(model, sampler, some_until(stopper)).interrupted;
        });
    });
}

BOOST_AUTO_TEST_CASE(errors_of_options) {
    const auto error = [](CalibrationOptions o, const auto& change) {
        change(o);
        return error_of<ValueError>([&] { calibrate(simulation_of<Conjugate>(), Exact{}, o); });
    };
    BOOST_TEST(error(few, [](auto& o) { o.replications = 0; }) == "calibrate: replications is 0; at least 1 is needed");
    BOOST_TEST(error(few, [](auto& o) { o.replications = 20'000'000; }) ==
               "calibrate: replications is 20000000; at most 10000000 are possible");
    BOOST_TEST(error(few, [](auto& o) { o.draws = 0; }) ==
               "calibrate: draws is 0; at least 6 are needed to know what they are worth");
    BOOST_TEST(error(few, [](auto& o) { o.draws = 5; }) ==
               "calibrate: draws is 5; at least 6 are needed to know what they are worth");
    BOOST_TEST(error(few, [](auto& o) { o.thin = 0; }) == "calibrate: thin is 0; at least 1 is needed");
    BOOST_TEST(error(few, [](auto& o) { o.bins = 1; }) == "calibrate: bins is 1; at least 2 are needed");
    BOOST_TEST(error(few, [](auto& o) { o.warmup = -1; }) == "calibrate: warmup is -1; it must not be negative");
    BOOST_TEST(error(few, [](auto& o) { o.bins = 7; }) ==
               "calibrate: 49 draws have 50 ranks, which 7 bins do not share equally");
    const auto geweke_error = [](GewekeOptions o, const auto& change) {
        change(o);
        return error_of<ValueError>([&] { geweke_test(simulation_of<Conjugate>(), Exact{}, o); });
    };
    BOOST_TEST(geweke_error(some, [](auto& o) { o.chains = 0; }) == "geweke_test: chains is 0; at least 1 is needed");
    BOOST_TEST(geweke_error(some, [](auto& o) { o.transitions = 0; }) ==
               "geweke_test: transitions is 0; at least 1 is needed");
    BOOST_TEST(geweke_error(some, [](auto& o) { o.draws = 19; }) == "geweke_test: draws is 19; at least 20 are needed");
    BOOST_TEST(error_of<ValueError>([] { Calibration{}.passed(0); }) ==
               "Calibration: level is 0; it must be between 0 and 1");
    BOOST_TEST(error_of<ValueError>([] { summary(GewekeTest{}, 1); }) ==
               "summary: level is 1; it must be between 0 and 1");
}

// Of all that fail, the first is named, at any number of threads.
BOOST_AUTO_TEST_CASE(errors_of_a_replication) {
    for (const int threads : {1, 2, 8}) {
        with_threads(threads, [] {
            BOOST_TEST(error_of<ShapeError>([] {
                           calibrate(simulation_of<Conjugate>(), Exact{.bad_chain = 40, .also_bad = 16}, few);
                       }) == "calibrate: replication 17: Exact: out of luck");
            BOOST_TEST(error_of<ShapeError>([] {
                           geweke_test(simulation_of<Conjugate>(), Exact{.bad_chain = 3, .also_bad = 1}, some);
                       }) == "geweke_test: chain 2: Exact: out of luck");
        });
    }
    const auto error = [](const auto& change) {
        Simulation<double> model = simulation_of<Conjugate>();
        change(model);
        return error_of<Error>([&] { calibrate(model, Exact{}, few); });
    };
    BOOST_TEST(error([](auto& m) { m.prior = {}; }) == "calibrate: the simulation has no prior");
    BOOST_TEST(error([](auto& m) { m.posterior = {}; }) == "calibrate: the simulation has no posterior");
    BOOST_TEST(error([](auto& m) { m.posterior = [](auto, auto&) { return nullptr; }; }) ==
               "calibrate: replication 1: there is no posterior");
    BOOST_TEST(error([](auto& m) { m.prior = [](auto&) { return std::vector<double>(2); }; }) ==
               "calibrate: replication 1: the prior draws 2 numbers; the posterior has 1");
    BOOST_TEST(error([](auto& m) { m.prior = [](auto&) { return std::vector<double>{1e200}; }; }) ==
               "calibrate: replication 1: energy is inf; it must be finite");
    BOOST_TEST(error([](auto& m) {
                   m.prior = [](auto&) -> std::vector<double> { throw std::runtime_error("no prior today"); };
               }) == "calibrate: replication 1: no prior today");
    BOOST_TEST(error([](auto& m) {
                   m.posterior = [inner = m.posterior](auto x, auto& random) {
                       auto u = inner(x, random);
                       u->set_temperature(2);
                       return u;
                   };
               }) ==
               "calibrate: replication 1: the posterior has temperature 2; parameters drawn from the prior "
               "belong to that of 1");
    // Replications with different quantities.
    const Simulation<double> one = simulation_of<Conjugate>(), two = simulation_of<Rounded>();
    const Simulation<double> mixed{one.prior, [&](std::span<const double> x, Random& random) {
                                       return (random.key().stream % 256 < 50 ? one : two).posterior(x, random);
                                   }};
    BOOST_TEST(error_of<ShapeError>([&] { calibrate(mixed, Exact{}, few); }) ==
               "calibrate: replication 51 has 2 quantities; others have 1");
    BOOST_TEST(error_of<ShapeError>([&] {
                   geweke_test(mixed, Exact{}, {.chains = 60, .draws = 20, .show = Show::nothing});
               }) == "geweke_test: chain 51 has 2 quantities; others have 1");
    // As many, with other names.
    const auto called = [](const char* name) {
        return [name](std::span<const double>, Random&) {
            return std::make_unique<FunctionPotential<double>>(std::vector<std::string>{name},
                                                               [](std::span<const double> x, std::span<double> slope) {
                                                                   if (!slope.empty()) slope[0] = x[0];
                                                                   return x[0] * x[0] / 2;
                                                               });
        };
    };
    const Simulation<double> renamed{one.prior, [&](std::span<const double> x, Random& random) {
                                         return called(random.key().stream % 256 < 50 ? "mu" : "tau")(x, random);
                                     }};
    BOOST_TEST(error_of<ValueError>([&] { calibrate(renamed, Metropolis{}, few); }) ==
               "calibrate: replication 51 has the quantity tau where others have mu");
    BOOST_TEST(error_of<ValueError>([&] {
                   geweke_test(renamed, Metropolis{}, {.chains = 60, .draws = 20, .show = Show::nothing});
               }) == "geweke_test: chain 51 has the quantity tau where others have mu");
    const Simulation<double> changing{one.prior, [&](std::span<const double> x, Random& random) {
                                          return (random.uniform<double>() < 0.9 ? one : two).posterior(x, random);
                                      }};
    BOOST_TEST(error_of<ShapeError>([&] { geweke_test(changing, Exact{}, some); }) ==
               "geweke_test: chain 1: the posterior has 2 quantities; another had 1");
}

BOOST_AUTO_TEST_SUITE_END()
