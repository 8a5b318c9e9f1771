/* SPDX-License-Identifier: Apache-2.0
 * Rows of X asked for before they are read. Several rows at once are several short runs, read by turns, which the hardware does not
 * foresee as it foresees one long run: each new line then costs the memory's whole delay. Two rules, both hints that change no result:
 *   LATE   the last sweep that reads X, from the cache, asks for the rows of a later pass. For rows so short that both passes stay in
 *          the first cache; then memory works while the sweep computes (t(X) %*% (W * (X %*% V)), 100 columns: 1.4 to 1.7 times as fast).
 *   ALONG  the first sweep asks for what comes later in its own rows. For long rows (up to 1.2).
 * Rows of constant length are short. Of others the text has both, and the extent decides. */
#include <stdio.h>

#include "kernels-cl/skel/row_text.h"

enum {
    LINE_BYTES = 64,
    NEAR_BYTES = 24576,  /* LATE up to this size of a pass */
    AHEAD_VECTOR = 8192, /* LATE: least distance where a sweep takes vectors, and where it takes cells */
    AHEAD_CELL = 2048,
    ALONG_VECTOR = 2048, /* ALONG: bytes ahead, where a sweep takes vectors, and where it takes cells */
    ALONG_CELL = 512
};

/* Does sweep t read rows of access a from memory? */
static bool reads(const clf_row *p, int t, int a) {
    uint8_t need[CLF_ROW_VALUES];
    const int8_t axis = p->sweep[t].axis;
    clf_row_needs(p, t, need);
    for (int v = 0; v < p->c->nvalue; v++) {
        const clf_value *q = clf_row_val(p, v);
        if (need[v] == 1 && q->op == CLF_V_LOAD && q->arg == a && (q->axes & 1u) && clf_row_inner(q->axes) == axis) return true;
    }
    return false;
}

static bool first_reader(const clf_row *p, int t, int a) {
    for (int u = 0; u < t; u++)
        if (reads(p, u, a)) return false;
    return true;
}
static bool last_reader(const clf_row *p, int t, int a) {
    for (int u = t + 1; u < p->nsweep; u++)
        if (reads(p, u, a)) return false;
    return true;
}

typedef struct fetch {
    int a, ru, bytes; /* access, rows of a pass, bytes of an element */
    int step;         /* elements of a row that the loop takes at once */
    const char *at;   /* their position, as text */
} fetch;

/* The rows `passes` passes on: where vectors are taken, what stands below each; else the next few lines of the run that the rows are. */
static void late(clf_rtext *w, const fetch *f, int64_t passes) {
    long long rows = passes * f->ru;
    int span = (w->x.tail ? 1 : f->step) * f->bytes;
    for (int r = 0; f->step > 1 && r < f->ru; r++)
        for (int b = 0; b < span; b += LINE_BYTES)
            CLF_PUT(&w->x, "CLF_FETCH(q%d_%d + %lld * xl%d + %s + %d)\n", f->a, r, rows, f->a, f->at, b / f->bytes);
    for (int b = 0; f->step == 1 && b < f->ru * f->bytes; b += LINE_BYTES)
        CLF_PUT(&w->x, "CLF_FETCH(q%d_0 + %lld * xl%d + %s * %d + %d)\n", f->a, rows, f->a, f->at, f->ru, b / f->bytes);
}

/* The same rows further on: where cells are taken, one row a cell by turns. */
static void along(clf_rtext *w, const fetch *f) {
    int span = f->step * f->bytes;
    for (int r = 0; f->step > 1 && r < f->ru; r++)
        for (int b = 0; b < span; b += LINE_BYTES)
            CLF_PUT(&w->x, "CLF_FETCH(q%d_%d + %s + %d)\n", f->a, r, f->at, (ALONG_VECTOR + b) / f->bytes);
    if (f->step == 1)
        CLF_PUT(&w->x, "CLF_FETCH(q%d_0 + (%s & %d) * xl%d + (%s & -%dL) + %d)\n", f->a, f->at, f->ru - 1, f->a, f->at,
                LINE_BYTES / f->bytes, ALONG_CELL / f->bytes);
}

static void fetch_access(clf_rtext *w, const fetch *f) {
    clf_ctext *x = &w->x;
    const clf_row *p = w->p;
    const int8_t axis = p->sweep[w->t].axis;
    if (x->tail && !clf_row_narrow(p, axis)) return;
    int64_t most = NEAR_BYTES / (f->ru * f->bytes), extent = clf_row_extent(p, axis);
    bool first = first_reader(p, w->t, f->a), last = last_reader(p, w->t, f->a);
    if (clf_row_narrow(p, axis)) {
        if (last && extent > 0) late(w, f, clf_row_ceil(f->step > 1 ? AHEAD_VECTOR : AHEAD_CELL, extent * f->ru * f->bytes));
        return;
    }
    if (last) CLF_PUT(x, "if (n%d <= %lld) {\n", axis, (long long)most), late(w, f, 1);
    if (first) CLF_PUT(x, last ? "} else {\n" : "if (n%d > %lld) {\n", axis, (long long)most), along(w, f);
    if (first || last) CLF_PUT(x, "}\n");
}

void clf_rtext_fetch(clf_rtext *w, int step, const char *at) {
    const clf_cplan *c = w->p->c;
    if (w->x.ru == 1) return;
    for (int a = 0; a < c->naccess; a++) {
        fetch f = {a, w->x.ru, (int)clf_dtype_bytes((clf_dtype)c->in[c->access[a].input].dtype), step, at};
        if (f.bytes >= 4 && reads(w->p, w->t, a)) fetch_access(w, &f);
    }
}
