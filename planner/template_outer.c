/* SPDX-License-Identifier: Apache-2.0
 * Template Outer (spec 1.4): an outer product U %*% t(V), too wide to be worth storing, whose cells are used where they are made: at the
 * stored entries of a sparse driver, or one by one. Its loop is Row's; what makes it worth while is that the product's cells never
 * reach memory, and with a driver that only those at its entries are computed. */
#include "planner/template.h"

/* The product alone is the library's. */
static bool open(const clf_graph *g, int32_t n) { return clf_product_loop(g, n) == CLF_PRODUCT_WIDE; }

/* Consumers that continue the loop of a wide product. */
static bool fuse(const clf_graph *g, int32_t n, int k) {
    return clf_product_loop(g, clf_node_operand(g, n, k)) == CLF_PRODUCT_WIDE && clf_template_row.fuse(g, n, k);
}

static clf_closing close(const clf_graph *g, int32_t n) {
    return clf_product_loop(g, n) == CLF_PRODUCT_WIDE ? CLF_OPEN_INVALID : clf_template_row.close(g, n);
}

const clf_template clf_template_outer = {"Outer", open, fuse, fuse, close};
