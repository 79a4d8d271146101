#pragma once

#include <pollen/data/formats/safetensors.hpp>
#include <pollen/nn/module/module.hpp>

#include <map>
#include <string>

namespace pollen {

// Writes the parameters of a network, under their names ("0.weight"), as a safetensors file. The file is replaced as a
// whole or not at all.
template <Real T>
void save(const std::string& path, const Module<T>& module, const std::map<std::string, std::string>& about = {});

// Reads them back into a network of the same form. Throws a FileError that names the first tensor that is missing, left
// over, or of another shape or type; the network is unchanged then.
template <Real T>
void load(const std::string& path, Module<T>& module);

// The same with what the likelihood has learned (its noise), under "likelihood.".
template <Real T>
void save(const std::string& path, const Module<T>& module, const HasParameters<T>& likelihood,
          const std::map<std::string, std::string>& about = {});
template <Real T>
void load(const std::string& path, Module<T>& module, HasParameters<T>& likelihood);

// What save() writes and load() takes, in memory.
template <Real T>
TensorFile to_tensors(const Module<T>& module);
template <Real T>
void from_tensors(const TensorFile& file, Module<T>& module);

// How a set of parameters goes into a file beside others, and comes back: each name behind a prefix.
template <Real T>
void put_parameters(TensorFile& file, const std::string& prefix, const Parameters<T>& parameters,
                    std::span<const T> theta);
template <Real T>
Tensor<T> get_parameters(const TensorFile& file, const std::string& prefix, const Parameters<T>& parameters);

}  // namespace pollen
