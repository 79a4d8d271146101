#include <pollen/nn/potentials/network_potential.hpp>

#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/random.hpp>
#include <pollen/autograd/rows.hpp>
#include <pollen/autograd/streams.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/io/detail/hash_text.hpp>
#include <pollen/nn/likelihoods/detail/name_item.hpp>
#include <pollen/nn/module/detail/fitting_rows.hpp>
#include <pollen/nn/module/walk.hpp>
#include <pollen/nn/potentials/detail/block_sums.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>

namespace pollen {

namespace {

using Int = std::int64_t;

// What a pass through the network makes of one item, at a theta of zeros: how many numbers it writes, and the shape of
// the outputs. Nothing where the network throws at zeros.
struct OneItem {
    Int numbers = 0;
    Shape outputs;
};

template <Real T>
std::optional<OneItem> evaluate_one_item(const Module<T>& net, const Parameters<T>& parameters, const Shape& inputs) {
    try {
        Tape<T> tape(Recording::off);
        const std::vector<T> theta(static_cast<std::size_t>(parameters.size()));
        Pass<T> pass(tape, parameters, {}, theta);
        const std::uint32_t first = tape.state().size();
        OneItem one{.outputs = net(pass, tape.constant(Tensor<T>::zeros(with_rows(inputs, 1)))).shape()};
        one.numbers = detail::numbers_since(tape, first);
        return one;
    } catch (const std::exception&) {
        return {};
    }
}

}  // namespace

template <Real T>
struct NetworkPotential<T>::Worker {
    Tape<T> tape;
    Pass<T> pass;
    explicit Worker(const Parameters<T>& parameters) : pass(tape, parameters) {}
};

template <Real T>
struct NetworkPotential<T>::Sums : BlockSums<T, Worker> {};

template <Real T>
NetworkPotential<T>::NetworkPotential(const Module<T>& net, const Likelihood<T>& likelihood, const Dataset<T>& data,
                                      NetworkPotentialOptions options) try
    : NetworkPotential(net, likelihood, data, options, Cut{0, options.piece}) {
    const std::optional<OneItem> one = evaluate_one_item(*net_, parameters_, data_.inputs.shape());
    if (!one) return;
    if (parameters_.size() <= ItemBlocks::most_parameters) cut_.numbers_per_item = one->numbers;
    cut_.most =
        std::clamp<Int>(detail::most_output_bytes / Int{sizeof(T)} / std::max<Int>(1, one->numbers), 1, options_.piece);
    if (one->outputs.rank() == 0) return;
    try {
        likelihood_->check_data(with_rows(one->outputs, data_.size()), data_);
    } catch (const ValueError& error) {
        if (options_.first_item == 0) throw;
        throw ValueError("counted from item " + std::to_string(options_.first_item) +
                         " of the data set on: " + error.what());
    }
} catch (const Error&) {
    throw;
} catch (...) {
    detail::throw_error_at("NetworkPotential");
}

template <Real T>
NetworkPotential<T>::NetworkPotential(const Module<T>& net, const Likelihood<T>& likelihood, const Dataset<T>& data,
                                      NetworkPotentialOptions options, Cut cut)
    : net_(net.clone()),
      likelihood_(likelihood.clone()),
      data_(data),
      options_(std::move(options)),
      parameters_(parameters_of<T>(*net_, *likelihood_)),
      cut_(cut) {
    data_.check();
    if (data_.size() == 0) throw ShapeError("NetworkPotential: the data set is empty");
    check_sizes("NetworkPotential", {{"piece", options_.piece}});
    if (options_.first_item < 0)
        throw ValueError("NetworkPotential: first_item is " + std::to_string(options_.first_item) +
                         "; it must not be negative");
    data_.check_finite("NetworkPotential", options_.first_item);
    if (parameters_.size() == 0) throw ValueError("NetworkPotential: the network has no parameters");
    priors_ = priors_of<T>("NetworkPotential", *net_, *likelihood_, options_.prior);
    if (const auto weights = bayesian_weights(*net_); !weights.empty())
        throw ValueError("NetworkPotential: " + weights[0].name +
                         " has a variational posterior; samplers need the network itself, or mean_network()");
    parameters_.check_no_statistics("NetworkPotential");
    for (const auto& [name, parameter, offset] : parameters_.entries())
        blocks_.push_back({name, parameter->shape, offset});
    sums_ = std::make_unique<Sums>();
}

template <Real T>
NetworkPotential<T>::~NetworkPotential() = default;

template <Real T>
NetworkPotential<T>::NetworkPotential(const NetworkPotential& other)
    : NetworkPotential(*other.net_, *other.likelihood_, other.data_, other.options_, other.cut_) {
    priors_ = other.priors_;
    this->set_temperature(other.temperature());
}

template <Real T>
std::unique_ptr<Potential<T>> NetworkPotential<T>::clone() const {
    return std::unique_ptr<Potential<T>>(new NetworkPotential(*this));
}

template <Real T>
void NetworkPotential<T>::set_precision(std::size_t block, double precision) {
    if (block >= priors_.size())
        throw ValueError("NetworkPotential: there is no parameter block " + std::to_string(block) + "; there are " +
                         std::to_string(priors_.size()));
    if (!(precision > 0) || std::isinf(precision))
        throw ValueError("NetworkPotential: precision is " + to_text(precision) + "; it must be positive and finite");
    priors_[block] = GaussianPrior{.sd = 1 / std::sqrt(precision)};
}

template <Real T>
void NetworkPotential<T>::check(std::span<const T> theta, std::span<T> gradient) const {
    const auto need = [&](const char* what, std::size_t n) {
        if (static_cast<Int>(n) != size())
            throw ShapeError("NetworkPotential: " + std::string(what) + " has " + std::to_string(n) +
                             " numbers; the network has " + std::to_string(size()) + " parameters");
    };
    need("theta", theta.size());
    if (!gradient.empty()) need("the gradient", gradient.size());
}

template <Real T>
Energy NetworkPotential<T>::evaluate(std::span<const T> theta, std::span<T> gradient) {
    check(theta, gradient);
    return this->unless_refused(gradient, [&] {
        Energy energy{.prior = prior(theta, gradient)};
        energy.likelihood = name_item(theta, [&] { return sum(theta, gradient, data_, 1, cut_.most); });
        return energy;
    });
}

template <Real T>
Energy NetworkPotential<T>::evaluate(std::span<const T> theta, std::span<T> gradient, std::span<const Int> batch) {
    check(theta, gradient);
    if (batch.empty()) throw ValueError("NetworkPotential: the batch is empty");
    return this->unless_refused(gradient, [&] {
        Energy energy{.prior = prior(theta, gradient)};
        const Dataset<T> items = data_.take(batch);
        const double scale = static_cast<double>(data_.size()) / static_cast<double>(batch.size());
        energy.likelihood = name_item(theta, [&] { return sum(theta, gradient, items, scale, std::ssize(batch)); });
        return energy;
    });
}

// What f() returns, or a message with the number of the item that is refused.
template <Real T>
template <class F>
double NetworkPotential<T>::name_item(std::span<const T> theta, const F& f) const {
    return detail::name_item<T>(*net_, *likelihood_, parameters_, theta, data_, f, options_.first_item);
}

template <Real T>
double NetworkPotential<T>::prior(std::span<const T> theta, std::span<T> gradient) {
    check(theta, gradient);
    constexpr Int block = 1024, grain = kernels::map_grain;
    double energy = 0;
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
        const Prior& law = priors_[k];
        const Int n = blocks_[k].shape.size();
        const T* w = theta.data() + blocks_[k].offset;
        T* g = gradient.empty() ? nullptr : gradient.data() + blocks_[k].offset;
        const auto part = [&](Int begin, Int end) {
            double sum = 0;
            for (Int i = begin; i < end; i += block) {
                const Int count = std::min(block, end - i);
                sum += g ? law.descent(w + i, count, g + i) : law.log_prob(w + i, count);
            }
            return sum;
        };
        if (n <= grain) {
            energy -= part(0, n);
            continue;
        }
        std::vector<double> sums(static_cast<std::size_t>((n + grain - 1) / grain));
        parallel_for(n, grain,
                     [&](Int begin, Int end) { sums[static_cast<std::size_t>(begin / grain)] = part(begin, end); });
        for (const double sum : sums) energy -= sum;
    }
    return energy;
}

