# Every installed header compiles by itself and, but for the bridge to xtensor, drags in nothing beyond the standard library.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE headers RELATIVE ${WORK}/prefix/include ${WORK}/prefix/include/*.hpp)
foreach(header ${headers})
    file(WRITE ${WORK}/header.cpp "#include <${header}>\n")
    execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${WORK}/prefix/include -MD -MF ${WORK}/header.d
                            -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror ${WORK}/header.cpp
                    COMMAND_ERROR_IS_FATAL ANY)
    file(READ ${WORK}/header.d included)
    if(included MATCHES "/((xsimd|xtensor|xtl|oneapi|tbb|boost)/[^ ]+)" AND NOT header STREQUAL "pollen/autograd/xt.hpp")
        message(SEND_ERROR "${header} includes ${CMAKE_MATCH_1}")
    endif()
endforeach()
