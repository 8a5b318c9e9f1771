/* SPDX-License-Identifier: Apache-2.0
 * Running a row program: what varies with no row once, then parts, each a run of batches: as many rows as the registers hold, or, where
 * nothing meets within a row, as many stored entries. */
#include "host/run/rows_run.h"

#include <sched.h>

#include "host/run/ahead.h"

/* ---- batches ------------------------------------------------------------------------------------------------------------- */

enum { SHORT_ROW = 256 /* bytes: measured */ };

/* The first loop of a batch follows the stream of rows that it reads from batch to batch itself, if they are not too short. */
static bool follows(const clf_row_instr *first, const clf_row_instr *load, int64_t row_bytes) {
    bool reads = first->in[0] == load->dst || first->in[1] == load->dst || first->in[2] == load->dst;
    return reads && load->shape == CLF_RS_MAT && row_bytes >= SHORT_ROW;
}

/* Cells of the next batch of rows, where they lie behind those of this one. */
static void look_ahead(const clf_rows_frame *f, clf_ahead *a) {
    const clf_rows_job *j = f->job;
    const struct clf_rows *r = j->r;
    const clf_row_instr *first = NULL;
    int loops = 0;
    a->loads = a->now = 0, a->lines = a->share = 0;
    for (int i = 0; i < r->nbatch; i++) {
        if (r->batch[i].kind == CLF_RI_LOAD) continue;
        if (!loops++) first = &r->batch[i];
    }
    if (loops < CLF_AHEAD_LOOPS || j->m) return;
    for (int i = 0; i < r->nbatch; i++) {
        const clf_row_instr *in = &r->batch[i];
        if (in->kind != CLF_RI_LOAD || (in->shape != CLF_RS_ROW && in->shape != CLF_RS_MAT)) continue;
        const clf_row_place *p = &j->place[in->arg];
        const int64_t row = p->step[0], each = (int64_t)1 << r->slot[in->dst].log2, at = row * (f->row + f->rows);
        const bool runs = in->shape == CLF_RS_ROW ? row == 1 : p->step[in->axis] == 1 && row == j->n[in->axis];
        if (!runs || at >= p->elems || follows(first, in, row * each)) continue;
        clf_ahead_add(a, p->at + at * each, row * f->rows * each, (p->elems - at) * each);
    }
    a->share = (a->lines + loops - 1) / loops;
}

static void run_batch(clf_rows_frame *f) {
    const struct clf_rows *r = f->job->r;
    clf_ahead next;
    look_ahead(f, &next);
    for (int i = 0; i < r->nbatch; i++) {
        clf_rows_exec(f, &r->batch[i]);
        if (next.share && r->batch[i].kind != CLF_RI_LOAD) clf_fetch_ahead(&next);
    }
}

/* A row longer than the registers takes the large set, one worker at a time. */
static void run_long(clf_rows_frame *f) {
    atomic_int *busy = f->job->big_busy;
    while (atomic_exchange_explicit(busy, 1, memory_order_acquire) != 0) sched_yield();
    clf_rows_use_big(f, true);
    run_batch(f);
    clf_rows_use_big(f, false);
    atomic_store_explicit(busy, 0, memory_order_release);
}

/* Offsets of the batch's rows, cut to its entries. */
static void place_rows(clf_rows_frame *f) {
    const int64_t *ptr = f->job->m->ptr + f->row;
    for (int64_t i = 0; i <= f->rows; i++) {
        int64_t e = ptr[i] < f->e0 ? f->e0 : ptr[i] > f->e1 ? f->e1 : ptr[i];
        f->off[i] = e - f->e0;
    }
}

/* ---- parts of rows ------------------------------------------------------------------------------------------------------- */

