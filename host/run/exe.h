/* SPDX-License-Identifier: Apache-2.0
 * A prepared plan: every step placed on a device with what its executor needs, ready to run again and again on other data.
 *
 * Running walks the steps in order. Steps on an OpenCL device are enqueued; a step on the host first waits for what is in flight
 * (of several devices, for what it reads: exe_flight.c); the last wait ends the evaluation. What a value's memory is, is decided here: slots are the caller's,
 * results are pooled buffers, intermediates go back to the pool after their last reader. The memory of a sparse value is a clf_csr; one
 * made by a fused step is entries in a pooled block and the pattern of another value, whose memory it keeps alive. How many entries a
 * sparse value has is known when it is there: extents over entries are bound then, whatever the plan took them for. */
#ifndef CLF_RUN_EXE_H
#define CLF_RUN_EXE_H
#include "device/device.h"
#include "formats/sparse.h"
#include "host/graph/ctx.h"
#include "host/run/tile.h"
#include "planner/plan.h"

enum { CLF_MOST_OPENCL = CLF_MOST_DEVICES - 1 };

/* A slot's content: the number of a scalar and the address of its memory (its own `store` when it has none). */
typedef struct clf_slot {
    clf_scalar num;
    const void *ptr;
    clf_buf *buf; /* what keeps ptr alive; NULL for numbers */
    uint64_t store;
} clf_slot;

/* CLF_EXECUTOR(ID, name in explain and in the log). */
#define CLF_EXECUTORS(E) \
    E(TILE, "tile") \
    E(REF, "ref") \
    E(KERNEL, "kernel") \
    E(PRODUCT, "gemm") \
    E(ENTRIES, "entries") \
    E(CALLOUT, "callout") \
    E(ROWS, "rows") \
    E(CONVERT, "convert") \
    E(CLBLAST, "clblast")
typedef enum clf_executor {
#define E(id, name) CLF_ON_##id,
    CLF_EXECUTORS(E)
#undef E
        CLF_NEXECUTORS
} clf_executor;
const char *clf_executor_name(clf_executor e);
/** Who runs a step that is no loop on the host. */
clf_executor clf_executor_alone(const clf_plan *p, const clf_step *t);

/* In a grid, may a part see only its share of v (rows or, when flat, cells), by its shape? Not sparse ones. */
static inline bool clf_sched_spans(const clf_sched *p, const clf_plan_value *v) {
    if (v->format != CLF_DENSE) return false;
    return p->flat ? v->rows * v->cols == p->extent : v->rows == p->extent && p->extent > 1;
}

/* The second kernel of a step: see clf_skel.merge. */
typedef struct clf_exe_merge {
    clf_program *program;
    clf_sched sched;
    clf_arg_desc *args;
    int nargs;
} clf_exe_merge;

/* The part of a split step that a second device has: the last rows or cells. */
typedef struct clf_exe_also {
    int on, percent;      /* as clf_exe_step.on; of the cells */
    int64_t chunk;        /* its first; over stored entries of a run, and so is sched */
    clf_sched sched;
    clf_sched built;      /* what the program was written for */
    clf_program *program; /* NULL: it is not there yet, and until then nothing is split */
    clf_arg_desc *args;
    int nargs;
} clf_exe_also;

/* Of a split loop over stored entries: where the host's part ends, and what it reads; of a run. */
typedef struct clf_exe_entries {
    double share, upto; /* of rows and entries: the host's; and what is before a second device's */
    clf_entry_end end, also; /* also: where a second device's part begins, if `three` */
    bool three;
    clf_csr whole;   /* the loop's operand; of no rows until it has been cut once */
    clf_csr *first;  /* by operand: of sparse ones, what is before the end; their arrays are the operand's */
    void **in;       /* operands as the host has them */
} clf_exe_entries;

/* A step that the host and its device run together: the host the first rows or cells, the device all others, but for those of a second one. */
typedef struct clf_exe_split {
    int percent;        /* of the cells: the device's */
    int64_t chunk, end; /* of the device: its first chunk, and the first that is not its own; INT64_MAX: all are */
    int64_t from;       /* its first cell; its first row where the host's program is in row form */
    int64_t *axis_n;     /* for the host */
    clf_sched sched;
    double predicted_ns;
    clf_exe_also *also;  /* NULL: no second device */
    clf_exe_entries *entries; /* over stored entries: the chunks, axis_n and sched are those of the last run; else NULL */
} clf_exe_split;

