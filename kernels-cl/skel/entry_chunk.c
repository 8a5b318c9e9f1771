/* SPDX-License-Identifier: Apache-2.0
 * The C twin of entry.chunk.cl: what it fits, its schedule, its facts, its text.
 *
 * Arguments, in order: offsets, columns and cells of the CSR operand; for every access to another operand its memory, its base offset in
 * elements (CLF_ARG_I64, right behind the memory) and those of its strides that are not constants of the text, or, of a CSR operand that is
 * located, the same three as of the first; place and length of rows of zeros where there are some; for every output memory
 * and base offset; parameters; scratch; counter; the sizes that entry.chunk.cl names. An operand is never cut: extent is 0. */
#include <stdio.h>
#include <string.h>

#include "kernels-cl/skel/entry_text.h"

enum { SIZES = 12, ARG_BYTES = 8 };
static const char KERNEL[] = "skel/entry.chunk.cl";
extern const clf_skel clf_skel_entry_chunk;

/* ---- arguments: one walk for their number, their descriptions and values, and the kernel's signature ---- */

typedef struct arg_walk {
    const clf_entry *p;
    int64_t *value; /* NULL: not wanted */
    clf_arg_desc *desc;
    clf_str *text;
    int n, nvalue;
} arg_walk;

static void arg(arg_walk *w, clf_arg_kind kind, int dtype, int index) {
    if (w->desc) w->desc[w->n] = (clf_arg_desc){(uint8_t)kind, (uint8_t)dtype, (int16_t)index};
    w->n++;
}
static void arg_i64(arg_walk *w, int64_t value) {
    if (w->value && w->nvalue < CLF_SCHED_ARGS) w->value[w->nvalue] = value;
    arg(w, CLF_ARG_I64, CLF_I64, w->nvalue++);
}
static void stride(arg_walk *w, bool wanted, const char *name, int a, int64_t value) {
    if (!wanted) return;
    arg_i64(w, value);
    if (w->text) clf_str_fmt(w->text, "long %s%d, ", name, a);
}

static void walk_csr(arg_walk *w) {
    char buf[CLF_EMIT_NAME];
    clf_dtype t = (clf_dtype)w->p->c->in[w->p->csr].dtype;
    arg(w, CLF_ARG_CSR_PTR, CLF_I64, w->p->csr);
    arg(w, CLF_ARG_CSR_IDX, CLF_I32, w->p->csr);
    arg(w, CLF_ARG_MEM_IN, t, w->p->csr);
    if (w->text) clf_str_fmt(w->text, "const __global %s *restrict xe, ", clf_emit_type(buf, t, 1));
}

static void walk_access(arg_walk *w, int a) {
    const clf_cplan *c = w->p->c;
    clf_entry_at at;
    char buf[CLF_EMIT_NAME];
    clf_dtype t = (clf_dtype)c->in[c->access[a].input].dtype;
    clf_entry_access(w->p, &c->access[a], &at);
    arg(w, CLF_ARG_MEM_IN, t, c->access[a].input);
    arg_i64(w, at.base);
    if (w->text) clf_str_fmt(w->text, "const __global %s *restrict x%d, long xb%d, ", clf_emit_type(buf, t, 1), a, a);
    stride(w, at.axes & 1, "xl", a, at.si);
    stride(w, (at.axes >> w->p->e & 1) && (at.se < 0 || at.se > CLF_ENTRY_STRIDE), "xj", a, at.se);
    stride(w, at.k >= 0 && at.sk != 1, "xk", a, at.sk);
}

static void walk_located(arg_walk *w, int a) {
    int in = w->p->c->access[a].input;
    char buf[CLF_EMIT_NAME];
    clf_dtype t = (clf_dtype)w->p->c->in[in].dtype;
    arg(w, CLF_ARG_CSR_PTR, CLF_I64, in);
    arg(w, CLF_ARG_CSR_IDX, CLF_I32, in);
    arg(w, CLF_ARG_MEM_IN, t, in);
    if (w->text)
        clf_str_fmt(w->text, "const __global long *restrict xp%d, const __global int *restrict xc%d, const __global %s *restrict x%d, ", a,
                    a, clf_emit_type(buf, t, 1), a);
}

