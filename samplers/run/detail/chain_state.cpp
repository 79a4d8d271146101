#include <pollen/samplers/run/detail/chain_state.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/data/formats/detail/sealed_tensors.hpp>
#include <pollen/samplers/run/detail/model_facts.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace pollen::detail {

namespace {

constexpr Seal seal{"pollen chain", "4", "the state of a chain"};
constexpr const char *invalid_draws = "invalid_draws", *row_sums = "row_sums";

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
        constexpr int own = 2;  // invalid_draws, row_sums
        if (static_cast<std::size_t>(entries_) + own != file_.size())
            throw FileError(file_.source() + ": has " + std::to_string(file_.size()) +
                            " entries; a chain of this sampler has " + std::to_string(entries_ + own));
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
    f("steps", s.steps), f("draws", s.draws), f("row_bytes", s.rows.bytes), f("divergences", s.divergences);
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

// "the saved run has seed 1, this one has 2", or which options of a sampler differ.
std::string different_text(const std::string& name, const std::string& saved, const std::string& now) {
    std::string options = different_options(saved, now);
    if (!options.empty()) return options;
    const std::string before = now.starts_with(name + " ") ? "" : name + " ";
    return "the saved run has " + before + saved + ", this one has " + now;
}

void check_same_run(const TensorFile& file, const RunDescription& about) {
    for (const auto& [name, text] : about) {
        const std::string& saved = metadata_text(file, "run." + name, seal);
        if (saved == text) continue;
        if (name == energies_at_fixed_points)
            throw FileError(file.source() +
                            ": the energies at fixed points are not those of the saved run; the model or its data are "
                            "not the same; choose another directory");
        throw FileError(file.source() + ": " + different_text(name, saved, text) +
                        "; to start anew, choose another directory");
    }
}

// What a visitor asks for, found by its name alone, wherever it is in the order of the visit.
class Finder final : public StateVisitor {
  public:
    explicit Finder(const TensorFile& file) : file_(file) {
        for (const std::string& key : file.names()) places_[key.substr(key.find('.') + 1)] = key;
    }
    void number(const char* name, double& x) override { x = file_.get<double>(key(name), Shape{}).item(); }
    void integer(const char* name, std::int64_t& n) override {
        const TensorFile::Counters& counters = file_.counters(key(name));
        n = counters.empty() ? -1 : std::bit_cast<std::int64_t>(counters[0]);
    }
    void vector(const char*, std::vector<float>&) override {}
    void vector(const char* name, std::vector<double>& x) override {
        const Tensor<double> saved = file_.get<double>(key(name), Shape{std::ssize(x)});
        x.assign(saved.begin(), saved.end());
    }

  private:
    const std::string& key(const std::string& name) const {
        const auto at = places_.find(name);
        if (at == places_.end()) throw FileError(file_.source() + ": there is no " + name);
        return at->second;
    }

    const TensorFile& file_;
    std::map<std::string, std::string> places_;
};

// What no run can have saved.
void check_possible(const RunState& s, const std::string& name) {
    const auto at_most = [&](const char* field, std::int64_t n, std::int64_t most, const char* of) {
        if (n > most)
            throw FileError(name + ": metadata: " + field + ": " + std::to_string(n) + " is impossible; there are " +
                            std::to_string(most) + " " + of);
    };
    at_most("draws", s.draws, s.steps, "steps");
    at_most("divergences", s.divergences, s.steps, "steps");
    at_most("invalid_steps", s.invalid_steps, s.steps, "steps");
    at_most("deep_steps", s.deep_steps, s.steps, "steps");
    for (const auto& [field, seconds] :
         {std::pair("warmup_seconds", s.warmup_seconds), std::pair("sampling_seconds", s.sampling_seconds)})
        if (!(seconds >= 0) || std::isinf(seconds))
            throw FileError(name + ": metadata: " + field + ": " + to_text(seconds) + " is not a time");
    if (std::ssize(s.rows.sums) != RowChecksums::count(s.rows.bytes))
        throw FileError(name + ": row_sums: there are " + std::to_string(s.rows.sums.size()) + " checksums; " +
                        std::to_string(s.rows.bytes) + " bytes of rows have " +
                        std::to_string(RowChecksums::count(s.rows.bytes)));
    std::int64_t last = -1;
    for (const std::uint64_t draw : s.invalid_draws) {
        if (draw >= static_cast<std::uint64_t>(s.draws))
            throw FileError(name + ": invalid_draws: there is no draw " + std::to_string(draw));
        if (static_cast<std::int64_t>(draw) <= last)
            throw FileError(name + ": invalid_draws: draw " + std::to_string(draw) + " comes after draw " +
                            std::to_string(last));
        last = static_cast<std::int64_t>(draw);
    }
}

RunState state_in(const TensorFile& file) {
    RunState state;
    each_field(state, [&](const char* field, auto& x) {
        x = metadata_number<std::remove_reference_t<decltype(x)>>(file, field, seal);
    });
    state.invalid_draws = file.counters(invalid_draws);
    state.rows.sums = file.counters(row_sums);
    check_possible(state, file.source());
    return state;
}

}  // namespace

