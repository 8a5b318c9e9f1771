/* SPDX-License-Identifier: Apache-2.0
 * Sinks of the reference executor: the loop over positions, and what each kind does there (cplan.h, clf_sink). A FOLD walks its kept
 * axes outside and the folded ones inside, one output at a time; ref_meet.c has the sinks whose cells grow side by side. */
#include <inttypes.h>
#include <string.h>

#include "kernels-cl/ref_run.h"

/* ---- cells --------------------------------------------------------------------------------------------------------------- */

static clf_status run_store(clf_ref_job *r, const clf_sink *s) {
    int segment = clf_ref_segment_of(r->c, s->keep);
    clf_ref_odometer o = clf_ref_loop_over(s->keep);
    bool live;
    if (segment < 0) CLF_TRY(clf_ref_fits(r, s->out[0], clf_ref_extent_of(r, s->keep)));
    CLF_TRY(clf_ref_turn(r, &o, true, &live));
    while (live) {
        CLF_TRY(clf_ref_eval(r));
        int64_t index = segment < 0 ? clf_ref_kept_position(r, s->keep) : r->count[segment];
        if (segment >= 0) CLF_TRY(clf_ref_fits(r, s->out[0], index + 1));
        if (clf_ref_guarded(r, s)) clf_ref_put(r, s->out[0], index, clf_ref_value(r, s->value[0]));
        CLF_TRY(clf_ref_turn(r, &o, false, &live));
    }
    return CLF_OK;
}

/* ---- folds --------------------------------------------------------------------------------------------------------------- */

/* Position k of the fold: p, or the column where one ENTRY axis is folded. */
static int64_t fold_position(const clf_ref_job *r, const clf_ref_odometer *inside, int64_t p) {
    return inside->n == 1 && r->c->axis[inside->axis[0]].kind == CLF_AXIS_ENTRY ? r->pos[inside->axis[0]] : p;
}

static clf_status fold_one(clf_ref_job *r, const clf_sink *s, clf_ref_odometer *inside, clf_ref_tree *tree) {
    bool live;
    CLF_TRY(clf_ref_turn(r, inside, true, &live));
    while (live) {
        CLF_TRY(clf_ref_eval(r));
        clf_ref_tree_step(tree, clf_ref_value(r, s->value[0]), fold_position(r, inside, tree->p), clf_ref_guarded(r, s));
        CLF_TRY(clf_ref_turn(r, inside, false, &live));
    }
    return CLF_OK;
}

/* The tree of full and row folds, one output at a time; column folds go by ref_meet.c. */
static clf_status run_fold(clf_ref_job *r, const clf_sink *s) {
    uint32_t folded = clf_sink_loop(r->c, s) & ~s->keep;
    clf_ref_odometer outside = clf_ref_loop_over(s->keep), inside = clf_ref_loop_over(folded);
    clf_dtype t = clf_ref_type(r, s->value[0]);
    clf_ref_tree tree;
    clf_ref_state missing;
    bool live, some = false;
    if (clf_ref_meets(r, s)) return clf_ref_meet(r, s);
    if (s->value[1] >= 0) CLF_TRY(clf_ref_rest_whole(r, s, &missing, &some));
    CLF_TRY(clf_ref_fits(r, s->out[0], clf_ref_extent_of(r, s->keep)));
    CLF_TRY(clf_ref_turn(r, &outside, true, &live));
    while (live) {
        clf_ref_tree_begin(&tree, (clf_fold_id)s->fold, t, clf_lanes(t), CLF_LEAF);
        CLF_TRY(fold_one(r, s, &inside, &tree));
        clf_ref_put(r, s->out[0], clf_ref_kept_position(r, s->keep), clf_ref_tree_end_with(&tree, some ? &missing : NULL));
        CLF_TRY(clf_ref_turn(r, &outside, false, &live));
    }
    return CLF_OK;
}

/* ---- scatter ------------------------------------------------------------------------------------------------------------- */

