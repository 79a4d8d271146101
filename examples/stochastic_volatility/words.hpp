#pragma once

#include "known.hpp"
#include "method.hpp"

// What the tables show, in words that follow from their numbers. `nuts` are the three runs of NUTS, `others` the three
// variational fits and the two hybrids.
void say_what_it_shows(const Methods& nuts, const Methods& others, const Known* known);

// Whether NUTS finds sigma and nu as they are known, and at ten times the effective draws a second of Stan where Stan's
// are known. Says nothing where `known` is nullptr.
void say_verdict(const Method& nuts, const Known* known);
