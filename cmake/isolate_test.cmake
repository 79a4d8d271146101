# isolate_test(NAME FOLDER): the test sees nothing of the user's. Its home, its cache and its temporary files are in a
# folder of its own under FOLDER, and the data are those of the source tree. For cmake and for ctest.
function(isolate_test name folder)
    string(REPLACE "/" "." own "${name}")
    set(home "${folder}/${own}")
    file(MAKE_DIRECTORY "${home}/tmp")
    set_tests_properties(
        "${name}" PROPERTIES
        ENVIRONMENT "HOME=${home};XDG_CACHE_HOME=${home}/.cache;POLLEN_CACHE=${home}/.cache/pollen;TMPDIR=${home}/tmp"
        ENVIRONMENT_MODIFICATION "POLLEN_DATA=unset:")
endfunction()

# isolate_tests_of_directory(FOLDER): the same for all tests that the present CMakeLists.txt has added so far.
function(isolate_tests_of_directory folder)
    get_property(names DIRECTORY PROPERTY TESTS)
    foreach(name ${names})
        isolate_test(${name} ${folder})
    endforeach()
endfunction()
