#include <pollen/nn/save.hpp>

#include <algorithm>

namespace pollen {

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

template <Real T>
void save(const std::string& path, const Module<T>& module, const std::map<std::string, std::string>& about) {
    const Parameters<T> parameters(module);
    TensorFile file;
    parameters.check_values();
    for (const auto& [name, parameter, offset] : parameters.entries()) file.set(name, parameter->value);
    file.metadata = about;
    write_safetensors(path, file);
}

template <Real T>
void load(const std::string& path, Module<T>& module) {
    const TensorFile file = read_safetensors(path);
    const Parameters<T> parameters(module);
    const Tensor<T> theta = get_parameters(file, "", parameters);
    for (const std::string& name : file.names()) {
        const auto& entries = parameters.entries();
        if (std::none_of(entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == name; }))
            throw FileError(path + ": has a tensor \"" + name + "\" that the network does not have");
    }
    unflatten<T>(module, theta.values());
}

#define POLLEN_INSTANTIATE(T)                                                                                \
    template void put_parameters(TensorFile&, const std::string&, const Parameters<T>&, std::span<const T>); \
    template Tensor<T> get_parameters(const TensorFile&, const std::string&, const Parameters<T>&);          \
    template void save(const std::string&, const Module<T>&, const std::map<std::string, std::string>&);     \
    template void load(const std::string&, Module<T>&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
