#include "../../autograd/support/group_checks.hpp"
#include "../../support.hpp"
#include "spread_cases.hpp"

#include <pollen/autograd/support/thread_group.hpp>
#include <pollen/samplers/minibatch/gibbs_precision.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>

#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <new>
#include <stdexcept>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(spread_errors)

namespace {

// In 7 blocks, three ranks have items 0 to 4, 5 to 10 and 11 to 19.
Dataset<double> twenty() { return spread_data<double>(20); }

// What each rank throws, with the name of its type. If they do not agree, the group throws the same at its end.
std::vector<std::string> thrown(int ranks, const std::function<void(Group&)>& f) {
    std::vector<std::string> texts(static_cast<std::size_t>(ranks));
    try {
        run_group(ranks,
                  [&](Group& group) { texts[static_cast<std::size_t>(group.rank())] = thrown_by([&] { f(group); }); });
    } catch (const GroupError&) {
    }
    return texts;
}

void check_all(const std::vector<std::string>& texts, const std::string& expected) {
    for (const std::string& text : texts) BOOST_TEST(text == expected);
}

// What is thrown for a model with this function.
template <class F>
std::vector<std::string> thrown_for_model(int ranks, const F& f) {
    return thrown(ranks, [&](Group& group) {
        const Spread spread(group, 20, 7);
        const Dataset<double> mine = twenty().slice(spread.first(), spread.count());
        const ModelPotential<double> part([=](Model<double>& m) { f(m, mine); }, mine.size());
        const SpreadPotential<double> u(part, spread);
    });
}

// sum (theta - i)^2 over items i. If it is told to, throws something that is no Error: in a likelihood, or after one in
// size(), which a rank calls between two evaluations, where the others wait for it.
struct Unlucky final : ItemwisePotential<double> {
    explicit Unlucky(std::int64_t n) : count(n) {}
    std::int64_t count;
    enum Fault { none, in_likelihood, in_size, in_next_size };
    std::shared_ptr<std::atomic<Fault>> fault = std::make_shared<std::atomic<Fault>>(none);

    std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<Unlucky>(*this); }
    std::int64_t size() const override {
        if (*fault == in_next_size) throw std::bad_alloc();
        return 1;
    }
    std::int64_t items() const override { return count; }
    double prior(std::span<const double>, std::span<double> gradient) override {
        std::fill(gradient.begin(), gradient.end(), 0.0);
        return 0;
    }
    double likelihood(std::span<const double> theta, std::span<const std::int64_t> items, double scale,
                      std::span<double> to) override {
        if (*fault == in_likelihood) throw std::runtime_error("a cable is loose");
        if (*fault == in_size) *fault = in_next_size;
        double sum = 0;
        for (const std::int64_t item : items) {
            const double far = theta[0] - static_cast<double>(item);
            sum += scale * far * far;
            if (!to.empty()) to[0] += 2 * scale * far;
        }
        return sum;
    }
    Energy evaluate(std::span<const double>, std::span<double>) override { return {}; }
    Energy evaluate(std::span<const double>, std::span<double>, std::span<const std::int64_t>) override { return {}; }
    const std::vector<Quantity>& quantities() const override { return quantities_; }
    void values(std::span<const double> theta, std::span<double> out) override { out[0] = theta[0]; }
    const std::vector<Quantity>& blocks() const override { return quantities_; }
    std::string describe() const override { return "Unlucky"; }

  private:
    std::vector<Quantity> quantities_{{"x", {}, 0}};
};

// Does not like inputs above 100, nor a shift above 100 if the first input is negative.
class Picky final : public Layer<Picky, double> {
  public:
    Var<double> forward(Pass<double>& pass, Var<double> x) const override {
        const Var<double> shift = pass(shift_);
        for (const double input : x.value())
            if (input > 100) throw ValueError("Picky: an input of " + std::to_string(std::lround(input)));
        for (std::int64_t row = 0; row < x.shape()[0]; ++row)
            if (x.value()(row, 0) < 0 && shift.value()(0) > 100) throw DomainError("Picky: a shift above 100");
        return x + shift;
    }
    static void members(auto& self, auto& visitor) { visitor.parameter("shift", self.shift_); }
    std::string describe() const override { return "Picky"; }

  private:
    Parameter<double> shift_{.shape = {3}, .init = Init::constant(0)};
};

SpreadPotential<double> picky(Group& group, const Dataset<double>& data) {
    const Spread spread(group, 20, 7);
    const NetworkPotential<double> part(Sequential<double>{Picky(), Dense<double>(3, 1)}, Gaussian<double>::known(1),
                                        data.slice(spread.first(), spread.count()), {.first_item = spread.first()});
    return {part, spread};
}

}  // namespace

