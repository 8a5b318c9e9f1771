/* SPDX-License-Identifier: Apache-2.0
 * Tiles and rows of entry.chunk: DOTs per entry first, then loops over vectors, then what is done entry by entry; around them a row's
 * scalars, arrays and results. */
#include <string.h>

#include "kernels-cl/skel/entry_text.h"

enum {
    TILE = 512,
    TILE_ROOM = TILE + 16,
    FEWEST = 16,
    NEAR_BYTES = 1 << 14,
    CELLS_AHEAD = 64 /* entries: measured; 32 and 192 gain less */
};

static bool task_now(const clf_etext *t, int s) { return t->p->task[s].sweep == t->sweep; }

void clf_etext_prepare(clf_etext *t) {
    memset(t->tile, 0, sizeof t->tile);
    for (int sweep = 0; sweep < t->p->sweeps; sweep++) clf_etext_mark(t, sweep);
}

/* Lanes behind the last entry read something. */
static void pad(clf_etext *t) {
    int w = t->x.p->width;
    CLF_PUT(&t->x, "for (int z = cells; z & %d; z++) {", w - 1);
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (clf_entry_in_tile(t->p, v) && t->tile[v]) CLF_PUT(&t->x, " t%d[z] = 0;", v);
    CLF_PUT(&t->x, "%s }\n", t->p->rows ? " row_[z] = 0;" : "");
}

/* ---- tiles of entries ---- */

static void tile_rows(clf_etext *t) {
    t->row = "row";
    CLF_PUT(&t->x, "for (int z = 0; z < cells;) {\nwhile (xp[row + 1] <= e0 + z) row++;\n");
    CLF_PUT(&t->x, "const int end = (int)min((long)cells, xp[row + 1] - e0);\n");
    clf_etext_row_values(t, 0);
    clf_etext_pair_rows(t);
    clf_etext_locate(t, "z", "end", "xp[row]");
    clf_etext_pair_loop(t, "end", NULL);
    CLF_PUT(&t->x, "}\n");
    pad(t);
}

static void full_lanes(clf_ctext *x, int s) { clf_fold_lanes(x, s, 0); }

void clf_etext_tile(clf_etext *t) {
    if (!t->p->by_entry) return;
    clf_etext_mark(t, 0);
    CLF_PUT(&t->x, "const long eb = e0;\n");
    if (t->p->blocked) {
        clf_etext_block_tile(t);
        pad(t);
    } else if (t->p->rows) {
        tile_rows(t);
    }
    clf_fold_each(&t->x, CLF_CELL_FULLFOLD, full_lanes);
    clf_etext_vectors(t);
    if (t->x.p->nfull) clf_fold_full_leaf(&t->x);
}

/* ---- rows ---- */

static bool leafy(const clf_etext *t, int s) {
    uint8_t k = t->p->task[s].kind;
    return task_now(t, s) && (k == CLF_DO_FOLD || k == CLF_DO_DOT || k == CLF_DO_ACROSS);
}

static void each_leafy(clf_etext *t, void (*f)(clf_etext *, int)) {
    for (int s = 0; s < t->p->ntask; s++)
        if (leafy(t, s)) f(t, s);
}

/* Rows of a side that DOTs per entry have read are read again entry by entry: few enough entries at once that they stay in L1. */
int clf_etext_at_once(const clf_etext *t) {
    int n = TILE;
    for (int s = 0; s < t->p->ntask && clf_etext_pairs_now(t); s++) {
        const clf_entry_task *d = &t->p->task[s];
        if (!task_now(t, s) || d->kind != CLF_DO_ROWS_OF) continue;
        int64_t bytes = clf_entry_extent(t->p, d->axis) * (int64_t)clf_dtype_bytes(clf_etext_type(t, d->b));
        while (n > FEWEST && n * bytes > NEAR_BYTES) n /= 2;
    }
    return n;
}

