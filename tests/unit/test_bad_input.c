/* SPDX-License-Identifier: Apache-2.0
 * Bad input: each gives a status and one message that names what and where; nothing leaks, nothing aborts, and what was computed
 * before stays valid. Extreme sizes of graphs run in a thread with a stack of 256 KiB. */
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/api_testing.h"

static const double x_data[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

/* A context with a computed result that must outlive whatever happens. */
typedef struct witness {
    clf_ctx *c;
    clf_mat *X, *sum;
} witness;

static witness start(const char *device) {
    witness w = {open_on(device), NULL, NULL};
    w.X = clf_matrix(w.c, CLF_F64, 4, 3, x_data);
    w.sum = clf_sum(w.X);
    CU_ASSERT_EQUAL(read_f64(w.sum), 78);
    return w;
}

static void finish(witness *w) {
    CU_ASSERT_EQUAL(read_f64(w->sum), 78);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_mul(w->X, clf_num(w->c, 2)))), 156);
    clf_close(w->c);
}

static void test_shapes(void) {
    witness w = start("host");
    clf_mat *X = w.X, *Y = clf_matrix(w.c, CLF_F64, 3, 4, x_data), *u = clf_index(X, 1, 0, 1, 1), *v = clf_index(X, 1, 1, 1, 0);
    expect_sticky(clf_add(X, Y), CLF_E_SHAPE, "4x3 and 3x4");
    expect_sticky(clf_mul(u, v), CLF_E_SHAPE, "outer");
    expect_sticky(clf_matmul(X, X), CLF_E_SHAPE, "4x3 and 4x3");
    expect_sticky(clf_cbind(X, Y), CLF_E_SHAPE, "cbind");
    expect_sticky(clf_rbind(X, u), CLF_E_SHAPE, "rbind");
    expect_sticky(clf_index(X, 1, 5, 1, 3), CLF_E_SHAPE, "4x3");
    expect_sticky(clf_index(X, INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX), CLF_E_SHAPE, "index");
    expect_sticky(clf_index(X, 0, 1, 1, 1), CLF_E_SHAPE, "index");
    expect_sticky(clf_reshape(X, 5, 3), CLF_E_SHAPE, "5x3");
    expect_sticky(clf_reshape(X, INT64_MAX, INT64_MAX), CLF_E_SHAPE, "matrix");
    expect_sticky(clf_reshape(X, -4, -3), CLF_E_SHAPE, "-4x-3");
    expect_sticky(clf_diag(X), CLF_E_SHAPE, "square");
    expect_sticky(clf_order(X, 4, false, false), CLF_E_SHAPE, "column 4");
    expect_sticky(clf_order(X, INT64_MIN, false, false), CLF_E_SHAPE, "order");
    expect_sticky(clf_as_scalar(X), CLF_E_SHAPE, "1x1");
    expect_sticky(clf_matrix(w.c, CLF_F64, -1, 3, x_data), CLF_E_SHAPE, "negative");
    expect_sticky(clf_matrix(w.c, CLF_F64, INT64_MAX, INT64_MAX, x_data), CLF_E_LIMIT, "too many cells");
    expect_sticky(clf_borrow(w.c, CLF_F64, INT64_MAX, 2, x_data, NULL, NULL), CLF_E_LIMIT, "too many cells");
    expect_sticky(clf_fill(w.c, CLF_F32, INT64_MAX / 2, 8, 0), CLF_E_LIMIT, "too many cells");
    expect_sticky(clf_diag(clf_fill(w.c, CLF_F64, (int64_t)1 << 40, 1, 0)), CLF_E_LIMIT, "too many cells");
    expect_sticky(clf_outer(CLF_MUL, clf_fill(w.c, CLF_F64, (int64_t)1 << 40, 1, 0), clf_fill(w.c, CLF_F64, 1, (int64_t)1 << 40, 0)),
                  CLF_E_LIMIT, "too many cells");
    /* the first error is the one that is told, however deep the expression */
    clf_mat *deep = clf_exp(clf_add(clf_sum(clf_add(X, Y)), clf_num(w.c, 1)));
    expect_sticky(deep, CLF_E_SHAPE, "4x3 and 3x4");
    double out;
    expect_error(w.c, clf_read_f64(deep, &out), CLF_E_SHAPE, "4x3 and 3x4");
    expect_error(w.c, clf_read_f64(X, &out), CLF_E_SHAPE, "scalar");
    finish(&w);
}

