#pragma once

#include <pollen/samplers/draws/draws.hpp>

#include <string>

namespace pollen {

// Whether pollen was built with libnetcdf (Debian: libnetcdf-dev).
bool have_netcdf();

// The draws as ArviZ's InferenceData in a netCDF-4 file, for az.from_netcdf(): groups posterior and sample_stats, and,
// if the files of the draws have the warm-up, warmup_posterior and warmup_sample_stats. Throws an
// Error without libnetcdf. The file is made in memory, and then replaced as a whole or not at all.
void write_netcdf(const std::string& path, const Draws& draws);

}  // namespace pollen
