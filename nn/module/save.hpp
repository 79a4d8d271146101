#pragma once

#include <pollen/data/formats/safetensors.hpp>
#include <pollen/nn/module/module.hpp>

#include <map>
#include <string>

namespace pollen {

// Writes the parameters of a network, under their names ("0.weight"), as a safetensors file, with a checksum (CRC-32)
// of the whole file in its metadata. The file is replaced as a whole or not at all. `about` goes into the metadata,
// where the texts pollen.format, pollen.version and pollen.checksum are set by save().
template <Real T>
void save(const std::string& path, const Module<T>& module, const std::map<std::string, std::string>& about = {});

// Reads them back into a network of the same form. Throws a FileError if the checksum is wrong, or if a tensor is
// missing, left over, or of another shape or type; the network is unchanged then. A file without the three texts, of
// another program or of an older pollen, has no checksum and is read without one.
template <Real T>
void load(const std::string& path, Module<T>& module);

// The same with what the likelihood has learned (its noise), under "likelihood.".
template <Real T>
void save(const std::string& path, const Module<T>& module, const HasParameters<T>& likelihood,
          const std::map<std::string, std::string>& about = {});
template <Real T>
void load(const std::string& path, Module<T>& module, HasParameters<T>& likelihood);

// The file that load() takes: read_safetensors() with a look at the checksum.
TensorFile parse_saved(Bytes bytes, const std::string& name, const ReadLimits& limits = {});
TensorFile read_saved(const std::string& path, const ReadLimits& limits = {});

// What save() writes, without the checksum, and load() takes, in memory.
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
