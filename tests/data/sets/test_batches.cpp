#include "../../support.hpp"

#include <pollen/data/sets/batches.hpp>

#include <algorithm>
#include <map>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(batches)

namespace {

Dataset<float> counted(std::int64_t n) {
    Dataset<float> data{.inputs = Tensor<float>::arange(n), .labels = Indices::arange(n)};
    return data;
}

std::vector<std::int32_t> items(const Dataset<float>& batch) { return {batch.labels.begin(), batch.labels.end()}; }

}  // namespace

BOOST_AUTO_TEST_CASE(an_epoch_has_every_item_once) {
    const Dataset<float> data = counted(103);
    Batches<float> batches(data, {.size = 10, .seed = 3});
    BOOST_TEST(batches.per_epoch() == 11);
    std::vector<std::vector<std::int32_t>> orders;
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
        std::vector<std::int32_t> seen;
        for (std::int64_t k = 0; k < 11; ++k) {
            const Dataset<float> batch = batches.at(11 * epoch + k);
            BOOST_TEST(batch.size() == (k == 10 ? 3 : 10));
            for (std::int64_t i = 0; i < batch.size(); ++i)
                BOOST_TEST(batch.inputs(i) == static_cast<float>(batch.labels(i)));
            for (const std::int32_t item : items(batch)) seen.push_back(item);
        }
        orders.push_back(seen);
        std::sort(seen.begin(), seen.end());
        for (std::int32_t i = 0; i < 103; ++i) BOOST_TEST(seen[static_cast<std::size_t>(i)] == i);
    }
    BOOST_TEST(orders[0] != orders[1]);
    BOOST_TEST(orders[1] != orders[2]);
}

BOOST_AUTO_TEST_CASE(a_batch_depends_on_seed_and_step_alone) {
    const Dataset<float> data = counted(50);
    for (const Draw draw : {Draw::epoch, Draw::fresh}) {
        Batches<float> forwards(data, {.size = 8, .draw = draw, .seed = 3});
        std::vector<std::vector<std::int32_t>> first;
        for (std::int64_t step = 0; step < 20; ++step) first.push_back(items(forwards.at(step)));
        Batches<float> backwards(data, {.size = 8, .draw = draw, .seed = 3});
        for (std::int64_t step = 19; step >= 0; --step)
            BOOST_TEST(items(backwards.at(step)) == first[static_cast<std::size_t>(step)]);
        Batches<float> other(data, {.size = 8, .draw = draw, .seed = 4});
        BOOST_TEST(items(other.at(0)) != first[0]);
    }
}

BOOST_AUTO_TEST_CASE(same_on_any_number_of_threads) {
    const Dataset<float> data = counted(50);
    std::vector<std::vector<std::int32_t>> first;
    for (const int threads : {1, 2, 8})
        with_threads(threads, [&] {
            Batches<float> batches(data, {.size = 7, .draw = Draw::fresh, .seed = 1});
            for (std::size_t step = 0; step < 10; ++step) {
                const auto now = items(batches.at(static_cast<std::int64_t>(step)));
                if (threads == 1) first.push_back(now);
                BOOST_TEST(now == first[step]);
            }
        });
}

// Each of the 10 pairs of 5 items comes up 1000 times in 10,000 draws, with a standard deviation of 30. Chi-squared
// with 9 degrees of freedom is above 42.6 once in 400,000 seeds.
BOOST_AUTO_TEST_CASE(fresh_draws_choose_all_sets_equally_often) {
    const Dataset<float> data = counted(5);
    Batches<float> batches(data, {.size = 2, .draw = Draw::fresh, .seed = 11});
    std::map<std::vector<std::int32_t>, double> count;
    for (std::int64_t step = 0; step < 10000; ++step) {
        auto pair = items(batches.at(step));
        BOOST_TEST_REQUIRE(pair[0] != pair[1]);
        std::sort(pair.begin(), pair.end());
        ++count[pair];
    }
    BOOST_TEST(count.size() == 10u);
    double chi2 = 0;
    for (const auto& [pair, times] : count) chi2 += (times - 1000) * (times - 1000) / 1000;
    BOOST_TEST(chi2 < 42.6);
}

BOOST_AUTO_TEST_CASE(augmentation_shifts_and_flips) {
    // One bright pixel in the middle of 7 x 5: its place says how the image was moved.
    const std::int64_t n = 400, height = 7, width = 5;
    Dataset<float> data{.inputs = Tensor<float>::zeros({n, 1, height, width})};
    for (std::int64_t i = 0; i < n; ++i) data.inputs.mutable_at(i, 0, 3, 1) = 1;
    Batches<float> batches(data, {.size = n, .seed = 2, .augmentation = {.shift = 1, .flip = true}});
    const Dataset<float> batch = batches.at(0);
    std::map<std::pair<std::int64_t, std::int64_t>, int> places;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t u = 0; u < height; ++u)
            for (std::int64_t v = 0; v < width; ++v)
                if (batch.inputs(i, 0, u, v) == 1) ++places[{u, v}];
    // Rows 2 to 4; columns 0 to 2, or 4 - (0 to 2) where flipped, so column 2 comes twice as often as the others.
    // Chi-squared with 14 degrees of freedom is above 52 once in 380,000 seeds.
    double chi2 = 0;
    for (std::int64_t u = 2; u <= 4; ++u)
        for (std::int64_t v = 0; v < width; ++v) {
            const double expected = static_cast<double>(n) * (v == 2 ? 2 : 1) / 18;
            chi2 += std::pow(places[{u, v}] - expected, 2) / expected;
        }
    BOOST_TEST(chi2 < 52);
    BOOST_TEST(places.size() == 15u);
    BOOST_TEST((Batches<float>(data, {.size = n, .seed = 2, .augmentation = {.shift = 1, .flip = true}}).at(0).inputs ==
                batch.inputs));
    // A shift larger than the image leaves nothing, and reads nothing that is not there.
    Batches<float> far(data, {.size = 50, .seed = 2, .augmentation = {.shift = 100}});
    for (const float x : far.at(0).inputs) BOOST_TEST((x == 0 || x == 1));
}

BOOST_AUTO_TEST_CASE(errors) {
    const Dataset<float> data = counted(5), none{.inputs = Tensor<float>::zeros({0, 3})};
    BOOST_TEST(error_of<ShapeError>([&] { Batches<float>(none, {}); }) == "Batches: the data set is empty");
    BOOST_TEST(error_of<ValueError>([&] { Batches<float>(data, {.size = 0}); }) ==
               "Batches: a batch of 0 items; at least 1 is needed");
    BOOST_TEST(error_of<ShapeError>([&] { Batches<float>(data, {.augmentation = {.flip = true}}); }) ==
               "Batches: augmentation needs images (n, channels, height, width), not inputs (5)");
    BOOST_TEST(error_of<ValueError>([&] { Batches<float>(data, {}).at(-1); }) ==
               "Batches: step -1; the first step is 0");
    BOOST_TEST(Batches<float>(data, {.size = 100}).at(0).size() == 5);
    BOOST_TEST(error_of<ValueError>([] { BatchItems(0, 8, Draw::epoch, 1); }) ==
               "BatchItems: items is 0; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([] { BatchItems(5, 0, Draw::fresh, 1); }) ==
               "BatchItems: size is 0; at least 1 is needed");
    BOOST_TEST(BatchItems(5, std::numeric_limits<std::int64_t>::max(), Draw::epoch, 1).per_epoch() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
