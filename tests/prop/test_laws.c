/* SPDX-License-Identifier: Apache-2.0
 * Laws that hold exactly in floating point, on random programs with real data: a changed program (tests/support/laws.h) gives related
 * bits. Every law runs on the host executor with several instruction sets and numbers of threads, and on OpenCL. A third of the programs
 * has sparse leaves and real numbers that are small integers: no sum rounds, so laws hold whether a plan sums over cells or over entries.
 * CLF_TEST_SEED replays one program. */
#include <math.h>
#include <stdlib.h>

#include "tests/support/laws.h"
#include "tests/support/laws_run.h"
#include "tests/support/net.h"
#include "tests/support/shrink.h"
#include "tests/unit/api_testing.h"

static const run_config configs[] = {{"all", "auto", "1"}, {"none", "auto", "2"}, {"all", "baseline", "3"}, {"all", "avx2", "2"}};
enum { CONFIGS = sizeof configs / sizeof *configs, MOST_ROOTS = 8 };

static const law_relation equal = {1, false};

/* Nodes with a promise, the last ones first. */
static int choose(const rp_program *p, const law_tags tag, int *node) {
    int n = 0;
    for (int i = p->n - 1; i >= 0 && n < MOST_ROOTS; i--)
        if (tag[i] != LAW_BAD && p->node[i].nin > 0) node[n++] = i;
    return n;
}

/* ---- laws: true when it holds; `compared` counts results ---- */

typedef bool law(const rp_program *p, clf_ctx *c, int64_t *compared);
static rp_program q;
static law_results base, other, all_cells;

/* Rules that look for a 1 or a -1. Products keep their bits in plans of one kind only, and p and q get such plans without them. */
#define OF_NUMBERS "neutral,minus-one,product-fill"

/* One node is -by or 2^k times as large; q is made. */
static bool homogeneous(const rp_program *p, clf_ctx *c, law_tag which, double by, const char *what, int64_t *compared) {
    law_tags tag;
    int node[MOST_ROOTS];
    if (!law_evaluate_all(p, c, &all_cells)) return false;
    law_tag_nodes(p, which, all_cells.data, tag);
    int n = choose(p, tag, node);
    law_scale(p, which, by, &q);
    bool good = clf_set(c, "rules_off", OF_NUMBERS) == CLF_OK && law_evaluate(p, c, node, n, &base) && law_evaluate(&q, c, node, n, &other);
    good = clf_set(c, "rules_off", "") == CLF_OK && good;
    for (int k = 0; k < n && good; k++) {
        int i = node[k];
        law_relation r = {pow(by, tag[i]), which == LAW_PARITY};
        good = law_same_run(what, p, i, base.data[i], 0, other.data[i], rp_count(&p->node[i].m), r);
    }
    *compared += n;
    rp_release(&q);
    return good;
}

static bool law_powers(const rp_program *p, clf_ctx *c, int64_t *compared) {
    return homogeneous(p, c, LAW_DEGREE, p->seed % 2 ? 4 : 0.125, "scaled", compared);
}
static bool law_negation(const rp_program *p, clf_ctx *c, int64_t *compared) {
    return homogeneous(p, c, LAW_PARITY, -1, "negated", compared);
}

static int64_t rows_of(const rp_program *p) { /* of the leaves; 1: there are no longer ones */
    int64_t rows = 1;
    for (int i = 0; i < p->n; i++)
        if (p->node[i].kind == RP_LEAF && p->node[i].m.rows > rows) rows = p->node[i].m.rows;
    return rows;
}

