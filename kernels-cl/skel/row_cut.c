/* SPDX-License-Identifier: Apache-2.0
 * Sizes of row.chunk: rows of a pass, blocks and chunks, scratch. Invariant: nothing here changes a result; chunks are power-of-two runs
 * of whole column blocks and of whole leaves, so every chunk is made of whole subtrees. */
#include "kernels-cl/skel/row_plan.h"

enum {
    MIN_CHUNK_CELLS = 4096,
    CHUNKS_PER_CORE = 32,
    WIDE_CHUNKS_PER_CORE = 8, /* of results so large that scratch for more of them would count */
    WIDE_SLOTS = 16384,
    CELL_UNITS = 8,   /* of a sweep over cells, in what a cell of a product costs: vectors of them are in registers */
    MERGE_UNITS = 64, /* a state of a chunk, merged by one work-item: it comes from another core's cache */
    LONG_ROW = 4096,  /* eight rows at once up to here */
    RUN_BYTES = 128,  /* rows of fewer bytes share lines */
    FEW_SUMS = 2,     /* of a product: of so few the profile says how many rows at a time, and of so many it is two */
    SOME_SUMS = 4,
    MANY_VALUES = 24,
    FEW_VALUES = 6,
    PRIVATE_SLOTS = 4096
};

static int log2_up(int64_t n) {
    int l = 0;
    while (l < 62 && ((int64_t)1 << l) < n) l++;
    return l;
}
static int64_t units(int64_t n, clf_dtype t) { return clf_row_ceil(n * (int64_t)clf_dtype_bytes(t), 8); }

int64_t clf_row_padded(const clf_row *p, int axis) { return clf_row_round(clf_row_extent(p, axis), CLF_ROW_PAD) + CLF_ROW_PAD; }

int clf_row_leaf_levels(const clf_row *p, int axis) { return log2_up(clf_row_extent(p, axis) / CLF_LEAF + 2) + 1; }

/* ---- rows at once ---- */

/* Most values and elementary functions in a sweep, and whether a row buffer is longer than a constant. */
typedef struct load {
    int values, elementary;
    bool buffers, outer;
    int vectors;
    int64_t longest, sums; /* sums: most columns of a product that has one sum for each */
} load;

static void weigh_sweep(const clf_row *p, int t, load *l) {
    uint8_t need[CLF_ROW_VALUES];
    int values = 0, elementary = 0;
    clf_row_needs(p, t, need);
    for (int v = 0; v < p->c->nvalue; v++) {
        if (need[v] != 1) continue;
        values++;
        elementary += clf_op_is_cell(clf_row_val(p, v)->op) && (clf_ops[clf_row_val(p, v)->op].flags & F_ELEM);
    }
    for (int s = 0; s < p->c->nsink; s++)
        values += p->sink[s].at == t && p->c->sink[s].kind == CLF_SINK_FOLD && p->c->sink[s].keep == 1u ? 4 : 0;
    const clf_row_sink *outer = p->sweep[t].kind == CLF_ROW_OUTER ? &p->sink[p->sweep[t].what] : NULL;
    l->outer =
        l->outer || (outer && !outer->tiled && (outer->layout == CLF_ROW_BY_ROWS || clf_row_extent(p, outer->k) > CLF_ROW_TRANSPOSED));
    if (values > l->values) l->values = values;
    if (elementary > l->elementary) l->elementary = elementary;
}

/* Bytes of the longest row that is read. */
static int64_t row_bytes(const clf_row *p) {
    int64_t most = 0;
    for (int a = 0; a < p->c->naccess; a++) {
        const clf_access *x = &p->c->access[a];
        int64_t bytes = clf_dtype_bytes((clf_dtype)p->c->in[x->input].dtype);
        bool rows = x->rank == 2 && x->at[0].axis == 0 && x->at[1].axis > 0;
        if (rows && clf_row_extent(p, x->at[1].axis) * bytes > most) most = clf_row_extent(p, x->at[1].axis) * bytes;
    }
    return most;
}

/* Rows at once where rows are less than a page; 0: as many as of longer ones. Several of them, read by turns, are streams within the same
 * few pages, which hardware may not foresee. Measured on AMD's Zen 4, t(X) %*% (X %*% V) and folds, 20 to 500 columns: rows one after the
 * other 1.2 to 2 times as fast as four or eight with one or two columns of V, two at once 1.1 to 1.6 times with three or four. On Intel's
 * Emerald Rapids four are 1.2 to 1.5 times as fast as one, and eight as fast as four; so the profile says how many. */
static int rows_of_run(const clf_row *p, const load *l) {
    int64_t bytes = row_bytes(p);
    if (l->vectors || l->sums > SOME_SUMS || bytes < RUN_BYTES || bytes >= CLF_ROW_PAGE) return 0;
    return l->sums > FEW_SUMS ? 2 : p->at_once;
}

