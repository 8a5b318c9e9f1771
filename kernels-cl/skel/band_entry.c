/* SPDX-License-Identifier: Apache-2.0
 * The jobs of entry.group.cl along stored entries. Leaves are dealt to as many neighbours as they have lanes: a leaf each, where a row has
 * no more; where there are many (long rows, the entries of all rows) the whole group takes an aligned run of leaves by turns. A turn leaves
 * one state, pushed on a stack that the first work-item keeps in the group's own scratch; turns are whole subtrees, so this is the tree. */

#include "kernels-cl/skel/band_batch.h"

#include "core/print.h"

static void each_fold(clf_btext *t, int k, void (*f)(clf_btext *, int, int)) {
    for (int s = 0; s < t->p->nitem; s++)
        if (clf_btext_folds(t, s, k)) f(t, s, k);
}

/* ---- at an entry ---- */

static void keep_cells(clf_btext *t, int k) {
    char to[64];
    for (int s = 0; s < t->p->c->nsink; s++) {
        if (t->p->item[s].job != k || t->c.sink[s].kind != CLF_SINK_PATTERN) continue;
        CLF_PUT(&t->x, "%s = ", clf_btext_result(t, s, "", to));
        clf_ctext_store_cast(&t->x, s, 1, 0);
        CLF_PUT(&t->x, ";\n");
    }
}

void clf_btext_entries(clf_btext *t, int k, uint32_t inside, const char *next, const char *pos) {
    CLF_PUT(&t->x, "%sfor (; entry < to; entry += lanes) {\n%sconst CLF_INDEX u%d = (CLF_INDEX)xc[entry];\n",
            t->p->local > 64 ? "CLF_SOME " : "", next, t->p->e);
    clf_btext_values(t, inside, true);
    clf_btext_steps(t, k, pos);
    keep_cells(t, k);
    CLF_PUT(&t->x, "}\n");
}

/* ---- stacks ---- */

_Static_assert(CLF_BAND_LEVELS == 40, "the texts of places on the stack say 40");
static clf_place on_stack(const clf_btext *t, int s, const char *tail) { return (clf_place){"leaf_states[(", tail, t->p->item[s].first}; }

static void merge_top(clf_btext *t, int s) {
    clf_place below = on_stack(t, s, ") * 40 + top - 1]");
    clf_state_fetch(&t->x, s, 'a', below);
    clf_state_fetch(&t->x, s, 'b', on_stack(t, s, ") * 40 + top]"));
    clf_state_merge(&t->x, s);
    clf_state_save(&t->x, s, 'a', below);
}

static void push(clf_btext *t, int s, int at) {
    (void)at;
    clf_state_save(&t->x, s, 'a', on_stack(t, s, ") * 40 + top]"));
}

static void merge_pushed(clf_btext *t, int s, int at) {
    (void)at;
    merge_top(t, s);
}

static void close_turn(clf_btext *t, int k) {
    for (clf_batch b = clf_batch_next(t, k, (clf_batch){.to = 0}); b.states; b = clf_batch_next(t, k, b)) {
        CLF_PUT(&t->x, "{\n");
        clf_batch_tree(t, k, b, true);
        CLF_PUT(&t->x, "int top = (int)popcount(turn);\nif (me == 0) {\n");
        clf_batch_each(t, k, b, push);
        CLF_PUT(&t->x, "}\nfor (CLF_INDEX q_ = turn; q_ & 1; q_ >>= 1, top--) if (me == 0) {\n");
        clf_batch_each(t, k, b, merge_pushed);
        CLF_PUT(&t->x, "}\n}\n");
    }
}

static void line_result(clf_btext *t, int s, int at) {
    char to[64];
    (void)at;
    clf_btext_rest_of_row(t, s);
    clf_state_result(&t->x, s, clf_btext_result(t, s, "line", to));
}

static void close_leaf(clf_btext *t, int k) { clf_batch_ends(t, k, line_result); }

