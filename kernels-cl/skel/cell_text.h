/* SPDX-License-Identifier: Apache-2.0
 * Writing the holes of cell.chunk.cl. Names in the text: xA oK memory of access A and output K with base offsets xbA obK and row
 * stride xlA; qA pointer of access A at the current strip; vN value N (vN_R: of strip R of those taken at once); tN private tile of a
 * value between loops, gA repeated row vector; of fold sink S, per state component M: fSlM lanes, fSwM wide state, fSzM full-fold
 * stack, fSaM column accumulator, fSkM column stack, fSyM row stack. */
#ifndef CLF_KERNELS_SKEL_CELL_TEXT_H
#define CLF_KERNELS_SKEL_CELL_TEXT_H
#include "kernels-cl/emit.h"
#include "kernels-cl/skel/cell_plan.h"

/* Which registers the text is for that is being written: where it differs, it has a branch for 32 of 64 bytes and one for fewer, and
 * CLF_WIDE_REGISTERS (fold.clh) tells the compiler which of them counts. */
typedef enum clf_registers { CLF_ANY_REGISTERS, CLF_WIDE_REGISTERS, CLF_FEW_REGISTERS } clf_registers;

typedef struct clf_ctext {
    clf_emit e;
    const clf_cell *p;
    const clf_cplan *c;
    uint8_t *stage;      /* per value: the loop that computes it */
    uint64_t *uses;      /* per value: the loops that read it */
    int stages;
    bool nontemporal;
    char strip[24];      /* cells of a full strip, as text */
    int ru;              /* strips the text now being written takes at once */
    bool whole;          /* it takes full strips only */
    int now;             /* its loop */
    bool tail;           /* its last, short vector of `r` cells */
    bool once;           /* what varies with columns only */
    clf_registers registers;
    bool groups;         /* group skeletons: folds meet in local memory, there is no carry stack and no hole of one */
    const uint8_t *held; /* row.chunk: per value CLF_HELD_*; NULL: nothing is held */
    const uint8_t *deep; /* row.chunk: per value, rows of its row buffer where that outlives a pass, in panels a vector wide; NULL: none */
    const uint8_t *stacks; /* row.chunk: per sink the number of the stack that the leaves of a full fold go onto; NULL: they share one */
    int stack;           /* the one being written of */
    void (*sinks)(struct clf_ctext *x); /* row.chunk: what takes values at the end of a loop's body; NULL: the sinks of cell.chunk */
} clf_ctext;

/* Values of row.chunk that stand in a row buffer bN from one sweep on: not, read from it, written to it by this loop. */
enum { CLF_HELD_NOT, CLF_HELD_READ, CLF_HELD_WRITE };

/* In place of a row's number: the rows taken at once, a lane each (row_lanes.c). */
enum { CLF_ROWS_IN_LANES = -1 };

#define CLF_PUT(x, ...) clf_str_fmt((x)->e.out, __VA_ARGS__)

static inline const clf_value *clf_ctext_val(const clf_ctext *x, int v) { return &x->c->value[v]; }
static inline int clf_ctext_level(const clf_ctext *x, int v) { return clf_cell_level(x->p, clf_ctext_val(x, v)->axes); }
/** Read again rather than kept between loops. */
static inline bool clf_ctext_is_memory(const clf_value *w) { return w->op == CLF_V_LOAD || w->op == CLF_V_INDEX; }
static inline bool clf_ctext_is_read(const clf_ctext *x, int v) {
    return clf_ctext_is_memory(&x->c->value[v]) || (x->held && x->held[v] == CLF_HELD_READ);
}

/* cell_values.c */
void clf_ctext_suffix(clf_ctext *x, uint32_t axes, int r); /* "_R" or "_l" for names of what varies from strip to strip */
bool clf_ctext_varies(const clf_ctext *x, uint32_t axes); /* from strip to strip */
void clf_ctext_value(clf_ctext *x, int v, int r);         /* name of a value */
void clf_ctext_operand(clf_ctext *x, int v, int width, int r);
void clf_ctext_compute(clf_ctext *x, int v, int width, int r); /* declaration of one value */
void clf_ctext_hold(clf_ctext *x, int v, int r);          /* into its row buffer */
void clf_ctext_schedule(clf_ctext *x);                    /* values to loops */
/** Text by `put` of `what` for wide registers, and again for few. */
void clf_ctext_by_registers(clf_ctext *x, void (*put)(clf_ctext *, const void *), const void *what);

/* cell_text.c */
void clf_ctext_setup(clf_ctext *x);
void clf_ctext_strip(clf_ctext *x, int ru);
void clf_ctext_once(clf_ctext *x);
void clf_ctext_spans(clf_ctext *x);                       /* loops over the cells j0 .. e1 */
void clf_ctext_store_vector(clf_ctext *x, int s, int r);
void clf_ctext_store_cast(clf_ctext *x, int s, int width, int r); /* the sink's value as its output's type */
bool clf_ctext_streams(const clf_ctext *x, clf_dtype t);  /* may vectors of t be written past the caches? */

/* cell_fetch.c */
void clf_ctext_fetch(clf_ctext *x);                       /* at the head of a loop over whole vectors: what streams, a page ahead */
int clf_ctext_block(const clf_ctext *x);                  /* cells of the blocks that the loop is better cut into; 0: it is not */
void clf_ctext_fetch_block(clf_ctext *x, int cells);      /* at the head of a block: the next one, stream by stream */

/* cell_folds.c, cell_full.c, cell_cols.c */
static inline clf_dtype clf_ctext_type(const clf_ctext *x, int s) { return (clf_dtype)x->c->value[x->c->sink[s].value[0]].dtype; }
void clf_fold_setup(clf_ctext *x);
void clf_fold_lanes(clf_ctext *x, int s, int r);          /* declare empty lanes */
void clf_fold_step(clf_ctext *x, int s, int r);           /* lanes take the value at u */
void clf_fold_wide(clf_ctext *x, int s, int r);           /* lanes to fSwM_R, declared before */
void clf_fold_wide_decl(clf_ctext *x, int s, int r);
void clf_fold_row_open(clf_ctext *x, int s, int r);
void clf_fold_row_leaf(clf_ctext *x, int s, int r);
void clf_fold_row_push(clf_ctext *x, int s, int r);      /* the wide state of the leaf at j0 */
/* States 0 .. n - 1 in one, whole runs of `run` together (fold_together.c). */
void clf_fold_row_leaves(clf_ctext *x, int s, int n, int run);
void clf_fold_row_merge(clf_ctext *x, int s, int r);      /* what is left of a row's stack: to fSwM_R */
void clf_fold_row_close(clf_ctext *x, int s, int r);
void clf_fold_col_step(clf_ctext *x, int s);
void clf_fold_tile_step(clf_ctext *x, int s);             /* full fold outside FLAT: the value goes to a private tile */
void clf_fold_tile_flush(clf_ctext *x);                   /* after a span: whole leaves leave the tile */
void clf_fold_full_leaf(clf_ctext *x);                    /* FLAT: lanes of all full folds onto the stack */
void clf_fold_hole_col_init(clf_ctext *x);
void clf_fold_hole_col_push(clf_ctext *x);
void clf_fold_hole_finish(clf_ctext *x);
void clf_fold_hole_final(clf_ctext *x);
void clf_fold_hole_full(clf_ctext *x, int which);         /* 0 MERGE 1 PUT 2 GET 3 INIT */
#endif
