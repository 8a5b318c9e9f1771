/* SPDX-License-Identifier: Apache-2.0
 * Random programs of real numbers against the double-double interpreter (tests/oracle/dd_program.h): every known cell of every root
 * lies within its bound, on the host executor and on OpenCL. The interpreter must know most cells, with bounds that say something, and
 * must notice an error of a few bounds. CLF_TEST_SEED replays one program. */
#include <math.h>

#include "tests/oracle/dd_program.h"
#include "tests/support/net.h"
#include "tests/support/shrink.h"
#include "tests/unit/api_testing.h"

static const run_config configs[] = {{"all", "auto", "1"}, {"none", "auto", "1"}, {"all", "baseline", "2"}, {"all", "avx2", "3"}};
enum { CONFIGS = sizeof configs / sizeof *configs };

/* ---- programs ---- */

enum { FIRST_SEED = 50000000 };

/* Mostly small ones; one in 8 larger, one in 50 with folds over several leaves of the tree. */
static void generate(rp_program *p, uint64_t seed) {
    bool large = seed % 50 == 0, middle = seed % 8 == 0;
    rp_options o = {.nodes = 4 + (int)(seed % 17), .most_cells = large ? 34000 : middle ? 4200 : 600, .domain = RP_REAL};
    rp_generate(p, seed, &o);
}

/* ---- how sharp the bounds are ---- */

enum { BINS = 400, BINS_PER_OCTAVE = 2, TOP_OCTAVE = 50 };
typedef struct sharpness {
    int64_t bin[BINS], n; /* of bound / |value|, by half octaves below 2^TOP_OCTAVE */
} sharpness;

static void note_sharpness(sharpness *s, const rp_program *p, const dd_values *x, clf_dtype t) {
    for (int r = 0; r < p->nroot; r++) {
        const rp_matrix *m = &p->node[p->root[r]].m;
        for (int64_t k = 0; m->t == t && k < rp_count(m); k++) {
            dd_cell c = x->cell[p->root[r]][k];
            if (c.kind != DD_KNOWN || c.e == 0 || c.v.hi == 0) continue;
            int bin = (int)(BINS_PER_OCTAVE * (TOP_OCTAVE - log2(c.e / fabs(c.v.hi))));
            s->bin[bin < 0 ? 0 : bin < BINS ? bin : BINS - 1]++;
            s->n++;
        }
    }
}

static double median(const sharpness *s) {
    int64_t below = 0;
    int bin = 0;
    while (bin < BINS && (below += s->bin[bin]) * 2 < s->n) bin++;
    return exp2(TOP_OCTAVE - (double)bin / BINS_PER_OCTAVE);
}

/* ---- running ---- */

typedef struct failure {
    const char *what;
    int node;
    int64_t cell;
} failure;

/* Check the roots, evaluated. */
static bool within(const rp_program *p, const dd_values *x, clf_mat *const *h, dd_tally *tally, failure *f) {
    for (int r = 0; r < p->nroot; r++) {
        int i = p->root[r];
        const void *data;
        *f = (failure){"an error", i, -1};
        if (rp_compare(p, i, h[i]) != -1 || clf_data(h[i], &data) != CLF_OK) return false;
        *f = (failure){"outside its bound", i, dd_check(p, x, i, data, tally)};
        if (f->cell >= 0) return false;
    }
    return true;
}

static bool evaluate(const rp_program *p, clf_ctx *c, clf_mat **h) {
    clf_mat *root[RP_NODES];
    rp_record(p, c, h);
    for (int r = 0; r < p->nroot; r++) root[r] = h[p->root[r]];
    return clf_eval((size_t)p->nroot, root) == CLF_OK;
}

static bool good_on(const rp_program *p, const dd_values *x, clf_ctx *c, dd_tally *tally, failure *f) {
    static clf_mat *h[RP_NODES];
    size_t epoch = clf_epoch_begin(c);
    *f = (failure){"evaluation failed", p->root[0], -1};
    bool good = evaluate(p, c, h) && within(p, x, h, tally, f);
    clf_epoch_end(c, epoch);
    return good;
}

static bool fails_on(const rp_program *p, void *user) {
    dd_values x;
    dd_tally t = {0};
    failure f;
    bool good = !dd_interpret(p, &x) || good_on(p, &x, user, &t, &f);
    dd_release(&x);
    return !good;
}

static void show_cell(const rp_program *p, clf_ctx *c, const failure *f) {
    clf_mat *h[RP_NODES];
    dd_values x;
    const void *data;
    if (f->cell >= 0 && dd_interpret(p, &x) && evaluate(p, c, h) && clf_data(h[f->node], &data) == CLF_OK) {
        dd_cell want = x.cell[f->node][f->cell], got = dd_load(data, f->cell, p->node[f->node].m.t);
        printf("    n%d cell %lld: %.17g (kind %d), not %.17g%+.3g within %.3g (kind %d)\n", f->node, (long long)f->cell, got.v.hi,
               got.kind, want.v.hi, want.v.lo, want.e, want.kind);
        dd_release(&x);
    }
}

