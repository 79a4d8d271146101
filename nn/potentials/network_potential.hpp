#pragma once

#include <pollen/nn/likelihoods/likelihood.hpp>
#include <pollen/nn/module/module.hpp>
#include <pollen/nn/potentials/itemwise_potential.hpp>
#include <pollen/nn/priors/gaussian_prior.hpp>
#include <pollen/nn/priors/prior.hpp>

#include <vector>

namespace pollen {

struct NetworkPotentialOptions {
    // The default prior: it holds for every parameter that set_prior gave no prior.
    Prior prior = GaussianPrior{.sd = 1};
    // The most items that are evaluated at once in a sum over all data. There are fewer if the outputs of all layers
    // for them take more than 64 MB.
    std::int64_t piece = 1000;
    // Where the data are a part of a data set (SpreadPotential): the number of their first item, for messages.
    std::int64_t first_item = 0;
};

// The potential of a network's parameters: theta is the parameters of the network, then those of the likelihood, in the
// order of Parameters. Their priors are those of priors_of(), as in train(). The network and the likelihood are copied,
// the data are shared.
//
// The sum over the items is cut into blocks, which go through the network one by one. In a network of at most 65,536
// parameters threads share the blocks, each with a tape of its own, and layers and the likelihood are called by several
// threads at once. The sums of the blocks are added up in an order that depends on sizes alone
// (nn/potentials/detail/item_blocks.hpp), so the bits do not depend on the number of threads. Beside the gradient at
// most 4,194,304 numbers are kept for sums of blocks.
template <Real T>
class NetworkPotential final : public ItemwisePotential<T> {
  public:
    NetworkPotential(const Module<T>& net, const Likelihood<T>& likelihood, const Dataset<T>& data,
                     NetworkPotentialOptions options = {});
    ~NetworkPotential() override;

    std::unique_ptr<Potential<T>> clone() const override;
    std::int64_t size() const override { return parameters_.size(); }
    std::int64_t items() const override { return data_.size(); }
    Energy evaluate(std::span<const T> theta, std::span<T> gradient) override;
    Energy evaluate(std::span<const T> theta, std::span<T> gradient, std::span<const std::int64_t> batch) override;
    const std::vector<Quantity>& quantities() const override { return blocks_; }
    void values(std::span<const T> theta, std::span<double> out) override;
    const std::vector<Quantity>& blocks() const override { return blocks_; }
    std::string describe() const override;
    std::vector<std::pair<std::string, std::string>> facts() const override;
    bool of_network() const override { return true; }

    double prior(std::span<const T> theta, std::span<T> gradient) override;
    double likelihood(std::span<const T> theta, std::span<const std::int64_t> items, double scale,
                      std::span<T> to) override;
    bool large() const override;
    std::string law() const override;
    std::string agreement() const override;

    // theta at the network's own values, or at fresh ones from its initialisers; chains begin at the latter, each at
    // its own.
    std::vector<T> start() const;
    std::vector<T> start(std::uint64_t seed) const;
    std::vector<T> start(std::uint64_t seed, std::uint32_t chain) const override;

    const Module<T>& network() const { return *net_; }

    // The precision 1 / sd^2 of a normal prior of parameter block k, in place of the prior of the options: what a
    // Gibbs step sets.
    void set_precision(std::size_t block, double precision);

  private:
    // How items are cut: the numbers that a pass writes for one (0 in a large network, and if it is not known), and the
    // most items at once.
    struct Cut {
        std::int64_t numbers_per_item, most;
    };
    // Without a look at the data.
    NetworkPotential(const Module<T>& net, const Likelihood<T>& likelihood, const Dataset<T>& data,
                     NetworkPotentialOptions options, Cut cut);
    NetworkPotential(const NetworkPotential& other);
    double sum(std::span<const T> theta, std::span<T> gradient, const Dataset<T>& data, double scale,
               std::int64_t most);
    template <class F>
    double name_item(std::span<const T> theta, const F& f) const;
    double block(Pass<T>& pass, std::span<const T> theta, const Dataset<T>& items, double scale, std::span<T> to) const;
    void check(std::span<const T> theta, std::span<T> gradient) const;

    Part<T> net_;
    Owned<Likelihood<T>> likelihood_;
    Dataset<T> data_;
    NetworkPotentialOptions options_;
    Parameters<T> parameters_;
    std::vector<Prior> priors_;  // one a parameter tensor
    std::vector<Quantity> blocks_;
    Cut cut_;
    struct Worker;
    struct Sums;
    std::unique_ptr<Sums> sums_;
};

}  // namespace pollen
