/* SPDX-License-Identifier: Apache-2.0
 * What happens when an evaluation fails on its device. The table below says, for each kind of failure, what is tried next; whatever it
 * is, the evaluation runs again as a whole from its leaves, which nobody writes to and which all have a copy on the host. Only fused
 * steps run on devices; a failure of any other step is the host's own and comes out as it is: a conversion between formats that finds no
 * memory has already tried again with what the pool held. What a leaf's buffer got from a failed run (its twin) is whole and stays.
 * SMALLER cuts dense operands only: a step over stored entries that does not fit goes to the host when it is planned again.
 *
 * What worked takes the failing plan's place (clf_exe.instead), so that a kernel its device cannot run fails once and not in every
 * evaluation. Two promotions: a device that may still be writing after a failed wait is lost, and so is one that fails again after a
 * late failure. A lost device is closed with all plans made for it; its context is built once more, and after a second loss
 * everything stays on the host until a setting changes. Invariant: memory a device may still write to is never handed out again
 * (clf_exe_run, clf_run_lose). To see it happen: CLF_LOG=launch. */
#include "host/run/failure.h"

#include <string.h>

#include "host/run/residency.h"

typedef enum action {
    STATUS,  /* give up: the caller gets the status */
    RETRY,   /* the same plan again, pooled memory given back before */
    SMALLER, /* operands in parts of half the size */
    OTHERS,  /* planned again for the other devices, where there are several */
    HOST,    /* planned again for the host executor */
    ANEW,    /* close the devices, plan again for what is then there */
    NACTIONS
} action;

static const char *const action_text[NACTIONS] = {"give up",           "try again",         "smaller parts",
                                                  "the other devices", "the host executor", "open the device anew"};
static const int most_often[NACTIONS] = {[RETRY] = 1, [SMALLER] = 6, [OTHERS] = CLF_MOST_OPENCL, [HOST] = 1, [ANEW] = 2}; /* in one
                                                             evaluation; ANEW for each device that the setting names */

/* A step whose kernel cannot be had is no row: it goes to the host by itself, when the plan is prepared (exe_kernels.c). */
enum { MOST_ACTIONS = 4 };
static const action table[CLF_NFAULTS][MOST_ACTIONS] = {
    [CLF_FAULT_LAUNCH] = {RETRY, OTHERS, HOST},
    [CLF_FAULT_LATE] = {RETRY, OTHERS, HOST},
    [CLF_FAULT_DEVICE_MEMORY] = {RETRY, SMALLER, OTHERS, HOST},
    [CLF_FAULT_HOST_MEMORY] = {STATUS},
    [CLF_FAULT_LOST] = {ANEW},
};

enum { SMALLEST_PART = 1 << 16 };

typedef struct trial {
    clf_ctx *c;
    const clf_graph *g;
    const clf_slot *slots;
    clf_exe *head, *x; /* the plan in the table, and the one to run: head, its `instead`, or one of our own */
    clf_exe_ways ways;
    int done[NACTIONS];
    uint32_t late;  /* devices that failed late: a bit for each place in the setting */
    int dev, place; /* the device that failed: of clf_devs, in the setting */
} trial;

static bool ours(const trial *t) { return t->x != t->head && t->x != t->head->instead; }

/* The plan that ran goes; head keeps what took its place before, if that was not it. */
static void replace(trial *t, clf_exe *fresh) {
    if (ours(t)) clf_exe_free(t->c, t->x);
    t->x = fresh;
}

static void blame(trial *t, int dev) {
    int u = clf_run_use_of(t->c, dev);
    t->dev = dev;
    t->place = u < 0 ? 0 : t->c->run->used.place[u];
}

/* The first device of the plan that failed, or one that may still be writing, which is worse. */
static clf_fault first_fault(trial *t) {
    clf_devs *d = t->c->run->devs;
    clf_fault first = CLF_FAULT_NONE;
    if (t->x->ndevice) blame(t, t->x->device[0]);
    for (int i = 0; i < t->x->ndevice; i++) {
        clf_fault f = clf_dev_fault(d, t->x->device[i]);
        bool worse = f != CLF_FAULT_NONE && (first == CLF_FAULT_NONE || (f == CLF_FAULT_LOST && first != CLF_FAULT_LOST));
        if (worse) blame(t, t->x->device[i]);
        if (worse) first = f;
    }
    for (int i = 0; i < t->x->ndevice; i++)
        if (clf_dev_busy(d, t->x->device[i])) blame(t, t->x->device[i]);
    return first;
}

static clf_fault fault_of(trial *t) {
    clf_fault f = first_fault(t);
    bool again = f != CLF_FAULT_NONE && (t->late >> t->place & 1u);
    if (f == CLF_FAULT_LATE) t->late |= 1u << t->place;
    return again || t->x->busy ? CLF_FAULT_LOST : f;
}

/* ---- actions: true when there is a plan to run ---- */

static bool retry(trial *t) {
    clf_blocks_trim(&t->c->run->blocks);
    t->c->stats.retries++;
    return true;
}

