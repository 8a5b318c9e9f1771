/* SPDX-License-Identifier: Apache-2.0
 * Every set of operators: may it be a loop, what would that read, what would it cost? And the table of all parts. See brute.h. */
#include <stdlib.h>

#include "planner/template.h"
#include "tests/support/brute.h"

static bool has(unsigned set, int i) { return set >> i & 1; }

/* ---- the rules of THE SPACE for the operators of one loop ---- */

/* One class, and no operand that the loop computes is wanted from memory, by its operators or by expressions copied into it. */
static bool agrees(const brute *b, brute_ops set) {
    const brute_op *first = NULL;
    for (int i = 0; i < b->nop; i++) {
        const brute_op *o = &b->op[i];
        if (!has(set, i)) continue;
        if (!first) first = o;
        if (!o->loops || o->class_[0] != first->class_[0] || o->class_[1] != first->class_[1]) return false;
        if (o->outside & set) return false;
        for (int k = 0; k < b->nop; k++)
            if (has(o->copies & ~set, k) && (b->op[k].cone.ops & set)) return false;
    }
    return first != NULL;
}

static bool linked(const brute *b, int i, int k) {
    const brute_op *x = &b->op[i], *y = &b->op[k];
    bool edge = has(x->inside, k) || has(y->inside, i) || has(x->by_rows.ops, k) || has(y->by_rows.ops, i);
    return edge || (x->by_rows.ops & y->by_rows.ops) || (x->by_rows.slots & y->by_rows.slots);
}

static bool connected(const brute *b, brute_ops set) {
    brute_ops seen = (brute_ops)(set & -set), before = 0;
    while (seen != before) {
        before = seen;
        for (int i = 0; i < b->nop; i++)
            for (int k = 0; k < b->nop; k++)
                if (has(seen, i) && has(set, k) && linked(b, i, k)) seen |= (brute_ops)(1u << k);
    }
    return seen == set;
}

/* Axes: one for each number of columns but one, one that each product runs along. */
static int axes(const brute *b, brute_ops set) {
    int64_t width[4 * BRUTE_OPS];
    int nwidth = 0, products = 0;
    for (int i = 0; i < b->nop; i++) {
        if (!has(set, i)) continue;
        const clf_gnode *x = &b->g->node[b->op[i].node];
        products += x->op == CLF_OP_MATMUL;
        for (int k = -1; k < x->nin; k++) {
            int64_t w = clf_cols(&b->g->node[k < 0 ? b->op[i].node : clf_node_operand(b->g, b->op[i].node, k)]);
            bool known = w == 1;
            for (int j = 0; j < nwidth; j++) known = known || width[j] == w;
            if (!known) width[nwidth++] = w;
        }
    }
    return nwidth + products;
}

static int bits(unsigned set) {
    int n = 0;
    for (; set; set &= set - 1) n++;
    return n;
}

/* What all of set takes and does not compute, as it stands in the graph. */
static brute_reads operands(const brute *b, brute_ops set) {
    brute_reads r = {0, 0};
    for (int i = 0; i < b->nop; i++) {
        r.ops |= has(set, i) ? b->op[i].operands.ops : 0;
        r.slots |= has(set, i) ? b->op[i].operands.slots : 0;
    }
    r.ops &= (brute_ops)~set;
    return r;
}

static brute_ops copies_of(const brute *b, brute_ops set) {
    brute_ops copies = 0;
    for (int i = 0; i < b->nop; i++) copies |= has(set, i) ? b->op[i].copies : 0;
    return (brute_ops)(copies & ~set);
}

static bool fits(const brute *b, brute_ops set, brute_set *s) {
    brute_reads r = operands(b, set);
    brute_ops copies = copies_of(b, set);
    int ops = bits(set);
    brute_ops read = r.ops & ~copies;
    for (int i = 0; i < b->nop; i++) read |= has(set, i) ? b->op[i].outside & ~set : 0; /* copied for others or not */
    s->arguments = bits(r.slots) + bits(read);
    for (int i = 0; i < b->nop; i++) {
        s->arguments += has(set, i) ? b->op[i].immediates : 0;
        s->arguments += has(copies, i) ? b->op[i].need : 0;
        ops += has(copies, i) ? b->op[i].ncone : 0;
    }
    return bits(set) == 1 || (ops <= b->lim.kernel_ops && axes(b, set) <= CLF_MAX_AXES - 2);
}

/* ---- what the loop reads ---- */

/* Operands that are no copies are in memory or inside; those of copies are in memory, unless the loop computes them. */
static brute_reads reads_of(const brute *b, brute_ops set) {
    brute_reads r = {0, 0};
    for (int i = 0; i < b->nop; i++) {
        const brute_op *o = &b->op[i];
        if (!has(set, i)) continue;
        r.ops |= (brute_ops)((o->inside & ~o->copies) | o->outside);
        r.slots |= o->operands.slots;
        for (int k = 0; k < b->nop; k++) {
            if (!has(o->copies & ~set, k)) continue;
            r.ops |= b->op[k].cone.ops;
            r.slots |= b->op[k].cone.slots;
        }
    }
    r.ops &= (brute_ops)~set;
    return r;
}

/* What one operand costs the loop: of the ways in which its operators take it, the dearest. Expressions copied take single values. */
static clf_ps dearest(const brute *b, brute_ops set, int q, int d) {
    clf_ps most = 0;
    for (int i = 0; i < b->nop; i++)
        if (has(set, i) && b->op[i].takes[q][d] > most) most = b->op[i].takes[q][d];
    clf_ps once = q < BRUTE_FACTS ? b->op[q].read[d] : b->slot[q - BRUTE_FACTS].read[d];
    return most ? most : once;
}

