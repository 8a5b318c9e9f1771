/* SPDX-License-Identifier: Apache-2.0
 * What entry.chunk does entry by entry, when the vectors of a tile are done: whole rows of a side times the entry's cell into
 * accumulators of the row, and values that meet at their column in the block's partial result. */
#include <string.h>

#include "kernels-cl/skel/entry_text.h"

#include "core/print.h"

enum {
    STEP = 8,         /* entries whose cells are one cache line; as many as e8_ and c8_ point at */
    FETCH_AHEAD = 192 /* entries: measured; 64 and 512 gain half as much */
};

static bool here(const clf_etext *t, int s) { return t->p->task[s].sweep == t->sweep && clf_entry_late(t->p->task[s].kind); }

/* Value v at entry z. */
static void put_cell(clf_etext *t, int v) {
    if (t->p->space[v] != CLF_AT_ENTRY)
        clf_etext_name(t, v);
    else if (clf_etext_is_stored(t, v))
        CLF_PUT(&t->x, t->eight ? "e8_[k_]" : "xe[eb + z]");
    else
        CLF_PUT(&t->x, t->eight ? "t%d[z + k_]" : "t%d[z]", v);
}

/* ---- rows of a side ---- */

static int blocks(const clf_etext *t, int s) { return clf_etext_padded(t, t->p->task[s].axis) / t->x.p->width; }

/* Lanes of accumulator b: half a vector's where the axis ends within it, for halves may be registers of their own. */
static int lanes_of(const clf_etext *t, int s, int b) {
    int w = t->x.p->width, left = (int)clf_entry_extent(t->p, t->p->task[s].axis) - b * w;
    return left > w / 2 ? w : w / 2;
}

typedef struct product {
    int task, skip;
} product;

/* The row at q_ times y_ into the accumulators. */
static void add_row(clf_etext *t, const product *p) {
    const clf_entry_task *d = &t->p->task[p->task];
    char wide[CLF_EMIT_NAME], acc[32];
    clf_dtype type = clf_etext_type(t, d->a);
    for (int b = 0; b < blocks(t, p->task); b++) {
        int lanes = lanes_of(t, p->task, b);
        clf_emit_type(wide, type, lanes);
        clf_print(acc, sizeof acc, "a%d_%d", p->task, b);
        CLF_PUT(&t->x, "{ const %s y = (%s)(y_), z_ = ", wide, wide);
        clf_etext_run_load(t, clf_etext_val(t, d->b)->arg, "q_", b * t->x.p->width, lanes);
        CLF_PUT(&t->x, "; %s = ", acc);
        clf_etext_fma(t, p->skip, type, lanes, "y", "z_", acc);
        CLF_PUT(&t->x, "; }\n");
    }
}

/* Masks are free in wide registers; elsewhere they are a third of the work, and a branch on what is seldom 0 costs nothing. */
static void add_row_by_registers(clf_ctext *x, const void *what) {
    clf_etext *t = (clf_etext *)x;
    product p = *(const product *)what;
    bool branch = t->x.registers == CLF_FEW_REGISTERS && (p.skip & 1);
    if (branch) CLF_PUT(&t->x, "if (y_ != 0) {\n");
    if (branch) p.skip &= ~1;
    add_row(t, &p);
    if (branch) CLF_PUT(&t->x, "}\n");
}

/* Is what the task does with an entry masked by that entry's own cell, a float? */
static bool is_masked(const clf_etext *t, int s) {
    const clf_entry_task *d = &t->p->task[s];
    const clf_dtype type = clf_etext_type(t, d->a);
    bool own = (d->kind == CLF_DO_SCATTER_DOT || d->kind == CLF_DO_SCATTER_ROWS || d->kind == CLF_DO_ROWS_OF) && d->skip & 1 &&
               t->p->space[d->a] == CLF_AT_ENTRY;
    return own && here(t, s) && (type == CLF_F64 || type == CLF_F32);
}

static int skip_of(const clf_etext *t, int s) {
    const int skip = t->p->task[s].skip;
    return t->none_zero && is_masked(t, s) ? skip & ~1 : skip;
}

