/* SPDX-License-Identifier: Apache-2.0
 * Conversions between formats, as steps do them: cells of CSR on any number of threads, CSR of cells, twins made once for a version of a
 * buffer; and every allocation of them failing. */
#include "host/run/convert.h"

#include "host/graph/sparse_buf.h"
#include "tests/unit/sparse_testing.h"

static const clf_dtype types[] = {CLF_F64, CLF_F32, CLF_I64, CLF_I32, CLF_U8};
enum { NTYPES = sizeof types / sizeof *types };

static clf_ctx *open_with(failing *heap) {
    clf_ctx *c = NULL;
    clf_options o = {.struct_size = sizeof o, .device = "host", .alloc = heap ? failing_alloc : NULL, .alloc_user = heap};
    CU_ASSERT_EQUAL_FATAL(clf_open(&c, &o), CLF_OK);
    return c;
}

static clf_buf *buffer_of(clf_ctx *c, const naive *m) {
    arrays a = arrays_new(m);
    clf_csr view = arrays_csr(&a, m);
    clf_buf *b = clf_csr_buf_copy(c, &view);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    arrays_free(&a);
    return b;
}

static clf_buf *cells_buffer(clf_ctx *c, const naive *m) {
    clf_buf *b = clf_buf_new(&c->mem, ++c->next_buf, cells_of(m) * clf_dtype_bytes(m->t));
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    for (size_t i = 0; i < cells_of(m); i++) clf_scalar_store(b->host, i, m->v[i]);
    return b;
}

static bool same_cells(const naive *m, const void *cells) {
    for (size_t i = 0; i < cells_of(m); i++)
        if (!clf_scalar_same(m->v[i], clf_scalar_load(cells, i, m->t)) && m->v[i].u.f == m->v[i].u.f) return false;
    return true;
}

/* ---- cells ---- */

static void cells_round(const naive *m, clf_pool *pool) {
    size_t bytes = cells_of(m) * clf_dtype_bytes(m->t);
    arrays a = arrays_new(m);
    clf_csr view = arrays_csr(&a, m);
    unsigned char *out = malloc(bytes + 1);
    memset(out, 0xa5, bytes + 1);
    clf_convert_cells(&view, pool, out);
    CU_ASSERT(same_cells(m, out));
    CU_ASSERT_EQUAL(out[bytes], 0xa5);
    free(out);
    arrays_free(&a);
}

static void test_cells(void) {
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    clf_pool *pool = clf_pool_new(&mem, 3);
    uint64_t seed = 11;
    for (int shape = 0; shape < NAIVE_SHAPES; shape++)
        for (int kind = 0; kind < NAIVE_KINDS; kind++)
            for (int t = 0; t < NTYPES; t++) {
                naive m = naive_random(shape, kind, types[t], &seed);
                cells_round(&m, t % 2 ? NULL : pool);
                naive_free(&m);
            }
    clf_pool_free(pool);
    CU_ASSERT_EQUAL(atomic_load(&mem.now_bytes), 0);
}

/* Enough cells for many parts; a width that no part divides. */
static void test_threads(void) {
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    clf_pool *pool = clf_pool_new(&mem, 4);
    uint64_t seed = 12;
    naive m = naive_new(401, 997, CLF_F32);
    for (size_t i = 0; i < cells_of(&m); i++)
        if ((m.stored[i] = random_below(&seed, 7) == 0)) m.v[i] = random_value(&seed, CLF_F32);
    cells_round(&m, pool);
    naive_free(&m);
    clf_pool_free(pool);
}

/* ---- conversions that make buffers ---- */

static const clf_plan_value *value_of(const naive *m, clf_format f) {
    static clf_plan_value v;
    v = (clf_plan_value){.slot = -1, .dtype = (uint8_t)m->t, .format = (uint8_t)f, .pattern = -1, .rows = m->rows, .cols = m->cols};
    return &v;
}

static clf_conversion conversion(clf_ctx *c, clf_convert how, const naive *m, clf_buf *b) {
    clf_format f = how == CLF_CONVERT_CSR ? CLF_DENSE : CLF_CSR;
    return (clf_conversion){.c = c, .how = how, .from = value_of(m, f), .buf = b, .in = b->host};
}

static void transposed_is(const naive *m, const clf_csr *twin) {
    double *cells = calloc(cells_of(m) + 1, sizeof *cells);
    CU_ASSERT_EQUAL_FATAL(twin->rows, m->cols);
    CU_ASSERT_EQUAL_FATAL(twin->cols, m->rows);
    clf_convert_cells(twin, NULL, cells);
    bool same = true;
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < m->cols; j++) {
            clf_scalar want = m->v[i * m->cols + j], got = clf_scalar_load(cells, (size_t)(j * m->rows + i), m->t);
            same = same && (clf_scalar_same(want, got) || want.u.f != want.u.f);
        }
    CU_ASSERT(same);
    free(cells);
}

