/* SPDX-License-Identifier: Apache-2.0
 * How many positions side by side a step of a job of row.group takes: as many as the device likes, if rows are whole runs of them, the
 * work-items of a group still have something to do, and registers hold what is computed for them. */
#include "kernels-cl/skel/band_plan.h"
#include "kernels-cl/skel/group_local.h"

/* The axis whose positions are neighbours in memory and lie in one task, or in tasks side by side. */
static int beside_of(const clf_job *j) {
    uint32_t kept = j->keep & ~1u;
    switch (j->kind) {
    case CLF_JOB_LEAVES:
    case CLF_JOB_FULL: return j->axis > 0 ? j->axis : -1;
    case CLF_JOB_MAP:
    case CLF_JOB_COLS: return kept ? 31 - __builtin_clz(kept) : -1;
    default: return -1;
    }
}

/* Lanes of all tasks of a pass, or kept cells. */
static int64_t steps_of(const clf_band *p, const clf_job *j) {
    int64_t lines = j->cells * (j->keep & 1u ? p->pass : 1);
    if (j->kind == CLF_JOB_MAP) return lines;
    return j->lanes * (j->kind == CLF_JOB_FULL ? j->run : j->kind == CLF_JOB_LEAVES ? lines * j->leaves : lines);
}

/* Values computed at every position of the axis. */
static int body_of(const clf_band *p, int axis) {
    int body = 0;
    for (int v = 0; v < p->c->nvalue; v++) body += p->c->value[v].axes >> axis & 1u;
    return body;
}

static bool takes(const clf_band *p, const clf_job *j, int width) {
    bool lanes = j->kind == CLF_JOB_LEAVES || j->kind == CLF_JOB_FULL;
    return clf_band_extent(p, j->beside) % width == 0 && (!lanes || j->lanes % width == 0) && steps_of(p, j) / width >= p->local &&
           body_of(p, j->beside) * width <= CLF_LONG_BODY && j->states * width <= CLF_MOST_STATES;
}

void clf_band_widen(clf_band *p, int width) {
    p->width = 1;
    for (int k = 0; k < p->njob; k++) {
        clf_job *j = &p->job[k];
        j->beside = (int8_t)(p->e < 0 ? beside_of(j) : -1);
        j->width = (uint8_t)(j->beside < 0 ? 1 : width);
        while (j->width > 1 && !takes(p, j, j->width)) j->width /= 2;
        if (j->width > p->width) p->width = j->width;
    }
}

bool clf_band_aligned(const clf_band *p, int access, int job) {
    const clf_job *j = &p->job[job];
    clf_strides s;
    if (!clf_strides_of(p->c, &p->c->access[access], &s) || s.base % p->width) return false;
    for (int k = 0; k < p->c->naxes; k++)
        if (k != j->beside && s.axes >> k & 1u && s.step[k] % p->width) return false;
    return true;
}
