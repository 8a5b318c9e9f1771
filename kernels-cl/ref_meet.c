/* SPDX-License-Identifier: Apache-2.0
 * Sinks of the reference executor whose cells grow side by side: column folds, DOT, and FOLD that keeps the columns of stored entries
 * (cplan.h). The folded axes pass outside, the kept ones inside; axes kept before every folded one only repeat it. A cell has its lanes
 * for the open block; the blocks of all cells are merged together, by the carry stack of core/fold.h.
 * Invariant: planes 0 .. depth-1 hold closed subtrees. */
#include <inttypes.h>

#include "kernels-cl/ref_run.h"

typedef struct meeting {
    clf_fold_id fold;
    clf_dtype value;
    uint32_t inside, folded, behind; /* axes of the loop, folded, kept behind the folded ones */
    int entry;                       /* the ENTRY axis kept; -1 */
    bool rest;                       /* cells without entry take part */
    int lanes;
    int64_t cells, block, rows, closed; /* cells of `behind`; rows in a block, and in all; blocks closed */
    int depth, planes;
    clf_ref_state *open, *plane; /* cells x lanes; planes x cells */
} meeting;

static void clear_open(meeting *m) {
    for (int64_t i = 0; i < m->cells * m->lanes; i++) clf_ref_init(m->fold, m->value, &m->open[i]);
}

static void merge_top(meeting *m) {
    m->depth--;
    clf_ref_state *top = &m->plane[m->depth * m->cells];
    for (int64_t i = 0; i < m->cells; i++) clf_ref_merge(m->fold, m->value, &top[i - m->cells], &top[i]);
}

static void close_block(meeting *m) {
    for (int64_t i = 0; i < m->cells; i++) {
        clf_ref_state *lane = &m->open[i * m->lanes];
        for (int half = m->lanes / 2; half; half /= 2)
            for (int l = 0; l < half; l++) clf_ref_merge(m->fold, m->value, &lane[l], &lane[l + half]);
        m->plane[m->depth * m->cells + i] = lane[0];
    }
    m->depth++;
    for (int64_t k = ++m->closed; k % 2 == 0; k /= 2) merge_top(m);
    clear_open(m);
}

/* One position of the loop: its value meets those of its cell. */
static clf_status step(clf_ref_job *r, const clf_sink *s, meeting *m, int64_t row) {
    if (m->entry >= 0 && (r->pos[m->entry] < 0 || r->pos[m->entry] >= r->n[m->entry]))
        return clf_fail(r->err, CLF_E_SHAPE, "axis %d: column %" PRId64 " of %" PRId64, m->entry, r->pos[m->entry], r->n[m->entry]);
    clf_ref_state *lane = &m->open[clf_ref_kept_position(r, m->behind) * m->lanes + row % m->lanes];
    if (s->kind == CLF_SINK_DOT)
        clf_ref_dot(m->value, lane, clf_ref_value(r, s->value[0]), clf_ref_value(r, s->value[1]), s->fold);
    else
        clf_ref_step(m->fold, m->value, lane, clf_ref_value(r, s->value[0]), row);
    return CLF_OK;
}

static clf_status walk(clf_ref_job *r, const clf_sink *s, meeting *m) {
    clf_ref_odometer o = clf_ref_loop_over(m->inside);
    bool live;
    CLF_TRY(clf_ref_turn(r, &o, true, &live));
    for (int64_t t = 0; live; t++) {
        int64_t row = m->entry >= 0 ? r->count[r->c->axis[m->entry].parent] : t / m->cells;
        CLF_TRY(clf_ref_eval(r));
        while (m->closed < row / m->block) close_block(m);
        if (clf_ref_guarded(r, s)) CLF_TRY(step(r, s, m, row));
        CLF_TRY(clf_ref_turn(r, &o, false, &live));
    }
    return CLF_OK;
}

