/* SPDX-License-Identifier: Apache-2.0
 * A cover: which steps compute and store what. A list of parts in executable order; a part is one loop (becoming one cplan) or one
 * operator in a step of its own. A node may be computed by several parts, but one of them at most stores it: its maker, which others read.
 * Within a part that computes it, a node is never read from memory. Plain data in one arena; selection makes it, lowering and pricing read
 * it part by part. */
#ifndef CLF_PLANNER_COVER_H
#define CLF_PLANNER_COVER_H
#include "planner/plan.h"
#include "planner/template.h"

/* How a part meets operands that are stored sparse. */
typedef enum clf_layout {
    CLF_LAYOUT_STORED,  /* a loop is driven by their entries if it can be, a transpose is a twin */
    CLF_LAYOUT_CELLS    /* all cells, converted first */
} clf_layout;

typedef struct clf_part {
    int32_t n, *node;   /* what it computes, ascending; every node is stored by it or taken by a later one of them */
    uint8_t loop;       /* 0: a single operator without template */
    uint8_t why;        /* clf_reason: which limit split it from the part before, if one did */
    uint8_t device;     /* index into the devices planned for */
    uint8_t layout;     /* clf_layout */
    int32_t driver;     /* node whose stored entries the loop visits, -1: all cells. From clf_cover_drivers, like the next */
    int32_t gaps;       /* aggregates of it that take cells without entry in by ranges */
    const char *sparse; /* why it does, or not, where operands are sparse; else "" */
} clf_part;

typedef struct clf_cover {
    int32_t npart, ncut;
    clf_part *part;
    clf_cut *cut;
    int32_t *maker;  /* node -> part that stores it, -1: none does */
    uint8_t *copied;    /* cheap expressions of single values: loops compute them for those that take them so, though not listed there */
    uint8_t *copies;    /* node -> bit k: in a loop, it takes operand k so */
    uint8_t *csr;    /* node's value is stored as CSR: leaves, patterns of drivers, twins. From clf_cover_drivers */
    int64_t *entries;   /* and so many entries it has */
    int32_t *member; /* node -> 1 + the last part entered that computes it */
    uint8_t *zero, *alike; /* notes of driver.c, there when a leaf is sparse */
    bool host_beside;      /* priced for a host and others: what only the host computes is its (host_only.c). Else executors see to it */
} clf_cover;

/** An empty cover with room for ncut cuts, leaves in their formats; parts are the caller's to put. */
clf_status clf_cover_begin(clf_cover *c, const clf_graph *g, int32_t ncut, clf_arena *arena, clf_err *err);
/** May a loop compute a copied operand k for n itself? Ranges and the right sides of products are taken from memory. */
bool clf_node_copies(const clf_graph *g, int32_t n, int k);
/** Scalar arguments that lowering adds for the operator itself. */
int clf_node_immediates(const clf_gnode *x);
/** Find expressions of single values only (scalars, fills, sequences): cheap enough to repeat. What they read is in memory anyway: a slot or
 *  the result of an aggregate, never the inside of another loop. Of those, cone: operators, need: operands and immediates. */
void clf_find_copies(const clf_graph *g, uint8_t *copied, uint8_t *cone, uint8_t *need);
/** Fill copies from copied. */
void clf_cover_copies(clf_cover *c, const clf_graph *g);
/** From now on clf_cover_has answers for this part. */
void clf_cover_enter(clf_cover *c, int32_t part);
/** Does the part, entered last, compute n? */
static inline bool clf_cover_has(const clf_cover *c, int32_t part, int32_t n) { return c->member[n] == part + 1; }
static inline bool clf_cover_stores(const clf_cover *c, int32_t part, int32_t n) { return c->maker[n] == part; }
/** Are rows followed in part i, which is entered: products, row aggregates used in their row, rows put together, several widths? */
bool clf_part_needs_rows(const clf_graph *g, const clf_cover *cover, int32_t i);

/* driver.c */
/** Find every part's driver, as its layout allows, and with it the format of every value. */
void clf_cover_drivers(const clf_graph *g, clf_cover *c);
/** Is part i the transpose of a sparse matrix as a sparse matrix? */
bool clf_part_twins(const clf_graph *g, const clf_cover *c, int32_t i);
#endif
