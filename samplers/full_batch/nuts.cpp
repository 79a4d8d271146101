#include <pollen/samplers/full_batch/nuts.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/samplers/full_batch/detail/nuts_tree.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace pollen {

namespace {

constexpr const char* name = "Nuts";

// Why a trajectory is cut, or that it is not.
enum class Cut {
    none,
    u_turn,      // one of its trees begins to turn back
    divergence,  // the error of H is above max_error, or not finite
    max_depth    // it has 2^max_depth points
};

// The uniform random numbers of a step. They are drawn in blocks, which gives the same numbers as one by one.
class Uniforms {
  public:
    explicit Uniforms(Random& random) : random_(random) {}
    double operator()() {
        if (next_ == block_.size()) {
            random_.fill_uniform(block_);
            next_ = 0;
        }
        return block_[next_++];
    }

  private:
    Random& random_;
    std::array<double, 16> block_;
    std::size_t next_ = block_.size();
};

template <Real T>
class NutsChain final : public detail::HamiltonianChain<T> {
    using Tree = detail::Tree<T>;

  public:
    NutsChain(const Nuts& options, std::unique_ptr<Potential<T>> potential, ChainStart<T> start)
        : detail::HamiltonianChain<T>(name, std::move(potential), std::move(start), options.step_size,
                                      options.target_acceptance, options.warmup, options.metric,
                                      options.inverse_metric),
          options_(options) {
        for (detail::Phase<T>& end : ends_) end.resize(z_.position.size());
        whole_.resize(z_.position.size());
        proposal_.position.resize(z_.position.size());
        proposal_.gradient.resize(z_.position.size());
    }

    StepStatistics step() override;
    ChainFacts facts() const override {
        ChainFacts facts = detail::HamiltonianChain<T>::facts();
        facts.max_tree_depth = options_.max_depth;
        return facts;
    }

  private:
    // What is known of a trajectory so far. Its proposal is in proposal_ once one of its points was taken.
    struct Progress {
        Energy energy;       // where it began
        double kinetic = 0;  // where it began
        double sum_acceptance = 0;
        bool moved = false;
        StepStatistics statistics;
    };

    void begin_tree(Random& random, Progress& progress);
    Cut double_tree(Uniforms& uniform, Progress& progress);
    Cut grow(std::int64_t depth, bool forward, Uniforms& uniform, Progress& progress);
    Cut add_leaf(detail::Phase<T>& z, double step_size, Tree& leaf, Progress& progress);
    Cut merge(Tree& a, Tree& b, Uniforms& uniform);
    Cut join(bool forward);
    Tree& tree(std::size_t k);

    using detail::HamiltonianChain<T>::z_;
    using detail::HamiltonianChain<T>::metric_;