/* The entries from eb on, `n` or fewer. */
void clf_etext_some_entries(clf_etext *t, bool locates) {
    bool pairs = clf_etext_pairs_now(t);
    if (pairs) {
        CLF_PUT(&t->x, "{ int z = 0;\n");
        clf_etext_pair_loop(t, "cells", NULL);
        CLF_PUT(&t->x, "}\n");
    }
    if (locates) clf_etext_locate(t, "0", "cells", "e0");
    if (pairs || locates) pad(t);
    clf_etext_vectors(t);
    clf_etext_late_loop(t);
}

/* Are rows of a side that DOTs per entry have read read again entry by entry, with nothing long in between? */
static bool one_by_one(const clf_etext *t) {
    return clf_etext_pairs_together(t) && clf_etext_at_once(t) < TILE && !clf_etext_locates_now(t) && clf_etext_vectors_short(t);
}

/* A vector of entries at a time: what its rows of the side were read for, they are then still in registers for, or, where there are few, in
 * the first cache. */
static void one_vector(clf_etext *t, bool tail) {
    clf_etext_pair_vector(t, tail ? "l1 - 1" : NULL);
    clf_etext_vector(t, tail);
    clf_etext_late_vector(t, tail);
}

static void by_vectors(clf_ctext *x, const void *what) {
    clf_etext *t = (clf_etext *)x;
    int w = t->x.p->width;
    (void)what;
    CLF_PUT(&t->x, "for (; eb + %d <= l1; eb += %d) {\n", w, w);
    CLF_PUT(&t->x, "{ const long n_ = min(eb + %d, nnz - 1); CLF_FETCH(xe + n_) CLF_FETCH(xc + n_) }\n", CELLS_AHEAD);
    one_vector(t, false);
    CLF_PUT(&t->x, "}\nif (eb < l1) {\nconst int cells = (int)(l1 - eb);\n");
    one_vector(t, true);
    CLF_PUT(&t->x, "}\n");
}

static void vector_by_vector(clf_etext *t) { clf_ctext_by_registers(&t->x, by_vectors, NULL); }

static void tile_by_tile(clf_etext *t) {
    int n = clf_etext_at_once(t);
    CLF_PUT(&t->x, n < TILE ? "do {\n" : "{\n");
    CLF_PUT(&t->x, "const int cells = (int)min(%dL, l1 - eb);\n", n);
    clf_etext_some_entries(t, clf_etext_locates_now(t));
    if (n < TILE)
        CLF_PUT(&t->x, "eb += %d; } while (eb < l1);\n", n);
    else
        CLF_PUT(&t->x, "}\n");
}

void clf_etext_sweep(clf_etext *t) {
    each_leafy(t, clf_etext_fold_open);
    clf_etext_late_open(t);
    CLF_PUT(&t->x, "{\n");
    if (clf_etext_pairs_now(t)) clf_etext_pair_rows(t);
    CLF_PUT(&t->x, "long j0 = 0; do {\n");
    each_leafy(t, clf_etext_fold_lanes);
    clf_etext_late_lanes(t);
    CLF_PUT(&t->x, "long eb = e0 + j0;\nconst long l1 = min(eb + %d, e1);\n", TILE);
    (one_by_one(t) ? vector_by_vector : tile_by_tile)(t);
    each_leafy(t, clf_etext_fold_leaf);
    clf_etext_late_leaf(t);
    CLF_PUT(&t->x, "j0 += %d; } while (e0 + j0 < e1); }\n", TILE);
    each_leafy(t, clf_etext_fold_close);
    clf_etext_late_close(t);
}

static void put_cast(clf_etext *t, int v, int o, int width) {
    clf_emit_cast(&t->x.e, clf_etext_type(t, v), (clf_dtype)t->p->c->out[o].dtype, width);
}

