/* SPDX-License-Identifier: Apache-2.0
 * What the C twins of row.group and entry.group share (see band_twin.h). */
#include "kernels-cl/skel/band_twin.h"

#include <string.h>

/* ---- arguments ---- */

static void walk_csr(clf_args *w, int in) {
    clf_args_put(w, CLF_ARG_CSR_PTR, CLF_I64, in);
    clf_args_put(w, CLF_ARG_CSR_IDX, CLF_I32, in);
}

/* The operand whose entries are visited; its offsets and columns are named by the skeleton's text. */
static void walk_driver(clf_args *w, const clf_band *p) {
    char buf[CLF_EMIT_NAME];
    clf_dtype t = (clf_dtype)p->c->in[p->csr].dtype;
    walk_csr(w, p->csr);
    clf_args_put(w, CLF_ARG_MEM_IN, t, p->csr);
    if (w->text) clf_str_fmt(w->text, "const __global %s *restrict xe, ", clf_emit_type(buf, t, 1));
}

static void walk_located(clf_args *w, const clf_band *p, int a) {
    int in = p->c->access[a].input;
    char buf[CLF_EMIT_NAME];
    clf_dtype t = (clf_dtype)p->c->in[in].dtype;
    walk_csr(w, in);
    clf_args_put(w, CLF_ARG_MEM_IN, t, in);
    if (w->text)
        clf_str_fmt(w->text, "const __global long *restrict xp%d, const __global int *restrict xc%d, const __global %s *restrict x%d, ", a,
                    a, clf_emit_type(buf, t, 1), a);
}

static void walk_accesses(clf_args *w, const clf_band *p) {
    clf_strides s;
    for (int a = 0; a < p->c->naccess; a++) {
        s = (clf_strides){0};
        if (p->c->access[a].protocol == CLF_LOCATE) walk_located(w, p, a);
        if (p->c->access[a].protocol != CLF_STREAM) continue;
        clf_strides_of(p->c, &p->c->access[a], &s);
        clf_args_input(w, p->c, a, s.base);
        for (int k = 0; k < p->c->naxes; k++) {
            char name[16] = {'x', (char)(k < 10 ? '0' + k : '1'), (char)(k < 10 ? 's' : '0' + k - 10), (char)(k < 10 ? 0 : 's')};
            if (clf_btext_stride(p, a, k)) clf_args_size(w, name, a, s.step[k]);
        }
    }
}

void clf_band_walk(clf_args *w, const void *plan, int64_t first) {
    const clf_band *p = plan;
    if (p->e >= 0) walk_driver(w, p);
    walk_accesses(w, p);
    clf_args_results(w, p->c);
    for (int a = 1; a < p->c->naxes; a++)
        if (a != p->e) clf_args_size(w, "n", a, clf_band_extent(p, a));
    for (int v = 0; v < p->c->nvalue; v++)
        if (clf_band_buffered(p, &p->c->value[v])) clf_args_size(w, "mb", v, p->buffer[v]);
    for (int s = 0; s < p->c->nsink; s++)
        if (p->item[s].parts > 1 || p->job[p->item[s].job].kind == CLF_JOB_MEET) clf_args_size(w, "fa", s, p->item[s].at);
    for (int s = 0; s < p->c->nsink; s++)
        if (clf_band_rest(p, s) >= 0) clf_args_size(w, "fr", s, p->item[s].rest);
    for (int k = 0; k < p->njob; k++) {
        if (p->job[k].kind == CLF_JOB_ENTRIES) clf_args_size(w, "fw", k, p->job[k].at);
        if (p->job[k].kind == CLF_JOB_COLS) clf_args_size(w, "ca", k, p->job[k].at);
        if (p->job[k].kind == CLF_JOB_COLS || p->job[k].kind == CLF_JOB_MEET) clf_args_size(w, "cb", k, p->job[k].run);
    }
    clf_args_put(w, CLF_ARG_SCRATCH, CLF_U8, 0);
    const int64_t size[] = {p->rows, first, p->band, p->pass, p->base, p->stride, p->leaf_at, p->bands, p->meet.band, p->meet.pass};
    if (p->e >= 0) clf_args_size(w, NULL, 0, p->flat);
    if (p->e >= 0) clf_args_size(w, NULL, 0, p->c->in[p->csr].dim[1].n);
    for (int k = 0; k < (p->e >= 0 ? 10 : 7); k++) clf_args_size(w, NULL, 0, size[k]);
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
    if (p->job[q->job].kind == CLF_JOB_ENTRIES) clf_args_size(w, "some", s, p->job[q->job].at);
    if (clf_band_rest(p, s) >= 0) clf_args_size(w, "fr", s, q->rest);
    int64_t cols = p->e >= 0 ? p->c->in[p->csr].dim[1].n : 0;
    if (clf_band_turned(p, q->job)) clf_args_size(w, "each", s, cols > 0 && q->results >= cols ? q->results / cols : 1);
}

void clf_band_walk_merge(clf_args *w, const void *plan, int64_t first) {
    const clf_band *p = plan;
    (void)first;
    for (int s = 0; s < p->c->nsink; s++)
        if (p->item[s].parts > 1) walk_item(w, p, s);
    clf_args_put(w, CLF_ARG_SCRATCH, CLF_U8, 0);
}

/* ---- fits, sched ---- */

