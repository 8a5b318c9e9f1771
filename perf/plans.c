/* SPDX-License-Identifier: Apache-2.0
 * Plans of one case, prepared and run side by side. See plans.h. */
#include "perf/plans.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RESTS = 7 };               /* OpenBLAS's threads look for work for 2^28 cycles before they sleep: 140 ms at 1.9 GHz */
static const double wake_ms = 10; /* a core in sleep for 40 ms was at full speed again after 3 to 6 ms */

/* ---- the stage ---- */

static bool find_device(bench_stage *st) {
    st->device = -1;
    return clf_run_wants_host(st->s.ctx) || clf_run_device(st->s.ctx, true, &st->device, &st->err) == CLF_OK;
}

bool bench_stage_begin(bench_stage *st) {
    clf_ctx *c = st->s.ctx;
    clf_mat *result[BENCH_OUTS];
    clf_node *root[BENCH_OUTS];
    st->err = (clf_err){CLF_OK, ""};
    if (!bench_subject_record(&st->s, result)) {
        snprintf(st->err.text, sizeof st->err.text, "%.150s", clf_last_error(c));
        return false;
    }
    for (size_t r = 0; r < st->s.program.nout; r++) root[r] = result[r]->node;
    if (!find_device(st) || clf_freeze(c, st->s.program.nout, root, 0, NULL, &st->f, &st->err) != CLF_OK) return false;
    for (size_t i = 0; i < st->f.nslot; i++) clf_slot_fill(&st->f.slot[i], st->f.slot_node[i]);
    return true;
}

void bench_stage_end(bench_stage *st) {
    if (st->f.c) clf_frozen_release(&st->f);
    bench_subject_close(&st->s);
    *st = (bench_stage){0};
}

clf_plan *bench_stage_plan(bench_stage *st, const clf_selector *sel) {
    const clf_limits lim = clf_exe_limits(st->s.ctx, &(clf_places){st->device >= 0, {st->device}});
    clf_plan *p = NULL;
    return clf_plan_new(&p, &st->f.g, sel, &lim, &st->s.ctx->mem, &st->err) == CLF_OK ? p : NULL;
}

/* ---- facts of a plan ---- */

double bench_stage_predicted(bench_stage *st, const clf_plan *p) {
    const clf_profile *host = clf_run_host_profile(st->s.ctx), *dev = st->device < 0 ? host : clf_run_profile_of(st->s.ctx, st->device);
    double ns = dev->launch_sync_ns;
    for (int32_t s = 0; s < p->nstep; s++) ns += clf_step_cost_ns(p, &p->step[s], p->step[s].kind == CLF_STEP_FUSED ? dev : host);
    return ns * 1e-6;
}

double bench_plan_cells(const clf_plan *p) {
    double most = 0;
    for (int32_t v = 0; v < p->nvalue; v++)
        if (p->value[v].slot < 0 && p->value[v].format == CLF_DENSE) most = fmax(most, (double)p->value[v].rows * (double)p->value[v].cols);
    return most;
}

static bool same_values(const clf_plan *a, const clf_plan *b, const int32_t *of_a, const int32_t *of_b, int n) {
    for (int i = 0; i < n; i++)
        if (a->value[of_a[i]].node != b->value[of_b[i]].node) return false;
    return true;
}

static bool same_step(const clf_plan *a, const clf_plan *b, int32_t s) {
    const clf_step *x = &a->step[s], *y = &b->step[s];
    if (x->kind != y->kind || x->convert != y->convert || x->nin != y->nin || x->nout != y->nout || x->ncover != y->ncover) return false;
    if (x->ncover && memcmp(x->cover, y->cover, (size_t)x->ncover * sizeof *x->cover)) return false;
    return same_values(a, b, x->in, y->in, x->nin) && same_values(a, b, x->out, y->out, x->nout);
}

bool bench_plan_same(const clf_plan *a, const clf_plan *b) {
    if (a->nstep != b->nstep) return false;
    for (int32_t s = 0; s < a->nstep; s++)
        if (!same_step(a, b, s)) return false;
    return true;
}

/* ---- prepared plans ---- */

