/* SPDX-License-Identifier: Apache-2.0
 * Scalar operators and folds of the reference executor, from the two tables, and the reduction tree, written as core/fold.h states it. */
#include "kernels-cl/ref_ops.h"

#include <string.h>

#include "kernels-cl/elem_c.h"

typedef struct ref_fold {
    void (*init)(clf_ref_state *);
    void (*step)(clf_ref_state *, clf_slot, int64_t);
    void (*merge)(clf_ref_state *, const clf_ref_state *);
    clf_slot (*finish)(const clf_ref_state *);
    void (*repeat)(clf_ref_state *, clf_slot, int64_t, int64_t);
} ref_fold;

#define ELEM_T f32
#include "kernels-cl/ref_type.h"
#undef ELEM_T
#define ELEM_T f64
#include "kernels-cl/ref_type.h"
#undef ELEM_T
#define ELEM_T i32
#include "kernels-cl/ref_type.h"
#undef ELEM_T
#define ELEM_T i64
#include "kernels-cl/ref_type.h"
#undef ELEM_T
#define ELEM_T u8
#include "kernels-cl/ref_type.h"
#undef ELEM_T

/* In the order of clf_dtype. */
static const struct {
    clf_slot (*load)(const void *, int64_t);
    void (*store)(void *, int64_t, clf_slot);
    clf_slot (*cast)(clf_slot, clf_dtype);
    clf_slot (*const *ops)(const clf_slot *);
    const ref_fold *folds;
    void (*dot)(clf_ref_state *, clf_slot, clf_slot);
} by_type[CLF_NDTYPES] = {
#define T(t) {ref_load_##t, ref_store_##t, ref_cast_##t, ref_ops_##t, ref_folds_##t, ref_dot_##t},
    ELEM_TYPES(T)
#undef T
};

clf_slot clf_ref_load(const void *base, int64_t index, clf_dtype t) { return by_type[t].load(base, index); }
void clf_ref_store(void *base, int64_t index, clf_dtype t, clf_slot x) { by_type[t].store(base, index, x); }
clf_slot clf_ref_cast(clf_slot x, clf_dtype from, clf_dtype to) { return from == to ? x : by_type[from].cast(x, to); }
bool clf_ref_true(clf_slot x, clf_dtype t) { return clf_dtype_float(t) ? x.f != 0 : x.i != 0; }
clf_slot clf_ref_cell(int op, clf_dtype t, const clf_slot *in) { return by_type[t].ops[op](in); }

void clf_ref_init(clf_fold_id f, clf_dtype value, clf_ref_state *s) { by_type[value].folds[f].init(s); }
void clf_ref_step(clf_fold_id f, clf_dtype value, clf_ref_state *s, clf_slot v, int64_t k) { by_type[value].folds[f].step(s, v, k); }
void clf_ref_dot(clf_dtype value, clf_ref_state *s, clf_slot a, clf_slot b, int skip) {
    if ((skip & 1 && !clf_ref_true(a, value)) || (skip & 2 && !clf_ref_true(b, value))) return;
    by_type[value].dot(s, a, b);
}
void clf_ref_merge(clf_fold_id f, clf_dtype value, clf_ref_state *s, const clf_ref_state *t) { by_type[value].folds[f].merge(s, t); }
void clf_ref_repeat(clf_fold_id f, clf_dtype value, clf_ref_state *s, clf_slot v, int64_t n, int64_t k) {
    by_type[value].folds[f].repeat(s, v, n, k);
}
clf_slot clf_ref_finish(clf_fold_id f, clf_dtype value, const clf_ref_state *s) { return by_type[value].folds[f].finish(s); }

/* ---- the tree ------------------------------------------------------------------------------------------------------------ */

static void clear_lanes(clf_ref_tree *t) {
    for (int l = 0; l < t->lanes; l++) clf_ref_init(t->fold, t->value, &t->lane[l]);
}

void clf_ref_tree_begin(clf_ref_tree *t, clf_fold_id f, clf_dtype value, int lanes, int64_t leaf) {
    *t = (clf_ref_tree){.fold = f, .value = value, .lanes = lanes, .leaf = leaf};
    clear_lanes(t);
}

/* Fold the lanes of the open leaf and carry: leaf number m (from 1) closes as many subtrees as m has trailing zeros. */
static void close_leaf(clf_ref_tree *t, int64_t m) {
    const ref_fold *f = &by_type[t->value].folds[t->fold];
    for (int half = t->lanes / 2; half; half /= 2)
        for (int l = 0; l < half; l++) f->merge(&t->lane[l], &t->lane[l + half]);
    t->stack[t->nstack++] = t->lane[0];
    for (; m % 2 == 0; m /= 2, t->nstack--) f->merge(&t->stack[t->nstack - 2], &t->stack[t->nstack - 1]);
    clear_lanes(t);
}

static void next(clf_ref_tree *t) {
    t->p++;
    if (t->p % t->leaf == 0) close_leaf(t, t->p / t->leaf);
}

void clf_ref_tree_step(clf_ref_tree *t, clf_slot v, int64_t k, bool take) {
    if (take) clf_ref_step(t->fold, t->value, &t->lane[t->p % t->lanes], v, k);
    next(t);
}

void clf_ref_tree_dot(clf_ref_tree *t, clf_slot a, clf_slot b, int skip) {
    clf_ref_dot(t->value, &t->lane[t->p % t->lanes], a, b, skip);
    next(t);
}

void clf_ref_tree_repeat(clf_ref_tree *t, clf_slot v, int64_t n) {
    clf_ref_repeat(t->fold, t->value, &t->lane[0], v, n, t->p);
    next(t);
}

/* The whole is left alone on the stack. */
const clf_ref_state *clf_ref_tree_close(clf_ref_tree *t) {
    const ref_fold *f = &by_type[t->value].folds[t->fold];
    if (t->p == 0) t->stack[t->nstack++] = t->lane[0];
    if (t->p % t->leaf) close_leaf(t, t->p / t->leaf + 1);
    for (; t->nstack > 1; t->nstack--) f->merge(&t->stack[t->nstack - 2], &t->stack[t->nstack - 1]);
    return t->stack;
}

clf_slot clf_ref_tree_end(clf_ref_tree *t) { return clf_ref_tree_end_with(t, NULL); }

clf_slot clf_ref_tree_end_with(clf_ref_tree *t, const clf_ref_state *more) {
    (void)clf_ref_tree_close(t);
    if (more) clf_ref_merge(t->fold, t->value, &t->stack[0], more);
    return clf_ref_finish(t->fold, t->value, &t->stack[0]);
}

clf_slot clf_ref_tree_end_rest(clf_ref_tree *t, clf_slot rest, int64_t n, int64_t k) {
    clf_ref_state missing;
    if (n > 0) clf_ref_repeat(t->fold, t->value, &missing, rest, n, k);
    return clf_ref_tree_end_with(t, n > 0 ? &missing : NULL);
}
