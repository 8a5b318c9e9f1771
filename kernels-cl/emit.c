/* SPDX-License-Identifier: Apache-2.0
 * Texts of the operator tables into OpenCL C (see emit.h): a token walk, never a parse. Invariant: every identifier with a family
 * prefix in the output is instantiated by clf_emit_prelude. */
#include "kernels-cl/emit.h"

#include <ctype.h>
#include <string.h>

#include "core/print.h"

static const char *const c_type[CLF_NDTYPES] = {"float", "double", "int", "long", "uchar"};

static int width_bit(int width) {
    int b = 0;
    while ((1 << b) < width) b++;
    return b;
}

void clf_emit_init(clf_emit *e, clf_str *out) {
    memset(e, 0, sizeof *e);
    e->out = out;
}

const char *clf_emit_type(char *buf, clf_dtype t, int width) {
    if (width == 1) return c_type[t];
    clf_print(buf, CLF_EMIT_NAME, "%s%d", c_type[t], width);
    return buf;
}

const char *clf_emit_prefix(clf_emit *e, char *buf, clf_dtype t, int width) {
    e->elem[t] |= (uint8_t)(1 << width_bit(width));
    clf_print(buf, CLF_EMIT_NAME, "%sx%d", clf_dtype_name(t), width);
    return buf;
}

const char *clf_emit_run(clf_emit *e, char *buf, clf_dtype t, int width) {
    e->run[t] = 1;
    clf_print(buf, CLF_EMIT_NAME, "%sx%d", clf_dtype_name(t), width);
    return buf;
}

void clf_emit_cast(clf_emit *e, clf_dtype from, clf_dtype to, int width) {
    char buf[CLF_EMIT_NAME];
    if (from == to) {
        clf_str_put(e->out, "(");
    } else if (clf_dtype_float(from) && !clf_dtype_float(to)) {
        e->cast[from][to] |= (uint8_t)(1 << width_bit(width));
        clf_str_fmt(e->out, "%sx%d_OF_%sx%d(", clf_dtype_name(to), width, clf_dtype_name(from), width);
    } else {
        clf_str_fmt(e->out, "convert_%s(", clf_emit_type(buf, to, width));
    }
}

/* A macro of family f: E_ADD, N_OFE, W_HIGHEST ... The two conversions to N belong to the family they convert from. */
static void put_macro(clf_emit *e, const char *id, size_t len, bool call, clf_dtype t, int width) {
    char buf[CLF_EMIT_NAME];
    clf_dtype family = id[0] == 'E' ? t : id[0] == 'W' ? clf_wide(t) : CLF_I64;
    const char *name = id + 2;
    size_t n = len - 2;
    if (id[0] == 'N' && n == 3 && !memcmp(name, "OFE", 3)) family = t, name = "TON";
    if (id[0] == 'N' && n == 3 && !memcmp(name, "OFW", 3)) family = clf_wide(t), name = "TON";
    if (n > 3 && !memcmp(name, "BIT", 3) && clf_dtype_float(family)) {
        e->bits[family] |= (uint8_t)(1 << width_bit(width));
        e->cast[family][CLF_I64] |= (uint8_t)(1 << width_bit(width));
    }
    clf_str_fmt(e->out, "%s_%.*s%s", clf_emit_prefix(e, buf, family, width), (int)n, name, call ? "" : "()");
}

static void put_name(clf_emit *e, const char *id, size_t len, const clf_emit_name *names) {
    for (; names->from; names++)
        if (strlen(names->from) == len && !memcmp(names->from, id, len)) {
            clf_str_put(e->out, names->to);
            return;
        }
    clf_str_putn(e->out, id, len);
}

static size_t ident_len(const char *s) {
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '.') n++; /* '.': numbers are one token too */
    return n;
}

void clf_emit_text(clf_emit *e, const char *text, clf_dtype t, int width, const clf_emit_name *names) {
    while (*text) {
        size_t n = ident_len(text);
        if (n == 0) {
            clf_str_putn(e->out, text++, 1);
            continue;
        }
        bool family = n > 2 && text[1] == '_' && (text[0] == 'E' || text[0] == 'W' || text[0] == 'N');
        if (family)
            put_macro(e, text, n, text[n] == '(', t, width);
        else if (isdigit((unsigned char)text[0]))
            clf_str_putn(e->out, text, n);
        else
            put_name(e, text, n, names);
        text += n;
    }
}

static void put_family(clf_str *out, const char *macro, const char *type, const char *to, int bits) {
    for (int b = 0; b < CLF_EMIT_WIDTHS; b++)
        if (bits >> b & 1) {
            clf_str_fmt(out, "%s_%s%s%s(%d, ", macro, type, *to ? "_" : "", to, 1 << b);
            if (b) clf_str_fmt(out, "%d", 1 << b);
            clf_str_put(out, ")\n");
        }
}

void clf_emit_prelude(const clf_emit *e, clf_str *out) {
    for (int t = 0; t < CLF_NDTYPES; t++) put_family(out, "CLF_ELEM", clf_dtype_name((clf_dtype)t), "", e->elem[t]);
    for (int f = 0; f < CLF_NDTYPES; f++)
        for (int t = 0; t < CLF_NDTYPES; t++)
            put_family(out, "CLF_CAST", clf_dtype_name((clf_dtype)f), clf_dtype_name((clf_dtype)t), e->cast[f][t]);
    for (int t = 0; t < CLF_NDTYPES; t++) put_family(out, "CLF_BITS", clf_dtype_name((clf_dtype)t), "", e->bits[t]);
    for (int t = 0; t < CLF_NDTYPES; t++)
        if (e->run[t]) clf_str_fmt(out, "CLF_RUN_%s\n", clf_dtype_name((clf_dtype)t));
}

void clf_emit_define(clf_str *out, const char *name, const char *body) {
    clf_str_fmt(out, "#define %s ", name);
    for (const char *s = body; *s;) {
        size_t n = strcspn(s, "\n");
        clf_str_putn(out, s, n);
        s += n;
        if (*s == '\n') s++, clf_str_put(out, *s ? " \\\n" : "");
    }
    clf_str_put(out, "\n");
}
