/* SPDX-License-Identifier: Apache-2.0
 * Setting up and tearing down a run of a row program: extents, places of accesses, right sides of products copied where their loop wants
 * another order, and the memory: one block (rows_layout.c), kept by the program for the next run. */
#include "host/run/rows_run.h"

#include <string.h>

#include "formats/fmt.h"

/* ---- extents and places -------------------------------------------------------------------------------------------------- */

static int64_t in_dim(const clf_rows_job *j, int in, int d) {
    return j->bind->in_dim ? j->bind->in_dim[in * CLF_MAX_RANK + d] : j->r->c.in[in].dim[d].n;
}

static const clf_csr *owner_of(const clf_rows_job *j) {
    const clf_cplan *c = &j->r->c;
    return j->r->entry < 0 ? NULL : j->bind->in[c->access[c->axis[j->r->entry].owner].input];
}

static clf_status bind_extents(clf_rows_job *j, const clf_rows_rest *rest, clf_err *err) {
    const clf_cplan *c = &j->r->c;
    for (int a = 0; a < c->naxes; a++) {
        j->n[a] = j->bind->axis_n ? j->bind->axis_n[a] : c->axis[a].n.n;
        if (j->n[a] < 0) return clf_fail(err, CLF_E_SHAPE, "axis %d is bound to extent %lld", a, (long long)j->n[a]);
    }
    j->rows = j->n[0];
    j->all_rows = rest && rest->rows > j->rows ? rest->rows : j->rows;
    j->m = j->whole = owner_of(j);
    if (rest && rest->whole) j->whole = rest->whole;
    CLF_TRY(clf_rows_cat_check(j, err));
    if (!j->m) return CLF_OK;
    j->n[j->r->entry] = j->m->cols;
    for (int a = 0; a < c->naccess; a++) {
        const clf_csr *m = c->in[c->access[a].input].format == CLF_CSR ? j->bind->in[c->access[a].input] : j->m;
        if (m->rows != j->rows)
            return clf_fail(err, CLF_E_SHAPE, "%lld rows of a sparse matrix that has %lld", (long long)j->rows, (long long)m->rows);
        if (m->cols != j->m->cols)
            return clf_fail(err, CLF_E_SHAPE, "sparse matrices of %lld and %lld columns", (long long)j->m->cols, (long long)m->cols);
    }
    return clf_rows_rest_check(j, err);
}

/* Row-major: the last dimension has stride 1. */
static void place_access(const clf_rows_job *j, const clf_access *a, clf_row_place *p) {
    const clf_cinput *in = &j->r->c.in[a->input];
    size_t each = clf_dtype_bytes((clf_dtype)in->dtype);
    *p = (clf_row_place){0};
    if (in->format == CLF_CSR) {
        p->at = ((const clf_csr *)j->bind->in[a->input])->val;
        p->elems = ((const clf_csr *)j->bind->in[a->input])->nnz;
        return;
    }
    int64_t stride = 1, base = 0;
    for (int d = a->rank - 1; d >= 0; d--) {
        base += a->at[d].add * stride;
        if (a->at[d].axis >= 0) p->step[a->at[d].axis] += a->at[d].mul * stride;
        stride *= in_dim(j, a->input, d);
    }
    if (j->bind->in) p->at = (const char *)j->bind->in[a->input] + base * (int64_t)each;
    p->elems = stride - base;
}

/* The program's scratch if no other run has it and it is large enough or can grow; else a block for this run. */
static bool acquire(clf_rows_job *j, struct clf_rows *r) {
    j->cached = atomic_exchange_explicit(&r->scratch.busy, 1, memory_order_acquire) == 0;
    if (!j->cached) return (j->at = clf_mem_data(r->mem, j->bytes)) != NULL;
    if (r->scratch.bytes < j->bytes || !r->scratch.at) {
        clf_mem_data_free(r->mem, r->scratch.at, r->scratch.bytes);
        r->scratch.at = clf_mem_data(r->mem, j->bytes);
        r->scratch.bytes = r->scratch.at ? j->bytes : 0;
    }
    j->at = r->scratch.at;
    if (!j->at) atomic_store_explicit(&r->scratch.busy, 0, memory_order_release);
    return j->at != NULL;
}

void clf_rows_job_end(clf_rows_job *j, struct clf_rows *r) {
    clf_arena_release(&j->arena);
    if (!j->at) return;
    if (!j->cached) {
        clf_mem_data_free(r->mem, j->at, j->bytes);
        return;
    }
    if (r->scratch.bytes > CLF_SCRATCH_KEPT) {
        clf_mem_data_free(r->mem, r->scratch.at, r->scratch.bytes);
        r->scratch.at = NULL;
        r->scratch.bytes = 0;
    }
    atomic_store_explicit(&r->scratch.busy, 0, memory_order_release);
}

