#pragma once

// All posteriors of weights.
#include <pollen/nn/variational/low_rank.hpp>
#include <pollen/nn/variational/mean_field.hpp>
#include <pollen/nn/variational/point_mass.hpp>
