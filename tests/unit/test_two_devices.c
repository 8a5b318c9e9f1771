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

/* Each device shares its steps with the host, and what they leave is read by all three. */
static void test_split(void) {
    static double x[LARGE], cells[2][LARGE], sum[2];
    for (int k = 0; k < LARGE; k++) x[k] = k % 17 + 0.25;
    for (int i = 0; i < 2; i++)
        for (int split = 0; split < 2; split++) {
            clf_ctx *c = open_two(pointers[i]);
            if (!c) return;
            CU_ASSERT_EQUAL(clf_set(c, "split", split ? "50" : "off"), CLF_OK);
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
            if (split) CU_ASSERT(sum[0] == sum[1] && !memcmp(cells[0], cells[1], sizeof cells[0]));
            clf_close(c);
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
