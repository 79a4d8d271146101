#pragma once

#include "../common/example.hpp"

// Why the acceptance of HMC needs no Jacobian and no density of the way back: a leapfrog step keeps volume in phase
// space, and with the momentum turned round it runs backward. Two rules that lack one of these or both, for comparison.
// With `slip` the leapfrog step begins with a whole kick, and has none at its end.
void volume(const Example& example, bool slip);
