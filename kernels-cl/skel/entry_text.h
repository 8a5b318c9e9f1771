/* SPDX-License-Identifier: Apache-2.0
 * Writing the holes of entry.chunk.cl. Names in the text, besides those of cell_text.h: xp xc xe offsets, columns and cells of the CSR
 * operand; xA xbA memory and base of access A, xlA xjA xkA its strides by row, column and short axis; eb first entry of the tile, cells
 * of it; ix_ columns of a vector of entries, c_ of one; vN value N, tN its private tile over entries, yN its private array along a
 * short axis, dN_B block B of the row that DOT N takes; aS_B accumulators of task S, gS hS its wide state and stack of them, wS_ the
 * cells of rows that wait for its total, qS_ and qS_M which leaves of those are done and their states, bN the numbers of DOT N of a
 * block of entries, keptS stackS what task S of a block of rows keeps between cuts, at_ where its rows go on; vN_l values of a batch of
 * rows, mN what waits of them; p_ the work-item's place for partial results, home_ those of all, by the first chunk of what is merged. */
#ifndef CLF_KERNELS_SKEL_ENTRY_TEXT_H
#define CLF_KERNELS_SKEL_ENTRY_TEXT_H
#include "kernels-cl/skel/cell_folds.h"
#include "kernels-cl/skel/entry_plan.h"

typedef struct clf_etext {
    clf_ctext x;      /* what the writers shared with cell.chunk see */
    const clf_entry *p;
    const char *row;  /* name of the row that scalars and short axes are read for */
    int sweep;
    bool eight;       /* text for entries k_ of the eight from z on, which e8_ and c8_ point at */
    bool none_zero;   /* of their cells that may be 0, and so passed over, none is: text for where that is known */
    bool by_vector;   /* DOTs of a vector of entries: the loop over these behind them asks for rows of the side */
    bool late[CLF_ENTRY_VALUES]; /* in this sweep: asked for entry by entry, behind the loops over vectors */
    bool tile[CLF_ENTRY_VALUES]; /* has a private tile */
} clf_etext;

static inline const clf_value *clf_etext_val(const clf_etext *t, int v) { return &t->p->c->value[v]; }
static inline clf_dtype clf_etext_type(const clf_etext *t, int v) { return (clf_dtype)t->p->c->value[v].dtype; }
static inline int clf_etext_padded(const clf_etext *t, int axis) {
    int w = t->x.p->width;
    return ((int)clf_entry_extent(t->p, axis) + w - 1) / w * w;
}
/** Before a loop over `vectors` vectors of a short axis: a few need none, and what they leave for each other stays in registers. */
static inline const char *clf_etext_short_loop(int vectors) { return vectors <= 4 ? "CLF_WHOLE " : ""; }
/** Cells of entries that are read again rather than kept between loops. */
static inline bool clf_etext_is_memory(const clf_etext *t, int v) {
    int op = t->p->c->value[v].op;
    return op == CLF_V_LOAD || op == CLF_V_INDEX || clf_entry_is_pair(t->p, v);
}
static inline bool clf_etext_is_stored(const clf_etext *t, int v) {
    const clf_value *w = clf_etext_val(t, v);
    return w->op == CLF_V_LOAD && t->p->c->access[w->arg].protocol == CLF_ENTRIES;
}