/* The nodes evaluated in `base` against those of q over other rows: row k is row index[k]. */
static bool same_rows(const char *what, const rp_program *p, const law_tags tag, const int *node, int n, const int64_t *index,
                      int64_t rows) {
    for (int k = 0; k < n; k++) {
        int i = node[k];
        int64_t cols = p->node[i].m.cols;
        if (tag[i] == LAW_FIXED && !law_same_run(what, p, i, base.data[i], 0, other.data[i], rp_count(&p->node[i].m), equal)) return false;
        for (int64_t r = 0; tag[i] == LAW_ROWS && r < rows; r++) {
            const char *b = (const char *)other.data[i] + (size_t)(r * cols) * clf_dtype_bytes(p->node[i].m.t);
            if (index[r] >= 0 && !law_same_run(what, p, i, base.data[i], index[r] * cols, b, cols, equal)) return false;
        }
    }
    return true;
}

enum { MOST_ROWS = 2048 };

static bool law_zero_rows(const rp_program *p, clf_ctx *c, int64_t *compared) {
    static const int64_t more[] = {1, 2, 7, 64, 600};
    int64_t index[MOST_ROWS], rows = rows_of(p), n = rows + more[p->seed % 5];
    law_tags tag;
    int node[MOST_ROOTS];
    if (rows == 1 || n > MOST_ROWS) return true;
    for (int64_t k = 0; k < n; k++) index[k] = k < rows ? k : -1;
    bool good = law_take_rows(p, rows, index, n, &q) && law_evaluate_all(&q, c, &all_cells);
    if (good) {
        law_follow_zeros(p, &q, all_cells.data, rows, tag);
        int chosen = choose(p, tag, node);
        good = law_evaluate(p, c, node, chosen, &base) && law_evaluate(&q, c, node, chosen, &other) &&
               same_rows("zero rows appended", p, tag, node, chosen, index, rows);
        *compared += chosen;
    }
    rp_release(&q);
    return good;
}

/* Over the rows index[0..n): a part, or all in another order. Aggregates over rows make no promise for a part. */
static bool over_rows(const char *what, const rp_program *p, clf_ctx *c, const int64_t *index, int64_t n, int64_t *compared) {
    law_tags tag;
    int node[MOST_ROOTS];
    int64_t rows = rows_of(p);
    law_follow_rows(p, rows, tag);
    for (int i = 0; i < p->n; i++) {
        bool aggregate = p->node[i].kind == RP_FOLD && tag[p->node[i].in[0]] == LAW_ROWS && p->node[i].attr[0] != CLF_ROWS;
        for (int k = 0; k < p->node[i].nin; k++) aggregate = aggregate || tag[p->node[i].in[k]] == LAW_BAD;
        if (aggregate && n != rows) tag[i] = LAW_BAD;
    }
    int chosen = choose(p, tag, node);
    bool good = law_take_rows(p, rows, index, n, &q) && law_evaluate(p, c, node, chosen, &base) &&
                law_evaluate(&q, c, node, chosen, &other) && same_rows(what, p, tag, node, chosen, index, n);
    *compared += chosen;
    rp_release(&q);
    return good;
}

static bool law_split_rows(const rp_program *p, clf_ctx *c, int64_t *compared) {
    int64_t index[MOST_ROWS], rows = rows_of(p), at = (int64_t)(p->seed / 7 % (uint64_t)(rows + 1));
    for (int64_t k = 0; k < rows; k++) index[k] = k;
    if (rows == 1) return true;
    return over_rows("upper rows", p, c, index, at, compared) && over_rows("lower rows", p, c, index + at, rows - at, compared);
}

static bool law_permuted_rows(const rp_program *p, clf_ctx *c, int64_t *compared) {
    int64_t index[MOST_ROWS], rows = rows_of(p);
    uint64_t state = p->seed;
    for (int64_t k = 0; k < rows; k++) index[k] = k;
    for (int64_t k = rows - 1; k > 0; k--) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int64_t j = (int64_t)((state >> 33) % (uint64_t)(k + 1)), t = index[k];
        index[k] = index[j];
        index[j] = t;
    }
    return rows == 1 || over_rows("rows in another order", p, c, index, rows, compared);
}

