/* SPDX-License-Identifier: Apache-2.0
 * Batches of folds and their tree in local memory (see band_batch.h). */
#include "kernels-cl/skel/band_batch.h"
#include "kernels-cl/skel/group_local.h"

#include "core/print.h"

clf_batch clf_batch_next(const clf_btext *t, int k, clf_batch b) {
    clf_batch next = {.from = b.to, .to = b.to};
    for (; next.to < t->p->nitem; next.to++) {
        int states = clf_btext_folds(t, next.to, k) ? clf_fold_states(&t->x, next.to) : 0;
        if (next.states && (next.states + states) * t->p->job[k].width > CLF_BATCH_STATES) break;
        next.states += states;
    }
    return next;
}

static bool has_tree(const clf_job *j) { return j->kind == CLF_JOB_LEAVES || j->kind == CLF_JOB_FULL || j->kind == CLF_JOB_ENTRIES; }

int clf_btext_states(const clf_btext *t) {
    int most = t->p->most_states;
    for (int k = 0; k < t->p->njob; k++)
        for (clf_batch b = clf_batch_next(t, k, (clf_batch){.to = 0}); b.states; b = clf_batch_next(t, k, b))
            if (has_tree(&t->p->job[k]) && b.states * t->p->job[k].width > most) most = b.states * t->p->job[k].width;
    return most;
}

void clf_batch_each(clf_btext *t, int k, clf_batch b, void (*f)(clf_btext *, int, int)) {
    int at = 0;
    for (int s = b.from; s < b.to; s++) {
        if (!clf_btext_folds(t, s, k)) continue;
        f(t, s, at);
        at += clf_fold_states(&t->x, s);
    }
}

static void widen(clf_btext *t, int s, int at) {
    (void)at;
    clf_state_declare(&t->x, s);
    clf_state_widen(&t->x, s, 's', 'a');
}

static void put_mine(clf_btext *t, int s, int at) {
    widen(t, s, at);
    clf_state_save(&t->x, s, 'a', (clf_place){"tree[", " * CLF_GROUP + me]", at});
}

static void take_other(clf_btext *t, int s, int at) {
    clf_state_fetch(&t->x, s, 'b', (clf_place){"tree[", " * CLF_GROUP + other]", at});
    clf_state_merge(&t->x, s);
    clf_state_save(&t->x, s, 'a', (clf_place){"tree[", " * CLF_GROUP + me]", at});
}

/* ---- several lanes a work-item: each in a slot of its own ---- */

static clf_place slot_of(clf_btext *t, int at, const char *slot, char tail[32]) {
    clf_print(tail, 32, " * CLF_GROUP * %d + %s]", t->width, slot);
    return (clf_place){"tree[", tail, at};
}

static void put_slots(clf_btext *t, int s, int at) {
    char slot[24], tail[32];
    clf_state_declare(&t->x, s);
    for (int e = 0; e < t->width; e++) {
        clf_print(slot, sizeof slot, "me * %d + %d", t->width, e);
        clf_state_widen(&t->x, s, clf_btext_lane(e), 'a');
        clf_state_save(&t->x, s, 'a', slot_of(t, at, slot, tail));
    }
}

static void merge_slots(clf_btext *t, int s, int at) {
    char tail[32];
    clf_state_fetch(&t->x, s, 'a', slot_of(t, at, "slot", tail));
    clf_state_fetch(&t->x, s, 'b', slot_of(t, at, "other", tail));
    clf_state_merge(&t->x, s);
    clf_state_save(&t->x, s, 'a', slot_of(t, at, "slot", tail));
}

static void fetch_first(clf_btext *t, int s, int at) {
    char slot[24], tail[32];
    clf_print(slot, sizeof slot, "me * %d", t->width);
    clf_state_fetch(&t->x, s, 'a', slot_of(t, at, slot, tail));
}

/* Behind it a work-item has the state of its first lane's slot. Only entries have units that meet, whose steps have one position. */
static void tree_of_slots(clf_btext *t, int k, clf_batch b) {
    clf_batch_each(t, k, b, put_slots);
    CLF_PUT(&t->x,
            "CLF_TREE_LANES { CLF_TREE_SYNC for (int e_ = 0; e_ < %d; e_++) {\nconst int slot = me * %d + e_, held = lane + e_;\n"
            "CLF_SLOT_LANE {\n",
            t->width, t->width);
    clf_batch_each(t, k, b, merge_slots);
    CLF_PUT(&t->x, "} } }\n");
    clf_batch_each(t, k, b, fetch_first);
    CLF_PUT(&t->x, "CLF_TREE_SYNC\n");
}

void clf_batch_tree(clf_btext *t, int k, clf_batch b, bool units) {
    if (t->width > 1) {
        tree_of_slots(t, k, b);
        return;
    }
    clf_batch_each(t, k, b, t->p->job[k].lanes > 1 || units ? put_mine : widen);
    if (t->p->job[k].lanes == 1 && !units) return;
    if (t->p->job[k].lanes > 1) {
        CLF_PUT(&t->x, "CLF_TREE_LANES { CLF_TREE_SYNC CLF_TREE_LANE {\n");
        clf_batch_each(t, k, b, take_other);
        CLF_PUT(&t->x, "} }\n");
    }
    if (units) {
        CLF_PUT(&t->x, "CLF_TREE_UNITS { CLF_TREE_SYNC CLF_TREE_UNIT {\n");
        clf_batch_each(t, k, b, take_other);
        CLF_PUT(&t->x, "} }\n");
    }
    CLF_PUT(&t->x, "CLF_TREE_SYNC\n");
}

/* What becomes of states is asked once, behind all batches: once for each fold, between two barriers, a compiler for CPUs (LLVM 14) has
 * stored one that was never there. */
void clf_batch_ends(clf_btext *t, int k, void (*end)(clf_btext *, int, int)) {
    CLF_PUT(&t->x, "{\n");
    for (clf_batch b = clf_batch_next(t, k, (clf_batch){.to = 0}); b.states; b = clf_batch_next(t, k, b)) clf_batch_tree(t, k, b, false);
    CLF_PUT(&t->x, "if (there && lane == 0) {\n");
    for (clf_batch b = clf_batch_next(t, k, (clf_batch){.to = 0}); b.states; b = clf_batch_next(t, k, b)) clf_batch_each(t, k, b, end);
    CLF_PUT(&t->x, "}\n}\n");
}