/* The fold where the axes kept before stand. */
static clf_status meet_here(clf_ref_job *r, const clf_sink *s, meeting *m) {
    int64_t first = clf_ref_kept_position(r, s->keep & ~m->behind) * m->cells, blocks = m->rows / m->block + (m->rows % m->block != 0);
    m->closed = m->depth = 0;
    clear_open(m);
    CLF_TRY(walk(r, s, m));
    while (m->closed < blocks) close_block(m);
    while (m->depth > 1) merge_top(m);
    if (m->rest && m->depth) CLF_TRY(clf_ref_rest_columns(r, s, m->plane));
    for (int64_t i = 0; i < m->cells; i++)
        clf_ref_put(r, s->out[0], first + i, clf_ref_finish(m->fold, m->value, m->depth ? &m->plane[i] : &m->open[i * m->lanes]));
    return CLF_OK;
}

/* Rows and blocks there, and memory for them. */
static clf_status make_planes(clf_ref_job *r, const clf_sink *s, meeting *m) {
    clf_ref_odometer rows = clf_ref_loop_over(m->folded);
    CLF_TRY(clf_ref_count(r, &rows, &m->rows));
    m->lanes = s->kind == CLF_SINK_DOT || m->entry >= 0 ? 1 : clf_col_lanes(m->cells, m->value);
    m->block = m->entry >= 0 ? clf_scatter_block(m->rows, m->cells) : clf_col_block(m->rows, m->cells);
    m->planes = 1;
    for (int64_t n = m->rows / m->block + 1; n > 0; n /= 2) m->planes++;
    m->open = clf_mem_new(r->mem, (size_t)m->cells, (size_t)m->lanes * sizeof *m->open);
    m->plane = clf_mem_new(r->mem, (size_t)m->cells, (size_t)m->planes * sizeof *m->plane);
    if (m->open && m->plane) return CLF_OK;
    return clf_fail(r->err, CLF_E_NOMEM, "output %" PRId32 ": no memory for its partial results", s->out[0]);
}

static void free_planes(clf_ref_job *r, meeting *m) {
    clf_mem_free(r->mem, m->open, (size_t)m->cells, (size_t)m->lanes * sizeof *m->open);
    clf_mem_free(r->mem, m->plane, (size_t)m->cells, (size_t)m->planes * sizeof *m->plane);
    m->open = m->plane = NULL;
}

static uint32_t behind_folded(uint32_t keep, uint32_t folded) { return folded ? keep & ~((folded & -folded) - 1u) : 0; }

bool clf_ref_meets(const clf_ref_job *r, const clf_sink *s) {
    uint32_t folded = clf_sink_loop(r->c, s) & ~s->keep, behind = behind_folded(s->keep, folded);
    return s->kind == CLF_SINK_DOT || (behind && (behind & -behind) > folded);
}

clf_status clf_ref_meet(clf_ref_job *r, const clf_sink *s) {
    uint32_t loop = clf_sink_loop(r->c, s), folded = loop & ~s->keep, behind = behind_folded(s->keep, folded);
    meeting m = {.fold = s->kind == CLF_SINK_DOT ? CLF_FOLD_SUM : (clf_fold_id)s->fold,
                 .value = clf_ref_type(r, s->value[0]),
                 .inside = folded | behind,
                 .folded = folded,
                 .behind = behind,
                 .entry = clf_ref_entry_of(r->c, s->keep),
                 .rest = s->kind == CLF_SINK_FOLD && s->value[1] >= 0,
                 .cells = clf_ref_extent_of(r, behind)};
    clf_ref_odometer outside = clf_ref_loop_over(s->keep & ~behind);
    bool live;
    CLF_TRY(clf_ref_fits(r, s->out[0], clf_ref_extent_of(r, s->keep)));
    CLF_TRY(clf_ref_turn(r, &outside, true, &live));
    while (live) {
        clf_status st = make_planes(r, s, &m);
        if (st == CLF_OK) st = meet_here(r, s, &m);
        free_planes(r, &m);
        CLF_TRY(st);
        CLF_TRY(clf_ref_turn(r, &outside, false, &live));
    }
    return CLF_OK;
}
