/* SPDX-License-Identifier: Apache-2.0
 * Plans over two OpenCL devices and the host: PoCL shows itself twice, and profiles say that each device is good at what the other is bad
 * at. Where steps run, what they hand each other, in host memory or through copies, and that memory is not given away while it is in use. */
#include <math.h>

#include "tests/support/pinned_pair.h"
#include "tests/unit/api_testing.h"

static pinned_pair pair;

static clf_ctx *open_two(const char *host_pointers) {
    clf_ctx *c = pinned_pair_open(&pair);
    if (!c) return NULL;
    CU_ASSERT_EQUAL(clf_set(c, "host_pointers", host_pointers), CLF_OK);
    return c;
}

static const char *const pointers[] = {"on", "off"};

/* Doubled, the cells are squares: 42 - 364. */
static clf_mat *doubled_roots(clf_ctx *c) {
    static const double x[6] = {2, 8, 18, 32, 50, 72};
    clf_mat *a = clf_add(clf_matrix(c, CLF_F64, 2, 3, x), clf_matrix(c, CLF_F64, 2, 3, x));
    return clf_sum(clf_sub(clf_sqrt(a), a));
}

static const char *explained(clf_mat *m, unsigned flags) {
    static text_sink t;
    CU_ASSERT_EQUAL(clf_explain(1, &m, CLF_TEXT, flags, collect, empty_sink(&t)), CLF_OK);
    return t.at;
}

static void expect_word(const char *text, const char *word) {
    if (!strstr(text, word)) printf("\n    no '%s' in: %s\n", word, text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, word));
}

/* Additions on the first, the root on the second; each is named. */
static void test_spread(void) {
    for (int i = 0; i < 2; i++) {
        clf_ctx *c = open_two(pointers[i]);
        if (!c) return;
        CU_ASSERT_EQUAL(read_f64(doubled_roots(c)), -322);
        clf_stats s = stats_of(c);
        CU_ASSERT(s.launches_tier2 == 3 && s.launches_tier0 == 0);
        CU_ASSERT_EQUAL(s.bytes_from_device, i ? 6 * 8 * 2 + 8 : 0); /* the doubled, the roots, the sum */
        for (unsigned flags = 0; flags <= CLF_EXPLAIN_ANALYZE; flags += CLF_EXPLAIN_ANALYZE) {
            const char *text = explained(doubled_roots(c), flags);
            expect_word(text, " on 1: ");
            expect_word(text, " on 2: ");
            expect_word(text, "not   cost on 1: ");
            expect_word(text, "not   cost on 2: ");
            expect_word(text, "not   cost on host alone");
        }
        clf_close(c);
    }
}

enum { N = 3000, ROUNDS = 12 };

/* Every other operator is elsewhere, and what the first devices' steps leave is read later by both: memory comes and goes while kernels are
 * in flight. Roots and sums are exact to the bit whoever computes them. */
static void ladder(const char *host_pointers, const char *budget) {
    clf_ctx *c = open_two(host_pointers);
    if (!c) return;
    static double x[N], want[N], got[N];
    clf_mat *m[2];
    CU_ASSERT_EQUAL(clf_set(c, "mem_limit", budget), CLF_OK);
    for (int k = 0; k < N; k++) x[k] = want[k] = k % 17 + 0.25;
    m[0] = m[1] = clf_matrix(c, CLF_F64, N, 1, x);
    static double before[N];
    memcpy(before, want, sizeof before);
    for (int i = 0; i < ROUNDS; i++) {
        clf_mat *up = clf_add(m[1], m[0]), *root = clf_sqrt(up);
        m[0] = m[1];
        m[1] = root;
        for (int k = 0; k < N; k++) {
            double w = sqrt(want[k] + before[k]);
            before[k] = want[k];
            want[k] = w;
        }
    }
    CU_ASSERT_EQUAL(clf_read(m[1], got, sizeof got), CLF_OK);
    CU_ASSERT_EQUAL(memcmp(got, want, sizeof got), 0);
    clf_stats s = stats_of(c);
    CU_ASSERT(s.launches_tier2 == 2 * ROUNDS && s.launches_tier0 == 0);
    clf_close(c);
}

enum { LARGE = 20000 };

