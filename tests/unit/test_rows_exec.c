/* SPDX-License-Identifier: Apache-2.0
 * The row executor against the reference executor, bit for bit: the shapes that the Row and Outer templates lower to, at extents that
 * no block divides, dense and sparse with skewed and empty rows, every instruction set, one to eight threads, and memory that runs out. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "formats/fmt.h"
#include "formats/sparse.h"
#include "host/run/rows.h"
#include "kernels-cl/ref.h"
#include "planner/cplan.h"
#include "tests/support/net.h"
#include "tests/unit/rows_texts.h"
#include "tests/unit/stop_testing.h"

static clf_mem mem;
static uint64_t seed;

static double uniform(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

/* ---- operands ------------------------------------------------------------------------------------------------------------ */

enum { MOST_IN = 8 };
typedef struct operands {
    clf_cplan c;
    clf_arena arena;
    void *in[MOST_IN];
    clf_csr csr[MOST_IN];
    int64_t axis_n[CLF_MAX_AXES], in_dim[MOST_IN * CLF_MAX_RANK], out_dim[MOST_IN * CLF_MAX_RANK];
    void *want[MOST_IN], *got[MOST_IN];
    size_t out_bytes[MOST_IN];
    clf_scalar param[4];
} operands;

/* How the entries of a sparse operand lie. */
typedef enum spread { EVEN, SKEWED, HOLES, EMPTY, NSPREADS } spread;

static void fill(void *at, int64_t n, clf_dtype t) {
    for (int64_t i = 0; i < n; i++) {
        double x = uniform() * 2 - 1;
        if (uniform() < 0.05) x = 0;
        if (!clf_dtype_float(t)) x = (double)(int64_t)(x * 50);
        clf_scalar_store(at, (size_t)i, clf_scalar_to(clf_scalar_f64(t == CLF_U8 && x < 0 ? -x : x), t));
    }
}

static int64_t row_entries(spread s, int64_t row, int64_t rows, int64_t cols) {
    if (s == EMPTY) return 0;
    if (s == HOLES && (row % 3 != 1 || row < rows / 4 || row > rows - rows / 4)) return 0;
    if (s == SKEWED) return row == rows / 2 ? cols : cols / 40;
    return (int64_t)(uniform() * (double)cols * 0.4);
}

/* Each column with the probability that gives about as many entries as wanted; all where all are. */
static clf_csr make_csr(spread s, int64_t rows, int64_t cols, clf_dtype t) {
    int64_t *ptr = malloc((size_t)(rows + 1) * 8), n = 0, cap = 64;
    int32_t *idx = malloc((size_t)cap * 4);
    ptr[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        double share = cols > 0 ? (double)row_entries(s, i, rows, cols) / (double)cols : 0;
        for (int64_t j = 0; j < cols; j++) {
            if (share < 1 && uniform() >= share) continue;
            if (n == cap) idx = realloc(idx, (size_t)(cap *= 2) * 4);
            idx[n++] = (int32_t)j;
        }
        ptr[i + 1] = n;
    }
    void *val = malloc((size_t)n * 8 + 8);
    fill(val, n, t);
    idx = realloc(idx, (size_t)n * 4 + 4); /* exactly as much as there is, for the sanitizer */
    return (clf_csr){.ptr = ptr, .idx = idx, .val = val, .rows = rows, .cols = cols, .nnz = n, .dtype = (uint8_t)t};
}

static void free_csr(clf_csr *m) {
    free((void *)(uintptr_t)m->ptr);
    free((void *)(uintptr_t)m->idx);
    free((void *)(uintptr_t)m->val);
}

/* Extents by symbol: dimension `1n` of the text stands for sym n. */
static int64_t extent(clf_dim d, const int64_t *sizes) { return d.sym >= 0 ? sizes[d.sym] : d.n; }

