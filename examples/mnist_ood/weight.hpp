#pragma once

#include "../common/example.hpp"
#include "../common/stage.hpp"
#include "task.hpp"

#include <pollen/samplers/minibatch/sgld.hpp>

// `sgd` and `sgld`: the weight at the centre of the first kernel after every step of each. SGD is SGLD at temperature
// 0, from the same start and on the same batches: plain steps of one size, while the table's SGD has momentum.
Found ways_of_a_weight(const Task& task, const pollen::Sgld& sampler, std::uint64_t seed);

void draw_weight(const Example& example, const Task& task, const Found& ways);
