# SPDX-License-Identifier: Apache-2.0
# Planted faults; not in builds with sanitizers.
find_program(CLF_PATCH patch)
if(CLF_PATCH AND CLF_TOOLS AND NOT CLF_SANITIZE AND NOT CMAKE_GENERATOR STREQUAL "Ninja")
    message(WARNING "No planted bugs: they take objects and commands from builds by Ninja.")
elseif(CLF_PATCH AND CLF_TOOLS AND NOT CLF_SANITIZE)
    set(CLF_MUTANTS_EVERY 16) # some 15 s each; all of them at full length only
    if(CLF_TEST_LONG)
        set(CLF_MUTANTS_EVERY 1)
    endif()
    add_test(NAME mutants.caught COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/mutants/run.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/mutants
        ${PROJECT_BINARY_DIR} ${CLF_MUTANTS_EVERY})
    clf_test_defaults(mutants.caught mutants 1500)
    set_tests_properties(mutants.caught PROPERTIES COST 150)
endif()
