# Finds the single-threaded OpenBLAS as a static archive and defines OpenBLASSerial::OpenBLASSerial.
#
# The tests compare with it and the benchmarks race against it; the library does without. Single-threaded, so that it
# starts no threads beside pollen's. If the archive is missing, any other OpenBLAS will do. Set OpenBLASSerial_LIBRARY to
# choose one by hand.

find_library(OpenBLASSerial_LIBRARY NAMES libopenblas.a PATH_SUFFIXES openblas-serial)
find_library(OpenBLASSerial_LIBRARY NAMES openblas PATH_SUFFIXES openblas-serial)
find_path(OpenBLASSerial_INCLUDE_DIR NAMES cblas.h PATH_SUFFIXES openblas-serial openblas)
# Some LAPACK routines of the archive call the Fortran run time, whose plain library is there even without a compiler.
find_library(OpenBLASSerial_FORTRAN NAMES libgfortran.so.5 gfortran)
mark_as_advanced(OpenBLASSerial_LIBRARY OpenBLASSerial_INCLUDE_DIR OpenBLASSerial_FORTRAN)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    OpenBLASSerial
    REQUIRED_VARS OpenBLASSerial_LIBRARY OpenBLASSerial_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "Install the package libopenblas-serial-dev (Debian, Ubuntu).")

if(OpenBLASSerial_FOUND AND NOT TARGET OpenBLASSerial::OpenBLASSerial)
    add_library(OpenBLASSerial::OpenBLASSerial UNKNOWN IMPORTED GLOBAL)
    set_target_properties(
        OpenBLASSerial::OpenBLASSerial PROPERTIES IMPORTED_LOCATION "${OpenBLASSerial_LIBRARY}"
                                                  INTERFACE_INCLUDE_DIRECTORIES "${OpenBLASSerial_INCLUDE_DIR}")
    if(OpenBLASSerial_LIBRARY MATCHES "\\.a$")
        # The archive's symbols stay inside: another BLAS in the same process is not disturbed.
        cmake_path(GET OpenBLASSerial_LIBRARY FILENAME _openblas_name)
        target_link_options(OpenBLASSerial::OpenBLASSerial INTERFACE "LINKER:--exclude-libs,${_openblas_name}")
        if(OpenBLASSerial_FORTRAN)
            target_link_libraries(OpenBLASSerial::OpenBLASSerial INTERFACE "${OpenBLASSerial_FORTRAN}")
        endif()
        target_link_libraries(OpenBLASSerial::OpenBLASSerial INTERFACE m)
        unset(_openblas_name)
    endif()
endif()
