#pragma once

#include <pollen/autograd/ops.hpp>
#include <pollen/nn/potentials/itemwise_potential.hpp>

#include <functional>
#include <memory>
#include <string_view>

namespace pollen {

// A log density as a function of named parameters. The function says what the parameters are and adds up the logs:
//
//     ModelPotential<double> schools([&](Model<double>& m) {
//         const auto mu = m.real("mu"), tau = m.positive("tau"), z = m.real("z", {8});
//         m.prior(normal_lpdf(mu, 0, 5));
//         m.prior(half_cauchy_lpdf(tau, 5));
//         m.prior(normal_lpdf(z, 0, 1));
//         m.likelihood(normal_lpdf(y, m.quantity("theta", mu + tau * z), sigma));
//     });
//
// It is called for every evaluation, once for each block of items. It must ask for the same parameters in the same
// order each time, and what it adds must not depend on earlier calls. Threads call copies of it at the same time, so it
// must not write to anything that these share. Data are Tensor<T>, with the model's T, and Indices; beside a Var they
// can be used in any op, and may be local to the function.
//
// Bounds are taken care of: a positive parameter is exp of a number without bounds, and the log of the Jacobian is part
// of the energy's prior. At a temperature T the density that is raised to 1/T is the one that is written here, in the
// coordinates of the parameters as they are written: the law is p(x)^(1/T) dx, and the Jacobian is not tempered.
//
// Where a distribution gets a parameter that it cannot have (a standard deviation that underflowed to 0), the density
// is 0: a DomainError means an infinite energy, any other exception goes through.
template <Real T>
class Model {
  public:
    Var<T> real(std::string_view name, const Shape& shape = {});
    Var<T> positive(std::string_view name, const Shape& shape = {});
    Var<T> above(std::string_view name, Number<T> low, const Shape& shape = {});
    Var<T> below(std::string_view name, Number<T> high, const Shape& shape = {});
    Var<T> between(std::string_view name, Number<T> low, Number<T> high, const Shape& shape = {});
    Var<T> ordered(std::string_view name, const Shape& shape);  // rising along the last axis
    Var<T> simplex(std::string_view name, const Shape& shape);  // positive, with sum 1 along the last axis

    // Adds to log p(theta), which does not depend on the batch, and to the sum of log p(x_i | theta) over the items of
    // batch(). All elements are summed.
    void prior(const Var<T>& log_density);
    void likelihood(const Var<T>& log_density);

    // Something computed from parameters that draws should hold, too. Returns it. Where it is declared before the
    // function asks for the batch, a draw costs one item; otherwise it may depend on the items, and takes all of them.
    Var<T> quantity(std::string_view name, const Var<T>& value);

    // The items whose likelihood is wanted: all of 0, ..., N - 1, or some of them.
    std::span<const std::int64_t> batch() {
        asked_ = true;
        return batch_;
    }
    // Their rows of x, which has N of them; all of x where the model has no items. Rows that follow each other share
    // the buffer of x.
    Tensor<T> rows(const Tensor<T>& x);
    Indices rows(const Indices& x);

    Tape<T>& tape() { return tape_; }

  private:
    template <Real>
    friend class ModelPotential;

    Var<T> block(std::string_view name, const Shape& unconstrained);
    template <class Transform>
    Var<T> constrained(std::string_view name, const Shape& unconstrained, const Transform& transform);
    void keep(std::string_view name, const Var<T>& value);
    void check_name(const std::string& name) const;
    template <class X>
    X rows_of(const X& x);
    template <class X>
    X taken_rows(const X& x) const;
    void restart(std::span<const std::int64_t> batch);
    void declare_as(const Model& other);

    struct Prior {
        Var<T> log_density;
        bool jacobian = false;
    };

    std::function<void(Model&)> function_;
    Tape<T> tape_;
    std::span<const T> theta_;
    std::span<const std::int64_t> batch_, all_items_;
    bool asked_ = false;  // for the batch
    std::vector<Var<T>> leaves_, likelihoods_;
    std::vector<Prior> priors_;
    std::vector<Var<T>> kept_;                       // values of a draw, where they are wanted
    std::vector<typename Tape<T>::Output> outputs_;  // terms of U with their weights
    // What the first call declared, and how far the present one has come.
    std::vector<Quantity> blocks_, quantities_;
    std::size_t next_block_ = 0, next_quantity_ = 0;
    bool declaring_ = true, keeping_ = false;
    bool quantities_of_items_ = false;  // some quantity may depend on the batch
    std::int64_t size_ = 0;             // numbers in theta
    std::int64_t taken_ = 0;            // numbers that rows() has returned
    std::uint64_t attempt_ = 0;         // at a theta for the first call; 0 is theta = 0
};

// The potential of a model.
//
// A sum over many items is cut into blocks, as that of a NetworkPotential is: the function is called for each block,
// each thread with a copy of it and a tape of its own, and the sums of the blocks are added up in an order that depends
// on sizes alone. The items of a batch are cut, too. A block is so large that the work that does not depend on its
// items is a small part of its work.
//
// The function gets all items at once if there is no such block, as in a model with a parameter for each item, and if
// the likelihood of some items is not the sum of the likelihoods of their parts. The constructor finds out which: it
// calls the function for all items, for the first four and for the last four, and for both halves of each.
//
// If the items are spread over ranks (SpreadPotential), `items` are those of this rank, and batch() has their numbers
// there, from 0 on. The function is then called for at most 1,000 items at a time.
template <Real T>
class ModelPotential final : public ItemwisePotential<T> {
  public:
    // `items` is N, for models that take batches: they ask for batch() or rows().
    explicit ModelPotential(std::function<void(Model<T>&)> function, std::int64_t items = 0);
    ~ModelPotential() override;
    ModelPotential(ModelPotential&&) noexcept;
    ModelPotential& operator=(ModelPotential&&) noexcept;

    std::unique_ptr<Potential<T>> clone() const override;
    std::int64_t size() const override { return model_.size_; }
    std::int64_t items() const override { return std::ssize(*all_items_); }
    Energy evaluate(std::span<const T> theta, std::span<T> gradient) override;
    Energy evaluate(std::span<const T> theta, std::span<T> gradient, std::span<const std::int64_t> batch) override;
    const std::vector<Quantity>& quantities() const override { return model_.quantities_; }
    void values(std::span<const T> theta, std::span<double> out) override;
    const std::vector<Quantity>& blocks() const override { return model_.blocks_; }
    std::string describe() const override;

    double prior(std::span<const T> theta, std::span<T> gradient) override;
    double likelihood(std::span<const T> theta, std::span<const std::int64_t> items, double scale,
                      std::span<T> to) override;
    bool large() const override;
    std::string agreement() const override;
    void check_itemwise() override;

  private:
    struct Sums;
    struct Trial;
    ModelPotential(const ModelPotential& other);
    void declare();
    void measure();
    std::unique_ptr<Model<T>> worker() const;
    void call(Model<T>& m, std::span<const T> theta, std::span<const std::int64_t> batch, bool keep) const;
    enum class Terms { all, prior, likelihood };
    Energy block(Model<T>& m, std::span<const T> theta, std::span<const std::int64_t> items, double scale, Terms terms,
                 std::span<T> to) const;

    std::shared_ptr<const std::vector<std::int64_t>> all_items_;  // clones share it
    Model<T> model_;
    std::unique_ptr<Sums> sums_;
};

}  // namespace pollen
