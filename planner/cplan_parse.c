/* SPDX-License-Identifier: Apache-2.0
 * The parser of the cplan's text form (cplan.h). Two passes over a flat list of items: the first declares the names, so that an item may
 * use a name declared later (an axis its owner access, an access the value that indexes it); the second fills the arrays. What the words
 * mean is left to clf_cplan_check, whose fault is reported at its item. No recursion: items nest to a fixed depth. */
#include "planner/cplan_read.h"

#include <string.h>

#include "planner/cplan_words.h"

static const char *const item_words[] = {"cplan", "axis", "in", "param", "out", "access", "let", 0};

/* ---- the first pass ------------------------------------------------------------------------------------------------------ */

static clf_item *new_item(clf_reader *p) {
    if (p->nitem == p->cap_item) {
        int cap = p->cap_item ? p->cap_item : 16;
        if (__builtin_mul_overflow(cap, 2, &cap)) return NULL;
        clf_item *grown = clf_arena_new(p->arena, (size_t)cap, sizeof *grown);
        if (!grown) return NULL;
        if (p->nitem) memcpy(grown, p->items, (size_t)p->nitem * sizeof *grown);
        p->items = grown;
        p->cap_item = cap;
    }
    return &p->items[p->nitem++];
}

/* Past the ')' that closes the item entered. */
static clf_status skip_item(clf_reader *p, clf_token open) {
    for (int depth = 1; depth; clf_read_next(p)) {
        if (p->t.n == 0) return clf_read_fault(p, open, "this '(' is never closed");
        depth += clf_read_is(p->t, "(") ? 1 : clf_read_is(p->t, ")") ? -1 : 0;
        if (depth > 2) return clf_read_fault(p, p->t, "nothing is nested this deep");
    }
    return CLF_OK;
}

static clf_status declare(clf_reader *p) {
    static const int most[] = {0, CLF_MAX_AXES, INT16_MAX, INT16_MAX, 4 * CLF_MAX_SINKS, INT16_MAX, INT32_MAX - 1, CLF_MAX_SINKS};
    clf_token open = p->t;
    CLF_TRY(clf_read_expect(p, "("));
    clf_item *m = new_item(p);
    if (!m) return clf_read_no_memory(p);
    m->word = p->t;
    int w = clf_read_find(p->t, item_words);
    bool sink = clf_read_find(p->t, clf_sink_words) >= 0;
    if (w < CLF_ITEM_AXIS && !sink) return clf_read_fault(p, p->t, "'%.*s' is no item", CLF_SHOW(p->t));
    m->kind = sink ? CLF_ITEM_SINK : (clf_citem)w;
    m->index = p->count[m->kind]++;
    if (m->index >= most[m->kind]) return clf_read_fault(p, m->word, "more than %d of these", most[m->kind]);
    clf_read_next(p);
    m->name = p->t;
    if (!sink && !clf_read_is_name(p->t)) return clf_read_fault(p, p->t, "'%.*s' cannot be a name", CLF_SHOW(p->t));
    if (!sink) clf_read_next(p);
    m->body = p->t;
    return skip_item(p, open);
}

static clf_status declare_all(clf_reader *p) {
    CLF_TRY(clf_read_expect(p, "("));
    CLF_TRY(clf_read_expect(p, "cplan"));
    while (!clf_read_is(p->t, ")")) CLF_TRY(declare(p));
    clf_read_next(p);
    if (p->t.n) return clf_read_fault(p, p->t, "'%.*s' after the end", CLF_SHOW(p->t));
    return clf_read_names(p);
}

/* ---- the second pass: one function per kind of item, from its body to its ')' --------------------------------------------- */

static clf_status parse_axis(clf_reader *p, int i) {
    clf_axis *x = &p->c.axis[i];
    int index;
    *x = (clf_axis){.parent = -1, .owner = -1};
    CLF_TRY(clf_read_word(p, clf_axis_words, "kind of axis", &x->kind));
    CLF_TRY(clf_read_word(p, clf_order_words, "order", &x->ascending));
    CLF_TRY(clf_read_dim(p, &x->n));
    if (clf_read_is(p->t, "owner")) {
        clf_read_next(p);
        CLF_TRY(clf_read_name(p, CLF_ITEM_ACCESS, &index));
        x->owner = (int16_t)index;
    }
    if (clf_read_is(p->t, "parent")) {
        clf_read_next(p);
        CLF_TRY(clf_read_name(p, CLF_ITEM_AXIS, &index));
        x->parent = (int8_t)index;
    }
    return CLF_OK;
}

