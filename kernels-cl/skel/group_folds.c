/* SPDX-License-Identifier: Apache-2.0
 * Folds of cell.group: lanes that a work-item steps, their tree in local memory, and the merge of what groups left in scratch. States lie
 * in memory as words of 8 bytes, whatever their type: wide types are f64 and i64. */
#include <string.h>

#include "core/print.h"
#include "kernels-cl/skel/group_local.h"
#include "kernels-cl/skel/group_text.h"

bool clf_gtext_folds(const clf_gtext *g, int s, clf_walk_id k) {
    const clf_sink *sink = &g->p->c->sink[s];
    return sink->kind == CLF_SINK_FOLD && clf_group_walk(g->p, sink) == k;
}

/* ---- batches: folds whose states pass through local memory together ---- */

typedef struct batch {
    int from, to, at, states; /* sinks; the first state's number in the walk, and how many there are */
} batch;

/* The one behind b; states 0: none. */
static batch next_batch(const clf_gtext *g, clf_walk_id k, batch b) {
    int n = g->p->c->nsink, s = b.to;
    batch next = {.from = s, .at = b.at + b.states};
    for (; s < n; s++) {
        int states = clf_gtext_folds(g, s, k) ? clf_fold_states(&g->x, s) : 0;
        if (next.states && (next.states + states) * g->p->walk[k].width > CLF_BATCH_STATES) break;
        next.states += states;
    }
    next.to = s;
    return next;
}

int clf_gtext_words(const clf_gtext *g) {
    int most = 1;
    for (int k = 0; k < CLF_FOLD_WALKS; k++)
        for (batch b = next_batch(g, (clf_walk_id)k, (batch){.to = 0}); b.states; b = next_batch(g, (clf_walk_id)k, b))
            if (b.states * g->p->walk[k].width > most) most = b.states * g->p->walk[k].width;
    return most * g->p->local;
}

static int held(const clf_gtext *g, int s) { return clf_group_held(g->p, &g->p->c->sink[s]); }
static clf_walk_id walk_of(const clf_gtext *g, int s) { return clf_group_walk(g->p, &g->p->c->sink[s]); }
static int width_of(const clf_gtext *g, int s) { return g->p->walk[walk_of(g, s)].width; }

/* ---- lanes ---- */

/* Of slot e; the second lanes where there are two. */
static char lane_name(int second, int e) { return "stuvxyzw"[4 * second + e]; }

void clf_gtext_fold_begin(clf_gtext *g, int s) {
    for (int q = 0; q < held(g, s); q++)
        for (int e = 0; e < width_of(g, s); e++) clf_state_begin(&g->x, s, lane_name(q, e));
}

void clf_gtext_fold_step(clf_gtext *g, int s, int e, const char *pos) { clf_state_step(&g->x, s, lane_name(0, e), pos); }

/* n lanes change places: each becomes the next one, the last one the first. */
static void rotate(clf_gtext *g, int s, int n, const char *name) {
    char buf[CLF_EMIT_NAME];
    for (int m = 0; m < clf_fold_states(&g->x, s); m++) {
        CLF_PUT(&g->x, "{ const %s z = f%d%c%d; ", clf_emit_type(buf, clf_fold_lane_type(&g->x, s, m), 1), s, name[0], m);
        for (int e = 1; e < n; e++) CLF_PUT(&g->x, "f%d%c%d = f%d%c%d; ", s, name[e - 1], m, s, name[e], m);
        CLF_PUT(&g->x, "f%d%c%d = z; }\n", s, name[n - 1], m);
    }
}

void clf_gtext_fold_next(clf_gtext *g, int s) {
    rotate(g, s, width_of(g, s), "stuv");
    if (held(g, s) > 1) rotate(g, s, width_of(g, s), "xyzw");
}

/* Two lanes change places, so that one text steps both by turns. */
static void swap_lanes(clf_gtext *g, int s, int e) {
    const char both[] = {lane_name(0, e), lane_name(1, e)};
    rotate(g, s, 2, both);
}
void clf_gtext_fold_turn(clf_gtext *g, int s) {
    for (int e = 0; held(g, s) > 1 && e < width_of(g, s); e++) swap_lanes(g, s, e);
}

/* ---- the tree ---- */

