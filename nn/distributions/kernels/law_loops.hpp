#pragma once

#include <pollen/autograd/kernels/reduce.hpp>

#include <array>
#include <utility>

// An elementwise function of a few arguments, f(x_i; p_i, q_i, ...), and its partial derivatives, in one pass.
//
// A law is the function. It is made of the parameters, in batches, and then asked at x:
//
//     struct Law {
//         Law(const Batch<T>& p, const Batch<T>& q);
//         Batch<T> value(const Batch<T>& x) const;
//         void slopes(const Batch<T>& x, const Wanted& wanted, Batch<T>* d) const;   // d[0] = df/dx, d[1] = df/dp, ...
//     };
//
// Parameters that are single numbers are worked up once for all elements. slopes() need not write what is not wanted.
//
// A law can have value(x) in two parts: constant(), the terms without x, and rest(x). It says in in_constant which
// parameters the constant depends on. If these are single numbers, a sum is that of the rests, and the constants are
// added in double: many floats of the same rounding error would add up to a large one.
//
// Where one parameter alone takes much work, a law says so: it has a struct Known, which is made of parameter number
// `known` and of what is wanted, and it takes that in place of the parameter; it outlives the law. If that parameter is
// a single number it is worked up once, whatever the others are.
//
// In the sum of such a law logarithms can wait until all elements are through and be those of products (LogProduct). It
// then has a struct Logs of products, which says for what known number that is exact enough, and
//
//     void without_logs(const Batch<T>& x, const Wanted& wanted, Batch<T>* y, Logs& logs) const;  // f and d
//     static void add_logs(const Known& known, const Logs& logs, Batch<T>* sums);
//
// and the same without the constant, rest_without_logs and add_rest_logs, if value(x) has two parts.
namespace pollen::kernels {

// The loops have to be one function for speed. With the checks of a sanitizer in it, gcc takes minutes for one.
#ifdef __SANITIZE_ADDRESS__
#define POLLEN_FLATTEN
#else
#define POLLEN_FLATTEN [[gnu::flatten]]
#endif

using Wanted = std::array<bool, 4>;

// One argument for all elements: moving along with the index, or one number.
template <class T>
struct Source {
    const T* data;
    bool moves;
    Batch<T> load(std::int64_t i) const { return moves ? Batch<T>::load_unaligned(data + i) : Batch<T>(*data); }
};

// Where f, or one of its derivatives, goes: nowhere (null), to an element of its own each, or summed into one number.
template <class T>
struct Sink {
    T* data = nullptr;
    bool moves = true;
};

template <class T, std::size_t n>
using Sources = std::array<Source<T>, n>;
template <class T, std::size_t n>
using Sinks = std::array<Sink<T>, n>;

template <class Law>
concept KnowsOne = requires {
    typename Law::Known;
};

template <class Law>
concept SumsLogs = KnowsOne<Law> && requires {
    typename Law::Logs;
};

// Where no logarithms wait.
struct NoLogs {};

template <class Law>
concept HasConstant = requires {
    Law::in_constant;
};

// A law without its constant.
template <class Law>
struct RestOf : Law {
    using Law::Law;
    using B = typename Law::B;

    B value(const B& x) const { return this->rest(x); }
    void without_logs(const B& x, const Wanted& wanted, B* y, auto& logs) const {
        this->rest_without_logs(x, wanted, y, logs);
    }
    static void add_logs(const auto& known, const auto& logs, B* sums) { Law::add_rest_logs(known, logs, sums); }
};

template <class Law>
struct InDouble;
template <template <Real> class Law, Real T>
struct InDouble<Law<T>> {
    using type = Law<decltype(T() + 0.0)>;  // clang 14 crashes on Law<double>
};

// Parameter k + 1 of a law, worked up already or not.
template <class Law, std::size_t k, class T, std::size_t n>
[[gnu::always_inline]] inline decltype(auto) parameter_at(const auto& known, const Sources<T, n>& in, std::int64_t i) {
    if constexpr (KnowsOne<Law>) {
        if constexpr (k == Law::known)
            return (known);
        else
            return in[k + 1].load(i);
    } else {
        return in[k + 1].load(i);
    }
}

template <class Law, class T, std::size_t n>
[[gnu::always_inline]] inline Law law_of(const auto& known, const Sources<T, n>& in, std::int64_t i) {
    return [&]<std::size_t... k>(std::index_sequence<k...>) __attribute__((always_inline)) {
        return Law(parameter_at<Law, k>(known, in, i)...);
    }
    (std::make_index_sequence<n - 1>());
}

// The value of a law and, where they are asked for, its slopes, for one batch.
template <class Law, bool sloped, class T, std::size_t n>
struct Outputs {
    static constexpr std::size_t count = sloped ? n + 1 : 1;
    std::array<Batch<T>, n + 1> y;

