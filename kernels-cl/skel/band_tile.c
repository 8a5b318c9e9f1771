/* SPDX-License-Identifier: Apache-2.0
 * Jobs of entry.group.cl where several cells take one entry that has pairs (products with a matrix): pairs are made once, for a tile of
 * entries at a time, in local memory, and cells take them from there. A tile of short rows is as many whole ones as it holds, each line
 * of them dealt to a team as ever; of a long row it is an aligned run of leaves, with cells side by side, each of which has a stack. */

#include "kernels-cl/skel/band_batch.h"

#include "core/print.h"

/* ---- making ---- */

static bool is_kept(const clf_btext *t, int v) { return t->used[v] && clf_band_is_pair(t->p, &t->p->c->value[v]); }

void clf_btext_tile_room(clf_btext *t, int k) {
    char buf[CLF_EMIT_NAME];
    int at = clf_btext_states(t) * t->p->local;
    for (int v = 0; v < t->p->c->nvalue; v++) {
        if (!is_kept(t, v)) continue;
        const char *type = clf_emit_type(buf, (clf_dtype)t->p->c->value[v].dtype, 1);
        CLF_PUT(&t->x, "__local %s *const l%d = (__local %s *)(tree + %d);\n", type, v, type, at);
        at += clf_band_tile(t->p, k);
    }
}

/* Of entries t0_ to t0_ + n_, by rows of the pass; row: i is known. */
void clf_btext_tile_make(clf_btext *t, int k, bool row) {
    const clf_cplan *c = t->p->c;
    CLF_PUT(&t->x, "CLF_BAND_EACH(x_, n_) {\nconst CLF_INDEX entry = t0_ + x_, u%d = (CLF_INDEX)xc[entry];\n", t->p->e);
    if (!row) CLF_PUT(&t->x, "CLF_INDEX r;\nCLF_ROW_OF(r, xp + pass0, pass1 - pass0, entry)\nconst CLF_INDEX i = pass0 + r;\n");
    clf_btext_mark_pairs(t);
    clf_btext_values(t, 0, false);
    clf_btext_mark(t, k);
    for (int v = 0; v < c->nvalue; v++)
        if (is_kept(t, v)) CLF_PUT(&t->x, "l%d[x_] = v%d;\n", v, v);
    CLF_PUT(&t->x, "}\nCLF_TREE_SYNC\n");
}

/* ---- short rows ---- */

void clf_btext_tile_rows(clf_btext *t, int k) {
    CLF_PUT(&t->x,
            "for (CLF_INDEX r0_ = 0, r1_ = 0; r0_ < pass1 - pass0; r0_ = r1_) {\nconst CLF_INDEX t0_ = (CLF_INDEX)xp[pass0 + r0_];\n"
            "r1_ = r0_ + 1;\nwhile (r1_ < pass1 - pass0 && xp[pass0 + r1_ + 1] - t0_ <= %d) r1_++;\n"
            "const CLF_INDEX all_ = (CLF_INDEX)xp[pass0 + r1_] - t0_, n_ = r1_ == r0_ + 1 && all_ > 512 ? 0 : all_;\n",
            clf_band_tile(t->p, k));
    clf_btext_tile_make(t, k, false);
}

/* ---- long rows: of each cell a stack of states, which its own work-item keeps ---- */

static clf_place on_stack(const clf_btext *t, int s, const char *top, char tail[64]) {
    clf_print(tail, 64, " + (%s) * %d) * cells + cell]", top, t->p->job[t->p->item[s].job].states);
    return (clf_place){"leaf_states[(", tail, t->p->item[s].first};
}

static void push(clf_btext *t, int s, int at) {
    char tail[64];
    (void)at;
    clf_state_save(&t->x, s, 'a', on_stack(t, s, "top", tail));
}

static void merge_top(clf_btext *t, int s, int at) {
    char above[64], below[64];
    clf_place to = on_stack(t, s, "top - 1", below);
    (void)at;
    clf_state_fetch(&t->x, s, 'a', to);
    clf_state_fetch(&t->x, s, 'b', on_stack(t, s, "top", above));
    clf_state_merge(&t->x, s);
    clf_state_save(&t->x, s, 'a', to);
}

