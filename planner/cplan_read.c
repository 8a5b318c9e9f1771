/* SPDX-License-Identifier: Apache-2.0
 * Tokens, words, numbers and names of the cplan's text form. Every message says line and column, counted only when it is needed. */
#include "planner/cplan_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

clf_status clf_read_fault(const clf_reader *p, clf_token at, const char *fmt, ...) {
    char text[CLF_ERR_TEXT];
    long line = 1, column = 1;
    for (const char *s = p->text; s < at.at; s++) {
        line += *s == '\n';
        column = *s == '\n' ? 1 : column + 1;
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return clf_fail(p->err, CLF_E_SYNTAX, "cplan: line %ld, column %ld: %s", line, column, text);
}

clf_status clf_read_no_memory(const clf_reader *p) { return clf_fail(p->err, CLF_E_NOMEM, "reading a cplan: out of memory"); }

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static bool is_paren(char c) { return c == '(' || c == ')'; }

void clf_read_next(clf_reader *p) {
    const char *s = p->t.at + p->t.n;
    for (;;) {
        while (s < p->end && is_space(*s)) s++;
        if (s == p->end || *s != ';') break;
        while (s < p->end && *s != '\n') s++;
    }
    const char *e = s;
    if (e < p->end && is_paren(*e))
        e++;
    else
        while (e < p->end && !is_space(*e) && !is_paren(*e) && *e != ';') e++;
    p->t = (clf_token){s, (size_t)(e - s)};
}

bool clf_read_is(clf_token t, const char *word) { return t.n == strlen(word) && memcmp(t.at, word, t.n) == 0; }

clf_status clf_read_expect(clf_reader *p, const char *word) {
    if (!clf_read_is(p->t, word)) return clf_read_fault(p, p->t, "expected '%s', found '%.*s'", word, CLF_SHOW(p->t));
    clf_read_next(p);
    return CLF_OK;
}

int clf_read_find(clf_token t, const char *const *words) {
    for (int i = 0; words[i]; i++)
        if (clf_read_is(t, words[i])) return i;
    return -1;
}

/* One of a list of words. */
clf_status clf_read_word(clf_reader *p, const char *const *words, const char *what, uint8_t *out) {
    int i = clf_read_find(p->t, words);
    if (i < 0) return clf_read_fault(p, p->t, "'%.*s' is no %s", CLF_SHOW(p->t), what);
    *out = (uint8_t)i;
    clf_read_next(p);
    return CLF_OK;
}

clf_status clf_read_dtype(clf_reader *p, uint8_t *out) {
    for (int t = 0; t < CLF_NDTYPES; t++)
        if (clf_read_is(p->t, clf_dtype_name((clf_dtype)t))) {
            *out = (uint8_t)t;
            clf_read_next(p);
            return CLF_OK;
        }
    return clf_read_fault(p, p->t, "'%.*s' is no element type", CLF_SHOW(p->t));
}

static bool digits(const char *s, size_t n, int64_t *out) {
    bool minus = n && *s == '-';
    int64_t x = 0;
    if (n == (size_t)minus) return false;
    for (size_t i = minus; i < n; i++) {
        int d = s[i] - '0';
        if (d < 0 || d > 9 || __builtin_mul_overflow(x, 10, &x) || __builtin_add_overflow(x, minus ? -d : d, &x)) return false;
    }
    *out = x;
    return true;
}

clf_status clf_read_number(clf_reader *p, int64_t *out) {
    if (!digits(p->t.at, p->t.n, out)) return clf_read_fault(p, p->t, "'%.*s' is no whole number of 64 bits", CLF_SHOW(p->t));
    clf_read_next(p);
    return CLF_OK;
}

/* n or n:sym */
clf_status clf_read_dim(clf_reader *p, clf_dim *out) {
    const char *colon = p->t.n ? memchr(p->t.at, ':', p->t.n) : NULL;
    size_t head = colon ? (size_t)(colon - p->t.at) : p->t.n;
    int64_t sym = -1;
    bool ok = digits(p->t.at, head, &out->n) && out->n >= 0;
    if (ok && colon) ok = digits(colon + 1, p->t.n - head - 1, &sym) && sym >= 0 && sym <= INT32_MAX;
    if (!ok) return clf_read_fault(p, p->t, "'%.*s' is no extent", CLF_SHOW(p->t));
    out->sym = (int32_t)sym;
    clf_read_next(p);
    return CLF_OK;
}

/* ---- names --------------------------------------------------------------------------------------------------------------- */

static const char *const item_nouns[] = {"cplan", "axis", "input", "parameter", "output", "access", "value", "sink"};
static const char *const reserved[] = {"keep", "key", "count", "guard", "order", "owner", "parent", "skip", "over", "rest", 0};

bool clf_read_is_name(clf_token t) {
    if (t.n == 0 || clf_read_find(t, reserved) >= 0) return false;
    for (size_t i = 0; i < t.n; i++) {
        char c = t.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i && ((c >= '0' && c <= '9') || c == '.'))) return false;
    }
    return true;
}

static int find_name(const clf_reader *p, clf_token t) {
    for (uint64_t s = clf_hash64(t.at, t.n, 0) & p->mask; p->table[s]; s = (s + 1) & p->mask) {
        clf_token have = p->items[p->table[s] - 1].name;
        if (have.n == t.n && memcmp(have.at, t.at, t.n) == 0) return p->table[s] - 1;
    }
    return -1;
}

clf_status clf_read_names(clf_reader *p) {
    uint64_t n = 16;
    while (n < 2 * (uint64_t)p->nitem) n *= 2;
    p->table = clf_arena_new(p->arena, n, sizeof *p->table);
    p->mask = n - 1;
    if (!p->table) return clf_read_no_memory(p);
    for (int i = 0; i < p->nitem; i++) {
        clf_token t = p->items[i].name;
        if (p->items[i].kind == CLF_ITEM_SINK) continue;
        if (find_name(p, t) >= 0) return clf_read_fault(p, t, "'%.*s' is declared twice", CLF_SHOW(t));
        uint64_t s = clf_hash64(t.at, t.n, 0) & p->mask;
        while (p->table[s]) s = (s + 1) & p->mask;
        p->table[s] = i + 1;
    }
    return CLF_OK;
}

/* The index of the named item of this kind. */
clf_status clf_read_name(clf_reader *p, clf_citem kind, int *out) {
    int i = clf_read_is_name(p->t) ? find_name(p, p->t) : -1;
    if (i < 0 || p->items[i].kind != kind) return clf_read_fault(p, p->t, "'%.*s' is no %s", CLF_SHOW(p->t), item_nouns[kind]);
    *out = p->items[i].index;
    clf_read_next(p);
    return CLF_OK;
}

bool clf_read_at(const clf_reader *p, clf_citem kind) {
    int i = clf_read_is_name(p->t) ? find_name(p, p->t) : -1;
    return i >= 0 && p->items[i].kind == kind;
}
