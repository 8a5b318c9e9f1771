/* SPDX-License-Identifier: Apache-2.0
 * The terms of the cost model (design section 7) from a profile's figures.
 *
 * Figures are doubles, sizes are doubles, and each term is one fixed expression of the two, rounded up to whole picoseconds: the same on
 * every run and machine, for nothing here is contracted or reordered. What is no time (a rate of 0, a NaN) costs CLF_PS_MOST, so it is
 * never chosen. Of a profile whose tiers got faster with size by an accident of measuring, the slower figures before them count, so
 * that no term falls when its bytes grow. */
#include "planner/cost.h"

#include <math.h>

#include "planner/plan.h"
#include "planner/skel.h"
#include "planner/template.h"

/* ---- picoseconds ---- */

static clf_ps up(double ps) {
    if (ps <= 0) return 0;
    return ps < (double)CLF_PS_MOST ? (clf_ps)ceil(ps) : CLF_PS_MOST;
}

static clf_ps at_rate(double units, double per_s) { return units <= 0 ? 0 : up(units * 1e12 / per_s); }

static clf_ps each(double units, double ns) { return units <= 0 ? 0 : up(units * ns * 1e3); }

/* ---- memory ---- */

static int tier_of(const clf_profile *dev, double bytes) {
    int t = 0;
    while (t < CLF_PROFILE_TIERS - 1 && bytes > dev->tier_bytes[t]) t++;
    return t;
}

static double bandwidth(const clf_profile *dev, int tier) {
    double rate = dev->read_bytes_per_s[0];
    for (int t = 1; t <= tier; t++)
        if (dev->read_bytes_per_s[t] < rate) rate = dev->read_bytes_per_s[t];
    return rate;
}

static double latency(const clf_profile *dev, int tier) {
    double ns = dev->gather_ns[0];
    for (int t = 1; t <= tier; t++)
        if (dev->gather_ns[t] > ns) ns = dev->gather_ns[t];
    return ns;
}

static double rate_among(const clf_profile *dev, double bytes, double among) {
    return bandwidth(dev, tier_of(dev, bytes > among ? bytes : among));
}

clf_ps clf_cost_read(const clf_profile *dev, double bytes, double among) { return at_rate(bytes, rate_among(dev, bytes, among)); }

clf_ps clf_cost_write(const clf_profile *dev, double bytes, double among) {
    return at_rate(bytes * dev->write_cost, rate_among(dev, bytes, among));
}

enum { LINE = 64 }; /* bytes that one access brings along */

/* Of one access anywhere in `footprint` bytes: what a tier's reach does not hold is found in the next one. */
static double access_ns(const clf_profile *dev, double footprint) {
    double held = 0, ns = 0;
    for (int t = 0; t < CLF_PROFILE_TIERS && held < footprint; t++) {
        double reach = t < CLF_PROFILE_TIERS - 1 ? clf_profile_reach(dev, t) : footprint, upto = footprint < reach ? footprint : reach;
        if (upto > held) ns += (upto - held) / footprint * latency(dev, t);
        if (upto > held) held = upto;
    }
    return ns;
}

/* The first line of a granule is looked for, the others follow it as in a stream. */
clf_ps clf_cost_gather(const clf_profile *dev, double n, double granule, double footprint) {
    double rest = granule > LINE ? granule - LINE : 0;
    return clf_ps_add(each(n, access_ns(dev, footprint)), at_rate(n * rest, bandwidth(dev, tier_of(dev, footprint))));
}

clf_ps clf_cost_look(const clf_profile *dev, double n, double footprint) {
    return dev->kind == CLF_DEV_GPU ? 0 : each(n, access_ns(dev, footprint));
}

clf_ps clf_cost_pick(const clf_profile *dev, double n, double granule) { return granule > sizeof(double) ? 0 : each(n, dev->pick_ns); }

clf_ps clf_cost_transfer(const clf_profile *dev, double bytes) {
    if (dev->zero_copy || bytes <= 0) return 0;
    return clf_ps_add(each(1, dev->transfer_ns), at_rate(bytes, dev->transfer_bytes_per_s));
}

