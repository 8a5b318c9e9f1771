/* SPDX-License-Identifier: Apache-2.0
 * The memory of a run of a row program: offsets in one block. It does not grow with the number of rows; it holds a few batches a worker,
 * the vectors, and the states of the sinks. Every size is computed with overflow checks. */
#include "host/run/rows_run.h"

enum { ENTRY_PACK_CELLS = 1 << 17 };

static bool times(int64_t a, int64_t b, int64_t *out) { return !__builtin_mul_overflow(a, b, out); }

/* Room for n * each bytes, aligned; the offset. */
static size_t lay(clf_rows_room *l, size_t n, size_t each) {
    size_t bytes = 0, start = l->at;
    if (!clf_mul_ok(n, each, &bytes) || !clf_add_ok(l->at, bytes, &l->at) || !clf_add_ok(l->at, 63, &l->at)) l->overflow = true;
    l->at &= ~(size_t)63;
    return start;
}

/* Words of n cells with padding, rounded to a line. */
static size_t padded(clf_rows_room *l, int64_t n) {
    size_t words;
    if (!clf_add_ok((size_t)n, (size_t)2 * CLF_TILE_PAD, &words)) l->overflow = true;
    return words & ~(size_t)7;
}

/* Levels of subtrees within one part, of a sink whose blocks are of this size. */
static int levels_of(const clf_rows_job *j, int64_t block) {
    int64_t rows = j->parts > 1 ? j->bound[1] : j->rows;
    int depth = 2;
    for (int64_t blocks = rows > 0 ? (rows - 1) / block + 1 : 1; blocks > 1; blocks /= 2) depth++;
    return depth;
}

static void lay_states(clf_rows_job *j, clf_rows_room *worker, clf_rows_room *part) {
    for (int i = 0; i < j->r->nsink; i++) {
        const clf_row_sink *s = &j->r->sink[i];
        if (s->kind < CLF_RK_COLS) continue;
        clf_row_layout *l = &j->layout[s->index];
        int64_t lanes = 0;
        l->stride = padded(worker, l->cells);
        l->depth = levels_of(j, l->block);
        if (!times(l->lanes, (int64_t)l->stride, &lanes)) worker->overflow = true;
        clf_rows_room one = {0};
        lay(&one, (size_t)lanes, 8);
        l->lane_bytes = one.at;
        l->at = worker->at;
        l->part_at = part->at;
        for (int k = 0; k < 3; k++) {
            if (!clf_rows_has_comp(s, k)) continue;
            lay(worker, 1, l->lane_bytes);
            lay(worker, (size_t)l->depth, l->stride * sizeof(clf_word));
            lay(part, l->stride, sizeof(clf_word));
        }
    }
}

static bool lay_worker(clf_rows_job *j) {
    const struct clf_rows *r = j->r;
    clf_rows_room l = {0}, part = {0};
    lay(&l, (size_t)r->nslot, sizeof(void *));
    j->row_at = lay(&l, (size_t)r->nrow, CLF_ROWS_ROW_BYTES);
    j->off_at = lay(&l, CLF_ROWS_MOST + 1, sizeof(int64_t));
    j->word_at = lay(&l, CLF_ROWS_MOST + 2 * CLF_TILE_PAD, sizeof(clf_word));
    for (int a = 1; a < r->c.naxes; a++) {
        int64_t cells = CLF_ROWS_CELLS;
        if (a != r->entry && r->nreg[a] > 0 && !times(j->batch_rows, j->n[a], &cells)) return false;
        clf_rows_room one = {0};
        lay(&one, padded(&l, cells), 8);
        j->reg_bytes[a] = one.at;
        j->reg_at[a] = lay(&l, (size_t)r->nreg[a], one.at);
    }
    j->zeros_bytes = clf_rows_zeros(j);
    j->zeros_at = lay(&l, j->zeros_bytes, 1);
    j->meet_at = lay(&l, (size_t)r->nmeet, sizeof(clf_row_meeting));
    lay_states(j, &l, &part);
    j->worker_bytes = l.at;
    j->part_bytes = part.at;
    return !l.overflow && !part.overflow;
}

/* Cells of a VEC register: the longest vector, repeated for every row of a batch where one is. */
static bool vec_cells(const clf_rows_job *j, int64_t *cells) {
    *cells = 0;
    for (int i = 0; i < j->r->nslot; i++) {
        const clf_row_slot *s = &j->r->slot[i];
        int64_t n;
        if (s->shape != CLF_RS_VEC) continue;
        if (!times(j->n[s->axis], s->repeat ? j->batch_rows : 1, &n)) return false;
        *cells = n > *cells ? n : *cells;
    }
    return true;
}

/* Over entries with the usual lanes: rows of the right side as whole vectors, where a core's cache has room for the copy, the entries pay
 * for making it, and a vector has enough of the columns. */
