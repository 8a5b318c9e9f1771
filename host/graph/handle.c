/* SPDX-License-Identifier: Apache-2.0
 * Handles: slab-allocated, in one list per context ordered by age, so that an epoch ends by walking back from the newest. */
#include <stdio.h>
#include <string.h>

#include "host/graph/ctx.h"

enum { HANDLES = 128 };
struct clf_handle_slab {
    struct clf_handle_slab *next;
    clf_mat mat[HANDLES];
};

static bool grow(clf_ctx *c) {
    struct clf_handle_slab *s = clf_mem_new(&c->mem, 1, sizeof *s);
    if (!s) return false;
    s->next = c->handles.slabs;
    c->handles.slabs = s;
    for (int i = HANDLES; i-- > 0;) {
        s->mat[i].next = c->handles.free;
        c->handles.free = &s->mat[i];
    }
    return true;
}

static void append(clf_handles *h, clf_mat *m) {
    m->next = NULL;
    m->prev = h->last;
    if (h->last)
        h->last->next = m;
    else
        h->first = m;
    h->last = m;
}

static void detach(clf_handles *h, clf_mat *m) {
    if (m->prev)
        m->prev->next = m->next;
    else
        h->first = m->next;
    if (m->next)
        m->next->prev = m->prev;
    else
        h->last = m->prev;
}

clf_mat *clf_handle_oom(clf_ctx *c) {
    snprintf(c->last_error, sizeof c->last_error, "%s", c->oom_node.text);
    return &c->oom;
}

clf_mat *clf_handle_new(clf_ctx *c, clf_node *n) {
    clf_handles *h = &c->handles;
    if (!h->free && !grow(c)) {
        clf_node_unref(&c->nodes, n);
        return clf_handle_oom(c);
    }
    clf_mat *m = h->free;
    h->free = m->next;
    m->ctx = c;
    m->node = n;
    m->serial = ++h->serial;
    append(h, m);
    return m;
}

void clf_handle_free(clf_ctx *c, clf_mat *m) {
    if (m == &c->oom || !m->ctx) return;
    detach(&c->handles, m);
    clf_node_unref(&c->nodes, m->node);
    memset(m, 0, sizeof *m);
    m->next = c->handles.free;
    c->handles.free = m;
}

void clf_handles_release(clf_ctx *c) {
    while (c->handles.last) clf_handle_free(c, c->handles.last);
    while (c->handles.slabs) {
        struct clf_handle_slab *s = c->handles.slabs;
        c->handles.slabs = s->next;
        clf_mem_free(&c->mem, s, 1, sizeof *s);
    }
    c->handles.free = NULL;
}

clf_mat *clf_handle_error(clf_ctx *c, const clf_err *err) {
    clf_ctx_fail(c, err);
    clf_node want;
    memset(&want, 0, sizeof want);
    want.g.op = CLF_OP_ERROR;
    want.status = err->code;
    want.text_bytes = strlen(err->text) + 1;
    want.text = clf_mem_new(&c->mem, want.text_bytes, 1);
    if (!want.text) return clf_handle_oom(c);
    memcpy(want.text, err->text, want.text_bytes);
    clf_node *n = clf_node_fresh(&c->nodes, &want);
    if (!n) {
        clf_mem_free(&c->mem, want.text, want.text_bytes, 1);
        return clf_handle_oom(c);
    }
    return clf_handle_new(c, n);
}

clf_mat *clf_handle_fail(clf_ctx *c, const clf_err *err) {
    clf_ctx_lock(c);
    clf_mat *m = clf_handle_error(c, err);
    clf_ctx_unlock(c);
    return m;
}

void clf_free(clf_mat *m) {
    if (!m || !m->ctx) return;
    clf_ctx *c = m->ctx;
    clf_ctx_lock(c);
    clf_handle_free(c, m);
    clf_ctx_unlock(c);
}

