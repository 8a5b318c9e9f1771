/* SPDX-License-Identifier: Apache-2.0
 * Postfix expressions become nodes of a program: a word is one row of the table, a leaf or a number. */
#include "tests/oracle/dd_postfix.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/random_make.h"

enum { MOST_STACK = 16, MOST_WORD = 16 };

typedef struct row {
    const char *word;
    int arity, kind, op, way;
} row;
static const row rows[] = {
    {"+", 2, RP_CELL, CLF_ADD, 0},
    {"-", 2, RP_CELL, CLF_SUB, 0},
    {"*", 2, RP_CELL, CLF_MUL, 0},
    {"/", 2, RP_CELL, CLF_DIV, 0},
    {"!=", 2, RP_CELL, CLF_NE, 0},
    {"neg", 1, RP_CELL, CLF_NEG, 0},
    {"abs", 1, RP_CELL, CLF_ABS, 0},
    {"sqr", 1, RP_CELL, CLF_SQR, 0},
    {"exp", 1, RP_CELL, CLF_EXP, 0},
    {"log", 1, RP_CELL, CLF_LOG, 0},
    {"round", 1, RP_CELL, CLF_ROUND, 0},
    {"floor", 1, RP_CELL, CLF_FLOOR, 0},
    {"t", 1, RP_TRANSPOSE, 0, 0},
    {"%*%", 2, RP_PRODUCT, 0, 0},
    {"cbind", 2, RP_CBIND, 0, 0},
    {"sum", 1, RP_FOLD, CLF_FOLD_CODE_SUM, CLF_ALL},
    {"rowSums", 1, RP_FOLD, CLF_FOLD_CODE_SUM, CLF_ROWS},
    {"colSums", 1, RP_FOLD, CLF_FOLD_CODE_SUM, CLF_COLS},
    {"colVars", 1, RP_FOLD, CLF_FOLD_CODE_VAR, CLF_COLS},
    {"rowMaxs", 1, RP_FOLD, CLF_FOLD_CODE_MAX, CLF_ROWS},
};

typedef struct stack {
    rp_program *p;
    const char *leaf;
    int n, at[MOST_STACK];
} stack;

static bool push(stack *s, int node) {
    if (s->n == MOST_STACK) return false;
    s->at[s->n++] = node;
    return true;
}

static rp_node *fresh(stack *s, int kind) {
    if (s->p->n == RP_NODES) return NULL;
    rp_node *n = &s->p->node[s->p->n];
    memset(n, 0, sizeof *n);
    n->kind = kind;
    return n;
}

static bool number(stack *s, const char *word) {
    rp_node *n = fresh(s, RP_NUMBER);
    double *v = calloc(1, sizeof *v);
    char *end;
    if (!n || !v) {
        free(v);
        return false;
    }
    *v = strtod(word, &end);
    n->m = (rp_matrix){strchr(word, '.') ? CLF_F64 : CLF_I64, true, false, 1, 1, v};
    s->p->n++; /* from here on the program's */
    return *end == '\0' && push(s, s->p->n - 1);
}

static bool apply(stack *s, const row *r) {
    rp_node *n = fresh(s, r->kind);
    if (!n || s->n < r->arity) return false;
    n->op = r->op;
    n->attr[0] = r->way;
    n->nin = r->arity;
    s->n -= r->arity;
    for (int k = 0; k < r->arity; k++) n->in[k] = s->at[s->n + k];
    return rp_fit_node(s->p, n) && push(s, s->p->n++);
}

static bool one_word(stack *s, const char *word) {
    const char *leaf = word[1] == '\0' ? strchr(s->leaf, word[0]) : NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(word, rows[i].word) == 0) return apply(s, &rows[i]);
    if (strcmp(word, "dup") == 0) return s->n > 0 && push(s, s->at[s->n - 1]);
    return leaf ? push(s, (int)(leaf - s->leaf)) : number(s, word);
}

bool dd_postfix(rp_program *p, const char *leaf, const char *text) {
    stack s = {.p = p, .leaf = leaf};
    char word[MOST_WORD];
    for (int n = 0; *text; text += n) {
        n = (int)strspn(text, " ");
        if (n) continue;
        n = (int)strcspn(text, " ");
        if (n >= MOST_WORD) return false;
        memcpy(word, text, (size_t)n);
        word[n] = '\0';
        if (!one_word(&s, word)) return false;
    }
    p->nroot = s.n;
    memcpy(p->root, s.at, (size_t)s.n * sizeof *s.at);
    return s.n > 0;
}
