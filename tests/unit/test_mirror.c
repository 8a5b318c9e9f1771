/* SPDX-License-Identifier: Apache-2.0
 * Copies on devices that take no host pointers: what is sent and brought home, counted in bytes; what goes when a budget is short, a
 * buffer changes or dies, or the devices are closed. PoCL without host pointers is such a device; where there is none, nothing is checked. */
#include "core/buf.h"
#include "device/device_internal.h"
#include "tests/unit/api_testing.h"

enum { ROWS = 300, COLS = 40, CELLS = ROWS * COLS, BYTES = CELLS * 8, LITTLE = 1024 };

static double data[CELLS];

/* Small numbers, whose sums are exact. */
static void fill(double from) {
    for (int i = 0; i < CELLS; i++) data[i] = from + i % 7;
}

static double total(double (*f)(double)) {
    double s = 0;
    for (int i = 0; i < CELLS; i++) s += f(data[i]);
    return s;
}
static double same(double x) { return x; }
static double step(double x) { return (x + 1) * 2 + x; }

static const char *queues = "off"; /* every test runs once with each setting */

static clf_ctx *open_discrete(const char *budget) {
    clf_ctx *c = open_kernels();
    if (!c) return NULL;
    CU_ASSERT_EQUAL(clf_set(c, "host_pointers", "off"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "device_mem", budget), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "transfer_queue", queues), CLF_OK);
    fill(1);
    return c;
}

static clf_mat *lend(clf_ctx *c) { return clf_borrow(c, CLF_F64, ROWS, COLS, data, NULL, NULL); }

static uint64_t on_device(clf_ctx *c) {
    clf_mem_stats m = {.struct_size = sizeof m};
    CU_ASSERT_EQUAL(clf_get_mem_stats(c, &m), CLF_OK);
    return m.device;
}

static clf_fn *function(clf_ctx *c, const char *text, size_t n, const clf_binding *vars) {
    clf_fn *f = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_fn_parse(c, text, n, vars, n, &f), CLF_OK);
    return f;
}

/* Ten calls with another number each: X goes there once, the sum comes back each time. */
static void test_loop(void) {
    clf_ctx *c = open_discrete("0");
    if (!c) return;
    clf_mat *x = lend(c), *out = NULL, *in[2] = {clf_param(c, CLF_F64, ROWS, COLS, false), clf_param(c, CLF_F64, 1, 1, true)};
    clf_fn *f = function(c, "sum(X * k)", 2, (const clf_binding[]){{"X", in[0]}, {"k", in[1]}});
    for (int i = 1; i <= 10; i++) {
        clf_mat *arg[2] = {x, clf_num(c, i)};
        CU_ASSERT_EQUAL(clf_call(f, 2, arg, 1, &out), CLF_OK);
        CU_ASSERT_EQUAL(read_f64(out), i * total(same));
    }
    clf_stats s = stats_of(c);
    CU_ASSERT_EQUAL(s.launches_tier2, 10);
    CU_ASSERT(s.bytes_to_device >= BYTES && s.bytes_to_device < BYTES + LITTLE);
    CU_ASSERT_EQUAL(s.bytes_from_device, 10 * 8);
    CU_ASSERT_EQUAL(s.evictions, 0);
    fill(2); /* and once more when it changes */
    CU_ASSERT_EQUAL(clf_changed(x), CLF_OK);
    for (int i = 1; i <= 3; i++) {
        CU_ASSERT_EQUAL(clf_call(f, 2, (clf_mat *[]){x, clf_num(c, i)}, 1, &out), CLF_OK);
        CU_ASSERT_EQUAL(read_f64(out), i * total(same));
    }
    CU_ASSERT_EQUAL(stats_of(c).bytes_to_device, s.bytes_to_device + BYTES);
    clf_close(c);
}

