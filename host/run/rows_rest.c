/* SPDX-License-Identifier: Apache-2.0
 * Cells without entry in the row executor's sinks (the rest of a FOLD, cplan.h): not visited, but folded in by their number behind what
 * the entries gave. A rest that varies with rows is met batch by batch, in a tree of its own; one that varies with columns, and all
 * folds that keep columns, want the entries of every column counted, once per run. Where a rest differs from one cell folded to the next,
 * rows_gaps.c says what they are together. */
#include "host/run/rows_run.h"

static clf_row_shape rest_shape(const struct clf_rows *r, const clf_row_sink *s) { return (clf_row_shape)r->slot[s->h].shape; }

static bool has_rest(const clf_row_sink *s) { return (s->kind == CLF_RK_FULL || s->kind == CLF_RK_MEET) && s->h >= 0; }

bool clf_rows_rest_by_row(const struct clf_rows *r, const clf_row_sink *s) {
    return s->kind == CLF_RK_FULL && s->h >= 0 && rest_shape(r, s) == CLF_RS_ROW;
}

static bool counts_columns(const struct clf_rows *r) {
    for (int i = 0; i < r->nsink; i++)
        if (has_rest(&r->sink[i]) && (r->sink[i].kind == CLF_RK_MEET || rest_shape(r, &r->sink[i]) == CLF_RS_VEC)) return true;
    return false;
}

int64_t clf_rows_rest_columns(const clf_rows_job *j) { return counts_columns(j->r) ? j->m->cols : 0; }

static clf_status check_columns(const clf_rows_job *j, int32_t slot, clf_err *err) {
    const clf_row_slot *h = &j->r->slot[slot];
    if (h->shape != CLF_RS_VEC || j->n[h->axis] == j->m->cols) return CLF_OK;
    return clf_fail(err, CLF_E_SHAPE, "%lld values for the %lld columns of a sparse matrix", (long long)j->n[h->axis],
                    (long long)j->m->cols);
}

clf_status clf_rows_rest_check(const clf_rows_job *j, clf_err *err) {
    const struct clf_rows *r = j->r;
    for (int i = 0; i < r->ngaps; i++) CLF_TRY(check_columns(j, r->gaps[i].slot, err));
    for (int i = 0; i < r->nsink; i++) {
        int64_t cells;
        if (!has_rest(&r->sink[i])) continue;
        if (__builtin_mul_overflow(j->m->rows, j->m->cols, &cells))
            return clf_fail(err, CLF_E_LIMIT, "the cells of a matrix of %lld x %lld overflow", (long long)j->m->rows,
                            (long long)j->m->cols);
        CLF_TRY(check_columns(j, r->sink[i].h, err));
    }
    return CLF_OK;
}

/* ---- counting ------------------------------------------------------------------------------------------------------------ */

/* Does a fold want to know where the first cell without entry is? */
static bool wants_first(const struct clf_rows *r) {
    for (int i = 0; i < r->nsink; i++)
        if (r->sink[i].kind == CLF_RK_MEET && r->sink[i].fold->uses_k) return true;
    return false;
}

void clf_rows_rest_count(const clf_rows_job *j) {
    int64_t n = clf_rows_rest_columns(j);
    for (int64_t c = 0; c < n; c++) j->column[c] = (clf_row_column){.missing = j->rows};
    if (n > 0 && !wants_first(j->r)) {
        for (int64_t e = j->m->ptr[0]; e < j->m->ptr[j->rows]; e++) j->column[j->m->idx[e]].missing--;
        return;
    }
    for (int64_t i = 0; i < j->rows && n > 0; i++)
        for (int64_t e = j->m->ptr[i]; e < j->m->ptr[i + 1]; e++) {
            clf_row_column *c = &j->column[j->m->idx[e]];
            c->missing--;
            c->first += c->first == i;
        }
}

/* ---- a full fold --------------------------------------------------------------------------------------------------------- */

void clf_rows_rest_batch(const clf_rows_frame *f, const clf_row_sink *s, clf_row_full *u) {
    const clf_rows_job *j = f->job;
    const char *x = f->slot[s->h];
    for (int64_t i = 0; i < f->rows; i++) {
        clf_fold_state rest;
        s->fold->repeat(x + ((size_t)i << s->log2), j->m->cols - (f->off[i + 1] - f->off[i]), 0, &rest);
        clf_tree_push(&u->rest, s->fold, f->row + i, 0, &rest);
    }
}

