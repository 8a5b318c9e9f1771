/* SPDX-License-Identifier: Apache-2.0
 * Full folds of cell.chunk. FLAT strips are leaves; elsewhere values pass through a private tile that turns rows of any length into
 * leaves of 512. Finished leaves go onto the carry stack of fold.clh. */
#include <stdio.h>
#include <string.h>

#include "kernels-cl/skel/cell_folds.h"

/* ---- stacks of leaves: fill, leaf, full_depth and the like, those of the second one fill_1 and so on ---- */

const char *clf_full_suffix(const clf_ctext *x) {
    static const char *const suffix[] = {"", "_1", "_2", "_3"};
    return suffix[x->stack];
}

/* Opens a block in which the names of fold.clh are this stack's: the macros fold what belongs to it, and the compiler knows which. */
static void open_stack(clf_ctext *x) {
    if (!x->stacks) return;
    CLF_PUT(x, "{ const int full_stack = %d;\n", x->stack);
    if (x->stack)
        CLF_PUT(x, "__global long *const full_level = full_level%s; __global long *const full_count = full_count%s;\n", clf_full_suffix(x),
                clf_full_suffix(x));
}

static void close_stack(clf_ctext *x) { CLF_PUT(x, "%s", x->stacks ? "}\n" : ""); }

/* Leaf `leaf`, the first of which in this chunk is `first`. */
static void push(clf_ctext *x, const char *leaf, const char *first) {
    const char *of = clf_full_suffix(x);
    open_stack(x);
    CLF_PUT(x, "CLF_FULL_PUSH(%s%s, 0, %s%s, me * ent, full_depth%s)\n", leaf, of, first, of, of);
    close_stack(x);
}

static void full_leaf(clf_ctext *x, int s) { clf_fold_wide(x, s, 0); }
void clf_fold_full_leaf(clf_ctext *x) {
    clf_fold_each(x, CLF_CELL_FULLFOLD, full_leaf);
    push(x, "i", "i0");
}

/* ---- tiles ---- */

void clf_fold_tile_step(clf_ctext *x, int s) {
    clf_fold_bind(x, s, 0);
    CLF_PUT(x, "vstore%d(y, 0, f%dtile + fill%s + (u - j0)); }\n", x->p->width, s, clf_full_suffix(x));
}

/* Lanes of fold s over `cells` cells of its tile, all of them or (ragged) the last ones of the operator. */
static void tile_leaf(clf_ctext *x, int s, bool short_leaf) {
    char buf[CLF_EMIT_NAME], pos[CLF_EMIT_NAME];
    int w = x->p->width;
    clf_print(pos, sizeof pos, "leaf%s * 512 + u", clf_full_suffix(x));
    CLF_PUT(x, "{ ");
    clf_fold_lanes(x, s, 0);
    for (int tail = 0; tail <= short_leaf; tail++) {
        if (!tail)
            CLF_PUT(x, "int u = 0; for (; u + %d <= cells_; u += %d) {\n", w, w);
        else
            CLF_PUT(x, "if (u < cells_) { const int r = cells_ - u; for (int z = cells_; z < u + %d; z++) f%dtile[z] = 0;\n", w, s);
        CLF_PUT(x, "const %s y = vload%d(0, f%dtile + u);\n", clf_emit_type(buf, clf_ctext_type(x, s), w), w, s);
        clf_fold_step_vector(x, s, 0, pos, tail);
        CLF_PUT(x, "}\n");
    }
    clf_fold_wide(x, s, 0);
    CLF_PUT(x, "}\n");
}
static void tile_whole(clf_ctext *x, int s) { tile_leaf(x, s, false); }
static void tile_short(clf_ctext *x, int s) { tile_leaf(x, s, true); }
static void tile_shift(clf_ctext *x, int s) {
    CLF_PUT(x, "for (int k = 0; k < fill%s - 512; k += %d) vstore%d(vload%d(0, f%dtile + 512 + k), 0, f%dtile + k);\n", clf_full_suffix(x),
            x->p->width, x->p->width, x->p->width, s, s);
}

void clf_fold_tile_flush(clf_ctext *x) {
    const char *of = clf_full_suffix(x);
    CLF_PUT(x, "fill%s += (int)(e1 - j0);\nif (fill%s >= 512) { const int cells_ = 512;\n", of, of);
    clf_fold_each(x, CLF_CELL_FULLFOLD, tile_whole);
    push(x, "leaf", "leaf0");
    CLF_PUT(x, "leaf%s++;\n", of);
    clf_fold_each(x, CLF_CELL_FULLFOLD, tile_shift);
    CLF_PUT(x, "fill%s -= 512; }\n", of);
}

static void full_setup(clf_ctext *x, int s) {
    char buf[CLF_EMIT_NAME];
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        const char *t = clf_emit_type(buf, clf_fold_wide_type(x, s, m), 1);
        CLF_PUT(x, "__global %s *const f%dz%d = (__global %s *)(scratch + full_at); full_at += (chunks + 1) * ent;\n", t, s, m, t);
    }
    clf_fold_wide_decl(x, s, 0);
    if (x->p->kind != CLF_CELL_FLAT) CLF_PUT(x, "%s f%dtile[1024 + 32];\n", clf_emit_type(buf, clf_ctext_type(x, s), 1), s);
}

