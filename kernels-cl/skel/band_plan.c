/* SPDX-License-Identifier: Apache-2.0
 * What row.group and entry.group fit, and their jobs (see band_plan.h). Sizes are in band_cut.c. */
#include "kernels-cl/skel/band_plan.h"

#include <string.h>

#include "kernels-cl/skel/band_cut.h"
#include "kernels-cl/skel/cell_plan.h"

/* ---- what fits ---- */

/* Cells without entry take part, if they are alike along what is folded; powers and other folds are left to the host executor. */
static bool rest_ok(const clf_band *p, int fold, int rest, uint32_t axes) {
    return p->e >= 0 && fold != CLF_FOLD_PROD && !(p->c->value[rest].axes & ~axes) && clf_band_extent(p, 0) <= INT32_MAX;
}

static bool value_ok(const clf_band *p, const clf_value *v) {
    clf_strides s;
    if (clf_op_is_cell(v->op) || v->op == CLF_V_PARAM || v->op == CLF_V_CAST || v->op == CLF_V_INDEX) return true;
    if (v->op == CLF_V_LOAD) return p->c->access[v->arg].protocol != CLF_STREAM || clf_strides_of(p->c, &p->c->access[v->arg], &s);
    if (v->op == CLF_V_FOLD && v->in[1] >= 0 && !(v->axis == p->e && rest_ok(p, v->arg, v->in[1], 1u))) return false;
    if (clf_band_is_pair(p, v)) return v->axis > 0 && clf_band_extent(p, v->axis) <= CLF_LEAF;
    if (p->e >= 0 && (v->op == CLF_V_SCAN || v->op == CLF_V_CAT || clf_band_by_entry(p, v->axes))) return false;
    for (int q = 0; q < 2 && v->op == CLF_V_CAT; q++) {
        int along = clf_cat_axis(v, q);
        if (along == 0 || (along > 0 && v->axes >> along & 1u)) return false;
    }
    return clf_band_buffered(p, v) && v->axis > 0;
}

/* The entries of the main operand; cells of another CSR operand there; cells of a dense one. */
static bool access_ok(const clf_band *p, const clf_access *a) {
    uint8_t format = p->c->in[a->input].format;
    if (a->protocol == CLF_STREAM) return format == CLF_DENSE;
    if (p->e < 0 || format != CLF_CSR || a->protocol != (a->input == p->csr ? CLF_ENTRIES : CLF_LOCATE)) return false;
    for (int d = 0; d < 2; d++)
        if (a->at[d].axis != (d ? p->e : 0) || a->at[d].mul != 1 || a->at[d].add != 0) return false;
    return true;
}

static bool axes_ok(clf_band *p) {
    const clf_cplan *c = p->c;
    p->e = p->csr = -1;
    if (c->naxes < 1 || c->axis[0].kind != CLF_AXIS_RANGE) return false;
    for (int a = 0; a < c->naxes; a++) {
        const clf_axis *x = &c->axis[a];
        if (x->n.n < 0 || (x->kind != CLF_AXIS_RANGE && (x->kind != CLF_AXIS_ENTRY || x->parent != 0 || p->e >= 0))) return false;
        if (x->kind == CLF_AXIS_ENTRY) p->e = a;
    }
    if (p->e >= 0) p->csr = c->access[c->axis[p->e].owner].input;
    return true;
}

static bool shape_ok(clf_band *p) {
    const clf_cplan *c = p->c;
    if (c->nvalue > CLF_BAND_VALUES || c->nsink > CLF_BAND_ITEMS || !axes_ok(p)) return false;
    for (int a = 0; a < c->naccess; a++)
        if (!access_ok(p, &c->access[a])) return false;
    for (int k = 0; k < c->nin && p->e < 0; k++)
        if (c->in[k].format != CLF_DENSE) return false;
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
    bool kept = s.kind == CLF_SINK_STORE || s.kind == CLF_SINK_PATTERN;
    int states = kept ? 0 : clf_cell_states(&s), k = job_for(p, want);
    if (k < 0) return false;
    p->item[item] = (clf_item){.job = (int16_t)k, .first = (int16_t)p->job[k].states, .parts = 1};
    p->job[k].states += states;
    if (states > p->most_states) p->most_states = states;
    return true;
}