clf_ps clf_cost_wait(const clf_profile *dev) { return each(1, dev->launch_sync_ns - dev->launch_async_ns); }

/* ---- operators ---- */

clf_ps clf_cost_cells(const clf_profile *dev, bool f64, clf_op_class class_, double evaluations) {
    return at_rate(evaluations, dev->cells_per_s[f64][class_]);
}

clf_ps clf_cost_fma(const clf_profile *dev, bool f64, double n) { return at_rate(n, dev->fma_per_s[f64]); }

clf_ps clf_cost_rows(const clf_profile *dev, double rows) { return each(rows, dev->row_ns); }

clf_ps clf_cost_dots(const clf_profile *dev, double n) { return each(n, dev->dot_ns); }

clf_ps clf_cost_pairs(const clf_profile *dev, double n) { return each(n, dev->pair_ns); }

clf_ps clf_cost_sides(const clf_profile *dev, double n) { return each(n, dev->side_ns); }

clf_ps clf_cost_entries(const clf_profile *dev, double entries) { return each(entries, dev->entry_ns); }

clf_ps clf_cost_scatter(const clf_profile *dev, double entries) { return each(entries, dev->scatter_ns); }

clf_ps clf_cost_entry_rows(const clf_profile *dev, double rows) { return each(rows, dev->entry_row_ns); }

clf_ps clf_cost_gaps(const clf_profile *dev, double entries) { return each(entries, dev->gap_ns); }

clf_ps clf_cost_locate(const clf_profile *dev, double entries) { return each(entries, dev->locate_ns); }

/* Work-items that the registers of those running leave no room for wait, and hide no latency. */
clf_ps clf_cost_kept(const clf_profile *dev, clf_ps computed, int32_t values) {
    bool scarce = dev->registers > 0 && values > dev->registers;
    return scarce ? up((double)computed * (values / dev->registers)) : computed;
}

/* Groups of a unit are those that its local memory has room for, one at least. */
double clf_cost_occupancy(const clf_profile *dev, double cells, int32_t sums) {
    if (dev->kind != CLF_DEV_GPU || !(dev->unit_groups > 0) || !(dev->group_cells > 0) || !(cells > 0)) return 1;
    double held = dev->unit_groups, local = sums * dev->group_sum_bytes, groups = ceil(cells / dev->group_cells);
    if (dev->unit_local_bytes > 0 && local * held > dev->unit_local_bytes) held = floor(dev->unit_local_bytes / local);
    if (held < 1) held = dev->unit_groups < 1 ? dev->unit_groups : 1;
    double waves = ceil(groups / (dev->cores * held)), part = groups / (waves * dev->cores * dev->unit_groups);
    return part < 1 ? part : 1;
}

clf_ps clf_cost_at(clf_ps ps, double occupancy) { return occupancy < 1 ? up((double)ps / occupancy) : ps; }

enum { LIBRARY_PASSES = 3 }; /* through the result, beside writing it once: cleared at first, read and written when sums are added */

/* A product with a short side keeps fewer registers busy and copies its operands for less: at side library_half it is half as fast. */
clf_ps clf_cost_library(const clf_profile *dev, bool f64, double m, double n, double k) {
    double side = m < n ? m : n, flops = 2 * m * n * k;
    bool tall = m > k || n > k;
    if (!(side > 0) || !(k > 0)) return 0;
    if (k < side) side = k;
    clf_ps product = at_rate(flops * (1 + dev->library_half[tall] / side), dev->library_flops_per_s[f64]);
    return clf_ps_add(product, clf_cost_read(dev, LIBRARY_PASSES * m * n * (f64 ? 8 : 4), 0));
}

/* Nothing is copied, but every row is begun, and where rows are not long the processor's own fetching ahead stops at their ends: by two
 * threads that stream 39 GB/s, 100,000 x 100 took 3.0 ms along the rows and 5.0 over them, 10,000 x 1,000 took 2.1 and 2.5 ms. */
