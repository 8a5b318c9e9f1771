/* SPDX-License-Identifier: Apache-2.0
 * Explain over plans of every kind: steps on the host, on the reference executor, in kernels, products and callouts; more steps and cuts
 * than are shown; results that are leaves; names that a picture must escape. What is said is checked against what is known. */
#include "tests/unit/api_testing.h"

static const char *explain(clf_ctx *c, size_t n, clf_mat *const *m, clf_explain_format format, unsigned flags) {
    static text_sink t;
    t.n = 0;
    t.at[0] = 0;
    clf_status st = clf_explain(n, m, format, flags, collect, &t);
    if (st != CLF_OK) printf("\n    %s: %s\n", clf_status_name(st), clf_last_error(c));
    CU_ASSERT_EQUAL(st, CLF_OK);
    return t.at;
}

static void says(const char *got, const char *word) {
    if (!strstr(got, word)) printf("\n    no '%s' in\n%.3000s\n", word, got);
    CU_ASSERT_PTR_NOT_NULL(strstr(got, word));
}

static int count(const char *in, const char *word) {
    int n = 0;
    for (; (in = strstr(in, word)); in += strlen(word)) n++;
    return n;
}

static clf_mat *counted(clf_ctx *c, int64_t rows, int64_t cols) { return clf_reshape(clf_seq(c, 1, (double)(rows * cols), 1), rows, cols); }

/* The same program in every executor: its name stands in every format. */
static void check_executor(clf_ctx *c, const char *name, const char *where, bool kernel) {
    clf_mat *x = counted(c, 300, 200), *y = counted(c, 300, 200);
    CU_ASSERT_EQUAL(clf_eval(2, (clf_mat *[]){x, y}), CLF_OK);
    CU_ASSERT_EQUAL(clf_label(x, "left"), CLF_OK);
    clf_mat *r[2] = {clf_sum(clf_mul(x, clf_exp(clf_neg(y)))), clf_add(x, y)};
    for (unsigned flags = 0; flags <= CLF_EXPLAIN_ANALYZE; flags++) {
        const char *got = explain(c, 2, r, CLF_TEXT, flags | CLF_EXPLAIN_MEMO);
        says(got, name);
        says(got, where);
        says(got, "left");
        says(got, " memo\n");
        CU_ASSERT_EQUAL(strstr(got, "measured ") != NULL && strstr(got, "GB/s") != NULL, flags != 0);
        got = explain(c, 2, r, CLF_JSON, flags);
        says(got, name);
        says(got, where);
        CU_ASSERT_EQUAL(strstr(got, "\"tier\": 0") == NULL, kernel);
        CU_ASSERT_EQUAL(strstr(got, "\"measured_ns\": null") == NULL, flags != 0);
        got = explain(c, 2, r, CLF_DOT, flags);
        says(got, name);
        got = explain(c, 2, r, CLF_SVG, flags);
        says(got, name);
        says(got, kernel ? "#dbe9f6" : "#eef3e2");
    }
    double v = 0;
    CU_ASSERT_EQUAL(clf_read_f64(clf_sum(r[1]), &v), CLF_OK);
    CU_ASSERT_EQUAL(v, 60000.0 * 60001.0);
}

static void test_executors(void) {
    clf_ctx *c = open_host();
    check_executor(c, "tile", "host", false);
    CU_ASSERT_EQUAL(clf_set(c, "tier", "ref"), CLF_OK);
    check_executor(c, "ref", "host", false);
    clf_mat *r = clf_sum(clf_exp(counted(c, 3, 3)));
    says(explain(c, 1, &r, CLF_TEXT, 0), "because  the tier setting asks for the reference executor");
    clf_close(c);
}

