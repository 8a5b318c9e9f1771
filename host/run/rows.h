/* SPDX-License-Identifier: Apache-2.0
 * The host executor of the row form: cplans over the rows of a main input, dense or CSR, with values per row, per column, per cell or
 * stored entry, inner products and folds within rows, and sinks that store rows or meet over them. Rows pass in small batches through
 * the loops of tile_isa.h; bits are those of core/fold.h for every instruction set and thread count. */
#ifndef CLF_RUN_ROWS_H
#define CLF_RUN_ROWS_H
#include "host/run/tile.h"
#include "planner/skel.h"

struct clf_rows; /* prepared program: immutable after clf_rows_new, so any thread may run it (no typedef: planner/graph.h has a clf_rows) */
/** Axis 0 a RANGE, parent of all else; every value varies with it and at most one other axis, save the second operand of a DOT;
 *  sinks STORE, PATTERN, FOLD and DOT without guard. The rest goes to ref.c. */
bool clf_rows_fits(const clf_cplan *c);
/** errors: CLF_E_NOMEM; CLF_E_UNSUPPORTED where clf_rows_fits says no. */
clf_status clf_rows_new(struct clf_rows **out, const clf_cplan *c, clf_isa isa, clf_mem *mem, clf_err *err);
/** Run. pool may be NULL (serial). Scratch comes from `mem` and is kept for the next run where possible. CSR operands are trusted to
 *  have passed clf_csr_check. errors: CLF_E_NOMEM, CLF_E_LIMIT, CLF_E_SHAPE. */
clf_status clf_rows_run(struct clf_rows *r, const clf_bind *bind, clf_pool *pool, clf_err *err);
/* The rest of an operator, which somebody else runs meanwhile: rows, or stored entries, behind those that a run is bound to. */
struct clf_rows_job;
typedef struct clf_rows_rest {
    int64_t rows;                /* of all: their number says how large the blocks of sinks over rows are */
    const struct clf_csr *whole; /* over stored entries: all of the loop's operand, whose cells without entry full folds take in */
    /* Waits for the rest, and hands its states to clf_rows_take and clf_rows_take_columns, of each sink in their order. */
    clf_status (*end)(void *user, struct clf_rows_job *j, clf_err *err);
    void *user;
} clf_rows_rest;
/** As clf_rows_run, for the first rows; full folds end behind whole leaves, sinks over rows behind whole blocks. errors: those too of
 *  rest->end. */
clf_status clf_rows_run_first(struct clf_rows *r, const clf_bind *bind, clf_pool *pool, const clf_rows_rest *rest, clf_err *err);
/** A state of the full fold that becomes result `out`, as clf_skel.states tells it. */
void clf_rows_take(struct clf_rows_job *j, int out, int64_t index, int level, const uint64_t word[3]);
/** States of the sink over rows that becomes result `out`, as clf_skel.columns tells them. */
void clf_rows_take_columns(struct clf_rows_job *j, int out, int64_t index, int level, const clf_cell_order *order,
                           const uint64_t *const word[3]);
/** May a run end inside a row of stored entries? Then what it is bound to has the entries before it, and that row. */
bool clf_rows_may_end_inside(const struct clf_rows *r);
/** Bytes of working memory that a run over dense operands takes, and the program keeps; bind->in may be NULL. Over stored entries: 0, for
 *  it hangs on where they stand. errors: CLF_E_NOMEM, CLF_E_LIMIT, CLF_E_SHAPE. */
clf_status clf_rows_working(struct clf_rows *r, const clf_bind *bind, const clf_pool *pool, size_t *bytes, clf_err *err);
void clf_rows_free(struct clf_rows *r);
#endif
