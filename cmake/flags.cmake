# Compiler flags. What the library needs is private to it: a program that links pollen keeps its own flags.

if(PROJECT_IS_TOP_LEVEL)
    if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
        set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
    endif()

    # ccache needs to be told that precompiled headers are fine, and that a second clone has the same sources.
    find_program(CCACHE_PROGRAM ccache)
    mark_as_advanced(CCACHE_PROGRAM)
    if(CCACHE_PROGRAM AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
        set(CMAKE_CXX_COMPILER_LAUNCHER
            env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
        if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
            add_compile_options(-fpch-preprocess)
        endif()
    endif()

    # A sanitizer has to see every object of a program, so this one setting is for all targets.
    if(POLLEN_SANITIZE)
        list(JOIN POLLEN_SANITIZE "," sanitizers)
        add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
        # What halves the time to compile: line numbers without the rest, and no checks before each use of a pointer that
        # the address sanitizer finds as well.
        add_compile_options(-g1)
        if("undefined" IN_LIST POLLEN_SANITIZE)
            add_compile_options(-fno-sanitize=null,object-size,vptr)
        endif()
        add_link_options(-fsanitize=${sanitizers})
        # g++ says by a macro which one it is.
        if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
            list(GET POLLEN_SANITIZE 0 sanitizer)
            string(TOUPPER __SANITIZE_${sanitizer}__=1 sanitizer)
            add_compile_definitions(${sanitizer})
        endif()
    endif()
endif()

function(pollen_warnings target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                                             $<$<BOOL:${POLLEN_WERROR}>:-Werror>)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        # gcc 12 sees these where there is nothing: in `"text" + std::string` (gcc bug 105329) and inside its own AVX-512
        # intrinsics (bug 105593).
        target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-maybe-uninitialized
                                                 -Wno-uninitialized)
    elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        target_compile_options(${target} PRIVATE -Wno-sign-conversion)  # not part of -Wconversion for g++
    endif()
endfunction()

# The instruction set of the library, for targets that share its private headers.
function(pollen_march target)
    if(POLLEN_MARCH)
        target_compile_options(${target} PRIVATE -march=${POLLEN_MARCH})
    endif()
endfunction()

# The build type decides, of pollen alone or inside of another project: Release is -O3, RelWithDebInfo -O2 -g, MinSizeRel
# -Os, or what the user made of them. There are three exceptions:
# - Debug is -Og, since gcc 12 does not compile xsimd for AVX-512 at -O0.
# - No build type, and no -O in the user's flags: pollen is compiled as for Release. (By itself it is Release then, see
#   above; this is for a project around it.) A message says so.
# - With a sanitizer it is -Og -g1, whatever the build type: a third of the compile time of -O1 -g, and reports still
#   have line numbers.
if(CMAKE_BUILD_TYPE OR CMAKE_CONFIGURATION_TYPES OR CMAKE_CXX_FLAGS MATCHES "(^| )-O")
    set(POLLEN_OPTIMISE OFF)
else()
    set(POLLEN_OPTIMISE ON)
    message(STATUS "pollen: CMAKE_BUILD_TYPE is not set; pollen itself is compiled with -O3 -DNDEBUG")
endif()

function(pollen_library_flags target)
    pollen_march(${target})
    if(POLLEN_SANITIZE)
        target_compile_options(${target} PRIVATE -Og -g1)
    else()
        # No semantic interposition: position-independent code then inlines as freely as any other.
        target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-Og> $<$<BOOL:${POLLEN_OPTIMISE}>:-O3>
                                                 -fno-semantic-interposition)
        target_compile_definitions(${target} PRIVATE $<$<BOOL:${POLLEN_OPTIMISE}>:NDEBUG>)
        target_link_options(${target} PRIVATE LINKER:-z,defs)  # a shared pollen with a hole in it must not link
    endif()
    if(NOT DEFINED CMAKE_POSITION_INDEPENDENT_CODE)
        set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
endfunction()
