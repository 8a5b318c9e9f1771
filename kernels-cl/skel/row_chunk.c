/* SPDX-License-Identifier: Apache-2.0
 * The C twin of row.chunk.cl: what it fits, its schedule, its facts, its text.
 *
 * Arguments, in order: for every access the memory of its input, its base offset in elements (CLF_ARG_I64, right behind the
 * memory), then where it moves with the row its row stride, and for factors of products their strides along l and k; for every output
 * memory and base offset; parameters; extents of inner axes; states of column sinks and depths of leaf stacks that are no constants;
 * scratch; counter; the sizes that row.chunk.cl names. Who binds memory that starts r elements into an operand subtracts r from the
 * base offset. */
#include <stdio.h>
#include <string.h>

#include "kernels-cl/skel/row_text.h"

enum { SIZES = 10, ARG_BYTES = 8 };
static const char KERNEL[] = "skel/row.chunk.cl";
extern const clf_skel clf_skel_row_chunk;

/* ---- arguments: one walk for their number, their descriptions and values, and the kernel's signature ---- */

typedef struct arg_walk {
    const clf_row *p;
    int64_t *value; /* NULL: not wanted */
    clf_arg_desc *desc;
    clf_str *text;
    int n, nvalue;
} arg_walk;

static void arg(arg_walk *w, clf_arg_kind kind, int dtype, int index) {
    if (w->desc) w->desc[w->n] = (clf_arg_desc){(uint8_t)kind, (uint8_t)dtype, (int16_t)index};
    w->n++;
}
static void size_arg(arg_walk *w, const char *name, int id, int64_t value) {
    if (w->value && w->nvalue < CLF_SCHED_ARGS) w->value[w->nvalue] = value;
    if (w->text && name) clf_str_fmt(w->text, "long %s%d, ", name, id);
    arg(w, CLF_ARG_I64, CLF_I64, w->nvalue++);
}

/* Does it read elsewhere in the next row? */
static bool by_row(const clf_access *a) {
    for (int d = 0; d < a->rank; d++)
        if (a->at[d].axis == 0) return true;
    return false;
}

static void walk_access(arg_walk *w, int a) {
    const clf_cplan *c = w->p->c;
    char buf[CLF_EMIT_NAME];
    int64_t base, si;
    clf_dtype t = (clf_dtype)c->in[c->access[a].input].dtype;
    clf_row_at(w->p, &c->access[a], &base, &si);
    arg(w, CLF_ARG_MEM_IN, t, c->access[a].input);
    if (w->text) clf_str_fmt(w->text, "const __global %s *restrict x%d, ", clf_emit_type(buf, t, 1), a);
    size_arg(w, "xb", a, base);
    if (by_row(&c->access[a])) size_arg(w, "xl", a, si);
}

static void walk_factors(arg_walk *w) {
    clf_row_factor f;
    uint64_t seen[4] = {0};
    for (int v = 0; v < w->p->c->nvalue; v++) {
        if (!clf_row_factor_of(w->p, v, &f)) continue;
        int a = w->p->c->value[w->p->c->value[v].in[1]].arg;
        if (f.lanes == 1 && !clf_row_narrow(w->p, f.l)) size_arg(w, "el", v, clf_row_leaf_levels(w->p, f.l));
        if (a >= 256 || seen[a / 64] >> a % 64 & 1) continue;
        seen[a / 64] |= (uint64_t)1 << a % 64;
        size_arg(w, "xs", a, f.sl);
        size_arg(w, "xk", a, f.sk);
    }
}

static void walk_outputs(arg_walk *w) {
    const clf_cplan *c = w->p->c;
    char buf[CLF_EMIT_NAME];
    for (int o = 0; o < c->nout; o++) {
        arg(w, CLF_ARG_MEM_OUT, c->out[o].dtype, o);
        if (w->text) clf_str_fmt(w->text, "__global %s *restrict o%d, ", clf_emit_type(buf, (clf_dtype)c->out[o].dtype, 1), o);
        size_arg(w, "ob", o, 0);
    }
    for (int k = 0; k < c->nparam; k++) {
        arg(w, CLF_ARG_PARAM, c->param[k], k);
        if (w->text) clf_str_fmt(w->text, "%s p%d, ", clf_emit_type(buf, (clf_dtype)c->param[k], 1), k);
    }
}