size_t clf_epoch_begin(clf_ctx *c) {
    if (!c) return 0;
    clf_ctx_lock(c);
    size_t mark = c->handles.serial;
    clf_ctx_unlock(c);
    return mark;
}

void clf_epoch_end(clf_ctx *c, size_t mark) {
    if (!c) return;
    clf_ctx_lock(c);
    while (c->handles.last && c->handles.last->serial > mark) clf_handle_free(c, c->handles.last);
    clf_ctx_unlock(c);
}

/* Kept handles move to the old end of the list, out of every epoch's reach. */
clf_mat *clf_keep(clf_mat *m) {
    if (!m || !m->ctx || m == &m->ctx->oom) return m;
    clf_ctx *c = m->ctx;
    clf_ctx_lock(c);
    detach(&c->handles, m);
    m->serial = 0;
    m->prev = NULL;
    m->next = c->handles.first;
    if (m->next)
        m->next->prev = m;
    else
        c->handles.last = m;
    c->handles.first = m;
    clf_ctx_unlock(c);
    return m;
}

clf_ctx *clf_ctx_of(const clf_mat *m) { return m ? m->ctx : NULL; }

static clf_status status_locked(const clf_mat *m, const char **message) {
    bool bad = m->node->g.op == CLF_OP_ERROR;
    if (message) *message = bad ? m->node->text : "";
    return bad ? m->node->status : CLF_OK;
}

clf_status clf_status_of(const clf_mat *m, const char **message) {
    if (!m || !m->ctx) {
        if (message) *message = "no handle";
        return CLF_E_ARG;
    }
    clf_ctx_lock(m->ctx);
    clf_status st = status_locked(m, message);
    clf_ctx_unlock(m->ctx);
    return st;
}

clf_status clf_info(const clf_mat *m, int64_t *rows, int64_t *cols, clf_dtype *t, bool *scalar) {
    if (!m || !m->ctx) return CLF_E_ARG;
    clf_ctx_lock(m->ctx);
    clf_status st = status_locked(m, NULL);
    clf_gnode g = m->node->g;
    clf_ctx_unlock(m->ctx);
    if (st != CLF_OK) return st;
    if (rows) *rows = clf_rows(&g);
    if (cols) *cols = clf_cols(&g);
    if (t) *t = (clf_dtype)g.dtype;
    if (scalar) *scalar = g.scalar;
    return CLF_OK;
}

clf_status clf_node_sticky(const clf_node *n, clf_err *err) {
    return n->g.op == CLF_OP_ERROR ? clf_fail(err, n->status, "%s", n->text) : CLF_OK;
}

clf_status clf_node_name(clf_ctx *c, clf_node *n, const char *name, clf_err *err) {
    size_t bytes = strlen(name) + 1;
    char *text = clf_mem_new(&c->mem, bytes, 1);
    if (!text) return clf_fail(err, CLF_E_NOMEM, "clf_label: out of memory");
    memcpy(text, name, bytes);
    clf_mem_free(&c->mem, n->text, n->text_bytes, 1);
    n->text = text;
    n->text_bytes = bytes;
    return CLF_OK;
}

clf_status clf_label(clf_mat *m, const char *name) {
    if (!m || !m->ctx) return CLF_E_ARG;
    clf_ctx *c = m->ctx;
    clf_err err = {CLF_OK, ""};
    clf_ctx_lock(c);
    bool named = m->node->g.op == CLF_OP_LEAF || m->node->g.op == CLF_OP_PARAM;
    clf_status st = clf_node_sticky(m->node, &err);
    if (st == CLF_OK && !name) st = clf_fail(&err, CLF_E_ARG, "clf_label: name is NULL");
    if (st == CLF_OK && !named) st = clf_fail(&err, CLF_E_ARG, "clf_label: only leaves and parameters have names");
    if (st == CLF_OK) st = clf_node_name(c, m->node, name, &err);
    if (st != CLF_OK) clf_ctx_fail(c, &err);
    clf_ctx_unlock(c);
    return st;
}
