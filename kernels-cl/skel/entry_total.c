/* SPDX-License-Identifier: Apache-2.0
 * Folds of entry.chunk over all rows. A row's cells wait in scratch, one row's behind the other's, until the rows of the work-item are done:
 * then it folds those leaves of 512 cells that are all its own, as a rule still in its core's cache, and leaves their states. Leaves that
 * go over to the next work-item's rows are folded by the one that finishes last, which merges them all. */
#include "kernels-cl/skel/entry_text.h"

/* Cells of a row that a total takes. */
static int cells_of_row(const clf_etext *t, int s) {
    int axis = (int)t->p->task[s].axis;
    return axis < 0 ? 1 : (int)clf_entry_extent(t->p, axis);
}

/* Cells at .. at + n - 1 of a row's, n a power of two. */
static void put_run(clf_etext *t, int s, int at, int n) {
    char buf[CLF_EMIT_NAME];
    int v = t->p->task[s].a, cells = cells_of_row(t, s);
    const char *one = clf_emit_type(buf, clf_etext_type(t, v), 1);
    if (n == 1)
        CLF_PUT(&t->x, "w%d_[i * %d + %d] = y%d[%d];\n", s, cells, at, v, at);
    else
        CLF_PUT(&t->x, "CLF_VSTORE(__global, %s, %d, CLF_VLOAD(__private, %s, %d, y%d + %d), w%d_ + i * %d + %d);\n", one, n, one, n, v, at,
                s, cells, at);
}

void clf_etext_total_put(clf_etext *t, int s) {
    const clf_entry_task *d = &t->p->task[s];
    if (d->axis >= 0) {
        for (int at = 0, n = cells_of_row(t, s), k = t->x.p->width; at < n; at += k) {
            while (k > n - at) k /= 2;
            put_run(t, s, at, k);
        }
        return;
    }
    CLF_PUT(&t->x, "w%d_[i] = ", s);
    clf_etext_name(t, d->a);
    CLF_PUT(&t->x, ";\n");
}

static void total_step(clf_etext *t, int s, bool tail) {
    char wide[CLF_EMIT_NAME], one[CLF_EMIT_NAME], position[96];
    int w = t->x.p->width;
    clf_dtype type = clf_ctext_type(&t->x, s);
    CLF_PUT(&t->x, "const %s y = CLF_VLOAD(__global, %s, %d, w%d_ + u);\n", clf_emit_type(wide, type, w), clf_emit_type(one, type, 1), w,
            s);
    clf_print(position, sizeof position, "(long%d)(u) + (long%d)(CLF_IOTA_%d)", w, w, w);
    clf_etext_fold_step(t, s, position, tail);
}

static bool is_total(const clf_etext *t, int s) { return t->p->task[s].kind == CLF_DO_TOTAL; }

void clf_etext_totals_setup(clf_etext *t) {
    static const char behind[] = "scratch + cbase + chunks * cstride";
    char one[CLF_EMIT_NAME];
    for (int s = 0; s < t->p->ntask; s++) {
        if (!is_total(t, s)) continue;
        const int place = t->p->task[s].place, cells = cells_of_row(t, s);
        const char *type = clf_emit_type(one, clf_ctext_type(&t->x, s), 1);
        CLF_PUT(&t->x, "__global %s *const w%d_ = (__global %s *)(%s + %d * (rows + 16));\n", type, s, type, behind, place);
        CLF_PUT(&t->x, "__global long *const q%d_ = (__global long *)(%s + %d * (rows + 16) + %d * (rows / %d + 1));\n", s, behind,
                t->p->ntotal, CLF_ENTRY_KNOWN * place, CLF_LEAF);
        for (int m = 0; m < clf_fold_states(&t->x, s); m++) {
            type = clf_emit_type(one, clf_fold_wide_type(&t->x, s, m), 1);
            CLF_PUT(&t->x, "__global %s *const q%d_%d = (__global %s *)(q%d_ + %d * (rows / %d + 1));\n", type, s, m, type, s,
                    cells * (m + 1), CLF_LEAF);
        }
    }
}

/* The leaf from cell j0 to `end`, to one state. What is read behind the last cell of all is there, and counts for nothing. */
static void leaf(clf_etext *t, int s) {
    int w = t->x.p->width;
    CLF_PUT(&t->x, "long u = j0;\n");
    clf_etext_fold_lanes(t, s);
    CLF_PUT(&t->x, "for (; u + %d <= end; u += %d) {\n", w, w);
    total_step(t, s, false);
    CLF_PUT(&t->x, "}\nif (u < end) { const int r = (int)(end - u);\nfor (int k = 0; k < %d; k++) w%d_[end + k] = 0;\n", w, s);
    total_step(t, s, true);
    CLF_PUT(&t->x, "}\n");
    clf_fold_wide(&t->x, s, 0);
}

/* Each leaf has one work-item that has its first cell. */
static void own_leaves(clf_etext *t, int s) {
    const int cells = cells_of_row(t, s);
    CLF_PUT(&t->x, "for (long j0 = (i0 * %d + 511) / 512 * 512; j0 < i1 * %d; j0 += 512) {\n", cells, cells);
    CLF_PUT(&t->x, "const long end = min(j0 + 512, rows * %d);\nq%d_[j0 / 512] = end <= i1 * %d;\nif (end > i1 * %d) break;\n", cells, s,
            cells, cells);
    clf_fold_wide_decl(&t->x, s, 0);
    leaf(t, s);
    for (int m = 0; m < clf_fold_states(&t->x, s); m++) CLF_PUT(&t->x, "q%d_%d[j0 / 512] = f%dw%d_0;\n", s, m, s, m);
    CLF_PUT(&t->x, "}\n");
}

void clf_etext_totals_leaves(clf_etext *t) {
    for (int s = 0; s < t->p->ntask; s++)
        if (is_total(t, s)) own_leaves(t, s);
}

static void total(clf_etext *t, int s) {
    CLF_PUT(&t->x, "{ const long n = rows * %d;\n", cells_of_row(t, s));
    clf_etext_fold_open(t, s);
    CLF_PUT(&t->x, "long j0 = 0; do {\nif (j0 < n && q%d_[j0 / 512]) {\n", s);
    for (int m = 0; m < clf_fold_states(&t->x, s); m++) CLF_PUT(&t->x, "f%dw%d_0 = q%d_%d[j0 / 512];\n", s, m, s, m);
    CLF_PUT(&t->x, "} else {\nconst long end = min(j0 + 512, n);\n");
    leaf(t, s);
    CLF_PUT(&t->x, "}\n");
    clf_fold_row_push(&t->x, s, 0);
    CLF_PUT(&t->x, "j0 += 512; } while (j0 < n);\n");
    t->row = "0";
    clf_etext_fold_close(t, s);
    CLF_PUT(&t->x, "}\n");
}

void clf_etext_totals(clf_etext *t) {
    for (int s = 0; s < t->p->ntask; s++)
        if (is_total(t, s)) total(t, s);
}
