/* SPDX-License-Identifier: Apache-2.0
 * The host executor, device 0: runs a cplan over RANGE axes in tiles of 512 elements by table-driven loops over ops.def, built for
 * several instruction sets and chosen at run time. Bits are those of core/fold.h for every thread count. */
#ifndef CLF_RUN_TILE_H
#define CLF_RUN_TILE_H
#include "core/least.h"
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
/* The rest of an operator, which somebody else runs meanwhile. */
struct clf_tile_job;
typedef struct clf_tile_rest {
    int64_t from; /* cells before it, in row-major order, are this run's */
    /* Waits for the rest, and hands its states to clf_tile_take and clf_tile_take_cols, of each fold in their order. */
    clf_status (*end)(void *user, struct clf_tile_job *j, clf_err *err);
    void *user;
} clf_tile_rest;
/** May others run the cells from there on? Behind whole leaves where there are full folds, whole rows where something is kept of these, and
 *  whole blocks of rows where there are column folds. */
bool clf_tile_may_end(const clf_tile *t, const clf_bind *bind, int64_t from);
/** As clf_tile_run, for the cells before rest->from. errors: those too of rest->end. */
clf_status clf_tile_run_first(clf_tile *t, const clf_bind *bind, clf_pool *pool, const clf_tile_rest *rest, clf_err *err);
/** A state of the full fold that becomes result `out`, as clf_skel.states tells it. */
void clf_tile_take(struct clf_tile_job *j, int out, int64_t index, int level, const uint64_t word[3]);
/** States of the column fold that becomes result `out`, as clf_skel.columns tells them. */
void clf_tile_take_cols(struct clf_tile_job *j, int out, int64_t index, int level, const uint64_t *const word[3]);
/** Bytes of working memory that a run takes, and the program keeps; bind->in may be NULL. errors: CLF_E_LIMIT. */
clf_status clf_tile_working(clf_tile *t, const clf_bind *bind, const clf_pool *pool, size_t *bytes, clf_err *err);
/** Measure device 0: bandwidth by size, class rates, launch cost. One pass, < 2 s. known: least times of the passes before, zeros at first. */
clf_status clf_tile_calibrate(clf_pool *pool, clf_isa isa, clf_mem *mem, clf_least *known, clf_profile *out, clf_err *err);
#endif
