/* SPDX-License-Identifier: Apache-2.0
 * Rows of X asked for before they are read. Several rows at once are several short runs, read by turns, which the hardware does not
 * foresee as it foresees one long run: each new line then costs the memory's whole delay. Three rules, all hints that change no result:
 *   LATE   the last sweep that reads X, from the cache, asks for the rows of a later pass. For rows so short that both passes stay in
 *          the first cache; then memory works while the sweep computes (t(X) %*% (W * (X %*% V)), 100 columns: 1.4 to 1.7 times as fast).
 *   NEXT   each sweep asks for its share of the rows of the next pass, into the second cache: neither rows that begin nor sweeps from the
 *          cache leave the memory a pause. For longer rows (1000 columns: 1.2 to 1.5).
 *   ALONG  the first sweep asks for what comes later in its own rows. For rows longer still (up to 1.2).
 * Rows taken one after the other, being less than a page (row_cut.c), are foreseen; LATE has their next row while the last sweep computes.
 * Rows of constant length are short. Of others the text has all, and the extent decides. */
#include <stdio.h>

#include "kernels-cl/skel/row_text.h"

enum {
    LINE_BYTES = 64,
    NEAR_BYTES = 24576,  /* LATE up to this size of a pass */
    NEXT_BYTES = 131072, /* NEXT */
    AHEAD_VECTOR = 8192, /* LATE: least distance where a sweep takes vectors, and where it takes cells */
    AHEAD_CELL = 2048,
    ALONG_VECTOR = 2048, /* ALONG: bytes ahead, where a sweep takes vectors, and where it takes cells */
    ALONG_CELL = 512,
    LONE_BYTES = 1536 /* rows one after the other: from here on the last sweep asks for the next one, else memory pauses meanwhile */
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

/* Sweeps from `from` on and before `to` that do. */
static int readers(const clf_row *p, int from, int to, int a) {
    int n = 0;
    for (int t = from; t < to; t++) n += reads(p, t, a);
    return n;
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

/* Of the rows of the next pass those from `from` on and before `to`, at the same place. */
static void next(clf_rtext *w, const fetch *f, int from, int to) {
    int span = f->step * f->bytes, line = LINE_BYTES / f->bytes;
    for (int r = from; f->step > 1 && r < to; r++)
        for (int b = 0; b < span; b += LINE_BYTES)
            CLF_PUT(&w->x, "CLF_FETCH_FAR(q%d_0 + %d * xl%d + %s + %d)\n", f->a, f->ru + r, f->a, f->at, b / f->bytes);
    if (f->step == 1 && to > from)
        CLF_PUT(&w->x, "CLF_FETCH_FAR(q%d_0 + (%d + %s %% %d) * xl%d + (%s & -%dL))\n", f->a, f->ru + from, f->at, to - from, f->a, f->at,
                line);
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
    int before = readers(p, 0, w->t, f->a), behind = readers(p, w->t + 1, p->nsweep, f->a), all = before + 1 + behind;
    if (p->run) {
        if (behind || clf_row_narrow(p, axis)) return;
        CLF_PUT(x, "if (n%d >= %d && n%d < %d) {\n", axis, LONE_BYTES / f->bytes, axis, CLF_ROW_PAGE / f->bytes);
        late(w, f, 1);
        CLF_PUT(x, "}\n");
        return;
    }
    if (clf_row_narrow(p, axis)) {
        if (!behind && extent > 0) late(w, f, clf_row_ceil(f->step > 1 ? AHEAD_VECTOR : AHEAD_CELL, extent * f->ru * f->bytes));
        return;
    }
    CLF_PUT(x, "if (n%d <= %lld) {\n", axis, (long long)most);
    if (!behind) late(w, f, 1);
    CLF_PUT(x, "} else if (n%d <= %lld) {\n", axis, (long long)(NEXT_BYTES / (f->ru * f->bytes)));
    next(w, f, f->ru * before / all, f->ru * (before + 1) / all);
    CLF_PUT(x, "} else {\n");
    if (!before) along(w, f);
    CLF_PUT(x, "}\n");
}

void clf_rtext_fetch(clf_rtext *w, int step, const char *at) {
    const clf_cplan *c = w->p->c;
    if (w->x.ru == 1 && !w->p->run) return;
    for (int a = 0; a < c->naccess; a++) {
        fetch f = {a, w->x.ru, (int)clf_dtype_bytes((clf_dtype)c->in[c->access[a].input].dtype), step, at};
        if (f.bytes >= 4 && reads(w->p, w->t, a)) fetch_access(w, &f);
    }
}
