/* SPDX-License-Identifier: Apache-2.0
 * The host executor, device 0: runs a cplan over RANGE axes in tiles of 512 elements by table-driven loops over ops.def, built for
 * several instruction sets and chosen at run time. Bits are those of core/fold.h for every thread count. */
#ifndef CLF_RUN_TILE_H
#define CLF_RUN_TILE_H
#include "device/profile.h"
#include "host/run/pool.h"
#include "planner/cplan.h"
typedef enum clf_isa { CLF_ISA_AUTO, CLF_ISA_BASELINE, CLF_ISA_AVX2, CLF_ISA_AVX512 } clf_isa;
/** Best the CPU supports; CLF_ISA_AUTO resolved. Asking for one the CPU lacks gives the best below it. */
clf_isa clf_isa_pick(clf_isa want);
const char *clf_isa_name(clf_isa isa);

enum { CLF_SCRATCH_KEPT = 8 << 20 }; /* most working memory that a program keeps from one run to the next */
typedef struct clf_tile clf_tile; /* prepared program: immutable after clf_tile_new, so any thread may run it */
/** At most two RANGE axes, dense operands, no gathers, sinks STORE and FOLD without guard; no FOLD or SCAN values. The rest goes to ref.c. */
bool clf_tile_fits(const clf_cplan *c);
clf_status clf_tile_new(clf_tile **out, const clf_cplan *c, clf_isa isa, clf_mem *mem, clf_err *err);
void clf_tile_free(clf_tile *t);
/** Run. pool may be NULL (serial). Scratch comes from `mem`, kept for the next run by the tile program where possible.
 *  cost: sub-microsecond overhead for tiny extents. errors: CLF_E_NOMEM. */
clf_status clf_tile_run(clf_tile *t, const clf_bind *bind, clf_pool *pool, clf_err *err);
/** Bytes of working memory that a run takes, and the program keeps; bind->in may be NULL. errors: CLF_E_LIMIT. */
clf_status clf_tile_working(clf_tile *t, const clf_bind *bind, const clf_pool *pool, size_t *bytes, clf_err *err);
/** Measure device 0: bandwidth by size, class rates, launch cost. < 3 s. */
clf_status clf_tile_calibrate(clf_pool *pool, clf_isa isa, clf_mem *mem, clf_profile *out, clf_err *err);
#endif