/* Where there is a device. */
static void test_kernels(void) {
    clf_ctx *c = open_on(NULL);
    clf_device d = {.struct_size = sizeof d};
    if (clf_device_at(c, 1, &d)) {
        CU_ASSERT_EQUAL(clf_set(c, "device", d.name), CLF_OK);
        CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
        CU_ASSERT_TRUE(clf_device_at(c, 1, &d) && d.chosen);
        check_executor(c, ".chunk", d.name, true);
        clf_mat *r = clf_sum(clf_exp(counted(c, 3, 3)));
        says(explain(c, 1, &r, CLF_JSON, 0), "\"launches\": 1}");
    }
    clf_close(c);
}

/* Large enough for the device by cost where it pays: whatever is chosen, the plan says so and gives the same number. */
static void test_by_cost(void) {
    clf_ctx *c = open_on(NULL);
    clf_mat *x = clf_rand(c, CLF_F64, 1500, 1000, 0, 1, 1, 7), *small = clf_rand(c, CLF_F64, 3, 3, 0, 1, 1, 7);
    clf_mat *square = clf_rand(c, CLF_F64, 200, 200, 0, 1, 1, 7);
    CU_ASSERT_EQUAL(clf_eval(3, (clf_mat *[]){x, small, square}), CLF_OK);
    clf_mat *deep = x;
    for (int i = 0; i < 6; i++) deep = clf_pow(clf_add(clf_sin(deep), clf_num(c, 2)), clf_num(c, 0.5 + i));
    clf_mat *r[3] = {clf_sum(deep), clf_matmul(clf_t(square), clf_t(square)), clf_sum(clf_add(clf_exp(small), clf_sum(deep)))};
    const char *got = explain(c, 3, r, CLF_TEXT, 0);
    says(got, "predicted ");
    says(got, "LIBRARY");
    double by_cost = read_f64(r[0]);
    clf_ctx *h = open_host();
    clf_mat *y = clf_rand(h, CLF_F64, 1500, 1000, 0, 1, 1, 7);
    for (int i = 0; i < 6; i++) y = clf_pow(clf_add(clf_sin(y), clf_num(h, 2)), clf_num(h, 0.5 + i));
    double on_host = read_f64(clf_sum(y));
    CU_ASSERT_DOUBLE_EQUAL(by_cost, on_host, 1e-9 * on_host);
    clf_close(h);
    clf_close(c);
}

static void test_kinds(void) {
    clf_ctx *c = open_host();
    clf_mat *x = counted(c, 40, 30), *sorted = clf_order(x, 2, true, false);
    clf_mat *r[4] = {clf_matmul(clf_t(x), sorted), clf_cum(CLF_FOLD_CODE_SUM, x), clf_fold(CLF_FOLD_CODE_MAX, CLF_ROWS, x),
                     clf_fold(CLF_FOLD_CODE_SUM, CLF_COLS, clf_sqr(x))};
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "all"), CLF_OK); /* with aggregates to share a pass with, so small a product is cheaper in a loop */
    const char *got = explain(c, 4, r, CLF_TEXT, CLF_EXPLAIN_ANALYZE);
    static const char *const words[] = {"LIBRARY", "gemm", "CALLOUT", "callout", "FUSED", "row max", "col sum", "order"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) says(got, words[i]);
    got = explain(c, 4, r, CLF_JSON, 0);
    says(got, "\"access\": \"whole\"");
    says(got, "\"access\": \"stream\"");
    says(got, "\"kind\": \"CALLOUT\"");
    clf_close(c);
}

/* A product of stored entries is not the library's of cells. */
static void test_entries(void) {
    clf_ctx *c = open_host();
    static const int64_t ptr[] = {0, 1, 2};
    static const int32_t idx[] = {1, 0};
    static const double val[] = {2, 3};
    clf_mat *S = clf_sparse_csr(c, CLF_F64, 2, 2, 2, ptr, idx, val, NULL), *r = clf_matmul(clf_t(S), S);
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "all"), CLF_OK);
    for (int analyze = 0; analyze < 2; analyze++) {
        const char *got = explain(c, 1, &r, CLF_TEXT, analyze ? CLF_EXPLAIN_ANALYZE : 0);
        says(got, "MATMUL over entries  entries on host");
        CU_ASSERT_PTR_NULL(strstr(got, "gemm"));
    }
    clf_close(c);
}