static void walk(arg_walk *w, int64_t first) {
    const clf_row *p = w->p;
    for (int a = 0; a < p->c->naccess; a++) walk_access(w, a);
    walk_factors(w);
    walk_outputs(w);
    for (int a = 1; a < p->c->naxes; a++) size_arg(w, "n", a, clf_row_extent(p, a));
    for (int s = 0; s < p->c->nsink; s++)
        if (p->sink[s].layout) size_arg(w, "cs", s, p->sink[s].slots);
    arg(w, CLF_ARG_SCRATCH, CLF_U8, 0);
    arg(w, CLF_ARG_COUNTER, CLF_I32, 0);
    const int64_t size[SIZES] = {p->rows, p->block, p->wide, p->chunk, first, p->chunks, p->ent, p->levels, p->cstride, p->cbase};
    for (int k = 0; k < SIZES; k++) size_arg(w, NULL, 0, size[k]);
}

/* ---- fits, sched ---- */

static bool floats_ok(const clf_cplan *c, const clf_profile *p) {
    if (p->fp64) return true;
    for (int v = 0; v < c->nvalue; v++)
        if (c->value[v].dtype == CLF_F64 || c->value[v].op == CLF_V_FOLD || c->value[v].op == CLF_V_DOT || c->value[v].op == CLF_V_SCAN)
            return false;
    for (int s = 0; s < c->nsink; s++)
        if (c->sink[s].kind != CLF_SINK_STORE) return false;
    return true;
}

static bool fits(const clf_cplan *c, const clf_profile *p) {
    clf_row row;
    if (!floats_ok(c, p) || !clf_row_plan(&row, c, p->cores)) return false;
    arg_walk w = {.p = &row};
    walk(&w, 0);
    return w.nvalue <= CLF_SCHED_ARGS && (p->max_arg_bytes <= 0 || (double)w.n * ARG_BYTES <= p->max_arg_bytes);
}

/* Are cells written one by one that the caches would not hold, on whole cache lines? */
static bool past_caches(const clf_row *p, const clf_profile *profile) {
    double bytes = 0;
    for (int s = 0; s < p->c->nsink; s++) {
        const clf_sink *k = &p->c->sink[s];
        int j = clf_row_inner(k->keep);
        if (k->kind != CLF_SINK_STORE || j < 0) continue;
        if (clf_row_extent(p, j) * 4 % 64) return false;
        bytes += (double)p->rows * (double)clf_row_extent(p, j) * (double)clf_dtype_bytes((clf_dtype)p->c->out[k->out[0]].dtype);
    }
    return bytes > profile->llc_bytes / 2;
}

/* A part of a grid sees its share of what has as many rows as the extent. So nothing may that is not read or written row by row. */
static bool may_cut(const clf_row *p) {
    const clf_cplan *c = p->c;
    for (int a = 0; a < c->naccess; a++) {
        const clf_access *x = &c->access[a];
        if (x->rank > 0 && c->in[x->input].dim[0].n == p->rows && (x->at[0].axis != 0 || x->at[0].add || x->at[0].mul != 1)) return false;
    }
    for (int s = 0; s < c->nsink; s++)
        if (!(c->sink[s].keep & 1u) && c->out[c->sink[s].out[0]].rank > 0 && c->out[c->sink[s].out[0]].dim[0].n == p->rows) return false;
    return true;
}

static clf_status sched(const clf_cplan *c, const clf_profile *p, clf_grid grid, clf_sched *out, clf_err *err) {
    clf_row row;
    if (!clf_row_plan(&row, c, p->cores)) return clf_fail(err, CLF_E_INTERNAL, "row.chunk: cplan does not fit");
    int64_t hi = grid.hi < 1 && grid.lo == 0 ? row.chunks : grid.hi < row.chunks ? grid.hi : row.chunks, units;
    if (__builtin_mul_overflow(row.chunks, row.cstride, &units) || units > INT64_MAX / 16 - row.cbase)
        return clf_fail(err, CLF_E_LIMIT, "row.chunk: scratch is too large");
    memset(out, 0, sizeof *out);
    out->skel = &clf_skel_row_chunk;
    out->variant = row.ru;
    out->width = row.width;
    out->index_bits = 64;
    out->nontemporal = past_caches(&row, p);
    out->grain = row.chunk;
    out->extent = may_cut(&row) ? row.rows : 0;
    out->global = grid.lo < hi ? (size_t)(hi - grid.lo) : 0;
    out->local = 1;
    out->scratch_bytes = (size_t)(row.cbase + units) * 8 + 64;
    arg_walk w = {.p = &row, .value = out->arg};
    walk(&w, grid.lo);
    out->narg = w.nvalue;
    return CLF_OK;
}

/* ---- facts ---- */

