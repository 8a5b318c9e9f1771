/* SPDX-License-Identifier: Apache-2.0
 * The exam of row forms: chains over the rows of a dense or sparse matrix, in tests/golden/cplan as the Row and Outer templates make them.
 * Each is read, checked, printed back unchanged, and run by the reference executor against plain loops here, at its own sizes and at
 * others, to the bit. */
#include <math.h>

#include "tests/unit/exam_testing.h"

/* Products summed by fma: n positions in leaves of `block` with `lanes` lanes, both operands at strides. */
static double dot_tree(const double *a, int64_t sa, const double *b, int64_t sb, int64_t n, int lanes, int64_t block) {
    double leaf[1024], lane[16];
    int64_t leaves = (n + block - 1) / block;
    if (n == 0) return 0;
    CU_ASSERT_FATAL(leaves <= 1024);
    for (int64_t q = 0; q < leaves; q++) {
        memset(lane, 0, sizeof lane);
        for (int64_t p = q * block; p < n && p < (q + 1) * block; p++) lane[p % lanes] = fma(a[p * sa], b[p * sb], lane[p % lanes]);
        for (int h = lanes / 2; h; h /= 2)
            for (int l = 0; l < h; l++) lane[l] += lane[l + h];
        leaf[q] = lane[0];
    }
    return tree_of_leaves(leaf, leaves);
}

/* Blocks of a column: a power of two from 16, so that there are at most `most`. */
static int64_t block_of(int64_t rows, int64_t most) {
    int64_t b = 16;
    while ((rows + b - 1) / b > most) b *= 2;
    return b;
}

/* A sparse matrix, and the same with its zeros: about one cell in `every` is stored, some of them as zeros; row 2 is empty. */
typedef struct sparse {
    clf_csr m;
    int64_t *ptr;
    int32_t *idx;
    double *val, *cells;
} sparse;

static sparse sparse_of(int64_t n, int64_t m, int64_t every, uint64_t seed) {
    sparse s = {.ptr = calloc((size_t)n + 1, sizeof *s.ptr),
                .idx = malloc((size_t)(n * m) * sizeof *s.idx),
                .val = noise_f64((size_t)(n * m), seed),
                .cells = calloc((size_t)(n * m), sizeof *s.cells)};
    int64_t e = 0;
    for (int64_t i = 0; i < n; i++, s.ptr[i] = e)
        for (int64_t j = 0; j < m && i != 2; j++) {
            if ((i * 31 + j * 17) % every) continue;
            if (e % 9 == 4) s.val[e] = 0;
            s.cells[i * m + j] = s.val[e];
            s.idx[e++] = (int32_t)j;
        }
    s.m = (clf_csr){.ptr = s.ptr, .idx = s.idx, .val = s.val, .rows = n, .cols = m, .nnz = e, .dtype = CLF_F64};
    return s;
}

static void sparse_free(sparse *s) { free(s->ptr), free(s->idx), free(s->val), free(s->cells); }

/* ---- chains over a dense matrix ------------------------------------------------------------------------------------------ */

typedef struct chain {
    int64_t n, m, k;
    double *x, *v, *w, *t, *y;
} chain;

static chain chain_of(int64_t n, int64_t m, int64_t k) {
    return (chain){n,
                   m,
                   k,
                   noise_f64((size_t)(n * m), 41),
                   noise_f64((size_t)(m * k), 42),
                   noise_f64((size_t)(n * k), 43),
                   noise_f64((size_t)(n * k), 44),
                   noise_f64((size_t)(m * k), 45)};
}

static void chain_free(chain *c) { free(c->x), free(c->v), free(c->w), free(c->t), free(c->y); }

/* y = t(x) %*% t, against what the executor left. */
static void chain_check(const chain *c) {
    for (int64_t j = 0; j < c->m; j++)
        for (int64_t q = 0; q < c->k; q++) {
            double want = dot_tree(c->x + j, c->m, c->t + q, c->k, c->n, 1, block_of(c->n, 1024));
            CU_ASSERT(same_bits(&c->y[j * c->k + q], &want, 1));
        }
}

static double inner(const chain *c, int64_t i, int64_t q, int lanes) {
    return dot_tree(c->x + i * c->m, 1, c->v + q, c->k, c->m, lanes, 512);
}

