/* SPDX-License-Identifier: Apache-2.0
 * A set of operators as one loop: may it be, what would it read, what would that cost? Found out once a set. See choices.h. */
#include <string.h>

#include "tests/support/choices.h"

static int bits(uint64_t set) { return __builtin_popcountll(set); }

/* One operator's facts, added up over the set. */
typedef struct sums {
    brute_ops inside, copies, outside, always, operands;
    brute_slots slots;
    uint64_t widths;
    int products, immediates;
    bool one_class;
} sums;

static sums add_up(const choices *c, brute_ops set) {
    sums s = {.one_class = true};
    int first = __builtin_ctz(set);
    for (brute_ops left = set; left; left &= left - 1) {
        int i = __builtin_ctz(left);
        const brute_op *o = &c->b->op[i];
        s.inside |= o->inside & ~o->copies;
        s.copies |= o->copies;
        s.outside |= o->outside;
        s.always |= c->always[i];
        s.operands |= o->operands.ops;
        s.slots |= o->operands.slots;
        s.widths |= c->widths[i];
        s.products += c->b->g->node[o->node].op == CLF_OP_MATMUL;
        s.immediates += o->immediates;
        s.one_class = s.one_class && c->class_[i] >= 0 && c->class_[i] == c->class_[first];
    }
    s.copies &= ~set;
    return s;
}

static bool connected(const choices *c, brute_ops set) {
    brute_ops seen = set & (0u - set), wave = seen;
    while (wave) {
        brute_ops next = 0;
        for (; wave; wave &= wave - 1) next |= c->linked[__builtin_ctz(wave)];
        wave = next & set & ~seen;
        seen |= wave;
    }
    return seen == set;
}

/* The kernel's limits, which an operator alone always keeps. */
static bool fits(const choices *c, const sums *s, choices_loop *l) {
    int ops = bits(l->node);
    l->arguments = bits(s->slots) + bits(((s->operands & ~s->copies) | s->outside) & ~l->node) + s->immediates;
    for (brute_ops left = s->copies; left; left &= left - 1) {
        const brute_op *o = &c->b->op[__builtin_ctz(left)];
        ops += o->ncone;
        l->arguments += o->need;
    }
    return bits(l->node) == 1 || (ops <= c->b->lim.kernel_ops && bits(s->widths) + s->products <= CLF_MAX_AXES - 2);
}

/* Each operand once, in the dearest way that one of the loop's operators takes it; what only copied expressions take is read once. */
static clf_ps operand(const choices *c, brute_ops set, int q, clf_ps once, int d) {
    clf_ps dear = 0;
    for (brute_ops left = set; left; left &= left - 1) {
        clf_ps ps = c->b->op[__builtin_ctz(left)].takes[q][d];
        dear = ps > dear ? ps : dear;
    }
    return dear ? dear : once;
}

/* What operator i reads from memory, but numbers. */
static int streams(const choices *c, int i, brute_ops set) {
    const brute_op *o = &c->b->op[i];
    int n = 0;
    for (brute_ops left = o->operands.ops & ~set; left; left &= left - 1)
        n += !clf_gnode_single(&c->b->g->node[c->b->op[__builtin_ctz(left)].node]);
    for (brute_slots left = o->operands.slots; left; left &= left - 1)
        n += !clf_gnode_single(&c->b->g->node[c->b->slot[__builtin_ctz(left)].node]);
    return n;
}

/* Values kept at a time: sums throughout, others until the last operator that takes them, and what the one at work reads. */
static int kept(const choices *c, brute_ops set) {
    int last[BRUTE_FACTS], most = 0;
    brute_ops sum = 0;
    for (brute_ops left = set; left; left &= left - 1) {
        int i = __builtin_ctz(left), op = c->b->g->node[c->b->op[i].node].op;
        last[i] = i;
        for (brute_ops in = c->b->op[i].operands.ops & set; in; in &= in - 1) last[__builtin_ctz(in)] = i;
        sum |= op == CLF_OP_FOLD || op == CLF_OP_MATMUL ? 1u << i : 0;
    }
    int sums = bits(sum);
    for (brute_ops left = set; left; left &= left - 1) {
        int i = __builtin_ctz(left), n = sums + streams(c, i, set) + !(sum >> i & 1);
        for (brute_ops before = set & ~sum & ((1u << i) - 1); before; before &= before - 1) n += last[__builtin_ctz(before)] >= i;
        most = n > most ? n : most;
    }
    return most;
}

static void price(const choices *c, choices_loop *l, int d) {
    l->reads_ps[d] = l->compute_ps[d] = 0;
    for (brute_ops left = l->node; left; left &= left - 1)
        l->compute_ps[d] = clf_ps_add(l->compute_ps[d], c->b->op[__builtin_ctz(left)].loop_ps[d]);
    for (brute_ops left = l->reads.ops; left; left &= left - 1) {
        int q = __builtin_ctz(left);
        l->reads_ps[d] = clf_ps_add(l->reads_ps[d], operand(c, l->node, q, c->b->op[q].read[d], d));
    }
    for (brute_slots left = l->reads.slots; left; left &= left - 1) {
        int q = __builtin_ctz(left);
        l->reads_ps[d] = clf_ps_add(l->reads_ps[d], operand(c, l->node, BRUTE_FACTS + q, c->b->slot[q].read[d], d));
    }
}

static void find_out(const choices *c, choices_loop *l) {
    sums s = add_up(c, l->node);
    l->sinks = l->node & ~s.inside;
    l->reads = (brute_reads){(s.inside | s.always) & ~l->node, s.slots};
    for (brute_ops left = s.copies; left; left &= left - 1) l->reads.slots |= c->b->op[__builtin_ctz(left)].cone.slots;
    l->legal = fits(c, &s, l) && s.one_class && !(s.always & l->node) && connected(c, l->node);
    l->kept = l->legal ? kept(c, l->node) : 0;
    for (int d = 0; d < c->b->ndevice && l->legal; d++) price(c, l, d);
}

const choices_loop *choices_loop_of(choices *c, brute_ops node) {
    uint32_t at = (uint32_t)((node * UINT64_C(0x9E3779B97F4A7C15)) >> 40) % CHOICES_LOOPS;
    while (c->loop[at].when == c->now && c->loop[at].node != node) at = (at + 1) % CHOICES_LOOPS;
    choices_loop *l = &c->loop[at];
    if (l->when == c->now) return l;
    if (c->nloop++ == CHOICES_LOOPS / 2) { /* full: forget them all */
        c->now++;
        c->nloop = 0;
    }
    l->node = node;
    l->when = c->now;
    find_out(c, l);
    return l;
}
