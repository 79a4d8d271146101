# The component mpi, a library of its own: pollen::mpi has what needs MPI, and pollen::pollen never sees it.
# POLLEN_MPI is ON, OFF, or AUTO: if there is an MPI. Whoever packages pollen says ON or OFF.
set(POLLEN_HAVE_MPI OFF)
if(NOT POLLEN_MPI)
    return()
endif()

set(MPI_CXX_SKIP_MPICXX ON)  # the C interface alone
find_package(MPI QUIET COMPONENTS CXX GLOBAL)
if(NOT MPI_CXX_FOUND)
    if(POLLEN_MPI STREQUAL "AUTO")
        return()
    endif()
    message(FATAL_ERROR "POLLEN_MPI needs MPI: install the packages libopenmpi-dev and openmpi-bin, or libmpich-dev and "
                        "mpich (Debian, Ubuntu)")
endif()
set(POLLEN_HAVE_MPI ON)

file(GLOB_RECURSE mpi_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/autograd/mpi/*.cpp)
add_library(pollen_mpi ${mpi_sources})
add_library(pollen::mpi ALIAS pollen_mpi)
set_target_properties(pollen_mpi PROPERTIES EXPORT_NAME mpi VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_libraries(pollen_mpi PUBLIC pollen PRIVATE MPI::MPI_CXX)
pollen_warnings(pollen_mpi)
pollen_library_flags(pollen_mpi)

install(TARGETS pollen_mpi EXPORT pollenMpiTargets)
install(EXPORT pollenMpiTargets NAMESPACE pollen:: DESTINATION ${package_dir})
install(DIRECTORY autograd/mpi DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pollen/autograd FILES_MATCHING PATTERN "*.hpp"
        PATTERN detail EXCLUDE)
