/* SPDX-License-Identifier: Apache-2.0
 * The C twin of tile.chunk.cl: its schedule, its facts, its text.
 *
 * Arguments, in order: for every access the memory of its input and its base offset, then where it moves with the row its row stride; for a
 * left side that is used transposed its stride along terms, for the right side those along terms and columns; for every output memory and
 * base offset; parameters; scratch; counter; the sizes that tile.chunk.cl names. */
#include <string.h>

#include "kernels-cl/skel/facts.h"
#include "kernels-cl/skel/tile_text.h"
#include "kernels-cl/skel/twin.h"

extern const clf_skel clf_skel_tile_chunk;

enum { TURNED = 8 }; /* rows of a left side used transposed that are read side by side */

/* ---- arguments ---- */

static bool by_row(const clf_access *a) {
    for (int d = 0; d < a->rank; d++)
        if (a->at[d].axis == 0) return true;
    return false;
}

static void walk(clf_args *w, const void *plan, int64_t first) {
    const clf_tile *p = plan;
    for (int a = 0; a < p->c->naccess; a++) {
        clf_strides s;
        clf_row_strides(p->c, &p->c->access[a], &s);
        clf_args_input(w, p->c, a, s.base);
        if (by_row(&p->c->access[a]) && a != p->turned) clf_args_size(w, "xl", a, s.step[0]);
    }
    if (p->turned >= 0) clf_args_size(w, "xs", p->turned, p->tl);
    clf_args_size(w, "xs", p->right, p->sl);
    clf_args_size(w, "xk", p->right, p->sj);
    clf_args_results(w, p->c);
    const int64_t size[] = {p->rows, p->cols, p->terms, p->mc, p->nc, p->band, first, p->across, p->cstride};
    clf_args_end(w, sizeof size / sizeof *size, size);
}

/* ---- holes: types ---- */

static const clf_tile *plan_of(const clf_ctext *x) { return ((const clf_ttext *)x)->p; }

static void hole_type(clf_ctext *x) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "%s", clf_emit_type(buf, plan_of(x)->type, 1));
}
static void hole_vector(clf_ctext *x) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "%s", clf_emit_type(buf, plan_of(x)->type, plan_of(x)->lanes));
}
static void hole_wide(clf_ctext *x) { CLF_PUT(x, "double%d", plan_of(x)->lanes); }
static void hole_load(clf_ctext *x) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "CLF_VLOAD(__global, %s, %d, p)", clf_emit_type(buf, plan_of(x)->type, 1), plan_of(x)->lanes);
}
static void hole_save(clf_ctext *x) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "CLF_VSTORE(__global, %s, %d, v, p)", clf_emit_type(buf, plan_of(x)->type, 1), plan_of(x)->lanes);
}
static void hole_loadw(clf_ctext *x) { CLF_PUT(x, "CLF_VLOAD(__global, double, %d, p)", plan_of(x)->lanes); }
static void hole_savew(clf_ctext *x) { CLF_PUT(x, "CLF_VSTORE(__global, double, %d, v, p)", plan_of(x)->lanes); }
static void hole_widen(clf_ctext *x) {
    clf_emit_cast(&x->e, plan_of(x)->type, CLF_F64, plan_of(x)->lanes);
    CLF_PUT(x, "v)");
}
static void hole_narrow(clf_ctext *x) {
    clf_emit_cast(&x->e, CLF_F64, plan_of(x)->type, plan_of(x)->lanes);
    CLF_PUT(x, "v)");
}
static void hole_fma(clf_ctext *x) {
    const clf_emit_name names[] = {{NULL, NULL}};
    clf_emit_text(&x->e, "E_FMA(a, b, c)", plan_of(x)->type, plan_of(x)->lanes, names);
}
static void hole_add(clf_ctext *x) {
    const clf_emit_name names[] = {{NULL, NULL}};
    clf_emit_text(&x->e, "E_ADD(a, b)", CLF_F64, plan_of(x)->lanes, names);
}

