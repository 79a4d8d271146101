# A program that includes <pollen/pollen.hpp> and trains a linear model compiles in less than two seconds. The limit is on
# CPU time, which, unlike the time on the clock, does not depend on what else the machine is doing.
execute_process(
    COMMAND sh -c "ulimit -t 2 && exec '${COMPILER}' -std=c++20 -O2 -I'${POLLEN_BUILD}/include' -c main.cpp -o /dev/null"
    WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR} RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "tests/consumer/main.cpp does not compile within 2 s of CPU time")
endif()
