/* SPDX-License-Identifier: Apache-2.0
 * Jobs of row.group.cl that fold over rows: a work-item a lane of a column; states wait in the band's scratch from pass to pass. */

#include "kernels-cl/skel/band_text.h"

#include "core/print.h"

/* Lanes to a block's state, halves onto halves. */
static void merge_lanes(clf_btext *t, int k) {
    const clf_job *j = &t->p->job[k];
    const clf_place one = {"states[(CLF_INDEX)(", ") * tasks + x_]", 0},
                    later = {"states[(CLF_INDEX)(", ") * tasks + x_ + apart * cells]", 0};
    if (j->lanes == 1) return;
    CLF_PUT(&t->x, "for (int apart = ends ? lanes / 2 : 0; apart >= 1; apart /= 2) {\nCLF_BAND_SYNC\n"
                   "CLF_BAND_EACH(x_, cells * apart) {\n");
    for (int s = 0; s < t->p->nitem; s++) {
        if (!clf_btext_folds(t, s, k)) continue;
        clf_place a = one, b = later;
        a.at = b.at = t->p->item[s].first;
        CLF_PUT(&t->x, "{\n");
        clf_state_declare(&t->x, s);
        clf_state_fetch(&t->x, s, 'a', a);
        clf_state_fetch(&t->x, s, 'b', b);
        clf_state_merge(&t->x, s);
        clf_state_save(&t->x, s, 'a', a);
        CLF_PUT(&t->x, "}\n");
    }
    CLF_PUT(&t->x, "}\n}\nCLF_BAND_SYNC\n");
}

static void block_ends(clf_btext *t, int k, bool single) {
    const clf_job *j = &t->p->job[k];
    char head[48], to[64];
    merge_lanes(t, k);
    CLF_PUT(&t->x, "const CLF_INDEX ready = ends ? cells : 0;\n");
    clf_btext_each(t, j->width > 1 ? "x0_" : "x_", "ready"); /* a work-item takes the results of states that it has written */
    if (j->width > 1) CLF_PUT(&t->x, "for (CLF_INDEX x_ = x0_; x_ < x0_ + %d; x_++)\n", j->width);
    CLF_PUT(&t->x, "{\n");
    for (int s = 0; s < t->p->nitem; s++) {
        if (!clf_btext_folds(t, s, k)) continue;
        clf_print(head, sizeof head, "scratch[fa%d + ((long)(", s);
        CLF_PUT(&t->x, "{\n");
        clf_state_declare(&t->x, s);
        clf_state_fetch(&t->x, s, 'a', (clf_place){"states[(CLF_INDEX)(", ") * tasks + x_]", t->p->item[s].first});
        if (single)
            clf_state_result(&t->x, s, clf_btext_result(t, s, "x_", to));
        else
            clf_state_save(&t->x, s, 'a', (clf_place){head, ") * blocks + b_) * cells + x_]", 0});
        CLF_PUT(&t->x, "}\n");
    }
    CLF_PUT(&t->x, j->lanes > 1 ? "} }\nCLF_BAND_SYNC\n" : "} }\n");
}

/* Where the state of column `cell` waits, and of those side by side with it. */
static clf_place waits(const clf_btext *t, int s, int e, char tail[32]) {
    clf_print(tail, 32, ") * tasks + task + %d]", e);
    return (clf_place){"states[(CLF_INDEX)(", tail, t->p->item[s].first};
}

static void col_loop(clf_btext *t, int k) {
    const clf_job *j = &t->p->job[k];
    char tail[32];
    clf_btext_position(t, j->keep, "task % cells");
    clf_btext_before(t, 1u);
    clf_btext_begin_lanes(t, k);
    for (int s = 0; s < t->p->nitem; s++) {
        if (!clf_btext_folds(t, s, k)) continue;
        clf_state_declare(&t->x, s);
        CLF_PUT(&t->x, "if (from > b0) {\n");
        for (int e = 0; e < j->width; e++) {
            clf_state_fetch(&t->x, s, 'a', waits(t, s, e, tail));
            clf_state_narrow(&t->x, s, 'a', clf_btext_lane(e));
        }
        CLF_PUT(&t->x, "}\n");
    }
    CLF_PUT(&t->x, "%sfor (CLF_INDEX i = from + task / cells; i < to; i += lanes) {\nconst CLF_INDEX r = i - pass0;\n",
            t->p->local > 64 ? "CLF_SOME " : "");
    clf_btext_step(t, k, 1u, "i");
    CLF_PUT(&t->x, "}\n");
    for (int s = 0; s < t->p->nitem; s++) {
        for (int e = 0; e < j->width && clf_btext_folds(t, s, k); e++) {
            clf_state_widen(&t->x, s, clf_btext_lane(e), 'a');
            clf_state_save(&t->x, s, 'a', waits(t, s, e, tail));
        }
    }
}

void clf_btext_cols(clf_btext *t, int k) {
    const clf_job *j = &t->p->job[k];
    clf_btext_mark(t, k);
    CLF_PUT(&t->x, "{\n");
    clf_btext_lines(t, j->keep);
    CLF_PUT(&t->x,
            "const int lanes = %d;\nconst CLF_INDEX block = (CLF_INDEX)cb%d, blocks = max((rows - 1) / block + 1, (CLF_INDEX)1), tasks = "
            "cells * lanes;\n__global long *const states = own + ca%d;\n"
            "for (CLF_INDEX b_ = pass0 / block; b_ * block < max(pass1, (CLF_INDEX)1); b_++) {\n"
            "const CLF_INDEX b0 = b_ * block, b1 = rows - b0 > block ? b0 + block : rows, from = max(pass0, b0), to = min(pass1, b1);\n"
            "const bool ends = to == b1;\n",
            j->lanes, k, k);
    clf_btext_each(t, "task", "tasks");
    col_loop(t, k);
    CLF_PUT(&t->x, "}\n");
    block_ends(t, k, j->leaves == 1);
    CLF_PUT(&t->x, "}\nCLF_BAND_SYNC\n}\n");
}