/* ---- holes: the order of terms ---- */

/* Lane of run q: runs are ordered such that siblings of the lanes' tree follow each other. */
static void put_lane(clf_ctext *x, const char *q) {
    if (plan_of(x)->runs == 8)
        CLF_PUT(x, "((%s & 1) << 2 | (%s & 2) | %s >> 2)", q, q, q);
    else
        CLF_PUT(x, "((%s & 1) << 3 | (%s & 2) << 1 | (%s & 4) >> 1 | %s >> 3)", q, q, q, q);
}
static void hole_runs(clf_ctext *x) { CLF_PUT(x, "%d", plan_of(x)->runs); }
static void hole_levels(clf_ctext *x) {
    int n = 0;
    while (1 << n < plan_of(x)->runs) n++;
    CLF_PUT(x, "%d", n);
}
static void hole_terms(clf_ctext *x) {
    if (plan_of(x)->runs == 1) {
        CLF_PUT(x, "kc");
        return;
    }
    CLF_PUT(x, "((kc - ");
    put_lane(x, "(q)");
    CLF_PUT(x, " + %d) / %d)", plan_of(x)->runs - 1, plan_of(x)->runs);
}
static void hole_order(clf_ctext *x) {
    int n = plan_of(x)->runs;
    if (n == 1) return;
    CLF_PUT(x, "long start[%d], at_ = 0;\nCLF_COLD for (int q_ = 0; q_ < %d; q_++) { start[", n, n);
    put_lane(x, "q_");
    CLF_PUT(x, "] = at_; at_ += CLF_TILE_TERMS(q_); }\n");
}
static void hole_place(clf_ctext *x) {
    int n = plan_of(x)->runs;
    if (n == 1)
        CLF_PUT(x, "(u)");
    else
        CLF_PUT(x, "(start[(u) & %d] + (u) / %d)", n - 1, n);
}

/* ---- holes: packing ---- */

/* part holds `count` rows of a vector each; term u + c of them becomes column c. */
static void put_turn(clf_ctext *x, const char *to, const char *count, const char *loop, const char *terms) {
    CLF_PUT(x, "%s for (int c = 0; c < %s; c++) { __global CLF_TILE_T *const z = %s + CLF_TILE_PLACE(u + c) * %s;\n", loop, terms, to,
            count);
    CLF_PUT(x, "CLF_WHOLE for (int q = 0; q < %s; q++) z[q] = part[q * %d + c]; }\n", count, plan_of(x)->lanes);
}

/* One vector of each of the tile's rows, whole or of `r` terms. */
static void left_rows(clf_ctext *x, bool tail, bool plain) {
    clf_ttext *w = (clf_ttext *)x;
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "const long col = k0 + u;\n%s for (int q = 0; q < TILE_ROWS; q++) { const long row = min(i + q, i1 - 1);\n",
            plain && !tail ? "CLF_WHOLE" : "CLF_COLD");
    clf_ttext_values(w, true, tail);
    CLF_PUT(x, "CLF_VSTORE(__private, %s, %d, v%d, part + q * %d); }\n", clf_emit_type(buf, w->p->type, 1), w->p->lanes,
            w->p->c->value[w->p->dot].in[0], w->p->lanes);
}

