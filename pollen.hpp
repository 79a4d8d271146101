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
#include <pollen/data/batches.hpp>
#include <pollen/data/csv.hpp>
#include <pollen/data/dataset.hpp>
#include <pollen/data/embedded.hpp>
#include <pollen/data/idx.hpp>
#include <pollen/data/image.hpp>
#include <pollen/data/image_set.hpp>
#include <pollen/data/libsvm.hpp>
#include <pollen/data/npy.hpp>
#include <pollen/data/npz.hpp>
#include <pollen/data/safetensors.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/optimiser.hpp>
#include <pollen/nn/save.hpp>
#include <pollen/nn/train.hpp>
