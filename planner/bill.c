/* SPDX-License-Identifier: Apache-2.0
 * Bills of loops and of steps that stand alone. See bill.h.
 *
 * How an operand is read follows from the loop. Where stored entries drive it, what lies along them is gathered; else as in a loop over all
 * cells (bill_terms.c). Of several ways to read one operand the dearest counts, since what it brought is there for the others. */
#include "planner/bill.h"

#include <string.h>

#include "core/fold.h"
#include "formats/fmt.h"
#include "planner/axes.h"
#include "planner/skel.h"

enum {
    SHORT = 4,       /* columns up to which a product of a row of stored entries is one inner product each */
    MOST_NESTED = 64 /* operands of a copied expression that wait to be looked at: 16 operators of at most 3 */
};

typedef struct billing {
    const clf_graph *g;
    const clf_cover *c;
    const clf_part *part;
    int32_t number, driver; /* driver: -1 without one */
    double rows;            /* of the loop */
    uint8_t *mark;          /* operands that have been billed */
    clf_arena *arena;
    clf_bill *out;
    bool failed;
    bool tiled;    /* the loop is one that goes through a product in tiles */
    int64_t grain; /* rows of the largest block of what meets over rows so far */
} billing;

static void put(billing *b, int kind, int32_t node, double x, double y, double z) {
    clf_bill *o = b->out;
    if (o->n == o->cap) {
        int32_t cap = o->cap ? 2 * o->cap : 16;
        clf_term *t = clf_arena_new(b->arena, (size_t)cap, sizeof *t);
        b->failed = b->failed || !t;
        if (!t) return;
        if (o->n) memcpy(t, o->term, (size_t)o->n * sizeof *t);
        o->term = t;
        o->cap = cap;
    }
    o->term[o->n++] = (clf_term){kind, node, x, y, z};
}

static void put_term(billing *b, clf_term t) { put(b, t.kind, t.node, t.a, t.b, t.c); }

/* ---- operands where entries drive ---- */

/* Of a product's right side: the driver's columns select its rows, or its columns where it is used transposed. */
static bool right_along(const billing *b, int32_t n, clf_term *t) {
    bool tb;
    const clf_gnode *d = &b->g->node[b->driver], *a = &b->g->node[clf_node_operand(b->g, n, 0)];
    int32_t q = clf_product_operand(b->g, n, 1, &tb);
    const clf_gnode *x = &b->g->node[q];
    double nnz = (double)b->c->entries[b->driver], bytes = clf_gnode_bytes(&b->g->node[q]), w = clf_gnode_width(x);
    bool inner = clf_cols(a) == clf_cols(d) && clf_cols(&b->g->node[n]) != clf_cols(d);
    if (!inner && clf_cols(&b->g->node[n]) != clf_cols(d)) return false;
    bool by_row = inner != tb; /* does an entry select one row of x as it is stored? */
    *t = by_row ? (clf_term){CLF_TERM_GATHER, q, nnz, w * (double)clf_cols(x), bytes}
                : (clf_term){CLF_TERM_GATHER, q, nnz * (double)clf_rows(x), w, bytes};
    return true;
}

/* Operand k of n lies along the driver's entries. */
static bool along_entries(const billing *b, int32_t n, int k, clf_term *t) {
    if (b->driver < 0) return false;
    if (clf_product_whole(b->g, n, k)) return k && right_along(b, n, t);
    int32_t q = clf_node_operand(b->g, n, k);
    const clf_gnode *x = &b->g->node[q], *d = &b->g->node[b->driver];
    if (clf_cols(x) != clf_cols(d)) return false;
    bool cells = clf_rows(x) == clf_rows(d) && clf_rows(d) > 1;
    *t = (clf_term){cells ? CLF_TERM_SPARSELY : CLF_TERM_GATHER, q, (double)b->c->entries[b->driver], clf_gnode_width(x),
                    clf_gnode_bytes(&b->g->node[q])};
    return true;
}

/* ---- operands ---- */

static int rank_of(int kind) { return kind == CLF_TERM_AGAIN ? 3 : kind == CLF_TERM_READ ? 2 : 1; }

static bool dearer(const clf_term *a, const clf_term *b) {
    if (rank_of(a->kind) != rank_of(b->kind)) return rank_of(a->kind) > rank_of(b->kind);
    return a->a != b->a ? a->a > b->a : a->kind == CLF_TERM_AGAIN && a->c > b->c;
}

/* One term an operand: the dearest way it is read. */
static void put_operand(billing *b, clf_term t) {
    clf_bill *o = b->out;
    if (!b->mark[t.node]) {
        b->mark[t.node] = 1;
        put_term(b, t);
        return;
    }
    for (int32_t i = 0; i < o->n; i++)
        if (o->term[i].node == t.node && o->term[i].kind <= CLF_TERM_SPARSELY && dearer(&t, &o->term[i])) o->term[i] = t;
}

