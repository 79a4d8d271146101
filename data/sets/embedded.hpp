#pragma once

#include <optional>
#include <string>
#include <string_view>

// Set for programs that use an installed pollen, to where its package keeps the data.
#ifndef POLLEN_INSTALLED_DATA
#define POLLEN_INSTALLED_DATA ""
#endif

namespace pollen {

// Where a program finds its data. The small sets that come with pollen and the full sets in the cache are laid out
// alike, so that one program reads either:
//
//     const std::string digits = data_directory("mnist");
//     read_idx<float>(digits + "/train-images.idx.gz");
//
//     mnist          train-images.idx.gz train-labels.idx.gz test-images.idx.gz test-labels.idx.gz
//     fashion-mnist  the same (embedded: only test-*)
//     notmnist       test-images.idx.gz test-labels.idx.gz (not embedded)
//     sp500          sp500.csv (embedded: only the columns date and close, 2008-05-02 to 2019-11-14)
//     uci            concrete.txt.gz energy.txt.gz wine-quality-red.txt.gz yacht.txt.gz (embedded_data() only)

// The path of a set or a file that comes with pollen, such as "mnist" or "sp500/sp500.csv". It is looked for in the
// directory $POLLEN_DATA if that is set; otherwise in the installed package that the program was compiled with, and in
// the source tree that pollen was built from. Throws a FileError that says where it looked.
std::string embedded_data(std::string_view name, const char* installed = POLLEN_INSTALLED_DATA);

// Where `./run data NAME` puts the full sets: $POLLEN_CACHE, or $XDG_CACHE_HOME/pollen, or ~/.cache/pollen. Throws a
// FileError if none of POLLEN_CACHE, XDG_CACHE_HOME and HOME is set.
std::string cache_directory();

// Whether all files of a full set are in the cache. They are not opened, so this takes no time. Throws a ValueError for
// an unknown set.
bool has_data(std::string_view set);

// The directory of a full set in the cache, if all its files are there. They are checked, which takes about a quarter
// of a second for MNIST. Throws a FileError for a file that is not the one that `./run data` brought, and a ValueError
// for an unknown set.
std::optional<std::string> find_data(std::string_view set);

// The same, but throws a FileError that says how to get the set if a file is not there.
std::string require_data(std::string_view set);

// The directory of the full set where it is in the cache, and otherwise of the part of it that comes with pollen.
std::string data_directory(std::string_view set, const char* installed = POLLEN_INSTALLED_DATA);

}  // namespace pollen
