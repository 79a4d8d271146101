#include "ops/naive_conv2d.hpp"

#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/kernels/conv2d.hpp>
#include <pollen/autograd/kernels/winograd.hpp>
#include <pollen/autograd/kernels/winograd_transforms.hpp>
#include <pollen/autograd/ops/detail/images.hpp>

#include <cmath>
#include <iomanip>
#include <sstream>
#include <thread>

using namespace pollen;
using namespace pollen::test;
using kernels::WinogradShape;

BOOST_AUTO_TEST_SUITE(winograd)

namespace {

using Int = std::int64_t;

struct Results {
    Tensor<float> y, dx, dw;
};

struct Case {
    WinogradShape s;
    Tensor<float> x, w, dy;
    Shape y_shape() const { return Shape{s.batch, s.out, s.out_h(), s.out_w()}; }
    Conv2dOptions options() const { return {.padding = {s.pad_h, s.pad_w}}; }
};

Case normal_case(const WinogradShape& s) {
    Case c{s, cast<float>(normals(Shape{s.batch, s.in, s.height, s.width}, 1)),
           cast<float>(normals(Shape{s.out, s.in, s.taps, s.taps}, 2)), Tensor<float>::zeros(Shape{1})};
    c.dy = cast<float>(normals(c.y_shape(), 3));
    return c;
}

// `fill` is what the results hold before, and `beta` whether it counts.
Results by_winograd(const Case& c, float fill = 7, float beta = 0) {
    Pool pool(Pool::Sharing::one_thread);
    Results r{Tensor<float>::full(c.y_shape(), fill), Tensor<float>::full(c.x.shape(), fill),
              Tensor<float>::full(c.w.shape(), fill)};
    kernels::winograd_y(c.s, c.x.data(), c.w.data(), {}, r.y.mutable_data(), pool);
    kernels::winograd_dx(c.s, c.dy.data(), c.w.data(), beta, r.dx.mutable_data(), pool);
    kernels::winograd_dw(c.s, c.x.data(), c.dy.data(), beta, r.dw.mutable_data(), pool);
    return r;
}

// The direct sums of kernels/conv2d.hpp.
template <class T>
std::vector<Tensor<T>> by_direct_sums(const Case& c) {
    Pool pool(Pool::Sharing::one_thread);
    const WinogradShape& s = c.s;
    const Pair padding{s.pad_h, s.pad_w};
    const kernels::Convolution d{.batch = s.batch,
                                 .groups = 1,
                                 .in = s.in,
                                 .out = s.out,
                                 .height = s.height + 2 * s.pad_h,
                                 .width = s.width + 2 * s.pad_w,
                                 .kernel_h = s.taps,
                                 .kernel_w = s.taps,
                                 .out_h = s.out_h(),
                                 .out_w = s.out_w()};
    const Tensor<T> x = cast<T>(c.x), w = cast<T>(c.w), dy = cast<T>(c.dy);
    std::vector<Tensor<T>> r{Tensor<T>::zeros(c.y_shape()), Tensor<T>::zeros(c.x.shape()),
                             Tensor<T>::zeros(c.w.shape())};
    Tensor<T> room, dx_room = Tensor<T>::zeros(padded_shape(c.x.shape(), padding));
    const T* images = pad_images(x.data(), c.x.shape(), padding, pool, room);
    kernels::convolve<T>(d, images, w.data(), T(0), r[0].mutable_data());
    kernels::convolve_dx<T>(d, dy.data(), w.data(), T(0), dx_room.mutable_data(), pool);
    kernels::copy_strided(frame_plan(c.x.shape(), dx_room.shape(), true),
                          dx_room.data() + padding[0] * dx_room.shape()[3] + padding[1], r[1].mutable_data());
    kernels::convolve_dw<T>(d, images, dy.data(), T(0), r[2].mutable_data(), pool);
    return r;
}

// The root mean square of a - b, relative to that of b.
template <class T>
double error(const Tensor<T>& a, const Tensor<double>& b) {
    double sum = 0, size = 0;
    for (Int i = 0; i < b.size(); ++i) {
        const double d = static_cast<double>(a.data()[i]) - b.data()[i];
        sum += d * d;
        size += b.data()[i] * b.data()[i];
    }
    return std::sqrt(sum / size);
}

bool same_bits(const float* a, const float* b, Int n) {
    return std::memcmp(a, b, static_cast<std::size_t>(n) * sizeof(float)) == 0;
}

// Image k of a batch.
Tensor<float> part(const Tensor<float>& images, const Shape& one, Int k) {
    Tensor<float> copy = Tensor<float>::zeros(one);
    std::copy_n(images.data() + k * one.size(), one.size(), copy.mutable_data());
    return copy;
}

// Shapes in which tiles stick out on every side, rows of tiles are cut, and channels do not fill a block.
const std::vector<WinogradShape> shapes = {
    {2, 16, 16, 8, 8, 3, 1, 1},   {3, 17, 35, 9, 13, 3, 0, 0},  {1, 5, 3, 6, 5, 3, 2, 1},
    {2, 20, 40, 43, 47, 3, 1, 1}, {2, 16, 18, 12, 12, 5, 0, 0}, {1, 33, 7, 11, 10, 5, 2, 2},
    {2, 18, 16, 29, 31, 5, 2, 1}, {30, 16, 16, 4, 4, 3, 1, 1},  {1, 1, 1, 3, 3, 3, 0, 0},
    {1, 2, 2, 5, 7, 5, 4, 4},     {0, 16, 16, 8, 8, 3, 1, 1},   {0, 16, 16, 8, 8, 5, 2, 2}};

std::string name(const WinogradShape& s) {
    std::ostringstream text;
    text << s.batch << " x " << s.in << " -> " << s.out << ", " << s.height << " x " << s.width << ", kernel " << s.taps
         << ", padding " << s.pad_h << ", " << s.pad_w;
    return text.str();
}

}  // namespace

