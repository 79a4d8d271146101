#include <pollen/nn/distributions/detail/student_t_law.hpp>

namespace pollen::distributions {

POLLEN_INSTANTIATE_DENSITY(StudentT, 3, pathwise)

}  // namespace pollen::distributions
