/* SPDX-License-Identifier: Apache-2.0
 * Jobs of row.group.cl that fold along the cells of a row: leaves dealt to neighbours, merged in the order of the tree. */

#include "kernels-cl/skel/band_batch.h"

#include "core/print.h"

/* In front of a loop over leaves: `tasks` of them for the whole group. */
static void put_tasks(clf_btext *t, const clf_job *j) {
    CLF_PUT(&t->x,
            "const int lanes = %d, inner = 1, team = %d, lane = me %% team * %d;\nfor (CLF_INDEX t0 = 0; t0 < tasks; t0 += CLF_GROUP / "
            "team) {\n"
            "const CLF_INDEX task = t0 + me / team, clipped = min(task, tasks - 1);\nconst bool there = task < tasks;\n",
            j->lanes, j->lanes / j->width, j->width);
}

/* ---- along one axis ---- */

static void merge_lines(clf_btext *t, int k, clf_place one, clf_place later) {
    CLF_PUT(&t->x, "for (CLF_INDEX step = 1; step < leaves; step *= 2) {\nconst CLF_INDEX pairs = (leaves + step - 1) / (2 * step);\n"
                   "CLF_BAND_EACH(x_, lines * pairs) {\n"
                   "const CLF_INDEX c_ = x_ / pairs * leaves + x_ %% pairs * 2 * step;\n");
    for (int s = 0; s < t->p->nitem; s++) {
        if (!clf_btext_folds(t, s, k)) continue;
        one.at = later.at = t->p->item[s].first;
        CLF_PUT(&t->x, "{\n");
        clf_state_declare(&t->x, s);
        clf_state_fetch(&t->x, s, 'a', one);
        clf_state_fetch(&t->x, s, 'b', later);
        clf_state_merge(&t->x, s);
        clf_state_save(&t->x, s, 'a', one);
        CLF_PUT(&t->x, "}\n");
    }
    CLF_PUT(&t->x, "}\nCLF_BAND_SYNC\n}\n");
}

static void line_results(clf_btext *t, int k, clf_place first) {
    char to[64];
    CLF_PUT(&t->x, "CLF_BAND_EACH(line, lines) {\n");
    for (int s = 0; s < t->p->nitem; s++) {
        if (!clf_btext_folds(t, s, k)) continue;
        first.at = t->p->item[s].first;
        CLF_PUT(&t->x, "{\n");
        clf_state_declare(&t->x, s);
        clf_state_fetch(&t->x, s, 'a', first);
        clf_state_result(&t->x, s, clf_btext_result(t, s, "line", to));
        CLF_PUT(&t->x, "}\n");
    }
    CLF_PUT(&t->x, "}\nCLF_BAND_SYNC\n");
}

static void leaf_result(clf_btext *t, int s, int at) {
    char to[64];
    (void)at;
    clf_state_result(&t->x, s, clf_btext_result(t, s, "line", to));
}

static void leaf_state(clf_btext *t, int s, int at) {
    (void)at;
    clf_state_save(&t->x, s, 'a', (clf_place){"leaf_states[(CLF_INDEX)(", ") * tasks + task]", t->p->item[s].first});
}

void clf_btext_leaves(clf_btext *t, int k) {
    static const clf_place one = {"leaf_states[(CLF_INDEX)(", ") * tasks + c_]", 0},
                           later = {"leaf_states[(CLF_INDEX)(", ") * tasks + c_ + step]", 0},
                           first = {"leaf_states[(CLF_INDEX)(", ") * tasks + line * leaves]", 0};
    const clf_job *j = &t->p->job[k];
    bool single = j->leaves == 1;
    char u[16], from[16];
    clf_print(u, sizeof u, "u%d", j->axis);
    clf_print(from, sizeof from, j->width > 1 ? "u%df" : "u%d", j->axis);
    clf_btext_mark(t, k);
    CLF_PUT(&t->x, "{\n");
    clf_btext_lines(t, j->keep);
    CLF_PUT(&t->x,
            single ? "const CLF_INDEX leaves = 1, tasks = lines;\n"
                   : "const CLF_INDEX leaves = (e%d + 511) / 512, tasks = lines * leaves;\n",
            j->axis);
    put_tasks(t, j);
    CLF_PUT(&t->x, "const CLF_INDEX line = clipped / leaves, leaf = clipped %% leaves, to = there ? min(e%d, (leaf + 1) * 512) : 0;\n",
            j->axis);
    clf_btext_position(t, j->keep, "line");
    clf_btext_before(t, 1u << j->axis);
    clf_btext_begin_lanes(t, k);
    CLF_PUT(&t->x, "%sfor (CLF_INDEX %s = leaf * 512 + lane; %s < to; %s += lanes) {\n", t->p->local > 64 ? "CLF_SOME " : "", from, from,
            from);
    clf_btext_step(t, k, 1u << j->axis, u);
    CLF_PUT(&t->x, "}\n");
    clf_batch_ends(t, k, single ? leaf_result : leaf_state);
    CLF_PUT(&t->x, "}\nCLF_BAND_SYNC\n");
    if (!single) {
        merge_lines(t, k, one, later);
        line_results(t, k, first);
    }
    CLF_PUT(&t->x, "}\n");
}

