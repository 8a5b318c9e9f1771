/* SPDX-License-Identifier: Apache-2.0
 * The devices as the library sees them, and a self-test of each: small programs of every template on whole numbers, whose results plain C
 * knows exactly. */
#include <stdlib.h>
#include <string.h>

#include "host/tool/doctor.h"

enum { ROWS = 60, COLS = 9, RANK = 3 }; /* of small programs */

void doctor_devices(doctor *d) {
    clf_device v = {.struct_size = sizeof v};
    if (!d->c) return;
    for (int i = 0; clf_device_at(d->c, i, &v); i++)
        doctor_say(d, DOCTOR_OK, NULL, "device %d: %s, %u compute units, %s%s", v.index, v.name, v.compute_units, v.driver,
                   v.chosen ? "; the default" : "");
    const char *why = clf_device_why(d->c);
    if (*why) doctor_say(d, DOCTOR_FAIL, "see what is said of drivers; programs run on device 0 meanwhile", "no OpenCL device: %s", why);
}

void doctor_memory(doctor *d) {
    clf_device v = {.struct_size = sizeof v};
    for (int i = 1; d->c && clf_device_at(d->c, i, &v); i++) {
        if (v.mem_bytes >> 31 == 0)
            doctor_say(d, DOCTOR_NOTE, "PoCL: see POCL_MEMORY_LIMIT and the container's limit", "device %d reports only %.2f GiB of memory",
                       i, (double)v.mem_bytes / (1 << 30));
        if (!v.fp64) doctor_say(d, DOCTOR_NOTE, "use --dtype f32 there", "device %d has no f64", i);
    }
}

/* Over the entries of a sparse matrix, one in each row. */
static bool run_entries(clf_ctx *c, clf_dtype t) {
    static double ones[ROWS];
    static float ones_f32[ROWS];
    int64_t offset[ROWS + 1] = {0};
    int32_t column[ROWS];
    double sum = 0;
    for (int i = 0; i < ROWS; i++) {
        ones[i] = ones_f32[i] = 1;
        column[i] = i % COLS;
        offset[i + 1] = i + 1;
    }
    clf_mat *x = clf_sparse_csr(c, t, ROWS, COLS, ROWS, offset, column, t == CLF_F32 ? (const void *)ones_f32 : ones, NULL);
    return clf_read_f64(clf_sum(clf_mul(x, x)), &sum) == CLF_OK && sum == ROWS;
}

/* One plan for each generic kernel of a type: of cells, of rows, of stored entries. */
static bool run_generic(clf_ctx *c, clf_dtype t) {
    static double ones[ROWS * COLS], product[COLS];
    double sum = 0;
    for (int i = 0; i < ROWS * COLS; i++) ones[i] = 1;
    clf_mat *x = clf_cast(clf_borrow(c, CLF_F64, ROWS, COLS, ones, NULL, NULL), t),
            *v = clf_cast(clf_borrow(c, CLF_F64, COLS, 1, ones, NULL, NULL), t);
    clf_mat *in[] = {x, v};
    if (clf_eval(2, in) != CLF_OK) return false;
    clf_mat *q = clf_matmul(x, v), *y = clf_cast(clf_matmul(clf_t(x), clf_mul(q, q)), CLF_F64);
    if (clf_read_f64(clf_sum(clf_mul(x, x)), &sum) != CLF_OK || clf_read(y, product, sizeof product) != CLF_OK) return false;
    return sum == ROWS * COLS && product[COLS - 1] == ROWS * COLS * COLS && run_entries(c, t);
}

/* Generic kernels are built once and kept on disk: then no first run has to do without. */
static void keep_generic(doctor *d, const clf_device *v) {
    char name[24];
    clf_ctx *c = NULL;
    snprintf(name, sizeof name, "%d", v->index);
    const clf_options o = {.struct_size = sizeof o, .device = name, .fuse = "all"};
    bool good = clf_open(&c, &o) == CLF_OK && clf_set(c, "tier", "1") == CLF_OK;
    for (int t = CLF_F32; good && t <= CLF_F64; t++) good = run_generic(c, (clf_dtype)t);
    if (!good)
        doctor_say(d, DOCTOR_FAIL, "do not use this device; update or remove its driver",
                   "the generic kernels of device %d do not work: %s", v->index, c ? clf_last_error(c) : clf_open_error());
    clf_close(c);
}