clf_ps clf_cost_library_vector(const clf_profile *dev, bool f64, double rows, double cols, bool over, double among) {
    enum { WHOLE_WAIT = 800 }; /* bytes of a row; shorter ones wait in proportion */
    if (!(rows > 0) || !(cols > 0)) return 0;
    double begun = over && cols <= 1 ? 1 : rows, bytes = cols * (f64 ? 8 : 4); /* two vectors are one row */
    clf_ps computed = clf_ps_add(at_rate(2 * rows * cols, dev->library_flops_per_s[f64]), each(begun, dev->library_row_ns[over]));
    if (!(dev->library_wait_ns[over] > 0)) return computed;
    double wait = dev->library_wait_ns[over] * (bytes < WHOLE_WAIT ? bytes / WHOLE_WAIT : 1);
    clf_ps brought = clf_ps_add(clf_cost_read(dev, rows * bytes, among), each(begun, wait));
    return brought > computed ? brought : computed;
}

/* A row of the right side is brought for each entry, and each of its entries adds to the place that it names in a row of the result. */
clf_ps clf_cost_entry_product(const clf_profile *dev, double entries, double pairs, double right, double row) {
    enum { ENTRY = 12 }; /* bytes, with its column */
    if (!(entries > 0) || !(pairs > 0)) return 0;
    clf_ps brought = clf_ps_add(clf_cost_sides(dev, entries), clf_cost_gather(dev, entries, pairs / entries * ENTRY, right));
    return clf_ps_add(brought, clf_ps_add(clf_cost_scatter(dev, pairs), clf_cost_gather(dev, pairs, 0, row)));
}

enum { GEMM_TILE = 64, GEMM_DEPTH = 16 }; /* such a library computes whole tiles of the result, of sums of whole depths */

static double whole(double n, double of) { return ceil(n / of) * of; }

/* Few cells leave work-items idle, all along the sums. */
clf_ps clf_cost_gemm(const clf_profile *dev, bool f64, double m, double n, double k) {
    if (!(m > 0) || !(n > 0) || !(k > 0)) return 0;
    double cells = whole(m, GEMM_TILE) * whole(n, GEMM_TILE) + dev->gemm_half_cells;
    return clf_ps_add(each(1, dev->gemm_ns), at_rate(2 * whole(k, GEMM_DEPTH) * cells, dev->gemm_flops_per_s[f64]));
}

/* A driver for CPUs lets its other cores sleep between kernels: until they are awake one core works alone, and the rest of its work then
 * takes the longer by the part that they have not done. */
static double kernel_ns(const clf_profile *dev) {
    bool wakes = dev->kind == CLF_DEV_CPU && dev->cores > 1;
    return dev->launch_async_ns + (wakes ? dev->second_core_ns * (1 - 1.0 / dev->cores) : 0);
}

clf_ps clf_cost_launch(const clf_profile *dev, int kind) {
    const double ns[] = {[CLF_STEP_FUSED] = kernel_ns(dev),
                         [CLF_STEP_LIBRARY] = dev->library_ns,
                         [CLF_STEP_CONVERT] = dev->callout_ns,
                         [CLF_STEP_CALLOUT] = dev->callout_ns};
    return kind >= 0 && kind < (int)(sizeof ns / sizeof *ns) ? each(1, ns[kind]) : 0;
}

clf_ps clf_cost_convert(const clf_profile *dev, int how, double rows, double cols, double entries, size_t width) {
    double searched = how == CLF_CONVERT_TWIN ? rows + cols : rows * cols * (double)width / 8;
    return clf_ps_add(at_rate(searched, dev->convert_cells_per_s), at_rate(entries, dev->convert_entries_per_s));
}

/* ---- nodes ---- */

static bool wide(int dtype) { return dtype == CLF_F64 || dtype == CLF_I64; }

/* Comparisons are, for their operands' sake. */
bool clf_node_is_wide(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    bool w = wide(x->dtype);
    for (int k = 0; k < x->nin; k++) w = w || (wide(g->node[x->in[k]].dtype) && !g->node[x->in[k]].scalar);
    return w;
}