static void close_turn(clf_btext *t, int k) {
    for (clf_batch b = clf_batch_next(t, k, (clf_batch){.to = 0}); b.states; b = clf_batch_next(t, k, b)) {
        CLF_PUT(&t->x, "{\n");
        clf_batch_tree(t, k, b, true);
        CLF_PUT(&t->x, "int top = (int)popcount(turn);\nif (mine_) {\n");
        clf_batch_each(t, k, b, push);
        CLF_PUT(&t->x, "}\nfor (CLF_INDEX q_ = turn; q_ & 1; q_ >>= 1, top--) if (mine_) {\n");
        clf_batch_each(t, k, b, merge_top);
        CLF_PUT(&t->x, "}\n}\n");
    }
}

static void cell_result(clf_btext *t, int s) {
    char to[64], tail[64];
    CLF_PUT(&t->x, "{\n");
    clf_state_declare(&t->x, s);
    CLF_PUT(&t->x, "for (int top = (int)popcount((leaves + units - 1) / units) - 1; top > 0; top--) if (mine_) {\n");
    merge_top(t, s, 0);
    CLF_PUT(&t->x, "}\nif (mine_) {\n");
    clf_state_fetch(&t->x, s, 'a', on_stack(t, s, "0", tail));
    clf_btext_rest_of_row(t, s);
    clf_state_result(&t->x, s, clf_btext_result(t, s, "r * cells + cell", to));
    CLF_PUT(&t->x, "}\n}\n");
}

/* In front of what is done for `inner` cells from c0_ on; mine_: it is this work-item that has a cell's state. */
static void put_cells(clf_btext *t) {
    CLF_PUT(&t->x,
            "for (CLF_INDEX c0_ = 0; c0_ < some_; c0_ += inner) {\nconst CLF_INDEX cell_ = c0_ + me %% inner, cell = min(cell_, cells "
            "- 1);\nconst bool there = cell_ < cells && lane < lanes, mine_ = there && lane == 0 && unit == 0;\n");
}

static void turn_of_row(clf_btext *t, int k) {
    uint32_t e = 1u << t->p->e;
    char u[16];
    clf_print(u, sizeof u, "u%d", t->p->e);
    CLF_PUT(&t->x,
            "for (CLF_INDEX turn = 0; turn * units < leaves; turn++) {\nconst CLF_INDEX t0_ = e0 + turn * units * 512, n_ = min(e1 - t0_, "
            "(CLF_INDEX)units * 512), leaf = turn * units + unit, end_ = min(e1, e0 + (leaf + 1) * 512);\n"
            "const int valid = (int)min((CLF_INDEX)units, leaves - turn * units);\n");
    clf_btext_tile_make(t, k, true);
    put_cells(t);
    CLF_PUT(&t->x, "const CLF_INDEX to = there ? end_ : e0;\nCLF_INDEX entry = e0 + leaf * 512 + lane;\n");
    clf_btext_position(t, t->p->job[k].keep & ~1u, "cell");
    clf_btext_values(t, e, false);
    clf_btext_begin_lanes(t, k);
    clf_btext_entries(t, k, e, "", u);
    close_turn(t, k);
    CLF_PUT(&t->x, "}\n}\n");
}

void clf_btext_tile_long(clf_btext *t, int k) {
    const clf_job *j = &t->p->job[k];
    CLF_PUT(&t->x,
            "{\nconst int lanes = %d, inner = (int)max(min(cells, (CLF_INDEX)(CLF_GROUP / lanes)), (CLF_INDEX)1);\nint units = %d;\n"
            "while (units * inner * lanes > CLF_GROUP) units /= 2;\n"
            "const int unit = me / (inner * lanes), lane = unit < units ? me / inner %% lanes : lanes;\n"
            "const CLF_INDEX longer = xp[pass1] - xp[pass0] > 512 ? pass1 - pass0 : 0;\nfor (CLF_INDEX r = 0; r < longer; r++) {\n"
            "const CLF_INDEX i = pass0 + r, e0 = (CLF_INDEX)xp[i], e1 = (CLF_INDEX)xp[i + 1], leaves = e1 - e0 > 512 ? (e1 - e0 + 511) / "
            "512 : 0, some_ = leaves ? cells : 0;\n",
            j->lanes, clf_band_tile(t->p, k) / 512);
    turn_of_row(t, k);
    put_cells(t);
    for (int s = 0; s < t->p->nitem; s++)
        if (clf_btext_folds(t, s, k)) cell_result(t, s);
    CLF_PUT(&t->x, "}\n}\n}\n");
}
