/* SPDX-License-Identifier: Apache-2.0
 * The small tables of core/: status, errors, trace topics, knobs, element types and their conversions. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/dtype.h"
#include "core/err.h"
#include "core/knobs.h"
#include "core/trace.h"

static void test_status(void) {
    CU_ASSERT_STRING_EQUAL(clf_status_name(CLF_OK), "CLF_OK");
    CU_ASSERT_STRING_EQUAL(clf_status_name(CLF_E_SHAPE), "CLF_E_SHAPE");
    CU_ASSERT_STRING_EQUAL(clf_status_text(CLF_E_INTERNAL), "internal error");
    CU_ASSERT_STRING_EQUAL(clf_status_text((clf_status)999), "unknown status");
    CU_ASSERT_PTR_NOT_NULL(clf_status_name((clf_status)-3));
}

static void test_first_error_wins(void) {
    clf_err e = {0};
    CU_ASSERT_EQUAL(clf_fail(&e, CLF_E_SHAPE, "%d x %d", 2, 3), CLF_E_SHAPE);
    CU_ASSERT_EQUAL(clf_fail(&e, CLF_E_NOMEM, "later"), CLF_E_NOMEM);
    CU_ASSERT(e.code == CLF_E_SHAPE && strcmp(e.text, "2 x 3") == 0);
    clf_err_clear(&e);
    CU_ASSERT(e.code == CLF_OK && e.text[0] == '\0');
    CU_ASSERT_EQUAL(clf_fail(NULL, CLF_E_IO, "nobody listens"), CLF_E_IO);
    char wide[2000];
    memset(wide, 'x', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    clf_fail(&e, CLF_E_ARG, "%s", wide);
    CU_ASSERT_EQUAL(strlen(e.text), CLF_ERR_TEXT - 1);
}

typedef struct heard {
    char topic[16], line[4096];
    int lines;
} heard;

static void hear(void *user, const char *topic, const char *line) {
    heard *h = user;
    strncpy(h->topic, topic, sizeof h->topic - 1);
    strncpy(h->line, line, sizeof h->line - 1);
    h->lines++;
}

static void test_trace(void) {
    uint32_t mask = 77;
    const char *bad = NULL;
    CU_ASSERT(clf_trace_mask("plan,build", &mask, &bad));
    CU_ASSERT_EQUAL(mask, 1u << CLF_TOPIC_plan | 1u << CLF_TOPIC_build);
    CU_ASSERT(clf_trace_mask("", &mask, &bad) && mask == 0);
    CU_ASSERT(clf_trace_mask("all", &mask, &bad) && mask == (1u << CLF_NTOPICS) - 1);
    CU_ASSERT(!clf_trace_mask("mem, plans", &mask, &bad) && strcmp(bad, "plans") == 0);
    CU_ASSERT(!clf_trace_mask("pla", &mask, NULL));

    heard h = {0};
    clf_trace log = {.mask = 1u << CLF_TOPIC_mem, .fn = hear, .user = &h}, *none = NULL;
    CLF_TRACE(&log, plan, "not asked for");
    CLF_TRACE(none, mem, "nobody");
    CU_ASSERT_EQUAL(h.lines, 0);
    CLF_TRACE(&log, mem, "%d bytes", 12);
    CU_ASSERT(h.lines == 1 && strcmp(h.topic, "mem") == 0 && strcmp(h.line, "12 bytes") == 0);
    CLF_TRACE(&log, mem, "%*d", 5000, 1);
    CU_ASSERT(h.lines == 2 && strlen(h.line) < 3000 && strcmp(h.line + strlen(h.line) - 3, "...") == 0);
}

static void expect_knob(const char *name, const char *value, clf_status want) {
    clf_knobs k;
    clf_err e = {0};
    clf_knobs_init(&k);
    clf_knobs before = k;
    CU_ASSERT_EQUAL(clf_knobs_set(&k, name, value, &e), want);
    if (want == CLF_OK) return;
    CU_ASSERT(memcmp(&before, &k, sizeof k) == 0);
    CU_ASSERT(e.code == want && strstr(e.text, name) != NULL);
}

static void test_knobs(void) {
    clf_knobs k;
    clf_knobs_init(&k);
    CU_ASSERT(strcmp(k.fuse, "cost") == 0 && strcmp(k.tier, "auto") == 0 && k.threads == 0 && k.kernel_ops == 200 && k.search == 10 &&
              !k.checksum);
    CU_ASSERT(strcmp(k.dtype, "f64") == 0 && k.mem_limit == 0);
    CU_ASSERT_EQUAL(clf_knobs_set(&k, "mem_limit", "64M", NULL), CLF_OK);
    CU_ASSERT_EQUAL(k.mem_limit, 64u << 20);
    CU_ASSERT(clf_knobs_set(&k, "CLF_MEM_LIMIT", "3k", NULL) == CLF_OK && k.mem_limit == 3072);
    CU_ASSERT(clf_knobs_set(&k, "checksum", "on", NULL) == CLF_OK && k.checksum);
    CU_ASSERT(clf_knobs_set(&k, "threads", "8", NULL) == CLF_OK && k.threads == 8);
    CU_ASSERT(clf_knobs_set(&k, "device", "some device", NULL) == CLF_OK && strcmp(k.device, "some device") == 0);
    expect_knob("no_such", "1", CLF_E_NAME);
    expect_knob("fuse", "none", CLF_OK);
    expect_knob("fuse", "cost", CLF_OK);
    expect_knob("fuse", "nored", CLF_OK);
    expect_knob("fuse", "non", CLF_E_NAME);
    expect_knob("fuse", "", CLF_E_NAME);
    expect_knob("tier", "3", CLF_E_NAME);
    expect_knob("CLF_STRATEGY", "stride", CLF_OK);
    expect_knob("isa", "avx9", CLF_E_NAME);
    expect_knob("dtype", "i32", CLF_E_NAME);
    expect_knob("log", "plan,cplan", CLF_OK);
    expect_knob("log", "plan,nonsense", CLF_E_NAME);
    expect_knob("mem_limit", "-1", CLF_E_ARG);
    expect_knob("mem_limit", "64X", CLF_E_ARG);
    expect_knob("mem_limit", "64Mb", CLF_E_ARG);
    expect_knob("mem_limit", "99999999999999999999", CLF_E_ARG);
    expect_knob("mem_limit", "17179869184G", CLF_E_ARG);
    expect_knob("threads", "-2", CLF_E_ARG);
    expect_knob("threads", "two", CLF_E_ARG);
    expect_knob("threads", "", CLF_E_ARG);
    expect_knob("kernel_ops", "0", CLF_E_ARG);
    expect_knob("index_bits", "32", CLF_OK);
    expect_knob("index_bits", "16", CLF_E_ARG);
    expect_knob("checksum", "maybe", CLF_E_ARG);
    char wide[CLF_KNOB_TEXT_MAX + 1];
    memset(wide, 'x', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    expect_knob("device", wide, CLF_E_ARG);
    expect_knob("device", wide + 1, CLF_OK);
}

static void test_knobs_env(void) {
    clf_knobs k;
    clf_err e = {0};
    clf_knobs_init(&k);
    setenv("CLF_KERNEL_OPS", "17", 1);
    CU_ASSERT(clf_knobs_env(&k, &e) == CLF_OK && k.kernel_ops == 17);
    setenv("CLF_KERNEL_OPS", "many", 1);
    CU_ASSERT_EQUAL(clf_knobs_env(&k, &e), CLF_E_ARG);
    CU_ASSERT(strstr(e.text, "CLF_KERNEL_OPS") && strstr(e.text, "many") && k.kernel_ops == 17);
    unsetenv("CLF_KERNEL_OPS");
}

static void test_every_default_is_legal(void) {
    clf_knobs k;
    clf_knobs_init(&k);
    for (int i = 0; clf_knob_rows[i].field; i++) {
        clf_err e = {0};
        CU_ASSERT_EQUAL(clf_knobs_set(&k, clf_knob_rows[i].field, clf_knob_rows[i].def, &e), CLF_OK);
        CU_ASSERT(strncmp(clf_knob_rows[i].env, "CLF_", 4) == 0 && clf_knob_rows[i].doc[0]);
    }
}

static void test_dtypes(void) {
    static const char *const names[] = {"f32", "f64", "i32", "i64", "u8"};
    static const size_t bytes[] = {4, 8, 4, 8, 1};
    for (int i = 0; i < CLF_NDTYPES; i++) {
        CU_ASSERT_STRING_EQUAL(clf_dtype_name((clf_dtype)i), names[i]);
        CU_ASSERT_EQUAL(clf_dtype_bytes((clf_dtype)i), bytes[i]);
        for (int j = 0; j < CLF_NDTYPES; j++)
            CU_ASSERT_EQUAL(clf_dtype_promote((clf_dtype)i, (clf_dtype)j), clf_dtype_promote((clf_dtype)j, (clf_dtype)i));
    }
    CU_ASSERT_EQUAL(clf_dtype_bytes((clf_dtype)9), 0);
    CU_ASSERT_EQUAL(clf_dtype_promote(CLF_F32, CLF_F64), CLF_F64);
    CU_ASSERT_EQUAL(clf_dtype_promote(CLF_I64, CLF_F32), CLF_F64);
    CU_ASSERT_EQUAL(clf_dtype_promote(CLF_I32, CLF_F32), CLF_F32);
    CU_ASSERT_EQUAL(clf_dtype_promote(CLF_U8, CLF_F32), CLF_F32);
    CU_ASSERT_EQUAL(clf_dtype_promote(CLF_U8, CLF_I32), CLF_I32);
    CU_ASSERT_EQUAL(clf_dtype_promote(CLF_U8, CLF_U8), CLF_U8);
}

static void expect_int(double x, clf_dtype t, int64_t want) {
    clf_scalar r = clf_scalar_to(clf_scalar_f64(x), t);
    CU_ASSERT(r.dtype == t && r.u.i == want);
}

static void test_conversions(void) {
    expect_int(2.9, CLF_I32, 2);
    expect_int(-2.9, CLF_I64, -2);
    expect_int(1e300, CLF_I32, INT32_MAX);
    expect_int(-INFINITY, CLF_I32, INT32_MIN);
    expect_int(2147483647.5, CLF_I32, INT32_MAX);
    expect_int(-2147483648.9, CLF_I32, INT32_MIN);
    expect_int(9223372036854775808.0, CLF_I64, INT64_MAX);
    expect_int(-9223372036854775808.0, CLF_I64, INT64_MIN);
    expect_int(NAN, CLF_I64, 0);
    expect_int(-0.5, CLF_U8, 0);
    expect_int(-7, CLF_U8, 0);
    expect_int(255.9, CLF_U8, 255);
    expect_int(256, CLF_U8, 255);
    CU_ASSERT_EQUAL(clf_scalar_to(clf_scalar_i64(257), CLF_U8).u.i, 1);
    CU_ASSERT_EQUAL(clf_scalar_to(clf_scalar_i64(-1), CLF_U8).u.i, 255);
    CU_ASSERT_EQUAL(clf_scalar_to(clf_scalar_i64(INT64_C(4294967295)), CLF_I32).u.i, -1);
    CU_ASSERT_EQUAL(clf_scalar_to(clf_scalar_f64(0.1), CLF_F32).u.f, (double)0.1f);
    CU_ASSERT(isinf(clf_scalar_to(clf_scalar_f64(1e300), CLF_F32).u.f));
    /* from i64 to f32 with ONE rounding: through double this would tie to even the other way */
    CU_ASSERT_EQUAL(clf_scalar_to(clf_scalar_i64((INT64_C(1) << 60) + (INT64_C(1) << 36) + 1), CLF_F32).u.f, 0x1p60 + 0x1p37);
    CU_ASSERT_EQUAL(clf_scalar_as_f64(clf_scalar_i64(-3)), -3.0);
}

