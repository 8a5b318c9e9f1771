/* SPDX-License-Identifier: Apache-2.0
 * The C twin of cell.group.cl and cell.group.merge.cl: what they fit, their schedules, their facts, their texts.
 *
 * Arguments, in order: for every access the memory of its input, its base offset in elements (CLF_ARG_I64, right behind the memory) and
 * the strides that the text names; for every output memory and base offset; parameters; scratch; the sizes that the .cl names. */
#include <string.h>

#include "kernels-cl/skel/facts.h"
#include "kernels-cl/skel/group_local.h"
#include "kernels-cl/skel/group_text.h"
#include "kernels-cl/skel/twin.h"

extern const clf_skel clf_skel_cell_group;

/* Work-items of a group: on a GPU enough to hide what loads cost; elsewhere groups only take turns. */
static int local_of(const clf_profile *p) { return p->kind == CLF_DEV_GPU ? clf_group_local(p, CLF_GROUP_CELLS, 0) : CLF_LEAST_LOCAL; }
static bool plan(clf_group *g, const clf_cplan *c, const clf_profile *p) {
    return clf_group_plan(g, c, local_of(p), clf_group_width(c, p));
}

/* ---- arguments ---- */

static void walk_cells(clf_args *w, const void *plan, int64_t first) {
    const clf_group *p = plan;
    clf_group_at at;
    for (int a = 0; a < p->c->naccess; a++) {
        clf_group_access(p, &p->c->access[a], &at);
        clf_args_input(w, p->c, a, at.base);
        if (!at.linear && (at.axes & p->i)) clf_args_size(w, "xi", a, at.si);
        if (!at.linear && (at.axes & p->j) && at.sj != 1) clf_args_size(w, "xj", a, at.sj);
    }
    clf_args_results(w, p->c);
    clf_args_put(w, CLF_ARG_SCRATCH, CLF_U8, 0);
    const int64_t size[] = {p->n, p->rows, p->cols, first};
    for (int k = 0; k < 4; k++) clf_args_size(w, NULL, 0, size[k]);
    for (int k = 0; k < CLF_NWALKS; k++) clf_args_size(w, NULL, 0, p->walk[k].end);
    for (int k = 0; k < CLF_FOLD_WALKS; k++) {
        clf_args_size(w, NULL, 0, p->walk[k].units);
        clf_args_size(w, NULL, 0, p->walk[k].parts);
        clf_args_size(w, NULL, 0, p->walk[k].at);
    }
    const clf_walk *cols = &p->walk[CLF_WALK_COLS];
    const int64_t last[] = {cols->inner, cols->lanes, cols->leaf, cols->tiles};
    for (int k = 0; k < 4; k++) clf_args_size(w, NULL, 0, last[k]);
}

static void walk_merge(clf_args *w, const void *plan, int64_t first) {
    const clf_group *p = plan;
    char buf[CLF_EMIT_NAME];
    (void)first;
    for (int s = 0; s < p->c->nsink; s++) {
        int o = p->c->sink[s].out[0];
        if (p->c->sink[s].kind != CLF_SINK_FOLD) continue;
        clf_args_put(w, CLF_ARG_MEM_OUT, p->c->out[o].dtype, o);
        if (w->text) clf_str_fmt(w->text, "__global %s *restrict o%d, ", clf_emit_type(buf, (clf_dtype)p->c->out[o].dtype, 1), o);
        clf_args_size(w, "ob", o, 0);
    }
    clf_args_put(w, CLF_ARG_SCRATCH, CLF_U8, 0);
    for (int k = 0; k < CLF_FOLD_WALKS; k++) {
        const clf_walk *v = &p->walk[k];
        const int64_t size[] = {v->merge.end, v->merge.inner, v->merge.units, v->merge.run, v->parts, v->lines, v->at};
        for (int q = 0; q < 7; q++) clf_args_size(w, NULL, 0, size[q]);
    }
}

/* ---- fits, sched ---- */

