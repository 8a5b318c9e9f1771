/* SPDX-License-Identifier: Apache-2.0
 * Memory of the reference executor: extents, how axes move, how an access finds its element in each format (conventions in cplan.h).
 * Every index is checked: a wrong one is a status, never a wild read. */
#include <inttypes.h>

#include "formats/fmt.h"
#include "kernels-cl/ref_run.h"

int64_t clf_ref_in_dim(const clf_ref_job *r, int in, int d) {
    return r->bind->in_dim ? r->bind->in_dim[in * CLF_MAX_RANK + d] : r->c->in[in].dim[d].n;
}

int64_t clf_ref_out_dim(const clf_ref_job *r, int out, int d) {
    return r->bind->out_dim ? r->bind->out_dim[out * CLF_MAX_RANK + d] : r->c->out[out].dim[d].n;
}

int64_t clf_ref_out_cells(const clf_ref_job *r, int out) {
    int64_t cells = 1;
    for (int d = 0; d < r->c->out[out].rank; d++) cells *= clf_ref_out_dim(r, out, d);
    return cells;
}

static clf_status bytes_fit(clf_ref_job *r, const char *what, int i, int rank, uint8_t dtype,
                            int64_t (*dim)(const clf_ref_job *, int, int)) {
    int64_t bytes = (int64_t)clf_dtype_bytes((clf_dtype)dtype);
    for (int d = 0; d < rank; d++) {
        int64_t n = dim(r, i, d);
        if (n < 0) return clf_fail(r->err, CLF_E_SHAPE, "%s %d: dimension %d is bound to %" PRId64, what, i, d, n);
        if (__builtin_mul_overflow(bytes, n ? n : 1, &bytes)) return clf_fail(r->err, CLF_E_LIMIT, "%s %d: its size overflows", what, i);
    }
    return CLF_OK;
}

static const void *owner_of(const clf_ref_job *r, int axis) { return r->bind->in[r->c->access[r->c->axis[axis].owner].input]; }

static clf_status bind_axis(clf_ref_job *r, int a) {
    const clf_axis *x = &r->c->axis[a];
    r->n[a] = r->bind->axis_n ? r->bind->axis_n[a] : x->n.n;
    if (x->kind == CLF_AXIS_ENTRY) r->n[a] = ((const clf_csr *)owner_of(r, a))->cols;
    if (x->kind == CLF_AXIS_DICT) r->n[a] = ((const clf_dictionary *)owner_of(r, a))->entries;
    if (r->n[a] < 0) return clf_fail(r->err, CLF_E_SHAPE, "axis %d is bound to extent %" PRId64, a, r->n[a]);
    r->count[a] = -1;
    r->moves[a] = clf_axis_moves(r->c, a);
    return CLF_OK;
}

/* A CAT's axis is as long as both parts. */
static clf_status bind_cat(clf_ref_job *r, const clf_value *v) {
    int64_t n[2], sum;
    for (int q = 0; q < 2; q++) n[q] = clf_cat_axis(v, q) < 0 ? 1 : r->n[clf_cat_axis(v, q)];
    if (!__builtin_add_overflow(n[0], n[1], &sum) && sum == r->n[v->axis]) return CLF_OK;
    return clf_fail(r->err, CLF_E_SHAPE, "axis %d is bound to extent %" PRId64 ", its parts have %" PRId64 " and %" PRId64, v->axis,
                    r->n[v->axis], n[0], n[1]);
}

/* The axis of a rest by columns is as long as a row. */
static clf_status bind_rest(clf_ref_job *r, const clf_value *v) {
    int a = clf_rest_axis(r->c, v);
    if (a < 0 || r->n[a] == r->n[v->axis]) return CLF_OK;
    return clf_fail(r->err, CLF_E_SHAPE, "%" PRId64 " values for the %" PRId64 " columns of a CSR matrix", r->n[a], r->n[v->axis]);
}

