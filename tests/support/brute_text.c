/* SPDX-License-Identifier: Apache-2.0
 * Covers for people, and covers of the planner's as the brute force writes them. See brute.h. */
#include <inttypes.h>

#include "tests/support/brute.h"

static void print_ops(const brute *b, const char *what, brute_ops set) {
    printf(" (%s", what);
    for (int i = 0; i < b->nop; i++)
        if (set >> i & 1) printf(" %%%d", b->op[i].node);
    printf(")");
}

void brute_print(const brute *b, const brute_cover *c) {
    for (int i = 0; i < c->n; i++) {
        const brute_part *p = &c->part[i];
        brute_reads r = brute_part_reads(b, p);
        printf("      (%s device %d", p->loop ? "loop" : "alone", p->device);
        print_ops(b, "reads", r.ops);
        print_ops(b, "computes", p->node);
        print_ops(b, "stores", p->out);
        printf(" costs %" PRId64 ")\n", brute_part_price(b, p, p->device));
    }
}

static int find_op(const brute *b, int32_t n) {
    for (int i = 0; i < b->nop; i++)
        if (b->op[i].node == n) return i;
    return -1;
}

/* Copied expressions that a part lists, but neither stores nor takes inside, are there anyway. */
bool brute_part_from(const brute *b, const clf_cover *c, int32_t number, brute_part *out) {
    const clf_part *p = &c->part[number];
    *out = (brute_part){.loop = p->loop, .device = p->device};
    for (int32_t j = 0; j < p->n; j++) {
        int i = find_op(b, p->node[j]);
        if (i < 0) return false;
        brute_ops bit = (brute_ops)(1u << i);
        if (c->maker[p->node[j]] == number) out->out |= bit;
        out->node |= bit;
    }
    brute_ops taken = out->out;
    for (int i = 0; i < b->nop; i++) taken |= out->node >> i & 1 ? (brute_ops)(b->op[i].inside & ~b->op[i].copies) : 0;
    for (int i = 0; i < b->nop; i++)
        if (b->op[i].copied && !(taken >> i & 1)) out->node &= (brute_ops) ~(1u << i);
    return true;
}

bool brute_from(const brute *b, const clf_cover *c, brute_cover *out) {
    out->n = 0;
    for (int i = 0; i < b->nop; i++)
        if (b->op[i].copied != (c->copied[b->op[i].node] != 0)) return false;
    for (int32_t k = 0; k < c->npart; k++) {
        if (out->n == BRUTE_OPS || !brute_part_from(b, c, k, &out->part[out->n])) return false;
        out->n += out->part[out->n].node != 0;
    }
    return true;
}

static void part_to(const brute *b, const brute_part *p, int32_t *node, clf_cover *out) {
    int32_t number = out->npart++;
    out->part[number] =
        (clf_part){.node = node, .loop = p->loop, .why = CLF_NREASONS, .device = (uint8_t)p->device, .driver = -1, .sparse = ""};
    for (int i = 0; i < b->nop; i++) {
        if (p->node >> i & 1) node[out->part[number].n++] = b->op[i].node;
        if (p->out >> i & 1) out->maker[b->op[i].node] = number;
    }
}

void brute_to(const brute *b, const brute_cover *c, clf_part *part, int32_t *node, clf_cover *out) {
    brute_ops done = 0, was = 1;
    out->part = part;
    out->npart = 0;
    for (int i = 0; i < b->nop; i++) {
        out->maker[b->op[i].node] = -1;
        out->member[b->op[i].node] = 0;
        out->copied[b->op[i].node] = b->op[i].copied;
        out->csr[b->op[i].node] = 0;
        out->entries[b->op[i].node] = b->g->node[b->op[i].node].nnz;
    }
    clf_cover_copies(out, b->g);
    while (done != was) {
        was = done;
        for (int i = 0; i < c->n; i++) {
            const brute_part *p = &c->part[i];
            if ((p->out & done) || (brute_part_reads(b, p).ops & ~done)) continue;
            part_to(b, p, node + (ptrdiff_t)BRUTE_OPS * out->npart, out);
            done |= p->out;
        }
    }
}
