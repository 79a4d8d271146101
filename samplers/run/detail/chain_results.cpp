#include <pollen/samplers/run/detail/chain_results.hpp>

#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/samplers/draws/detail/parts.hpp>

#include <algorithm>
#include <cstring>

namespace pollen::detail {

namespace {

// How many numbers the vectors of a result have.
struct Lengths {
    std::int64_t draws = 0, metric = 0, sums = 0;
};

// Visits everything in a result but its vectors, and their lengths.
void visit_result(StateVisitor& v, ChainResult& result, Lengths& lengths) {
    ChainRecord& r = result.record;
    for (std::int64_t* n : {&lengths.draws, &lengths.metric, &lengths.sums, &result.rows.bytes, &r.chain, &r.steps,
                            &r.divergences, &r.invalid_steps, &r.deep_steps, &r.gradient_count, &r.warmup_steps})
        v.integer("", *n);
    for (double* x : {&r.step_size_after_warmup, &r.warmup_seconds, &r.sampling_seconds, &r.ebfmi}) v.number("", *x);
    r.temperature.kinetic.visit(v, "");
    r.temperature.configurational.visit(v, "");
}

// Turns numbers into bytes, or back.
class Pack final : public StateVisitor {
  public:
    std::string text;

    void number(const char*, double& x) override { add(&x, sizeof x); }
    void integer(const char*, std::int64_t& n) override { add(&n, sizeof n); }
    void vector(const char*, std::vector<float>& x) override { add(x.data(), x.size() * sizeof(float)); }
    void vector(const char*, std::vector<double>& x) override { add(x.data(), x.size() * sizeof(double)); }

  private:
    void add(const void* data, std::size_t bytes) { text.append(static_cast<const char*>(data), bytes); }
};

class Unpack final : public StateVisitor {
  public:
    explicit Unpack(std::string_view text) : left_(text) {}

    void number(const char*, double& x) override { take(&x, sizeof x); }
    void integer(const char*, std::int64_t& n) override { take(&n, sizeof n); }
    void vector(const char*, std::vector<float>& x) override { take(x.data(), x.size() * sizeof(float)); }
    void vector(const char*, std::vector<double>& x) override { take(x.data(), x.size() * sizeof(double)); }
    bool finished() const { return left_.empty(); }

  private:
    void take(void* data, std::size_t bytes) {
        if (bytes > left_.size()) throw Error("run_chains: what a rank sent is too short");
        std::memcpy(data, left_.data(), bytes);
        left_.remove_prefix(bytes);
    }
    std::string_view left_;
};

// f(bytes) for the vectors of a result.
template <class F>
void each_span(ChainResult& result, const F& f) {
    const auto use = [&](auto& x) { f(std::as_writable_bytes(std::span(x))); };
    each_vector(result.record, use);
    use(result.record.inverse_metric);
    use(result.rows.sums);
}

void add_results(std::vector<ChainResult>& all, const std::string& text) {
    for (Unpack from(text); !from.finished();) {
        ChainResult& result = all.emplace_back();
        Lengths lengths;
        visit_result(from, result, lengths);
        result.record.resize(lengths.draws);
        resize(result.record.inverse_metric, static_cast<std::size_t>(lengths.metric), "draws");
        resize(result.rows.sums, static_cast<std::size_t>(lengths.sums), "draws");
    }
}

}  // namespace

std::vector<ChainResult> gather_results(const RunPlan& plan, std::vector<ChainResult> own, double* values) {
    Group& group = plan.group();
    if (group.size() == 1) return own;
    Pack pack;
    for (ChainResult& r : own) {
        Lengths lengths{r.record.draws(), std::ssize(r.record.inverse_metric), std::ssize(r.rows.sums)};
        visit_result(pack, r, lengths);
    }
    const std::vector<std::string> texts = group.gather(pack.text);
    const bool root = group.rank() == 0;
    const auto own_count = static_cast<std::ptrdiff_t>(own.size());
    group.together([&] {
        for (std::size_t rank = 1; rank < texts.size(); ++rank) add_results(own, texts[rank]);
        if (!root) return;
        for (ChainResult& r : own)
            if (!plan.options.directory.empty()) r.file = plan.file(r.record.chain, ".csv");
    });

    // From here on nothing is allocated, since the others wait.
    Group::Call call(group, "the draws of all chains");
    const auto each = [&](std::size_t c, const auto& f) {
        ChainResult& result = own[c];
        each_span(result, f);
        if (!values) return;
        const auto width = static_cast<std::size_t>(plan.value_count);
        const auto draws = static_cast<std::size_t>(result.record.draws());
        double* first = values + c * static_cast<std::size_t>(plan.options.draws) * width;
        f(std::as_writable_bytes(std::span(first, draws * width)));
    };
    if (!root) {
        for (std::size_t c = 0; c < own.size(); ++c) each(c, [&](std::span<std::byte> bytes) { call.send(0, bytes); });
        return {};
    }
    for (auto c = static_cast<std::size_t>(own_count); c < own.size(); ++c) {
        const int rank = plan.shares.owner(static_cast<std::int64_t>(c));
        each(c, [&](std::span<std::byte> bytes) { call.receive(rank, bytes); });
    }
    return own;
}

void put_together(Draws& draws, std::vector<ChainResult> chains, Tensor<double> values, std::int64_t room, bool keep) {
    std::vector<std::int64_t> falling;
    for (const ChainResult& c : chains) falling.push_back(c.record.draws());
    std::sort(falling.rbegin(), falling.rend());
    std::int64_t length = falling.back(), best = length * std::ssize(falling);
    for (std::size_t k = falling.size(); k-- > 0;) {
        if (falling[k] * static_cast<std::int64_t>(k + 1) <= best) continue;
        best = falling[k] * static_cast<std::int64_t>(k + 1);
        length = falling[k];
    }
    const std::int64_t width = draws.value_count(), block = room * width, kept = length * width;
    double* to = values.fresh_data();
    for (std::size_t c = 0; c < chains.size(); ++c) {
        ChainResult& chain = chains[c];
        if (chain.record.draws() < length) continue;
        if (keep) {
            const double* from = values.data() + static_cast<std::int64_t>(c) * block;
            if (from != to) std::copy(from, from + kept, to);  // forward, into what was left out
            to += kept;
        }
        chain.record.resize(length);
        draws.chains.push_back(std::move(chain.record));
        if (chain.file.empty()) continue;
        draws.files.push_back(std::move(chain.file));
        draws.row_checksums.push_back(std::move(chain.rows));
    }
    if (!keep) return;
    const Shape shape{std::ssize(draws.chains), length, width};
    Buffer* buffer = values.take_buffer();
    draws.values = buffer ? Tensor<double>::adopt(buffer, shape) : Tensor<double>::zeros(shape);
}

}  // namespace pollen::detail
