#include <pollen/data/io/detail/memory_budget.hpp>

#include <algorithm>

namespace pollen::detail {

namespace {

// Far above any memory, and few enough for a Shape.
constexpr std::uint64_t largest_limit = std::uint64_t{1} << 60;

std::uint64_t limit_of(const ReadLimits& limits, std::uint64_t file_bytes) {
    return std::min(limits.memory(file_bytes), largest_limit);
}

}  // namespace

std::string limit_text(const ReadLimits& limits, std::uint64_t file_bytes) {
    const std::uint64_t limit = limit_of(limits, file_bytes);
    std::string rule =
        "48 MiB, or 48 times the bytes of the file if that is more; ReadLimits::max_memory sets another limit";
    if (limits.max_memory > 0)
        rule = "ReadLimits::max_memory";
    else if (limit >= file_bytes && limits.max_bytes <= limit - file_bytes)
        rule = "ReadLimits::max_bytes, " + std::to_string(limits.max_bytes) + ", and the " +
               std::to_string(file_bytes) + " of the file; max_memory sets another limit";
    return "more than the limit of " + std::to_string(limit) + " (" + rule + ")";
}

MemoryBudget::MemoryBudget(const std::string& name, const ReadLimits& limits, std::uint64_t file_bytes)
    : name_(&name), limits_(limits), file_bytes_(file_bytes), limit_(limit_of(limits, file_bytes)), taken_(file_bytes) {
    if (file_bytes > limits.max_bytes)
        throw FileError(name + ": has " + std::to_string(file_bytes) + " bytes, more than the limit of " +
                        std::to_string(limits.max_bytes) + " (ReadLimits::max_bytes)");
    if (file_bytes > limit_) throw FileError(name + ": has " + std::to_string(file_bytes) + " bytes, " + limit_text());
}

std::uint64_t MemoryBudget::check(std::string_view field, std::span<const std::uint64_t> factors) const {
    std::uint64_t product = 1;
    bool empty = false;
    for (const std::uint64_t factor : factors) {
        empty = empty || factor == 0;
        if (factor == 0) continue;
        if (product > left() / factor) {
            std::string text;
            for (const std::uint64_t f : factors) text += (text.empty() ? "" : " x ") + std::to_string(f);
            throw FileError(*name_ + ": " + std::string(field) + ": " + text + " bytes, beside the " +
                            std::to_string(taken_) + " taken before, are " + limit_text());
        }
        product *= factor;
    }
    return empty ? 0 : product;
}

std::uint64_t MemoryBudget::take(std::string_view field, std::span<const std::uint64_t> factors) {
    const std::uint64_t bytes = check(field, factors);
    taken_ += bytes;
    return bytes;
}

}  // namespace pollen::detail
