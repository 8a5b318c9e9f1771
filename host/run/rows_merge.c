/* SPDX-License-Identifier: Apache-2.0
 * Sinks over rows, from the parts of a run to the whole: strips of cells, so that every part's state is read once and all workers merge.
 * Invariant: parts meet like leaves, for they are of one size, a power of two of blocks, but for the last. */
#include "host/run/rows_run.h"

enum {
    STRIP = 2048,       /* cells: those of all parts stay in a core's own cache; whole vectors */
    FEW_WORDS = 1 << 16 /* of all parts, below which waking others costs more than it gives */
};

void clf_rows_part_words(const clf_rows_job *j, const clf_row_sink *s, int64_t part, clf_word *out[3]) {
    const clf_row_layout *l = &j->layout[s->index];
    char *at = j->part + (size_t)part * j->part_bytes + l->part_at;
    for (int k = 0; k < 3; k++) {
        out[k] = s->fold->comp_bytes[k] ? (clf_word *)(void *)at : NULL;
        at += s->fold->comp_bytes[k] ? l->stride * sizeof(clf_word) : 0;
    }
}

static void words_from(const clf_rows_job *j, const clf_row_sink *s, int64_t part, int64_t cell, clf_word *out[3]) {
    clf_rows_part_words(j, s, part, out);
    for (int k = 0; k < 3; k++)
        if (out[k]) out[k] += cell;
}

static void merge_cells(const clf_rows_job *j, const clf_row_sink *s, int64_t cell, int64_t n) {
    clf_word *a[3], *b[3];
    for (int64_t step = 1; step < j->parts; step *= 2)
        for (int64_t p = 0; p + step < j->parts; p += 2 * step) {
            words_from(j, s, p, cell, a);
            words_from(j, s, p + step, cell, b);
            s->fold->col_merge(n, a, b);
        }
}

static void merge_strip(void *user, int64_t strip, int worker) {
    const clf_rows_job *j = user;
    (void)worker;
    for (int i = 0; i < j->r->nsink; i++) {
        const clf_row_sink *s = &j->r->sink[i];
        int64_t left = s->kind >= CLF_RK_COLS ? j->layout[s->index].cells - strip * STRIP : 0;
        if (left > 0) merge_cells(j, s, strip * STRIP, left < STRIP ? left : STRIP);
    }
}

void clf_rows_merge(clf_rows_job *j, clf_pool *pool) {
    int64_t cells = 0;
    for (int i = 0; i < j->r->nmeet; i++) cells = j->layout[i].cells > cells ? j->layout[i].cells : cells;
    int64_t strips = (cells + STRIP - 1) / STRIP;
    if (j->parts < 2) return;
    if (j->workers > 1 && cells > FEW_WORDS / j->parts)
        clf_pool_run(pool, strips, merge_strip, j);
    else
        for (int64_t k = 0; k < strips; k++) merge_strip(j, k, 0);
}
