#include <pollen/autograd/rows.hpp>

#include "../support.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(rows_of_tensors)

BOOST_AUTO_TEST_CASE(a_stretch_of_rows_is_not_copied) {
    const Tensor<double> x{{0, 1}, {2, 3}, {4, 5}, {6, 7}};
    const Tensor<double> some = rows(x, 1, 2);
    BOOST_TEST((some.shape() == Shape{2, 2}));
    BOOST_TEST(some.data() == x.data() + 2);
    BOOST_TEST(some.values()[3] == 5);
    BOOST_TEST((rows(x, 4, 0).shape() == Shape{0, 2}));
    BOOST_TEST((rows(x, 0, 4).shape() == x.shape()));
    const Indices labels{7, 8, 9};
    BOOST_TEST(rows(labels, 2, 1).values()[0] == 9);
    BOOST_TEST((rows(Tensor<float>::zeros({0, 3}), 0, 0).shape() == Shape{0, 3}));
}

BOOST_AUTO_TEST_CASE(rows_may_share_the_buffer) {
    Tensor<float> x{{0, 1}, {2, 3}, {4, 5}, {6, 7}};
    const Tensor<float> kept = share_rows(x, 1, 2);
    BOOST_TEST((kept.shape() == Shape{2, 2}));
    BOOST_TEST(kept.data() == x.data() + 2);
    BOOST_TEST(kept.owns());
    // The rows keep their numbers where x is written to, and where it goes.
    x.mutable_at(1, 0) = 9;
    BOOST_TEST(kept(0, 0) == 2);
    x = Tensor<float>();
    BOOST_TEST((kept == Tensor<float>{{2, 3}, {4, 5}}));
    Tensor<float> own = kept;
    own.mutable_at(0, 0) = 8;
    BOOST_TEST((own == Tensor<float>{{8, 3}, {4, 5}}));
    BOOST_TEST((kept.reshaped({4}) == Tensor<float>{2, 3, 4, 5}));
    BOOST_TEST((share_rows(kept, 1, 1) == Tensor<float>{{4, 5}}));
    BOOST_TEST((share_rows(Tensor<float>::zeros({0, 3}), 0, 0).shape() == Shape{0, 3}));

    const std::vector<std::int32_t> numbers{7, 8, 9};
    const Indices copy = share_rows(Indices::borrow(numbers.data(), {3}), 1, 2);
    BOOST_TEST(copy.owns());
    BOOST_TEST(copy.data() != numbers.data() + 1);
    BOOST_TEST((copy == Indices{8, 9}));
}

BOOST_AUTO_TEST_CASE(rows_by_number) {
    const Tensor<float> x{{0, 1}, {2, 3}, {4, 5}};
    const Tensor<float> taken = take_rows(x, std::vector<std::int64_t>{2, 0, 2});
    BOOST_TEST((taken.shape() == Shape{3, 2}));
    BOOST_TEST((std::vector<float>(taken.begin(), taken.end()) == std::vector<float>{4, 5, 0, 1, 4, 5}));
    BOOST_TEST((take_rows(x, std::vector<std::int64_t>{}).shape() == Shape{0, 2}));
    BOOST_TEST((with_rows(Shape{5, 1, 2}, 9) == Shape{9, 1, 2}));
}

BOOST_AUTO_TEST_CASE(errors) {
    const Tensor<double> x = Tensor<double>::zeros({3, 2}), one = Tensor<double>::scalar(1);
    const auto error = [](const auto& call) { return error_of<ShapeError>(call); };
    BOOST_TEST(error([&] { rows(x, 2, 2); }) == "rows: 2 rows from row 2 on of x (3, 2), which has 3 rows");
    BOOST_TEST(error([&] { rows(x, -1, 2); }) == "rows: 2 rows from row -1 on of x (3, 2), which has 3 rows");
    BOOST_TEST(error([&] { rows(x, 1, -1); }) == "rows: -1 rows from row 1 on of x (3, 2), which has 3 rows");
    BOOST_TEST(error([&] { share_rows(x, 4, 0); }) == "share_rows: 0 rows from row 4 on of x (3, 2), which has 3 rows");
    BOOST_TEST(error([&] { x.slice(5, {2}); }) == "slice: 2 elements from element 5 on; the tensor (3, 2) has 6");
    BOOST_TEST(error([&] { rows(one, 0, 0); }) == "rows: x is a scalar; it needs a first axis, which counts the rows");
    BOOST_TEST(error([&] {
                   take_rows(x, std::vector<std::int64_t>{0, 3});
               }) == "take_rows: there is no row 3; x (3, 2) has 3 rows");
    BOOST_TEST(error([&] { take_rows(one, std::vector<std::int64_t>{0}); }) ==
               "take_rows: x is a scalar; it needs a first axis, which counts the rows");
    BOOST_TEST(error([] { with_rows(Shape{}, 2); }) ==
               "with_rows: the shape is (); it needs a first axis, which counts the rows");
}

BOOST_AUTO_TEST_SUITE_END()
