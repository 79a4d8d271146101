# One shared library for all x86-64 CPUs with AVX2, and a second one of the same sources for those with AVX-512. The
# dynamic loader (glibc 2.33 or newer) takes the second if the CPU has what x86-64-v4 asks for: it lies in the folder
# glibc-hwcaps/x86-64-v4 beside the first.

# add_x86_64_v4(TARGET): builds and installs the shared library TARGET a second time, with -march=x86-64-v4.
function(add_x86_64_v4 target)
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "SHARED_LIBRARY")
        message(FATAL_ERROR "POLLEN_HWCAPS is for a shared library: -D BUILD_SHARED_LIBS=ON")
    endif()
    get_target_property(sources ${target} SOURCES)
    add_library(${target}_v4 SHARED ${sources})
    foreach(property COMPILE_FEATURES INCLUDE_DIRECTORIES LINK_LIBRARIES LINK_OPTIONS PRECOMPILE_HEADERS
                     POSITION_INDEPENDENT_CODE SOVERSION UNITY_BUILD UNITY_BUILD_CODE_AFTER_INCLUDE UNITY_BUILD_MODE VERSION)
        get_target_property(value ${target} ${property})
        if(NOT value MATCHES "-NOTFOUND$")
            set_target_properties(${target}_v4 PROPERTIES ${property} "${value}")
        endif()
    endforeach()
    get_target_property(definitions ${target} COMPILE_DEFINITIONS)
    list(FILTER definitions EXCLUDE REGEX "^POLLEN_MARCH_NAME=")
    set_target_properties(${target}_v4 PROPERTIES COMPILE_DEFINITIONS "${definitions}")
    target_compile_definitions(${target}_v4 PRIVATE POLLEN_MARCH_NAME="x86-64-v4")
    get_target_property(options ${target} COMPILE_OPTIONS)
    list(FILTER options EXCLUDE REGEX "^-march=")
    target_compile_options(${target}_v4 PRIVATE ${options} -march=x86-64-v4)

    set(folder glibc-hwcaps/x86-64-v4)
    set_target_properties(${target}_v4 PROPERTIES OUTPUT_NAME ${target} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
    install(TARGETS ${target}_v4 LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/${folder} NAMELINK_SKIP)
endfunction()