static sizes chain_sizes(const clf_cplan *c, int64_t n, int64_t m, int64_t k) {
    sizes z = declared(c);
    z.axis[0] = n, z.axis[1] = m, z.axis[2] = k;
    dims2(z.in, 0, n, m);
    dims2(z.in, 1, m, k);
    dims2(z.in, 2, n, k);
    dims2(z.out, 0, m, k);
    return z;
}

static void product_at(plan *p, int64_t n, int64_t m, int64_t k, int lanes, const sizes *z) {
    chain c = chain_of(n, m, k);
    run_ok(p, (void *[]){c.x, c.v, c.w}, NULL, (void *[]){c.y}, z);
    for (int64_t i = 0; i < n; i++)
        for (int64_t q = 0; q < k; q++) c.t[i * k + q] = c.w[i * k + q] * inner(&c, i, q, lanes);
    chain_check(&c);
    chain_free(&c);
}

static void test_chains(void) {
    const struct {
        const char *name;
        int64_t k;
        int lanes;
    } plans[] = {{"mvchain", 1, 8}, {"mmchain_k2", 2, 8}, {"mmchain_k8", 8, 1}};
    for (size_t q = 0; q < sizeof plans / sizeof *plans; q++) {
        plan p;
        open_golden(&p, plans[q].name);
        product_at(&p, 70, 11, plans[q].k, plans[q].lanes, NULL);
        sizes z = chain_sizes(&p.c, 133, 1030, plans[q].k);
        product_at(&p, 133, 1030, plans[q].k, plans[q].lanes, &z);
        z = chain_sizes(&p.c, 0, 3, plans[q].k);
        product_at(&p, 0, 3, plans[q].k, plans[q].lanes, &z);
        plan_close(&p);
    }
}

/* The lanes follow the extent bound, not the one declared. */
static void test_bound_width(void) {
    plan p;
    open_golden(&p, "mmchain_k8");
    sizes z = chain_sizes(&p.c, 20, 700, 4);
    product_at(&p, 20, 700, 4, 8, &z);
    plan_close(&p);
    open_golden(&p, "mmchain_k2");
    z = chain_sizes(&p.c, 20, 700, 5);
    product_at(&p, 20, 700, 5, 1, &z);
    plan_close(&p);
}

static void mlogreg_at(plan *p, int64_t n, int64_t m, int64_t k, int lanes, const sizes *z) {
    chain c = chain_of(n, m, k);
    double *t = malloc((size_t)k * sizeof *t);
    run_ok(p, (void *[]){c.x, c.v, c.w}, NULL, (void *[]){c.y}, z);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t q = 0; q < k; q++) t[q] = c.w[i * k + q] * inner(&c, i, q, lanes);
        double sum = tree_sum(t, k);
        for (int64_t q = 0; q < k; q++) c.t[i * k + q] = t[q] - c.w[i * k + q] * sum;
    }
    chain_check(&c);
    chain_free(&c);
    free(t);
}

static void test_mlogreg(void) {
    plan p;
    open_golden(&p, "mlogreg");
    mlogreg_at(&p, 70, 11, 3, 8, NULL);
    sizes z = chain_sizes(&p.c, 40, 9, 13);
    mlogreg_at(&p, 40, 9, 13, 1, &z);
    plan_close(&p);
}

/* ---- over stored entries ------------------------------------------------------------------------------------------------- */

/* t(x) %*% t by scatter: the zeros of x, stored or not, add nothing. */
static double column(const sparse *s, int64_t j, const double *t, int64_t k, int64_t cells) {
    return dot_tree(s->cells + j, s->m.cols, t, k, s->m.rows, 1, block_of(s->m.rows, cells <= 4096 ? 256 : 16));
}