void put_into(ChainRecord& record, const RunState& state, std::int64_t warmup) {
    record.step_size_after_warmup = state.step_size;
    record.warmup_seconds = state.warmup_seconds;
    record.sampling_seconds = state.sampling_seconds;
    record.steps = std::max<std::int64_t>(0, state.steps - warmup);
    record.divergences = state.divergences;
    record.invalid_steps = state.invalid_steps;
    record.deep_steps = state.deep_steps;
    record.temperature = state.temperature;
    record.warmup_steps = std::min(state.steps, warmup);
    record.ebfmi =
        record.steps > 1 ? state.energy_jumps / state.energy_spread : std::numeric_limits<double>::quiet_NaN();
    record.gradient_count = state.gradients;
}

void write_state(const std::string& path, const RunState& state, const VisitState& visit, const RunDescription& about) {
    TensorFile file(path);
    Writer writer(file);
    visit(writer);
    file.set(invalid_draws, state.invalid_draws);
    file.set(row_sums, state.rows.sums);
    each_field(state, [&](const char* name, auto x) { file.metadata[name] = to_text(x); });
    for (const auto& [name, text] : about) file.metadata["run." + name] = text;
    write_sealed(path, std::move(file), seal);
}

RunState read_state(const std::string& path, const VisitState& visit, const RunDescription& about,
                    std::int64_t dimensions, const ReadLimits& limits) {
    return parse_state(read_bytes(path, limits), path, visit, about, dimensions, limits);
}

RunState parse_state(Bytes bytes, const std::string& name, const VisitState& visit, const RunDescription& about,
                     std::int64_t dimensions, const ReadLimits& limits) {
    const TensorFile file = parse_sealed(bytes, name, seal, limits);
    check_same_run(file, about);
    RunState state = state_in(file);
    Reader reader(file, dimensions);
    visit(reader);
    reader.finish();
    return state;
}

std::int64_t saved_steps(const std::string& path, const RunDescription& about, const ReadLimits& limits) {
    const TensorFile file = read_sealed(path, seal, limits);
    check_same_run(file, about);
    return metadata_number<std::int64_t>(file, "steps", seal);
}

SavedState read_saved(const std::string& path, const ReadLimits& limits) {
    const TensorFile file = read_sealed(path, seal, limits);
    SavedState saved{.state = state_in(file), .about = {}};
    for (const auto& [field, text] : file.metadata)
        if (field.starts_with("run.")) saved.about[field.substr(4)] = text;
    // Samplers call theta their position.
    for (const auto& [name, value] : file.values()) {
        if (!name.ends_with("position")) continue;
        if (const auto* numbers = std::get_if<Tensor<float>>(&value)) saved.dimensions = numbers->size();
        if (const auto* numbers = std::get_if<Tensor<double>>(&value)) saved.dimensions = numbers->size();
        break;
    }
    Finder finder(file);
    TemperatureSums& temperature = saved.state.temperature;
    temperature.kinetic.visit(finder, "kinetic");
    temperature.configurational.visit(finder, "configurational");
    if (!temperature.kinetic.valid() || !temperature.configurational.valid())
        throw FileError(path + ": the batches of the temperature are impossible");
    return saved;
}

}  // namespace pollen::detail
