/* SPDX-License-Identifier: Apache-2.0
 * The generator of random row forms (see random_rows.h): shapes, inputs, a body of a few steps, sinks. A step takes values that may meet,
 * those that vary with the rows and at most one axis in common, and adds one; what does not come about is left out. */
#include "tests/support/random_rows.h"

#include <stdio.h>
#include <string.h>

enum { MOST_VALUES = 48, MOST_WORK = 2000000 };
enum { I = 1 };

typedef struct gen {
    random_rows *r;
    clf_builder *b;
    uint64_t seed;
    int64_t n, m, k, rank;
    int j, ka, la;   /* axes; -1 none */
    int xa, part[2]; /* columns put together, -1 none, and the axes of its parts, -1: one column */
    bool same;       /* as many columns of k as of X, */
    int alike[2];    /* and values that are the same but for these axes; -1 none */
    int ca;          /* stands for the columns of cells without entry; -1 none. Where it is there, folds say what they run over */
    int val[MOST_VALUES], nval;
} gen;

static uint32_t bit(int axis) { return axis >= 0 ? 1u << axis : 0; }

static int pick(gen *g, int n) {
    g->seed = g->seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((g->seed >> 33) % (uint64_t)n);
}

static bool chance(gen *g, int percent) { return pick(g, 100) < percent; }

static uint32_t axes_of(const gen *g, int v) { return g->b->c.value[v].axes; }

static void add(gen *g, int v) {
    for (int q = 0; q < g->nval; q++)
        if (g->val[q] == v) return;
    if (g->nval < MOST_VALUES) g->val[g->nval++] = v;
}

/* A value that varies with `must` and with nothing outside `may`, rather a late one; -1 if there is none. */
static int pick_value(gen *g, uint32_t must, uint32_t may) {
    int found = -1, seen = 0;
    for (int q = 0; q < g->nval; q++) {
        uint32_t axes = axes_of(g, g->val[q]);
        if ((axes & must) == must && (axes & ~may) == 0 && (pick(g, ++seen) == 0 || chance(g, 35))) found = g->val[q];
    }
    return found;
}

/* An inner axis that something could vary with. */
static int pick_inner(gen *g) {
    const int axis[5] = {g->j, g->ka >= 0 ? g->ka : g->j, g->j, g->xa, g->xa};
    return axis[pick(g, g->xa >= 0 ? 5 : 3)];
}

/* ---- shapes and inputs ----------------------------------------------------------------------------------------------------- */

static void shape(gen *g) {
    static const int64_t rows[] = {0, 1, 2, 3, 7, 16, 17, 64, 65, 300}, cols[] = {1, 2, 3, 5, 8, 10, 16, 65, 100, 513, 1030},
                         ks[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 32}, ranks[] = {1, 3, 8, 10, 17};
    g->n = rows[pick(g, sizeof rows / sizeof *rows)];
    g->m = cols[pick(g, sizeof cols / sizeof *cols)];
    g->k = ks[pick(g, sizeof ks / sizeof *ks)];
    g->rank = ranks[pick(g, sizeof ranks / sizeof *ranks)];
    if (chance(g, 8)) { /* sums of two wide sides */
        g->m = 65 + pick(g, 64), g->k = 65 + pick(g, 64);
        g->same = !g->r->sparse && chance(g, 50);
        if (g->same) g->k = g->m;
    }
    if (g->n * g->m * (g->k + g->rank) > MOST_WORK) g->n = 17;
}

static int64_t plain_extent(const gen *g, int axis) {
    if (axis < 0) return 1;
    return axis == 0 ? g->n : axis == g->j || axis == g->ca ? g->m : axis == g->ka ? g->k : g->rank;
}

static int64_t extent(const gen *g, int axis) {
    if (axis >= 0 && axis == g->xa) return plain_extent(g, g->part[0]) + plain_extent(g, g->part[1]);
    return plain_extent(g, axis);
}