/* The cell where the value goes: kept position, then the keys. */
static clf_status scatter_cell(clf_ref_job *r, const clf_sink *s, int64_t *cell) {
    int nkey = s->key[1] >= 0 ? 2 : 1, rank = r->c->out[s->out[0]].rank;
    *cell = clf_ref_kept_position(r, s->keep);
    for (int q = 0; q < nkey; q++) {
        int64_t n = clf_ref_out_dim(r, s->out[0], rank - nkey + q), key = clf_ref_value(r, s->key[q]).i;
        if (key < 0 || key >= n)
            return clf_fail(r->err, CLF_E_SHAPE, "scatter: key %" PRId64 " leaves 0 to %" PRId64 " of output %" PRId32, key, n - 1,
                            s->out[0]);
        *cell = *cell * n + key;
    }
    return CLF_OK;
}

static clf_status scatter_into(clf_ref_job *r, const clf_sink *s, clf_ref_state *state, int64_t cells) {
    clf_ref_odometer o = clf_ref_loop_over(clf_sink_loop(r->c, s));
    clf_dtype t = clf_ref_type(r, s->value[0]);
    bool live;
    for (int64_t i = 0; i < cells; i++) clf_ref_init((clf_fold_id)s->fold, t, &state[i]);
    CLF_TRY(clf_ref_turn(r, &o, true, &live));
    for (int64_t p = 0, cell; live; p++) {
        CLF_TRY(clf_ref_eval(r));
        if (clf_ref_guarded(r, s)) {
            CLF_TRY(scatter_cell(r, s, &cell));
            CLF_TRY(clf_ref_fits(r, s->out[0], cell + 1));
            clf_ref_step((clf_fold_id)s->fold, t, &state[cell], clf_ref_value(r, s->value[0]), p);
        }
        CLF_TRY(clf_ref_turn(r, &o, false, &live));
    }
    for (int64_t i = 0; i < cells; i++) clf_ref_put(r, s->out[0], i, clf_ref_finish((clf_fold_id)s->fold, t, &state[i]));
    return CLF_OK;
}

static clf_status run_scatter(clf_ref_job *r, const clf_sink *s) {
    int64_t cells = clf_ref_out_cells(r, s->out[0]);
    clf_ref_state *state = clf_mem_new(r->mem, (size_t)cells, sizeof *state);
    if (!state) return clf_fail(r->err, CLF_E_NOMEM, "scatter: no memory for %" PRId64 " states", cells);
    clf_status st = scatter_into(r, s, state, cells);
    clf_mem_free(r->mem, state, (size_t)cells, sizeof *state);
    return st;
}

/* ---- group --------------------------------------------------------------------------------------------------------------- */

typedef struct group {
    int64_t key;
    clf_ref_state state;
} group;