/* All `leaves` leaves of the entries e0 to e1; `find` says what is needed before a work-item's first. */
static void put_turns(clf_btext *t, int k, uint32_t inside, const char *find, const char *next, const char *pos) {
    CLF_PUT(&t->x, "for (CLF_INDEX turn = 0; turn * units < leaves; turn++) {\n"
                   "const CLF_INDEX leaf = turn * units + unit, to = min(e1, e0 + (leaf + 1) * 512);\n"
                   "const int valid = (int)min((CLF_INDEX)units, leaves - turn * units);\nCLF_INDEX entry = e0 + leaf * 512 + lane;\n");
    CLF_PUT(&t->x, "%s", find);
    clf_btext_begin_lanes(t, k);
    clf_btext_entries(t, k, inside, next, pos);
    close_turn(t, k);
    CLF_PUT(&t->x, "}\n");
}

/* In front of what becomes, in the first work-item, of state a: all that the stack holds together. What the whole group decides stands
 * outside what one work-item does (see clf_gtext_fold_ends), and a barrier in the loop: without one a compiler for CPUs (LLVM 14) lets every
 * work-item of the group merge. */
static void close_stack(clf_btext *t, int s) {
    clf_state_declare(&t->x, s);
    CLF_PUT(&t->x, "for (int top = (int)popcount((leaves + units - 1) / units) - 1; top > 0; top--) {\nCLF_BAND_SYNC\nif (me == 0) {\n");
    merge_top(t, s);
    CLF_PUT(&t->x, "}\n}\nif (me == 0) {\n");
    clf_state_fetch(&t->x, s, 'a', on_stack(t, s, ") * 40]"));
}

/* ---- rows ---- */

/* Lines from `first` to `end`. */
static void short_rows(clf_btext *t, int k, const char *first, const char *end) {
    const clf_job *j = &t->p->job[k];
    uint32_t e = 1u << t->p->e;
    char u[16];
    clf_print(u, sizeof u, "u%d", t->p->e);
    CLF_PUT(&t->x,
            "const CLF_INDEX end_ = %s;\nfor (CLF_INDEX t0 = %s; t0 < end_; t0 += units) {\nconst CLF_INDEX task = t0 + unit, line = "
            "min(task, end_ - 1);\n",
            end, first);
    clf_btext_position(t, j->keep, "line");
    CLF_PUT(&t->x, "const CLF_INDEX e0 = (CLF_INDEX)xp[i], e1 = (CLF_INDEX)xp[i + 1];\n"
                   "const bool there = task < end_ && e1 - e0 <= 512;\nconst CLF_INDEX to = there ? e1 : e0;\n"
                   "CLF_INDEX entry = e0 + lane;\n");
    clf_btext_values(t, e, false);
    clf_btext_begin_lanes(t, k);
    clf_btext_entries(t, k, e, "", u);
    close_leaf(t, k);
    CLF_PUT(&t->x, "}\n");
}

static void long_result(clf_btext *t, int s, int k) {
    char to[64];
    (void)k;
    CLF_PUT(&t->x, "{\n");
    close_stack(t, s);
    clf_btext_rest_of_row(t, s);
    clf_state_result(&t->x, s, clf_btext_result(t, s, "line", to));
    CLF_PUT(&t->x, "}\n}\n");
}

static void long_rows(clf_btext *t, int k) {
    const clf_job *j = &t->p->job[k];
    uint32_t e = 1u << t->p->e;
    char u[16];
    clf_print(u, sizeof u, "u%d", t->p->e);
    CLF_PUT(&t->x, "const CLF_INDEX longer = xp[pass1] - xp[pass0] > 512 ? lines : 0;\n"
                   "for (CLF_INDEX line = 0; line < longer; line++) {\n");
    clf_btext_position(t, j->keep, "line");
    CLF_PUT(&t->x,
            "const CLF_INDEX e0 = (CLF_INDEX)xp[i], e1 = (CLF_INDEX)xp[i + 1], leaves = e1 - e0 > 512 ? (e1 - e0 + 511) / 512 : 0;\n");
    clf_btext_values(t, e, false);
    put_turns(t, k, e, "", "", u);
    CLF_PUT(&t->x, "if (leaves > 0) {\n");
    each_fold(t, k, long_result);
    CLF_PUT(&t->x, "}\n}\n");
}