/* ---- over all cells ---- */

/* Leaves of the pass, as far as both halves of a subtree lie in it. */
static void merge_pass(clf_btext *t, int s) {
    char head[48];
    clf_print(head, sizeof head, "scratch[fa%d + (long)(", s);
    const clf_place one = {head, ") * leaves + c_]", 0}, later = {head, ") * leaves + c_ + step]", 0};
    CLF_PUT(&t->x,
            "for (CLF_INDEX step = 1; step < tasks; step *= 2) {\n"
            "const CLF_INDEX two = 2 * step, c0 = (l0 + two - 1) / two * two, pairs = (max(l0 + tasks - c0 - step, (CLF_INDEX)0) + two "
            "- 1) / two;\nCLF_BAND_EACH(x_, pairs) {\nconst CLF_INDEX c_ = c0 + x_ * two;\n"
            "if (c_ + two <= l0 + tasks || l0 + tasks == leaves) {\n");
    clf_state_declare(&t->x, s);
    clf_state_fetch(&t->x, s, 'a', one);
    clf_state_fetch(&t->x, s, 'b', later);
    clf_state_merge(&t->x, s);
    clf_state_save(&t->x, s, 'a', one);
    CLF_PUT(&t->x, "} }\nCLF_BAND_SYNC\n}\n");
}

static void full_result(clf_btext *t, int s, int at) {
    char to[64];
    (void)at;
    clf_state_result(&t->x, s, clf_btext_result(t, s, "0", to));
}

static void full_state(clf_btext *t, int s, int at) {
    char head[48];
    (void)at;
    clf_print(head, sizeof head, "scratch[fa%d + (long)(", s);
    clf_state_save(&t->x, s, 'a', (clf_place){head, ") * leaves + leaf]", 0});
}

static void full_loop(clf_btext *t, int k) {
    const clf_job *j = &t->p->job[k];
    uint32_t moves = 1u | (j->axis > 0 ? 1u << j->axis : 0);
    clf_btext_before(t, moves);
    clf_btext_begin_lanes(t, k);
    CLF_PUT(&t->x, "CLF_INDEX p = leaf * 512 + lane, i = p / wide, j_ = p - i * wide;\nfor (; p < to; p += lanes) {\n"
                   "const CLF_INDEX r = i - pass0;\n");
    if (j->axis > 0) CLF_PUT(&t->x, t->width > 1 ? "const CLF_INDEX u%df = j_;\n" : "const CLF_INDEX u%d = j_;\n", j->axis);
    clf_btext_step(t, k, moves, t->width > 1 ? "p + e_" : "p");
    CLF_PUT(&t->x, "j_ += dj; i += di; if (j_ >= wide) { j_ -= wide; i++; }\n}\n");
}

void clf_btext_full(clf_btext *t, int k) {
    const clf_job *j = &t->p->job[k];
    char wide[16] = "1";
    bool single = j->leaves == 1;
    if (j->axis > 0) clf_print(wide, sizeof wide, "e%d", j->axis);
    clf_btext_mark(t, k);
    CLF_PUT(
        &t->x,
        "{\nconst CLF_INDEX all = rows * %s, wide = max(%s, (CLF_INDEX)1), leaves = max((all + 511) / 512, (CLF_INDEX)1), l0 = pass0 * %s "
        "/ 512;\nconst CLF_INDEX tasks = all ? (pass1 * %s + 511) / 512 - l0 : pass0 == 0;\n"
        "const CLF_INDEX di = %d / wide, dj = %d %% wide;\n",
        wide, wide, wide, wide, j->lanes, j->lanes);
    put_tasks(t, j);
    CLF_PUT(&t->x, "const CLF_INDEX leaf = l0 + clipped, to = there ? min(all, (leaf + 1) * 512) : 0;\n");
    full_loop(t, k);
    clf_batch_ends(t, k, single ? full_result : full_state);
    CLF_PUT(&t->x, "}\nCLF_BAND_SYNC\n");
    if (!single) {
        for (int s = 0; s < t->p->nitem; s++)
            if (clf_btext_folds(t, s, k)) merge_pass(t, s);
    }
    CLF_PUT(&t->x, "}\n");
}