/* Rows from f->row on that go into one batch: at least one. */
static int64_t take_rows(const clf_rows_frame *f, int64_t to) {
    const clf_rows_job *j = f->job;
    int64_t n = to - f->row < j->batch_rows ? to - f->row : j->batch_rows;
    if (!j->m || j->m->ptr[f->row + n] - j->m->ptr[f->row] <= j->batch_entries) return n;
    int64_t lo = 1, hi = n; /* ptr[row + lo] may be beyond; ptr[row + hi] is */
    while (lo + 1 < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (j->m->ptr[f->row + mid] - j->m->ptr[f->row] <= j->batch_entries)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static void run_rows(clf_rows_frame *f, int64_t from, int64_t to) {
    const clf_rows_job *j = f->job;
    for (f->row = from; f->row < to; f->row += f->rows) {
        f->rows = take_rows(f, to);
        if (j->m) {
            f->e0 = j->m->ptr[f->row];
            f->e1 = j->m->ptr[f->row + f->rows];
            place_rows(f);
        }
        if (f->e1 - f->e0 > CLF_ROWS_CELLS && j->r->nreg[j->r->entry] > 0)
            run_long(f);
        else
            run_batch(f);
    }
}

/* ---- parts of entries ---------------------------------------------------------------------------------------------------- */

/* The row that entry e is in. */
static int64_t row_of(const clf_csr *m, int64_t e) {
    int64_t lo = 0, hi = m->rows;
    while (lo + 1 < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (m->ptr[mid] <= e)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static void run_entries(clf_rows_frame *f, int64_t from, int64_t to) {
    const clf_csr *m = f->job->m;
    int64_t most = f->job->batch_rows;
    if (from >= to) return;
    f->row = row_of(m, from);
    for (f->e0 = from; f->e0 < to; f->e0 = f->e1) {
        while (m->ptr[f->row + 1] <= f->e0) f->row++;
        f->e1 = to - f->e0 < CLF_ROWS_CELLS ? to : f->e0 + CLF_ROWS_CELLS;
        for (f->rows = 1; f->rows < most && m->ptr[f->row + f->rows] < f->e1;) f->rows++;
        if (m->ptr[f->row + f->rows] < f->e1) f->e1 = m->ptr[f->row + f->rows];
        place_rows(f);
        run_batch(f);
    }
}

/* ---- runs ---------------------------------------------------------------------------------------------------------------- */

static void run_part(void *user, int64_t part, int worker) {
    const clf_rows_job *j = user;
    clf_rows_frame f;
    clf_rows_frame_at(&f, j, worker, false);
    f.part = part;
    clf_rows_part_begin(&f);
    if (j->r->split)
        run_entries(&f, j->bound[part], j->bound[part + 1]);
    else
        run_rows(&f, j->bound[part], j->bound[part + 1]);
    clf_rows_part_end(&f);
    if (j->stream) j->r->isa.cell->fence();
}

/* rest: NULL, there is none. */
static clf_status run(struct clf_rows *r, const clf_bind *bind, clf_pool *pool, const clf_rows_rest *rest, clf_err *err) {
    clf_rows_job j;
    clf_rows_frame f;
    CLF_TRY(clf_rows_job_begin(&j, r, bind, pool, rest, err));
    for (int w = 0; w < j.workers; w++) clf_rows_frame_at(&f, &j, w, true);
    clf_rows_frame_at(&f, &j, 0, false);
    for (int i = 0; i < r->nfirst; i++) clf_rows_exec(&f, &r->first[i]);
    clf_rows_gaps_begin(&f);
    if (j.workers > 1)
        clf_pool_run(pool, j.parts, run_part, &j);
    else
        for (int64_t p = 0; p < j.parts; p++) run_part(&j, p, 0);
    clf_rows_merge(&j, pool);
    clf_rows_meet(&j);
    clf_status st = rest ? rest->end(rest->user, &j, err) : CLF_OK;
    if (st == CLF_OK) clf_rows_finish(&j, &f, j.workers > 1 ? pool : NULL);
    clf_rows_job_end(&j, r);
    return st;
}

clf_status clf_rows_run(struct clf_rows *r, const clf_bind *bind, clf_pool *pool, clf_err *err) { return run(r, bind, pool, NULL, err); }

clf_status clf_rows_run_first(struct clf_rows *r, const clf_bind *bind, clf_pool *pool, const clf_rows_rest *rest, clf_err *err) {
    return run(r, bind, pool, rest, err);
}

bool clf_rows_may_end_inside(const struct clf_rows *r) { return r->split; }