static void test_twins(void) {
    clf_ctx *c = open_with(NULL);
    clf_err err = {CLF_OK, ""};
    uint64_t seed = 13;
    for (int shape = 0; shape < NAIVE_SHAPES; shape++)
        for (int kind = 0; kind < NAIVE_KINDS; kind++) {
            naive m = naive_random(shape, kind, CLF_F64, &seed);
            clf_buf *b = buffer_of(c, &m), *first = NULL, *third = NULL;
            clf_conversion v = conversion(c, CLF_CONVERT_TWIN, &m, b);
            CU_ASSERT_PTR_NULL(clf_convert_known(&v));
            CU_ASSERT_EQUAL_FATAL(clf_convert_make(&v, &first, &err), CLF_OK);
            transposed_is(&m, clf_buf_csr(first));
            clf_buf *second = clf_convert_known(&v);
            CU_ASSERT_PTR_EQUAL(first, second); /* once for this version */
            clf_buf_change(b);
            CU_ASSERT_PTR_NULL(clf_convert_known(&v));
            CU_ASSERT_EQUAL_FATAL(clf_convert_make(&v, &third, &err), CLF_OK);
            CU_ASSERT_PTR_NOT_EQUAL(first, third);
            transposed_is(&m, clf_buf_csr(first)); /* whoever has it keeps it */
            clf_buf *all[] = {first, second, third, b};
            for (int i = 0; i < 4; i++) clf_buf_unref(all[i]);
            naive_free(&m);
        }
    clf_close(c);
}

static void test_csr(void) {
    clf_ctx *c = open_with(NULL);
    clf_err err = {CLF_OK, ""};
    uint64_t seed = 14;
    for (int shape = 0; shape < NAIVE_SHAPES; shape++)
        for (int t = 0; t < NTYPES; t++) {
            naive m = naive_random(shape, 3, types[t], &seed);
            clf_buf *b = cells_buffer(c, &m), *got = NULL;
            clf_conversion v = conversion(c, CLF_CONVERT_CSR, &m, b);
            CU_ASSERT_EQUAL_FATAL(clf_convert_make(&v, &got, &err), CLF_OK);
            const clf_csr *a = clf_buf_csr(got);
            CU_ASSERT_EQUAL(clf_csr_check(a, &err), CLF_OK);
            for (int64_t e = 0; e < a->nnz; e++) {
                clf_scalar x = clf_scalar_load(a->val, (size_t)e, m.t);
                CU_ASSERT(clf_dtype_float(m.t) ? x.u.f != 0 : x.u.i != 0);
            }
            for (size_t i = 0; i < cells_of(&m); i++)
                if (clf_dtype_float(m.t) && m.v[i].u.f == 0) m.v[i] = zero_of(m.t); /* a -0 is not stored */
            double *cells = calloc(cells_of(&m) + 1, sizeof *cells);
            clf_convert_cells(a, NULL, cells);
            CU_ASSERT(same_cells(&m, cells));
            free(cells);
            clf_buf_unref(got);
            clf_buf_unref(b);
            naive_free(&m);
        }
    clf_close(c);
}

/* ---- memory runs out ---- */

/* The conversion number `how` with every allocation of it failing in turn. */
static void failing_round(clf_ctx *c, failing *heap, const naive *m, clf_convert how) {
    for (int n = 0, good = 0; !good; n++) {
        clf_err err = {CLF_OK, ""};
        clf_buf *b = how == CLF_CONVERT_TWIN ? buffer_of(c, m) : cells_buffer(c, m), *got = NULL;
        size_t before = atomic_load(&c->mem.now_bytes);
        heap->calls = 0;
        heap->fail_at = n;
        clf_conversion v = conversion(c, how, m, b);
        clf_status st = clf_convert_make(&v, &got, &err);
        heap->fail_at = -1;
        good = st == CLF_OK;
        CU_ASSERT(good ? got != NULL : st == CLF_E_NOMEM && err.text[0] && atomic_load(&c->mem.now_bytes) == before);
        CU_ASSERT_FATAL(n < 50 && (n > 2 || !good));
        clf_buf_unref(got);
        clf_buf_unref(b);
    }
}

static void test_failures(void) {
    failing heap = {.fail_at = -1};
    clf_ctx *c = open_with(&heap);
    uint64_t seed = 15;
    naive m = naive_random(8, 3, CLF_F64, &seed);
    failing_round(c, &heap, &m, CLF_CONVERT_CSR);
    failing_round(c, &heap, &m, CLF_CONVERT_TWIN);
    naive_free(&m);
    clf_close(c);
}

int main(void) {
    static const CU_TestInfo tests[] = {{"cells of CSR", test_cells}, {"by many threads", test_threads},  {"twins", test_twins},
                                        {"CSR of cells", test_csr},   {"memory runs out", test_failures}, CU_TEST_INFO_NULL};
    return run_suite("conversions", tests);
}
