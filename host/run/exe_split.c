/* SPDX-License-Identifier: Apache-2.0
 * Running one step on the host and on one or two OpenCL devices at once. The host executor takes the first rows (or cells, where the
 * skeleton counts these), the device the chunks behind them, and a second device those at the end: a grid of chunks as for parts in time,
 * laid out over devices. What is kept by row goes from each to its place; of folds over all cells or over rows each leaves subtrees of the
 * one tree (core/fold.h), and the host merges them in the order of the leaves, or of the blocks of rows. So no bit depends on the cuts.
 * Where things are cut and whether at all is split_cost.c's; a second device's chunks may be of another length, and the cut is where chunks
 * of both meet.
 *
 * The devices' operands are with the host before they start, and their results when the step has ended. Of an operand that a device holds
 * no copy of, only its part is sent. A device that fails fails the evaluation, which is planned again without it (failure.c). */
#include "host/run/exe_split.h"

#include <string.h>

#include "host/run/exe_window.h"
#include "host/run/run.h"
#include "host/run/runner.h"

/* ---- what can be cut ---- */

typedef struct folds {
    int full, columns;
} folds;

/* How many of the sinks are folds whose states must meet; false: what is kept of one is neither by rows nor by columns. */
static bool count_folds(const clf_plan *p, const clf_step *t, const clf_sched *whole, folds *n) {
    *n = (folds){0, 0};
    for (int k = 0; k < t->c.nsink; k++) {
        const clf_sink *s = &t->c.sink[k];
        bool full = s->kind == CLF_SINK_FOLD && !s->keep, columns = s->kind == CLF_SINK_FOLD && s->keep == 2u && t->c.naxes == 2;
        if (!full && !columns && !clf_step_spans(p, t, whole, t->nin + s->out[0])) return false;
        n->full += full;
        n->columns += columns;
    }
    return true;
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
    folds n;
    bool merged = whole->merge == CLF_MERGE_FOLLOWS; /* by a kernel that takes all parts for the device's */
    if (!count_folds(p, t, whole, &n) || (n.full && !skel->states) || (n.columns && !skel->columns)) return false;
    bool meets = n.full || n.columns;
    if ((meets && !tile) || (merged && !meets) || (whole->flat && !tile)) return false;
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

/* The chunk of one device, behind `first`, nearest to the one wanted at which a chunk of the other one begins, *at; 0: none. */
static int64_t meeting_near(const clf_cplan *c, const clf_sched *one, const clf_sched *other, int64_t first, int64_t wanted, int64_t *at) {
    bool tile = clf_tile_fits(c);
    int64_t chunks = chunks_of(one), most = chunks_of(other), each = cells_before(c, other, tile, 1);
    for (int64_t off = 0; off < chunks && each > 0; off++)
        for (int side = -1; side <= 1; side += 2) {
            int64_t k = wanted + side * off, cells = cells_before(c, one, tile, k);
            if (k <= first || k >= chunks || cells % each || cells / each >= most) continue;
            *at = cells / each;
            return k;
        }
    return 0;
}

static int share_of(int64_t n, int64_t all) { return (int)(100 * (double)n / (double)all + 0.5); }

/* The second device's part, behind out->chunk; none where chunks do not meet. */
static clf_exe_also *cut_also(clf_ctx *c, clf_exe *x, const clf_step *t, const clf_sched *whole, const clf_split_way *way,
                              clf_exe_split *out) {
    const clf_profile *dev = clf_run_profile_of(c, x->device[way->also - 1]);
    clf_exe_also *a = clf_arena_new(&x->arena, 1, sizeof *a);
    clf_sched other;
    if (!a || !clf_split_fits(c, x->plan, t, dev, &other)) return NULL;
    int64_t chunks = chunks_of(whole), wanted = (int64_t)((double)chunks * (100 - way->also_percent) / 100 + 0.5);
    int64_t end = meeting_near(&t->c, whole, &other, out->chunk, wanted, &a->chunk);
    if (!end || other.skel->sched(&t->c, dev, (clf_grid){a->chunk, INT64_MAX}, &a->sched, NULL) != CLF_OK) return NULL;
    a->on = way->also;
    a->percent = share_of(chunks - end, chunks);
    out->end = end;
    out->percent -= a->percent;
    return a;
}

bool clf_split_cut(clf_ctx *c, clf_exe *x, int32_t s, const clf_split_way *way, clf_exe_split *out) {
    const clf_step *t = &x->plan->step[s];
    clf_exe_step *e = &x->step[s];
    const clf_profile *dev = clf_run_profile_of(c, clf_exe_device(x, e));
    bool tile = clf_tile_fits(&t->c);
    clf_sched whole;
    if (!clf_split_fits(c, x->plan, t, dev, &whole) || clf_run_tile(c, t, tile, &e->tile, NULL) != CLF_OK) return false;
    int64_t chunks = chunks_of(&whole);
    int host = 100 - way->percent - way->also_percent;
    out->chunk = chunk_near(t, e, &whole, (int64_t)((double)chunks * host / 100 + 0.5));
    out->from = cells_before(&t->c, &whole, tile, out->chunk);
    out->percent = share_of(chunks - out->chunk, chunks);
    out->end = INT64_MAX;
    out->axis_n = clf_arena_new(&x->arena, (size_t)t->c.naxes, sizeof *out->axis_n);
    if (!out->chunk || !out->axis_n) return false;
    memcpy(out->axis_n, e->axis_n, (size_t)t->c.naxes * sizeof *out->axis_n);
    if (!tile) out->axis_n[0] = out->from;
    out->also = way->also ? cut_also(c, x, t, &whole, way, out) : NULL;
    return whole.skel->sched(&t->c, dev, (clf_grid){out->chunk, out->end}, &out->sched, NULL) == CLF_OK;
}

/* ---- kernels of second devices ---- */

static clf_status get_kernel(clf_ctx *c, clf_exe *x, const clf_step *t, clf_exe_also *a, clf_err *err) {
    clf_arena arena;
    clf_source src;
    int dev = x->device[a->on - 1];
    clf_arena_init(&arena, &c->mem);
    clf_status st = clf_exe_write(c, dev, &t->c, &a->sched, &arena, &src, err);
    if (st == CLF_OK) st = clf_window_await(c, dev, &src, err);
    if (st == CLF_OK) a->args = clf_arena_new(&x->arena, (size_t)src.nargs, sizeof *a->args);
    if (st == CLF_OK && !a->args) st = clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory while preparing the plan");
    if (st == CLF_OK) st = clf_exe_build(c, dev, &src, &a->program, err);
    if (st == CLF_OK) {
        a->nargs = src.nargs;
        memcpy(a->args, src.args, (size_t)src.nargs * sizeof *a->args);
    }
    clf_arena_release(&arena);
    return st;
}

clf_status clf_split_kernels(clf_ctx *c, clf_exe *x, clf_err *err) {
    for (int32_t s = 0; s < x->plan->nstep; s++) {
        clf_exe_step *e = &x->step[s];
        clf_err failed = {CLF_OK, ""};
        if (!clf_exe_shares(e) || clf_exe_splits(e)) continue;
        clf_status st = get_kernel(c, x, &x->plan->step[s], e->split->also, &failed);
        if (st == CLF_E_NOMEM || st == CLF_E_CANCELLED) return clf_fail(err, st, "%s", failed.text);
        if (st == CLF_OK && e->split->also->sched.scratch_bytes > x->scratch_bytes) x->scratch_bytes = e->split->also->sched.scratch_bytes;
        if (st != CLF_OK && st != CLF_E_STATE) e->split = NULL;
    }
    return CLF_OK;
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

static void take_columns(void *user, int sink, int64_t index, int level, const uint64_t *const word[3]) {
    joined *j = user;
    clf_tile_take_cols(j->job, j->t->c.sink[sink].out[0], index, level, word);
}

/* A device's part has ended: its states go to the host's. What counts finished chunks has not come round. */
static void hand_over(joined *j, int on, const clf_sched *s, clf_grid grid) {
    const clf_exe *x = j->r->x;
    const clf_exe_work *w = &x->work[on - 1];
    const clf_profile *dev = clf_run_profile_of(j->r->c, x->device[on - 1]);
    const char *scratch = (const char *)w->at + x->counter_bytes;
    if (j->job && s->skel->states) s->skel->states(&j->t->c, dev, s, grid, scratch, take, j);
    if (j->job && s->skel->columns) s->skel->columns(&j->t->c, dev, s, grid, scratch, take_columns, j);
    memset(w->at, 0, x->counter_bytes);
}

static clf_status meet(void *user, struct clf_tile_job *job, clf_err *err) {
    joined *j = user;
    const clf_exe_split *s = j->e->split;
    CLF_TRY(clf_runner_settle(j->r, err));
    j->job = job;
    hand_over(j, j->e->on, &s->sched, (clf_grid){s->chunk, s->end});
    if (s->also) hand_over(j, s->also->on, &s->also->sched, (clf_grid){s->also->chunk, INT64_MAX});
    return CLF_OK;
}

/* The host has everything it reads, and nobody else is at its memory. */
static clf_status bring_home(clf_runner *r, const clf_step *t, clf_err *err) {
    if (r->x->flight) CLF_TRY(clf_flight_await(r, t, 0, err));
    CLF_TRY(clf_runner_operands_home(r, t, err));
    return clf_runner_settle(r, err);
}

static void count(clf_stats *st, const clf_skel *skel) {
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

/* One device's part: it starts. */
static clf_status start(clf_runner *r, const clf_step *t, const clf_runner_job *k, clf_err *err) {
    CLF_TRY(clf_runner_launch(r, t, k, err));
    count(&r->c->stats, k->sched->skel);
    return clf_dev_flush(r->c->run->devs, r->x->device[k->on - 1], err);
}

static clf_status start_also(clf_runner *r, const clf_step *t, const clf_exe_also *a, clf_err *err) {
    if (!a) return CLF_OK;
    const clf_runner_job k = {CLF_LAUNCH_BESIDE, a->on, a->program, a->args, a->nargs, &a->sched, a->chunk * a->sched.grain};
    return start(r, t, &k, err);
}

clf_status clf_split_run(clf_runner *r, const clf_step *t, clf_exe_step *e, clf_err *err) {
    const clf_exe_split *s = e->split;
    const clf_runner_job k = {CLF_LAUNCH_BESIDE, e->on, e->program, e->args, e->nargs, &s->sched, s->chunk * s->sched.grain};
    joined j = {.r = r, .t = t, .e = e};
    CLF_TRY(bring_home(r, t, err));
    CLF_TRY(start(r, t, &k, err));
    CLF_TRY(start_also(r, t, s->also, err));
    CLF_TRY(run_first(&j, err));
    r->c->stats.launches_split++;
    r->c->stats.launches_tier0++;
    r->c->stats.launches_rows += e->tile->rows != NULL;
    return CLF_OK;
}
