#include <pollen/nn/variational/bayes.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/variational/detail/draw_weights.hpp>

#include <algorithm>

namespace pollen {

namespace {

template <Real T>
const MeanField<T>& mean_field_of(const typename Bayes<T>::Weight& weight) {
    return dynamic_cast<const MeanField<T>&>(*weight.posterior);
}

template <Real T>
Var<T> random_signs(Pass<T>& pass, const Shape& shape) {
    Tensor<T> signs = pass.tape().state().empty(shape);
    T* s = signs.fresh_data();
    const LayerNoise noise = pass.noise(shape.size());
    fill_uniform(noise.key, noise.first, std::span<T>(s, static_cast<std::size_t>(shape.size())), T(-1), T(1));
    for (std::int64_t i = 0; i < shape.size(); ++i) s[i] = s[i] < 0 ? T(-1) : T(1);
    return pass.tape().constant(std::move(signs));
}

template <Real T>
Var<T> random_normals(Pass<T>& pass, const Shape& shape) {
    Tensor<T> z = pass.tape().state().empty(shape);
    const LayerNoise noise = pass.noise(shape.size());
    fill_normal(noise.key, noise.first, std::span<T>(z.fresh_data(), static_cast<std::size_t>(shape.size())));
    return pass.tape().constant(std::move(z));
}

}  // namespace

template <Real T>
Bayes<T>::Bayes(Part<T> module, BayesOptions<T> options) : module_(std::move(module)), options_(std::move(options)) {
    const Parameters<T> parameters(*module_);
    parameters.check_no_statistics("Bayes");
    if (parameters.count() == 0) throw ValueError("Bayes: " + module_->describe() + " has no parameters");
    if (!options_.posterior) throw ValueError("Bayes: the options have no posterior; mean_field<float>() makes one");
    for (const auto& [name, parameter, offset] : parameters.entries()) {
        std::unique_ptr<Posterior<T>> posterior = options_.posterior(*parameter);
        if (!posterior) throw ValueError("Bayes: the posterior made for " + name + " is null");
        Weight weight{name, std::move(posterior), parameter->prior.value_or(options_.prior).for_fans(parameter->fans)};
        if (weight.prior.hierarchical() && dynamic_cast<PointMass<T>*>(&*weight.posterior))
            throw ValueError("Bayes: a point mass under " + weight.prior.describe() +
                             " has no best place: the density grows without bound as tau and the weights go to 0");
        if (const auto& h = weight.prior.hierarchical()) {
            weight.log_tau = {.shape = {}, .init = Init::constant(math::log(h->scale))};
            if (parameter->has_value()) weight.log_tau.value = Tensor<T>::scalar(static_cast<T>(math::log(h->scale)));
        }
        if (options_.estimator != Estimator::weights && !dynamic_cast<MeanField<T>*>(&*weight.posterior))
            throw ValueError("Bayes: the estimators local and flipout need mean_field posteriors, not " +
                             weight.posterior->describe());
        // The prior is of the weights, not of mu, rho or tau.
        set_prior(*weight.posterior, FlatPrior{});
        weight.log_tau.prior = FlatPrior{};
        weights_.push_back(std::move(weight));
    }
    if (options_.estimator != Estimator::weights && !module_->linear_in_parameters())
        throw ValueError("Bayes: the estimators local and flipout are for Dense and convolutions, not for " +
                         module_->describe());
}

// The estimators local and flipout are for gradients; a sampled prediction is that of one network for all inputs.
template <Real T>
bool Bayes<T>::draws_outputs(const Pass<T>& pass) const {
    return pass.mode() == Mode::train && options_.estimator != Estimator::weights;
}

template <Real T>
Var<T> Bayes<T>::forward(Pass<T>& pass, Var<T> x) const {
    if (draws_outputs(pass))
        return options_.estimator == Estimator::local && x.rank() <= 2 ? local(pass, x) : flipout(pass, x);
    return at(weights_of(pass), pass, x);
}

template <Real T>
Fused<T> Bayes<T>::forward_fused(Pass<T>& pass, Var<T> x, std::span<const Part<T>> next) const {
    if (draws_outputs(pass)) return {forward(pass, x)};
    set(pass, weights_of(pass));
    return module_->forward_fused(pass, x, next);
}

// The weights are the values of the module's parameters from here on.
template <Real T>
void Bayes<T>::set(Pass<T>& pass, const std::vector<Var<T>>& weights) const {
    auto weight = weights.begin();
    each_parameter(*module_, [&](const std::string&, const Parameter<T>& p) { pass.set(p, *weight++); });
}

// The module's value with these weights for its parameters.
template <Real T>
Var<T> Bayes<T>::at(const std::vector<Var<T>>& weights, Pass<T>& pass, Var<T> x) const {
    set(pass, weights);
    return module_->forward(pass, x);
}

template <Real T>
std::vector<Var<T>> Bayes<T>::weights_of(Pass<T>& pass) const {
    if (const auto* drawn = pass.drawn_by(this)) return *drawn;
    std::vector<Var<T>> values;
    for (const Weight& weight : weights_)
        values.push_back(pass.random() ? draw(pass, weight) : weight.posterior->mean(pass));
    if (pass.random()) pass.keep_drawn(this, values);
    return values;
}

template <Real T>
std::string Bayes<T>::details() const {
    const char* estimators[] = {"weights", "local", "flipout"};
    std::string text = "Bayes " + module_->details();
    for (const Weight& weight : weights_) {
        text += ", " + weight.name + " ~ " + weight.prior.describe() + " " + weight.posterior->describe();
        each_parameter(*weight.posterior, [&](const std::string& name, const Parameter<T>& p) {
            text += " " + name + " " + p.init.describe();
        });
    }
    return text + ", " + estimators[static_cast<int>(options_.estimator)] +
           (options_.complexity == Complexity::closed ? ", closed" : ", sampled");
}

template <Real T>
void Bayes<T>::put_structure(TensorFile& file, const std::string& prefix) const {
    if (const auto* constants = dynamic_cast<const HasConstants*>(&*module_)) constants->put_structure(file, prefix);
}

template <Real T>
std::vector<std::string> Bayes<T>::get_structure(TensorFile& file, const std::string& prefix) {
    auto* constants = dynamic_cast<HasConstants*>(&*module_);
    return constants ? constants->get_structure(file, prefix) : std::vector<std::string>();
}

template <Real T>
std::unique_ptr<Module<T>> Bayes<T>::mean() const {
    Parameters<T>(*this).check_values();
    std::unique_ptr<Module<T>> module = module_->clone();
    Tensor<T> theta = Tensor<T>::empty(Shape{Parameters<T>(*module).size()});
    T* to = theta.fresh_data();
    for (const Weight& weight : weights_) {
        const Tensor<T> mean = weight.posterior->mean_value();
        to = std::copy(mean.begin(), mean.end(), to);
    }
    unflatten<T>(*module, theta.values());
    return module;
}

template <Real T>
Var<T> Bayes<T>::draw(Pass<T>& pass, const Weight& weight) const {
    if (options_.complexity == Complexity::closed && weight.prior.gaussian_sd()) {
        if (const auto* q = dynamic_cast<const MeanField<T>*>(&*weight.posterior)) {
            add_closed_complexity(pass, weight);
            return draw_weights<T>(pass(q->mu), pass(q->rho), nullptr, pass.weight_noise(), false).weights;
        }
    }
    if (const auto& hierarchical = weight.prior.hierarchical()) {
        // log p follows as nodes of its own.
        static const Prior none = FlatPrior{};
        const WeightDraw<T> drawn = weight.posterior->draw(pass, none, pass.weight_noise());
        const Var<T> log_p = hierarchical->log_prob(drawn.weights, pass(weight.log_tau));
        pass.add_complexity(concat({slice(drawn.log_q_log_p, 0, 0, 1), reshape(log_p, Shape{1})}));
        return drawn.weights;
    }
    const WeightDraw<T> drawn = weight.posterior->draw(pass, weight.prior, pass.weight_noise());
    pass.add_complexity(drawn.log_q_log_p);
    return drawn.weights;
}

template <Real T>
void Bayes<T>::add_closed_complexity(Pass<T>& pass, const Weight& weight) const {
    const MeanField<T>& q = mean_field_of<T>(weight);
    pass.add_complexity(
        expected_log_q_log_p(pass(q.mu), pass(q.rho), weight.prior.gaussian_sd().value_or(0), pass.complexity_value()));
}

template <Real T>
Var<T> Bayes<T>::local(Pass<T>& pass, Var<T> x) const {
    if (pass.drawn_by(this))
        throw ValueError("Bayes: " + module_->describe() +
                         " is used twice in one pass: its outputs share weights, which the estimator local cannot do; "
                         "flipout and weights can");
    pass.keep_drawn(this, {});
    std::vector<Var<T>> means, variances;
    for (const Weight& weight : weights_) {
        const MeanField<T>& q = mean_field_of<T>(weight);
        means.push_back(pass(q.mu));
        variances.push_back(square(softplus(pass(q.rho))));
        // No weights are drawn here: without a closed form a draw is made for the complexity alone.
        if (weight.prior.gaussian_sd())
            add_closed_complexity(pass, weight);
        else
            draw(pass, weight);
    }
    const Var<T> mean = at(means, pass, x);
    const Var<T> variance = at(variances, pass, square(x));
    // The small number keeps the slope of the root finite where an input is zero and there is no bias.
    const Var<T> sd = sqrt(variance + 1e-16);
    return mean + sd * random_normals(pass, mean.shape());
}

namespace {

// A sign for each item and feature: (n, d) of (n, d), (n, 1, d) of (n, t, d), and (n, c, 1, 1) of images (n, c, h, w).
template <Real T>
Shape sign_shape(const Module<T>& module, const Shape& x) {
    std::vector<std::int64_t> sizes(x.sizes().begin(), x.sizes().end());
    const auto features = static_cast<std::size_t>(module.feature_axis(x.rank()));
    for (std::size_t axis = 1; axis < sizes.size(); ++axis)
        if (axis != features) sizes[axis] = 1;
    return Shape(std::span<const std::int64_t>(sizes));
}

}  // namespace

template <Real T>
Var<T> Bayes<T>::flipout(Pass<T>& pass, Var<T> x) const {
    std::vector<Var<T>> means;
    for (const Weight& weight : weights_) means.push_back(pass(mean_field_of<T>(weight).mu));
    const Var<T> mean = at(means, pass, x);
    // What is drawn: sigma eps of every weight, and the two tensors of signs.
    std::vector<Var<T>> drawn;
    if (const auto* before = pass.drawn_by(this)) {
        drawn = *before;
    } else {
        for (std::size_t k = 0; k < weights_.size(); ++k) drawn.push_back(draw(pass, weights_[k]) - means[k]);
        drawn.push_back(random_signs(pass, sign_shape(*module_, x.shape())));
        drawn.push_back(random_signs(pass, sign_shape(*module_, mean.shape())));
        pass.keep_drawn(this, drawn);
    }
    const Var<T> out_signs = drawn.back(), in_signs = drawn[drawn.size() - 2];
    drawn.resize(weights_.size());
    return mean + at(drawn, pass, x * in_signs) * out_signs;
}

template <Real T>
Part<T> bayesian_twin(const Module<T>& net, const BayesOptions<T>& options) {
    return replaced<T>(net, [&](const Module<T>& layer, const std::string&) -> std::unique_ptr<Module<T>> {
        if (dynamic_cast<const Bayes<T>*>(&layer) || parameter_count<T>(layer) == 0) return nullptr;
        BayesOptions<T> own = options;
        if (!layer.linear_in_parameters()) own.estimator = Estimator::weights;
        return std::make_unique<Bayes<T>>(layer.clone(), own);
    });
}

template <Real T>
Part<T> mean_network(const Module<T>& net) {
    return replaced<T>(net, [](const Module<T>& layer, const std::string&) -> std::unique_ptr<Module<T>> {
        const auto* bayes = dynamic_cast<const Bayes<T>*>(&layer);
        return bayes ? bayes->mean() : nullptr;
    });
}

namespace {

template <class Layer, class M>
auto weights_below(M& net) {
    std::vector<NamedWeight<std::remove_reference_t<decltype(std::declval<Layer&>().weights()[0])>>> found;
    each_module(net, [&](const std::string& path, M& module) {
        auto* bayes = dynamic_cast<Layer*>(&module);
        if (bayes)
            for (auto& weight : bayes->weights()) found.push_back({joined(path, weight.name), &weight});
        return !bayes;
    });
    return found;
}

}  // namespace

template <Real T>
std::vector<NamedWeight<typename Bayes<T>::Weight>> bayesian_weights(Module<T>& net) {
    return weights_below<Bayes<T>>(net);
}
template <Real T>
std::vector<NamedWeight<const typename Bayes<T>::Weight>> bayesian_weights(const Module<T>& net) {
    return weights_below<const Bayes<T>>(net);
}

#define POLLEN_INSTANTIATE(T)                                                                  \
    template class Bayes<T>;                                                                   \
    template Part<T> bayesian_twin(const Module<T>&, const BayesOptions<T>&);                  \
    template Part<T> mean_network(const Module<T>&);                                           \
    template std::vector<NamedWeight<typename Bayes<T>::Weight>> bayesian_weights(Module<T>&); \
    template std::vector<NamedWeight<const typename Bayes<T>::Weight>> bayesian_weights(const Module<T>&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
