/* SPDX-License-Identifier: Apache-2.0
 * CLBlast tried out on a device, before it gets work: a small product of each type and transposition, and larger ones until one takes long
 * enough to be timed. The first product of a type compiles, the larger ones go through other kernels than the small. Every cell, of large
 * products some rows, is compared with our own product; both differ from the exact one by at most (k + 2) u |A| |B|, u half a unit in the last place.
 * The result's memory is full of NaN before, for the library must not read it. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "device/device_internal.h"
#include "device/gemm.h"

enum { SMALL_M = 33, SMALL_N = 17, SMALL_K = 29, FIRST = 256, LAST = 2048, ENOUGH_NS = 2000000 };

/* One product under way: matrices, their magnitudes, ours and its bound, with the device's buffers. */
typedef struct trying {
    clf_clblast_trial *t;
    cl_command_queue queue;
    clf_clblast_product p;
    size_t each, cells[3];
    void *host[3], *size[2]; /* A B C; |A| |B| */
    cl_mem mem[3];
} trying;

static clf_status stopped(const clf_clblast_trial *t, clf_err *err) {
    return atomic_load(&t->stop) ? clf_fail(err, CLF_E_CANCELLED, "the devices are closed") : CLF_OK;
}

static double cell(const trying *x, const void *at, size_t i) {
    return x->p.t == CLF_F64 ? ((const double *)at)[i] : (double)((const float *)at)[i];
}

static void put(const trying *x, void *at, size_t i, double value) {
    if (x->p.t == CLF_F64)
        ((double *)at)[i] = value;
    else
        ((float *)at)[i] = (float)value;
}

/* Numbers from -1 to 1 with all bits of the type in use. */
static void fill(trying *x) {
    uint64_t s = 1;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < x->cells[k]; i++) {
            s = s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            put(x, x->host[k], i, (double)(s >> 11) * 0x1p-52 - 1);
            put(x, x->size[k], i, fabs(cell(x, x->host[k], i)));
        }
    for (size_t i = 0; i < x->cells[2]; i++) put(x, x->host[2], i, NAN);
}

/* ---- memory ---- */

static clf_status room(trying *x, clf_err *err) {
    clf_mem *mem = x->t->mem;
    for (int i = 0; i < 3; i++) {
        cl_int rc = CL_SUCCESS;
        x->host[i] = clf_mem_new(mem, x->cells[i], x->each);
        if (i < 2) x->size[i] = clf_mem_new(mem, x->cells[i], x->each);
        if (!x->host[i] || (i < 2 && !x->size[i])) return clf_fail(err, CLF_E_NOMEM, "no memory to try it out");
        x->mem[i] = clCreateBuffer(x->t->ctx, CL_MEM_READ_WRITE, x->cells[i] * x->each, NULL, &rc);
        if (!x->mem[i]) return clf_cl_check(rc == CL_SUCCESS ? CL_OUT_OF_RESOURCES : rc, "clCreateBuffer", "its trial", err);
    }
    return CLF_OK;
}

static void leave(trying *x) {
    clFinish(x->queue);
    for (int i = 0; i < 3; i++) {
        if (x->mem[i]) clReleaseMemObject(x->mem[i]);
        clf_mem_free(x->t->mem, x->host[i], x->cells[i], x->each);
        if (i < 2) clf_mem_free(x->t->mem, x->size[i], x->cells[i], x->each);
    }
}

static void enter(trying *x, clf_dtype type, bool ta, bool tb, int64_t m, int64_t n, int64_t k) {
    x->p = (clf_clblast_product){.t = type, .ta = ta, .tb = tb, .m = m, .n = n, .k = k, .lda = ta ? m : k, .ldb = tb ? k : n, .ldc = n};
    x->each = clf_dtype_bytes(type);
    x->cells[0] = (size_t)(m * k);
    x->cells[1] = (size_t)(k * n);
    x->cells[2] = (size_t)(m * n);
}

/* ---- there and back ---- */