/* A result that is the next call's argument is there already. */
static void test_carried(void) {
    clf_ctx *c = open_discrete("0");
    if (!c) return;
    clf_mat *x = lend(c), *in = clf_param(c, CLF_F64, ROWS, COLS, false), *out = NULL, *none = NULL;
    clf_fn *f = function(c, "X + 1", 1, &(clf_binding){"X", in});
    CU_ASSERT_EQUAL(clf_call(f, 1, &x, 1, &out), CLF_OK);
    clf_stats before = stats_of(c);
    for (int i = 0; i < 5; i++) {
        clf_mat *was = out;
        out = none;
        CU_ASSERT_EQUAL(clf_call(f, 1, &was, 1, &out), CLF_OK);
        clf_free(was);
    }
    CU_ASSERT_EQUAL(stats_of(c).bytes_to_device, before.bytes_to_device);
    CU_ASSERT_EQUAL(stats_of(c).bytes_from_device, before.bytes_from_device);
    static double got[CELLS];
    for (int k = 0; k < 2; k++) { /* it comes once */
        uint64_t waits = stats_of(c).waits;
        CU_ASSERT_EQUAL(clf_read(out, got, sizeof got), CLF_OK);
        for (int i = 0; i < CELLS; i++) CU_ASSERT_EQUAL(got[i], data[i] + 6);
        CU_ASSERT_EQUAL(stats_of(c).bytes_from_device, before.bytes_from_device + BYTES);
        CU_ASSERT_EQUAL(stats_of(c).waits - waits, k == 0);
    }
    clf_close(c);
}

/* A result that stays on the device is there for whoever asks: a step on the host, a plan for the host alone, a kernel in parts, the devices
 * being closed, another evaluation that needs its place. With results = host it comes at once. */
static void test_results_stay(void) {
    static const struct {
        const char *knob, *value;
        int steps; /* X is no leaf of what follows, but how many times X + 1 */
    } ways[] = {{NULL, NULL, 1},         {"device", "host", 1},  {"tier", "0", 1},       {"host_pointers", "on", 1},
                {"max_alloc", "16K", 1}, {"results", "host", 1}, {"device_mem", "0", 3}, {"fuse", "none", 2}};
    static double got[CELLS];
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        char room[32];
        snprintf(room, sizeof room, "%d", 3 * BYTES + LITTLE);
        clf_ctx *c = open_discrete(w == 6 ? room : "0");
        if (!c) return;
        bool home = w == 5;
        if (home) CU_ASSERT_EQUAL(clf_set(c, ways[w].knob, ways[w].value), CLF_OK);
        clf_mat *y = clf_add(lend(c), clf_num(c, 1));
        CU_ASSERT_EQUAL(clf_eval(1, &y), CLF_OK);
        CU_ASSERT_EQUAL(stats_of(c).bytes_from_device, home ? BYTES : 0);
        if (w && w != 6) CU_ASSERT_EQUAL(clf_set(c, ways[w].knob, ways[w].value), CLF_OK);
        clf_mat *z = y;
        for (int k = 0; k < ways[w].steps; k++) {
            z = clf_add(clf_mul(z, y), y);
            CU_ASSERT_EQUAL(clf_eval(1, &z), CLF_OK);
        }
        CU_ASSERT_EQUAL(read_f64(clf_sum(clf_order(z, 1, false, false))), read_f64(clf_sum(z))); /* ordered on the host */
        CU_ASSERT_EQUAL(clf_read(y, got, sizeof got), CLF_OK);
        for (int i = 0; i < CELLS; i++) CU_ASSERT_EQUAL(got[i], data[i] + 1);
        clf_mat *t = clf_add(y, clf_num(c, 1)); /* entries of what nobody has read; they are all there, in order */
        const void *values;
        CU_ASSERT(clf_eval(1, &t) == CLF_OK && clf_eval(1, (clf_mat *[]){clf_to_sparse(t)}) == CLF_OK);
        CU_ASSERT_EQUAL(clf_data_csr(clf_to_sparse(t), NULL, NULL, NULL, &values), CLF_OK);
        for (int i = 0; i < CELLS; i++) CU_ASSERT_EQUAL(((const double *)values)[i], data[i] + 2);
        double sum = 0, want = 0;
        CU_ASSERT_EQUAL(clf_read_f64(clf_sum(z), &sum), CLF_OK);
        for (int i = 0; i < CELLS; i++) {
            double v = data[i] + 1, u = v;
            for (int k = 0; k < ways[w].steps; k++) u = u * v + v;
            want += u;
        }
        CU_ASSERT_EQUAL(sum, want);
        clf_close(c);
    }
}

