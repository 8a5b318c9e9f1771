/* SPDX-License-Identifier: Apache-2.0
 * Lanes of several states of a fold to a wide state each, at once. One by one, a vector loses half of its lanes at each level of the tree.
 * Here two vectors of states become one with half as many lanes of each state, until there is one vector; only then it becomes shorter.
 * The pairs of lanes that merge, and their order, are the tree's. */
#include <string.h>

#include "kernels-cl/skel/cell_folds.h"

enum { TOGETHER = 8 /* states, no more than a vector has lanes */ };

/* Vectors p<level>_0 .. p<level>_(count - 1), of `width` lanes, of which each state has `each`. */
typedef struct level {
    int number, count, width, each;
} level;

/* A vector of type t, of the lower or upper half of every state's lanes in vectors a and, where two become one, b. */
static void put_halves(clf_ctext *x, const char *t, const level *v, int a, int b, bool upper) {
    const int vectors = v->count > 1 ? 2 : 1, half = v->each / 2, first = upper ? half : 0;
    CLF_PUT(x, "(%s)(", t);
    for (int k = 0; k < vectors; k++)
        for (int l = first; l < v->width; l += v->each)
            for (int i = l; i < l + half; i++)
                CLF_PUT(x, "%sp%d_%d.s%x", k > 0 || i > first ? ", " : "", v->number, k > 0 ? b : a, (unsigned)i);
    CLF_PUT(x, ")");
}

/* The next level, of half as many lanes a state. A vector that is alone in a pair is both of it. */
static void merge_level(clf_ctext *x, int s, level *v) {
    const int next = (v->count + 1) / 2, width = v->count > 1 ? v->width : v->width / 2;
    char t[CLF_EMIT_NAME];
    clf_fold_vars f;
    memset(&f, 0, sizeof f);
    CLF_NAME(f.t[0], "t_");
    clf_emit_type(t, clf_fold_wide_type(x, s, 0), width);
    for (int q = 0; q < next; q++) {
        const int b = 2 * q + 1 < v->count ? 2 * q + 1 : 2 * q;
        CLF_NAME(f.s[0], "p%d_%d", v->number + 1, q);
        CLF_PUT(x, "%s %s = ", t, f.s[0]);
        put_halves(x, t, v, 2 * q, b, false);
        CLF_PUT(x, ";\n{ const %s t_ = ", t);
        put_halves(x, t, v, 2 * q, b, true);
        CLF_PUT(x, ";\n");
        clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, width, &f);
        CLF_PUT(x, "}\n");
    }
    *v = (level){v->number + 1, next, width, v->each / 2};
}

/* States from .. from + n - 1. */
static void wide_together(clf_ctext *x, int s, int from, int n) {
    level v = {.count = n, .width = clf_lanes(clf_ctext_type(x, s))};
    char buf[CLF_EMIT_NAME], lanes[CLF_FOLD_NAME];
    CLF_PUT(x, "{ ");
    for (int q = 0; q < n; q++) {
        CLF_PUT(x, "const %s p0_%d = ", clf_emit_type(buf, clf_fold_wide_type(x, s, 0), v.width), q);
        CLF_NAME(lanes, "f%dl0_%d", s, from + q);
        clf_fold_widen(x, s, 0, v.width, lanes);
        CLF_PUT(x, ";\n");
    }
    for (v.each = v.width; v.each > 1;) merge_level(x, s, &v);
    for (int q = 0; q < n; q++) CLF_PUT(x, "f%dw0_%d = p%d_0.s%x; ", s, from + q, v.number, (unsigned)q);
    CLF_PUT(x, "}\n");
}

void clf_fold_wides(clf_ctext *x, int s, int n, int run) {
    const bool one = clf_fold_states(x, s) == 1 && !clf_fold_is_count(x, s, 0);
    const int most = !one ? 1 : run < TOGETHER ? TOGETHER / run * run : TOGETHER;
    for (int q = 0, some; q < n; q += some) {
        some = n - q < most ? n - q : most;
        if (some > 1)
            wide_together(x, s, q, some);
        else
            clf_fold_wide(x, s, q);
    }
}
