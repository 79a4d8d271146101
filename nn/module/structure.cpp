#include <pollen/nn/module/structure.hpp>

#include <utility>

namespace pollen {

namespace {

// Calls use(structure, prefix) for the module and every part of it that has one.
template <Real T, class Use>
class EachStructure : public Visitor<T> {
  public:
    explicit EachStructure(Use use) : use_(std::move(use)) {}

    void start(Module<T>& module) {
        if (auto* structure = dynamic_cast<HasStructure*>(&module)) use_(*structure, prefix_);
        module.visit(*this);
    }
    void parameter(const std::string&, Parameter<T>&) override {}
    void part(const std::string& name, Module<T>& module) override {
        std::string outer = std::exchange(prefix_, prefix_ + name + ".");
        start(module);
        prefix_ = std::move(outer);
    }

  private:
    std::string prefix_;
    Use use_;
};

}  // namespace

template <Real T>
void put_structures(TensorFile& file, const Module<T>& module) {
    const auto put = [&](HasStructure& structure, const std::string& prefix) { structure.put_structure(file, prefix); };
    EachStructure<T, decltype(put)>(put).start(const_cast<Module<T>&>(module));  // only visit() is not const
}

template <Real T>
std::vector<std::string> get_structures(TensorFile& file, Module<T>& module) {
    std::vector<std::string> names;
    const auto get = [&](HasStructure& structure, const std::string& prefix) {
        for (std::string& name : structure.get_structure(file, prefix)) names.push_back(std::move(name));
    };
    EachStructure<T, decltype(get)>(get).start(module);
    return names;
}

template void put_structures(TensorFile&, const Module<float>&);
template void put_structures(TensorFile&, const Module<double>&);
template std::vector<std::string> get_structures(TensorFile&, Module<float>&);
template std::vector<std::string> get_structures(TensorFile&, Module<double>&);

}  // namespace pollen