typedef struct clf_exe_step {
    uint8_t executor;
    uint8_t on;                  /* 0 the host, else its kernel, or CLBlast, is for device[on - 1] of the plan */
    struct clf_tile_entry *tile; /* TILE, ROWS: shared through the context's table */
    clf_program *program;        /* KERNEL: owned by the device layer's cache */
    clf_sched sched;
    clf_sched *part; /* KERNEL: parts in TIME when operands exceed the device's largest allocation; else NULL */
    int nparts;
    clf_arg_desc *args; /* KERNEL: as emitted */
    int nargs;
    clf_exe_merge *merge; /* KERNEL: launched behind all parts; NULL: none */
    clf_exe_split *split; /* KERNEL: meant to be run together with the host (clf_exe_splits); else NULL */
    struct clf_exe_trial *trial; /* the host and its kernel take turns (exe_trial.c); NULL: no, the plan is believed */
    clf_facts facts; /* KERNEL */
    int64_t *axis_n, *in_dim, *out_dim;
    clf_axis *axis; /* KERNEL over stored entries: the axes as they were scheduled last; else NULL */
    bool sparse;    /* an operand is sparse */
    bool waiting;     /* on the host, or on a generic kernel, until its own is there */
    bool asked;       /* and that is asked for; at most once by itself */
    double saving_ns; /* waiting: what the kernel is predicted to save in a run */
    double predicted_ns, measured_ns;
    int row; /* of the context's meter, + 1; 0: not asked for yet */
    double read_bytes, write_bytes;
    const char *why; /* why this executor, when it is not the first choice; "" */
} clf_exe_step;

struct clf_exe;
/* What a plan may use, below what the settings allow. Zeroed: everything. */
typedef struct clf_exe_ways {
    const struct clf_exe *like; /* the device of that plan, whatever it costs; only while preparing */
    const int64_t *const *credit; /* by device in use: of slots there, in picoseconds of their transfers; only while preparing */
    bool host;                  /* no OpenCL device */
    uint32_t without;           /* nor these: a bit for each place in the device setting */
    size_t alloc_bytes;         /* operands in buffers in parts of at most this; 0: what the device takes */
    const char *why;            /* for explain; NULL: nothing to say */
} clf_exe_ways;

/* Working memory of a device's kernels, from the pool: a counter, then scratch. */
typedef struct clf_exe_work {
    void *at;
    size_t held;           /* bytes of scratch; less than asked for only until the next step */
    clf_buf counter, name; /* what copies of the two on the device are known by: of no memory, counted by nobody */
} clf_exe_work;

typedef struct clf_exe {
    clf_plan *plan;
    clf_arena arena; /* arrays of the steps */
    clf_exe_step *step;
    int ndevice;       /* OpenCL devices of KERNEL steps, */
    int device[CLF_MOST_OPENCL]; /* indices of clf_devs */
    void **value;      /* per plan value: address during a run */
    clf_buf **made;    /* per plan value: buffer made in this run */
    clf_scalar *param; /* scratch: most parameters of any step */
    void **in, **out;  /* scratch: most operands */
    clf_arg *arg;
    clf_exe_work work[CLF_MOST_OPENCL];
    struct clf_flight *flight; /* exe_flight.c; NULL: one device, or none */
    size_t scratch_bytes, counter_bytes; /* scratch_bytes: the most any kernel asks for */
    double predicted_ns;
    uint64_t runs;
    int32_t nwaiting;  /* steps */
    double spent_ns;   /* of its runs, with steps that wait */
    double ask_at_ns;  /* of those, from when on a kernel pays its compiling */
    uint64_t arrivals; /* of clf_run, when its waiting steps were looked at last */
    clf_exe_ways ways;
    bool busy;               /* its last run failed and a device may still be writing: it does not run again, and nothing of
                                      it is freed before the end */
    struct clf_exe *instead; /* what runs in its place since it failed (failure.c); owned */
    char *key;               /* plan cache: whole key, compared whole */
    size_t key_len, graph_key_len; /* behind graph_key_len: where leaves were (residency.h) */
    int64_t *lost_ps;              /* by slot: what a run loses because the leaf is not on a device; NULL: nothing */
    int32_t nlost;
    int lost_on;                   /* of clf_devs: there */
    struct clf_exe *next;
} clf_exe;

