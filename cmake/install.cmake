# cmake --install: the library, its public headers and what find_package(pollen) needs.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

target_include_directories(pollen PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# Programs that use the installed package find its data wherever it was moved to.
target_compile_definitions(
    pollen INTERFACE $<INSTALL_INTERFACE:POLLEN_INSTALLED_DATA="$<INSTALL_PREFIX>/${CMAKE_INSTALL_DATADIR}/pollen/data">)
install(DIRECTORY data/sets/embedded/ DESTINATION ${CMAKE_INSTALL_DATADIR}/pollen/data PATTERN make EXCLUDE)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pollen)
install(TARGETS pollen EXPORT pollenTargets)
install(EXPORT pollenTargets NAMESPACE pollen:: DESTINATION ${package_dir})

# Headers in kernels/ and detail/ are private: they include xsimd, depend on -march, or may change at any time.
foreach(folder ${folders})
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${folder})
        install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pollen
                FILES_MATCHING PATTERN "*.hpp" PATTERN kernels EXCLUDE PATTERN detail EXCLUDE PATTERN embedded EXCLUDE
                PATTERN mpi EXCLUDE)
    endif()
endforeach()
install(FILES pollen.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pollen)

configure_package_config_file(cmake/pollenConfig.cmake.in ${PROJECT_BINARY_DIR}/pollenConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pollenConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pollenConfig.cmake ${PROJECT_BINARY_DIR}/pollenConfigVersion.cmake
              cmake/FindLibZip.cmake cmake/FindNetCDF.cmake DESTINATION ${package_dir})
