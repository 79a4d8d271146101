#pragma once

#include <pollen/autograd/tape.hpp>

namespace pollen {

// log q(w) of w = mu + sigma eps + V z with sigma = log(1 + exp(rho)), as a function of rho (n numbers) and of the rows
// of V' (rank, n). The noise is eps and z, n + rank numbers, and passes nothing back. The value is NaN unless `value`
// is set; the gradient does without it.
template <Real T>
Var<T> low_rank_log_q(Var<T> rho, Var<T> factors, Var<T> noise, bool value);

}  // namespace pollen
