#include "checks.hpp"

#include <pollen/nn/distributions/normal.hpp>

using namespace pollen;
using namespace pollen::test;
using pollen::distributions::Normal;

BOOST_AUTO_TEST_SUITE(normal_distribution)

BOOST_AUTO_TEST_CASE(reference) { check_reference<Normal, 2>(normal_rows); }

BOOST_AUTO_TEST_CASE(gradients) {
    const auto f = [](auto x, auto m, auto s) { return normal_lpdf(x, m, s); };
    for (std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 17, 33})
        check_gradients(f, normals({n}, 1), normals({n}, 2), uniforms({n}, 1, 2, 3));
    check_gradients(f, normals({9}, 1), normals({}, 2), uniforms({1}, 1, 2, 3));
    check_gradients(f, normals({}, 1), normals({5}, 2), uniforms({}, 1, 2, 3));
    check_gradients(f, normals({4, 5}, 1), normals({5}, 2), uniforms({4, 1}, 1, 2, 3));
    check_gradients(f, normals({4, 1}, 1), normals({1, 3}, 2), uniforms({2, 1, 1}, 1, 2, 3));
    check_gradients([](auto x, auto m) { return normal_lpdf(x, m, 0.5); }, normals({6}, 1), normals({6}, 2));
    check_gradients([](auto x) { return normal_lpdf(x, x, exp(x)); }, normals({6}, 1));
    check_gradients([](auto s) { return normal_lpdf(2, 1, s); }, uniforms({3}, 1, 2, 3));
    check_gradients([](auto x, auto m, auto s) { return Normal(m, s).log_prob_terms(x); }, normals({4, 5}, 1),
                    normals({5}, 2), uniforms({4, 1}, 1, 2, 3));
    check_pathwise(
        [](auto m, auto s) {
            return Normal(m, s).rsample({3, 4}, {.seed = 1});
        },
        normals({4}, 2), uniforms({3, 1}, 1, 2, 3));
    check_gradients([](auto m, auto s, auto n, auto t) { return kl(Normal(m, s), Normal(n, t)); }, normals({5}, 1),
                    uniforms({}, 1, 2, 2), normals({3, 5}, 3), uniforms({5}, 1, 2, 4));
}

BOOST_AUTO_TEST_CASE(constants_of_all_kinds) {
    Tape<double> tape;
    const Var<double> x = tape.variable(Tensor<double>{1, 2});
    const Tensor<double> m{0.5, 0.25};
    BOOST_TEST(normal_lpdf(x, m, 2).item() == normal_lpdf(x, tape.constant(m), tape.constant(2.0)).item());
    BOOST_TEST(normal_lpdf(m, x, 2.0f).item() == normal_lpdf(x, m, 2).item());
    BOOST_TEST(Normal(m, 2).log_prob(x).item() == normal_lpdf(x, m, 2).item());
    Tape<float> small;
    BOOST_TEST(normal_lpdf(small.variable(Tensor<float>{1}), 0, 1).item() == -1.41893853f,
               boost::test_tools::tolerance(1e-6f));
}

// After the first time nothing is taken from the heap, whether the derivatives are few or many.
BOOST_AUTO_TEST_CASE(steady_state) {
    for (std::int64_t n : {1, 8, 5000}) {
        const Tensor<double> at = normals({n}), y = normals({n}, 2);
        Tape<double> tape;
        std::uint64_t allocated = 0;
        for (int i = 0; i < 4; ++i) {
            const Var<double> x = tape.borrow_variable(at);
            tape.backward(normal_lpdf(y, x, 2));
            tape.clear();
            if (i == 1) allocated = tape.pool().allocated;
        }
        BOOST_TEST(tape.pool().allocated == allocated);
    }
}