/* OpenCL devices of a plan: indices of clf_devs. */
typedef struct clf_places {
    int n, at[CLF_MOST_OPENCL];
} clf_places;
/** What plans of this context may not exceed, and their devices: the host, and the OpenCL devices, which are open; one of these alone where
 *  settings put all loops there. */
clf_limits clf_exe_limits(clf_ctx *c, const clf_places *on);
/** In a grid, does a part see only its share of operand i (results count behind inputs)? Else every part sees all of it: so it is of one that
 *  only looks as if its rows were the loop's, a vector along the columns of a square. */
bool clf_step_spans(const clf_plan *p, const clf_step *t, const clf_sched *sched, int i);
/** What a step's kernel was scheduled for: over stored entries, as many as there were then. */
static inline clf_cplan clf_exe_cplan(const clf_step *t, const clf_exe_step *e) {
    clf_cplan c = t->c;
    if (e->axis) c.axis = e->axis;
    return c;
}
/** Does it run on a device of the plan? */
static inline bool clf_exe_on_device(const clf_exe_step *e) { return e->executor == CLF_ON_KERNEL || e->executor == CLF_ON_CLBLAST; }
/** The device of a step whose kernel is built, or waited for, or that CLBlast computes. */
static inline int clf_exe_device(const clf_exe *x, const clf_exe_step *e) { return x->device[e->on - 1]; }

/** Is the step meant to be shared, and its own kernel there? Not while a generic kernel runs it, and not where it is cut in time. */
static inline bool clf_exe_shares(const clf_exe_step *e) {
    return e->executor == CLF_ON_KERNEL && e->split && !e->nparts && e->split->sched.skel == e->sched.skel;
}
/** Do host and device run the step together? */
static inline bool clf_exe_splits(const clf_exe_step *e) { return clf_exe_shares(e) && (!e->split->also || e->split->also->program); }

/** Prepare graph g for running: plan, place, build. ways: NULL for everything the settings allow.
 *  errors: what planning and building give. */
clf_status clf_exe_new(clf_exe **out, clf_ctx *c, const clf_graph *g, const clf_selector *sel, const clf_exe_ways *ways, clf_err *err);
/** Prepare a plan made before, which it takes over, whatever happens. errors: what building gives. */
clf_status clf_exe_of_plan(clf_exe **out, clf_ctx *c, clf_plan *p, const clf_exe_ways *ways, clf_err *err);
/** A busy plan is put aside instead. */
void clf_exe_free(clf_ctx *c, clf_exe *x);
/** At the end, when no device runs any more. */
void clf_exe_free_quarantine(clf_ctx *c);
/** The plan that runs when x is asked for. */
static inline clf_exe *clf_exe_latest(clf_exe *x) { return x->instead ? x->instead : x; }
/** Run. results[r] receives a new reference for root r (slots: their own buffer). timed: wait after each step and note its time. */
clf_status clf_exe_run(clf_ctx *c, clf_exe *x, clf_slot *slots, bool timed, clf_buf **results, clf_err *err);
/** exe_scratch.c: working memory of all programs that the plan runs, kernels' and the host executor's; of loops over stored entries on the
 *  host only what is known before. errors: CLF_E_NOMEM, CLF_E_LIMIT. */
clf_status clf_exe_scratch(clf_ctx *c, const clf_exe *x, size_t *bytes, clf_err *err);
/** What a device's kernels work in: counters, which are 0, and scratch, which nobody has cleared; freed by clf_mem_free(all bytes, 1). NULL:
 *  out of memory. */
void *clf_exe_work_new(clf_ctx *c, const clf_exe *x);
/** "device 0 (host)" or the device's name. */
const char *clf_exe_where(clf_ctx *c, const clf_exe *x, const clf_exe_step *s);
/** The name of the second device of a step that is split, or NULL where there is none. */
const char *clf_exe_where_also(clf_ctx *c, const clf_exe *x, const clf_exe_step *s);
#endif