/* A left side used transposed has a row for each term: some are read side by side. Rows of the product beyond the last are like it. */
static void left_turned(clf_ctext *x) {
    int a = plan_of(x)->turned;
    CLF_PUT(x, "for (long u0 = 0; u0 < kc; u0 += %d) { const long u1 = min(u0 + %d, kc);\n", TURNED, TURNED);
    CLF_PUT(x, "for (long i = b0; i < b1; i += TILE_ROWS) { __global CLF_TILE_T *to = left + (i - b0) * 512 + u0 * TILE_ROWS;\n");
    CLF_PUT(x, "const __global CLF_TILE_T *from = x%d + xb%d + (k0 + u0) * xs%d + i;\n", a, a, a);
    CLF_PUT(x, "for (long u = u0; u < u1 && i + TILE_ROWS <= i1; u++, from += xs%d, to += TILE_ROWS) {\nCLF_TILE_T y[TILE_ROWS];\n", a);
    CLF_PUT(x, "CLF_WHOLE for (int q = 0; q < TILE_ROWS; q++) y[q] = from[q];\n");
    CLF_PUT(x, "CLF_WHOLE for (int q = 0; q < TILE_ROWS; q++) to[q] = y[q]; }\n");
    CLF_PUT(x, "CLF_COLD for (long u = u0; u < u1 && i + TILE_ROWS > i1; u++, from += xs%d, to += TILE_ROWS)\n", a);
    CLF_PUT(x, "CLF_COLD for (int q = 0; q < TILE_ROWS; q++) to[q] = from[min((long)q, i1 - 1 - i)]; } }\n");
}

static void left_as_it_lies(clf_ctext *x) {
    const clf_tile *p = plan_of(x);
    int n = p->lanes;
    bool plain = p->c->value[p->c->value[p->dot].in[0]].op == CLF_V_LOAD;
    CLF_PUT(x, "for (long i = b0; i < b1; i += TILE_ROWS) {\nCLF_TILE_T part[TILE_ROWS * %d] CLF_LINES;\n", n);
    CLF_PUT(x, "__global CLF_TILE_T *const to = left + (i - b0) * 512;\nlong u = 0;\n");
    CLF_PUT(x, "for (; u + %d <= kc; u += %d) {\n", n, n);
    left_rows(x, false, plain);
    put_turn(x, "to", "TILE_ROWS", "CLF_WHOLE", n == 8 ? "8" : "16");
    CLF_PUT(x, "}\nif (u < kc) { const int r = (int)(kc - u);\n");
    left_rows(x, true, plain);
    put_turn(x, "to", "TILE_ROWS", "CLF_COLD", "r");
    CLF_PUT(x, "} }\n");
}

static void hole_left(clf_ctext *x) {
    if (plan_of(x)->turned < 0)
        left_as_it_lies(x);
    else
        left_turned(x);
}

static void right_rows(clf_ctext *x, bool tail) {
    const clf_tile *p = plan_of(x);
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x,
            "CLF_COLD for (int q = 0; q < TILE_COLS; q++) { const __global CLF_TILE_T *from = x%d + xb%d + min(j + q, j1 - 1) * xk%d + (k0 "
            "+ u);\n",
            p->right, p->right, p->right);
    CLF_PUT(x, "const CLF_TILE_V y = ");
    CLF_PUT(x, tail ? "%s_LOADT(from, r);\n" : "CLF_TILE_LOAD(from);\n", clf_emit_run(&x->e, buf, p->type, p->lanes));
    CLF_PUT(x, "CLF_VSTORE(__private, %s, %d, y, part + q * %d); }\n", clf_emit_type(buf, p->type, 1), p->lanes, p->lanes);
}

/* Columns of the right side lie along the terms. */
static void right_turned(clf_ctext *x) {
    int n = plan_of(x)->lanes;
    CLF_PUT(x, "CLF_TILE_T part[TILE_COLS * %d] CLF_LINES;\nlong u = 0;\nfor (; u + %d <= kc; u += %d) {\n", n, n, n);
    right_rows(x, false);
    put_turn(x, "right", "TILE_COLS", "CLF_WHOLE", n == 8 ? "8" : "16");
    CLF_PUT(x, "}\nif (u < kc) { const int r = (int)(kc - u);\n");
    right_rows(x, true);
    put_turn(x, "right", "TILE_COLS", "CLF_COLD", "r");
    CLF_PUT(x, "}\n");
}

