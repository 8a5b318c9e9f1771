/* SPDX-License-Identifier: Apache-2.0
 * Steps that the host and an OpenCL device run together. Wherever they are cut, by host memory or through buffers, in either strategy, all
 * bytes are those of the device alone; what cannot be cut runs as before. Where it pays by the figures of a profile, nobody needs to ask. */
#include "host/run/run.h"
#include "tests/support/pinned_pair.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/split_ways.h"

enum { MOST_CELLS = 300000, MOST_BYTES = 2 * MOST_CELLS * 8 };

static const char *const shares[] = {"1", "50", "99"};

/* Cells in quarters, with what is hard to treat among them. */
static void fill(clf_dtype t, int64_t n, void *x, unsigned seed) {
    for (int64_t i = 0; i < n; i++) {
        double v = (double)((i * 37 + seed) % 1009) * 0.25 - 100;
        if (seed && i % 911 == 5) v = -0.0;
        if (t == CLF_F32)
            ((float *)x)[i] = (float)v;
        else
            ((double *)x)[i] = v;
    }
}

static void *cells_of(int which) {
    static double x[2][MOST_CELLS];
    return x[which];
}

typedef struct shape {
    int64_t rows, cols;
} shape;

static size_t width_of(clf_dtype t) { return t == CLF_F32 ? 4 : 8; }

/* All results of a program, one behind the other; the bytes. */
static size_t results_of(clf_ctx *c, const char *text, clf_dtype t, shape s, char *out) {
    clf_binding vars[] = {
        {"X", clf_borrow(c, t, s.rows, s.cols, cells_of(0), NULL, NULL)}, {"Y", clf_borrow(c, t, s.rows, s.cols, cells_of(1), NULL, NULL)},
        {"r", clf_borrow(c, t, 1, s.cols, cells_of(1), NULL, NULL)},      {"W", clf_borrow(c, t, s.cols, 3, cells_of(1), NULL, NULL)},
        {"v", clf_borrow(c, t, s.rows, 1, cells_of(1), NULL, NULL)},      {"P", clf_borrow(c, t, s.rows, 2, cells_of(1), NULL, NULL)},
        {"Q", clf_borrow(c, t, s.rows, 20, cells_of(1), NULL, NULL)}};
    clf_result r[8];
    clf_mat *m[8];
    size_t n = 8, at = 0;
    CU_ASSERT_EQUAL_FATAL(clf_parse(c, text, vars, sizeof vars / sizeof *vars, r, &n), CLF_OK);
    for (size_t i = 0; i < n; i++) m[i] = r[i].value;
    clf_status st = clf_eval(n, m);
    if (st != CLF_OK) printf("\n    %s: %s\n", text, clf_last_error(c));
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    for (size_t i = 0; i < n; i++) {
        const void *data = NULL;
        int64_t rows = 0, cols = 0;
        clf_dtype of = CLF_F64;
        CU_ASSERT_EQUAL(clf_info(m[i], &rows, &cols, &of, NULL), CLF_OK);
        size_t bytes = (size_t)(rows * cols) * clf_dtype_bytes(of);
        CU_ASSERT_EQUAL_FATAL(clf_data(m[i], &data), CLF_OK);
        CU_ASSERT_FATAL(at + bytes <= MOST_BYTES);
        memcpy(out + at, data, bytes);
        at += bytes;
    }
    return at;
}

static char want[MOST_BYTES], got[MOST_BYTES];

static void same_bytes(clf_ctx *c, const char *text, clf_dtype t, shape s, bool cut) {
    fill(t, s.rows * s.cols, cells_of(0), 0);
    fill(t, s.rows * s.cols, cells_of(1), 3);
    CU_ASSERT_EQUAL(clf_set(c, "split", "off"), CLF_OK);
    size_t n = results_of(c, text, t, s, want);
    CU_ASSERT_EQUAL(stats_of(c).launches_tier2 > 0, true);
    for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
        CU_ASSERT_EQUAL(clf_set(c, "split", shares[k]), CLF_OK);
        uint64_t was = stats_of(c).launches_split;
        bool same = true;
        for (int again = 0; again < 2; again++) { /* by the same plan: counters are as they were */
            memset(got, 0x55, n);
            same = same && results_of(c, text, t, s, got) == n && !memcmp(got, want, n);
        }
        uint64_t splits = stats_of(c).launches_split - was;
        if (!same || cut != (splits > 0))
            printf("\n    %s, %lld x %lld of %zu bytes, %s %%: %s, %llu times\n", text, (long long)s.rows, (long long)s.cols, width_of(t),
                   shares[k], same ? "split" : "differs", (unsigned long long)splits);
        CU_ASSERT(same);
        CU_ASSERT_EQUAL(splits > 0, cut);
    }
}