static clf_place mine(int at) { return (clf_place){"tree[", " * slots + slot]", at}; }
static clf_place others(int at) { return (clf_place){"tree[", " * slots + other]", at}; }

static void each_fold(clf_gtext *g, clf_walk_id k, batch b, void (*f)(clf_gtext *, int, int)) {
    int at = 0;
    for (int s = b.from; s < b.to; s++) {
        if (!clf_gtext_folds(g, s, k)) continue;
        f(g, s, at);
        at += clf_fold_states(&g->x, s);
    }
}

static void put_mine(clf_gtext *g, int s, int at) { clf_state_save(&g->x, s, 'a', mine(at)); }
static void fetch_mine(clf_gtext *g, int s, int at) { clf_state_fetch(&g->x, s, 'a', mine(at)); }
static void take_other(clf_gtext *g, int s, int at) {
    fetch_mine(g, s, at);
    clf_state_fetch(&g->x, s, 'b', others(at));
    clf_state_merge(&g->x, s);
    clf_state_save(&g->x, s, 'a', mine(at));
}

/* One of the tree's two loops, for each slot of the work-item: neighbouring lanes of a leaf, or the same one of neighbouring columns. The
 * state of slot `other` is the later part. */
static void put_tree(clf_gtext *g, clf_walk_id k, int width, batch b, const char *loop, const char *takes) {
    CLF_PUT(&g->x, "%s { CLF_TREE_SYNC for (int e_ = 0; e_ < %d; e_++) {\nconst int slot = me * %d + e_, held = lane%s;\n%s {\n", loop,
            width, width, k == CLF_WALK_COLS ? "" : " + e_", takes);
    each_fold(g, k, b, take_other);
    CLF_PUT(&g->x, "} } }\n");
}

/* The lanes of each slot, wide and merged where there are two. */
static void close_lanes(clf_gtext *g, int s, int at) {
    clf_state_declare(&g->x, s);
    for (int e = 0; e < width_of(g, s); e++) {
        CLF_PUT(&g->x, "{\nconst int slot = first_slot + %d;\n", e);
        if (held(g, s) > 1) {
            CLF_PUT(&g->x, "if (steps & 1) {\n");
            swap_lanes(g, s, e);
            CLF_PUT(&g->x, "}\n");
        }
        clf_state_widen(&g->x, s, lane_name(0, e), 'a');
        if (held(g, s) > 1) {
            clf_state_widen(&g->x, s, lane_name(1, e), 'b');
            clf_state_merge(&g->x, s);
        }
        put_mine(g, s, at);
        CLF_PUT(&g->x, "}\n");
    }
}

static void line_result(clf_gtext *g, int s, int at) {
    char memory[40];
    (void)at;
    clf_print(memory, sizeof memory, "r%d[line + e_]", g->p->c->sink[s].out[0]);
    clf_state_result(&g->x, s, memory);
}

/* The states of lines that are ready: one, or of each of the work-item's columns. */
static void put_ready(clf_gtext *g, clf_walk_id k, batch b) {
    int n = k == CLF_WALK_COLS ? g->p->walk[k].width : 1;
    CLF_PUT(&g->x, "if (there && lane == 0 && unit == 0) for (int e_ = 0; e_ < %d; e_++) {\nconst int slot = first_slot + e_;\n", n);
    each_fold(g, k, b, fetch_mine);
}

/* What the whole group decides stands outside what one work-item does: asked the other way round, a compiler for CPUs (LLVM 14) has let
 * stores of both branches through. */
void clf_gtext_fold_ends(clf_gtext *g, clf_walk_id k) {
    static const char *const lines[] = {"1", "rows", "cols"};
    char head[48], tail[96];
    clf_print(head, sizeof head, "scratch[at%d + (((long)(", (int)k);
    clf_print(tail, sizeof tail, ") * parts%d + part) * %s + line + e_)]", (int)k, (int)k < CLF_FOLD_WALKS ? lines[k] : "1");
    for (batch b = next_batch(g, k, (batch){.to = 0}); b.states; b = next_batch(g, k, b)) {
        CLF_PUT(&g->x, "{\n");
        each_fold(g, k, b, close_lanes);
        put_tree(g, k, g->p->walk[k].width, b, "CLF_TREE_LANES", "CLF_SLOT_LANE");
        put_tree(g, k, g->p->walk[k].width, b, "CLF_TREE_UNITS", "CLF_SLOT_UNIT");
        CLF_PUT(&g->x, "CLF_TREE_SYNC\nif (parts%d == 1) {\n", (int)k);
        put_ready(g, k, b);
        each_fold(g, k, b, line_result);
        CLF_PUT(&g->x, "} } else {\n");
        put_ready(g, k, b);
        int at = b.at;
        for (int s = b.from; s < b.to; s++) {
            if (!clf_gtext_folds(g, s, k)) continue;
            clf_state_save(&g->x, s, 'a', (clf_place){head, tail, at});
            at += clf_fold_states(&g->x, s);
        }
        CLF_PUT(&g->x, "} }\n}\n");
    }
}

