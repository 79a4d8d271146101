#include <pollen/autograd/mpi/run_mpi.hpp>
#include <pollen/pollen.hpp>

#include <iostream>

#ifdef MPI_VERSION
#error "a header of pollen includes mpi.h"
#endif

int main() {
    return pollen::run_mpi([](pollen::Group& group) {
        std::vector<double> leaves{1, 2, 4}, sum(1);
        ordered_sum(group, pollen::Shares::cut(3, group.size()), std::span(leaves), std::span(sum));
        std::cout << "rank " << group.rank() << " of " << group.size() << ": " << sum[0] << std::endl;
    });
}