/* Pairs that the items of a job take, if several of its cells take one entry: each would compute them anew. */
static int pairs_of(const clf_band *p, int job) {
    const clf_job *j = &p->job[job];
    bool used[CLF_BAND_VALUES] = {false}, entries = p->e >= 0 && j->axis == p->e && j->kind != CLF_JOB_ENTRIES;
    int pairs = 0;
    for (int s = 0; s < p->nitem && entries && (j->keep & ~(1u | 1u << p->e)); s++) {
        clf_sink k = clf_band_sink(p, s);
        if (p->item[s].job == job) used[k.value[0]] = true;
        if (p->item[s].job == job && k.kind == CLF_SINK_DOT) used[k.value[1]] = true;
    }
    for (int v = p->c->nvalue - 1; v >= 0; v--) {
        const clf_value *w = &p->c->value[v];
        pairs += used[v] && clf_band_is_pair(p, w);
        for (int q = 0; q < 3; q++)
            if (used[v] && !clf_band_buffered(p, w) && !clf_band_is_pair(p, w) && w->in[q] >= 0) used[w->in[q]] = true;
    }
    return pairs;
}

/* A pair has a number among the items, as made.h counts them, but no job. */
static bool place_pair(clf_band *p, int v) {
    if (p->nitem == CLF_BAND_ITEMS) return false;
    p->made[p->nitem - p->c->nsink] = (int16_t)v;
    p->item[p->nitem++] = (clf_item){.job = -1, .parts = 1};
    return true;
}

