# A program that includes <pollen/pollen.hpp> and trains a linear model compiles in less than two seconds of CPU time, the
# fastest of five times: on a machine that is shared with others even CPU time has its slow moments.
foreach(attempt RANGE 1 5)
    execute_process(
        COMMAND sh -c "ulimit -t 2 && exec '${COMPILER}' -std=c++20 -O2 -I'${POLLEN_BUILD}/include' -c main.cpp -o /dev/null"
        WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR} RESULT_VARIABLE failed)
    if(NOT failed)
        return()
    endif()
endforeach()
message(FATAL_ERROR "tests/consumer/main.cpp does not compile within 2 s of CPU time, five times in a row")