static bool law_turned(const rp_program *p, clf_ctx *c, int64_t *compared) {
    law_tags tag;
    int node[MOST_ROOTS], n = 0;
    law_relation zeros = {1, rp_sparse(p)};
    bool good = law_transpose(p, &q, tag);
    if (good) n = choose(p, tag, node);
    good = good && law_evaluate(p, c, node, n, &base) && law_evaluate(&q, c, node, n, &other);
    for (int k = 0; k < n && good; k++) {
        int i = node[k];
        const rp_matrix *m = &p->node[i].m;
        for (int64_t at = 0; at < rp_count(m) && good; at++) {
            int64_t to = at % m->cols * m->rows + at / m->cols;
            if (!law_related(m->t, base.data[i], at, other.data[i], to, zeros))
                good = law_differs("transposed", i, m->t, base.data[i], at, other.data[i], to);
        }
    }
    *compared += n;
    rp_release(&q);
    return good;
}

/* p's roots against what became of them in q. */
static bool moved(const char *what, const rp_program *p, clf_ctx *c, int64_t *compared) {
    bool good = law_evaluate(p, c, p->root, p->nroot, &base) && law_evaluate(&q, c, q.root, q.nroot, &other);
    for (int r = 0; r < p->nroot && good; r++)
        good = law_same_run(what, p, p->root[r], base.data[p->root[r]], 0, other.data[q.root[r]], rp_count(&p->node[p->root[r]].m), equal);
    *compared += p->nroot;
    rp_release(&q);
    return good;
}

static bool law_order(const rp_program *p, clf_ctx *c, int64_t *compared) {
    int at[RP_NODES];
    law_reorder(p, p->seed, &q, at);
    return moved("recorded in another order", p, c, compared);
}
static bool law_aliases(const rp_program *p, clf_ctx *c, int64_t *compared) {
    int at[RP_NODES];
    return !law_split_leaves(p, &q, at) || moved("leaves twice", p, c, compared);
}
static bool law_twice(const rp_program *p, clf_ctx *c, int64_t *compared) {
    int at[RP_NODES];
    return !law_turn_twice(p, p->seed, &q, at) || moved("transposed twice", p, c, compared);
}
static bool law_more_roots(const rp_program *p, clf_ctx *c, int64_t *compared) {
    rp_copy(p, &q);
    for (int i = 0; i < p->n && q.nroot < RP_NODES; i++)
        if ((p->seed + (uint64_t)i) % 3 == 0) q.root[q.nroot++] = i;
    return moved("intermediates kept", p, c, compared);
}
static bool law_one_root(const rp_program *p, clf_ctx *c, int64_t *compared) {
    rp_copy(p, &q);
    q.root[0] = p->root[p->seed % (uint64_t)p->nroot];
    q.nroot = 1;
    bool good = law_evaluate(p, c, p->root, p->nroot, &base) && law_evaluate(&q, c, q.root, 1, &other);
    int i = q.root[0];
    good = good && law_same_run("alone", p, i, base.data[i], 0, other.data[i], rp_count(&p->node[i].m), equal);
    *compared += 1;
    rp_release(&q);
    return good;
}
/* Fused and not, in the context at hand. */
static bool law_fusion(const rp_program *p, clf_ctx *c, int64_t *compared) {
    rp_copy(p, &q);
    bool good = clf_set(c, "fuse", "none") == CLF_OK && law_evaluate(p, c, p->root, p->nroot, &base);
    good = clf_set(c, "fuse", "all") == CLF_OK && good && moved("fused", p, c, compared);
    if (q.n) rp_release(&q);
    return good;
}

/* ---- running a law ---- */

typedef enum family { ANY_PROGRAM, NO_PRODUCTS, CELL_PROGRAM } family;

/* Its cells are no longer known: a law changes them. */
static void take_as_real(rp_program *p) {
    p->domain = RP_REAL;
    for (int i = 0; i < p->n; i++) {
        if (p->node[i].kind <= RP_RAND) continue;
        free(p->node[i].m.v);
        p->node[i].m.v = NULL;
    }
}