static bool plan_again(trial *t, const char *why, clf_err *err) {
    const clf_selector *sel;
    clf_exe *fresh = NULL;
    t->ways.why = why;
    clf_status st = clf_run_selector(t->c, &sel, err);
    if (st == CLF_OK) st = clf_exe_new(&fresh, t->c, t->g, sel, &t->ways, err);
    if (st != CLF_OK) return false;
    replace(t, fresh);
    t->c->stats.fallbacks++;
    return true;
}

/* The largest operand of a kernel: what its parts were cut to, or its own size. */
static size_t largest_part(const trial *t) {
    const clf_plan *p = t->x->plan;
    size_t most = 0;
    for (int32_t s = 0; s < p->nstep; s++) {
        const clf_step *step = &p->step[s];
        for (int i = 0; i < step->nin + step->nout && t->x->step[s].executor == CLF_ON_KERNEL; i++) {
            size_t bytes = p->value[i < step->nin ? step->in[i] : step->out[i - step->nin]].bytes;
            if (bytes > most) most = bytes;
        }
    }
    return t->ways.alloc_bytes && t->ways.alloc_bytes < most ? t->ways.alloc_bytes : most;
}

static bool smaller(trial *t, clf_err *err) {
    const clf_dev_info *info = clf_devs_info(t->c->run->devs, t->dev);
    size_t half = largest_part(t) / 2;
    if (!info || info->host_pointers || half < SMALLEST_PART) return false;
    t->ways.alloc_bytes = half;
    return plan_again(t, NULL, err);
}

/* What the device did goes to the other ones, and to the host. */
static bool others(trial *t, clf_err *err) {
    if (!t->x->ndevice || clf_run_named(t->c) < 2) return false; /* a plan for one of them may go to another */
    t->ways.without |= 1u << t->place;
    t->late = 0;
    return plan_again(t, "another device failed", err);
}

static bool anew(trial *t, clf_err *err) {
    if (ours(t)) { /* it goes with the plans of the table */
        clf_exe_free(t->c, t->head->instead);
        t->head->instead = t->x;
    }
    clf_run_lose(t->c, t->place);
    t->head = NULL;
    clf_status st = clf_run_plan(t->c, t->g, t->slots, &t->head, err);
    t->x = t->head;
    t->ways = (clf_exe_ways){0};
    t->late = 0;
    return st == CLF_OK;
}

static bool perform(trial *t, action a, clf_err *err) {
    switch (a) {
    case RETRY: return retry(t);
    case SMALLER: return smaller(t, err);
    case OTHERS: return others(t, err);
    case HOST: t->ways.host = true; return plan_again(t, "its device failed", err);
    case ANEW: return anew(t, err);
    default: return false;
    }
}

/* Find and do the next thing. False: nothing is left; failed then holds the last reason. */
static bool next(trial *t, clf_fault fault, clf_err *failed) {
    for (int i = 0; i < MOST_ACTIONS && table[fault][i] != STATUS; i++) {
        action a = table[fault][i];
        int most = most_often[a] * (a == ANEW && clf_run_named(t->c) > 1 ? clf_run_named(t->c) : 1);
        while (t->done[a] < most) {
            t->done[a]++;
            CLF_TRACE(&t->c->trace, launch, "evaluation failed: %s; next: %s", failed->text, action_text[a]);
            clf_err err = {CLF_OK, ""};
            if (perform(t, a, &err)) return true;
            if (err.code != CLF_OK) *failed = err;
            if (err.code == CLF_E_CANCELLED) return false;
            if (a != ANEW) break;
        }
    }
    return false;
}

static clf_status give_up(const clf_err *first, const clf_err *last, clf_err *err) {
    if (first->code == CLF_OK || !strcmp(first->text, last->text)) return clf_fail(err, last->code, "%s", last->text);
    return clf_fail(err, last->code, "%.240s (before that: %.240s)", last->text, first->text);
}

/* What worked stays, in the place of what did not. */
static void keep(trial *t) {
    if (!ours(t)) return;
    clf_exe_free(t->c, t->head->instead);
    t->head->instead = t->x;
}

clf_status clf_failure_run(clf_ctx *c, const clf_graph *g, clf_exe **x, clf_slot *slots, clf_buf **results, clf_err *err) {
    trial t = {.c = c, .g = g, .slots = slots, .head = *x, .x = clf_exe_latest(*x), .ways = clf_exe_latest(*x)->ways};
    clf_err first = {CLF_OK, ""}, failed = {CLF_OK, ""};
    first_fault(&t); /* what earlier work left is forgotten */
    while (clf_exe_run(c, t.x, slots, false, results, &failed) != CLF_OK) {
        clf_fault fault = fault_of(&t);
        if (failed.code == CLF_E_CANCELLED || !next(&t, fault, &failed)) {
            if (t.head && ours(&t)) clf_exe_free(c, t.x);
            return give_up(&first, &failed, err);
        }
        if (first.code == CLF_OK) first = failed;
        clf_err_clear(&failed);
    }
    keep(&t);
    clf_residency_add(c, t.x, slots);
    *x = t.x;
    return CLF_OK;
}
