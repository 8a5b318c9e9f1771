/* SPDX-License-Identifier: Apache-2.0
 * The C twin of entry.chunk.cl: what it fits, its schedule, its facts, its text.
 *
 * Arguments, in order: offsets, columns and cells of the CSR operand; for every access to another operand its memory, its base offset in
 * elements (CLF_ARG_I64, right behind the memory) and those of its strides that are not constants of the text, or, of a CSR operand that is
 * located, the same three as of the first; place and length of rows of zeros where there are some; where something is done a block at a
 * time, place and size of what blocks keep, columns, leaves of rows that go on; columns where cells without entry are counted; for every
 * output memory and base offset; parameters; scratch; counter; the sizes that entry.chunk.cl names. An operand is never cut: extent is
 * 0. */
#include <string.h>

#include "kernels-cl/skel/cell_folds.h"
#include "kernels-cl/skel/entry_ends.h"
#include "kernels-cl/skel/entry_text.h"
#include "kernels-cl/skel/facts.h"
#include "kernels-cl/skel/twin.h"

extern const clf_skel clf_skel_entry_chunk;

/* ---- arguments ---- */

static void walk_csr(clf_args *w, int in) {
    clf_args_put(w, CLF_ARG_CSR_PTR, CLF_I64, in);
    clf_args_put(w, CLF_ARG_CSR_IDX, CLF_I32, in);
}

/* The driver's offsets and columns are named by the skeleton's text. */
static void walk_driver(clf_args *w, const clf_entry *p) {
    char buf[CLF_EMIT_NAME];
    clf_dtype t = (clf_dtype)p->c->in[p->csr].dtype;
    walk_csr(w, p->csr);
    clf_args_put(w, CLF_ARG_MEM_IN, t, p->csr);
    if (w->text) clf_str_fmt(w->text, "const __global %s *restrict xe, ", clf_emit_type(buf, t, 1));
}

static void walk_access(clf_args *w, const clf_entry *p, int a) {
    clf_entry_at at;
    clf_entry_access(p, &p->c->access[a], &at);
    clf_args_input(w, p->c, a, at.base);
    if (at.axes & 1) clf_args_size(w, "xl", a, at.si);
    if ((at.axes >> p->e & 1) && (at.se < 0 || at.se > CLF_ENTRY_STRIDE)) clf_args_size(w, "xj", a, at.se);
    if (at.k >= 0 && at.sk != 1) clf_args_size(w, "xk", a, at.sk);
}

static void walk_located(clf_args *w, const clf_entry *p, int a) {
    int in = p->c->access[a].input;
    char buf[CLF_EMIT_NAME];
    clf_dtype t = (clf_dtype)p->c->in[in].dtype;
    walk_csr(w, in);
    clf_args_put(w, CLF_ARG_MEM_IN, t, in);
    if (w->text)
        clf_str_fmt(w->text, "const __global long *restrict xp%d, const __global int *restrict xc%d, const __global %s *restrict x%d, ", a,
                    a, clf_emit_type(buf, t, 1), a);
}

/* Rows of zeros: where they begin, how long they are. */
static void walk_zeros(clf_args *w, const clf_entry *p) {
    if (!p->filled) return;
    clf_args_size(w, NULL, 0, p->cell.cbase + p->cell.chunks * p->cell.cstride + clf_entry_totals(p));
    clf_args_size(w, NULL, 0, p->c->in[p->csr].dim[1].n);
    if (w->text) clf_str_put(w->text, "long zb, long zn, ");
}

/* Blocks of entries or of rows: where what they keep begins, how many a block has, columns, leaves of rows that go on. */
static void walk_blocks(clf_args *w, const clf_entry *p) {
    if (!p->blocked) return;
    clf_args_size(w, NULL, 0, p->cell.cbase + p->cell.chunks * p->cell.cstride + clf_entry_totals(p) + clf_entry_zeros(p));
    clf_args_size(w, NULL, 0, p->by_entry ? p->block_entries : p->block_rows);
    clf_args_size(w, NULL, 0, p->c->in[p->csr].dim[1].n);
    clf_args_size(w, NULL, 0, p->row_leaves);
    if (w->text) clf_str_put(w->text, "long bb, long bn, long bm, long bl, ");
}