    [[gnu::always_inline]] Outputs(const Law& law, const Batch<T>& x, const Wanted& wanted, NoLogs = {}) {
        y[0] = law.value(x);
        if constexpr (sloped) law.slopes(x, wanted, &y[1]);
    }
    template <class Logs>
    [[gnu::always_inline]] Outputs(const Law& law, const Batch<T>& x, const Wanted& wanted, Logs& logs) {
        law.without_logs(x, wanted, y.data(), logs);
    }
};

template <class Law, bool sloped, class T, std::size_t n>
[[gnu::always_inline]] inline Outputs<Law, sloped, T, n> outputs_at(const Sources<T, n>& in, std::int64_t i,
                                                                    const Wanted& wanted) {
    using Y = Outputs<Law, sloped, T, n>;
    if constexpr (KnowsOne<Law>) {
        const typename Law::Known known(in[Law::known + 1].load(i), wanted);
        return Y(law_of<Law>(known, in, i), in[0].load(i), wanted);
    } else {
        return Y(law_of<Law>(0, in, i), in[0].load(i), wanted);
    }
}

template <class T, std::size_t n>
Wanted wanted_of(const Sinks<T, n>& out) {
    Wanted wanted{};
    for (std::size_t k = 1; k < n; ++k) wanted[k - 1] = out[k].data != nullptr;
    return wanted;
}

// The elements [begin, end), at least sum_lanes of them. at(i, logs) is what comes out from element i on, less the
// logarithms that finish(logs, sums) adds in the end.
//
// The last elements, if they do not fill all lanes, are taken together with some before them, which are then written a
// second time, with the same bits. Sums are cut every 64 rounds, so that they round little.
template <class Law, bool sloped, class T, std::size_t n, class Logs = NoLogs>
[[gnu::always_inline]] inline void walk(const Sinks<T, n + 1>& out, std::int64_t begin, std::int64_t end,
                                        const auto& at, const auto& finish) {
    using Y = Outputs<Law, sloped, T, n>;
    constexpr std::int64_t width = sum_lanes<T>;
    std::array<Logs, parts<T>> logs;
    std::array<std::array<Batch<T>, n + 1>, parts<T>> total, sum;
    const auto clear = [](auto& sums) {
        for (auto& part : sums) part.fill(Batch<T>(T(0)));
    };
    clear(total);
    std::int64_t i = begin;
    do {
        const std::int64_t stop = std::min(end, i + 64 * width) - width;
        clear(sum);
        for (; i <= stop; i += width)
            each_part<T>([&](std::size_t p) POLLEN_INLINE {
                const std::int64_t first = i + static_cast<std::int64_t>(p) * lanes<T>;
                const Y here = at(first, logs[p]);
                for (std::size_t k = 0; k < Y::count; ++k) {
                    if (!out[k].moves)
                        sum[p][k] += here.y[k];
                    else if (out[k].data)
                        here.y[k].store_unaligned(out[k].data + first);
                }
            });
        each_part<T>([&](std::size_t p) POLLEN_INLINE {
            for (std::size_t k = 0; k < Y::count; ++k) total[p][k] += sum[p][k];
        });
    } while (i + width <= end);
    each_part<T>([&](std::size_t p) POLLEN_INLINE { finish(logs[p], total[p].data()); });
    if (i < end)
        for (std::size_t p = 0; p < parts<T>; ++p) {
            const std::int64_t first = end - width + static_cast<std::int64_t>(p) * lanes<T>;
            const std::int64_t count = last_in_part<T>(end - i, static_cast<std::int64_t>(p));
            if (count == 0) continue;
            NoLogs none;
            const Y here = at(first, none);
            for (std::size_t k = 0; k < Y::count; ++k) {
                if (!out[k].moves)
                    total[p][k] += last_lanes<Sum>(count, here.y[k]);
                else if (out[k].data)
                    here.y[k].store_unaligned(out[k].data + first);
            }
        }
    for (std::size_t k = 0; k < Y::count; ++k)
        if (!out[k].moves)
            out[k].data[0] = sum_of(lanes_of<T>([&](std::int64_t p) { return total[static_cast<std::size_t>(p)][k]; }));
}

// The elements [begin, end), fewer than sum_lanes or none: filled up with copies of the first one.
template <class Law, bool sloped, class T, std::size_t n>
void evaluate_few(const Sources<T, n>& in, const Sinks<T, n + 1>& out, std::int64_t begin, std::int64_t end) {
    using Y = Outputs<Law, sloped, T, n>;
    if (begin == end) {
        for (const Sink<T>& sink : out)
            if (!sink.moves) sink.data[0] = 0;
        return;
    }
    const Wanted wanted = wanted_of(out);
    std::array<Lanes<T>, n + 1> sums;
    sums.fill(Lanes<T>(T(0)));
    for (std::int64_t p = 0; p < parts<T>; ++p) {
        const std::int64_t first = begin + p * lanes<T>, count = first_in_part<T>(end - begin, p);
        if (count == 0) break;
        alignas(64) std::array<std::array<T, Batch<T>::size>, n> held;
        Sources<T, n> few = in;
        for (std::size_t k = 0; k < n; ++k) {
            if (!in[k].moves) continue;
            load_first_repeated(in[k].data + first, count).store_aligned(held[k].data());
            few[k].data = held[k].data();
        }
        const Y at = outputs_at<Law, sloped>(few, 0, wanted);
        for (std::size_t k = 0; k < Y::count; ++k) {
            if (!out[k].moves)
                sums[k].part[static_cast<std::size_t>(p)] = first_lanes<Sum>(count, at.y[k]);
            else if (out[k].data)
                store_first(out[k].data + first, at.y[k], count);
        }
    }
    for (std::size_t k = 0; k < Y::count; ++k)
        if (!out[k].moves) out[k].data[0] = sum_of(sums[k]);
}

template <class Law, bool sloped, class T, std::size_t n>
POLLEN_FLATTEN void evaluate_range(const Sources<T, n>& in, const Sinks<T, n + 1>& out, std::int64_t begin,
                                   std::int64_t end) {
    using Y = Outputs<Law, sloped, T, n>;
    const Wanted wanted = wanted_of(out);
    const auto nothing = [](NoLogs, Batch<T>*) {};
    bool still = true;
    for (std::size_t k = 1; k < n; ++k) still = still && !in[k].moves;
    const auto walk_still = [&](const Law& law) {
        walk<Law, sloped, T, n>(
            out, begin, end, [&](std::int64_t i, NoLogs) { return Y(law, in[0].load(i), wanted); }, nothing);
    };
    if constexpr (KnowsOne<Law>) {
        if (const Source<T>& source = in[Law::known + 1]; !source.moves) {
            const typename Law::Known known(source.load(0), wanted);
            if constexpr (SumsLogs<Law>) {
                using Logs = typename Law::Logs;
                if (!out[0].moves && Logs::exact_enough(*source.data)) {
                    const Sources<T, n> from = in;  // copies, which no store can change: they stay in registers
                    const Sinks<T, n + 1> to = out;
                    return walk<Law, sloped, T, n, Logs>(
                        to, begin, end,
                        [&](std::int64_t i, auto& logs) {
                            return Y(law_of<Law>(known, from, i), from[0].load(i), wanted, logs);
                        },
                        [&](const Logs& logs, Batch<T>* sums) { Law::add_logs(known, logs, sums); });
                }
            }
            if (still) return walk_still(law_of<Law>(known, in, 0));
            return walk<Law, sloped, T, n>(
                out, begin, end,
                [&](std::int64_t i, NoLogs) { return Y(law_of<Law>(known, in, i), in[0].load(i), wanted); }, nothing);
        }
    } else {
        if (still) return walk_still(law_of<Law>(0, in, 0));
    }
    walk<Law, sloped, T, n>(
        out, begin, end, [&](std::int64_t i, NoLogs) { return outputs_at<Law, sloped>(in, i, wanted); }, nothing);
}

// The only element there is.
template <class Law, bool sloped, class T, std::size_t n>
POLLEN_FLATTEN void evaluate_one(Sources<T, n> in, const Sinks<T, n + 1>& out) {
    using Y = Outputs<Law, sloped, T, n>;
    for (Source<T>& source : in) source.moves = false;
    const Wanted wanted = wanted_of(out);
    const Y at = outputs_at<Law, sloped>(in, 0, wanted);
    for (std::size_t j = 0; j < Y::count; ++j)
        if (out[j].data) out[j].data[0] = at.y[j].get(0);
}

// Many elements, in chunks whose sums are summed again.
template <class Law, bool sloped, class T, std::size_t n>
[[gnu::noinline]] void evaluate_chunks(const Sources<T, n>& in, std::int64_t size, const Sinks<T, n + 1>& out) {
    constexpr std::size_t count = Outputs<Law, sloped, T, n>::count;
    const std::int64_t chunks = (size + reduce_chunk - 1) / reduce_chunk;
    Tensor<T> partial = Tensor<T>::zeros(Shape{chunks, static_cast<std::int64_t>(count)});
    T* held = partial.mutable_data();
    parallel_for(chunks, reduce_grain / reduce_chunk, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t c = first; c < last; ++c) {
            Sinks<T, n + 1> own = out;
            for (std::size_t k = 0; k < count; ++k)
                if (!out[k].moves) own[k].data = held + c * static_cast<std::int64_t>(count) + k;
            const std::int64_t begin = c * reduce_chunk, end = std::min(size, begin + reduce_chunk);
            if (end - begin < sum_lanes<T>)
                evaluate_few<Law, sloped, T, n>(in, own, begin, end);
            else
                evaluate_range<Law, sloped, T, n>(in, own, begin, end);
        }
    });
    std::array<T, count> sums;
    reduce_axes<Sum, T>(held, partial.shape(), 1u, sums.data());
    for (std::size_t k = 0; k < count; ++k)
        if (!out[k].moves) out[k].data[0] = sums[k];
}

