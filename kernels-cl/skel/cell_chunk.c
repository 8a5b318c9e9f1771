/* SPDX-License-Identifier: Apache-2.0
 * The C twin of cell.chunk.cl: what it fits, its schedule, its facts, its text.
 *
 * Arguments, in order: for every access the memory of its input, its base offset in elements (CLF_ARG_I64, right behind the
 * memory) and, unless strips are contiguous, its row stride; for every output memory and base offset; parameters; scratch; counter;
 * the sizes that cell.chunk.cl names. Who binds memory that starts r elements into an operand subtracts r from the base offset. */
#include <string.h>

#include "core/print.h"
#include "kernels-cl/skel/cell_folds.h"
#include "kernels-cl/skel/facts.h"
#include "kernels-cl/skel/twin.h"

extern const clf_skel clf_skel_cell_chunk;

/* ---- arguments ---- */

static bool strided(const clf_cell *p, const clf_cell_at *at) {
    return (p->kind == CLF_CELL_ROWS || p->kind == CLF_CELL_NARROW) && (at->axes & p->i);
}

static void walk(clf_args *w, const void *plan, int64_t first) {
    const clf_cell *p = plan;
    clf_cell_at at;
    for (int a = 0; a < p->c->naccess; a++) {
        clf_cell_access(p, &p->c->access[a], &at);
        clf_args_input(w, p->c, a, at.base);
        if (strided(p, &at)) clf_args_size(w, "xl", a, at.si);
    }
    clf_args_results(w, p->c);
    const int64_t size[] = {p->n,      p->strip, p->full,   p->strips, p->block, p->chunk,   first,
                            p->chunks, p->ent,   p->levels, p->cp,     p->aw,    p->cstride, p->cbase};
    clf_args_end(w, sizeof size / sizeof *size, size);
}

/* ---- holes ---- */

static void hole_strips(clf_ctext *x) { clf_ctext_strip(x, x->p->ru); }
/* Rows are never short: taken one by one they are all done by then. */
static void hole_strip(clf_ctext *x) {
    bool rows = x->p->kind == CLF_CELL_ROWS || x->p->kind == CLF_CELL_NARROW;
    if (!rows || x->p->ru > 1) clf_ctext_strip(x, 0);
}
static const clf_hole holes[] = {
    {"CLF_SETUP", clf_ctext_setup},
    {"CLF_STRIPS", hole_strips},
    {"CLF_STRIP", hole_strip},
    {"CLF_COL_INIT", clf_fold_hole_col_init},
    {"CLF_COL_PUSH", clf_fold_hole_col_push},
    {"CLF_FINISH", clf_fold_hole_finish},
    {"CLF_ONCE", clf_ctext_once},
    {"CLF_FINAL", clf_fold_hole_final},
    {NULL, NULL},
};

static const clf_twin twin = {&clf_skel_cell_chunk, "skel/cell.chunk.cl", "CLF_RU", holes, walk};

/* ---- fits, sched ---- */

static bool fits(const clf_cplan *c, const clf_profile *p) {
    clf_cell cell;
    if (!clf_twin_floats_fit(c, p) || !clf_cell_plan(&cell, c, p->cores)) return false;
    return clf_twin_args_fit(&twin, &cell, p);
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
    const clf_twin_grid g = {.chunks = cell.chunks, .cbase = cell.cbase, .cstride = cell.cstride};
    CLF_TRY(clf_twin_sched(&twin, &cell, &g, grid, out, err));
    out->variant = clf_cell_variant(&cell);
    out->width = cell.width;
    out->nontemporal = past_caches(&cell, p);
    out->flat = cell.kind == CLF_CELL_FLAT;
    int64_t unit = out->flat ? cell.strip : cell.kind == CLF_CELL_GROUP ? cell.lanes : 1;
    out->grain = cell.chunk * unit;
    out->extent = out->flat ? cell.n : cell.rows;
    return CLF_OK;
}

/* ---- facts ---- */

static void count_reads(const clf_cell *p, clf_facts *f) {
    const clf_cplan *c = p->c;
    clf_cell_at at;
    for (int k = 0; k < c->nin; k++) {
        double read = 0;
        for (int a = 0; a < c->naccess; a++) {
            if (c->access[a].input != k) continue;
            clf_cell_access(p, &c->access[a], &at);
            read += clf_facts_cells(c, at.axes);
        }
        clf_facts_read(f, c, k, read);
    }
}