double clf_cover_bytes(const clf_graph *g, const clf_cover *c, int32_t q) {
    const clf_gnode *x = &g->node[q];
    if (!c->csr[q]) return clf_gnode_bytes(&g->node[q]);
    double own = (double)c->entries[q] * clf_gnode_width(x);
    return clf_node_is_slot(x) ? clf_csr_bytes(clf_rows(x), c->entries[q], (clf_dtype)x->dtype) : own;
}

bool clf_cover_reads_csr(const clf_graph *g, const clf_cover *c, int32_t number, int32_t q) {
    int32_t driver = c->part[number].driver;
    if (!c->csr[q] || driver < 0) return false;
    return q == driver || clf_gnode_alike(&g->node[q], &g->node[driver]);
}

/* Is operand k read for one row at a time, the left side of the product being a long row that the loop has put together before? */
static bool row_waits(const billing *b, int32_t n, int k) {
    int32_t left = clf_node_operand(b->g, n, 0);
    return clf_product_whole(b->g, n, k) && clf_cover_has(b->c, b->number, left) && clf_bill_long_row(b->g, left);
}

static void bill_operand(billing *b, int32_t n, int k) {
    int32_t q = clf_node_operand(b->g, n, k);
    const clf_gnode *x = &b->g->node[q];
    clf_term t;
    if (clf_cover_has(b->c, b->number, q) || (clf_node_is_slot(x) && x->scalar)) return;
    if (clf_cover_reads_csr(b->g, b->c, b->number, q)) {
        bool fresh = !b->mark[q] && q != b->driver;
        put_operand(b, (clf_term){CLF_TERM_READ, q, clf_cover_bytes(b->g, b->c, q), 0, 0});
        if (fresh) put(b, CLF_TERM_LOCATE, q, (double)b->c->entries[q] + (double)b->c->entries[b->driver], 0, 0);
        return;
    }
    if (!along_entries(b, n, k, &t)) t = clf_term_operand(b->g, n, k);
    if (t.kind == CLF_TERM_AGAIN && !b->tiled) t.c = row_waits(b, n, k) ? clf_bill_waiting(b->g, n) : t.b;
    put_operand(b, t);
}

/* What a copied expression reads is single values in memory. */
static void bill_copied(billing *b, int32_t copied) {
    int32_t wait[MOST_NESTED];
    int depth = 0;
    wait[depth++] = copied;
    while (depth) {
        int32_t n = wait[--depth];
        for (int k = 0; k < b->g->node[n].nin; k++) {
            int32_t q = b->g->node[n].in[k];
            if (!b->c->copied[q])
                bill_operand(b, n, k);
            else if (depth < MOST_NESTED)
                wait[depth++] = q;
        }
    }
}

/* ---- results ---- */

/* Parts of rows that cores share out are whole blocks of everything that meets. */
static void share_out(billing *b, int64_t block) {
    int64_t most = block > b->grain ? block : b->grain, least = block > b->grain ? b->grain : block, ratio = least > 0 ? most / least : 1;
    if (least > 0 && (most % least || (ratio & (ratio - 1)))) b->out->serial = true;
    b->grain = most;
}

/* What meets over rows, and where entries scatter their places. */
static void bill_result(billing *b, int32_t n) {
    const clf_gnode *x = &b->g->node[n];
    put(b, CLF_TERM_WRITE, n, clf_cover_bytes(b->g, b->c, n), 0, 0);
    if (!clf_term_meets(b->g, n)) return;
    int64_t most = clf_rows(x) > clf_cols(x) ? clf_rows(x) : clf_cols(x), d = b->driver < 0 ? -1 : clf_cols(&b->g->node[b->driver]);
    bool scatter = d >= 0 && (clf_cols(x) == d || (x->op == CLF_OP_MATMUL && clf_rows(x) == d));
    double bytes = clf_gnode_bytes(&b->g->node[n]);
    put_term(b, clf_term_meeting(b->g, n, scatter));
    share_out(b, clf_term_block(b->g, n, scatter));
    if (!scatter || most <= 0) return;
    put(b, CLF_TERM_PLACE, n, (double)b->c->entries[b->driver], bytes / (double)most, bytes);
    put(b, CLF_TERM_SCATTER, n, (double)b->c->entries[b->driver], 0, 0);
}

/* ---- operators ---- */

