/* SPDX-License-Identifier: Apache-2.0
 * Tokens of the language, one at a time. A token is a piece of the program text; nothing is copied. */
#ifndef CLF_LANG_LEX_H
#define CLF_LANG_LEX_H
#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "core/op.h"

typedef enum clf_token_kind {
    CLF_TOKEN_END,      /* end of the text */
    CLF_TOKEN_LINE,     /* newline */
    CLF_TOKEN_SEMI,     /* ; */
    CLF_TOKEN_NUMBER,
    CLF_TOKEN_STRING,   /* text: what stands between the quotes */
    CLF_TOKEN_NAME,
    CLF_TOKEN_OPEN, CLF_TOKEN_CLOSE,     /* ( ) */
    CLF_TOKEN_INDEX, CLF_TOKEN_INDEXED,  /* [ ] */
    CLF_TOKEN_COMMA, CLF_TOKEN_COLON,
    CLF_TOKEN_BIND,     /* = */
    CLF_TOKEN_ARROW,    /* <- */
    CLF_TOKEN_OP        /* an operator; `-` `+` `!` may be unary */
} clf_token_kind;

/* Place in the program, both counted from 1; columns are bytes. */
typedef struct clf_place { int line, column; } clf_place;

typedef struct clf_token {
    clf_token_kind kind;
    const char *text;
    size_t len;
    clf_place at;
    double number;      /* NUMBER */
    int op;             /* OP: a clf_op, or CLF_LANG_MATMUL */
} clf_token;

enum { CLF_LANG_MATMUL = CLF_OP_MATMUL };

typedef struct clf_lexer {
    const char *p;      /* what comes next */
    const char *line_start;
    int line;
} clf_lexer;

void clf_lexer_init(clf_lexer *x, const char *text);
/** The next token. errors: CLF_E_SYNTAX naming line and column; the lexer then stands where it stood. */
clf_status clf_lexer_next(clf_lexer *x, clf_token *out, clf_err *err);
/** Record a failure at a place: "line L, column C: " and the message. Returns code. */
clf_status clf_place_fail(clf_err *err, clf_status code, clf_place at, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/** The token as a message shows it, cut to fit: 'x', or "the end of the program". Returns buf. */
const char *clf_token_show(const clf_token *t, char *buf, size_t n);
#endif
