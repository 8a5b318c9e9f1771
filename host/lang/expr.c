/* SPDX-License-Identifier: Apache-2.0
 * Expressions by operator precedence with two explicit stacks (Dijkstra's shunting yard): operands, already recorded, and items,
 * which are operators and open brackets that wait. Nesting of any depth costs memory and never the C stack.
 * Invariant: between tokens the items' needs and the operands match; l->depth counts the brackets among the items. */
#include "host/lang/index.h"

#include <string.h>

typedef enum item_kind { ITEM_OP, ITEM_UNARY, ITEM_PAREN, ITEM_CALL, ITEM_INDEX } item_kind;

typedef struct clf_item {
    item_kind kind;
    int op, rank; /* OP, UNARY */
    clf_place at;
    size_t base;     /* brackets: first operand inside */
    clf_lang_fn fn;  /* CALL */
    clf_token arg;   /* CALL: name of the argument being read */
    clf_range range; /* INDEX */
} clf_item;

/* Precedence, the contract's list from below. Unary - and + bind looser than ^ and tighter than the rest, ! just above &. */
enum { RANK_NOT = 3, RANK_SIGN = 9, RANK_POW = 10 };
static const unsigned char rank_of[CLF_NALLOPS] = {
    [CLF_OP_OR] = 1,  [CLF_OP_AND] = 2,  [CLF_OP_LT] = 4,       [CLF_OP_LE] = 4,         [CLF_OP_GT] = 4,  [CLF_OP_GE] = 4,
    [CLF_OP_EQ] = 4,  [CLF_OP_NE] = 4,   [CLF_OP_ADD] = 5,      [CLF_OP_SUB] = 5,        [CLF_OP_MUL] = 6, [CLF_OP_DIV] = 6,
    [CLF_OP_MOD] = 7, [CLF_OP_IDIV] = 7, [CLF_LANG_MATMUL] = 8, [CLF_OP_POW] = RANK_POW,
};

static clf_item *top(const clf_lang *l) { return l->nitem ? &l->item[l->nitem - 1] : NULL; }

static clf_status unexpected(clf_lang *l, const char *wanted) {
    char shown[64];
    return clf_place_fail(l->err, CLF_E_SYNTAX, l->tok.at, "expected %s, found %s", wanted, clf_token_show(&l->tok, shown, sizeof shown));
}

static clf_status push_item(clf_lang *l, clf_item it) {
    CLF_TRY(clf_lang_room(l, (void **)&l->item, l->nitem, &l->cap_item, sizeof *l->item));
    it.at = l->tok.at;
    it.base = l->nval;
    l->depth += it.kind >= ITEM_PAREN;
    l->item[l->nitem++] = it;
    return clf_lang_advance(l);
}

/* Takes the value over, also when it fails. */
static clf_status push_value(clf_lang *l, clf_term v) {
    clf_status st = clf_lang_room(l, (void **)&l->val, l->nval, &l->cap_val, sizeof *l->val);
    if (st == CLF_OK)
        l->val[l->nval++] = v;
    else
        clf_term_release(&v);
    return st;
}

/* Replace the topmost n operands by their result. */
static void replace_values(clf_lang *l, size_t n, clf_term r) {
    for (; n > 0; n--) clf_term_release(&l->val[--l->nval]);
    l->val[l->nval++] = r;
}

/* ---- reduction ---- */

static clf_status reduce_one(clf_lang *l, const clf_item *it) {
    int n = it->kind == ITEM_UNARY ? 1 : 2;
    clf_term r, *in = &l->val[l->nval - (size_t)n];
    if (it->kind == ITEM_UNARY && it->op == CLF_OP_ADD && in->mat) return CLF_OK;
    CLF_TRY(clf_lang_operate(l, it->op, it->at, n, in, &r));
    replace_values(l, (size_t)n, r);
    return CLF_OK;
}

/* Apply waiting operators that bind tighter than rank (or as tight, `also`). Brackets stop it. */
static clf_status reduce(clf_lang *l, int rank, bool also) {
    for (const clf_item *it = top(l); it && it->kind <= ITEM_UNARY && (it->rank > rank || (also && it->rank == rank)); it = top(l)) {
        CLF_TRY(reduce_one(l, it));
        l->nitem--;
    }
    return CLF_OK;
}

static void pop_bracket(clf_lang *l) {
    l->nitem--;
    l->depth--;
}

/* ---- where an operand is wanted; *want becomes false when one was read ---- */

static const struct {
    const char *name;
    double value;
} constants[] = {{"TRUE", 1}, {"FALSE", 0}, {"NaN", __builtin_nan("")}, {"Inf", __builtin_inf()}, {"pi", 3.14159265358979323846}};

