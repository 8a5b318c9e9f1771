/* SPDX-License-Identifier: Apache-2.0
 * The C twin of row.chunk.cl: what it fits, its schedule, its facts, its text.
 *
 * Arguments, in order: for every access the memory of its input, its base offset in elements (CLF_ARG_I64, right behind the
 * memory), then where it moves with the row its row stride, and for factors of products their strides along the lower and the higher of
 * their axes (a factor may serve two products, once the other way round); for every output memory and base offset; parameters; extents
 * of inner axes; states of column sinks and depths of leaf stacks that are no constants; scratch; counter; the sizes that row.chunk.cl
 * names. Who binds memory that starts r elements into an operand subtracts r from the base offset. */
#include <string.h>

#include "kernels-cl/skel/made.h"
#include "kernels-cl/skel/row_text.h"
#include "kernels-cl/skel/twin.h"

extern const clf_skel clf_skel_row_chunk;

/* ---- arguments ---- */

/* Does it read elsewhere in the next row? */
static bool by_row(const clf_access *a) {
    for (int d = 0; d < a->rank; d++)
        if (a->at[d].axis == 0) return true;
    return false;
}

static void walk_factors(clf_args *w, const clf_row *p) {
    clf_row_factor f;
    uint64_t seen[4] = {0};
    for (int v = 0; v < p->c->nvalue; v++) {
        if (!clf_row_factor_of(p, v, &f)) continue;
        int a = p->c->value[p->c->value[v].in[1]].arg;
        if (f.lanes == 1 && !clf_row_narrow(p, f.l)) clf_args_size(w, "el", v, clf_row_leaf_levels(p, f.l));
        if (a >= 256 || seen[a / 64] >> a % 64 & 1) continue;
        seen[a / 64] |= (uint64_t)1 << a % 64;
        clf_args_size(w, "xs", a, f.l < f.k ? f.sl : f.sk);
        clf_args_size(w, "xk", a, f.l < f.k ? f.sk : f.sl);
    }
}

static void walk(clf_args *w, const void *plan, int64_t first) {
    const clf_row *p = plan;
    int64_t base, si;
    for (int a = 0; a < p->c->naccess; a++) {
        clf_row_at(p, &p->c->access[a], &base, &si);
        clf_args_input(w, p->c, a, base);
        if (by_row(&p->c->access[a])) clf_args_size(w, "xl", a, si);
    }
    walk_factors(w, p);
    clf_args_results(w, p->c);
    for (int a = 1; a < p->c->naxes; a++) clf_args_size(w, "n", a, clf_row_extent(p, a));
    for (int s = 0; s < p->c->nsink; s++)
        if (p->sink[s].layout) clf_args_size(w, "cs", s, p->sink[s].slots);
    const int64_t size[] = {p->rows, p->block, p->wide, p->chunk, first, p->chunks, p->ent, p->levels, p->cstride, p->cbase};
    clf_args_end(w, sizeof size / sizeof *size, size);
}

/* ---- holes ---- */

static void hole_strips(clf_ctext *x) { clf_rtext_pass(x, ((clf_rtext *)x)->p->ru); }
static void hole_strip(clf_ctext *x) {
    if (((clf_rtext *)x)->p->ru > 1) clf_rtext_pass(x, 1);
}
static const clf_hole holes[] = {
    {"CLF_SETUP", clf_rtext_setup},
    {"CLF_STRIPS", hole_strips},
    {"CLF_STRIP", hole_strip},
    {"CLF_TOGETHER", clf_rtext_together},
    {"CLF_TOGETHER_END", clf_rtext_together_end},
    {"CLF_TILES", clf_rtext_tiles},
    {"CLF_COL_INIT", clf_rcols_init},
    {"CLF_COL_PUSH", clf_rcols_push},
    {"CLF_FINISH", clf_rcols_finish},
    {"CLF_ONCE", clf_rtext_once},
    {"CLF_FINAL", clf_rcols_final},
    {NULL, NULL},
};

