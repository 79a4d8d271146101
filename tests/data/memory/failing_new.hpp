#pragma once

namespace pollen::test {

// The n-th `new` of this thread from now on, counted from 0, throws std::bad_alloc.
void fail_new(int n);
// Whether it has come to that; no `new` fails from here on.
bool new_has_failed();

}  // namespace pollen::test