static void full_slot(clf_ctext *x, int s, int which) {
    clf_fold_vars f;
    memset(&f, 0, sizeof f);
    clf_fold_wide_names(x, s, 0, f.t);
    for (int m = 0; m < clf_fold_states(x, s); m++) CLF_NAME(f.s[m], "f%dz%d[slot]", s, m);
    if (which == 0) clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, 1, &f);
    if (which == 3) {
        memcpy(f.s, f.t, sizeof f.s);
        clf_fold_empty(x, s, 1, &f);
        return;
    }
    for (int m = 0; m < clf_fold_states(x, s); m++)
        if (which == 1)
            CLF_PUT(x, "%s = %s; ", f.s[m], f.t[m]);
        else
            CLF_PUT(x, "%s = %s; ", f.t[m], f.s[m]);
    CLF_PUT(x, "\n");
}

void clf_fold_hole_full(clf_ctext *x, int which) {
    for (int s = 0; s < x->c->nsink; s++)
        if (clf_cell_fold_of(x->p, &x->c->sink[s]) == CLF_CELL_FULLFOLD) {
            if (x->stacks) CLF_PUT(x, "if (full_stack == %d) { ", x->stacks[s]);
            full_slot(x, s, which);
            if (x->stacks) CLF_PUT(x, "}\n");
        }
}

void clf_full_result(clf_ctext *x, int s) {
    clf_fold_vars f;
    int o = x->c->sink[s].out[0];
    memset(&f, 0, sizeof f);
    clf_fold_wide_names(x, s, 0, f.s);
    CLF_PUT(x, "{ ");
    clf_fold_result(x, s, 1, &f, "z_");
    CLF_PUT(x, "o%d[ob%d] = z_; }\n", o, o);
}

/* Scratch has the levels of a stack, its counts, and the states of its folds; then the next one's. */
void clf_full_setup(clf_ctext *x) {
    const char *of = clf_full_suffix(x);
    if (!x->p->nfull) return;
    if (!x->stack)
        CLF_PUT(x, "long full_at = (chunks + 1) * (ent + 1);\n");
    else
        CLF_PUT(x,
                "__global long *const full_level%s = (__global long *)scratch + full_at; int full_depth%s = 0;\n"
                "__global long *const full_count%s = full_level%s + (chunks + 1) * ent; full_at += (chunks + 1) * (ent + 1);\n",
                of, of, of, of);
    if (x->p->kind != CLF_CELL_FLAT)
        CLF_PUT(x, "int fill%s = 0; const long leaf0%s = i0 * %s / 512; long leaf%s = leaf0%s;\n", of, of, x->strip, of, of);
    clf_fold_each(x, CLF_CELL_FULLFOLD, full_setup);
}

void clf_full_finish(clf_ctext *x) {
    const char *of = clf_full_suffix(x);
    if (!x->p->nfull) return;
    if (x->p->kind != CLF_CELL_FLAT) {
        CLF_PUT(x, "if (fill%s > 0) { const int cells_ = fill%s;\n", of, of);
        clf_fold_each(x, CLF_CELL_FULLFOLD, tile_short);
        push(x, "leaf", "leaf0");
        CLF_PUT(x, "}\n");
    }
    CLF_PUT(x, "full_count%s[me] = full_depth%s;\n", of, of);
}

/* Of one sink; `at` its first component's stacks, one behind the other (fold.clh). */
static void states_of(const clf_cell *p, int64_t leaves, clf_grid grid, const int64_t *scratch, int sink, int64_t at, clf_take_state take,
                      void *user) {
    const int64_t stacks = (p->chunks + 1) * p->ent, *level = scratch, *count = scratch + stacks;
    uint64_t word[3] = {0};
    for (int64_t me = grid.lo; me < grid.hi && me < p->chunks; me++) {
        int64_t leaf = me * leaves;
        for (int64_t e = me * p->ent; e < me * p->ent + count[me]; e++) {
            for (int m = 0; m < clf_cell_states(&p->c->sink[sink]); m++) memcpy(&word[m], &scratch[at + m * stacks + e], sizeof *word);
            take(user, sink, leaf, (int)level[e], word);
            leaf += (int64_t)1 << level[e];
        }
    }
}

const void *clf_full_states(const clf_cell *p, const clf_full_stack *stack, clf_grid grid, const void *scratch, clf_take_state take,
                            void *user) {
    int64_t at = (p->chunks + 1) * (p->ent + 1);
    for (int k = 0; k < p->c->nsink; k++) {
        bool on = !stack->of || stack->of[k] == stack->which;
        if (!on || clf_cell_fold_of(p, &p->c->sink[k]) != CLF_CELL_FULLFOLD) continue;
        states_of(p, stack->leaves, grid, scratch, k, at, take, user);
        at += clf_cell_states(&p->c->sink[k]) * (p->chunks + 1) * p->ent;
    }
    return (const int64_t *)scratch + at;
}

void clf_full_final(clf_ctext *x) {
    if (!x->p->nfull) return;
    open_stack(x);
    CLF_PUT(x, "CLF_FULL_CLOSE()\n");
    clf_fold_each(x, CLF_CELL_FULLFOLD, clf_full_result);
    close_stack(x);
}
