# pollen inside of another project is compiled as that project's build type says; with none it is fast, and says so.
cmake_minimum_required(VERSION 3.25)

# expect(TYPE FLAGS): the flags -O, -g and -DNDEBUG of a source of pollen that is compiled by itself.
function(expect type flags)
    execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/embedded -B ${WORK}/types_${type}
                            -D POLLEN_SOURCE=${POLLEN_SOURCE} -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=${type}
                            -D CMAKE_EXPORT_COMPILE_COMMANDS=ON
                    OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
    file(READ ${WORK}/types_${type}/compile_commands.json commands)
    string(REGEX MATCH "\"command\": \"[^\n]*autograd/kernels/gemm.cpp\"" command "${commands}")
    string(REGEX MATCHALL " (-O[^ ]*|-g[^ ]*|-DNDEBUG)" found "${command}")
    list(SORT found)
    list(JOIN found "" found)
    string(FIND "${said}" "pollen: CMAKE_BUILD_TYPE is not set; pollen itself is compiled with -O3 -DNDEBUG" message)
    if(NOT found STREQUAL " ${flags}" OR (message EQUAL -1 AND NOT type) OR (NOT message EQUAL -1 AND type))
        message(SEND_ERROR "build type \"${type}\": flags${found} instead of ${flags}; cmake said:\n${said}")
    endif()
endfunction()

unset(ENV{CXXFLAGS})
expect("" "-DNDEBUG -O3")
expect(Debug "-Og -g")
expect(Release "-DNDEBUG -O3")
expect(RelWithDebInfo "-DNDEBUG -O2 -g")
expect(MinSizeRel "-DNDEBUG -Os")
