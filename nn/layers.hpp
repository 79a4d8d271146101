#pragma once

// All layers.
#include <pollen/nn/layers/activations.hpp>
#include <pollen/nn/layers/attention.hpp>
#include <pollen/nn/layers/batch_norm.hpp>
#include <pollen/nn/layers/conv1d.hpp>
#include <pollen/nn/layers/conv2d.hpp>
#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/layers/depthwise_conv2d.hpp>
#include <pollen/nn/layers/dropout.hpp>
#include <pollen/nn/layers/embedding.hpp>
#include <pollen/nn/layers/global_pooling.hpp>
#include <pollen/nn/layers/gru.hpp>
#include <pollen/nn/layers/lstm.hpp>
#include <pollen/nn/layers/norm.hpp>
#include <pollen/nn/layers/pooling.hpp>
#include <pollen/nn/layers/pooling1d.hpp>
#include <pollen/nn/module/residual.hpp>
#include <pollen/nn/module/sequential.hpp>
