/* SPDX-License-Identifier: Apache-2.0
 * The chosen plan: ordered steps over values, with liveness and a reason for every cut. Plain data in one arena.
 *
 * A value is something in memory: a slot (leaf, constant or parameter bound by the caller) or the result of a step. Steps refer to
 * values by number; what a value's memory is, is decided when the plan runs. */
#ifndef CLF_PLANNER_PLAN_H
#define CLF_PLANNER_PLAN_H
#include "planner/rewrite.h"
#include "planner/skel.h"

typedef enum clf_step_kind { CLF_STEP_FUSED, CLF_STEP_LIBRARY, CLF_STEP_CONVERT, CLF_STEP_TRANSFER, CLF_STEP_CALLOUT, CLF_STEP_CHECK } clf_step_kind;

/* Why an edge of the graph goes through memory: CLF_REASON(ID, what explain says). */
#define CLF_REASONS(R)                                                         \
    R(SELECTOR, "the selector fuses nothing")                                  \
    R(BARRIER, "an aggregate must see all cells before its result is used")    \
    R(LOOPS, "producer and consumer run over different loops")                 \
    R(TEMPLATE, "no template covers the operator")                             \
    R(KERNEL_OPS, "the kernel would exceed its operator limit")                \
    R(KERNEL_ARGS, "the kernel would exceed the device's argument bytes")      \
    R(KERNEL_AXES, "the loop would run over too many different widths")        \
    R(SHARED, "stored once for consumers in later passes")                     \
    R(RESULT, "kept as a result")                                              \
    R(DEVICE, "producer and consumer run on different devices")                \
    R(ALONE, "an operator in a step of its own is cheaper than in a loop")     \
    R(COST, "reading it from memory is cheaper than computing it again, or in one loop with its consumer")
typedef enum clf_reason {
#define R(id, text) CLF_CUT_##id,
    CLF_REASONS(R)
#undef R
    CLF_NREASONS
} clf_reason;
typedef struct clf_cut { int32_t from, to; uint8_t reason; } clf_cut; /* graph nodes; to == -1 for results */

/* How a CONVERT step makes its output from its input. */
typedef enum clf_convert {
    CLF_CONVERT_DENSE,   /* CSR to dense cells */
    CLF_CONVERT_CSR,     /* the cells that are not zero */
    CLF_CONVERT_TWIN     /* CSR of the transpose, which is the operand's CSC; kept with a leaf's buffer and used again */
} clf_convert;

typedef struct clf_plan_value {
    int32_t node;       /* graph node */
    int32_t slot;       /* bound by the caller; -1: made by a step */
    uint8_t dtype, scalar, root;
    uint8_t format;     /* clf_format; the memory of a CSR value is a clf_csr */
    int32_t pattern;    /* CSR values made by a FUSED step: the value whose pattern they share (the step writes entries only); else -1 */
    int64_t rows, cols;
    int64_t nnz;        /* stored entries: exact or a bound; cells when dense */
    size_t bytes;       /* dense: of the cells; CSR: of the three arrays, of the entries alone with a shared pattern */
    int32_t made, last; /* step that makes it (-1: slot), last step that reads it (nstep: a root) */
} clf_plan_value;

/* A scalar kernel argument: the number in a slot, or an immediate one. Converted to the cplan's param type when bound. */
typedef struct clf_plan_param { int32_t slot; clf_scalar imm; } clf_plan_param;

typedef struct clf_step {
    uint8_t kind;       /* clf_step_kind */
    uint8_t template_;  /* index into clf_templates; FUSED */
    uint8_t device;     /* index into the devices planned for, 0 unless a search chose it */
    uint8_t ta, tb;     /* LIBRARY: operands used transposed */
    uint8_t convert;    /* CONVERT: clf_convert */
    int32_t node;       /* CALLOUT, LIBRARY: graph node */
    int32_t nin, nout, nparam, ncover;
    int32_t *in, *out;  /* values, in the cplan's order */
    int32_t *cover;     /* graph nodes computed here */
    clf_plan_param *param;
    clf_cplan c;        /* FUSED */
    uint32_t key_len;   /* FUSED: canonical bytes of c without extents: what executors cache by */
    char *key;
    double read_bytes, write_bytes, flops; /* by the graph; executors' facts refine them */
    struct clf_bill *bill; /* what it costs, on any device: planner/bill.h; NULL: nobody said */
    int32_t driver;     /* FUSED: the value whose stored entries the loop visits, -1: all cells */
    const char *sparse; /* FUSED with sparse operands: why the loop visits entries, or why not; else "" */
} clf_step;

