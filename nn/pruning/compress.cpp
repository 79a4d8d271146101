#include <pollen/nn/pruning/compress.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/nn/module/save.hpp>
#include <pollen/nn/module/walk.hpp>
#include <pollen/nn/pruning/sparse.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <algorithm>

namespace pollen {

namespace {

template <Real T>
bool sparse_enough(const Tensor<T>& weight, double max_density) {
    const auto zeros = static_cast<double>(std::count(weight.begin(), weight.end(), T(0)));
    return weight.size() / weight.shape()[0] <= SparsePattern::max_columns &&
           static_cast<double>(weight.size()) - zeros <= max_density * static_cast<double>(weight.size());
}

template <Real T>
std::unique_ptr<Module<T>> sparse_twin(const Module<T>& module, double max_density) {
    if (const auto* dense = dynamic_cast<const Dense<T>*>(&module)) {
        const Tensor<T>& weight = dense->weight.value;
        if (!sparse_enough(weight, max_density)) return nullptr;
        if (dense->has_bias()) return std::make_unique<SparseDense<T>>(weight, dense->bias.value);
        return std::make_unique<SparseDense<T>>(weight);
    }
    if (const auto* conv = dynamic_cast<const Conv2d<T>*>(&module)) {
        const Tensor<T>& weight = conv->weight.value;
        const auto stride = static_cast<double>(conv->options().stride[1]);
        if (!sparse_enough(weight, max_density / stride)) return nullptr;
        if (conv->has_bias()) return std::make_unique<SparseConv2d<T>>(weight, conv->bias.value, conv->options());
        return std::make_unique<SparseConv2d<T>>(weight, conv->options());
    }
    return nullptr;
}

// The layer that a file with sparse weights was saved from.
template <Real T>
std::unique_ptr<Module<T>> empty_twin(const Module<T>& module) {
    if (const auto* dense = dynamic_cast<const Dense<T>*>(&module)) {
        const Shape& shape = dense->weight.shape;
        return std::make_unique<SparseDense<T>>(shape[1], shape[0], dense->has_bias());
    }
    if (const auto* conv = dynamic_cast<const Conv2d<T>*>(&module)) {
        const Shape& shape = conv->weight.shape;
        const Conv2dOptions& o = conv->options();
        return std::make_unique<SparseConv2d<T>>(shape[1] * o.groups, shape[0], Size2d(shape[2], shape[3]),
                                                 ConvOptions{.stride = {o.stride[0], o.stride[1]},
                                                             .padding = {o.padding[0], o.padding[1]},
                                                             .dilation = {o.dilation[0], o.dilation[1]},
                                                             .groups = o.groups,
                                                             .bias = conv->has_bias()});
    }
    return nullptr;
}

}  // namespace

template <Real T>
Part<T> compress(const Module<T>& net, CompressOptions options) {
    if (!(options.max_density >= 0 && options.max_density <= 1))
        throw ValueError("compress: max_density is " + to_text(options.max_density) + "; it must be from 0 to 1");
    if (const auto weights = bayesian_weights(net); !weights.empty())
        throw ValueError("compress: " + weights[0].name + " has a posterior; take mean_network() first");
    Parameters<T>(net).check_values();
    return replaced<T>(
        net, [&](const Module<T>& layer, const std::string&) { return sparse_twin(layer, options.max_density); });
}

template <Real T>
Part<T> compressed_from(const TensorFile& file, const Module<T>& form) {
    return detail::with_errors_at(file.source(), [&] {
        Part<T> net = replaced<T>(form, [&](const Module<T>& layer, const std::string& path) {
            return file.contains(joined(path, "weight.gaps")) ? empty_twin(layer) : nullptr;
        });
        from_tensors(file, *net);
        return net;
    });
}

template <Real T>
Part<T> load_compressed(const std::string& path, const Module<T>& form) {
    return compressed_from(read_saved(path), form);
}

template <Real T>
std::size_t stored_bytes(const Module<T>& net) {
    return safetensors_bytes(to_tensors(net)).size();
}

template <Real T>
std::size_t nonzero_count(const Module<T>& net) {
    const Parameters<T> parameters(net);
    parameters.check_values();
    std::int64_t count = parameters.size();
    for (const auto& entry : parameters.entries())
        count -= std::count(entry.parameter->value.begin(), entry.parameter->value.end(), T(0));
    return static_cast<std::size_t>(count);
}

#define POLLEN_INSTANTIATE(T)                                               \
    template Part<T> compress(const Module<T>&, CompressOptions);           \
    template Part<T> load_compressed(const std::string&, const Module<T>&); \
    template Part<T> compressed_from(const TensorFile&, const Module<T>&);  \
    template std::size_t stored_bytes(const Module<T>&);                    \
    template std::size_t nonzero_count(const Module<T>&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
