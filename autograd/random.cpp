#include <pollen/autograd/random.hpp>

#include <pollen/autograd/kernels/random_numbers.hpp>
#include <pollen/autograd/kernels/rounding.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <locale>
#include <numeric>
#include <sstream>

namespace pollen {

namespace {

constexpr std::uint64_t words = std::uint64_t{1} << 32;  // how many different words of 32 bits there are
constexpr std::uint64_t max_step = std::uint64_t{1} << 56;
constexpr std::int64_t parallel_numbers = 16384;

constexpr std::string_view generator = "philox4x32-10";
constexpr std::array<std::string_view, random_kinds> kind_names{"bits", "uniform_float", "uniform_double",
                                                                "normal_float", "normal_double"};

template <class... Parts>
std::string text(const Parts&... parts) {
    std::ostringstream out;
    out.imbue(std::locale::classic());  // a saved state has no thousands separators, whatever the program speaks
    (out << ... << parts);
    return out.str();
}

void check_key(const RandomKey& key) {
    if (key.step >= max_step) throw ValueError(text("random: step ", key.step, "; a step must be below 2^56"));
}

void check_range(RandomKind kind, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t capacity = random_capacity(kind);
    if (first <= capacity && count <= capacity - first) return;
    throw ValueError(text("random: ", count, " numbers of kind ", kind_names[static_cast<std::size_t>(kind)],
                          " from number ", first, " on; a stream has ", capacity,
                          " in each step, take another stream or step"));
}

// What is done to a batch of numbers on its way out.
struct AsDrawn {
    template <class Batch>
    Batch operator()(const Batch& x) const {
        return x;
    }
};

template <class T>
struct Between {
    T low, width, largest;

    Between(T from, T to) : low(from), width(to - from), largest(std::nextafter(to, from)) {
        if (!(from < to) || !std::isfinite(width))
            throw ValueError(
                text("uniform: from ", from, " to ", to, "; the first must be below the second, at a finite distance"));
    }
    // Rounding up must not reach the open end.
    template <class Batch>
    Batch operator()(const Batch& u) const {
        return xsimd::min(kernels::multiply_add(Batch(width), u, Batch(low)), Batch(largest));
    }
};

template <class T>
struct Scaled {
    T mean, sd;