/* The tree over rows, which the parts have in pieces. */
static void rest_of_rows(const clf_rows_job *j, const clf_row_sink *s, clf_fold_state *rest) {
    clf_tree *all = &j->full[s->index].rest;
    for (int64_t p = 1; p < j->parts; p++) {
        const clf_tree *t = &j->full[p * j->r->nfull + s->index].rest;
        for (int i = 0; i < t->top; i++) clf_tree_push(all, s->fold, t->index[i], t->level[i], &t->node[i]);
    }
    clf_tree_close(all, s->fold, rest);
}

static void rest_of_columns(const clf_rows_frame *f, const clf_row_sink *s, clf_fold_state *rest) {
    const clf_rows_job *j = f->job;
    const char *x = f->slot[s->h];
    clf_tree *all = &j->full[s->index].rest;
    all->top = 0;
    for (int64_t c = 0; c < j->m->cols; c++) {
        s->fold->repeat(x + ((size_t)c << s->log2), j->column[c].missing, 0, rest);
        clf_tree_push(all, s->fold, c, 0, rest);
    }
    clf_tree_close(all, s->fold, rest);
}

void clf_rows_rest_full(const clf_rows_frame *f, const clf_row_sink *s, clf_fold_state *state) {
    const clf_rows_job *j = f->job;
    int64_t missing = j->whole->rows * j->whole->cols - j->whole->nnz;
    clf_fold_state rest;
    if (missing == 0) return;
    switch (rest_shape(j->r, s)) {
    case CLF_RS_ROW: rest_of_rows(j, s, &rest); break;
    case CLF_RS_VEC: rest_of_columns(f, s, &rest); break;
    default: s->fold->repeat(f->slot[s->h], missing, 0, &rest);
    }
    s->fold->merge(state, &rest);
}

/* ---- a fold that keeps columns ------------------------------------------------------------------------------------------- */

enum { COLUMN_PARTS = 64, PARALLEL_ENTRIES = 1 << 13 };

typedef struct meeting {
    const clf_rows_frame *f;
    const clf_row_sink *s;
    clf_word *const *word;
} meeting;

static void meet_columns(const clf_rows_frame *f, const clf_row_sink *s, clf_word *const word[3], int64_t from, int64_t to) {
    const clf_rows_job *j = f->job;
    size_t step = rest_shape(j->r, s) == CLF_RS_VEC ? (size_t)1 << s->log2 : 0;
    const char *x = f->slot[s->h];
    for (int64_t c = from; c < to; c++) {
        clf_fold_state state = {{{0}}}, rest;
        if (j->column[c].missing == 0) continue;
        for (int k = 0; k < 3; k++)
            if (word[k]) state.s[k] = word[k][c];
        if (s->gaps >= 0)
            clf_rows_gaps_column(j, s->gaps, c, &rest);
        else
            s->fold->repeat(x + (size_t)c * step, j->column[c].missing, j->column[c].first, &rest);
        s->fold->merge(&state, &rest);
        for (int k = 0; k < 3; k++)
            if (word[k]) word[k][c] = state.s[k];
    }
}

static void meet_part(void *user, int64_t part, int worker) {
    const meeting *u = user;
    int64_t cols = u->f->job->m->cols;
    (void)worker;
    meet_columns(u->f, u->s, u->word, cols * part / COLUMN_PARTS, cols * (part + 1) / COLUMN_PARTS); /* columns are below 2^31 */
}

/* Gaps cost some merges an entry: worth waking others for. */
void clf_rows_rest_meet(const clf_rows_frame *f, const clf_row_sink *s, clf_word *const word[3], clf_pool *pool) {
    meeting u = {f, s, word};
    if (pool && s->gaps >= 0 && f->job->m->nnz >= PARALLEL_ENTRIES)
        clf_pool_run(pool, COLUMN_PARTS, meet_part, &u);
    else
        meet_columns(f, s, word, 0, f->job->m->cols);
}