static clf_ctx *open_way(const char *strategy, const char *in_place) {
    clf_ctx *c = open_kernels();
    if (!c) return NULL;
    CU_ASSERT_EQUAL(clf_set(c, "strategy", strategy), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "host_pointers", in_place), CLF_OK);
    return c;
}

/* Kept cells, of everything, of rows, and folds of all cells and of columns with states of one, two and three words; all at once, too. */
static void test_bits(void) {
    static const char *const texts[] = {"X * Y + 2",         "sum(X * Y)",
                                        "X + r; sum(X + r)", "min(X); max(Y); mean(X); var(X - Y)",
                                        "rowSums(X * Y)",    "Z = X - Y; Z; sum(Z^2); min(Z)",
                                        "colSums(X * Y)",    "colMins(X); colMeans(X - r); colVars(X + Y); rowSums(X)",
                                        "sum(Y); colSums(Y)"};
    static const shape sizes[] = {{600, 93}, {40000, 3}, {11, 20480}, {513, 512}};
    for (size_t way = 0; way < 4; way++) {
        clf_ctx *c = open_way(strategies[way / 2], pointers[way % 2]);
        if (!c) return;
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                if (!takes(way, t, s)) continue;
                bool wide = sizes[s].cols > 10000, cols = strstr(texts[t], "col") != NULL;
                bool merged = way / 2 && strstr(texts[t], "rowSums") && wide; /* groups share a row */
                bool narrow = sizes[s].cols < 10 && !strchr(texts[t], ';');   /* for groups side by side, with nothing else to do */
                bool whole = cols && (wide || (way / 2 && !narrow));
                same_bytes(c, texts[t], type_of(way, t, s), sizes[s], !merged && !whole);
            }
        clf_close(c);
    }
}

/* Rows that the host has a program in row form for. */
static void test_rows(void) {
    static const char *const texts[] = {"X %*% W", "X / rowSums(X * X + 1)", "v * (X %*% W)"};
    static const shape sizes[] = {{600, 93}, {513, 512}};
    for (size_t way = 0; way < 4; way++) {
        clf_ctx *c = open_way(strategies[way / 2], pointers[way % 2]);
        if (!c) return;
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) same_bytes(c, texts[t], s ? CLF_F32 : CLF_F64, sizes[s], true);
        if (!(way % 2)) CU_ASSERT(stats_of(c).launches_rows > 0);
        clf_close(c);
    }
}

/* What meets over rows in row form: products of one and of two kept axes, of few and many columns, either way round, and of no axis; folds
 * with states of one, two and three words; full folds beside them. Sizes of few blocks and many, and with a last one that is cut short. */
static void test_products(void) {
    static const char *const texts[] = {"t(X) %*% (v / (1 + v * v))",
                                        "t(X) %*% (X %*% W)",
                                        "t(P) %*% (X - rowSums(X))",
                                        "t(Q * v) %*% (X / rowSums(X * X + 1))",
                                        "t(X / rowSums(X * X + 1)) %*% (Q * v)",
                                        "Z = X %*% W; t(X) %*% Z; sum(Z * Z); rowSums(Z); min(Z)",
                                        "Z = X %*% W; sum(Z * Z); var(X); max(rowSums(abs(Z))); colSums(X); min(Z)",
                                        "Z = X / rowSums(X * X + 1); colSums(Z); colVars(Z - v); colMaxs(Z); t(v) %*% rowSums(Z)"};
    static const shape sizes[] = {{600, 93}, {513, 512}, {12000, 7}, {2000, 40}, {40000, 3}};
    for (size_t way = 0; way < 4; way++) {
        clf_ctx *c = open_way(strategies[way / 2], pointers[way % 2]);
        if (!c) return;
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
                if (takes(way, t, s) && (sizes[s].rows * 20 <= MOST_CELLS || !strchr(texts[t], 'Q')))
                    same_bytes(c, texts[t], s % 2 ? CLF_F32 : CLF_F64, sizes[s], true);
        clf_close(c);
    }
}

/* Sums of two wide sides in tiles; symmetric ones are whole in what each part of the rows leaves. */
static void test_wide(void) {
    static const char *const texts[] = {"t(X) %*% X", "Z = abs(X) - rowSums(X); t(Z) %*% Z; colSums(Z)", "t(X) %*% (v * X)"};
    static const shape sizes[] = {{2000, 70}, {1700, 93}};
    clf_ctx *c = open_way("chunk", "on");
    if (!c) return;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) same_bytes(c, texts[t], s ? CLF_F32 : CLF_F64, sizes[s], true);
    clf_close(c);
}

