/* SPDX-License-Identifier: Apache-2.0
 * One run of the reference executor. Private to kernels-cl/ref*.c.
 *
 * Values are computed in frames. The root frame holds what a sink needs, evaluated in order at each position of the sink's loop. Every
 * FOLD or SCAN value has a frame of its own: the values that vary with its axis, evaluated at each position of that axis; what they need
 * and what does not vary with it belongs to the frame outside and is copied in on entry. So nothing is computed before its axes stand,
 * and nested folds need a stack of frames, never recursion. */
#ifndef CLF_KERNELS_REF_RUN_H
#define CLF_KERNELS_REF_RUN_H
#include "kernels-cl/ref.h"
#include "kernels-cl/ref_ops.h"

typedef struct clf_ref_frame {
    int value;              /* the FOLD or SCAN; -1: root */
    int nlist, nhoist;
    int32_t *list, *hoist;  /* values computed here; values copied in on entry; both ascending */
    clf_slot *at;           /* one per value of the cplan */
    int cursor;             /* next of list */
    int up;                 /* the frame that waits for this one */
    int64_t now, end, outside; /* counter of the axis: current, end, and what it was before */
    clf_ref_tree tree;
} clf_ref_frame;

typedef struct clf_ref_job {
    const clf_cplan *c;
    const clf_bind *bind;
    clf_mem *mem;
    clf_err *err;
    int64_t n[CLF_MAX_AXES];       /* extents of RANGE and DICT axes */
    int64_t count[CLF_MAX_AXES];   /* where the axis stands: its counter (ENTRY: number of the entry), -1 outside its loop */
    int64_t pos[CLF_MAX_AXES];     /* its position (ENTRY: the column) */
    uint32_t moves[CLF_MAX_AXES];
    uint32_t moved;                /* axes that moved since the root frame was evaluated */
    bool fresh;                    /* the root frame was never evaluated */
    int nframe;                    /* frame[0] is the root */
    clf_ref_frame *frame;
    int32_t *frame_of;             /* per value: its frame, 0 none */
    int32_t *lists;                /* backing store of list and hoist */
    clf_slot *slots;               /* backing store of at */
    uint8_t *mark;
} clf_ref_job;

/* ref_data.c: memory and axes */
/** Extents and operands from the cplan and the binding. */
clf_status clf_ref_bind(clf_ref_job *r);
int64_t clf_ref_in_dim(const clf_ref_job *r, int in, int d);
int64_t clf_ref_out_dim(const clf_ref_job *r, int out, int d);
int64_t clf_ref_out_cells(const clf_ref_job *r, int out);
/** The counters the axis runs over where its parent stands. */
clf_status clf_ref_axis_open(clf_ref_job *r, int axis, int64_t *first, int64_t *end);
/** Stand at a counter; DICT axes that follow move along. counter -1: leave. */
clf_status clf_ref_axis_set(clf_ref_job *r, int axis, int64_t counter);
clf_status clf_ref_read(clf_ref_job *r, int access, const clf_slot *values, clf_slot *out);

/* ref.c: values */
/** Make the root frame what sink s needs. */
void clf_ref_root(clf_ref_job *r, const clf_sink *s);
/** Evaluate the root frame where the axes stand. */
clf_status clf_ref_eval(clf_ref_job *r);

/* ref_sink.c */
clf_status clf_ref_sink(clf_ref_job *r, int sink);
#endif
