# SPDX-License-Identifier: Apache-2.0
# Planted faults. A copy of the tree that is itself under test, and builds with sanitizers, have no such test.
find_program(CLF_PATCH patch)
if(CLF_PATCH AND CLF_TOOLS AND NOT CLF_SANITIZE)
    set(CLF_MUTANTS_EVERY 3) # all of them at full length only: each is compiled and linked anew
    if(CLF_TEST_LONG)
        set(CLF_MUTANTS_EVERY 1)
    endif()
    add_test(NAME mutants.caught COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/mutants/run.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/mutants
        ${CLF_MUTANTS_EVERY})
    clf_test_defaults(mutants.caught mutants 1500)
    set_tests_properties(mutants.caught PROPERTIES COST 1000) # the longest: begin with it
endif()
