# What pollen is built on. All of it is private: none of these headers is included by a public header of pollen.

function(pollen_require package debian_package)
    find_package(${package} QUIET ${ARGN})
    if(NOT ${package}_FOUND)
        message(FATAL_ERROR "pollen needs ${package}: install the package ${debian_package} (Debian, Ubuntu), "
                            "or let ./run install all that is missing.")
    endif()
endfunction()

pollen_require(xtl xtl-dev GLOBAL)  # first: xsimd and xtensor look for it
pollen_require(xsimd libxsimd-dev GLOBAL)
pollen_require(xtensor libxtensor-dev GLOBAL)
pollen_require(TBB libtbb-dev GLOBAL)
pollen_require(ZLIB zlib1g-dev GLOBAL)
pollen_require(PNG libpng-dev GLOBAL)
pollen_require(nlohmann_json nlohmann-json3-dev GLOBAL)
find_package(LibZip REQUIRED GLOBAL)

# Used if it is there: files for ArviZ. -D CMAKE_DISABLE_FIND_PACKAGE_NetCDF=ON does without it.
find_package(NetCDF GLOBAL)

function(pollen_private_dependencies target)
    # BUILD_INTERFACE: header-only libraries leave no trace in the installed package.
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:xtensor> $<BUILD_INTERFACE:xsimd>
                                            $<BUILD_INTERFACE:nlohmann_json::nlohmann_json> TBB::tbb ZLIB::ZLIB
                                            PNG::PNG LibZip::LibZip)
    # XTENSOR_USE_TBB stays off: pollen cuts its own loops.
    target_compile_definitions(${target} PRIVATE XTENSOR_USE_XSIMD)
endfunction()

# Only the headers of xtensor-blas: its CMake target would link whichever BLAS the system prefers.
find_path(XTENSOR_BLAS_INCLUDE_DIR xtensor-blas/xblas.hpp)
mark_as_advanced(XTENSOR_BLAS_INCLUDE_DIR)
function(pollen_require_xtensor_blas who)
    if(NOT XTENSOR_BLAS_INCLUDE_DIR)
        message(FATAL_ERROR "${who} xtensor-blas: install the package libxtensor-blas-dev (Debian, Ubuntu), "
                            "or let ./run install all that is missing.")
    endif()
endfunction()

# The BLAS for products, if one is asked for. BLA_VENDOR chooses which one; see the help of CMake on FindBLAS.
if(POLLEN_BLAS)
    pollen_require_xtensor_blas("POLLEN_BLAS needs")
    find_package(BLAS REQUIRED GLOBAL)
endif()

# Linear algebra that is not pollen's own, for tests to compare with and benchmarks to race against: xtensor-blas on
# OpenBLAS.
function(pollen_reference_blas target)
    find_package(OpenBLASSerial REQUIRED)
    pollen_require_xtensor_blas("the tests and benchmarks need")
    target_link_libraries(${target} PRIVATE OpenBLASSerial::OpenBLASSerial)
    target_include_directories(${target} SYSTEM PRIVATE ${XTENSOR_BLAS_INCLUDE_DIR})
endfunction()
