/* SPDX-License-Identifier: Apache-2.0
 * Running one step on the host and on one or two OpenCL devices at once. The host executor takes the first rows (or cells, where the
 * skeleton counts these; or stored entries), the device the chunks behind them, and a second device those at the end: a grid of chunks as
 * for parts in time, laid out over devices. What is kept by row or by entry goes from each to its place; of folds over all cells, and of
 * folds and products over rows, each leaves subtrees of the one tree (core/fold.h), and the host merges them in the order of the leaves, or
 * of the blocks of rows.
 * So no bit depends on the cuts. Whether anything is cut is split_cost.c's, where is split_cut.c's and split_entries.c's.
 *
 * The devices' operands are with the host before they start, and their results when the step has ended. Of an operand that a device holds
 * no copy of, only its part is sent, but for sparse ones. A device that fails fails the evaluation, which is planned again without it
 * (failure.c). */
#include "host/run/exe_split.h"

#include <string.h>

#include "host/run/run.h"
#include "host/run/runner.h"

/* While the host runs its part. */
typedef struct joined {
    clf_runner *r;
    const clf_step *t;
    const clf_exe_step *e;
    struct clf_tile_job *tile;
    struct clf_rows_job *rows; /* of these one */
} joined;

static void take(void *user, int sink, int64_t index, int level, const uint64_t word[3]) {
    joined *j = user;
    int out = j->t->c.sink[sink].out[0];
    if (j->tile)
        clf_tile_take(j->tile, out, index, level, word);
    else
        clf_rows_take(j->rows, out, index, level, word);
}

static void take_columns(void *user, int sink, int64_t index, int level, const clf_cell_order *order, const uint64_t *const word[3]) {
    joined *j = user;
    int out = j->t->c.sink[sink].out[0];
    if (j->tile)
        clf_tile_take_cols(j->tile, out, index, level, word);
    else
        clf_rows_take_columns(j->rows, out, index, level, order, word);
}

/* Has a second device a part in this run? */
static bool three(const clf_exe_split *s) { return s->also && (!s->entries || s->entries->three); }

/* A device's part has ended: its states go to the host's. What counts finished chunks has not come round. */
static void hand_over(joined *j, int on, const clf_sched *s, clf_grid grid) {
    const clf_exe *x = j->r->x;
    const clf_exe_work *w = &x->work[on - 1];
    const clf_profile *dev = clf_run_profile_of(j->r->c, x->device[on - 1]);
    const char *scratch = (const char *)w->at + x->counter_bytes;
    const clf_cplan c = clf_exe_cplan(j->t, j->e);
    if (s->skel->states) s->skel->states(&c, dev, s, grid, scratch, take, j);
    if (s->skel->columns) s->skel->columns(&c, dev, s, grid, scratch, take_columns, j);
    memset(w->at, 0, x->counter_bytes);
}

static clf_status meet(joined *j, clf_err *err) {
    const clf_exe_split *s = j->e->split;
    CLF_TRY(clf_runner_settle(j->r, err));
    hand_over(j, j->e->on, &s->sched, (clf_grid){s->chunk, s->end});
    if (three(s)) hand_over(j, s->also->on, &s->also->sched, (clf_grid){s->also->chunk, INT64_MAX});
    return CLF_OK;
}

static clf_status meet_tile(void *user, struct clf_tile_job *job, clf_err *err) {
    joined *j = user;
    j->tile = job;
    return meet(j, err);
}

static clf_status meet_rows(void *user, struct clf_rows_job *job, clf_err *err) {
    joined *j = user;
    j->rows = job;
    return meet(j, err);
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
    const clf_exe_split *s = e->split;
    clf_pool *pool = j->r->c->run->pool;
    const clf_bind b = {.in = s->entries ? s->entries->in : x->in,
                        .param = x->param,
                        .out = x->out,
                        .axis_n = s->axis_n,
                        .in_dim = e->in_dim,
                        .out_dim = e->out_dim};
    const clf_tile_rest tile = {.from = s->from, .end = meet_tile, .user = j};
    const clf_rows_rest rows = {.rows = e->axis_n[0], .whole = s->entries ? &s->entries->whole : NULL, .end = meet_rows, .user = j};
    return e->tile->tile ? clf_tile_run_first(e->tile->tile, &b, pool, &tile, err)
                         : clf_rows_run_first(e->tile->rows, &b, pool, &rows, err);
}

/* One device's part: it starts. */
static clf_status start(clf_runner *r, const clf_step *t, const clf_runner_job *k, clf_err *err) {
    CLF_TRY(clf_runner_launch(r, t, k, err));
    count(&r->c->stats, k->sched->skel);
    return clf_dev_flush(r->c->run->devs, r->x->device[k->on - 1], err);
}

/* Over stored entries: the rows and entries from one end on, up to another one, or NULL: to the last. */
static void between(const clf_exe_entries *n, const clf_entry_end *from, const clf_entry_end *to, clf_runner_job *k) {
    k->lo = from->row;
    k->n = to ? to->row + (to->entry > n->whole.ptr[to->row]) - from->row : n->whole.rows;
    k->entry = from->entry;
    k->entries = (to ? to->entry : n->whole.nnz) - from->entry;
}

static clf_status start_also(clf_runner *r, const clf_step *t, const clf_exe_split *s, clf_err *err) {
    if (!three(s)) return CLF_OK;
    const clf_exe_also *a = s->also;
    clf_runner_job k = {.what = CLF_LAUNCH_BESIDE, .on = a->on, .program = a->program, .args = a->args, .nargs = a->nargs};
    k.sched = &a->sched;
    k.lo = a->chunk * a->sched.grain;
    k.n = clf_sched_positions(&a->sched);
    if (s->entries) between(s->entries, &s->entries->also, NULL, &k);
    return start(r, t, &k, err);
}

static clf_status start_device(clf_runner *r, const clf_step *t, const clf_exe_step *e, clf_err *err) {
    const clf_exe_split *s = e->split;
    clf_runner_job k = {.what = CLF_LAUNCH_BESIDE, .on = e->on, .program = e->program, .args = e->args, .nargs = e->nargs};
    k.sched = &s->sched;
    k.lo = s->chunk * s->sched.grain;
    k.n = clf_sched_positions(&s->sched);
    if (s->entries) between(s->entries, &s->entries->end, three(s) ? &s->entries->also : NULL, &k);
    return start(r, t, &k, err);
}

clf_status clf_split_run(clf_runner *r, const clf_step *t, clf_exe_step *e, clf_err *err) {
    joined j = {.r = r, .t = t, .e = e};
    CLF_TRY(bring_home(r, t, err));
    if (e->split->entries && !clf_entries_cut(r->c, r->x, t, e)) return clf_runner_kernel(r, t, e, err);
    CLF_TRY(start_device(r, t, e, err));
    CLF_TRY(start_also(r, t, e->split, err));
    CLF_TRY(run_first(&j, err));
    r->c->stats.launches_split++;
    r->c->stats.launches_tier0++;
    r->c->stats.launches_rows += e->tile->rows != NULL;
    return CLF_OK;
}