// -scale log p(items | theta); adds its gradient to `to`, straight from the last op of the backward pass.
template <Real T>
double NetworkPotential<T>::block(Pass<T>& pass, std::span<const T> theta, const Dataset<T>& items, double scale,
                                  std::span<T> to) const {
    Tape<T>& tape = pass.tape();
    tape.clear();
    pass.restart({}, theta);
    const Var<T> outputs = (*net_)(pass, tape.borrow(items.inputs));
    const Var<T> log_prob = likelihood_->log_prob(pass, outputs, items);
    const double energy = -scale * static_cast<double>(log_prob.item());
    if (to.empty() || !log_prob.needs_grad()) return energy;
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
        const auto n = static_cast<std::size_t>(blocks_[k].shape.size());
        tape.accumulate_into(pass.leaves()[k], to.subspan(static_cast<std::size_t>(blocks_[k].offset), n));
    }
    tape.backward(log_prob, static_cast<T>(-scale));
    return energy;
}

// The same for a data set, at most `most` items at a time.
template <Real T>
double NetworkPotential<T>::sum(std::span<const T> theta, std::span<T> gradient, const Dataset<T>& data, double scale,
                                Int most) {
    const ItemBlocks cut = ItemBlocks::cut(data.size(), size(), {.per_item = cut_.numbers_per_item}, most);
    return sums_->add(
        cut, gradient, [&] { return std::make_unique<Worker>(parameters_); },
        [&](Worker& worker, const Items& items, std::span<T> to) {
            return block(worker.pass, theta, data.view(items.begin, items.size()), scale, to);
        });
}