/* A result that is there already, a number, and an empty one: steps, if any, make only the others. */
static void test_trivial(void) {
    clf_ctx *c = open_host();
    clf_mat *x = clf_matrix(c, CLF_F64, 1, 2, (double[2]){1, 2}), *none = clf_fill(c, CLF_F64, 0, 3, 1);
    CU_ASSERT_EQUAL(clf_label(x, "a<b>&\"c\\d\x01"), CLF_OK);
    clf_mat *r[4] = {x, clf_num(c, 3), none, clf_sum(x)};
    for (int f = CLF_TEXT; f <= CLF_JSON; f++) {
        const char *got = explain(c, 4, r, (clf_explain_format)f, CLF_EXPLAIN_ANALYZE);
        if (f == CLF_DOT || f == CLF_SVG) says(got, "a&lt;b&gt;&amp;&quot;c&#92;d");
        if (f == CLF_JSON) says(got, "a<b>&\\\"c\\\\d\\u0001");
    }
    clf_mat *only = x;
    says(explain(c, 1, &only, CLF_TEXT, 0), "0 steps");
    CU_ASSERT_EQUAL(count(explain(c, 1, &only, CLF_DOT, 0), "->"), 0);
    clf_mat *fill = clf_fill(c, CLF_F64, 40, 40, 1);
    says(explain(c, 1, &fill, CLF_TEXT, 0), "reads    nothing");
    clf_close(c);
}

/* Unfused, 250 operators are 250 steps: text shows 64 of them and 24 cuts, pictures 200. */
static void test_many(void) {
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "none"), CLF_OK);
    clf_mat *x = clf_matrix(c, CLF_F64, 2, 3, (double[6]){1, 2, 3, 4, 5, 6}), *m = x;
    for (int i = 0; i < 250; i++) m = clf_add(m, clf_num(c, i % 7));
    clf_mat *r[2] = {m, clf_mul(x, x)};
    const char *got = explain(c, 2, r, CLF_TEXT, 0);
    says(got, "251 steps");
    says(got, "... and 187 more steps");
    says(got, " not   all: ");
    CU_ASSERT_EQUAL(count(got, "       covers   "), 64);
    CU_ASSERT_EQUAL(count(explain(c, 2, r, CLF_SVG, 0), "<rect x="), 200);
    got = explain(c, 2, r, CLF_DOT, CLF_EXPLAIN_ANALYZE);
    CU_ASSERT(count(got, "  s199 [label=") == 1 && count(got, "  s200 [label=") == 0);
    CU_ASSERT_EQUAL(count(got, "  r0 [shape"), 0); /* its step is not shown */
    CU_ASSERT_EQUAL(count(explain(c, 2, r, CLF_JSON, 0), "{\"id\": "), 251);
    clf_close(c);
}

/* Fused where it goes, cut where it does not: each cut has a reason, and 24 of them are shown. */
static void test_cuts(void) {
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "kernel_ops", "1"), CLF_OK);
    clf_mat *x = counted(c, 20, 20), *m = x;
    for (int i = 0; i < 40; i++) m = i % 2 ? clf_exp(m) : clf_sub(m, clf_col_sums(m));
    const char *got = explain(c, 1, &m, CLF_TEXT, 0);
    says(got, " cuts ");
    says(got, " more\n");
    got = explain(c, 1, &m, CLF_JSON, 0);
    CU_ASSERT(count(got, "\"reason\": \"") > 24);
    clf_close(c);
}

/* Long lists of operators end in their number. */
static void test_wide_step(void) {
    clf_ctx *c = open_host();
    clf_mat *m = counted(c, 20, 20);
    for (int i = 0; i < 40; i++) m = clf_add(clf_sqrt(m), clf_num(c, i));
    says(explain(c, 1, &m, CLF_TEXT, 0), " in all)");
    says(explain(c, 1, &m, CLF_SVG, 0), " in all)");
    clf_close(c);
}

