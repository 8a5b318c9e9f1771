/* SPDX-License-Identifier: Apache-2.0
 * The cheapest cover of a component by every assignment of the planner's choices: the second oracle of the exact planner, for components
 * that are too large for all sets of operators (brute.h is the first). Facts of single operators and their prices are the first oracle's;
 * components, choices, what is legal and what it costs are found here once more, from planner/problem.h and planner/cost.h.
 *
 * CHOICES. Operators are looked at consumers first. Of each, with all who want it known, an assignment says
 *   EDGE    for each loop with a consumer that may take it from inside: FUSE, the loop computes it, too, or READ;
 *   TAP     if somebody reads it, or it is a result: which of the loops that compute it stores it, or, if none shall,
 *   JOIN    which loop of its class without such a consumer takes it in and stores it, or, if none shall,
 *   ALONE   whether it opens a loop or stands alone;
 *   DEVICE  of each part, on which it runs.
 * A cover follows from its assignment. Each cover of THE SPACE follows from one, for of each part the last operator is stored by it and
 * opens it, any other is taken in by a consumer or joins, and nothing else can be said of a part: so the least cost of all assignments is
 * the least cost of all covers, and the planner's must equal it. No assignment is left out for its cost.
 *
 * HOW MANY choices a component has is counted low, by what stands in the graph and not in a cover: one EDGE for each operand that may be
 * inside, however many loops compute its consumer; one ALONE for each operator that may be either; one JOIN for each operator that no
 * loop can take from inside and that may be put together with a later one of that kind; one DEVICE an operator where there are several. */
#ifndef CLF_TESTS_CHOICES_H
#define CLF_TESTS_CHOICES_H
#include "tests/support/brute.h"

/* A set of operators as one loop. */
typedef struct choices_loop {
    brute_ops node;
    uint32_t when; /* choices.now when it was found out */
    bool legal;    /* but for the number of arguments, which depends on how many are stored */
    int arguments, kept;
    brute_ops sinks; /* what nothing in it takes */
    brute_reads reads;
    clf_ps reads_ps[BRUTE_DEVICES], compute_ps[BRUTE_DEVICES];
} choices_loop;

enum { CHOICES_LOOPS = 1 << 18 };
typedef struct choices {
    const brute *b;
    int n; /* components with something to compute */
    brute_ops component[BRUTE_FACTS];
    int count[BRUTE_FACTS];        /* choices of each */
    brute_ops demanded;            /* results, and what another component reads */
    int class_[BRUTE_FACTS];       /* of loops */
    brute_ops takers[BRUTE_FACTS]; /* operators that may take it from inside a loop */
    brute_ops always[BRUTE_FACTS]; /* what a loop that computes it reads from memory */
    brute_ops linked[BRUTE_FACTS]; /* operators that it may share a loop with, by themselves */
    brute_ops beyond[BRUTE_FACTS]; /* operators of its component that depend on it through another */
    uint64_t widths[BRUTE_FACTS];  /* numbers of columns that it sees: a bit each */
    choices_loop *loop;            /* found out already, by hash */
    int32_t nloop;
    uint32_t now;
} choices;

typedef struct choices_cover {
    int n;
    brute_part part[BRUTE_FACTS];
} choices_cover;

typedef struct choices_best {
    clf_ps cost;
    choices_cover cover;
    int64_t assignments, covers; /* of all, those that give a legal cover; with DEVICE */
    bool whole;                  /* all have been seen */
} choices_best;

/** Room for all problems to come; false: no memory. */
bool choices_begin(choices *c);
void choices_release(choices *c);
/** choices_find.c: components of the problem, and how many choices each has. */
void choices_find(choices *c, const brute *b);
/** choices_loop.c: what is known of a set of operators as a loop. Stays where it is until the next problem. */
const choices_loop *choices_loop_of(choices *c, brute_ops node);
/** choices_price.c: why a cover of component k is not in the space, NULL: it is; what a part needs in memory, and costs on a device; what a
 *  cover costs on its devices. */
const char *choices_illegal(choices *c, int k, const choices_cover *v);
brute_reads choices_reads(choices *c, const brute_part *p);
clf_ps choices_part_price(choices *c, const brute_part *p, int device);
clf_ps choices_price(choices *c, const choices_cover *v);
/** The least that the cover costs on any devices, all of them tried. They are left in *v. *tried: how many. */
clf_ps choices_place(choices *c, choices_cover *v, int64_t *tried);
/** choices_walk.c: the least of all assignments of component k; no more than `most` of them are looked at. */
choices_best choices_minimum(choices *c, int k, int64_t most);
/** On stdout. */
void choices_print(choices *c, const choices_cover *v);
#endif
