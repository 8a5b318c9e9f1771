/* SPDX-License-Identifier: Apache-2.0
 * The reference executor: every legal cplan, naively, one value at a time. It defines the semantics (bits included, up to elementary
 * functions), is the fallback when no skeleton fits, and serves as second oracle. */
#ifndef CLF_KERNELS_REF_H
#define CLF_KERNELS_REF_H
#include "planner/cplan.h"
/** Run c on the bound memory. errors: CLF_E_NOMEM; CLF_E_SHAPE when a gather index or key is out of range. */
clf_status clf_ref_run(const clf_cplan *c, const clf_bind *bind, clf_mem *mem, clf_err *err);
#endif
