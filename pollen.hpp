#pragma once

// All of pollen's public interface in one include.
#include <pollen/autograd/error.hpp>
#include <pollen/autograd/gradcheck.hpp>
#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/random.hpp>
#include <pollen/autograd/shape.hpp>
#include <pollen/autograd/tape.hpp>
#include <pollen/autograd/tensor.hpp>
