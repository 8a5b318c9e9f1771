/* SPDX-License-Identifier: Apache-2.0
 * The lexer. A table of punctuation, longest first; numbers and names by their first character. It works on the text in place and
 * keeps no state but its position, so a program of any length costs nothing here.
 * A letter is an ASCII letter, '_' or '.', whatever the locale says. */
#include "host/lang/lex.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void clf_lexer_init(clf_lexer *x, const char *text) { *x = (clf_lexer){text, text, 1}; }

clf_status clf_place_fail(clf_err *err, clf_status code, clf_place at, const char *fmt, ...) {
    char text[CLF_ERR_TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return clf_fail(err, code, "line %d, column %d: %s", at.line, at.column, text);
}

const char *clf_token_show(const clf_token *t, char *buf, size_t n) {
    enum { SHOWN = 40 };
    if (t->kind == CLF_TOKEN_END)
        snprintf(buf, n, "the end of the program");
    else if (t->kind == CLF_TOKEN_LINE)
        snprintf(buf, n, "the end of the line");
    else
        snprintf(buf, n, "'%.*s'%s", t->len > SHOWN ? SHOWN : (int)t->len, t->text, t->len > SHOWN ? "..." : "");
    return buf;
}

static bool digit(char c) { return c >= '0' && c <= '9'; }
static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.'; }

static clf_place here(const clf_lexer *x) { return (clf_place){x->line, (int)(x->p - x->line_start) + 1}; }

static void skip_blanks(clf_lexer *x) {
    for (;; x->p++) {
        if (*x->p == '#')
            x->p += strcspn(x->p, "\n") - 1;
        else if (*x->p != ' ' && *x->p != '\t' && *x->p != '\r')
            return;
    }
}

/* One number without a sign. The C library reads it, with the point its locale wants. */
static double value_of(const char *text, size_t n, bool *ok) {
    char buf[512];
    const char *point = localeconv()->decimal_point;
    *ok = n < sizeof buf;
    if (!*ok) return 0;
    memcpy(buf, text, n);
    buf[n] = '\0';
    char *dot = strchr(buf, '.');
    if (dot && strlen(point) == 1) *dot = *point;
    return strtod(buf, NULL);
}

static clf_status number(clf_lexer *x, clf_token *t, clf_err *err) {
    const char *p = x->p;
    while (digit(*p)) p++;
    if (*p == '.') p++;
    while (digit(*p)) p++;
    if (*p == 'e' || *p == 'E') {
        const char *e = p + 1 + (p[1] == '+' || p[1] == '-');
        if (digit(*e)) p = e;
        while (digit(*p)) p++;
    }
    bool ok;
    t->kind = CLF_TOKEN_NUMBER;
    t->len = (size_t)(p - x->p);
    t->number = value_of(x->p, t->len, &ok);
    if (!ok || letter(*p)) return clf_place_fail(err, CLF_E_SYNTAX, t->at, "'%.30s' is not a number", x->p);
    return CLF_OK;
}

static clf_status string(clf_lexer *x, clf_token *t, clf_err *err) {
    char end[] = {*x->p, '\n', '\0'};
    size_t n = strcspn(x->p + 1, end);
    if (x->p[1 + n] != *end) return clf_place_fail(err, CLF_E_SYNTAX, t->at, "the string that begins here does not end on its line");
    t->kind = CLF_TOKEN_STRING;
    t->text = x->p + 1;
    t->len = n;
    return CLF_OK;
}

/* Longest first where one is the beginning of another. */
static const struct {
    const char *text;
    clf_token_kind kind;
    int op;
} marks[] = {
    {"%*%", CLF_TOKEN_OP, CLF_LANG_MATMUL},
    {"%/%", CLF_TOKEN_OP, CLF_OP_IDIV},
    {"%%", CLF_TOKEN_OP, CLF_OP_MOD},
    {"<-", CLF_TOKEN_ARROW, 0},
    {"<=", CLF_TOKEN_OP, CLF_OP_LE},
    {">=", CLF_TOKEN_OP, CLF_OP_GE},
    {"==", CLF_TOKEN_OP, CLF_OP_EQ},
    {"!=", CLF_TOKEN_OP, CLF_OP_NE},
    {"<", CLF_TOKEN_OP, CLF_OP_LT},
    {">", CLF_TOKEN_OP, CLF_OP_GT},
    {"=", CLF_TOKEN_BIND, 0},
    {"!", CLF_TOKEN_OP, CLF_OP_NOT},
    {"+", CLF_TOKEN_OP, CLF_OP_ADD},
    {"-", CLF_TOKEN_OP, CLF_OP_SUB},
    {"*", CLF_TOKEN_OP, CLF_OP_MUL},
    {"/", CLF_TOKEN_OP, CLF_OP_DIV},
    {"^", CLF_TOKEN_OP, CLF_OP_POW},
    {"&", CLF_TOKEN_OP, CLF_OP_AND},
    {"|", CLF_TOKEN_OP, CLF_OP_OR},
    {"(", CLF_TOKEN_OPEN, 0},
    {")", CLF_TOKEN_CLOSE, 0},
    {"[", CLF_TOKEN_INDEX, 0},
    {"]", CLF_TOKEN_INDEXED, 0},
    {",", CLF_TOKEN_COMMA, 0},
    {":", CLF_TOKEN_COLON, 0},
    {";", CLF_TOKEN_SEMI, 0},
    {"\n", CLF_TOKEN_LINE, 0},
};

static clf_status punctuation(const clf_lexer *x, clf_token *t, clf_err *err) {
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t n = strlen(marks[i].text);
        if (strncmp(x->p, marks[i].text, n) != 0) continue;
        t->kind = marks[i].kind;
        t->op = marks[i].op;
        t->len = n;
        return CLF_OK;
    }
    unsigned char c = (unsigned char)*x->p;
    if (c > ' ' && c < 127) return clf_place_fail(err, CLF_E_SYNTAX, t->at, "'%c' is no part of the language", c);
    return clf_place_fail(err, CLF_E_SYNTAX, t->at, "the byte 0x%02x is no part of the language", c);
}

clf_status clf_lexer_next(clf_lexer *x, clf_token *out, clf_err *err) {
    skip_blanks(x);
    clf_token t = {.text = x->p, .at = here(x)};
    if (*x->p == '\0') {
        t.kind = CLF_TOKEN_END;
    } else if (digit(*x->p) || (*x->p == '.' && digit(x->p[1]))) {
        CLF_TRY(number(x, &t, err));
    } else if (letter(*x->p)) {
        t.kind = CLF_TOKEN_NAME;
        while (letter(x->p[t.len]) || digit(x->p[t.len])) t.len++;
    } else if (*x->p == '"' || *x->p == '\'') {
        CLF_TRY(string(x, &t, err));
    } else {
        CLF_TRY(punctuation(x, &t, err));
    }
    x->p = t.text + t.len + (t.kind == CLF_TOKEN_STRING);
    if (t.kind == CLF_TOKEN_LINE) {
        x->line++;
        x->line_start = x->p;
    }
    *out = t;
    return CLF_OK;
}
