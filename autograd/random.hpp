#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Random numbers by counting (Philox 4x32-10; Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011).
//
// A generator with a state must be asked for its numbers in order. Philox is a function instead: it scrambles a 128-bit
// counter under a 64-bit key into four words of 32 random bits, and different counters give independent words. So a
// random number has an address, and whoever knows the address computes the number: any thread, in any order, again in
// the backward pass without having stored it.
//
//     address of a number = (seed, stream, step; kind, k)      "the k-th normal of layer `stream` in step `step`"
//
// `seed` is the key. `stream` keeps apart what runs side by side (layers, chains), `step` what follows in time. Within
// each (seed, stream, step) there are five sequences, one for each kind of number: raw bits, and uniforms and normals
// in float and in double. The kind is part of the counter too, so two different addresses never use the same random
// bits (but for the pairs of normals that Box and Muller make of one pair of uniforms; those are independent as well).
//
// A number has the same bits whether it is drawn alone, in part of a range or in bulk, on any number of threads, with
// any width of SIMD, and on all CPUs.
namespace pollen {

struct RandomKey {
    std::uint64_t seed = 0;
    std::uint32_t stream = 0;
    std::uint64_t step = 0;  // below 2^56; the counter's last byte holds the kind of number

    auto operator<=>(const RandomKey&) const = default;
};

enum class RandomKind : std::uint8_t { bits, uniform_float, uniform_double, normal_float, normal_double };
inline constexpr std::size_t random_kinds = 5;

// How many numbers of one kind a key has: 2^34, in double 2^33. Asking beyond is an error.
std::uint64_t random_capacity(RandomKind kind);

// ---- Numbers by address. Fills write numbers first, first + 1, ... of their kind. ----

std::uint32_t bits_at(const RandomKey& key, std::uint64_t k);
void fill_bits(const RandomKey& key, std::uint64_t first, std::span<std::uint32_t> out);

// low + (high - low) u in [low, high), u a multiple of 2^-24 (float) or 2^-53 (double).
template <class T = double>
T uniform_at(const RandomKey& key, std::uint64_t k, T low = 0, T high = 1);
void fill_uniform(const RandomKey& key, std::uint64_t first, std::span<float> out, float low = 0, float high = 1);
void fill_uniform(const RandomKey& key, std::uint64_t first, std::span<double> out, double low = 0, double high = 1);

// mean + sd z. The tails of z reach 6.6 (float) and 9.4 (double) standard deviations.
template <class T = double>
T normal_at(const RandomKey& key, std::uint64_t k, T mean = 0, T sd = 1);
void fill_normal(const RandomKey& key, std::uint64_t first, std::span<float> out, float mean = 0, float sd = 1);
void fill_normal(const RandomKey& key, std::uint64_t first, std::span<double> out, double mean = 0, double sd = 1);

// ---- Numbers in sequence. ----

// Everything the next draw depends on: the key, and how many numbers of each kind, in the order of RandomKind, are
// gone.
struct RandomState {
    RandomKey key;
    std::array<std::uint64_t, random_kinds> drawn{};

    auto operator<=>(const RandomState&) const = default;
};

// Walks through the five sequences of a key. Each kind counts for itself: the third normal is the same number whether
// or not uniforms were drawn in between. A Random is 64 bytes of plain data; copy it to draw the same numbers twice.
//
//     Random random(seed);
//     double z = random.normal();                         // normal_at(key, 0)
//     random.fill_normal(weights, 0.0f, 0.1f);            // in bulk, for a std::span or std::vector of float or double
//     auto order = random.permutation(60000);
//     Random layer = random.at(3, step);                  // same seed, stream 3, step `step`: a fresh start
//     std::string saved = random.save();                  // Random::restore(saved) goes on from here
class Random {
  public:
    explicit Random(std::uint64_t seed, std::uint32_t stream = 0, std::uint64_t step = 0);
    explicit Random(const RandomState& state);

    std::uint32_t bits();
    template <class T = double>
    T uniform(T low = 0, T high = 1);
    template <class T = double>
    T normal(T mean = 0, T sd = 1);

    // A whole number in [0, n), all exactly equally likely; n from 1 to 2^32. Takes one word of bits, rarely more.
    std::uint32_t below(std::uint64_t n);

    void fill_bits(std::span<std::uint32_t> out);
    void fill_uniform(std::span<float> out, float low = 0, float high = 1);
    void fill_uniform(std::span<double> out, double low = 0, double high = 1);
    void fill_normal(std::span<float> out, float mean = 0, float sd = 1);
    void fill_normal(std::span<double> out, double mean = 0, double sd = 1);

    // Puts the values in random order, all orders equally likely (Fisher and Yates). At most 2^32 values.
    template <class Values>
    void shuffle(Values&& values);

    // 0, 1, ..., n - 1 in random order.
    std::vector<std::int64_t> permutation(std::int64_t n);

    // The beginning of another stream and step of the same seed.
    Random at(std::uint32_t stream, std::uint64_t step = 0) const;

    const RandomKey& key() const { return state_.key; }
    const RandomState& state() const { return state_; }

    // One line of text, and back. restore() throws a ValueError that names the field it could not read.
    std::string save() const;
    static Random restore(std::string_view text);

    bool operator==(const Random&) const = default;

  private:
    void check_shuffle(std::uint64_t n) const;
    void below_each(std::uint64_t n, std::span<std::uint32_t> out);  // out[i] = below(n - i)
    std::uint64_t& drawn(RandomKind kind) { return state_.drawn[static_cast<std::size_t>(kind)]; }

    RandomState state_;
};

template <class Values>
void Random::shuffle(Values&& values) {
    static_assert(std::random_access_iterator<decltype(std::begin(values))>, "shuffle needs values it can index");
    using std::swap;
    const auto first = std::begin(values);
    using Index = std::iter_difference_t<decltype(std::begin(values))>;
    auto left = static_cast<std::uint64_t>(std::size(values));
    check_shuffle(left);
    std::array<std::uint32_t, 256> chosen;
    while (left > 1) {
        const std::size_t some = left - 1 < chosen.size() ? static_cast<std::size_t>(left - 1) : chosen.size();
        below_each(left, std::span(chosen).first(some));
        for (std::size_t i = 0; i < some; ++i)
            swap(first[static_cast<Index>(--left)], first[static_cast<Index>(chosen[i])]);
    }
}

}  // namespace pollen