/* Each device shares its steps with the host, or with the host and the other one, and what they leave is read by all three. */
static void test_split(void) {
    static const char *const shares[] = {"off", "50", "40+30", "20+20", "30+69"};
    enum { SHARES = sizeof shares / sizeof *shares };
    static double x[LARGE], cells[SHARES][LARGE], sum[SHARES];
    for (int k = 0; k < LARGE; k++) x[k] = k % 17 + 0.25;
    for (int i = 0; i < 2; i++)
        for (int split = 0; split < SHARES; split++) {
            clf_ctx *c = open_two(pointers[i]);
            if (!c) return;
            CU_ASSERT_EQUAL(clf_set(c, "split", shares[split]), CLF_OK);
            clf_mat *m = clf_borrow(c, CLF_F64, LARGE, 1, x, NULL, NULL), *up = NULL;
            for (int k = 0; k < 4; k++) {
                up = clf_add(m, up ? up : m);
                m = clf_sqrt(up);
            }
            clf_mat *r[2] = {m, clf_sum(up)};
            CU_ASSERT_EQUAL(clf_eval(2, r), CLF_OK);
            CU_ASSERT_EQUAL(clf_read(m, cells[split], sizeof cells[split]), CLF_OK);
            sum[split] = read_f64(r[1]);
            clf_stats s = stats_of(c);
            CU_ASSERT(s.launches_tier2 >= 8 && (split ? s.launches_split >= 8 : !s.launches_split));
            if (split > 1) CU_ASSERT_EQUAL(s.launches_tier2, 2 * s.launches_split); /* both devices have a part of every one */
            CU_ASSERT(sum[0] == sum[split] && !memcmp(cells[0], cells[split], sizeof cells[0]));
            clf_close(c);
        }
}

/* The bytes of one program's results, one behind the other. */
static size_t results_of(clf_ctx *c, const char *text, const double *x, const double *y, int64_t rows, int64_t cols, double *out) {
    clf_binding vars[] = {{"X", clf_borrow(c, CLF_F64, rows, cols, x, NULL, NULL)},
                          {"Y", clf_borrow(c, CLF_F64, rows, cols, y, NULL, NULL)},
                          {"W", clf_borrow(c, CLF_F64, cols, 3, y, NULL, NULL)}};
    clf_result r[4];
    clf_mat *m[4];
    size_t n = 4, at = 0;
    CU_ASSERT_EQUAL_FATAL(clf_parse(c, text, vars, 3, r, &n), CLF_OK);
    for (size_t i = 0; i < n; i++) m[i] = r[i].value;
    CU_ASSERT_EQUAL_FATAL(clf_eval(n, m), CLF_OK);
    for (size_t i = 0; i < n; i++) {
        int64_t rows_of = 0, cols_of = 0;
        CU_ASSERT_EQUAL(clf_info(m[i], &rows_of, &cols_of, NULL, NULL), CLF_OK);
        size_t cells = (size_t)(rows_of * cols_of);
        CU_ASSERT_EQUAL_FATAL(clf_read(m[i], out + at, cells * sizeof *out), CLF_OK);
        at += cells;
    }
    return at * sizeof *out;
}

/* Kept cells and rows, rows in row form, what meets over these, and folds with states of one, two and three words, cut between three in
 * either strategy; those of columns by chunks, for groups have several side by side. */
