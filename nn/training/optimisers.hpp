#pragma once

// All optimisers.
#include <pollen/nn/training/adam.hpp>
#include <pollen/nn/training/momentum.hpp>
#include <pollen/nn/training/rms_prop.hpp>
#include <pollen/nn/training/sgd.hpp>