static clf_status parse_dims(clf_reader *p, clf_cinput *x) {
    for (; !clf_read_is(p->t, ")"); x->rank++) {
        if (x->rank == CLF_MAX_RANK) return clf_read_fault(p, p->t, "more than %d dimensions", CLF_MAX_RANK);
        CLF_TRY(clf_read_dim(p, &x->dim[x->rank]));
    }
    return CLF_OK;
}

static clf_status parse_in(clf_reader *p, int i) {
    CLF_TRY(clf_read_dtype(p, &p->c.in[i].dtype));
    CLF_TRY(clf_read_word(p, clf_format_words, "format", &p->c.in[i].format));
    return parse_dims(p, &p->c.in[i]);
}

static clf_status parse_param(clf_reader *p, int i) { return clf_read_dtype(p, &p->c.param[i]); }

static clf_status parse_out(clf_reader *p, int i) {
    CLF_TRY(clf_read_dtype(p, &p->c.out[i].dtype));
    return parse_dims(p, &p->c.out[i]);
}

static clf_status parse_at(clf_reader *p, clf_at *at) {
    int index;
    *at = (clf_at){.axis = -1, .value = -1};
    CLF_TRY(clf_read_expect(p, "("));
    if (clf_read_is(p->t, "-")) {
        clf_read_next(p);
    } else if (clf_read_at(p, CLF_ITEM_VALUE)) {
        CLF_TRY(clf_read_name(p, CLF_ITEM_VALUE, &index));
        at->value = index;
    } else {
        CLF_TRY(clf_read_name(p, CLF_ITEM_AXIS, &index));
        at->axis = index;
    }
    if (at->axis >= 0 || at->value >= 0) CLF_TRY(clf_read_number(p, &at->mul));
    CLF_TRY(clf_read_number(p, &at->add));
    return clf_read_expect(p, ")");
}

static clf_status parse_access(clf_reader *p, int i) {
    clf_access *a = &p->c.access[i];
    int index;
    CLF_TRY(clf_read_name(p, CLF_ITEM_IN, &index));
    a->input = index;
    CLF_TRY(clf_read_word(p, clf_protocol_words, "protocol", &a->protocol));
    for (; !clf_read_is(p->t, ")"); a->rank++) {
        if (a->rank == CLF_MAX_RANK) return clf_read_fault(p, p->t, "more than %d dimensions", CLF_MAX_RANK);
        CLF_TRY(parse_at(p, &a->at[a->rank]));
    }
    return CLF_OK;
}

static clf_status take_fold(clf_reader *p, int32_t *out) {
    for (int f = 0; f < CLF_NFOLDS; f++)
        if (clf_read_is(p->t, clf_folds[f].id)) {
            *out = f;
            clf_read_next(p);
            return CLF_OK;
        }
    return clf_read_fault(p, p->t, "'%.*s' is no fold", CLF_SHOW(p->t));
}

static int find_op(clf_token t) {
    for (int i = 0; i < CLF_NOPS; i++)
        if (clf_read_is(t, clf_ops[i].id)) return i;
    int form = clf_read_find(t, clf_form_words);
    return form < 0 ? -1 : CLF_V_LOAD + form;
}

/* skip n, 0 when missing */
static clf_status take_skip(clf_reader *p, int32_t *out) {
    clf_token at = p->t;
    int64_t n;
    *out = 0;
    if (!clf_read_is(p->t, "skip")) return CLF_OK;
    clf_read_next(p);
    CLF_TRY(clf_read_number(p, &n));
    if (n < 0 || n > 3) return clf_read_fault(p, at, "skip is 0 to 3");
    *out = (int32_t)n;
    return CLF_OK;
}

static clf_status take_axis(clf_reader *p, clf_value *v) {
    int axis;
    CLF_TRY(clf_read_name(p, CLF_ITEM_AXIS, &axis));
    v->axis = (int8_t)axis;
    return CLF_OK;
}

