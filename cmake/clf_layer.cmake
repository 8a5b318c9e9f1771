# SPDX-License-Identifier: Apache-2.0
# Layers: how a folder becomes an object library, and how the libraries are put together from them.

# Language and warnings, for every target of ours.
add_library(clf_flags INTERFACE)
target_compile_definitions(clf_flags INTERFACE _GNU_SOURCE)
target_compile_options(clf_flags INTERFACE -Wall -Wextra $<$<BOOL:${CLF_WERROR}>:-Werror>)
if(CLF_SANITIZE)
    target_compile_options(clf_flags INTERFACE -fsanitize=${CLF_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
    target_link_options(clf_flags INTERFACE -fsanitize=${CLF_SANITIZE})
endif()
# For sources of which the way that fuzz targets take through them says nothing new; and of these for loops, whose null pointers and
# pointers that wrap are noticed where they are read.
set(CLF_UNTRACED)
set(CLF_UNTRACED_LOOPS)
if(CLF_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES "Clang")
    set(CLF_UNTRACED -fno-sanitize=fuzzer-no-link)
    set(CLF_UNTRACED_LOOPS ${CLF_UNTRACED},null,pointer-overflow)
endif()

# What a user of the public headers sees.
add_library(clf_public INTERFACE)
target_include_directories(clf_public INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/core/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/host/include>
    $<BUILD_INTERFACE:${CLF_GEN_INCLUDE}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# What a source file of the library sees. The arithmetic of the library is exact to the bit: no contraction, wrapping integers;
# what is switched off (errno of math functions, floating-point traps) only stands in the way of vector code.
add_library(clf_private INTERFACE)
target_include_directories(clf_private INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/gen)
target_include_directories(clf_private SYSTEM INTERFACE ${CLF_XXHASH_INCLUDE} ${CLF_RANDOM123_INCLUDE} ${OpenCL_INCLUDE_DIRS})
target_compile_options(clf_private INTERFACE -ffp-contract=off -fwrapv -fno-math-errno -fno-trapping-math)
target_link_libraries(clf_private INTERFACE clf_flags clf_public)

# What the library itself needs at link time. OpenBLAS is not here: it is opened at run time when present.
add_library(clf_needs INTERFACE)
target_link_libraries(clf_needs INTERFACE Threads::Threads OpenCL::OpenCL ${CMAKE_DL_LIBS} m)

# clf_compiled(TARGET): how sources of the library are compiled.
function(clf_compiled target)
    target_link_libraries(${target} PRIVATE clf_private)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
    add_dependencies(${target} clf_ops_h)
endfunction()

# clf_adopt(TARGET): make an object library part of both libraries.
function(clf_adopt target)
    clf_compiled(${target})
    set_property(GLOBAL APPEND PROPERTY CLF_OBJECT_TARGETS ${target})
endfunction()

# clf_layer(NAME [FOLDERS a b ...] [EXCLUDE files...] [SOURCES generated...]): all .c files of the current folder (or of the
# folders named, relative to it) as one layer. A layer that has no source yet is left out.
function(clf_layer name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FOLDERS;EXCLUDE;SOURCES")
    if(NOT arg_FOLDERS)
        set(arg_FOLDERS .)
    endif()
    set(files ${arg_SOURCES})
    foreach(folder ${arg_FOLDERS})
        file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.c)
        list(APPEND files ${found})
    endforeach()
    foreach(file ${arg_EXCLUDE})
        list(REMOVE_ITEM files ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${CMAKE_CURRENT_SOURCE_DIR}/./${file})
    endforeach()
    if(files)
        add_library(${name} OBJECT ${files})
        clf_adopt(${name})
    endif()
endfunction()

# The two libraries, from all layers.
function(clf_libraries)
    get_property(targets GLOBAL PROPERTY CLF_OBJECT_TARGETS)
    if(NOT targets)
        return()
    endif()
    set(objects "")
    foreach(target ${targets})
        list(APPEND objects $<TARGET_OBJECTS:${target}>)
    endforeach()
    add_library(clfuse_internal STATIC ${objects})
    set_target_properties(clfuse_internal PROPERTIES LINKER_LANGUAGE C)
    target_link_libraries(clfuse_internal PUBLIC clf_needs)

    set(script ${PROJECT_SOURCE_DIR}/cmake/clfuse.map)
    add_library(clfuse SHARED ${objects})
    add_library(clfuse::clfuse ALIAS clfuse)
    set_target_properties(clfuse PROPERTIES LINKER_LANGUAGE C VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} LINK_DEPENDS ${script})
    target_link_libraries(clfuse PRIVATE clf_needs PUBLIC clf_public)
    target_link_options(clfuse PRIVATE -Wl,--version-script=${script})
    if(CLF_SANITIZE)
        target_link_options(clfuse PRIVATE -fsanitize=${CLF_SANITIZE})
    endif()
    add_dependencies(clfuse clf_ops_h)

    if(CLF_STATIC)
        add_library(clfuse_static STATIC ${objects})
        set_target_properties(clfuse_static PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME clfuse ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
        target_link_libraries(clfuse_static PUBLIC clf_public INTERFACE Threads::Threads OpenCL::OpenCL ${CMAKE_DL_LIBS} m)
        add_library(clfuse::clfuse_static ALIAS clfuse_static)
    endif()
endfunction()