bool clf_lang_constant(const clf_token *t, double *out) {
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (strlen(constants[i].name) == t->len && memcmp(constants[i].name, t->text, t->len) == 0) {
            *out = constants[i].value;
            return true;
        }
    return false;
}

static clf_status variable(clf_lang *l, const clf_token *name) {
    char shown[64], hint[64];
    double x;
    if (clf_lang_constant(name, &x)) return push_value(l, clf_term_number(l, x, name->at));
    const clf_var *v = clf_vars_find(&l->vars, name->text, name->len);
    if (!v)
        return clf_place_fail(l->err, CLF_E_NAME, name->at, "no variable %s%s", clf_token_show(name, shown, sizeof shown),
                              clf_hint_variable(&l->vars, name, hint, sizeof hint));
    if (v->entry != CLF_NO_ENTRY) l->entry[v->entry].used = true;
    clf_term copy = v->value;
    copy.owned = false;
    copy.at = name->at;
    return push_value(l, copy);
}

/* NAME ( opens a call, NAME = at the start of an argument names it, else a variable. */
static clf_status name(clf_lang *l, bool *want) {
    clf_token t = l->tok;
    clf_item *in = top(l), call = {.kind = ITEM_CALL};
    CLF_TRY(clf_lang_advance(l));
    if (l->tok.kind == CLF_TOKEN_OPEN) {
        CLF_TRY(clf_lang_find(l, &t, &call.fn));
        CLF_TRY(push_item(l, call));
        top(l)->at = t.at;
        return CLF_OK;
    }
    if (l->tok.kind == CLF_TOKEN_BIND && in && in->kind == ITEM_CALL && !in->arg.len) {
        in->arg = t;
        return clf_lang_advance(l);
    }
    *want = false;
    return variable(l, &t);
}

static bool may_be_empty(const clf_lang *l) {
    const clf_item *in = top(l);
    if (!in || l->nval != in->base) return false;
    if (in->kind == ITEM_CALL) return l->tok.kind == CLF_TOKEN_CLOSE && !in->arg.len;
    return in->kind == ITEM_INDEX && !in->range.ranged && (l->tok.kind == CLF_TOKEN_COMMA || l->tok.kind == CLF_TOKEN_INDEXED);
}

static clf_status sign(clf_lang *l) {
    int op = l->tok.op == CLF_OP_SUB ? CLF_OP_NEG : l->tok.op;
    if (op != CLF_OP_NEG && op != CLF_OP_ADD && op != CLF_OP_NOT) return unexpected(l, "a value");
    return push_item(l, (clf_item){.kind = ITEM_UNARY, .op = op, .rank = op == CLF_OP_NOT ? RANK_NOT : RANK_SIGN});
}

static clf_status operand(clf_lang *l, bool *want) {
    clf_token t = l->tok;
    switch (t.kind) {
    case CLF_TOKEN_NAME: return name(l, want);
    case CLF_TOKEN_OPEN: return push_item(l, (clf_item){.kind = ITEM_PAREN});
    case CLF_TOKEN_OP: return sign(l);
    case CLF_TOKEN_LINE: return clf_lang_advance(l); /* an operator at the end of a line continues on the next */
    case CLF_TOKEN_NUMBER:
    case CLF_TOKEN_STRING:
        *want = false;
        CLF_TRY(push_value(l, t.kind == CLF_TOKEN_NUMBER ? clf_term_number(l, t.number, t.at) : (clf_term){.text = t, .at = t.at}));
        return clf_lang_advance(l);
    default: *want = !may_be_empty(l); return *want ? unexpected(l, "a value") : CLF_OK;
    }
}

/* ---- where an operator or the end is wanted; *want becomes true when an operand must follow ---- */

static clf_status binary(clf_lang *l, bool *want) {
    int rank = rank_of[l->tok.op];
    if (!rank) return unexpected(l, "an operator");
    CLF_TRY(reduce(l, rank, rank != RANK_POW));
    *want = true;
    return push_item(l, (clf_item){.kind = ITEM_OP, .op = l->tok.op, .rank = rank});
}

static clf_status open_index(clf_lang *l, bool *want) {
    *want = true;
    CLF_TRY(push_item(l, (clf_item){.kind = ITEM_INDEX}));
    return CLF_OK;
}

static void end_argument(clf_lang *l, clf_item *call) {
    if (call->arg.len) l->val[l->nval - 1].arg = call->arg;
    call->arg.len = 0;
}