static void rows_of_entry(clf_etext *t, int s) {
    const clf_entry_task *d = &t->p->task[s];
    const product p = {s, skip_of(t, s)};
    char buf[CLF_EMIT_NAME];
    const char *one = clf_emit_type(buf, clf_etext_type(t, d->a), 1);
    int a = clf_etext_val(t, d->b)->arg;
    if (!clf_etext_pairs_now(t) && !t->p->blocked) clf_etext_fetch(t, a, (int)clf_entry_extent(t->p, d->axis), t->eight ? " + k_" : "");
    CLF_PUT(&t->x, "{ const %s y_ = ", one);
    put_cell(t, d->a);
    CLF_PUT(&t->x, ";\nconst __global %s *const q_ = ", one);
    clf_etext_address(t, a, t->row, "c_");
    CLF_PUT(&t->x, ";\n");
    if (t->x.registers == CLF_ANY_REGISTERS && (p.skip & 1))
        clf_ctext_by_registers(&t->x, add_row_by_registers, &p);
    else
        add_row_by_registers(&t->x, &p);
    CLF_PUT(&t->x, "}\n");
}

static void rows_of_open(clf_etext *t, int s) {
    char buf[CLF_EMIT_NAME];
    int padded = clf_etext_padded(t, t->p->task[s].axis);
    const char *wide = clf_emit_type(buf, clf_wide(clf_ctext_type(&t->x, s)), 1);
    CLF_PUT(&t->x, "%s g%d[%d]; int h%dd = 0;\n", wide, s, padded, s);
    if (!t->p->blocked) return;
    CLF_PUT(&t->x, "__global %s *const h%d = stack%d + (whole_ ? bn * bl : (i - row0_) * bl) * %d;\n", wide, s, s, padded);
    CLF_PUT(&t->x, "h%dd = (int)popcount((f0 - e0) / 512);\n", s);
}

/* Where accumulator b of row i waits for a later cut. */
static void kept_place(clf_etext *t, int s, int b) {
    CLF_PUT(&t->x, "kept%d + (i - row0_) * %d + %d", s, clf_etext_padded(t, t->p->task[s].axis), b * t->x.p->width);
}

static void rows_of_lanes(clf_etext *t, int s) {
    char wide[CLF_EMIT_NAME];
    for (int b = 0; b < blocks(t, s); b++) {
        clf_emit_type(wide, clf_ctext_type(&t->x, s), lanes_of(t, s, b));
        CLF_PUT(&t->x, "%s a%d_%d = (%s)(0);\n", wide, s, b, wide);
    }
    if (!t->p->blocked) return;
    CLF_PUT(&t->x, "if (on_) {\n");
    for (int b = 0; b < blocks(t, s); b++) {
        CLF_PUT(&t->x, "a%d_%d = ", s, b);
        CLF_PUT(&t->x, "CLF_VLOAD(__global, %s, %d, ", clf_emit_type(wide, clf_ctext_type(&t->x, s), 1), lanes_of(t, s, b));
        kept_place(t, s, b);
        CLF_PUT(&t->x, ");\n");
    }
    CLF_PUT(&t->x, "}\n");
}

static void rows_of_keep(clf_etext *t, int s) {
    char one[CLF_EMIT_NAME];
    for (int b = 0; b < blocks(t, s); b++) {
        CLF_PUT(&t->x, "CLF_VSTORE(__global, %s, %d, a%d_%d, ", clf_emit_type(one, clf_ctext_type(&t->x, s), 1), lanes_of(t, s, b), s, b);
        kept_place(t, s, b);
        CLF_PUT(&t->x, ");\n");
    }
}

/* g = stack + g, over all cells. */
static void rows_of_merge(clf_etext *t, int s) {
    clf_dtype type = clf_ctext_type(&t->x, s);
    int padded = clf_etext_padded(t, t->p->task[s].axis);
    char from[64], to[32];
    clf_print(from, sizeof from, "h%d[h%dd * %d + u]", s, s, padded);
    clf_print(to, sizeof to, "g%d[u]", s);
    const clf_emit_name names[] = {{"a", from}, {"b", to}, {NULL, NULL}};
    CLF_PUT(&t->x, "h%dd--; CLF_COLD for (int u = 0; u < %d; u++) %s = ", s, padded, to);
    clf_emit_text(&t->x.e, "W_ADD(a, b)", type, 1, names);
    CLF_PUT(&t->x, ";\n");
}