static void facts(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_facts *out) {
    clf_row p;
    memset(out, 0, sizeof *out);
    if (!clf_row_plan(&p, c, profile->cores)) return;
    clf_row_facts(&p, out);
    double part = (double)s->global / (double)p.chunks;
    out->read_bytes *= part;
    out->write_bytes *= part;
    for (int k = 0; k < 2 * CLF_NCLASSES; k++) out->cells[k / CLF_NCLASSES][k % CLF_NCLASSES] *= part;
    out->launches = s->global > 0;
}

/* ---- text ---- */

typedef void hole_writer(clf_ctext *x);
static void hole_strips(clf_ctext *x) { clf_rtext_pass(x, ((clf_rtext *)x)->p->ru); }
static void hole_strip(clf_ctext *x) {
    if (((clf_rtext *)x)->p->ru > 1) clf_rtext_pass(x, 1);
}
static void hole_merge(clf_ctext *x) { clf_fold_hole_full(x, 0); }
static void hole_put(clf_ctext *x) { clf_fold_hole_full(x, 1); }
static void hole_get(clf_ctext *x) { clf_fold_hole_full(x, 2); }
static void hole_init(clf_ctext *x) { clf_fold_hole_full(x, 3); }
static const struct {
    const char *name;
    hole_writer *write;
} holes[] = {
    {"CLF_SETUP", clf_rtext_setup},   {"CLF_STRIPS", hole_strips},      {"CLF_STRIP", hole_strip},
    {"CLF_COL_INIT", clf_rcols_init}, {"CLF_COL_PUSH", clf_rcols_push}, {"CLF_FINISH", clf_rcols_finish},
    {"CLF_ONCE", clf_rtext_once},     {"CLF_FINAL", clf_rcols_final},   {"CLF_FULL_MERGE(slot)", hole_merge},
    {"CLF_FULL_PUT(slot)", hole_put}, {"CLF_FULL_GET(slot)", hole_get}, {"CLF_FULL_INIT", hole_init},
};

static void put_holes(clf_rtext *t, clf_str *out) {
    arg_walk w = {.p = t->p, .text = out};
    clf_str_put(out, "#define CLF_ARGS ");
    walk(&w, 0);
    clf_str_fmt(out, "\n#define CLF_RU %d\n", t->p->ru);
    for (size_t h = 0; h < sizeof holes / sizeof *holes; h++) {
        clf_str body;
        clf_str_init(&body, out->mem);
        t->x.e.out = &body;
        holes[h].write(&t->x);
        clf_emit_define(out, holes[h].name, clf_str_c(&body));
        out->failed = out->failed || body.failed;
        clf_str_release(&body);
    }
}

static clf_status put_program(clf_rtext *t, const char *kernel_dir, clf_str *out, clf_pieces *pieces, clf_str *entry, clf_err *err) {
    clf_str text, families;
    clf_status st;
    clf_str_init(&text, out->mem);
    clf_str_init(&families, out->mem);
    clf_emit_init(&t->x.e, &text);
    put_holes(t, &text);
    clf_emit_prelude(&t->x.e, &families);
    clf_hash h = clf_hash_bytes(clf_str_c(&text), strlen(clf_str_c(&text)));
    clf_str_fmt(entry, "k_%016llx", (unsigned long long)h.lo);
    clf_str_fmt(out, "#define CLF_ENTRY %s\n%s", clf_str_c(entry), clf_str_c(&text));
    clf_pieces_note(pieces, CLF_TEXT_HOLES, out);
    CLF_GO(clf_kernel_expand(KERNEL, kernel_dir, clf_str_c(&families), pieces, out, err));
    if (out->failed || entry->failed || text.failed || families.failed)
        st = clf_fail(err, CLF_E_NOMEM, "row.chunk: out of memory while writing a kernel");
out:
    clf_str_release(&families);
    clf_str_release(&text);
    return st;
}

static clf_status hand_over(const clf_rtext *x, const clf_str *text, const clf_pieces *pieces, const clf_str *entry, clf_arena *arena,
                            clf_source *out, clf_err *err) {
    arg_walk w = {.p = x->p};
    walk(&w, 0);
    clf_arg_desc *desc = clf_arena_new(arena, (size_t)w.n, sizeof *desc);
    char *t = clf_arena_strn(arena, clf_str_c(text), text->len), *e = clf_arena_strn(arena, clf_str_c(entry), entry->len);
    int npieces = pieces->n <= CLF_TEXT_PIECES ? pieces->n : 0;
    clf_text_piece *piece = clf_arena_new(arena, (size_t)npieces, sizeof *piece);
    if (!desc || !t || !e || !piece) return clf_fail(err, CLF_E_NOMEM, "row.chunk: out of memory while writing a kernel");
    w = (arg_walk){.p = x->p, .desc = desc};
    walk(&w, 0);
    memcpy(piece, pieces->at, (size_t)npieces * sizeof *piece);
    *out = (clf_source){.text = t,
                        .text_len = text->len,
                        .entry = e,
                        .options = "",
                        .args = desc,
                        .nargs = w.n,
                        .piece = piece,
                        .npieces = npieces,
                        .hash = clf_hash_bytes(t, text->len)};
    return CLF_OK;
}

