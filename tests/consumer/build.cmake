# build_and_run(KIND option...) configures tests/consumer/KIND as a plain Debug project without any flags of ours, builds
# it and runs its programs.
function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(build_and_run kind)
    unset(ENV{CXXFLAGS})
    unset(ENV{LDFLAGS})
    run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/${kind} -B ${WORK}/${kind}
        -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=Debug -D CMAKE_EXPORT_COMPILE_COMMANDS=ON ${ARGN})
    run(${CMAKE_COMMAND} --build ${WORK}/${kind} --parallel 2)
    file(GLOB programs RELATIVE ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
    foreach(program ${programs})
        cmake_path(GET program STEM name)
        if(EXISTS ${WORK}/${kind}/${name})
            run(${WORK}/${kind}/${name})
        elseif(NOT kind STREQUAL "embedded")
            message(FATAL_ERROR "${program} was not built")
        endif()
    endforeach()

    # Neither -march nor -O3 may have reached the program.
    file(READ ${WORK}/${kind}/compile_commands.json commands)
    string(REGEX MATCHALL "\"command\": \"[^\n]*consumer/main.cpp\"" command "${commands}")
    if(NOT command OR command MATCHES " -(march|O|f|W)")
        message(FATAL_ERROR "pollen's flags leak into a program that uses it:\n${command}")
    endif()
endfunction()
