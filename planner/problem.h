/* SPDX-License-Identifier: Apache-2.0
 * The problem that selection solves, as facts about each node of one graph: what may share a loop, what may stand alone, what must be in
 * memory, and what each term costs on each device. Everything that chooses, checks or prices covers reads these and nothing else.
 *
 * THE SPACE. A cover is legal when
 *   - every needed node is computed by some part, each part's nodes being needed by what it stores, and every value that is read from
 *     memory, or is a result, is stored by exactly one part that computes it;
 *   - a part with a loop computes nodes of one class only (same rows; for a single row the same columns), reaches each operand that it
 *     computes itself through an edge that may be inside a loop, is connected by such edges or by matrices and vectors that two of its
 *     nodes read row by row, and keeps the kernel's limits;
 *   - a part without a loop computes one node, which may stand alone, on a device that runs more than loops;
 *   - parts can be ordered so that what is read was stored before.
 * Sparse operands may be converted for a part that could visit their entries, or for a transpose that could be a twin, unless it stores a
 * result that would be sparse: what the user is given keeps its format.
 * A part that computes a node takes it from itself, never from memory. Expressions of single values (copied) are computed by every loop
 * that may take them in (copies) and are no choice; one that somebody reads from memory, or that is a result, is stored besides. */
#ifndef CLF_PLANNER_PROBLEM_H
#define CLF_PLANNER_PROBLEM_H
#include "planner/bill.h"

enum { CLF_MOST_SOURCES = 64 };

/* Of a node. */
enum {
    CLF_CAN_LOOP = 1,    /* computed in a loop */
    CLF_CAN_ALONE = 2,   /* computed by a step of its own: library, host */
    CLF_IS_NEEDED = 4,   /* a result, or an operand of something needed */
    CLF_IS_ROOT = 8,
    CLF_IS_SLOT = 16,    /* in memory from the start */
    CLF_IS_COPIED = 32   /* cheap: clf_cover.copied */
};

typedef struct clf_problem {
    const clf_graph *g;
    const clf_memo *m;
    const clf_limits *lim;
    clf_devices dev;
    bool host_beside;                /* a host is among several devices */
    clf_ps wait[CLF_MOST_DEVICES];   /* clf_cost_wait; the host's steps have ended when they are read */
    uint8_t *is;             /* node -> flags */
    uint8_t *alone_on;       /* node -> devices on which it may be a step of its own: a bit each */
    uint8_t *inside;         /* node -> bit k: operand k may come from inside the same loop */
    uint8_t *copies;         /* node -> bit k: operand k is copied, and a loop computes it for n */
    uint8_t *ties;           /* node -> bit k: operand k connects it: by_rows to all who read or compute it; inside, and copied ones that
                              * might be inside, to those of the loop that compute it */
    uint8_t *by_rows;        /* node -> bit k: operand k is taken row by row, so that readers of it may share a loop */
    int32_t *class_;         /* node -> class of loops, -1: none */
    int32_t nclass;
    int32_t nsparse, *sparse; /* leaves stored in CSR */
    uint8_t *copied;         /* clf_cover.copied */
    uint8_t *cone, *need;    /* copied nodes: operators, operands in memory */
} clf_problem;

/** Fill *out; lim names at least one device; everything lies in the arena. errors: CLF_E_NOMEM. */
clf_status clf_problem_new(const clf_memo *m, const clf_limits *lim, clf_arena *arena, clf_problem *out, clf_err *err);

/** May node n be a step of its own on device d? On one that runs loops only a product may that the device's own library computes. */
static inline bool clf_problem_alone_on(const clf_problem *p, int32_t n, int d) { return p->alone_on[n] >> d & 1; }
/** On how many devices; and number k of these. */
int clf_problem_alone_count(const clf_problem *p, int32_t n);
int clf_problem_alone_at(const clf_problem *p, int32_t n, int k);
/** What copied node n needs in memory, each perhaps more than once: how many, at most CLF_MOST_SOURCES. */
int clf_problem_sources(const clf_problem *p, int32_t n, int32_t out[]);
/** Which limit of the kernel the loop of these nodes would exceed, CLF_NREASONS if none. stored: how many of them are. mark: a zero byte per
 *  graph node, zero again afterwards. */
clf_reason clf_problem_limit(const clf_problem *p, const int32_t *node, int32_t n, int32_t stored, uint8_t *mark);
/** Is that loop connected? up: room for n; owner: a zero per graph node, zero again afterwards. */
bool clf_problem_connected(const clf_problem *p, const int32_t *node, int32_t n, int32_t *up, int32_t *owner);
/** Put the parts in executable order. *cyclic: there is none, and they stay as they are. */
clf_status clf_cover_sort(const clf_problem *p, clf_cover *c, clf_arena *arena, bool *cyclic, clf_err *err);
/** Is the cover, with its parts in executable order, in the space? errors: CLF_E_INTERNAL naming part and node. */
clf_status clf_cover_check(const clf_problem *p, clf_cover *c, clf_arena *scratch, clf_err *err);

/** cuts.c: fill the cover's cuts: why each edge that goes through memory does so, and what is kept as a result. Room for 3 a node and one a
 *  result. */
clf_status clf_cuts_find(const clf_problem *p, clf_cover *c, clf_arena *scratch, clf_err *err);
/** To bring so many bytes of node q from one device to another by way of the host, on which device `to` has a credit for slots. */
clf_ps clf_problem_bring(const clf_problem *p, int32_t q, double bytes, int from, int to);

/* Notes of pricing, kept from one cover to the next. */
typedef struct clf_pricer {
    const clf_problem *p;
    clf_arena *arena;
    uint8_t *mark;
    uint16_t *converted, *at; /* node -> devices where it was, that its value was brought to: a bit each */
    uint16_t *cells;        /* and that its cells, converted on the host, were brought to */
    int64_t *when, now;     /* the pricing that a node's notes are of */
    int64_t *waited;        /* part -> the last pricing in which it was waited for */
    int64_t *twinned;       /* node -> the last pricing in which its twin was made for a product of entries, and is there for others */
    uint8_t *layout;        /* of parts: the cheapest so far */
    clf_bill bill, convert;
    clf_ps sum;
} clf_pricer;
clf_status clf_pricer_new(const clf_problem *p, clf_arena *arena, clf_pricer *out, clf_err *err);
/** What the cover costs: the sum over its parts of launch + max(moved, computed), conversions, transfers, and a wait for each part that
 *  another device or the caller reads from. Drivers must be known. A cover of some of the nodes only, the others being in memory, has a
 *  price, too. */
clf_status clf_cover_price(clf_pricer *w, clf_cover *c, clf_ps *out, clf_err *err);
/** layout.c: the layout of every part such that the cover costs least, with its drivers; *out: what it costs then. *all: no layout was left
 *  out for their number. */
clf_status clf_cover_layouts(clf_pricer *w, clf_cover *c, clf_ps *out, bool *all, clf_err *err);
/** Lay the parts out so, and find their drivers. False: a part has no such choice. */
bool clf_cover_lay_out(const clf_problem *p, clf_cover *c, const uint8_t *layout);
#endif
