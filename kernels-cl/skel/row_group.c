/* SPDX-License-Identifier: Apache-2.0
 * The C twin of row.group.cl and row.group.merge.cl: what they fit, their schedules, their facts, their texts.
 *
 * Arguments, in order: for every access the memory of its input, its base offset in elements (CLF_ARG_I64, right behind the memory) and
 * the strides that the text names; for every output memory and base offset; parameters; extents of inner axes; words of scratch before
 * buffers and states; rows of blocks; scratch; the sizes that the .cl names. */
#include <string.h>

#include "kernels-cl/skel/band_text.h"
#include "kernels-cl/skel/twin.h"

extern const clf_skel clf_skel_row_group;

/* ---- arguments ---- */

static void walk_accesses(clf_args *w, const clf_band *p) {
    clf_strides s;
    for (int a = 0; a < p->c->naccess; a++) {
        s = (clf_strides){0};
        clf_strides_of(p->c, &p->c->access[a], &s);
        clf_args_input(w, p->c, a, s.base);
        for (int k = 0; k < p->c->naxes; k++) {
            char name[16] = {'x', (char)(k < 10 ? '0' + k : '1'), (char)(k < 10 ? 's' : '0' + k - 10), (char)(k < 10 ? 0 : 's')};
            if (clf_btext_stride(p, a, k)) clf_args_size(w, name, a, s.step[k]);
        }
    }
}

static void walk_rows(clf_args *w, const void *plan, int64_t first) {
    const clf_band *p = plan;
    walk_accesses(w, p);
    clf_args_results(w, p->c);
    for (int a = 1; a < p->c->naxes; a++) clf_args_size(w, "n", a, clf_band_extent(p, a));
    for (int v = 0; v < p->c->nvalue; v++)
        if (clf_band_buffered(&p->c->value[v])) clf_args_size(w, "mb", v, p->buffer[v]);
    for (int s = 0; s < p->c->nsink; s++)
        if (p->item[s].parts > 1) clf_args_size(w, "fa", s, p->item[s].at);
    for (int k = 0; k < p->njob; k++) {
        if (p->job[k].kind != CLF_JOB_COLS) continue;
        clf_args_size(w, "ca", k, p->job[k].at);
        clf_args_size(w, "cb", k, p->job[k].run);
    }
    clf_args_put(w, CLF_ARG_SCRATCH, CLF_U8, 0);
    const int64_t size[] = {p->rows, first, p->band, p->pass, p->base, p->stride, p->leaf_at};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) clf_args_size(w, NULL, 0, size[k]);
}

static void walk_item(clf_args *w, const clf_band *p, int s) {
    char buf[CLF_EMIT_NAME];
    const clf_item *q = &p->item[s];
    int o = p->c->sink[s].out[0];
    int64_t run = p->job[q->job].kind == CLF_JOB_FULL ? p->job[q->job].run : 1, begin = 0;
    for (int k = 0; k < s; k++)
        if (p->item[k].merge.end > begin) begin = p->item[k].merge.end;
    clf_args_put(w, CLF_ARG_MEM_OUT, p->c->out[o].dtype, o);
    if (w->text) clf_str_fmt(w->text, "__global %s *restrict o%d, ", clf_emit_type(buf, (clf_dtype)p->c->out[o].dtype, 1), o);
    static const char *const name[] = {"ob", "end", "inner", "units", "run", "parts", "results", "done", "begin", "at"};
    const int64_t size[] = {0, q->merge.end, q->merge.inner, q->merge.units, q->merge.run, q->parts, q->results, run, begin, q->at};
    for (int k = 0; k < 10; k++) clf_args_size(w, name[k], k ? s : o, size[k]);
}

static void walk_merge(clf_args *w, const void *plan, int64_t first) {
    const clf_band *p = plan;
    (void)first;
    for (int s = 0; s < p->c->nsink; s++)
        if (p->item[s].parts > 1) walk_item(w, p, s);
    clf_args_put(w, CLF_ARG_SCRATCH, CLF_U8, 0);
}

/* ---- fits, sched ---- */

