/* SPDX-License-Identifier: Apache-2.0
 * Hash-consing and iterative release of recorded nodes. Chains of 10^6 nodes are freed in constant stack: the release list is
 * threaded through the dead nodes themselves. */
#include "host/graph/node.h"

#include <string.h>

#include "core/hash.h"

enum { SLAB = 128, FIRST_BUCKETS = 256 };
struct clf_node_slab {
    struct clf_node_slab *next;
    clf_node node[SLAB];
};

void clf_nodes_init(clf_nodes *t, clf_mem *mem) {
    memset(t, 0, sizeof *t);
    t->mem = mem;
    t->next_id = 1;
}

static void drop_payload(clf_nodes *t, clf_node *n) {
    clf_buf_unref(n->value);
    clf_mem_free(t->mem, n->text, n->text_bytes, 1);
}

void clf_nodes_release(clf_nodes *t) {
    while (t->slabs) {
        struct clf_node_slab *s = t->slabs;
        t->slabs = s->next;
        for (int i = 0; i < SLAB; i++)
            if (s->node[i].refs) drop_payload(t, &s->node[i]);
        clf_mem_free(t->mem, s, 1, sizeof *s);
    }
    clf_mem_free(t->mem, t->bucket, t->nbucket, sizeof *t->bucket);
    memset(t, 0, sizeof *t);
}

static bool grow_slabs(clf_nodes *t) {
    struct clf_node_slab *s = clf_mem_new(t->mem, 1, sizeof *s);
    if (!s) return false;
    s->next = t->slabs;
    t->slabs = s;
    for (int i = SLAB; i-- > 0;) {
        s->node[i].next = t->free;
        t->free = &s->node[i];
    }
    return true;
}

static bool grow_buckets(clf_nodes *t) {
    size_t n = t->nbucket ? t->nbucket * 4 : FIRST_BUCKETS;
    clf_node **b = clf_mem_new(t->mem, n, sizeof *b);
    if (!b) return t->nbucket != 0; /* a full table still works */
    for (size_t i = 0; i < t->nbucket; i++)
        for (clf_node *p = t->bucket[i], *next; p; p = next) {
            next = p->next;
            p->next = b[p->hash & (n - 1)];
            b[p->hash & (n - 1)] = p;
        }
    clf_mem_free(t->mem, t->bucket, t->nbucket, sizeof *b);
    t->bucket = b;
    t->nbucket = n;
    return true;
}

/* What makes two nodes the same: description, inputs by id, the bytes of a constant, buffer and version of a leaf (in attr). */
typedef struct identity {
    clf_gnode g;
    uint64_t in[3], num;
} identity;

static void identify(const clf_node *w, identity *k) {
    memset(k, 0, sizeof *k);
    memcpy(&k->g, &w->g, sizeof k->g);
    for (int i = 0; i < w->g.nin; i++) k->in[i] = w->in[i]->id;
    if (w->g.op == CLF_OP_CONST) memcpy(&k->num, &w->num.u, sizeof k->num);
}

static clf_node *take(clf_nodes *t, const clf_node *want, uint64_t hash) {
    if (!t->free && !grow_slabs(t)) return NULL;
    clf_node *n = t->free;
    t->free = n->next;
    *n = *want;
    n->id = t->next_id++;
    n->hash = hash;
    n->refs = 1;
    n->mark = 0;
    n->next = NULL;
    for (int i = 0; i < n->g.nin; i++) clf_node_ref(n->in[i]);
    if (n->value) clf_buf_ref(n->value);
    t->count++;
    return n;
}

clf_node *clf_node_fresh(clf_nodes *t, const clf_node *want) { return take(t, want, 0); }

clf_node *clf_node_get(clf_nodes *t, const clf_node *want) {
    identity k, other;
    identify(want, &k);
    uint64_t h = clf_hash64(&k, sizeof k, 0) | 1; /* 0 marks nodes outside the table */
    if (t->count >= t->nbucket && !grow_buckets(t)) return NULL;
    for (clf_node *p = t->bucket[h & (t->nbucket - 1)]; p; p = p->next) {
        if (p->hash != h) continue;
        identify(p, &other);
        if (!memcmp(&k, &other, sizeof k)) return clf_node_ref(p);
    }
    clf_node *n = take(t, want, h);
    if (!n) return NULL;
    n->next = t->bucket[h & (t->nbucket - 1)];
    t->bucket[h & (t->nbucket - 1)] = n;
    return n;
}

static void unchain(clf_nodes *t, clf_node *n) {
    if (!n->hash) return;
    clf_node **p = &t->bucket[n->hash & (t->nbucket - 1)];
    while (*p != n) p = &(*p)->next;
    *p = n->next;
}

void clf_node_unlist(clf_nodes *t, clf_node *n) {
    unchain(t, n);
    n->hash = 0;
    n->next = NULL;
}

void clf_node_unref(clf_nodes *t, clf_node *n) {
    if (!n || --n->refs) return;
    clf_node *dead = n;
    unchain(t, n);
    n->next = NULL;
    while (dead) {
        clf_node *d = dead;
        dead = d->next;
        for (int i = 0; i < d->g.nin; i++)
            if (!--d->in[i]->refs) {
                unchain(t, d->in[i]);
                d->in[i]->next = dead;
                dead = d->in[i];
            }
        drop_payload(t, d);
        memset(d, 0, sizeof *d);
        d->next = t->free;
        t->free = d;
        t->count--;
    }
}