void doctor_profile(doctor *d) {
    clf_device v = {.struct_size = sizeof v};
    bool measured = true;
    if (!d->c) return;
    if (d->o->calibrate && clf_calibrate(d->c) != CLF_OK)
        doctor_say(d, DOCTOR_FAIL, "see cache", "measuring the devices failed: %s", clf_last_error(d->c));
    for (int i = 0; clf_device_at(d->c, i, &v); i++) {
        measured = measured && v.measured;
        if (d->o->calibrate && v.index && v.fp64 && !strcmp(v.kind, "cpu")) keep_generic(d, &v);
        if (v.measured)
            doctor_say(d, DOCTOR_OK, NULL, "device %d measured: reads %.1f GB/s, a launch takes %.1f us", i, v.read_gb_per_s, v.launch_us);
    }
    if (!measured)
        doctor_say(d, DOCTOR_NOTE, "clfuse doctor --calibrate (under 10 s a device)",
                   "plans are made with assumed figures: nothing has been measured here");
}

/* ---- results ---- */

typedef struct numbers {
    double x[ROWS][COLS], s[ROWS][COLS], w[ROWS], v[COLS], u[ROWS][RANK], q[COLS][RANK];
} numbers;

static void make(numbers *a) {
    for (int i = 0; i < ROWS; i++) {
        a->w[i] = i % 5 - 2;
        for (int j = 0; j < COLS; j++) {
            a->x[i][j] = (i * 7 + j) % 11 - 5;
            a->s[i][j] = (i + j) % 4 ? 0 : i % 3 + 1;
            a->v[j] = j % 3 - 1;
        }
        for (int r = 0; r < RANK; r++) a->u[i][r] = (i + 2 * r) % 5 - 2;
    }
    for (int j = 0; j < COLS; j++)
        for (int r = 0; r < RANK; r++) a->q[j][r] = (j + r) % 3 - 1;
}

static double cells(const numbers *a) {
    double sum = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) sum += (a->x[i][j] * a->x[i][j] + 2 * a->s[i][j]) * a->w[i];
    return sum;
}

/* The sum over j of (j + 1) times column j of the result of the chain. */
static double chain(const numbers *a) {
    double sum = 0;
    for (int i = 0; i < ROWS; i++) {
        double p = 0;
        for (int j = 0; j < COLS; j++) p += a->x[i][j] * a->v[j];
        for (int j = 0; j < COLS; j++) sum += a->x[i][j] * a->w[i] * p * (j + 1);
    }
    return sum;
}

static double driven(const numbers *a) {
    double sum = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) {
            double p = 0;
            for (int r = 0; r < RANK; r++) p += a->u[i][r] * a->q[j][r];
            sum += a->s[i][j] * p;
        }
    return sum;
}

static double largest(const numbers *a) {
    double most = a->x[0][0];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) most = a->x[i][j] > most ? a->x[i][j] : most;
    return most;
}

static const struct {
    const char *name, *text;
    double (*want)(const numbers *a);
} tests[] = {
    {"cells", "sum((X^2 + 2*D) * w)", cells},
    {"rows", "sum((t(X) %*% (w * (X %*% v))) * seq(1, 9))", chain},
    {"a sparse driver", "sum(S * (U %*% t(Q)))", driven},
    {"a maximum", "max(X)", largest},
};

static clf_mat *leaf(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, const double *x) {
    return clf_cast(clf_matrix(c, CLF_F64, rows, cols, x), t);
}

/* How many of the tests are right; the first that is not is named in bad. */
static int right(clf_ctx *c, clf_dtype t, const numbers *a, char *bad, size_t n) {
    clf_mat *d = leaf(c, t, ROWS, COLS, a->s[0]);
    const clf_binding vars[] = {{"X", leaf(c, t, ROWS, COLS, a->x[0])},
                                {"D", d},
                                {"S", clf_to_sparse(d)},
                                {"w", leaf(c, t, ROWS, 1, a->w)},
                                {"v", leaf(c, t, COLS, 1, a->v)},
                                {"U", leaf(c, t, ROWS, RANK, a->u[0])},
                                {"Q", leaf(c, t, COLS, RANK, a->q[0])}};
    int good = 0;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        double got = 0, want = tests[i].want(a);
        clf_status st = clf_read_f64(clf_expr(c, tests[i].text, vars, sizeof vars / sizeof *vars), &got);
        good += st == CLF_OK && got == want;
        if (st == CLF_OK && got == want) continue;
        if (st == CLF_OK)
            snprintf(bad, n, "%s: %s is %.17g, and not %.17g", tests[i].name, tests[i].text, got, want);
        else
            snprintf(bad, n, "%s: %s", tests[i].name, clf_last_error(c));
        break;
    }
    return good;
}

