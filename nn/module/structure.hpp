#pragma once

#include <pollen/data/formats/safetensors.hpp>
#include <pollen/nn/module/module.hpp>

#include <string>
#include <vector>

namespace pollen {

// What a module is whose file says more than the values of its parameters: a sparse layer, which learns from the file
// where its weights are. save() and load() call these.
class HasStructure {
  public:
    virtual ~HasStructure() = default;

    // Adds it to a file that has the parameters already, under names that begin with `prefix`. May replace them by
    // other forms of them.
    virtual void put_structure(TensorFile& file, const std::string& prefix) const = 0;

    // Takes it from a file, and puts the parameters there into the form in which this module has them. Returns the
    // names that are not parameters. Throws a FileError for whatever put_structure cannot have written.
    virtual std::vector<std::string> get_structure(TensorFile& file, const std::string& prefix) = 0;
};

// Structure that leaves the parameters in the file as they are, such as constants beside them. A module around this one
// with other parameters, such as a Bayesian twin, has it, too.
class HasConstants : public HasStructure {};

// The same for a module and all its parts.
template <Real T>
void put_structures(TensorFile& file, const Module<T>& module);
template <Real T>
std::vector<std::string> get_structures(TensorFile& file, Module<T>& module);

}  // namespace pollen