static void hole_right(clf_ctext *x) {
    const clf_tile *p = plan_of(x);
    char run[CLF_EMIT_NAME];
    int n = p->lanes, a = p->right;
    if (p->runs > 1) {
        right_turned(x);
        return;
    }
    CLF_PUT(x, "const __global CLF_TILE_T *from = x%d + xb%d + k0 * xs%d + j;\n__global CLF_TILE_T *to = right;\n", a, a, a);
    CLF_PUT(x, "for (long u = 0; u < kc && width == TILE_COLS; u++, from += xs%d, to += TILE_COLS)\n", a);
    CLF_PUT(x, "CLF_WHOLE for (int v = 0; v < TILE_COLS; v += %d) CLF_TILE_SAVE(CLF_TILE_LOAD(from + v), to + v);\n", n);
    CLF_PUT(x, "CLF_COLD for (long u = 0; u < kc && width < TILE_COLS; u++, from += xs%d, to += TILE_COLS)\n", a);
    CLF_PUT(x, "CLF_WHOLE for (int v = 0; v < TILE_COLS; v += %d) CLF_TILE_SAVE(", n);
    CLF_PUT(x, "%s_LOADT(from + v, (int)clamp(width - v, 0L, %dL)), to + v);\n", clf_emit_run(&x->e, run, p->type, n), n);
}

/* The next panel's lines, in memory order along the terms: four tiles take a quarter of the terms each, for one line of each vector and one
 * more. */
static void hole_ahead(clf_ctext *x) {
    int a = plan_of(x)->right, n = plan_of(x)->lanes;
    if (plan_of(x)->runs > 1) return;
    CLF_PUT(x, "if (nth < 4 * TILE_VECTORS + 4 && b0 == i0 && j + TILE_COLS < j1) {\n");
    CLF_PUT(x, "ahead = x%d + xb%d + (k0 + (nth & 3) * (kc / 4)) * xs%d + j + TILE_COLS + nth / 4 * %d;\nahead_by = xs%d; }\n", a, a, a, n,
            a);
}

/* Cells that the results are computed from, and those where they go, are asked for before the sums, which take a while. */
static void hole_ask(clf_ctext *x) {
    const clf_tile *p = plan_of(x);
    CLF_PUT(x, "CLF_COLD for (long row = i; row < min(i + TILE_ROWS, i1) && leaf + 1 == leaves; row++)\n");
    CLF_PUT(x, "CLF_WHOLE for (long col = j; col < j + TILE_COLS; col += CLF_TILE_L) {\n");
    for (int v = 0; v < p->c->nvalue; v++) {
        const clf_value *w = &p->c->value[v];
        if (w->op != CLF_V_LOAD || w->axes != (1u | 1u << p->j) || !(p->want[v] & CLF_TILE_RESULT)) continue;
        CLF_PUT(x, "CLF_FETCH_FAR(x%d + xb%d + row * xl%d + col)\n", w->arg, w->arg, w->arg);
    }
    for (int s = 0; s < p->c->nsink; s++)
        CLF_PUT(x, "CLF_FETCH_FAR(o%d + ob%d + row * cols + col)\n", p->c->sink[s].out[0], p->c->sink[s].out[0]);
    CLF_PUT(x, "}\n");
}

static void hole_store(clf_ctext *x) { clf_ttext_stores((clf_ttext *)x, false); }
static void hole_store_short(clf_ctext *x) { clf_ttext_stores((clf_ttext *)x, true); }

