/* SPDX-License-Identifier: Apache-2.0
 * Writing the holes of row.group.cl, entry.group.cl and row.group.merge.cl. Values and states are scalars; names beside those of
 * group_states.h: qA pointer of access A with its base offset, xKsA its stride along axis K; rO pointer of output O; mV buffer of value
 * V, by row of the pass; vV value V; i the row, r its number in the pass, uK the position of axis K (along entries: the column), eK its
 * extent; uKf the first of a step's positions, and e_ which of them; hV a vector of value V there, kV_E value V of the E-th of columns;
 * whole_: may vectors be loaded and stored whole; entry the number of a stored entry; lV pairs of value V, from entry t0_ on; xpA xcA
 * offsets and columns of access A where another CSR operand is located. */
#ifndef CLF_KERNELS_SKEL_BAND_TEXT_H
#define CLF_KERNELS_SKEL_BAND_TEXT_H
#include "kernels-cl/skel/band_plan.h"
#include "kernels-cl/skel/group_states.h"

typedef struct clf_btext {
    clf_ctext x;    /* first: writers of holes get its address */
    clf_cplan c;    /* the cplan with sinks for folds, in the order of items */
    int32_t *made;
    clf_cell cell;  /* what x.p points to: one lane, nothing that varies from strip to strip */
    const clf_band *p;
    uint8_t *used;  /* per value: by the job that is being written; 2 and 4: in the pair of it that is being written */
    uint32_t scope; /* axes whose positions the text knows there */
    bool tiled;     /* pairs are there already, in local memory */
    int width, now; /* of the job that is being written (band_plan.h); which position of its step: -1: the first, for all */
    int8_t beside;
    bool loaded;    /* vectors of the step's operands are there */
} clf_btext;

/** False: no memory. */
bool clf_btext_begin(clf_btext *t, const clf_band *p, clf_arena *arena);

/* band_text.c: holes of row.group.cl, and what jobs are made of */
void clf_btext_pass(clf_ctext *x);
/** Does an access move along the axis, and by another stride than 1? */
bool clf_btext_stride(const clf_band *p, int access, int axis);
/** In front of a job: `cells` and `lines`, positions of its keep apart from rows and with those of the pass. */
void clf_btext_lines(clf_btext *t, uint32_t keep);
/** In front of what the group does for x below n, by turns: for as many side by side as a step has, of which x is the first. */
void clf_btext_each(clf_btext *t, const char *x, const char *n);
/** The position of `line`, an expression, in the axes of keep. */
void clf_btext_position(clf_btext *t, uint32_t keep, const char *line);
/** Values that the items of job k need (k -1: those marked), of them those that vary with axes of `inside`, or the others. */
void clf_btext_mark(clf_btext *t, int k);
void clf_btext_values(clf_btext *t, uint32_t inside, bool vary);
/** Where the result of an item goes, as an lvalue for line `line`. */
const char *clf_btext_result(const clf_btext *t, int item, const char *line, char buf[64]);

/** Is the item a fold of job k? */
static inline bool clf_btext_folds(const clf_btext *t, int item, int k) {
    return t->p->item[item].job == k && t->c.sink[item].kind != CLF_SINK_STORE && t->c.sink[item].kind != CLF_SINK_PATTERN;
}
/** Lanes of the job's folds, empty: for each position of a step. */
void clf_btext_begin_lanes(clf_btext *t, int k);
/** What position e of a step calls its lanes. */
static inline char clf_btext_lane(int e) { return "stuv"[e > 0 ? e : 0]; }
/** Folds of job k take their values, at position `pos`. */
void clf_btext_steps(clf_btext *t, int k, const char *pos);
/* band_step.c: steps of one position or several, in a loop that moves along the axes of `inside` */
/** In front of the loop: what does not move. */
void clf_btext_before(clf_btext *t, uint32_t inside);
/** In the loop: values, and the job's folds and kept cells. pos: where folds are, an expression, of e_ too where steps are wide. */
void clf_btext_step(clf_btext *t, int k, uint32_t inside, const char *pos);
/** A sum over axes: where an access reads; row-major among the value's axes, where a buffer does. */
void clf_btext_place(clf_btext *t, int access);
void clf_btext_index(clf_btext *t, uint32_t axes);
/** The condition whole_, where a job asks for it. */
void clf_btext_whole(clf_btext *t);

/** Does a value of the job vary with rows? */
bool clf_btext_asks_row(const clf_btext *t);
/** Does a step of several positions take the value from neighbouring cells of memory? */
bool clf_btext_is_vector(const clf_btext *t, int v);
/** The value, wherever the axes stand. */
void clf_btext_value(clf_btext *t, int v);
/* band_folds.c, band_cols.c */
void clf_btext_leaves(clf_btext *t, int k);
void clf_btext_full(clf_btext *t, int k);
void clf_btext_cols(clf_btext *t, int k);
void clf_btext_scan(clf_btext *t, int k);
/** Marks what the marked pairs need, to compute them. */
void clf_btext_mark_pairs(clf_btext *t);
/* band_pair.c */
void clf_btext_pair(clf_btext *t, int v);
/* band_entry.c: folds along the entries of rows; hole of entry.group.cl: jobs over all entries */
void clf_btext_rows(clf_btext *t, int k);
/** From `entry` to `to`; inside: axes that move on the way; next: what the row of an entry takes. */
void clf_btext_entries(clf_btext *t, int k, uint32_t inside, const char *next, const char *pos);
/* band_tile.c: pairs in local memory: where; made; in front of the lines of short rows r0_ to r1_; all of the long rows */
void clf_btext_tile_room(clf_btext *t, int k);
void clf_btext_tile_make(clf_btext *t, int k, bool row);
void clf_btext_tile_rows(clf_btext *t, int k);
void clf_btext_tile_long(clf_btext *t, int k);
void clf_btext_meet(clf_btext *t, int k); /* band_meet.c */
void clf_btext_flat(clf_ctext *x);
/** Words of local memory that a work-item's states take. */
int clf_btext_states(const clf_btext *t);
/* band_rest.c: to state a of a row's fold; of a full one: kept for, and taken by, who has the result */
void clf_btext_rest_of_row(clf_btext *t, int s);
void clf_btext_rest_waits(clf_btext *t, int s);
void clf_btext_rest_comes(clf_btext *t, int s);
/* band_merge.c: hole of row.group.merge.cl */
void clf_btext_merges(clf_ctext *x);
#endif