static void open_operands(operands *o, const char *text, const int64_t *sizes, spread s) {
    clf_err err = {0};
    int64_t entries = 0;
    memset(o, 0, sizeof *o);
    clf_arena_init(&o->arena, &mem);
    clf_status st = clf_cplan_parse(&o->c, &o->arena, text, strlen(text), &err);
    if (st != CLF_OK) fprintf(stderr, "%s\n%s\n", err.text, text);
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    for (int a = 0; a < o->c.naxes; a++) o->axis_n[a] = extent(o->c.axis[a].n, sizes);
    for (int i = 0; i < o->c.nin; i++) {
        const clf_cinput *in = &o->c.in[i];
        int64_t cells = 1;
        for (int d = 0; d < in->rank; d++) cells *= o->in_dim[i * CLF_MAX_RANK + d] = extent(in->dim[d], sizes);
        if (in->format == CLF_CSR) {
            o->csr[i] = make_csr(s, o->in_dim[i * CLF_MAX_RANK], o->in_dim[i * CLF_MAX_RANK + 1], (clf_dtype)in->dtype);
            o->in[i] = &o->csr[i];
            entries = o->csr[i].nnz;
            continue;
        }
        o->in[i] = malloc((size_t)cells * clf_dtype_bytes((clf_dtype)in->dtype) + 1);
        fill(o->in[i], cells, (clf_dtype)in->dtype);
    }
    for (int i = 0; i < o->c.nout; i++) {
        size_t cells = 1;
        for (int d = 0; d < o->c.out[i].rank; d++) {
            clf_dim x = o->c.out[i].dim[d];
            int64_t n = x.sym == 9 ? entries : extent(x, sizes);
            cells *= (size_t)(o->out_dim[i * CLF_MAX_RANK + d] = n);
        }
        o->out_bytes[i] = cells * clf_dtype_bytes((clf_dtype)o->c.out[i].dtype);
        o->want[i] = calloc(o->out_bytes[i] + 1, 1);
        o->got[i] = calloc(o->out_bytes[i] + 1, 1);
    }
    for (int i = 0; i < 4; i++) o->param[i] = clf_scalar_f64(0.25 + i);
}

static void close_operands(operands *o) {
    for (int i = 0; i < o->c.nin; i++) {
        if (o->c.in[i].format == CLF_CSR)
            free_csr(&o->csr[i]);
        else
            free(o->in[i]);
    }
    for (int i = 0; i < o->c.nout; i++) free(o->want[i]), free(o->got[i]);
    clf_arena_release(&o->arena);
}

static clf_bind bind_of(const operands *o, void *const *out) {
    return (clf_bind){.in = o->in, .param = o->param, .out = out, .axis_n = o->axis_n, .in_dim = o->in_dim, .out_dim = o->out_dim};
}

/* ---- comparing ----------------------------------------------------------------------------------------------------------- */

/* Bits; any NaN equals any other, as no two instruction sets agree on their payload. */
static bool same_cells(const void *a, const void *b, size_t bytes, clf_dtype t) {
    size_t n = bytes / clf_dtype_bytes(t);
    for (size_t i = 0; i < n; i++) {
        clf_scalar x = clf_scalar_load(a, i, t), y = clf_scalar_load(b, i, t);
        bool nan = clf_dtype_float(t) && x.u.f != x.u.f && y.u.f != y.u.f;
        if (!nan && !clf_scalar_same(x, y)) return false;
    }
    return true;
}

static bool same_results(const operands *o) {
    for (int i = 0; i < o->c.nout; i++)
        if (!same_cells(o->want[i], o->got[i], o->out_bytes[i], (clf_dtype)o->c.out[i].dtype)) return false;
    return true;
}

static clf_status run_once(operands *o, clf_isa isa, clf_mem *m, clf_pool *pool) {
    struct clf_rows *r = NULL;
    clf_bind bind = bind_of(o, o->got);
    for (int i = 0; i < o->c.nout; i++) memset(o->got[i], 0xa5, o->out_bytes[i]);
    clf_status st = clf_rows_new(&r, &o->c, isa, m, NULL);
    if (st == CLF_OK) st = clf_rows_run(r, &bind, pool, NULL);
    clf_rows_free(r);
    return st;
}