static const clf_hole holes[] = {
    {"CLF_SETUP", clf_ttext_setup},
    {"CLF_TILE_T", hole_type},
    {"CLF_TILE_V", hole_vector},
    {"CLF_TILE_W", hole_wide},
    {"CLF_TILE_LOAD(p)", hole_load},
    {"CLF_TILE_SAVE(v, p)", hole_save},
    {"CLF_TILE_LOADW(p)", hole_loadw},
    {"CLF_TILE_SAVEW(v, p)", hole_savew},
    {"CLF_TILE_WIDE(v)", hole_widen},
    {"CLF_TILE_NARROW(v)", hole_narrow},
    {"CLF_TILE_FMA(a, b, c)", hole_fma},
    {"CLF_TILE_ADD(a, b)", hole_add},
    {"CLF_TILE_RUNS", hole_runs},
    {"CLF_TILE_LEVELS", hole_levels},
    {"CLF_TILE_TERMS(q)", hole_terms},
    {"CLF_TILE_ORDER", hole_order},
    {"CLF_TILE_PLACE(u)", hole_place},
    {"CLF_TILE_LEFT", hole_left},
    {"CLF_TILE_RIGHT", hole_right},
    {"CLF_TILE_AHEAD", hole_ahead},
    {"CLF_TILE_ASK", hole_ask},
    {"CLF_TILE_STORE", hole_store},
    {"CLF_TILE_STORE_SHORT", hole_store_short},
    {NULL, NULL},
};

static const clf_twin twin = {&clf_skel_tile_chunk, "skel/tile.chunk.cl", "CLF_TILE_L", holes, walk};

/* ---- fits, sched ---- */

static bool fits(const clf_cplan *c, const clf_profile *p) {
    clf_tile tile;
    return p->fp64 && clf_tile_plan(&tile, c, p->cores) && clf_twin_args_fit(&twin, &tile, p);
}

/* A part of a grid would pack the right side again: what does not fit the device runs elsewhere. */
static clf_status sched(const clf_cplan *c, const clf_profile *p, clf_grid grid, clf_sched *out, clf_err *err) {
    clf_tile tile;
    if (!clf_tile_plan(&tile, c, p->cores)) return clf_fail(err, CLF_E_INTERNAL, "tile.chunk: cplan does not fit");
    const clf_twin_grid g = {.chunks = tile.chunks, .cstride = tile.cstride};
    CLF_TRY(clf_twin_sched(&twin, &tile, &g, grid, out, err));
    out->variant = tile.runs;
    out->width = tile.lanes;
    out->grain = tile.mc;
    return CLF_OK;
}

/* ---- facts ---- */

static void facts(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_facts *out) {
    clf_tile p;
    memset(out, 0, sizeof *out);
    if (!clf_tile_plan(&p, c, profile->cores)) return;
    clf_facts_loads(out, c, NULL);
    out->cells[p.type == CLF_F64][CLF_CLASS_ADD] += 2 * clf_facts_cells(c, 7);
    for (int v = 0; v < c->nvalue; v++) {
        if (!clf_op_is_cell(c->value[v].op) || !p.want[v]) continue;
        double again = p.want[v] & CLF_TILE_LEFT ? (double)p.across : 1;
        clf_facts_value(out, c, v, again * clf_facts_cells(c, c->value[v].axes));
    }
    for (int k = 0; k < c->nsink; k++) clf_facts_write(out, c, &c->sink[k], clf_facts_cells(c, c->sink[k].keep));
    clf_twin_share(out, s, p.chunks);
}

/* ---- text ---- */

static clf_status emit(const clf_cplan *c, const clf_sched *s, const char *kernel_dir, clf_arena *arena, clf_source *out, clf_err *err) {
    clf_tile p;
    (void)s;
    if (!clf_tile_plan(&p, c, 1)) return clf_fail(err, CLF_E_INTERNAL, "tile.chunk: cplan does not fit");
    clf_ttext t = {.p = &p};
    t.x.c = c;
    t.x.p = &t.none;
    return clf_twin_write(&twin, &t.x, &p, p.lanes, kernel_dir, arena, out, err);
}

const clf_skel clf_skel_tile_chunk = {
    .name = "tile.chunk",
    .strategy = "chunk",
    .tier = 2,
    .fits = fits,
    .sched = sched,
    .facts = facts,
    .emit = emit,
};
