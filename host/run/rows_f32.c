/* SPDX-License-Identifier: Apache-2.0
 * The row executor's loops for f32: all of rows_loops.h. */
#define ELEM_T f32
#include "host/run/rows_loops.h"
