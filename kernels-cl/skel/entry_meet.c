/* SPDX-License-Identifier: Apache-2.0
 * Partial results of entry.chunk, where values meet at their column. Narrow ones are laid out as those of column folds of cell.chunk;
 * the last work-item merges all chunks strip by strip of cells, so that every partial result is read once.
 * Wide ones (direct) have one block of rows to a work-item, which folds right into the first free of 16 places in scratch; whoever
 * finishes after its neighbour merges the two, frees a place and goes on upward. So all cores merge, and what is cleared, filled and
 * merged is in their caches: a core needs but a few places. Invariant: the tree over blocks is the same, whoever merges. */
#include <stdio.h>
#include <string.h>

#include "kernels-cl/skel/entry_text.h"

enum { STRIP = 512 }; /* cells merged at once: those of all chunks stay in the core's own cache */

static bool meets(const clf_etext *t, int s) { return clf_cell_fold_of(t->x.p, &t->x.c->sink[s]) == CLF_CELL_COLFOLD; }

void clf_etext_meet_setup(clf_etext *t) {
    char buf[CLF_EMIT_NAME];
    if (!t->p->direct) {
        clf_cols_setup(&t->x);
        return;
    }
    CLF_PUT(&t->x, "__global long *const home_ = (__global long *)(scratch + cbase) - %d;\n", CLF_ENTRY_PLACES);
    CLF_PUT(&t->x, "int p_ = 0;\nCLF_TAKE(counter, p_)\nhome_[me] = p_;\n");
    CLF_PUT(&t->x, "__global double *col_at = scratch + cbase + p_ * cstride;\n");
    for (int s = 0; s < t->p->ntask; s++)
        for (int m = 0; meets(t, s) && m < clf_fold_states(&t->x, s); m++) {
            const char *type = clf_emit_type(buf, clf_fold_wide_type(&t->x, s, m), 1);
            CLF_PUT(&t->x, "__global %s *const f%da%d = (__global %s *)col_at, *const f%dk%d = f%da%d; col_at += cp;\n", type, s, m, type,
                    s, m, s, m);
        }
}

void clf_etext_meet_push(clf_etext *t) {
    if (t->p->direct)
        CLF_PUT(&t->x, "col_depth = 1;\n");
    else
        clf_fold_hole_col_push(&t->x);
}

static const char *mine(const clf_etext *t) { return t->p->direct ? "p_" : "me"; }

/* State m at cell u of partial result `from`, a chunk or a place, declared under a name. */
static void load(clf_etext *t, int s, int m, const char *name, const char *from) {
    char wide[CLF_EMIT_NAME], one[CLF_EMIT_NAME];
    clf_dtype type = clf_fold_wide_type(&t->x, s, m);
    CLF_PUT(&t->x, "%s %s = CLF_VLOAD(__global, %s, %d, f%dk%d + (%s - %s) * cstride + u); ", clf_emit_type(wide, type, CLF_MERGE_WIDTH),
            name, clf_emit_type(one, type, 1), CLF_MERGE_WIDTH, s, m, from, mine(t));
}

/* Partial result `to` takes `from`, its later neighbour's, in cell u and those behind it. */
static void merge(clf_etext *t, int s, const char *to, const char *from) {
    clf_fold_vars f;
    char one[CLF_EMIT_NAME];
    memset(&f, 0, sizeof f);
    for (int m = 0; m < clf_fold_states(&t->x, s); m++) {
        CLF_NAME(f.s[m], "s%d_", m);
        CLF_NAME(f.t[m], "t%d_", m);
        load(t, s, m, f.s[m], to);
        load(t, s, m, f.t[m], from);
    }
    clf_fold_apply(&t->x, s, clf_fold_row_of(&t->x, s)->merge, true, CLF_MERGE_WIDTH, &f);
    for (int m = 0; m < clf_fold_states(&t->x, s); m++)
        CLF_PUT(&t->x, "CLF_VSTORE(__global, %s, %d, %s, f%dk%d + (%s - %s) * cstride + u); ",
                clf_emit_type(one, clf_fold_wide_type(&t->x, s, m), 1), CLF_MERGE_WIDTH, f.s[m], s, m, to, mine(t));
}

