/* SPDX-License-Identifier: Apache-2.0
 * The reference executor: every legal cplan, naively, one value at a time. It defines the semantics (bits included, up to elementary
 * functions), is the fallback when no skeleton fits, and serves as second oracle. */
#ifndef CLF_KERNELS_REF_H
#define CLF_KERNELS_REF_H
#include "planner/cplan.h"
/** Run c, a checked cplan, on the bound memory; c says what its inputs point at. Outputs are undefined after a failure.
 *  errors: CLF_E_NOMEM; CLF_E_SHAPE when an index, key, code or segment is out of range, an output is too small, or an extent negative;
 *  CLF_E_LIMIT when an operand's size overflows.  cost: a fold value is kept by its last range axis and
 *  computed anew wherever its other axes moved; a scan starts anew at every position. */
clf_status clf_ref_run(const clf_cplan *c, const clf_bind *bind, clf_mem *mem, clf_err *err);
#endif
