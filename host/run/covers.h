/* SPDX-License-Identifier: Apache-2.0
 * Covers kept on disk, of one context. See covers.c. */
#ifndef CLF_RUN_COVERS_H
#define CLF_RUN_COVERS_H
#include "device/disk.h"
#include "host/graph/ctx.h"
#include "planner/cover_kept.h"

/* What an entry of the folder has: the bytes that planner/cover_kept.h reads, and the program. */
typedef struct clf_cover_entry {
    clf_bytes cover, program;
} clf_cover_entry;
/** Of any bytes; they stay the caller's. */
clf_cover_entry clf_covers_split(clf_bytes payload);
/** The folder is opened by the first call; NULL: nothing is kept. */
const clf_keeper *clf_covers_keeper(clf_ctx *c);
/** It is opened anew by the next call. */
void clf_covers_close(clf_ctx *c);
#endif