/* value axis value axis, an axis missing as '-'. */
static clf_status take_parts(clf_reader *p, clf_value *v) {
    int along[2] = {-1, -1};
    for (int q = 0; q < 2; q++) {
        CLF_TRY(clf_read_name(p, CLF_ITEM_VALUE, &v->in[q]));
        if (clf_read_is(p->t, "-"))
            clf_read_next(p);
        else
            CLF_TRY(clf_read_name(p, CLF_ITEM_AXIS, &along[q]));
    }
    v->arg = clf_cat_arg(along[0], along[1]);
    return CLF_OK;
}

/* word name, where the word stands here. */
static clf_status take_optional(clf_reader *p, const char *word, clf_citem kind, int32_t *out) {
    if (!clf_read_is(p->t, word)) return CLF_OK;
    clf_read_next(p);
    return clf_read_name(p, kind, out);
}

static clf_status parse_value(clf_reader *p, int i) {
    clf_value *v = &p->c.value[i];
    int arity = 0;
    *v = (clf_value){.axis = -1, .in = {-1, -1, -1}, .arg = -1};
    CLF_TRY(clf_read_dtype(p, &v->dtype));
    int op = find_op(p->t);
    if (op < 0) return clf_read_fault(p, p->t, "'%.*s' is no operator", CLF_SHOW(p->t));
    clf_read_next(p);
    v->op = (uint16_t)op;
    switch (op) {
    case CLF_V_LOAD: CLF_TRY(clf_read_name(p, CLF_ITEM_ACCESS, &v->arg)); break;
    case CLF_V_PARAM: CLF_TRY(clf_read_name(p, CLF_ITEM_PARAM, &v->arg)); break;
    case CLF_V_INDEX: CLF_TRY(clf_read_name(p, CLF_ITEM_AXIS, &v->arg)); break;
    case CLF_V_CAST: arity = 1; break;
    case CLF_V_FOLD:
    case CLF_V_SCAN:
        CLF_TRY(take_fold(p, &v->arg));
        CLF_TRY(take_axis(p, v));
        arity = 1;
        break;
    case CLF_V_CAT: CLF_TRY(take_axis(p, v)); return take_parts(p, v);
    case CLF_V_DOT:
        CLF_TRY(take_axis(p, v));
        arity = 2;
        break;
    default: arity = clf_ops[op].arity;
    }
    for (int q = 0; q < arity; q++) CLF_TRY(clf_read_name(p, CLF_ITEM_VALUE, &v->in[q]));
    if (op == CLF_V_FOLD) CLF_TRY(take_optional(p, "rest", CLF_ITEM_VALUE, &v->in[1]));
    return op == CLF_V_DOT ? take_skip(p, &v->arg) : CLF_OK;
}

static clf_status parse_axes(clf_reader *p, const char *taken, uint32_t *set) {
    while (clf_read_at(p, CLF_ITEM_AXIS)) {
        clf_token at = p->t;
        int axis;
        CLF_TRY(clf_read_name(p, CLF_ITEM_AXIS, &axis));
        if (*set >> axis & 1u) return clf_read_fault(p, at, "'%.*s' is %s twice", CLF_SHOW(at), taken);
        *set |= 1u << axis;
    }
    return CLF_OK;
}

static clf_status parse_keep(clf_reader *p, clf_sink *s) {
    CLF_TRY(clf_read_expect(p, "keep"));
    CLF_TRY(parse_axes(p, "kept", &s->keep));
    if (!clf_read_is(p->t, "over")) return CLF_OK;
    clf_read_next(p);
    return parse_axes(p, "folded", &s->over);
}