BOOST_AUTO_TEST_CASE(values_by_the_definition) {
    for (const WinogradShape& s : shapes) {
        BOOST_TEST_CONTEXT(name(s)) {
            Case c = normal_case(s);
            // naive_conv2d has a dL/dy of its own.
            c.dy = cast<float>(normals(c.y_shape(), 11));
            const auto expected = naive_conv2d(cast<double>(c.x), cast<double>(c.w), c.options());
            const Results got = by_winograd(c);
            const double most = 60 * static_cast<double>(std::numeric_limits<float>::epsilon());
            check_near(got.y, expected[0], most);
            check_near(got.dx, expected[1], most);
            check_near(got.dw, expected[2], most);
        }
    }
}

// With seven points all coefficients are 1, 1/2 and 1/4: small whole numbers give exact results.
BOOST_AUTO_TEST_CASE(dx_is_exact_for_whole_numbers) {
    for (const WinogradShape& s : shapes) {
        Case c = normal_case(s);
        c.w = cast<float>(whole_numbers(c.w.shape(), 5, 7));
        c.dy = cast<float>(whole_numbers(c.y_shape(), 7, 11));
        BOOST_TEST(by_winograd(c).dx == cast<float>(by_direct_sums<double>(c)[1]));
    }
}

BOOST_AUTO_TEST_CASE(bias_and_relu) {
    const Case c = normal_case({3, 17, 19, 9, 10, 3, 1, 1});
    const Tensor<float> bias = cast<float>(normals(Shape{19}, 4));
    Pool pool(Pool::Sharing::one_thread);
    Tensor<float> y = by_winograd(c).y, with_bias = y, with_both = y;
    kernels::winograd_y(c.s, c.x.data(), c.w.data(), {.bias = bias.data()}, with_bias.mutable_data(), pool);
    kernels::winograd_y(c.s, c.x.data(), c.w.data(), {.bias = bias.data(), .relu = true}, with_both.mutable_data(),
                        pool);
    const Int pixels = c.s.out_h() * c.s.out_w();
    for (Int i = 0; i < y.size(); ++i) {
        const float sum = y.data()[i] + bias.data()[i / pixels % 19];
        BOOST_REQUIRE_EQUAL(with_bias.data()[i], sum);
        BOOST_REQUIRE_EQUAL(with_both.data()[i], sum > 0 ? sum : 0);
    }
}