/* Is there something to compute once a row that costs as much for one as for a whole vector of them, and does nothing else of a row but
 * such scalars outlive a sweep? */
static bool worth_lanes(const clf_row *p) {
    bool dear = false;
    for (int v = 0; v < p->c->nvalue; v++) {
        const clf_value *w = clf_row_val(p, v);
        if (p->value[v].kept) return false;
        dear = dear || (p->value[v].axes == 1u && clf_op_is_cell(w->op) && clf_ops[w->op].class_ >= CLF_CLASS_DIV);
    }
    for (int s = 0; s < p->c->nsink; s++)
        if (p->sink[s].layout == CLF_ROW_ONE) return false;
    return dear;
}

/* Eight rows hide the time of a step where each has but one sum, and halve the loads of what they share; but they are twice as many short
 * runs of memory. Measured, 100 columns: four are 1.1 to 1.5 times as fast for outer products of up to 32 columns, with a product before
 * them or not, for products of 16 to 32, and (f64: 1.3) where they are read once for all columns; eight as fast or up to 1.1 beyond. */
static int rows_at_once(clf_row *p) {
    load l = {0};
    p->turned = clf_row_turns(p);
    if (p->turned) return p->width;
    for (int t = 0; t < p->nsweep; t++) weigh_sweep(p, t, &l);
    for (int v = 0; v < p->c->nvalue; v++) {
        int n = clf_row_vectors(p, v);
        clf_row_factor f;
        if (n > l.vectors) l.vectors = n;
        if (clf_row_factor_of(p, v, &f) && clf_row_extent(p, f.k) > l.sums) l.sums = clf_row_extent(p, f.k);
        bool buffer = p->value[v].kept && !p->value[v].deep;
        if (buffer && !clf_row_narrow(p, clf_row_inner(p->value[v].axes))) l.buffers = true;
    }
    for (int a = 1; a < p->c->naxes; a++)
        if (clf_row_extent(p, a) > l.longest) l.longest = clf_row_extent(p, a);
    if (p->rows < 4 || l.buffers || l.elementary > 1 || l.values > MANY_VALUES || clf_row_folds_cells(p)) return 1;
    if (l.outer) return 4;
    int run = rows_of_run(p, &l);
    p->run = run == 1;
    p->batch = p->run && p->rows >= p->width && worth_lanes(p);
    if (p->batch) return p->width;
    if (run) return run;
    if (clf_row_at_once(l.sums, l.longest)) return 4;
    if (!l.vectors) return l.longest <= CLF_ROW_NARROW && l.values <= FEW_VALUES ? 8 : 4;
    return l.vectors == 1 && l.longest <= LONG_ROW ? 8 : 4;
}

/* ---- chunks and scratch ---- */

/* What a row costs, in cells of products. */
static double row_units(const clf_row *p) {
    double units = 1;
    for (int t = 0; t < p->nsweep; t++) {
        const clf_row_sweep *q = &p->sweep[t];
        double n = (double)clf_row_extent(p, q->axis);
        if (q->kind == CLF_ROW_PRODUCT && clf_row_inner(p->value[q->what].axes) >= 0)
            units += n * (double)clf_row_extent(p, clf_row_inner(p->value[q->what].axes));
        else if (q->kind == CLF_ROW_OUTER)
            units += n * (double)clf_row_extent(p, p->sink[q->what].k) / (p->sink[q->what].symmetric ? 2 : 1);
        else
            units += n * CELL_UNITS;
    }
    return units;
}

/* The core that has most to do takes its rows, waits half a chunk for a slow neighbour, and merges all chunks. */
static double last_core(const clf_row *p, int64_t chunk, int64_t slots, int64_t cores) {
    int64_t chunks = clf_row_ceil(p->rows, chunk);
    double rows = (double)clf_row_ceil(chunks, cores) * (double)chunk + 0.5 * (double)chunk;
    return rows * row_units(p) + (double)chunks * (double)slots * MERGE_UNITS;
}

/* The chunk with which column sinks of so many states in all end first: from `chunk` on, by powers of two. */
static int64_t even_chunk(const clf_row *p, int64_t chunk, int64_t slots, int64_t cores) {
    int64_t best = chunk;
    for (; chunk < p->rows; chunk *= 2)
        if (last_core(p, chunk * 2, slots, cores) < last_core(p, best, slots, cores)) best = chunk * 2;
    return best;
}

