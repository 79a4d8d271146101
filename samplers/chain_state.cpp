#include <pollen/samplers/kernels/chain_state.hpp>

#include <pollen/data/atomic_file.hpp>
#include <pollen/data/printable.hpp>
#include <pollen/data/safetensors.hpp>
#include <pollen/nn/checks.hpp>

#include <zlib.h>

#include <bit>
#include <charconv>
#include <cstdio>

namespace pollen::detail {

namespace {

constexpr const char* format = "pollen chain";
constexpr const char* version = "1";
constexpr const char* checksum = "checksum";
constexpr const char* invalid_draws = "invalid_draws";

// CRC-32 of the file as it is with a checksum of 0.
std::string checksum_of(TensorFile file) {
    file.metadata[checksum] = "00000000";
    const std::vector<std::byte> bytes = safetensors_bytes(file);
    const auto crc = crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    char text[16];
    std::snprintf(text, sizeof text, "%08lx", static_cast<unsigned long>(crc & 0xffffffff));
    return text;
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
        // Copied: the file outlives this visit, the vector may not.
        file_.set(next(name), Tensor<T>(Shape{std::ssize(x)}, x));
    }

    TensorFile& file_;
    int entries_ = 0;
};

class Reader final : public StateVisitor {
  public:
    explicit Reader(const TensorFile& file) : file_(file) {}
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
    // A vector may be made or given up along the way, but has one length while it is there.
    template <class T>
    void take(const char* name, std::vector<T>& x) {
        const std::string key = next(name);
        const Tensor<T>& saved = file_.get<T>(key);
        if (saved.rank() != 1 || (!x.empty() && saved.size() > 0 && saved.size() != std::ssize(x)))
            throw FileError(file_.source() + ": " + key + " has shape " + to_string(saved.shape()) + "; (" +
                            std::to_string(x.size()) + ") is needed");
        x.assign(saved.begin(), saved.end());
    }

    const TensorFile& file_;
    int entries_ = 0;
};

// f(name, number) for every number of a state.
template <class State, class F>
void each_field(State& s, const F& f) {
    f("steps", s.steps), f("draws", s.draws), f("csv_bytes", s.csv_bytes), f("divergences", s.divergences);
    f("invalid_steps", s.invalid_steps), f("gradients", s.gradients), f("warmup_seconds", s.warmup_seconds);
    f("sampling_seconds", s.sampling_seconds), f("step_size", s.step_size), f("start_prior", s.start_prior);
    f("start_likelihood", s.start_likelihood);
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
    if (const std::string computed = checksum_of(file); metadata_of(file, checksum) != computed)
        throw FileError(file.source() + ": metadata: checksum: " + printable(metadata_of(file, checksum)) +
                        ", but what it holds has " + computed + "; the file is damaged");
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
    file.metadata[checksum] = checksum_of(file);
    write_safetensors(path, file);
}

RunState read_state(const std::string& path, const VisitState& visit, const RunDescription& about) {
    const TensorFile file = read_safetensors(path);
    check_file(file);
    for (const auto& [name, text] : about) {
        const std::string& saved = metadata_of(file, "run." + name);
        if (saved != text)
            throw FileError(path + ": the saved run has " + name + " " + saved + ", this one has " + text +
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
    Reader reader(file);
    visit(reader);
    reader.finish();
    return state;
}

}  // namespace pollen::detail