static void try_device(doctor *d, const clf_device *v, const numbers *a) {
    const char *const tier = v->index ? "2" : "0";
    char name[24], bad[256] = "";
    int good = 0;
    clf_ctx *c = NULL;
    clf_stats s = {.struct_size = sizeof s};
    snprintf(name, sizeof name, "%d", v->index);
    const clf_options o = {.struct_size = sizeof o, .device = v->index ? name : "host", .fuse = "all"};
    if (clf_open(&c, &o) == CLF_OK && clf_set(c, "tier", tier) == CLF_OK) good = right(c, v->fp64 ? CLF_F64 : CLF_F32, a, bad, sizeof bad);
    if (c) clf_get_stats(c, &s);
    if (good < (int)(sizeof tests / sizeof *tests))
        doctor_say(d, DOCTOR_FAIL, "do not use this device; update or remove its driver", "device %d computes wrong: %s", v->index,
                   c ? bad : clf_open_error());
    else if (v->index && (!s.launches_tier2 || s.fallbacks))
        doctor_say(d, DOCTOR_FAIL, "CLF_LOG=build clfuse run ... shows what the driver said",
                   "device %d runs none or not all of our kernels: %llu ran, %llu plans fell back", v->index,
                   (unsigned long long)s.launches_tier2, (unsigned long long)s.fallbacks);
    else
        doctor_say(d, DOCTOR_OK, NULL, "device %d computes right (%d programs, all bits)", v->index, good);
    clf_close(c);
}

void doctor_results(doctor *d) {
    static numbers a;
    clf_device v = {.struct_size = sizeof v};
    make(&a);
    for (int i = 0; d->c && clf_device_at(d->c, i, &v); i++) try_device(d, &v, &a);
}

/* Whether products reach OpenBLAS, and come back right. */
void doctor_blas(doctor *d) {
    clf_stats s = {.struct_size = sizeof s};
    clf_ctx *c = NULL;
    double most = 0;
    const clf_options o = {.struct_size = sizeof o, .device = "host", .fuse = "none"};
    if (clf_open(&c, &o) != CLF_OK) return;
    clf_device host = {.struct_size = sizeof host};
    bool found = clf_device_at(c, 0, &host) && !strcmp(host.library, "openblas");
    const clf_binding vars[] = {{"A", clf_fill(c, CLF_F64, 300, 300, 2)}};
    clf_status st = clf_read_f64(clf_expr(c, "max(A %*% A)", vars, 1), &most);
    clf_get_stats(c, &s);
    if (st != CLF_OK || most != 4.0 * 300)
        doctor_say(d, DOCTOR_FAIL, "install libopenblas0-pthread again; unset OPENBLAS_CORETYPE", "matrix products are wrong: %.17g", most);
    else if (!found)
        doctor_say(d, DOCTOR_NOTE, "apt-get install libopenblas0-pthread",
                   "no OpenBLAS: large matrix products run in our own, slower loops");
    else
        doctor_say(d, DOCTOR_OK, NULL, "matrix products by OpenBLAS%s",
                   s.launches_library ? "" : ", and in tiles of our own where those are faster");
    clf_close(c);
}

/* Whether products on GPUs can be CLBlast's. It is looked for on CPUs, too, so that it shows before there is a GPU. */
void doctor_clblast(doctor *d) {
    clf_ctx *c = NULL;
    clf_device v = {.struct_size = sizeof v};
    bool gpu = false, found = false;
    const char *set = getenv("CLF_CLBLAST");
    if ((set && !strcmp(set, "off")) || clf_open(&c, NULL) != CLF_OK) return;
    for (int i = 1; clf_set(c, "clblast", "on") == CLF_OK && clf_device_at(c, i, &v); i++) {
        gpu = gpu || !strcmp(v.kind, "gpu");
        found = found || !strcmp(v.library, "clblast");
    }
    if (found)
        doctor_say(d, DOCTOR_OK, NULL, "CLBlast is found, for large matrix products on GPUs%s", gpu ? "" : "; there is no GPU");
    else if (gpu)
        doctor_say(d, DOCTOR_NOTE, "apt-get install libclblast1", "no CLBlast: large matrix products are not made on the GPU");
    clf_close(c);
}
