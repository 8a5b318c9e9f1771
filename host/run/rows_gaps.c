/* SPDX-License-Identifier: Apache-2.0
 * Cells without entry that differ along what is folded, in the row executor: columns in a row, rows in a column (gaps.h). Runs of them
 * are folded once per run of the program, for all rows or columns; between two entries lie runs that are there and a few positions that
 * are folded anew (tile_gaps.h). Entries by column come from a list of their rows, made by counting. */
#include "host/run/rows_run.h"

#include <string.h>

enum { BASE = CLF_GAPS_LEVEL };

/* What they are together: those that are left by n entries at `at`, or at32. */
static void left(const clf_row_gaps *g, const int64_t *at, const int32_t *at32, int64_t n, clf_fold_state *out) {
    const clf_gaps_row r = {.x = g->x, .node = g->node, .n = g->n, .at = at, .at32 = at32, .entries = n};
    if (n > 0)
        g->fold->gaps(&r, out);
    else
        *out = g->all;
}

static void grow(clf_row_gaps *g) {
    for (int64_t k = 0; k < g->n >> BASE; k++)
        g->fold->block(g->x + ((size_t)(k << BASE) << g->log2), k << BASE, &g->node[clf_gaps_node(BASE, k)]);
    for (int level = BASE + 1; g->n >> level > 0; level++)
        for (int64_t k = 0; k < g->n >> level; k++) {
            clf_fold_state *node = &g->node[clf_gaps_node(level, k)];
            *node = g->node[clf_gaps_node(level - 1, 2 * k)];
            g->fold->merge(node, &g->node[clf_gaps_node(level - 1, 2 * k + 1)]);
        }
    clf_tree empty = {.top = 0};
    const clf_gaps_row all = {.x = g->x, .node = g->node, .n = g->n};
    if (g->n > 0)
        g->fold->gaps(&all, &g->all);
    else
        clf_tree_close(&empty, g->fold, &g->all);
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
    left(&j->gaps[gaps], NULL, idx, n, out);
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
    const int64_t first = c ? j->ends[c - 1] : 0;
    left(&j->gaps[gaps], j->entry_row + first, NULL, j->ends[c] - first, out);
}
