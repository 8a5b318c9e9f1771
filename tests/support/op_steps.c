/* SPDX-License-Identifier: Apache-2.0
 * Reads a text of core/ops.def by a stack of the calls that are open. The invariant: `depth` values stand on the stack of whoever runs
 * the steps written so far. */
#include "tests/support/op_steps.h"

#include <stdlib.h>
#include <string.h>

#include "core/op.h"

typedef struct reader {
    op_steps *out;
    const char *at;
    int open[OP_STACK]; /* operators whose arguments are being read */
    int nopen, depth;
} reader;

static bool put(reader *r, op_step s) {
    r->depth += s.kind == OP_CALL ? 1 - s.arity : 1;
    if (r->out->n == OP_STEPS || r->depth < 1 || r->depth > OP_STACK) return false;
    r->out->step[r->out->n++] = s;
    return true;
}

/* An exact operator by its macro's name: -1 if none. */
static int operator_of(const char *name, size_t n) {
    if (n == 3 && memcmp(name, "SEL", 3) == 0) return CLF_OP_IFELSE;
    for (int op = 0; op < CLF_NOPS; op++)
        if (strlen(clf_ops[op].id) == n && memcmp(clf_ops[op].id, name, n) == 0) return clf_ops[op].flags & F_ELEM ? -1 : op;
    return -1;
}

/* Behind "E_C(": a number up to the parenthesis. */
static bool number(reader *r) {
    char *end;
    double x = strtod(r->at, &end);
    if (end == r->at || *end != ')') return false;
    r->at = end + 1;
    return put(r, (op_step){.kind = OP_NUMBER, .number = x});
}

/* At "E_": a number, or a call that opens. */
static bool macro(reader *r) {
    size_t n = strcspn(r->at + 2, "(");
    const char *name = r->at + 2;
    r->at = name + n + (name[n] == '(');
    if (n == 1 && *name == 'C') return number(r);
    int op = operator_of(name, n);
    if (op < 0 || r->nopen == OP_STACK) return false;
    r->open[r->nopen++] = op;
    return true;
}

static bool closed(reader *r) {
    if (r->nopen == 0) return false;
    int op = r->open[--r->nopen];
    r->at++;
    return put(r, (op_step){.kind = OP_CALL, .which = op, .arity = clf_ops[op].arity});
}

static bool word(reader *r) {
    if (*r->at == ')') return closed(r);
    if (strncmp(r->at, "E_", 2) == 0) return macro(r);
    if (*r->at < 'a' || *r->at > 'c') return false;
    return put(r, (op_step){.kind = OP_OPERAND, .which = *r->at++ - 'a'});
}

bool op_steps_parse(op_steps *out, const char *text) {
    reader r = {.out = out, .at = text};
    bool good = true;
    for (out->n = 0; good && *(r.at += strspn(r.at, " ,")) != 0;) good = word(&r);
    if (!good || r.nopen || r.depth != 1) out->n = 0;
    return out->n > 0;
}

bool op_steps_of(op_steps *out, int op) {
    *out = (op_steps){.n = 0};
    return clf_op_is_cell(op) && op_steps_parse(out, clf_ops[op].text);
}