    Nuts options_;
    // Room to work in: the next step depends on none of what follows.
    std::array<detail::Phase<T>, 2> ends_;  // the ends at which the trajectory grows: backward, forward
    Tree whole_;                            // first is its backward end, last its forward end
    detail::Proposal<T> proposal_;          // the present position stays as it is until the step is complete
    std::vector<Tree> trees_;               // a stack of trees that wait for their other half, the newest leaf on top
};

template <Real T>
detail::Tree<T>& NutsChain<T>::tree(std::size_t k) {
    if (k == trees_.size()) trees_.emplace_back().resize(z_.position.size());
    return trees_[k];
}

// The tree of one point: the present position with a fresh momentum.
template <Real T>
void NutsChain<T>::begin_tree(Random& random, Progress& progress) {
    metric_.draw_momentum(random, z_.momentum);
    metric_.velocity(z_.momentum.data(), z_.velocity.data());
    z_.kinetic = metric_.kinetic(z_.momentum.data(), z_.velocity.data());
    for (detail::Phase<T>& end : ends_) {
        end.position = z_.position;
        end.gradient = z_.gradient;
        end.momentum = z_.momentum;
    }
    whole_.leaf = false;
    whole_.first.momentum = whole_.last.momentum = whole_.sum = z_.momentum;
    whole_.first.velocity = whole_.last.velocity = z_.velocity;
    whole_.log_weight = 0;
    progress.energy = z_.energy;
    progress.kinetic = z_.kinetic;
}

// Makes one leapfrog step from z; the new point becomes the tree `leaf`.
template <Real T>
Cut NutsChain<T>::add_leaf(detail::Phase<T>& z, double step_size, Tree& leaf, Progress& progress) {
    this->check_stop();
    this->leapfrog(step_size, z);
    ++progress.statistics.gradients;
    const double error = energy_difference(z.energy, progress.energy) * this->beta() + (z.kinetic - progress.kinetic);
    const bool invalid = !std::isfinite(error);
    if (invalid) progress.statistics.invalid = true;
    if (invalid || error > options_.max_error) progress.statistics.divergent = true;
    progress.sum_acceptance += invalid ? 0 : acceptance_probability(error);
    leaf.leaf = true;
    leaf.log_weight = -error;
    leaf.first.momentum = z.momentum;
    std::swap(leaf.first.velocity, z.velocity);  // the next step makes its own
    leaf.proposal.position = z.position;
    leaf.proposal.gradient = z.gradient;
    leaf.proposal.energy = z.energy;
    leaf.proposal.kinetic = z.kinetic;
    return progress.statistics.divergent ? Cut::divergence : Cut::none;
}

// Adds b to the end of a. The proposal becomes that of b with probability weight(b) / weight(a and b).
template <Real T>
Cut NutsChain<T>::merge(Tree& a, Tree& b, Uniforms& uniform) {
    const double log_weight = detail::log_sum_exp(a.log_weight, b.log_weight);
    if (uniform() < math::exp(b.log_weight - log_weight)) std::swap(a.proposal, b.proposal);
    a.log_weight = log_weight;
    const bool turns = detail::turns_back(a, b, a.sum.data());
    std::swap(a.last, b.leaf ? b.first : b.last);
    a.leaf = false;
    return turns ? Cut::u_turn : Cut::none;
}

// Grows a tree of 2^depth points at one end of the trajectory; it becomes trees_[0]. Each new point goes on top of the
// stack trees_, and the two trees on top become one for as long as they have the same size. It is cut if a point
// diverges, or if one of its subtrees turns back.
template <Real T>
Cut NutsChain<T>::grow(std::int64_t depth, bool forward, Uniforms& uniform, Progress& progress) {
    detail::Phase<T>& z = ends_[forward ? 1 : 0];
    const double step_size = forward ? this->step_size_ : -this->step_size_;
    std::size_t top = 0;
    for (std::uint64_t leaf = 0; leaf < std::uint64_t(1) << depth; ++leaf) {
        if (const Cut cut = add_leaf(z, step_size, tree(top), progress); cut != Cut::none) return cut;
        for (std::uint64_t rest = leaf; rest & 1; rest >>= 1, --top)
            if (const Cut cut = merge(trees_[top - 1], trees_[top], uniform); cut != Cut::none) return cut;
        ++top;
    }
    return Cut::none;
}

// Adds trees_[0] to one end of the whole trajectory. At the backward end the new tree runs backward in time, so the
// whole is turned round for the while; the criterion of a U-turn is the same in both directions.
template <Real T>
Cut NutsChain<T>::join(bool forward) {
    Tree& added = trees_[0];
    if (!forward) std::swap(whole_.first, whole_.last);
    const bool turns = detail::turns_back(whole_, added, whole_.sum.data());
    std::swap(whole_.last, added.leaf ? added.first : added.last);
    if (!forward) std::swap(whole_.first, whole_.last);
    return turns ? Cut::u_turn : Cut::none;
}

// Doubles the trajectory in a random direction. The new half takes over the proposal with probability
// min(1, its weight / that of the old half) (biased progressive sampling). A half that is cut adds nothing.
template <Real T>
Cut NutsChain<T>::double_tree(Uniforms& uniform, Progress& progress) {
    std::int64_t& depth = progress.statistics.tree_depth;
    if (depth == options_.max_depth) return Cut::max_depth;
    const bool forward = uniform() > 0.5;
    if (const Cut cut = grow(depth, forward, uniform, progress); cut != Cut::none) return cut;
    ++depth;
    Tree& added = trees_[0];
    if (added.log_weight > whole_.log_weight || uniform() < math::exp(added.log_weight - whole_.log_weight)) {
        std::swap(proposal_, added.proposal);
        progress.moved = true;
    }
    whole_.log_weight = detail::log_sum_exp(whole_.log_weight, added.log_weight);
    return join(forward);
}

template <Real T>
StepStatistics NutsChain<T>::step() {
    Random random = this->random();
    this->prepare(random);
    Progress progress;
    StepStatistics& s = progress.statistics;
    s.step_size = this->step_size_;
    begin_tree(random, progress);
    Uniforms uniform(random);
    while (double_tree(uniform, progress) == Cut::none) {
    }
    if (progress.moved) {
        std::swap(z_.position, proposal_.position);
        std::swap(z_.gradient, proposal_.gradient);
        z_.energy = proposal_.energy;
        z_.kinetic = proposal_.kinetic;
    }
    s.acceptance = progress.sum_acceptance / static_cast<double>(s.gradients);
    s.energy = z_.energy.total() * this->beta();
    s.hamiltonian = s.energy + z_.kinetic;
    this->adapt(random, s.acceptance);
    ++this->step_;
    return s;
}

}  // namespace

template <Real T>
std::unique_ptr<Chain<T>> Nuts::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    check_positive(name, "step_size", step_size);
    if (max_depth < 1 || max_depth > 30)
        throw ValueError(std::string(name) + ": max_depth is " + to_text(max_depth) + "; it must be from 1 to 30");
    check_fraction(name, "target_acceptance", target_acceptance);
    check_positive(name, "max_error", max_error);
    warmup.check(name, metric);
    return std::make_unique<NutsChain<T>>(*this, std::move(potential), std::move(start));
}

std::string Nuts::describe() const {
    return describe_options(name, {{"step_size", to_text(step_size)},
                                   {"max_depth", to_text(max_depth)},
                                   {"target_acceptance", to_text(target_acceptance)},
                                   {"max_error", to_text(max_error)},
                                   {"metric", to_string(metric)},
                                   {"inverse_metric", numbers_text(inverse_metric)},
                                   {"warmup", warmup.describe()}});
}

double Nuts::state_bytes(std::int64_t size, std::size_t number) const {
    // Four points of phase space, a proposal, and a tree of up to nine vectors for each doubling.
    return vector_bytes(18 + 9 * static_cast<double>(max_depth + 2), size, number) +
           detail::metric_bytes(metric, size, number, warmup.metric);
}

POLLEN_INSTANTIATE_SAMPLER(Nuts)

}  // namespace pollen
