/* SPDX-License-Identifier: Apache-2.0
 * Shrinking by edits: an edit changes one thing in a copy; the copy is made again from its sources (types, shapes and cells follow), and
 * replaces the program when it still fails. Edits are tried from the coarsest to the finest, and again until none helps.
 * An edit that does not fit (operands of other shapes, cells outside the domain) is simply not taken. */
#include "tests/support/shrink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/random_make.h"

enum { ANY_CELLS = 1 << 22 };

typedef struct hunt {
    rp_program *best, *next; /* next: a scratch copy */
    shrink_fails fails;
    void *user;
    int tries, most;
} hunt;

/* An edit number k at node i of p; false when there is none. */
typedef bool edit_fn(rp_program *p, int i, int k);

/* ---- making a program again ---- */

void shrink_used(const rp_program *p, bool used[RP_NODES]) {
    memset(used, 0, RP_NODES * sizeof *used);
    for (int r = 0; r < p->nroot; r++) used[p->root[r]] = true;
    for (int i = p->n - 1; i >= 0; i--)
        for (int k = 0; used[i] && k < p->node[i].nin; k++) used[p->node[i].in[k]] = true;
}

/* Nodes that no root needs go; ids close up. */
static void drop_unused(rp_program *p) {
    bool used[RP_NODES];
    int id[RP_NODES] = {0}, n = 0;
    shrink_used(p, used);
    for (int i = 0; i < p->n; i++) {
        id[i] = n;
        if (!used[i]) {
            free(p->node[i].m.v);
            continue;
        }
        rp_node x = p->node[i];
        for (int k = 0; k < x.nin; k++) x.in[k] = id[x.in[k]];
        p->node[n++] = x;
    }
    for (int r = 0; r < p->nroot; r++) p->root[r] = id[p->root[r]];
    p->n = n;
}

static bool remake(rp_program *p) {
    drop_unused(p);
    for (int i = 0; i < p->n; i++) {
        rp_node *n = &p->node[i];
        if (rp_source(n->kind)) continue;
        free(n->m.v);
        n->m.v = NULL;
        if (!rp_make_node(p, n, ANY_CELLS)) return false;
    }
    return true;
}

/* ---- edits ---- */

static bool drop_root(rp_program *p, int i, int k) {
    if (k > 0 || i >= p->nroot || p->nroot < 2) return false;
    memmove(&p->root[i], &p->root[i + 1], (size_t)(p->nroot - i - 1) * sizeof *p->root);
    p->nroot--;
    return true;
}

static void redirect(rp_program *p, int from, int to) {
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < p->node[i].nin; k++)
            if (p->node[i].in[k] == from) p->node[i].in[k] = to;
    for (int r = 0; r < p->nroot; r++)
        if (p->root[r] == from) p->root[r] = to;
}

/* A node becomes its k-th operand. */
static bool use_operand(rp_program *p, int i, int k) {
    if (i >= p->n || k >= p->node[i].nin) return false;
    redirect(p, i, p->node[i].in[k]);
    return true;
}

/* Two nodes of one type and shape become one: the earlier. */
static bool use_earlier(rp_program *p, int i, int k) {
    if (i >= p->n || k >= i) return false;
    const rp_matrix *a = &p->node[i].m, *b = &p->node[k].m;
    if (a->t != b->t || a->scalar != b->scalar || a->rows != b->rows || a->cols != b->cols) return true; /* no try: it stays itself */
    redirect(p, i, k);
    return true;
}

/* An operator becomes a source with its cells, or with ones where they are not known. */
static bool become_leaf(rp_program *p, int i, int k) {
    rp_node *n = i < p->n ? &p->node[i] : NULL;
    if (!n || k > 0 || n->kind == RP_LEAF || n->kind == RP_NUMBER || n->m.final) return false;
    if (n->m.scalar && n->m.t != CLF_F64 && n->m.t != CLF_I64) return false;
    if (!n->m.v) n->m.v = malloc(((size_t)rp_count(&n->m) + 1) * sizeof *n->m.v);
    if (!n->m.v) return false;
    if (!rp_source(n->kind) && p->domain != RP_INTEGER)
        for (int64_t c = 0; c < rp_count(&n->m); c++) n->m.v[c] = 1;
    n->kind = n->m.scalar ? RP_NUMBER : RP_LEAF;
    n->nin = 0;
    memset(n->attr, 0, sizeof n->attr);
    return true;
}

