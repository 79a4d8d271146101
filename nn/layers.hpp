#pragma once

// All layers.
#include <pollen/nn/activations.hpp>
#include <pollen/nn/conv2d.hpp>
#include <pollen/nn/dense.hpp>
#include <pollen/nn/dropout.hpp>
#include <pollen/nn/embedding.hpp>
#include <pollen/nn/norm.hpp>
#include <pollen/nn/pool.hpp>
#include <pollen/nn/sequential.hpp>
