# Read by ctest, not by cmake: registers one test for each suite of pollen_tests without its slow cases, and one for each
# slow case, labelled slow.

include(${CMAKE_CURRENT_LIST_DIR}/isolate_test.cmake)
execute_process(COMMAND ${POLLEN_TESTS} --list_units OUTPUT_VARIABLE units RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
    # A test that cannot pass: nobody mistakes a program that was not built for one without tests.
    add_test(pollen_tests "${POLLEN_TESTS}" --list_units)
endif()

string(REGEX MATCHALL "[^\n]+" units "${units}")
foreach(unit ${units})
    if(unit MATCHES "^suite (.*)$")
        add_test("${CMAKE_MATCH_1}" "${POLLEN_TESTS}" "--run_test=${CMAKE_MATCH_1}" "--run_test=!@slow")
    elseif(unit MATCHES "^slow (.*)$")
        add_test("${CMAKE_MATCH_1}" "${POLLEN_TESTS}" "--run_test=${CMAKE_MATCH_1}")
        set_tests_properties("${CMAKE_MATCH_1}" PROPERTIES LABELS slow)
    endif()
    isolate_test("${CMAKE_MATCH_1}" "${POLLEN_TEST_HOMES}")
    # What a test prints that needs reference posteriors and was not told where they are.
    set_tests_properties("${CMAKE_MATCH_1}" PROPERTIES SKIP_REGULAR_EXPRESSION "Skipped: POLLEN_REFERENCE is not set")
endforeach()
