#include "agent.hpp"

#include <algorithm>

using namespace pollen;

namespace {

constexpr double unit = 10;                                    // points: rewards are learned in it
enum Stream : std::uint32_t { chance = 2, chosen_items = 3 };  // of an agent's seed

}  // namespace

Agent::Agent(const Mind& mind, const Mushrooms& mushrooms, std::int64_t updates, std::uint64_t seed)
    : mind_(mind),
      mushrooms_(mushrooms),
      net_(mind.net),
      width_(mushrooms.width() + 2),
      updates_(updates),
      seed_(seed),
      buffer_{Tensor<float>::zeros({buffer_size, width_}), Tensor<float>::zeros({buffer_size, 1})},
      likelihood_(Gaussian<float>::known(mind.noise_sd / unit)) {
    initialise(net_, seed);
    theta_ = parameters_.flatten();
    for (int k = 0; k < optimiser_.memories(); ++k) memory_.push_back(Tensor<float>::zeros(theta_.shape()));
}

bool Agent::eats(std::size_t mushroom) {
    Random random(seed_, chance, static_cast<std::uint64_t>(seen_));
    if (random.uniform() < mind_.epsilon) return random.uniform() < 0.5;
    Tensor<float> both = Tensor<float>::zeros({2, width_});
    write(both.mutable_data(), mushroom, true);
    write(both.mutable_data() + width_, mushroom, false);
    float gain = 0;
    for (int k = 0; k < mind_.draws; ++k) {
        const Tensor<float> reward = predict<float>(
            prediction_tape_, net_, parameters_, theta_.values(), both,
            {.mode = Mode::sample, .seed = seed_, .draw = static_cast<std::uint64_t>(seen_ * mind_.draws + k)});
        gain += reward(0, 0) - reward(1, 0);
    }
    return gain > 0;
}

void Agent::learn(std::size_t mushroom, bool eaten, double reward) {
    keep(seen_ % buffer_size, mushroom, eaten, static_cast<float>((mind_.flipped ? -reward : reward) / unit));
    Random random(seed_, chosen_items, static_cast<std::uint64_t>(seen_));
    ++seen_;
    for (std::int64_t k = 0; k < updates_; ++k) update(random);
}

std::vector<Tensor<float>> Agent::state() const {
    std::vector<Tensor<float>> all{theta_, happened_};
    all.insert(all.end(), memory_.begin(), memory_.end());
    return all;
}

void Agent::restore(const std::vector<Tensor<float>>& state, std::int64_t seen) {
    std::ranges::copy(state[0], theta_.mutable_data());
    for (std::size_t k = 0; k < memory_.size(); ++k) std::ranges::copy(state[2 + k], memory_[k].mutable_data());
    for (std::int64_t row = 0; row < std::min(seen, buffer_size); ++row)
        keep(row, static_cast<std::size_t>(state[1](row, 0)), state[1](row, 1) > 0, state[1](row, 2));
    seen_ = seen;
    step_ = seen * updates_;
}

// The attributes, and what is done about them.
void Agent::write(float* row, std::size_t mushroom, bool eat) const {
    std::ranges::copy(mushrooms_.features[mushroom], row);
    row[width_ - 2] = eat ? 1 : 0;
    row[width_ - 1] = eat ? 0 : 1;
}

void Agent::keep(std::int64_t row, std::size_t mushroom, bool eaten, float reward) {
    write(buffer_.inputs.mutable_data() + row * width_, mushroom, eaten);
    buffer_.targets.mutable_at(row, 0) = reward;
    std::ranges::copy(std::array{static_cast<float>(mushroom), eaten ? 1.0f : 0.0f, reward},
                      happened_.mutable_data() + 3 * row);
}

// A step of Adam on the sum of -log p(reward | w) over a batch and 1/64 of log q(w) - log p(w), as if an epoch had 64
// batches from the first mushroom on; divided by 64, the items of a batch. A network without random weights has no
// second term.
void Agent::update(Random& random) {
    const std::int64_t items = std::min(seen_, buffer_size);
    for (std::int64_t& item : chosen_) item = random.below(static_cast<std::uint64_t>(items));
    const Dataset<float> batch = buffer_.take(chosen_);
    tape_.clear();
    pass_.restart({.mode = Mode::train, .seed = seed_, .step = static_cast<std::uint64_t>(step_)}, theta_.values());
    const Var<float> log_prob = likelihood_.log_prob(pass_, net_(pass_, tape_.borrow(batch.inputs)), batch);
    Var<float> loss = log_prob * (-1.0 / batch_size);
    constexpr float share = 1.0f / buffer_size;
    for (const Var<float>& log_q_log_p : pass_.complexities())
        loss = loss + sum(log_q_log_p * Tensor<float>{share, -share});
    update_(loss, {.rate = mind_.rate, .step = step_++});
}