/* A dense input indexed by two axes (or -1), a little larger than they reach now and then; loaded. */
static int load(gen *g, int a, int b) {
    const int axis[2] = {a, b};
    int64_t dim[2], off = chance(g, 15) ? 2 : 0;
    clf_access at = {.protocol = CLF_STREAM, .rank = 2};
    for (int d = 0; d < 2; d++) dim[d] = extent(g, axis[d]) + (axis[d] >= 0 && (d || g->n) ? off : 0);
    at.input = clf_build_in(g->b, g->r->type, 2, dim);
    for (int d = 0; d < 2; d++) at.at[d] = (clf_at){.axis = axis[d], .value = -1, .mul = axis[d] >= 0, .add = dim[d] > 1 && off ? 1 : 0};
    for (int d = 0; d < 2; d++)
        if (dim[d] == extent(g, axis[d])) at.at[d].add = 0;
    return clf_build_load(g->b, clf_build_access_at(g->b, &at));
}

static int load_entries(gen *g) {
    const int64_t dim[2] = {g->n, g->m};
    clf_access at = {.input = clf_build_in(g->b, g->r->type, 2, dim), .protocol = CLF_ENTRIES, .rank = 2};
    g->b->c.in[at.input].format = CLF_CSR;
    at.at[0] = (clf_at){.axis = 0, .value = -1, .mul = 1};
    at.at[1] = (clf_at){.axis = g->j, .value = -1, .mul = 1};
    int access = clf_build_access_at(g->b, &at);
    clf_build_owner(g->b, g->j, access, 0);
    return clf_build_load(g->b, access);
}

/* Another CSR matrix of the main input's shape, at its entries. */
static int load_located(gen *g) {
    const int64_t dim[2] = {g->n, g->m};
    clf_access at = {.input = clf_build_in(g->b, g->r->type, 2, dim), .protocol = CLF_LOCATE, .rank = 2};
    g->b->c.in[at.input].format = CLF_CSR;
    at.at[0] = (clf_at){.axis = 0, .value = -1, .mul = 1};
    at.at[1] = (clf_at){.axis = g->j, .value = -1, .mul = 1};
    return clf_build_load(g->b, clf_build_access_at(g->b, &at));
}

/* X along the axis of k, too. */
static void load_alike(gen *g) {
    clf_access at = g->b->c.access[g->b->c.value[g->val[0]].arg];
    at.at[1].axis = g->ka;
    g->alike[0] = g->val[0];
    g->alike[1] = clf_build_load(g->b, clf_build_access_at(g->b, &at));
    add(g, g->alike[1]);
}

static int special(gen *g, int op, clf_dtype t, int arg) {
    return clf_build_value(g->b, (clf_value){.op = (uint16_t)op, .dtype = (uint8_t)t, .axis = -1, .in = {-1, -1, -1}, .arg = arg});
}

/* Columns put together of two parts: of X where it is dense, of k, or a single one. */
static void cat_axis(gen *g) {
    const int parts[4] = {g->r->sparse ? g->ka : g->j, g->ka, -1, g->r->sparse ? -1 : g->j};
    g->xa = -1;
    if (!chance(g, 35)) return;
    for (int q = 0; q < 2; q++) g->part[q] = parts[pick(g, 4)];
    g->xa = clf_build_axis(g->b, CLF_AXIS_RANGE, plain_extent(g, g->part[0]) + plain_extent(g, g->part[1]));
}