static void test_types(void) {
    witness w = start("host");
    expect_sticky(clf_matrix(w.c, (clf_dtype)17, 4, 3, x_data), CLF_E_TYPE, "17");
    expect_sticky(clf_cast(w.X, (clf_dtype)-1), CLF_E_TYPE, "-1");
    expect_sticky(clf_rand(w.c, CLF_I32, 2, 2, 0, 1, 1, 1), CLF_E_TYPE, "i32");
    expect_sticky(clf_rand(w.c, (clf_dtype)99, 2, 2, 0, 1, 1, 1), CLF_E_TYPE, "rand");
    expect_sticky(clf_rand(w.c, CLF_F64, 2, 2, NAN, 1, 1, 1), CLF_E_ARG, "rand");
    expect_sticky(clf_rand(w.c, CLF_F64, 2, 2, 0, 1, 1.5, 1), CLF_E_ARG, "sparsity");
    expect_sticky(clf_rand(w.c, CLF_F64, -2, 2, 0, 1, 1, 1), CLF_E_SHAPE, "negative");
    expect_sticky(clf_seq(w.c, 1, 5, -1), CLF_E_ARG, "seq");
    expect_sticky(clf_seq(w.c, 1, INFINITY, 1), CLF_E_ARG, "seq");
    expect_sticky(clf_seq(w.c, 0, 1e300, 1e-300), CLF_E_LIMIT, "seq");
    expect_sticky(clf_seq(w.c, 0, 1e17, 1), CLF_E_LIMIT, "too long");
    expect_sticky(clf_apply((clf_op_code)9999, w.X, NULL, NULL), CLF_E_ARG, "9999");
    expect_sticky(clf_apply(CLF_ADD, w.X, NULL, NULL), CLF_E_ARG, "operand 2");
    expect_sticky(clf_outer(CLF_EXP, w.X, w.X), CLF_E_ARG, "binary");
    expect_sticky(clf_fold((clf_fold_code)-3, CLF_ALL, w.X), CLF_E_ARG, "-3");
    expect_sticky(clf_fold(CLF_FOLD_CODE_SUM, (clf_dir)3, w.X), CLF_E_ARG, "direction 3");
    expect_sticky(clf_cum(CLF_FOLD_CODE_MEAN, w.X), CLF_E_ARG, "mean");
    expect_sticky(clf_cum((clf_fold_code)77, w.X), CLF_E_ARG, "77");
    expect_sticky(clf_matrix(w.c, CLF_F64, 4, 3, NULL), CLF_E_ARG, "NULL");
    expect_sticky(clf_borrow(w.c, CLF_F64, 1, 1, (const char *)x_data + 1, NULL, NULL), CLF_E_ARG, "aligned");
    CU_ASSERT_PTR_NULL(clf_exp(NULL));
    clf_ctx *other = open_host();
    expect_sticky(clf_add(w.X, clf_num(other, 1)), CLF_E_ARG, "different contexts");
    clf_mat *two[2] = {w.sum, clf_num(other, 1)};
    expect_error(w.c, clf_eval(2, two), CLF_E_ARG, "different contexts");
    clf_close(other);
    finish(&w);
}

