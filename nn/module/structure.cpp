#include <pollen/nn/module/structure.hpp>

#include <pollen/nn/module/walk.hpp>

#include <utility>

namespace pollen {

template <Real T>
void put_structures(TensorFile& file, const Module<T>& module) {
    each_module(module, [&](const std::string& path, const Module<T>& part) {
        if (const auto* structure = dynamic_cast<const HasStructure*>(&part))
            structure->put_structure(file, path.empty() ? "" : path + ".");
        return true;
    });
}

template <Real T>
std::vector<std::string> get_structures(TensorFile& file, Module<T>& module) {
    std::vector<std::string> names;
    each_module(module, [&](const std::string& path, Module<T>& part) {
        if (auto* structure = dynamic_cast<HasStructure*>(&part))
            for (std::string& name : structure->get_structure(file, path.empty() ? "" : path + "."))
                names.push_back(std::move(name));
        return true;
    });
    return names;
}

template void put_structures(TensorFile&, const Module<float>&);
template void put_structures(TensorFile&, const Module<double>&);
template std::vector<std::string> get_structures(TensorFile&, Module<float>&);
template std::vector<std::string> get_structures(TensorFile&, Module<double>&);

}  // namespace pollen