bool bench_plan_take(bench_plan *out, bench_stage *st, clf_plan *p) {
    *out = (bench_plan){.stage = st};
    return clf_exe_of_plan(&out->x, st->s.ctx, p, NULL, &st->err) == CLF_OK;
}

bool bench_plan_make(bench_plan *out, bench_stage *st, const char *selector) {
    *out = (bench_plan){.stage = st};
    return clf_exe_new(&out->x, st->s.ctx, &st->f.g, clf_selector_find(selector), NULL, &st->err) == CLF_OK;
}

static void drop_results(bench_plan *p) {
    for (int32_t r = 0; r < p->stage->f.g.nroot; r++) {
        clf_buf_unref(p->out[r]);
        p->out[r] = NULL;
    }
}

void bench_plan_free(bench_plan *p) {
    if (p->x) clf_exe_free(p->stage->s.ctx, p->x);
    *p = (bench_plan){0};
}

static bool run(bench_plan *p, bool timed) {
    bench_stage *st = p->stage;
    return clf_exe_run(st->s.ctx, p->x, st->f.slot, timed, p->out, &st->err) == CLF_OK;
}

bool bench_plan_call(void *plan) {
    if (!run(plan, false)) return false;
    drop_results(plan);
    return true;
}

bool bench_plan_library(const bench_plan *p) {
    for (int32_t s = 0; s < p->x->plan->nstep; s++)
        if (p->x->plan->step[s].kind == CLF_STEP_LIBRARY) return true;
    return false;
}

/* A core that has slept computes at half its speed and less for some milliseconds. */
static void rest(bench_plan *p) {
    for (int i = 0; i < RESTS; i++) bench_rest();
    for (double begin_ms = bench_now_ms(); bench_now_ms() - begin_ms < wake_ms && bench_plan_call(p);) {
    }
}

double bench_plan_sample(bench_plan *p, double min_ms) {
    bool library = bench_plan_library(p);
    if (p->stage->restless && !library) rest(p);
    p->stage->restless = library;
    return bench_sample(bench_plan_call, p, min_ms);
}

static void check(bench_row *row, const bench_plan *p, const bench_known *k, const char *who) {
    const void *outs[BENCH_OUTS] = {0};
    clf_dtype types[BENCH_OUTS] = {0};
    double rel = NAN;
    for (int32_t r = 0; r < p->stage->f.g.nroot; r++) {
        outs[r] = p->out[r]->host;
        types[r] = (clf_dtype)p->x->plan->value[p->x->plan->root[r]].dtype;
    }
    double share = k->cells ? bench_check(k->cells, k->data, k->rows, outs, types, &rel)
                            : ml_check(&k->ml_data->a, k->ml->result, outs[0], k->ml_data->want, k->ml_data->scale, &rel);
    row->max_rel_err = isnan(row->max_rel_err) ? rel : fmax(rel, row->max_rel_err);
    if (!(share <= 1)) bench_row_fail(row, "%s: error %.2g is %.2g times the bound", who, rel, share);
}

void bench_plan_check(bench_row *row, bench_plan *p, const bench_known *known, const char *who) {
    if (!run(p, false)) return bench_row_fail(row, "%s: %.130s", who, p->stage->err.text);
    check(row, p, known, who);
    p->stage->restless = true;
    drop_results(p);
}

void bench_plan_show(bench_plan *p, const char *who) {
    const clf_plan *plan = p->x->plan;
    clf_str t;
    clf_str_init(&t, &p->stage->s.ctx->mem);
    clf_plan_print(plan, &t);
    printf("    %s, predicted %.4f ms\n", who, bench_stage_predicted(p->stage, plan));
    const char *line = clf_str_c(&t);
    bool timed = run(p, true);
    if (timed) drop_results(p);
    for (int32_t s = 0; s < plan->nstep; s++, line = strchr(line, '\n') + 1)
        printf("      %.*s predicted %.4f measured %.4f ms\n", (int)strcspn(line, "\n"), line, p->x->step[s].predicted_ns * 1e-6,
               timed ? p->x->step[s].measured_ns * 1e-6 : NAN);
    clf_str_release(&t);
}