static void generate(rp_program *p, uint64_t seed, family f) {
    static const int64_t rows[] = {2, 3, 7, 64, 65, 130, 520}, cols[] = {1, 2, 3, 7, 64, 65};
    bool sparse = seed % 3 == 0;
    rp_options o = {.nodes = 5 + (int)(seed % 17), .most_cells = seed % 12 ? 600 : 34000, .domain = sparse ? RP_INTEGER : RP_REAL};
    o.sparse = sparse;
    o.dense = !sparse;
    if (f == NO_PRODUCTS) o.without = 1u << RP_PRODUCT;
    if (f == CELL_PROGRAM) {
        o.cells_only = true;
        o.rows = rows[seed % 7];
        o.cols = cols[seed / 7 % 6];
        o.most_cells = 34000;
    }
    if (sparse) o.without |= 1u << RP_ORDER;
    rp_generate(p, seed, &o);
    if (sparse) take_as_real(p);
}

typedef struct trial {
    law *holds;
    clf_ctx *c;
} trial;

static bool breaks(const rp_program *p, void *user) {
    const trial *t = user;
    int64_t ignored = 0;
    size_t epoch = clf_epoch_begin(t->c);
    bool good = t->holds(p, t->c, &ignored);
    clf_epoch_end(t->c, epoch);
    return !good;
}

static void report(rp_program *p, trial *t, const char *where) {
    printf("    %s, seed %llu\n", where, (unsigned long long)p->seed);
    if (breaks(p, t)) shrink(p, breaks, t, 500);
    breaks(p, t);
    rp_print(p);
}

/* Programs from `first` on, on the contexts in turn: n of them, or, when they are few, n that have something to compare. */
static void run_programs(const char *name, law *holds, family f, clf_ctx *const *c, int nc, const char *where, int64_t n) {
    static rp_program p;
    uint64_t hash = 5381, only;
    int64_t compared = 0, bad = 0, sparse = 0, done = 0, most = n < 10 ? 8 * n : n;
    bool replay = net_replay(&only);
    for (const char *s = name; *s; s++) hash = hash * 33 + (unsigned char)*s;
    uint64_t first = 60000000 + hash % 1000 * 100000;
    for (int64_t k = 0; k < (replay ? 1 : most) && done < n && bad < 2; k++) {
        const int64_t before = compared;
        trial t = {holds, c[k % nc]};
        size_t epoch = clf_epoch_begin(t.c);
        generate(&p, replay ? only : first + (uint64_t)k, f);
        bool good = holds(&p, t.c, &compared);
        sparse += rp_sparse(&p);
        clf_epoch_end(t.c, epoch);
        if (!good) report(&p, &t, where);
        bad += !good;
        done += compared > before || n >= 10;
        rp_release(&p);
    }
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT(replay || compared >= n / 2);
    CU_ASSERT(replay || n < 10 || sparse >= n / 8);
    net_figure(name, "%lld programs, %lld with sparse leaves, %lld results, %s", (long long)n, (long long)sparse, (long long)compared,
               where);
}

static void run_law(const char *name, law *holds, family f) {
    clf_ctx *c[CONFIGS], *device = open_on(NULL);
    clf_device d = {.struct_size = sizeof d};
    for (int i = 0; i < CONFIGS; i++) {
        c[i] = open_config(&configs[i]);
    }
    run_programs(name, holds, f, c, CONFIGS, "host", net_count(300, 20000));
    if (clf_device_at(device, 1, &d)) {
        CU_ASSERT_EQUAL(clf_set(device, "tier", "2"), CLF_OK);
        run_programs(name, holds, f, &device, 1, "OpenCL", net_count(2, 60));
    }
    for (int i = 0; i < CONFIGS; i++) clf_close(c[i]);
    clf_close(device);
}

/* ---- laws that do not hold ---- */