clf_status clf_ref_bind(clf_ref_job *r) {
    const clf_cplan *c = r->c;
    for (int a = 0; a < c->naxes; a++) CLF_TRY(bind_axis(r, a));
    for (int v = 0; v < c->nvalue; v++) CLF_TRY(c->value[v].op == CLF_V_CAT ? bind_cat(r, &c->value[v]) : bind_rest(r, &c->value[v]));
    for (int i = 0; i < c->nin; i++) CLF_TRY(bytes_fit(r, "input", i, c->in[i].rank, c->in[i].dtype, clf_ref_in_dim));
    for (int i = 0; i < c->nout; i++) CLF_TRY(bytes_fit(r, "output", i, c->out[i].rank, c->out[i].dtype, clf_ref_out_dim));
    return CLF_OK;
}

/* ---- axes ---------------------------------------------------------------------------------------------------------------- */

static clf_status open_entries(clf_ref_job *r, int axis, int64_t *first, int64_t *end) {
    const clf_csr *m = owner_of(r, axis);
    int64_t row = r->pos[r->c->axis[axis].parent];
    if (row < 0 || row >= m->rows)
        return clf_fail(r->err, CLF_E_SHAPE, "axis %d: row %" PRId64 " of a CSR matrix with %" PRId64 " rows", axis, row, m->rows);
    *first = m->ptr[row];
    *end = m->ptr[row + 1];
    if (*first >= 0 && *first <= *end && *end <= m->nnz) return CLF_OK;
    return clf_fail(r->err, CLF_E_SHAPE, "axis %d: row %" PRId64 " has entries %" PRId64 " to %" PRId64 " of %" PRId64, axis, row, *first,
                    *end, m->nnz);
}

static clf_status open_segment(clf_ref_job *r, int axis, int64_t *first, int64_t *end) {
    const clf_axis *x = &r->c->axis[axis];
    const int64_t *offset = owner_of(r, axis);
    int64_t p = r->pos[x->parent], n = clf_ref_in_dim(r, r->c->access[x->owner].input, 0);
    if (p < 0 || p + 1 >= n) return clf_fail(r->err, CLF_E_SHAPE, "axis %d: segment %" PRId64 " of %" PRId64 " offsets", axis, p, n);
    *first = offset[p];
    *end = offset[p + 1];
    if (*first >= 0 && *first <= *end) return CLF_OK;
    return clf_fail(r->err, CLF_E_SHAPE, "axis %d: segment %" PRId64 " runs from %" PRId64 " to %" PRId64, axis, p, *first, *end);
}

clf_status clf_ref_axis_open(clf_ref_job *r, int axis, int64_t *first, int64_t *end) {
    switch (r->c->axis[axis].kind) {
    case CLF_AXIS_ENTRY: return open_entries(r, axis, first, end);
    case CLF_AXIS_SEG: return open_segment(r, axis, first, end);
    default:
        *first = 0;
        *end = r->n[axis];
        return CLF_OK;
    }
}

static clf_status code_of(clf_ref_job *r, const clf_dictionary *m, int64_t row, int64_t *code) {
    if (row < 0 || row >= m->rows)
        return clf_fail(r->err, CLF_E_SHAPE, "row %" PRId64 " of a compressed matrix with %" PRId64 " rows", row, m->rows);
    *code = clf_ref_load(m->code, row, m->code_dtype).i;
    if (*code >= 0 && *code < m->entries) return CLF_OK;
    return clf_fail(r->err, CLF_E_SHAPE, "row %" PRId64 " has code %" PRId64 ", the dictionary has %" PRId64 " entries", row, *code,
                    m->entries);
}

int64_t clf_ref_entries(const clf_ref_job *r, int axis) { return ((const clf_csr *)owner_of(r, axis))->nnz; }

int64_t clf_ref_entry_column(const clf_ref_job *r, int axis, int64_t e) { return ((const clf_csr *)owner_of(r, axis))->idx[e]; }

