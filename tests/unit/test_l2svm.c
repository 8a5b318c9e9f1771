/* SPDX-License-Identifier: Apache-2.0
 * The L2SVM of the examples: against a minimum found by Newton's method in plain C (tests/oracle/l2svm_ref.c), on a real data set whose
 * minimum is known, fused and unfused to the same bits, and with data that cannot be trained on. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/l2svm.c"
#include "examples/l2svm_data.c"
#include "tests/oracle/l2svm_ref.h"

enum { ROWS = 3000, COLS = 8 };

static const l2svm_options plain = {.lambda = 1e-3, .tolerance = 1e-14, .max_iterations = 1000};

static clf_ctx *open_host(const char *fuse) {
    const clf_options o = {.struct_size = sizeof o, .device = "host", .fuse = fuse};
    clf_ctx *c = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_open(&c, &o), CLF_OK);
    return c;
}

/* ---- against the reference ---- */

typedef struct sample {
    double x[ROWS * COLS], y[ROWS], w[COLS], minimum;
} sample;

static sample *new_sample(bool standardise) {
    sample *s = calloc(1, sizeof *s);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    clf_l2svm_ref_data(s->x, s->y, ROWS, COLS, 7);
    if (standardise) { /* all columns but the last, which holds ones */
        double *part = calloc(ROWS * (COLS - 1), sizeof *part);
        CU_ASSERT_PTR_NOT_NULL_FATAL(part);
        for (int i = 0; i < ROWS; i++) memcpy(part + i * (COLS - 1), s->x + i * COLS, (COLS - 1) * sizeof *part);
        clf_l2svm_ref_standardise(part, ROWS, COLS - 1);
        for (int i = 0; i < ROWS; i++) memcpy(s->x + i * COLS, part + i * (COLS - 1), (COLS - 1) * sizeof *part);
        free(part);
    }
    s->minimum = clf_l2svm_ref(s->x, s->y, ROWS, COLS, plain.lambda, s->w);
    CU_ASSERT_FATAL(s->minimum > 0);
    return s;
}

static void same_predictions(l2svm *p, const sample *s) {
    const void *xw;
    int wrong = 0, near = 0;
    CU_ASSERT_EQUAL_FATAL(clf_data(p->Xw, &xw), CLF_OK);
    for (int i = 0; i < ROWS; i++) {
        double want = clf_l2svm_ref_score(s->x, i, COLS, s->w), got = ((const double *)xw)[i];
        wrong += (want > 0) != (got > 0);
        near += fabs(want) < 1e-5;
    }
    CU_ASSERT_EQUAL(near, 0); /* or the comparison above would ask for more than was promised */
    CU_ASSERT_EQUAL(wrong, 0);
}

static void check_against(const sample *s, l2svm *p) {
    const void *w;
    if (!l2svm_train(p)) CU_FAIL_FATAL("training failed");
    CU_ASSERT(p->converged);
    CU_ASSERT_DOUBLE_EQUAL(p->objective, s->minimum, 1e-8 * s->minimum);
    CU_ASSERT_EQUAL_FATAL(clf_data(p->w, &w), CLF_OK);
    CU_ASSERT_DOUBLE_EQUAL(clf_l2svm_ref_objective(s->x, s->y, ROWS, COLS, plain.lambda, w), p->objective, 1e-12 * s->minimum);
    same_predictions(p, s);
}

static void test_reference(void) {
    clf_ctx *c = open_host(NULL);
    sample *s = new_sample(false);
    l2svm p;
    CU_ASSERT_FATAL(l2svm_prepare(&p, c, clf_matrix(c, CLF_F64, ROWS, COLS, s->x), clf_matrix(c, CLF_F64, ROWS, 1, s->y), &plain));
    CU_ASSERT_EQUAL(p.m, COLS);
    check_against(s, &p);
    free(s);
    clf_close(c);
}

/* The example standardises and appends the ones itself; labels are any two numbers. */
static void test_reference_prepared(void) {
    clf_ctx *c = open_host(NULL);
    sample *raw = new_sample(false), *s = new_sample(true);
    l2svm_options o = plain;
    l2svm p;
    o.standardise = o.intercept = true;
    clf_mat *X = clf_index(clf_matrix(c, CLF_F64, ROWS, COLS, raw->x), 1, 0, 1, COLS - 1);
    clf_mat *labels = clf_add(clf_matrix(c, CLF_F64, ROWS, 1, raw->y), clf_num(c, 41));
    CU_ASSERT_FATAL(l2svm_prepare(&p, c, X, labels, &o));
    CU_ASSERT_EQUAL(p.m, COLS);
    check_against(s, &p);
    free(raw);
    free(s);
    clf_close(c);
}

