/* SPDX-License-Identifier: Apache-2.0
 * Running one step on the host and on an OpenCL device at once. The host executor takes the first rows (or cells, where the skeleton counts
 * these), the device the chunks behind them: a grid of chunks as for parts in time, laid out over two devices. What is kept by row goes
 * from each to its place; of a full fold each leaves subtrees of the one tree (core/fold.h), and the host merges them in the order of the
 * leaves. So no bit depends on the cut. Where things are cut and whether at all is split_cost.c's.
 *
 * The device's operands are with the host before it starts, and its results when the step has ended. Of an operand that the device holds
 * no copy of, only its part is sent. */
#include "host/run/exe_split.h"

#include <string.h>

#include "host/run/exe_kernels.h"
#include "host/run/run.h"
#include "host/run/runner.h"

/* ---- what can be cut ---- */

/* How many of the sinks are full folds; -1: what is kept of one is not by rows. */
static int full_folds(const clf_plan *p, const clf_step *t, const clf_sched *whole) {
    int n = 0;
    for (int k = 0; k < t->c.nsink; k++) {
        const clf_sink *s = &t->c.sink[k];
        bool full = s->kind == CLF_SINK_FOLD && !s->keep;
        if (!full && !clf_step_spans(p, t, whole, t->nin + s->out[0])) return -1;
        n += full;
    }
    return n;
}

static bool all_dense(const clf_plan *p, const clf_step *t) {
    for (int i = 0; i < t->nin + t->nout; i++)
        if (p->value[i < t->nin ? t->in[i] : t->out[i - t->nin]].format != CLF_DENSE) return false;
    return true;
}

static int64_t chunks_of(const clf_sched *s) { return s->grain > 0 ? (s->extent + s->grain - 1) / s->grain : 0; }

bool clf_split_fits(clf_ctx *c, const clf_plan *p, const clf_step *t, const clf_profile *dev, clf_sched *whole) {
    bool dense = t->kind == CLF_STEP_FUSED && all_dense(p, t), tile = dense && clf_tile_fits(&t->c);
    const clf_skel *skel = tile || (dense && clf_rows_fits(&t->c)) ? clf_exe_skel(c, &t->c, dev) : NULL;
    if (!skel || skel->tier != 2 || skel->sched(&t->c, dev, (clf_grid){0, INT64_MAX}, whole, NULL) != CLF_OK) return false;
    int folds = full_folds(p, t, whole);
    bool merged = whole->merge == CLF_MERGE_FOLLOWS; /* by a kernel that takes all parts for the device's */
    if (folds < 0 || (folds && (!skel->states || !tile)) || (merged && !folds) || (whole->flat && !tile)) return false;
    return chunks_of(whole) > 1 && (int64_t)(whole->global / whole->local) == chunks_of(whole);
}

/* Cells before a chunk of a program in tiles; rows before one in row form. */
static int64_t cells_before(const clf_cplan *c, const clf_sched *s, bool tile, int64_t chunk) {
    int64_t at = chunk * s->grain;
    return s->flat || c->naxes < 2 || !tile ? at : at * c->axis[c->naxes - 1].n.n;
}

/* The chunk nearest to the one wanted at which the host's program may end; 0: none. */
static int64_t chunk_near(const clf_step *t, const clf_exe_step *e, const clf_sched *whole, int64_t wanted) {
    const clf_bind b = {.axis_n = e->axis_n, .in_dim = e->in_dim, .out_dim = e->out_dim};
    const clf_tile *tile = e->tile->tile;
    int64_t chunks = chunks_of(whole);
    for (int64_t off = 0; off < chunks; off++)
        for (int side = -1; side <= 1; side += 2) {
            int64_t k = wanted + side * off;
            if (k >= 1 && k < chunks && (!tile || clf_tile_may_end(tile, &b, cells_before(&t->c, whole, true, k)))) return k;
        }
    return 0;
}

