#include <pollen/data/formats/libsvm.hpp>

#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/io/detail/memory_budget.hpp>
#include <pollen/data/io/detail/printable.hpp>
#include <pollen/data/io/detail/text.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

using detail::fail_at_line;
using detail::printable;

namespace {

// The next word of a line, which is then shortened by it; empty at the end.
std::string_view next_word(std::string_view& line) {
    std::size_t begin = 0;
    while (begin < line.size() && detail::is_blank(line[begin])) ++begin;
    std::size_t end = begin;
    while (end < line.size() && !detail::is_blank(line[end])) ++end;
    const std::string_view word = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return word;
}

struct Place {
    const std::string& name;
    std::int64_t line;

    [[noreturn]] void fail(std::string_view word, const std::string& what) const {
        fail_at_line(name, line, printable(word) + ": " + what);
    }
    double number(std::string_view word, std::string_view text, const char* field) const {
        double value = 0;
        if (!detail::parse_number(text, value)) fail(word, std::string("the ") + field + " is not a number");
        if ((value == 0 || std::isinf(value)) && !detail::fits_double(text, value))
            fail(word, std::string("the ") + field + " " + detail::range_text(value));
        if (!std::isfinite(value)) fail(word, std::string("the ") + field + " is not a finite number");
        return value;
    }
};

// index:value, the index greater than `previous`.
std::int64_t parse_index(const Place& place, std::string_view word, std::size_t colon, std::int64_t previous) {
    if (word.substr(0, colon) == "qid") place.fail(word, "query numbers (qid) are for ranking, which is not supported");
    std::int64_t index = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + colon, index);
    if (error != std::errc() || end != word.data() + colon)
        place.fail(word, "the index is not a whole number of 64 bits");
    if (index < 1) place.fail(word, "the index is " + std::to_string(index) + "; indices start at 1");
    if (index <= previous) place.fail(word, "the index follows " + std::to_string(previous) + "; indices must ascend");
    return index;
}

// Calls target(value) for every example and then, for each of its features, feature(place, word, index, value).
template <class Target, class Feature>
void visit(std::string_view text, const std::string& name, const Target& target, const Feature& feature) {
    Place place{name, 0};
    while (!text.empty()) {
        ++place.line;
        const std::size_t eol = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, eol);
        const bool ended = eol < text.size();
        text.remove_prefix(ended ? eol + 1 : eol);
        if (ended && line.ends_with('\r')) line.remove_suffix(1);
        if (line.find('\r') != line.npos) fail_at_line(name, place.line, detail::lone_return);
        line = line.substr(0, line.find('#'));
        std::string_view word = next_word(line);
        if (word.empty()) continue;
        target(place.number(word, word, "target"));
        std::int64_t index = 0;
        while (!(word = next_word(line)).empty()) {
            const std::size_t colon = word.find(':');
            if (colon == word.npos) place.fail(word, "is not of the form index:value");
            index = parse_index(place, word, colon, index);
            feature(place, word, index, place.number(word, word.substr(colon + 1), "value"));
        }
    }
}

Libsvm libsvm_data(Bytes bytes, const std::string& name, const LibsvmOptions& options) {
    if (options.features < 0)
        throw ValueError("libsvm: " + std::to_string(options.features) + " features; expected 0 or more");
    detail::MemoryBudget budget(name, options.limits, bytes.size());
    std::vector<std::byte> storage;
    const std::string_view text = detail::as_text(detail::expanded(bytes, name, budget, storage));

    std::int64_t n = 0, largest = 0;
    visit(
        text, name, [&](double) { ++n; },
        [&](const Place& place, std::string_view word, std::int64_t index, double) {
            if (options.features > 0 && index > options.features)
                place.fail(word, "the index is above the " + std::to_string(options.features) + " features asked for");
            largest = std::max(largest, index);
        });
    if (n == 0) throw FileError(name + ": has no examples; expected at least one line");

    const std::int64_t features = options.features > 0 ? options.features : largest;
    // The targets count as one more column.
    budget.take("dense table",
                {static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(features) + 1, sizeof(double)});
    Libsvm data{Tensor<double>::empty(Shape{n}), Tensor<double>::zeros(Shape{n, features})};
    double* target = data.targets.fresh_data();
    double* inputs = data.inputs.fresh_data();
    std::int64_t example = -1;
    visit(
        text, name,
        [&](double value) {
            *target++ = value;
            ++example;
        },
        [&](const Place&, std::string_view, std::int64_t index, double value) {
            inputs[example * features + index - 1] = value;
        });
    return data;
}

}  // namespace

Libsvm parse_libsvm(Bytes bytes, const std::string& name, const LibsvmOptions& options) {
    return detail::with_errors_at(name, [&] { return libsvm_data(bytes, name, options); });
}

Libsvm read_libsvm(const std::string& path, const LibsvmOptions& options) {
    return parse_libsvm(read_bytes(path, options.limits), path, options);
}

}  // namespace pollen