/* Copy a right side into the order its loop reads. */
static void fill_pack(const clf_rows_job *j, const clf_row_instr *in) {
    const clf_row_place *p = &j->place[in->arg];
    const clf_cell_table *cell = j->r->isa.cell;
    size_t each = clf_dtype_bytes((clf_dtype)in->dtype);
    int log2 = each == 8 ? 3 : each == 4 ? 2 : 0, outer = (int)in->over, inner = (int)in->axis;
    int64_t vec = j->r->isa.row->type[in->dtype]->lanes, ld = (j->n[inner] + vec - 1) / vec * vec;
    if (outer != j->r->entry && clf_dot_lanes(&j->r->c, &j->r->c.value[in->value], j->n) != 1)
        outer = (int)in->axis, inner = (int)in->over, ld = j->n[inner];
    char *to = j->pack + j->pack_at[in->pack];
    for (int64_t i = 0; i < j->n[outer]; i++, to += (size_t)ld * each) {
        cell->gather[log2](j->n[inner], to, p->at + p->step[outer] * i * (int64_t)each, p->step[inner]);
        memset(to + (size_t)j->n[inner] * each, 0, (size_t)(ld - j->n[inner]) * each);
    }
}

static void fill_packs(const clf_rows_job *j) {
    const struct clf_rows *r = j->r;
    for (int i = 0; i < r->nfirst + r->nbatch; i++) {
        const clf_row_instr *in = i < r->nfirst ? &r->first[i] : &r->batch[i - r->nfirst];
        if (in->kind == CLF_RI_DOT && in->pack >= 0 && j->pack_at[in->pack] != SIZE_MAX) fill_pack(j, in);
    }
}

/* Of stored results with a cell per row and column, or per entry. */
static double stored_bytes(const clf_rows_job *j) {
    double bytes = 0;
    for (int i = 0; i < j->r->nsink; i++) {
        const clf_row_sink *s = &j->r->sink[i];
        if (s->kind != CLF_RK_STORE || s->shape == CLF_RS_SCALAR || s->shape == CLF_RS_VEC) continue;
        double cells = (double)j->rows;
        if (s->shape == CLF_RS_MAT) cells = s->axis == j->r->entry ? (double)j->m->nnz : cells * (double)j->n[s->axis];
        bytes += cells * (double)((size_t)1 << s->log2);
    }
    return bytes;
}

/* ---- begin --------------------------------------------------------------------------------------------------------------- */

/* Batches, parts and the bytes of the job; where in them what lies. */
static clf_status size_job(clf_rows_job *j, struct clf_rows *r, const clf_pool *pool, const clf_rows_rest *rest, size_t at[CLF_ROWS_ROOMS],
                           clf_err *err) {
    clf_rows_room l = {0};
    CLF_TRY(bind_extents(j, rest, err));
    j->place = clf_arena_new(&j->arena, (size_t)r->c.naccess, sizeof *j->place);
    j->layout = clf_arena_new(&j->arena, (size_t)r->nmeet, sizeof *j->layout);
    j->pack_at = clf_arena_new(&j->arena, (size_t)r->npack, sizeof *j->pack_at);
    j->gaps = clf_arena_new(&j->arena, (size_t)r->ngaps, sizeof *j->gaps);
    j->big_busy = clf_arena_new(&j->arena, 1, sizeof *j->big_busy);
    j->col_tree = clf_arena_new(&j->arena, (size_t)r->nmeet, sizeof *j->col_tree);
    if (!j->place || !j->layout || !j->pack_at || !j->gaps || !j->big_busy || !j->col_tree)
        return clf_fail(err, CLF_E_NOMEM, "no memory for a run of a row program");
    for (int i = 0; i < r->c.naccess; i++) place_access(j, &r->c.access[i], &j->place[i]);
    j->stream = stored_bytes(j) > CLF_STREAM_BYTES;
    clf_rows_choose_batch(j);
    if (!clf_rows_place_states(j)) return clf_fail(err, CLF_E_LIMIT, "results of a row program overflow");
    if (!clf_rows_choose_parts(j, pool)) return clf_fail(err, CLF_E_NOMEM, "no memory for the parts of a row program");
    if (!clf_rows_lay(j, &l, at)) return clf_fail(err, CLF_E_LIMIT, "working memory of a row program overflows");
    j->bytes = l.at;
    return CLF_OK;
}