static void test_three(void) {
    static const char *const texts[] = {"X * Y + 2",
                                        "sum(X * Y); X - Y",
                                        "min(X); max(Y); mean(X); var(X - Y)",
                                        "rowSums(X * Y)",
                                        "X %*% W",
                                        "t(X) %*% rowSums(Y)",
                                        "Z = X / rowSums(X * X + 1); colMins(Z); colVars(Z)",
                                        "colSums(X * Y); colMins(X); colVars(X - Y)"};
    static const char *const strategies[] = {"chunk", "group"};
    static double x[LARGE], y[LARGE], want[2 * LARGE], got[2 * LARGE];
    for (int k = 0; k < LARGE; k++) {
        x[k] = k * 37 % 1009 * 0.25 - 100;
        y[k] = k % 911 == 5 ? -0.0 : k * 11 % 613 * 0.5;
    }
    for (int way = 0; way < 4; way++) {
        clf_ctx *c = open_two(pointers[way % 2]);
        if (!c) return;
        CU_ASSERT_EQUAL(clf_set(c, "strategy", strategies[way / 2]), CLF_OK);
        for (size_t t = 0; t < sizeof texts / sizeof *texts - (size_t)way / 2; t++) {
            CU_ASSERT_EQUAL(clf_set(c, "split", "off"), CLF_OK);
            size_t n = results_of(c, texts[t], x, y, 400, 50, want);
            CU_ASSERT_EQUAL(clf_set(c, "split", "45+25"), CLF_OK);
            clf_stats was = stats_of(c), is;
            bool same = results_of(c, texts[t], x, y, 400, 50, got) == n && !memcmp(got, want, n);
            is = stats_of(c);
            uint64_t split = is.launches_split - was.launches_split, kernels = is.launches_tier2 - was.launches_tier2;
            if (!same || !split || kernels < 2 * split)
                printf("\n    %s by %s, pointers %s\n", texts[t], strategies[way / 2], pointers[way % 2]);
            CU_ASSERT(same && split && kernels >= 2 * split);
        }
        clf_close(c);
    }
}

/* Kernels come later: until both are there nothing is split, and the bits are the same all the time. */
static void test_later(void) {
    enum { CALLS = 10, PATIENCE_MS = 60000 };
    static double x[LARGE], want[LARGE], got[LARGE];
    for (int k = 0; k < LARGE; k++) x[k] = k % 31 * 0.5;
    clf_ctx *c = open_two("on");
    if (!c) return;
    CU_ASSERT(clf_set(c, "compile", "background") == CLF_OK && clf_set(c, "split", "45+25") == CLF_OK);
    clf_mat *m = clf_borrow(c, CLF_F64, LARGE, 1, x, NULL, NULL);
    for (int k = 0; k < LARGE; k++) want[k] = 12345 + x[k];
    for (int calls = 0; calls < CALLS && !stats_of(c).launches_split; calls++) {
        CU_ASSERT_EQUAL(clf_read(clf_add(m, clf_num(c, 12345)), got, sizeof got), CLF_OK);
        CU_ASSERT_EQUAL(memcmp(got, want, sizeof got), 0);
        CU_ASSERT_TRUE(clf_compile_wait(c, PATIENCE_MS)); /* of the first device, then of the second */
    }
    clf_stats s = stats_of(c);
    CU_ASSERT(s.launches_split > 0 && s.launches_tier2 >= 2 * s.launches_split);
    clf_close(c);
}

/* Nobody asks for it: the shares follow from the rates, and a device that is too slow has none. */
static void test_shares(void) {
    static const struct {
        double first, second;
        const char *words[3];
    } cases[] = {{1, 1, {"split    33 % ", "33 % ", "34 % host"}},
                 {2, 1, {"split    50 % ", "25 % ", "25 % host"}},
                 {1, 0.001, {"split    50 % ", "", ", 50 % host"}}};
    static double x[2048 * 512];
    double total = 0;
    for (int k = 0; k < 2048 * 512; k++) total += (x[k] = k % 7);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clf_profile host, first, second;
        pinned_pair three;
        pinned_pair_alike(&host, CLF_DEV_HOST, 1);
        pinned_pair_alike(&first, CLF_DEV_GPU, cases[i].first);
        pinned_pair_alike(&second, CLF_DEV_GPU, cases[i].second);
        first.item_cells[1] = second.item_cells[1] = 1; /* shares are whole groups, and these of fewer cells */
        CU_ASSERT_FATAL(pinned_pair_make(&three, &host, &first) && pinned_pair_add(&three, &second));
        clf_ctx *c = pinned_pair_open(&three);
        if (!c) return;
        clf_mat *sum = clf_sum(clf_borrow(c, CLF_F64, 2048, 512, x, NULL, NULL));
        const char *text = explained(sum, 0);
        for (int k = 0; k < 3; k++) expect_word(text, cases[i].words[k]);
        CU_ASSERT_EQUAL(read_f64(sum), total);
        CU_ASSERT_EQUAL(stats_of(c).launches_split, 1);
        CU_ASSERT_EQUAL(stats_of(c).launches_tier2, cases[i].words[1][0] ? 2 : 1);
        clf_close(c);
        pinned_pair_remove(&three);
    }
}