/* Cut m down, keeping its first or its last cells. */
static void cut(rp_matrix *m, int64_t rows, int64_t cols, bool last) {
    int64_t skip = last ? (m->rows - rows) * m->cols + m->cols - cols : 0;
    for (int64_t a = 0; a < rows; a++)
        for (int64_t b = 0; b < cols; b++) m->v[a * cols + b] = m->v[a * m->cols + b + skip];
    m->rows = rows;
    m->cols = cols;
}

/* All sources with this extent get another one. */
static void resize(rp_program *p, int64_t from, int64_t to, bool last) {
    for (int i = 0; i < p->n; i++) {
        rp_node *n = &p->node[i];
        rp_matrix *m = &n->m;
        if (!rp_source(n->kind) || m->scalar || (m->rows != from && m->cols != from)) continue;
        cut(m, m->rows == from ? to : m->rows, m->cols == from && n->kind != RP_SEQ ? to : m->cols, last && n->kind != RP_SEQ);
        if (n->kind == RP_RAND) n->kind = RP_LEAF, n->attr[0] = 0; /* its cells depend on its shape */
    }
}

/* Ranges and columns that lie outside after a resize move inside. */
static void clamp(rp_program *p, int64_t to) {
    for (int i = 0; i < p->n; i++) {
        int64_t *a = p->node[i].attr;
        for (int j = 0; p->node[i].kind == RP_INDEX && j < 4; j++) a[j] = a[j] > to ? to : a[j];
        if (p->node[i].kind == RP_ORDER && a[0] > to) a[0] = to;
    }
}

/* An extent of source i, in all sources: to 1, 2, half, one less. */
static bool smaller_extent(rp_program *p, int i, int k) {
    if (i >= p->n || k >= 16 || !rp_source(p->node[i].kind) || p->node[i].m.scalar) return false;
    int64_t from = k % 2 ? p->node[i].m.cols : p->node[i].m.rows;
    int64_t to = k / 4 == 0 ? 1 : k / 4 == 1 ? 2 : k / 4 == 2 ? from / 2 : from - 1;
    if (from < 2 || to >= from || to < 1) return true;
    resize(p, from, to, k / 2 % 2);
    clamp(p, to);
    return true;
}

/* Leaf i alone becomes a row, a column, one cell; a small one loses a row, a column. */
static bool alone_smaller(rp_program *p, int i, int k) {
    enum { A_ROW, A_COLUMN, A_CELL, LESS_ROWS, LESS_COLUMNS, WAYS };
    int way = k / 2;
    if (i >= p->n || way >= WAYS || p->node[i].kind != RP_LEAF) return false;
    rp_matrix *m = &p->node[i].m;
    int64_t rows = way == A_ROW || way == A_CELL ? 1 : m->rows - (way == LESS_ROWS && m->rows <= 64);
    int64_t cols = way == A_COLUMN || way == A_CELL ? 1 : m->cols - (way == LESS_COLUMNS && m->cols <= 64);
    if (rows >= 1 && rows <= m->rows && cols >= 1 && cols <= m->cols) cut(m, rows, cols, k % 2);
    return true;
}

/* All cells of a source: zeros, ones, the first everywhere. */
static bool plainer_cells(rp_program *p, int i, int k) {
    if (i >= p->n || k >= 3 || (p->node[i].kind != RP_LEAF && p->node[i].kind != RP_NUMBER)) return false;
    rp_matrix *m = &p->node[i].m;
    double value = k == 0 ? 0 : k == 1 ? 1 : m->v[0];
    for (int64_t c = 0; c < rp_count(m); c++) m->v[c] = value;
    return true;
}

/* Single cells of a small leaf. */
static bool plainer_cell(rp_program *p, int i, int k) {
    if (i >= p->n || (p->node[i].kind != RP_LEAF && p->node[i].kind != RP_NUMBER)) return false;
    rp_matrix *m = &p->node[i].m;
    if (k >= 2 * rp_count(m) || rp_count(m) > 64) return false;
    m->v[k / 2] = k % 2;
    return true;
}