static void report(const char *text, const int64_t *sizes, spread s, clf_isa isa, int threads) {
    fprintf(stderr, "differs: sizes %lld %lld %lld, entries %d, %s, %d threads\n%s\n", (long long)sizes[0], (long long)sizes[1],
            (long long)sizes[2], (int)s, clf_isa_name(isa), threads, text);
}

static void run_ref(const operands *o, const char *text, const clf_bind *bind) {
    clf_err err = {0};
    clf_status st = clf_ref_run(&o->c, bind, &mem, &err);
    if (st != CLF_OK) fprintf(stderr, "ref: %s\n%s\n", err.text, text);
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
}

/* By every instruction set that this machine has; under sanitizers by one number of threads each, in turns. */
static void check(const char *text, const int64_t *sizes, spread s) {
    static const clf_isa isas[] = {CLF_ISA_BASELINE, CLF_ISA_AVX2, CLF_ISA_AVX512};
    static const int threads[] = {1, 3, 8};
    enum { THREADS = sizeof threads / sizeof *threads };
    const uint64_t taken = (uint64_t)net_count(THREADS, THREADS), first = seed;
    operands o;
    open_operands(&o, text, sizes, s);
    clf_bind bind = bind_of(&o, o.want);
    run_ref(&o, text, &bind);
    CU_ASSERT_FATAL(clf_rows_fits(&o.c));
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        for (uint64_t t = 0; t < taken && clf_isa_pick(isas[i]) == isas[i]; t++) {
            int n = threads[(first + i + t) % THREADS];
            clf_pool *pool = n > 1 ? clf_pool_new(&mem, n) : NULL;
            bool same = run_once(&o, isas[i], &mem, pool) == CLF_OK && same_results(&o);
            CU_ASSERT(same);
            if (!same) report(text, sizes, s, isas[i], n);
            clf_pool_free(pool);
        }
    close_operands(&o);
}

/* ---- the shapes ---------------------------------------------------------------------------------------------------------- */

/* The text with T as the element type; sizes[3] is the second plus five. */
static char *typed(const char *text, clf_dtype t) {
    const char *name = clf_dtype_name(t);
    char *out = malloc(strlen(text) * 3 + 1), *to = out;
    for (const char *p = text; *p; p++) {
        bool word =
            *p == 'T' && p > text && p[-1] == ' ' && p[1] != ' ' ? p[1] == ')' : *p == 'T' && p > text && p[-1] == ' ' && p[1] == ' ';
        to += word ? sprintf(to, "%s", name) : sprintf(to, "%c", *p);
    }
    return out;
}

/* Each text at each of the sizes; under sanitizers at a tenth of them, in turns. */
static void check_all(const shape_text *list, size_t n, clf_dtype t, const int64_t (*sizes)[4], size_t nsizes, int spreads) {
    const size_t taken = (size_t)net_count((int64_t)nsizes, (int64_t)nsizes);
    for (size_t k = 0; k < n; k++) {
        char *text = typed(list[k].text, t);
        bool sparse = strstr(text, " csr ") != NULL;
        for (size_t turn = 0, i = taken < nsizes ? k % nsizes : 0; turn < taken; turn++, i = (i + 1) % nsizes)
            for (int s = 0; s < (sparse ? spreads : 1); s++) {
                unsigned before = CU_get_number_of_failures();
                seed = k * 1000 + i * 10 + (unsigned)s;
                check(text, sizes[i], (spread)s);
                if (CU_get_number_of_failures() != before) fprintf(stderr, "in: %s\n", list[k].name);
            }
        free(text);
    }
}

static const int64_t small[][4] = {{0, 3, 2, 8},      {3, 0, 2, 5},      {2, 3, 0, 8},     {1, 1, 1, 6},
                                   {5, 7, 3, 12},     {37, 10, 8, 15},   {70, 33, 17, 38}, {100, 3, 40, 8},
                                   {19, 530, 5, 535}, {9, 100, 20, 105}, {43, 37, 61, 42}, {90, 21, 3, 26}};