/* With as many rows as columns: a vector may be read by rows, of which each part has its own, along the columns, of which each needs all,
 * or both ways; and what meets at columns is as long as what is kept of rows. */
static void test_square(void) {
    static const char *const texts[] = {"abs(X) %*% v - v", "t(X) %*% (abs(X) %*% t(r)) + v", "X * t(v) + r", "rowSums(X * t(v)) * v",
                                        "Z = X %*% W; t(X) %*% Z; colSums(X * v); rowSums(Z)"};
    static const shape sizes[] = {{400, 400}, {513, 513}};
    for (size_t way = 0; way < 4; way++) {
        clf_ctx *c = open_way(strategies[way / 2], pointers[way % 2]);
        if (!c) return;
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
                if (takes(way, t, s)) same_bytes(c, texts[t], s ? CLF_F32 : CLF_F64, sizes[s], true);
        clf_close(c);
    }
}

/* What is too small for two runs on the device alone. */
static void test_uncut(void) {
    clf_ctx *c = open_way("chunk", "on");
    if (!c) return;
    same_bytes(c, "t(X) %*% (v / (1 + v * v))", CLF_F64, (shape){20, 40}, false);
    same_bytes(c, "sum(X * Y)", CLF_F64, (shape){10, 10}, false);
    clf_close(c);
}

/* Steps of one plan that are cut and such that are not share working memory, and hand values to each other. */
static void test_beside(void) {
    for (int way = 0; way < 2; way++) {
        clf_ctx *c = open_way("chunk", pointers[way]);
        if (!c) return;
        CU_ASSERT_EQUAL(clf_set(c, "fuse", "none"), CLF_OK);
        same_bytes(c, "A = X * Y; B = A - r; colSums(B); sum(B * X); colSums(A); rowSums(A + colSums(B))", CLF_F64, (shape){900, 70}, true);
        clf_close(c);
    }
}

/* Of an operand that the device holds a copy of nothing is sent again; of another only its part. */
static void test_transfers(void) {
    clf_ctx *c = open_way("chunk", "off");
    enum { ROWS = 1000, COLS = 64 };
    if (!c) return;
    fill(CLF_F64, ROWS * COLS, cells_of(0), 0);
    CU_ASSERT_EQUAL(clf_set(c, "split", "25"), CLF_OK);
    clf_mat *x = clf_borrow(c, CLF_F64, ROWS, COLS, cells_of(0), NULL, NULL);
    double sum = read_f64(clf_sum(clf_sqr(x)));
    clf_stats s = stats_of(c);
    CU_ASSERT(s.launches_split == 1 && s.bytes_to_device == 0); /* lent, not copied */
    double cols[COLS];
    CU_ASSERT_EQUAL(clf_set(c, "split", "off"), CLF_OK);
    CU_ASSERT_EQUAL(clf_read(clf_col_sums(x), cols, sizeof cols), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "split", "25"), CLF_OK);
    uint64_t sent = stats_of(c).bytes_to_device;
    CU_ASSERT(sent >= ROWS * COLS * 8 && sent < ROWS * COLS * 8 + 4096); /* and what counts chunks */
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_sqr(x))), sum);
    CU_ASSERT(stats_of(c).launches_split == 2 && stats_of(c).bytes_to_device == sent);
    clf_close(c);
}

static const char *explained(clf_ctx *c, clf_mat *m, clf_explain_format f) {
    static text_sink t;
    clf_status st = clf_explain(1, &m, f, 0, collect, empty_sink(&t));
    if (st != CLF_OK) printf("\n    %s\n", clf_last_error(c));
    CU_ASSERT_EQUAL(st, CLF_OK);
    return t.at;
}