static void rows_of_leaf(clf_etext *t, int s) {
    char buf[CLF_EMIT_NAME], half[CLF_EMIT_NAME];
    clf_dtype type = clf_ctext_type(&t->x, s), wide = clf_wide(type);
    const char *one = clf_emit_type(buf, wide, 1);
    int w = t->x.p->width, padded = clf_etext_padded(t, t->p->task[s].axis);
    for (int b = 0; b < blocks(t, s); b++) {
        int lanes = lanes_of(t, s, b);
        CLF_PUT(&t->x, "CLF_VSTORE(__private, %s, %d, ", one, lanes);
        clf_emit_cast(&t->x.e, type, wide, lanes);
        CLF_PUT(&t->x, "a%d_%d), g%d + %d);\n", s, b, s, b * w);
        if (lanes < w)
            CLF_PUT(&t->x, "CLF_VSTORE(__private, %s, %d, (%s)(0), g%d + %d);\n", one, lanes, clf_emit_type(half, wide, lanes), s,
                    b * w + lanes);
    }
    CLF_PUT(&t->x, "if (e1 - e0 > 512) {\nCLF_COLD for (long k_ = j0 / 512; k_ & 1; k_ >>= 1) { ");
    rows_of_merge(t, s);
    CLF_PUT(&t->x, "}\nCLF_COLD for (int u = 0; u < %d; u++) h%d[h%dd * %d + u] = g%d[u];\nh%dd++; }\n", padded, s, s, padded, s, s);
}

static void rows_of_close(clf_etext *t, int s) {
    char buf[CLF_EMIT_NAME];
    const clf_entry_task *d = &t->p->task[s];
    clf_dtype type = clf_ctext_type(&t->x, s), wide = clf_wide(type);
    int w = t->x.p->width;
    CLF_PUT(&t->x, "if (h%dd > 0) h%dd--;\nCLF_COLD while (h%dd > 0) { ", s, s, s);
    rows_of_merge(t, s);
    CLF_PUT(&t->x, "}\n");
    clf_etext_along_decl(t, d->value);
    const char *one = clf_emit_type(buf, wide, 1), *to = clf_emit_type(buf, type, 1);
    for (int b = 0; b < blocks(t, s); b++) {
        CLF_PUT(&t->x, "CLF_VSTORE(__private, %s, %d, ", to, w);
        clf_emit_cast(&t->x.e, wide, type, w);
        CLF_PUT(&t->x, "CLF_VLOAD(__private, %s, %d, g%d + %d)), y%d + %d);\n", one, w, s, b * w, d->value, b * w);
    }
}

/* ---- values that meet at their column ---- */

static void scatter_fold(clf_etext *t, int s) {
    clf_fold_vars f;
    char one[CLF_EMIT_NAME];
    memset(&f, 0, sizeof f);
    for (int m = 0; m < clf_fold_states(&t->x, s); m++) CLF_NAME(f.s[m], "f%da%d[c_]", s, m);
    CLF_PUT(&t->x, "{ const %s y = ", clf_emit_type(one, clf_ctext_type(&t->x, s), 1));
    put_cell(t, t->p->task[s].a);
    CLF_PUT(&t->x, "; ");
    f.v = "y";
    f.k = "i";
    clf_fold_apply(&t->x, s, clf_fold_row_of(&t->x, s)->step, false, 1, &f);
    CLF_PUT(&t->x, "}\n");
}

static void scatter_dot(clf_etext *t, int s) {
    const clf_entry_task *d = &t->p->task[s];
    char buf[CLF_EMIT_NAME], acc[32];
    clf_dtype type = clf_ctext_type(&t->x, s);
    const char *one = clf_emit_type(buf, type, 1);
    clf_print(acc, sizeof acc, "f%da0[c_]", s);
    CLF_PUT(&t->x, "{ const %s y = ", one);
    put_cell(t, d->a);
    CLF_PUT(&t->x, ", z_ = ");
    put_cell(t, d->b);
    CLF_PUT(&t->x, "; %s = ", acc);
    clf_etext_fma(t, skip_of(t, s), type, 1, "y", "z_", acc);
    CLF_PUT(&t->x, "; }\n");
}

/* Lanes of a vector of a partial result's row: no more than a narrow one has, or what is stored there and read again soon would overlap
 * with its neighbours', and wait for their stores. */
static int scatter_lanes(const clf_etext *t) {
    int64_t n;
    int lanes = t->x.p->width;
    clf_entry_spread(t->p, &n);
    while (lanes > 2 && n <= lanes / 2) lanes /= 2;
    return lanes;
}