static void test_f64(void) {
    check_all(any_type, sizeof any_type / sizeof *any_type, CLF_F64, small, sizeof small / sizeof *small, NSPREADS);
    check_all(floats, sizeof floats / sizeof *floats, CLF_F64, small, sizeof small / sizeof *small, NSPREADS);
    check_all(scans, sizeof scans / sizeof *scans, CLF_F64, small, sizeof small / sizeof *small, 1);
    check_all(cats, sizeof cats / sizeof *cats, CLF_F64, small, sizeof small / sizeof *small, 1);
}
static void test_f32(void) {
    check_all(any_type, sizeof any_type / sizeof *any_type, CLF_F32, small, sizeof small / sizeof *small, NSPREADS);
    check_all(floats, sizeof floats / sizeof *floats, CLF_F32, small, sizeof small / sizeof *small, NSPREADS);
    check_all(scans, sizeof scans / sizeof *scans, CLF_F32, small, sizeof small / sizeof *small, 1);
    check_all(cats, sizeof cats / sizeof *cats, CLF_F32, small, sizeof small / sizeof *small, 1);
}
static void test_integers(void) {
    check_all(any_type, sizeof any_type / sizeof *any_type, CLF_I32, small + 4, 4, NSPREADS);
    check_all(any_type, sizeof any_type / sizeof *any_type, CLF_I64, small + 4, 3, NSPREADS);
    check_all(any_type, sizeof any_type / sizeof *any_type, CLF_U8, small + 4, 2, NSPREADS);
}

/* Enough rows for many parts; rows of several leaves; one row longer than a batch. */
static const int64_t large[][4] = {{3001, 20, 6, 25}, {30, 1300, 5, 1305}, {5, 5000, 2, 5005}, {40, 1900, 7, 1905}};
static void test_large(void) {
    check_all(any_type, sizeof any_type / sizeof *any_type, CLF_F64, large, sizeof large / sizeof *large, 2);
    check_all(floats, sizeof floats / sizeof *floats, CLF_F32, large, sizeof large / sizeof *large, 2);
    static const int64_t few[][4] = {{3001, 20, 6, 25}, {3, 1300, 5, 1305}, {1, 4100, 2, 4105}};
    check_all(scans, sizeof scans / sizeof *scans, CLF_F32, few, sizeof few / sizeof *few, 1);
}

/* A row with a tenth of the entries: more parts than usual where results meet over rows. */
static void test_uneven(void) {
    static const int64_t uneven[][4] = {{500, 3000, 2, 3005}};
    for (size_t k = 0; k < sizeof floats / sizeof *floats; k++)
        if (!strcmp(floats[k].name, "sparse sums")) check_all(floats + k, 1, CLF_F64, uneven, 1, SKEWED + 1);
}

/* Rows picked twice by the same entries, so long that a batch has few of these: several rows, and a row of more than that. */
static void test_picked_twice(void) {
    static const int64_t wide[][4] = {{4, 110, 650, 115}};
    for (size_t k = 0; k < sizeof any_type / sizeof *any_type; k++)
        if (!strcmp(any_type[k].name, "sparse right")) check_all(any_type + k, 1, CLF_F32, wide, 1, (int)net_count(NSPREADS, NSPREADS));
}

/* Rows of every length that loops over halves of vectors have a body for, and of some more. */
static void test_picked_lengths(void) {
    for (int64_t n = 1; n <= 46; n += n % 4 == 1 ? 3 : 1) {
        const int64_t length[][4] = {{6, 9, n, 14}}, twice[][4] = {{6, 9, 2 * n - 1, 14}};
        for (size_t k = 0; k < sizeof any_type / sizeof *any_type; k++)
            if (!strcmp(any_type[k].name, "sparse right")) {
                check_all(any_type + k, 1, CLF_F64, length, 1, 1);
                check_all(any_type + k, 1, CLF_F32, twice, 1, 1);
            }
    }
}

