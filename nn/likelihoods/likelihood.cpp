#include <pollen/nn/likelihoods/likelihood.hpp>

#include <pollen/nn/module/walk.hpp>
#include <pollen/nn/priors/flat_prior.hpp>
#include <pollen/nn/priors/gaussian_prior.hpp>

namespace pollen {

template <Real T>
std::vector<Prior> priors_of(const char* who, const HasParameters<T>& net, const Likelihood<T>& likelihood,
                             const Prior& prior) {
    std::vector<Prior> priors;
    const auto add = [&](const HasParameters<T>& tree, const Prior& otherwise) {
        each_parameter(tree, [&](const std::string&, const Parameter<T>& parameter) {
            const Prior law = parameter.statistic ? FlatPrior{} : parameter.prior.value_or(otherwise);
            priors.push_back(law.for_fans(parameter.fans));
            if (priors.back().hierarchical())
                throw ValueError(std::string(who) + ": prior is " + priors.back().describe() +
                                 "; a hierarchical prior is for variational posteriors, a Gibbs step on precisions "
                                 "does it here");
        });
    };
    add(net, prior);
    add(likelihood, GaussianPrior{.sd = 1});
    return priors;
}

template <Real T>
std::string own_priors(const HasParameters<T>& net) {
    std::string text;
    each_parameter(net, [&](const std::string& name, const Parameter<T>& parameter) {
        if (parameter.prior) text += " " + name + " ~ " + parameter.prior->describe();
    });
    return text;
}

#define POLLEN_INSTANTIATE(T)                                                                                        \
    template std::vector<Prior> priors_of(const char*, const HasParameters<T>&, const Likelihood<T>&, const Prior&); \
    template std::string own_priors(const HasParameters<T>&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