/* The row's cells, in registers of the loop. */
static void scatter_rows_open(clf_etext *t, int s) {
    char wide[CLF_EMIT_NAME], one[CLF_EMIT_NAME];
    clf_dtype type = clf_ctext_type(&t->x, s);
    int w = scatter_lanes(t);
    for (int b = 0; b < blocks(t, s); b++)
        CLF_PUT(&t->x, "const %s a%d_%d = CLF_VLOAD(__private, %s, %d, y%d + %d);\n", clf_emit_type(wide, type, w), s, b,
                clf_emit_type(one, type, 1), w, t->p->task[s].b, b * w);
}

static void scatter_rows(clf_etext *t, int s) {
    const clf_entry_task *d = &t->p->task[s];
    char wide[CLF_EMIT_NAME], buf[CLF_EMIT_NAME], run[CLF_EMIT_NAME], row[32];
    clf_dtype type = clf_ctext_type(&t->x, s);
    int64_t cells;
    int w = scatter_lanes(t), spread = (int)clf_entry_spread(t->p, &cells), n = (int)cells;
    clf_emit_type(wide, type, w);
    const char *one = clf_emit_type(buf, type, 1);
    CLF_PUT(&t->x, "{ const %s y = (%s)(", wide, wide);
    put_cell(t, d->a);
    CLF_PUT(&t->x, ");\n__global %s *const q_ = f%da0 + c_ * %d;\n", one, s, spread);
    for (int b = 0; b < blocks(t, s); b++) {
        bool tail = n - b * w < w;
        clf_print(row, sizeof row, "a%d_%d", s, b);
        CLF_PUT(&t->x, "{ const %s z_ = CLF_VLOAD(__global, %s, %d, q_ + %d); CLF_VSTORE(__global, %s, %d, (", wide, one, w, b * w, one, w);
        if (tail) CLF_PUT(&t->x, "%s_UPTO(%d, ", clf_emit_run(&t->x.e, run, type, w), n - b * w);
        clf_etext_fma(t, skip_of(t, s), type, w, "y", row, "z_");
        CLF_PUT(&t->x, "%s), q_ + %d); }\n", tail ? ", z_)" : "", b * w);
    }
    CLF_PUT(&t->x, "}\n");
}

/* ---- all of them ---- */

static const struct {
    void (*open)(clf_etext *, int);  /* before a row's leaves */
    void (*lanes)(clf_etext *, int); /* before a tile */
    void (*entry)(clf_etext *, int);
    void (*leaf)(clf_etext *, int);  /* behind it */
    void (*close)(clf_etext *, int); /* behind the row */
    void (*keep)(clf_etext *, int);  /* instead of both, when the row goes on in a later cut */
} doing[] = {
    [CLF_DO_ROWS_OF] = {rows_of_open, rows_of_lanes, rows_of_entry, rows_of_leaf, rows_of_close, rows_of_keep},
    [CLF_DO_SCATTER] = {NULL, NULL, scatter_fold, NULL, NULL, NULL},
    [CLF_DO_SCATTER_DOT] = {NULL, NULL, scatter_dot, NULL, NULL, NULL},
    [CLF_DO_SCATTER_ROWS] = {scatter_rows_open, NULL, scatter_rows, NULL, NULL, NULL},
};

#define EACH(step) \
    for (int s = 0; s < t->p->ntask; s++) \
        if (here(t, s) && doing[t->p->task[s].kind].step) doing[t->p->task[s].kind].step(t, s);

void clf_etext_late_open(clf_etext *t) { EACH(open) }
void clf_etext_late_close(clf_etext *t) { EACH(close) }

void clf_etext_late_lanes(clf_etext *t) { EACH(lanes) }
void clf_etext_late_leaf(clf_etext *t) { EACH(leaf) }
void clf_etext_late_keep(clf_etext *t) { EACH(keep) }

static void each_entry(clf_etext *t, const char *loop) {
    CLF_PUT(&t->x, "%s { const long c_ = %s;\n", loop, t->eight ? "c8_[k_]" : "xc[eb + z]");
    EACH(entry)
    CLF_PUT(&t->x, "}\n");
}

static void eight_entries(clf_etext *t, bool none_zero) {
    t->eight = true;
    t->none_zero = none_zero;
    each_entry(t, "CLF_WHOLE for (int k_ = 0; k_ < 8; k_++)");
    t->eight = t->none_zero = false;
}

