/* SPDX-License-Identifier: Apache-2.0
 * Numbers as text: every way of reading against the C library, printing against reading, under a foreign locale too. */
#include <float.h>
#include <locale.h>
#include <stdint.h>

#include "formats/number.h"
#include "tests/unit/formats_testing.h"

static uint64_t state = 88172645463325252u;
static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }

/* Parse all of text in both types and compare with strtod and strtof. */
static void check(const char *text) {
    size_t n = strlen(text);
    double v = -1, f = -1;
    CU_ASSERT_PTR_EQUAL(clf_number_parse(text, text + n, CLF_F64, &v), text + n);
    CU_ASSERT_PTR_EQUAL(clf_number_parse(text, text + n, CLF_F32, &f), text + n);
    bool ok = same_bits(v, strtod(text, NULL)) && same_bits(f, (double)strtof(text, NULL));
    if (!ok) fprintf(stderr, "\n    %.60s: %.17g %.9g\n", text, v, f);
    CU_ASSERT(ok);
}

static void test_plain(void) {
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+1",
                                        "1.",
                                        ".5",
                                        "-.5e1",
                                        "1e5",
                                        "1E+5",
                                        "1e-5",
                                        "123456789012345678",
                                        "9007199254740993",
                                        "0.1",
                                        "1e22",
                                        "1e23",
                                        "-1e-22",
                                        "1.7976931348623157e308",
                                        "1.7976931348623159e308",
                                        "1e309",
                                        "4.9e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "2.2250738585072011e-308",
                                        "1e-400",
                                        "0e999999999999999999999",
                                        "1e99999999999999999999999",
                                        "1e-99999999999999999999999",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "00000000000000000000000000001.5",
                                        "0.000000000000000000000000000000000015e10",
                                        "1.00000005960464477539062500000000001",
                                        "1.000000059604644775390625",
                                        "1.00000017881393432617187500",
                                        "3.4028235677973366e38",
                                        "3.4028235677973367e38",
                                        "1.401298464324817e-45",
                                        "7.0064923216240853e-46",
                                        "7.0064923216240854e-46",
                                        "nan",
                                        "NaN",
                                        "inf",
                                        "-Inf",
                                        "INFINITY",
                                        "9007199254740992.5",
                                        "9007199254740993.0000000000000000000000000000000000000000000000000000001"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check(texts[i]);
}

static void test_random(void) {
    char text[64];
    for (int i = 0; i < 60000; i++) {
        uint64_t bits = next();
        double d;
        memcpy(&d, &bits, sizeof d);
        if (!isfinite(d)) continue;
        snprintf(text, sizeof text, i % 3 ? "%.17g" : "%.15e", d);
        check(text);
        snprintf(text, sizeof text, "%.*g", 1 + i % 17, (double)next() / 18446744073709551616.0);
        check(text);
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)(next() >> (i % 60)), i % 140 - 70);
        check(text);
        float f = (float)ldexp((double)next(), i % 200 - 150);
        snprintf(text, sizeof text, "%.9g", (double)f);
        check(text);
    }
}

/* Just above, at and below the middle of two neighbours, with as many digits as that takes. */
static void test_half_way(void) {
    char text[1200];
    for (int i = 0; i < 400; i++) {
        uint64_t bits = next() >> 1;
        double d, e;
        if (i % 4 == 0) bits >>= 12; /* subnormal */
        memcpy(&d, &bits, sizeof d);
        bits++;
        memcpy(&e, &bits, sizeof e);
        if (!isfinite(d) || !isfinite(e)) continue;
        long double middle = ((long double)d + (long double)e) / 2;
        int n = snprintf(text, sizeof text, "%.1100Lg", middle); /* exact */
        check(text);
        if (strchr(text, 'e') || !strchr(text, '.')) continue;
        memcpy(text + n, "00001", 6);
        check(text);
        text[n - 1]--;
        check(text);
    }
    char *many = malloc(5002);
    memset(many, '7', 5001);
    many[5001] = '\0';
    check(many);
    many[1] = '.';
    check(many);
    memset(many + 2, '0', 4998);
    check(many);
    free(many);
}

