/* SPDX-License-Identifier: Apache-2.0
 * What the files of the language share: values, variables, the state of one parse, and the seams between
 *   parse.c  statements and results        expr.c  expressions: two explicit stacks, no recursion
 *   cell.c   operators                     call.c  finding functions, binding arguments
 *   table.c  all functions, one row each   build.c, shape.c  what the rows do
 *   vars.c   variables                     hint.c  "did you mean"
 *
 * A program is recorded while it is read, through the functions of clfuse.h. Beside every value that follows from literals, nrow and
 * ncol alone runs its number, known at once, because shapes and index bounds are fixed at recording. */
#ifndef CLF_LANG_LANG_H
#define CLF_LANG_LANG_H
#include "clfuse/clfuse.h"
#include "core/mem.h"
#include "host/lang/lex.h"

typedef struct clf_term {
    clf_mat *mat;       /* NULL: a string */
    bool owned;         /* mat is freed with the value */
    bool known;
    double num;         /* known: the number */
    clf_token text;     /* a string's token */
    clf_token arg;      /* the name of a named argument; len 0: none */
    clf_place at;
} clf_term;

typedef struct clf_var {
    const char *name;   /* not terminated: points into the program or the bindings */
    size_t len;
    clf_term value;
    size_t entry;       /* its place among the results, CLF_NO_ENTRY for an input */
} clf_var;
#define CLF_NO_ENTRY SIZE_MAX

typedef struct clf_vars {
    clf_mem *mem;
    clf_var *var;
    size_t n, cap;
    uint32_t *slot;     /* open addressing; variable + 1, 0 empty; nslot a power of two */
    size_t nslot;
} clf_vars;

void clf_vars_init(clf_vars *v, clf_mem *mem);
void clf_vars_release(clf_vars *v);
/** NULL when there is none. */
clf_var *clf_vars_find(const clf_vars *v, const char *name, size_t len);
/** Find or add; a new one has a zero value. NULL when out of memory. owns: valid until the next addition. */
clf_var *clf_vars_put(clf_vars *v, const char *name, size_t len);

/* One statement's outcome. A rebound name leaves its earlier entry dead. */
typedef struct clf_entry {
    clf_term value;
    clf_token name;     /* len 0: bare */
    bool used, dead;
} clf_entry;

struct clf_item;        /* expr.c: an operator or bracket that waits for its operands */
typedef struct clf_lang {
    clf_ctx *c;
    clf_mem *mem;
    clf_err *err;
    clf_lexer lex;
    clf_token tok;      /* the token to look at */
    clf_vars vars;
    clf_term *val;     /* operands */
    size_t nval, cap_val;
    struct clf_item *item;
    size_t nitem, cap_item;
    size_t depth;       /* open brackets */
    clf_entry *entry;
    size_t nentry, cap_entry;
    uint64_t rands;     /* rand calls so far: the default seed */
} clf_lang;

clf_status clf_lang_advance(clf_lang *l);
/** Read one expression from l->tok on; l->tok is then the END, LINE or SEMI behind it. owns: caller, if out->owned. */
clf_status clf_lang_expression(clf_lang *l, clf_term *out);
/** Free the item stack. */
void clf_lang_items_free(clf_lang *l);
/** Make room for one more element of an array of l. */
clf_status clf_lang_room(clf_lang *l, void **array, size_t n, size_t *cap, size_t each);
void clf_term_release(clf_term *v);
/** A scalar whose number is known. */
clf_term clf_term_number(clf_lang *l, double x, clf_place at);

/** Operator op (a clf_op or CLF_LANG_MATMUL) on n operands, which must be numbers. */
clf_status clf_lang_operate(clf_lang *l, int op, clf_place at, int n, const clf_term *in, clf_term *out);
/** The handle operator op gives on n <= 3 numbers; may be a sticky error. */
clf_mat *clf_lang_apply(clf_lang *l, int op, int n, const clf_term *in);
/** The number of op on known numbers, where arithmetic on literals is wanted; false for other operators. */
bool clf_lang_known(int op, int n, const clf_term *in, double *out);

/* A function as the table has it, and one call of it. */
enum { CLF_LANG_PARAMS = 6, CLF_LANG_MANY = 1 << 30 };
typedef struct clf_lang_fn clf_lang_fn;
typedef struct clf_lang_call {
    clf_lang *l;
    const clf_lang_fn *fn;
    clf_place at;
    int n;
    const clf_term *list;                    /* as written */
    const clf_term *arg[CLF_LANG_PARAMS];    /* by parameter, NULL where absent; functions of many take the list */
} clf_lang_call;
typedef clf_status clf_lang_build(const clf_lang_call *k, clf_term *out);
struct clf_lang_fn {
    const char *name;
    int min, max;                             /* number of arguments */
    const char *params;                       /* names for named arguments, separated by commas; NULL: none */
    clf_lang_build *build;
    int code, dir;                            /* for build: operator or fold, direction */
    clf_mat *(*one)(clf_mat *);               /* for clf_lang_one */
    clf_mat *(*two)(clf_mat *, clf_mat *);    /* for clf_lang_chain */
};
extern const clf_lang_fn clf_lang_fns[]; /* ends with name == NULL; cell operators are found in ops.def instead */

/** The function behind a name, or CLF_E_NAME with a suggestion. */
clf_status clf_lang_find(clf_lang *l, const clf_token *name, clf_lang_fn *out);
/** Call fn on n values. */
clf_status clf_lang_invoke(clf_lang *l, const clf_lang_fn *fn, clf_place at, int n, const clf_term *args, clf_term *out);
/** A number an argument must have when the program is read. `dflt` when absent. */
clf_status clf_call_number(const clf_lang_call *k, int param, double dflt, double *out);
/** The same, a whole number in [lo, 2^53]. */
clf_status clf_call_whole(const clf_lang_call *k, int param, int64_t lo, int64_t dflt, int64_t *out);
clf_status clf_call_fail(const clf_lang_call *k, clf_status code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

clf_lang_build clf_lang_cell, clf_lang_fold, clf_lang_sd, clf_lang_extreme, clf_lang_log, clf_lang_one, clf_lang_chain,
    clf_lang_cum, clf_lang_outer, clf_lang_grad;                                       /* build.c */
clf_lang_build clf_lang_extent, clf_lang_seq, clf_lang_matrix, clf_lang_rand, clf_lang_order; /* shape.c */

/** " (did you mean 'x'?)" for a name close to one that exists, else "". Returns buf. */
const char *clf_hint_function(const clf_token *name, char *buf, size_t n);
const char *clf_hint_variable(const clf_vars *v, const clf_token *name, char *buf, size_t n);
#endif