static void test_ladder(void) {
    for (int i = 0; i < 2; i++) {
        ladder(pointers[i], "0");
        ladder(pointers[i], "256K"); /* some ten of them */
    }
}

/* Two results that have nothing to do with each other: nobody is waited for but at the end. */
static void test_apart(void) {
    clf_ctx *c = open_two("on");
    if (!c) return;
    static double x[N];
    for (int k = 0; k < N; k++) x[k] = 4;
    clf_mat *a = clf_matrix(c, CLF_F64, N, 1, x), *r[2] = {clf_add(a, clf_num(c, 1)), clf_sqrt(a)};
    clf_stats was = stats_of(c);
    CU_ASSERT_EQUAL(clf_eval(2, r), CLF_OK);
    clf_stats is = stats_of(c);
    CU_ASSERT(is.launches_tier2 - was.launches_tier2 == 2 && is.waits - was.waits == 1);
    double one[N], two[N];
    CU_ASSERT(clf_read(r[0], one, sizeof one) == CLF_OK && clf_read(r[1], two, sizeof two) == CLF_OK);
    CU_ASSERT(one[0] == 5 && one[N - 1] == 5 && two[0] == 2 && two[N - 1] == 2);
    clf_close(c);
}

/* A plan that is for one device goes to the better of the two; a single name is that device as before. */
static void test_one(void) {
    clf_ctx *c = open_two("on");
    if (!c) return;
    clf_device d = {.struct_size = sizeof d};
    for (int i = 0; i <= 2; i++) CU_ASSERT(clf_device_at(c, i, &d) && d.chosen == (i > 0));
    static double x[N];
    for (int k = 0; k < N; k++) x[k] = 9;
    clf_mat *a = clf_matrix(c, CLF_F64, N, 1, x), *root = clf_sqrt(a), *sum = clf_sum(clf_add(a, a));
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "all"), CLF_OK);
    expect_word(explained(root, 0), " on 2: ");
    expect_word(explained(sum, 0), " on 1: ");
    double got[N];
    CU_ASSERT(clf_read(root, got, sizeof got) == CLF_OK && got[N - 1] == 3 && read_f64(sum) == 18 * N);
    CU_ASSERT_EQUAL(clf_set(c, "profile_file", ""), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "device", "2"), CLF_OK);
    CU_ASSERT(!clf_device_at(c, 1, &d) || !d.chosen);
    CU_ASSERT(clf_device_at(c, 2, &d) && d.chosen);
    clf_close(c);
}

static void test_names(void) {
    static const struct {
        const char *text, *word;
        clf_status st;
    } cases[] = {{"1, 2", "", CLF_OK},
                 {"host,2,1", "", CLF_OK},
                 {"1,1", "named twice", CLF_E_ARG},
                 {"1,77", "no device matches '77'", CLF_E_NODEV},
                 {"1,no such thing", "no device matches 'no such thing'", CLF_E_NODEV}};
    clf_ctx *c = open_two("on");
    if (!c) return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double w = 0;
        CU_ASSERT_EQUAL(clf_set(c, "device", cases[i].text), CLF_OK);
        clf_status st = clf_read_f64(doubled_roots(c), &w);
        if (cases[i].st == CLF_OK)
            CU_ASSERT(st == CLF_OK && w == -322)
        else
            expect_error(c, st, cases[i].st, cases[i].word);
    }
    clf_close(c);
}

enum { SKIPPED = 77 };

int main(void) {
    static const test_case tests[] = {{"spread", test_spread}, {"ladder", test_ladder},  {"split", test_split},
                                      {"three", test_three},   {"later", test_later},    {"shares", test_shares},
                                      {"apart", test_apart},   {"one of two", test_one}, {"names", test_names}};
    clf_profile host, first, second;
    pinned_pair_two_devices();
    pinned_pair_contrast_two(&host, &first, &second);
    if (!pinned_pair_make(&pair, &host, &first) || !pinned_pair_add(&pair, &second)) return 1;
    clf_ctx *c = pinned_pair_open(&pair);
    int rc = c ? run_suite("two devices", tests, sizeof tests / sizeof *tests) : SKIPPED;
    clf_close(c);
    pinned_pair_remove(&pair);
    return rc;
}
