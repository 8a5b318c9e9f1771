/* SPDX-License-Identifier: Apache-2.0
 * The hand-written references in f32. */
#define T float
#define NAME(x) hand_##x##_f32
#define F(x) x##f
#include "perf/hand/loops.h"