/* Rows of zeros: where they begin, how long they are. */
static void walk_zeros(arg_walk *w) {
    if (!w->p->filled) return;
    arg_i64(w, w->p->cell.cbase + w->p->cell.chunks * w->p->cell.cstride + clf_entry_totals(w->p));
    arg_i64(w, w->p->c->in[w->p->csr].dim[1].n);
    if (w->text) clf_str_put(w->text, "long zb, long zn, ");
}

static void walk(arg_walk *w, int64_t first) {
    const clf_cell *q = &w->p->cell;
    const clf_cplan *c = w->p->c;
    char buf[CLF_EMIT_NAME];
    walk_csr(w);
    for (int a = 0; a < c->naccess; a++)
        if (c->access[a].protocol == CLF_STREAM)
            walk_access(w, a);
        else if (c->access[a].protocol == CLF_LOCATE)
            walk_located(w, a);
    walk_zeros(w);
    for (int o = 0; o < c->nout; o++) {
        arg(w, CLF_ARG_MEM_OUT, c->out[o].dtype, o);
        arg_i64(w, 0);
        if (w->text)
            clf_str_fmt(w->text, "__global %s *restrict o%d, long ob%d, ", clf_emit_type(buf, (clf_dtype)c->out[o].dtype, 1), o, o);
    }
    for (int k = 0; k < c->nparam; k++) {
        arg(w, CLF_ARG_PARAM, c->param[k], k);
        if (w->text) clf_str_fmt(w->text, "%s p%d, ", clf_emit_type(buf, (clf_dtype)c->param[k], 1), k);
    }
    arg(w, CLF_ARG_SCRATCH, CLF_U8, 0);
    arg(w, CLF_ARG_COUNTER, CLF_I32, 0);
    const int64_t size[SIZES] = {q->rows, q->cols,   q->block, q->chunk, first,      q->chunks,
                                 q->ent,  q->levels, q->cp,    q->aw,    q->cstride, q->cbase};
    for (int k = 0; k < SIZES; k++) arg_i64(w, size[k]);
}

/* ---- fits, sched ---- */

static bool fits(const clf_cplan *c, const clf_profile *profile) {
    clf_entry p;
    if (!clf_entry_plan(&p, c, profile->cores)) return false;
    for (int v = 0; v < c->nvalue && !profile->fp64; v++)
        if (clf_dtype_float((clf_dtype)c->value[v].dtype)) return false; /* folds of f32 end in f64 */
    arg_walk w = {.p = &p};
    walk(&w, 0);
    return w.nvalue <= CLF_SCHED_ARGS && (profile->max_arg_bytes <= 0 || (double)w.n * ARG_BYTES <= profile->max_arg_bytes);
}

static clf_status sched(const clf_cplan *c, const clf_profile *profile, clf_grid grid, clf_sched *out, clf_err *err) {
    clf_entry p;
    int64_t units;
    if (!clf_entry_plan(&p, c, profile->cores)) return clf_fail(err, CLF_E_INTERNAL, "entry.chunk: cplan does not fit");
    const clf_cell *q = &p.cell;
    int64_t hi = grid.hi < 1 && grid.lo == 0 ? q->chunks : grid.hi < q->chunks ? grid.hi : q->chunks;
    if (__builtin_mul_overflow(q->chunks, q->cstride, &units) || __builtin_add_overflow(units, clf_entry_totals(&p), &units) ||
        __builtin_add_overflow(units, clf_entry_zeros(&p), &units) || units > INT64_MAX / 16 - q->cbase)
        return clf_fail(err, CLF_E_LIMIT, "entry.chunk: scratch is too large");
    memset(out, 0, sizeof *out);
    out->skel = &clf_skel_entry_chunk;
    out->variant = clf_entry_variant(&p);
    out->width = q->width;
    out->index_bits = 64;
    out->grain = 1;
    out->global = grid.lo < hi ? (size_t)(hi - grid.lo) : 0;
    out->local = 1;
    out->scratch_bytes = (size_t)(q->cbase + units) * 8 + 64;
    arg_walk w = {.p = &p, .value = out->arg};
    walk(&w, grid.lo);
    out->narg = w.nvalue;
    return CLF_OK;
}

/* ---- facts ---- */

static double cells_of(const clf_entry *p, uint32_t axes) {
    double n = axes >> p->e & 1 ? (double)p->c->axis[p->e].n.n : axes & 1 ? (double)p->cell.rows : 1;
    int k = clf_entry_along(p, axes);
    return k < 0 ? n : n * (double)clf_entry_extent(p, k);
}