/* Sums of folds are doubles, values inside the loop too. */
static bool floats_fit(const clf_cplan *c, const clf_profile *p) {
    if (p->fp64) return true;
    for (int v = 0; v < c->nvalue; v++)
        if (clf_is_made(&c->value[v])) return false;
    for (int s = 0; s < c->nsink; s++)
        if (c->sink[s].kind != CLF_SINK_STORE) return false;
    return clf_twin_floats_fit(c, p);
}

bool clf_band_fits(const clf_band_twin *t, const clf_cplan *c, const clf_profile *p) {
    clf_band b;
    if (!floats_fit(c, p) || !clf_band_plan(&b, c, p, 0, 0) || (b.e >= 0) != t->entries) return false;
    return clf_twin_args_fit(&t->run, &b, p) && clf_twin_args_fit(&t->merge, &b, p);
}

static clf_twin_groups groups_of(const clf_band *b) {
    return (clf_twin_groups){b->local, b->index_bits, false,   b->flat + b->bands + b->meet.bands, b->merges, b->words,
                             b->grain, b->extent,     b->width};
}

static clf_status misfit(const clf_band_twin *t, clf_err *err) {
    return clf_fail(err, CLF_E_INTERNAL, "%s: cplan does not fit", t->run.skel->name);
}

clf_status clf_band_sched(const clf_band_twin *t, const clf_cplan *c, const clf_profile *p, clf_grid grid, clf_sched *out, clf_err *err) {
    clf_band b;
    if (!clf_band_plan(&b, c, p, 0, 0)) return misfit(t, err);
    const clf_twin_groups g = groups_of(&b);
    clf_twin_group_sched(&t->run, &b, &g, grid, out);
    return CLF_OK;
}

clf_status clf_band_merge(const clf_band_twin *t, const clf_cplan *c, const clf_profile *p, clf_sched *out, clf_err *err) {
    clf_band b;
    if (!clf_band_plan(&b, c, p, 0, 0)) return misfit(t, err);
    const clf_twin_groups g = groups_of(&b);
    clf_twin_group_merge(&t->merge, &b, &g, out);
    return CLF_OK;
}

/* ---- facts, text ---- */

void clf_band_facts(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_facts *out) {
    clf_band p;
    memset(out, 0, sizeof *out);
    if (!clf_band_plan(&p, c, profile, 0, 0)) return;
    clf_band_count(&p, out);
    const clf_twin_groups g = groups_of(&p);
    clf_twin_group_share(out, s, &g, profile);
    out->occupancy *= clf_band_filled(&p);
}

static void hole_setup(clf_ctext *x) {
    const clf_band *p = ((clf_btext *)x)->p;
    char buf[CLF_EMIT_NAME];
    for (int a = 1; a < p->c->naxes; a++)
        if (a != p->e) CLF_PUT(x, "const CLF_INDEX e%d = (CLF_INDEX)n%d;\n", a, a);
    for (int a = 0; a < p->c->naccess; a++) {
        const char *type = clf_emit_type(buf, (clf_dtype)p->c->in[p->c->access[a].input].dtype, 1);
        if (p->c->access[a].protocol == CLF_STREAM) CLF_PUT(x, "const __global %s *const q%d = x%d + xb%d;\n", type, a, a, a);
        if (p->c->access[a].protocol == CLF_ENTRIES) CLF_PUT(x, "const __global %s *const q%d = xe;\n", type, a);
    }
    for (int o = 0; o < p->c->nout; o++)
        CLF_PUT(x, "__global %s *const r%d = o%d + ob%d;\n", clf_emit_type(buf, (clf_dtype)p->c->out[o].dtype, 1), o, o, o);
    clf_btext_whole((clf_btext *)x);
    for (int v = 0; v < p->c->nvalue; v++)
        if (clf_band_buffered(p, &p->c->value[v])) {
            const char *type = clf_emit_type(buf, (clf_dtype)p->c->value[v].dtype, 1);
            CLF_PUT(x, "__global %s *const m%d = (__global %s *)(own + mb%d);\n", type, v, type, v);
        }
}

static void hole_index(clf_ctext *x) { CLF_PUT(x, ((const clf_btext *)x)->p->index_bits == 32 ? "int" : "long"); }
static void hole_words(clf_ctext *x) {
    const clf_btext *t = (const clf_btext *)x;
    int pairs = 0;
    for (int k = 0; k < t->p->njob; k++)
        if (t->p->job[k].pairs) pairs = CLF_BAND_PAIRS;
    CLF_PUT(x, "%d", clf_btext_states(t) * t->p->local + pairs);
}

const clf_hole clf_band_holes[] = {{"CLF_INDEX", hole_index},    {"CLF_TREE_WORDS", hole_words}, {"CLF_SETUP", hole_setup},
                                   {"CLF_FLAT", clf_btext_flat}, {"CLF_PASS", clf_btext_pass},   {NULL, NULL}};
const clf_hole clf_band_merge_holes[] = {{"CLF_TREE_WORDS", hole_words}, {"CLF_WALKS", clf_btext_merges}, {NULL, NULL}};

clf_status clf_band_emit(const clf_band_twin *t, const clf_cplan *c, const clf_sched *s, const char *kernel_dir, clf_arena *arena,
                         clf_source *out, clf_err *err) {
    clf_band p;
    clf_btext b;
    const clf_twin *which = s->merge == CLF_MERGE_ITSELF ? &t->merge : &t->run;
    if (!clf_band_plan(&p, c, NULL, (int)s->local, s->width)) return misfit(t, err);
    if (!clf_btext_begin(&b, &p, arena)) return clf_twin_no_memory(which, err);
    return clf_twin_write(which, &b.x, &p, p.local, kernel_dir, arena, out, err);
}