/* An operator against the one that its class was measured with, by their flops. */
static double weight(int op) {
    static const uint8_t measured[CLF_NCLASSES] = {
        [CLF_CLASS_ADD] = CLF_OP_ADD, [CLF_CLASS_CMP] = CLF_OP_LT,  [CLF_CLASS_DIV] = CLF_OP_DIV, [CLF_CLASS_SQRT] = CLF_OP_SQRT,
        [CLF_CLASS_EXP] = CLF_OP_EXP, [CLF_CLASS_LOG] = CLF_OP_LOG, [CLF_CLASS_POW] = CLF_OP_POW, [CLF_CLASS_TRIG] = CLF_OP_SIN};
    return (double)clf_ops[op].flops / (double)clf_ops[measured[clf_ops[op].class_]].flops;
}

/* Operands whose structural zeros a kernel asks for, one comparison each. */
static int questions(const clf_graph *g, const clf_gnode *x) {
    unsigned may = clf_ops[x->op].flags & F_BOOL ? 0 : clf_op_annihilators(x->op);
    int n = 0;
    for (int k = 0; k < x->nin; k++) n += (may >> k & 1) && g->node[x->in[k]].zeros == CLF_ZEROS_STRUCTURAL;
    return n;
}

enum {
    VECTOR = 64,     /* bytes of a kernel's vector */
    NARROW = 4,      /* columns of a right side up to which vectors lie along the sums */
    TILE_VECTORS = 3 /* columns of a tile of sums over rows */
};

/* n terms in whole vectors. */
static double in_vectors(int64_t n, bool w) {
    double lanes = VECTOR / (w ? 8 : 4);
    return n > 1 ? ceil((double)n / lanes) * lanes : (double)n;
}

/* Loops do whole vectors: of columns of the right side where its rows are read as they lie and are not narrow, else along the other side,
 * what is summed in a product by rows, columns of the left side where rows meet. */
static double multiply_adds(const clf_graph *g, int32_t n, bool w) {
    bool tb;
    const clf_gnode *x = &g->node[n];
    int64_t rows = clf_rows(x), cols = clf_cols(x), inner = clf_product_terms(g, n);
    clf_product_operand(g, n, 1, &tb);
    if (cols > NARROW && !tb) return (double)rows * (double)inner * in_vectors(cols, w);
    if (clf_product_loop(g, n) == CLF_PRODUCT_COLS) return in_vectors(rows, w) * (double)inner * (double)cols;
    return (double)rows * (double)cols * in_vectors(inner, w);
}

/* Do rows of wide sides meet? Their sums go through registers in tiles where the device has such loops (kernels-cl/skel/row_tiles.c). */
static bool meets_in_tiles(const clf_profile *dev, const clf_graph *g, int32_t n, bool w) {
    const clf_gnode *x = &g->node[n];
    bool cols = clf_rows(x) > CLF_NARROW_PRODUCT && clf_cols(x) > CLF_NARROW_PRODUCT && clf_product_loop(g, n) == CLF_PRODUCT_COLS;
    return cols && !clf_product_annihilates(g, n) && dev->tile_fma_per_s[w] > dev->fma_per_s[w];
}

/* t(A) %*% A: tiles that lie below the diagonal are left out (kernels-cl/skel/row_alike.c), those that it goes through are whole. Both sides
 * are the same node, so they are the same values of the loop. */
static double of_both_halves(const clf_graph *g, int32_t n, double lanes) {
    bool ta, tb;
    double cols = (double)clf_cols(&g->node[n]);
    bool same = clf_product_operand(g, n, 0, &ta) == clf_product_operand(g, n, 1, &tb);
    return same ? fmin(1, (cols + TILE_VECTORS * lanes) / (2 * cols)) : 1;
}

