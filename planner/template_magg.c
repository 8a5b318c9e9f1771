/* SPDX-License-Identifier: Apache-2.0
 * Template MAgg (spec 1.9): several full aggregates over equal loops in one pass. Never opened by exploration: selection composes it
 * by joining loops, of which this is the scalar case. */
#include "planner/template.h"

static bool never(const clf_graph *g, int32_t n) {
    (void)g, (void)n;
    return false;
}

static bool never_edge(const clf_graph *g, int32_t n, int k) {
    (void)g, (void)n, (void)k;
    return false;
}

static clf_closing close(const clf_graph *g, int32_t n) { return g->node[n].op == CLF_OP_FOLD ? CLF_CLOSED_VALID : CLF_CLOSED_INVALID; }

const clf_template clf_template_magg = {"MAgg", never, never_edge, never_edge, close};