static void complain(const rp_program *p, clf_ctx *c, const char *where, const failure *first) {
    static rp_program small;
    failure f = *first;
    dd_values x;
    dd_tally t = {0};
    printf("\n    %s: %s, node n%d, cell %lld, seed %llu\n", where, f.what, f.node, (long long)f.cell, (unsigned long long)p->seed);
    rp_copy(p, &small);
    if (fails_on(&small, c)) {
        shrink(&small, fails_on, c, 2000);
        if (dd_interpret(&small, &x) && !good_on(&small, &x, c, &t, &f)) show_cell(&small, c, &f);
        dd_release(&x);
    } else {
        show_cell(p, c, &f);
    }
    rp_print(&small);
    rp_report(&small, where);
    rp_release(&small);
}

/* ---- host executor ---- */

static dd_tally host_cells;
static sharpness sharp[2]; /* f64, f32 */

static bool check_host(clf_ctx *const *c, uint64_t seed) {
    static rp_program p;
    dd_values x;
    failure f;
    generate(&p, seed);
    bool good = dd_interpret(&p, &x);
    CU_ASSERT(good);
    note_sharpness(&sharp[0], &p, &x, CLF_F64);
    note_sharpness(&sharp[1], &p, &x, CLF_F32);
    for (int i = 0; i < CONFIGS && good; i++) {
        char where[64];
        snprintf(where, sizeof where, "fuse %s, isa %s, threads %s", configs[i].fuse, configs[i].isa, configs[i].threads);
        good = good_on(&p, &x, c[i], &host_cells, &f);
        if (!good) complain(&p, c[i], where, &f);
    }
    dd_release(&x);
    rp_release(&p);
    return good;
}

static void test_host(void) {
    clf_ctx *c[CONFIGS];
    uint64_t only;
    int64_t n = net_count(5000, 400000), bad = 0;
    bool replay = net_replay(&only);
    for (int i = 0; i < CONFIGS; i++) c[i] = open_config(&configs[i]);
    for (int64_t k = 0; k < (replay ? 1 : n) && bad < 3; k++) bad += !check_host(c, replay ? only : FIRST_SEED + (uint64_t)k);
    for (int i = 0; i < CONFIGS; i++) clf_close(c[i]);
    CU_ASSERT_EQUAL(bad, 0);
    net_figure("real programs within bounds, host", "%lld x %d configurations", (long long)n, CONFIGS);
    net_figure("cells compared with bounds, host", "%lld", (long long)host_cells.cells);
    net_figure("largest error over bound, host", "%.3f", host_cells.worst);
}

/* What a test of this kind is worth. */
static void test_known(void) {
    const dd_tally *t = &host_cells;
    double known = (double)t->known / (double)(t->cells + !t->cells), exact = (double)t->exact / (double)(t->cells + !t->cells);
    double nans = (double)t->nans / (double)(t->cells + !t->cells), f64 = median(&sharp[0]), f32 = median(&sharp[1]);
    uint64_t only;
    if (net_replay(&only)) return;
    printf("\n    cells %lld, known %.1f %%, exact %.1f %%, NaN %.1f %%, largest error/bound %.3f, median bound f64 %.3g, f32 %.3g ... ",
           (long long)t->cells, 100 * known, 100 * exact, 100 * nans, t->worst, f64, f32);
    CU_ASSERT(known >= 0.8);
    CU_ASSERT(known - exact >= 0.1); /* bounds, not only bits */
    CU_ASSERT(t->worst > 0.1);
    CU_ASSERT(f64 < 1e-11 && f32 < 1e-3);
    net_figure("share of cells known to the interpreter", "%.1f %%", 100 * known);
    net_figure("median relative bound where not exact, f64 and f32", "%.2g, %.2g", f64, f32);
}

/* ---- OpenCL: many programs in one evaluation ---- */

enum { BATCH = 30 };
typedef struct batch {
    rp_program p[BATCH];
    dd_values x[BATCH];
    clf_mat *h[BATCH][RP_NODES], *root[BATCH * RP_NODES];
    size_t n;
} batch;

static void load_batch(batch *b, clf_ctx *c, uint64_t seed) {
    b->n = 0;
    for (int i = 0; i < BATCH; i++) {
        generate(&b->p[i], seed + (uint64_t)i);
        CU_ASSERT(dd_interpret(&b->p[i], &b->x[i]));
        rp_record(&b->p[i], c, b->h[i]);
        for (int r = 0; r < b->p[i].nroot; r++) b->root[b->n++] = b->h[i][b->p[i].root[r]];
    }
}