static void walk(clf_args *w, const void *plan, int64_t first) {
    const clf_entry *p = plan;
    const clf_cell *q = &p->cell;
    walk_driver(w, p);
    for (int a = 0; a < p->c->naccess; a++)
        if (p->c->access[a].protocol == CLF_STREAM)
            walk_access(w, p, a);
        else if (p->c->access[a].protocol == CLF_LOCATE)
            walk_located(w, p, a);
    walk_zeros(w, p);
    walk_blocks(w, p);
    if (p->rests) clf_args_size(w, NULL, 0, p->c->in[p->csr].dim[1].n);
    if (p->rests && w->text) clf_str_put(w->text, "long mc_, ");
    clf_args_results(w, p->c);
    const int64_t size[] = {q->rows, q->cols, q->block, q->chunk, first, q->chunks, q->ent, q->levels, q->cp, q->aw, q->cstride, q->cbase};
    clf_args_end(w, sizeof size / sizeof *size, size);
}

/* ---- holes ---- */

static clf_etext *entries(clf_ctext *x) { return (clf_etext *)x; }
static void hole_setup(clf_ctext *x) { clf_etext_setup(entries(x)); }
static void hole_tile(clf_ctext *x) { clf_etext_tile(entries(x)); }
static void hole_row(clf_ctext *x) { clf_etext_row(entries(x)); }
static void hole_push(clf_ctext *x) { clf_etext_meet_push(entries(x)); }
static void hole_finish(clf_ctext *x) {
    clf_etext_totals_leaves(entries(x));
    clf_fold_hole_finish(x);
}
static void hole_once(clf_ctext *x) { clf_etext_once(entries(x)); }
static void hole_meet(clf_ctext *x) { clf_etext_meet(entries(x)); }
static void hole_final(clf_ctext *x) {
    clf_etext_full_final(entries(x));
    clf_etext_totals(entries(x));
    clf_etext_meet_final(entries(x));
}
static const clf_hole holes[] = {
    {"CLF_SETUP", hole_setup},   {"CLF_TILE", hole_tile},
    {"CLF_ROW", hole_row},       {"CLF_COL_INIT", clf_fold_hole_col_init},
    {"CLF_COL_PUSH", hole_push}, {"CLF_FINISH", hole_finish},
    {"CLF_ONCE", hole_once},     {"CLF_MEET", hole_meet},
    {"CLF_FINAL", hole_final},   {NULL, NULL},
};

static const clf_twin twin = {&clf_skel_entry_chunk, "skel/entry.chunk.cl", "CLF_BY_ENTRY", holes, walk};

/* ---- fits, sched ---- */

static bool fits(const clf_cplan *c, const clf_profile *profile) {
    clf_entry p;
    if (!clf_entry_plan(&p, c, profile->cores)) return false;
    for (int v = 0; v < c->nvalue && !profile->fp64; v++)
        if (clf_dtype_float((clf_dtype)c->value[v].dtype)) return false; /* folds of f32 end in f64 */
    return clf_twin_args_fit(&twin, &p, profile);
}

static clf_status sched(const clf_cplan *c, const clf_profile *profile, clf_grid grid, clf_sched *out, clf_err *err) {
    clf_entry p;
    if (!clf_entry_plan(&p, c, profile->cores)) return clf_fail(err, CLF_E_INTERNAL, "entry.chunk: cplan does not fit");
    const clf_cell *q = &p.cell;
    clf_twin_grid g = {.chunks = q->chunks, .cbase = q->cbase, .cstride = q->cstride};
    if (__builtin_add_overflow(clf_entry_totals(&p), clf_entry_zeros(&p) + clf_entry_blocks(&p), &g.extra)) g.extra = INT64_MAX;
    CLF_TRY(clf_twin_sched(&twin, &p, &g, grid, out, err));
    out->variant = clf_entry_variant(&p);
    out->width = q->width;
    out->grain = 1;
    return CLF_OK;
}