static void put_teams(clf_btext *t, int k) {
    CLF_PUT(&t->x, "const int lanes = %d, inner = 1, units = CLF_GROUP / lanes, lane = me %% lanes, unit = me / lanes;\n",
            t->p->job[k].lanes);
}

static void tiled_rows(clf_btext *t, int k) {
    clf_btext_tile_room(t, k);
    clf_btext_tile_rows(t, k);
    short_rows(t, k, "r0_ * cells", "r1_ * cells");
    CLF_PUT(&t->x, "CLF_TREE_SYNC\n}\nCLF_BAND_SYNC\n"); /* before the next tile takes the place of this one */
    clf_btext_tile_long(t, k);
}

void clf_btext_rows(clf_btext *t, int k) {
    clf_btext_mark(t, k);
    CLF_PUT(&t->x, "{\n");
    clf_btext_lines(t, t->p->job[k].keep);
    put_teams(t, k);
    if (t->p->job[k].pairs) {
        tiled_rows(t, k);
    } else {
        short_rows(t, k, "0", "lines");
        CLF_PUT(&t->x, "CLF_BAND_SYNC\n");
        long_rows(t, k);
    }
    CLF_PUT(&t->x, "CLF_BAND_SYNC\n}\n");
}

/* ---- all entries ---- */

static void run_ends(clf_btext *t, int s, int k) {
    char head[48], to[64];
    (void)k;
    clf_print(head, sizeof head, "scratch[fa%d + ((long)(", s);
    CLF_PUT(&t->x, "{\n");
    close_stack(t, s);
    if (t->p->item[s].parts == 1) {
        clf_btext_rest_comes(t, s);
        clf_state_result(&t->x, s, clf_btext_result(t, s, "0", to));
    } else {
        clf_state_save(&t->x, s, 'a', (clf_place){head, ")) * flat + group]", 0});
    }
    CLF_PUT(&t->x, "}\n}\n");
}

static void rest_waits(clf_btext *t, int s, int k) {
    (void)k;
    clf_btext_rest_waits(t, s);
}

static void put_flat(clf_btext *t, int k) {
    clf_btext_mark(t, k);
    CLF_PUT(&t->x, "{\n");
    put_teams(t, k);
    CLF_PUT(&t->x, "const CLF_INDEX all = max((nnz + 511) / 512, (CLF_INDEX)1);\nCLF_INDEX run = units;\n"
                   "while (run * flat < all) run *= 2;\nconst CLF_INDEX leaf0 = (CLF_INDEX)group * run, leaves = min(all - leaf0, run), "
                   "e0 = leaf0 * 512, e1 = min(nnz, e0 + run * 512);\n");
    clf_btext_values(t, 1u | 1u << t->p->e, false);
    bool row = clf_btext_asks_row(t);
    put_turns(t, k, 1u | 1u << t->p->e, row ? "CLF_INDEX i = 0;\nCLF_ROW_OF(i, xp, rows, entry)\n" : "",
              row ? "while (xp[i + 1] <= entry) i++;\n" : "", "entry");
    CLF_PUT(&t->x, "if (get_global_id(0) == 0) {\nscratch[fw%d] = (all + run - 1) / run;\n", k);
    each_fold(t, k, rest_waits);
    CLF_PUT(&t->x, "}\nif (leaves > 0) {\n");
    each_fold(t, k, run_ends);
    CLF_PUT(&t->x, "}\n}\nCLF_BAND_SYNC\n");
}

void clf_btext_flat(clf_ctext *x) {
    clf_btext *t = (clf_btext *)x;
    for (int k = 0; k < t->p->njob; k++)
        if (t->p->job[k].kind == CLF_JOB_ENTRIES) put_flat(t, k);
}