/* Inner products of rows of every length below four vectors, by as many columns as are transposed together, fewer and more. */
static void test_short_rows(void) {
    for (int64_t n = 1; n <= 34; n++) {
        const int64_t length[][4] = {{37, n, 1 + n % 11, n + 5}}, twice[][4] = {{37, 2 * n - 1, 1 + n % 11, 2 * n + 4}};
        for (size_t k = 0; k < sizeof any_type / sizeof *any_type; k++)
            if (!strcmp(any_type[k].name, "product of a transpose, zeros and all")) {
                check_all(any_type + k, 1, CLF_F64, length, 1, 1);
                check_all(any_type + k, 1, CLF_F32, twice, 1, 1);
            }
    }
}

/* Right sides of more rows than a leaf has, by whole blocks of columns and what is left of them, with and without zeros that annihilate. */
static void test_tall_sides(void) {
    static const char *const names[] = {"product", "product of a transpose", "product of a transpose, zeros and all", "mmchain"};
    static const int64_t tall[][4] = {{19, 700, 37, 705}, {6, 1100, 70, 1105}, {9, 513, 16, 518}};
    for (size_t k = 0; k < sizeof any_type / sizeof *any_type; k++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            if (strcmp(any_type[k].name, names[i])) continue;
            check_all(any_type + k, 1, CLF_F64, tall, 3, 1);
            check_all(any_type + k, 1, CLF_F32, tall, 3, 1);
            check_all(any_type + k, 1, CLF_I32, tall, 1, 1);
        }
}

/* A result that is written past the caches, in pieces that begin within a line. */
static void test_streamed(void) {
    static const int64_t big[][4] = {{240011, 3, 9, 8}};
    for (size_t k = 0; k < sizeof any_type / sizeof *any_type; k++)
        if (!strcmp(any_type[k].name, "product of a transpose, zeros and all")) check_all(any_type + k, 1, CLF_F64, big, 1, 1);
}

/* ---- special values ------------------------------------------------------------------------------------------------------ */

/* Zeros that annihilate meet NaN and infinity; a sum that underflowed to -0 keeps its sign. */
static void test_special(void) {
    static const double pool_of[] = {0.0, -0.0, 1.5, -1e-200, 1e-200, (double)NAN, (double)INFINITY, -3.0};
    for (size_t k = 0; k < sizeof any_type / sizeof *any_type; k++) {
        char *text = typed(any_type[k].text, CLF_F64);
        operands o;
        seed = 77 + k;
        open_operands(&o, text, (int64_t[]){21, 14, 9, 19}, EVEN);
        for (int i = 0; i < o.c.nin; i++) {
            bool csr = o.c.in[i].format == CLF_CSR;
            double *x = csr ? (double *)(uintptr_t)o.csr[i].val : o.in[i];
            int64_t n = csr ? o.csr[i].nnz : o.in_dim[i * CLF_MAX_RANK];
            if (!csr && o.c.in[i].rank > 1) n *= o.in_dim[i * CLF_MAX_RANK + 1];
            for (int64_t e = 0; e < n; e++) x[e] = pool_of[(size_t)(uniform() * 8)];
        }
        clf_bind bind = bind_of(&o, o.want);
        run_ref(&o, text, &bind);
        for (int isa = CLF_ISA_BASELINE; isa <= CLF_ISA_AVX512; isa++) {
            bool same = run_once(&o, (clf_isa)isa, &mem, NULL) == CLF_OK && same_results(&o);
            CU_ASSERT(same);
            if (!same) fprintf(stderr, "special values, %s: %s\n", clf_isa_name((clf_isa)isa), any_type[k].name);
        }
        close_operands(&o);
        free(text);
    }
}

/* ---- what is refused ----------------------------------------------------------------------------------------------------- */