static void count_reads(const clf_entry *p, clf_facts *f) {
    const clf_cplan *c = p->c;
    clf_entry_at at;
    for (int k = 0; k < c->nin; k++) {
        double read = 0, all = 1;
        for (int a = 0; a < c->naccess; a++) {
            if (c->access[a].input != k || c->access[a].protocol != CLF_STREAM) continue;
            clf_entry_access(p, &c->access[a], &at);
            read += cells_of(p, at.axes);
        }
        for (int d = 0; d < c->in[k].rank; d++) all *= (double)c->in[k].dim[d].n;
        f->read_bytes += (read < all ? read : all) * clf_dtype_bytes((clf_dtype)c->in[k].dtype);
    }
    f->read_bytes += clf_csr_bytes(p->cell.rows, c->axis[p->e].n.n, (clf_dtype)c->in[p->csr].dtype);
}

static void count_work(const clf_entry *p, clf_facts *f) {
    const clf_cplan *c = p->c;
    for (int v = 0; v < c->nvalue; v++) {
        const clf_value *w = &c->value[v];
        if (clf_op_is_cell(w->op)) f->cells[c->value[w->in[0]].dtype == CLF_F64][clf_ops[w->op].class_] += cells_of(p, w->axes);
        if (w->op != CLF_V_FOLD && w->op != CLF_V_DOT) continue;
        uint32_t over = c->value[w->in[0]].axes | (w->op == CLF_V_DOT ? c->value[w->in[1]].axes : 0);
        f->cells[w->dtype == CLF_F64][CLF_CLASS_ADD] += cells_of(p, over) * (w->op == CLF_V_DOT ? 2 : clf_folds[w->arg].flops);
    }
    for (int s = 0; s < c->nsink; s++) {
        const clf_sink *k = &c->sink[s];
        bool dot = k->kind == CLF_SINK_DOT, pattern = k->kind == CLF_SINK_PATTERN;
        uint32_t over = c->value[k->value[0]].axes | (dot ? c->value[k->value[1]].axes : 0);
        double cells = 1;
        for (int d = 0; d < c->out[k->out[0]].rank; d++) cells *= (double)c->out[k->out[0]].dim[d].n;
        if (pattern) cells = (double)c->axis[p->e].n.n;
        f->write_bytes += cells * clf_dtype_bytes((clf_dtype)c->out[k->out[0]].dtype);
        if (dot || k->kind == CLF_SINK_FOLD)
            f->cells[c->value[k->value[0]].dtype == CLF_F64][CLF_CLASS_ADD] += cells_of(p, over) * (dot ? 2 : clf_folds[k->fold].flops);
    }
}

static void facts(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_facts *out) {
    clf_entry p;
    memset(out, 0, sizeof *out);
    if (!clf_entry_plan(&p, c, profile->cores)) return;
    count_reads(&p, out);
    count_work(&p, out);
    double part = (double)s->global / (double)p.cell.chunks;
    out->read_bytes *= part;
    out->write_bytes *= part;
    for (int k = 0; k < 2 * CLF_NCLASSES; k++) out->cells[k / CLF_NCLASSES][k % CLF_NCLASSES] *= part;
    out->launches = s->global > 0;
}

/* ---- text ---- */

typedef void hole_writer(clf_etext *t);
static void hole_col_init(clf_etext *t) { clf_fold_hole_col_init(&t->x); }
static void hole_finish(clf_etext *t) { clf_fold_hole_finish(&t->x); }
static void hole_final(clf_etext *t) {
    clf_full_final(&t->x);
    clf_etext_totals(t);
    clf_etext_meet_final(t);
}
static void hole_merge(clf_etext *t) { clf_fold_hole_full(&t->x, 0); }
static void hole_put(clf_etext *t) { clf_fold_hole_full(&t->x, 1); }
static void hole_get(clf_etext *t) { clf_fold_hole_full(&t->x, 2); }
static void hole_init(clf_etext *t) { clf_fold_hole_full(&t->x, 3); }
static const struct {
    const char *name;
    hole_writer *write;
} holes[] = {
    {"CLF_SETUP", clf_etext_setup},
    {"CLF_TILE", clf_etext_tile},
    {"CLF_ROW", clf_etext_row},
    {"CLF_COL_INIT", hole_col_init},
    {"CLF_COL_PUSH", clf_etext_meet_push},
    {"CLF_FINISH", hole_finish},
    {"CLF_ONCE", clf_etext_once},
    {"CLF_FINAL", hole_final},
    {"CLF_FULL_MERGE(slot)", hole_merge},
    {"CLF_FULL_PUT(slot)", hole_put},
    {"CLF_FULL_GET(slot)", hole_get},
    {"CLF_FULL_INIT", hole_init},
};

