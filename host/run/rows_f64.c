/* SPDX-License-Identifier: Apache-2.0
 * The row executor's loops for f64: all of rows_loops.h. */
#define ELEM_T f64
#include "host/run/rows_loops.h"
