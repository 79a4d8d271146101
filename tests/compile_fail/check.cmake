# Compiles SOURCE and passes if that fails with the text that its first line asks for: `// expect: text`.
file(STRINGS ${SOURCE} first_line LIMIT_COUNT 1)
if(NOT first_line MATCHES "^// expect: (.+)$")
    message(FATAL_ERROR "${SOURCE}: the first line must be `// expect: text`")
endif()
set(expected "${CMAKE_MATCH_1}")

set(ENV{LC_ALL} C)
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${INCLUDE_DIR} ${SOURCE}
                RESULT_VARIABLE status ERROR_VARIABLE errors)
if(status EQUAL 0)
    message(FATAL_ERROR "${SOURCE} compiles, but must not")
endif()
string(FIND "${errors}" "${expected}" position)
if(position EQUAL -1)
    message(FATAL_ERROR "${SOURCE} fails to compile, but not with `${expected}`:\n${errors}")
endif()