static void test_where_it_ends(void) {
    static const struct {
        const char *text;
        int used;
    } cases[] = {{"1.5,2", 3}, {"1e", 1},  {"1e+", 1},  {"1e+x", 1},    {"1..2", 2}, {"12abc", 2}, {"0x10", 1},
                 {"", -1},     {"-", -1},  {".", -1},   {"e5", -1},     {"+-1", -1}, {"abc", -1},  {" 1", -1},
                 {"-e", -1},   {"in", -1}, {"nano", 3}, {"infinit", 3}, {"1,5", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double v = 42;
        const char *end = clf_number_parse(cases[i].text, cases[i].text + strlen(cases[i].text), CLF_F64, &v);
        CU_ASSERT_EQUAL(end ? end - cases[i].text : -1, cases[i].used);
        if (!end) CU_ASSERT_EQUAL(v, 42);
    }
    double v;
    const char digits[] = "123456789";
    CU_ASSERT_PTR_EQUAL(clf_number_parse(digits, digits + 4, CLF_F64, &v), digits + 4); /* no look beyond the end */
    CU_ASSERT_EQUAL(v, 1234);
}

static void test_count(void) {
    static const struct {
        const char *text;
        int used;
        int64_t value;
    } cases[] = {{"0", 1, 0},
                 {"9223372036854775807", 19, INT64_MAX},
                 {"9223372036854775808", -1, 7},
                 {"18446744073709551615", -1, 7},
                 {"99999999999999999999999", -1, 7},
                 {"12:3", 2, 12},
                 {"-1", -1, 7},
                 {"", -1, 7},
                 {"007", 3, 7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t v = 7;
        const char *end = clf_number_parse_count(cases[i].text, cases[i].text + strlen(cases[i].text), &v);
        CU_ASSERT_EQUAL(end ? end - cases[i].text : -1, cases[i].used);
        CU_ASSERT_EQUAL(v, cases[i].value);
    }
}

static void prints(clf_dtype t, double x, const char *want) {
    char text[CLF_NUMBER_TEXT];
    clf_scalar s = clf_dtype_float(t) ? (clf_scalar){t, {.f = x}} : (clf_scalar){t, {.i = (int64_t)x}};
    CU_ASSERT_EQUAL(clf_number_print(text, s), strlen(want));
    CU_ASSERT_STRING_EQUAL(text, want);
}

static void test_print(void) {
    prints(CLF_F64, 0.1, "0.10000000000000001");
    prints(CLF_F32, (double)0.1f, "0.100000001");
    prints(CLF_F64, -0.0, "-0");
    prints(CLF_F64, 3, "3");
    prints(CLF_F64, -1e14, "-100000000000000");
    prints(CLF_F64, 1e17, "1e+17");
    prints(CLF_F64, 1e15, "1000000000000000");
    prints(CLF_F32, 1e9, "1e+09");
    prints(CLF_F32, 999999936, "999999936");
    prints(CLF_F64, -1.7976931348623157e308, "-1.7976931348623157e+308");
    prints(CLF_F64, NAN, "NaN");
    prints(CLF_F64, -NAN, "NaN");
    prints(CLF_F32, INFINITY, "Inf");
    prints(CLF_F64, -INFINITY, "-Inf");
    prints(CLF_U8, 255, "255");
    prints(CLF_I32, -7, "-7");
    char text[CLF_NUMBER_TEXT];
    clf_number_print(text, clf_scalar_i64(INT64_MIN));
    CU_ASSERT_STRING_EQUAL(text, "-9223372036854775808");
}

static void test_round_trip(void) {
    for (int i = 0; i < 20000; i++) {
        char text[CLF_NUMBER_TEXT];
        uint64_t bits = next();
        uint32_t half = (uint32_t)next();
        double d, back;
        float f;
        memcpy(&d, &bits, sizeof d);
        memcpy(&f, &half, sizeof f);
        size_t n = clf_number_print(text, (clf_scalar){CLF_F64, {.f = d}});
        CU_ASSERT(clf_number_parse(text, text + n, CLF_F64, &back) == text + n && same_bits(d, back));
        n = clf_number_print(text, (clf_scalar){CLF_F32, {.f = (double)f}});
        CU_ASSERT(clf_number_parse(text, text + n, CLF_F32, &back) == text + n && same_bits((double)f, back));
    }
}

static void test_locale(void) {
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8", "tr_TR.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!setlocale(LC_ALL, names[i])) continue; /* not on this machine */
        double v = 0;
        const char big[] = "1.234567890123456789012e-300", word[] = "INF";
        prints(CLF_F64, -1.1, "-1.1000000000000001");
        CU_ASSERT(clf_number_parse(big, big + strlen(big), CLF_F64, &v) == big + strlen(big) && v == 1.234567890123456789012e-300);
        CU_ASSERT(clf_number_parse(word, word + 3, CLF_F64, &v) == word + 3 && isinf(v));
    }
    setlocale(LC_ALL, "C");
}

int main(void) {
    static const CU_TestInfo tests[] = {{"chosen numbers", test_plain},
                                        {"random numbers", test_random},
                                        {"half way between neighbours", test_half_way},
                                        {"where a number ends", test_where_it_ends},
                                        {"counts", test_count},
                                        {"printing", test_print},
                                        {"printed numbers come back", test_round_trip},
                                        {"foreign locales", test_locale},
                                        CU_TEST_INFO_NULL};
    return run_suite("formats: numbers", tests);
}
