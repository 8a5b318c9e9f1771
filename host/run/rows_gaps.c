/* SPDX-License-Identifier: Apache-2.0
 * Cells without entry that differ along what is folded, in the row executor: columns in a row, rows in a column (the state of gaps,
 * core/fold.h). Runs of 2^j positions, j >= 3, are folded once per run of the program, for all rows or columns; between two entries lie
 * runs that are there and a few positions that are folded anew. Entries by column come from a list of their rows, made by counting.
 * Nodes stand in the order of their middles: that of level l and number k, counted from BASE on, at (2k + 1) * 2^l - 1, so a run of n
 * positions needs n / 4 of them and no table of levels. */
#include "host/run/rows_run.h"

#include <string.h>

enum { BASE = CLF_GAPS_LEVEL };

typedef struct walk {
    const clf_row_gaps *g;
    int64_t at;    /* the next position */
    int64_t block; /* where the last entries stand, and which positions of it they take */
    unsigned stored;
    clf_tree tree;
} walk;

static clf_fold_state *node_at(const clf_row_gaps *g, int level, int64_t k) { return &g->node[((2 * k + 1) << (level - BASE)) - 1]; }

static const char *value_at(const clf_row_gaps *g, int64_t p) { return g->x + ((size_t)p << g->log2); }

/* The longest run from position `at` on that starts at a multiple of its length: its level. */
static int level_at(int64_t at, int64_t end) {
    int most = 63 - __builtin_clzll((uint64_t)(end - at)), aligned = at ? __builtin_ctzll((uint64_t)at) : 63;
    return aligned < most ? aligned : most;
}

/* Blocks up to position `end` without entry. */
static void pass_gap(walk *w, int64_t end) {
    for (int level; w->at < end; w->at += (int64_t)1 << level) {
        level = level_at(w->at, end);
        clf_tree_push(&w->tree, w->g->fold, w->at, level, node_at(w->g, level, w->at >> level));
    }
}

/* The positions behind the last whole block, one by one. */
static void end_of_row(walk *w, unsigned stored) {
    const clf_row_gaps *g = w->g;
    clf_fold_state s;
    for (; w->at < g->n; w->at++, stored >>= 1) {
        g->fold->repeat(value_at(g, w->at), !(stored & 1), w->at, &s);
        clf_tree_push(&w->tree, g->fold, w->at, 0, &s);
    }
}

/* Everything up to the block of the last entries, and that. */
static void close_block(walk *w) {
    const clf_row_gaps *g = w->g;
    clf_fold_state s;
    pass_gap(w, w->block << BASE);
    if (g->n >> BASE == w->block) {
        end_of_row(w, w->stored);
    } else {
        g->fold->gaps(value_at(g, w->at), w->stored, w->at, &s);
        clf_tree_push(&w->tree, g->fold, w->at, BASE, &s);
        w->at += CLF_GAPS;
    }
    w->stored = 0;
}

static void begin(walk *w, const clf_row_gaps *g) {
    w->g = g;
    w->at = w->block = 0;
    w->stored = 0;
    w->tree.top = 0;
}

static void entry(walk *w, int64_t p) {
    if (w->stored && w->block != p >> BASE) close_block(w);
    w->block = p >> BASE;
    w->stored |= 1u << (p & (CLF_GAPS - 1));
}

static void end(walk *w, clf_fold_state *out) {
    if (w->stored) close_block(w);
    pass_gap(w, w->g->n & -(int64_t)CLF_GAPS);
    end_of_row(w, 0);
    clf_tree_close(&w->tree, w->g->fold, out);
}

static void grow(clf_row_gaps *g) {
    walk w;
    for (int64_t k = 0; k < g->n >> BASE; k++) g->fold->gaps(value_at(g, k << BASE), 0, k << BASE, node_at(g, BASE, k));
    for (int level = BASE + 1; g->n >> level > 0; level++)
        for (int64_t k = 0; k < g->n >> level; k++) {
            *node_at(g, level, k) = *node_at(g, level - 1, 2 * k);
            g->fold->merge(node_at(g, level, k), node_at(g, level - 1, 2 * k + 1));
        }
    begin(&w, g);
    end(&w, &g->all);
}

/* ---- of a row ------------------------------------------------------------------------------------------------------------ */

void clf_rows_gaps_begin(const clf_rows_frame *f) {
    const clf_rows_job *j = f->job;
    for (int i = 0; i < j->r->ngaps; i++) {
        clf_row_gaps *g = &j->gaps[i];
        if (j->r->gaps[i].by_row) continue;
        g->x = f->slot[j->r->gaps[i].slot];
        grow(g);
    }
}

void clf_rows_gaps_row(const clf_rows_job *j, int gaps, const int32_t *idx, int64_t n, clf_fold_state *out) {
    walk w;
    *out = j->gaps[gaps].all;
    if (n == 0) return;
    begin(&w, &j->gaps[gaps]);
    for (int64_t e = 0; e < n; e++) entry(&w, idx[e]);
    end(&w, out);
}

/* ---- of a column --------------------------------------------------------------------------------------------------------- */

bool clf_rows_gaps_by_row(const struct clf_rows *r) {
    for (int i = 0; i < r->ngaps; i++)
        if (r->gaps[i].by_row) return true;
    return false;
}

void clf_rows_gaps_batch(const clf_rows_frame *f, int gaps) {
    const clf_row_gaps *g = &f->job->gaps[gaps];
    memcpy(g->x + ((size_t)f->row << g->log2), f->slot[f->job->r->gaps[gaps].slot], (size_t)f->rows << g->log2);
}

/* Rows of the entries, column by column: those of column c end at ends[c]. */
static void list_rows(const clf_rows_job *j) {
    int64_t n = 0;
    for (int64_t c = 0; c < j->m->cols; c++) {
        j->ends[c] = n;
        n += j->rows - j->column[c].missing;
    }
    for (int64_t i = 0; i < j->rows; i++)
        for (int64_t e = j->m->ptr[i]; e < j->m->ptr[i + 1]; e++) j->entry_row[j->ends[j->m->idx[e]]++] = i;
}

void clf_rows_gaps_finish(const clf_rows_job *j) {
    if (!clf_rows_gaps_by_row(j->r)) return;
    list_rows(j);
    for (int i = 0; i < j->r->ngaps; i++)
        if (j->r->gaps[i].by_row) grow(&j->gaps[i]);
}

void clf_rows_gaps_column(const clf_rows_job *j, int gaps, int64_t c, clf_fold_state *out) {
    walk w;
    int64_t at = c ? j->ends[c - 1] : 0;
    *out = j->gaps[gaps].all;
    if (at == j->ends[c]) return;
    begin(&w, &j->gaps[gaps]);
    for (; at < j->ends[c]; at++) entry(&w, j->entry_row[at]);
    end(&w, out);
}