static void price(const brute *b, brute_ops set, brute_set *s) {
    for (int d = 0; d < b->ndevice; d++) {
        for (int i = 0; i < b->nop; i++) {
            if (has(s->reads.ops, i)) s->reads_ps[d] = clf_ps_add(s->reads_ps[d], dearest(b, set, i, d));
            if (has(set, i)) s->compute_ps[d] = clf_ps_add(s->compute_ps[d], b->op[i].loop_ps[d]);
        }
        for (int i = 0; i < b->nslot; i++)
            if (has(s->reads.slots, i)) s->reads_ps[d] = clf_ps_add(s->reads_ps[d], dearest(b, set, BRUTE_FACTS + i, d));
    }
}

/* Values at a time, one operator after the other: all sums, what is still to be taken, the operator, and what it reads. */
static int kept(const brute *b, brute_ops set) {
    brute_ops sums = 0, wanted[BRUTE_OPS + 1] = {0};
    int most = 0;
    for (int i = b->nop; i-- > 0;) {
        int op = b->g->node[b->op[i].node].op;
        wanted[i] = (brute_ops)(wanted[i + 1] | (has(set, i) ? b->op[i].operands.ops & set : 0));
        sums |= (brute_ops)((has(set, i) && (op == CLF_OP_FOLD || op == CLF_OP_MATMUL)) << i);
    }
    for (int i = 0; i < b->nop; i++) {
        const brute_op *o = &b->op[i];
        brute_ops before = (brute_ops)((1u << i) - 1), now = (brute_ops)((wanted[i] & before & set) | sums | 1u << i);
        int n = bits(now);
        for (int k = 0; k < b->nop; k++) n += has(o->operands.ops & ~set, k) && !clf_gnode_single(&b->g->node[b->op[k].node]);
        for (int k = 0; k < b->nslot; k++) n += (o->operands.slots >> k & 1) && !clf_gnode_single(&b->g->node[b->slot[k].node]);
        if (has(set, i) && n > most) most = n;
    }
    return most;
}

/* What nothing else in the set takes. Who has a copied expression computed for it does not take it: that is there to be stored, or for
 * those that take no copies. */
static brute_ops sinks_of(const brute *b, brute_ops set) {
    brute_ops taken = 0;
    for (int i = 0; i < b->nop; i++) taken |= has(set, i) ? (brute_ops)(b->op[i].inside & ~b->op[i].copies) : 0;
    return (brute_ops)(set & ~taken);
}

/* ---- the table ---- */

static bool loop_stores(const brute *b, brute_ops set, brute_ops out) {
    const brute_set *s = &b->set[set];
    return s->legal && (out & ~set) == 0 && (s->sinks & ~out) == 0 && (bits(set) == 1 || s->arguments + bits(out) <= b->lim.kernel_inputs);
}

static bool stands(const brute *b, brute_ops out) {
    for (int i = 0; i < b->nop; i++)
        if (out == 1u << i) return b->op[i].alone;
    return false;
}

static int32_t put_ways(brute *b, brute_ops out, int32_t n) {
    for (unsigned set = out; set < 1u << b->nop; set++)
        if (loop_stores(b, (brute_ops)set, out)) {
            if (b->way) b->way[n] = (brute_part){(brute_ops)set, out, true, 0};
            n++;
        }
    if (stands(b, out)) {
        if (b->way) b->way[n] = (brute_part){out, out, false, 0};
        n++;
    }
    return n;
}

bool brute_sets(brute *b) {
    for (unsigned set = 1; set < 1u << b->nop; set++) {
        brute_set *s = &b->set[set];
        s->legal = fits(b, (brute_ops)set, s) && agrees(b, (brute_ops)set) && connected(b, (brute_ops)set);
        if (!s->legal) continue;
        s->sinks = sinks_of(b, (brute_ops)set);
        s->reads = reads_of(b, (brute_ops)set);
        s->kept = kept(b, (brute_ops)set);
        price(b, (brute_ops)set, s);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (unsigned out = 1; out < 1u << b->nop; out++) {
            b->first[out] = out == 1 ? 0 : b->first[out];
            b->first[out + 1] = put_ways(b, (brute_ops)out, b->first[out]);
        }
        b->nway = b->first[1 << b->nop];
        if (!pass && !(b->way = calloc((size_t)b->nway + 1, sizeof *b->way))) return false;
    }
    return true;
}

brute_reads brute_part_reads(const brute *b, const brute_part *p) {
    if (p->loop) return b->set[p->node].reads;
    for (int i = 0; i < b->nop; i++)
        if (p->node == 1u << i) return b->op[i].operands;
    return (brute_reads){0, 0};
}

/* ---- whole covers ---- */

static bool ordered(const brute *b, const brute_cover *c) {
    brute_ops done = 0;
    for (int round = 0; round < c->n; round++)
        for (int i = 0; i < c->n; i++)
            if (!(brute_part_reads(b, &c->part[i]).ops & ~done)) done |= c->part[i].out;
    for (int i = 0; i < c->n; i++)
        if (c->part[i].out & ~done) return false;
    return true;
}

const char *brute_illegal(const brute *b, const brute_cover *c) {
    brute_ops stored = 0, read = b->must;
    for (int i = 0; i < c->n; i++) {
        const brute_part *p = &c->part[i];
        bool good = p->loop ? loop_stores(b, p->node, p->out) : p->node == p->out && stands(b, p->out);
        if (!good) return "a part is none";
        if (stored & p->out) return "an operator is stored twice";
        stored |= p->out;
        read |= brute_part_reads(b, p).ops;
    }
    if (read & ~stored) return "something read, or a result, is not stored";
    if (stored & ~read) return "something is stored that nobody reads";
    return ordered(b, c) ? NULL : "no order of the parts";
}