/* (X + 1) * 2 + X, an operator a kernel. */
static clf_mat *steps(clf_ctx *c, clf_mat *x) {
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "none"), CLF_OK);
    return clf_sum(clf_add(clf_mul(clf_add(x, clf_num(c, 1)), clf_num(c, 2)), x));
}

/* What only kernels read stays where they are. */
static void test_between(void) {
    clf_ctx *c = open_discrete("0");
    if (!c) return;
    CU_ASSERT_EQUAL(read_f64(steps(c, lend(c))), total(step));
    clf_stats s = stats_of(c);
    CU_ASSERT(s.launches_tier2 >= 4);
    CU_ASSERT(s.bytes_to_device >= BYTES && s.bytes_to_device < BYTES + LITTLE);
    CU_ASSERT_EQUAL(s.bytes_from_device, 8);
    clf_close(c);
}

/* A step on the host gets what it reads, once, and nothing else comes. */
static void test_host_between(void) {
    clf_ctx *c = open_discrete("0");
    if (!c) return;
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "none"), CLF_OK);
    clf_mat *x = lend(c), *v = clf_add(clf_col_sums(x), clf_num(c, 1)), *o = clf_order(clf_reshape(v, COLS, 1), 1, true, false);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_add(o, clf_add(o, clf_num(c, 1))))), 0 + (double)total(same) * 2 + 3 * COLS);
    clf_stats s = stats_of(c);
    CU_ASSERT(s.launches_callout > 0 && s.bytes_from_device < 4 * COLS * 8 && s.bytes_from_device >= COLS * 8);
    clf_close(c);
}

/* A step on the host that reads nothing of the device's goes on beside the kernel before it, once the matrix is there: one wait a call, for
 * the kernel's result. */
static void test_beside(void) {
    clf_ctx *c = open_discrete("0");
    if (!c) return;
    double v[COLS], sorted[COLS];
    for (int i = 0; i < COLS; i++) v[i] = COLS - i;
    clf_mat *arg[2] = {lend(c), clf_matrix(c, CLF_F64, COLS, 1, v)}, *out[2] = {NULL, NULL};
    clf_mat *in[2] = {clf_param(c, CLF_F64, ROWS, COLS, false), clf_param(c, CLF_F64, COLS, 1, false)};
    clf_fn *f = function(c, "colSums(X * 2); order(v)", 2, (const clf_binding[]){{"X", in[0]}, {"v", in[1]}});
    for (int i = 0; i < 4; i++) {
        uint64_t waits = stats_of(c).waits;
        CU_ASSERT_EQUAL(clf_call(f, 2, arg, 2, out), CLF_OK);
        CU_ASSERT_EQUAL(clf_read(out[1], sorted, sizeof sorted), CLF_OK);
        CU_ASSERT(sorted[0] == 1 && sorted[COLS - 1] == COLS);
        CU_ASSERT_EQUAL(stats_of(c).waits - waits, i ? 1 : 2);
    }
    CU_ASSERT_EQUAL(stats_of(c).launches_callout, 4);
    clf_close(c);
}

/* Budgets for two, three and four matrices, where a program needs three at once and has five: what has to go comes home if it is new
 * there, and goes back when it is read again. One is too little for any kernel: in parts, or on the host. */
