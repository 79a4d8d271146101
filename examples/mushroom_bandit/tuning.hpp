#pragma once

#include "lives.hpp"
#include "minds.hpp"

// Chooses the settings of Thompson sampling, one after the other, by the mean regret of the runs of `setting`: noise
// and rate together, then the initial width, then the prior. Does the same for the rate of greedy. Shows a table of
// all.
void tune(const Example& example, const Setting& setting, const pollen::Sequential<float>& net);