/* ---- the second kernel ---- */

/* A run of parts becomes the state of its first. */
static void merge_run(clf_gtext *g, int s, int at) {
    const clf_place first = {"mine[((long)(", ") * parts + lo) * results]", at}, one = {"mine[((long)(", ") * parts + c_) * results]", at},
                    later = {"mine[((long)(", ") * parts + c_ + w_) * results]", at};
    CLF_PUT(&g->x, "for (long w_ = 1; w_ < run; w_ *= 2) for (long c_ = lo; c_ + w_ < hi; c_ += 2 * w_) {\n");
    clf_state_fetch(&g->x, s, 'a', one);
    clf_state_fetch(&g->x, s, 'b', later);
    clf_state_merge(&g->x, s);
    clf_state_save(&g->x, s, 'a', one);
    CLF_PUT(&g->x, "}\n");
    clf_state_fetch(&g->x, s, 'a', first);
}

static void nothing_yet(clf_gtext *g, int s, int at) {
    (void)at;
    clf_state_empty(&g->x, s);
}

static void merged_result(clf_gtext *g, int s, int at) {
    char memory[40];
    int o = g->p->c->sink[s].out[0];
    (void)at;
    clf_print(memory, sizeof memory, "o%d[ob%d + result]", o, o);
    clf_state_result(&g->x, s, memory);
}

static void merge_batch(clf_gtext *g, clf_walk_id k, batch b) {
    int at = b.at;
    CLF_PUT(&g->x, "{\n");
    each_fold(g, k, b, nothing_yet);
    CLF_PUT(&g->x, "if (there) {\n");
    for (int s = b.from; s < b.to; s++) {
        if (!clf_gtext_folds(g, s, k)) continue;
        merge_run(g, s, at);
        at += clf_fold_states(&g->x, s);
    }
    CLF_PUT(&g->x, "}\n");
    each_fold(g, k, b, put_mine);
    put_tree(g, k, 1, b, "CLF_TREE_UNITS", "CLF_SLOT_UNIT");
    CLF_PUT(&g->x, "CLF_TREE_SYNC\nif (there && unit == 0) {\n");
    each_fold(g, k, b, merged_result);
    CLF_PUT(&g->x, "}\n}\n");
}

static void merge_walk(clf_gtext *g, int k) {
    static const char *const behind[] = {"0", "end0", "end1"};
    const char *before = behind[k];
    CLF_PUT(&g->x,
            "if (group < end%d) {\nconst int slots = CLF_GROUP, slot = me, inner = (int)inner%d, units = (int)units%d, unit = me / "
            "inner;\nconst long run = run%d, "
            "parts = parts%d, results = results%d, result = (group - %s) * inner + me %% inner;\nconst long lo = unit * run, hi = "
            "min(parts, lo + "
            "run);\nconst int valid = (int)((parts + run - 1) / run);\nconst bool there = result < results && lo < hi;\n__global long "
            "*const mine = scratch + at%d + result;\n",
            k, k, k, k, k, k, before, k);
    for (batch b = next_batch(g, (clf_walk_id)k, (batch){.to = 0}); b.states; b = next_batch(g, (clf_walk_id)k, b))
        merge_batch(g, (clf_walk_id)k, b);
    CLF_PUT(&g->x, "return;\n}\n");
}

void clf_gtext_merges(clf_ctext *x) {
    clf_gtext *g = (clf_gtext *)x;
    for (int k = 0; k < CLF_FOLD_WALKS; k++)
        if (g->p->walk[k].states) merge_walk(g, k);
}