static void test_budget(void) {
    static const struct {
        int matrices;
        bool evicts;
    } budgets[] = {{1, false}, {2, true}, {3, true}, {4, true}, {8, false}};
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        char text[32];
        snprintf(text, sizeof text, "%d", budgets[i].matrices * BYTES + LITTLE);
        clf_ctx *c = open_discrete(text);
        if (!c) return;
        CU_ASSERT_EQUAL(clf_set(c, "fuse", "none"), CLF_OK);
        clf_mat *x = lend(c), *a = clf_add(x, clf_num(c, 1)), *b = clf_mul(a, clf_num(c, 2)), *d = clf_add(b, x), *e = clf_mul(d, a);
        clf_mat *r[3] = {clf_sum(clf_sub(e, b)), clf_add(d, a), clf_sum(a)};
        double want = 0;
        for (int k = 0; k < CELLS; k++) want += step(data[k]) * (data[k] + 1) - 2 * (data[k] + 1);
        CU_ASSERT_EQUAL(clf_eval(3, r), CLF_OK);
        CU_ASSERT_EQUAL(read_f64(r[0]), want);
        CU_ASSERT_EQUAL(read_f64(r[2]), total(same) + CELLS);
        static double got[CELLS];
        CU_ASSERT_EQUAL(clf_read(r[1], got, sizeof got), CLF_OK);
        for (int k = 0; k < CELLS; k++) CU_ASSERT_EQUAL(got[k], step(data[k]) + data[k] + 1);
        CU_ASSERT(on_device(c) <= (uint64_t)budgets[i].matrices * BYTES + LITTLE);
        if (budgets[i].matrices > 2) CU_ASSERT_EQUAL(stats_of(c).evictions > 0, budgets[i].evicts);
        CU_ASSERT_EQUAL(stats_of(c).fallbacks > 0, budgets[i].matrices < 3);
        clf_close(c);
    }
}

/* Two matrices in turn, of which the budget takes one and a half: each call sends its own. With room for both, none does. */
static void test_in_turn(void) {
    for (int room = 0; room < 2; room++) {
        char text[32];
        snprintf(text, sizeof text, "%d", (room ? 4 : 1) * BYTES + BYTES / 2);
        clf_ctx *c = open_discrete(text);
        if (!c) return;
        clf_mat *x[2] = {lend(c), clf_matrix(c, CLF_F64, ROWS, COLS, data)}, *in = clf_param(c, CLF_F64, ROWS, COLS, false), *out = NULL;
        clf_fn *f = function(c, "sum(X)", 1, &(clf_binding){"X", in});
        for (int i = 0; i < 8; i++) {
            CU_ASSERT_EQUAL(clf_call(f, 1, &x[i % 2], 1, &out), CLF_OK);
            CU_ASSERT_EQUAL(read_f64(out), total(same));
        }
        clf_stats s = stats_of(c);
        CU_ASSERT_EQUAL(s.bytes_to_device / BYTES, room ? 2 : 8);
        CU_ASSERT_EQUAL(s.evictions > 0, !room);
        CU_ASSERT_EQUAL(s.fallbacks, 0);
        clf_close(c);
    }
}

/* A kernel over more than a buffer may have takes its operands in parts, from the host: what another has made there comes home first. */
static void test_parts(void) {
    clf_ctx *c = open_discrete("0");
    if (!c) return;
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "none"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "max_alloc", "80K"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "results", "all"), CLF_OK); /* and w stays */
    clf_mat *x = lend(c), *w = clf_add(clf_matrix(c, CLF_F64, ROWS, 1, data), clf_num(c, 1));
    CU_ASSERT_EQUAL(clf_eval(1, &w), CLF_OK);
    clf_mat *r = clf_add(x, clf_sqrt(clf_mul(w, w)));
    static double got[CELLS];
    CU_ASSERT_EQUAL(clf_read(r, got, sizeof got), CLF_OK);
    for (int i = 0; i < CELLS; i++) CU_ASSERT_EQUAL(got[i], data[i] + data[i / COLS] + 1);
    CU_ASSERT(stats_of(c).launches_tier2 > 3 && stats_of(c).bytes_from_device >= ROWS * 8);
    clf_close(c);
}

