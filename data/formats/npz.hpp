#pragma once

#include <pollen/autograd/tensor.hpp>
#include <pollen/data/io/file.hpp>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace pollen {

// NumPy's NPZ files: a zip archive of NPY files, stored or deflated.
//
// The archive is checked as a whole when it is opened: local headers that contradict the central directory, encrypted
// entries, entries that are not .npy files, names that come twice, are absolute or lead elsewhere, other compression
// methods, and sizes or ratios above the limits are FileErrors. An array is expanded, and its CRC32 checked, when it is
// asked for. The limits hold for the archive with all that it expands to. They also hold for the archive with one
// array, expanded and as numbers. One Npz may be read by several threads.
class Npz {
  public:
    static Npz parse(Bytes bytes, const std::string& name, const ReadLimits& limits = {});  // copies the bytes
    static Npz read(const std::string& path, const ReadLimits& limits = {});
    Npz(Npz&&) noexcept;
    Npz& operator=(Npz&&) noexcept;
    ~Npz();

    // The arrays in the order of the archive, named without .npy.
    const std::vector<std::string>& names() const;

    // An array as T: float, double or std::int32_t, converted as by parse_npy. Throws a FileError that lists what there
    // is where there is no such array.
    template <class T>
    Tensor<T> get(const std::string& name) const;

  private:
    class Archive;
    explicit Npz(std::unique_ptr<Archive> archive);
    std::unique_ptr<Archive> archive_;
};

using NpzValue = std::variant<Tensor<float>, Tensor<double>, Indices>;
using NpzArrays = std::vector<std::pair<std::string, NpzValue>>;

// A deflated NPZ file: write_npz("fit.npz", {{"weights", w}, {"labels", labels}}). The bytes depend on nothing but the
// arrays: times are set to the start of 1980. Throws a ValueError for a name that Npz would not read or that comes
// twice.
std::vector<std::byte> npz_bytes(const NpzArrays& arrays);
void write_npz(const std::string& path, const NpzArrays& arrays);

}  // namespace pollen