typedef struct clf_plan {
    clf_arena arena;
    clf_graph g;        /* own, rewritten: node numbers here and below are its */
    int32_t nstep, nvalue, nroot, ncut;
    int ndevice;        /* devices planned for: above 1, steps say on which they run */
    int64_t ncosted;    /* partial covers costed by the search */
    int64_t cost_ps;    /* what the search found its cover to cost, transfers included; 0: nothing was searched */
    int64_t gap_ps;     /* how much cheaper another cover could be at most; 0: none is, or nothing was searched */
    bool kept;          /* an earlier search found its cover: very likely in another process, and it will be wanted again */
    size_t peak_bytes;  /* results, intermediates and conversions alive at once, at most */
    int32_t nentry, nfired; /* memo entries explored, rules applied: for the trace */
    int32_t *fired;     /* applications of each of clf_rules */
    clf_step *step;
    clf_plan_value *value;
    int32_t *root;      /* values, in the order asked for */
    clf_cut *cut;
    int32_t *value_of;  /* graph node -> value, -1 */
    int32_t *other_of;  /* graph node -> its value in the other format, converted, -1 */
    int32_t *twin_of;   /* graph node -> its twin's value, made for products of entries, -1 */
    uint8_t *mark;      /* a zero per graph node, for bills */
} clf_plan;

/* The devices planned for; [0] holds the leaves, wants the results, and runs steps of every kind: the host. None: one that is assumed. */
enum { CLF_MOST_DEVICES = 8 };
typedef struct clf_devices {
    int n;
    const clf_profile *profile[CLF_MOST_DEVICES];
    bool loops_only[CLF_MOST_DEVICES];       /* runs fused steps, and products for which its profile has a gemm_flops_per_s, and no others;
                                              * conversions for it are made on [0] */
    const int64_t *resident[CLF_MOST_DEVICES]; /* slot -> its credit there: picoseconds of the transfer that are not charged; NULL: none */
} clf_devices;

typedef struct clf_keeper clf_keeper; /* planner/cover_kept.h */

/* What selection may not exceed, and for what it chooses. */
typedef struct clf_limits {
    clf_devices dev;
    int kernel_ops;         /* cell operators in one kernel */
    int kernel_inputs;      /* memory and scalar operands in one kernel */
    int search_share;       /* clf_search_options.share */
    bool own_products;      /* a product alone runs as a loop, too: then every plan has the same bits */
    clf_gate rules;         /* which rewrites are used */
    const clf_ask *ask;     /* whether to go on, before each part of the search; may be NULL */
    clf_spares *spares;     /* memory for the meantime; may be NULL */
    const clf_keeper *keeper; /* of covers that were searched before; may be NULL */
} clf_limits;

/** Name of a reason's text. */
const char *clf_reason_text(clf_reason r);
typedef struct clf_selector clf_selector; /* planner/select.h */
/** Plan graph g with a selector. The plan owns its memory; release with clf_plan_free.
 *  errors: CLF_E_NOMEM; CLF_E_CANCELLED; CLF_E_INTERNAL if a checker objects. */
clf_status clf_plan_new(clf_plan **out, const clf_graph *g, const clf_selector *sel, const clf_limits *lim, clf_mem *mem, clf_err *err);
void clf_plan_free(clf_plan *p);
/** plan_peak.c: fill peak_bytes; liveness must be known. */
clf_status clf_plan_find_peak(clf_plan *p, clf_arena *scratch, clf_err *err);
clf_status clf_plan_check(const clf_plan *p, clf_err *err);
void clf_plan_print(const clf_plan *p, clf_str *out);
/** Predicted nanoseconds of one step on a device of this profile, launch included. */
double clf_step_cost_ns(const clf_plan *p, const clf_step *s, const clf_profile *dev);
/** Is it a product of the library's that goes over stored entries of both sides? */
static inline bool clf_step_of_entries(const clf_plan *p, const clf_step *s) {
    return s->kind == CLF_STEP_LIBRARY && p->value[s->in[0]].format == CLF_CSR;
}
/** The part of the device that the step fills while it runs (clf_cost_occupancy); 1: all of it, or not said. */
double clf_step_occupancy(const clf_step *s, const clf_profile *dev);
#endif