/* The group of a key in the ascending list, entered where it is missing. */
static clf_status find_group(clf_ref_job *r, const clf_sink *s, group *list, int64_t cap, int64_t *n, int64_t key, group **out) {
    int64_t lo = 0, hi = *n;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (list[mid].key < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    *out = &list[lo];
    if (lo < *n && list[lo].key == key) return CLF_OK;
    if (*n == cap) return clf_fail(r->err, CLF_E_SHAPE, "group: more than the %" PRId64 " groups its output holds", cap);
    memmove(&list[lo + 1], &list[lo], (size_t)(*n - lo) * sizeof *list);
    list[lo].key = key;
    clf_ref_init((clf_fold_id)s->fold, clf_ref_type(r, s->value[0]), &list[lo].state);
    ++*n;
    return CLF_OK;
}

static clf_status group_into(clf_ref_job *r, const clf_sink *s, group *list, int64_t cap) {
    clf_ref_odometer o = clf_ref_loop_over(clf_sink_loop(r->c, s));
    clf_dtype t = clf_ref_type(r, s->value[0]);
    int64_t n = 0;
    bool live;
    CLF_TRY(clf_ref_turn(r, &o, true, &live));
    for (int64_t p = 0; live; p++) {
        group *g;
        CLF_TRY(clf_ref_eval(r));
        if (clf_ref_guarded(r, s)) {
            CLF_TRY(find_group(r, s, list, cap, &n, clf_ref_value(r, s->key[0]).i, &g));
            clf_ref_step((clf_fold_id)s->fold, t, &g->state, clf_ref_value(r, s->value[0]), p);
        }
        CLF_TRY(clf_ref_turn(r, &o, false, &live));
    }
    for (int64_t i = 0; i < n; i++) {
        clf_ref_put(r, s->out[0], i, clf_ref_finish((clf_fold_id)s->fold, t, &list[i].state));
        clf_ref_put(r, s->out[1], i, (clf_slot){.i = list[i].key});
    }
    if (s->out[3] >= 0) clf_ref_put(r, s->out[3], 0, (clf_slot){.i = n});
    return CLF_OK;
}

static clf_status run_group(clf_ref_job *r, const clf_sink *s) {
    int64_t cap = clf_ref_out_cells(r, s->out[0]), keys = clf_ref_out_cells(r, s->out[1]);
    if (keys < cap) cap = keys;
    group *list = clf_mem_new(r->mem, (size_t)cap, sizeof *list);
    if (!list) return clf_fail(r->err, CLF_E_NOMEM, "group: no memory for %" PRId64 " groups", cap);
    clf_status st = group_into(r, s, list, cap);
    clf_mem_free(r->mem, list, (size_t)cap, sizeof *list);
    return st;
}

/* ---- append -------------------------------------------------------------------------------------------------------------- */

/* Ascending, NaN last. */
static bool less(clf_slot a, clf_slot b, clf_dtype t) {
    if (!clf_dtype_float(t)) return a.i < b.i;
    return a.f < b.f || (b.f != b.f && a.f == a.f);
}

/* Record number `at` of n moves everything behind it by one. */
static void insert_record(clf_ref_job *r, const clf_sink *s, int64_t at, int64_t n) {
    for (int q = 0; q < 3 && s->value[q] >= 0; q++) {
        size_t each = clf_dtype_bytes((clf_dtype)r->c->out[s->out[q]].dtype);
        char *base = (char *)r->bind->out[s->out[q]] + (size_t)at * each;
        memmove(base + each, base, (size_t)(n - at) * each);
        clf_ref_put(r, s->out[q], at, clf_ref_value(r, s->value[q]));
    }
}

/* Where a record ordered by x goes among n: behind its equals. */
static int64_t place_of(const clf_slot *order, int64_t n, clf_slot x, clf_dtype t) {
    int64_t lo = 0, hi = n;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (less(x, order[mid], t))
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

static clf_status append_into(clf_ref_job *r, const clf_sink *s, clf_slot *order, int64_t cap) {
    clf_ref_odometer o = clf_ref_loop_over(clf_sink_loop(r->c, s));
    int64_t n = 0;
    bool live;
    CLF_TRY(clf_ref_turn(r, &o, true, &live));
    while (live) {
        CLF_TRY(clf_ref_eval(r));
        if (clf_ref_guarded(r, s)) {
            if (n == cap) return clf_fail(r->err, CLF_E_SHAPE, "append: more than the %" PRId64 " records its outputs hold", cap);
            int64_t at = n;
            if (order) {
                clf_slot x = clf_ref_value(r, s->order);
                at = place_of(order, n, x, clf_ref_type(r, s->order));
                memmove(&order[at + 1], &order[at], (size_t)(n - at) * sizeof *order);
                order[at] = x;
            }
            insert_record(r, s, at, n++);
        }
        CLF_TRY(clf_ref_turn(r, &o, false, &live));
    }
    clf_ref_put(r, s->out[3], 0, (clf_slot){.i = n});
    return CLF_OK;
}

static clf_status run_append(clf_ref_job *r, const clf_sink *s) {
    int64_t cap = clf_ref_out_cells(r, s->out[0]);
    for (int q = 1; q < 3 && s->value[q] >= 0; q++)
        if (clf_ref_out_cells(r, s->out[q]) < cap) cap = clf_ref_out_cells(r, s->out[q]);
    if (s->order < 0) return append_into(r, s, NULL, cap);
    clf_slot *order = clf_mem_new(r->mem, (size_t)cap, sizeof *order);
    if (!order) return clf_fail(r->err, CLF_E_NOMEM, "append: no memory to order %" PRId64 " records", cap);
    clf_status st = append_into(r, s, order, cap);
    clf_mem_free(r->mem, order, (size_t)cap, sizeof *order);
    return st;
}

clf_status clf_ref_sink(clf_ref_job *r, int sink) {
    static clf_status (*const by_kind[])(clf_ref_job *, const clf_sink *) = {run_store,   run_fold,  run_store,   run_append,
                                                                             run_scatter, run_group, clf_ref_meet};
    const clf_sink *s = &r->c->sink[sink];
    clf_ref_root(r, s);
    for (int a = 0; a < r->c->naxes; a++) r->count[a] = -1;
    return by_kind[s->kind](r, s);
}
