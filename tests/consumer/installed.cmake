include(${CMAKE_CURRENT_LIST_DIR}/build.cmake)

# Installed in one place and moved to another: a package must not remember where it was made.
file(REMOVE_RECURSE ${WORK}/staging ${WORK}/prefix)
run(${CMAKE_COMMAND} --install ${POLLEN_BUILD} --prefix ${WORK}/staging)
file(RENAME ${WORK}/staging ${WORK}/prefix)
file(GLOB_RECURSE package_files ${WORK}/prefix/*.cmake)
foreach(package_file ${package_files})
    file(READ ${package_file} text)
    string(FIND "${text}" ${POLLEN_SOURCE} position)
    if(NOT position EQUAL -1)
        message(FATAL_ERROR "${package_file} contains the source path ${POLLEN_SOURCE}")
    endif()
    # Nor where the libraries of this machine are: INTERFACE_... "a;/usr/lib/libb.so".
    if(package_file MATCHES "pollen(Mpi)?Targets" AND text MATCHES "[A-Z]+_[A-Z_]+ \"([^\"\n]*[;<>,:])?(/[^\";]+)")
        message(FATAL_ERROR "${package_file} contains the path ${CMAKE_MATCH_2}")
    endif()
endforeach()

build_and_run(installed -D CMAKE_PREFIX_PATH=${WORK}/prefix)
