/* SPDX-License-Identifier: Apache-2.0
 * Which sparse operand drives a loop: where it has no entry, everything the loop makes must be zero, add nothing, or go into aggregates
 * that take all those cells in unvisited: what they are varies with rows at most, or with columns, so they go by their number where they
 * are alike along what is folded, else by ranges between entries. Decided from the meaning of zeros (design section 6): a cell is zero at
 * a driver's zeros if it is the driver, if an annihilating operator meets one there, or if its operator's structural zeros all come from
 * operands that are zero there. Never from a list of functions: recording has found by evaluation whether an operator keeps zeros. */
#include <string.h>

#include "planner/lowering.h"

static bool structural(const clf_gnode *x) { return x->zeros == CLF_ZEROS_STRUCTURAL; }

/* Is n, computed by the part, zero wherever the driver is? zero[] holds the answer for its inputs. */
static bool zero_there(const clf_graph *g, int32_t n, const uint8_t *zero) {
    const clf_gnode *x = &g->node[n];
    if (!structural(x) || !(clf_op_is_cell(x->op) || x->op == CLF_OP_CAST)) return false;
    unsigned one = clf_op_annihilators(x->op);
    bool all = true, some = false;
    for (int k = 0; k < x->nin; k++) {
        bool z = zero[x->in[k]];
        if (z && (one >> k & 1)) return true;
        if (!structural(&g->node[x->in[k]])) continue;
        all = all && z;
        some = true;
    }
    return some && all;
}

typedef struct search {
    const clf_graph *g;
    const clf_cover *cover;
    const clf_part *part;
    int32_t number; /* of the part */
    uint8_t *zero;  /* per node: known to be zero where the driver is */
    uint8_t *alike; /* per node of the part: cells without entry are alike in a row (ROW), in a column (COL), with both everywhere */
    bool counts;    /* an aggregate takes them in unvisited */
    int32_t gaps;   /* how many by ranges, for they differ along what it folds */
    const char *why;
} search;

enum { ROW = 1, COL = 2 };

static bool folds_away(int fold) { return fold == CLF_FOLD_SUM || fold == CLF_FOLD_SUMSQ || fold == CLF_FOLD_NNZ || fold == CLF_FOLD_ANY; }

static bool no(search *s, const char *why) {
    s->why = why;
    return false;
}

/* Operand q of something that runs along the driver's columns: fine if it is zero there. */
static bool along(search *s, const clf_gnode *d, int32_t q, bool *uses) {
    if (clf_cols(&s->g->node[q]) != clf_cols(d)) return true;
    *uses = true;
    return s->zero[q] || no(s, "a product runs along columns where the sparse operand has no entries");
}

bool clf_read_once(const clf_graph *g, const clf_cover *cover, int32_t part, int32_t q) {
    const clf_part *p = &cover->part[part];
    int readers = 0;
    if (clf_cover_has(cover, part, q) || cover->copied[q]) return false;
    for (int32_t j = 0; j < p->n; j++)
        for (int k = 0; k < g->node[p->node[j]].nin; k++) readers += clf_node_operand(g, p->node[j], k) == q;
    return readers == 1;
}

/* A product whose columns are as many as the driver's lies on its entries, and can then run along other columns only. */
static bool product_fits(search *s, const clf_gnode *d, int32_t n) {
    clf_product form = clf_product_loop(s->g, n);
    int32_t a = clf_node_operand(s->g, n, 0), b = clf_node_operand(s->g, n, 1);
    int64_t m = clf_cols(d);
    bool uses = false;
    if (clf_product_turned(s->g, n)) return no(s, "a product goes over columns of its left side");
    if (form == CLF_PRODUCT_ROWS || form == CLF_PRODUCT_WIDE) {
        bool lies = clf_cols(&s->g->node[n]) == m;
        bool apart = clf_cols(&s->g->node[n]) > 1 && &s->g->node[a] != d && clf_read_once(s->g, s->cover, s->number, a);
        if (lies && clf_cover_stores(s->cover, s->number, n)) return no(s, "a dense product is stored");
        if (apart) return true;
        if (lies && clf_cols(&s->g->node[a]) == m) return no(s, "a product has the sparse operand's columns on both sides");
        return along(s, d, a, &uses);
    }
    if (clf_cols(&s->g->node[a]) == m && clf_cols(&s->g->node[b]) == m && m > 1)
        return no(s, "a product has the sparse operand's columns on both sides");
    if (form == CLF_PRODUCT_INNER) return s->zero[a] || s->zero[b] || no(s, "a sum of products that are not zero everywhere");
    return along(s, d, a, &uses) && along(s, d, b, &uses);
}

