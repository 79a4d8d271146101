# libzip as LibZip::LibZip. Debian's own CMake file of libzip 1.7 also asks for its command-line tools, which nobody needs.
find_path(LibZip_INCLUDE_DIR zip.h)
find_library(LibZip_LIBRARY zip)
mark_as_advanced(LibZip_INCLUDE_DIR LibZip_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    LibZip REQUIRED_VARS LibZip_LIBRARY LibZip_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "install the package libzip-dev (Debian, Ubuntu), or let ./run install all that is missing")
if(LibZip_FOUND AND NOT TARGET LibZip::LibZip)
    add_library(LibZip::LibZip UNKNOWN IMPORTED GLOBAL)
    set_target_properties(LibZip::LibZip PROPERTIES IMPORTED_LOCATION "${LibZip_LIBRARY}"
                                                    INTERFACE_INCLUDE_DIRECTORIES "${LibZip_INCLUDE_DIR}")
endif()
