/* SPDX-License-Identifier: Apache-2.0
 * The cheapest cover by looking at all of them: an oracle of the exact planner for graphs of few operators.
 *
 * Written from THE SPACE in planner/problem.h and from the terms in planner/cost.h; of the planner it asks those terms and the facts that
 * templates know of nodes, nothing that chooses, checks or prices. Operators are bits of masks: a part is the set it computes and the
 * set it stores, so every part that can exist stands in one table (brute_sets.c), and a cover is a way to take parts from it such that
 * each stored operator is stored once (brute_walk.c). What is legal holds for any graph, prices are those of dense ones. */
#ifndef CLF_TESTS_BRUTE_H
#define CLF_TESTS_BRUTE_H
#include <stdio.h>

#include "planner/cost.h"
#include "planner/cover.h"

/* Facts are found of so many operators (BRUTE_FACTS), covers walked of graphs of so many (BRUTE_OPS). */
enum { BRUTE_FACTS = 20, BRUTE_OPS = 9, BRUTE_SLOTS = 20, BRUTE_DEVICES = 3, BRUTE_SETS = 1 << BRUTE_OPS };
typedef uint32_t brute_ops;   /* bit i: op[i] */
typedef uint32_t brute_slots; /* bit i: slot[i] */

/* What somebody needs in memory. */
typedef struct brute_reads {
    brute_ops ops;
    brute_slots slots;
} brute_reads;

typedef struct brute_op {
    int32_t node;
    bool loops, alone, copied;
    int64_t class_[2];                                      /* rows of its loop; its columns where there is one row, else -1 */
    brute_ops inside;                                       /* what it may take inside one loop */
    brute_ops outside;                                      /* what it takes from memory on one way at least */
    brute_ops copies;                                       /* copied expressions that it computes itself */
    brute_reads operands;                                   /* everything it takes, copies too */
    brute_reads by_rows;                                    /* matrices and vectors among them that it takes row by row */
    brute_reads cone;                                       /* copied: what is read for it; */
    int ncone, need;                                        /* its operators and arguments; */
    int immediates;                                         /* scalar arguments of an operator itself */
    clf_ps takes[BRUTE_FACTS + BRUTE_SLOTS][BRUTE_DEVICES]; /* what its loop pays for an operand in memory: operators, then slots */
    clf_ps read[BRUTE_DEVICES], write[BRUTE_DEVICES];       /* its value read once; as a result */
    clf_ps move[BRUTE_DEVICES], loop_ps[BRUTE_DEVICES], apart_ps[BRUTE_DEVICES], alone_ps[BRUTE_DEVICES];
} brute_op;

typedef struct brute_slot {
    int32_t node;
    bool free; /* a scalar: an argument of the kernel, never read from memory */
    clf_ps read[BRUTE_DEVICES], move[BRUTE_DEVICES];
} brute_slot;

/* A set of operators as one loop. */
typedef struct brute_set {
    bool legal;      /* but for the number of arguments, which depends on how many are stored */
    brute_ops sinks; /* what nothing in it takes: stored, or it would not be there */
    brute_reads reads;
    int arguments, kept; /* kept: values at a time */
    clf_ps reads_ps[BRUTE_DEVICES], compute_ps[BRUTE_DEVICES];
} brute_set;

typedef struct brute_part {
    brute_ops node, out;
    bool loop;
    int device;
} brute_part;

typedef struct brute_cover {
    int n;
    brute_part part[BRUTE_OPS];
} brute_cover;

typedef struct brute {
    const clf_graph *g;
    clf_limits lim;
    int nop, nslot, ndevice;
    const clf_profile *device[BRUTE_DEVICES];
    brute_ops roots, must; /* must: stored in any cover */
    brute_op op[BRUTE_FACTS];
    brute_slot slot[BRUTE_SLOTS];
    clf_ps launch[BRUTE_DEVICES], wait[BRUTE_DEVICES]; /* wait: for a part that another device or the caller reads from */
    brute_set set[BRUTE_SETS];
    int32_t first[BRUTE_SETS + 1], nway; /* ways to store exactly a set: way[first[set]] .. */
    brute_part *way;
} brute;

/** brute_facts.c: false where the graph has more operators or slots than fit. Release with brute_release. */
bool brute_make(brute *b, const clf_graph *g, const clf_limits *lim, int ndevice, const clf_profile *const *device);
/** The same without the tables of sets and parts, and for BRUTE_FACTS operators; nothing to release. */
bool brute_begin(brute *b, const clf_graph *g, const clf_limits *lim, int ndevice, const clf_profile *const *device);
void brute_release(brute *b);
/* The steps of it: what operators may do, what they cost, and sets of them. */
bool brute_facts(brute *b);
/** Is n a product of two leaves of entries, which only the host has a step for? */
bool brute_of_entries(const brute *b, int32_t n);
void brute_terms(brute *b);
bool brute_sets(brute *b);

/** Why a cover is not in the space; NULL: it is. */
const char *brute_illegal(const brute *b, const brute_cover *c);
/** What the part needs in memory. */
brute_reads brute_part_reads(const brute *b, const brute_part *p);

/** Every legal cover, devices left open, until the visitor says false. Returns how many were visited. */
typedef bool brute_visit(void *user, const brute_cover *c);
int64_t brute_walk(const brute *b, brute_visit *visit, void *user);
/** The same for the covers that follow from one choice an edge, FUSE or READ, the same in all parts, and from joins. */
int64_t brute_walk_edges(const brute *b, brute_visit *visit, void *user);

/** brute_price.c: what a part costs, without transfers; a cover with its transfers and waits. */
clf_ps brute_part_price(const brute *b, const brute_part *p, int device);
/** Operators of a loop that it computes along two axes (brute_twice.c). */
brute_ops brute_twice(const brute *b, const brute_part *p);
/** What takes ps on a full device, as a loop of these operators: as long as its groups fill device d. */
clf_ps brute_filled(const brute *b, brute_ops set, clf_ps ps, int d);
clf_ps brute_price(const brute *b, const brute_cover *c);
/** The least that the cover costs on any devices, tried one after the other, if that is less than `below`, else `below`. The devices are
 *  left in *c. */
clf_ps brute_place(const brute *b, brute_cover *c, clf_ps below);
/** The same for two devices as a minimum cut (brute_cut.c). */
clf_ps brute_cut(const brute *b, const brute_cover *c);

typedef struct brute_best {
    clf_ps cost;
    brute_cover cover;
    int64_t covers; /* legal ones */
} brute_best;
brute_best brute_minimum(const brute *b);
brute_best brute_minimum_edges(const brute *b);

/** brute_text.c */
void brute_print(const brute *b, const brute_cover *c);
/** A cover of the planner's as one of these; false where its copied expressions are not those of the space, or a part is not of needed
 *  operators. */
bool brute_from(const brute *b, const clf_cover *c, brute_cover *out);
/** One part of it. */
bool brute_part_from(const brute *b, const clf_cover *c, int32_t number, brute_part *out);
/** The way back: parts in executable order, into a cover begun for the graph and room for its parts and for BRUTE_OPS nodes of each.
 *  Formats and drivers are left to find. */
void brute_to(const brute *b, const brute_cover *c, clf_part *part, int32_t *node, clf_cover *out);
#endif
