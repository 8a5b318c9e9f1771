/* SPDX-License-Identifier: Apache-2.0
 * What row.group fits, and its jobs (see band_plan.h). Sizes are in band_cut.c. */
#include "kernels-cl/skel/band_plan.h"

#include <string.h>

#include "kernels-cl/skel/band_cut.h"
#include "kernels-cl/skel/cell_plan.h"

/* ---- what fits ---- */

static bool value_ok(const clf_band *p, const clf_value *v) {
    clf_strides s;
    if (clf_op_is_cell(v->op) || v->op == CLF_V_PARAM || v->op == CLF_V_CAST || v->op == CLF_V_INDEX) return true;
    if (v->op == CLF_V_LOAD) return p->c->access[v->arg].protocol == CLF_STREAM && clf_strides_of(p->c, &p->c->access[v->arg], &s);
    if (v->op == CLF_V_FOLD && v->in[1] >= 0) return false;
    for (int q = 0; q < 2 && v->op == CLF_V_CAT; q++) {
        int along = clf_cat_axis(v, q);
        if (along == 0 || (along > 0 && v->axes >> along & 1u)) return false;
    }
    return clf_band_buffered(v) && v->axis > 0;
}

static bool shape_ok(const clf_band *p) {
    const clf_cplan *c = p->c;
    if (c->naxes < 1 || c->nvalue > CLF_BAND_VALUES || c->nsink > CLF_BAND_ITEMS) return false;
    for (int a = 0; a < c->naxes; a++)
        if (c->axis[a].kind != CLF_AXIS_RANGE || c->axis[a].n.n < 0) return false;
    for (int k = 0; k < c->nin; k++)
        if (c->in[k].format != 0) return false;
    for (int v = 0; v < c->nvalue; v++)
        if (!value_ok(p, &c->value[v])) return false;
    return true;
}

/* ---- jobs ---- */

clf_sink clf_band_sink(const clf_band *p, int item) {
    if (item < p->c->nsink) return p->c->sink[item];
    const clf_value *v = &p->c->value[p->made[item - p->c->nsink]];
    return (clf_sink){.kind = v->op == CLF_V_DOT ? CLF_SINK_DOT : CLF_SINK_FOLD,
                      .fold = (uint8_t)(v->op == CLF_V_DOT ? CLF_FOLD_SUM : v->arg),
                      .value = {v->in[0], v->op == CLF_V_DOT ? v->in[1] : -1, -1, -1}};
}

/* The job for this; -1: there is no room. */
static int job_for(clf_band *p, const clf_job *want) {
    bool shared = want->kind != CLF_JOB_CAT && want->kind != CLF_JOB_SCAN;
    for (int k = 0; k < p->njob && shared; k++) {
        const clf_job *j = &p->job[k];
        if (j->kind == want->kind && j->axis == want->axis && j->keep == want->keep && j->lanes == want->lanes && j->level == want->level)
            return k;
    }
    if (p->njob == CLF_BAND_JOBS) return -1;
    p->job[p->njob] = *want;
    return p->njob++;
}

static bool put_item(clf_band *p, int item, const clf_job *want) {
    clf_sink s = clf_band_sink(p, item);
    int states = s.kind == CLF_SINK_STORE ? 0 : s.kind == CLF_SINK_DOT ? 1 : clf_cell_states(&s), k = job_for(p, want);
    if (k < 0) return false;
    p->item[item] = (clf_item){.job = (int16_t)k, .first = (int16_t)p->job[k].states, .parts = 1};
    p->job[k].states += states;
    if (states > p->most_states) p->most_states = states;
    return true;
}

static bool place_value(clf_band *p, int v) {
    const clf_value *w = &p->c->value[v];
    int level = 0;
    for (int q = 0; q < 3; q++)
        if (w->in[q] >= 0 && p->level[w->in[q]] > level) level = p->level[w->in[q]];
    p->level[v] = (int16_t)(level + clf_band_buffered(w));
    p->buffer[v] = -1;
    if (!clf_band_buffered(w)) return true;
    if (level + 1 > p->levels) p->levels = level + 1;
    clf_job want = {.kind = CLF_JOB_LEAVES, .axis = w->axis, .keep = w->axes & ~(1u << w->axis), .level = level, .value = v};
    want.lanes = w->op == CLF_V_DOT ? clf_dot_lanes(p->c, w, NULL) : clf_lanes((clf_dtype)p->c->value[w->in[0]].dtype);
    if (w->op == CLF_V_SCAN) want.kind = CLF_JOB_SCAN, want.lanes = 1;
    if (w->op == CLF_V_CAT) {
        want.kind = CLF_JOB_CAT;
        return job_for(p, &want) >= 0;
    }
    if (p->nitem == CLF_BAND_ITEMS) return false;
    p->made[p->nitem - p->c->nsink] = (int16_t)v;
    return put_item(p, p->nitem++, &want);
}

static bool fold_job(const clf_band *p, const clf_sink *s, clf_job *want) {
    clf_dtype t = (clf_dtype)p->c->value[s->value[0]].dtype;
    uint32_t folded = clf_sink_loop(p->c, s) & ~s->keep, inner = folded & ~1u;
    bool one = (inner & (inner - 1)) == 0;
    if (s->value[1] >= 0 || !one || !folded) return false;
    want->axis = (int8_t)(inner ? __builtin_ctz(inner) : -1);
    want->lanes = clf_lanes(t);
    if (s->keep & 1u) { /* rows: nothing kept lies behind what is folded */
        want->kind = CLF_JOB_LEAVES;
        return s->keep < inner;
    }
    if (!(folded & 1u)) return false;
    want->kind = s->keep ? CLF_JOB_COLS : CLF_JOB_FULL;
    want->keep = s->keep;
    return !s->keep || !inner;
}

static bool place_sink(clf_band *p, int s) {
    const clf_sink *k = &p->c->sink[s];
    clf_job want = {.kind = CLF_JOB_MAP, .axis = -1, .keep = k->keep, .level = p->levels, .lanes = 1};
    if (k->guard >= 0) return false;
    if (k->kind == CLF_SINK_STORE) return put_item(p, s, &want);
    if (k->kind == CLF_SINK_DOT) {
        want.kind = CLF_JOB_COLS;
        return (clf_sink_loop(p->c, k) & ~k->keep) == 1u && put_item(p, s, &want);
    }
    return k->kind == CLF_SINK_FOLD && fold_job(p, k, &want) && put_item(p, s, &want);
}

static bool place(clf_band *p) {
    p->nitem = p->c->nsink;
    p->most_states = 1;
    for (int v = 0; v < p->c->nvalue; v++)
        if (!place_value(p, v)) return false;
    for (int s = 0; s < p->c->nsink; s++)
        if (!place_sink(p, s)) return false;
    return true;
}

bool clf_band_plan(clf_band *p, const clf_cplan *c, const clf_profile *profile, int local) {
    memset(p, 0, sizeof *p);
    p->c = c;
    if (!shape_ok(p) || !place(p)) return false;
    p->rows = c->axis[0].n.n;
    return clf_band_cut(p, profile, local);
}