static void train_in(clf_ctx *c, const sample *s, l2svm *p) {
    CU_ASSERT_FATAL(l2svm_prepare(p, c, clf_matrix(c, CLF_F64, ROWS, COLS, s->x), clf_matrix(c, CLF_F64, ROWS, 1, s->y), &plain));
    CU_ASSERT_FATAL(l2svm_train(p));
}

static void close_weights(const l2svm *a, const l2svm *b) {
    const void *u, *v;
    CU_ASSERT_EQUAL_FATAL(clf_data(a->w, &u), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_data(b->w, &v), CLF_OK);
    for (int j = 0; j < COLS; j++) {
        double x = ((const double *)u)[j], y = ((const double *)v)[j];
        CU_ASSERT(fabs(x - y) <= 1e-10 * fabs(y));
    }
    CU_ASSERT_EQUAL(a->iterations, b->iterations);
}

/* The plan makes no difference but for products, which the library sums in an order of its own where they stand alone. */
static void test_fused_as_unfused(void) {
    clf_ctx *c = open_host("all"), *d = open_host("none");
    sample *s = new_sample(false);
    l2svm p, q;
    train_in(c, s, &p);
    train_in(d, s, &q);
    close_weights(&p, &q);
    clf_stats fused = {.struct_size = sizeof fused}, unfused = fused;
    CU_ASSERT_EQUAL(clf_get_stats(c, &fused), CLF_OK);
    CU_ASSERT_EQUAL(clf_get_stats(d, &unfused), CLF_OK);
    CU_ASSERT(fused.launches_tier0 + fused.launches_ref < (unfused.launches_tier0 + unfused.launches_ref) / 2);
    CU_ASSERT(fused.bytes_read + fused.bytes_written < (unfused.bytes_read + unfused.bytes_written) / 2);
    free(s);
    clf_close(c);
    clf_close(d);
}

/* Training again gives the same, in the same memory, with the same plans. */
static void test_again(void) {
    clf_ctx *c = open_host(NULL);
    sample *s = new_sample(false);
    l2svm p;
    train_in(c, s, &p);
    double objective = p.objective;
    clf_mem_stats before = {.struct_size = sizeof before}, after = before;
    clf_stats plans = {.struct_size = sizeof plans}, later = plans;
    CU_ASSERT_FATAL(l2svm_train(&p));
    clf_get_mem_stats(c, &before);
    clf_get_stats(c, &plans);
    CU_ASSERT_FATAL(l2svm_train(&p));
    clf_get_mem_stats(c, &after);
    clf_get_stats(c, &later);
    CU_ASSERT_EQUAL(p.objective, objective);
    CU_ASSERT_EQUAL(before.data, after.data);
    CU_ASSERT_EQUAL(before.peak, after.peak);
    CU_ASSERT_EQUAL(plans.plans, later.plans);
    free(s);
    clf_close(c);
}

/* ---- a real data set ---- */

static bool find_eeg(char *path, size_t n) {
    const char *folder = getenv("CLF_TEST_DATA");
    if (folder && *folder)
        snprintf(path, n, "%s/eeg.csv", folder);
    else
        snprintf(path, n, "%s/../../shared/data/eeg.csv", CLF_TESTS_DIR);
    FILE *f = fopen(path, "r");
    if (f) fclose(f);
    return f != NULL;
}

static void train_eeg(clf_ctx *c, const char *path) {
    const clf_load_options how = {.struct_size = sizeof how, .label = "Eye", .na = "drop"};
    const l2svm_options o = L2SVM_DEFAULTS;
    clf_mat *labels = NULL, *X = clf_load_with(c, path, &how, &labels);
    double accuracy = 0;
    l2svm p;
    CU_ASSERT_FATAL(l2svm_prepare(&p, c, X, labels, &o));
    CU_ASSERT_EQUAL(p.n, 14934);
    CU_ASSERT_EQUAL(p.m, 15);
    CU_ASSERT_FATAL(l2svm_train(&p));
    CU_ASSERT(p.converged);
    CU_ASSERT_DOUBLE_EQUAL(p.objective, 6712.18, 0.01);
    CU_ASSERT(l2svm_accuracy(&p, &accuracy));
    CU_ASSERT_DOUBLE_EQUAL(accuracy, 0.644, 0.0005);
}

static void test_eeg(void) {
    char path[4096];
    if (!find_eeg(path, sizeof path)) {
        printf("skipped, no eeg.csv: ");
        return;
    }
    for (int i = 0; i < 2; i++) {
        clf_ctx *c = open_host(i ? "none" : "all");
        train_eeg(c, path);
        clf_close(c);
    }
}

/* ---- data that cannot be trained on ---- */

