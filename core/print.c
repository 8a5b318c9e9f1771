/* SPDX-License-Identifier: Apache-2.0
 * The conversions that texts of kernels are made of, written without looking anything up. What is not among them sends the whole format
 * to vsnprintf, so no format means anything else here than there. */
#include "core/print.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* len counts what there is no room for, too. */
typedef struct printing {
    char *to;
    size_t n, len;
} printing;

static void put(printing *p, const char *text, size_t n) {
    if (p->len < p->n) memcpy(p->to + p->len, text, n < p->n - p->len ? n : p->n - p->len);
    p->len += n;
}

static void put_number(printing *p, uint64_t size, bool negative) {
    enum { DIGITS = 20 };
    char text[DIGITS + 1];
    int at = sizeof text;
    do {
        text[--at] = (char)('0' + size % 10);
        size /= 10;
    } while (size);
    if (negative) text[--at] = '-';
    put(p, text + at, sizeof text - (size_t)at);
}

static void put_signed(printing *p, int64_t v) { put_number(p, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, v < 0); }

/* At most `most` characters. */
static void put_text(printing *p, const char *text, int most) { put(p, text, most < 0 ? strlen(text) : strnlen(text, (size_t)most)); }

static void put_hex(printing *p, unsigned v) {
    char text[2 * sizeof v];
    int at = sizeof text;
    do {
        text[--at] = "0123456789abcdef"[v % 16];
        v /= 16;
    } while (v);
    put(p, text + at, sizeof text - (size_t)at);
}

static void put_char(printing *p, int c) { put(p, &(char){(char)c}, 1); }

static const char *after(const char *spec, const char *name) {
    size_t n = strlen(name);
    return strncmp(spec, name, n) == 0 ? spec + n : NULL;
}

/* One conversion, spec standing behind its '%'. Gives what stands behind it; NULL: not one of ours, and ap is as it was. */
static const char *convert(printing *p, const char *spec, va_list *ap) {
    const char *end;
    switch (*spec) {
    case '%': put_char(p, '%'); return spec + 1;
    case 's': put_text(p, va_arg(*ap, const char *), -1); return spec + 1;
    case 'd': put_signed(p, va_arg(*ap, int)); return spec + 1;
    case 'c': put_char(p, va_arg(*ap, int)); return spec + 1;
    case 'x': put_hex(p, va_arg(*ap, unsigned)); return spec + 1;
    default: break;
    }
    if ((end = after(spec, ".*s")) != NULL) {
        int most = va_arg(*ap, int);
        put_text(p, va_arg(*ap, const char *), most);
    } else if ((end = after(spec, "lld")) != NULL) {
        put_signed(p, va_arg(*ap, long long));
    } else if ((end = after(spec, "ld")) != NULL) {
        put_signed(p, va_arg(*ap, long));
    } else if ((end = after(spec, "zu")) != NULL) {
        put_number(p, va_arg(*ap, size_t), false);
    }
    return end;
}

/* False: something in it is not ours. */
static bool print(printing *p, const char *fmt, va_list *ap) {
    while (*fmt) {
        const char *spec = strchr(fmt, '%');
        put(p, fmt, spec ? (size_t)(spec - fmt) : strlen(fmt));
        if (!spec) return true;
        if (!(fmt = convert(p, spec + 1, ap))) return false;
    }
    return true;
}

int clf_vprint(char *to, size_t n, const char *fmt, va_list ap) {
    printing p = {.to = to, .n = n};
    va_list mine;
    va_copy(mine, ap);
    bool done = print(&p, fmt, &mine);
    va_end(mine);
    if (!done) return vsnprintf(to, n, fmt, ap);
    if (n) to[p.len < n ? p.len : n - 1] = '\0';
    return p.len <= INT_MAX ? (int)p.len : -1;
}

int clf_print(char *to, size_t n, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int len = clf_vprint(to, n, fmt, ap);
    va_end(ap);
    return len;
}