/* Cells u and those behind it, of columns of the entries one after the other, into the columns of the result. */
static void put_turned(clf_etext *t, int o) {
    char buf[CLF_EMIT_NAME];
    const char *one = clf_emit_type(buf, (clf_dtype)t->x.c->out[o].dtype, 1);
    int64_t n;
    int spread = (int)clf_entry_spread(t->p, &n);
    CLF_PUT(&t->x, "{ %s v_[%d]; CLF_VSTORE(__private, %s, %d, z_, v_);\n", one, CLF_MERGE_WIDTH, one, CLF_MERGE_WIDTH);
    CLF_PUT(&t->x, "for (int l_ = 0; l_ < %d && u + l_ < width; l_++)\n", CLF_MERGE_WIDTH);
    if (spread > n) CLF_PUT(&t->x, "if ((u + l_) %% %d < %d)\n", spread, (int)n);
    CLF_PUT(&t->x, "o%d[ob%d + (u + l_) %% %d * (width / %d) + (u + l_) / %d] = v_[l_]; }\n", o, o, spread, spread, spread);
}

/* The same into the result as it lies. */
static void put(clf_etext *t, int o) {
    char run[CLF_EMIT_NAME];
    int64_t n;
    int spread = (int)clf_entry_spread(t->p, &n);
    clf_emit_run(&t->x.e, run, (clf_dtype)t->x.c->out[o].dtype, CLF_MERGE_WIDTH);
    if (spread > n)
        CLF_PUT(&t->x, "%s_STORET(z_, o%d + ob%d + u / %d * %d + u %% %d, (int)min(%dL, %d - u %% %d));\n", run, o, o, spread, (int)n,
                spread, CLF_MERGE_WIDTH, (int)n, spread);
    else
        CLF_PUT(&t->x, "%s_STORET(z_, o%d + ob%d + u, (int)min(%dL, width - u));\n", run, o, o, CLF_MERGE_WIDTH);
}

/* Of partial result `from`. */
static void result(clf_etext *t, int s, const char *from) {
    clf_fold_vars f;
    int o = t->x.c->sink[s].out[0];
    memset(&f, 0, sizeof f);
    for (int m = 0; m < clf_fold_states(&t->x, s); m++) {
        CLF_NAME(f.s[m], "s%d_", m);
        load(t, s, m, f.s[m], from);
    }
    clf_fold_result(&t->x, s, CLF_MERGE_WIDTH, &f, "z_");
    if (t->p->task[s].turned)
        put_turned(t, o);
    else
        put(t, o);
}

/* Neighbours, the blocks from c_ on and those from c_ + w_ on. */
static void meet_pairs(clf_etext *t) {
    CLF_PUT(&t->x, "CLF_COLD for (long w_ = 1; w_ < chunks; w_ *= 2) {\nconst long c_ = me & -2 * w_;\n");
    CLF_PUT(&t->x, "if (c_ + w_ >= chunks) continue;\nCLF_SECOND(counter, me, w_)\n");
    CLF_PUT(&t->x, "const long to_ = home_[c_], from_ = home_[c_ + w_];\n");
    for (int s = 0; s < t->p->ntask; s++) {
        if (!meets(t, s)) continue;
        CLF_PUT(&t->x, "CLF_COLD for (long u = 0; u < width; u += %d) { ", CLF_MERGE_WIDTH);
        merge(t, s, "to_", "from_");
        CLF_PUT(&t->x, "}\n");
    }
    CLF_PUT(&t->x, "CLF_LEAVE(counter, (int)from_)\n}\n");
}

void clf_etext_meet(clf_etext *t) {
    if (t->p->direct)
        meet_pairs(t);
    else
        CLF_PUT(&t->x, "CLF_LAST(counter, chunks)\n");
}

static void merge_strip(clf_etext *t, int s) {
    CLF_PUT(&t->x, "CLF_COLD for (long w_ = 1; w_ < chunks; w_ *= 2)\nCLF_COLD for (long c_ = 0; c_ + w_ < chunks; c_ += 2 * w_)\n");
    CLF_PUT(&t->x, "CLF_COLD for (long u = v_; u < e_; u += %d) { ", CLF_MERGE_WIDTH);
    merge(t, s, "c_", "c_ + w_");
    CLF_PUT(&t->x, "}\n");
}

void clf_etext_meet_final(clf_etext *t) {
    for (int s = 0; s < t->p->ntask; s++) {
        if (!meets(t, s)) continue;
        CLF_PUT(&t->x, "CLF_COLD for (long v_ = 0; v_ < width; v_ += %d) {\nconst long e_ = min(v_ + %d, width);\n", STRIP, STRIP);
        if (!t->p->direct) merge_strip(t, s);
        CLF_PUT(&t->x, "CLF_COLD for (long u = v_; u < e_; u += %d) { ", CLF_MERGE_WIDTH);
        result(t, s, t->p->direct ? "home_[0]" : "0L");
        CLF_PUT(&t->x, "}\n}\n");
    }
}
