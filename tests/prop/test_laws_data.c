/* SPDX-License-Identifier: Apache-2.0
 * Laws of data, bit by bit: files give back what was written; memory borrowed twice, or overlapping, counts as copies; an elementary
 * function gives a value the same bits wherever it stands: at every place of a vector, in its short end, in a column of a wider
 * matrix, alone, fused, kept or not. */
#include <math.h>
#include <unistd.h>

#include "core/dtype.h"
#include "core/op.h"
#include "tests/support/net.h"
#include "tests/unit/api_testing.h"

static const run_config configs[] = {{"all", "auto", "1"}, {"none", "auto", "2"}, {"all", "baseline", "1"}, {"all", "avx2", "2"}};
enum { CONFIGS = sizeof configs / sizeof *configs };

static uint64_t next(uint64_t *s) { /* splitmix64: Steele, Lea, Flood 2014 */
    uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static bool is_nan_at(clf_dtype t, const char *x) {
    float f;
    double d;
    memcpy(&f, x, sizeof f);
    if (t == CLF_F32) return isnan(f);
    if (t != CLF_F64) return false;
    memcpy(&d, x, sizeof d);
    return isnan(d);
}

/* The first of n elements with other bits, any NaN being equal to any other; -1 if none. */
static int64_t differs(clf_dtype t, const void *a, const void *b, int64_t n) {
    size_t each = clf_dtype_bytes(t);
    for (int64_t k = 0; k < n; k++) {
        const char *x = (const char *)a + (size_t)k * each, *y = (const char *)b + (size_t)k * each;
        if (memcmp(x, y, each) != 0 && !(is_nan_at(t, x) && is_nan_at(t, y))) return k;
    }
    return -1;
}

/* ---- files ---- */

static char folder[] = P_tmpdir "/clfuse-test-laws-XXXXXX";

/* Any bits; of integers only those that text keeps when it is read as f64. */
static void any_bits(clf_dtype t, void *out, int64_t n, bool text, uint64_t *seed) {
    for (int64_t k = 0; k < n; k++) {
        uint64_t bits = next(seed);
        double special[] = {0.0, -0.0, (double)NAN, (double)INFINITY, -(double)INFINITY, 0.1, -1e-310, 1e308, 1, 16777217};
        double x = special[bits % 10];
        bool plain = next(seed) % 2;
        switch (t) {
        case CLF_F32: ((float *)out)[k] = (float)x; break;
        case CLF_F64: ((double *)out)[k] = x; break;
        case CLF_I32: ((int32_t *)out)[k] = (int32_t)bits; break;
        case CLF_I64: ((int64_t *)out)[k] = text ? (int64_t)bits >> 12 : (int64_t)bits; break;
        case CLF_U8: ((uint8_t *)out)[k] = (uint8_t)bits; break;
        }
        if (plain && t == CLF_F32) memcpy((float *)out + k, &bits, sizeof(float));
        if (plain && t == CLF_F64) memcpy((double *)out + k, &bits, sizeof(double));
    }
}

/* Write x, read it again as `as` (the type that text is read in, or its own). */
static bool comes_back(clf_ctx *c, clf_mat *x, const char *type, clf_dtype as, int64_t rows, int64_t cols) {
    char path[256];
    const void *a, *b;
    int64_t r, k;
    clf_dtype t;
    snprintf(path, sizeof path, "%s/x.%s", folder, type);
    if (clf_set(c, "dtype", as == CLF_F32 ? "f32" : "f64") != CLF_OK || clf_save(x, path, NULL) != CLF_OK) return false;
    clf_mat *y = clf_load(c, path), *want = clf_cast(x, as);
    if (clf_info(y, &r, &k, &t, NULL) != CLF_OK || r != rows || k != cols || t != as) return false;
    if (clf_data(want, &a) != CLF_OK || clf_data(y, &b) != CLF_OK) return false;
    int64_t cell = differs(as, a, b, rows * cols);
    if (cell >= 0) printf("\n    cell %lld of %lldx%lld changes\n", (long long)cell, (long long)rows, (long long)cols);
    return cell < 0;
}

static const char *const types[] = {"npy", "csv", "mtx"};

/* One matrix of every element type through one type of file. */
static bool round_trips(clf_ctx *c, int type, uint64_t seed) {
    static const int64_t extents[] = {1, 2, 3, 7, 64, 65, 0};
    static double data[65 * 65];
    bool text = type > 0, good = true;
    int64_t rows = extents[next(&seed) % (text ? 6 : 7)], cols = extents[next(&seed) % (text ? 6 : 7)];
    for (int t = 0; t < CLF_NDTYPES && good; t++) {
        clf_dtype as = text && t != CLF_F32 ? CLF_F64 : (clf_dtype)t;
        any_bits((clf_dtype)t, data, rows * cols, text, &seed);
        good = comes_back(c, clf_matrix(c, (clf_dtype)t, rows, cols, data), types[type], as, rows, cols);
        if (!good)
            printf("\n    %s of %s %lldx%lld: %s\n", types[type], clf_dtype_name((clf_dtype)t), (long long)rows, (long long)cols,
                   clf_last_error(c));
    }
    return good;
}

static void test_files(void) {
    clf_ctx *c = open_host();
    int64_t n = net_count(300, 20000);
    bool good = true;
    uint64_t seed = 70000000, only;
    bool replay = net_replay(&only);
    for (int type = 0; type < 3; type++)
        for (int64_t k = 0; k < (replay ? 1 : n) && good; k++) {
            size_t epoch = clf_epoch_begin(c);
            good = round_trips(c, type, replay ? only : seed + (uint64_t)k);
            if (!good) printf("    seed %llu\n", (unsigned long long)(seed + (uint64_t)k));
            clf_epoch_end(c, epoch);
        }
    CU_ASSERT(good);
    net_figure("law: files give back the bits", "%lld matrices of 5 types through npy, csv and mtx", (long long)n);
    clf_close(c);
}

/* ---- memory ---- */

enum { ROWS = 33, COLS = 7, CELLS = ROWS * COLS, MOST_OPS = 2 * CLF_NOPS };

/* Every binary operator on x, y (the same cells) and z (x from its second row on), products and folds of them. */
static int expressions(clf_mat *x, clf_mat *y, clf_mat *z, clf_mat **out) {
    int n = 0;
    for (int op = 0; op < CLF_NOPS; op++)
        if (clf_ops[op].arity == 2) {
            out[n++] = clf_apply((clf_op_code)op, x, y, NULL);
            out[n++] = clf_apply((clf_op_code)op, z, y, NULL);
        }
    out[n++] = clf_sum(clf_mul(clf_add(x, z), y));
    out[n++] = clf_row_sums(clf_mul(x, z));
    out[n++] = clf_ifelse(clf_lt(x, z), y, z);
    return n;
}

static void check_shared(clf_ctx *c) {
    double cells[CELLS + COLS];
    clf_mat *copied[MOST_OPS], *borrowed[MOST_OPS];
    uint64_t seed = 71000000;
    int64_t rows, cols, wrong = 0;
    clf_dtype t;
    for (int k = 0; k < CELLS + COLS; k++) cells[k] = next(&seed) % 5 ? (double)(int64_t)next(&seed) * 0x1p-61 : 0;
    int n = expressions(clf_matrix(c, CLF_F64, ROWS, COLS, cells), clf_matrix(c, CLF_F64, ROWS, COLS, cells),
                        clf_matrix(c, CLF_F64, ROWS, COLS, cells + COLS), copied);
    expressions(clf_borrow(c, CLF_F64, ROWS, COLS, cells, NULL, NULL), clf_borrow(c, CLF_F64, ROWS, COLS, cells, NULL, NULL),
                clf_borrow(c, CLF_F64, ROWS, COLS, cells + COLS, NULL, NULL), borrowed);
    CU_ASSERT_EQUAL_FATAL(clf_eval((size_t)n, copied), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_eval((size_t)n, borrowed), CLF_OK);
    for (int k = 0; k < n; k++) {
        const void *a = NULL, *b = NULL;
        CU_ASSERT_EQUAL(clf_info(copied[k], &rows, &cols, &t, NULL), CLF_OK);
        CU_ASSERT_FATAL(clf_data(copied[k], &a) == CLF_OK && clf_data(borrowed[k], &b) == CLF_OK);
        wrong += differs(t, a, b, rows * cols) >= 0;
    }
    CU_ASSERT(n > 40);
    CU_ASSERT_EQUAL(wrong, 0);
}

static void test_shared(void) {
    for (int i = 0; i < CONFIGS; i++) {
        clf_ctx *c = open_config(&configs[i]);
        check_shared(c);
        clf_close(c);
    }
    clf_ctx *c = open_kernels();
    if (!c) return;
    check_shared(c);
    CU_ASSERT_EQUAL(clf_set(c, "host_pointers", "off"), CLF_OK);
    check_shared(c);
    clf_close(c);
}

/* ---- elementary functions ---- */

enum { LONGEST = 40, FORMS = 6, PLACES = LONGEST * 5, MOST_ROOTS = CLF_NOPS * FORMS };
static const double values[] = {0.3,  1.7,      -2.2,       0.999,    37.5,      -100.25, 1e-5, 5e5,  0.0,     -0.0,
                                1e10, 0x1p-140, -0x1p-1060, INFINITY, -INFINITY, NAN,     3.0,  -1.0, 0x1p-30, 126.5};
enum { VALUES = sizeof values / sizeof *values };

static int first_value(int i, int n) { return (i + n) % VALUES; }
static int second_value(int i, int n) { return (7 * i + 3 * n + i / VALUES) % VALUES; }

/* Six ways to the same cells: op alone; kept while it is read; on columns of wider matrices; on rows; under a broadcast; of the far
 * rows of longer ones. */
static int forms(clf_op_code op, clf_mat *const *in, clf_mat *ones, int64_t n, clf_mat **out) {
    clf_mat *x = clf_ops[op].arity == 2 ? in[1] : NULL, *column[2] = {NULL, NULL}, *row[2] = {NULL, NULL}, *far[2] = {NULL, NULL};
    for (int k = 0; k < clf_ops[op].arity; k++) {
        column[k] = clf_index(clf_cbind(clf_cbind(ones, in[k]), ones), 1, n, 6, 6);
        row[k] = clf_t(in[k]);
        far[k] = clf_index(clf_rbind(clf_index(ones, 1, n, 1, 1), in[k]), n + 1, 2 * n, 1, 1);
    }
    out[0] = clf_apply(op, in[0], x, NULL);
    out[1] = clf_mul(out[0], clf_index(ones, 1, n, 1, 1));
    out[2] = clf_apply(op, column[0], column[1], NULL);
    out[3] = clf_apply(op, row[0], row[1], NULL);
    out[4] = clf_mul(clf_apply(op, in[0], x, NULL), ones);
    out[5] = clf_apply(op, far[0], far[1], NULL);
    return FORMS;
}

typedef struct known {
    char bits[CLF_NOPS][VALUES][VALUES][sizeof(double)];
    bool have[CLF_NOPS][VALUES][VALUES];
} known;

/* Is element k of data, op of these two values, what it was before? */
static bool as_before(known *b, int op, clf_dtype t, const void *data, int64_t k, int v, int w) {
    size_t each = clf_dtype_bytes(t);
    const char *at = (const char *)data + (size_t)k * each;
    if (clf_ops[op].arity == 1) w = 0;
    if (!b->have[op][v][w]) memcpy(b->bits[op][v][w], at, each);
    b->have[op][v][w] = true;
    return differs(t, b->bits[op][v][w], at, 1) < 0;
}

static void fill(clf_dtype t, void *out, int n, bool second) {
    for (int i = 0; i < n; i++) {
        double v = values[second ? second_value(i, n) : first_value(i, n)];
        if (t == CLF_F32)
            ((float *)out)[i] = (float)v;
        else
            ((double *)out)[i] = v;
    }
}

/* Form 4 repeats every cell five times. */
static bool check_form(known *b, int op, clf_dtype t, int form, const void *data, int n) {
    int64_t width = form == 4 ? 5 : 1;
    for (int64_t k = 0; k < n * width; k++) {
        int i = (int)(k / width);
        if (as_before(b, op, t, data, k, first_value(i, n), second_value(i, n))) continue;
        printf("\n    %s %s of (%g, %g): other bits in form %d, place %d of %d\n", clf_ops[op].name, clf_dtype_name(t),
               values[first_value(i, n)], values[second_value(i, n)], form, i, n);
        return false;
    }
    return true;
}

static int64_t check_length(clf_ctx *c, known *b, clf_dtype t, int n) {
    double x[LONGEST], y[LONGEST];
    clf_mat *root[MOST_ROOTS];
    int count = 0;
    int64_t bad = 0;
    size_t epoch = clf_epoch_begin(c);
    fill(t, x, n, false);
    fill(t, y, n, true);
    clf_mat *in[2] = {clf_matrix(c, t, n, 1, x), clf_matrix(c, t, n, 1, y)}, *ones = clf_fill(c, t, n, 5, 1);
    for (int op = 0; op < CLF_NOPS; op++)
        if (clf_ops[op].flags & F_ELEM) count += forms((clf_op_code)op, in, ones, n, root + count);
    CU_ASSERT_EQUAL_FATAL(clf_eval((size_t)count, root), CLF_OK);
    for (int op = 0, k = 0; op < CLF_NOPS; op++)
        for (int form = 0; form < FORMS && clf_ops[op].flags & F_ELEM; form++, k++) {
            const void *data = NULL;
            CU_ASSERT_EQUAL_FATAL(clf_data(root[k], &data), CLF_OK);
            bad += !check_form(b, op, t, form, data, n);
        }
    clf_epoch_end(c, epoch);
    return bad;
}

static int64_t check_places(clf_ctx *c, const int *lengths, int n) {
    static known b[2];
    int64_t bad = 0;
    memset(b, 0, sizeof b);
    for (int k = 0; k < n; k++) {
        bad += check_length(c, &b[0], CLF_F64, lengths[k]);
        bad += check_length(c, &b[1], CLF_F32, lengths[k]);
    }
    return bad;
}

static void test_places(void) {
    int lengths[LONGEST];
    for (int k = 0; k < LONGEST; k++) lengths[k] = LONGEST - k;
    for (int i = 0; i < CONFIGS; i++) {
        clf_ctx *c = open_config(&configs[i]);
        CU_ASSERT_EQUAL(check_places(c, lengths, LONGEST), 0);
        clf_close(c);
    }
    net_figure("law: elementary functions give the same bits at every place", "%d lengths, %d forms, %d configurations", LONGEST, FORMS,
               CONFIGS);
}

static void test_places_in_kernels(void) {
    static const int lengths[] = {40, 1, 3, 8, 13, 16, 31};
    clf_ctx *c = open_kernels();
    if (!c) return;
    CU_ASSERT_EQUAL(check_places(c, lengths, sizeof lengths / sizeof *lengths), 0);
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {{"files give back the bits", test_files},
                                      {"memory borrowed twice", test_shared},
                                      {"elementary functions at every place", test_places},
                                      {"elementary functions at every place, OpenCL", test_places_in_kernels}};
    if (!mkdtemp(folder)) return 1;
    int failed = run_suite("laws of data", tests, sizeof tests / sizeof *tests);
    for (int k = 0; k < 3; k++) {
        char path[256];
        snprintf(path, sizeof path, "%s/x.%s", folder, types[k]);
        unlink(path);
    }
    rmdir(folder);
    return failed;
}
