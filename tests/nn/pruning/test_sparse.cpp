#include "../../data/hostile.hpp"
#include "../../data/temporary_directory.hpp"
#include "../../support.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/module/save.hpp>
#include <pollen/nn/pruning/compress.hpp>
#include <pollen/nn/pruning/sparse.hpp>

#include <filesystem>

using namespace pollen;
using namespace pollen::test;

namespace {

// Normal numbers of which a share is zero.
Tensor<double> with_zeros(const Shape& shape, double zeros, std::uint64_t seed = 1) {
    Tensor<double> tensor = normals(shape, seed);
    Random random(seed + 100);
    for (double& x : tensor.mutable_values())
        if (random.uniform<double>() < zeros) x = 0;
    return tensor;
}

// The output of a layer and the gradients of sum(seed y) to the input and to the parameters.
template <class T>
std::vector<Tensor<T>> results(const Module<T>& layer, const Tensor<T>& x) {
    Tape<T> tape;
    const Parameters<T> parameters(layer);
    Pass<T> pass(tape, parameters, {});
    const Var<T> input = tape.variable(x), y = layer(pass, input);
    tape.backward(y, cast<T>(normals(y.shape(), 9)));
    std::vector<Tensor<T>> all{y.value(), input.grad()};
    for (const Var<T>& leaf : pass.leaves()) all.push_back(leaf.grad());
    return all;
}

template <class T>
void check_same(const Tensor<T>& a, const Tensor<T>& b, double scale) {
    const T tolerance = static_cast<T>(scale * (sizeof(T) == 4 ? 2e-6 : 1e-14));
    BOOST_TEST(allclose(a, b, tolerance, tolerance));
}

// A sparse layer against the dense one with the same zeros.
template <class T>
void check_dense(std::int64_t n, std::int64_t inputs, std::int64_t outputs, double zeros) {
    BOOST_TEST_CONTEXT("x (" << n << ", " << inputs << "), " << outputs << " outputs, " << zeros << " zeros") {
        Dense<T> dense(inputs, outputs);
        dense.weight.value = cast<T>(with_zeros({outputs, inputs}, zeros));
        dense.bias.value = cast<T>(normals({outputs}, 2));
        const SparseDense<T> sparse(dense.weight.value, dense.bias.value);
        BOOST_TEST((sparse.dense_weight() == dense.weight.value));
        const Tensor<T> x = cast<T>(normals({n, inputs}, 3));
        const auto expected = results<T>(dense, x), got = results<T>(sparse, x);
        const double scale = std::sqrt(static_cast<double>(inputs + outputs + n));
        check_same(got[0], expected[0], scale);
        check_same(got[1], expected[1], scale);
        check_same(got[3], expected[3], scale);
        SparseDense<T> there(dense.weight.value);  // with the gradients of its weights in their places
        const Parameters<T> parameters(there);
        const_cast<Parameter<T>*>(parameters.entries()[0].parameter)->value = got[2];
        Tensor<T> masked = expected[2];
        for (std::int64_t i = 0; i < masked.size(); ++i)
            if (dense.weight.value.data()[i] == T(0)) masked.mutable_data()[i] = T(0);
        check_same(there.dense_weight(), masked, scale);
    }
}

Sequential<float> convolutional() {
    return Sequential{Conv2d(1, 8, 3, {.padding = 1}),
                      Relu(),
                      Residual(Conv2d(8, 8, 3, {.padding = 1, .bias = false})),
                      MaxPool2d(2),
                      Flatten(),
                      Dense(128, 20),
                      Tanh(),
                      Dense(20, 5)};
}

void prune_randomly(Parameter<float>& weight, double zeros, std::uint64_t seed) {
    weight.value = cast<float>(with_zeros(weight.shape, zeros, seed));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sparse)

BOOST_AUTO_TEST_CASE(pattern) {
    const double w[] = {0, 1, 0, 2, 0, 0, 0, 0, 3, 0, 0, 4};
    const SparsePattern p(w, 3, 4);
    BOOST_TEST(p.size() == 4);
    BOOST_TEST(p.density() == 4. / 12);
    BOOST_TEST(p.gaps() == (std::vector<std::uint8_t>{1, 1, 4, 2}), boost::test_tools::per_element());
    BOOST_TEST((SparsePattern(3, 4, p.gaps(), "f") == p));
    std::int64_t next = 0;
    const std::int64_t rows[] = {0, 0, 2, 2}, columns[] = {1, 3, 0, 3};
    for (const auto& place : p.places()) {
        BOOST_TEST(place.row == rows[next]);
        BOOST_TEST(place.column == columns[next++]);
    }
    // Long gaps: 254, 255, 256 and 600 zeros.
    std::vector<double> line(254 + 255 + 256 + 600 + 4);
    for (const std::size_t at : {254, 510, 767, 1368}) line[at] = 1;
    const SparsePattern far(line.data(), 1, std::ssize(line));
    BOOST_TEST(far.gaps() == (std::vector<std::uint8_t>{254, 255, 0, 255, 1, 255, 255, 90}),
               boost::test_tools::per_element());
    for (const auto& [rows_of, columns_of] : {std::pair{1, 1369}, std::pair{37, 37}, std::pair{1369, 1}})
        BOOST_TEST(SparsePattern(rows_of, columns_of, far.gaps(), "f").gaps() == far.gaps());
    BOOST_TEST(error_of<FileError>([&] { SparsePattern(3, 3, p.gaps(), "f"); }) ==
               "f: weight 3 is at place 11, but a matrix (3, 3) has 9");
    BOOST_TEST(error_of<ValueError>([] { SparsePattern(1, 65537); }) ==
               "a sparse matrix of 65537 columns; at most 65536 are possible");
    for (const double zeros : {0., 0.5, 0.95, 1.}) {
        const Tensor<double> matrix = with_zeros({300, 41}, zeros);
        const SparsePattern q(matrix.data(), 300, 41);
        BOOST_TEST((SparsePattern(300, 41, q.gaps(), "f") == q));
        BOOST_TEST(q.size() == 300 * 41 - std::count(matrix.begin(), matrix.end(), 0.));
    }
}

BOOST_AUTO_TEST_CASE(equals_the_dense_layer) {
    for (const double zeros : {0., 0.5, 0.95, 1.})
        for (const std::int64_t n : {0, 1, 2, 5, 8, 31, 33, 64, 100}) {
            check_dense<float>(n, 37, 29, zeros);
            check_dense<double>(n, 37, 29, zeros);
        }
    for (std::int64_t size = 1; size < 20; ++size) {
        check_dense<float>(1, size, 20 - size, 0.5);
        check_dense<double>(size, size, 17, 0.7);
        check_dense<float>(size, 3, size, 0.7);
    }
    check_dense<float>(1, 1200, 700, 0.95);  // larger than one task, and than one window
    check_dense<float>(1000, 300, 520, 0.95);
    check_dense<double>(70, 784, 300, 0.95);
}

// Every thread count cuts the work in the same way.
BOOST_AUTO_TEST_CASE(same_bits_at_any_number_of_threads) {
    const SparseDense<float> layer(cast<float>(with_zeros({1100, 900}, 0.9)), cast<float>(normals({1100}, 2)));
    const SparseConv2d<float> conv(cast<float>(with_zeros({24, 16, 3, 3}, 0.9)), Conv2dOptions{.padding = {1, 1}});
    for (const std::int64_t n : {1, 7, 100, 300}) {
        const Tensor<float> x = cast<float>(normals({n, 900}, 3)), images = cast<float>(normals({n, 16, 14, 14}, 3));
        std::vector<Tensor<float>> first, first_conv;
        for (const int threads : {1, 2, 4, 8})
            with_threads(threads, [&] {
                const auto now = results<float>(layer, x), now_conv = results<float>(conv, images);
                if (threads == 1) {
                    first = now;
                    first_conv = now_conv;
                }
                for (std::size_t k = 0; k < now.size(); ++k) BOOST_TEST((now[k] == first[k]));
                for (std::size_t k = 0; k < now_conv.size(); ++k) BOOST_TEST((now_conv[k] == first_conv[k]));
            });
    }
}

// Of more than one, the result for an input does not depend on the others.
BOOST_AUTO_TEST_CASE(rows_by_themselves) {
    const SparseDense<float> layer(cast<float>(with_zeros({40, 50}, 0.8)));
    const Tensor<float> x = cast<float>(normals({100, 50}, 3)), all = predict<float>(layer, x);
    for (std::int64_t n = 2; n < 100; ++n) {
        const Tensor<float> some = predict<float>(layer, Tensor<float>::borrow(x.data(), {n, 50}));
        BOOST_TEST(std::equal(some.begin(), some.end(), all.begin()));
    }
}

BOOST_AUTO_TEST_CASE(gradients) {
    const Tensor<double> w = with_zeros({6, 5}, 0.6), kernel = with_zeros({4, 3, 3, 2}, 0.6);
    const auto check_layer = [](const Module<double>& layer, const Shape& shape) {
        const Parameters<double> parameters(layer);
        const Tensor<double> theta = parameters.flatten(), x = normals(shape, 5);
        const auto got = results<double>(layer, x);
        const Tensor<double> seed = normals(got[0].shape(), 9);
        const auto loss = [&](const Tensor<double>& input, const Tensor<double>& values) {
            const Tensor<double> y = predict(layer, parameters, values.values(), input);
            double sum = 0;
            for (std::int64_t i = 0; i < y.size(); ++i) sum += y.data()[i] * seed.data()[i];
            return sum;
        };
        // The loss is linear in x, and in theta: differences are exact but for rounding.
        for (std::int64_t i = 0; i < x.size(); ++i) {
            Tensor<double> up = x;
            up.mutable_data()[i] += 1;
            BOOST_TEST(std::abs(loss(up, theta) - loss(x, theta) - got[1].data()[i]) < 1e-11);
        }
        for (std::size_t k = 0; k < parameters.count(); ++k)
            for (std::int64_t i = 0; i < got[2 + k].size(); ++i) {
                Tensor<double> up = theta;
                up.mutable_data()[parameters.entries()[k].offset + i] += 1;
                BOOST_TEST(std::abs(loss(x, up) - loss(x, theta) - got[2 + k].data()[i]) < 1e-11);
            }
    };
    check_layer(SparseDense<double>(w, normals({6}, 2)), {7, 5});
    check_layer(SparseDense<double>(w), {1, 5});
    check_layer(SparseConv2d<double>(kernel, normals({4}, 2), {.padding = {1, 2}}), {2, 3, 5, 6});
    check_layer(SparseConv2d<double>(kernel, Conv2dOptions{.stride = {2, 3}, .dilation = {2, 1}}), {2, 3, 9, 8});
    check_layer(SparseConv2d<double>(kernel, Conv2dOptions{.groups = 2}), {3, 6, 4, 5});
}

BOOST_AUTO_TEST_CASE(equals_the_dense_convolution) {
    struct Case {
        std::int64_t n, inputs, outputs, height, width;
        Size2d kernel;
        ConvOptions options;
    };
    for (const double zeros : {0., 0.5, 0.95, 1.})
        for (const Case& c : {Case{1, 3, 5, 6, 7, 3, {}}, Case{5, 2, 4, 9, 8, {2, 3}, {.stride = 2}},
                              Case{2, 4, 6, 7, 7, 3, {.padding = 1, .groups = 2}}, Case{3, 1, 2, 5, 5, 5, {}},
                              Case{2, 3, 4, 20, 40, {3, 1}, {.stride = {3, 2}, .padding = {2, 3}, .dilation = {2, 1}}},
                              Case{0, 1, 2, 5, 5, 2, {}}, Case{70, 16, 32, 12, 12, 5, {.bias = false}}}) {
            const auto check = [&]<class T>(T) {
                Conv2d<T> dense(c.inputs, c.outputs, c.kernel, c.options);
                dense.weight.value = cast<T>(with_zeros(dense.weight.shape, zeros));
                dense.bias.value = cast<T>(normals({c.outputs}, 2));
                const auto sparse = compress<T>(dense, {.max_density = 1});
                const bool is_sparse = sparse->describe().starts_with("SparseConv2d");
                BOOST_TEST((is_sparse || (c.options.stride.pair[1] > 1 && zeros < 0.6)));
                const Tensor<T> x = cast<T>(normals({c.n, c.inputs, c.height, c.width}, 3));
                const auto expected = results<T>(dense, x), got = results<T>(*sparse, x);
                check_same(got[0], expected[0], 100);  // sums of up to 800 numbers
                check_same(got[1], expected[1], 100);
                if (c.options.bias) check_same(got[3], expected[3], 100);
            };
            BOOST_TEST_CONTEXT(c.n << " images, " << c.inputs << " inputs, " << zeros << " zeros") {
                check(float{});
                check(double{});
            }
        }
}

BOOST_AUTO_TEST_CASE(a_compressed_network) {
    Sequential<float> net = convolutional();
    initialise(net, 1);
    const Tensor<float> x = cast<float>(normals({9, 1, 8, 8}));
    BOOST_TEST(compress<float>(net)->describe() == "Sequential(8 parts)");
    prune_randomly(dynamic_cast<Conv2d<float>&>(net[0]).weight, 0.5, 3);  // stays dense
    prune_randomly(const_cast<Conv2d<float>&>(
                       dynamic_cast<const Conv2d<float>&>(dynamic_cast<const Residual<float>&>(net[2]).body()))
                       .weight,
                   0.9, 4);
    prune_randomly(dynamic_cast<Dense<float>&>(net[5]).weight, 0.95, 5);
    const auto small = compress<float>(net);
    const auto& parts = dynamic_cast<const Sequential<float>&>(*small);
    BOOST_TEST(parts[0].describe().starts_with("Conv2d("));
    BOOST_TEST(dynamic_cast<const Residual<float>&>(parts[2]).body().describe().starts_with("SparseConv2d(8, 8, 3, "));
    BOOST_TEST(parts[5].describe().starts_with("SparseDense(128, 20, "));
    BOOST_TEST(parts[7].describe() == "Dense(20, 5)");
    const Tensor<float> y = predict<float>(*small, x);
    BOOST_TEST(allclose(y, predict<float>(net, x), 1e-5f, 1e-5f));
    BOOST_TEST(nonzero_count<float>(*small) == nonzero_count<float>(net));
    BOOST_TEST(stored_bytes<float>(*small) < stored_bytes<float>(net));

    // To a file and back, knowing the dense network only.
    const TemporaryDirectory directory;
    const std::string path = directory / "small.safetensors";
    save<float>(path, *small, {{"pruned", "by chance"}});
    BOOST_TEST(std::filesystem::file_size(path) > stored_bytes<float>(*small));  // the metadata
    const auto again = load_compressed<float>(path, convolutional());
    BOOST_TEST((predict<float>(*again, x) == y));
    BOOST_TEST((Parameters<float>(*again).flatten() == Parameters<float>(*small).flatten()));
    // And into a network of the same form, whatever its pattern was.
    Sequential<float> other = convolutional();
    initialise(other, 7);
    for (const std::size_t k : {5, 7}) prune_randomly(dynamic_cast<Dense<float>&>(other[k]).weight, 0.9, 8);
    auto target = compress<float>(other, {.max_density = 0.2});
    BOOST_TEST(error_of<FileError>([&] { load<float>(path, *target); }) ==
               path + ": there is no tensor \"7.weight.shape\"; near it: \"5.weight.shape\", \"5.weight.gaps\"");
    auto exact = compress<float>(net);
    auto third = exact->clone();
    load<float>(path, *third);
    BOOST_TEST((predict<float>(*third, x) == y));
    BOOST_TEST(error_of<FileError>([&] { load<float>(path, other); }).starts_with(path + ": tensor \""));
}

BOOST_AUTO_TEST_CASE(size_of_a_file) {
    Sequential net{Dense(784, 1200), Relu(), Dense(1200, 1200), Relu(), Dense(1200, 10)};
    initialise(net, 1);
    const std::size_t dense = stored_bytes<float>(net);
    BOOST_TEST(dense > 4u * (784 * 1200 + 1200 * 1200 + 1200 * 10 + 2410));
    for (const std::size_t k : {0, 2, 4}) prune_randomly(dynamic_cast<Dense<float>&>(net[k]).weight, 0.95, k);
    const auto small = compress<float>(net);
    BOOST_TEST(stored_bytes<float>(net) == dense);
    const std::size_t bytes = stored_bytes<float>(*small), weights = nonzero_count<float>(*small);  // biases are 0
    BOOST_TEST_MESSAGE("95 % pruned: " << bytes << " of " << dense << " bytes");
    BOOST_TEST(static_cast<double>(bytes) < 0.065 * static_cast<double>(dense));
    BOOST_TEST(bytes < 5 * weights + 4 * 2410 + 1500);
}

BOOST_AUTO_TEST_CASE(hostile_files) {
    SparseDense<float> net(cast<float>(with_zeros({5, 7}, 0.7)), cast<float>(normals({5})));
    const TensorFile good = to_tensors<float>(net);
    const SparseDense<float> before = net;
    const auto why = [&](const auto& spoil) {
        TensorFile bad = good;
        spoil(bad);
        std::string message = error_of<FileError>([&] { from_tensors<float>(bad, net); });
        BOOST_TEST((net.dense_weight() == before.dense_weight()));
        return message;
    };
    BOOST_TEST(why([](TensorFile&) {}) == "");
    const std::int64_t n = net.pattern().size();
    const std::string count = std::to_string(n), fewer = std::to_string(n - 1);
    BOOST_TEST(why([&](TensorFile& f) { f.set("weight", Tensor<float>::ones({n - 1})); }) ==
               "tensors: tensor \"weight\" is F32 (" + fewer + "), but F32 (" + count + ") was asked for");
    BOOST_TEST(why([&](TensorFile& f) { f.set("weight", Tensor<double>::ones({n})); }) ==
               "tensors: tensor \"weight\" is F64 (" + count + "), but F32 (" + count + ") was asked for");
    BOOST_TEST(why([&](TensorFile& f) {
                   f.set("weight.gaps", TensorFile::Octets{34, 0});
               }) == "tensors: tensor \"weight.gaps\": weight 1 is at place 35, but a matrix (5, 7) has 35");
    for (const TensorFile::Octets& gaps : {TensorFile::Octets(100000, 255), TensorFile::Octets{3, 255}})
        BOOST_TEST(why([&](TensorFile& f) { f.set("weight.gaps", gaps); }) ==
                   "tensors: tensor \"weight.gaps\": the last gap is 255, but no weight follows it");
    BOOST_TEST(why([&](TensorFile& f) {
                   f.set("weight.gaps", Indices{3, 256});
               }) == "tensors: tensor \"weight.gaps\": element 1: 256 is not from 0 to 255");
    BOOST_TEST(why([&](TensorFile& f) {
                   f.set("weight.gaps", Indices{3, -1});
               }) == "tensors: tensor \"weight.gaps\": element 1: -1 is not from 0 to 255");
    BOOST_TEST(why([&](TensorFile& f) { f.set("weight.gaps", Tensor<float>{1}); }) ==
               "tensors: tensor \"weight.gaps\" is F32 (1), but U8 with one axis was asked for");
    BOOST_TEST(why([&](TensorFile& f) {
                   f.set("weight.shape", TensorFile::Counters{7, 5});
               }) == "tensors: tensor \"weight\" is sparse of shape (7, 5), but (5, 7) was asked for");
    BOOST_TEST(why([&](TensorFile& f) { f.set("weight.shape", TensorFile::Counters{~std::uint64_t{0}}); }) ==
               "tensors: tensor \"weight\" is sparse of shape (18446744073709551615), but (5, 7) was asked for");
    BOOST_TEST(why([&](TensorFile& f) { f.set("extra", Tensor<float>{1}); }) ==
               "tensors: has a tensor \"extra\" that the network does not have");
    // Any single bit.
    const std::vector<std::byte> bytes = safetensors_bytes(good);
    check_every_flip(bytes,
                     [](Bytes flipped) { compressed_from<float>(parse_safetensors(flipped, "f"), Dense(7, 5)); });
    check_every_prefix(bytes, bytes.size(),
                       [](Bytes part) { compressed_from<float>(parse_safetensors(part, "f"), Dense(7, 5)); });
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ShapeError>([] { SparseDense<float>(Tensor<float>{1}); }) ==
               "SparseDense: the weight has shape (1); a matrix (outputs, inputs) is needed");
    BOOST_TEST(error_of<ShapeError>([] {
                   SparseDense<float>(Tensor<float>{{1, 0}}, Tensor<float>{1, 2});
               }) == "SparseDense: the bias has shape (2) for weights (1, 2); (1) is needed");
    BOOST_TEST(error_of<ShapeError>([] { SparseConv2d<float>(Tensor<float>{1}); }) ==
               "SparseConv2d: the weight has shape (1); (outputs, inputs / groups, kernel height, kernel width) is "
               "needed");
    const SparseDense<float> layer(Tensor<float>{{1, 0}});
    BOOST_TEST(layer.describe() == "SparseDense(2, 1, 50.0 %) without bias");
    BOOST_TEST(error_of<ShapeError>([&] {
                   predict<float>(layer, Tensor<float>{{1, 2, 3}});
               }) == "SparseDense(2, 1, 50.0 %) without bias: x has shape (1, 3); its last axis needs 2 inputs");
    const SparseConv2d<float> conv(Tensor<float>::zeros({2, 1, 3, 3}));
    BOOST_TEST(error_of<ShapeError>([&] {
                   predict<float>(conv, Tensor<float>::zeros({1, 2, 5, 5}));
               }) ==
               "SparseConv2d(1, 2, 3, 0.0 %) without bias: x has shape (1, 2, 5, 5); images (batch, 1, height, width) "
               "are needed");
    BOOST_TEST(error_of<ShapeError>([&] {
                   predict<float>(conv, Tensor<float>::zeros({1, 1, 2, 5}));
               }) ==
               "SparseConv2d(1, 2, 3, 0.0 %) without bias: x has shape (1, 1, 2, 5); with its padding it is smaller "
               "than the kernel");
    BOOST_TEST(error_of<ValueError>([] { SparseDense<float>(0, 3); }) ==
               "SparseDense: inputs is 0; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([] { compress<float>(Dense(2, 2)); }) ==
               "parameter weight (2, 2) has no value yet: call initialise(), load() or train() first");
    BOOST_TEST(error_of<ValueError>([&] { compress<float>(layer, {.max_density = 2}); }) ==
               "compress: max_density is 2; it must be from 0 to 1");
    // What is not there is not multiplied with.
    const float infinite = std::numeric_limits<float>::infinity();
    BOOST_TEST(predict<float>(layer, Tensor<float>{{3, infinite}}).item() == 3.f);
}

BOOST_AUTO_TEST_SUITE_END()
