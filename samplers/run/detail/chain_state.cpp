#include <pollen/samplers/run/detail/chain_state.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/data/formats/safetensors.hpp>
#include <pollen/data/io/atomic_file.hpp>
#include <pollen/data/io/detail/printable.hpp>

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <string_view>

namespace pollen::detail {

namespace {

constexpr const char* format = "pollen chain";
constexpr const char* version = "3";
constexpr const char* invalid_draws = "invalid_draws";

constexpr std::string_view no_checksum = "00000000";

// Where the eight digits of the checksum are. A quote inside of a text is not written as it is, so the key is unique.
std::size_t place_of_checksum(std::string_view bytes, const std::string& path) {
    const std::string_view key = "\"checksum\":\"";
    const std::size_t at = bytes.find(key);
    if (at == bytes.npos || bytes.size() - at < key.size() + no_checksum.size())
        throw FileError(path + ": metadata: there is no checksum; is it the state of a chain?");
    return at + key.size();
}

// CRC-32 of the file as it is with a checksum of 0.
std::string checksum_of(std::string_view bytes, std::size_t place) {
    const auto add = [](uLong sum, std::string_view part) {
        return crc32_z(sum, reinterpret_cast<const unsigned char*>(part.data()), part.size());
    };
    const uLong crc = add(add(add(0, bytes.substr(0, place)), no_checksum), bytes.substr(place + no_checksum.size()));
    char text[16];
    std::snprintf(text, sizeof text, "%08lx", static_cast<unsigned long>(crc & 0xffffffff));
    return text;
}

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string entry_name(int number, const char* name) {
    char text[16];
    std::snprintf(text, sizeof text, "%04d.", number);
    return text + std::string(name);
}

class Writer final : public StateVisitor {
  public:
    explicit Writer(TensorFile& file) : file_(file) {}
    void number(const char* name, double& x) override { file_.set(next(name), Tensor<double>::scalar(x)); }
    void integer(const char* name, std::int64_t& n) override {
        file_.set(next(name), TensorFile::Counters{std::bit_cast<std::uint64_t>(n)});
    }
    void vector(const char* name, std::vector<float>& x) override { put(name, x); }
    void vector(const char* name, std::vector<double>& x) override { put(name, x); }

  private:
    std::string next(const char* name) { return entry_name(entries_++, name); }
    template <class T>
    void put(const char* name, const std::vector<T>& x) {
        // A copy, since the file may outlive the vector.
        file_.set(next(name), Tensor<T>(Shape{std::ssize(x)}, x));
    }

    TensorFile& file_;
    int entries_ = 0;
};

class Reader final : public StateVisitor {
  public:
    Reader(const TensorFile& file, std::int64_t dimensions) : file_(file), dimensions_(dimensions) {}
    void number(const char* name, double& x) override { x = file_.get<double>(next(name), Shape{}).item(); }
    void integer(const char* name, std::int64_t& n) override {
        const std::string key = next(name);
        const TensorFile::Counters& counters = file_.counters(key);
        if (counters.size() != 1)
            throw FileError(file_.source() + ": " + key + " has " + std::to_string(counters.size()) +
                            " numbers; 1 is needed");
        n = std::bit_cast<std::int64_t>(counters[0]);
    }
    void vector(const char* name, std::vector<float>& x) override { take(name, x); }
    void vector(const char* name, std::vector<double>& x) override { take(name, x); }

    void finish() const {
        if (static_cast<std::size_t>(entries_) + 1 != file_.size())
            throw FileError(file_.source() + ": has " + std::to_string(file_.size()) +
                            " entries; a chain of this sampler has " + std::to_string(entries_ + 1));
    }

  private:
    std::string next(const char* name) { return entry_name(entries_++, name); }
    // A vector keeps the length that it has when a chain begins. If it is empty then, it may have been made later, with
    // one number for each dimension, or as a matrix.
    template <class T>
    void take(const char* name, std::vector<T>& x) {
        const std::string key = next(name);
        const Tensor<T>& saved = file_.get<T>(key);
        const std::int64_t n = saved.rank() == 1 ? saved.size() : -1, d = dimensions_;
        if (n != std::ssize(x) && !(x.empty() && (n == d || n == d * d)))
            throw FileError(file_.source() + ": " + key + " has shape " + to_string(saved.shape()) + "; (" +
                            std::to_string(x.size()) + ") is needed");
        x.assign(saved.begin(), saved.end());
    }