// 100 000 elements are summed in chunks, in parallel; the bits do not depend on the number of threads.
BOOST_AUTO_TEST_CASE(many) {
    const Tensor<double> at = normals({100'000}), sd = uniforms({100'000}, 0.5, 2);
    const auto run = [&](bool moving) {
        Tape<double> tape;
        const Var<double> x = tape.variable(at), m = tape.variable(Tensor<double>::scalar(0.5));
        const Var<double> s = tape.variable(moving ? sd : Tensor<double>::scalar(1.5));
        const Var<double> l = normal_lpdf(x, m, s);
        tape.backward(l);
        return std::array<Tensor<double>, 4>{l.value(), x.grad(), m.grad(), s.grad()};
    };
    for (bool moving : {false, true}) {
        const auto got = run(moving);
        double value = 0, slope = 0;
        for (std::int64_t i = 0; i < at.size(); ++i) {
            const double s = moving ? sd.data()[i] : 1.5, z = (at.data()[i] - 0.5) / s;
            value += -0.5 * z * z - std::log(s) - 0.91893853320467274178;
            slope += z / s;
        }
        BOOST_TEST(got[0].item() == value, boost::test_tools::tolerance(1e-12));
        BOOST_TEST(got[2].item() == slope, boost::test_tools::tolerance(1e-11));
        for (int threads : {1, 4}) {
            with_threads(threads, [&] {
                const auto again = run(moving);
                for (std::size_t k = 0; k < 4; ++k) BOOST_TEST((again[k] == got[k]));
            });
        }
    }
}

BOOST_AUTO_TEST_CASE(edges) {
    const Normal<double> law(0, 1);
    BOOST_TEST(std::isnan(law.log_prob_each({NAN}).item()));
    BOOST_TEST(law.log_prob_each({INFINITY}).item() == -INFINITY);
    Tape<double> tape;
    const Var<double> nothing = tape.variable(Tensor<double>::zeros({0})), s = tape.variable(Tensor<double>::scalar(1));
    const Var<double> l = normal_lpdf(nothing, 0, s);
    tape.backward(l);
    BOOST_TEST(l.item() == 0);
    BOOST_TEST(s.grad().item() == 0);
    BOOST_TEST(to_string(law.log_prob_each(Tensor<double>::zeros({2, 0})).shape()) == "(2, 0)");
}

BOOST_AUTO_TEST_CASE(moments) {
    const Normal<double> law(Tensor<double>{1, 2}, 3);
    BOOST_TEST((law.mean() == Tensor<double>{1, 2}));
    BOOST_TEST((law.variance() == Tensor<double>{9, 9}));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] {
                   Normal<double>(0, Tensor<double>{1, 2, 3, -1});
               }) == "Normal: sd is -1 at element 3; it must be positive");
    BOOST_TEST(error_of<ValueError>([] { Normal<double>(0, 0); }) == "Normal: sd is 0; it must be positive");
    BOOST_TEST(error_of<ValueError>([] { Normal<float>(0, NAN); }) == "Normal: sd is nan; it must be positive");
    BOOST_TEST(error_of<ShapeError>([] {
                   Tape<double> tape;
                   normal_lpdf(tape.variable(normals({2, 3})), Tensor<double>{1, 2}, 1);
               }) ==
               "normal_lpdf: shapes (2, 3) and (2) do not broadcast: axis 1 is 3 and 2; sizes must be equal or 1");
    BOOST_TEST(error_of<TapeError>([] { Normal<double>(0, 1).log_prob(2); }) ==
               "normal_lpdf: no argument is a Var, so there is no tape; log_prob_each works on tensors alone");
    BOOST_TEST(error_of<ShapeError>([] {
                   Normal<double>(Tensor<double>{1, 2}, 1).sample({3}, {});
               }) == "Normal: a parameter of shape (2) does not broadcast to the shape asked for, (3)");
}

BOOST_AUTO_TEST_CASE(draws) {
    check_draws(Normal<double>(-1, 2), 1);
    check_kl(Normal<double>(0.3, 0.5), Normal<double>(-1, 2), 2);
}

BOOST_AUTO_TEST_SUITE_END()