static void cut(clf_row *p, int cores) {
    int64_t cells = 1, least = 1, slots = 0, each_core = cores > 0 ? cores : 1, most;
    p->block = INT64_MAX;
    for (int s = 0; s < p->c->nsink; s++) {
        const clf_row_sink *q = &p->sink[s];
        if (!q->layout) continue;
        if (q->block < p->block) p->block = q->block;
        if (q->block > p->wide) p->wide = q->block;
        slots += q->slots;
    }
    for (int a = 1; a < p->c->naxes; a++) cells += clf_row_extent(p, a);
    if (p->ncol) least = p->wide;
    for (int k = 0; k < p->nstack; k++) {
        int64_t each = clf_row_stack_cells(p, k), leaves = each ? CLF_LEAF / clf_gcd(each, CLF_LEAF) : 1;
        if (leaves > least) least = leaves; /* powers of two, so all fit the largest */
    }
    p->chunk = least > 16 ? least : 16;
    while (p->chunk < MIN_CHUNK_CELLS / cells && p->chunk < p->rows) p->chunk *= 2;
    most = each_core * (slots > WIDE_SLOTS ? WIDE_CHUNKS_PER_CORE : CHUNKS_PER_CORE);
    while (clf_row_ceil(p->rows, p->chunk) > most) p->chunk *= 2;
    if (p->ncol) p->chunk = even_chunk(p, p->chunk, slots, each_core);
    if (!p->ncol) p->block = p->wide = p->chunk;
    p->chunks = p->rows > p->chunk ? clf_row_ceil(p->rows, p->chunk) : 1;
}

bool clf_row_private(const clf_row *p, int s) {
    const clf_row_sink *q = &p->sink[s];
    bool constant = (q->j < 0 || clf_row_narrow(p, q->j)) && (q->k < 0 || clf_row_narrow(p, q->k));
    return constant && q->slots * q->lanes <= PRIVATE_SLOTS;
}

/* Accumulators that are not private, and a stack of finished blocks, per component. */
int64_t clf_row_sink_units(const clf_row *p, int s) {
    const clf_sink *k = &p->c->sink[s];
    const clf_row_sink *q = &p->sink[s];
    int states = clf_cell_states(k);
    if (!q->layout) return 0;
    int64_t one = p->levels * q->slots + (clf_row_private(p, s) ? 0 : q->lanes * q->slots + CLF_ROW_PAD);
    return states * one;
}

int64_t clf_row_value_units(const clf_row *p, int v) {
    const clf_row_value *q = &p->value[v];
    clf_row_factor f;
    int64_t n = 0;
    int j = clf_row_inner(q->axes);
    if (q->deep)
        n += CLF_ROW_DEEP * units(clf_row_padded(p, j), clf_row_type(p, v));
    else if (q->kept && !clf_row_narrow(p, j))
        n += (q->axes & 1u ? p->ru : 1) * units(clf_row_padded(p, j), clf_row_type(p, v));
    if (!clf_row_factor_of(p, v, &f)) return n;
    if (clf_row_copies(p, v) && !clf_row_narrow(p, f.l)) n += clf_row_extent(p, f.k) * units(clf_row_padded(p, f.l), clf_row_type(p, v));
    if (f.lanes == 1 && !clf_row_narrow(p, f.l))
        n += (int64_t)p->ru * clf_row_leaf_levels(p, f.l) * clf_row_vectors(p, v) * clf_lanes(clf_row_type(p, v));
    return n;
}

int64_t clf_row_stack_cells(const clf_row *p, int k) { return p->stack_axis[k] < 0 ? 1 : clf_row_extent(p, p->stack_axis[k]); }

static void lay_out(clf_row *p) {
    int64_t full = 0, most = 1;
    for (int k = 0; k < p->nstack; k++)
        if (clf_row_stack_cells(p, k) > most) most = clf_row_stack_cells(p, k);
    p->ent = 2 * log2_up(p->rows * most / CLF_LEAF + 2) + 2;
    p->levels = log2_up(p->chunk / p->block) + 1;
    for (int s = 0; s < p->c->nsink; s++)
        if (p->c->sink[s].kind == CLF_SINK_FOLD && !p->c->sink[s].keep) full += clf_cell_states(&p->c->sink[s]);
    p->cbase = p->nfull ? clf_row_round((p->chunks + 1) * (p->ent * (full + p->nstack) + p->nstack), 8) : 0;
    p->cstride = 0;
    for (int s = 0; s < p->c->nsink; s++) p->cstride += clf_row_sink_units(p, s);
    for (int v = 0; v < p->c->nvalue; v++) p->cstride += clf_row_value_units(p, v);
    p->cstride = clf_row_round(p->cstride, 8);
}

void clf_row_cut(clf_row *p, int cores) {
    p->ru = rows_at_once(p);
    cut(p, cores);
    lay_out(p);
}
