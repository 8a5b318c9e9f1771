/* SPDX-License-Identifier: Apache-2.0
 * Products of a row's entries with rows of a side larger than a core's own cache, where entries are many to a row and a column: a block of
 * rows at a time (clf_entry.blocked), columns cut so that the side's rows of one cut stay near. In a cut every row of the block goes on
 * where it stopped: its accumulators wait in scratch, and so do its leaves. Invariant: a row takes its entries in ascending order, leaf
 * by leaf, as it does in one go, so no bit depends on it. */
#include "kernels-cl/skel/entry_text.h"

enum { AHEAD = 3, LINE_CELLS = 8 }; /* rows; 8-byte cells */

/* keptS: accumulators of task S of the work-item's rows; stackS: their leaves, and those of one row that is done in one go. */
void clf_etext_cuts_setup(clf_etext *t) {
    char buf[CLF_EMIT_NAME];
    int before = 0, all = 0;
    if (!t->p->blocked || t->p->by_entry) return;
    for (int s = 0; s < t->p->ntask; s++)
        if (t->p->task[s].kind == CLF_DO_ROWS_OF) all += clf_etext_padded(t, t->p->task[s].axis);
    CLF_PUT(&t->x, "int at_[%d]; long done_ = 0;\nconst long per_ = bn * (1 + bl) + %d;\n", CLF_ENTRY_SPAN, CLF_ENTRY_LEVELS);
    CLF_PUT(&t->x, "__global double *const mine_ = scratch + bb + me * per_ * %d;\n", all);
    for (int s = 0; s < t->p->ntask; s++) {
        if (t->p->task[s].kind != CLF_DO_ROWS_OF) continue;
        int padded = clf_etext_padded(t, t->p->task[s].axis);
        const char *one = clf_emit_type(buf, clf_ctext_type(&t->x, s), 1);
        CLF_PUT(&t->x, "__global %s *const kept%d = (__global %s *)(mine_ + per_ * %d);\n", one, s, one, before);
        one = clf_emit_type(buf, clf_wide(clf_ctext_type(&t->x, s)), 1);
        CLF_PUT(&t->x, "__global %s *const stack%d = (__global %s *)(mine_ + per_ * %d + bn * %d);\n", one, s, one, before, padded);
        before += padded;
    }
}

/* The next block of rows, as long as its like, and its cuts. */
static void open_block(clf_etext *t) {
    CLF_PUT(&t->x, "if (i >= done_) {\nconst long row0_ = i, like_ = (b1 - i + bn - 1) / bn; long to = 0;\n");
    CLF_PUT(&t->x, "done_ = i + (b1 - i + like_ - 1) / like_;\n");
    CLF_PUT(&t->x, "do { const bool first_ = to == 0; to += %d;\n", t->p->blocked);
    CLF_PUT(&t->x, "for (long r_ = row0_; r_ < done_; r_++) {\nconst long i = r_, e0 = xp[i], e1 = xp[i + 1];\n");
}

/* Entries of a row soon to come: those of a cut do not follow those of the row before, and nobody else asks memory for them. */
static void ask_row(clf_etext *t) {
    CLF_PUT(&t->x, "{ const long w_ = min(i + %d, done_ - 1), n_ = xp[w_] + (first_ ? 0 : at_[w_ - row0_]);\n", AHEAD);
    CLF_PUT(&t->x, "CLF_FETCH(xc + n_) CLF_FETCH(xe + n_) CLF_FETCH(xe + n_ + %d) }\n", LINE_CELLS);
}

/* From entry f0 on; rows with nothing in this cut are left, but for rows without entries, which end in the first. */
static void open_row(clf_etext *t) {
    CLF_PUT(&t->x, "const bool whole_ = e1 - e0 > 512L << bl;\nconst long f0 = first_ ? e0 : e0 + at_[i - row0_];\n");
    CLF_PUT(&t->x, "if (f0 < e1 ? !whole_ && xc[f0] >= to : !first_) { if (first_) at_[i - row0_] = 0; continue; }\n");
}

static void entries_of_leaf(clf_etext *t) {
    CLF_PUT(&t->x, "do {\nconst int most_ = (int)min(%dL, l1 - eb); int cells = 0;\n", clf_etext_at_once(t));
    CLF_PUT(&t->x, "if (whole_) cells = most_; else while (cells < most_ && xc[eb + cells] < to) cells++;\n");
    clf_etext_some_entries(t, false);
    CLF_PUT(&t->x, "eb += cells; } while (eb < l1 && (whole_ || xc[eb] < to));\n");
}

static void leaves(clf_etext *t) {
    CLF_PUT(&t->x, "{\n");
    if (clf_etext_pairs_now(t)) clf_etext_pair_rows(t);
    CLF_PUT(&t->x, "do {\nconst long j0 = (eb - e0) / 512 * 512, l1 = min(e0 + j0 + 512, e1);\nconst bool on_ = eb - e0 > j0;\n");
    clf_etext_late_lanes(t);
    entries_of_leaf(t);
    CLF_PUT(&t->x, "if (eb < l1) {\n");
    clf_etext_late_keep(t);
    CLF_PUT(&t->x, "break; }\n");
    clf_etext_late_leaf(t);
    CLF_PUT(&t->x, "} while (eb < e1 && (whole_ || xc[eb] < to));\n}\n");
}

void clf_etext_cuts(clf_etext *t) {
    open_block(t);
    ask_row(t);
    open_row(t);
    clf_etext_row_values(t, 0);
    clf_etext_mark(t, 0);
    clf_etext_late_open(t);
    CLF_PUT(&t->x, "long eb = f0;\n");
    leaves(t);
    CLF_PUT(&t->x, "at_[i - row0_] = (int)(eb - e0);\nif (eb < e1) continue;\n");
    clf_etext_late_close(t);
    clf_etext_row_values(t, 1);
    clf_etext_row_stores(t);
    CLF_PUT(&t->x, "}\n} while (to < bm);\n}\n");
}
