#include <pollen/nn/potentials/network_potential.hpp>

#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/random.hpp>
#include <pollen/autograd/streams.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <array>
#include <cmath>

namespace pollen {

namespace {

using Int = std::int64_t;

}  // namespace

template <Real T>
NetworkPotential<T>::NetworkPotential(const Module<T>& net, const Likelihood<T>& likelihood, const Dataset<T>& data,
                                      NetworkPotentialOptions options)
    : net_(net.clone()),
      likelihood_(likelihood.clone()),
      data_(data),
      options_(std::move(options)),
      parameters_(parameters_of<T>(*net_, *likelihood_)) {
    data_.check();
    if (data_.size() == 0) throw ShapeError("NetworkPotential: the data set is empty");
    check_sizes("NetworkPotential", {{"piece", options_.piece}});
    if (parameters_.size() == 0) throw ValueError("NetworkPotential: the network has no parameters");
    priors_ = priors_of<T>("NetworkPotential", *net_, *likelihood_, options_.prior);
    if (const auto weights = bayesian_weights(*net_); !weights.empty())
        throw ValueError("NetworkPotential: " + weights[0].name +
                         " has a variational posterior; samplers need the network itself, or mean_network()");
    for (const auto& [name, parameter, offset] : parameters_.entries())
        blocks_.push_back({name, parameter->shape, offset});
}

template <Real T>
NetworkPotential<T>::NetworkPotential(const NetworkPotential& other)
    : NetworkPotential(*other.net_, *other.likelihood_, other.data_, other.options_) {
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
        for (Int first = 0; first < data_.size(); first += options_.piece) {
            const Int count = std::min(options_.piece, data_.size() - first);
            energy.likelihood += likelihood(theta, gradient, data_.view(first, count), 1);
        }
        return energy;
    });
}

template <Real T>
Energy NetworkPotential<T>::evaluate(std::span<const T> theta, std::span<T> gradient, std::span<const Int> batch) {
    check(theta, gradient);
    if (batch.empty()) throw ValueError("NetworkPotential: the batch is empty");
    return this->unless_refused(gradient, [&] {
        Energy energy{.prior = prior(theta, gradient)};
        energy.likelihood = likelihood(theta, gradient, data_.take(batch),
                                       static_cast<double>(data_.size()) / static_cast<double>(batch.size()));
        return energy;
    });
}

// -log p(theta); writes its gradient.
template <Real T>
double NetworkPotential<T>::prior(std::span<const T> theta, std::span<T> gradient) const {
    constexpr Int block = 1024, grain = kernels::map_grain;
    double energy = 0;
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
        const Prior& law = priors_[k];
        const Int n = blocks_[k].shape.size();
        const T* w = theta.data() + blocks_[k].offset;
        T* g = gradient.empty() ? nullptr : gradient.data() + blocks_[k].offset;
        std::vector<double> sums(static_cast<std::size_t>((n + grain - 1) / grain));
        parallel_for(n, grain, [&](Int begin, Int end) {
            double& sum = sums[static_cast<std::size_t>(begin / grain)];
            for (Int i = begin; i < end; i += block) {
                const Int count = std::min(block, end - i);
                sum += g ? law.descent(w + i, count, g + i) : law.log_prob(w + i, count);
            }
        });
        for (const double sum : sums) energy -= sum;
    }
    return energy;
}

// -scale log p(batch | theta); adds its gradient, straight from the last op of the backward pass.
template <Real T>
double NetworkPotential<T>::likelihood(std::span<const T> theta, std::span<T> gradient, const Dataset<T>& batch,
                                       double scale) {
    tape_.clear();
    pass_.restart({}, theta);
    const Var<T> log_prob = likelihood_->log_prob(pass_, (*net_)(pass_, tape_.borrow(batch.inputs)), batch);
    const double energy = -scale * static_cast<double>(log_prob.item());
    if (gradient.empty() || !log_prob.needs_grad()) return energy;
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
        const auto n = static_cast<std::size_t>(blocks_[k].shape.size());
        tape_.accumulate_into(pass_.leaves()[k], gradient.subspan(static_cast<std::size_t>(blocks_[k].offset), n));
    }
    tape_.backward(log_prob, static_cast<T>(-scale));
    return energy;
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
std::string NetworkPotential<T>::describe() const {
    std::string text = "network of";
    for (const Quantity& q : blocks_) text += " " + q.name + to_string(q.shape);
    return text + ", " + likelihood_->describe() + ", prior " + options_.prior.describe() + own_priors<T>(*net_) +
           ", " + std::to_string(data_.size()) + " items";
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
