/* SPDX-License-Identifier: Apache-2.0
 * Partial results of entry.chunk, where values meet at their column: laid out and merged as column folds of cell.chunk are, but for two
 * savings that wide results need. A work-item with one block of rows folds right into its place on the stack. And the last work-item
 * merges all chunks strip by strip of cells, so that every partial result is read once. */
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
    CLF_PUT(&t->x, "__global double *col_at = scratch + cbase + me * cstride;\n");
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

/* State m of chunk `chunk` at cell u, declared under a name. */
static void load(clf_etext *t, int s, int m, const char *name, const char *chunk) {
    char wide[CLF_EMIT_NAME], one[CLF_EMIT_NAME];
    clf_dtype type = clf_fold_wide_type(&t->x, s, m);
    CLF_PUT(&t->x, "%s %s = CLF_VLOAD(__global, %s, %d, f%dk%d + (%s - me) * cstride + u); ", clf_emit_type(wide, type, CLF_MERGE_WIDTH),
            name, clf_emit_type(one, type, 1), CLF_MERGE_WIDTH, s, m, chunk);
}

/* Chunk c_ takes chunk c_ + w_, its later neighbour, in cell u and those behind it. */
static void merge(clf_etext *t, int s) {
    clf_fold_vars f;
    char one[CLF_EMIT_NAME];
    memset(&f, 0, sizeof f);
    for (int m = 0; m < clf_fold_states(&t->x, s); m++) {
        CLF_NAME(f.s[m], "s%d_", m);
        CLF_NAME(f.t[m], "t%d_", m);
        load(t, s, m, f.s[m], "c_");
        load(t, s, m, f.t[m], "c_ + w_");
    }
    clf_fold_apply(&t->x, s, clf_fold_row_of(&t->x, s)->merge, true, CLF_MERGE_WIDTH, &f);
    for (int m = 0; m < clf_fold_states(&t->x, s); m++)
        CLF_PUT(&t->x, "CLF_VSTORE(__global, %s, %d, %s, f%dk%d + (c_ - me) * cstride + u); ",
                clf_emit_type(one, clf_fold_wide_type(&t->x, s, m), 1), CLF_MERGE_WIDTH, f.s[m], s, m);
}

static void result(clf_etext *t, int s) {
    clf_fold_vars f;
    char buf[CLF_EMIT_NAME];
    int o = t->x.c->sink[s].out[0];
    memset(&f, 0, sizeof f);
    for (int m = 0; m < clf_fold_states(&t->x, s); m++) {
        CLF_NAME(f.s[m], "s%d_", m);
        load(t, s, m, f.s[m], "0L");
    }
    clf_fold_result(&t->x, s, CLF_MERGE_WIDTH, &f, "z_");
    CLF_PUT(&t->x, "%s_STORET(z_, o%d + ob%d + u, (int)min(%dL, width - u));\n",
            clf_emit_run(&t->x.e, buf, (clf_dtype)t->x.c->out[o].dtype, CLF_MERGE_WIDTH), o, o, CLF_MERGE_WIDTH);
}

void clf_etext_meet_final(clf_etext *t) {
    for (int s = 0; s < t->p->ntask; s++) {
        if (!meets(t, s)) continue;
        CLF_PUT(&t->x, "CLF_COLD for (long v_ = 0; v_ < width; v_ += %d) {\nconst long e_ = min(v_ + %d, width);\n", STRIP, STRIP);
        CLF_PUT(&t->x, "CLF_COLD for (long w_ = 1; w_ < chunks; w_ *= 2)\nCLF_COLD for (long c_ = 0; c_ + w_ < chunks; c_ += 2 * w_)\n");
        CLF_PUT(&t->x, "CLF_COLD for (long u = v_; u < e_; u += %d) { ", CLF_MERGE_WIDTH);
        merge(t, s);
        CLF_PUT(&t->x, "}\nCLF_COLD for (long u = v_; u < e_; u += %d) { ", CLF_MERGE_WIDTH);
        result(t, s);
        CLF_PUT(&t->x, "}\n}\n");
    }
}