static void count_work(const clf_cell *p, clf_facts *f) {
    const clf_cplan *c = p->c;
    for (int v = 0; v < c->nvalue; v++) {
        const clf_value *w = &c->value[v];
        if (!clf_op_is_cell(w->op)) continue;
        uint32_t axes =
            clf_cell_level(p, w->axes) == 2 && p->kind != CLF_CELL_FLAT ? p->i | p->j : w->axes; /* columns: again for every row */
        clf_facts_value(f, c, v, clf_facts_cells(c, axes));
    }
    for (int s = 0; s < c->nsink; s++) {
        const clf_sink *k = &c->sink[s];
        clf_dtype t = (clf_dtype)c->value[k->value[0]].dtype;
        clf_facts_write(f, c, k, clf_facts_cells(c, k->keep));
        if (k->kind == CLF_SINK_FOLD) f->cells[t == CLF_F64][CLF_CLASS_ADD] += (double)p->n * clf_folds[k->fold].flops;
    }
}

static void facts(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_facts *out) {
    clf_cell p;
    memset(out, 0, sizeof *out);
    if (!clf_cell_plan(&p, c, profile->cores)) return;
    count_reads(&p, out);
    count_work(&p, out);
    clf_twin_share(out, s, p.chunks);
}

/* ---- states ---- */

static void states(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_grid grid, const void *scratch,
                   clf_take_state take, void *user) {
    clf_cell p;
    (void)s;
    if (clf_cell_plan(&p, c, profile->cores))
        clf_full_states(&p, &(clf_full_stack){NULL, 0, p.chunk * p.strip / CLF_LEAF}, grid, scratch, take, user);
}

/* A chunk has closed its states of columns. Those of a sink lie one behind the other, behind its accumulators if these are there, too. */
static void columns(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_grid grid, const void *scratch,
                    clf_take_columns take, void *user) {
    clf_cell p;
    (void)s;
    if (!clf_cell_plan(&p, c, profile->cores)) return;
    int64_t blocks = p.chunk / p.block, each = p.levels * p.cp;
    const clf_cell_order order = {.vectors = 1, .len = p.cols, .step = 1};
    const uint64_t *at = (const uint64_t *)scratch + p.cbase, *word[3];
    if (grid.hi > p.chunks) grid.hi = p.chunks;
    for (int k = 0; k < c->nsink; k++) {
        if (clf_cell_fold_of(&p, &c->sink[k]) != CLF_CELL_COLFOLD) continue;
        int n = clf_cell_states(&c->sink[k]);
        if (p.kind == CLF_CELL_ROWS) at += n * p.aw;
        for (int64_t me = grid.lo; me < grid.hi; me++) {
            for (int m = 0; m < 3; m++) word[m] = m < n ? at + me * p.cstride + m * each : NULL;
            take(user, k, me * blocks, (int)p.levels - 1, &order, word);
        }
        at += n * each;
    }
}

/* ---- text ---- */

static clf_status emit(const clf_cplan *c, const clf_sched *s, const char *kernel_dir, clf_arena *arena, clf_source *out, clf_err *err) {
    clf_cell p;
    if (!clf_cell_plan(&p, c, 1)) return clf_fail(err, CLF_E_INTERNAL, "cell.chunk: cplan does not fit");
    p.ru = s->variant >> 4 & 1 ? 4 : 1;
    clf_ctext x = {.p = &p, .c = c, .nontemporal = s->nontemporal != 0};
    if (!clf_twin_text(&x, c->nvalue, arena)) return clf_twin_no_memory(&twin, err);
    if (p.kind == CLF_CELL_ROWS)
        clf_print(x.strip, sizeof x.strip, "width");
    else
        clf_print(x.strip, sizeof x.strip, "%lld", (long long)p.strip);
    clf_ctext_schedule(&x);
    return clf_twin_write(&twin, &x, &p, p.ru, kernel_dir, arena, out, err);
}

const clf_skel clf_skel_cell_chunk = {
    .name = "cell.chunk",
    .strategy = "chunk",
    .tier = 2,
    .fits = fits,
    .sched = sched,
    .states = states,
    .columns = columns,
    .facts = facts,
    .emit = emit,
};