static void refused(const double *x, int64_t rows, int64_t cols, const double *y, int64_t ny, const l2svm_options *o, const char *words) {
    clf_ctx *c = open_host(NULL);
    l2svm p;
    bool took = l2svm_prepare(&p, c, clf_matrix(c, CLF_F64, rows, cols, x), clf_matrix(c, CLF_F64, ny, 1, y), o);
    CU_ASSERT_FALSE(took);
    bool said = !took && strstr(p.why, words) != NULL;
    if (!said) printf("\n    '%s' is not in '%s'", words, took ? "" : p.why);
    CU_ASSERT(said);
    clf_close(c);
}

static void test_bad_labels(void) {
    const double x[] = {1, 2, 3, 4}, one[] = {5, 5, 5, 5}, three[] = {1, 2, 3, 1}, nan_label[] = {1, NAN, 0, 1}, two[] = {0, 1, 0, 1};
    const double above[] = {0, INFINITY, 0, INFINITY}, below[] = {1, -INFINITY, 1, 1}; /* two values, but no classes */
    refused(x, 4, 1, one, 4, &plain, "a single class: every label is 5");
    refused(x, 4, 1, three, 4, &plain, "more than two classes: 1 of 4 labels are neither 1 nor 3");
    refused(x, 4, 1, nan_label, 4, &plain, "no numbers");
    refused(x, 4, 1, above, 4, &plain, "infinite values");
    refused(x, 4, 1, below, 4, &plain, "infinite values");
    refused(x, 4, 1, two, 3, &plain, "4 rows of features, but 3 labels");
}

static void test_bad_features(void) {
    const double constant[] = {1, 7, 2, 7, 3, 7, 4, 7}, holes[] = {1, NAN, 2, 7, INFINITY, 7, 4, 7}, y[] = {0, 1, 0, 1};
    l2svm_options o = plain;
    refused(holes, 4, 2, y, 4, &o, "2 cells that are NaN or infinite");
    refused(constant, 1, 2, y, 1, &o, "nothing to train on");
    o.standardise = true;
    refused(constant, 4, 2, y, 4, &o, "feature column 2 (of 2, the label not counted) is constant");
    o.lambda = 0;
    refused(constant, 4, 2, y, 4, &o, "must be positive");
}

/* A limit of iterations ends the training early and says so; a constant column is fine where nothing is divided by its deviation. */
static void test_limit(void) {
    const double x[] = {1, 7, 2, 7, 3, 7, 4, 7}, y[] = {0, 1, 0, 1};
    clf_ctx *c = open_host(NULL);
    l2svm_options o = plain;
    l2svm p;
    o.max_iterations = 1;
    CU_ASSERT_FATAL(l2svm_prepare(&p, c, clf_matrix(c, CLF_F64, 4, 2, x), clf_matrix(c, CLF_F64, 4, 1, y), &o));
    CU_ASSERT(l2svm_train(&p));
    CU_ASSERT_FALSE(p.converged);
    CU_ASSERT_EQUAL(p.iterations, 1);
    CU_ASSERT(p.objective < 2); /* what w = 0 has: 4 slacks of 1, halved */
    clf_close(c);
}

/* A label column that the file does not have. */
static void test_missing_label(void) {
    char path[] = "l2svm_test_XXXXXX";
    const char text[] = "a,b\n1,2\n3,4\n";
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_EQUAL(write(fd, text, sizeof text - 1), (ssize_t)sizeof text - 1);
    close(fd);
    clf_ctx *c = open_host(NULL);
    const clf_load_options how = {.struct_size = sizeof how, .type = "csv", .label = "Eye"};
    const l2svm_options o = L2SVM_DEFAULTS;
    clf_mat *labels = NULL, *X = clf_load_with(c, path, &how, &labels);
    l2svm p;
    CU_ASSERT_FALSE(l2svm_prepare(&p, c, X, labels, &o));
    CU_ASSERT_PTR_NOT_NULL(strstr(p.why, "Eye"));
    CU_ASSERT_PTR_NOT_NULL(strstr(p.why, path));
    unlink(path);
    clf_close(c);
}

int main(void) {
    if (CU_initialize_registry() != CUE_SUCCESS) return 1;
    CU_pSuite suite = CU_add_suite("l2svm", NULL, NULL);
    CU_ADD_TEST(suite, test_reference);
    CU_ADD_TEST(suite, test_reference_prepared);
    CU_ADD_TEST(suite, test_fused_as_unfused);
    CU_ADD_TEST(suite, test_again);
    CU_ADD_TEST(suite, test_eeg);
    CU_ADD_TEST(suite, test_bad_labels);
    CU_ADD_TEST(suite, test_bad_features);
    CU_ADD_TEST(suite, test_limit);
    CU_ADD_TEST(suite, test_missing_label);
    CU_basic_run_tests();
    unsigned failed = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failed > 0;
}