static bool entry_cells(const clf_rows_job *j, const clf_row_instr *in, int64_t *cells) {
    int64_t vec = j->r->isa.row->type[in->dtype]->lanes, k = j->n[in->axis], n = 0;
    if (clf_dot_lanes(&j->r->c, &j->r->c.value[in->value], j->n) == 1 || 3 * k <= vec || j->m->nnz / 2 < j->m->cols) return true;
    if (!times((k + vec - 1) / vec * vec, j->n[in->over], &n)) return false;
    if (n <= ENTRY_PACK_CELLS) *cells = n;
    return true;
}

/* Cells of a DOT's right side if it must be copied into the order its loop reads; else 0. */
static bool pack_cells(const clf_rows_job *j, const clf_row_instr *in, int64_t *cells) {
    const clf_row_place *p = &j->place[in->arg];
    int64_t vec = j->r->isa.row->type[in->dtype]->lanes, k = j->n[in->axis];
    *cells = 0;
    if (in->over == j->r->entry) return entry_cells(j, in, cells);
    if (clf_dot_lanes(&j->r->c, &j->r->c.value[in->value], j->n) == 1) {
        if (k % vec == 0 && p->step[in->axis] == 1) return true;
        return times((k + vec - 1) / vec * vec, j->n[in->over], cells);
    }
    return p->step[in->over] == 1 ? true : times(k, j->n[in->over], cells);
}

static bool lay_packs(clf_rows_job *j, clf_rows_room *l) {
    const struct clf_rows *r = j->r;
    for (int i = 0; i < r->nfirst + r->nbatch; i++) {
        const clf_row_instr *in = i < r->nfirst ? &r->first[i] : &r->batch[i - r->nfirst];
        int64_t cells;
        if (in->kind != CLF_RI_DOT || in->pack < 0) continue;
        if (!pack_cells(j, in, &cells)) return false;
        j->pack_at[in->pack] = cells > 0 ? lay(l, padded(l, cells), clf_dtype_bytes((clf_dtype)in->dtype)) : SIZE_MAX;
    }
    return true;
}

/* The nodes of gaps and, by row, their values. */
static void lay_gaps(clf_rows_job *j, clf_rows_room *l) {
    for (int i = 0; i < j->r->ngaps; i++) {
        const clf_row_gap *from = &j->r->gaps[i];
        clf_row_gaps *g = &j->gaps[i];
        *g = (clf_row_gaps){.fold = from->fold, .log2 = j->r->slot[from->slot].log2, .n = from->by_row ? j->rows : j->m->cols};
        g->node_at = lay(l, (size_t)g->n / 4, sizeof *g->node);
        if (from->by_row) g->x_at = lay(l, (size_t)g->n, (size_t)1 << g->log2);
    }
}

void clf_rows_place_gaps(clf_rows_job *j, char *base) {
    for (int i = 0; i < j->r->ngaps; i++) {
        j->gaps[i].node = (clf_fold_state *)(void *)(base + j->gaps[i].node_at);
        j->gaps[i].x = base + j->gaps[i].x_at;
    }
}

bool clf_rows_lay(clf_rows_job *j, clf_rows_room *l, size_t at[CLF_ROWS_ROOMS]) {
    const struct clf_rows *r = j->r;
    clf_rows_room packs = {0}, vec = {0}, big = {0}, gaps = {0};
    bool by_row = clf_rows_gaps_by_row(r);
    int64_t cells;
    if (!lay_worker(j) || !vec_cells(j, &cells) || !lay_packs(j, &packs) || packs.overflow) return false;
    lay(&vec, padded(l, cells), 8);
    j->vec_bytes = vec.at;
    if (j->longest > CLF_ROWS_CELLS) lay(&big, padded(l, j->longest), 8);
    j->big_bytes = big.at;
    at[0] = lay(l, (size_t)r->nscalar, CLF_ROWS_SCALAR_BYTES);
    at[1] = lay(l, (size_t)r->nvec, vec.at);
    at[2] = lay(l, packs.at, 1);
    at[3] = lay(l, r->entry < 0 ? 0 : (size_t)r->nreg[r->entry], big.at);
    at[4] = lay(l, (size_t)j->workers, j->worker_bytes);
    at[5] = lay(l, (size_t)j->parts * (size_t)r->nfull, sizeof(clf_row_full));
    at[6] = lay(l, (size_t)j->parts + (size_t)j->tree_places, j->part_bytes);
    at[7] = lay(l, (size_t)clf_rows_rest_columns(j), sizeof(clf_row_column));
    at[8] = lay(l, by_row ? (size_t)j->m->cols : 0, sizeof *j->ends);
    at[9] = lay(l, by_row ? (size_t)j->m->nnz : 0, sizeof *j->entry_row);
    lay_gaps(j, &gaps);
    at[10] = lay(l, gaps.at, 1);
    return !l->overflow && !vec.overflow && !big.overflow && !gaps.overflow;
}
