/* SPDX-License-Identifier: Apache-2.0
 * Running one program on many executors: every selector of the planner's table, on the vectorised host executor built for each
 * instruction set and on the reference executor, with changing numbers of threads. Contexts live for a thousand programs; a
 * program's handles do not. A program counts for an executor only when that executor's launch counter rose. */
#ifndef CLF_TESTS_RANDOM_EXECS_H
#define CLF_TESTS_RANDOM_EXECS_H
#include "tests/support/plan_classes.h"
#include "tests/support/random_program.h"

enum { RX_SELECTORS = 8, RX_SETTINGS = 8 };
typedef struct rx_exec {
    char name[96];
    clf_ctx *c;
    bool ref, all;     /* the reference executor; the host executor with all fused */
    bool strict;       /* only exact rewrites */
    uint64_t programs; /* whose launches this executor has counted */
} rx_exec;

typedef struct rx_execs {
    int nselector, nsetting;
    rx_exec host[RX_SELECTORS][RX_SETTINGS];
    rx_exec ref[RX_SELECTORS];
    uint64_t programs, everywhere; /* run; counted by the host executor under every selector */
    plan_classes classes;          /* of executors with all fused */
    uint64_t strict;               /* programs run with exact rewrites only */
    uint64_t way[3];               /* asked together, one by one, as a function */
    uint64_t op[CLF_OP_CODES], fold[CLF_FOLD_CODES][3], kind[RP_KINDS], type[5], door[16]; /* nodes computed or read */
} rx_execs;

/** Contexts for all of them; false when one cannot be opened. */
bool rx_open(rx_execs *x);
void rx_close(rx_execs *x);
/** Run p on one executor per selector (instruction set and threads change with `turn`) and on the reference executor under one of the
 *  selectors: the interpreter's values where it has them, and the same bytes everywhere. Every second program is run with exact
 *  rewrites only; else rewrites round, by the graph that is asked for, so reals are asked for together, and the sign of a zero is open.
 *  why: what went wrong. */
bool rx_check(rx_execs *x, const rp_program *p, uint64_t turn, char why[256]);
/** Run p; on failure shrink it on the same executors and report it. */
bool rx_check_or_report(rx_execs *x, const rp_program *p, uint64_t turn);
/** Figures: programs, per executor, and how many operators, folds, kinds and types were covered. True if there were loops of every class. */
bool rx_figures(const rx_execs *x, const char *what);
#endif