BOOST_AUTO_TEST_CASE(results_are_added_or_replaced) {
    const Case c = normal_case({2, 20, 18, 43, 15, 3, 1, 1});
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Results fresh = by_winograd(c, nan), added = by_winograd(c, 0.5f, 1);
    for (Int i = 0; i < fresh.dw.size(); ++i) BOOST_REQUIRE_EQUAL(added.dw.data()[i], 0.5f + fresh.dw.data()[i]);
    for (Int i = 0; i < fresh.dx.size(); ++i)
        BOOST_REQUIRE_SMALL(added.dx.data()[i] - (0.5f + fresh.dx.data()[i]), 1e-4f);
    for (const float v : fresh.y) BOOST_REQUIRE(!std::isnan(v));
}

// Against double, in the root mean square, at most 3 times the error of the direct sums. Inputs are normal, or positive
// as behind a rectifier.
BOOST_AUTO_TEST_CASE(errors) {
    std::vector<WinogradShape> layers;
    for (const Int taps : {3, 5}) {
        for (const Int channels : {16, 17, 32, 64, 128})
            layers.push_back({channels < 64 ? 24 : 6, channels, channels, 16, 16, taps, taps / 2, taps / 2});
        layers.push_back({2, 256, 256, 16, 16, taps, taps / 2, taps / 2});
        // One image, and the smallest images for which the algorithm is used.
        layers.push_back({1, 32, 32, 16, 16, taps, taps / 2, taps / 2});
        for (const Int batch : {1, 2, 8}) {
            layers.push_back({batch, 32, 32, taps + 3, taps + 3, taps, 0, 0});
            layers.push_back({batch, 32, 32, 10, 10, taps, 0, 0});
        }
    }
    for (const Int batch : {1, 2, 8}) {
        layers.push_back({batch, 32, 32, 8, 8, 3, 1, 1});
        layers.push_back({batch, 32, 64, 12, 12, 5, 0, 0});
        layers.push_back({batch, 32, 64, 15, 15, 5, 2, 2});
    }
    for (const WinogradShape& layer : layers) {
        BOOST_REQUIRE(kernels::winograd_use(layer));
        for (const bool positive : {false, true}) {
            Case c = normal_case(layer);
            if (positive)
                for (float& v : std::span(c.x.mutable_data(), static_cast<std::size_t>(c.x.size())))
                    v = std::max(v, 0.0f);
            const Results got = by_winograd(c);
            const auto direct = by_direct_sums<float>(c);
            const auto exact = by_direct_sums<double>(c);
            const double ratios[] = {error(got.y, exact[0]) / error(direct[0], exact[0]),
                                     error(got.dx, exact[1]) / error(direct[1], exact[1]),
                                     error(got.dw, exact[2]) / error(direct[2], exact[2])};
            BOOST_TEST_MESSAGE(name(layer) << (positive ? ", positive" : ", normal") << std::setprecision(3) << ": y "
                                           << ratios[0] << ", dx " << ratios[1] << ", dw " << ratios[2]);
            for (const double ratio : ratios) {
                BOOST_TEST(ratio < 3);
                BOOST_TEST(ratio > 0.2);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(same_bits_at_any_number_of_threads) {
    for (const WinogradShape& s :
         {WinogradShape{9, 32, 48, 20, 20, 3, 1, 1}, WinogradShape{9, 32, 48, 20, 20, 5, 2, 2}}) {
        const Case c = normal_case(s);
        Results one;
        with_threads(1, [&] { one = by_winograd(c); });
        for (const int threads : {2, 3, 8}) {
            Results many;
            with_threads(threads, [&] { many = by_winograd(c); });
            BOOST_TEST(same_bits(one.y.data(), many.y.data(), one.y.size()));
            BOOST_TEST(same_bits(one.dx.data(), many.dx.data(), one.dx.size()));
            BOOST_TEST(same_bits(one.dw.data(), many.dw.data(), one.dw.size()));
        }
    }
}

// An image alone gives the bits that it gives among others.
BOOST_AUTO_TEST_CASE(images_do_not_depend_on_each_other) {
    for (WinogradShape s : {WinogradShape{23, 17, 16, 8, 8, 3, 1, 1}, WinogradShape{3, 16, 20, 44, 40, 3, 1, 1},
                            WinogradShape{7, 16, 17, 12, 12, 5, 0, 0}, WinogradShape{3, 16, 16, 31, 33, 5, 2, 2}}) {
        const Case c = normal_case(s);
        const Results all = by_winograd(c);
        for (const Int k : {Int{0}, s.batch / 2, s.batch - 1}) {
            Case one = c;
            one.s.batch = 1;
            const Int x = c.x.size() / s.batch, y = c.dy.size() / s.batch;
            one.x = part(c.x, Shape{1, s.in, s.height, s.width}, k);
            one.dy = part(c.dy, Shape{1, s.out, s.out_h(), s.out_w()}, k);
            const Results alone = by_winograd(one);
            BOOST_TEST(same_bits(alone.y.data(), all.y.data() + k * y, y));
            BOOST_TEST(same_bits(alone.dx.data(), all.dx.data() + k * x, x));
        }
    }
}

// One pixel that is not finite reaches every result that the kernel's definition says, and no other image.
BOOST_AUTO_TEST_CASE(not_a_number_and_infinity) {
    for (const float number : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
        for (const Int taps : {3, 5}) {
            Case c = normal_case({3, 16, 16, 12, 12, taps, 1, 1});
            c.x.mutable_at(1, 5, 6, 7) = number;
            c.dy.mutable_at(1, 2, 3, 4) = number;
            const Results got = by_winograd(c);
            const auto exact = by_direct_sums<double>(c);
            const auto check = [&](const Tensor<float>& a, const Tensor<double>& b) {
                const Int image = a.size() / 3;
                for (Int i = 0; i < a.size(); ++i) {
                    const bool finite = std::isfinite(a.data()[i]);
                    if (!std::isfinite(b.data()[i])) BOOST_REQUIRE(!finite);
                    if (i / image != 1) BOOST_REQUIRE(finite);
                }
            };
            check(got.y, exact[0]);
            check(got.dx, exact[1]);
            for (Int i = 0; i < got.dw.size(); ++i)
                if (!std::isfinite(exact[2].data()[i])) BOOST_REQUIRE(!std::isfinite(got.dw.data()[i]));
        }
}

// The bounds of winograd.hpp, in bytes.
struct Workspace {
    double pool, thread;
};
enum class Which { y, dx, dw };

Workspace most_memory(const WinogradShape& s, Which which) {
    const auto whole = [](Int channels, Int block) {
        const Int n = (channels + block - 1) / block * block;
        return static_cast<double>(n % 256 == 0 ? n + block : n);
    };
    const double in = whole(s.in, 16), out = whole(s.out, 16);
    const Int m = 7 - s.taps, columns = (s.out_w() + m - 1) / m, rows = (s.out_h() + m - 1) / m;
    const bool six = which == Which::y || (which == Which::dw && s.taps == 3 && rows * columns >= 16);
    const double points = six ? 36 : 49;
    const double lines = 240 * static_cast<double>(columns * m + 6);
    const double waves = std::max(1.0, std::floor(128 / static_cast<double>(s.in + s.out)));
    if (which == Which::dw) return {4 * points * (in * out + 256 * waves * (in + out)), 4 * lines};
    const double tiles = static_cast<double>(std::max<Int>(84, columns));
    return {4 * points * whole(s.in, 32) * whole(s.out, 32), 4 * (points * tiles * (in + out) + lines)};
}

// What a call takes from a new pool and keeps as scratch memory of a new thread.
Workspace memory_of(const Case& c, Which which) {
    Workspace taken{};
    std::thread([&] {
        with_threads(1, [&] {
            Pool pool(Pool::Sharing::one_thread);
            const Tensor<float> bias = Tensor<float>::zeros(Shape{c.s.out});
            Tensor<float> y = Tensor<float>::zeros(c.y_shape()), dx = c.x, dw = c.w;
            std::vector<std::uint8_t> places(static_cast<std::size_t>(y.size()));
            float *to_y = y.mutable_data(), *to_dx = dx.mutable_data(), *to_dw = dw.mutable_data();
            const Int before = kernels::scratch_bytes;
            if (which == Which::y)
                kernels::winograd_y(c.s, c.x.data(), c.w.data(), {bias.data(), true, true, places.data()}, to_y, pool);
            else if (which == Which::dx)
                kernels::winograd_dx(c.s, c.dy.data(), c.w.data(), 0, to_dx, pool);
            else
                kernels::winograd_dw(c.s, c.x.data(), c.dy.data(), 0, to_dw, pool);
            taken.thread = static_cast<double>(kernels::scratch_bytes - before);
            taken.pool = static_cast<double>(pool.counters().bytes);
        });
    }).join();
    return taken;
}

// The pool rounds sizes up by at most a quarter; the matrices of the points are filled up to whole lines of the cache.
BOOST_AUTO_TEST_CASE(memory) {
    for (const WinogradShape& s :
         {WinogradShape{12, 16, 16, 32, 32, 3, 1, 1}, WinogradShape{12, 64, 64, 32, 32, 3, 1, 1},
          WinogradShape{4, 256, 128, 16, 16, 3, 1, 1}, WinogradShape{2, 17, 35, 43, 47, 3, 1, 1},
          WinogradShape{2, 16, 16, 16, 1024, 3, 1, 1}, WinogradShape{12, 32, 64, 12, 12, 5, 0, 0},
          WinogradShape{3, 16, 20, 29, 500, 5, 2, 2}})
        for (const Which which : {Which::y, Which::dx, Which::dw}) {
            const Workspace got = memory_of(normal_case(s), which), most = most_memory(s, which);
            BOOST_TEST_CONTEXT(name(s) << (which == Which::y ? ": y" : which == Which::dx ? ": dx" : ": dw")) {
                BOOST_TEST_MESSAGE(name(s) << " " << static_cast<int>(which) << ": pool " << got.pool / 1e6 << " of "
                                           << most.pool / 1e6 << " MB, thread " << got.thread / 1e6 << " of "
                                           << most.thread / 1e6 << " MB");
                BOOST_TEST(got.pool <= 1.25 * most.pool + 20000);
                BOOST_TEST(got.thread <= 1.01 * most.thread + 20000);
            }
            WinogradShape twice = s;
            twice.batch *= 2;
            const Workspace more = memory_of(normal_case(twice), which);
            BOOST_TEST(more.pool <= 1.25 * most.pool + 20000);
            BOOST_TEST(more.thread <= 1.01 * most.thread + 20000);
        }
}

// The choice goes by the layer: not by the batch, and never for double.
BOOST_AUTO_TEST_CASE(when_it_is_used) {
    using kernels::winograd_use;
    for (const Int batch : {1, 2, 1000}) {
        BOOST_TEST(winograd_use({batch, 64, 64, 32, 32, 3, 1, 1}));
        BOOST_TEST(winograd_use({batch, 32, 64, 12, 12, 5, 0, 0}));
        BOOST_TEST(winograd_use({batch, 64, 64, 8, 8, 3, 1, 1}));
        BOOST_TEST(!winograd_use({batch, 3, 64, 32, 32, 3, 1, 1}));
        BOOST_TEST(!winograd_use({batch, 64, 8, 32, 32, 3, 1, 1}));
        BOOST_TEST(!winograd_use({batch, 64, 64, 32, 32, 7, 3, 3}));
        BOOST_TEST(!winograd_use({batch, 64, 64, 5, 5, 3, 1, 1}));     // tiles of 8 x 8 for 5 x 5 pixels
        BOOST_TEST(!winograd_use({batch, 64, 64, 4, 4, 3, 1, 1}));     // much padding
        BOOST_TEST(!winograd_use({batch, 64, 64, 8, 2000, 3, 1, 1}));  // long rows of tiles
    }
    // The bits show which of y, dx and dw the op computes by Winograd's algorithm.
    const auto bits = [](const Conv2dOptions& options) {
        const Case c = normal_case({1, 32, 32, 8, 8, 3, 1, 1});
        Tape<float> tape;
        const auto u = tape.variable(c.x), v = tape.variable(c.w);
        const auto y = conv2d(u, v, options);
        tape.backward(sum(y * c.dy));
        const Results expected = by_winograd(c);
        const auto mark = [](const Tensor<float>& a, const Tensor<float>& b, const char* name) {
            return same_bits(a.data(), b.data(), b.size()) ? name : "-";
        };
        return mark(y.value(), expected.y, "y") + std::string(mark(u.grad(), expected.dx, "x")) +
               mark(v.grad(), expected.dw, "w");
    };
    BOOST_TEST(bits({.padding = {1, 1}}) == "yxw");
    BOOST_TEST(bits({.padding = {2, 2}, .dilation = {2, 2}}) == "---");
}

BOOST_AUTO_TEST_SUITE_END()
