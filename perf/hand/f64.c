/* SPDX-License-Identifier: Apache-2.0
 * The hand-written references in f64. */
#define T double
#define NAME(x) hand_##x##_f64
#define F(x) x
#include "perf/hand/loops.h"
