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
        if (next.states && next.states + states > CLF_BATCH_STATES) break;
        next.states += states;
    }
    next.to = s;
    return next;
}

int clf_gtext_words(const clf_gtext *g) {
    int most = 1;
    for (int k = 0; k < CLF_FOLD_WALKS; k++)
        for (batch b = next_batch(g, (clf_walk_id)k, (batch){.to = 0}); b.states; b = next_batch(g, (clf_walk_id)k, b))
            if (b.states > most) most = b.states;
    return most * g->p->local;
}

static int held(const clf_gtext *g, int s) { return clf_group_held(g->p, &g->p->c->sink[s]); }

/* ---- lanes ---- */

void clf_gtext_fold_begin(clf_gtext *g, int s) {
    for (int q = 0; q < held(g, s); q++) clf_state_begin(&g->x, s, q ? 'x' : 's');
}

void clf_gtext_fold_step(clf_gtext *g, int s, const char *pos) { clf_state_step(&g->x, s, pos); }

/* Two lanes change places, so that one text steps both by turns. */
static void swap_lanes(clf_gtext *g, int s) {
    char buf[CLF_EMIT_NAME];
    for (int m = 0; m < clf_fold_states(&g->x, s); m++)
        CLF_PUT(&g->x, "{ const %s z = f%ds%d; f%ds%d = f%dx%d; f%dx%d = z; }\n", clf_emit_type(buf, clf_fold_lane_type(&g->x, s, m), 1), s,
                m, s, m, s, m, s, m);
}
void clf_gtext_fold_turn(clf_gtext *g, int s) {
    if (held(g, s) > 1) swap_lanes(g, s);
}

/* ---- the tree ---- */

static clf_place mine(int at) { return (clf_place){"tree[", " * CLF_GROUP + me]", at}; }
static clf_place others(int at) { return (clf_place){"tree[", " * CLF_GROUP + other]", at}; }

static void each_fold(clf_gtext *g, clf_walk_id k, batch b, void (*f)(clf_gtext *, int, int)) {
    int at = 0;
    for (int s = b.from; s < b.to; s++) {
        if (!clf_gtext_folds(g, s, k)) continue;
        f(g, s, at);
        at += clf_fold_states(&g->x, s);
    }
}

static void put_mine(clf_gtext *g, int s, int at) { clf_state_save(&g->x, s, 'a', mine(at)); }
static void take_other(clf_gtext *g, int s, int at) {
    clf_state_fetch(&g->x, s, 'b', others(at));
    clf_state_merge(&g->x, s);
    clf_state_save(&g->x, s, 'a', mine(at));
}

/* One of the tree's two loops; the state of work-item `other` is the later part. */
static void put_tree(clf_gtext *g, clf_walk_id k, batch b, const char *loop, const char *takes) {
    CLF_PUT(&g->x, "%s { CLF_TREE_SYNC %s {\n", loop, takes);
    each_fold(g, k, b, take_other);
    CLF_PUT(&g->x, "} }\n");
}

/* Lanes of one work-item, wide and merged where there are two. */
static void close_lanes(clf_gtext *g, int s, int at) {
    clf_state_declare(&g->x, s);
    if (held(g, s) > 1) {
        CLF_PUT(&g->x, "if (steps & 1) {\n");
        swap_lanes(g, s);
        CLF_PUT(&g->x, "}\n");
    }
    clf_state_widen(&g->x, s, 's', 'a');
    if (held(g, s) > 1) {
        clf_state_widen(&g->x, s, 'x', 'b');
        clf_state_merge(&g->x, s);
    }
    put_mine(g, s, at);
}

static void line_result(clf_gtext *g, int s, int at) {
    char memory[40];
    (void)at;
    clf_print(memory, sizeof memory, "r%d[line]", g->p->c->sink[s].out[0]);
    clf_state_result(&g->x, s, memory);
}

/* What the whole group decides stands outside what one work-item does: asked the other way round, a compiler for CPUs (LLVM 14) has let
 * stores of both branches through. */
void clf_gtext_fold_ends(clf_gtext *g, clf_walk_id k) {
    static const char *const lines[] = {"1", "rows", "cols"};
    char head[48], tail[96];
    clf_print(head, sizeof head, "scratch[at%d + (((long)(", (int)k);
    clf_print(tail, sizeof tail, ") * parts%d + part) * %s + line)]", (int)k, (int)k < CLF_FOLD_WALKS ? lines[k] : "1");
    for (batch b = next_batch(g, k, (batch){.to = 0}); b.states; b = next_batch(g, k, b)) {
        CLF_PUT(&g->x, "{\n");
        each_fold(g, k, b, close_lanes);
        put_tree(g, k, b, "CLF_TREE_LANES", "CLF_TREE_LANE");
        put_tree(g, k, b, "CLF_TREE_UNITS", "CLF_TREE_UNIT");
        CLF_PUT(&g->x, "CLF_TREE_SYNC\nif (parts%d == 1) { if (there && lane == 0 && unit == 0) {\n", (int)k);
        each_fold(g, k, b, line_result);
        CLF_PUT(&g->x, "} } else { if (there && lane == 0 && unit == 0) {\n");
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
    put_tree(g, k, b, "CLF_TREE_UNITS", "CLF_TREE_UNIT");
    CLF_PUT(&g->x, "CLF_TREE_SYNC\nif (there && unit == 0) {\n");
    each_fold(g, k, b, merged_result);
    CLF_PUT(&g->x, "}\n}\n");
}

static void merge_walk(clf_gtext *g, int k) {
    static const char *const behind[] = {"0", "end0", "end1"};
    const char *before = behind[k];
    CLF_PUT(&g->x,
            "if (group < end%d) {\nconst int inner = (int)inner%d, units = (int)units%d, unit = me / inner;\nconst long run = run%d, "
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