static clf_status colon(clf_lang *l, bool *want) {
    CLF_TRY(reduce(l, 0, true));
    clf_item *in = top(l);
    if (!in || in->kind != ITEM_INDEX || in->range.ranged || l->nval == in->base) return unexpected(l, "an operator");
    CLF_TRY(clf_range_bound(l, &in->range, &l->val[l->nval - 1]));
    clf_term_release(&l->val[--l->nval]);
    in->range.ranged = true;
    *want = true;
    return clf_lang_advance(l);
}

/* The end of an index's half: what was read is its bound; nothing read means all. */
static clf_status end_half(clf_lang *l, clf_item *in) {
    if (l->nval == in->base) return CLF_OK;
    CLF_TRY(clf_range_bound(l, &in->range, &l->val[l->nval - 1]));
    clf_term_release(&l->val[--l->nval]);
    return CLF_OK;
}

static clf_status comma(clf_lang *l, bool *want) {
    CLF_TRY(reduce(l, 0, true));
    clf_item *in = top(l);
    if (in && in->kind == ITEM_CALL && l->nval > in->base) {
        end_argument(l, in);
    } else if (in && in->kind == ITEM_INDEX && in->range.axis == 0) {
        CLF_TRY(end_half(l, in));
        in->range.axis = 1;
        in->range.ranged = false;
        in->base = l->nval;
    } else {
        return unexpected(l, in && in->kind == ITEM_PAREN ? "')'" : in && in->kind == ITEM_INDEX ? "']'" : "the end of the statement");
    }
    *want = true;
    return clf_lang_advance(l);
}

static clf_status close(clf_lang *l) {
    CLF_TRY(reduce(l, 0, true));
    clf_item *in = top(l);
    if (!in || in->kind == ITEM_INDEX) return unexpected(l, in ? "']'" : "the end of the statement");
    if (in->kind == ITEM_CALL) {
        clf_term r;
        size_t n = l->nval - in->base;
        if (n) end_argument(l, in);
        CLF_TRY(clf_lang_room(l, (void **)&l->val, l->nval, &l->cap_val, sizeof *l->val));
        if (n > INT32_MAX / 2) return clf_place_fail(l->err, CLF_E_LIMIT, in->at, "%s: too many arguments", in->fn.name);
        CLF_TRY(clf_lang_invoke(l, &in->fn, in->at, (int)n, l->val + in->base, &r));
        replace_values(l, n, r);
    }
    pop_bracket(l);
    return clf_lang_advance(l);
}

static clf_status close_index(clf_lang *l) {
    CLF_TRY(reduce(l, 0, true));
    clf_item *in = top(l);
    clf_term r;
    if (!in || in->kind != ITEM_INDEX) return unexpected(l, in ? "')'" : "the end of the statement");
    CLF_TRY(end_half(l, in));
    if (in->range.axis == 0) return unexpected(l, "',' (an index has rows and columns, as in X[1:3, ] or X[, 2])");
    CLF_TRY(clf_range_take(l, &in->range, in->at, &l->val[l->nval - 1], &r));
    replace_values(l, 1, r);
    pop_bracket(l);
    return clf_lang_advance(l);
}

static clf_status after_operand(clf_lang *l, bool *want, bool *done) {
    switch (l->tok.kind) {
    case CLF_TOKEN_OP: return binary(l, want);
    case CLF_TOKEN_INDEX: return open_index(l, want);
    case CLF_TOKEN_COLON: return colon(l, want);
    case CLF_TOKEN_COMMA: return comma(l, want);
    case CLF_TOKEN_CLOSE: return close(l);
    case CLF_TOKEN_INDEXED: return close_index(l);
    case CLF_TOKEN_ARROW: return unexpected(l, "an operator (write '< -' to compare)");
    case CLF_TOKEN_LINE:
        if (l->depth) return clf_lang_advance(l);
        break;
    case CLF_TOKEN_END:
    case CLF_TOKEN_SEMI: break;
    default: return unexpected(l, "an operator");
    }
    CLF_TRY(reduce(l, 0, true));
    const clf_item *in = top(l);
    if (in)
        return clf_place_fail(l->err, CLF_E_SYNTAX, l->tok.at, "expected '%c' for the bracket at line %d, column %d",
                              in->kind == ITEM_INDEX ? ']' : ')', in->at.line, in->at.column);
    *done = true;
    return CLF_OK;
}

void clf_lang_items_free(clf_lang *l) { clf_mem_free(l->mem, l->item, l->cap_item, sizeof *l->item); }

clf_status clf_lang_expression(clf_lang *l, clf_term *out) {
    bool want = true, done = false;
    while (!done) CLF_TRY(want ? operand(l, &want) : after_operand(l, &want, &done));
    if (!l->val[0].mat) return clf_place_fail(l->err, CLF_E_TYPE, l->val[0].at, "a string is no value");
    *out = l->val[--l->nval];
    return CLF_OK;
}