/* ---- parts ---- */

static bool ends(const clf_cplan *c, const clf_profile *profile, double share, const int64_t *ptr, clf_entry_end *out) {
    clf_entry p;
    if (!clf_entry_plan(&p, c, profile->cores) || p.ntotal || p.cell.chunks < 2) return false; /* cells of rows do not meet */
    int64_t rows = p.cell.rows, chunks = p.cell.chunks, k = clf_ends_chunk(share, chunks);
    *out = (clf_entry_end){.chunk = k, .inside = p.by_entry};
    if (!ptr) return true;
    if (p.nscatter) out->chunk = k = clf_ends_band(share, chunks, p.cell.chunk, ptr, rows);
    out->entry = k * clf_entry_run(&p) * CLF_LEAF;
    out->row = p.by_entry   ? clf_ends_row_of(ptr, rows, out->entry)
               : p.nscatter ? k * p.cell.chunk
                            : clf_ends_row_at(ptr, rows, (ptr[rows] + rows) * k / chunks);
    if (!p.by_entry) out->entry = ptr[out->row];
    return true;
}

static void states(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_grid grid, const void *scratch,
                   clf_take_state take, void *user) {
    clf_entry p;
    (void)s;
    if (clf_entry_plan(&p, c, profile->cores)) clf_entry_states(&p, grid, scratch, take, user);
}

static void columns(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_grid grid, const void *scratch,
                    clf_take_columns take, void *user) {
    clf_entry p;
    (void)s;
    if (clf_entry_plan(&p, c, profile->cores)) clf_entry_columns(&p, grid, scratch, take, user);
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
        double read = 0;
        for (int a = 0; a < c->naccess; a++) {
            if (c->access[a].input != k || c->access[a].protocol != CLF_STREAM) continue;
            clf_entry_access(p, &c->access[a], &at);
            read += cells_of(p, at.axes);
        }
        clf_facts_read(f, c, k, read);
    }
    f->read_bytes += clf_csr_bytes(p->cell.rows, c->axis[p->e].n.n, (clf_dtype)c->in[p->csr].dtype);
}

static void count_work(const clf_entry *p, clf_facts *f) {
    const clf_cplan *c = p->c;
    for (int v = 0; v < c->nvalue; v++) {
        const clf_value *w = &c->value[v];
        if (clf_op_is_cell(w->op)) clf_facts_value(f, c, v, cells_of(p, w->axes));
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
        clf_facts_write(f, c, k, cells);
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
    clf_twin_share(out, s, p.cell.chunks);
}

/* ---- text ---- */

static clf_status emit(const clf_cplan *c, const clf_sched *s, const char *kernel_dir, clf_arena *arena, clf_source *out, clf_err *err) {
    clf_entry p;
    if (!clf_entry_plan(&p, c, 1)) return clf_fail(err, CLF_E_INTERNAL, "entry.chunk: cplan does not fit");
    p.direct = s->variant >> 1 & 1, p.lines = s->variant >> 28 & 1;
    clf_etext t = {.p = &p, .x = {.p = &p.cell, .c = &p.shadow, .ru = 1}};
    if (!clf_twin_text(&t.x, c->nvalue, arena)) return clf_twin_no_memory(&twin, err);
    clf_ctext_schedule(&t.x);
    clf_etext_prepare(&t);
    return clf_twin_write(&twin, &t.x, &p, p.by_entry, kernel_dir, arena, out, err);
}

const clf_skel clf_skel_entry_chunk = {.name = "entry.chunk",
                                       .strategy = "chunk",
                                       .tier = 2,
                                       .fits = fits,
                                       .sched = sched,
                                       .states = states,
                                       .columns = columns,
                                       .ends = ends,
                                       .facts = facts,
                                       .emit = emit};