static void test_refused(void) {
    static const char *const texts[] = {
        /* two inner axes in one value */
        DENSE3
        "(in X f64 dense 1:0 1:1) (in W f64 dense 1:0 1:2) (access a0 X stream (i 1 0) (j 1 0)) (access a1 W stream (i 1 0) (k 1 0)) "
        "(out Y f64) (let v0 f64 load a0) (let v1 f64 load a1) (let v2 f64 ADD v0 v1) (fold Y SUM v2 keep))",
        /* a guard */
        DENSE2
        "(in X f64 dense 1:0 1:1) (access a0 X stream (i 1 0) (j 1 0)) (out Y f64) (let v0 f64 load a0) (fold Y SUM v0 keep guard v0))",
        /* a right side that runs along the rows */
        DENSE2
        "(in X f64 dense 1:0 1:1) (in Z f64 dense 1:1 1:0) (access a0 X stream (i 1 0) (j 1 0)) (access a1 Z stream (j 1 0) (i 1 0)) "
        "(out Y f64 1:0) (let v0 f64 load a0) (let v1 f64 load a1) (let v2 f64 dot j v0 v1) (store Y v2 keep i))",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        operands o;
        struct clf_rows *r = NULL;
        open_operands(&o, texts[i], (int64_t[]){4, 3, 2, 8}, EVEN);
        CU_ASSERT_FALSE(clf_rows_fits(&o.c));
        CU_ASSERT_EQUAL(clf_rows_new(&r, &o.c, CLF_ISA_AUTO, &mem, NULL), CLF_E_UNSUPPORTED);
        CU_ASSERT_PTR_NULL(r);
        close_operands(&o);
    }
}

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

/* An allocator that fails from the n-th call on. */
typedef struct failing {
    int left;
    size_t held;
} failing;
static void *failing_alloc(void *user, void *ptr, size_t old_bytes, size_t new_bytes) {
    failing *f = user;
    if (new_bytes == 0) {
        f->held -= ptr ? old_bytes : 0;
        free(ptr);
        return NULL;
    }
    if (f->left-- <= 0) return NULL;
    void *p = aligned_alloc(64, (new_bytes + 63) / 64 * 64);
    if (ptr) memcpy(p, ptr, old_bytes < new_bytes ? old_bytes : new_bytes), free(ptr);
    f->held += new_bytes - (ptr ? old_bytes : 0);
    return p;
}

static void test_no_memory(void) {
    for (size_t k = 0; k < sizeof any_type / sizeof *any_type; k++) {
        char *text = typed(any_type[k].text, CLF_F64);
        operands o;
        bool done = false;
        open_operands(&o, text, (int64_t[]){30, 20, 6, 25}, EVEN);
        clf_bind bind = bind_of(&o, o.want);
        run_ref(&o, text, &bind);
        for (int n = 0; n < 100 && !done; n++) {
            failing f = {n, 0};
            clf_mem m;
            clf_mem_init(&m, failing_alloc, &f);
            clf_status st = run_once(&o, CLF_ISA_AUTO, &m, NULL);
            CU_ASSERT(st == CLF_OK || st == CLF_E_NOMEM);
            done = st == CLF_OK;
            CU_ASSERT_EQUAL(f.held, 0);
            CU_ASSERT_EQUAL(atomic_load(&m.now_bytes), 0);
        }
        CU_ASSERT(done);
        CU_ASSERT(same_results(&o));
        close_operands(&o);
        free(text);
    }
}

int main(void) {
    static const struct {
        const char *name;
        void (*fn)(void);
    } tests[] = {
        {"f64", test_f64},
        {"f32", test_f32},
        {"integers", test_integers},
        {"parts, leaves, long rows", test_large},
        {"tall right sides", test_tall_sides},
        {"uneven rows", test_uneven},
        {"rows picked twice", test_picked_twice},
        {"lengths of rows picked", test_picked_lengths},
        {"short rows", test_short_rows},
        {"results past the caches", test_streamed},
        {"special values", test_special},
        {"refused", test_refused},
        {"no memory", test_no_memory},
    };
    clf_mem_init(&mem, NULL, NULL);
    if (CU_initialize_registry() != CUE_SUCCESS) return 1;
    CU_pSuite suite = add_suite("rows");
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) CU_add_test(suite, tests[i].name, tests[i].fn);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    unsigned failed = CU_get_number_of_failures();
    CU_cleanup_registry();
    if (atomic_load(&mem.now_bytes) != 0) fprintf(stderr, "%zu bytes leak\n", atomic_load(&mem.now_bytes));
    return failed != 0 || atomic_load(&mem.now_bytes) != 0;
}