clf_status clf_ref_axis_set(clf_ref_job *r, int axis, int64_t counter) {
    r->count[axis] = r->pos[axis] = counter;
    r->moved |= r->moves[axis];
    if (counter < 0) return CLF_OK;
    if (r->c->axis[axis].kind == CLF_AXIS_ENTRY) r->pos[axis] = clf_ref_entry_column(r, axis, counter);
    uint32_t follow = r->moves[axis] & ~(1u << axis);
    for (int a = 0; follow >> a; a++)
        if (follow >> a & 1u) {
            CLF_TRY(code_of(r, owner_of(r, a), r->pos[axis], &r->pos[a]));
            r->count[a] = r->pos[a];
        }
    return CLF_OK;
}

/* ---- accesses ------------------------------------------------------------------------------------------------------------ */

static clf_status outside(clf_ref_job *r, int access, int d, int64_t index, int64_t n) {
    return clf_fail(r->err, CLF_E_SHAPE, "access %d: index %" PRId64 " in dimension %d leaves 0 to %" PRId64, access, index, d, n - 1);
}

/* Index of dimension d, inside 0 .. n-1. */
static clf_status index_at(clf_ref_job *r, int access, int d, int64_t n, const clf_slot *values, int64_t *out) {
    const clf_at *at = &r->c->access[access].at[d];
    int64_t base = at->axis >= 0 ? r->pos[at->axis] : at->value >= 0 ? values[at->value].i : 0, index;
    if (__builtin_mul_overflow(base, at->mul, &index) || __builtin_add_overflow(index, at->add, &index)) index = -1;
    if (index < 0 || index >= n) return outside(r, access, d, index, n);
    *out = index;
    return CLF_OK;
}

static clf_status read_dense(clf_ref_job *r, int access, const clf_slot *values, clf_slot *out) {
    const clf_access *a = &r->c->access[access];
    int64_t offset = 0, index;
    for (int d = 0; d < a->rank; d++) {
        int64_t n = clf_ref_in_dim(r, a->input, d);
        CLF_TRY(index_at(r, access, d, n, values, &index));
        offset = offset * n + index;
    }
    *out = clf_ref_load(r->bind->in[a->input], offset, (clf_dtype)r->c->in[a->input].dtype);
    return CLF_OK;
}

/* The stored entry at (row, col); -1 none. Columns ascend in a row. */
static int64_t entry_at(const clf_csr *m, int64_t row, int64_t col) {
    int64_t lo = m->ptr[row], hi = m->ptr[row + 1];
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (m->idx[mid] < col)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < m->ptr[row + 1] && m->idx[lo] == col ? lo : -1;
}

static clf_status read_csr(clf_ref_job *r, int access, const clf_slot *values, clf_slot *out) {
    const clf_access *a = &r->c->access[access];
    const clf_csr *m = r->bind->in[a->input];
    clf_dtype t = (clf_dtype)r->c->in[a->input].dtype;
    if (a->protocol == CLF_ENTRIES) {
        int64_t e = r->count[a->at[1].axis];
        if (e < 0 || e >= m->nnz) return outside(r, access, 1, e, m->nnz);
        *out = clf_ref_load(m->val, e, t);
        return CLF_OK;
    }
    int64_t row, col;
    CLF_TRY(index_at(r, access, 0, m->rows, values, &row));
    CLF_TRY(index_at(r, access, 1, m->cols, values, &col));
    *out = clf_ref_cast((clf_slot){.i = 0}, CLF_I64, t);
    int64_t e = entry_at(m, row, col);
    if (e >= 0) *out = clf_ref_load(m->val, e, t);
    return CLF_OK;
}

static clf_status read_compressed(clf_ref_job *r, int access, const clf_slot *values, clf_slot *out) {
    const clf_access *a = &r->c->access[access];
    const clf_dictionary *m = r->bind->in[a->input];
    bool direct = a->protocol == CLF_DICTIONARY;
    int64_t row, col;
    CLF_TRY(index_at(r, access, 0, direct ? m->entries : m->rows, values, &row));
    CLF_TRY(index_at(r, access, 1, m->cols, values, &col));
    if (!direct) CLF_TRY(code_of(r, m, row, &row));
    *out = clf_ref_load(m->value, row * m->cols + col, (clf_dtype)r->c->in[a->input].dtype);
    return CLF_OK;
}

