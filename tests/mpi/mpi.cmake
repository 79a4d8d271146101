# check_mpi with several processes. Without MPI there is one test, which is skipped.
if(NOT POLLEN_HAVE_MPI OR NOT MPIEXEC_EXECUTABLE)
    add_test(NAME mpi COMMAND ${CMAKE_COMMAND} -E echo "Skipped: pollen was built without MPI (-D POLLEN_MPI=ON)")
    set_tests_properties(mpi PROPERTIES SKIP_REGULAR_EXPRESSION "Skipped: ")
    return()
endif()

foreach(program check_mpi check_chains)
    add_executable(${program} mpi/${program}.cpp)
    target_link_libraries(${program} PRIVATE pollen::mpi MPI::MPI_CXX)
    pollen_warnings(${program})
    target_compile_options(${program} PRIVATE -Og -ffp-contract=off)
    # They share headers with the tests that use threads.
    target_link_libraries(${program} PRIVATE Boost::unit_test_framework)
    target_compile_definitions(${program} PRIVATE BOOST_TEST_DYN_LINK)
    add_dependencies(pollen_tests ${program})
endforeach()

# More processes than cores, and as root, which Open MPI has to be told (MPICH does not ask): version 4, then 5.
set(mpirun ${CMAKE_COMMAND} -E env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
           OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
           PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe)
set(tcp OMPI_MCA_btl=tcp,self)  # as between machines; without it, by shared memory

set(timeout TIMEOUT 60 PROCESSORS 2)

# Runs check_mpi WHAT; the rest are variables of the environment.
function(add_mpi_test name ranks what)
    add_test(NAME mpi.${name} COMMAND ${mpirun} ${ARGN} ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
                                      $<TARGET_FILE:check_mpi> ${what})
    set_tests_properties(mpi.${name} PROPERTIES ${timeout})
endfunction()

# Runs check_mpi WHAT, which must fail and print the line once.
function(add_failing_mpi_test what ranks line)
    add_test(NAME mpi.${what} COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/mpi/job_fails.py "${line}" ${mpirun}
                                      ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:check_mpi> ${what})
    set_tests_properties(mpi.${what} PROPERTIES ${timeout})
endfunction()

foreach(ranks 1 2 3 4 7)
    add_mpi_test(${ranks} ${ranks} all)
    add_mpi_test(${ranks}.tcp ${ranks} all ${tcp})
    add_mpi_test(spread.${ranks} ${ranks} chains)
    add_mpi_test(spread.${ranks}.tcp ${ranks} chains ${tcp})
    add_mpi_test(train.${ranks} ${ranks} train)
    add_mpi_test(train.${ranks}.tcp ${ranks} train ${tcp})
endforeach()
add_mpi_test(own 2 own)
add_mpi_test(single 2 single)
add_failing_mpi_test(lead 3 "rank 0 of 3: the disk is full")
add_failing_mpi_test(throw 3 "rank 2 of 3: this rank alone knows")
add_failing_mpi_test(fail 4 "the ranks do not agree on the seed: ranks 0 and 1: \"0\"; ranks 2 and 3: \"1\"")
add_failing_mpi_test(leave 3 "the ranks make different calls: rank 0: the end of run_mpi; ranks 1 and 2: barrier")

# The examples that can be spread over processes.
if(POLLEN_BUILD_EXAMPLES)
    foreach(name mpi_chains mpi_bnn)
        add_test(NAME mpi.example.${name}
                 COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/mpi/example_on_ranks.py 3
                         ${PROJECT_BINARY_DIR}/examples/${name} ${CMAKE_CURRENT_SOURCE_DIR}/examples/exact/${name}
                         ${CMAKE_CURRENT_BINARY_DIR}/examples_on_ranks/${name} ${mpirun} ${MPIEXEC_EXECUTABLE})
        set_tests_properties(mpi.example.${name} PROPERTIES TIMEOUT 120 PROCESSORS 2)
    endforeach()
endif()

# Chains over the ranks.
foreach(ranks 1 2 3 4 7)
    foreach(way "" .tcp)
        add_test(NAME mpi.chains.${ranks}${way}
                 COMMAND ${mpirun} $<$<STREQUAL:${way},.tcp>:${tcp}> ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
                         $<TARGET_FILE:check_chains> all COMMAND_EXPAND_LISTS)
        set_tests_properties(mpi.chains.${ranks}${way} PROPERTIES ${timeout})
    endforeach()
endforeach()
add_test(NAME mpi.tempering.3 COMMAND ${mpirun} ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 3
                                      $<TARGET_FILE:check_chains> tempering)
set_tests_properties(mpi.tempering.3 PROPERTIES ${timeout})
add_test(NAME mpi.chains.fault COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/mpi/job_fails.py
                                       "rank 0 of 3: run_chains: chain 5: a fault" ${mpirun} ${MPIEXEC_EXECUTABLE}
                                       ${MPIEXEC_NUMPROC_FLAG} 3 $<TARGET_FILE:check_chains> fault)
# A rank is killed at some moments, and the job starts again with another number of ranks.
foreach(moments 1 10)
    add_test(NAME mpi.chains.killed.${moments}
             COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/mpi/job_killed.py ${moments} ${mpirun} ${MPIEXEC_EXECUTABLE}
                     ${MPIEXEC_NUMPROC_FLAG} RANKS $<TARGET_FILE:check_chains>)
    math(EXPR seconds "150 * ${moments}")  # each has two jobs, which job_killed.py gives 60 seconds each
    set_tests_properties(mpi.chains.killed.${moments} PROPERTIES TIMEOUT ${seconds} PROCESSORS 2)
endforeach()
set_tests_properties(mpi.chains.fault PROPERTIES ${timeout})
set_tests_properties(mpi.chains.killed.10 PROPERTIES LABELS slow)
add_failing_mpi_test(kill 3 "")  # what is said is up to mpirun
