#include "lives.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/data/formats/npz.hpp>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>

using namespace pollen;

namespace {

constexpr std::int64_t piece = 1000;  // mushrooms; what is lost at most where a run is stopped
constexpr std::uint32_t world_stream = 1;

// A run so far: its agent, and counts.
struct Life {
    Life(const Mind& mind, const Setting& setting, std::uint64_t own_seed)
        : s(setting), seed(own_seed), agent(mind, setting.mushrooms, setting.updates, own_seed) {}

    void one_more();
    Tensor<double> counts() const;
    void restore(const Tensor<double>& counts, const std::vector<Tensor<float>>& state);

    const Setting& s;
    std::uint64_t seed;
    Agent agent;
    std::int64_t seen = 0;
    double regret = 0, late_regret = 0, early = 0;
    std::array<double, 2> offered{}, eaten{};  // of the last fifth: poisonous, edible
    std::array<double, marks> curve{};
};

void Life::one_more() {
    Random world(seed, world_stream, static_cast<std::uint64_t>(seen));
    const std::size_t i = world.below(s.mushrooms.edible.size());
    const bool lucky = world.uniform() < 0.5, edible = s.mushrooms.edible[i];
    const bool eats = agent.eats(i);
    agent.learn(i, eats, !eats ? 0 : edible || lucky ? pleasure : poisoning);
    const double cost = edible ? (eats ? 0 : regret_of_leaving) : (eats ? regret_of_poison : 0);
    regret += cost;
    curve[static_cast<std::size_t>(seen * marks / s.length)] = regret;
    if (seen < s.length / 10) early += eats;
    if (seen >= s.length - s.length / 5) {
        late_regret += cost;
        ++offered[edible];
        eaten[edible] += eats;
    }
    ++seen;
}

Tensor<double> Life::counts() const {
    std::vector<double> all{
        static_cast<double>(seen), regret, late_regret, early, offered[0], offered[1], eaten[0], eaten[1]};
    all.insert(all.end(), curve.begin(), curve.end());
    Tensor<double> counts = Tensor<double>::empty({std::ssize(all)});
    std::ranges::copy(all, counts.mutable_data());
    return counts;
}

void Life::restore(const Tensor<double>& counts, const std::vector<Tensor<float>>& state) {
    const double* x = counts.data();
    seen = static_cast<std::int64_t>(x[0]);
    regret = x[1];
    late_regret = x[2];
    early = x[3];
    offered = {x[4], x[5]};
    eaten = {x[6], x[7]};
    std::copy_n(x + 8, marks, curve.begin());
    agent.restore(state, seen);
}

using Runs = std::vector<std::unique_ptr<Life>>;

// The file has the counts of each run and, until all are at their end, the state of its agent.
void save(const std::string& file, const Runs& runs, bool finished) {
    NpzArrays arrays;
    for (std::size_t r = 0; r < runs.size(); ++r) {
        const std::string name = std::to_string(r);
        arrays.emplace_back(name, runs[r]->counts());
        if (finished) continue;
        const std::vector<Tensor<float>> state = runs[r]->agent.state();
        for (std::size_t k = 0; k < state.size(); ++k) arrays.emplace_back(name + "_" + std::to_string(k), state[k]);
    }
    write_npz(file, arrays);
}

// Returns whether there was a file.
bool load(const std::string& file, Runs& runs) {
    if (!std::filesystem::exists(file)) return false;
    const Npz npz = Npz::read(file);
    for (std::size_t r = 0; r < runs.size(); ++r) {
        const std::string name = std::to_string(r);
        std::vector<Tensor<float>> state;
        for (std::size_t k = 0; std::ranges::count(npz.names(), name + "_" + std::to_string(k)); ++k)
            state.push_back(npz.get<float>(name + "_" + std::to_string(k)));
        if (state.empty()) state = runs[r]->agent.state();  // the run is at its end
        runs[r]->restore(npz.get<double>(name), state);
    }
    return true;
}

Lives lives_of(const std::string& name, const Runs& runs) {
    const std::int64_t n = std::ssize(runs);
    Lives lives{name, Tensor<double>::empty({n, marks}), Tensor<double>::empty({n}), Tensor<double>::empty({n, 3})};
    for (std::int64_t r = 0; r < n; ++r) {
        const Life& life = *runs[static_cast<std::size_t>(r)];
        std::ranges::copy(life.curve, lives.regret.mutable_data() + r * marks);
        const auto share = [&](std::size_t edible) { return life.eaten[edible] / std::max(1.0, life.offered[edible]); };
        lives.early.mutable_at(r) = life.early / static_cast<double>(life.s.length / 10);
        std::ranges::copy(std::array{share(1), share(0), life.late_regret / static_cast<double>(life.s.length / 5)},
                          lives.late.mutable_data() + r * 3);
    }
    return lives;
}

}  // namespace

std::vector<double> Lives::at(std::int64_t mark) const {
    std::vector<double> values;
    for (std::int64_t r = 0; r < regret.shape()[0]; ++r) values.push_back(regret(r, mark));
    return values;
}

std::vector<double> Lives::of_late(std::int64_t k, double factor) const {
    std::vector<double> values;
    for (std::int64_t r = 0; r < late.shape()[0]; ++r) values.push_back(factor * late(r, k));
    return values;
}

Lives live_all(const Example& example, const Setting& s, const Mind& mind) {
    std::string file_name = mind.name;
    std::ranges::replace_if(
        file_name, [](unsigned char c) { return !std::isalnum(c); }, '_');
    const std::string file = (example.kept("lives") / (file_name + ".npz")).string();
    Runs runs;
    for (std::int64_t r = 0; r < s.runs; ++r)
        runs.push_back(std::make_unique<Life>(mind, s, s.first_seed + static_cast<std::uint64_t>(r)));
    const bool again = load(file, runs);
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t first = runs[0]->seen;
    while (runs[0]->seen < s.length) {
        const std::int64_t end = std::min(s.length, runs[0]->seen + piece);
        parallel_for(s.runs, 1, [&](std::int64_t begin, std::int64_t stop) {
            for (std::int64_t r = begin; r < stop; ++r)
                for (Life& life = *runs[static_cast<std::size_t>(r)]; life.seen < end;) {
                    stop_if_asked();
                    life.one_more();
                }
        });
        save(file, runs, end == s.length);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (first == s.length)
        std::printf("%-40s from an earlier run\n", mind.name.c_str());
    else
        std::printf("%-40s %.1f s%s\n", mind.name.c_str(), seconds.count(), again ? ", and an earlier run" : "");
    return lives_of(mind.name, runs);
}
