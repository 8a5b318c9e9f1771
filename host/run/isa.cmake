# SPDX-License-Identifier: Apache-2.0
# The tile loops, compiled once per instruction set. Gives CLF_TILE_LOOPS (sources), CLF_TILE_ISAS, CLF_TILE_OBJECTS.
set(CLF_TILE_TYPES f32 f64 i32 i64 u8)
set(CLF_TILE_SOURCES run/tile_loops.c run/tile_pairs.c run/tile_fold_table.c run/rows_table.c)
foreach(type IN LISTS CLF_TILE_TYPES)
  list(APPEND CLF_TILE_SOURCES run/tile_folds_${type}.c run/rows_${type}.c)
endforeach()
list(TRANSFORM CLF_TILE_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/host/ OUTPUT_VARIABLE CLF_TILE_LOOPS)
set(CLF_TILE_FLAGS -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -fwrapv)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU") # with it, two thirds of the time go into where variables are
  list(APPEND CLF_TILE_FLAGS -fno-var-tracking)
endif()
set(CLF_TILE_FLAGS_baseline "")
# Folds: lanes must stay small inner loops until they are vectors; at -O3 gcc 12 unrolls them first and then vectorises the loop
# around them, with wrong lane sums for integer counts (test_tile: NNZ of i32 rows). Lanes cleared or copied by string instructions would
# take as long as all else.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT CLF_SANITIZE AND CLF_FAST_LOOPS)
  foreach(type IN LISTS CLF_TILE_TYPES)
    set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/tile_folds_${type}.c PROPERTIES
      COMPILE_OPTIONS "-O2;-ftree-vectorize;-fvect-cost-model=dynamic;-fpeel-loops;-fno-tree-loop-distribute-patterns")
  endforeach()
endif()
set(CLF_TILE_ISAS baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set(CLF_TILE_FLAGS_avx2 -mavx2 -mfma)
  set(CLF_TILE_FLAGS_avx512 -mavx2 -mfma -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512)
  list(APPEND CLF_TILE_ISAS avx2 avx512)
endif()
set(CLF_TILE_OBJECTS "")
foreach(isa IN LISTS CLF_TILE_ISAS)
  add_library(clf_tile_${isa} OBJECT ${CLF_TILE_LOOPS})
  target_compile_definitions(clf_tile_${isa} PRIVATE _GNU_SOURCE CLF_TILE_ISA=${isa})
  target_compile_options(clf_tile_${isa} PRIVATE ${CLF_TILE_FLAGS} ${CLF_TILE_FLAGS_${isa}})
  target_include_directories(clf_tile_${isa} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/core/include
                                                     ${PROJECT_SOURCE_DIR}/host/include ${PROJECT_BINARY_DIR}/include)
  set_target_properties(clf_tile_${isa} PROPERTIES C_STANDARD 11 POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  list(APPEND CLF_TILE_OBJECTS $<TARGET_OBJECTS:clf_tile_${isa}>)
endforeach()