static void sparse_mvchain_at(plan *p, int64_t n, int64_t m, int64_t every, const sizes *z) {
    sparse s = sparse_of(n, m, every, 51);
    double *v = noise_f64((size_t)m, 52), *w = noise_f64((size_t)n, 53), *t = noise_f64((size_t)n, 54), *y = noise_f64((size_t)m, 55);
    double *gather = malloc((size_t)m * sizeof *gather);
    v[1] = INFINITY; /* only where x is not zero */
    run_ok(p, (void *[]){&s.m, v, w}, NULL, (void *[]){y}, z);
    for (int64_t i = 0; i < n; i++) {
        int64_t e = s.ptr[i], count = s.ptr[i + 1] - e;
        for (int64_t q = 0; q < count; q++) gather[q] = s.val[e + q] == 0 ? 0 : v[s.idx[e + q]];
        t[i] = w[i] * dot_tree(s.val + e, 1, gather, 1, count, 8, 512);
    }
    for (int64_t j = 0; j < m; j++) {
        double want = 0;
        for (int64_t i = 0; i < n; i++) want += s.cells[i * m + j] == 0 ? 0 : s.cells[i * m + j] * t[i];
        if (isfinite(want)) {
            double *u = malloc((size_t)n * sizeof *u);
            for (int64_t i = 0; i < n; i++) u[i] = s.cells[i * m + j] == 0 ? 0 : t[i];
            want = column(&s, j, u, 1, m);
            CU_ASSERT(same_bits(&y[j], &want, 1));
            free(u);
        } else {
            CU_ASSERT(isnan(want) ? isnan(y[j]) : y[j] == want);
        }
    }
    free(v), free(w), free(t), free(y), free(gather);
    sparse_free(&s);
}

static void test_sparse_mvchain(void) {
    plan p;
    open_golden(&p, "sparse_mvchain");
    sparse_mvchain_at(&p, 70, 11, 3, NULL);
    sizes z = declared(&p.c);
    z.axis[0] = 350;
    dims2(z.in, 0, 350, 5000);
    dims2(z.in, 1, 5000, 1);
    dims2(z.in, 2, 350, 1);
    z.out[0] = 5000;
    sparse_mvchain_at(&p, 350, 5000, 37, &z);
    plan_close(&p);
}

typedef struct outer {
    sparse s;
    int64_t r;
    double *u, *v, *w; /* w: per stored entry, the inner product */
} outer;

static outer outer_of(int64_t n, int64_t m, int64_t r, int64_t every) {
    outer o = {sparse_of(n, m, every, 61), r, noise_f64((size_t)(n * r), 62), noise_f64((size_t)(m * r), 63), NULL};
    o.w = malloc((size_t)(n * m) * sizeof *o.w);
    for (int64_t i = 0; i < n * r; i++) o.u[i] = fabs(o.u[i]);
    for (int64_t j = 0; j < m * r; j++) o.v[j] = fabs(o.v[j]);
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = o.s.ptr[i]; e < o.s.ptr[i + 1]; e++) o.w[e] = dot_tree(o.u + i * r, 1, o.v + o.s.idx[e] * r, 1, r, 8, 512);
    return o;
}

static void outer_free(outer *o) {
    free(o->u), free(o->v), free(o->w);
    sparse_free(&o->s);
}

static sizes outer_sizes(const clf_cplan *c, int64_t n, int64_t m, int64_t r, int64_t nnz) {
    sizes z = declared(c);
    z.axis[0] = n, z.axis[1] = nnz, z.axis[2] = z.axis[3] = r;
    dims2(z.in, 0, n, m);
    dims2(z.in, 1, n, r);
    dims2(z.in, 2, m, r);
    return z;
}

static void loss_at(plan *p, int64_t n, int64_t m, int64_t r, int64_t every) {
    outer o = outer_of(n, m, r, every);
    sizes z = outer_sizes(&p->c, n, m, r, o.s.m.nnz);
    clf_scalar param[2] = {clf_scalar_f64(1e-15), clf_scalar_f64(1)};
    double got = -1, *term = malloc((size_t)(n * m) * sizeof *term);
    o.u[0] = INFINITY; /* an infinite loss, which the stored zeros of row 0 annihilate */
    for (int64_t e = o.s.ptr[0]; e < o.s.ptr[1]; e++) o.s.val[e] = 0;
    run_ok(p, (void *[]){&o.s.m, o.u, o.v}, param, (void *[]){&got}, &z);
    for (int64_t e = 0; e < o.s.m.nnz; e++) term[e] = o.s.val[e] == 0 ? o.s.val[e] : o.s.val[e] * log(o.w[e] + 1e-15);
    double want = tree_sum(term, o.s.m.nnz);
    CU_ASSERT(same_bits(&got, &want, 1) && isfinite(got) && o.s.m.nnz > 0);
    outer_free(&o);
    free(term);
}