static bool place_value(clf_band *p, int v) {
    const clf_value *w = &p->c->value[v];
    int level = 0;
    for (int q = 0; q < 3; q++)
        if (w->in[q] >= 0 && p->level[w->in[q]] > level) level = p->level[w->in[q]];
    p->level[v] = (int16_t)(level + clf_band_buffered(p, w));
    p->buffer[v] = -1;
    if (clf_band_is_pair(p, w)) return place_pair(p, v);
    if (!clf_band_buffered(p, w)) return true;
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

/* What takes entries over row ends; `fits` is false where no way over entries does. */
static bool over_entries(const clf_band *p, const clf_sink *k, clf_job *want, bool *fits) {
    uint32_t cells = 1u | (p->e >= 0 ? 1u << p->e : 0);
    bool pattern = k->kind == CLF_SINK_PATTERN, full = k->kind == CLF_SINK_FOLD && !k->keep && clf_sink_loop(p->c, k) == cells;
    *fits = p->e >= 0 ? pattern || !clf_band_by_entry(p, k->keep) : !pattern;
    if (p->e < 0 || !(pattern || full)) return false;
    if (full && k->value[1] >= 0 && (p->level[k->value[1]] || !rest_ok(p, k->fold, k->value[1], 0))) return *fits = false;
    if (p->level[k->value[0]]) { /* it asks for folds of rows: cells can be kept row by row, but not folded */
        *fits = pattern;
        return false;
    }
    *want = (clf_job){.kind = CLF_JOB_ENTRIES, .axis = (int8_t)p->e, .lanes = clf_lanes((clf_dtype)p->c->value[k->value[0]].dtype)};
    return true;
}

/* Values of entries that meet at their column, or there in a row of cells. */
static bool meets(const clf_band *p, const clf_sink *k, clf_job *want) {
    uint32_t e = p->e >= 0 ? 1u << p->e : 0, behind = k->keep & ~e;
    bool dot = k->kind == CLF_SINK_DOT, one = (behind & (behind - 1)) == 0 && (!behind || dot);
    if (!e || !(k->keep & e) || !one || (!dot && (k->kind != CLF_SINK_FOLD || k->value[1] >= 0))) return false;
    if (clf_sink_loop(p->c, k) != (1u | k->keep)) return false;
    *want = (clf_job){.kind = CLF_JOB_MEET, .axis = (int8_t)p->e, .keep = k->keep, .level = p->levels, .lanes = 1};
    return true;
}

static bool place_sink(clf_band *p, int s) {
    const clf_sink *k = &p->c->sink[s];
    clf_job want = {.kind = CLF_JOB_MAP, .axis = -1, .keep = k->keep, .level = p->levels, .lanes = 1};
    bool fits;
    if (k->guard >= 0) return false;
    if (over_entries(p, k, &want, &fits) || meets(p, k, &want)) return put_item(p, s, &want);
    if (!fits || (k->kind == CLF_SINK_FOLD && k->value[1] >= 0)) return false;
    if (k->kind == CLF_SINK_PATTERN) return put_item(p, s, &want);
    if (k->kind == CLF_SINK_STORE) return put_item(p, s, &want);
    if (k->kind == CLF_SINK_DOT) {
        want.kind = CLF_JOB_COLS;
        return (clf_sink_loop(p->c, k) & ~k->keep) == 1u && put_item(p, s, &want);
    }
    return k->kind == CLF_SINK_FOLD && fold_job(p, k, &want) && put_item(p, s, &want);
}

/* ---- sets ---- */

/* Blocks in which values meet at columns are any number of rows: with others they cannot share a band. */
static bool keeps_apart(const clf_band *p) {
    bool meets = false, others = false;
    for (int k = 0; k < p->njob; k++) {
        meets = meets || p->job[k].kind == CLF_JOB_MEET;
        others = others || p->job[k].kind == CLF_JOB_COLS || p->job[k].kind == CLF_JOB_FULL;
    }
    return meets && others;
}

/* The jobs of a set are those of its sinks, and of what these need. */
static void fill_set(clf_band *p, int set) {
    bool used[CLF_BAND_VALUES] = {false};
    for (int s = 0; s < p->c->nsink; s++) {
        clf_job *j = &p->job[p->item[s].job];
        if ((p->apart && j->kind == CLF_JOB_MEET) != (set == 1)) continue;
        j->sets |= (uint8_t)(1u << set);
        for (int q = 0; q < 2; q++)
            if (p->c->sink[s].value[q] >= 0) used[p->c->sink[s].value[q]] = true;
    }
    for (int v = p->c->nvalue - 1; v >= 0; v--)
        for (int q = 0; q < 3; q++)
            if (used[v] && p->c->value[v].in[q] >= 0) used[p->c->value[v].in[q]] = true;
    for (int s = p->c->nsink; s < p->nitem; s++)
        if (p->item[s].job >= 0 && used[p->made[s - p->c->nsink]]) p->job[p->item[s].job].sets |= (uint8_t)(1u << set);
    for (int k = 0; k < p->njob; k++)
        if (p->job[k].kind == CLF_JOB_CAT && used[p->job[k].value]) p->job[k].sets |= (uint8_t)(1u << set);
}

static bool place(clf_band *p) {
    p->nitem = p->c->nsink;
    p->most_states = 1;
    for (int v = 0; v < p->c->nvalue; v++)
        if (!place_value(p, v)) return false;
    for (int s = 0; s < p->c->nsink; s++)
        if (!place_sink(p, s)) return false;
    for (int k = 0; k < p->njob; k++) {
        p->job[k].pairs = pairs_of(p, k);
        if (p->job[k].pairs > CLF_BAND_PAIRS / CLF_LEAF) return false; /* of a leaf at least */
    }
    p->apart = keeps_apart(p);
    for (int set = 0; set < 2; set++) fill_set(p, set);
    return true;
}

bool clf_band_plan(clf_band *p, const clf_cplan *c, const clf_profile *profile, int local, int width) {
    memset(p, 0, sizeof *p);
    p->c = c;
    if (!shape_ok(p) || !place(p)) return false;
    p->rows = c->axis[0].n.n;
    return clf_band_cut(p, profile, local, width);
}