    const TensorFile& file_;
    std::int64_t dimensions_;
    int entries_ = 0;
};

// f(name, number) for every number of a state.
template <class State, class F>
void each_field(State& s, const F& f) {
    f("steps", s.steps), f("draws", s.draws), f("row_bytes", s.row_bytes), f("divergences", s.divergences);
    f("invalid_steps", s.invalid_steps), f("gradients", s.gradients), f("warmup_seconds", s.warmup_seconds);
    f("sampling_seconds", s.sampling_seconds), f("step_size", s.step_size), f("start_prior", s.start_prior);
    f("start_likelihood", s.start_likelihood), f("deep_steps", s.deep_steps);
    f("energy_jumps", s.energy_jumps), f("energy_mean", s.energy_mean), f("energy_spread", s.energy_spread);
    f("energy_last", s.energy_last);
}

struct Option {
    std::string_view name, value;
};

// The options in a text such as "Nuts(step_size = 1, warmup = {metric = fixed})"; `begin` becomes "Nuts(". Nothing if
// the text does not have this form.
std::vector<Option> options_of(std::string_view text, std::string_view& begin) {
    std::vector<Option> options;
    begin = text.substr(0, text.find_first_of("({") + 1);
    if (begin.empty() || !(text.ends_with(')') || text.ends_with('}'))) return {};
    text.remove_prefix(begin.size());
    while (!text.empty()) {
        const std::size_t equals = text.find(" = ");
        if (equals == text.npos) return {};
        std::size_t end = equals;
        for (int depth = 0; end < text.size(); ++end) {
            const std::string_view mark = text.substr(end, 1);
            depth += mark.find_first_of("([{") != mark.npos;
            depth -= mark.find_first_of(")]}") != mark.npos;
            if (depth < 0 || (depth == 0 && text[end] == ',')) break;
        }
        options.push_back({text.substr(0, equals), text.substr(equals + 3, end - equals - 3)});
        text.remove_prefix(std::min(text.size(), end + 2));
    }
    return options;
}

// "target_acceptance: 0.8 in the saved run, 0.9 now" for the options of a sampler that differ; empty if it is another
// sampler.
std::string different_options(std::string_view saved, std::string_view now, const std::string& prefix = "") {
    std::string_view begin, begin_now;
    const std::vector<Option> a = options_of(saved, begin), b = options_of(now, begin_now);
    if (begin != begin_now || a.size() != b.size()) return "";
    std::string text;
    for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k].name != b[k].name) return "";
        if (a[k].value == b[k].value) continue;
        const std::string name = prefix + std::string(a[k].name);
        std::string inner = different_options(a[k].value, b[k].value, name + ".");
        if (inner.empty())
            inner = name + ": " + std::string(a[k].value) + " in the saved run, " + std::string(b[k].value) + " now";
        text += (text.empty() ? "" : "; ") + inner;
    }
    return text;
}

const std::string& metadata_of(const TensorFile& file, const std::string& field) {
    const auto at = file.metadata.find(field);
    if (at == file.metadata.end())
        throw FileError(file.source() + ": metadata: there is no " + field + "; is it the state of a chain?");
    return at->second;
}

void check_file(const TensorFile& file) {
    if (metadata_of(file, "format") != format)
        throw FileError(file.source() + ": metadata: format: " + printable(metadata_of(file, "format")) +
                        " is not the state of a chain");
    if (metadata_of(file, "version") != version)
        throw FileError(file.source() + ": metadata: version: " + printable(metadata_of(file, "version")) +
                        "; this version of pollen reads " + version);
}

void check_sum(std::string_view bytes, const std::string& path) {
    const std::size_t place = place_of_checksum(bytes, path);
    const std::string_view saved = bytes.substr(place, no_checksum.size());
    if (const std::string computed = checksum_of(bytes, place); saved != computed)
        throw FileError(path + ": metadata: checksum: " + printable(saved) + ", but what it holds has " + computed +
                        "; the file is damaged");
}

}  // namespace

void write_state(const std::string& path, const RunState& state, const VisitState& visit, const RunDescription& about) {
    TensorFile file(path);
    Writer writer(file);
    visit(writer);
    file.set(invalid_draws, state.invalid_draws);
    each_field(state, [&](const char* name, auto x) { file.metadata[name] = to_text(x); });
    for (const auto& [name, text] : about) file.metadata["run." + name] = text;
    file.metadata["format"] = format;
    file.metadata["version"] = version;
    file.metadata["checksum"] = no_checksum;
    std::vector<std::byte> bytes = safetensors_bytes(file);
    const std::size_t place = place_of_checksum(text_of(bytes), path);
    const std::string sum = checksum_of(text_of(bytes), place);
    std::transform(sum.begin(), sum.end(), bytes.begin() + static_cast<std::ptrdiff_t>(place),
                   [](char c) { return static_cast<std::byte>(c); });
    AtomicFile saved(path);
    saved.write(bytes.data(), bytes.size());
    saved.commit();
}

RunState read_state(const std::string& path, const VisitState& visit, const RunDescription& about,
                    std::int64_t dimensions, const ReadLimits& limits) {
    const std::vector<std::byte> bytes = read_bytes(path, limits);
    const TensorFile file = parse_safetensors(bytes, path, limits);
    check_file(file);
    check_sum(text_of(bytes), path);
    for (const auto& [name, text] : about) {
        const std::string& saved = metadata_of(file, "run." + name);
        if (saved == text) continue;
        const std::string before = text.starts_with(name + " ") ? "" : name + " ";
        const std::string options = different_options(saved, text);
        throw FileError(path + ": " +
                        (options.empty() ? "the saved run has " + before + saved + ", this one has " + text : options) +
                        "; to start anew, choose another directory");
    }
    RunState state;
    each_field(state, [&](const char* name, auto& x) {
        const std::string& text = metadata_of(file, name);
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
        if (error != std::errc() || end != text.data() + text.size())
            throw FileError(path + ": metadata: " + name + ": " + printable(text) + " is not a number");
        if (x < 0 && std::is_integral_v<std::remove_reference_t<decltype(x)>>)
            throw FileError(path + ": metadata: " + name + ": " + printable(text) + " is negative");
    });
    state.invalid_draws = file.counters(invalid_draws);
    Reader reader(file, dimensions);
    visit(reader);
    reader.finish();
    return state;
}

}  // namespace pollen::detail