static void hole_index(clf_ctext *x) { CLF_PUT(x, ((const clf_gtext *)x)->p->index_bits == 32 ? "int" : "long"); }
static void hole_words(clf_ctext *x) { CLF_PUT(x, "%d", clf_gtext_words((const clf_gtext *)x)); }

static const clf_hole holes[] = {{"CLF_INDEX", hole_index},
                                 {"CLF_TREE_WORDS", hole_words},
                                 {"CLF_SETUP", clf_gtext_setup},
                                 {"CLF_WALKS", clf_gtext_walks},
                                 {NULL, NULL}};
static const clf_hole merge_holes[] = {{"CLF_TREE_WORDS", hole_words}, {"CLF_WALKS", clf_gtext_merges}, {NULL, NULL}};

static const clf_twin twin = {&clf_skel_cell_group, "skel/cell.group.cl", "CLF_GROUP", holes, walk_cells};
static const clf_twin merge_twin = {&clf_skel_cell_group, "skel/cell.group.merge.cl", "CLF_GROUP", merge_holes, walk_merge};

static bool fits(const clf_cplan *c, const clf_profile *p) {
    clf_group g;
    if (!clf_twin_floats_fit(c, p) || !plan(&g, c, p)) return false;
    return clf_twin_args_fit(&twin, &g, p) && clf_twin_args_fit(&merge_twin, &g, p);
}

static clf_twin_groups groups_of(const clf_group *g) {
    return (clf_twin_groups){g->local, g->index_bits, g->flat, g->groups, g->merges, g->words, g->grain, g->extent, g->width};
}

static clf_status sched(const clf_cplan *c, const clf_profile *p, clf_grid grid, clf_sched *out, clf_err *err) {
    clf_group g;
    if (!plan(&g, c, p)) return clf_fail(err, CLF_E_INTERNAL, "cell.group: cplan does not fit");
    const clf_twin_groups all = groups_of(&g);
    clf_twin_group_sched(&twin, &g, &all, grid, out);
    return CLF_OK;
}

static clf_status merge(const clf_cplan *c, const clf_profile *p, clf_sched *out, clf_err *err) {
    clf_group g;
    if (!plan(&g, c, p)) return clf_fail(err, CLF_E_INTERNAL, "cell.group: cplan does not fit");
    const clf_twin_groups all = groups_of(&g);
    clf_twin_group_merge(&merge_twin, &g, &all, out);
    return CLF_OK;
}

/* ---- facts ---- */

/* Of values that vary with rows or columns alone, only a walk over these computes one of each; others do at every cell, or what varies with
 * rows alone once for cells side by side. */
static double times(const clf_group *p, clf_walk_id k, uint32_t axes) {
    uint32_t all = p->i | p->j, own = k == CLF_WALK_ROWS ? p->i : k == CLF_WALK_COLS ? p->j : 0;
    axes &= all;
    if (!axes) return 1;
    if ((int)k >= CLF_FOLD_WALKS) return (double)p->walk[k].len;
    const clf_walk *w = &p->walk[k];
    double each = axes & p->j ? 1 : w->width;
    if (axes != own) return (double)p->n / each;
    return clf_facts_cells(p->c, own) * (double)w->parts * w->lanes * (double)w->units / each;
}

static void count_walk(const clf_group *p, clf_walk_id k, const uint8_t *used, clf_facts *f) {
    const clf_cplan *c = p->c;
    clf_facts_loads(f, c, used);
    for (int v = 0; v < c->nvalue; v++)
        if (used[v] && clf_op_is_cell(c->value[v].op)) clf_facts_value(f, c, v, times(p, k, c->value[v].axes));
    for (int s = 0; s < c->nsink; s++) {
        const clf_sink *sink = &c->sink[s];
        if (clf_group_walk(p, sink) != k) continue;
        clf_facts_write(f, c, sink, clf_facts_cells(c, sink->keep));
        if (sink->kind == CLF_SINK_FOLD)
            f->cells[c->value[sink->value[0]].dtype == CLF_F64][CLF_CLASS_ADD] += (double)p->n * clf_folds[sink->fold].flops;
    }
}