static void test_loss(void) {
    plan p;
    open_golden(&p, "outer_loss");
    loss_at(&p, 40, 20, 3, 5);
    loss_at(&p, 90, 300, 17, 7);
    plan_close(&p);
}

static void test_cellwise(void) {
    plan p;
    open_golden(&p, "outer_cellwise");
    outer o = outer_of(90, 30, 10, 4);
    sizes z = outer_sizes(&p.c, 90, 30, 10, o.s.m.nnz);
    double *y = noise_f64((size_t)o.s.m.nnz, 64);
    z.out[0] = o.s.m.nnz;
    run_ok(&p, (void *[]){&o.s.m, o.u, o.v}, NULL, (void *[]){y}, &z);
    for (int64_t e = 0; e < o.s.m.nnz; e++) CU_ASSERT_EQUAL(y[e], o.s.val[e] * o.w[e]);
    outer_free(&o);
    free(y);
    plan_close(&p);
}

static void left_at(plan *p, int64_t n, int64_t m, int64_t r, int64_t every) {
    outer o = outer_of(n, m, r, every);
    sizes z = outer_sizes(&p->c, n, m, r, o.s.m.nnz);
    double *y = noise_f64((size_t)(m * r), 65);
    dims2(z.out, 0, m, r);
    run_ok(p, (void *[]){&o.s.m, o.u, o.v}, NULL, (void *[]){y}, &z);
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = o.s.ptr[i]; e < o.s.ptr[i + 1]; e++) o.s.cells[i * m + o.s.idx[e]] = o.s.val[e] * o.w[e];
    for (int64_t j = 0; j < m; j++)
        for (int64_t l = 0; l < r; l++) {
            double want = column(&o.s, j, o.u + l, r, m * r);
            CU_ASSERT(same_bits(&y[j * r + l], &want, 1));
        }
    outer_free(&o);
    free(y);
}

static void test_left(void) {
    plan p;
    open_golden(&p, "outer_left");
    left_at(&p, 40, 20, 3, 5);
    left_at(&p, 300, 500, 9, 7); /* 4500 cells: long blocks */
    plan_close(&p);
}

/* ---- refusals ------------------------------------------------------------------------------------------------------------ */

/* A column outside the matrix, which only the kept entry axis reads. */
static void test_refuses(void) {
    static const char text[] = "(cplan (axis i range free 2) (axis j entry free 2 owner a parent i) (in X f64 csr 2 3)"
                               " (access a X entries (i 1 0) (j 1 0)) (let v f64 load a) (out Y f64 3) (fold Y SUM v keep j))";
    const int64_t ptr[] = {0, 1, 2};
    int32_t idx[] = {0, 2};
    double val[] = {3, 4}, y[3] = {-1, -1, -1};
    clf_csr m = {.ptr = ptr, .idx = idx, .val = val, .rows = 2, .cols = 3, .nnz = 2, .dtype = CLF_F64};
    clf_bind b = {.in = (void *[]){&m}, .out = (void *[]){y}};
    plan p;
    plan_parse(&p, text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(p.st, CLF_OK);
    CU_ASSERT_EQUAL(plan_run(&p, &b), CLF_OK);
    CU_ASSERT(y[0] == 3 && y[1] == 0 && y[2] == 4);
    for (int bad = -1; bad <= 3; bad += 4) {
        idx[1] = bad;
        CU_ASSERT_EQUAL(plan_run(&p, &b), CLF_E_SHAPE);
        CU_ASSERT_PTR_NOT_NULL(strstr(p.err.text, "of 3"));
    }
    int64_t small[CLF_MAX_RANK] = {2};
    idx[1] = 2;
    b.out_dim = small;
    CU_ASSERT_EQUAL(plan_run(&p, &b), CLF_E_SHAPE);
    plan_close(&p);
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("the exam of row forms", NULL, NULL);
    CU_add_test(s, "chains over a dense matrix", test_chains);
    CU_add_test(s, "lanes by the width bound", test_bound_width);
    CU_add_test(s, "multinomial regression", test_mlogreg);
    CU_add_test(s, "chain over a sparse matrix", test_sparse_mvchain);
    CU_add_test(s, "Outer loss", test_loss);
    CU_add_test(s, "Outer cellwise", test_cellwise);
    CU_add_test(s, "Outer left", test_left);
    CU_add_test(s, "columns outside the matrix", test_refuses);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