/* Axes, the main input, and some of: more sparse matrices, vectors, a second matrix, a matrix of rows x k, a parameter, positions. */
static void inputs(gen *g) {
    clf_build_axis(g->b, CLF_AXIS_RANGE, g->n);
    g->j = clf_build_axis(g->b, g->r->sparse ? CLF_AXIS_ENTRY : CLF_AXIS_RANGE, g->r->sparse ? 1 : g->m);
    g->ka = chance(g, 50) || g->same ? clf_build_axis(g->b, CLF_AXIS_RANGE, g->k) : -1;
    g->la = chance(g, 30) ? clf_build_axis(g->b, CLF_AXIS_RANGE, g->rank) : -1;
    g->ca = g->r->sparse && chance(g, 40) ? clf_build_axis(g->b, CLF_AXIS_RANGE, g->m) : -1;
    cat_axis(g);
    add(g, g->r->sparse ? load_entries(g) : load(g, 0, g->j));
    for (int q = 0; q < 2 && g->r->sparse && chance(g, 40); q++) add(g, load_located(g));
    if (chance(g, 60)) add(g, load(g, 0, -1));
    if (g->same) load_alike(g);
    if (chance(g, 60)) add(g, chance(g, 50) ? load(g, g->j, -1) : load(g, -1, g->j));
    if (chance(g, 25)) add(g, load(g, 0, g->j));
    if (g->ka >= 0 && chance(g, 70)) add(g, load(g, 0, g->ka));
    if (g->ka >= 0 && chance(g, 20)) add(g, load(g, -1, g->ka));
    if (g->xa >= 0 && chance(g, 40)) add(g, chance(g, 50) ? load(g, 0, g->xa) : load(g, g->xa, -1));
    if (chance(g, 40)) add(g, special(g, CLF_V_PARAM, g->r->type, clf_build_param(g->b, g->r->type)));
    if (chance(g, 10)) add(g, clf_build_cast(g->b, special(g, CLF_V_INDEX, CLF_I64, chance(g, 50) ? 0 : g->j), g->r->type));
}

/* ---- steps of the body ----------------------------------------------------------------------------------------------------- */

static void step_cell(gen *g) {
    static const uint8_t ops[] = {CLF_OP_ADD, CLF_OP_SUB, CLF_OP_MUL, CLF_OP_MUL, CLF_OP_MIN, CLF_OP_MAX,   CLF_OP_NEG,
                                  CLF_OP_ABS, CLF_OP_LT,  CLF_OP_EQ,  CLF_OP_NE,  CLF_OP_NOT, CLF_OP_IFELSE};
    clf_op op = (clf_op)ops[pick(g, sizeof ops)];
    int in[3] = {pick_value(g, 0, ~0u), -1, -1};
    uint32_t inner = axes_of(g, in[0]) & ~(uint32_t)I;
    for (int q = 1; q < clf_ops[op].arity; q++) {
        in[q] = pick_value(g, 0, I | (inner ? inner : bit(g->j)));
        if (in[q] < 0) return;
        inner |= axes_of(g, in[q]) & ~(uint32_t)I;
    }
    add(g, clf_build_op(g->b, op, g->r->type, in[0], in[1], in[2]));
}

/* A value by columns of the cells without entry. */
static int column_rest(gen *g) {
    int v = chance(g, 50) ? load(g, g->ca, -1) : load(g, -1, g->ca), w = chance(g, 40) ? pick_value(g, 0, 0) : -1;
    return w < 0 ? v : clf_build_op(g->b, chance(g, 50) ? CLF_OP_MUL : CLF_OP_SUB, g->r->type, v, w, -1);
}

/* What a row's cells without entry are; -1: they take no part. */
static int row_rest(gen *g) {
    if (!g->r->sparse || chance(g, 50)) return -1;
    return g->ca >= 0 && chance(g, 60) ? column_rest(g) : pick_value(g, 0, I);
}

static void step_fold(gen *g) {
    static const uint8_t exact[] = {CLF_FOLD_SUM,    CLF_FOLD_SUM, CLF_FOLD_MIN, CLF_FOLD_MAX, CLF_FOLD_ARGMAX,
                                    CLF_FOLD_ARGMIN, CLF_FOLD_NNZ, CLF_FOLD_ANY, CLF_FOLD_ALL, CLF_FOLD_SUMSQ};
    static const uint8_t more[] = {CLF_FOLD_MEAN, CLF_FOLD_VAR, CLF_FOLD_PROD};
    int axis = pick_inner(g), v = pick_value(g, bit(axis), ~0u);
    bool rounds = g->r->data == JOB_REAL && chance(g, 20);
    clf_fold_id f = (clf_fold_id)(rounds ? more[pick(g, sizeof more)] : exact[pick(g, sizeof exact)]);
    if (v < 0) return;
    int rest = axis == g->j ? row_rest(g) : -1;
    int made = rest < 0 ? clf_build_foldv(g->b, f, axis, v) : clf_build_fold_rest(g->b, f, axis, v, rest);
    add(g, clf_build_cast(g->b, made, g->r->type));
}

