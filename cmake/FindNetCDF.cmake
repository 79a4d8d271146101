# The C library of netCDF as NetCDF::NetCDF.
find_path(NetCDF_INCLUDE_DIR netcdf.h)
find_library(NetCDF_LIBRARY netcdf)
mark_as_advanced(NetCDF_INCLUDE_DIR NetCDF_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NetCDF REQUIRED_VARS NetCDF_LIBRARY NetCDF_INCLUDE_DIR
                                  REASON_FAILURE_MESSAGE "the package libnetcdf-dev (Debian, Ubuntu) has it")
if(NetCDF_FOUND AND NOT TARGET NetCDF::NetCDF)
    add_library(NetCDF::NetCDF UNKNOWN IMPORTED GLOBAL)
    set_target_properties(NetCDF::NetCDF PROPERTIES IMPORTED_LOCATION "${NetCDF_LIBRARY}"
                                                    INTERFACE_INCLUDE_DIRECTORIES "${NetCDF_INCLUDE_DIR}")
endif()
