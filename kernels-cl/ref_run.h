/* SPDX-License-Identifier: Apache-2.0
 * One run of the reference executor. Private to kernels-cl/ref*.c.
 *
 * Values are computed in frames. The root frame holds what a sink needs, evaluated in order at each position of the sink's loop. Every
 * FOLD, SCAN or DOT value has a frame of its own: the values that vary with its axis, evaluated at each position of that axis; what they
 * need and what does not vary with it belongs to the frame outside and is copied in on entry. A CAT has one such frame for each part, and
 * enters one of them for a single position; a FOLD whose rest varies by columns has two and goes from the first into the second. So
 * nothing is computed before its axes stand, and nested folds need a stack of frames, never recursion. */
#ifndef CLF_KERNELS_REF_RUN_H
#define CLF_KERNELS_REF_RUN_H
#include "kernels-cl/ref.h"
#include "kernels-cl/ref_ops.h"

typedef struct clf_ref_frame {
    int value;              /* the FOLD, SCAN, DOT or CAT; -1: root */
    int axis, part;         /* what moves; -1: nothing does. CAT, FOLD with a rest by columns: which of its inputs */
    int nlist, nhoist;
    int32_t *list, *hoist;  /* values computed here; values copied in on entry; both ascending */
    clf_slot *at;           /* one per value of the cplan */
    int cursor;             /* next of list */
    int up;                 /* the frame that waits for this one */
    int64_t now, end, outside; /* counter of the axis: current, end, and what it was before */
    int64_t gap;            /* the first position not met, positions ascending */
    int memo_axis;          /* results are kept by the position of this RANGE axis as long as no other axis of the value moves; -1 none */
    bool lasting;           /* or for good, by the number of the entry: an ENTRY axis, and the value varies with no other but its row */
    int64_t memo_n, epoch, *stamp; /* memo[k] holds where stamp[k] is the epoch */
    clf_slot *memo;
    clf_ref_tree tree;
} clf_ref_frame;

typedef struct clf_ref_job {
    const clf_cplan *c;
    const clf_bind *bind;
    clf_mem *mem;
    clf_err *err;
    int64_t n[CLF_MAX_AXES];       /* extents; of ENTRY axes: columns */
    int64_t count[CLF_MAX_AXES];   /* where the axis stands: its counter (ENTRY: number of the entry), -1 outside its loop */
    int64_t pos[CLF_MAX_AXES];     /* its position (ENTRY: the column) */
    uint32_t moves[CLF_MAX_AXES];
    uint32_t moved;                /* axes that moved since the root frame was evaluated */
    bool fresh;                    /* the root frame was never evaluated */
    int nframe;                    /* frame[0] is the root */
    clf_ref_frame *frame;
    int32_t *frame_of;             /* per value: its frame, 0 none; the first of two */
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
/** How many entries the operand of an ENTRY axis has. */
int64_t clf_ref_entries(const clf_ref_job *r, int axis);
/** The column of entry number e of an ENTRY axis. */
int64_t clf_ref_entry_column(const clf_ref_job *r, int axis, int64_t e);
clf_status clf_ref_read(clf_ref_job *r, int access, const clf_slot *values, clf_slot *out);

/* A loop over some axes, the last the fastest. */
typedef struct clf_ref_odometer {
    int n, axis[CLF_MAX_AXES];
    int64_t now[CLF_MAX_AXES], end[CLF_MAX_AXES];
} clf_ref_odometer;
clf_ref_odometer clf_ref_loop_over(uint32_t set);
/** To the first (start) or next position; *live: there is one. Axes behind a moved one are opened anew, as their extent may depend on it. */
clf_status clf_ref_turn(clf_ref_job *r, clf_ref_odometer *o, bool start, bool *live);
/** How many positions the axes have where the others stand: the product of their extents, or counted where one runs over entries or a
 *  segment. */
clf_status clf_ref_count(clf_ref_job *r, clf_ref_odometer *o, int64_t *n);
/** Product of the extents, INT64_MAX when it overflows. */
int64_t clf_ref_extent_of(const clf_ref_job *r, uint32_t set);
/** Row-major position in the kept axes. */
int64_t clf_ref_kept_position(const clf_ref_job *r, uint32_t keep);
/** The last ENTRY axis of the set; the last ENTRY or SEG axis. -1 none. */
int clf_ref_entry_of(const clf_cplan *c, uint32_t set);
int clf_ref_segment_of(const clf_cplan *c, uint32_t set);
clf_status clf_ref_fits(clf_ref_job *r, int out, int64_t cells);
void clf_ref_put(clf_ref_job *r, int out, int64_t index, clf_slot x);

/* ref.c: values */
/** Make the root frame what sink s needs. */
void clf_ref_root(clf_ref_job *r, const clf_sink *s);
/** Evaluate the root frame where the axes stand. */
clf_status clf_ref_eval(clf_ref_job *r);

static inline clf_dtype clf_ref_type(const clf_ref_job *r, int32_t v) { return (clf_dtype)r->c->value[v].dtype; }
/** A value of the root frame. */
static inline clf_slot clf_ref_value(const clf_ref_job *r, int32_t v) { return r->frame[0].at[v]; }
static inline bool clf_ref_guarded(const clf_ref_job *r, const clf_sink *s) {
    return s->guard < 0 || clf_ref_true(clf_ref_value(r, s->guard), clf_ref_type(r, s->guard));
}

/* ref_rest.c: the rest of a FOLD sink */
/** What all cells without entry are together, where nothing is kept; *some: there are such cells. */
clf_status clf_ref_rest_whole(clf_ref_job *r, const clf_sink *s, clf_ref_state *missing, bool *some);
/** Merge each column's cells without entry into its wide state. */
clf_status clf_ref_rest_columns(clf_ref_job *r, const clf_sink *s, clf_ref_state *state);

/* ref_sink.c, ref_meet.c */
clf_status clf_ref_sink(clf_ref_job *r, int sink);
/** Do the cells of this FOLD or DOT grow side by side? Then clf_ref_meet runs it. */
bool clf_ref_meets(const clf_ref_job *r, const clf_sink *s);
clf_status clf_ref_meet(clf_ref_job *r, const clf_sink *s);
#endif
