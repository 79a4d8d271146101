#include "elementwise_checks.hpp"

namespace pollen::test {

BOOST_AUTO_TEST_SUITE(where)

BOOST_AUTO_TEST_CASE(chooses) {
    const auto choose = [](auto x, auto y) {
        using T = std::remove_cvref_t<decltype(x.item())>;
        return pollen::where(Tensor<T>{0, 1, T(-0.0), T(nan), T(-inf), T(1e-40)}, x, y);
    };
    const Tensor<double> x{1, 2, 3, 4, 5, inf}, y{-1, nan, -3, -4, -5, -6};
    check_close(value<float>(choose, x, y), {-1, 2, -3, 4, 5, inf}, 0);
    check_close(value<double>(choose, x, y), {-1, 2, -3, 4, 5, inf}, 0);
    // What is not chosen leaves no trace in the gradient, not even NaN.
    Tape<double> tape;
    const Var<double> u = tape.variable(x), v = tape.variable(y);
    tape.backward(sum(pollen::where(Tensor<double>{0, 1, 0, 1, 1, 1}, u, pollen::log(v))));
    BOOST_TEST((u.grad() == Tensor<double>{0, 1, 0, 1, 1, 1}));
}

// Every operand alone, in pairs and all three smaller than the result.
BOOST_AUTO_TEST_CASE(broadcasts) {
    const Shape forms[][4] = {{{3, 4}, {3, 4}, {3, 4}, {3, 4}},
                              {{3, 4}, {}, {}, {3, 4}},
                              {{}, {3, 4}, {3, 4}, {3, 4}},
                              {{4}, {3, 4}, {3, 1}, {3, 4}},
                              {{3, 1}, {4}, {1}, {3, 4}},
                              {{2, 1, 1}, {3, 1}, {4}, {2, 3, 4}},
                              {{}, {}, {}, {}},
                              {{0, 3}, {3}, {}, {0, 3}},
                              {{1}, {2, 0}, {1}, {2, 0}},
                              {{9, 17}, {17}, {9, 1}, {9, 17}}};
    for (const auto& [of_c, of_x, of_y, out] : forms) {
        Tensor<double> condition = normals(of_c, 3);
        for (double& c : condition.mutable_values()) c = c > 0;
        const Tensor<double> x = normals(of_x), y = normals(of_y, 2), zeros = Tensor<double>::zeros(out);
        const auto choose = [&](auto u, auto v) {
            using T = std::remove_cvref_t<decltype(u.item())>;
            return pollen::where(cast<T>(condition), u, v);
        };
        const auto mix = [&](auto u, auto v) {
            const auto c = constant_like(u, condition);
            return c * u + (1 - c) * v + zeros;
        };
        BOOST_TEST((value<double>(choose, x, y) == value<double>(mix, x, y)));
        check_gradients(choose, x, y);
    }
}

BOOST_AUTO_TEST_CASE(sizes_and_one_input_twice) {
    for (std::int64_t n : {1, 2, 7, 8, 9, 31, 33, 70001}) {
        const Tensor<double> x = normals({n}), y = normals({n}, 2), c = normals({n}, 3);
        Tape<double> tape;
        const Var<double> u = tape.variable(x), v = tape.variable(y);
        Tensor<double> positive = c;
        for (double& p : positive.mutable_values()) p = p > 0;
        const Var<double> z = pollen::where(positive, u, v);
        tape.backward(z, c);
        for (std::int64_t i = 0; i < n; ++i) {
            BOOST_REQUIRE_EQUAL(z.value()(i), c(i) > 0 ? x(i) : y(i));
            BOOST_REQUIRE_EQUAL(u.grad()(i), c(i) > 0 ? c(i) : 0);
            BOOST_REQUIRE_EQUAL(v.grad()(i), c(i) > 0 ? 0 : c(i));
        }
    }
    check_gradients(
        [](auto x) {
            return pollen::where(cast<std::remove_cvref_t<decltype(x.item())>>(Tensor<double>{1, 0, 1}), x, x);
        },
        Tensor<double>{1, 2, 3});
}

BOOST_AUTO_TEST_CASE(errors) {
    Tape<double> tape;
    const Var<double> x = tape.variable(normals({2, 3})), y = tape.variable(normals({4, 3}));
    BOOST_TEST(error_of<ShapeError>([&] {
                   pollen::where(Tensor<double>{1, 0, 1}, x, y);
               }) == "where: shapes (2, 3) and (4, 3) do not broadcast: axis 0 is 2 and 4; sizes must be equal or 1");
    BOOST_TEST(error_of<ShapeError>([&] {
                   pollen::where(Tensor<double>{1, 0}, x, x);
               }) == "where: shapes (2) and (2, 3) do not broadcast: axis 1 is 2 and 3; sizes must be equal or 1");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace pollen::test