// Items that follow each other are not copied.
template <Real T>
double NetworkPotential<T>::likelihood(std::span<const T> theta, std::span<const Int> items, double scale,
                                       std::span<T> to) {
    check(theta, to);
    if (items.empty()) return 0;
    const Dataset<T> data = are_a_run(items) ? data_.view(items.front(), std::ssize(items)) : data_.take(items);
    const ItemBlocks cut = ItemBlocks::one_leaf(data.size(), size(), {.per_item = cut_.numbers_per_item}, cut_.most);
    const auto worker = sums_->borrow([&] { return std::make_unique<Worker>(parameters_); });
    return name_item(theta, [&] {
        double energy = 0;
        cut.each_block(0, [&](const Items& part) {
            energy += block((*worker).pass, theta, data.view(part.begin, part.size()), scale, to);
        });
        return energy;
    });
}

template <Real T>
bool NetworkPotential<T>::large() const {
    return cut_.numbers_per_item == 0;
}

template <Real T>
void NetworkPotential<T>::values(std::span<const T> theta, std::span<double> out) {
    check(theta, {});
    if (out.size() != theta.size())
        throw ShapeError("NetworkPotential: room for " + std::to_string(out.size()) + " values; a draw has " +
                         std::to_string(theta.size()));
    std::transform(theta.begin(), theta.end(), out.begin(), [](T x) { return static_cast<double>(x); });
}

template <Real T>
std::string NetworkPotential<T>::law() const {
    std::string text = "network of";
    for (const Quantity& q : blocks_) text += " " + q.name + to_string(q.shape);
    return text + ", " + likelihood_->describe() + ", prior " + options_.prior.describe() + own_priors<T>(*net_);
}

template <Real T>
std::string NetworkPotential<T>::describe() const {
    return law() + ", " + std::to_string(data_.size()) + " items";
}

template <Real T>
std::string NetworkPotential<T>::agreement() const {
    return architecture(*net_) + ", " + std::to_string(cut_.most) + " items at once, " +
           std::to_string(cut_.numbers_per_item) + " numbers for one";
}

template <Real T>
std::vector<std::pair<std::string, std::string>> NetworkPotential<T>::facts() const {
    using detail::hash_text;
    return {{"network", architecture(*net_)},
            {"data", "inputs " + hash_text(data_.inputs) + ", targets " + hash_text(data_.targets) + ", labels " +
                         hash_text(data_.labels)}};
}

template <Real T>
std::vector<T> NetworkPotential<T>::start() const {
    const Tensor<T> theta = parameters_.flatten();
    return {theta.begin(), theta.end()};
}

template <Real T>
std::vector<T> NetworkPotential<T>::start(std::uint64_t seed) const {
    NetworkPotential fresh(*this);
    initialise<T>(*fresh.net_, *fresh.likelihood_, seed, Which::all);
    return fresh.start();
}

template <Real T>
std::vector<T> NetworkPotential<T>::start(std::uint64_t seed, std::uint32_t chain) const {
    const RandomKey key{seed, stream_of(Purpose::starts, chain)};
    return start(std::uint64_t{bits_at(key, 0)} << 32 | bits_at(key, 1));
}

template class NetworkPotential<float>;
template class NetworkPotential<double>;

}  // namespace pollen