static void store_along(clf_etext *t, int s) {
    const clf_entry_task *d = &t->p->task[s];
    char to[CLF_EMIT_NAME], one[CLF_EMIT_NAME], run[CLF_EMIT_NAME];
    int o = t->p->c->sink[s].out[0], w = t->x.p->width, n = (int)clf_entry_extent(t->p, d->axis);
    clf_dtype type = (clf_dtype)t->p->c->out[o].dtype;
    for (int at = 0; at < n; at += w) {
        bool tail = n - at < w;
        if (tail)
            CLF_PUT(&t->x, "%s_STORET(", clf_emit_run(&t->x.e, run, type, w));
        else
            CLF_PUT(&t->x, "CLF_VSTORE(__global, %s, %d, ", clf_emit_type(to, type, 1), w);
        put_cast(t, d->a, o, w);
        if (t->p->space[d->a] == CLF_AT_ALONG) {
            CLF_PUT(&t->x, "CLF_VLOAD(__private, %s, %d, y%d + %d)", clf_emit_type(one, clf_etext_type(t, d->a), 1), w, d->a, at);
        } else {
            CLF_PUT(&t->x, "(%s)(", clf_emit_type(one, clf_etext_type(t, d->a), w));
            clf_etext_name(t, d->a);
            CLF_PUT(&t->x, ")");
        }
        CLF_PUT(&t->x, "), o%d + ob%d + i * %d + %d", o, o, n, at);
        CLF_PUT(&t->x, tail ? ", %d);\n" : ");\n", n - at);
    }
}

static void store_scalar(clf_etext *t, int s, const char *at) {
    int o = t->p->c->sink[s].out[0], v = t->p->task[s].a;
    CLF_PUT(&t->x, "o%d[ob%d%s] = ", o, o, at);
    put_cast(t, v, o, 1);
    clf_etext_name(t, v);
    CLF_PUT(&t->x, ");\n");
}

void clf_etext_row_stores(clf_etext *t) {
    for (int s = 0; s < t->p->c->nsink; s++) {
        const clf_entry_task *d = &t->p->task[s];
        if (d->kind == CLF_DO_ALONG_FOLD) clf_etext_along_task(t, s);
        if (d->kind == CLF_DO_TOTAL) {
            clf_etext_total_put(t, s);
        }
        if (d->kind != CLF_DO_STORE || t->p->c->sink[s].keep == 0) continue;
        if (d->axis >= 0)
            store_along(t, s);
        else
            store_scalar(t, s, " + i");
    }
}

void clf_etext_row(clf_etext *t) {
    if (t->p->by_entry) return;
    t->row = "i";
    if (t->p->blocked) {
        clf_etext_cuts(t);
        return;
    }
    if (t->p->batch) {
        clf_etext_batch(t);
        return;
    }
    clf_etext_rows_ahead(t);
    clf_etext_row_values(t, 0);
    for (int k = 0; k < t->p->sweeps; k++) {
        clf_etext_mark(t, k);
        clf_etext_sweep(t);
        clf_etext_row_values(t, k + 1);
    }
    clf_etext_row_stores(t);
}

/* ---- around them ---- */

static void tiles(clf_etext *t) {
    char one[CLF_EMIT_NAME];
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (t->tile[v]) CLF_PUT(&t->x, "%s t%d[%d];\n", clf_emit_type(one, clf_etext_type(t, v), 1), v, TILE_ROOM);
    for (int s = 0; s < t->p->ntask; s++)
        if (t->p->task[s].kind == CLF_DO_ROWS_OF && !t->p->blocked)
            CLF_PUT(&t->x, "%s h%d[%d];\n", clf_emit_type(one, clf_wide(clf_ctext_type(&t->x, s)), 1), s,
                    CLF_ENTRY_LEVELS * clf_etext_padded(t, t->p->task[s].axis));
    if (t->p->rows) CLF_PUT(&t->x, "long row_[%d];\n", TILE_ROOM);
    clf_etext_totals_setup(t);
}

void clf_etext_setup(clf_etext *t) {
    t->row = "0";
    clf_etext_once_values(t);
    tiles(t);
    clf_etext_locate_setup(t);
    clf_etext_block_setup(t);
    clf_etext_cuts_setup(t);
    clf_etext_batch_setup(t);
    clf_full_setup(&t->x);
    clf_etext_meet_setup(t);
}

void clf_etext_once(clf_etext *t) {
    for (int s = 0; s < t->p->c->nsink; s++)
        if (t->p->task[s].kind == CLF_DO_STORE && t->p->c->sink[s].keep == 0) store_scalar(t, s, "");
}
