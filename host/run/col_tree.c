/* SPDX-License-Identifier: Apache-2.0
 * Subtrees of a fold that keeps columns (col_tree.h). */
#include "host/run/col_tree.h"

#include <string.h>

int clf_col_tree_places(int64_t blocks) {
    int n = 1;
    for (; blocks > 0; blocks /= 2) n++;
    return n;
}

void clf_col_copy(int64_t n, clf_word *const to[3], clf_word *const from[3]) {
    for (int k = 0; k < 3; k++)
        if (to[k] && n > 0) memcpy(to[k], from[k], (size_t)n * sizeof *to[k]);
}

void clf_col_place(const clf_col_places *p, int t, clf_word *out[3]) {
    for (int k = 0; k < 3; k++) out[k] = p->base[k] ? p->base[k] + (size_t)t * p->step : NULL;
}

static void merge(const clf_col_places *p, int t) {
    clf_word *left[3], *right[3];
    clf_col_place(p, t, left);
    clf_col_place(p, t + 1, right);
    p->fold->col_merge(p->cells, left, right);
}

void clf_col_tree_push(clf_col_tree *tree, const clf_col_places *p, int64_t index, int level) {
    while (tree->top > 0 && tree->level[tree->top - 1] == level && (index >> level & 1) != 0) {
        merge(p, --tree->top);
        index = tree->index[tree->top];
        level++;
    }
    tree->index[tree->top] = index;
    tree->level[tree->top++] = (uint8_t)level;
}

void clf_col_tree_close(clf_col_tree *tree, const clf_col_places *p) {
    for (; tree->top > 1; tree->top--) merge(p, tree->top - 2);
}
