# find_package(pollen COMPONENTS mpi): a program that uses it, or a message that says why there is none.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/build.cmake)

unset(ENV{CXXFLAGS})
unset(ENV{LDFLAGS})
set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/mpi -B ${WORK}/mpi -D CMAKE_CXX_COMPILER=${COMPILER}
              -D CMAKE_BUILD_TYPE=Debug -D CMAKE_PREFIX_PATH=${WORK}/prefix)
if(NOT MPI)
    execute_process(COMMAND ${configure} RESULT_VARIABLE result ERROR_VARIABLE errors)
    if(result EQUAL 0 OR NOT errors MATCHES "this pollen has no component mpi, which -D POLLEN_MPI=ON builds")
        message(FATAL_ERROR "pollen without MPI has another message:\n${errors}")
    endif()
    return()
endif()

run(${configure})
run(${CMAKE_COMMAND} --build ${WORK}/mpi --parallel 2)
execute_process(COMMAND ${WORK}/mpi/ranks OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL "rank 0 of 1: 7\n")
    message(FATAL_ERROR "the program printed ${output}")
endif()
