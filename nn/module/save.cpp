#include <pollen/nn/module/save.hpp>

#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/formats/detail/sealed_tensors.hpp>
#include <pollen/nn/module/structure.hpp>

#include <algorithm>

namespace pollen {

namespace {

constexpr detail::Seal network_seal{
    "network", "1", "a saved network", "pollen.",
    "; load another copy of it, or save the network again. If a program has changed it on purpose, remove the texts "
    "that begin with pollen. from its metadata"};

}  // namespace

template <Real T>
void put_parameters(TensorFile& file, const std::string& prefix, const Parameters<T>& parameters,
                    std::span<const T> theta) {
    for (const auto& [name, parameter, offset] : parameters.entries())
        file.set(prefix + name,
                 Tensor<T>(parameter->shape, theta.subspan(static_cast<std::size_t>(offset),
                                                           static_cast<std::size_t>(parameter->shape.size()))));
}

template <Real T>
Tensor<T> get_parameters(const TensorFile& file, const std::string& prefix, const Parameters<T>& parameters) {
    Tensor<T> theta = Tensor<T>::empty(Shape{parameters.size()});
    for (const auto& [name, parameter, offset] : parameters.entries()) {
        const Tensor<T>& tensor = file.get<T>(prefix + name, parameter->shape);
        std::copy(tensor.begin(), tensor.end(), theta.fresh_data() + offset);
    }
    return theta;
}

namespace {

template <Real T>
TensorFile tensors_of(const Module<T>& module, const Parameters<T>& parameters) {
    TensorFile file;
    parameters.check_values();
    for (const auto& [name, parameter, offset] : parameters.entries()) file.set(name, parameter->value);
    put_structures(file, module);
    return file;
}

template <Real T>
Parameters<T> all_of(const Module<T>& module, const HasParameters<T>* likelihood) {
    Parameters<T> parameters(module);
    if (likelihood) parameters.add("likelihood", *likelihood);
    return parameters;
}

template <Real T>
void write(const std::string& path, const Module<T>& module, const HasParameters<T>* likelihood,
           const std::map<std::string, std::string>& about) {
    detail::with_errors_at(path, [&] {
        TensorFile file = tensors_of(module, all_of(module, likelihood));
        file.metadata = about;
        detail::write_sealed(path, std::move(file), network_seal);
    });
}

// Tries everything on a copy first: a file that does not fit leaves the network as it is.
template <Real T>
void take_all(const TensorFile& file, Module<T>& module, HasParameters<T>* likelihood) {
    const std::unique_ptr<Module<T>> copy = module.clone();
    TensorFile rearranged = file;
    const std::vector<std::string> others = get_structures(rearranged, *copy);
    const Parameters<T> parameters = all_of<T>(*copy, likelihood);
    const Tensor<T> theta = get_parameters(rearranged, "", parameters);
    for (const std::string& name : file.names()) {
        const auto& entries = parameters.entries();
        if (std::none_of(entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == name; }) &&
            std::find(others.begin(), others.end(), name) == others.end())
            throw FileError(file.source() + ": has a tensor \"" + name + "\" that the network does not have");
    }
    rearranged = file;
    get_structures(rearranged, module);
    const std::int64_t used = unflatten<T>(module, theta.values());
    if (likelihood) unflatten<T>(*likelihood, theta.values().subspan(static_cast<std::size_t>(used)));
}

template <Real T>
void take(const TensorFile& file, Module<T>& module, HasParameters<T>* likelihood) {
    detail::with_errors_at(file.source(), [&] { take_all(file, module, likelihood); });
}

}  // namespace

TensorFile parse_saved(Bytes bytes, const std::string& name, const ReadLimits& limits) {
    return detail::with_errors_at(name, [&] {
        TensorFile file = parse_safetensors(bytes, name, limits);
        if (detail::has_seal(file, network_seal)) detail::check_seal(bytes, file, network_seal);
        return file;
    });
}

TensorFile read_saved(const std::string& path, const ReadLimits& limits) {
    return parse_saved(read_bytes(path, limits), path, limits);
}

template <Real T>
TensorFile to_tensors(const Module<T>& module) {
    return tensors_of(module, Parameters<T>(module));
}

template <Real T>
void from_tensors(const TensorFile& file, Module<T>& module) {
    take<T>(file, module, nullptr);
}

template <Real T>
void save(const std::string& path, const Module<T>& module, const std::map<std::string, std::string>& about) {
    write<T>(path, module, nullptr, about);
}

template <Real T>
void load(const std::string& path, Module<T>& module) {
    take<T>(read_saved(path), module, nullptr);
}

template <Real T>
void save(const std::string& path, const Module<T>& module, const HasParameters<T>& likelihood,
          const std::map<std::string, std::string>& about) {
    write(path, module, &likelihood, about);
}

template <Real T>
void load(const std::string& path, Module<T>& module, HasParameters<T>& likelihood) {
    take(read_saved(path), module, &likelihood);
}

#define POLLEN_INSTANTIATE(T)                                                                                \
    template void put_parameters(TensorFile&, const std::string&, const Parameters<T>&, std::span<const T>); \
    template Tensor<T> get_parameters(const TensorFile&, const std::string&, const Parameters<T>&);          \
    template TensorFile to_tensors(const Module<T>&);                                                        \
    template void from_tensors(const TensorFile&, Module<T>&);                                               \
    template void save(const std::string&, const Module<T>&, const std::map<std::string, std::string>&);     \
    template void load(const std::string&, Module<T>&);                                                      \
    template void save(const std::string&, const Module<T>&, const HasParameters<T>&,                        \
                       const std::map<std::string, std::string>&);                                           \
    template void load(const std::string&, Module<T>&, HasParameters<T>&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
