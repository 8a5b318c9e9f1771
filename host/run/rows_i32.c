/* SPDX-License-Identifier: Apache-2.0
 * The row executor's loops for i32: all of rows_loops.h. */
#define ELEM_T i32
#include "host/run/rows_loops.h"