/* A copy's memory is kept for the next of its size, and given back when asked. */
static void test_memory(void) {
    clf_ctx *c = open_discrete("0");
    if (!c) return;
    for (int i = 0; i < 4; i++) {
        clf_mat *x = clf_matrix(c, CLF_F64, ROWS, COLS, data), *s = clf_sum(x);
        CU_ASSERT_EQUAL(read_f64(s), total(same));
        clf_free(s);
        clf_free(x);
        CU_ASSERT(on_device(c) >= BYTES && on_device(c) < BYTES + BYTES / 2);
    }
    clf_trim(c);
    CU_ASSERT(on_device(c) < BYTES / 2); /* working memory of the plan */
    CU_ASSERT_EQUAL(clf_set(c, "host_pointers", "on"), CLF_OK);
    CU_ASSERT_EQUAL(on_device(c), 0);
    clf_close(c);
}

/* Devices closed and opened again under living matrices. */
static void test_reopened(void) {
    clf_ctx *c = open_discrete("0");
    if (!c) return;
    clf_mat *x = lend(c), *y = clf_add(x, clf_num(c, 1));
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(clf_set(c, "host_pointers", i % 2 ? "on" : "off"), CLF_OK);
        CU_ASSERT_EQUAL(read_f64(clf_sum(clf_add(clf_mul(y, clf_num(c, 2)), x))), total(step));
    }
    clf_close(c);
}

/* A sparse matrix goes as its three arrays, once; what is made with its pattern shares two of them. */
static void test_sparse(void) {
    enum { N = 500, EACH = 3 };
    static int64_t ptr[N + 1];
    static int32_t idx[N * EACH];
    static double val[N * EACH], got[N];
    clf_ctx *c = open_discrete("0");
    if (!c) return;
    for (int i = 0; i <= N; i++) ptr[i] = i * EACH;
    for (int k = 0; k < N * EACH; k++) idx[k] = (k % EACH) * 7 + k / EACH % 5, val[k] = 1 + k % 4;
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "all"), CLF_OK);
    clf_mat *x = clf_sparse_csr(c, CLF_F64, N, 40, N * EACH, ptr, idx, val,
                                &(clf_sparse_options){.struct_size = sizeof(clf_sparse_options), .offset_bytes = 8});
    for (int i = 1; i <= 4; i++) {
        clf_mat *twice = clf_mul(x, clf_num(c, i)), *sums = clf_row_sums(clf_mul(twice, x));
        CU_ASSERT_EQUAL(clf_eval(2, (clf_mat *[]){twice, sums}), CLF_OK);
        CU_ASSERT_EQUAL(clf_read(sums, got, sizeof got), CLF_OK);
        for (int r = 0; r < N; r++) {
            double want = 0;
            for (int k = r * EACH; k < (r + 1) * EACH; k++) want += i * val[k] * val[k];
            CU_ASSERT_EQUAL(got[r], want);
        }
    }
    clf_stats s = stats_of(c);
    if (s.launches_tier2) CU_ASSERT(s.bytes_to_device >= sizeof val && s.bytes_to_device < sizeof ptr + sizeof idx + sizeof val + LITTLE);
    clf_close(c);
}

/* ---- the device layer alone ---- */

static const char plus_text[] = "__kernel void plus(__global const int *a, __global int *b, int k) { size_t i = get_global_id(0); b[i] = "
                                "a[i] + k; }\n";