/* out [fold] value, repeated for the columns of an append; a dot has a second value, a fold may have a rest. */
static clf_status parse_columns(clf_reader *p, clf_sink *s) {
    bool folds = s->kind == CLF_SINK_FOLD || s->kind == CLF_SINK_SCATTER || s->kind == CLF_SINK_GROUP;
    int32_t fold = 0;
    for (int q = 0; q == 0 || (s->kind == CLF_SINK_APPEND && clf_read_at(p, CLF_ITEM_OUT)); q++) {
        if (q == 3) return clf_read_fault(p, p->t, "a record has at most 3 columns");
        CLF_TRY(clf_read_name(p, CLF_ITEM_OUT, &s->out[q]));
        if (folds) CLF_TRY(take_fold(p, &fold));
        CLF_TRY(clf_read_name(p, CLF_ITEM_VALUE, &s->value[q]));
    }
    if (s->kind == CLF_SINK_DOT) CLF_TRY(clf_read_name(p, CLF_ITEM_VALUE, &s->value[1]));
    if (s->kind == CLF_SINK_DOT) CLF_TRY(take_skip(p, &fold));
    if (s->kind == CLF_SINK_FOLD) CLF_TRY(take_optional(p, "rest", CLF_ITEM_VALUE, &s->value[1]));
    s->fold = (uint8_t)fold;
    return CLF_OK;
}

static clf_status parse_sink(clf_reader *p, int i, clf_token word) {
    clf_sink *s = &p->c.sink[i];
    *s = (clf_sink){.kind = (uint8_t)clf_read_find(word, clf_sink_words),
                    .value = {-1, -1, -1, -1},
                    .key = {-1, -1},
                    .guard = -1,
                    .order = -1,
                    .out = {-1, -1, -1, -1}};
    CLF_TRY(parse_columns(p, s));
    if (s->kind == CLF_SINK_SCATTER || s->kind == CLF_SINK_GROUP) {
        CLF_TRY(clf_read_expect(p, "key"));
        CLF_TRY(clf_read_name(p, CLF_ITEM_VALUE, &s->key[0]));
        if (clf_read_at(p, CLF_ITEM_VALUE)) CLF_TRY(clf_read_name(p, CLF_ITEM_VALUE, &s->key[1]));
        if (s->kind == CLF_SINK_GROUP) CLF_TRY(clf_read_name(p, CLF_ITEM_OUT, &s->out[1]));
    }
    CLF_TRY(take_optional(p, "count", CLF_ITEM_OUT, &s->out[3]));
    CLF_TRY(parse_keep(p, s));
    CLF_TRY(take_optional(p, "guard", CLF_ITEM_VALUE, &s->guard));
    return take_optional(p, "order", CLF_ITEM_VALUE, &s->order);
}

static clf_status parse_item(clf_reader *p, const clf_item *m) {
    static clf_status (*const by_kind[])(clf_reader *, int) = {NULL,      parse_axis,   parse_in,   parse_param,
                                                               parse_out, parse_access, parse_value};
    p->t = m->body;
    CLF_TRY(m->kind == CLF_ITEM_SINK ? parse_sink(p, m->index, m->word) : by_kind[m->kind](p, m->index));
    return clf_read_expect(p, ")");
}

static clf_status make_arrays(clf_reader *p) {
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
    return c->axis && c->in && c->param && c->out && c->access && c->value && c->sink ? CLF_OK : clf_read_no_memory(p);
}

/* The checker's fault, at the line of its item. */
static clf_status check_parsed(const clf_reader *p) {
    clf_err err = {0};
    clf_cwhere where = {CLF_ITEM_PLAN, 0};
    clf_token at = {p->text, 0};
    clf_status st = clf_cplan_check_at(&p->c, &where, &err);
    if (st == CLF_OK) return CLF_OK;
    for (int i = 0; i < p->nitem; i++)
        if (p->items[i].kind == where.item && p->items[i].index == where.index) at = p->items[i].word;
    return clf_read_fault(p, at, "%s", strncmp(err.text, "cplan: ", 7) == 0 ? err.text + 7 : err.text);
}

clf_status clf_cplan_parse(clf_cplan *c, clf_arena *arena, const char *text, size_t n, clf_err *err) {
    clf_reader p = {.text = text, .end = text + n, .t = {text, 0}, .arena = arena, .err = err};
    clf_read_next(&p);
    CLF_TRY(declare_all(&p));
    CLF_TRY(make_arrays(&p));
    for (int i = 0; i < p.nitem; i++) CLF_TRY(parse_item(&p, &p.items[i]));
    clf_cplan_axes(&p.c);
    CLF_TRY(check_parsed(&p));
    *c = p.c;
    return CLF_OK;
}