static clf_status move(const trying *x, bool there, clf_err *err) {
    for (int i = there ? 0 : 2; i < 3; i++) {
        size_t bytes = x->cells[i] * x->each;
        cl_int rc = there ? clEnqueueWriteBuffer(x->queue, x->mem[i], CL_TRUE, 0, bytes, x->host[i], 0, NULL, NULL)
                          : clEnqueueReadBuffer(x->queue, x->mem[i], CL_TRUE, 0, bytes, x->host[i], 0, NULL, NULL);
        CLF_TRY(clf_cl_check(rc, there ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer", "its trial", err));
    }
    return CLF_OK;
}

static clf_status call(const trying *x, double *ns, clf_err *err) {
    cl_event event = NULL;
    cl_int status = CL_COMPLETE;
    uint64_t start = clf_now_ns();
    int rc = clf_clblast_call(x->t->calls, &x->p, x->mem, x->queue, &event);
    if (rc != CL_SUCCESS) return clf_fail(err, CLF_E_DEVICE, "it gave %d (%s) for a small product", rc, clf_cl_name(rc));
    rc = clFinish(x->queue);
    *ns = (double)(clf_now_ns() - start);
    if (event) clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    if (event) clReleaseEvent(event);
    return clf_cl_check(rc != CL_SUCCESS ? rc : status < 0 ? status : CL_SUCCESS, "a product", "its trial", err);
}

/* ---- comparing ---- */

/* Rows from lo on: ours, and the bound. */
static clf_status ours(const trying *x, int64_t lo, int64_t rows, bool sizes, void *out, clf_err *err) {
    const char *a = sizes ? x->size[0] : x->host[0];
    clf_gemm_args g = {.ta = x->p.ta, .tb = x->p.tb, .m = rows, .n = x->p.n, .k = x->p.k, .lda = x->p.lda, .ldb = x->p.ldb, .ldc = x->p.n};
    g.A = a + (size_t)(x->p.ta ? lo : lo * x->p.lda) * x->each;
    g.B = sizes ? x->size[1] : x->host[1];
    g.C = out;
    return x->p.t == CLF_F64 ? clf_gemm_f64(x->t->mem, &g, err) : clf_gemm_f32(x->t->mem, &g, err);
}

static clf_status compare_cells(const trying *x, int64_t lo, size_t cells, const void *want, const void *bound, clf_err *err) {
    double u = x->p.t == CLF_F64 ? DBL_EPSILON / 2 : FLT_EPSILON / 2, share = 2 * ((double)x->p.k + 2) * u;
    for (size_t i = 0; i < cells; i++) {
        double got = cell(x, x->host[2], (size_t)(lo * x->p.n) + i), w = cell(x, want, i);
        if (!(fabs(got - w) <= share * cell(x, bound, i)))
            return clf_fail(err, CLF_E_INTERNAL, "a wrong result, %.17g where %.17g was expected", got, w);
    }
    return CLF_OK;
}

static clf_status compare(const trying *x, int64_t lo, int64_t rows, clf_err *err) {
    size_t cells = (size_t)(rows * x->p.n);
    void *want = clf_mem_new(x->t->mem, cells, x->each), *bound = clf_mem_new(x->t->mem, cells, x->each);
    clf_status st = want && bound ? CLF_OK : clf_fail(err, CLF_E_NOMEM, "no memory to try it out");
    if (st == CLF_OK) st = ours(x, lo, rows, false, want, err);
    if (st == CLF_OK) st = ours(x, lo, rows, true, bound, err);
    if (st == CLF_OK) st = compare_cells(x, lo, cells, want, bound, err);
    clf_mem_free(x->t->mem, want, cells, x->each);
    clf_mem_free(x->t->mem, bound, cells, x->each);
    return st;
}

/* The same product three times: the first may compile. */
static clf_status product(trying *x, double *best_ns, clf_err *err) {
    double ns = 0;
    CLF_TRY(room(x, err));
    fill(x);
    CLF_TRY(move(x, true, err));
    for (int i = 0; i < 3; i++) {
        CLF_TRY(stopped(x->t, err));
        CLF_TRY(call(x, &ns, err));
        if (!i || ns < *best_ns) *best_ns = ns;
    }
    CLF_TRY(move(x, false, err));
    if (x->p.m < FIRST) return compare(x, 0, x->p.m, err);
    for (int i = 0; i < 3; i++) CLF_TRY(compare(x, (x->p.m - 1) * i / 2, 1, err));
    return CLF_OK;
}

static clf_status try_one(clf_clblast_trial *t, cl_command_queue queue, const clf_clblast_product *p, double *best_ns, clf_err *err) {
    trying x = {.t = t, .queue = queue};
    enter(&x, p->t, p->ta, p->tb, p->m, p->n, p->k);
    clf_status st = product(&x, best_ns, err);
    leave(&x);
    return st;
}

/* ---- the whole ---- */

/* A product takes ns and 2 k (cells + half_cells) / flops_per_s. */
static void note_rate(clf_clblast_rates *r, bool f64, double first_ns, double last_ns, double side) {
    double first = FIRST, rate = 2 * side * side * side / last_ns;
    double half = (first_ns - r->ns) * rate / (2 * first) - first * first;
    r->flops_per_s[f64] = rate * 1e9;
    if (side > FIRST && half > r->half_cells) r->half_cells = half;
}

static clf_status try_large(clf_clblast_trial *t, cl_command_queue queue, clf_dtype type, clf_err *err) {
    double first = 0, ns = 0;
    int64_t side = FIRST / 2;
    do {
        side *= 2;
        CLF_TRY(try_one(t, queue, &(clf_clblast_product){.t = type, .m = side, .n = side, .k = side}, &ns, err));
        if (side == FIRST) first = ns;
    } while (ns < ENOUGH_NS && side < LAST);
    note_rate(&t->rates, type == CLF_F64, first, ns > 1 ? ns : 1, (double)side);
    return CLF_OK;
}

static clf_status try_type(clf_clblast_trial *t, cl_command_queue queue, clf_dtype type, clf_err *err) {
    double ns = 0;
    for (int i = 0; i < 4; i++) {
        clf_clblast_product p = {.t = type, .ta = i & 1, .tb = i & 2, .m = SMALL_M, .n = SMALL_N, .k = SMALL_K};
        CLF_TRY(try_one(t, queue, &p, &ns, err));
        if (ns > t->rates.ns) t->rates.ns = ns;
    }
    return try_large(t, queue, type, err);
}

clf_status clf_clblast_try(clf_clblast_trial *t, clf_err *err) {
    cl_int rc = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueue(t->ctx, t->id, 0, &rc);
    if (!queue) return clf_cl_check(rc == CL_SUCCESS ? CL_OUT_OF_RESOURCES : rc, "clCreateCommandQueue", "its trial", err);
    clf_status st = try_type(t, queue, CLF_F32, err);
    if (st == CLF_OK && t->fp64) st = try_type(t, queue, CLF_F64, err);
    clReleaseCommandQueue(queue);
    return st;
}