static bool is_made(const clf_value *q) { return q->op == CLF_V_FOLD || q->op == CLF_V_DOT || q->op == CLF_V_SCAN; }

/* The cplan the text is written of: axes as the plan has them, one more sink and output per FOLD, DOT and SCAN value. */
static bool extend(clf_rtext *t, const clf_row *p, clf_arena *arena) {
    const clf_cplan *c = p->c;
    int extra = 0;
    for (int v = 0; v < c->nvalue; v++) extra += is_made(&c->value[v]);
    clf_value *value = clf_arena_new(arena, (size_t)c->nvalue, sizeof *value);
    clf_sink *sink = clf_arena_new(arena, (size_t)(c->nsink + extra), sizeof *sink);
    clf_coutput *out = clf_arena_new(arena, (size_t)(c->nout + extra), sizeof *out);
    int32_t *made = clf_arena_new(arena, (size_t)extra, sizeof *made);
    if (!value || !sink || !out || !made) return false;
    memcpy(value, c->value, (size_t)c->nvalue * sizeof *value);
    memcpy(sink, c->sink, (size_t)c->nsink * sizeof *sink);
    memcpy(out, c->out, (size_t)c->nout * sizeof *out);
    t->c = *c;
    t->nsink = c->nsink;
    for (int s = 0; s < c->nsink; s++)
        if (sink[s].kind == CLF_SINK_DOT) sink[s].key[0] = sink[s].fold, sink[s].fold = CLF_FOLD_SUM;
    for (int v = 0; v < c->nvalue; v++) {
        const clf_value *q = &c->value[v];
        value[v].axes = p->value[v].axes;
        if (!is_made(q)) continue;
        bool dot = q->op == CLF_V_DOT;
        made[t->c.nsink - c->nsink] = v;
        out[t->c.nout] = (clf_coutput){.dtype = q->dtype};
        sink[t->c.nsink++] = (clf_sink){.kind = dot ? CLF_SINK_DOT : CLF_SINK_FOLD,
                                        .fold = (uint8_t)(dot ? CLF_FOLD_SUM : q->arg),
                                        .keep = 1,
                                        .value = {q->in[0], dot ? q->in[1] : -1, -1, -1},
                                        .key = {dot ? q->arg : -1, -1},
                                        .guard = -1,
                                        .order = -1,
                                        .out = {t->c.nout, -1, -1, -1}};
        t->c.nout++;
    }
    t->c.value = value;
    t->c.sink = sink;
    t->c.out = out;
    t->made = made;
    return true;
}

static clf_status emit(const clf_cplan *c, const clf_sched *s, const char *kernel_dir, clf_arena *arena, clf_source *out, clf_err *err) {
    clf_row p;
    clf_str text, entry;
    clf_pieces pieces = {.n = 0};
    clf_status st;
    if (!clf_row_plan(&p, c, 1)) return clf_fail(err, CLF_E_INTERNAL, "row.chunk: cplan does not fit");
    clf_rtext t = {.p = &p, .x = {.nontemporal = s->nontemporal != 0}};
    t.x.stage = clf_arena_new(arena, (size_t)c->nvalue, 1);
    t.x.uses = clf_arena_new(arena, (size_t)c->nvalue, sizeof *t.x.uses);
    t.held = clf_arena_new(arena, (size_t)c->nvalue, 1);
    if (!t.x.stage || !t.x.uses || !t.held || !extend(&t, &p, arena))
        return clf_fail(err, CLF_E_NOMEM, "row.chunk: out of memory while writing a kernel");
    clf_rtext_begin(&t);
    clf_str_init(&text, arena->mem);
    clf_str_init(&entry, arena->mem);
    CLF_GO(put_program(&t, kernel_dir, &text, &pieces, &entry, err));
    st = hand_over(&t, &text, &pieces, &entry, arena, out, err);
out:
    clf_str_release(&entry);
    clf_str_release(&text);
    return st;
}

const clf_skel clf_skel_row_chunk = {
    .name = "row.chunk",
    .strategy = "chunk",
    .tier = 2,
    .fits = fits,
    .sched = sched,
    .facts = facts,
    .emit = emit,
};