/* With a device as fast as the host, half and half; with transfers at a tenth of that rate, the host alone; nor with one that is a CPU. */
static void test_figures(void) {
    static const struct {
        clf_device_kind kind;
        double faster, transfer;
        const char *word;
    } cases[] = {{CLF_DEV_GPU, 1, 0, "split    50 %"}, {CLF_DEV_GPU, 3, 0, "split    75 %"}, {CLF_DEV_GPU, 1.0 / 3, 0, "split    25 %"},
                 {CLF_DEV_GPU, 1, 2e7, NULL},          {CLF_DEV_GPU, 100, 0, NULL},          {CLF_DEV_CPU, 1, 0, NULL}};
    enum { ROWS = 512, COLS = 512 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clf_profile host, device;
        pinned_pair pair;
        clf_ctx *c = open_on(NULL);
        clf_device d = {.struct_size = sizeof d};
        pinned_pair_alike(&host, CLF_DEV_HOST, 1);
        pinned_pair_alike(&device, cases[i].kind, cases[i].faster);
        if (cases[i].transfer > 0) {
            device.zero_copy = 0;
            device.transfer_bytes_per_s = cases[i].transfer;
        }
        CU_ASSERT_FATAL(pinned_pair_make(&pair, &host, &device) && pinned_pair_set(&pair, c));
        bool there = clf_device_at(c, 1, &d);
        fill(CLF_F64, ROWS * COLS, cells_of(0), 0);
        clf_mat *x = clf_borrow(c, CLF_F64, ROWS, COLS, cells_of(0), NULL, NULL), *sum = clf_sum(clf_sqr(x));
        const char *text = there ? explained(c, sum, CLF_TEXT) : "";
        bool good = !there || (cases[i].word ? strstr(text, cases[i].word) != NULL : !strstr(text, "split  "));
        if (!good) printf("\n    case %zu: %s\n", i, text);
        CU_ASSERT(good);
        double total = 0;
        for (int k = 0; k < ROWS * COLS; k++) total += ((double *)cells_of(0))[k] * ((double *)cells_of(0))[k];
        CU_ASSERT_EQUAL(read_f64(sum), total);
        CU_ASSERT_EQUAL(stats_of(c).launches_split, there && cases[i].word);
        if (there && cases[i].word) {
            CU_ASSERT_PTR_NOT_NULL(strstr(explained(c, clf_sum(clf_sqr(x)), CLF_JSON), "\"split_percent\": "));
            CU_ASSERT_EQUAL(clf_set(c, "split", "off"), CLF_OK);
            CU_ASSERT_PTR_NULL(strstr(explained(c, clf_sum(clf_sqr(x)), CLF_TEXT), "split  "));
        }
        clf_close(c);
        pinned_pair_remove(&pair);
    }
}

/* A device a hundred times as fast, the way to which takes longer than the work: it takes what it can of the first call, and has the matrix
 * from the second one on. */
static void test_credit(void) {
    enum { ROWS = 512, COLS = 512, BYTES = ROWS * COLS * 8, LITTLE = 4096 };
    clf_profile host, device;
    pinned_pair pair;
    clf_ctx *c = open_on(NULL);
    clf_device d = {.struct_size = sizeof d};
    pinned_pair_alike(&host, CLF_DEV_HOST, 1);
    pinned_pair_alike(&device, CLF_DEV_GPU, 100);
    device.zero_copy = 0;
    device.transfer_bytes_per_s = 6.25e8;
    CU_ASSERT_FATAL(pinned_pair_make(&pair, &host, &device) && pinned_pair_set(&pair, c));
    CU_ASSERT_EQUAL(clf_set(c, "host_pointers", "off"), CLF_OK);
    if (clf_device_at(c, 1, &d)) {
        for (int i = 0; i < ROWS * COLS; i++) ((double *)cells_of(0))[i] = i % 5;
        clf_mat *x = clf_borrow(c, CLF_F64, ROWS, COLS, cells_of(0), NULL, NULL);
        double sum = read_f64(clf_sum(x));
        for (int i = 1; i <= 4; i++) {
            CU_ASSERT_EQUAL(read_f64(clf_sum(clf_mul(x, clf_num(c, i)))), i * sum);
            clf_stats s = stats_of(c);
            CU_ASSERT_EQUAL(s.launches_split, 1);
            CU_ASSERT(s.bytes_to_device >= BYTES && s.bytes_to_device <= BYTES + LITTLE);
        }
    }
    clf_close(c);
    pinned_pair_remove(&pair);
}

static void test_setting(void) {
    static const char *const bad[] = {"0", "100", "-5", "half", "5x", "", "40+", "40+0", "+3", "50+50", "9+9+9"};
    static const char *const good[] = {"auto", "off", "1", "99", "40+30", "98+1"};
    clf_ctx *c = open_host();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) expect_error(c, clf_set(c, "split", bad[i]), CLF_E_NAME, "CLF_SPLIT");
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) CU_ASSERT_EQUAL(clf_set(c, "split", good[i]), CLF_OK);
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {{"bits", test_bits},
                                      {"rows", test_rows},
                                      {"products", test_products},
                                      {"wide sides", test_wide},
                                      {"square", test_square},
                                      {"what is not cut", test_uncut},
                                      {"beside others", test_beside},
                                      {"transfers", test_transfers},
                                      {"figures", test_figures},
                                      {"credit", test_credit},
                                      {"setting", test_setting}};
    return run_suite("split", tests, sizeof tests / sizeof *tests);
}