static const clf_twin twin = {&clf_skel_row_chunk, "skel/row.chunk.cl", "CLF_RU", holes, walk};

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
    if (!floats_ok(c, p) || !clf_row_plan_on(&row, c, p)) return false;
    return clf_twin_args_fit(&twin, &row, p);
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

static clf_status sched(const clf_cplan *c, const clf_profile *p, clf_grid grid, clf_sched *out, clf_err *err) {
    clf_row row;
    if (!clf_row_plan_on(&row, c, p)) return clf_fail(err, CLF_E_INTERNAL, "row.chunk: cplan does not fit");
    const clf_twin_grid g = {.chunks = row.chunks, .cbase = row.cbase, .cstride = row.cstride};
    CLF_TRY(clf_twin_sched(&twin, &row, &g, grid, out, err));
    out->variant = row.ru | row.run << 8 | row.batch << 9 | row.turned << 10 | row.at_once << 11;
    out->width = row.width;
    out->nontemporal = past_caches(&row, p);
    out->grain = row.chunk;
    out->extent = row.rows;
    return CLF_OK;
}

/* ---- states ---- */

static void states(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_grid grid, const void *scratch,
                   clf_take_state take, void *user) {
    clf_row p;
    (void)s;
    if (clf_row_plan_on(&p, c, profile)) clf_row_states(&p, grid, scratch, take, user);
}

static void columns(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_grid grid, const void *scratch,
                    clf_take_columns take, void *user) {
    clf_row p;
    (void)s;
    if (clf_row_plan_on(&p, c, profile)) clf_row_columns(&p, grid, scratch, take, user);
}

/* ---- facts ---- */

static void facts(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_facts *out) {
    clf_row p;
    memset(out, 0, sizeof *out);
    if (!clf_row_plan_on(&p, c, profile)) return;
    clf_row_facts(&p, out);
    clf_twin_share(out, s, p.chunks);
}

/* ---- text ---- */

/* The cplan the text is written of: axes as the plan has them, folds as sinks. */
static bool extend(clf_rtext *t, const clf_row *p, clf_arena *arena) {
    t->nsink = p->c->nsink;
    if (!clf_made_sinks(&t->c, &t->made, p->c, arena)) return false;
    for (int v = 0; v < p->c->nvalue; v++) t->c.value[v].axes = p->value[v].axes;
    t->stacks = clf_arena_new(arena, (size_t)t->c.nsink, 1);
    if (!t->stacks) return false;
    for (int s = 0; s < t->nsink; s++) t->stacks[s] = p->sink[s].stack;
    return true;
}

static clf_status emit(const clf_cplan *c, const clf_sched *s, const char *kernel_dir, clf_arena *arena, clf_source *out, clf_err *err) {
    clf_row p;
    if (!clf_row_plan(&p, c, 1, s->variant >> 11)) return clf_fail(err, CLF_E_INTERNAL, "row.chunk: cplan does not fit");
    clf_rtext t = {.p = &p, .x = {.nontemporal = s->nontemporal != 0}};
    t.held = clf_arena_new(arena, (size_t)c->nvalue, 1);
    t.laned = clf_arena_new(arena, (size_t)c->nvalue, 1);
    t.single = clf_arena_new(arena, (size_t)c->nvalue, 1);
    uint8_t *deep = clf_arena_new(arena, (size_t)c->nvalue, 1);
    if (!clf_twin_text(&t.x, c->nvalue, arena) || !t.held || !t.laned || !t.single || !deep || !extend(&t, &p, arena))
        return clf_twin_no_memory(&twin, err);
    for (int v = 0; v < c->nvalue; v++) deep[v] = p.value[v].deep ? CLF_ROW_DEEP : 0;
    t.x.deep = deep;
    clf_rtext_begin(&t);
    return clf_twin_write(&twin, &t.x, &p, p.ru, kernel_dir, arena, out, err);
}

const clf_skel clf_skel_row_chunk = {
    .name = "row.chunk",
    .strategy = "chunk",
    .tier = 2,
    .fits = fits,
    .sched = sched,
    .states = states,
    .columns = columns,
    .facts = facts,
    .emit = emit,
};
