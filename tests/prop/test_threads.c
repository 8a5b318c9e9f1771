/* SPDX-License-Identifier: Apache-2.0
 * The same bits whatever the number of threads: every case on 1 to 8 threads, again and again, byte for byte. The cases are large
 * enough that the pool really starts its threads, which is checked too. */
#include <dirent.h>

#include "tests/support/net.h"
#include "tests/unit/api_testing.h"

enum { THREADS = 8 };

/* Inputs: tall X, F, I and U, narrow N, wide W, a long column V, a row r and a column c that fit X. */
static const struct {
    const char *name;
    clf_dtype t;
    int64_t rows, cols;
} inputs[] = {
    {"X", CLF_F64, 613, 513}, {"Y", CLF_F64, 613, 513}, {"F", CLF_F32, 613, 513},  {"I", CLF_I32, 613, 513}, {"U", CLF_U8, 613, 513},
    {"N", CLF_F64, 61001, 5}, {"W", CLF_F64, 67, 5003}, {"V", CLF_F32, 305003, 1}, {"r", CLF_F64, 1, 513},   {"c", CLF_F64, 613, 1},
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

static const char *const cases[] = {
    "sum(X)",
    "sum(F)",
    "mean(X); var(X)",
    "var(F); max(F); min(F)",
    "prod(1 + F * 0.0001)",
    "max(X * Y); min(X - Y); sum(abs(X))",
    "rowSums(X); rowIndexMax(X); rowVars(X)",
    "colSums(X); colMeans(X); colVars(X)",
    "colSums(F); colProds(1 + F * 0.001)",
    "colSums(N); colMaxs(N); sum(N)",
    "rowSums(W); colSums(W); rowMeans(W)",
    "sum(V); var(V); rowSums(V * 2)",
    "X * Y + c - r",
    "A = X * Y + r; A; sum(A); colSums(A); rowSums(A)",
    "sum(sigmoid(X) * Y); colSums(exp(-X * X))",
    "Z = (X - colMeans(X)) / sqrt(colVars(X)); Z; colSums(Z * Z)",
    "P = exp(X - rowMaxs(X)); P / rowSums(P)",
    "sum(I); colSums(I * I); rowMaxs(I %% 7)",
    "sum(U); colSums(U != 3); sum((X > 0) * Y)",
    "ifelse(X > Y, X, Y) ^ 2; sum((X - Y)^2 / (1 + Y * Y))",
};
enum { CASES = sizeof cases / sizeof *cases };

static int threads_now(void) {
    DIR *d = opendir("/proc/self/task");
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

static double cell(uint64_t *state, clf_dtype t) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double u = (double)(*state >> 11) * 0x1p-53;
    return t == CLF_U8 ? (double)(int)(u * 9) : t == CLF_I32 ? (double)(int)(u * 201 - 100) : u * 4 - 2;
}

static clf_mat *make_input(clf_ctx *c, int i) {
    int64_t n = inputs[i].rows * inputs[i].cols;
    uint64_t state = (uint64_t)i + 77;
    void *data = calloc((size_t)n, 8);
    for (int64_t k = 0; k < n; k++) switch (inputs[i].t) {
        case CLF_F64: ((double *)data)[k] = cell(&state, CLF_F64); break;
        case CLF_F32: ((float *)data)[k] = (float)cell(&state, CLF_F32); break;
        case CLF_I32: ((int32_t *)data)[k] = (int32_t)cell(&state, CLF_I32); break;
        default: ((uint8_t *)data)[k] = (uint8_t)cell(&state, CLF_U8);
        }
    clf_mat *m = clf_matrix(c, inputs[i].t, inputs[i].rows, inputs[i].cols, data);
    free(data);
    return m;
}

/* Bytes of all results of a case, one after the other. */
typedef struct bytes {
    char *at;
    size_t n;
} bytes;

static bytes results(clf_ctx *c, const clf_binding *vars, int k) {
    size_t mark = clf_epoch_begin(c);
    bytes b = {NULL, 0};
    FILE *f = open_memstream(&b.at, &b.n);
    program p = parse_bare(c, cases[k], vars, INPUTS);
    CU_ASSERT_EQUAL_FATAL(clf_eval(p.n, p.result), CLF_OK);
    for (size_t i = 0; i < p.n; i++) {
        int64_t rows, cols;
        clf_dtype t;
        const void *data;
        CU_ASSERT_EQUAL_FATAL(clf_info(p.result[i], &rows, &cols, &t, NULL), CLF_OK);
        CU_ASSERT_EQUAL_FATAL(clf_data(p.result[i], &data), CLF_OK);
        fwrite(data, clf_dtype_bytes(t), (size_t)(rows * cols), f);
    }
    fclose(f);
    clf_epoch_end(c, mark);
    return b;
}

/* How many of the runs of case k differ from `want`, which the first run of all becomes. */
static int64_t differing(clf_ctx *c, const clf_binding *vars, int k, int64_t repeats, bytes *want) {
    int64_t bad = 0;
    for (int64_t i = 0; i < repeats; i++) {
        bytes b = results(c, vars, k);
        if (!want->at) {
            *want = b;
            continue;
        }
        bad += b.n != want->n || memcmp(b.at, want->at, b.n) != 0;
        free(b.at);
    }
    return bad;
}

static bytes first[CASES];

static clf_ctx *open_threads(int threads) {
    char text[16];
    clf_ctx *c = open_host();
    snprintf(text, sizeof text, "%d", threads);
    CU_ASSERT_EQUAL(clf_set(c, "threads", text), CLF_OK);
    return c;
}

static clf_ctx *open_inputs(int threads, clf_binding *vars) {
    clf_ctx *c = open_threads(threads);
    for (int i = 0; i < INPUTS; i++) vars[i] = (clf_binding){inputs[i].name, make_input(c, i)};
    return c;
}

/* A context per case: its pool starts with the first job that is worth it. (The library of products has threads of its own.) */
static void test_threads_start(void) {
    int started = 0;
    for (int k = 0; k < CASES; k++) {
        clf_binding vars[INPUTS];
        clf_ctx *c = open_inputs(4, vars);
        int before = threads_now();
        free(results(c, vars, k).at);
        int more = threads_now() - before;
        if (more != 3) printf("\n    %s: %d threads\n", cases[k], more + 1);
        started += more == 3;
        clf_close(c);
    }
    CU_ASSERT_EQUAL(started, CASES);
}

static void test_same_bits(void) {
    int64_t repeats = net_count(20, 400), runs = 0;
    for (int threads = 1; threads <= THREADS; threads++) {
        clf_binding vars[INPUTS];
        clf_ctx *c = open_inputs(threads, vars);
        for (int k = 0; k < CASES; k++) {
            int64_t bad = differing(c, vars, k, repeats, &first[k]);
            if (bad) printf("\n    %s: %lld of %lld runs on %d threads differ\n", cases[k], (long long)bad, (long long)repeats, threads);
            CU_ASSERT_EQUAL(bad, 0);
            runs += repeats;
        }
        clf_close(c);
    }
    net_figure("bit identity over 1 to 8 threads: cases, repeats, runs compared", "%d, %lld, %lld", CASES, (long long)repeats,
               (long long)runs);
    for (int k = 0; k < CASES; k++) free(first[k].at);
}

int main(void) {
    static const test_case tests[] = {{"the cases are worth threads", test_threads_start},
                                      {"the same bits on 1 to 8 threads", test_same_bits}};
    return run_suite("threads", tests, sizeof tests / sizeof *tests);
}