/* Times and bytes of every unit. */
static void test_units(void) {
    clf_ctx *c = open_host();
    clf_mat *big = clf_exp(clf_fill(c, CLF_F64, 1 << 20, 1 << 12, 1)),
            *huge = clf_pow(clf_fill(c, CLF_F64, 1 << 25, 1 << 25, 1), clf_num(c, 0.3));
    clf_mat *kilo = clf_exp(clf_seq(c, 1, 400, 1)), *tiny = clf_exp(clf_matrix(c, CLF_F64, 1, 1, &(double){1}));
    says(explain(c, 1, &big, CLF_TEXT, 0), " GB");
    says(explain(c, 1, &huge, CLF_TEXT, 0), " s");
    says(explain(c, 1, &kilo, CLF_TEXT, 0), " kB");
    says(explain(c, 1, &tiny, CLF_TEXT, 0), " ns");
    clf_close(c);
}

/* What a search says of itself, and what else could be done. */
static void test_search(void) {
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "cost"), CLF_OK);
    clf_mat *x = clf_rand(c, CLF_F64, 300, 200, 0, 1, 1, 7), *a = clf_exp(x), *r[2] = {a, clf_sum(a)};
    CU_ASSERT_EQUAL(clf_eval(1, &x), CLF_OK);
    const char *got = explain(c, 2, r, CLF_TEXT, CLF_EXPLAIN_MEMO);
    says(got, " partial covers costed; proved cheapest\n");
    const char *all = strstr(got, " not   all: "), *nored = strstr(got, " not   nored: "), *none = strstr(got, " not   none: 2 steps");
    CU_ASSERT(all && all < nored && nored < none);
    CU_ASSERT_PTR_NULL(strstr(got, " not   cost"));
    says(got, " FOLD: Cell(tap) stored\n");
    got = explain(c, 2, r, CLF_JSON, 0);
    says(got, "\"search\": {\"costed\": ");
    says(got, ", \"gap_ns\": 0}, \"alternatives\": [{\"selector\": \"all\", \"device\": \"host\", \"steps\": 1, ");
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "nored"), CLF_OK);
    got = explain(c, 2, r, CLF_TEXT, 0);
    says(got, " not   cost: 1 step, ");
    CU_ASSERT_PTR_NULL(strstr(got, "costed"));
    says(explain(c, 2, r, CLF_JSON, 0), "\"search\": null");
    clf_close(c);
}

#define PROFILES CLF_TESTS_DIR "/golden/profiles/"
static const char *const machine[] = {PROFILES "host.txt", PROFILES "fast-gpu-slow-link.txt", PROFILES "slow-gpu.txt"};