/* The share of its cells that n is computed for: where it has a value a column of the driver, those at its entries. */
static double share(const billing *b, int32_t n) {
    if (b->driver < 0) return 1;
    const clf_gnode *x = &b->g->node[n], *d = &b->g->node[b->driver];
    bool along = clf_cols(x) == clf_cols(d) && (x->op != CLF_OP_MATMUL || clf_gnode_alike(x, d));
    for (int k = 0; k < x->nin; k++) along = along || clf_gnode_alike(&b->g->node[clf_node_operand(b->g, n, k)], d);
    double cells = clf_gnode_cells(d);
    return along && cells > 0 ? (double)b->c->entries[b->driver] / cells : 1;
}

/* Is something begun at every entry: an inner product for the driver's cell, or a row of a longer product's right side that it is times? */
static bool begins_entries(const billing *b, int32_t n) {
    if (b->driver < 0) return false;
    const clf_gnode *x = &b->g->node[n], *d = &b->g->node[b->driver];
    if (clf_gnode_alike(x, d)) return true;
    return x->op == CLF_OP_MATMUL && clf_cols(x) > SHORT && clf_gnode_alike(&b->g->node[clf_node_operand(b->g, n, 0)], d);
}

/* Products are begun once a row, or once an entry. */
static void bill_operator(billing *b, int32_t n) {
    clf_term t[3];
    int count = clf_terms_node(b->g, n, share(b, n), t);
    bool at_entries = begins_entries(b, n), by_one = b->driver >= 0 && clf_cols(&b->g->node[n]) == 1 && clf_rows(&b->g->node[n]) > 1;
    for (int i = 0; i < count; i++) {
        if (t[i].kind == CLF_TERM_NODE && !b->tiled) t[i].b = 0;
        if (b->driver >= 0) t[i].c = t[i].kind == CLF_TERM_NODE ? CLF_PACE_USUAL : CLF_PACE_ENTRIES;
        if (t[i].kind == CLF_TERM_NODE && by_one && clf_op_is_cell(b->g->node[n].op)) t[i].c = CLF_PACE_ONE_BY_ONE;
        if (t[i].kind == CLF_TERM_DOTS && at_entries) {
            t[i].a = (double)b->c->entries[b->driver];
            t[i].b = clf_gnode_alike(&b->g->node[n], &b->g->node[b->driver]) ? CLF_DOTS_PAIRS : CLF_DOTS_SIDES;
        }
        put_term(b, t[i]);
    }
    if (b->driver < 0) return;
    if (clf_term_begun(b->g, n) > 0) put(b, CLF_TERM_BEGUN, n, clf_term_begun(b->g, n), 0, CLF_PACE_ENTRIES);
    if (b->c->host_beside && clf_bill_host_only(b->g, b->driver, n)) put(b, CLF_TERM_HOST, n, 0, 0, 0);
}

/* May a loop in tiles compute this part? */
static bool tiles(const billing *b) {
    int32_t product = -1;
    for (int32_t j = 0; j < b->part->n; j++)
        if (clf_product_loop(b->g, b->part->node[j]) == CLF_PRODUCT_WIDE) product = b->part->node[j];
    if (b->driver >= 0 || product < 0) return false;
    for (int32_t j = 0; j < b->part->n; j++) {
        int32_t n = b->part->node[j];
        clf_tile_place place = clf_bill_tile_place(b->g, product, n);
        if (place == CLF_TILE_NOWHERE || (place == CLF_TILE_BESIDE && clf_cover_stores(b->c, b->number, n))) return false;
    }
    return true;
}

/* Nothing but folds of all values of a leaf, and cell operators on them: where entries are does not matter, and nobody reads it. */
static bool flat(const billing *b) {
    const clf_gnode *d = b->driver < 0 ? NULL : &b->g->node[b->driver];
    bool may = d && !b->part->gaps && clf_node_is_slot(d) && !clf_gnode_single(d);
    for (int32_t j = 0; j < b->part->n && may; j++) {
        int32_t n = b->part->node[j];
        const clf_gnode *x = &b->g->node[n];
        may = clf_folds_all(x) || (clf_bill_cellwise(b->g, n) && !clf_cover_stores(b->c, b->number, n));
        for (int k = 0; k < x->nin && may; k++) {
            int32_t q = clf_node_operand(b->g, n, k);
            may = q == b->driver || clf_gnode_single(&b->g->node[q]) || clf_cover_has(b->c, b->number, q);
        }
    }
    return may;
}

static void bill_driver(billing *b) {
    double entries = (double)b->c->entries[b->driver];
    if (!flat(b)) return put(b, CLF_TERM_ENTRIES, b->driver, entries, 0, CLF_PACE_ENTRIES);
    for (int32_t t = 0; t < b->out->n; t++)
        if (b->out->term[t].node == b->driver && b->out->term[t].kind == CLF_TERM_READ)
            b->out->term[t].a = entries * clf_gnode_width(&b->g->node[b->driver]);
}

