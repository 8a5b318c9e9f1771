/* SPDX-License-Identifier: Apache-2.0
 * The row executor's loops for i64: all of rows_loops.h. */
#define ELEM_T i64
#include "host/run/rows_loops.h"