/* Zeros of a sparse main input annihilate, nearly always. */
static int skip(gen *g) { return g->r->sparse ? (chance(g, 85) ? 1 : pick(g, 4)) : (chance(g, 10) ? pick(g, 4) : 0); }

static void step_dot(gen *g) {
    int axis = pick_inner(g), x = pick_value(g, bit(axis), ~0u), y = pick_value(g, 0, I | bit(axis));
    if (x >= 0 && y >= 0) add(g, clf_build_dot(g->b, axis, x, y, skip(g)));
}

/* X %*% V, V by rows or by columns. */
static void step_product(gen *g) {
    int x = g->ka >= 0 ? pick_value(g, bit(g->j), I | bit(g->j)) : -1;
    if (x < 0) return;
    int v = chance(g, 80) ? load(g, g->j, g->ka) : load(g, g->ka, g->j);
    add(g, clf_build_dot(g->b, g->j, x, v, skip(g)));
}

/* U %*% t(V) at the cells of X. */
static void step_outer(gen *g) {
    if (g->la < 0) return;
    int u = load(g, 0, g->la), v = chance(g, 80) ? load(g, g->j, g->la) : load(g, g->la, g->j);
    add(g, clf_build_dot(g->b, g->la, u, v, chance(g, 10) ? pick(g, 4) : 0));
}

static void step_scan(gen *g) {
    static const uint8_t folds[] = {CLF_FOLD_SUM, CLF_FOLD_MIN, CLF_FOLD_MAX, CLF_FOLD_SUM, CLF_FOLD_PROD};
    int axis = g->xa >= 0 && chance(g, 60) ? g->xa : g->r->sparse ? -1 : g->j;
    int v = axis < 0 ? -1 : pick_value(g, bit(axis), I | bit(axis));
    if (v < 0 || g->b->c.axis[axis].ascending) return; /* one: the reference executor starts anew */
    if (g->n * extent(g, axis) * extent(g, axis) > MOST_WORK / 8) return;
    g->b->c.axis[axis].ascending = 1;
    clf_fold_id f = (clf_fold_id)folds[pick(g, g->r->data == JOB_EXACT ? 4 : 5)];
    add(g, clf_build_cast(g->b, clf_build_scan(g->b, f, axis, v), g->r->type));
}

/* Whatever varies with the rows and its own axis at most may be a part. */
static void step_cat(gen *g) {
    int v[2] = {-1, -1};
    for (int q = 0; q < 2 && g->xa >= 0; q++) {
        uint32_t own = bit(g->part[q]);
        v[q] = pick_value(g, chance(g, 70) ? own : 0, I | own);
    }
    if (v[0] >= 0 && v[1] >= 0) add(g, clf_build_cat(g->b, g->xa, v[0], g->part[0], v[1], g->part[1]));
}

/* Both that are alike, by the same operator. */
static void step_alike(gen *g) {
    static const uint8_t ops[] = {CLF_OP_ABS, CLF_OP_MUL, CLF_OP_SUB};
    clf_op op = (clf_op)ops[pick(g, sizeof ops)];
    int other = pick_value(g, 0, I);
    if (clf_ops[op].arity == 2 && other < 0) return;
    for (int q = 0; q < 2; q++) {
        g->alike[q] = clf_build_op(g->b, op, g->r->type, g->alike[q], clf_ops[op].arity == 2 ? other : -1, -1);
        add(g, g->alike[q]);
    }
}

static void body(gen *g) {
    static void (*const step[])(gen *) = {step_cell,    step_cell,    step_cell,  step_fold, step_dot,
                                          step_product, step_product, step_outer, step_scan, step_cat};
    int steps = 1 + pick(g, 7);
    if (g->la >= 0) step_outer(g);
    step_cat(g);
    for (int q = 0; q < steps; q++) step[pick(g, sizeof step / sizeof *step)](g);
    while (g->same && chance(g, 50)) step_alike(g);
}