static void count_states(const clf_group *p, clf_facts *f) {
    f->write_bytes += 8 * (double)p->words;
    f->read_bytes += 8 * (double)p->words;
}

static void facts(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_facts *out) {
    clf_group p;
    uint8_t used[CLF_GROUP_VALUES];
    memset(out, 0, sizeof *out);
    if (!plan(&p, c, profile)) return;
    for (int k = 0; k < CLF_NWALKS; k++) {
        if (!p.walk[k].nsink) continue;
        clf_group_used(&p, (clf_walk_id)k, used);
        count_walk(&p, (clf_walk_id)k, used, out);
    }
    count_states(&p, out);
    const clf_twin_groups g = groups_of(&p);
    clf_twin_group_share(out, s, &g, profile);
}

/* ---- states ---- */

/* A group's state is that of a run of leaves as long as all others; the last one may end early and is closed. */
static void states(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_grid grid, const void *scratch,
                   clf_take_state take, void *user) {
    clf_group g;
    uint64_t word[3] = {0};
    (void)s;
    if (!plan(&g, c, profile)) return;
    const clf_walk *w = &g.walk[CLF_WALK_FLAT];
    const uint64_t *at = (const uint64_t *)scratch + w->at;
    for (int k = 0; k < c->nsink; k++) {
        if (c->sink[k].kind != CLF_SINK_FOLD || clf_group_walk(&g, &c->sink[k]) != CLF_WALK_FLAT) continue;
        for (int64_t part = grid.lo; part < grid.hi && part < w->parts; part++) {
            for (int m = 0; m < clf_cell_states(&c->sink[k]); m++) memcpy(&word[m], &at[m * w->parts + part], sizeof *word);
            take(user, k, part * w->units, __builtin_ctzll((unsigned long long)w->units), word);
        }
        at += clf_cell_states(&c->sink[k]) * w->parts;
    }
}

/* As of all cells; the states of a part's columns are neighbours. */
static void columns(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_grid grid, const void *scratch,
                    clf_take_columns take, void *user) {
    clf_group g;
    (void)s;
    if (!plan(&g, c, profile)) return;
    const clf_walk *w = &g.walk[CLF_WALK_COLS];
    const clf_cell_order order = {.vectors = 1, .len = w->lines, .step = 1};
    const uint64_t *at = (const uint64_t *)scratch + w->at, *word[3];
    for (int k = 0; k < c->nsink; k++) {
        if (c->sink[k].kind != CLF_SINK_FOLD || clf_group_walk(&g, &c->sink[k]) != CLF_WALK_COLS) continue;
        int n = clf_cell_states(&c->sink[k]);
        for (int64_t part = grid.lo; part < grid.hi && part < w->parts; part++) {
            for (int m = 0; m < 3; m++) word[m] = m < n ? at + (m * w->parts + part) * w->lines : NULL;
            take(user, k, part * w->units, __builtin_ctzll((unsigned long long)w->units), &order, word);
        }
        at += n * w->parts * w->lines;
    }
}

/* ---- text ---- */

static clf_status emit(const clf_cplan *c, const clf_sched *s, const char *kernel_dir, clf_arena *arena, clf_source *out, clf_err *err) {
    clf_group p;
    clf_gtext g;
    const clf_twin *t = s->merge == CLF_MERGE_ITSELF ? &merge_twin : &twin;
    if (!clf_group_plan(&p, c, (int)s->local, s->width)) return clf_fail(err, CLF_E_INTERNAL, "cell.group: cplan does not fit");
    if (!clf_gtext_begin(&g, &p, arena)) return clf_twin_no_memory(t, err);
    return clf_twin_write(t, &g.x, &p, p.local, kernel_dir, arena, out, err);
}

const clf_skel clf_skel_cell_group = {
    .name = "cell.group",
    .strategy = "group",
    .tier = 2,
    .fits = fits,
    .sched = sched,
    .merge = merge,
    .states = states,
    .columns = columns,
    .facts = facts,
    .emit = emit,
};
