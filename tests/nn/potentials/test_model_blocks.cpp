#include "model_blocks.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/rows.hpp>
#include <pollen/nn/distributions.hpp>
#include <pollen/nn/potentials/model.hpp>

#include <atomic>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>

using namespace pollen;
using namespace pollen::test;

// Models whose items are cut into blocks.
BOOST_AUTO_TEST_SUITE(model_blocks)

namespace {

template <Real T>
struct Regression {
    Tensor<T> x, y;
    explicit Regression(std::int64_t n) : x(cast<T>(normals({n, 3}, 1))), y(cast<T>(normals({n}, 2))) {}

    void operator()(Model<T>& m) const {
        const auto beta = m.real("beta", {3});
        const auto sigma = m.positive("sigma");
        m.prior(normal_lpdf(beta, 0, 2));
        m.prior(exponential_lpdf(sigma, 1));
        const auto mean = matmul(m.rows(x), beta);
        m.likelihood(normal_lpdf(m.rows(y), mean, sigma));
    }
};

const std::vector<double> at{0.3, -0.2, 0.5, 0.1};

}  // namespace

// mu ~ N(0, 2), y_i ~ N(mu, 1)
BOOST_AUTO_TEST_CASE(a_mean_in_closed_form) {
    const Tensor<double> y = normals({many});
    Calls calls;
    ModelPotential<double> u = counted(calls, [&](Model<double>& m) {
        const auto mu = m.real("mu");
        m.prior(normal_lpdf(mu, 0, 2));
        m.likelihood(normal_lpdf(m.rows(y), mu, 1));
    });
    const std::vector<double> theta{0.7};
    std::vector<double> gradient(1);
    Energy energy;
    BOOST_TEST(calls.in_blocks(many, [&] { energy = u.evaluate(theta, gradient); }));
    const double half_log = 0.5 * std::log(2 * M_PI);
    double likelihood = 0, slope = 0.7 / 4;
    for (const double v : y) {
        likelihood += (v - 0.7) * (v - 0.7) / 2 + half_log;
        slope += 0.7 - v;
    }
    BOOST_TEST(energy.prior == 0.7 * 0.7 / 8 + std::log(2.0) + half_log, boost::test_tools::tolerance(1e-14));
    BOOST_TEST(energy.likelihood == likelihood, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(gradient[0] == slope, boost::test_tools::tolerance(1e-12));
}

// Priors and Jacobians count once, and the Jacobian is not tempered.
BOOST_AUTO_TEST_CASE(blocks_add_up_to_all_items) {
    const Regression<double> regression(many);
    Calls calls;
    ModelPotential<double> whole(regression), blocks = counted(calls, regression);
    for (const double temperature : {1.0, 0.3, 0.0}) {
        whole.set_temperature(temperature);
        blocks.set_temperature(temperature);
        BOOST_TEST(calls.in_blocks(many, [&] { check_same(blocks, whole, at); }));
    }
    // A draw, and a clone, which does not call the function to find out what there is.
    std::vector<double> values(4);
    blocks.values(at, values);
    BOOST_TEST(values[3] == std::exp(0.1), boost::test_tools::tolerance(1e-15));
    calls.count = 0;
    const auto copy = blocks.clone();
    BOOST_TEST(calls.count == 0);
    BOOST_TEST(copy->temperature() == 0);
    BOOST_TEST(copy->evaluate(at, {}).total() == blocks.evaluate(at, {}).total());
    // A model that was moved.
    const double total = blocks.evaluate(at, {}).total();
    ModelPotential<double> moved(std::move(blocks));
    BOOST_TEST(moved.evaluate(at, {}).total() == total);
}

BOOST_AUTO_TEST_CASE(batches_are_cut_in_their_order) {
    const Regression<double> regression(many);
    std::vector<std::int64_t> batch(many / 2);
    for (std::size_t k = 0; k < batch.size(); ++k) batch[k] = static_cast<std::int64_t>(k * 7919 % many);
    Calls calls;
    ModelPotential<double> all = counted(calls, regression);
    ModelPotential<double> some(
        [x = take_rows(regression.x, batch), y = take_rows(regression.y, batch)](Model<double>& m) {
            const auto beta = m.real("beta", {3});
            const auto sigma = m.positive("sigma");
            m.prior(normal_lpdf(beta, 0, 2));
            m.prior(exponential_lpdf(sigma, 1));
            m.likelihood(2.0 * normal_lpdf(y, matmul(x, beta), sigma));
        });
    std::vector<double> of_batch(4), of_some(4);
    Energy energy;
    BOOST_TEST(calls.in_blocks(many / 2, [&] { energy = all.evaluate(at, of_batch, batch); }));
    const Energy right = some.evaluate(at, of_some);
    BOOST_TEST(energy.prior == right.prior);
    BOOST_TEST(energy.likelihood == right.likelihood, boost::test_tools::tolerance(1e-12));
    for (std::size_t k = 0; k < 4; ++k) BOOST_TEST(of_batch[k] == of_some[k], boost::test_tools::tolerance(1e-10));
    BOOST_TEST(!calls.in_blocks(100, [&] { all.evaluate(at, of_batch, std::span(batch).first(100)); }));
    BOOST_TEST(calls.count == 1);
    batch.back() = many;
    BOOST_TEST(error_of<ShapeError>([&] { all.evaluate(at, of_batch, batch); }) ==
               "Model: there is no item 100000; the model has 100000");
}

template <Real T>
void check_threads() {
    ModelPotential<T> u(Regression<T>(many), many);
    const std::vector<T> theta(at.begin(), at.end());
    std::vector<T> first(4);
    double energy = 0;
    with_threads(1, [&] { energy = u.evaluate(theta, first).total(); });
    for (const int threads : {1, 2, 3, 8})
        with_threads(threads, [&] {
            const auto copy = u.clone();
            for (int repeat = 0; repeat < 3; ++repeat) {
                std::vector<T> gradient(4);
                BOOST_TEST(u.evaluate(theta, gradient).total() == energy);
                BOOST_TEST((gradient == first));
                BOOST_TEST(copy->evaluate(theta, gradient).total() == energy);
                BOOST_TEST((gradient == first));
            }
        });
}

BOOST_AUTO_TEST_CASE(threads_do_not_matter) {
    check_threads<float>();
    check_threads<double>();
}

// The function adds one likelihood for each item, so the calls have different numbers of them.
BOOST_AUTO_TEST_CASE(terms_of_single_items) {
    constexpr std::int64_t n = 5000;
    const Tensor<double> y = normals({n});
    Calls calls;
    const auto mean = [&](Model<double>& m) {
        const auto mu = m.real("mu");
        m.prior(normal_lpdf(mu, 0, 2));
        return mu;
    };
    const auto one_by_one = [&](Model<double>& m) {
        const auto mu = mean(m);
        for (const std::int64_t i : m.batch()) m.likelihood(normal_lpdf(y.data()[i], mu, 1));
    };
    ModelPotential<double> terms = counted(calls, one_by_one, n);
    ModelPotential<double> whole([&](Model<double>& m) { m.likelihood(normal_lpdf(y, mean(m), 1)); });
    BOOST_TEST(calls.in_blocks(n, [&] { check_same(terms, whole, {0.4}); }));
}

// The gradient of a block is worked out after the function has returned. Rows of the block share the data's memory.
BOOST_AUTO_TEST_CASE(data_may_be_local_to_the_function) {
    const Regression<double> regression(many);
    std::atomic<bool> shared = true;
    const auto with = [&](Model<double>& m, const Tensor<double>& x, const Tensor<double>& y) {
        const auto beta = m.real("beta", {3});
        m.prior(normal_lpdf(beta, 0, 1));
        const Tensor<double> rows = m.rows(x);
        if (x.owns() && rows.data() != x.data() + m.batch().front() * 3) shared = false;
        m.likelihood(normal_lpdf(m.rows(y), matmul(rows, beta), 1));
    };
    ModelPotential<double> outside([&](Model<double>& m) { with(m, regression.x, regression.y); }, many);
    ModelPotential<double> local(
        [&](Model<double>& m) {
            const Tensor<double> x(regression.x.shape(), regression.x.values());
            const Tensor<double> y(regression.y.shape(), regression.y.values());
            with(m, x, y);
        },
        many);
    ModelPotential<double> borrowed(
        [&](Model<double>& m) {
            const std::vector<double> x(regression.x.begin(), regression.x.end());
            const std::vector<double> y(regression.y.begin(), regression.y.end());
            with(m, Tensor<double>::borrow(x.data(), {many, 3}), Tensor<double>::borrow(y.data(), {many}));
        },
        many);
    const std::vector<double> theta{0.3, -0.2, 0.9};
    std::vector<double> right(3), gradient(3);
    const double energy = outside.evaluate(theta, right).total();
    BOOST_TEST(shared);
    for (auto* other : {&local, &borrowed}) {
        BOOST_TEST(other->evaluate(theta, gradient).total() == energy);
        BOOST_TEST((gradient == right));
    }
    BOOST_TEST(shared);
}

// sd_i = s - c_i with c = 0 but for the last item.
BOOST_AUTO_TEST_CASE(a_block_may_refuse) {
    const Tensor<double> y = normals({many});
    Tensor<double> c = Tensor<double>::zeros({many});
    c.mutable_at(many - 1) = 1;
    Calls calls;
    ModelPotential<double> u = counted(calls, [&](Model<double>& m) {
        const auto s = m.positive("s");
        m.prior(exponential_lpdf(s, 1));
        m.likelihood(normal_lpdf(m.rows(y), 0, s - m.rows(c)));
    });
    const std::vector<double> good{0.5}, bad{-0.5};
    std::vector<double> gradient(1);
    double energy = 0;
    BOOST_TEST(calls.in_blocks(many, [&] { energy = u.evaluate(good, gradient).total(); }));
    const double slope = gradient[0];
    BOOST_TEST(std::isfinite(energy));
    for (const int threads : {1, 3})
        with_threads(threads, [&] {
            BOOST_TEST(std::isinf(u.evaluate(bad, {}).total()));
            BOOST_TEST(std::isinf(u.evaluate(bad, gradient).total()));
            BOOST_TEST(std::isnan(gradient[0]));
            BOOST_TEST(u.refusal().starts_with("Normal: sd is -0.39346934"));
            // It leaves no trace.
            BOOST_TEST(u.evaluate(good, gradient).total() == energy);
            BOOST_TEST(gradient[0] == slope);
            BOOST_TEST(u.refusal() == "");
        });
}

BOOST_AUTO_TEST_CASE(exceptions_come_out) {
    const Tensor<double> y = normals({many});
    std::atomic<bool> broken = false;
    ModelPotential<double> u(
        [&](Model<double>& m) {
            const auto mu = m.real("mu");
            m.likelihood(normal_lpdf(m.rows(y), mu, 1));
            if (broken && m.batch().back() == many - 1) throw std::runtime_error("the last item is bad");
        },
        many);
    const std::vector<double> theta{0.4};
    std::vector<double> gradient(1), room(2);
    const double energy = u.evaluate(theta, gradient).total();
    broken = true;
    BOOST_TEST(error_of<std::runtime_error>([&] { u.evaluate(theta, gradient); }) == "the last item is bad");
    broken = false;
    BOOST_TEST(u.evaluate(theta, gradient).total() == energy);
    BOOST_TEST(error_of<ShapeError>([&] { u.evaluate(room, gradient); }) ==
               "ModelPotential: theta has 2 numbers; the model has 1");
    BOOST_TEST(error_of<ShapeError>([&] { u.evaluate(theta, room); }) ==
               "ModelPotential: room for 2 numbers of the gradient; 1 are needed");
}

// Threads have copies of the function, as chains do: it may write to what it has captured by value.
BOOST_AUTO_TEST_CASE(a_function_may_write_to_its_own_state) {
    const Tensor<double> y = normals({many});
    ModelPotential<double> u(
        [y, squares = std::vector<double>()](Model<double>& m) mutable {
            squares.clear();
            for (const std::int64_t i : m.batch()) squares.push_back(y.data()[i] * y.data()[i]);
            const double sum = std::accumulate(squares.begin(), squares.end(), 0.0);
            const auto s = m.positive("s");
            m.prior(exponential_lpdf(s, 1));
            m.likelihood(sum * s);
            m.likelihood(m.rows(y) * (-s));
        },
        many);
    const std::vector<double> theta{0.4};
    std::vector<double> first(1), gradient(1);
    double energy = 0;
    with_threads(1, [&] { energy = u.evaluate(theta, first).total(); });
    with_threads(4, [&] {
        for (int repeat = 0; repeat < 20; ++repeat) {
            BOOST_TEST(u.evaluate(theta, gradient).total() == energy);
            BOOST_TEST((gradient == first));
        }
    });
}

// The second evaluation takes no memory from the heap, and the function writes no copies of the data.
BOOST_AUTO_TEST_CASE(memory) {
    std::atomic<std::uint64_t> allocated = 0;
    const Regression<double> regression(many);
    ModelPotential<double> u(
        [&](Model<double>& m) {
            allocated = m.tape().pool().allocated;
            regression(m);
        },
        many);
    std::vector<double> gradient(4);
    with_threads(1, [&] {
        for (int repeat = 0; repeat < 3; ++repeat) u.evaluate(at, gradient);
        const std::uint64_t before = allocated, shared = Pool::global().counters().allocated;
        for (int repeat = 0; repeat < 3; ++repeat) u.evaluate(at, gradient);
        BOOST_TEST(allocated == before);
        BOOST_TEST(Pool::global().counters().allocated == shared);
    });
}

// The constructor calls the function for all items. The memory of these calls is given back if the items are cut.
BOOST_AUTO_TEST_CASE(memory_does_not_grow_with_the_items) {
    const auto held = [](std::int64_t n) {
        std::atomic<std::uint64_t> most = 0;
        const Regression<double> regression(n);
        ModelPotential<double> u(
            [&](Model<double>& m) {
                regression(m);
                most = std::max<std::uint64_t>(most, m.tape().pool().bytes);
            },
            n);
        BOOST_TEST(most > 8 * static_cast<std::uint64_t>(n));
        std::vector<double> gradient(4), values(4);
        const auto copy = u.clone();
        most = 0;
        for (Potential<double>* potential : {static_cast<Potential<double>*>(&u), copy.get()}) {
            potential->evaluate(at, gradient);
            potential->values(at, values);
        }
        return most.load();
    };
    BOOST_TEST(held(400000) <= 1.25 * static_cast<double>(held(100000)));
}

BOOST_AUTO_TEST_SUITE_END()