/* ---- sinks ----------------------------------------------------------------------------------------------------------------- */

static int out_of(gen *g, clf_dtype t, uint32_t keep) {
    int64_t dim[2] = {1, 1};
    int rank = 0;
    for (int a = 0; a < g->b->c.naxes; a++)
        if (keep >> a & 1u) dim[rank++] = extent(g, a);
    if (rank < 2 && chance(g, 50)) rank = 2;
    return clf_build_out(g->b, t, rank, dim);
}

static bool store(gen *g, uint32_t must, uint32_t keep) {
    int v = keep & bit(g->j) && g->r->sparse ? -1 : pick_value(g, must, keep);
    if (v >= 0) clf_build_store(g->b, out_of(g, g->r->type, keep), v, keep);
    return v >= 0;
}

/* What a FOLD of v names as folded. */
static uint32_t over_of(const gen *g, int v, uint32_t keep) { return g->ca < 0 && g->xa < 0 ? 0 : (I | axes_of(g, v)) & ~keep; }

/* May this FOLD of v stand in a row form? */
static bool fold_loop_ok(const gen *g, int v, uint32_t keep) {
    clf_sink s = {.kind = CLF_SINK_FOLD, .keep = keep, .value = {v, -1, -1, -1}, .key = {-1, -1}, .guard = -1, .order = -1};
    s.over = over_of(g, v, keep);
    uint32_t loop = clf_sink_loop(&g->b->c, &s);
    if (keep & bit(g->j) && g->r->sparse) return loop == (I | keep) && axes_of(g, v) & keep;
    return !((loop & ~(uint32_t)I) & ((loop & ~(uint32_t)I) - 1)) && loop & ~keep;
}

/* What the cells without entry are in a full fold, or one by columns; -1: they take no part. */
static int rest_of(gen *g, clf_fold_id f, int v, uint32_t keep) {
    bool positions = f == CLF_FOLD_ARGMIN || f == CLF_FOLD_ARGMAX, columns = keep == bit(g->j);
    if (!g->r->sparse || (keep && !columns) || (positions && !columns) || !(axes_of(g, v) & bit(g->j)) || chance(g, 30)) return -1;
    if (g->ca >= 0 && chance(g, 50)) return column_rest(g);
    int rest = pick_value(g, columns && chance(g, 50) ? I : 0, I);
    return rest >= 0 ? rest : special(g, CLF_V_PARAM, g->r->type, clf_build_param(g->b, g->r->type));
}

static void fold_sink(gen *g, clf_fold_id f, int v, uint32_t keep) {
    clf_dtype t = clf_fold_value_type(f, g->r->type);
    int rest = rest_of(g, f, v, keep);
    v = clf_build_cast(g->b, v, t);
    if (rest >= 0) rest = clf_build_cast(g->b, rest, t);
    const clf_sink s = {.kind = CLF_SINK_FOLD,
                        .fold = (uint8_t)f,
                        .keep = keep,
                        .over = over_of(g, v, keep),
                        .value = {v, rest, -1, -1},
                        .key = {-1, -1},
                        .guard = -1,
                        .order = -1,
                        .out = {out_of(g, clf_fold_result_type(f, t), keep), -1, -1, -1}};
    clf_build_sink(g->b, &s);
}

static bool fold(gen *g, uint32_t must, uint32_t keep) {
    static const uint8_t exact[] = {CLF_FOLD_SUM, CLF_FOLD_SUM, CLF_FOLD_SUM, CLF_FOLD_SUMSQ,  CLF_FOLD_MIN,   CLF_FOLD_MAX,
                                    CLF_FOLD_NNZ, CLF_FOLD_ANY, CLF_FOLD_ALL, CLF_FOLD_ARGMIN, CLF_FOLD_ARGMAX};
    static const uint8_t more[] = {CLF_FOLD_MEAN, CLF_FOLD_VAR, CLF_FOLD_PROD};
    bool rounds = g->r->data == JOB_REAL && chance(g, 20);
    clf_fold_id f = (clf_fold_id)(rounds ? more[pick(g, sizeof more)] : exact[pick(g, sizeof exact)]);
    int v = pick_value(g, must, ~bit(g->la));
    if (v < 0 || !fold_loop_ok(g, v, keep)) return false;
    fold_sink(g, f, v, keep);
    return true;
}

