#pragma once

#include "../common/example.hpp"

#include <cstdint>

// The same walk on a loss: the mean theta of 1000 numbers y, known by theta ~ N(0, 1) and y ~ N(theta, 1),
//
//     U = theta^2 / 2 + sum (y - theta)^2 / 2
//
// by gradient descent, by SGD on batches of 10, and by SGLD. Its posterior is normal, and the laws of all three are
// known. With `slip` SGLD injects noise of variance e/2.
void walk_on_loss(const Example& example, std::int64_t chains, std::int64_t steps, bool slip);
