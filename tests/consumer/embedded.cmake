include(${CMAKE_CURRENT_LIST_DIR}/build.cmake)
build_and_run(embedded -D POLLEN_SOURCE=${POLLEN_SOURCE})