    Scaled(T m, T s) : mean(m), sd(s) {
        if (!std::isfinite(m) || !std::isfinite(s) || s < 0)
            throw ValueError(text("normal: mean ", m, ", standard deviation ", s,
                                  "; both must be finite and the deviation not negative"));
    }
    template <class Batch>
    Batch operator()(const Batch& z) const {
        return kernels::multiply_add(Batch(sd), z, Batch(mean));
    }
};

// The numbers [begin, end) of group g, to out[0], out[1], ... Few of them may need but one batch of blocks.
template <class Draws, class Finish>
void part_of_group(const Draws& draws, std::uint32_t g, std::size_t begin, std::size_t end, typename Draws::Value* out,
                   const Finish& finish) {
    alignas(64) std::array<typename Draws::Value, Draws::size> numbers;
    const auto keep = [&](std::size_t i, const auto& batch) { finish(batch).store_aligned(&numbers[i]); };
    if (begin / Draws::lanes == (end - 1) / Draws::lanes)
        draws.template strip<1>(g, begin % kernels::blocks_per_group / Draws::lanes * Draws::lanes, keep);
    else
        draws.group(g, keep);
    std::copy_n(&numbers[begin], end - begin, out);
}

template <class Law, class Finish>
typename Law::Value one(const RandomKey& key, std::uint64_t k, const Finish& finish) {
    using Draws = kernels::Draws<Law>;
    check_key(key);
    check_range(Law::kind, k, 1);
    const std::size_t i = k % Draws::size;
    typename Law::Value value;
    part_of_group(Draws(key), static_cast<std::uint32_t>(k / Draws::size), i, i + 1, &value, finish);
    return value;
}

template <class Law, class Finish>
void many(const RandomKey& key, std::uint64_t first, std::span<typename Law::Value> out, const Finish& finish) {
    using Draws = kernels::Draws<Law>;
    check_key(key);
    check_range(Law::kind, first, out.size());
    const Draws draws(key);
    if (const std::size_t begin = first % Draws::size; begin > 0 && !out.empty()) {
        const std::size_t count = std::min(Draws::size - begin, out.size());
        part_of_group(draws, static_cast<std::uint32_t>(first / Draws::size), begin, begin + count, out.data(), finish);
        first += count;
        out = out.subspan(count);
    }
    const std::uint64_t first_group = first / Draws::size, groups = out.size() / Draws::size;
    const auto whole_groups = [&](std::int64_t begin, std::int64_t end) {
        const Finish done = finish;  // a copy that no store to out can change
        auto* to = out.data() + begin * std::int64_t{Draws::size};
        auto g = static_cast<std::uint32_t>(first_group + static_cast<std::uint64_t>(begin));
        for (std::int64_t i = begin; i < end; ++i, ++g, to += Draws::size)
            draws.group(g, [=](std::size_t at, const auto& batch) { done(batch).store_unaligned(to + at); });
    };
    parallel_for(static_cast<std::int64_t>(groups), parallel_numbers / std::int64_t{Draws::size}, whole_groups);
    if (const std::size_t count = out.size() % Draws::size; count > 0)
        part_of_group(draws, static_cast<std::uint32_t>(first_group + groups), 0, count, &out[groups * Draws::size],
                      finish);
}

}  // namespace

std::uint64_t random_capacity(RandomKind kind) {
    const bool two_words = kind == RandomKind::uniform_double || kind == RandomKind::normal_double;
    return words * (two_words ? 2 : 4);
}

std::uint32_t bits_at(const RandomKey& key, std::uint64_t k) { return one<kernels::BitsDraw>(key, k, AsDrawn{}); }

void fill_bits(const RandomKey& key, std::uint64_t first, std::span<std::uint32_t> out) {
    many<kernels::BitsDraw>(key, first, out, AsDrawn{});
}

template <class T>
T uniform_at(const RandomKey& key, std::uint64_t k, T low, T high) {
    return one<kernels::UniformDraw<T>>(key, k, Between<T>(low, high));
}

template <class T>
T normal_at(const RandomKey& key, std::uint64_t k, T mean, T sd) {
    return one<kernels::NormalDraw<T>>(key, k, Scaled<T>(mean, sd));
}

void fill_uniform(const RandomKey& key, std::uint64_t first, std::span<float> out, float low, float high) {
    many<kernels::UniformDraw<float>>(key, first, out, Between<float>(low, high));
}

void fill_uniform(const RandomKey& key, std::uint64_t first, std::span<double> out, double low, double high) {
    many<kernels::UniformDraw<double>>(key, first, out, Between<double>(low, high));
}

void fill_normal(const RandomKey& key, std::uint64_t first, std::span<float> out, float mean, float sd) {
    many<kernels::NormalDraw<float>>(key, first, out, Scaled<float>(mean, sd));
}

void fill_normal(const RandomKey& key, std::uint64_t first, std::span<double> out, double mean, double sd) {
    many<kernels::NormalDraw<double>>(key, first, out, Scaled<double>(mean, sd));
}

template float uniform_at(const RandomKey&, std::uint64_t, float, float);
template double uniform_at(const RandomKey&, std::uint64_t, double, double);
template float normal_at(const RandomKey&, std::uint64_t, float, float);
template double normal_at(const RandomKey&, std::uint64_t, double, double);

Random::Random(std::uint64_t seed, std::uint32_t stream, std::uint64_t step) : state_{{seed, stream, step}, {}} {
    check_key(state_.key);
}

Random::Random(const RandomState& state) : state_(state) {
    check_key(state_.key);
    for (std::size_t i = 0; i < random_kinds; ++i) check_range(static_cast<RandomKind>(i), state_.drawn[i], 0);
}

Random Random::at(std::uint32_t stream, std::uint64_t step) const { return Random(state_.key.seed, stream, step); }

std::uint32_t Random::bits() {
    const std::uint32_t value = bits_at(state_.key, drawn(RandomKind::bits));
    ++drawn(RandomKind::bits);
    return value;
}

template <class T>
T Random::uniform(T low, T high) {
    std::uint64_t& k = drawn(kernels::UniformDraw<T>::kind);
    const T value = uniform_at<T>(state_.key, k, low, high);
    ++k;
    return value;
}

template <class T>
T Random::normal(T mean, T sd) {
    std::uint64_t& k = drawn(kernels::NormalDraw<T>::kind);
    const T value = normal_at<T>(state_.key, k, mean, sd);
    ++k;
    return value;
}

template float Random::uniform(float, float);
template double Random::uniform(double, double);
template float Random::normal(float, float);
template double Random::normal(double, double);

void Random::fill_bits(std::span<std::uint32_t> out) {
    pollen::fill_bits(state_.key, drawn(RandomKind::bits), out);
    drawn(RandomKind::bits) += out.size();
}

void Random::fill_uniform(std::span<float> out, float low, float high) {
    pollen::fill_uniform(state_.key, drawn(RandomKind::uniform_float), out, low, high);
    drawn(RandomKind::uniform_float) += out.size();
}

void Random::fill_uniform(std::span<double> out, double low, double high) {
    pollen::fill_uniform(state_.key, drawn(RandomKind::uniform_double), out, low, high);
    drawn(RandomKind::uniform_double) += out.size();
}

void Random::fill_normal(std::span<float> out, float mean, float sd) {
    pollen::fill_normal(state_.key, drawn(RandomKind::normal_float), out, mean, sd);
    drawn(RandomKind::normal_float) += out.size();
}

void Random::fill_normal(std::span<double> out, double mean, double sd) {
    pollen::fill_normal(state_.key, drawn(RandomKind::normal_double), out, mean, sd);
    drawn(RandomKind::normal_double) += out.size();
}

std::uint32_t Random::below(std::uint64_t n) {
    if (n < 1 || n > words) throw ValueError(text("below: n is ", n, "; it must be from 1 to ", words));
    std::uint32_t value;
    below_each(n, {&value, 1});
    return value;
}

// floor(x n / 2^32) is below n for a word x, and n numbers share 2^32 words evenly once the first 2^32 mod n places of
// x n mod 2^32 are refused (Lemire, Fast random integer generation in an interval, 2019).
void Random::below_each(std::uint64_t n, std::span<std::uint32_t> out) {
    std::array<std::uint32_t, 256> ahead;
    std::size_t have = 0, used = 0;
    for (std::size_t i = 0; i < out.size(); ++i, --n) {
        for (;;) {
            if (used == have) {
                have = std::min(ahead.size(), out.size() - i);
                used = 0;
                fill_bits(std::span(ahead).first(have));
            }
            const std::uint64_t product = ahead[used++] * n, place = product % words;
            if (place >= n || place >= words % n) {
                out[i] = static_cast<std::uint32_t>(product / words);
                break;
            }
        }
    }
}

void Random::check_shuffle(std::uint64_t n) const {
    if (n > words) throw ValueError(text("shuffle: ", n, " values; at most ", words, " can be put in random order"));
}

std::vector<std::int64_t> Random::permutation(std::int64_t n) {
    if (n < 0) throw ValueError(text("permutation: n is ", n, "; it must not be negative"));
    check_shuffle(static_cast<std::uint64_t>(n));
    std::vector<std::int64_t> order;
    detail::resize(order, static_cast<std::size_t>(n), "permutation");
    std::iota(order.begin(), order.end(), std::int64_t{0});
    shuffle(order);
    return order;
}

std::string Random::save() const {
    std::string line =
        text(generator, " seed=", state_.key.seed, " stream=", state_.key.stream, " step=", state_.key.step);
    for (std::size_t i = 0; i < random_kinds; ++i) line += text(' ', kind_names[i], '=', state_.drawn[i]);
    return line;
}

Random Random::restore(std::string_view line) {
    std::string_view rest = line;
    const auto found = [&] { return text(", found \"", rest.substr(0, 40), rest.size() > 40 ? "...\"" : "\""); };
    if (!rest.starts_with(generator)) throw ValueError(text("Random::restore: expected \"", generator, '"', found()));
    rest.remove_prefix(generator.size());

    const auto field = [&](std::string_view name, std::uint64_t largest) {
        const std::string expected = text(' ', name, '=');
        std::uint64_t value = 0;
        if (rest.starts_with(expected)) {
            const char* end = rest.data() + rest.size();
            const auto [stop, error] = std::from_chars(rest.data() + expected.size(), end, value);
            if (error == std::errc{} && value <= largest) {
                rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
                return value;
            }
        }
        throw ValueError(
            text("Random::restore: expected \"", expected, "\" and a whole number up to ", largest, found()));
    };
    RandomState state;
    state.key.seed = field("seed", std::numeric_limits<std::uint64_t>::max());
    state.key.stream = static_cast<std::uint32_t>(field("stream", words - 1));
    state.key.step = field("step", max_step - 1);
    for (std::size_t i = 0; i < random_kinds; ++i)
        state.drawn[i] = field(kind_names[i], random_capacity(static_cast<RandomKind>(i)));
    if (!rest.empty()) throw ValueError(text("Random::restore: expected the end of the line", found()));
    return Random(state);
}

}  // namespace pollen
