/* SPDX-License-Identifier: Apache-2.0
 * DOTs per entry against a side larger than a core's own cache, where entries are many to a row and a column: a block of entries at a
 * time (clf_entry.blocked), columns cut so that the side's rows of one cut stay near. Within a cut every row of the block goes on where
 * it stopped, so the side is read once per block instead of once per row; the numbers wait in scratch in the order of the entries, and
 * the tiles of the block take them from there. Invariant: the same DOTs as in entry_pairs.c, so no bit depends on it. */
#include "kernels-cl/skel/entry_text.h"

enum { SPAN = CLF_ENTRY_SPAN }; /* rows of a block that can be gone on with; more are read in one go */

static bool now(const clf_etext *t, int v) { return clf_entry_is_pair(t->p, v) && t->tile[v]; }

/* bN: the work-item's numbers of value N. */
void clf_etext_block_setup(clf_etext *t) {
    char buf[CLF_EMIT_NAME];
    int k = 0;
    if (!t->p->blocked || !t->p->by_entry) return;
    CLF_PUT(&t->x, "int at_[%d];\n", SPAN);
    for (int v = 0; v < t->p->c->nvalue; v++) {
        if (!clf_entry_is_pair(t->p, v)) continue;
        const char *one = clf_emit_type(buf, clf_etext_type(t, v), 1);
        CLF_PUT(&t->x, "__global %s *const b%d = (__global %s *)(scratch + bb + (me * %d + %d) * bn);\n", one, v, one, t->p->pairs, k++);
    }
}

static void row_of_cut(clf_etext *t) {
    CLF_PUT(&t->x, "const long end = min(xp[r_ + 1], f1) - eb; long z = first ? max(xp[r_] - eb, 0L) : (long)at_[r_ - row];\n");
    CLF_PUT(&t->x, "if (z < end && xc[eb + z] < to) {\n");
    clf_etext_row_values(t, 0);
    clf_etext_pair_rows(t);
    clf_etext_pair_loop(t, "end", "to");
    CLF_PUT(&t->x, "}\nif (last - row < %d) at_[r_ - row] = (int)z;\n", SPAN);
}

/* The numbers of a block of entries, before its first tile. */
static void block(clf_etext *t) {
    char buf[CLF_EMIT_NAME];
    t->row = "r_";
    CLF_PUT(&t->x, "if (((i - i0) * 512 & (bn - 1)) == 0) {\nconst long f1 = min(min(e0 + bn, i1 * 512), nnz);\n");
    CLF_PUT(&t->x, "while (xp[row + 1] <= e0) row++;\nlong last = row, to = 0;\nwhile (xp[last + 1] < f1) last++;\n");
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (now(t, v)) CLF_PUT(&t->x, "__global %s *const t%d = b%d;\n", clf_emit_type(buf, clf_etext_type(t, v), 1), v, v);
    CLF_PUT(&t->x, "do { const bool first = to == 0;\nto = last - row < %d ? to + %d : bm;\n", SPAN, t->p->blocked);
    CLF_PUT(&t->x, "for (long r_ = row; r_ <= last; r_++) {\n");
    row_of_cut(t);
    CLF_PUT(&t->x, "}\n} while (to < bm);\n}\n");
}

/* A tile's share of them. */
static void take(clf_etext *t, int v) {
    char buf[CLF_EMIT_NAME];
    int w = t->x.p->width;
    const char *one = clf_emit_type(buf, clf_etext_type(t, v), 1);
    CLF_PUT(&t->x, "{ const __global %s *const q_ = b%d + ((i - i0) * 512 & (bn - 1));\nint z = 0;\n", one, v);
    CLF_PUT(&t->x, "for (; z + %d <= cells; z += %d) CLF_VSTORE(__private, %s, %d, CLF_VLOAD(__global, %s, %d, q_ + z), t%d + z);\n", w, w,
            one, w, one, w, v);
    CLF_PUT(&t->x, "for (; z < cells; z++) t%d[z] = q_[z]; }\n", v);
}

void clf_etext_block_tile(clf_etext *t) {
    block(t);
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (now(t, v)) take(t, v);
    if (!t->p->rows) return;
    CLF_PUT(&t->x, "{ long r_ = row; for (int z = 0; z < cells; z++) { while (xp[r_ + 1] <= e0 + z) r_++; row_[z] = r_; } }\n");
}