static void put_holes(clf_etext *t, clf_str *out) {
    arg_walk w = {.p = t->p, .text = out};
    clf_str_put(out, "#define CLF_ARGS ");
    walk(&w, 0);
    clf_str_fmt(out, "\n#define CLF_BY_ENTRY %d\n", t->p->by_entry);
    for (size_t h = 0; h < sizeof holes / sizeof *holes; h++) {
        clf_str body;
        clf_str_init(&body, out->mem);
        t->x.e.out = &body;
        holes[h].write(t);
        clf_emit_define(out, holes[h].name, clf_str_c(&body));
        out->failed = out->failed || body.failed;
        clf_str_release(&body);
    }
}

static clf_status no_memory(clf_err *err) { return clf_fail(err, CLF_E_NOMEM, "entry.chunk: out of memory while writing a kernel"); }

static clf_status put_program(clf_etext *t, const char *kernel_dir, clf_str *out, clf_pieces *pieces, clf_str *entry, clf_err *err) {
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
    if (out->failed || entry->failed || text.failed || families.failed) st = no_memory(err);
out:
    clf_str_release(&families);
    clf_str_release(&text);
    return st;
}

static clf_status hand_over(const clf_etext *t, const clf_str *text, const clf_pieces *pieces, const clf_str *entry, clf_arena *arena,
                            clf_source *out, clf_err *err) {
    arg_walk w = {.p = t->p};
    walk(&w, 0);
    clf_arg_desc *desc = clf_arena_new(arena, (size_t)w.n, sizeof *desc);
    char *all = clf_arena_strn(arena, clf_str_c(text), text->len), *e = clf_arena_strn(arena, clf_str_c(entry), entry->len);
    int npieces = pieces->n <= CLF_TEXT_PIECES ? pieces->n : 0;
    clf_text_piece *piece = clf_arena_new(arena, (size_t)npieces, sizeof *piece);
    if (!desc || !all || !e || !piece) return no_memory(err);
    arg_walk d = {.p = t->p, .desc = desc};
    walk(&d, 0);
    memcpy(piece, pieces->at, (size_t)npieces * sizeof *piece);
    *out = (clf_source){.text = all,
                        .text_len = text->len,
                        .entry = e,
                        .options = "",
                        .args = desc,
                        .nargs = w.n,
                        .piece = piece,
                        .npieces = npieces,
                        .hash = clf_hash_bytes(all, text->len)};
    return CLF_OK;
}

static clf_status emit(const clf_cplan *c, const clf_sched *s, const char *kernel_dir, clf_arena *arena, clf_source *out, clf_err *err) {
    clf_entry p;
    clf_str text, entry;
    clf_pieces pieces = {.n = 0};
    clf_status st;
    if (!clf_entry_plan(&p, c, 1)) return clf_fail(err, CLF_E_INTERNAL, "entry.chunk: cplan does not fit");
    p.direct = s->variant >> 1 & 1;
    clf_etext t = {.p = &p, .x = {.p = &p.cell, .c = &p.shadow, .ru = 1}};
    t.x.stage = clf_arena_new(arena, (size_t)c->nvalue, 1);
    t.x.uses = clf_arena_new(arena, (size_t)c->nvalue, sizeof *t.x.uses);
    if (!t.x.stage || !t.x.uses) return no_memory(err);
    clf_ctext_schedule(&t.x);
    clf_etext_prepare(&t);
    clf_str_init(&text, arena->mem);
    clf_str_init(&entry, arena->mem);
    CLF_GO(put_program(&t, kernel_dir, &text, &pieces, &entry, err));
    st = hand_over(&t, &text, &pieces, &entry, arena, out, err);
out:
    clf_str_release(&entry);
    clf_str_release(&text);
    return st;
}

const clf_skel clf_skel_entry_chunk = {
    .name = "entry.chunk", .strategy = "chunk", .tier = 2, .fits = fits, .sched = sched, .facts = facts, .emit = emit};
