/* SPDX-License-Identifier: Apache-2.0
 * Evaluation: freeze, plan (from the cache when it can), run, settle. Reading results is result.c. */
#include <string.h>

#include "host/graph/facts.h"
#include "host/run/run.h"

void clf_node_settle(clf_ctx *c, clf_node *n, clf_buf *buf) {
    clf_node *in[3];
    int nin = n->g.nin;
    memcpy(in, n->in, sizeof in);
    clf_node_unlist(&c->nodes, n);
    n->value = buf;
    n->g.op = CLF_OP_LEAF;
    n->g.nin = 0;
    clf_facts_leaf(&n->g, n->g.nnz, buf);
    memset(n->g.attr, 0, sizeof n->g.attr);
    n->g.attr[0] = (int64_t)buf->id;
    memset(n->in, 0, sizeof n->in);
    for (int k = 0; k < nin; k++) clf_node_unref(&c->nodes, in[k]);
}

static clf_status check_handles(size_t n, clf_mat *const *m, clf_err *err) {
    for (size_t i = 0; i < n; i++) {
        if (!m[i] || !m[i]->ctx) return clf_fail(err, CLF_E_ARG, "evaluation: result %zu is missing", i + 1);
        if (m[i]->ctx != m[0]->ctx) return clf_fail(err, CLF_E_ARG, "evaluation: results belong to different contexts");
        const clf_node *node = m[i]->node;
        if (node->g.op == CLF_OP_ERROR) return clf_fail(err, node->status, "%s", node->text);
    }
    return CLF_OK;
}

static clf_status run_frozen(clf_ctx *c, clf_frozen *f, size_t n, clf_node *const *nodes, clf_buf **bufs, clf_err *err) {
    clf_exe *x;
    for (size_t s = 0; s < f->nslot; s++) {
        if (f->slot_node[s]->g.op == CLF_OP_PARAM)
            return clf_fail(err, CLF_E_ARG, "evaluation: the program depends on a parameter that has no value");
        clf_slot_fill(&f->slot[s], f->slot_node[s]);
    }
    CLF_TRY(clf_leaves_check(c, f->nslot, f->slot_node, err));
    clf_run_news(c);
    CLF_TRY(clf_run_plan(c, &f->g, f->slot, &x, err));
    CLF_TRY(clf_run_exe(c, &f->g, x, f->slot, bufs, err));
    for (size_t i = 0; i < n; i++) {
        if (nodes[i]->value)
            clf_buf_unref(bufs[i]); /* the same node asked for twice */
        else
            clf_node_settle(c, nodes[i], bufs[i]);
    }
    return CLF_OK;
}

/* A number needs no program; it stays a constant. */
static clf_status store_number(clf_ctx *c, clf_node *n, clf_err *err) {
    clf_buf *b = clf_buf_pooled(&c->run->blocks, ++c->next_buf, clf_dtype_bytes(n->num.dtype));
    if (!b) return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory for a number");
    clf_scalar_store(b->host, 0, n->num);
    n->value = b;
    return CLF_OK;
}

enum { SMALL_FILL = 1 << 20 }; /* bytes; a larger one is a loop of all cores */

/* Nor does a matrix of one number while planning takes longer than it. */
static bool is_small_fill(const clf_node *n) {
    const double bytes = clf_gnode_bytes(&n->g);
    return n->g.op == CLF_OP_FILL && n->in[0]->g.op == CLF_OP_CONST && bytes > 0 && bytes <= SMALL_FILL;
}

/* Out of memory: it stays what it is, and its program makes room, or says so. */
static void store_fill(clf_ctx *c, clf_node *n) {
    const size_t each = clf_dtype_bytes((clf_dtype)n->g.dtype), bytes = (size_t)clf_rows(&n->g) * (size_t)clf_cols(&n->g) * each;
    clf_buf *b = clf_buf_pooled(&c->run->blocks, ++c->next_buf, bytes);
    if (!b) return;
    char *cells = b->host;
    clf_scalar_store(cells, 0, clf_scalar_to(n->in[0]->num, (clf_dtype)n->g.dtype));
    for (size_t done = each; done < bytes; done *= 2) memcpy(cells + done, cells, done < bytes - done ? done : bytes - done);
    clf_node_settle(c, n, b);
}

/* All that have no value yet are such; beside others they are the program's, which knows their number then. *left: still without. */
static clf_status store_fills(clf_ctx *c, size_t n, clf_mat *const *m, size_t *left, clf_err *err) {
    CLF_TRY(clf_ctx_usable(c, err));
    *left = 0;
    for (size_t i = 0; i < n; i++) {
        if (!m[i]->node->value) store_fill(c, m[i]->node);
        *left += !m[i]->node->value;
    }
    return CLF_OK;
}

/* Programs: the results that have no value yet. */
static clf_status eval_nodes(clf_ctx *c, size_t n, clf_node **nodes, clf_buf **bufs, clf_err *err) {
    clf_frozen f;
    CLF_TRY(clf_freeze(c, n, nodes, 0, NULL, &f, err));
    clf_status st = run_frozen(c, &f, n, nodes, bufs, err);
    clf_frozen_release(&f);
    c->stats.evaluations += st == CLF_OK;
    return st;
}

clf_status clf_eval_in_lock(clf_ctx *c, size_t n, clf_mat *const *m, clf_err *err) {
    size_t left = 0, fills = 0;
    for (size_t i = 0; i < n; i++) {
        clf_node *node = m[i]->node;
        if (!node->value && node->g.op == CLF_OP_CONST) CLF_TRY(store_number(c, node, err));
        left += !node->value;
        fills += !node->value && is_small_fill(node);
    }
    if (left && fills == left) CLF_TRY(store_fills(c, n, m, &left, err));
    if (!left) return CLF_OK;
    CLF_TRY(clf_ctx_usable(c, err));
    enum { FEW = 8 };
    clf_node *few_nodes[FEW], **nodes = few_nodes;
    clf_buf *few_bufs[FEW], **bufs = few_bufs;
    clf_status st = CLF_OK;
    if (left > FEW) {
        nodes = clf_mem_new(&c->mem, left, sizeof *nodes);
        bufs = clf_mem_new(&c->mem, left, sizeof *bufs);
        if (!nodes || !bufs) st = clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory for %zu results", n);
    }
    size_t k = 0;
    for (size_t i = 0; i < n && st == CLF_OK; i++)
        if (!m[i]->node->value) nodes[k++] = m[i]->node;
    if (st == CLF_OK) st = eval_nodes(c, left, nodes, bufs, err);
    if (left > FEW) {
        clf_mem_free(&c->mem, nodes, left, sizeof *nodes);
        clf_mem_free(&c->mem, bufs, left, sizeof *bufs);
    }
    return st;
}

clf_status clf_eval_locked(size_t n, clf_mat *const *m) {
    clf_err err = {CLF_OK, ""};
    clf_ctx *c = m[0]->ctx;
    clf_status st = check_handles(n, m, &err);
    if (st == CLF_OK) st = clf_eval_in_lock(c, n, m, &err);
    return st == CLF_OK ? CLF_OK : clf_ctx_fail(c, &err);
}

clf_status clf_eval(size_t n, clf_mat *const *m) {
    if (n == 0) return CLF_OK;
    if (!m || !m[0] || !m[0]->ctx) return CLF_E_ARG;
    clf_ctx *c = m[0]->ctx;
    clf_ctx_lock(c);
    clf_status st = clf_eval_locked(n, m);
    clf_ctx_unlock(c);
    return st;
}