/* Of the next entries' cells: none is 0? */
static void ask_zeros(clf_etext *t, int s) {
    const int a = t->p->task[s].a;
    const bool wide = clf_etext_type(t, a) == CLF_F64;
    const char *one = wide ? "double" : "float", *mask = wide ? "long" : "int";
    if (clf_etext_is_stored(t, a))
        CLF_PUT(&t->x, "CLF_NONE_ZERO(all_, __global, %s, %s, e8_)\n", one, mask);
    else
        CLF_PUT(&t->x, "CLF_NONE_ZERO(all_, __private, %s, %s, t%d + z)\n", one, mask, a);
}

/* A mask an entry is a ninth of sp_mvchain's time; zeros are seldom stored, so eight entries are asked for them at once. An entry that is
 * passed over by a branch of its own is as fast where there are none, but more than twice as slow where every second cell is 0. */
static void step_of_entries(clf_etext *t) {
    bool any = false;
    for (int s = 0; s < t->p->ntask; s++) {
        if (!is_masked(t, s)) continue;
        if (!any) CLF_PUT(&t->x, "long all_ = -1;\n");
        ask_zeros(t, s);
        any = true;
    }
    if (any) {
        CLF_PUT(&t->x, "if (all_) {\n");
        eight_entries(t, true);
        CLF_PUT(&t->x, "} else\n");
    }
    eight_entries(t, false);
}

/* While cells go to places that only their columns tell, nobody asks memory for entries, and the loop over vectors that does so next
 * would wait: it finds those fetched here. Unrolled, because what it costs to count is a tenth of sp_mvchain. */
static void fetching_loop(clf_etext *t) {
    char one[CLF_EMIT_NAME];
    const char *type = clf_emit_type(one, (clf_dtype)t->p->c->in[t->p->csr].dtype, 1);
    CLF_PUT(&t->x, "{ int z = 0;\nwhile (z + %d <= cells) {\n", STEP);
    if (t->p->batch)
        CLF_PUT(&t->x, "const long f_ = min(eb + z + ahead_, nnz - 1); CLF_FETCH(xe + f_) CLF_FETCH(xc + f_)\n");
    else
        CLF_PUT(&t->x, "const long f_ = min(eb + z + %d, nnz - 1); CLF_FETCH(xe + f_) CLF_FETCH(xc + f_)\n", FETCH_AHEAD);
    CLF_PUT(&t->x, "const __global %s *const e8_ = xe + eb + z;\nconst __global int *const c8_ = xc + eb + z;\n", type);
    step_of_entries(t);
    CLF_PUT(&t->x, "z += %d;\n}\n", STEP);
    each_entry(t, "for (; z < cells; z++)");
    CLF_PUT(&t->x, "}\n");
}

/* Do the rows of a side that a vector of entries has read fit the registers beside what they are added to? Eight of two vectors do. */
static bool rows_stay(const clf_etext *t) {
    for (int s = 0; s < t->p->ntask; s++)
        if (here(t, s) && t->p->task[s].kind == CLF_DO_ROWS_OF && blocks(t, s) > 2) return false;
    return t->x.registers != CLF_FEW_REGISTERS;
}

/* Where they do not fit, a loop that stays one: unrolled, it would keep what it reads from where DOTs have read it, and spill that. It asks
 * for sides, too, entry by entry while nobody else waits for memory: measured with AVX-512, a tenth less time than for eight at once. */
void clf_etext_late_vector(clf_etext *t, bool tail) {
    char loop[64];
    clf_print(loop, sizeof loop, "%s for (int z = 0; z < %d; z++)", rows_stay(t) ? "CLF_WHOLE" : "CLF_COLD", t->x.p->width);
    CLF_PUT(&t->x, "%s {\n", tail ? "for (int z = 0; z < cells; z++)" : loop);
    clf_etext_fetch_sides(t);
    each_entry(t, "");
    CLF_PUT(&t->x, "}\n");
}

/* Is it little for each entry? */
static bool is_small(const clf_etext *t, int s) {
    const uint8_t k = t->p->task[s].kind;
    if (k == CLF_DO_SCATTER || k == CLF_DO_SCATTER_DOT) return true;
    return (k == CLF_DO_SCATTER_ROWS || (k == CLF_DO_ROWS_OF && !t->p->blocked)) && blocks(t, s) <= 2;
}

void clf_etext_late_loop(clf_etext *t) {
    bool any = false, small = true;
    for (int s = 0; s < t->p->ntask; s++) {
        any = any || here(t, s);
        small = small && (!here(t, s) || is_small(t, s));
    }
    if (any && small)
        fetching_loop(t);
    else if (any)
        each_entry(t, "for (int z = 0; z < cells; z++)");
}