static int64_t check_batch(batch *b, clf_ctx *c, uint64_t seed, dd_tally *tally) {
    size_t epoch = clf_epoch_begin(c);
    int64_t bad = 0;
    load_batch(b, c, seed);
    if (clf_eval(b->n, b->root) != CLF_OK) {
        printf("\n    batch of seed %llu: %s\n", (unsigned long long)seed, clf_last_error(c));
        bad = 1;
    }
    for (int i = 0; i < BATCH && !bad; i++) {
        failure f;
        if (within(&b->p[i], &b->x[i], b->h[i], tally, &f)) continue;
        complain(&b->p[i], c, "kernels", &f);
        bad++;
    }
    for (int i = 0; i < BATCH; i++) {
        dd_release(&b->x[i]);
        rp_release(&b->p[i]);
    }
    clf_epoch_end(c, epoch);
    return bad;
}

static void test_kernels(void) {
    clf_ctx *c = open_on(NULL);
    clf_device d = {.struct_size = sizeof d};
    clf_stats s = {.struct_size = sizeof s};
    dd_tally tally = {0};
    int64_t n = (net_count(60, 3000) + BATCH - 1) / BATCH, bad = 0;
    batch *b = malloc(sizeof *b);
    if (b && clf_device_at(c, 1, &d)) {
        CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
        for (int64_t k = 0; k < n && !bad; k++) bad += check_batch(b, c, FIRST_SEED + (uint64_t)k * BATCH, &tally);
        CU_ASSERT_EQUAL(clf_get_stats(c, &s), CLF_OK);
        CU_ASSERT(s.launches_tier2 > 0);
        CU_ASSERT(tally.known * 10 >= tally.cells * 7);
        net_figure("real programs within bounds, OpenCL", "%lld in %lld kernels", (long long)(n * BATCH), (long long)s.kernels_built);
        net_figure("largest error over bound, OpenCL", "%.3f", tally.worst);
    }
    CU_ASSERT_EQUAL(bad, 0);
    free(b);
    clf_close(c);
}

/* ---- the interpreter notices ---- */

/* A number that is 4 bounds away, or the next one of the type. */
static void spoil(void *data, int64_t k, clf_dtype t, dd_cell c) {
    double v = c.kind == DD_KNOWN ? c.v.hi : 7;
    switch (t) {
    case CLF_F32: {
        float next = (float)(v + 4 * c.e);
        ((float *)data)[k] = next == (float)v ? nextafterf(nextafterf(next, INFINITY), INFINITY) : next;
        break;
    }
    case CLF_F64: {
        double next = v + 4 * c.e;
        ((double *)data)[k] = next == v ? nextafter(nextafter(next, INFINITY), INFINITY) : next;
        break;
    }
    case CLF_I32: ((int32_t *)data)[k] ^= 1; break;
    case CLF_I64: ((int64_t *)data)[k] ^= 1; break;
    case CLF_U8: ((uint8_t *)data)[k] ^= 1; break;
    }
}

/* Spoil one known cell of a root; it must be found. False when no cell is known. */
static bool spoiled(const rp_program *p, const dd_values *x, int i, clf_mat *h, int64_t *missed) {
    const rp_matrix *m = &p->node[i].m;
    size_t bytes = (size_t)rp_count(m) * clf_dtype_bytes(m->t);
    int64_t k = 0;
    while (k < rp_count(m) && x->cell[i][k].kind == DD_UNKNOWN) k++;
    if (k == rp_count(m)) return false;
    void *data = malloc(bytes);
    dd_tally t = {0};
    CU_ASSERT_EQUAL_FATAL(clf_read(h, data, bytes), CLF_OK);
    CU_ASSERT_EQUAL(dd_check(p, x, i, data, &t), -1);
    spoil(data, k, m->t, x->cell[i][k]);
    *missed += dd_check(p, x, i, data, &t) != k;
    free(data);
    return true;
}

static void test_spoiled(void) {
    static rp_program p;
    static clf_mat *h[RP_NODES];
    clf_ctx *c = open_host();
    int64_t tried = 0, missed = 0;
    for (uint64_t k = 0; k < 200; k++) {
        dd_values x;
        size_t epoch = clf_epoch_begin(c);
        generate(&p, FIRST_SEED + k);
        if (dd_interpret(&p, &x) && evaluate(&p, c, h))
            for (int r = 0; r < p.nroot; r++) tried += spoiled(&p, &x, p.root[r], h[p.root[r]], &missed);
        dd_release(&x);
        rp_release(&p);
        clf_epoch_end(c, epoch);
    }
    clf_close(c);
    CU_ASSERT(tried > 150);
    CU_ASSERT_EQUAL(missed, 0);
    net_figure("spoiled cells noticed by the interpreter", "%lld of %lld", (long long)(tried - missed), (long long)tried);
}

int main(void) {
    static const test_case tests[] = {{"programs on the host executor", test_host},
                                      {"the interpreter knows most cells", test_known},
                                      {"the interpreter notices errors", test_spoiled},
                                      {"programs in OpenCL kernels", test_kernels}};
    return run_suite("bounds", tests, sizeof tests / sizeof *tests);
}