static bool f64_leaf(rp_program *p, int i, int k) {
    bool data = i < p->n && (p->node[i].kind == RP_LEAF || p->node[i].kind == RP_NUMBER);
    if (!data || k > 0 || p->node[i].m.t == CLF_F64) return false;
    p->node[i].m.t = CLF_F64;
    return true;
}

static bool dense_leaf(rp_program *p, int i, int k) {
    if (i >= p->n || k > 0 || !rp_sparse_leaf(&p->node[i])) return false;
    p->node[i].attr[0] = 0;
    return true;
}

static edit_fn *const edits[] = {drop_root,     use_operand,   become_leaf,  use_earlier, smaller_extent,
                                 alone_smaller, plainer_cells, plainer_cell, f64_leaf,    dense_leaf};

/* ---- the hunt ---- */

/* What an edit must lower, in this order: nodes that compute, roots, nodes, cells, types that are not f64 and sparse leaves, the size of values. */
typedef struct weight {
    double part[6];
} weight;

static weight weigh(const rp_program *p) {
    weight w = {{0, p->nroot, p->n, 0, 0, 0}};
    for (int i = 0; i < p->n; i++) {
        const rp_matrix *m = &p->node[i].m;
        if (!rp_source(p->node[i].kind)) {
            w.part[0]++;
            continue;
        }
        w.part[3] += (double)rp_count(m);
        w.part[4] += (m->t != CLF_F64) + rp_sparse_leaf(&p->node[i]);
        for (int64_t c = 0; c < rp_count(m); c++) w.part[5] += isfinite(m->v[c]) ? fabs(m->v[c]) + (m->v[c] != floor(m->v[c])) : 1e9;
        w.part[5] += p->node[i].kind != RP_LEAF && p->node[i].kind != RP_NUMBER; /* seq, fill, rand: a leaf is plainer */
    }
    return w;
}

static bool lighter(const weight *a, const weight *b) {
    for (int i = 0; i < 6; i++)
        if (a->part[i] != b->part[i]) return a->part[i] < b->part[i];
    return false;
}

/* Try one edit. True when it was taken. *more: the edit exists. */
static bool try_edit(hunt *h, edit_fn *edit, int i, int k, bool *more) {
    rp_copy(h->best, h->next);
    *more = edit(h->next, i, k);
    bool taken = *more && remake(h->next);
    if (taken) {
        weight was = weigh(h->best), is = weigh(h->next);
        taken = lighter(&is, &was) && h->tries < h->most && (h->tries++, h->fails(h->next, h->user));
    }
    if (taken) {
        rp_program *t = h->best;
        h->best = h->next;
        h->next = t;
    }
    rp_release(h->next);
    return taken;
}

/* One edit at every place, from the results down. */
static bool sweep(hunt *h, edit_fn *edit) {
    bool any = false;
    for (int i = RP_NODES - 1; i >= 0; i--) {
        bool more = true;
        if (i >= h->best->n && i >= h->best->nroot) continue;
        for (int k = 0; more && h->tries < h->most; k++) {
            bool taken = try_edit(h, edit, i, k, &more);
            any = any || taken;
            if (taken) k = -1;
            if (i >= h->best->n && i >= h->best->nroot) break;
        }
    }
    return any;
}

int shrink(rp_program *p, shrink_fails fails, void *user, int tries) {
    rp_program *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    hunt h = {a, b, fails, user, 0, tries};
    bool any = a && b;
    if (any) rp_copy(p, a);
    while (any && h.tries < h.most) {
        any = false;
        for (size_t e = 0; e < sizeof edits / sizeof *edits && !any; e++) any = sweep(&h, edits[e]); /* coarse ones again after each gain */
    }
    if (a && b) {
        rp_release(p);
        *p = *h.best;
    }
    free(a);
    free(b);
    return h.tries;
}

int shrink_operators(const rp_program *p) {
    int n = 0;
    for (int i = 0; i < p->n; i++) n += !rp_source(p->node[i].kind);
    return n;
}
