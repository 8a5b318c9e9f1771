/* SPDX-License-Identifier: Apache-2.0
 * The parser of the cplan's text form (cplan.h). Two passes over a flat list of items: the first declares the names, so that an item may
 * use a name declared later (an axis its owner access, an access the value that indexes it); the second fills the arrays. What the words
 * mean is left to clf_cplan_check, whose fault is reported at its item. No recursion: items nest to a fixed depth. */
#include "planner/cplan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "planner/cplan_words.h"

typedef struct token {
    const char *at;
    size_t n; /* 0: end of the text */
} token;

typedef struct item {
    clf_citem kind;
    int index;
    token word, name, body; /* keyword; name (sinks: none); first token after them */
} item;

typedef struct parser {
    const char *text, *end;
    token t; /* the token looked at */
    clf_arena *arena;
    clf_err *err;
    item *items;
    int nitem, cap_item;
    int32_t *table; /* names: item + 1, linear probing */
    uint64_t mask;
    int count[CLF_ITEM_SINK + 1];
    clf_cplan c;
} parser;

static clf_status fault(const parser *p, token at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static clf_status fault(const parser *p, token at, const char *fmt, ...) {
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

static clf_status no_memory(const parser *p) { return clf_fail(p->err, CLF_E_NOMEM, "reading a cplan: out of memory"); }

/* For messages: at most 40 characters of a token. */
#define SHOW(tok) (tok).n == 0 ? 14 : (int)((tok).n > 40 ? 40 : (tok).n), (tok).n == 0 ? "the text's end" : (tok).at

/* ---- tokens -------------------------------------------------------------------------------------------------------------- */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static bool is_paren(char c) { return c == '(' || c == ')'; }

static void next(parser *p) {
    const char *s = p->t.at + p->t.n;
    for (;;) {
        while (s < p->end && is_space(*s)) s++;
        if (s == p->end || *s != ';') break;
        while (s < p->end && *s != '\n') s++;
    }
    const char *e = s;
    if (e < p->end && is_paren(*e)) e++;
    else
        while (e < p->end && !is_space(*e) && !is_paren(*e) && *e != ';') e++;
    p->t = (token){s, (size_t)(e - s)};
}

static bool is(token t, const char *word) { return t.n == strlen(word) && memcmp(t.at, word, t.n) == 0; }

static clf_status expect(parser *p, const char *word) {
    if (!is(p->t, word)) return fault(p, p->t, "expected '%s', found '%.*s'", word, SHOW(p->t));
    next(p);
    return CLF_OK;
}

static int find_word(token t, const char *const *words) {
    for (int i = 0; words[i]; i++)
        if (is(t, words[i])) return i;
    return -1;
}

/* One of a list of words. */
static clf_status take_word(parser *p, const char *const *words, const char *what, uint8_t *out) {
    int i = find_word(p->t, words);
    if (i < 0) return fault(p, p->t, "'%.*s' is no %s", SHOW(p->t), what);
    *out = (uint8_t)i;
    next(p);
    return CLF_OK;
}

static clf_status take_dtype(parser *p, uint8_t *out) {
    for (int t = 0; t < CLF_NDTYPES; t++)
        if (is(p->t, clf_dtype_name((clf_dtype)t))) {
            *out = (uint8_t)t;
            next(p);
            return CLF_OK;
        }
    return fault(p, p->t, "'%.*s' is no element type", SHOW(p->t));
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

static clf_status take_number(parser *p, int64_t *out) {
    if (!digits(p->t.at, p->t.n, out)) return fault(p, p->t, "'%.*s' is no whole number of 64 bits", SHOW(p->t));
    next(p);
    return CLF_OK;
}

/* n or n:sym */
static clf_status take_dim(parser *p, clf_dim *out) {
    const char *colon = p->t.n ? memchr(p->t.at, ':', p->t.n) : NULL;
    size_t head = colon ? (size_t)(colon - p->t.at) : p->t.n;
    int64_t sym = -1;
    bool ok = digits(p->t.at, head, &out->n) && out->n >= 0;
    if (ok && colon) ok = digits(colon + 1, p->t.n - head - 1, &sym) && sym >= 0 && sym <= INT32_MAX;
    if (!ok) return fault(p, p->t, "'%.*s' is no extent", SHOW(p->t));
    out->sym = (int32_t)sym;
    next(p);
    return CLF_OK;
}

/* ---- names --------------------------------------------------------------------------------------------------------------- */

static const char *const item_words[] = {"cplan", "axis", "in", "param", "out", "access", "let", 0};
static const char *const item_nouns[] = {"cplan", "axis", "input", "parameter", "output", "access", "value", "sink"};
static const char *const reserved[] = {"keep", "key", "count", "guard", "order", "owner", "parent", 0};

static bool is_name(token t) {
    if (t.n == 0 || find_word(t, reserved) >= 0) return false;
    for (size_t i = 0; i < t.n; i++) {
        char c = t.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i && ((c >= '0' && c <= '9') || c == '.'))) return false;
    }
    return true;
}

static int find_name(const parser *p, token t) {
    for (uint64_t s = clf_hash64(t.at, t.n, 0) & p->mask; p->table[s]; s = (s + 1) & p->mask) {
        token have = p->items[p->table[s] - 1].name;
        if (have.n == t.n && memcmp(have.at, t.at, t.n) == 0) return p->table[s] - 1;
    }
    return -1;
}

static clf_status make_table(parser *p) {
    uint64_t n = 16;
    while (n < 2 * (uint64_t)p->nitem) n *= 2;
    p->table = clf_arena_new(p->arena, n, sizeof *p->table);
    p->mask = n - 1;
    if (!p->table) return no_memory(p);
    for (int i = 0; i < p->nitem; i++) {
        token t = p->items[i].name;
        if (p->items[i].kind == CLF_ITEM_SINK) continue;
        if (find_name(p, t) >= 0) return fault(p, t, "'%.*s' is declared twice", SHOW(t));
        uint64_t s = clf_hash64(t.at, t.n, 0) & p->mask;
        while (p->table[s]) s = (s + 1) & p->mask;
        p->table[s] = i + 1;
    }
    return CLF_OK;
}

/* The index of the named item of this kind. */
static clf_status take_name(parser *p, clf_citem kind, int *out) {
    int i = is_name(p->t) ? find_name(p, p->t) : -1;
    if (i < 0 || p->items[i].kind != kind) return fault(p, p->t, "'%.*s' is no %s", SHOW(p->t), item_nouns[kind]);
    *out = p->items[i].index;
    next(p);
    return CLF_OK;
}

static bool at_name(const parser *p, clf_citem kind) {
    int i = is_name(p->t) ? find_name(p, p->t) : -1;
    return i >= 0 && p->items[i].kind == kind;
}

/* ---- the first pass ------------------------------------------------------------------------------------------------------ */

static item *new_item(parser *p) {
    if (p->nitem == p->cap_item) {
        int cap = p->cap_item ? p->cap_item : 16;
        if (__builtin_mul_overflow(cap, 2, &cap)) return NULL;
        item *grown = clf_arena_new(p->arena, (size_t)cap, sizeof *grown);
        if (!grown) return NULL;
        if (p->nitem) memcpy(grown, p->items, (size_t)p->nitem * sizeof *grown);
        p->items = grown;
        p->cap_item = cap;
    }
    return &p->items[p->nitem++];
}

/* Past the ')' that closes the item entered. */
static clf_status skip_item(parser *p, token open) {
    for (int depth = 1; depth; next(p)) {
        if (p->t.n == 0) return fault(p, open, "this '(' is never closed");
        depth += is(p->t, "(") ? 1 : is(p->t, ")") ? -1 : 0;
        if (depth > 2) return fault(p, p->t, "nothing is nested this deep");
    }
    return CLF_OK;
}

static clf_status declare(parser *p) {
    static const int most[] = {0, CLF_MAX_AXES, INT16_MAX, INT16_MAX, 4 * CLF_MAX_SINKS, INT16_MAX, INT32_MAX - 1, CLF_MAX_SINKS};
    token open = p->t;
    CLF_TRY(expect(p, "("));
    item *m = new_item(p);
    if (!m) return no_memory(p);
    m->word = p->t;
    int w = find_word(p->t, item_words);
    bool sink = find_word(p->t, clf_sink_words) >= 0;
    if (w < CLF_ITEM_AXIS && !sink) return fault(p, p->t, "'%.*s' is no item", SHOW(p->t));
    m->kind = sink ? CLF_ITEM_SINK : (clf_citem)w;
    m->index = p->count[m->kind]++;
    if (m->index >= most[m->kind]) return fault(p, m->word, "more than %d of these", most[m->kind]);
    next(p);
    m->name = p->t;
    if (!sink && !is_name(p->t)) return fault(p, p->t, "'%.*s' cannot be a name", SHOW(p->t));
    if (!sink) next(p);
    m->body = p->t;
    return skip_item(p, open);
}

static clf_status declare_all(parser *p) {
    CLF_TRY(expect(p, "("));
    CLF_TRY(expect(p, "cplan"));
    while (!is(p->t, ")")) CLF_TRY(declare(p));
    next(p);
    if (p->t.n) return fault(p, p->t, "'%.*s' after the end", SHOW(p->t));
    return make_table(p);
}

/* ---- the second pass: one function per kind of item, from its body to its ')' --------------------------------------------- */

static clf_status parse_axis(parser *p, int i) {
    clf_axis *x = &p->c.axis[i];
    int index;
    *x = (clf_axis){.parent = -1, .owner = -1};
    CLF_TRY(take_word(p, clf_axis_words, "kind of axis", &x->kind));
    CLF_TRY(take_word(p, clf_order_words, "order", &x->ascending));
    CLF_TRY(take_dim(p, &x->n));
    if (is(p->t, "owner")) {
        next(p);
        CLF_TRY(take_name(p, CLF_ITEM_ACCESS, &index));
        x->owner = (int16_t)index;
    }
    if (is(p->t, "parent")) {
        next(p);
        CLF_TRY(take_name(p, CLF_ITEM_AXIS, &index));
        x->parent = (int8_t)index;
    }
    return CLF_OK;
}

static clf_status parse_dims(parser *p, clf_cinput *x) {
    for (; !is(p->t, ")"); x->rank++) {
        if (x->rank == CLF_MAX_RANK) return fault(p, p->t, "more than %d dimensions", CLF_MAX_RANK);
        CLF_TRY(take_dim(p, &x->dim[x->rank]));
    }
    return CLF_OK;
}

static clf_status parse_in(parser *p, int i) {
    CLF_TRY(take_dtype(p, &p->c.in[i].dtype));
    CLF_TRY(take_word(p, clf_format_words, "format", &p->c.in[i].format));
    return parse_dims(p, &p->c.in[i]);
}

static clf_status parse_param(parser *p, int i) { return take_dtype(p, &p->c.param[i]); }

static clf_status parse_out(parser *p, int i) {
    CLF_TRY(take_dtype(p, &p->c.out[i].dtype));
    return parse_dims(p, &p->c.out[i]);
}

static clf_status parse_at(parser *p, clf_at *at) {
    int index;
    *at = (clf_at){.axis = -1, .value = -1};
    CLF_TRY(expect(p, "("));
    if (is(p->t, "-")) {
        next(p);
    } else if (at_name(p, CLF_ITEM_VALUE)) {
        CLF_TRY(take_name(p, CLF_ITEM_VALUE, &index));
        at->value = index;
    } else {
        CLF_TRY(take_name(p, CLF_ITEM_AXIS, &index));
        at->axis = index;
    }
    if (at->axis >= 0 || at->value >= 0) CLF_TRY(take_number(p, &at->mul));
    CLF_TRY(take_number(p, &at->add));
    return expect(p, ")");
}

static clf_status parse_access(parser *p, int i) {
    clf_access *a = &p->c.access[i];
    int index;
    CLF_TRY(take_name(p, CLF_ITEM_IN, &index));
    a->input = index;
    CLF_TRY(take_word(p, clf_protocol_words, "protocol", &a->protocol));
    for (; !is(p->t, ")"); a->rank++) {
        if (a->rank == CLF_MAX_RANK) return fault(p, p->t, "more than %d dimensions", CLF_MAX_RANK);
        CLF_TRY(parse_at(p, &a->at[a->rank]));
    }
    return CLF_OK;
}

static clf_status take_fold(parser *p, int32_t *out) {
    for (int f = 0; f < CLF_NFOLDS; f++)
        if (is(p->t, clf_folds[f].id)) {
            *out = f;
            next(p);
            return CLF_OK;
        }
    return fault(p, p->t, "'%.*s' is no fold", SHOW(p->t));
}

static int find_op(token t) {
    for (int i = 0; i < CLF_NOPS; i++)
        if (is(t, clf_ops[i].id)) return i;
    int form = find_word(t, clf_form_words);
    return form < 0 ? -1 : CLF_V_LOAD + form;
}

static clf_status parse_value(parser *p, int i) {
    clf_value *v = &p->c.value[i];
    int arity = 0, axis;
    *v = (clf_value){.axis = -1, .in = {-1, -1, -1}, .arg = -1};
    CLF_TRY(take_dtype(p, &v->dtype));
    int op = find_op(p->t);
    if (op < 0) return fault(p, p->t, "'%.*s' is no operator", SHOW(p->t));
    next(p);
    v->op = (uint16_t)op;
    switch (op) {
    case CLF_V_LOAD: CLF_TRY(take_name(p, CLF_ITEM_ACCESS, &v->arg)); break;
    case CLF_V_PARAM: CLF_TRY(take_name(p, CLF_ITEM_PARAM, &v->arg)); break;
    case CLF_V_INDEX: CLF_TRY(take_name(p, CLF_ITEM_AXIS, &v->arg)); break;
    case CLF_V_CAST: arity = 1; break;
    case CLF_V_FOLD:
    case CLF_V_SCAN:
        CLF_TRY(take_fold(p, &v->arg));
        CLF_TRY(take_name(p, CLF_ITEM_AXIS, &axis));
        v->axis = (int8_t)axis;
        arity = 1;
        break;
    default: arity = clf_ops[op].arity;
    }
    for (int q = 0; q < arity; q++) CLF_TRY(take_name(p, CLF_ITEM_VALUE, &v->in[q]));
    return CLF_OK;
}

/* word name, where the word stands here. */
static clf_status take_optional(parser *p, const char *word, clf_citem kind, int32_t *out) {
    if (!is(p->t, word)) return CLF_OK;
    next(p);
    return take_name(p, kind, out);
}

static clf_status parse_keep(parser *p, clf_sink *s) {
    CLF_TRY(expect(p, "keep"));
    while (at_name(p, CLF_ITEM_AXIS)) {
        token at = p->t;
        int axis;
        CLF_TRY(take_name(p, CLF_ITEM_AXIS, &axis));
        if (s->keep >> axis & 1u) return fault(p, at, "'%.*s' is kept twice", SHOW(at));
        s->keep |= 1u << axis;
    }
    return CLF_OK;
}

/* out [fold] value, repeated for the columns of an append. */
static clf_status parse_columns(parser *p, clf_sink *s) {
    bool folds = s->kind == CLF_SINK_FOLD || s->kind == CLF_SINK_SCATTER || s->kind == CLF_SINK_GROUP;
    int32_t fold = 0;
    for (int q = 0; q == 0 || (s->kind == CLF_SINK_APPEND && at_name(p, CLF_ITEM_OUT)); q++) {
        if (q == 3) return fault(p, p->t, "a record has at most 3 columns");
        CLF_TRY(take_name(p, CLF_ITEM_OUT, &s->out[q]));
        if (folds) CLF_TRY(take_fold(p, &fold));
        CLF_TRY(take_name(p, CLF_ITEM_VALUE, &s->value[q]));
    }
    s->fold = (uint8_t)fold;
    return CLF_OK;
}

static clf_status parse_sink(parser *p, int i, token word) {
    clf_sink *s = &p->c.sink[i];
    *s = (clf_sink){.kind = (uint8_t)find_word(word, clf_sink_words), .value = {-1, -1, -1, -1}, .key = {-1, -1}, .guard = -1, .order = -1, .out = {-1, -1, -1, -1}};
    CLF_TRY(parse_columns(p, s));
    if (s->kind == CLF_SINK_SCATTER || s->kind == CLF_SINK_GROUP) {
        CLF_TRY(expect(p, "key"));
        CLF_TRY(take_name(p, CLF_ITEM_VALUE, &s->key[0]));
        if (at_name(p, CLF_ITEM_VALUE)) CLF_TRY(take_name(p, CLF_ITEM_VALUE, &s->key[1]));
        if (s->kind == CLF_SINK_GROUP) CLF_TRY(take_name(p, CLF_ITEM_OUT, &s->out[1]));
    }
    CLF_TRY(take_optional(p, "count", CLF_ITEM_OUT, &s->out[3]));
    CLF_TRY(parse_keep(p, s));
    CLF_TRY(take_optional(p, "guard", CLF_ITEM_VALUE, &s->guard));
    return take_optional(p, "order", CLF_ITEM_VALUE, &s->order);
}

static clf_status parse_item(parser *p, const item *m) {
    static clf_status (*const by_kind[])(parser *, int) = {NULL, parse_axis, parse_in, parse_param, parse_out, parse_access, parse_value};
    p->t = m->body;
    CLF_TRY(m->kind == CLF_ITEM_SINK ? parse_sink(p, m->index, m->word) : by_kind[m->kind](p, m->index));
    return expect(p, ")");
}

static clf_status make_arrays(parser *p) {
    clf_cplan *c = &p->c;
    const int *n = p->count;
#define ARRAY(field, counter, kind) c->counter = n[kind], c->field = clf_arena_new(p->arena, (size_t)n[kind], sizeof *c->field)
    ARRAY(axis, naxes, CLF_ITEM_AXIS);
    ARRAY(in, nin, CLF_ITEM_IN);
    ARRAY(param, nparam, CLF_ITEM_PARAM);
    ARRAY(out, nout, CLF_ITEM_OUT);
    ARRAY(access, naccess, CLF_ITEM_ACCESS);
    ARRAY(value, nvalue, CLF_ITEM_VALUE);
    ARRAY(sink, nsink, CLF_ITEM_SINK);
#undef ARRAY
    return c->axis && c->in && c->param && c->out && c->access && c->value && c->sink ? CLF_OK : no_memory(p);
}

/* The checker's fault, at the line of its item. */
static clf_status check_parsed(const parser *p) {
    clf_err err = {0};
    clf_cwhere where = {CLF_ITEM_PLAN, 0};
    token at = {p->text, 0};
    clf_status st = clf_cplan_check_at(&p->c, &where, &err);
    if (st == CLF_OK) return CLF_OK;
    for (int i = 0; i < p->nitem; i++)
        if (p->items[i].kind == where.item && p->items[i].index == where.index) at = p->items[i].word;
    return fault(p, at, "%s", strncmp(err.text, "cplan: ", 7) == 0 ? err.text + 7 : err.text);
}

clf_status clf_cplan_parse(clf_cplan *c, clf_arena *arena, const char *text, size_t n, clf_err *err) {
    parser p = {.text = text, .end = text + n, .t = {text, 0}, .arena = arena, .err = err};
    next(&p);
    CLF_TRY(declare_all(&p));
    CLF_TRY(make_arrays(&p));
    for (int i = 0; i < p.nitem; i++) CLF_TRY(parse_item(&p, &p.items[i]));
    clf_cplan_axes(&p.c);
    CLF_TRY(check_parsed(&p));
    *c = p.c;
    return CLF_OK;
}
