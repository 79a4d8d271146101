#include <pollen/autograd/kernels/max_pool.hpp>

#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/parallel.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

// `n` windows side by side, in registers.
template <class T, int n>
struct FewWindows {
    using Row __attribute__((vector_size(n * sizeof(T)))) = T;
    using Index = decltype(Row{} < Row{});
    using Bytes __attribute__((vector_size(n))) = std::uint8_t;

    template <std::size_t... I>
    static void split(const T* from, Row& even, Row& odd, std::index_sequence<I...>) {
        Row x, y;
        std::memcpy(&x, from, sizeof x);
        std::memcpy(&y, from + n, sizeof y);
        even = __builtin_shufflevector(x, y, static_cast<int>(2 * I)...);
        odd = __builtin_shufflevector(x, y, static_cast<int>(2 * I + 1)...);
    }
    template <std::size_t... I>
    static void merge(const Row& even, const Row& odd, T* to, std::index_sequence<I...>) {
        const Row x = __builtin_shufflevector(even, odd, static_cast<int>(I / 2 + I % 2 * n)...);
        const Row y = __builtin_shufflevector(even, odd, static_cast<int>((I + n) / 2 + (I + n) % 2 * n)...);
        std::memcpy(to, &x, sizeof x);
        std::memcpy(to + n, &y, sizeof y);
    }

    static void largest(const T* top, const T* bottom, T* y, std::uint8_t* places) {
        constexpr std::make_index_sequence<n> all;
        Row best, b, c, d;
        split(top, best, b, all);
        split(bottom, c, d, all);
        Index place{};
        const auto consider = [&](const Row& v, int number) {
            const Index taken = (v > best) | (v != v);
            best = taken ? v : best;
            place = taken ? Index{} + number : place;
        };
        consider(b, 1);
        consider(c, 2);
        consider(d, 3);
        const Bytes bytes = __builtin_convertvector(place, Bytes);
        std::memcpy(y, &best, sizeof best);
        std::memcpy(places, &bytes, sizeof bytes);
    }

    static void spread(const T* g, const std::uint8_t* places, T* top, T* bottom) {
        constexpr std::make_index_sequence<n> all;
        Row from, zero{};
        Bytes bytes;
        std::memcpy(&from, g, sizeof from);
        std::memcpy(&bytes, places, sizeof bytes);
        const Index place = __builtin_convertvector(bytes, Index);
        merge(place == 0 ? from : zero, place == 1 ? from : zero, top, all);
        merge(place == 2 ? from : zero, place == 3 ? from : zero, bottom, all);
    }
};

// f(windows, first) for n windows: some at a time, the last of them perhaps once more, or one by one if there are few.
template <class T, class F>
void each_few(Int n, const F& f) {
    const auto by = [&]<int count>(FewWindows<T, count> windows) {
        each_stretch(n, count, [&](Int i) { f(windows, i); });
    };
    constexpr int most = 32 / sizeof(T);
    if (n >= most)
        by(FewWindows<T, most>{});
    else if (n >= most / 2)
        by(FewWindows<T, most / 2>{});
    else
        by(FewWindows<T, 1>{});
}

}  // namespace

template <class T>
void relu_in_place(Int n, T* x) {
    map_serial(n, x, WhereAbove{}, Stream<T>{x});
}

template <class T>
void largest_of_four(Int n, const T* top, const T* bottom, T* y, std::uint8_t* places) {
    each_few<T>(
        n, [&](auto windows, Int i) { decltype(windows)::largest(top + 2 * i, bottom + 2 * i, y + i, places + i); });
}

template <class T>
void to_places(Int images, Int height, Int width, const T* g, const std::uint8_t* places, T* dx) {
    const Int h = height / 2, w = width / 2;
    parallel_for(images, map_grain / std::max<Int>(1, height * width) + 1, [&](Int begin, Int end) {
        for (Int image = begin; image < end; ++image) {
            T* to = dx + image * height * width;
            for (Int i = 0; i < h; ++i, to += 2 * width) {
                const Int from = (image * h + i) * w;
                each_few<T>(w, [&](auto windows, Int j) {
                    decltype(windows)::spread(g + from + j, places + from + j, to + 2 * j, to + width + 2 * j);
                });
                if (width % 2 != 0) to[width - 1] = to[2 * width - 1] = T(0);
            }
            if (height % 2 != 0) std::fill_n(to, width, T(0));
        }
    });
}

#define POLLEN_INSTANTIATE_MAX_POOL(T)                                         \
    template void relu_in_place(Int, T*);                                      \
    template void largest_of_four(Int, const T*, const T*, T*, std::uint8_t*); \
    template void to_places(Int, Int, Int, const T*, const std::uint8_t*, T*);
POLLEN_INSTANTIATE_MAX_POOL(float)
POLLEN_INSTANTIATE_MAX_POOL(double)
#undef POLLEN_INSTANTIATE_MAX_POOL

}  // namespace pollen::kernels
