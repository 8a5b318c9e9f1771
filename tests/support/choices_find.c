/* SPDX-License-Identifier: Apache-2.0
 * What couples operators, the components that follow, and how many choices each of them has. Components may be larger than the planner's,
 * never smaller: what is not coupled here has a cost of its own in any cover. See choices.h. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/choices.h"

static bool has(uint64_t set, int i) { return set >> i & 1; }

static brute_ops bit(int i) { return (brute_ops)1 << i; }

static int bits(uint64_t set) { return __builtin_popcountll(set); }

/* ---- single operators ---- */

static void find_classes(choices *c) {
    for (int i = 0; i < c->b->nop; i++) {
        const brute_op *o = &c->b->op[i];
        c->class_[i] = o->loops ? i : -1;
        for (int k = 0; o->loops && k < i; k++)
            if (c->class_[k] == k && !memcmp(c->b->op[k].class_, o->class_, sizeof o->class_)) c->class_[i] = k;
    }
}

/* Each number of columns but 1 is one bit. */
static uint64_t width_bit(int64_t *width, int *n, int64_t w) {
    int i = 0;
    while (i < *n && width[i] != w) i++;
    width[i] = w;
    *n += i == *n;
    return w == 1 ? 0 : UINT64_C(1) << i;
}

static void find_widths(choices *c) {
    int64_t width[64];
    int n = 0;
    for (int i = 0; i < c->b->nop; i++) {
        int32_t node = c->b->op[i].node;
        const clf_gnode *x = &c->b->g->node[node];
        c->widths[i] = width_bit(width, &n, clf_cols(x));
        for (int k = 0; k < x->nin; k++) c->widths[i] |= width_bit(width, &n, clf_cols(&c->b->g->node[clf_node_operand(c->b->g, node, k)]));
    }
}

static void find_edges(choices *c) {
    for (int i = 0; i < c->b->nop; i++) c->takers[i] = c->linked[i] = 0;
    for (int i = 0; i < c->b->nop; i++) {
        const brute_op *o = &c->b->op[i];
        c->always[i] = o->outside;
        for (int q = 0; q < c->b->nop; q++)
            if (has(o->copies, q)) c->always[i] |= c->b->op[q].cone.ops;
        for (int q = 0; q < c->b->nop; q++)
            if (has(o->inside & ~o->copies & ~c->always[i], q) && c->class_[q] == c->class_[i]) c->takers[q] |= bit(i);
    }
}

/* An edge that may be inside, or a matrix or vector that both read row by row. */
static bool tied(const brute_op *x, const brute_op *y, int i, int k) {
    bool edge = has(x->inside | x->by_rows.ops, k) || has(y->inside | y->by_rows.ops, i);
    return edge || (x->by_rows.ops & y->by_rows.ops) || (x->by_rows.slots & y->by_rows.slots);
}

static void find_links(choices *c) {
    for (int i = 0; i < c->b->nop; i++)
        for (int k = 0; k < i; k++) {
            if (c->class_[i] < 0 || c->class_[i] != c->class_[k] || !tied(&c->b->op[i], &c->b->op[k], i, k)) continue;
            c->linked[i] |= bit(k);
            c->linked[k] |= bit(i);
        }
}

/* ---- components ---- */

/* Operators that some part computes: all but copied expressions that nobody wants in memory. */
static brute_ops computed(const choices *c) {
    brute_ops wanted = c->b->must;
    for (int i = 0; i < c->b->nop; i++) {
        const brute_op *o = &c->b->op[i];
        wanted |= o->alone ? o->operands.ops : o->operands.ops & ~o->copies;
        wanted |= o->copied ? 0 : bit(i);
    }
    return wanted;
}

/* What operator i needs in memory, or inside, whatever is chosen. */
static brute_ops depends(const choices *c, int i) { return (c->b->op[i].inside & ~c->b->op[i].copies) | c->always[i]; }