/* What the loop computes along two axes; where entries drive it, that is left out. */
static void bill_twice(billing *b) {
    if (b->driver >= 0 || !clf_axes_twice(b->g, b->c, b->number, b->mark)) return;
    for (int32_t j = 0; j < b->part->n; j++) {
        int32_t n = b->part->node[j];
        if ((b->mark[n] & CLF_AXES_TWICE) == CLF_AXES_TWICE) bill_operator(b, n);
        b->mark[n] &= (uint8_t)~CLF_AXES_TWICE;
    }
}

static void bill_loop(billing *b) {
    b->tiled = tiles(b);
    for (int32_t j = 0; j < b->part->n; j++) {
        int32_t n = b->part->node[j];
        const clf_gnode *x = &b->g->node[n];
        for (int k = 0; k < x->nin; k++) {
            int32_t q = clf_node_operand(b->g, n, k);
            if (b->c->copies[n] >> k & 1)
                bill_copied(b, q);
            else
                bill_operand(b, n, k);
        }
        if (clf_cover_stores(b->c, b->number, n)) bill_result(b, n);
        bill_operator(b, n);
    }
    bill_twice(b);
    b->out->kept = clf_part_kept(b->g, b->c, b->number, b->mark);
    clf_part_grid(b->g, b->c, b->number, b->out);
    if (b->driver < 0) return;
    bill_driver(b);
    if (b->part->gaps) put(b, CLF_TERM_GAPS, b->driver, (double)b->c->entries[b->driver] * b->part->gaps, 0, 0);
}

/* ---- steps of their own ---- */

static void bill_alone(billing *b) {
    int32_t n = b->part->node[0];
    const clf_gnode *x = &b->g->node[n];
    if (clf_part_twins(b->g, b->c, b->number)) {
        b->failed = clf_bill_convert(b->g, x->in[0], CLF_CONVERT_TWIN, (double)b->c->entries[x->in[0]], b->arena, b->out, NULL) != CLF_OK;
        return;
    }
    b->out->kind = x->op == CLF_OP_MATMUL ? CLF_STEP_LIBRARY : CLF_STEP_CALLOUT;
    bool entries = clf_product_of_entries(b->g, n);
    for (int k = 0; k < x->nin; k++) {
        int32_t q = clf_node_operand(b->g, n, k);
        double bytes = entries ? clf_entries_bytes(b->g, q) : clf_gnode_bytes(&b->g->node[q]);
        put_operand(b, (clf_term){CLF_TERM_READ, q, bytes, 0, 0});
    }
    put_term(b, clf_term_result(b->g, n));
    put(b, CLF_TERM_ALONE, n, 0, 0, 0);
}

clf_status clf_bill_convert(const clf_graph *g, int32_t n, clf_convert how, double entries, clf_arena *arena, clf_bill *out, clf_err *err) {
    billing b = {.g = g, .arena = arena, .out = out};
    const clf_gnode *x = &g->node[n];
    double csr = (double)clf_csr_bytes(clf_rows(x), (int64_t)entries, (clf_dtype)x->dtype), dense = clf_gnode_bytes(&g->node[n]);
    out->n = out->kept = out->sums = 0;
    out->cells = 0;
    out->serial = false;
    out->kind = CLF_STEP_CONVERT;
    put(&b, CLF_TERM_READ, n, how == CLF_CONVERT_CSR ? dense : csr, 0, 0);
    put(&b, CLF_TERM_WRITE, n, how == CLF_CONVERT_DENSE ? dense : csr, 0, 0);
    put(&b, CLF_TERM_CONVERT, n, how, entries, 0);
    return b.failed ? clf_fail(err, CLF_E_NOMEM, "planning: out of memory for the cost of a step") : CLF_OK;
}

clf_status clf_bill_part(const clf_graph *g, const clf_cover *c, int32_t i, uint8_t *mark, clf_arena *arena, clf_bill *out, clf_err *err) {
    const clf_part *part = &c->part[i];
    billing b = {.g = g, .c = c, .part = part, .number = i, .driver = part->driver, .mark = mark, .arena = arena, .out = out};
    out->n = out->kept = out->sums = 0;
    out->cells = 0;
    out->serial = false;
    out->kind = CLF_STEP_FUSED;
    b.rows = (double)clf_node_loop_rows(g, part->node[0]);
    if (part->loop)
        bill_loop(&b);
    else
        bill_alone(&b);
    for (int32_t t = 0; t < out->n; t++) mark[out->term[t].node] = 0;
    return b.failed ? clf_fail(err, CLF_E_NOMEM, "planning: out of memory for the cost of a step") : CLF_OK;
}