static const clf_arg_desc plus_args[] = {{CLF_ARG_MEM_IN, CLF_I32, 0}, {CLF_ARG_MEM_OUT, CLF_I32, 0}, {CLF_ARG_PARAM, CLF_I32, 0}};

static clf_status plus(clf_devs *d, clf_buf *a, clf_buf *b, int k, clf_err *err) {
    clf_program *p = NULL;
    clf_source s = {.text = plus_text, .text_len = sizeof plus_text - 1, .entry = "plus", .options = "", .args = plus_args, .nargs = 3};
    s.hash = clf_hash_bytes(plus_text, sizeof plus_text - 1);
    CLF_TRY(clf_program_get(d, 0, &s, &p, NULL, err));
    const clf_arg arg[] = {
        {.ptr = a->host, .bytes = a->bytes, .buf = a}, {.ptr = b->host, .bytes = b->bytes, .buf = b}, {.bytes = 4, .u.i32 = k}};
    return clf_launch(d, 0, p, arg, 3, a->bytes / sizeof(int), 1, err);
}

static void test_layer(void) {
    clf_mem mem;
    clf_devs *d = NULL;
    clf_err err = {CLF_OK, ""};
    clf_mem_init(&mem, NULL, NULL);
    CU_ASSERT_EQUAL_FATAL(clf_devs_open(&d, &(clf_dev_opts){.mem = &mem, .no_host_pointers = 1, .copies_bytes = 4096}, &err), CLF_OK);
    if (clf_devs_count(d)) {
        clf_buf *b[4];
        for (int i = 0; i < 4; i++) {
            b[i] = clf_buf_new(&mem, (uint64_t)i + 1, 1500);
            memset(b[i]->host, 0, 1500);
        }
        CU_ASSERT_EQUAL(plus(d, b[0], b[1], 5, &err), CLF_OK);
        CU_ASSERT(clf_mirror_holds(d, 0, b[0]) && clf_mirror_holds(d, 0, b[1]) && !clf_mirror_holds(d, 0, b[2]));
        CU_ASSERT(!clf_mirror_ahead(b[0]) && clf_mirror_ahead(b[1]));
        CU_ASSERT_EQUAL(plus(d, b[1], b[2], 7, &err), CLF_OK); /* in the place of b[0] */
        CU_ASSERT(!clf_mirror_holds(d, 0, b[0]) && clf_mirror_holds(d, 0, b[2]));
        CU_ASSERT_EQUAL(plus(d, b[2], b[3], 11, &err), CLF_OK); /* b[1] comes home */
        CU_ASSERT(!clf_mirror_holds(d, 0, b[1]) && !clf_mirror_ahead(b[1]));
        CU_ASSERT_EQUAL(clf_dev_wait(d, 0, &err), CLF_OK);
        CU_ASSERT(((int *)b[1]->host)[3] == 5 && ((int *)b[2]->host)[3] == 0 && ((int *)b[3]->host)[3] == 0);
        CU_ASSERT_EQUAL(clf_mirror_home(d, b[3], false, &err), CLF_OK);
        CU_ASSERT_EQUAL(clf_dev_wait(d, 0, &err), CLF_OK);
        CU_ASSERT_EQUAL(((int *)b[3]->host)[374], 23);
        clf_buf_change(b[3]);
        CU_ASSERT_FALSE(clf_mirror_holds(d, 0, b[3]));
        clf_buf_unref(b[2]);
        CU_ASSERT_EQUAL(atomic_load(&mem.device_bytes), 3000);
        CU_ASSERT_EQUAL(plus(d, b[0], b[1], 1, &err), CLF_OK); /* in what is left of them */
        CU_ASSERT_EQUAL(clf_devs_stats(d).evictions, 2);
        clf_mirrors_drop(d, 0);
        CU_ASSERT(!clf_mirror_ahead(b[1]) && !atomic_load(&mem.device_bytes));
        clf_buf *big = clf_buf_new(&mem, 9, 2500);
        CU_ASSERT_EQUAL(plus(d, b[0], big, 1, &err), CLF_OK);
        CU_ASSERT_EQUAL(plus(d, big, big, 1, &err), CLF_OK);
        clf_buf *other = clf_buf_new(&mem, 10, 2500);
        CU_ASSERT_EQUAL(plus(d, big, other, 1, &err), CLF_E_LIMIT);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "over the budget"));
        CU_ASSERT_EQUAL(clf_dev_fault(d, 0), CLF_FAULT_DEVICE_MEMORY);
        CU_ASSERT_EQUAL(clf_dev_wait(d, 0, &err), CLF_OK);
        clf_buf_unref(big);
        clf_devs_close(d); /* before buffers that it has copies of */
        d = NULL;
        clf_buf_unref(other);
        for (int i = 0; i < 4; i++)
            if (i != 2) clf_buf_unref(b[i]);
    }
    clf_devs_close(d);
    CU_ASSERT(!atomic_load(&mem.now_bytes) && !atomic_load(&mem.device_bytes));
}

