/* SPDX-License-Identifier: Apache-2.0
 * Jobs of entry.group.cl whose values meet at the columns of entries: a block of rows folds into states of its own, row by row, for which
 * it has a place in scratch; row.group.merge.cl merges the blocks. Entries of a row lie in different columns, so work-items take them side
 * by side without a word to each other, and wait for each other before the next row: a cell steps in the order of the rows. */

#include "kernels-cl/skel/band_text.h"

#include "core/print.h"

/* Of cell x_, or of c_: `tail` tells. */
static const char *const OF_X = ") * blocks + b_) * cells + x_]", *const OF_C = ") * blocks + b_) * cells + c_]";
static clf_place at_cell(int s, char head[48], const char *tail) {
    clf_print(head, 48, "scratch[fa%d + ((long)(", s);
    return (clf_place){head, tail, 0};
}

/* Axes that an entry's cells lie along, besides its column. */
static uint32_t along(const clf_btext *t, int k) { return t->p->job[k].keep & ~(1u << t->p->e); }

static void empty_cells(clf_btext *t, int k) {
    char head[48];
    CLF_PUT(&t->x, "const CLF_INDEX fresh = pass0 == b_ * block ? cells : 0;\nCLF_BAND_EACH(x_, fresh) {\n");
    for (int s = 0; s < t->p->c->nsink; s++) {
        if (!clf_btext_folds(t, s, k)) continue;
        CLF_PUT(&t->x, "{\n");
        clf_state_empty(&t->x, s);
        clf_state_save(&t->x, s, 'a', at_cell(s, head, OF_X));
        CLF_PUT(&t->x, "}\n");
    }
    CLF_PUT(&t->x, "}\nCLF_BAND_SYNC\n");
}

static void step_cell(clf_btext *t, int s) {
    char head[48];
    clf_place cell = at_cell(s, head, OF_C);
    CLF_PUT(&t->x, "{\n");
    clf_state_begin(&t->x, s, 's');
    clf_state_declare(&t->x, s);
    clf_state_fetch(&t->x, s, 'a', cell);
    clf_state_narrow(&t->x, s, 'a', 's');
    clf_state_step(&t->x, s, 's', "i");
    clf_state_widen(&t->x, s, 's', 'a');
    clf_state_save(&t->x, s, 'a', cell);
    CLF_PUT(&t->x, "}\n");
}

/* Rows one after the other; with pairs, as far as the tile goes: a row that goes on beyond it is where the next one begins. */
static void rows_begin(clf_btext *t, int k) {
    if (!t->p->job[k].pairs) {
        CLF_PUT(&t->x, "for (CLF_INDEX i = pass0; i < pass1; i++) {\nconst CLF_INDEX r = i - pass0, e0 = (CLF_INDEX)xp[i], inside = "
                       "((CLF_INDEX)xp[i + 1] - e0) * each;\n");
        return;
    }
    clf_btext_tile_room(t, k);
    CLF_PUT(&t->x,
            "CLF_INDEX i_ = pass0;\nfor (CLF_INDEX t0_ = (CLF_INDEX)xp[pass0]; t0_ < xp[pass1]; t0_ += %d) {\n"
            "const CLF_INDEX n_ = (CLF_INDEX)min((long)%d, xp[pass1] - t0_), t1_ = t0_ + n_;\n",
            clf_band_tile(t->p, k), clf_band_tile(t->p, k));
    clf_btext_tile_make(t, k, false);
    CLF_PUT(&t->x, "for (; i_ < pass1 && xp[i_] < t1_; i_++) {\nconst CLF_INDEX i = i_, r = i - pass0, e0 = (CLF_INDEX)max(xp[i], "
                   "(long)t0_), inside = max((CLF_INDEX)min(xp[i + 1], (long)t1_) - e0, (CLF_INDEX)0) * each;\n");
}

static void take_rows(clf_btext *t, int k) {
    uint32_t moves = t->p->job[k].keep;
    rows_begin(t, k);
    clf_btext_values(t, moves, false);
    CLF_PUT(&t->x,
            "CLF_BAND_EACH(x_, inside) {\nconst CLF_INDEX entry = e0 + x_ / each, u%d = (CLF_INDEX)xc[entry], c_ = u%d * each + x_ %% "
            "each;\n",
            t->p->e, t->p->e);
    if (along(t, k)) clf_btext_position(t, along(t, k), "x_ % each");
    clf_btext_values(t, moves, true);
    for (int s = 0; s < t->p->c->nsink; s++)
        if (clf_btext_folds(t, s, k)) step_cell(t, s);
    CLF_PUT(&t->x, "}\nCLF_BAND_SYNC\n}\n");
    if (t->p->job[k].pairs) CLF_PUT(&t->x, "if (i_ > pass0 && xp[i_] > t1_) i_--;\n}\n");
}

static void cell_results(clf_btext *t, int k) {
    char head[48];
    CLF_PUT(&t->x, "const CLF_INDEX ready = pass1 == rows ? cells : 0;\nCLF_BAND_EACH(x_, ready) {\n");
    for (int s = 0; s < t->p->c->nsink; s++) {
        char to[64];
        if (!clf_btext_folds(t, s, k)) continue;
        CLF_PUT(&t->x, "{\n");
        clf_state_declare(&t->x, s);
        clf_state_fetch(&t->x, s, 'a', at_cell(s, head, OF_X));
        clf_state_result(&t->x, s, clf_btext_result(t, s, clf_band_turned(t->p, k) ? "x_ % each * (CLF_INDEX)mc_ + x_ / each" : "x_", to));
        CLF_PUT(&t->x, "}\n");
    }
    CLF_PUT(&t->x, "}\n");
}

void clf_btext_meet(clf_btext *t, int k) {
    clf_btext_mark(t, k);
    CLF_PUT(&t->x, "{\nconst CLF_INDEX each = 1");
    for (int a = 1; a < t->p->c->naxes; a++)
        if (along(t, k) >> a & 1u) CLF_PUT(&t->x, " * e%d", a);
    CLF_PUT(&t->x,
            ", cells = (CLF_INDEX)mc_ * each, block = (CLF_INDEX)cb%d, b_ = pass0 / block, blocks = max((rows - 1) / block + 1, "
            "(CLF_INDEX)1);\n",
            k);
    empty_cells(t, k);
    take_rows(t, k);
    if (t->p->job[k].leaves == 1) cell_results(t, k);
    CLF_PUT(&t->x, "}\nCLF_BAND_SYNC\n");
}