/* ---- cells without entry that are not zero ---- */

bool clf_driver_counts(const clf_graph *g, int32_t n, const uint8_t *zero) {
    return !(folds_away((int)g->node[n].attr[0]) && zero[g->node[n].in[0]]);
}

/* A single value, read from memory, has no axis where there are several rows; a scalar never has. */
static int single_alike(const clf_gnode *d, const clf_gnode *x) {
    bool free = (clf_node_is_slot(x) && x->scalar) || (clf_gnode_single(x) && clf_rows(d) > 1);
    return free ? ROW | COL : ROW;
}

/* Copied expressions are made of single values, so they never vary with columns. */
static int operand_alike(const search *s, const clf_gnode *d, int32_t q) {
    const clf_gnode *x = &s->g->node[q];
    if (s->zero[q]) return ROW | COL;
    if (clf_cover_has(s->cover, s->number, q)) return s->alike[q];
    if (s->cover->copied[q]) return single_alike(d, x->op == CLF_OP_FILL ? &s->g->node[x->in[0]] : x);
    if (clf_cols(x) == clf_cols(d)) return clf_rows(x) == 1 ? COL : 0;
    return single_alike(d, x);
}

/* Of a node of the part; those of its inputs are known. */
static int node_alike(const search *s, const clf_gnode *d, int32_t n) {
    const clf_gnode *x = &s->g->node[n];
    if (clf_cols(x) != clf_cols(d)) return ROW;
    if (!clf_op_is_cell(x->op) && x->op != CLF_OP_CAST && x->op != CLF_OP_FILL) return 0;
    int alike = ROW | COL;
    for (int k = 0; k < x->nin; k++) alike &= operand_alike(s, d, x->in[k]);
    return alike;
}

/* Aggregate n of the driver's cells: nothing to see without entry, or told by row or by column. Positions in the whole matrix cannot be
 * told. */
static bool fold_fits(search *s, const clf_gnode *d, int32_t n) {
    static const uint8_t alone[] = {[CLF_WAY_ALL] = ROW | COL, [CLF_WAY_ROWS] = ROW, [CLF_WAY_COLS] = COL}; /* their number is enough */
    const clf_gnode *x = &s->g->node[n];
    bool positions = x->attr[0] == CLF_FOLD_ARGMIN || x->attr[0] == CLF_FOLD_ARGMAX;
    if (!clf_driver_counts(s->g, n, s->zero)) return true;
    s->counts = true;
    int alike = operand_alike(s, d, x->in[0]);
    s->gaps += !(alike & alone[x->attr[1]]);
    if (alike && !(positions && clf_folds_all(x))) return true;
    return no(s, "what is aggregated differs from one cell without entry to another");
}

/* ---- what a driver must satisfy ---- */

static bool node_fits(search *s, const clf_gnode *d, int32_t n) {
    const clf_gnode *x = &s->g->node[n];
    if (x->op == CLF_OP_MATMUL) return product_fits(s, d, n);
    if (x->op == CLF_OP_FOLD) {
        if (!clf_gnode_alike(&s->g->node[x->in[0]], d)) return clf_cols(&s->g->node[x->in[0]]) != clf_cols(d) || clf_cols(d) == 1;
        return fold_fits(s, d, n);
    }
    bool lies = clf_cols(x) == clf_cols(d) && clf_rows(x) == clf_rows(d), shapes = x->op == CLF_OP_CBIND || x->op == CLF_OP_CUM;
    for (int k = -1; k < x->nin && shapes; k++)
        if (clf_cols(&s->g->node[k < 0 ? n : x->in[k]]) == clf_cols(d))
            return no(s, "columns are put together, or cumulated, where the sparse operand has no entries");
    if (lies && clf_cover_stores(s->cover, s->number, n) && !s->zero[n]) return no(s, "the result is not zero where the sparse operand is");
    return true;
}

