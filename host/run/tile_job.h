/* SPDX-License-Identifier: Apache-2.0
 * Setting up and tearing down one run of a tile program. */
#ifndef CLF_RUN_TILE_JOB_H
#define CLF_RUN_TILE_JOB_H
#include "host/run/tile_run.h"
/** Choose mode, parts and workers for the bound extents and get the memory; cells before `end` alone are run. errors: CLF_E_NOMEM, CLF_E_LIMIT. */
clf_status clf_tile_job_begin(clf_tile_job *j, clf_tile *t, const clf_bind *bind, clf_pool *pool, int64_t end, clf_err *err);
void clf_tile_job_end(clf_tile_job *j, clf_tile *t);
/** Point the slots of a worker at its registers. */
void clf_tile_frame_init(const clf_tile_job *j, int worker);
/** The frame of a worker that clf_tile_frame_init has prepared. */
void clf_tile_frame_at(clf_tile_frame *f, const clf_tile_job *j, int worker);
/** Compute scalars and COL values, and store those that are results. slot: the slots of one worker. */
void clf_tile_prologue(const clf_tile_job *j, void **slot);
#endif
