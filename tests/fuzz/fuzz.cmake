# SPDX-License-Identifier: Apache-2.0
# Fuzz targets: fuzz_<target>.c, with <target>_*.c where one has more to say. In every build each is linked with replay.c and runs its
# corpus, tests/corpus/<target>, as the test fuzz.replay_<target>. In a build of clang whose CLF_SANITIZE has fuzzer-no-link each is
# linked with libFuzzer too: build-asan, see ./run.
if(NOT TARGET clfuse_internal)
    return()
endif()
set(here ${CMAKE_CURRENT_SOURCE_DIR}/fuzz)
set(CLF_FUZZ_RUNS 20000) # on top of the corpus
if(CLF_TEST_LONG)
    set(CLF_FUZZ_RUNS 100000000)
endif()
file(GLOB targets CONFIGURE_DEPENDS fuzz/fuzz_*.c)
add_custom_target(clf_fuzzers)
add_executable(fuzz_words ${here}/words.c)
target_link_libraries(fuzz_words PRIVATE clf_private clfuse_internal m)
add_dependencies(fuzz_words clf_ops_h)
foreach(source ${targets})
    get_filename_component(name ${source} NAME_WE)
    string(REPLACE "fuzz_" "" target ${name})
    file(GLOB more CONFIGURE_DEPENDS fuzz/${target}_*.c)
    set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${target})
    set(seeds ${corpus})
    if(target STREQUAL cplan)
        list(APPEND seeds ${CMAKE_CURRENT_SOURCE_DIR}/golden/cplan)
    endif()

    set(runs ${CLF_FUZZ_RUNS})
    if(target STREQUAL kept) # each makes two plans
        math(EXPR runs "${runs} / 20")
    elseif(target STREQUAL api) # each opens a context and runs a program
        math(EXPR runs "${runs} / 4")
    endif()

    add_executable(fuzz_replay_${target} ${source} ${more} ${here}/replay.c)
    set(programs fuzz_replay_${target})
    add_test(NAME fuzz.replay_${target} COMMAND fuzz_replay_${target} ${seeds})
    clf_test_defaults(fuzz.replay_${target} fuzz 120)
    if(CLF_SANITIZE MATCHES "fuzzer-no-link")
        add_executable(${name} ${source} ${more} ${here}/entry.c)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        list(APPEND programs ${name})
        add_dependencies(clf_fuzzers ${name} fuzz_replay_${target} fuzz_words)
        add_test(NAME fuzz.${target} COMMAND sh ${here}/fuzz.sh $<TARGET_FILE:${name}> $<TARGET_FILE:fuzz_words>
            ${PROJECT_BINARY_DIR}/found/${target} -runs=${runs} -- ${seeds})
        clf_test_defaults(fuzz.${target} fuzzer 600)
        if(target STREQUAL api)
            set_tests_properties(fuzz.api PROPERTIES COST 100) # the longest: begin with it
        endif()
    endif()
    foreach(program ${programs})
        target_link_libraries(${program} PRIVATE clf_private clf_testkit clfuse_internal m)
        target_compile_definitions(${program} PRIVATE CLF_TESTS_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
        add_dependencies(${program} clf_ops_h)
    endforeach()
endforeach()