BOOST_AUTO_TEST_CASE(not_a_sum_over_items) {
    const std::string refused = "ModelPotential: the items cannot be spread over ranks: ";
    const std::string on_first = "GroupError: rank 0: " + refused;
    const auto mean = [](Model<double>& m, const Dataset<double>& mine) {
        const auto mu = m.real("mu");
        m.prior(normal_lpdf(mu, 0, 1));
        return normal_lpdf(m.rows(mine.targets), mu, 1);
    };
    const std::string fine;
    for (const int ranks : {1, 3, 7})
        check_all(
            thrown_for_model(ranks, [&](Model<double>& m, const Dataset<double>& d) { m.likelihood(mean(m, d)); }),
            fine);
    // A likelihood that is a mean; one that counts whatever the items are; a prior of the items. Seven ranks have two
    // or three items each, in one block.
    const std::string sum =
        "the likelihood of four items is not the sum of those of two and two, or their prior is another one";
    for (const int ranks : {2, 7}) {
        check_all(thrown_for_model(ranks,
                                   [&](Model<double>& m, const Dataset<double>& d) {
                                       m.likelihood(mean(m, d) / static_cast<double>(m.batch().size()));
                                   }),
                  on_first + sum);
        check_all(thrown_for_model(ranks,
                                   [&](Model<double>& m, const Dataset<double>& d) {
                                       m.likelihood(mean(m, d));
                                       m.likelihood(normal_lpdf(m.real("x"), 3, 1));
                                   }),
                  on_first + sum);
        check_all(thrown_for_model(ranks,
                                   [&](Model<double>& m, const Dataset<double>& d) {
                                       m.likelihood(mean(m, d));
                                       m.prior(normal_lpdf(m.real("x"), static_cast<double>(m.batch().size()), 1));
                                   }),
                  on_first + sum);
    }
    check_all(
        thrown_for_model(2, [&](Model<double>& m,
                                const Dataset<double>& d) { m.likelihood(normal_lpdf(d.targets, m.real("mu"), 1)); }),
        on_first + "the function adds no likelihood of batch() or rows()");
    check_all(thrown_for_model(2,
                               [&](Model<double>& m, const Dataset<double>& d) {
                                   const auto terms = mean(m, d);
                                   m.likelihood(m.quantity("log_lik", terms));
                               }),
              on_first + "a quantity may depend on them; declare it before the function asks for batch() or rows()");
    check_all(thrown_for_model(2,
                               [&](Model<double>& m, const Dataset<double>& d) {
                                   m.likelihood(mean(m, d) * std::numeric_limits<double>::infinity());
                               }),
              on_first +
                  "it could not be found out whether the likelihood is a sum over items; it is not finite at 5 "
                  "points between -2 and 2 on the scale without bounds");
    // On a group of one it is the error itself.
    check_all(thrown_for_model(1,
                               [&](Model<double>& m, const Dataset<double>& d) {
                                   m.likelihood(mean(m, d) / static_cast<double>(m.batch().size()));
                               }),
              "ValueError: " + refused + sum);
}

// One item on each rank is enough to find out.
BOOST_AUTO_TEST_CASE(shares_of_one_item) {
    const auto texts = thrown(3, [](Group& group) {
        const Spread spread(group, 3, 3);
        const ModelPotential<double> part(
            [](Model<double>& m) {
                const double items = static_cast<double>(m.batch().size());
                m.likelihood(normal_lpdf(m.real("mu"), 0, 1) / items);
            },
            1);
        const SpreadPotential<double> u(part, spread);
    });
    check_all(texts,
              "GroupError: rank 0: ModelPotential: the items cannot be spread over ranks: the likelihood of four "
              "items is not the sum of those of two and two, or their prior is another one");
}

