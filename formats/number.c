/* SPDX-License-Identifier: Apache-2.0
 * Decimal text to double and back.
 *
 * Reading takes the cheapest of three ways that is certain to be correctly rounded:
 *   1. the digits fit 53 bits and the power of ten is exact (|e| <= 22): one multiplication or division (Clinger, PLDI 1990);
 *   2. at most 19 digits and |e| <= 64: a 64 x 64-bit product with the truncated power of ten; its error is below one unit of the
 *      upper word, so the answer stands unless the bits under the rounding position are all ones or all zeros (after Lemire, 2021);
 *   3. strtod on the digits written as an integer with an exponent. No decimal point is passed, so the locale does not matter, and
 *      digits beyond the 800th only matter as "more than zero" (no value half way between two doubles has more than 767).
 * Invariant: the value never depends on which way was taken; the unit test compares all of them with strtod. */
#include "formats/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "eight digits at once, and .npy data, are read little-endian");

enum { POW10_MAX = 64, EXACT_MAX = 22, FAST_DIGITS = 19, SLOW_DIGITS = 800 };
static const int64_t EXPONENT_CAP = 1000000000000000; /* beyond any file's length in digits */

static const uint64_t pow10_bits[2 * POW10_MAX + 1] = {
#include "formats/pow10.def"
};
static const double pow10_exact[EXACT_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* A decimal as scanned: w * 10^exp10 when it has at most 19 significant digits; the digits stand in [digits, digits_end) with at
 * most one '.' among them. */
typedef struct decimal {
    uint64_t w;
    int64_t exp10, count; /* count: digits, leading zeros included */
    const char *digits, *digits_end;
    bool negative;
} decimal;

static inline bool is_digit(char ch) { return (unsigned char)(ch - '0') < 10; }

/* Eight digits at p as a number, by three multiplications; false when one of the eight is no digit. */
static inline bool eight_digits(const char *p, uint64_t *out) {
    uint64_t v;
    memcpy(&v, p, 8);
    uint64_t low = v - 0x3030303030303030u;
    if (((v + 0x4646464646464646u) | low) & 0x8080808080808080u) return false;
    low = low * 10 + (low >> 8);
    *out = ((low & 0x000000ff000000ffu) * 0x000f424000000064u + ((low >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >> 32;
    return true;
}

static inline const char *scan_digits(const char *p, const char *end, uint64_t *w) {
    uint64_t eight;
    while (end - p >= 8 && eight_digits(p, &eight)) {
        *w = *w * 100000000 + (eight & 0xffffffffu);
        p += 8;
    }
    while (p < end && is_digit(*p)) *w = *w * 10 + (uint64_t)(*p++ - '0');
    return p;
}

/* An exponent part at p, or p itself when what follows is none. */
static const char *scan_exponent(const char *p, const char *end, int64_t *exp10) {
    const char *q = p + 1;
    bool negative = false;
    if (q < end && (*q == '+' || *q == '-')) negative = *q++ == '-';
    if (q >= end || !is_digit(*q)) return p;
    int64_t e = 0;
    for (; q < end && is_digit(*q); q++)
        if (e < EXPONENT_CAP) e = e * 10 + (*q - '0');
    *exp10 += negative ? -e : e;
    return q;
}

/* Digits, point and exponent behind the sign; NULL when there is no digit. */
static inline const char *scan(const char *p, const char *end, decimal *d) {
    d->w = 0;
    d->exp10 = 0;
    d->digits = p;
    p = scan_digits(p, end, &d->w);
    d->count = p - d->digits;
    if (p < end && *p == '.') {
        const char *point = p++;
        p = scan_digits(p, end, &d->w);
        d->exp10 = -(p - point - 1);
        d->count += p - point - 1;
    }
    d->digits_end = p;
    if (d->count == 0) return NULL;
    return p < end && (*p == 'e' || *p == 'E') ? scan_exponent(p, end, &d->exp10) : p;
}

/* Digits that matter: those from the first one above zero. */
static int64_t significant(const decimal *d) {
    int64_t n = d->count;
    for (const char *p = d->digits; p < d->digits_end && (*p == '0' || *p == '.'); p++) n -= *p == '0';
    return n;
}

/* Way 2. False when the product does not decide. w > 0, |e| <= 64. */
static bool by_product(uint64_t w, int e, double *out) {
    int lz = __builtin_clzll(w);
    __uint128_t p = (__uint128_t)(w << lz) * pow10_bits[e + POW10_MAX];
    uint64_t hi = (uint64_t)(p >> 64), lo = (uint64_t)p;
    int s = 9 + (int)(hi >> 63); /* keeps 53 bits and one to round */
    uint64_t mask = ((uint64_t)1 << s) - 1, rest = hi & mask;
    if (rest == mask || (rest == 0 && lo == 0)) return false;
    uint64_t m = hi >> s;
    m = (m + (m & 1)) >> 1;
    int64_t exp2 = ((e * 217706) >> 16) + s + 2 - lz;
    if (m >> 53) {
        m >>= 1;
        exp2++;
    }
    uint64_t bits = (uint64_t)(exp2 + 1075) << 52 | (m & 0xfffffffffffffu);
    memcpy(out, &bits, sizeof bits);
    return true;
}

/* Way 3: at most 800 digits, the last of them raised when non-zero digits were left out, as an integer with an exponent. */
static double by_library(const decimal *d, clf_dtype t) {
    char text[SLOW_DIGITS + 32];
    int n = 0;
    int64_t dropped = 0;
    bool sticky = false;
    for (const char *p = d->digits; p < d->digits_end; p++) {
        if (*p == '.' || (n == 0 && *p == '0')) continue;
        if (n < SLOW_DIGITS) {
            text[n++] = *p;
        } else {
            dropped++;
            sticky |= *p != '0';
        }
    }
    if (n == 0) return 0;
    if (sticky && text[n - 1] == '0') text[n - 1] = '1'; /* a value half way between two doubles ends before the 800th digit */
    snprintf(text + n, 32, "e%lld", (long long)(d->exp10 + dropped));
    return t == CLF_F32 ? (double)strtof(text, NULL) : strtod(text, NULL);
}

static inline double to_double(const decimal *d) {
    double r;
    if (d->count > FAST_DIGITS && significant(d) > FAST_DIGITS) return by_library(d, CLF_F64);
    if (d->w == 0) return 0;
    if (d->w >> 53 == 0 && d->exp10 >= -EXACT_MAX && d->exp10 <= EXACT_MAX)
        return d->exp10 < 0 ? (double)d->w / pow10_exact[-d->exp10] : (double)d->w * pow10_exact[d->exp10];
    if (d->exp10 >= -POW10_MAX && d->exp10 <= POW10_MAX && by_product(d->w, (int)d->exp10, &r)) return r;
    return by_library(d, CLF_F64);
}

/* Rounding the double again is right unless it lies exactly between two floats, or where floats are subnormal. */
static double to_float(const decimal *d, double r) {
    uint64_t bits;
    memcpy(&bits, &r, sizeof bits);
    bool between = (bits & 0x1fffffffu) == 0x10000000u;
    if (r != 0 && (between || r < FLT_MIN)) return by_library(d, CLF_F32);
    return (double)(float)r;
}

/* ASCII only: the C library's comparison follows the locale. word is lower case. */
static bool starts_with(const char *p, const char *end, const char *word, size_t n) {
    if ((size_t)(end - p) < n) return false;
    for (size_t i = 0; i < n; i++)
        if ((p[i] | 0x20) != word[i]) return false;
    return true;
}

/* nan, inf or infinity behind the sign. */
static const char *scan_word(const char *p, const char *end, double *out) {
    // clang-format off
    static const struct { const char *text; size_t n; double value; } words[] = {
        {"infinity", 8, INFINITY}, {"inf", 3, INFINITY}, {"nan", 3, NAN}};
    // clang-format on
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!starts_with(p, end, words[i].text, words[i].n)) continue;
        *out = words[i].value;
        return p + words[i].n;
    }
    return NULL;
}

const char *clf_number_parse(const char *at, const char *end, clf_dtype t, double *out) {
    decimal d = {.negative = false};
    double r;
    if (at < end && (*at == '-' || *at == '+')) d.negative = *at++ == '-';
    const char *p = scan(at, end, &d);
    if (p) {
        r = to_double(&d);
        if (t == CLF_F32) r = to_float(&d, r);
    } else if (!(p = scan_word(at, end, &r))) {
        return NULL;
    }
    *out = d.negative ? -r : r;
    return p;
}

const char *clf_number_parse_count(const char *at, const char *end, int64_t *out) {
    int64_t v = 0;
    const char *p = at;
    for (; p < end && is_digit(*p); p++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v)) return NULL;
    if (p == at) return NULL;
    *out = v;
    return p;
}

/* Replace a locale's decimal point (one or more bytes) by '.'. */
static size_t plain_point(char *s, size_t n) {
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_digit(s[i]) || (s[i] && strchr("+-e.", s[i])))
            s[k++] = s[i];
        else if (k == 0 || s[k - 1] != '.')
            s[k++] = '.';
    }
    s[k] = '\0';
    return k;
}

static size_t print_float(char out[CLF_NUMBER_TEXT], double x, bool single) {
    double plain = single ? 1e9 : 1e15; /* below: every integer prints without an exponent */
    if (isnan(x)) return (size_t)snprintf(out, CLF_NUMBER_TEXT, "NaN");
    if (isinf(x)) return (size_t)snprintf(out, CLF_NUMBER_TEXT, x < 0 ? "-Inf" : "Inf");
    if (fabs(x) < plain && x == (double)(int64_t)x && !(x == 0 && signbit(x)))
        return (size_t)snprintf(out, CLF_NUMBER_TEXT, "%lld", (long long)x);
    return plain_point(out, (size_t)snprintf(out, CLF_NUMBER_TEXT, single ? "%.9g" : "%.17g", x));
}

size_t clf_number_print(char out[CLF_NUMBER_TEXT], clf_scalar s) {
    if (clf_dtype_float(s.dtype)) return print_float(out, s.u.f, s.dtype == CLF_F32);
    return (size_t)snprintf(out, CLF_NUMBER_TEXT, "%lld", (long long)s.u.i);
}
