/* SPDX-License-Identifier: Apache-2.0
 * Grids in TIME: an operand larger than the device's largest allocation is visited in runs of whole chunks, one launch for each. Rows or
 * cells of such an operand are narrowed to a part's own (exe_launch.c); what every part reads whole has to fit. */
#include "host/run/exe_window.h"
#include "host/run/run.h"

/* Rows first: the outermost axis, from its beginning on. */
static bool along_rows(const clf_access *x) { return !x->rank || (x->at[0].axis == 0 && x->at[0].mul == 1 && !x->at[0].add); }

bool clf_step_spans(const clf_plan *p, const clf_step *t, const clf_sched *sched, int i) {
    const clf_cplan *c = &t->c;
    int out = i - t->nin;
    if (!clf_sched_spans(sched, &p->value[out < 0 ? t->in[i] : t->out[out]])) return false;
    for (int a = 0; a < c->naccess && !sched->flat && out < 0; a++)
        if (c->access[a].input == i && !along_rows(&c->access[a])) return false;
    for (int s = 0; s < c->nsink && out >= 0; s++)
        if (c->sink[s].out[0] == out && !(c->sink[s].keep & 1u)) return false;
    return true;
}

/* The largest buffer of a value: a sparse one is three. */
static double largest_buffer(const clf_plan_value *v) {
    if (v->format == CLF_DENSE) return (double)v->bytes;
    size_t each = clf_dtype_bytes((clf_dtype)v->dtype) > sizeof(int32_t) ? clf_dtype_bytes((clf_dtype)v->dtype) : sizeof(int32_t);
    double entries = (double)v->nnz * (double)each, offsets = 8 * ((double)v->rows + 1);
    return entries > offsets ? entries : offsets;
}

/* Operands of a step that go through buffers: the largest that a part sees a part of, and the largest that every part sees whole. A loop
 * over stored entries is never cut: its rows are not parts of equal work, and of the operand every part would hold all. */
static void largest_operands(const clf_exe *x, const clf_step *t, const clf_exe_step *e, double *cut, double *whole) {
    *cut = 0;
    *whole = (double)e->sched.scratch_bytes;
    for (int i = 0; i < t->nin + t->nout; i++) {
        const clf_plan_value *v = &x->plan->value[i < t->nin ? t->in[i] : t->out[i - t->nin]];
        double *most = !e->sparse && clf_step_spans(x->plan, t, &e->sched, i) ? cut : whole, bytes = largest_buffer(v);
        if (bytes > *most) *most = bytes;
    }
}

clf_status clf_exe_cut(clf_ctx *c, clf_exe *x, int32_t s, const clf_skel *skel, clf_err *err) {
    const clf_step *t = &x->plan->step[s];
    clf_exe_step *e = &x->step[s];
    const clf_profile *dev = clf_run_profile_of(c, clf_exe_device(x, e));
    const clf_dev_info *info = clf_devs_info(c->run->devs, clf_exe_device(x, e));
    double limit = (double)info->max_alloc_bytes, cut, whole;
    if (info->host_pointers || limit <= 0) return CLF_OK; /* every operand is in place */
    if (c->knobs.mem_limit && (double)c->knobs.mem_limit < limit) limit = (double)c->knobs.mem_limit;
    if (x->ways.alloc_bytes && (double)x->ways.alloc_bytes < limit) limit = (double)x->ways.alloc_bytes;
    largest_operands(x, t, e, &cut, &whole);
    int64_t chunks = (e->sched.extent + e->sched.grain - 1) / e->sched.grain;
    double chunk = cut * (double)e->sched.grain / (double)(e->sched.extent > 0 ? e->sched.extent : 1);
    if (whole > limit || (cut > limit && chunk > limit))
        return clf_fail(err, CLF_E_LIMIT, "an operand of %.0f bytes cannot be cut to the device's largest allocation of %.0f",
                        whole > limit ? whole : cut, limit);
    if (cut <= limit) return CLF_OK;
    int64_t each = (int64_t)(limit / chunk);
    e->nparts = (int)((chunks + each - 1) / each);
    e->part = clf_arena_new(&x->arena, (size_t)e->nparts, sizeof *e->part);
    if (!e->part) return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory while preparing the plan");
    for (int i = 0; i < e->nparts; i++) {
        clf_grid g = {i * each, i * each + each < chunks ? i * each + each : chunks};
        CLF_TRY(skel->sched(&t->c, dev, g, &e->part[i], err));
    }
    return CLF_OK;
}
