/* SPDX-License-Identifier: Apache-2.0
 * Freezing: the part of the recorded graph that is reachable from the roots, as dense ids in depth-first post-order, with its
 * leaves and constants as slots. Iterative; node->mark and node->number make visiting O(1) without a table. */
#include <string.h>

#include "host/graph/part.h"
#include "host/run/run.h"
#include "planner/template.h"

typedef struct frame {
    clf_node *node;
    int next;
} frame;

typedef struct walk {
    clf_ctx *c;
    clf_frozen *f;
    frame *stack;
    size_t depth, cap_stack, cap_gnode;
    size_t nnode, nslot, cap_slot;
    clf_gnode *gnode;
    bool ieee;     /* no zeros annihilate */
    bool function; /* with parameters */
} walk;

static bool is_slot(const clf_node *n) { return n->value || clf_node_is_slot(&n->g); }

static bool room(clf_ctx *c, void **v, size_t *cap, size_t need, size_t each) {
    if (need <= *cap) return true;
    size_t n = *cap ? *cap * 2 : 32;
    void *w = clf_mem_grow(&c->mem, *v, *cap, n, each);
    if (!w) return false;
    *v = w;
    *cap = n;
    return true;
}

static clf_status out_of_memory(clf_err *err) { return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory for the graph"); }

/* Is n's number known without running anything? Not where it hangs on a mathematical library. */
static bool is_known(const clf_node *n) {
    bool cell = clf_op_is_cell(n->g.op) && !(clf_ops[n->g.op].flags & F_ELEM);
    return n->known && n->g.scalar && !n->value && cell;
}

/* Give n the next id; it is described as `of` is. */
static clf_status number_node(walk *w, clf_node *n, const clf_node *of, int32_t slot, clf_err *err) {
    if (w->nnode >= INT32_MAX / 4) return clf_fail(err, CLF_E_LIMIT, "evaluation: more than %d nodes in one program", INT32_MAX / 4);
    if (!room(w->c, (void **)&w->f->node, &w->f->cap_node, w->nnode + 1, sizeof *w->f->node)) return out_of_memory(err);
    if (!room(w->c, (void **)&w->gnode, &w->cap_gnode, w->nnode + 1, sizeof *w->gnode)) return out_of_memory(err);
    clf_gnode *g = &w->gnode[w->nnode];
    memcpy(g, &of->g, sizeof *g);
    if (w->ieee) g->zeros = CLF_ZEROS_VALUE;
    if (slot >= 0) {
        g->op = of->g.op == CLF_OP_CONST || of->g.op == CLF_OP_PARAM ? of->g.op : CLF_OP_LEAF;
        g->nin = 0;
        g->in[0] = g->in[1] = g->in[2] = -1;
        memset(g->attr, 0, sizeof g->attr);
        g->attr[0] = slot;
        if (g->op == CLF_OP_CONST) g->attr[1] = clf_number_of(clf_scalar_as_f64(n->num));
    } else
        for (int k = 0; k < n->g.nin; k++) g->in[k] = n->in[k]->number;
    if (is_known(n)) {
        g->attr[0] = (int64_t)w->nslot;
        g->attr[1] = clf_number_of(clf_scalar_as_f64(n->num));
    }
    w->f->node[w->nnode] = n;
    n->mark = w->c->nodes.mark;
    n->number = (int32_t)w->nnode++;
    return CLF_OK;
}

static bool slot_room(walk *w) { return room(w->c, (void **)&w->f->slot_node, &w->cap_slot, w->nslot + 1, sizeof *w->f->slot_node); }

/* What the slot holds is leaf's, which has n's cells. */
static clf_status add_slot(walk *w, clf_node *n, clf_node *leaf, clf_err *err) {
    if (!slot_room(w)) return out_of_memory(err);
    w->f->slot_node[w->nslot] = leaf;
    return number_node(w, n, leaf, (int32_t)w->nslot++, err);
}

/* A leaf for what is in memory already, kept for as long as the program is; *leaf is NULL where there is none. A function's stays longer
 * than entries copied for it would be those of the matrix that it has captured. */
static clf_status find_part(walk *w, const clf_node *n, clf_node **leaf, clf_err *err) {
    clf_frozen *f = w->f;
    *leaf = NULL;
    if (w->function && n->g.op == CLF_OP_INDEX) return CLF_OK;
    CLF_TRY(clf_part_leaf(w->c, n, leaf, err));
    if (!*leaf) return CLF_OK;
    if (!room(w->c, (void **)&f->part, &f->cap_part, f->npart + 1, sizeof *f->part)) {
        clf_node_unref(&w->c->nodes, *leaf);
        return out_of_memory(err);
    }
    f->part[f->npart++] = (clf_part_slot){*leaf, n};
    return CLF_OK;
}

/* A block of a sparse parameter? What that is bound to is known when the program runs. */
static bool is_block(const clf_node *n) {
    const clf_node *p = n->g.op == CLF_OP_INDEX ? n->in[0] : NULL;
    return p && p->g.op == CLF_OP_PARAM && p->g.format == CLF_CSR;
}

/* Behind its parameter's slot. */
static clf_status add_block(walk *w, clf_node *n, clf_err *err) {
    clf_frozen *f = w->f;
    if (!room(w->c, (void **)&f->block, &f->cap_block, f->nblock + 1, sizeof *f->block)) return out_of_memory(err);
    const int32_t of = (int32_t)w->gnode[n->in[0]->number].attr[0];
    f->block[f->nblock++] = (clf_block_slot){.node = (int32_t)w->nnode, .of = of, .row = n->g.attr[0], .col = n->g.attr[1]};
    CLF_TRY(add_slot(w, n, n, err));
    w->gnode[w->nnode - 1].format = CLF_CSR;
    return CLF_OK;
}

/* An operator; one of constants has a slot, too, should a rewrite put its number in its place. */
static clf_status add_operator(walk *w, clf_node *n, clf_err *err) {
    if (is_known(n) && !slot_room(w)) return out_of_memory(err);
    CLF_TRY(number_node(w, n, n, -1, err));
    if (is_known(n)) w->f->slot_node[w->nslot++] = n;
    return CLF_OK;
}

static clf_status push(walk *w, clf_node *n, clf_err *err) {
    if (!room(w->c, (void **)&w->stack, &w->cap_stack, w->depth + 1, sizeof *w->stack)) return out_of_memory(err);
    w->stack[w->depth++] = (frame){n, 0};
    return CLF_OK;
}

/* One step of the node on top of the stack: n is a slot, or its next operand comes first, or it is an operator. */
static clf_status step(walk *w, clf_err *err) {
    frame *f = &w->stack[w->depth - 1];
    clf_node *n = f->node, *part = NULL;
    if (is_slot(n)) return add_slot(w, n, n, err);
    if (is_block(n) && n->in[0]->mark == w->c->nodes.mark) return add_block(w, n, err);
    if (!f->next) CLF_TRY(find_part(w, n, &part, err));
    if (part) return add_slot(w, n, part, err);
    return f->next < n->g.nin ? push(w, n->in[f->next++], err) : add_operator(w, n, err);
}

static clf_status visit(walk *w, clf_node *root, clf_err *err) {
    if (root->mark == w->c->nodes.mark) return CLF_OK;
    CLF_TRY(push(w, root, err));
    while (w->depth) {
        const clf_node *n = w->stack[w->depth - 1].node;
        if (n->mark == w->c->nodes.mark)
            w->depth--;
        else if (n->g.op == CLF_OP_ERROR)
            return clf_fail(err, n->status, "%s", n->text);
        else
            CLF_TRY(step(w, err));
    }
    return CLF_OK;
}

static clf_status finish(walk *w, size_t nroots, clf_node *const *roots, clf_err *err) {
    clf_frozen *f = w->f;
    f->g.node = w->gnode;
    f->g.n = (int32_t)w->nnode;
    f->g.nslot = (int32_t)w->nslot;
    f->g.nroot = (int32_t)nroots;
    f->g.root = clf_mem_new(&w->c->mem, nroots, sizeof *f->g.root);
    f->slot = clf_mem_new(&w->c->mem, w->nslot, sizeof *f->slot);
    if (!f->g.root || !f->slot) return out_of_memory(err);
    for (size_t r = 0; r < nroots; r++) f->g.root[r] = roots[r]->number;
    return CLF_OK;
}

clf_status clf_freeze(clf_ctx *c, size_t nroots, clf_node *const *roots, size_t nparams, clf_node *const *params, clf_frozen *out,
                      clf_err *err) {
    memset(out, 0, sizeof *out);
    walk w = {.c = c, .f = out, .ieee = !strcmp(c->knobs.sparse, "ieee"), .function = nparams > 0};
    c->nodes.mark++;
    clf_status st = CLF_OK;
    for (size_t i = 0; i < nparams && st == CLF_OK; i++) st = add_slot(&w, params[i], params[i], err);
    for (size_t r = 0; r < nroots && st == CLF_OK; r++) st = visit(&w, roots[r], err);
    if (st == CLF_OK) st = finish(&w, nroots, roots, err);
    clf_mem_free(&c->mem, w.stack, w.cap_stack, sizeof *w.stack);
    out->c = c;
    out->g.node = w.gnode;
    out->cap_gnode = w.cap_gnode;
    out->cap_slot = w.cap_slot;
    out->nslot = w.nslot;
    out->nroot = nroots;
    if (st != CLF_OK) clf_frozen_release(out);
    return st;
}

void clf_frozen_release(clf_frozen *f) {
    if (!f->c) return;
    clf_mem *m = &f->c->mem;
    clf_mem_free(m, f->g.node, f->cap_gnode, sizeof *f->g.node);
    clf_mem_free(m, f->node, f->cap_node, sizeof *f->node);
    clf_mem_free(m, f->slot_node, f->cap_slot, sizeof *f->slot_node);
    clf_mem_free(m, f->g.root, f->nroot, sizeof *f->g.root);
    clf_mem_free(m, f->slot, f->nslot, sizeof *f->slot);
    for (size_t i = 0; i < f->nblock; i++) clf_buf_unref(f->block[i].made);
    clf_mem_free(m, f->block, f->cap_block, sizeof *f->block);
    for (size_t i = 0; i < f->npart; i++) clf_node_unref(&f->c->nodes, f->part[i].leaf);
    clf_mem_free(m, f->part, f->cap_part, sizeof *f->part);
    memset(f, 0, sizeof *f);
}

void clf_slot_fill(clf_slot *s, const clf_node *n) {
    memset(s, 0, sizeof *s);
    if (n->g.op == CLF_OP_CONST || (n->known && !n->value)) {
        s->num = n->num;
        clf_scalar_store(&s->store, 0, n->num);
        s->ptr = &s->store;
        return;
    }
    s->buf = n->value;
    s->ptr = n->value->host;
    if (n->g.scalar) s->num = clf_scalar_load(s->ptr, 0, (clf_dtype)n->g.dtype);
}
