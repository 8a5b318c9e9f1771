/* SPDX-License-Identifier: Apache-2.0
 * The graph a loss is computed from, in post-order by an explicit stack, and which of its nodes matter: those that depend on what is
 * differentiated by through operators with a derivative. Invariant: inputs stand before what uses them; every node holds a reference. */
#include <string.h>

#include "host/graph/grad.h"

typedef struct frame {
    clf_node *node;
    int next;
} frame;

typedef struct stack {
    frame *at;
    size_t n, cap;
} stack;

static bool room(clf_sweep *w, void **v, size_t *cap, size_t n, size_t each) {
    enum { FIRST = 32 };
    if (n < *cap) return true;
    size_t more = *cap ? *cap * 2 : FIRST;
    void *p = clf_mem_grow(&w->c->mem, *v, *cap, more, each);
    if (!p) return false;
    *v = p;
    *cap = more;
    return true;
}

static clf_status no_memory(clf_sweep *w) { return clf_fail(w->err, CLF_E_NOMEM, "grad: out of memory for %zu nodes", w->n); }

static clf_status push(clf_sweep *w, stack *s, clf_node *n) {
    if (!room(w, (void **)&s->at, &s->cap, s->n, sizeof *s->at)) return no_memory(w);
    s->at[s->n++] = (frame){n, 0};
    return CLF_OK;
}

static clf_status take(clf_sweep *w, clf_node *n) {
    if (w->n >= INT32_MAX / 4) return clf_fail(w->err, CLF_E_LIMIT, "grad: more than %d nodes", INT32_MAX / 4);
    if (!room(w, (void **)&w->node, &w->cap, w->n, sizeof *w->node)) return no_memory(w);
    clf_grad_node *x = &w->node[w->n];
    x->node = clf_node_ref(n);
    memcpy(&x->g, &n->g, sizeof x->g);
    for (int k = 0; k < n->g.nin; k++) x->in[k] = n->in[k]->number;
    n->mark = w->c->nodes.mark;
    n->number = (int32_t)w->n++;
    return CLF_OK;
}

static clf_status visit(clf_sweep *w, stack *s, clf_node *loss) {
    CLF_TRY(push(w, s, loss));
    while (s->n) {
        frame *f = &s->at[s->n - 1];
        clf_node *n = f->node;
        if (n->mark == w->c->nodes.mark) {
            s->n--;
        } else if (f->next < n->g.nin) {
            CLF_TRY(push(w, s, n->in[f->next++]));
        } else {
            CLF_TRY(take(w, n));
        }
    }
    return CLF_OK;
}

static void find_live(clf_sweep *w) {
    for (size_t i = 0; i < w->n; i++) {
        clf_grad_node *n = &w->node[i];
        n->live = n->wanted;
        for (int k = 0; k < n->g.nin && !n->live; k++)
            n->live = clf_dtype_float((clf_dtype)n->g.dtype) && w->node[n->in[k]].live && clf_grad_passes(n, k);
    }
}

clf_status clf_grad_walk(clf_sweep *w, clf_node *loss, size_t n, clf_mat *const *wrt, int32_t *place) {
    stack s = {NULL, 0, 0};
    uint64_t mark = ++w->c->nodes.mark;
    clf_status st = visit(w, &s, loss);
    clf_mem_free(&w->c->mem, s.at, s.cap, sizeof *s.at);
    CLF_TRY(st);
    for (size_t i = 0; i < n; i++) {
        place[i] = wrt[i]->node->mark == mark ? wrt[i]->node->number : -1;
        if (place[i] >= 0) w->node[place[i]].wanted = true;
    }
    find_live(w);
    return CLF_OK;
}

clf_mat *clf_grad_mat(clf_sweep *w, int32_t i) {
    clf_grad_node *n = &w->node[i];
    if (n->mat) return n->mat;
    clf_ctx_lock(w->c);
    n->mat = clf_handle_new(w->c, clf_node_ref(n->node));
    clf_ctx_unlock(w->c);
    return n->mat;
}

clf_mat *clf_grad_temp(clf_sweep *w, clf_mat *m) {
    if (room(w, (void **)&w->temp, &w->cap_temp, w->ntemp, sizeof *w->temp)) return w->temp[w->ntemp++] = m;
    clf_free(m);
    clf_ctx_lock(w->c);
    m = clf_handle_oom(w->c);
    clf_ctx_unlock(w->c);
    return m;
}

void clf_grad_drop_temps(clf_sweep *w) {
    while (w->ntemp) clf_free(w->temp[--w->ntemp]);
}

void clf_grad_release(clf_sweep *w) {
    clf_grad_drop_temps(w);
    for (size_t i = 0; i < w->n; i++) {
        clf_grad_node *n = &w->node[i];
        clf_free(n->mat);
        for (int p = 0; p < CLF_PARTS; p++) clf_free(n->part[p]);
    }
    clf_ctx_lock(w->c);
    for (size_t i = 0; i < w->n; i++) clf_node_unref(&w->c->nodes, w->node[i].node);
    clf_ctx_unlock(w->c);
    clf_mem_free(&w->c->mem, w->node, w->cap, sizeof *w->node);
    clf_mem_free(&w->c->mem, w->temp, w->cap_temp, sizeof *w->temp);
}