clf_status clf_ref_read(clf_ref_job *r, int access, const clf_slot *values, clf_slot *out) {
    switch (r->c->in[r->c->access[access].input].format) {
    case CLF_CSR: return read_csr(r, access, values, out);
    case CLF_COMPRESSED: return read_compressed(r, access, values, out);
    default: return read_dense(r, access, values, out);
    }
}

/* ---- loops and outputs --------------------------------------------------------------------------------------------------- */

clf_ref_odometer clf_ref_loop_over(uint32_t set) {
    clf_ref_odometer o = {0};
    for (int a = 0; set >> a; a++)
        if (set >> a & 1u) o.axis[o.n++] = a;
    return o;
}

clf_status clf_ref_turn(clf_ref_job *r, clf_ref_odometer *o, bool start, bool *live) {
    int d = start ? 0 : o->n - 1;
    *live = start;
    if (o->n == 0) return CLF_OK;
    if (start)
        CLF_TRY(clf_ref_axis_open(r, o->axis[0], &o->now[0], &o->end[0]));
    else
        o->now[d]++;
    for (;;) {
        while (d >= 0 && o->now[d] >= o->end[d])
            if (--d >= 0) o->now[d]++;
        *live = d >= 0;
        if (!*live) return CLF_OK;
        CLF_TRY(clf_ref_axis_set(r, o->axis[d], o->now[d]));
        if (++d == o->n) return CLF_OK;
        CLF_TRY(clf_ref_axis_open(r, o->axis[d], &o->now[d], &o->end[d]));
    }
}

static int64_t times(int64_t a, int64_t b) {
    int64_t x;
    return __builtin_mul_overflow(a, b, &x) ? INT64_MAX : x;
}

int64_t clf_ref_extent_of(const clf_ref_job *r, uint32_t set) {
    int64_t n = 1;
    for (int a = 0; set >> a; a++)
        if (set >> a & 1u) n = times(n, r->n[a]);
    return n;
}

clf_status clf_ref_count(clf_ref_job *r, clf_ref_odometer *o, int64_t *n) {
    bool live, counted = false;
    *n = 1;
    for (int d = 0; d < o->n; d++) {
        counted |= r->c->axis[o->axis[d]].kind == CLF_AXIS_ENTRY || r->c->axis[o->axis[d]].kind == CLF_AXIS_SEG;
        *n = times(*n, r->n[o->axis[d]]);
    }
    if (!counted) return CLF_OK;
    CLF_TRY(clf_ref_turn(r, o, true, &live));
    for (*n = 0; live; ++*n) CLF_TRY(clf_ref_turn(r, o, false, &live));
    return CLF_OK;
}

int64_t clf_ref_kept_position(const clf_ref_job *r, uint32_t keep) {
    int64_t p = 0;
    for (int a = 0; keep >> a; a++)
        if (keep >> a & 1u) p = p * r->n[a] + r->pos[a];
    return p;
}

clf_status clf_ref_fits(clf_ref_job *r, int out, int64_t cells) {
    int64_t have = clf_ref_out_cells(r, out);
    if (cells <= have) return CLF_OK;
    return clf_fail(r->err, CLF_E_SHAPE, "output %d has %" PRId64 " cells, %" PRId64 " are written", out, have, cells);
}

void clf_ref_put(clf_ref_job *r, int out, int64_t index, clf_slot x) {
    clf_ref_store(r->bind->out[out], index, (clf_dtype)r->c->out[out].dtype, x);
}

static int last_of(const clf_cplan *c, uint32_t set, uint32_t kinds) {
    for (int a = c->naxes - 1; a >= 0; a--)
        if (set >> a & 1u && kinds >> c->axis[a].kind & 1u) return a;
    return -1;
}

int clf_ref_entry_of(const clf_cplan *c, uint32_t set) { return last_of(c, set, 1u << CLF_AXIS_ENTRY); }
int clf_ref_segment_of(const clf_cplan *c, uint32_t set) { return last_of(c, set, 1u << CLF_AXIS_ENTRY | 1u << CLF_AXIS_SEG); }
