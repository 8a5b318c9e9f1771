# SPDX-License-Identifier: Apache-2.0
# Programs of + - * over a prime field: the library itself with another meaning of f64 cells (CLF_ARITH_PRIME, kernels-cl/elem_c.h). What
# knows that meaning is compiled once more and linked in front of the archive, so that its members with the same symbols stay out: the
# tile loops (as the baseline instruction set), the scalar operators of ref.c, the library's own matrix product. The rest is the archive's.
if(NOT TARGET clfuse_internal OR NOT TARGET clf_tile_baseline)
    return()
endif()
set(CLF_PRIMES 2147483647)
if(CLF_TEST_LONG)
    list(APPEND CLF_PRIMES 2147483629 1073741789)
endif()

get_target_property(CLF_FIELD_LOOPS clf_tile_baseline SOURCES)
set(CLF_FIELD_LEVEL -O1)
if(CLF_SANITIZE MATCHES "address") # as the host executor's loops
    set(CLF_FIELD_LEVEL -O0)
    set_source_files_properties(${CLF_FIELD_LOOPS} PROPERTIES COMPILE_OPTIONS "${CLF_UNTRACED_LOOPS}")
endif()

foreach(prime ${CLF_PRIMES})
    set(name test_prime)
    if(NOT prime EQUAL 2147483647)
        set(name test_prime_${prime})
    endif()
    add_library(clf_field_${prime} OBJECT ${CLF_FIELD_LOOPS} ${PROJECT_SOURCE_DIR}/kernels-cl/ref_ops.c prime/gemm_field.c)
    target_link_libraries(clf_field_${prime} PRIVATE clf_private)
    target_compile_definitions(clf_field_${prime} PRIVATE CLF_ARITH_PRIME=${prime} CLF_TILE_ISA=baseline)
    # divisions by a constant gain nothing from vectors, and unrolled they take minutes to compile
    target_compile_options(clf_field_${prime} PRIVATE ${CLF_FIELD_LEVEL} $<IF:$<C_COMPILER_ID:Clang>,-Wno-pass-failed,-fno-var-tracking>)
    add_dependencies(clf_field_${prime} clf_ops_h)
    add_executable(${name} prime/test_prime.c prime/field.c prime/field_check.c prime/victim.c $<TARGET_OBJECTS:clf_field_${prime}>)
    target_link_libraries(${name} PRIVATE clf_private clf_testkit clfuse_internal ${CLF_CUNIT_LIBRARY} m)
    target_include_directories(${name} SYSTEM PRIVATE ${CLF_CUNIT_INCLUDE})
    target_compile_definitions(${name} PRIVATE CLF_ARITH_PRIME=${prime})
    add_dependencies(${name} clf_ops_h)
    add_test(NAME prime.${name} COMMAND ${name})
    clf_test_defaults(prime.${name} prime 600)
    if(CLF_SANITIZE) # that tables of loops are there twice is what is meant
        set_property(TEST prime.${name} APPEND PROPERTY ENVIRONMENT "${CLF_TEST_ASAN}:detect_odr_violation=0")
    endif()
endforeach()
