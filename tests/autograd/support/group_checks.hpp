#pragma once

#include <pollen/autograd/detail/subtree_sums.hpp>
#include <pollen/autograd/ordered_sum.hpp>
#include <pollen/autograd/random.hpp>
#include <pollen/autograd/support/group.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

// Checks of a group that its ranks make together, for groups of threads and for MPI. They throw if something is wrong.
namespace pollen::test {

inline void require(bool fine, const std::string& what) {
    if (!fine) throw Error("wrong: " + what);
}

// A text of any bytes, of another length on each rank; some are empty.
inline std::string text_of(int rank) {
    std::string text(static_cast<std::size_t>(rank * 37 % 101 * (rank % 3)), '\0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 + static_cast<std::size_t>(rank));
    return text;
}

inline void check_messages(Group& group) {
    std::vector<std::string> texts;
    for (int rank = 0; rank < group.size(); ++rank) texts.push_back(text_of(rank));
    const auto gathered = group.gather(text_of(group.rank()));
    require(gathered == (group.rank() == 0 ? texts : std::vector<std::string>()), "gather");
    require(group.all_gather(text_of(group.rank())) == texts, "all_gather");
    for (int from = 0; from < group.size(); ++from) {
        require(group.broadcast(text_of(group.rank()), from) == text_of(from), "broadcast of a text");
        std::vector<double> numbers(3000);
        if (group.rank() == from) std::iota(numbers.begin(), numbers.end(), from);
        group.broadcast(std::span(numbers), from);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            require(numbers[i] == static_cast<double>(i) + from, "broadcast of numbers");
    }
    group.barrier();
}

// Number `column` of a leaf. Their sizes differ by a factor of 4,000, so each order of a sum has other bits.
template <Real T>
T leaf_number(std::int64_t leaf, std::int64_t column) {
    static const std::vector<T> numbers = [] {
        Random random(11);
        std::vector<T> made(4096);
        for (T& x : made) x = random.normal<T>() * static_cast<T>(std::ldexp(1.0, static_cast<int>(random.below(12))));
        return made;
    }();
    return numbers[static_cast<std::size_t>((leaf * 61 + column * 7) % 4096)];
}

// The definition of the sum.
template <Real T>
T sum_of(std::int64_t first, std::int64_t last, std::int64_t column) {
    if (last - first == 0) return 0;
    if (last - first == 1) return leaf_number<T>(first, column);
    std::int64_t half = 1;
    while (2 * half < last - first) half *= 2;
    const T left = sum_of<T>(first, first + half, column);
    return left + sum_of<T>(first + half, last, column);
}

// How many columns have other bits than the definition, if `sum` adds up the leaves.
template <Real T, class Sum>
std::int64_t wrong_columns(Group& group, const Shares& shares, std::int64_t width, const Sum& sum) {
    std::vector<T> leaves, got(static_cast<std::size_t>(width), T(-1));
    for (std::int64_t leaf = shares.first(group.rank()); leaf < shares.last(group.rank()); ++leaf)
        for (std::int64_t column = 0; column < width; ++column) leaves.push_back(leaf_number<T>(leaf, column));
    sum(group, shares, std::span(leaves), std::span(got));
    std::int64_t wrong = 0;
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    for (std::int64_t column = 0; column < width; ++column) {
        const T expected = sum_of<T>(0, shares.leaves(), column);
        wrong += std::bit_cast<Bits>(got[static_cast<std::size_t>(column)]) != std::bit_cast<Bits>(expected);
    }
    return wrong;
}

// Shares of any sizes, many of them empty where there are few leaves; the same for the same seed.
inline Shares uneven_shares(std::int64_t leaves, int ranks, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::int64_t> begins{0, leaves};
    for (int rank = 1; rank < ranks; ++rank)
        begins.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(leaves) + 1)));
    std::sort(begins.begin(), begins.end());
    return Shares(std::move(begins));
}

// Sums of 0, step, 2 step, ..., at most 70 leaves, in shares that are cut well, and in others.
template <Real T, class Sum>
std::int64_t wrong_sums(Group& group, const Sum& sum, std::int64_t step = 1) {
    std::int64_t wrong = 0;
    for (std::int64_t leaves = 0; leaves <= 70; leaves += step) {
        wrong += wrong_columns<T>(group, Shares::cut(leaves, group.size()), 3, sum);
        wrong +=
            wrong_columns<T>(group, uneven_shares(leaves, group.size(), static_cast<std::uint64_t>(leaves)), 3, sum);
    }
    return wrong;
}

inline constexpr auto in_tree_order = [](Group& group, const Shares& shares, auto leaves, auto sum) {
    ordered_sum(group, shares, leaves, sum);
};