static bool serves(search *s, int32_t driver) {
    const clf_gnode *d = &s->g->node[driver];
    for (int32_t j = 0; j < s->part->n; j++)
        for (int k = 0; k < s->g->node[s->part->node[j]].nin; k++) {
            s->zero[s->g->node[s->part->node[j]].in[k]] = 0;
            s->zero[clf_node_operand(s->g, s->part->node[j], k)] = 0;
        }
    s->zero[driver] = 1;
    s->counts = false;
    s->gaps = 0;
    for (int32_t j = 0; j < s->part->n; j++) {
        int32_t n = s->part->node[j];
        s->zero[n] = (uint8_t)(n != driver && clf_gnode_alike(&s->g->node[n], d) && zero_there(s->g, n, s->zero));
        s->alike[n] = (uint8_t)node_alike(s, d, n);
    }
    for (int32_t j = 0; j < s->part->n; j++)
        if (!node_fits(s, d, s->part->node[j])) return false;
    return true;
}

/* The sparse operand of the part whose stored entries are enough for everything the part makes; -1 if there is none. s->why says what
 * hinders, or why that is so. */
static int32_t find(search *s) {
    int32_t best = -1;
    for (int32_t j = 0; j < s->part->n; j++) {
        int32_t n = s->part->node[j];
        for (int k = 0; k < s->g->node[n].nin; k++) {
            int32_t q = clf_node_operand(s->g, n, k);
            const clf_gnode *x = &s->g->node[q];
            if (q == best || clf_cover_has(s->cover, s->number, q) || !s->cover->csr[q] || s->g->node[n].op == CLF_OP_INDEX ||
                clf_product_whole(s->g, n, k))
                continue;
            bool rows = clf_rows(x) == clf_node_loop_rows(s->g, s->part->node[0]) && clf_cols(x) > 1 && structural(x);
            if (!rows || !serves(s, q)) {
                if (!s->why[0]) s->why = structural(x) ? "its rows are not the loop's" : "its zeros are values like any other";
                continue;
            }
            if (best < 0 || s->cover->entries[q] < s->cover->entries[best]) best = q;
        }
    }
    if (best < 0) return -1;
    (void)serves(s, best); /* its notes, not those of the last one tried */
    s->why = s->gaps     ? "cells without entry are folded in by ranges"
             : s->counts ? "cells without entry are folded in by count"
                         : "zero wherever the sparse operand is";
    return best;
}

static void take_format(clf_cover *c, int32_t n, int32_t from) {
    c->csr[n] = c->csr[from];
    c->entries[n] = c->entries[from];
}

/* What the part stores on its driver's entries takes their pattern. */
static void note_patterns(const clf_graph *g, clf_cover *c, const clf_part *part, int32_t number) {
    for (int32_t j = 0; j < part->n && part->driver >= 0; j++) {
        int32_t n = part->node[j];
        bool cells = clf_template_row.close(g, n) != CLF_CLOSED_VALID && clf_cols(&g->node[n]) == clf_cols(&g->node[part->driver]);
        if (cells && clf_cover_stores(c, number, n)) take_format(c, n, part->driver);
    }
}

bool clf_part_twins(const clf_graph *g, const clf_cover *c, int32_t i) {
    const clf_part *part = &c->part[i];
    const clf_gnode *x = &g->node[part->node[0]];
    return !part->loop && x->op == CLF_OP_TRANSPOSE && part->layout == CLF_LAYOUT_STORED && c->csr[x->in[0]];
}

void clf_cover_drivers(const clf_graph *g, clf_cover *c) {
    search s = {.g = g, .cover = c, .zero = c->zero, .alike = c->alike};
    for (int32_t i = 0; i < c->npart; i++) {
        clf_part *part = &c->part[i];
        const clf_gnode *x = &g->node[part->node[0]];
        clf_cover_enter(c, i);
        s.part = part;
        s.number = i;
        s.why = "";
        for (int32_t j = 0; j < part->n; j++)
            if (clf_cover_stores(c, i, part->node[j])) c->csr[part->node[j]] = 0;
        bool cells = part->layout == CLF_LAYOUT_CELLS;
        part->driver = part->loop && c->zero && !cells ? find(&s) : -1;
        part->gaps = part->driver >= 0 ? s.gaps : 0;
        part->sparse = cells && part->loop ? "converting the sparse operand costs less than visiting its entries" : s.why;
        if (clf_part_twins(g, c, i)) take_format(c, part->node[0], x->in[0]);
        note_patterns(g, c, part, i);
    }
}

const uint8_t *clf_driver_zeros(const clf_graph *g, const clf_cover *c, int32_t number) {
    search s = {.g = g, .cover = c, .part = &c->part[number], .number = number, .why = "", .zero = c->zero, .alike = c->alike};
    (void)serves(&s, s.part->driver);
    return s.zero;
}
