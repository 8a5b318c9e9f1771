# SPDX-License-Identifier: Apache-2.0
# Kernels as C: the library linked to the shim of tests/shim in place of an OpenCL loader, so that the emitter's text runs under the
# sanitizers of this build. Without clang, which reads OpenCL C, there is no such test, and the configuration says so.
find_program(CLF_CLANG NAMES clang clang-14 clang-15 clang-16)
mark_as_advanced(CLF_CLANG)
if(NOT CLF_CLANG)
    message(STATUS "tests/shim: left out, there is no clang to compile kernels with")
    return()
endif()
if(CLF_SANITIZE AND NOT CLF_SANITIZE MATCHES "address")
    message(STATUS "tests/shim: left out, kernels are not built for sanitizers '${CLF_SANITIZE}'")
    return()
endif()
if(NOT TARGET clfuse_internal)
    return()
endif()

set(shim_dir ${CMAKE_CURRENT_LIST_DIR})
# For kernels and built-in functions alike. With this machine's vector registers a kernel compiles a third faster.
set(shim_flags "")
set(shim_sanitized 0)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    set(shim_flags -march=native)
endif()
if(CLF_SANITIZE)
    set(shim_sanitized 1)
    string(REPLACE ",fuzzer-no-link" "" shim_sanitizers "${CLF_SANITIZE}")
    list(APPEND shim_flags -fsanitize=${shim_sanitizers},float-cast-overflow -fno-sanitize-recover=all)
endif()
set(shim_flags_c "")
foreach(flag ${shim_flags})
    string(APPEND shim_flags_c "\"${flag}\",")
endforeach()

# The built-in functions, by the compiler of the kernels.
set(shim_builtins ${CMAKE_CURRENT_BINARY_DIR}/shim_opencl_c.o)
add_custom_command(OUTPUT ${shim_builtins}
    COMMAND ${CLF_CLANG} -x cl -cl-std=CL1.2 -cl-no-stdinc -Wall -Wno-psabi -O1 -ffp-contract=off -fPIC ${shim_flags}
        -c ${shim_dir}/opencl_c.cl -o ${shim_builtins}
    DEPENDS ${shim_dir}/opencl_c.cl ${shim_dir}/opencl_c.h VERBATIM)
set_source_files_properties(${shim_builtins} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)

add_library(clf_shim OBJECT ${shim_dir}/compile.c ${shim_dir}/signature.c ${shim_dir}/opencl_host.c ${shim_dir}/opencl_launch.c
    ${shim_dir}/opencl_memory.c ${shim_dir}/opencl_program.c)
target_link_libraries(clf_shim PRIVATE clf_private)
target_compile_definitions(clf_shim PRIVATE CLF_SHIM_CLANG="${CLF_CLANG}" "CLF_SHIM_FLAGS=${shim_flags_c}")

# The library's objects by their file: as a target it would bring the loader along. Kernels find the built-in functions, and the
# device layer its newer calls, among the symbols of the program.
foreach(name test_shim test_shim_reports test_shim_cache test_shim_processes test_shim_mirrors)
    add_executable(${name} ${shim_dir}/${name}.c $<TARGET_OBJECTS:clf_shim> ${shim_builtins})
    set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
    target_link_libraries(${name} PRIVATE clf_private clf_testkit $<TARGET_FILE:clfuse_internal> $<TARGET_NAME_IF_EXISTS:clf_tiles>
        Threads::Threads ${CMAKE_DL_LIBS} ${CLF_CUNIT_LIBRARY} m)
    target_include_directories(${name} SYSTEM PRIVATE ${CLF_CUNIT_INCLUDE})
    target_compile_definitions(${name} PRIVATE CLF_SHIM_SANITIZED=${shim_sanitized})
    add_dependencies(${name} clfuse_internal clf_ops_h)
    add_test(NAME shim.${name} COMMAND ${name})
    clf_test_defaults(shim.${name} shim 900)
endforeach()
target_sources(test_shim_processes PRIVATE ${PROJECT_SOURCE_DIR}/device/worker/serve.c) # it is its own compile worker