// Each rank adds up the subtrees of its share, three leaves at a time, and rank 0 has the sum.
inline constexpr auto by_subtrees = [](Group& group, const Shares& shares, auto leaves, auto sum) {
    using T = typename decltype(sum)::value_type;
    const std::int64_t width = std::ssize(sum), count = shares.count(group.rank());
    SubtreeSums<T> sums;
    sums.begin(shares, group.rank(), width);
    for (std::int64_t done = 0; done < count; done += 3)
        sums.add(std::min<std::int64_t>(3, count - done), [&](std::int64_t k, std::span<T> to) {
            for (std::size_t i = 0; i < to.size(); ++i)
                to[i] += leaves[static_cast<std::size_t>((done + k) * width) + i];
            return static_cast<double>(leaf_number<T>(shares.first(group.rank()) + done + k, 0));
        });
    std::fill(sum.begin(), sum.end(), T(0));
    double number = 0;
    add_ordered_sum<T>(group, shares, sums.rows(), width, sum);
    add_ordered_sum<double>(group, shares, sums.numbers(), 1, std::span(&number, 1));
    if (group.rank() > 0) {
        require(std::all_of(sum.begin(), sum.end(), [](T x) { return x == 0; }), "only rank 0 has the sum");
    } else if (sizeof(T) == sizeof(double)) {
        require(number == sum_of<double>(0, shares.leaves(), 0), "the sum of the numbers");
    }
    group.broadcast(sum);
};

// The same, into the first row of the leaves, where there is one.
inline constexpr auto into_first_row = [](Group& group, const Shares& shares, auto leaves, auto sum) {
    const auto to = leaves.size() < sum.size() ? sum : leaves.first(sum.size());
    ordered_sum(group, shares, leaves, to);
    if (to.data() != sum.data()) std::copy(to.begin(), to.end(), sum.begin());
};

// A broken twin: each rank adds up its share by itself, and these sums are added in the order of the ranks.
inline constexpr auto in_rank_order = [](Group& group, const Shares& shares, auto leaves, auto sum) {
    using T = typename decltype(sum)::value_type;
    const Shares own({0, shares.count(group.rank())});
    ordered_sum(Group::alone(), own, leaves, sum);
    const auto parts = group.all_gather({reinterpret_cast<const char*>(sum.data()), sum.size_bytes()});
    std::fill(sum.begin(), sum.end(), T(0));
    std::vector<T> part(sum.size());
    for (const std::string& bytes : parts) {
        std::copy_n(bytes.data(), bytes.size(), reinterpret_cast<char*>(part.data()));
        for (std::size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
    }
};

// The name of the type and the message of what f() throws; empty if it does not.
template <class F>
std::string thrown_by(const F& f) {
    try {
        f();
    } catch (const GroupError& error) {
        return std::string("GroupError: ") + error.what();
    } catch (const DomainError& error) {
        return std::string("DomainError: ") + error.what();
    } catch (const ValueError& error) {
        return std::string("ValueError: ") + error.what();
    } catch (const Error& error) {
        return std::string("Error: ") + error.what();
    } catch (const std::exception& error) {
        return std::string("exception: ") + error.what();
    }
    return "";
}

// What one rank throws, all throw; and then the group goes on.
inline void check_together(Group& group) {
    const auto got = [&](const auto& f) { return thrown_by([&] { group.together(f); }); };
    require(got([] {}).empty(), "together: nothing is thrown");
    for (int bad = 0; bad < group.size(); ++bad) {
        const std::string where = group.size() == 1 ? "" : "rank " + std::to_string(bad) + ": ";
        const std::string type = group.size() == 1 ? "ValueError: " : "GroupError: ";
        const std::string plain = got([&] {
            if (group.rank() == bad) throw ValueError("no such file");
        });
        require(plain == type + where + "no such file", "together: " + plain);
        const std::string domain = got([&] {
            if (group.rank() >= bad) throw DomainError("scale is 0 on " + std::to_string(group.rank()));
        });
        require(domain == "DomainError: " + where + "scale is 0 on " + std::to_string(bad), "together: " + domain);
    }
}

inline void check_agree(Group& group, const std::string& ranks_but_last) {
    group.agree("the seed", "1");
    const bool last = group.rank() == group.size() - 1;
    const std::string got = thrown_by([&] { group.agree("the seed", last ? "2" : "1"); });
    require(got == "GroupError: the ranks do not agree on the seed: " + ranks_but_last + ": \"1\"; rank " +
                       std::to_string(group.size() - 1) + ": \"2\"",
            got);
}

}  // namespace pollen::test