template <class Law, bool sloped, class T, std::size_t n>
[[gnu::always_inline]] inline void evaluate_many(const Sources<T, n>& in, std::int64_t size,
                                                 const Sinks<T, n + 1>& out) {
    if (size <= reduce_chunk)
        evaluate_range<Law, sloped, T, n>(in, out, 0, size);
    else
        evaluate_chunks<Law, sloped, T, n>(in, size, out);
}

// Whether all elements have the same constant.
template <class Law, class T, std::size_t n>
bool shares_constant(const Sources<T, n>& in) {
    bool shared = true;
    for (std::size_t k = 1; k < n; ++k) shared = shared && !(in[k].moves && Law::in_constant[k - 1]);
    return shared;
}

template <class Law, class T, std::size_t n>
double constant_of(const Sources<T, n>& in) {
    using Exact = typename InDouble<Law>::type;
    std::array<double, n> held;
    Sources<double, n> from;
    for (std::size_t k = 0; k < n; ++k) {
        held[k] = static_cast<double>(*in[k].data);
        from[k] = {&held[k], false};
    }
    if constexpr (KnowsOne<Exact>) {
        const typename Exact::Known known(from[Exact::known + 1].load(0), {});
        return law_of<Exact>(known, from, 0).constant().get(0);
    } else {
        return law_of<Exact>(0, from, 0).constant().get(0);
    }
}

// A sum of many elements with the same constant.
template <class Law, bool sloped, class T, std::size_t n>
[[gnu::noinline]] void evaluate_apart(const Sources<T, n>& in, std::int64_t size, const Sinks<T, n + 1>& out) {
    evaluate_many<RestOf<Law>, sloped, T, n>(in, size, out);
    T& sum = out[0].data[0];
    sum = static_cast<T>(static_cast<double>(sum) + static_cast<double>(size) * constant_of<Law>(in));
}

// f and, where sloped, its derivatives with respect to all arguments, for `size` elements.
template <class Law, bool sloped, class T, std::size_t n>
[[gnu::always_inline]] inline void evaluate(const Sources<T, n>& in, std::int64_t size, const Sinks<T, n + 1>& out) {
    if (size == 1) return evaluate_one<Law, sloped, T, n>(in, out);
    if (size < sum_lanes<T>) return evaluate_few<Law, sloped, T, n>(in, out, 0, size);
    if constexpr (HasConstant<Law>)
        if (!out[0].moves && shares_constant<Law>(in)) return evaluate_apart<Law, sloped, T, n>(in, size, out);
    evaluate_many<Law, sloped, T, n>(in, size, out);
}

}  // namespace pollen::kernels