static void test_names(void) {
    witness w = start("host");
    clf_binding b = {"X", w.X};
    expect_sticky(clf_expr(w.c, "sum(X * Q)", &b, 1), CLF_E_NAME, "Q");
    expect_sticky(clf_expr(w.c, "blub(X)", &b, 1), CLF_E_NAME, "blub");
    expect_sticky(clf_expr(w.c, "sum(X", &b, 1), CLF_E_SYNTAX, "line 1, column 6");
    expect_error(w.c, clf_set(w.c, "no_such_knob", "1"), CLF_E_NAME, "no_such_knob");
    expect_error(w.c, clf_set(w.c, "fuse", "costs"), CLF_E_NAME, "costs");
    expect_error(w.c, clf_set(w.c, "threads", "-1"), CLF_E_ARG, "threads");
    expect_error(w.c, clf_set(w.c, "threads", "many"), CLF_E_ARG, "many");
    expect_error(w.c, clf_set(w.c, NULL, "many"), CLF_E_ARG, "NULL");
    expect_sticky(clf_load(w.c, "/no/such/file.npy"), CLF_E_IO, "/no/such/file.npy");
    expect_sticky(clf_load(w.c, NULL), CLF_E_ARG, "path");
    expect_error(w.c, clf_save(w.X, "/no/such/folder/x.npy", NULL), CLF_E_IO, "/no/such/folder");
    expect_error(w.c, clf_save(w.X, NULL, NULL), CLF_E_ARG, "path");
    clf_load_options unset = {0};
    expect_sticky(clf_load_with(w.c, "x.npy", &unset, NULL), CLF_E_ARG, "struct_size");
    clf_ctx *bad = NULL;
    clf_options o = {.struct_size = sizeof o, .fuse = "everything"};
    CU_ASSERT_EQUAL(clf_open(&bad, &o), CLF_E_NAME);
    CU_ASSERT_PTR_NULL(bad);
    CU_ASSERT_PTR_NOT_NULL(strstr(clf_open_error(), "everything"));
    o = (clf_options){.struct_size = 1};
    CU_ASSERT_EQUAL(clf_open(&bad, &o), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_open(NULL, NULL), CLF_E_ARG);
    CU_ASSERT_PTR_NOT_NULL(strstr(clf_open_error(), "NULL"));
    finish(&w);
}

/* ---- empty matrices: every operator, every aggregate, every structure ---- */

static void expect_shape(clf_mat *m, int64_t rows, int64_t cols) {
    int64_t r = -1, c = -1;
    clf_status st = clf_info(m, &r, &c, NULL, NULL);
    if (st != CLF_OK || r != rows || c != cols) printf("\n    %s, %lldx%lld\n", clf_status_name(st), (long long)r, (long long)c);
    CU_ASSERT(st == CLF_OK && r == rows && c == cols);
    CU_ASSERT_EQUAL(clf_eval(1, &m), CLF_OK);
}

static void empty_cells(clf_ctx *c, clf_mat *e, int64_t rows, int64_t cols) {
    for (int op = 0; op < CLF_OP_CODES; op++) {
        clf_mat *r = clf_apply((clf_op_code)op, e, e, e), *s = clf_apply((clf_op_code)op, e, clf_num(c, 1), clf_num(c, 2));
        expect_shape(r, rows, cols);
        expect_shape(s, rows, cols);
    }
    for (int f = 0; f < CLF_FOLD_CODES; f++) {
        expect_shape(clf_fold((clf_fold_code)f, CLF_ALL, e), 1, 1);
        expect_shape(clf_fold((clf_fold_code)f, CLF_ROWS, e), rows, 1);
        expect_shape(clf_fold((clf_fold_code)f, CLF_COLS, e), 1, cols);
    }
}

static void test_empty(void) {
    static const int64_t shapes[][2] = {{0, 3}, {3, 0}, {0, 0}, {0, 1}, {1, 0}};
    static const clf_dtype types[] = {CLF_F32, CLF_F64, CLF_I32, CLF_I64, CLF_U8};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        clf_ctx *c = open_host();
        int64_t n = shapes[k][0], m = shapes[k][1];
        for (int t = 0; t < 5; t++) empty_cells(c, clf_matrix(c, types[t], n, m, NULL), n, m);
        clf_mat *e = clf_matrix(c, CLF_F64, n, m, NULL), *p = clf_matmul(clf_t(e), e);
        expect_shape(clf_t(e), m, n);
        expect_shape(p, m, m);
        CU_ASSERT_EQUAL(read_f64(clf_sum(clf_abs(p))), 0);
        expect_shape(clf_cbind(e, e), n, 2 * m);
        expect_shape(clf_rbind(e, e), 2 * n, m);
        expect_shape(clf_rev(e), n, m);
        expect_shape(clf_reshape(e, m, n), m, n);
        expect_shape(clf_cum(CLF_FOLD_CODE_SUM, e), n, m);
        expect_shape(clf_index(clf_matrix(c, CLF_F64, 4, 3, x_data), 5, 4, 1, 3), 0, 3);
        expect_shape(clf_rand(c, CLF_F64, n, m, 0, 1, 1, 7), n, m);
        if (m) expect_shape(clf_order(e, 1, false, true), n, 1);
        if (n == m || m == 1) expect_shape(clf_diag(e), n, m == 1 ? n : 1);
        CU_ASSERT_EQUAL(clf_read(e, NULL, 0), CLF_OK);
        CU_ASSERT_EQUAL(read_f64(clf_sum(e)), 0);
        CU_ASSERT(isinf(read_f64(clf_fold(CLF_FOLD_CODE_MIN, CLF_ALL, e))));
        CU_ASSERT(isnan(read_f64(clf_mean(e))));
        clf_close(c);
    }
}

