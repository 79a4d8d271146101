#include "../../support.hpp"

#include <pollen/data/sets/table.hpp>

#include <algorithm>
#include <numeric>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(dataset)

namespace {

// Item i has inputs (i, 10 i), target 100 i and label i.
Dataset<double> counted(std::int64_t n) {
    Dataset<double> data{Tensor<double>::zeros({n, 2}), Tensor<double>::zeros({n}), Indices::zeros({n})};
    for (std::int64_t i = 0; i < n; ++i) {
        const double x = static_cast<double>(i);
        data.inputs.mutable_at(i, 0) = x;
        data.inputs.mutable_at(i, 1) = 10 * x;
        data.targets.mutable_at(i) = 100 * x;
        data.labels.mutable_at(i) = static_cast<std::int32_t>(i);
    }
    return data;
}

void check_items_agree(const Dataset<double>& data) {
    for (std::int64_t i = 0; i < data.size(); ++i) {
        BOOST_TEST(data.inputs(i, 1) == 10 * data.inputs(i, 0));
        BOOST_TEST(data.targets(i) == 100 * data.inputs(i, 0));
        BOOST_TEST(data.labels(i) == data.inputs(i, 0));
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(items_stay_together) {
    const Dataset<double> data = counted(10);
    const std::vector<std::int64_t> items{7, 0, 7};
    const Dataset<double> some = data.take(items);
    BOOST_TEST((some.labels == Indices{7, 0, 7}));
    check_items_agree(some);
    BOOST_TEST((data.slice(2, 3).labels == Indices{2, 3, 4}));
    BOOST_TEST(data.slice(10, 0).size() == 0);
    BOOST_TEST((data.view(2, 3).labels == Indices{2, 3, 4}));
    BOOST_TEST(data.view(2, 3).inputs.data() == data.inputs.data() + 4);
    BOOST_TEST(data.slice(2, 3).inputs.data() != data.inputs.data() + 4);
    BOOST_TEST((Dataset<double>{.inputs = data.inputs}.view(2, 3).labels == Indices()));
    const auto [before, after] = split_last(data, 4);
    BOOST_TEST(before.size() == 6);
    BOOST_TEST((after.labels == Indices{6, 7, 8, 9}));
}

BOOST_AUTO_TEST_CASE(split_takes_every_item_once) {
    const Dataset<double> data = counted(101);
    const auto [part, rest] = split(data, 0.3, 5);
    BOOST_TEST(part.size() == 30);
    BOOST_TEST(rest.size() == 71);
    check_items_agree(part);
    check_items_agree(rest);
    std::vector<std::int32_t> all(part.labels.begin(), part.labels.end());
    all.insert(all.end(), rest.labels.begin(), rest.labels.end());
    std::sort(all.begin(), all.end());
    std::vector<std::int32_t> each(101);
    std::iota(each.begin(), each.end(), 0);
    BOOST_TEST(all == each);
    BOOST_TEST((split(data, 0.3, 5).first.labels == part.labels));
    BOOST_TEST(!(split(data, 0.3, 6).first.labels == part.labels));
}

BOOST_AUTO_TEST_CASE(one_hot_rows) {
    BOOST_TEST((one_hot<float>(Indices{2, 0}, 3) == Tensor<float>{{0, 0, 1}, {1, 0, 0}}));
    BOOST_TEST(error_of<ValueError>([] {
                   one_hot<float>(Indices{1, 3}, 3);
               }) == "one_hot: label 3 of item 1 is out of range; there are classes 0 to 2");
    BOOST_TEST(error_of<ValueError>([] { one_hot<float>(Indices{-1}, 3); }) ==
               "one_hot: label -1 of item 0 is out of range; there are classes 0 to 2");
    BOOST_TEST(error_of<ValueError>([] { one_hot<float>(Indices{1}, 0); }) ==
               "one_hot: 0 classes; at least 1 is needed");
}

// NumPy: x.mean(0), x.std(0)
BOOST_AUTO_TEST_CASE(standardising) {
    const Tensor<double> x{{1, 10, 5}, {2, 30, 5}, {6, 20, 5}};
    const Standardiser<double> scale(x);
    BOOST_TEST(allclose(scale.mean(), Tensor<double>{3, 20, 5}, 1e-15, 0.0));
    BOOST_TEST(allclose(scale.sd(), Tensor<double>{2.160246899469287, 8.16496580927726, 1}, 1e-15, 0.0));
    const Tensor<double> z = scale.apply(x);
    BOOST_TEST(std::abs(z(0, 0) + 0.9258200997725514) < 1e-15);
    BOOST_TEST(z(2, 2) == 0);
    BOOST_TEST(allclose(scale.invert(z), x, 1e-15, 1e-15));
    // Other data are scaled by the same numbers: nothing is fitted anew.
    BOOST_TEST(allclose(scale.apply(Tensor<double>{{3, 20, 6}}), Tensor<double>{{0, 0, 1}}, 0.0, 1e-15));
    // A column of one number only, whatever its sum is rounded to.
    const Standardiser<double> constant(Tensor<double>::full({100000, 1}, 0.1));
    BOOST_TEST(constant.apply(Tensor<double>::full({1, 1}, 0.1)).item() == 0);
    BOOST_TEST(constant.sd().item() == 1);
    // Numbers far from zero keep their digits.
    const Standardiser<double> far(Tensor<double>(Shape{2, 1}, std::vector<double>{1e9 + 1, 1e9 + 3}));
    BOOST_TEST(far.sd()(0) == 1);
}

BOOST_AUTO_TEST_CASE(tables) {
    const Table table{{"a", "class", "b"}, Tensor<double>{{1, 0, 2}, {3, 2, 4}}};
    const Dataset<float> labelled = table_dataset<float>(table, "class", Target::labels);
    BOOST_TEST((labelled.inputs == Tensor<float>{{1, 2}, {3, 4}}));
    BOOST_TEST((labelled.labels == Indices{0, 2}));
    const Dataset<float> numbers = table_dataset<float>(table, "b", Target::numbers);
    BOOST_TEST((numbers.inputs == Tensor<float>{{1, 0}, {3, 2}}));
    BOOST_TEST((numbers.targets == Tensor<float>(Shape{2, 1}, std::vector<float>{2, 4})));
    const Table broken{{"a", "class"}, Tensor<double>{{1, 0}, {3, 1.5}}};
    BOOST_TEST(error_of<ValueError>([&] { table_dataset<float>(broken, "class", Target::labels); }) ==
               "table_dataset: row 1 of column class is 1.500000; labels are whole numbers from 0 up");
    const Table large{{"a", "b"}, Tensor<double>{{1, 2}, {3, -1e39}}};
    for (const char* target : {"a", "b"})
        BOOST_TEST(error_of<ValueError>([&] { table_dataset<float>(large, target, Target::numbers); }) ==
                   "table_dataset: row 1 of column b is -1e+39, which is too large for a float; use doubles");
    BOOST_TEST(table_dataset<double>(large, "b", Target::numbers).targets(1, 0) == -1e39);
    const Table short_of_names{{"a"}, Tensor<double>{{1, 2}}};
    BOOST_TEST(error_of<ShapeError>([&] { table_dataset<double>(short_of_names, "a", Target::numbers); }) ==
               "table_dataset: the table has 1 names of columns, but its values are (1, 2)");
}

BOOST_AUTO_TEST_CASE(errors) {
    Dataset<double> data = counted(3);
    data.targets = Tensor<double>::zeros({4});
    BOOST_TEST(error_of<ShapeError>([&] { data.check(); }) == "Dataset: inputs (3, 2) are 3 items, targets (4) are 4");
    data = counted(3);
    data.labels = Indices::zeros({3, 1});
    BOOST_TEST(error_of<ShapeError>([&] { data.check(); }) ==
               "Dataset: labels have shape (3, 1); one label an item is needed");
    BOOST_TEST(error_of<ShapeError>([] { split(Dataset<double>{Tensor<double>::scalar(1)}, 0.5, 1); }) ==
               "Dataset: the inputs are one number; their first axis must count the items");
    const Dataset<double> good = counted(3);
    const std::vector<std::int64_t> missing{1, 3};
    BOOST_TEST(error_of<ShapeError>([&] { good.take(missing); }) ==
               "Dataset: there is no item 3; the data have 3 items");
    BOOST_TEST(error_of<ShapeError>([&] { good.slice(2, 2); }) == "Dataset: items 2 to 3 of data with 3 items");
    BOOST_TEST(error_of<ValueError>([&] { split(good, 1.5, 0); }) ==
               "split: the fraction is 1.500000; it must be between 0 and 1");
    BOOST_TEST(error_of<ValueError>([&] { split_last(good, 4); }) == "split_last: the last 4 of 3 items");
    BOOST_TEST(error_of<ShapeError>([] {
                   Standardiser<double>(Tensor<double>::zeros({0, 2}));
               }) == "Standardiser: x has shape (0, 2); at least one row is needed");
    BOOST_TEST(error_of<ValueError>([] {
                   Standardiser<double>(Tensor<double>{{1, 2}, {1, NAN}});
               }) == "Standardiser: column 1 has numbers that are not finite");
    BOOST_TEST(error_of<ShapeError>([] {
                   Standardiser<double>(Tensor<double>{{1, 2}}).apply(Tensor<double>::ones({1, 1}));
               }) == "Standardiser: x has shape (1, 1); rows of shape (2) are needed");
}

BOOST_AUTO_TEST_SUITE_END()