static brute_slots needs_slots(const choices *c, int i) {
    brute_slots s = c->b->op[i].operands.slots, free = 0;
    for (int q = 0; q < c->b->nop; q++)
        if (has(c->b->op[i].copies, q)) s |= c->b->op[q].cone.slots;
    for (int k = 0; k < c->b->nslot; k++) free |= c->b->slot[k].free ? (brute_slots)1 << k : 0;
    return s & ~free;
}

/* Several devices couple makers and readers, and all readers of one value. */
static bool coupled(const choices *c, int i, int k) {
    const brute_op *x = &c->b->op[i], *y = &c->b->op[k];
    if (has(c->linked[i], k) || has(x->inside | x->copies, k) || has(y->inside | y->copies, i)) return true;
    if (c->b->ndevice == 1) return false;
    brute_ops a = depends(c, i), d = depends(c, k);
    return has(a, k) || has(d, i) || (a & d) || (needs_slots(c, i) & needs_slots(c, k));
}

static brute_ops component_of(const choices *c, brute_ops all, int first) {
    brute_ops set = bit(first), before = 0;
    while (set != before) {
        before = set;
        for (int i = 0; i < c->b->nop; i++)
            for (int k = 0; has(before, i) && k < c->b->nop; k++)
                if (has(all & ~set, k) && coupled(c, i, k)) set |= bit(k);
    }
    return set;
}

static void find_components(choices *c, brute_ops all) {
    c->n = 0;
    c->demanded = c->b->must;
    for (int i = c->b->nop; i-- > 0;) {
        bool known = !has(all, i);
        for (int k = 0; k < c->n; k++) known = known || has(c->component[k], i);
        if (!known) c->component[c->n++] = component_of(c, all, i);
    }
    for (int k = 0; k < c->n; k++)
        for (int i = 0; i < c->b->nop; i++)
            if (has(c->component[k], i)) c->demanded |= c->always[i] & ~c->component[k];
}

/* Everything that i depends on. */
static brute_ops reach(const choices *c, int i) {
    brute_ops set = depends(c, i);
    for (int k = i; k-- > 0;)
        if (has(set, k)) set |= depends(c, k);
    return set;
}

static void find_beyond(choices *c, brute_ops component) {
    for (int q = 0; q < c->b->nop; q++) {
        if (!has(component, q)) continue;
        c->beyond[q] = 0;
        for (int x = 0; x < c->b->nop; x++)
            for (int i = 0; !has(component, x) && has(reach(c, x), q) && i < c->b->nop; i++)
                if (has(component, i) && has(reach(c, i), x)) c->beyond[q] |= bit(i);
    }
}

/* ---- how many choices ---- */

static bool may_join(const choices *c, brute_ops component, int i) {
    for (int k = i + 1; k < c->b->nop; k++) {
        brute_ops group = bit(k), before = 0;
        if (!has(component, k) || c->takers[k] || c->class_[k] != c->class_[i] || has(reach(c, k), i)) continue;
        while (group != before) {
            before = group;
            for (int x = 0; x < c->b->nop; x++) group |= has(before, x) ? c->linked[x] & component : 0;
        }
        if (has(group, i)) return true;
    }
    return false;
}

static int count(const choices *c, brute_ops component) {
    int n = 0;
    for (int i = 0; i < c->b->nop; i++) {
        if (!has(component, i)) continue;
        n += bits(c->takers[i]) + (c->b->op[i].loops && c->b->op[i].alone) + (c->b->ndevice > 1);
        n += c->class_[i] >= 0 && !c->takers[i] && may_join(c, component, i);
    }
    return n;
}

void choices_find(choices *c, const brute *b) {
    c->b = b;
    c->now++;
    c->nloop = 0;
    find_classes(c);
    find_widths(c);
    find_edges(c);
    find_links(c);
    find_components(c, computed(c));
    for (int k = 0; k < c->n; k++) {
        find_beyond(c, c->component[k]);
        c->count[k] = count(c, c->component[k]);
    }
}

bool choices_begin(choices *c) {
    *c = (choices){.loop = calloc(CHOICES_LOOPS, sizeof(choices_loop))};
    return c->loop != NULL;
}

void choices_release(choices *c) {
    free(c->loop);
    c->loop = NULL;
}