static void test_nan(void) {
    witness w = start("host");
    double v[4] = {NAN, INFINITY, -INFINITY, 1};
    clf_mat *m = clf_matrix(w.c, CLF_F64, 2, 2, v);
    CU_ASSERT(isnan(read_f64(clf_sum(m))));
    CU_ASSERT(isnan(read_f64(clf_fold(CLF_FOLD_CODE_MAX, CLF_ALL, m))));
    CU_ASSERT_EQUAL(read_f64(clf_fold(CLF_FOLD_CODE_ARGMAX, CLF_ALL, m)), 1);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_isnan(m))), 1);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_isinf(m))), 2);
    CU_ASSERT_EQUAL(
        read_f64(clf_sum(clf_replace(clf_replace(m, clf_num(w.c, NAN), clf_num(w.c, 0)), clf_num(w.c, INFINITY), clf_num(w.c, 0)))),
        -INFINITY);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_cast(m, CLF_I32))), 1 + (double)INT32_MAX + (double)INT32_MIN);
    clf_mat *sorted = clf_order(clf_reshape(m, 4, 1), 1, true, false);
    CU_ASSERT_EQUAL(clf_read(sorted, v, sizeof v), CLF_OK);
    CU_ASSERT(v[0] == INFINITY && v[1] == 1 && v[2] == -INFINITY && isnan(v[3]));
    CU_ASSERT(isnan(read_f64(clf_num(w.c, NAN))));
    finish(&w);
}

/* ---- surroundings that fail, each in a process of its own ---- */

