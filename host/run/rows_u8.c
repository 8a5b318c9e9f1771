/* SPDX-License-Identifier: Apache-2.0
 * The row executor's loops for u8: all of rows_loops.h. */
#define ELEM_T u8
#include "host/run/rows_loops.h"
