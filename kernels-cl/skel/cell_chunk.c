/* SPDX-License-Identifier: Apache-2.0
 * The C twin of cell.chunk.cl: what it fits, its schedule, its facts, its text.
 *
 * Arguments, in order: for every access the memory of its input, its base offset in elements (CLF_ARG_I64, right behind the
 * memory) and, unless strips are contiguous, its row stride; for every output memory and base offset; parameters; scratch; counter;
 * the sizes that cell.chunk.cl names. Who binds memory that starts r elements into an operand subtracts r from the base offset. */
#include <stdio.h>
#include <string.h>

#include "kernels-cl/skel/cell_text.h"

enum { SIZES = 14, ARG_BYTES = 8 };
static const char KERNEL[] = "skel/cell.chunk.cl";
extern const clf_skel clf_skel_cell_chunk;

/* ---- arguments: one walk for their number, their descriptions and values, and the kernel's signature ---- */

typedef struct arg_walk {
    const clf_cell *p;
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
static bool strided(const clf_cell *p, const clf_cell_at *at) {
    return (p->kind == CLF_CELL_ROWS || p->kind == CLF_CELL_NARROW) && (at->axes & p->i);
}

static void walk_access(arg_walk *w, int a) {
    const clf_cplan *c = w->p->c;
    clf_cell_at at;
    char buf[CLF_EMIT_NAME];
    clf_dtype t = (clf_dtype)c->in[c->access[a].input].dtype;
    clf_cell_access(w->p, &c->access[a], &at);
    arg(w, CLF_ARG_MEM_IN, t, c->access[a].input);
    arg_i64(w, at.base);
    if (w->text) clf_str_fmt(w->text, "const __global %s *restrict x%d, long xb%d, ", clf_emit_type(buf, t, 1), a, a);
    if (!strided(w->p, &at)) return;
    arg_i64(w, at.si);
    if (w->text) clf_str_fmt(w->text, "long xl%d, ", a);
}

static void walk(arg_walk *w, int64_t first) {
    const clf_cell *p = w->p;
    const clf_cplan *c = p->c;
    char buf[CLF_EMIT_NAME];
    for (int a = 0; a < c->naccess; a++) walk_access(w, a);
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
    const int64_t size[SIZES] = {p->n,      p->strip, p->full,   p->strips, p->block, p->chunk,   first,
                                 p->chunks, p->ent,   p->levels, p->cp,     p->aw,    p->cstride, p->cbase};
    for (int k = 0; k < SIZES; k++) arg_i64(w, size[k]);
}

/* ---- fits, sched ---- */

static bool floats_ok(const clf_cplan *c, const clf_profile *p) {
    if (p->fp64) return true;
    for (int v = 0; v < c->nvalue; v++)
        if (c->value[v].dtype == CLF_F64) return false;
    for (int s = 0; s < c->nsink; s++)
        if (c->sink[s].kind == CLF_SINK_FOLD && clf_dtype_float((clf_dtype)c->value[c->sink[s].value[0]].dtype)) return false;
    return true;
}

static bool fits(const clf_cplan *c, const clf_profile *p) {
    clf_cell cell;
    if (!floats_ok(c, p) || !clf_cell_plan(&cell, c, p->cores)) return false;
    arg_walk w = {.p = &cell};
    walk(&w, 0);
    return w.nvalue <= CLF_SCHED_ARGS && (p->max_arg_bytes <= 0 || (double)w.n * ARG_BYTES <= p->max_arg_bytes);
}

/* Outputs written cell by cell, in bytes. */
static double streamed_out(const clf_cell *p) {
    double bytes = 0;
    for (int s = 0; s < p->c->nsink; s++) {
        const clf_sink *k = &p->c->sink[s];
        if (k->kind == CLF_SINK_STORE && k->keep == (p->i | p->j))
            bytes += (double)p->n * clf_dtype_bytes((clf_dtype)p->c->out[k->out[0]].dtype);
    }
    return bytes;
}

static bool past_caches(const clf_cell *p, const clf_profile *profile) {
    if (p->kind != CLF_CELL_FLAT && p->strip * 4 % 64) return false; /* strips must start on cache lines */
    return streamed_out(p) > profile->llc_bytes / 2;
}

static clf_status sched(const clf_cplan *c, const clf_profile *p, clf_grid grid, clf_sched *out, clf_err *err) {
    clf_cell cell;
    if (!clf_cell_plan(&cell, c, p->cores)) return clf_fail(err, CLF_E_INTERNAL, "cell.chunk: cplan does not fit");
    int64_t hi = grid.hi < 1 && grid.lo == 0 ? cell.chunks : grid.hi < cell.chunks ? grid.hi : cell.chunks;
    int64_t units;
    if (__builtin_mul_overflow(cell.chunks, cell.cstride, &units) || units > INT64_MAX / 16 - cell.cbase)
        return clf_fail(err, CLF_E_LIMIT, "cell.chunk: scratch is too large");
    memset(out, 0, sizeof *out);
    out->skel = &clf_skel_cell_chunk;
    out->variant = clf_cell_variant(&cell);
    out->width = cell.width;
    out->index_bits = 64;
    out->nontemporal = past_caches(&cell, p);
    out->flat = cell.kind == CLF_CELL_FLAT;
    int64_t unit = out->flat ? cell.strip : cell.kind == CLF_CELL_GROUP ? cell.lanes : 1;
    out->grain = cell.chunk * unit;
    out->extent = out->flat ? cell.n : cell.rows;
    out->global = grid.lo < hi ? (size_t)(hi - grid.lo) : 0;
    out->local = 1;
    out->scratch_bytes = (size_t)(cell.cbase + units) * 8 + 64;
    arg_walk w = {.p = &cell, .value = out->arg};
    walk(&w, grid.lo);
    out->narg = w.nvalue;
    return CLF_OK;
}

/* ---- facts ---- */

static double cells_at(const clf_cell *p, uint32_t axes) {
    return (axes & p->i ? (double)p->rows : 1) * (axes & p->j ? (double)p->cols : 1);
}

static void count_reads(const clf_cell *p, clf_facts *f) {
    const clf_cplan *c = p->c;
    clf_cell_at at;
    for (int k = 0; k < c->nin; k++) {
        double read = 0, all = 1;
        for (int a = 0; a < c->naccess; a++) {
            if (c->access[a].input != k) continue;
            clf_cell_access(p, &c->access[a], &at);
            read += cells_at(p, at.axes);
        }
        for (int d = 0; d < c->in[k].rank; d++) all *= (double)c->in[k].dim[d].n;
        f->read_bytes += (read < all ? read : all) * clf_dtype_bytes((clf_dtype)c->in[k].dtype);
    }
}

static void count_work(const clf_cell *p, clf_facts *f) {
    const clf_cplan *c = p->c;
    for (int v = 0; v < c->nvalue; v++) {
        const clf_value *w = &c->value[v];
        if (!clf_op_is_cell(w->op)) continue;
        uint32_t axes =
            clf_cell_level(p, w->axes) == 2 && p->kind != CLF_CELL_FLAT ? p->i | p->j : w->axes; /* columns: again for every row */
        f->cells[c->value[w->in[0]].dtype == CLF_F64][clf_ops[w->op].class_] += cells_at(p, axes);
    }
    for (int s = 0; s < c->nsink; s++) {
        const clf_sink *k = &c->sink[s];
        clf_dtype t = (clf_dtype)c->value[k->value[0]].dtype;
        f->write_bytes += cells_at(p, k->keep) * clf_dtype_bytes((clf_dtype)c->out[k->out[0]].dtype);
        if (k->kind == CLF_SINK_FOLD) f->cells[t == CLF_F64][CLF_CLASS_ADD] += (double)p->n * clf_folds[k->fold].flops;
    }
}

static void facts(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_facts *out) {
    clf_cell p;
    memset(out, 0, sizeof *out);
    if (!clf_cell_plan(&p, c, profile->cores)) return;
    count_reads(&p, out);
    count_work(&p, out);
    double part = (double)s->global / (double)p.chunks;
    out->read_bytes *= part;
    out->write_bytes *= part;
    for (int k = 0; k < 2 * CLF_NCLASSES; k++) out->cells[k / CLF_NCLASSES][k % CLF_NCLASSES] *= part;
    out->launches = s->global > 0;
}

/* ---- text ---- */

typedef void hole_writer(clf_ctext *x);
static void hole_strips(clf_ctext *x) { clf_ctext_strip(x, x->p->ru); }
/* Rows are never short: taken one by one they are all done by then. */
static void hole_strip(clf_ctext *x) {
    bool rows = x->p->kind == CLF_CELL_ROWS || x->p->kind == CLF_CELL_NARROW;
    if (!rows || x->p->ru > 1) clf_ctext_strip(x, 0);
}
static void hole_merge(clf_ctext *x) { clf_fold_hole_full(x, 0); }
static void hole_put(clf_ctext *x) { clf_fold_hole_full(x, 1); }
static void hole_get(clf_ctext *x) { clf_fold_hole_full(x, 2); }
static void hole_init(clf_ctext *x) { clf_fold_hole_full(x, 3); }
static const struct {
    const char *name;
    hole_writer *write;
} holes[] = {
    {"CLF_SETUP", clf_ctext_setup},
    {"CLF_STRIPS", hole_strips},
    {"CLF_STRIP", hole_strip},
    {"CLF_COL_INIT", clf_fold_hole_col_init},
    {"CLF_COL_PUSH", clf_fold_hole_col_push},
    {"CLF_FINISH", clf_fold_hole_finish},
    {"CLF_ONCE", clf_ctext_once},
    {"CLF_FINAL", clf_fold_hole_final},
    {"CLF_FULL_MERGE(slot)", hole_merge},
    {"CLF_FULL_PUT(slot)", hole_put},
    {"CLF_FULL_GET(slot)", hole_get},
    {"CLF_FULL_INIT", hole_init},
};

static void put_holes(clf_ctext *x, clf_str *out) {
    arg_walk w = {.p = x->p, .text = out};
    clf_str_put(out, "#define CLF_ARGS ");
    walk(&w, 0);
    clf_str_fmt(out, "\n#define CLF_RU %d\n", x->p->ru);
    for (size_t h = 0; h < sizeof holes / sizeof *holes; h++) {
        clf_str body;
        clf_str_init(&body, out->mem);
        x->e.out = &body;
        holes[h].write(x);
        clf_emit_define(out, holes[h].name, clf_str_c(&body));
        out->failed = out->failed || body.failed;
        clf_str_release(&body);
    }
}

static clf_status put_program(clf_ctext *x, const char *kernel_dir, clf_str *out, clf_pieces *pieces, clf_str *entry, clf_err *err) {
    clf_str text, families;
    clf_status st;
    clf_str_init(&text, out->mem);
    clf_str_init(&families, out->mem);
    clf_emit_init(&x->e, &text);
    put_holes(x, &text);
    clf_emit_prelude(&x->e, &families);
    clf_hash h = clf_hash_bytes(clf_str_c(&text), strlen(clf_str_c(&text)));
    clf_str_fmt(entry, "k_%016llx", (unsigned long long)h.lo);
    clf_str_fmt(out, "#define CLF_ENTRY %s\n%s", clf_str_c(entry), clf_str_c(&text));
    clf_pieces_note(pieces, CLF_TEXT_HOLES, out);
    CLF_GO(clf_kernel_expand(KERNEL, kernel_dir, clf_str_c(&families), pieces, out, err));
    if (out->failed || entry->failed || text.failed || families.failed)
        st = clf_fail(err, CLF_E_NOMEM, "cell.chunk: out of memory while writing a kernel");
out:
    clf_str_release(&families);
    clf_str_release(&text);
    return st;
}

static clf_status hand_over(const clf_ctext *x, const clf_str *text, const clf_pieces *pieces, const clf_str *entry, clf_arena *arena,
                            clf_source *out, clf_err *err) {
    arg_walk w = {.p = x->p};
    walk(&w, 0);
    clf_arg_desc *desc = clf_arena_new(arena, (size_t)w.n, sizeof *desc);
    char *t = clf_arena_strn(arena, clf_str_c(text), text->len), *e = clf_arena_strn(arena, clf_str_c(entry), entry->len);
    int npieces = pieces->n <= CLF_TEXT_PIECES ? pieces->n : 0;
    clf_text_piece *piece = clf_arena_new(arena, (size_t)npieces, sizeof *piece);
    if (!desc || !t || !e || !piece) return clf_fail(err, CLF_E_NOMEM, "cell.chunk: out of memory while writing a kernel");
    arg_walk d = {.p = x->p, .desc = desc};
    walk(&d, 0);
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

static clf_status emit(const clf_cplan *c, const clf_sched *s, const char *kernel_dir, clf_arena *arena, clf_source *out, clf_err *err) {
    clf_cell p;
    clf_str text, entry;
    clf_pieces pieces = {.n = 0};
    clf_status st;
    if (!clf_cell_plan(&p, c, 1)) return clf_fail(err, CLF_E_INTERNAL, "cell.chunk: cplan does not fit");
    p.ru = s->variant >> 4 & 1 ? 4 : 1;
    clf_ctext x = {.p = &p, .c = c, .nontemporal = s->nontemporal != 0};
    x.stage = clf_arena_new(arena, (size_t)c->nvalue, 1);
    x.uses = clf_arena_new(arena, (size_t)c->nvalue, sizeof *x.uses);
    if (!x.stage || !x.uses) return clf_fail(err, CLF_E_NOMEM, "cell.chunk: out of memory while writing a kernel");
    if (p.kind == CLF_CELL_ROWS)
        snprintf(x.strip, sizeof x.strip, "width");
    else
        snprintf(x.strip, sizeof x.strip, "%lld", (long long)p.strip);
    clf_ctext_schedule(&x);
    clf_str_init(&text, arena->mem);
    clf_str_init(&entry, arena->mem);
    CLF_GO(put_program(&x, kernel_dir, &text, &pieces, &entry, err));
    st = hand_over(&x, &text, &pieces, &entry, arena, out, err);
out:
    clf_str_release(&entry);
    clf_str_release(&text);
    return st;
}

const clf_skel clf_skel_cell_chunk = {
    .name = "cell.chunk",
    .strategy = "chunk",
    .tier = 2,
    .fits = fits,
    .sched = sched,
    .facts = facts,
    .emit = emit,
};
