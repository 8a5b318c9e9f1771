/* SPDX-License-Identifier: Apache-2.0
 * Recorded nodes: immutable, hash-consed, reference-counted, in slabs of the context. A node's description is the planning graph's
 * clf_gnode (inputs by pointer instead of id). An evaluated node keeps its value and is a leaf for later programs.
 * thread: under the context's lock. */
#ifndef CLF_GRAPH_NODE_H
#define CLF_GRAPH_NODE_H
#include "core/buf.h"
#include "planner/graph.h"

typedef struct clf_node clf_node;
struct clf_node {
    clf_gnode g;            /* in[] unused; attr[0] of LEAF and CONST: see below */
    clf_node *in[3];
    clf_node *next;         /* bucket chain; free list; release list */
    uint64_t id;            /* recording order, unique; what hashes use instead of addresses */
    uint64_t hash;
    uint32_t refs;
    int32_t number;         /* freeze: planning run that numbered it (mark), and its number there */
    uint64_t mark;
    clf_buf *value;         /* LEAF: its memory; others: their value once evaluated; else NULL */
    clf_scalar num;         /* CONST, and what is computed from such alone (known) */
    bool known;
    char *text;             /* ERROR: the message; LEAF and PARAM: a name, or NULL (clf_mem, text_bytes) */
    size_t text_bytes;
    clf_status status;      /* ERROR */
    uint64_t pattern;       /* the node whose stored entries cover where this one is not 0 (its id); 0: none known */
};

/* Hash-consing table with its slabs. */
typedef struct clf_nodes {
    clf_mem *mem;
    clf_node **bucket;
    size_t nbucket, count;
    clf_node *free;
    struct clf_node_slab *slabs;
    uint64_t next_id;
    uint64_t mark;          /* number of the latest freeze */
} clf_nodes;

void clf_nodes_init(clf_nodes *t, clf_mem *mem);
void clf_nodes_release(clf_nodes *t);
/** The node described by *want (g, in[], and value/num for leaves and constants): an equal one that exists, or a new one. The caller
 *  owns one reference. NULL when out of memory. Inputs gain a reference when the node is new. */
clf_node *clf_node_get(clf_nodes *t, const clf_node *want);
/** A node that is equal to no other: errors and parameters. */
clf_node *clf_node_fresh(clf_nodes *t, const clf_node *want);
static inline clf_node *clf_node_ref(clf_node *n) { n->refs++; return n; }
/** Take n out of the hash-consing table: from now on it is equal to no other node. */
void clf_node_unlist(clf_nodes *t, clf_node *n);
/** Drop a reference; releases what becomes unreachable, iteratively. */
void clf_node_unref(clf_nodes *t, clf_node *n);
#endif