/* Much work on little data goes to the fast device behind the slow link; little work stays. */
static void test_profiles(void) {
    clf_ctx *c = open_host();
    static text_sink t;
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "cost"), CLF_OK);
    clf_mat *x = clf_param(c, CLF_F64, 2000, 2000, false), *little = clf_sum(x), *much = x;
    for (int i = 0; i < 20; i++) much = clf_sin(clf_pow(much, clf_num(c, 0.3 + i)));
    CU_ASSERT_EQUAL(clf_explain_for(3, machine, 1, &little, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
    says(t.at, " on host\n");
    says(t.at, " not   cost on synthetic fast gpu alone: ");
    says(t.at, " not   cost on synthetic slow gpu alone: ");
    CU_ASSERT_PTR_NULL(strstr(t.at, "not   cost on host"));
    for (int f = CLF_TEXT; f <= CLF_JSON; f++) {
        CU_ASSERT_EQUAL(clf_explain_for(2, machine, 1, &much, (clf_explain_format)f, CLF_EXPLAIN_MEMO, collect, empty_sink(&t)), CLF_OK);
        if (f == CLF_TEXT) says(t.at, " on synthetic fast gpu\n");
        if (f == CLF_JSON) says(t.at, "\"device\": \"synthetic fast gpu\"");
        if (f == CLF_TEXT) says(t.at, " not   cost on host alone: ");
    }
    CU_ASSERT_EQUAL(clf_explain_for(1, machine, 1, &much, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
    CU_ASSERT_PTR_NULL(strstr(t.at, " alone: "));
    clf_close(c);
}

/* 10,000 cells are 10 groups of the 320 that run at a time, 320,000 all of them. */
static void test_occupancy(void) {
    static const char *const wide[] = {PROFILES "wide-gpu.txt"};
    clf_ctx *c = open_host();
    static text_sink t;
    clf_mat *few = clf_exp(clf_param(c, CLF_F64, 100, 100, false)), *many = clf_exp(clf_param(c, CLF_F64, 3200, 100, false));
    CU_ASSERT_EQUAL(clf_explain_for(1, wide, 1, &few, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
    says(t.at, " at 3.1 % occupancy\n");
    CU_ASSERT_EQUAL(clf_explain_for(1, wide, 1, &many, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
    CU_ASSERT_PTR_NULL(strstr(t.at, "occupancy"));
    clf_close(c);
}

/* The sum of all numbers behind a key. */
static double total(const char *in, const char *key, const char *end) {
    double sum = 0;
    while ((in = strstr(in, key)) && in < end) sum += strtod(in += strlen(key), NULL);
    return sum;
}

/* A large matrix goes to the fast device and comes back, and what is handed over is all that a plan costs beside its steps. */
static void test_handovers(void) {
    clf_ctx *c = open_host();
    static text_sink t;
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "cost"), CLF_OK);
    clf_mat *x = clf_param(c, CLF_F64, 2000, 2000, false), *much = x;
    for (int i = 0; i < 20; i++) much = clf_sin(clf_pow(much, clf_num(c, 0.3 + i)));
    clf_mat *r[2] = {much, clf_order(much, 1, false, false)}; /* only the host can sort */
    CU_ASSERT_EQUAL(clf_explain_for(2, machine, 2, r, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
    says(t.at, " 32 MB from a leaf on host to step 1 on synthetic fast gpu: predicted ");
    says(t.at, " 32 MB from step 1 on synthetic fast gpu to ");
    CU_ASSERT_EQUAL(count(t.at, " moves "), 1);
    CU_ASSERT_EQUAL(clf_explain_for(2, machine, 2, r, CLF_JSON, 0, collect, empty_sink(&t)), CLF_OK);
    says(t.at, "\"from_step\": null, \"from_device\": \"host\", \"to_step\": 0, \"to_device\": \"synthetic fast gpu\", "
               "\"bytes\": 32000000, ");
    says(t.at, "\"from_step\": 0, \"from_device\": \"synthetic fast gpu\", ");
    static const char key[] = "\"predicted_ns\": ";
    const char *moves = strstr(t.at, "\"transfers\": ["), *moved = moves ? strstr(moves, "}], ") : NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(moved);
    double steps = total(t.at, key, moves), between = total(moves, key, moved), all = strtod(strstr(moved, key) + strlen(key), NULL);
    CU_ASSERT(between > 0);
    CU_ASSERT_DOUBLE_EQUAL(steps + between, all, 1e-9 * all);
    CU_ASSERT_EQUAL(clf_explain_for(1, machine, 2, r, CLF_JSON, 0, collect, empty_sink(&t)), CLF_OK);
    says(t.at, "\"transfers\": [], ");
    clf_close(c);
}

static void test_bad_profiles(void) {
    clf_ctx *c = open_host();
    static text_sink t;
    clf_mat *x = clf_sum(clf_param(c, CLF_F64, 20, 20, false));
    const char *many[9], *gone = PROFILES "gone.txt", *odd = CLF_TESTS_DIR "/golden/test_plans.c";
    for (int i = 0; i < 9; i++) many[i] = machine[0];
    CU_ASSERT_EQUAL(clf_explain_for(8, many, 1, &x, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
    expect_error(c, clf_explain_for(9, many, 1, &x, CLF_TEXT, 0, collect, &t), CLF_E_ARG, "9 profiles");
    expect_error(c, clf_explain_for(1, many, 1, &x, CLF_TEXT, CLF_EXPLAIN_ANALYZE, collect, &t), CLF_E_ARG, "cannot be measured");
    expect_error(c, clf_explain_for(1, &gone, 1, &x, CLF_TEXT, 0, collect, &t), CLF_E_IO, "gone.txt");
    expect_error(c, clf_explain_for(1, &odd, 1, &x, CLF_TEXT, 0, collect, &t), CLF_E_FORMAT, "test_plans.c: ");
    expect_error(c, clf_explain_for(1, many, 1, &x, CLF_TEXT, 0, NULL, NULL), CLF_E_ARG, "clf_explain_for: no writer");
    CU_ASSERT_EQUAL(clf_explain_for(0, many, 1, &x, CLF_TEXT, 0, collect, &t), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_explain_for(1, NULL, 1, &x, CLF_TEXT, 0, collect, &t), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_explain_for(1, many, 0, &x, CLF_TEXT, 0, collect, &t), CLF_E_ARG);
    clf_close(c);
}

/* One try with the n-th allocation failing; true when there were fewer. */
static bool explain_in(long long n, bool there) {
    counting_heap heap = {.fail_at = 0};
    clf_ctx *c = NULL;
    clf_options o = {
        .struct_size = sizeof o, .device = "host", .fuse = there ? "cost" : "all", .alloc = counting_alloc, .alloc_user = &heap};
    CU_ASSERT_EQUAL_FATAL(clf_open(&c, &o), CLF_OK);
    clf_mat *x = clf_matrix(c, CLF_F64, 2, 3, (double[6]){1, 2, 3, 4, 5, 6}), *r = clf_sum(clf_mul(x, clf_exp(x)));
    static text_sink t;
    clf_explain_format format = (clf_explain_format)(n % 4);
    heap.fail_at = atomic_load(&heap.count) + n;
    t.n = 0;
    clf_status st = there ? clf_explain_for(2, machine, 1, &r, format, CLF_EXPLAIN_MEMO, collect, &t)
                          : clf_explain(1, &r, format, CLF_EXPLAIN_ANALYZE | CLF_EXPLAIN_MEMO, collect, &t);
    bool done = heap.count < heap.fail_at;
    CU_ASSERT(st == CLF_OK ? t.n > 0 : st == CLF_E_NOMEM && t.n == 0 && *clf_last_error(c));
    CU_ASSERT(!done || st == CLF_OK);
    heap.fail_at = 0;
    CU_ASSERT_EQUAL(clf_explain(1, &r, CLF_TEXT, 0, collect, &t), CLF_OK);
    clf_close(c);
    CU_ASSERT_EQUAL(atomic_load(&heap.live), 0);
    return done;
}

/* Whichever allocation fails, explain says so and the context works on. */
static void test_memory(void) {
    for (int there = 0; there < 2; there++) {
        long long n = 1;
        while (n < 2000 && !explain_in(n, there)) n++;
        CU_ASSERT(n > 10 && n < 2000);
    }
}

int main(void) {
    static const test_case tests[] = {
        {"executors", test_executors},
        {"kernels", test_kernels},
        {"by cost", test_by_cost},
        {"kinds of steps", test_kinds},
        {"product of entries", test_entries},
        {"nothing to do", test_trivial},
        {"many steps", test_many},
        {"cuts", test_cuts},
        {"a wide step", test_wide_step},
        {"units", test_units},
        {"no memory", test_memory},
        {"a search", test_search},
        {"profiles", test_profiles},
        {"occupancy", test_occupancy},
        {"hand-overs", test_handovers},
        {"bad profiles", test_bad_profiles},
    };
    return run_suite("explain", tests, sizeof tests / sizeof *tests);
}
