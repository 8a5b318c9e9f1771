/* SPDX-License-Identifier: Apache-2.0
 * Texts of the element preludes that no operator is alone: E_FMA, in which inner products step, one rounding for floats, wrapping for
 * integers; and E_OFN, a count as a cell, which is what a conversion gives. The same bits from the C prelude and from the OpenCL one at
 * every width. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels-cl/elem_c.h"
#include "kernels-cl/emit.h"
#include "tests/support/kernel_job.h"

enum { CELLS = 512 };

#define ELEM_T f32
static float fma_f32(float a, float b, float c) { return E_FMA(a, b, c); }
static float ofn_f32(int64_t n) { return E_OFN(n); }
#undef ELEM_T
#define ELEM_T f64
static double fma_f64(double a, double b, double c) { return E_FMA(a, b, c); }
static double ofn_f64(int64_t n) { return E_OFN(n); }
#undef ELEM_T
#define ELEM_T i32
static int32_t fma_i32(int32_t a, int32_t b, int32_t c) { return E_FMA(a, b, c); }
#undef ELEM_T
#define ELEM_T i64
static int64_t fma_i64(int64_t a, int64_t b, int64_t c) { return E_FMA(a, b, c); }
#undef ELEM_T
#define ELEM_T u8
static uint8_t fma_u8(uint8_t a, uint8_t b, uint8_t c) { return E_FMA(a, b, c); }
#undef ELEM_T

/* Cells of three arrays as those of a fourth. */
static void each_fma(void *const *mem, void *out, clf_dtype t) {
    for (int k = 0; k < CELLS; k++) {
        switch (t) {
#define CASE(T, name) \
    case T: \
        ((ELEM_C_##name *)out)[k] = fma_##name(((ELEM_C_##name *)mem[0])[k], ((ELEM_C_##name *)mem[1])[k], ((ELEM_C_##name *)mem[2])[k]); \
        break;
            CASE(CLF_F32, f32)
            CASE(CLF_F64, f64)
            CASE(CLF_I32, i32)
            CASE(CLF_I64, i64)
        default: CASE(CLF_U8, u8)
#undef CASE
        }
    }
}

static void each_ofn(void *const *mem, void *out, clf_dtype t) {
    for (int k = 0; k < CELLS; k++) {
        const int64_t n = ((const int64_t *)mem[0])[k];
        if (t == CLF_F32)
            ((float *)out)[k] = ofn_f32(n);
        else
            ((double *)out)[k] = ofn_f64(n);
    }
}

/* Counts of every size, both ends of the type and their neighbours, and what lies halfway between two floats among them. */
static void fill_counts(int64_t *n) {
    for (int k = 0; k < CELLS; k++) {
        const int64_t edge = (int64_t)(UINT64_C(1) << k % 64);
        n[k] = (int64_t)((uint64_t)edge + (uint64_t)(k / 64 - 3) * (k % 2 ? 1 : (uint64_t)edge >> 24));
    }
}

static const struct text {
    const char *name; /* of the prelude */
    int cells;        /* that it takes */
    bool counts;      /* as i64 */
    void (*each)(void *const *mem, void *out, clf_dtype t);
} texts[] = {{"FMA", 3, false, each_fma}, {"OFN", 1, true, each_ofn}};

static void test_meaning(void) {
    double e = 0x1p-30;
    CU_ASSERT_EQUAL(fma_f64(1 + e, 1 - e, -1), -e * e); /* rounded twice it would be 0 */
    CU_ASSERT_EQUAL(fma_f32(1 + 0x1p-13f, 1 - 0x1p-13f, -1), -0x1p-26f);
    CU_ASSERT_EQUAL(fma_f64(0x1p1000, 0x1p1000, -INFINITY), -INFINITY);
    CU_ASSERT(isnan(fma_f64(0, INFINITY, 1)));
    CU_ASSERT(!signbit(fma_f64(-1, 0, 0)) && signbit(fma_f64(-1, 0, -0.0)));
    CU_ASSERT_EQUAL(fma_i32(INT32_MAX, 2, 3), 1);
    CU_ASSERT_EQUAL(fma_i32(65536, 65536, 7), 7);
    CU_ASSERT_EQUAL(fma_i64(INT64_MIN, -1, -1), INT64_MAX);
    CU_ASSERT_EQUAL(fma_u8(255, 255, 255), 0);
    CU_ASSERT_EQUAL(fma_u8(16, 16, 9), 9);
}

static void test_counts(void) {
    int64_t n[CELLS];
    fill_counts(n);
    int wrong = 0;
    for (int k = 0; k < CELLS; k++) wrong += ofn_f64(n[k]) != (double)n[k] || signbit(ofn_f64(n[k])) != signbit((double)n[k]);
    for (int k = 0; k < 1 << 24; k += 4095) wrong += ofn_f64(k) != k || ofn_f32(k) != (float)k;
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(ofn_f64(INT64_MAX), 0x1p63);
    CU_ASSERT_EQUAL(ofn_f64(INT64_MIN), -0x1p63);
}

/* A kernel of one work-item that walks CELLS cells by `width`. */
static void kernel_text(clf_str *out, const struct text *x, clf_dtype t, int width) {
    clf_emit e;
    clf_err err = {.code = CLF_OK};
    char prefix[CLF_EMIT_NAME], scalar[CLF_EMIT_NAME], from[CLF_EMIT_NAME];
    clf_str_init(out, &jobs.mem);
    clf_emit_init(&e, out);
    clf_emit_prefix(&e, prefix, t, width);
    const char *one = clf_emit_type(scalar, t, 1), *in = x->counts ? "long" : clf_emit_type(from, t, 1);
    CU_ASSERT_EQUAL_FATAL(clf_kernel_text("prelude/math.clh", "", out, &err), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_kernel_text("prelude/elem.clh", "", out, &err), CLF_OK);
    clf_str_put(out, "\n");
    clf_emit_prelude(&e, out);
    clf_str_fmt(out, "__kernel void go(const __global %s *a, const __global %s *b, const __global %s *c, __global %s *o) {\n", in, in, in,
                one);
    clf_str_fmt(out, "for (int k = 0; k < %d; k++) ", CELLS / width);
    if (width == 1) {
        clf_str_fmt(out, "o[k] = %s_%s(", prefix, x->name);
        for (int q = 0; q < x->cells; q++) clf_str_fmt(out, "%s%c[k]", q ? ", " : "", 'a' + q);
        clf_str_put(out, ");\n}\n");
    } else {
        clf_str_fmt(out, "vstore%d(%s_%s(", width, prefix, x->name);
        for (int q = 0; q < x->cells; q++) clf_str_fmt(out, "%svload%d(k, %c)", q ? ", " : "", width, 'a' + q);
        clf_str_put(out, "), k, o);\n}\n");
    }
}

static void run_kernel(const clf_str *text, void *const *mem, size_t in, size_t out) {
    clf_arg_desc desc[4] = {{CLF_ARG_MEM_IN, 0, 0}, {CLF_ARG_MEM_IN, 0, 1}, {CLF_ARG_MEM_IN, 0, 2}, {CLF_ARG_MEM_OUT, 0, 0}};
    clf_arg arg[4];
    clf_source src = {.text = clf_str_c(text), .text_len = text->len, .entry = "go", .options = "", .args = desc, .nargs = 4};
    clf_program *p = NULL;
    clf_err err = {.code = CLF_OK};
    bool compiled;
    src.hash = clf_hash_bytes(clf_str_c(text), text->len);
    memset(arg, 0, sizeof arg);
    for (int k = 0; k < 4; k++) arg[k].ptr = mem[k], arg[k].bytes = k < 3 ? in : out;
    clf_status st = clf_program_get(jobs.devs, 0, &src, &p, &compiled, &err);
    if (st == CLF_OK) st = clf_launch(jobs.devs, 0, p, arg, 4, 1, 1, &err);
    if (st == CLF_OK) st = clf_dev_wait(jobs.devs, 0, &err);
    if (st != CLF_OK) fprintf(stderr, "%s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
}

static void on_device(const struct text *x, clf_dtype t, int width) {
    kernel_job j;
    clf_str text;
    const clf_dtype from = x->counts ? CLF_I64 : t;
    size_t bytes[5];
    void *mem[5];
    job_begin(&j, (uint64_t)t * 31 + (uint64_t)width);
    for (int k = 0; k < 5; k++) {
        bytes[k] = CELLS * clf_dtype_bytes(k < 3 ? from : t);
        mem[k] = clf_mem_data(&jobs.mem, bytes[k]);
        if (k < 3) job_fill(&j, mem[k], from, CELLS, JOB_REAL);
    }
    if (x->counts) fill_counts(mem[0]);
    memset(mem[3], 0x5a, bytes[3]), memset(mem[4], 0xa5, bytes[4]);
    x->each(mem, mem[4], t);
    kernel_text(&text, x, t, width);
    run_kernel(&text, mem, bytes[0], bytes[3]);
    size_t bad = 0;
    for (size_t k = 0; k < CELLS; k++) {
        clf_scalar x = clf_scalar_load(mem[3], k, t), y = clf_scalar_load(mem[4], k, t);
        bad += !clf_scalar_same(x, y) && !(clf_dtype_float(t) && isnan(x.u.f) && isnan(y.u.f));
    }
    if (bad) fprintf(stderr, "%s of %s, %d lanes: %zu differ\n", x->name, clf_dtype_name(t), width, bad);
    CU_ASSERT_EQUAL(bad, 0);
    clf_str_release(&text);
    for (int k = 0; k < 5; k++) clf_mem_data_free(&jobs.mem, mem[k], bytes[k]);
    clf_arena_release(&j.arena);
}

static void test_device(void) {
    static const int width[] = {1, 2, 4, 8, 16};
    for (size_t x = 0; x < sizeof texts / sizeof *texts; x++) {
        for (int t = 0; t < CLF_NDTYPES; t++) {
            if (texts[x].counts && !clf_dtype_float((clf_dtype)t)) continue;
            for (size_t w = 0; w < sizeof width / sizeof *width; w++)
                if (texts[x].counts || width[w] % 8 < 2) on_device(&texts[x], (clf_dtype)t, width[w]);
        }
    }
}

int main(void) {
    bool device = jobs_open(false);
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("elements", NULL, NULL);
    CU_add_test(s, "one rounding, wrapping integers", test_meaning);
    CU_add_test(s, "counts as cells", test_counts);
    if (device) CU_add_test(s, "the same bits on the device", test_device);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    jobs_close();
    return bad;
}
