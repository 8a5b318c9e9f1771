/* SPDX-License-Identifier: Apache-2.0
 * A graph grown node by node, for suites that make graphs without recording anything. */
#ifndef CLF_TESTS_GRAPH_PUT_H
#define CLF_TESTS_GRAPH_PUT_H
#include "planner/graph.h"

/* A dense f64 node behind the others, for which there is room; without inputs it is a slot, but for a sequence. */
static inline int32_t graph_put(clf_graph *g, int op, int64_t rows, int64_t cols, int nin, int32_t a, int32_t b) {
    clf_gnode *n = &g->node[g->n];
    n->op = (uint16_t)op;
    n->dtype = CLF_F64;
    n->rank = 2;
    n->nin = (uint8_t)nin;
    n->in[0] = a;
    n->in[1] = b;
    n->in[2] = -1;
    clf_gnode_shape(n, rows, cols);
    if (nin == 0 && op != CLF_OP_SEQ) n->attr[0] = g->nslot++;
    return g->n++;
}
#endif