// Ranks that do not agree are told so before anything is evaluated.
BOOST_AUTO_TEST_CASE(parts_that_do_not_fit) {
    check_all(thrown(3,
                     [](Group& group) {
                         const Spread spread(group, 20, 7);
                         const auto part = NetworkCase<double>{.hidden = group.rank() == 1 ? 4 : 8}.part(
                             twenty().slice(spread.first(), spread.count()), spread.first());
                         const SpreadPotential<double> u(*part, spread);
                     }),
              "GroupError: the ranks do not agree on the potential, from byte 28 on: ranks 0 and 2: \"...network of "
              "0.weight(8, 3) 0.bias(8) 2.weight(1, 8) 2.bias(1)...\"; rank 1: \"...network of 0.weight(4, 3) "
              "0.bias(4) 2.weight(1, 4) 2.bias(1)...\"");
    check_all(thrown(3,
                     [](Group& group) {
                         const Spread spread(group, 20, 7);
                         const auto part =
                             NetworkCase<double>{}.part(twenty().slice(0, 5 + group.rank()), spread.first());
                         const SpreadPotential<double> u(*part, spread);
                     }),
              "GroupError: rank 2: SpreadPotential: the part has 7 items; this rank has the 9 items from 11 on");
    // Items of the data are counted in the whole data set.
    const auto part_with = [](double target, double input) {
        return thrown(3, [=](Group& group) {
            const Spread spread(group, 20, 7);
            Dataset<double> data = twenty();
            data.targets.mutable_at(13, 0) = target;
            data.inputs.mutable_at(8, 1) = input;
            std::unique_ptr<ItemwisePotential<double>> part;
            group.together(
                [&] { part = NetworkCase<double>{}.part(data.slice(spread.first(), spread.count()), spread.first()); });
        });
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    check_all(part_with(0, nan),
              "GroupError: rank 1: NetworkPotential: the inputs of item 8 of the data set are not all finite numbers");
    check_all(part_with(nan, 0),
              "GroupError: rank 2: counted from item 11 of the data set on: Gaussian: the target of item 2 is nan; "
              "finite numbers are needed");
    BOOST_TEST(error_of<ValueError>([] { NetworkCase<double>{}.part(twenty(), -1); }) ==
               "NetworkPotential: first_item is -1; it must not be negative");
}

// Errors of one rank reach rank 0; the others go on serving, and so do all.
BOOST_AUTO_TEST_CASE(errors_of_one_rank) {
    Dataset<double> bad = twenty();
    bad.inputs.mutable_at(7, 2) = 170;
    run_group(3, [&](Group& group) {
        SpreadPotential<double> u = picky(group, bad), good = picky(group, twenty());
        std::vector<double> theta(7, 0.1), gradient(7);
        u.lead([&] {
            BOOST_TEST(error_of<GroupError>([&] { u.evaluate(theta, gradient); }) ==
                       "rank 1: item 7 of the data set, alone: Picky: an input of 170");
            const std::vector<std::int64_t> without{3, 19, 8}, with{3, 19, 7};
            BOOST_TEST(std::isfinite(u.evaluate(theta, gradient, without).total()));
            BOOST_TEST(error_of<GroupError>([&] { u.evaluate(theta, {}, with); }) ==
                       "rank 1: item 7 of the data set, alone: Picky: an input of 170");
        });
        good.lead([&] {
            const double energy = good.evaluate(theta, gradient).total();
            theta[0] = 101;
            // An item of rank 1 with a first input below 0, and no other.
            const Dataset<double> data = twenty();
            std::vector<std::int64_t> batch;
            for (std::int64_t item = 0; item < 20; ++item)
                if ((data.inputs(item, 0) < 0) == (item >= 5 && item <= 10)) batch.push_back(item);
            BOOST_TEST(std::isinf(good.evaluate(theta, gradient, batch).total()));
            BOOST_TEST(good.refusal() == "rank 1: Picky: a shift above 100");
            BOOST_TEST(std::isnan(gradient[3]));
            theta[0] = 0.1;
            BOOST_TEST(good.evaluate(theta, gradient).total() == energy);
            BOOST_TEST(good.refusal().empty());
        });
    });
}

BOOST_AUTO_TEST_CASE(exceptions_that_are_no_errors) {
    for (const int bad : {0, 1, 2}) {
        const auto texts = thrown(3, [&](Group& group) {
            const Spread spread(group, 20, 7);
            const Unlucky part(spread.count());
            SpreadPotential<double> u(part, spread);
            std::vector<double> theta(1, 0.5), gradient(1);
            // The group goes on after what a likelihood throws.
            if (group.rank() == bad) *part.fault = Unlucky::in_likelihood;
            u.lead([&] {
                BOOST_TEST(thrown_by([&] { u.evaluate(theta, gradient); }) ==
                           "GroupError: rank " + std::to_string(bad) + ": a cable is loose");
            });
            *part.fault = Unlucky::none;
            u.lead([&] { BOOST_TEST(u.evaluate(theta, gradient).total() > 0); });
            // It ends after what nobody is prepared for, and no rank waits for ever.
            if (group.rank() == bad) *part.fault = Unlucky::in_size;
            u.lead([&] {
                for (int k = 0; k < 8; ++k) u.evaluate(theta, gradient);
            });
        });
        if (bad == 0) {
            BOOST_TEST(texts[0] == "exception: std::bad_alloc");
            BOOST_TEST(texts[1] == "GroupError: rank 0: the system refused the memory");
            BOOST_TEST(texts[2] == texts[1]);
        } else {
            check_all(texts, "GroupError: rank " + std::to_string(bad) + ": the system refused the memory");
        }
    }
}

BOOST_AUTO_TEST_CASE(outside_of_lead) {
    const std::string text =
        "ValueError: SpreadPotential: all ranks evaluate it together; call run_chains(), or lead() with a function "
        "that evaluates it, on all ranks";
    check_all(thrown(3,
                     [](Group& group) {
                         SpreadPotential<double> u = picky(group, twenty());
                         u.evaluate(std::vector<double>(7), {});
                     }),
              text);
    // Another potential than that which the others serve.
    run_group(2, [](Group& group) {
        SpreadPotential<double> u = picky(group, twenty()), other = picky(group, twenty());
        u.lead([&] {
            BOOST_TEST(error_of<ValueError>([&] { other.evaluate(std::vector<double>(7), {}); }) ==
                       "SpreadPotential: all ranks evaluate it together; call run_chains(), or lead() with a function "
                       "that evaluates it, on all ranks");
            u.lead([&] { BOOST_TEST(std::isfinite(u.evaluate(std::vector<double>(7), {}).total())); });
            BOOST_TEST(std::isfinite(u.evaluate(std::vector<double>(7), {}).total()));
        });
    });
}

// Ranks that lead different potentials find out.
BOOST_AUTO_TEST_CASE(another_potential) {
    const auto texts = thrown(2, [](Group& group) {
        SpreadPotential<double> u = picky(group, twenty()), other = picky(group, twenty());
        SpreadPotential<double>& mine = group.rank() == 0 ? u : other;
        mine.lead([&] { mine.evaluate(std::vector<double>(7), {}); });
    });
    BOOST_TEST(texts[0] == texts[1]);
    BOOST_TEST(texts[0].starts_with("GroupError: the ranks make different calls: rank 0: potential "));
}

// What the function throws on rank 0 is thrown there, and the others hear of it; then all go on.
BOOST_AUTO_TEST_CASE(errors_of_what_leads) {
    const auto texts = thrown(3, [](Group& group) {
        SpreadPotential<double> u = picky(group, twenty());
        std::string text;
        try {
            u.lead([&] {
                u.evaluate(std::vector<double>(7), {});
                throw ValueError("no such file");
            });
        } catch (const Error& error) {
            text = error.what();
        }
        double energy = 0;
        u.lead([&] { energy = u.evaluate(std::vector<double>(7), {}).total(); });
        throw Error(text + ", " + std::to_string(energy > 0));
    });
    BOOST_TEST(texts[0] == "Error: no such file, 1");
    BOOST_TEST(texts[1] == "Error: rank 0: no such file, 0");
    BOOST_TEST(texts[2] == texts[1]);
}

BOOST_AUTO_TEST_CASE(arguments) {
    SpreadPotential<double> u = picky(Group::alone(), twenty());
    const std::vector<double> theta(7);
    BOOST_TEST(error_of<ShapeError>([&] { u.evaluate(std::vector<double>(3), {}); }) ==
               "SpreadPotential: theta has 3 numbers; the potential has 7");
    std::vector<double> gradient(2);
    BOOST_TEST(error_of<ShapeError>([&] { u.evaluate(theta, gradient); }) ==
               "SpreadPotential: the gradient has 2 numbers; the potential has 7");
    BOOST_TEST(error_of<ValueError>([&] { u.evaluate(theta, {}, std::vector<std::int64_t>{}); }) ==
               "SpreadPotential: the batch is empty");
    BOOST_TEST(error_of<ValueError>([&] {
                   u.evaluate(theta, {}, std::vector<std::int64_t>{3, 20});
               }) == "Spread: there is no item 20 of 20");
    BOOST_TEST(error_of<ValueError>([&] {
                   const GibbsPrecision<Sghmc> sampler{.sampler = {.step_size = 1e-3}};
                   sampler.begin<double>(u.clone(), ChainStart<double>{.position = theta});
               }) == "GibbsPrecision: the items of the network are spread over ranks; it takes a NetworkPotential");
}

BOOST_AUTO_TEST_SUITE_END()
