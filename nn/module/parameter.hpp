#pragma once

#include <pollen/autograd/tape.hpp>
#include <pollen/nn/module/init.hpp>
#include <pollen/nn/priors/prior.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pollen {

template <Real T>
class Module;

// A tensor to be learned: its shape, how it starts, its prior if it has one of its own (set_prior), and its value,
// which is empty until initialise(), load() or a training run gave it one.
template <Real T>
struct Parameter {
    Shape shape;
    Init init = Init::constant(0);
    Fans fans = {};
    Tensor<T> value = {};
    std::optional<Prior> prior = {};
    // A running statistic of the data, of which each training step makes a new one (Pass::set_statistic). It is a part
    // of theta and of files, but it has no gradient and no prior: it is not learned.
    bool statistic = false;

    bool has_value() const { return value.shape() == shape; }
};

// Is shown the named parts of a tree: a Visitor may change them, a ConstVisitor may not.
template <class ParameterT, class ModuleT>
class BasicVisitor {
  public:
    using ParameterType = ParameterT;
    using ModuleType = ModuleT;
    virtual ~BasicVisitor() = default;
    virtual void parameter(const std::string& name, ParameterT& parameter) = 0;
    virtual void part(const std::string& name, ModuleT& module) = 0;
};
template <Real T>
using Visitor = BasicVisitor<Parameter<T>, Module<T>>;
template <Real T>
using ConstVisitor = BasicVisitor<const Parameter<T>, const Module<T>>;

// What has parameters: modules, likelihoods and posteriors. visit() shows them to a visitor under their names, always
// in the same order. Concrete writes both functions.
template <Real T>
class HasParameters {
  public:
    using Number = T;
    virtual ~HasParameters() = default;
    virtual void visit(Visitor<T>&) = 0;
    virtual void visit(ConstVisitor<T>&) const = 0;
};

// The parameters of a network, and of what else is learned along with it, in the order of the visit, and how they lie
// side by side in one vector theta. Refers to them: use it as long as they stay where they are.
template <Real T>
class Parameters {
  public:
    struct Entry {
        std::string name;  // "0.weight": the names on the way down, joined by dots
        const Parameter<T>* parameter;
        std::int64_t offset;  // of its first number in theta
    };

    explicit Parameters(const HasParameters<T>& tree) { add("", tree); }
    // Names of the parts begin with `prefix` and a dot, where it is not empty.
    void add(const std::string& prefix, const HasParameters<T>& tree);

    const std::vector<Entry>& entries() const& { return entries_; }
    const std::vector<Entry>& entries() const&& = delete;  // they would be gone before they are used
    std::size_t count() const { return entries_.size(); }  // how many tensors
    std::int64_t size() const { return size_; }            // how many numbers in all

    // The place of a parameter in entries(), or nothing if it is not there.
    std::optional<std::size_t> find(const Parameter<T>& parameter) const;

    // Throws a ValueError that names the first parameter without a value.
    void check_values() const;
    // Throws a ValueError that names the first running statistic, for what needs a sum over items.
    void check_no_statistics(const std::string& who) const;

    // theta, a copy of all values.
    Tensor<T> flatten() const;

  private:
    std::vector<Entry> entries_;
    std::vector<std::pair<const Parameter<T>*, std::size_t>> places_;  // sorted
    std::int64_t size_ = 0;
};

// Copies theta back into the parameters of a tree (of several: in the order in which Parameters was given them).
// Returns how many numbers it used; throws where theta has too few.
template <Real T>
std::int64_t unflatten(HasParameters<T>& tree, std::span<const T> theta);

// Gives every parameter its first value, or only those that have none yet, from stream `first_stream`,
// `first_stream` + 1, ... of the seed's streams for initial values. Returns the next stream.
enum class Which { all, missing };
template <Real T>
std::uint32_t initialise(HasParameters<T>& tree, std::uint64_t seed, Which which = Which::all,
                         std::uint32_t first_stream = 0);

}  // namespace pollen
