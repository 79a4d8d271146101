#pragma once

#include "known.hpp"
#include "method.hpp"

// What the tables show, in words that follow from their numbers.
void say_what_it_shows(const Methods& methods, const Known& known);

// Whether runs of NUTS with different seeds find sigma and nu as they are known, and at ten times the effective draws a
// second of Stan where Stan's are known.
void say_verdict(const Methods& seeds, const Known& known);
