# SPDX-License-Identifier: Apache-2.0
# The lints as tests with the label lint; what they need beyond the compiler (gcc, clang, clang-tidy, cppcheck) they say themselves.
function(clf_lint name)
    add_test(NAME lint.${name} COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/lint/${name}.sh ${ARGN})
    clf_test_defaults(lint.${name} lint 300)
endfunction()

clf_lint(includes)
clf_lint(tree)
clf_lint(kernels)
clf_lint(headers ${CLF_GEN_INCLUDE})
clf_lint(format check)
clf_lint(cppcheck ${CLF_GEN_INCLUDE})
clf_lint(analyze ${CLF_GEN_INCLUDE} ${CLF_GEN_PRIVATE})
clf_lint(tidy ${CLF_GEN_INCLUDE} ${CLF_GEN_PRIVATE})
if(TARGET clfuse)
    file(GLOB headers ${PROJECT_SOURCE_DIR}/core/include/clfuse/*.h ${PROJECT_SOURCE_DIR}/host/include/clfuse/*.h)
    clf_lint(symbols $<TARGET_FILE:clfuse> ${headers} ${CLF_GEN_INCLUDE}/clfuse/ops.h)
    if(NOT CLF_SANITIZE)
        add_test(NAME docs.readme COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/lint/readme.sh ${PROJECT_BINARY_DIR})
        clf_test_defaults(docs.readme docs 60)
        if(TARGET clf_man AND TARGET clfuse_tool)
            add_test(NAME docs.man COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/lint/man.sh ${PROJECT_BINARY_DIR} $<TARGET_FILE:clfuse_tool>)
            clf_test_defaults(docs.man docs 60)
        endif()
    endif()
endif()

# The bench: its references are vectorised as claimed, and every case's check holds (one quick round; no speed is judged here).
if(TARGET clfuse-bench)
    add_test(NAME perf.vector_math COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/lint/vector_math.sh $<TARGET_OBJECTS:clf_hand>
        COMMAND_EXPAND_LISTS)
    clf_test_defaults(perf.vector_math perf 60)
    add_test(NAME perf.checks COMMAND clfuse-bench --quick --rounds 1)
    clf_test_defaults(perf.checks perf 600 CLF_CACHE_DIR=${PROJECT_BINARY_DIR}/cache/bench) # it measures devices; other tests assume them
    add_test(NAME docs.performance COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/lint/performance.sh $<TARGET_FILE:clfuse-bench>)
    clf_test_defaults(docs.performance docs 120)
    set_tests_properties(docs.performance PROPERTIES SKIP_RETURN_CODE 77)
endif()