bool clf_split_cut(clf_ctx *c, clf_exe *x, int32_t s, int percent, clf_exe_split *out) {
    const clf_step *t = &x->plan->step[s];
    clf_exe_step *e = &x->step[s];
    const clf_profile *dev = clf_run_profile_of(c, clf_exe_device(x, e));
    bool tile = clf_tile_fits(&t->c);
    clf_sched whole;
    if (!clf_split_fits(c, x->plan, t, dev, &whole) || clf_run_tile(c, t, tile, &e->tile, NULL) != CLF_OK) return false;
    int64_t chunks = chunks_of(&whole);
    out->chunk = chunk_near(t, e, &whole, (int64_t)((double)chunks * (100 - percent) / 100 + 0.5));
    out->from = cells_before(&t->c, &whole, tile, out->chunk);
    out->percent = (int)(100 * (double)(chunks - out->chunk) / (double)chunks + 0.5);
    out->axis_n = clf_arena_new(&x->arena, (size_t)t->c.naxes, sizeof *out->axis_n);
    if (!out->chunk || !out->axis_n) return false;
    memcpy(out->axis_n, e->axis_n, (size_t)t->c.naxes * sizeof *out->axis_n);
    if (!tile) out->axis_n[0] = out->from;
    return whole.skel->sched(&t->c, dev, (clf_grid){out->chunk, INT64_MAX}, &out->sched, NULL) == CLF_OK;
}

/* ---- running ---- */

/* While the host runs its part. */
typedef struct joined {
    clf_runner *r;
    const clf_step *t;
    const clf_exe_step *e;
    struct clf_tile_job *job;
} joined;

static void take(void *user, int sink, int64_t index, int level, const uint64_t word[3]) {
    joined *j = user;
    clf_tile_take(j->job, j->t->c.sink[sink].out[0], index, level, word);
}

/* The device's part has ended: its states go to the host's. What counts finished chunks has not come round. */
static clf_status meet(void *user, struct clf_tile_job *job, clf_err *err) {
    joined *j = user;
    const clf_exe *x = j->r->x;
    const clf_exe_split *s = j->e->split;
    const clf_exe_work *w = &x->work[j->e->on - 1];
    CLF_TRY(clf_runner_settle(j->r, err));
    j->job = job;
    if (job && s->sched.skel->states)
        s->sched.skel->states(&j->t->c, clf_run_profile_of(j->r->c, clf_exe_device(x, j->e)), &s->sched, (clf_grid){s->chunk, INT64_MAX},
                              (const char *)w->at + x->counter_bytes, take, j);
    memset(w->at, 0, x->counter_bytes);
    return CLF_OK;
}

/* The host has everything it reads, and nobody else is at its memory. */
static clf_status bring_home(clf_runner *r, const clf_step *t, clf_err *err) {
    if (r->x->flight) CLF_TRY(clf_flight_await(r, t, 0, err));
    for (int i = 0; i < t->nin; i++) CLF_TRY(clf_runner_home(r, t->in[i], err));
    return clf_runner_settle(r, err);
}

static void count(clf_stats *st, const clf_skel *skel, bool rows) {
    st->launches_split++;
    st->launches_tier0++;
    st->launches_rows += rows;
    st->launches_tier2++;
    st->launches_chunk += !strcmp(skel->strategy, "chunk");
    st->launches_group += !strcmp(skel->strategy, "group");
}

/* The host's part, and the meeting. */
static clf_status run_first(joined *j, clf_err *err) {
    const clf_exe *x = j->r->x;
    const clf_exe_step *e = j->e;
    clf_pool *pool = j->r->c->run->pool;
    const clf_bind b = {
        .in = x->in, .param = x->param, .out = x->out, .axis_n = e->split->axis_n, .in_dim = e->in_dim, .out_dim = e->out_dim};
    const clf_tile_rest rest = {.from = e->split->from, .end = meet, .user = j};
    if (e->tile->tile) return clf_tile_run_first(e->tile->tile, &b, pool, &rest, err);
    CLF_TRY(clf_rows_run(e->tile->rows, &b, pool, err));
    return meet(j, NULL, err);
}

clf_status clf_split_run(clf_runner *r, const clf_step *t, clf_exe_step *e, clf_err *err) {
    const clf_exe_split *s = e->split;
    joined j = {.r = r, .t = t, .e = e};
    CLF_TRY(bring_home(r, t, err));
    CLF_TRY(clf_runner_launch(r, t, e, &s->sched, s->chunk * s->sched.grain, err));
    CLF_TRY(clf_dev_flush(r->c->run->devs, clf_exe_device(r->x, e), err));
    CLF_TRY(run_first(&j, err));
    count(&r->c->stats, s->sched.skel, e->tile->rows != NULL);
    return CLF_OK;
}