static void test_load_store(void) {
    for (int t = 0; t < CLF_NDTYPES; t++) {
        union {
            double align;
            unsigned char b[32];
        } mem = {.b = {0}};
        clf_scalar s = clf_scalar_to(clf_scalar_f64(200), (clf_dtype)t);
        clf_scalar_store(&mem, 2, s);
        CU_ASSERT(clf_scalar_same(clf_scalar_load(&mem, 2, (clf_dtype)t), s));
        CU_ASSERT_EQUAL(clf_scalar_as_f64(clf_scalar_load(&mem, 1, (clf_dtype)t)), 0);
        CU_ASSERT_EQUAL(clf_scalar_as_f64(clf_scalar_load(&mem, 3, (clf_dtype)t)), 0);
    }
    CU_ASSERT(!clf_scalar_same(clf_scalar_f64(0.0), clf_scalar_f64(-0.0)));
    CU_ASSERT(clf_scalar_same(clf_scalar_f64(NAN), clf_scalar_f64(-NAN)));
    CU_ASSERT(!clf_scalar_same(clf_scalar_f64(1), clf_scalar_i64(1)));
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("core: facts", NULL, NULL);
    CU_add_test(s, "status", test_status);
    CU_add_test(s, "first error wins", test_first_error_wins);
    CU_add_test(s, "trace", test_trace);
    CU_add_test(s, "knobs", test_knobs);
    CU_add_test(s, "knobs from the environment", test_knobs_env);
    CU_add_test(s, "every default is legal", test_every_default_is_legal);
    CU_add_test(s, "element types", test_dtypes);
    CU_add_test(s, "conversions", test_conversions);
    CU_add_test(s, "load and store", test_load_store);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
