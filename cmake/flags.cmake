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

# What is rounded once and what twice is written in the source: no compiler may fuse a multiplication with an addition, nor
# change the order of a sum, whatever flags the user has set.
function(pollen_contraction_off target)
    target_compile_options(${target} PRIVATE -fno-fast-math -ffp-contract=off)
endfunction()

# Every CPU that pollen runs on has fused multiply-adds; without them results would have other bits.
if(POLLEN_X86)
    include(CheckCXXSourceCompiles)
    string(MAKE_C_IDENTIFIER "POLLEN_FMA_${POLLEN_MARCH}" fma)
    if(POLLEN_MARCH)
        set(CMAKE_REQUIRED_FLAGS -march=${POLLEN_MARCH})
    endif()
    check_cxx_source_compiles("#if !defined(__AVX2__) || !defined(__FMA__)\n#error\n#endif\nint main() {}" ${fma})
    unset(CMAKE_REQUIRED_FLAGS)
    if(NOT ${fma})
        message(FATAL_ERROR "pollen needs AVX2 and FMA, which POLLEN_MARCH=\"${POLLEN_MARCH}\" does not have (or the compiler "
                            "does not know). It takes x86-64-v3, x86-64-v4, and native on a CPU that has them.")
    endif()
endif()

# The arithmetic and the instruction set of the library, also for targets that share its private headers.
function(pollen_march target)
    pollen_contraction_off(${target})
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

# Compiles up to `count` sources of a folder as one, since what they share is then read and instantiated once. The names
# in their anonymous namespaces must differ, so folders whose sources use the same ones are left out; so are kernels/,
# whose inlining is not to depend on neighbours.
function(pollen_compile_together target count)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "EXCEPT")
    if(NOT POLLEN_TOGETHER)
        return()
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP
                                               UNITY_BUILD_CODE_AFTER_INCLUDE "#undef POLLEN_INSTANTIATE")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Inlining is as free as in a small file. And g++ takes the sources for headers, of which it warns if they use
        # anonymous namespaces.
        target_compile_options(${target} PRIVATE --param=large-unit-insns=1000000 -Wno-subobject-linkage)
    endif()
    get_target_property(sources ${target} SOURCES)
    foreach(source ${sources})
        cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE folder)
        cmake_path(GET folder PARENT_PATH folder)
        cmake_path(RELATIVE_PATH folder)
        if(folder IN_LIST arg_EXCEPT OR folder MATCHES "kernels$|^\\.$")
            continue()
        endif()
        string(MAKE_C_IDENTIFIER "${folder}" name)
        if(NOT DEFINED members_${name})
            set(members_${name} 0)
        endif()
        math(EXPR group "${members_${name}} / ${count}")
        math(EXPR members_${name} "${members_${name}} + 1")
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${group})
    endforeach()
endfunction()
