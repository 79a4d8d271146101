#pragma once

#include <pollen/autograd/tensor.hpp>

#include <cstdint>
#include <vector>

using Numbers = std::vector<double>;

struct Market {
    Numbers years;                   // of each return, as 2008.34
    pollen::Tensor<double> returns;  // log(close / close of the day before)
};

// The first returns of the S&P 500 from 2008-05-05 on; there are 2905.
Market read_market(std::int64_t days);

// log sqrt(mean r_i^2): about where the path s is.
double level_of(const pollen::Tensor<double>& returns);