static void hole_index(clf_ctext *x) { CLF_PUT(x, ((const clf_btext *)x)->p->index_bits == 32 ? "int" : "long"); }
static void hole_words(clf_ctext *x) {
    const clf_band *p = ((const clf_btext *)x)->p;
    CLF_PUT(x, "%d", p->most_states * p->local);
}

static const clf_hole holes[] = {
    {"CLF_INDEX", hole_index}, {"CLF_TREE_WORDS", hole_words}, {"CLF_SETUP", clf_btext_setup}, {"CLF_PASS", clf_btext_pass}, {NULL, NULL}};
static const clf_hole merge_holes[] = {{"CLF_TREE_WORDS", hole_words}, {"CLF_WALKS", clf_btext_merges}, {NULL, NULL}};

static const clf_twin twin = {&clf_skel_row_group, "skel/row.group.cl", "CLF_GROUP", holes, walk_rows};
static const clf_twin merge_twin = {&clf_skel_row_group, "skel/row.group.merge.cl", "CLF_GROUP", merge_holes, walk_merge};

/* Sums of folds are doubles, values inside the loop too. */
static bool floats_fit(const clf_cplan *c, const clf_profile *p) {
    if (p->fp64) return true;
    for (int v = 0; v < c->nvalue; v++)
        if (clf_is_made(&c->value[v])) return false;
    for (int s = 0; s < c->nsink; s++)
        if (c->sink[s].kind != CLF_SINK_STORE) return false;
    return clf_twin_floats_fit(c, p);
}

static bool fits(const clf_cplan *c, const clf_profile *p) {
    clf_band b;
    if (!floats_fit(c, p) || !clf_band_plan(&b, c, p, 0)) return false;
    return clf_twin_args_fit(&twin, &b, p) && clf_twin_args_fit(&merge_twin, &b, p);
}

static clf_twin_groups groups_of(const clf_band *b) {
    return (clf_twin_groups){b->local, b->index_bits, false, b->bands, b->merges, b->words, b->grain, b->extent};
}

static clf_status sched(const clf_cplan *c, const clf_profile *p, clf_grid grid, clf_sched *out, clf_err *err) {
    clf_band b;
    if (!clf_band_plan(&b, c, p, 0)) return clf_fail(err, CLF_E_INTERNAL, "row.group: cplan does not fit");
    const clf_twin_groups g = groups_of(&b);
    clf_twin_group_sched(&twin, &b, &g, grid, out);
    return CLF_OK;
}

static clf_status merge(const clf_cplan *c, const clf_profile *p, clf_sched *out, clf_err *err) {
    clf_band b;
    if (!clf_band_plan(&b, c, p, 0)) return clf_fail(err, CLF_E_INTERNAL, "row.group: cplan does not fit");
    const clf_twin_groups g = groups_of(&b);
    clf_twin_group_merge(&merge_twin, &b, &g, out);
    return CLF_OK;
}

/* ---- facts ---- */

static void facts(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_facts *out) {
    clf_band p;
    memset(out, 0, sizeof *out);
    if (!clf_band_plan(&p, c, profile, 0)) return;
    clf_band_facts(&p, out);
    const clf_twin_groups g = groups_of(&p);
    clf_twin_group_share(out, s, &g, profile);
}

/* ---- text ---- */

static clf_status emit(const clf_cplan *c, const clf_sched *s, const char *kernel_dir, clf_arena *arena, clf_source *out, clf_err *err) {
    clf_band p;
    clf_btext b;
    const clf_twin *t = s->merge == CLF_MERGE_ITSELF ? &merge_twin : &twin;
    if (!clf_band_plan(&p, c, NULL, (int)s->local)) return clf_fail(err, CLF_E_INTERNAL, "row.group: cplan does not fit");
    if (!clf_btext_begin(&b, &p, arena)) return clf_twin_no_memory(t, err);
    return clf_twin_write(t, &b.x, &p, p.local, kernel_dir, arena, out, err);
}

const clf_skel clf_skel_row_group = {
    .name = "row.group",
    .strategy = "group",
    .tier = 2,
    .fits = fits,
    .sched = sched,
    .merge = merge,
    .facts = facts,
    .emit = emit,
};