static bool dot(gen *g, int a, int c) {
    int x = a >= 0 ? pick_value(g, bit(a), I | bit(a)) : -1, y = pick_value(g, bit(c), I | (c >= 0 ? bit(c) : bit(a)));
    if (x < 0 || y < 0) return false;
    int s = skip(g);
    uint32_t keep = bit(a) | bit(c);
    bool turned = chance(g, 10);
    clf_build_dot_sink(g->b, out_of(g, g->r->type, keep), turned ? y : x, turned ? x : y, s, keep);
    return true;
}

static bool pattern(gen *g) {
    int v = g->r->sparse ? pick_value(g, 0, I | bit(g->j)) : -1;
    const int64_t dim[1] = {1};
    if (v >= 0) clf_build_pattern(g->b, clf_build_out(g->b, g->r->type, 1, dim), v, I | bit(g->j));
    return v >= 0;
}

static bool sink(gen *g) {
    int second = g->xa >= 0 && chance(g, 50) ? g->xa : g->ka;
    uint32_t J = bit(g->j), K = bit(second);
    switch (pick(g, 14)) {
    case 0: return store(g, 0, I);
    case 1: return store(g, J, I | J);
    case 2: return K && store(g, K, I | K);
    case 3: return store(g, 0, 0);
    case 4: return fold(g, 0, 0);
    case 5: return fold(g, J, 0);
    case 6: return fold(g, bit(pick_inner(g)), I);
    case 7: return fold(g, J, J);
    case 8: return K && fold(g, K, K);
    case 9: return pattern(g);
    case 10:
    case 11: return dot(g, g->j, -1);
    case 12: return K && dot(g, second, -1);
    default: return K && dot(g, g->j, second);
    }
}

static void sinks(gen *g) {
    int want = 1 + pick(g, 3), made = 0;
    for (int tries = 0; tries < 30 && made < want; tries++) made += sink(g);
    if (g->same) {
        bool turned = chance(g, 50);
        uint32_t keep = bit(g->j) | bit(g->ka);
        clf_build_dot_sink(g->b, out_of(g, g->r->type, keep), g->alike[turned], g->alike[!turned], 0, keep);
        made++;
    }
    if (!made) fold_sink(g, CLF_FOLD_MAX, g->val[0], 0);
}

/* ---- the whole ------------------------------------------------------------------------------------------------------------- */

bool random_rows_make(random_rows *r, uint64_t seed, bool exact) {
    static const uint8_t types[] = {CLF_F64, CLF_F64, CLF_F64, CLF_F32, CLF_F32, CLF_I64, CLF_I32};
    gen g = {.r = r, .b = &r->j.b, .seed = (seed + 1) * 0x9e3779b97f4a7c15u};
    clf_err err = {.code = CLF_OK};
    memset(r, 0, sizeof *r);
    pick(&g, 2), pick(&g, 2);
    r->seed = seed;
    r->data = exact ? JOB_EXACT : JOB_REAL;
    r->type = (clf_dtype)types[pick(&g, sizeof types)];
    r->sparse = chance(&g, 50);
    job_begin(&r->j, seed);
    shape(&g);
    inputs(&g);
    body(&g);
    sinks(&g);
    if (job_built(&r->j, &err) != CLF_OK) {
        fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        r->j.c = (clf_cplan){0};
        random_rows_free(r);
        return false;
    }
    random_rows_fill(r);
    return true;
}

void random_rows_free(random_rows *r) { job_end(&r->j); }

void random_rows_tell(const random_rows *r) {
    clf_str s;
    clf_str_init(&s, &jobs.mem);
    clf_cplan_print(&r->j.c, &s);
    fprintf(stderr, "seed %llu, %s data:\n%s", (unsigned long long)r->seed, r->data == JOB_EXACT ? "exact" : "real", clf_str_c(&s));
    clf_str_release(&s);
}
