# SPDX-License-Identifier: Apache-2.0
# Planted faults. net_programs builds what they are run against, and nothing else. A copy of the tree that is itself under test, and
# builds with sanitizers, have no such test.
set(CLF_NET_PROGRAMS "")
foreach(name test_emit test_planner test_folds test_tile test_tile_folds test_prop_random test_prop_random_real test_prop_bounds
        test_prop_alternatives test_prop_device_net test_shim)
    if(TARGET ${name})
        list(APPEND CLF_NET_PROGRAMS ${name})
    endif()
endforeach()
file(GLOB clf_reader_suites ${CMAKE_CURRENT_SOURCE_DIR}/unit/test_formats_*.c)
foreach(suite ${clf_reader_suites})
    get_filename_component(name ${suite} NAME_WE)
    list(APPEND CLF_NET_PROGRAMS ${name})
endforeach()
add_custom_target(net_programs DEPENDS ${CLF_NET_PROGRAMS})
find_program(CLF_PATCH patch)
if(CLF_PATCH AND CLF_TOOLS AND NOT CLF_SANITIZE)
    add_test(NAME mutants.caught COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/mutants/run.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/mutants)
    clf_test_defaults(mutants.caught mutants 1500)
    set_tests_properties(mutants.caught PROPERTIES COST 1000) # the longest: begin with it
endif()