static clf_status begin(clf_rows_job *j, struct clf_rows *r, const clf_pool *pool, const clf_rows_rest *rest, clf_err *err) {
    size_t at[CLF_ROWS_ROOMS];
    CLF_TRY(size_job(j, r, pool, rest, at, err));
    if (!acquire(j, r)) return clf_fail(err, CLF_E_NOMEM, "%zu bytes of working memory for a row program", j->bytes);
    j->scalar = j->at + at[0];
    j->vec = j->at + at[1];
    j->pack = j->at + at[2];
    j->big = j->at + at[3];
    j->worker = j->at + at[4];
    j->full = (clf_row_full *)(void *)(j->at + at[5]);
    j->part = j->at + at[6];
    j->column = (clf_row_column *)(void *)(j->at + at[7]);
    j->ends = (int64_t *)(void *)(j->at + at[8]);
    j->entry_row = (int64_t *)(void *)(j->at + at[9]);
    clf_rows_place_gaps(j, j->at + at[10]);
    fill_packs(j);
    return CLF_OK;
}

clf_status clf_rows_working(struct clf_rows *r, const clf_bind *bind, const clf_pool *pool, size_t *bytes, clf_err *err) {
    clf_rows_job j = {.r = r, .bind = bind};
    size_t at[CLF_ROWS_ROOMS];
    clf_status st = CLF_OK;
    clf_arena_init(&j.arena, r->mem);
    j.bytes = 0;
    if (r->entry < 0) st = size_job(&j, r, pool, NULL, at, err);
    clf_arena_release(&j.arena);
    if (st == CLF_OK) *bytes = j.bytes;
    return st;
}

clf_status clf_rows_job_begin(clf_rows_job *j, struct clf_rows *r, const clf_bind *bind, clf_pool *pool, const clf_rows_rest *rest,
                              clf_err *err) {
    *j = (clf_rows_job){.r = r, .bind = bind};
    clf_arena_init(&j->arena, r->mem);
    clf_status st = begin(j, r, pool, rest, err);
    if (st != CLF_OK) clf_rows_job_end(j, r);
    return st;
}

/* ---- frames -------------------------------------------------------------------------------------------------------------- */

static void init_slots(clf_rows_frame *f) {
    const clf_rows_job *j = f->job;
    for (int i = 0; i < j->r->nslot; i++) {
        const clf_row_slot *s = &j->r->slot[i];
        if (s->shape == CLF_RS_SCALAR)
            f->slot[i] = j->scalar + (size_t)s->reg * CLF_ROWS_SCALAR_BYTES;
        else if (s->shape == CLF_RS_VEC)
            f->slot[i] = j->vec + (size_t)s->reg * j->vec_bytes;
        else if (s->shape == CLF_RS_ROW)
            f->slot[i] = f->mem + j->row_at + (size_t)s->reg * CLF_ROWS_ROW_BYTES;
        else
            f->slot[i] = s->reg < 0 ? NULL : f->mem + j->reg_at[s->axis] + (size_t)s->reg * j->reg_bytes[s->axis];
    }
}

static void init_states(clf_rows_frame *f) {
    const clf_rows_job *j = f->job;
    for (int i = 0; i < j->r->nsink; i++) {
        const clf_row_sink *s = &j->r->sink[i];
        if (s->kind < CLF_RK_COLS) continue;
        const clf_row_layout *l = &j->layout[s->index];
        clf_row_meeting *u = &f->meet[s->index];
        char *at = f->mem + l->at;
        for (int k = 0; k < 3; k++) {
            u->lane[k] = clf_rows_has_comp(s, k) ? at : NULL;
            u->level[k] = clf_rows_has_comp(s, k) ? (clf_word *)(void *)(at + l->lane_bytes) : NULL;
            at += clf_rows_has_comp(s, k) ? l->lane_bytes + (size_t)l->depth * l->stride * sizeof(clf_word) : 0;
        }
    }
}

void clf_rows_frame_at(clf_rows_frame *f, const clf_rows_job *j, int worker, bool init) {
    char *at = j->worker + (size_t)worker * j->worker_bytes;
    *f = (clf_rows_frame){.job = j, .slot = (void **)(void *)at, .mem = at};
    f->off = (int64_t *)(void *)(at + j->off_at);
    f->word = (clf_word *)(void *)(at + j->word_at);
    f->meet = (clf_row_meeting *)(void *)(at + j->meet_at);
    if (!init) return;
    memset(f->mem + j->zeros_at, 0, j->zeros_bytes);
    init_slots(f);
    init_states(f);
}