/* What a device has alone is brought home before its copies go; where that fails it is lost, and whoever asks is told. */
static void test_kept(void) {
    for (int busy = 0; busy < 2; busy++) {
        clf_mem mem;
        clf_devs *d = NULL;
        clf_err err = {CLF_OK, ""};
        clf_mem_init(&mem, NULL, NULL);
        CU_ASSERT_EQUAL_FATAL(clf_devs_open(&d, &(clf_dev_opts){.mem = &mem, .no_host_pointers = 1}, &err), CLF_OK);
        clf_buf *a = clf_buf_new(&mem, 1, 1200), *b = clf_buf_new(&mem, 2, 1200);
        memset(a->host, 0, 1200);
        memset(b->host, 0, 1200);
        if (clf_devs_count(d)) {
            CU_ASSERT_EQUAL_FATAL(plus(d, a, b, 5, &err), CLF_OK);
            CU_ASSERT_EQUAL(clf_dev_wait(d, 0, &err), CLF_OK);
            clf_mirror_keep(a);
            clf_mirror_keep(b);
            CU_ASSERT(clf_mirror_ahead(b) && ((int *)b->host)[7] == 0);
            d->dev[0].busy = busy;
            clf_mirrors_drop(d, 0);
            d->dev[0].busy = false;
            CU_ASSERT(!clf_mirror_ahead(b) && !a->lost && b->lost == (bool)busy);
            CU_ASSERT_EQUAL(((int *)b->host)[7], busy ? 0 : 5);
            CU_ASSERT_EQUAL(clf_mirror_fetch(d, a, &err), CLF_OK);
            CU_ASSERT_EQUAL(clf_mirror_fetch(d, b, &err), busy ? CLF_E_DEVICE : CLF_OK);
            if (busy) CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "computed again"));
        }
        clf_buf_unref(a);
        clf_buf_unref(b);
        clf_devs_close(d);
        CU_ASSERT(!atomic_load(&mem.now_bytes) && !atomic_load(&mem.device_bytes));
    }
}

int main(void) {
    static const test_case tests[] = {{"a loop", test_loop},
                                      {"results as arguments", test_carried},
                                      {"results stay", test_results_stay},
                                      {"between kernels", test_between},
                                      {"the host between", test_host_between},
                                      {"the host beside", test_beside},
                                      {"budgets", test_budget},
                                      {"in turn", test_in_turn},
                                      {"parts", test_parts},
                                      {"memory", test_memory},
                                      {"reopened", test_reopened},
                                      {"sparse", test_sparse},
                                      {"the device layer", test_layer},
                                      {"kept on a device", test_kept}};
    int rc = run_suite("mirrors", tests, sizeof tests / sizeof *tests);
    queues = "on";
    return rc | run_suite("mirrors, by two queues", tests, sizeof tests / sizeof *tests);
}