/* entry_values.c */
void clf_etext_address(clf_etext *t, int a, const char *row, const char *column); /* "xA + xbA + ..." without the short axis */
void clf_etext_side_step(clf_etext *t, int a, const char *k);                     /* " + k * xkA" */
void clf_etext_run_load(clf_etext *t, int a, const char *from, int at, int lanes); /* lanes along the short axis, zeros behind its end */
void clf_etext_lane(clf_etext *t, int a, const char *row, int l, const char *k); /* ", *(address)" at entry u + l; k: on the short axis */
void clf_etext_name(clf_etext *t, int v);
void clf_etext_along_decl(clf_etext *t, int v);
void clf_etext_once_values(clf_etext *t);
void clf_etext_row_values(clf_etext *t, int ready);      /* what can be computed once `ready` sweeps are over */
void clf_etext_row_scalar(clf_etext *t, int v);          /* one of them that no sweep makes */
void clf_etext_entry_value(clf_etext *t, int v);         /* one vector of entries */
/* entry_folds.c */
/** a * b + c, or c where a zero annihilates (skip: of a 1, of b 2). */
void clf_etext_fma(clf_etext *t, int skip, clf_dtype type, int width, const char *a, const char *b, const char *c);
void clf_etext_dot_step(clf_etext *t, int s, int r, const char *a, const char *b, bool tail);
void clf_etext_fold_step(clf_etext *t, int s, const char *position, bool tail);
void clf_etext_along_task(clf_etext *t, int s);
void clf_etext_fold_open(clf_etext *t, int s);
void clf_etext_fold_lanes(clf_etext *t, int s);
void clf_etext_fold_leaf(clf_etext *t, int s);
void clf_etext_fold_close(clf_etext *t, int s);
/* entry_pairs.c: DOTs over a short axis, one per entry, into tiles */
void clf_etext_pair_rows(clf_etext *t);
/** Those of entries eb + z to eb + end, for z from where it stands; `below`: as long as their columns are, NULL without end. */
void clf_etext_pair_loop(clf_etext *t, const char *end, const char *below);
/** Those of one vector of entries, from eb on; behind `last`, a text, they are those of that entry again. NULL: all are there. */
void clf_etext_pair_vector(clf_etext *t, const char *last);
bool clf_etext_pairs_now(const clf_etext *t);
bool clf_etext_pairs_together(const clf_etext *t); /* are there some, and do those of several entries go together? */
/** Ask for a side's rows at entries to come: those ahead of entry z, or of z `more`. */
void clf_etext_fetch(clf_etext *t, int a, int cells, const char *more);
/** The same for all sides that DOTs per entry read, which may be near. */
void clf_etext_fetch_sides(clf_etext *t);
/* entry_block.c: the same for a block of entries at a time */
void clf_etext_block_setup(clf_etext *t);
void clf_etext_block_tile(clf_etext *t);
/* entry_cuts.c: a block of rows cut by cut */
void clf_etext_cuts_setup(clf_etext *t);
void clf_etext_cuts(clf_etext *t);
/* entry_locate.c: cells of other CSR operands at entries, into tiles */
void clf_etext_locate_setup(clf_etext *t);
bool clf_etext_locates_now(const clf_etext *t);
/** Entries `from` to `to` of the tile, all of the row t->row whose entries begin at `begin`. */
void clf_etext_locate(clf_etext *t, const char *from, const char *to, const char *begin);
/* entry_rest.c: cells without entry */
/** Merge `missing` of them, a text, into the wide state of task s. */
void clf_etext_rest(clf_etext *t, int s, const char *missing);
/** The end of full folds. */
void clf_etext_full_final(clf_etext *t);
/* entry_late.c: what is done entry by entry */
void clf_etext_late_open(clf_etext *t);
void clf_etext_late_close(clf_etext *t);
void clf_etext_late_lanes(clf_etext *t);
void clf_etext_late_loop(clf_etext *t);
void clf_etext_late_vector(clf_etext *t, bool tail); /* the same for one vector of entries, from eb on */
void clf_etext_late_leaf(clf_etext *t);
void clf_etext_late_keep(clf_etext *t); /* what goes on in a later cut */
/* entry_meet.c: partial results */
void clf_etext_meet_setup(clf_etext *t);
void clf_etext_meet_push(clf_etext *t);
void clf_etext_meet(clf_etext *t);             /* who goes on to the end */
void clf_etext_meet_final(clf_etext *t);
/* entry_ahead.c */
/** Ask for what rows to come have besides entries. */
void clf_etext_rows_ahead(clf_etext *t);
/* entry_total.c: folds over all rows */
void clf_etext_totals_setup(clf_etext *t);
void clf_etext_total_put(clf_etext *t, int s);   /* a row's cells into scratch */
void clf_etext_totals_leaves(clf_etext *t);    /* leaves that are the work-item's own, when its rows are done */
void clf_etext_totals(clf_etext *t);           /* the end of them */
/* entry_batch.c: as many rows as a vector has lanes, sweep by sweep */
void clf_etext_batch_setup(clf_etext *t);
void clf_etext_batch(clf_etext *t);
/* entry_loops.c */
void clf_etext_mark(clf_etext *t, int sweep); /* what this sweep needs: t->sweep, uses, late, tile */
void clf_etext_vectors(clf_etext *t);          /* its loops over the tile */
void clf_etext_vector(clf_etext *t, bool tail); /* the same for one vector of entries, from eb on, or the first `cells` of it */
bool clf_etext_vectors_short(const clf_etext *t);    /* no elementary function in them */
/* entry_rows.c */
void clf_etext_prepare(clf_etext *t);
void clf_etext_setup(clf_etext *t);
void clf_etext_tile(clf_etext *t);
void clf_etext_row(clf_etext *t);
void clf_etext_once(clf_etext *t);
int clf_etext_at_once(const clf_etext *t);               /* entries whose loops are done together */
void clf_etext_some_entries(clf_etext *t, bool locates); /* those from eb on, `cells` */
void clf_etext_sweep(clf_etext *t);                      /* the one marked, over the entries of a row */
void clf_etext_row_stores(clf_etext *t);
#endif
