# On a CPU without AVX2, a program that links pollen says so and ends with 1. The CPU is an emulated one.
cmake_minimum_required(VERSION 3.25)

find_program(QEMU qemu-x86_64)
if(NOT QEMU)
    message("Skipped: there is no qemu-x86_64 (package qemu-user)")
    return()
endif()
execute_process(COMMAND ${QEMU} -cpu Nehalem ${WORK}/installed/main RESULT_VARIABLE result OUTPUT_VARIABLE printed
                ERROR_VARIABLE said)
set(sentence "pollen: this CPU has no AVX2, which this library was compiled for (-march=${MARCH}). ")
string(APPEND sentence "pollen needs a CPU with AVX2 and FMA (x86-64-v3).\n")
if(NOT result EQUAL 1 OR NOT said STREQUAL sentence OR NOT printed STREQUAL "")
    message(FATAL_ERROR "instead of 1 and the sentence\n${sentence}the program ended with ${result} and printed\n${printed}${said}")
endif()