/* Scaled by 4, and taken for scaled by 2; and a cell taken for its neighbour. */
static void test_noticed(void) {
    static rp_program p;
    clf_ctx *c = open_host();
    law_tags tag;
    int64_t scaled = 0, scaled_noticed = 0, moved_on = 0, moved_noticed = 0;
    for (uint64_t seed = 65000000; seed < 65000150; seed++) {
        if (seed % 3 == 0) continue; /* beside sparse leaves too much is 0 */
        size_t epoch = clf_epoch_begin(c);
        generate(&p, seed, ANY_PROGRAM);
        law_scale(&p, LAW_DEGREE, 4, &q);
        bool good = law_evaluate_all(&p, c, &base) && law_evaluate_all(&q, c, &other);
        if (good) law_tag_nodes(&p, LAW_DEGREE, base.data, tag);
        for (int i = 0; i < p.n && good; i++) {
            int64_t n = rp_count(&p.node[i].m);
            law_relation wrong = {pow(2, tag[i]), false}, right = {pow(4, tag[i]), false};
            if (tag[i] == LAW_BAD || n < 2) continue;
            if (tag[i] != 0) scaled++, scaled_noticed += !law_same_run(NULL, &p, i, base.data[i], 0, other.data[i], n, wrong);
            moved_on++, moved_noticed += !law_same_run(NULL, &p, i, base.data[i], 1, other.data[i], n - 1, right);
        }
        rp_release(&q);
        rp_release(&p);
        clf_epoch_end(c, epoch);
    }
    clf_close(c);
    CU_ASSERT(scaled > 100 && scaled_noticed * 10 > scaled * 9);    /* the others are zeros, Inf or NaN */
    CU_ASSERT(moved_on > 100 && moved_noticed * 10 > moved_on * 6); /* many cells are alike */
    net_figure("laws that do not hold, noticed", "%lld of %lld, %lld of %lld", (long long)scaled_noticed, (long long)scaled,
               (long long)moved_noticed, (long long)moved_on);
}

static void test_powers(void) { run_law("law: scaled by powers of two", law_powers, ANY_PROGRAM); }
static void test_negation(void) { run_law("law: negated", law_negation, ANY_PROGRAM); }
static void test_zero_rows(void) { run_law("law: zero rows appended", law_zero_rows, CELL_PROGRAM); }
static void test_split_rows(void) { run_law("law: rows in two parts", law_split_rows, CELL_PROGRAM); }
static void test_permuted_rows(void) { run_law("law: rows permuted", law_permuted_rows, CELL_PROGRAM); }
static void test_turned(void) { run_law("law: everything transposed", law_turned, CELL_PROGRAM); }
static void test_twice(void) { run_law("law: transposed twice", law_twice, NO_PRODUCTS); }
static void test_order(void) { run_law("law: recorded in another order", law_order, NO_PRODUCTS); }
static void test_aliases(void) { run_law("law: equal leaves apart", law_aliases, NO_PRODUCTS); }
static void test_more_roots(void) { run_law("law: intermediates kept", law_more_roots, NO_PRODUCTS); }
static void test_one_root(void) { run_law("law: one result alone", law_one_root, NO_PRODUCTS); }
static void test_fusion(void) { run_law("law: fused and not", law_fusion, NO_PRODUCTS); }

int main(void) {
    static const test_case tests[] = {{"scaled by powers of two", test_powers},
                                      {"negated", test_negation},
                                      {"zero rows appended", test_zero_rows},
                                      {"rows in two parts", test_split_rows},
                                      {"rows permuted", test_permuted_rows},
                                      {"everything transposed", test_turned},
                                      {"transposed twice", test_twice},
                                      {"recorded in another order", test_order},
                                      {"equal leaves apart", test_aliases},
                                      {"intermediates kept", test_more_roots},
                                      {"one result alone", test_one_root},
                                      {"fused and not", test_fusion},
                                      {"laws that do not hold are noticed", test_noticed}};
    return run_suite("laws", tests, sizeof tests / sizeof *tests);
}