static void in_child(void (*run)(void)) {
    fflush(stdout);
    unsigned before = CU_get_number_of_failures();
    pid_t pid = fork();
    CU_ASSERT_NOT_EQUAL_FATAL(pid, -1);
    if (pid == 0) {
        run();
        fflush(stdout);
        _exit(CU_get_number_of_failures() > before);
    }
    int status = 0;
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void no_device(void) {
    setenv("OCL_ICD_VENDORS", "/nonexistent-dir", 1);
    setenv("OCL_ICD_FILENAMES", "", 1);
    witness w = start(NULL);
    clf_device d = {.struct_size = sizeof d};
    CU_ASSERT(clf_device_at(w.c, 0, &d));
    CU_ASSERT(!clf_device_at(w.c, 1, &d));
    CU_ASSERT(strlen(clf_device_why(w.c)) > 0);
    CU_ASSERT_EQUAL(clf_set(w.c, "tier", "2"), CLF_OK);
    double r;
    expect_error(w.c, clf_read_f64(clf_sum(clf_exp(w.X)), &r), CLF_E_NODEV, "no OpenCL device");
    CU_ASSERT_EQUAL(clf_set(w.c, "tier", "auto"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(w.c, "device", "gpu"), CLF_OK);
    expect_error(w.c, clf_read_f64(clf_sum(clf_exp(w.X)), &r), CLF_E_NODEV, "no OpenCL device");
    CU_ASSERT_EQUAL(clf_set(w.c, "device", ""), CLF_OK);
    finish(&w);
}

static void unwritable_cache(void) {
    setenv("CLF_CACHE_DIR", "/proc/no-such-place", 1);
    witness w = start(NULL);
    clf_status st = clf_set(w.c, "tier", "2");
    double r = 0;
    CU_ASSERT_EQUAL(st, CLF_OK);
    st = clf_read_f64(clf_sum(clf_sqr(w.X)), &r);
    CU_ASSERT((st == CLF_OK && r == 650) || st == CLF_E_NODEV);
    CU_ASSERT_EQUAL(clf_set(w.c, "tier", "auto"), CLF_OK);
    finish(&w);
}

/* A kernel that does not build: the host executor takes the step, and the log says so. */
static int build_lines;
static void count_build(void *user, const char *topic, const char *line) {
    (void)user;
    build_lines += !strcmp(topic, "build") && strstr(line, "falls back") != NULL;
}

static void broken_kernel(void) {
    char dir[64], skel[80], path[128];
    snprintf(dir, sizeof dir, "broken_kernels_%d", (int)getpid());
    snprintf(skel, sizeof skel, "%s/skel", dir);
    snprintf(path, sizeof path, "%s/cell.chunk.cl", skel);
    CU_ASSERT_EQUAL_FATAL(mkdir(dir, 0700), 0);
    CU_ASSERT_EQUAL_FATAL(mkdir(skel, 0700), 0);
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs("this is not OpenCL C\n", f);
    fclose(f);
    clf_ctx *c = NULL;
    clf_options o = {.struct_size = sizeof o, .log = count_build};
    CU_ASSERT_EQUAL_FATAL(clf_open(&c, &o), CLF_OK);
    clf_device d = {.struct_size = sizeof d};
    if (clf_device_at(c, 1, &d)) {
        CU_ASSERT_EQUAL(clf_set(c, "log", "build"), CLF_OK);
        CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
        CU_ASSERT_EQUAL(clf_set(c, "kernel_dir", dir), CLF_OK);
        clf_mat *X = clf_matrix(c, CLF_F64, 4, 3, x_data);
        CU_ASSERT_EQUAL(read_f64(clf_sum(clf_sqr(X))), 650);
        CU_ASSERT(build_lines > 0);
        CU_ASSERT_EQUAL(clf_set(c, "kernel_dir", ""), CLF_OK);
        CU_ASSERT_EQUAL(read_f64(clf_sum(clf_sqr(X))), 650);
    }
    clf_close(c);
    unlink(path);
    rmdir(skel);
    rmdir(dir);
}

static void test_no_device(void) { in_child(no_device); }
static void test_unwritable_cache(void) { in_child(unwritable_cache); }
static void test_broken_kernel(void) { in_child(broken_kernel); }

static void test_budget(void) {
    witness w = start("host");
    CU_ASSERT_EQUAL(clf_set(w.c, "mem_limit", "1M"), CLF_OK);
    double r;
    clf_mat *big = clf_mul(clf_seq(w.c, 1, 1000000, 1), clf_num(w.c, 2));
    expect_error(w.c, clf_eval(1, &big), CLF_E_NOMEM, "8000000 bytes");
    CU_ASSERT_EQUAL(clf_read_f64(clf_sum(big), &r), CLF_OK); /* fused, it needs no memory */
    CU_ASSERT_EQUAL(r, 1000001000000.0);
    clf_mem_stats m = {.struct_size = sizeof m};
    char exact[32];
    big = clf_rand(w.c, CLF_F64, 1000000, 1, 0, 1, 1, 3); /* needs its result and nothing besides */
    CU_ASSERT_EQUAL(clf_set(w.c, "mem_limit", "100M"), CLF_OK);
    clf_trim(w.c);
    CU_ASSERT_EQUAL(clf_get_mem_stats(w.c, &m), CLF_OK);
    snprintf(exact, sizeof exact, "%llu", (unsigned long long)m.data + 7999999);
    CU_ASSERT_EQUAL(clf_set(w.c, "mem_limit", exact), CLF_OK);
    expect_error(w.c, clf_eval(1, &big), CLF_E_NOMEM, "7999999 of the budget");
    snprintf(exact, sizeof exact, "%llu", (unsigned long long)m.data + 8000000); /* fits to the byte */
    CU_ASSERT_EQUAL(clf_set(w.c, "mem_limit", exact), CLF_OK);
    CU_ASSERT_EQUAL(clf_eval(1, &big), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(w.c, "mem_limit", "0"), CLF_OK);
    finish(&w);
}

/* ---- extreme graphs in a small stack ---- */

static void *long_chain(void *arg) {
    clf_ctx *c = arg;
    clf_mat *x = clf_matrix(c, CLF_F64, 1, 2, x_data), *one = clf_num(c, 1), *s;
    for (int i = 0; i < 1000000; i++) {
        clf_mat *y = clf_add(x, one);
        clf_free(x);
        x = y;
    }
    s = clf_sum(x);
    CU_ASSERT_EQUAL(read_f64(s), 2000003);
    clf_free(s);
    clf_free(x);
    return NULL;
}

static void *wide_fan(void *arg) {
    enum { WIDE = 100000 };
    clf_ctx *c = arg;
    clf_mat *sum = NULL;
    for (int i = 0; i < WIDE; i++) {
        clf_mat *leaf = clf_matrix(c, CLF_F64, 1, 2, x_data), *next = sum ? clf_add(sum, leaf) : leaf;
        if (sum) {
            clf_free(sum);
            clf_free(leaf);
        }
        sum = next;
    }
    clf_mat *s = clf_sum(sum);
    CU_ASSERT_EQUAL(read_f64(s), 3.0 * WIDE);
    clf_free(s);
    clf_free(sum);
    return NULL;
}

static void *wide_tree(void *arg) {
    enum { WIDE = 1 << 16 };
    clf_ctx *c = arg;
    static clf_mat *node[WIDE];
    for (int i = 0; i < WIDE; i++) node[i] = clf_num(c, i);
    for (int n = WIDE; n > 1; n /= 2)
        for (int i = 0; i < n / 2; i++) node[i] = clf_add(node[2 * i], node[2 * i + 1]);
    CU_ASSERT_EQUAL(read_f64(node[0]), (double)WIDE * (WIDE - 1) / 2);
    return NULL;
}

static void *never_evaluated(void *arg) {
    clf_ctx *c = arg;
    clf_mat *x = clf_num(c, 1);
    for (int i = 0; i < 1000000; i++) {
        clf_mat *y = clf_neg(x);
        clf_free(x);
        x = y;
    }
    clf_free(x);
    return NULL;
}

static void extreme(void *(*run)(void *)) {
    counting_heap h = {.fail_at = 0};
    clf_options o = {.struct_size = sizeof o, .device = "host", .alloc = counting_alloc, .alloc_user = &h};
    clf_ctx *c = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_open(&c, &o), CLF_OK);
    with_stack(256 * 1024, run, c);
    clf_close(c);
    CU_ASSERT_EQUAL(h.live, 0);
}

static void test_long_chain(void) { extreme(long_chain); }
static void test_wide_fan(void) { extreme(wide_fan); }
static void test_wide_tree(void) { extreme(wide_tree); }
static void test_never_evaluated(void) { extreme(never_evaluated); }

/* A long chain of one operator is cut into equal kernels: they are compiled once. */
static void test_chain_on_device(void) {
    clf_ctx *c = open_on(NULL);
    clf_device d = {.struct_size = sizeof d};
    if (clf_device_at(c, 1, &d)) {
        CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
        clf_mat *x = clf_matrix(c, CLF_F64, 4, 3, x_data), *one = clf_num(c, 1);
        for (int i = 0; i < 100000; i++) x = clf_add(x, one);
        CU_ASSERT_EQUAL(clf_eval(1, &x), CLF_OK);
        double got[12];
        CU_ASSERT_EQUAL(clf_read(x, got, sizeof got), CLF_OK);
        CU_ASSERT(got[0] == 100001 && got[11] == 100012);
        clf_stats s = {.struct_size = sizeof s};
        CU_ASSERT_EQUAL(clf_get_stats(c, &s), CLF_OK);
        CU_ASSERT(s.launches_tier2 >= 500);
        CU_ASSERT(s.kernels_built <= 3);
    }
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {
        {"shapes", test_shapes},
        {"types and arguments", test_types},
        {"names and files", test_names},
        {"empty matrices", test_empty},
        {"NaN and infinity", test_nan},
        {"no OpenCL device", test_no_device},
        {"unwritable cache", test_unwritable_cache},
        {"broken kernel", test_broken_kernel},
        {"budget", test_budget},
        {"chain of 10^6", test_long_chain},
        {"fan-in of 10^5", test_wide_fan},
        {"tree of 10^5", test_wide_tree},
        {"chain of 10^6, never evaluated", test_never_evaluated},
        {"chain of 10^5 in kernels", test_chain_on_device},
    };
    return run_suite("bad input", tests, sizeof tests / sizeof *tests);
}
