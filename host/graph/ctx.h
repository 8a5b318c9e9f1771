/* SPDX-License-Identifier: Apache-2.0
 * The context: everything hangs off it, nothing is global. And handles: what the user holds of a node. */
#ifndef CLF_GRAPH_CTX_H
#define CLF_GRAPH_CTX_H
#include <pthread.h>

#include "clfuse/clfuse.h"
#include "core/ask.h"
#include "core/knobs.h"
#include "core/trace.h"
#include "host/graph/node.h"

struct clf_mat {
    clf_ctx *ctx;
    clf_node *node;
    clf_mat *prev, *next;  /* context's list, newest last; free handles use next */
    uint64_t serial;       /* 0: kept beyond epochs */
};

typedef struct clf_handles {
    clf_mat *first, *last, *free;
    struct clf_handle_slab *slabs;
    uint64_t serial;
} clf_handles;

struct clf_run;   /* host/run/run.h: devices, plans, pool */
struct clf_meter; /* host/run/meter.h: where the time goes */

struct clf_ctx {
    clf_mem mem;
    clf_knobs knobs;
    clf_trace trace;
    clf_ask ask;
    pthread_mutex_t lock;
    clf_nodes nodes;
    clf_handles handles;
    uint64_t next_buf;
    clf_fn *fns;            /* list of live functions */
    clf_node oom_node;      /* the error that needs no memory */
    clf_mat oom;
    char last_error[CLF_ERR_TEXT];
    clf_stats stats;
    struct clf_run *run;
    struct clf_meter *meter; /* NULL unless a setting asks for it */
    char **names;           /* strings given out by clf_parse; owned */
    size_t nnames;
    int pid;
};

void clf_ctx_measure(clf_ctx *c, bool inside); /* the meter's, when there is one */
static inline void clf_ctx_lock(clf_ctx *c) {
    pthread_mutex_lock(&c->lock);
    if (c->meter) clf_ctx_measure(c, true);
}
static inline void clf_ctx_unlock(clf_ctx *c) {
    if (c->meter) clf_ctx_measure(c, false);
    pthread_mutex_unlock(&c->lock);
}
/** CLF_OK unless this is a child of fork: it has our memory but not our threads and devices. */
clf_status clf_ctx_usable(const clf_ctx *c, clf_err *err);
/** The failure of calls that need a good handle and got an error: its own. */
clf_status clf_node_sticky(const clf_node *n, clf_err *err);
/** Remember err as this thread's clf_open_error and return its code. */
clf_status clf_open_fail(const clf_err *err);
/** Remember err as the context's last error and return its code. */
clf_status clf_ctx_fail(clf_ctx *c, const clf_err *err);

/** A handle for a node whose reference it takes over. Out of memory: drops the reference and gives the context's error handle. */
clf_mat *clf_handle_new(clf_ctx *c, clf_node *n);
void clf_handle_free(clf_ctx *c, clf_mat *m);
void clf_handles_release(clf_ctx *c);
/** The context's error handle for memory running out, which it reports. */
clf_mat *clf_handle_oom(clf_ctx *c);
/** A sticky error handle that carries err. Never NULL. */
clf_mat *clf_handle_error(clf_ctx *c, const clf_err *err);
/** The same, taking the lock. */
clf_mat *clf_handle_fail(clf_ctx *c, const clf_err *err);

/** Make node n, computed into buf, a leaf in place: its inputs are released, so chains of evaluated values stay short. */
void clf_node_settle(clf_ctx *c, clf_node *n, clf_buf *buf);
/** Name a leaf or parameter; the name is copied. */
clf_status clf_node_name(clf_ctx *c, clf_node *n, const char *name, clf_err *err);
/** A new leaf node over buf, dense or CSR as buf is; zeros of CSR are structural. NULL when out of memory; takes its own reference. */
clf_node *clf_leaf_node(clf_ctx *c, clf_dtype t, bool scalar, int64_t rows, int64_t cols, clf_buf *buf);
/** The same, of other zeros than the format's and, dense, of about nnz cells that are not 0. */
clf_node *clf_leaf_like(clf_ctx *c, const clf_gnode *g, clf_buf *buf);

/** Type, shape and number of entries of a sparse matrix. errors: as clf_sparse_csr. */
clf_status clf_sparse_args(const char *fn, clf_dtype t, int64_t rows, int64_t cols, int64_t nnz, clf_err *err);

/** Check handles (m[0] has a context) and evaluate them, under the lock; a failure's message becomes the context's. */
clf_status clf_eval_locked(size_t n, clf_mat *const *m);

/* Recording (record.c): build the description, check it, hash-cons it. All under the lock. */
clf_status clf_record_cell(clf_ctx *c, clf_op op, bool outer, int n, clf_node *const *in, clf_node **out, clf_err *err);
clf_status clf_record_form(clf_ctx *c, clf_op op, const int64_t *attr, int n, clf_node *const *in, clf_node **out, clf_err *err);
#endif
