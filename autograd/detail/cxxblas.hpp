#pragma once

// The BLAS and LAPACK layer of xtensor-blas. It relies on its includer for these headers of the standard library.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <iostream>
#include <limits>

#include <xtensor-blas/xblas_config.hpp>

#include <xflens/cxxblas/cxxblas.cxx>