clf_ps clf_cost_node(const clf_profile *dev, const clf_graph *g, int32_t n, double share) {
    const clf_gnode *x = &g->node[n];
    bool w = clf_node_is_wide(g, n);
    int64_t space[2];
    if (x->op == CLF_OP_MATMUL && meets_in_tiles(dev, g, n, w))
        return at_rate(in_vectors(clf_rows(x), w) * (double)clf_product_terms(g, n) * in_vectors(clf_cols(x), w) * share *
                           of_both_halves(g, n, VECTOR / (w ? 8 : 4)),
                       dev->tile_fma_per_s[w]);
    if (x->op == CLF_OP_MATMUL) return clf_cost_fma(dev, w, multiply_adds(g, n, w) * share);
    clf_node_space(g, n, space);
    double cells = (double)space[0] * (double)space[1] * share;
    if (clf_op_is_cell(x->op))
        return clf_ps_add(clf_cost_cells(dev, w, clf_ops[x->op].class_, cells * weight(x->op)),
                          clf_cost_cells(dev, w, CLF_CLASS_CMP, cells * questions(g, x)));
    double steps = x->op == CLF_OP_FOLD                            ? clf_folds[x->attr[0]].flops
                   : x->op == CLF_OP_SEQ                           ? 2
                   : x->op == CLF_OP_FILL || x->op == CLF_OP_INDEX ? 0
                                                                   : 1;
    return clf_cost_cells(dev, w, CLF_CLASS_ADD, cells * steps);
}

/* Whole tiles. */
clf_ps clf_cost_tiled(const clf_profile *dev, const clf_graph *g, int32_t n, double share) {
    bool w = clf_node_is_wide(g, n);
    const clf_gnode *x = &g->node[n];
    clf_ps by_rows = clf_cost_node(dev, g, n, share);
    if (!clf_cost_tiles(dev, w)) return by_rows;
    double panel = 2 * VECTOR / (w ? 8 : 4), rows = ceil((double)clf_rows(x) / CLF_TILE_ROWS) * CLF_TILE_ROWS;
    double cells = rows * ceil((double)clf_cols(x) / panel) * panel;
    clf_ps tiled = at_rate(cells * (double)clf_product_terms(g, n) * share, dev->tile_fma_per_s[w]);
    return tiled < by_rows ? tiled : by_rows;
}

bool clf_cost_gemm_takes(const clf_profile *dev, const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    bool floats = (x->dtype == CLF_F32 || x->dtype == CLF_F64) && !clf_product_of_entries(g, n);
    return x->op == CLF_OP_MATMUL && floats && clf_rows(x) > 1 && clf_cols(x) > 1 && clf_cols(&g->node[x->in[0]]) > 0 &&
           dev->gemm_flops_per_s[x->dtype == CLF_F64] > 0;
}

static clf_ps product_of_entries(const clf_profile *dev, const clf_graph *g, int32_t n) {
    int32_t a = clf_node_operand(g, n, 0), b = clf_node_operand(g, n, 1);
    double row = (double)clf_cols(&g->node[n]) * (double)clf_dtype_bytes((clf_dtype)g->node[n].dtype);
    return clf_cost_entry_product(dev, (double)clf_entries_of(g, a), clf_product_pairs(g, n), clf_entries_bytes(g, b), row);
}

/* One column on the right, or one row on the left: the other side is the matrix. */
static clf_ps product_alone(const clf_profile *dev, const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    bool wide = clf_node_is_wide(g, n), t[2];
    const clf_gnode *side[2] = {&g->node[clf_product_operand(g, n, 0, &t[0])], &g->node[clf_product_operand(g, n, 1, &t[1])]};
    int matrix = clf_cols(x) != 1;
    if (clf_product_of_entries(g, n)) return product_of_entries(dev, g, n);
    if (clf_cost_gemm_takes(dev, g, n))
        return clf_cost_gemm(dev, x->dtype == CLF_F64, (double)clf_rows(x), (double)clf_cols(x), (double)clf_product_terms(g, n));
    if (clf_cols(x) == 1 || clf_rows(x) == 1)
        return clf_cost_library_vector(dev, wide, (double)clf_rows(side[matrix]), (double)clf_cols(side[matrix]),
                                       t[matrix] != (matrix == 1), g->bytes);
    return clf_cost_library(dev, wide, (double)clf_rows(x), (double)clf_cols(x), (double)clf_product_terms(g, n));
}

clf_ps clf_cost_alone(const clf_profile *dev, const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    if (x->op == CLF_OP_MATMUL) return product_alone(dev, g, n);
    double bytes = clf_gnode_bytes(x);
    for (int k = 0; k < x->nin; k++) bytes += clf_gnode_bytes(&g->node[x->in[k]]);
    return at_rate(bytes, dev->callout_bytes_per_s);
}
