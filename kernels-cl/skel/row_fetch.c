/* SPDX-License-Identifier: Apache-2.0
 * Rows of X asked for before they are read. Several rows at once are several short runs, read by turns, which the hardware does not
 * foresee as it foresees one long run: each new line then costs the memory's whole delay. Three rules, all hints that change no result:
 *   LATE   the last sweep that reads X, from the cache, asks for the rows of a later pass. For rows so short that both passes stay in
 *          the first cache; then memory works while the sweep computes (t(X) %*% (W * (X %*% V)), 100 columns: 1.4 to 1.7 times as fast).
 *          In the order in which they lie there: f64 of 64 to 128 columns another 1.1 to 1.2 times as fast, KMeans 1.5, where what stands
 *          below each row was asked for before, short runs by turns; of passes below a KiB the other order is up to 1.3 times as fast.
 *   NEXT   each sweep asks for its share of the rows of the next pass, into the second cache: neither rows that begin nor sweeps from the
 *          cache leave the memory a pause. For longer rows (1000 columns: 1.2 to 1.5).
 *   ALONG  the first sweep asks for what comes later in its own rows. For rows longer still (up to 1.2).
 * Rows taken one after the other, being less than a page (row_cut.c), are foreseen; LATE has their next row while the last sweep computes.
 * Where leaves of full folds take their cells, so that memory would pause for each leaf, the three rules hold for passes of one row, too
 * (100 to 2000 columns: 1.2 to 1.7 times as fast).
 * Rows of constant length are short. Of others the text has all, and the extent decides. */
#include <stdio.h>

#include "kernels-cl/skel/row_text.h"

#include "core/print.h"

enum {
    LINE_BYTES = 64,
    NEAR_BYTES = 24576,  /* LATE up to this size of a pass */
    NEXT_BYTES = 131072, /* NEXT */
    AHEAD_VECTOR = 8192, /* LATE: least distance where a sweep takes vectors, and where it takes cells */
    AHEAD_CELL = 2048,
    ORDER_BYTES = 1024,  /* LATE: in order from this size of a pass on */
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
    const char *part; /* of a sweep in parts the first thing that this one makes, as text; NULL: it is one */
    int each;         /* so many of them, */
    int64_t parts;    /* of so many; 0: that is no constant */
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

static int64_t pass_bytes(const fetch *f, int64_t extent) { return extent * f->ru * f->bytes; }

/* Are the rows one run, and long enough a one? */
static bool goes_in_order(const clf_row *p, const fetch *f, int64_t extent) {
    const clf_cinput *in = &p->c->in[p->c->access[f->a].input];
    return f->step > 1 && pass_bytes(f, extent) >= ORDER_BYTES && in->rank == 2 && in->dim[1].n == extent;
}

/* The same line by line as they lie in memory, which the hardware then foresees. A sweep in parts, each of which takes the rows from the
 * cache again, asks in each for its share of the rows. */
static void in_order(clf_rtext *w, const fetch *f, int64_t extent, int64_t passes) {
    int64_t rows = f->parts ? clf_row_ceil((int64_t)f->ru * f->each, f->parts) : f->ru;
    int64_t bytes = rows * (w->x.tail ? extent % f->step : f->step) * f->bytes;
    char first[64];
    clf_print(first, sizeof first, f->parts ? "(%d + %s * %d / %d)" : "%d", (int)passes * f->ru, f->part, f->ru, (int)f->parts);
    for (int64_t b = 0; b < bytes; b += LINE_BYTES)
        CLF_PUT(&w->x, "CLF_FETCH(q%d_0 + %s * xl%d + %s * %d + %d)\n", f->a, first, f->a, f->at, (int)rows, (int)b / f->bytes);
}

static void ask_narrow(clf_rtext *w, const fetch *f, int64_t extent) {
    int64_t passes = clf_row_ceil(f->step > 1 ? AHEAD_VECTOR : AHEAD_CELL, pass_bytes(f, extent));
    if (goes_in_order(w->p, f, extent))
        in_order(w, f, extent, passes);
    else
        late(w, f, passes);
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

static void ask_wide(clf_rtext *w, const fetch *f, int before, int behind) {
    clf_ctext *x = &w->x;
    const int8_t axis = w->p->sweep[w->t].axis;
    const int all = before + 1 + behind;
    CLF_PUT(x, "if (n%d <= %lld) {\n", axis, (long long)(NEAR_BYTES / (f->ru * f->bytes)));
    if (!behind) late(w, f, 1);
    CLF_PUT(x, "} else if (n%d <= %lld) {\n", axis, (long long)(NEXT_BYTES / (f->ru * f->bytes)));
    next(w, f, f->ru * before / all, f->ru * (before + 1) / all);
    CLF_PUT(x, "} else {\n");
    if (!before) along(w, f);
    CLF_PUT(x, "}\n");
}

/* Rows taken one after the other. */
static void ask_lone(clf_rtext *w, const fetch *f) {
    const int8_t axis = w->p->sweep[w->t].axis;
    CLF_PUT(&w->x, "if (n%d >= %d && n%d < %d) {\n", axis, LONE_BYTES / f->bytes, axis, CLF_ROW_PAGE / f->bytes);
    late(w, f, 1);
    CLF_PUT(&w->x, "}\n");
}

static void fetch_access(clf_rtext *w, const fetch *f) {
    const clf_row *p = w->p;
    const int8_t axis = p->sweep[w->t].axis;
    const int64_t extent = clf_row_extent(p, axis);
    const int before = readers(p, 0, w->t, f->a), behind = readers(p, w->t + 1, p->nsweep, f->a);
    const bool narrow = clf_row_narrow(p, axis), once = f->part && !(f->parts && narrow && goes_in_order(p, f, extent));
    if (narrow ? behind || p->run || extent < 1 : w->x.tail || (behind && p->run)) return;
    if (once) CLF_PUT(&w->x, "if (%s == 0) {\n", f->part);
    if (narrow)
        ask_narrow(w, f, extent);
    else if (p->run)
        ask_lone(w, f);
    else
        ask_wide(w, f, before, behind);
    if (once) CLF_PUT(&w->x, "}\n");
}

static void fetch_all(clf_rtext *w, fetch f) {
    const clf_cplan *c = w->p->c;
    if (w->x.ru == 1 && !w->p->run && !clf_row_folds_cells(w->p)) return;
    f.ru = w->x.ru;
    for (f.a = 0; f.a < c->naccess; f.a++) {
        f.bytes = (int)clf_dtype_bytes((clf_dtype)c->in[c->access[f.a].input].dtype);
        if (f.bytes >= 4 && reads(w->p, w->t, f.a)) fetch_access(w, &f);
    }
}

void clf_rtext_fetch(clf_rtext *w, int step, const char *at) { fetch_all(w, (fetch){.step = step, .at = at}); }

void clf_rtext_fetch_part(clf_rtext *w, int step, const char *at, const char *part, int each, int64_t parts) {
    fetch_all(w, (fetch){.step = step, .at = at, .part = part, .each = each, .parts = parts});
}
