/* SPDX-License-Identifier: Apache-2.0
 * Statements and results: what clf_parse and clf_expr are. Every handle made on the way belongs to a value and goes with it; what is
 * given out are new handles, so neither inputs nor earlier results can be freed through them. */
#include "host/graph/ctx.h"
#include "host/lang/index.h"

#include <math.h>
#include <string.h>

clf_status clf_lang_advance(clf_lang *l) { return clf_lexer_next(&l->lex, &l->tok, l->err); }

clf_status clf_lang_room(clf_lang *l, void **array, size_t n, size_t *cap, size_t each) {
    enum { FIRST = 16 };
    if (n < *cap) return CLF_OK;
    size_t more = *cap ? *cap * 2 : FIRST;
    void *p = clf_mem_grow(l->mem, *array, *cap, more, each);
    if (!p) return clf_place_fail(l->err, CLF_E_NOMEM, l->tok.at, "out of memory while reading the program");
    *array = p;
    *cap = more;
    return CLF_OK;
}

void clf_term_release(clf_term *v) {
    if (v->owned) clf_free(v->mat);
    *v = (clf_term){.mat = NULL};
}

clf_term clf_term_number(clf_lang *l, double x, clf_place at) {
    return (clf_term){.mat = clf_num(l->c, x), .owned = true, .known = true, .num = x, .at = at};
}

/* A second handle to what v holds. */
static clf_status own(clf_lang *l, clf_term *v) {
    if (v->owned) return CLF_OK;
    clf_ctx_lock(l->c);
    v->mat = clf_handle_new(l->c, clf_node_ref(v->mat->node));
    clf_ctx_unlock(l->c);
    v->owned = true;
    return CLF_OK;
}

/* ---- inputs ---- */

/* A scalar that is a number already may stand in index bounds. */
static void know(clf_term *v) {
    const clf_node *n = v->mat->node;
    v->known = n->g.op == CLF_OP_CONST;
    if (v->known) v->num = clf_scalar_as_f64(n->num);
}

static clf_status bind_inputs(clf_lang *l, const clf_binding *vars, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const char *why;
        double constant;
        if (!vars[i].name || !vars[i].value) return clf_fail(l->err, CLF_E_ARG, "clf_parse: binding %zu has no name or no value", i);
        if (clf_ctx_of(vars[i].value) != l->c)
            return clf_fail(l->err, CLF_E_ARG, "clf_parse: '%s' belongs to another context", vars[i].name);
        if (clf_lang_constant(&(clf_token){.text = vars[i].name, .len = strlen(vars[i].name)}, &constant))
            return clf_fail(l->err, CLF_E_NAME, "'%s' is a constant and cannot be bound", vars[i].name);
        clf_status st = clf_status_of(vars[i].value, &why);
        if (st != CLF_OK) return clf_fail(l->err, st, "%s: %s", vars[i].name, why);
        clf_var *v = clf_vars_put(&l->vars, vars[i].name, strlen(vars[i].name));
        if (!v) return clf_fail(l->err, CLF_E_NOMEM, "clf_parse: out of memory");
        v->value = (clf_term){.mat = vars[i].value};
        know(&v->value);
    }
    return CLF_OK;
}

/* ---- statements ---- */

/* The entry that holds a variable's last value keeps the handle; the variable borrows it. */
static clf_status record_entry(clf_lang *l, clf_token name, clf_term v) {
    clf_status st = clf_lang_room(l, (void **)&l->entry, l->nentry, &l->cap_entry, sizeof *l->entry);
    clf_var *var = NULL;
    if (st == CLF_OK && name.len && !(var = clf_vars_put(&l->vars, name.text, name.len)))
        st = clf_place_fail(l->err, CLF_E_NOMEM, name.at, "out of memory while reading the program");
    if (st != CLF_OK) {
        clf_term_release(&v);
        return st;
    }
    l->entry[l->nentry] = (clf_entry){.value = v, .name = name};
    if (var && var->entry != CLF_NO_ENTRY) {
        l->entry[var->entry].dead = true;
        clf_term_release(&l->entry[var->entry].value);
    }
    if (var) {
        var->value = v;
        var->value.owned = false;
        var->entry = l->nentry;
    }
    l->nentry++;
    return CLF_OK;
}

/* NAME = or NAME <- at the start of a statement; else the lexer goes back to the name. */
static clf_status target(clf_lang *l, clf_token *name) {
    double x;
    clf_lexer start = l->lex;
    clf_token first = l->tok;
    *name = (clf_token){.len = 0};
    if (first.kind != CLF_TOKEN_NAME) return CLF_OK;
    CLF_TRY(clf_lang_advance(l));
    if (l->tok.kind != CLF_TOKEN_BIND && l->tok.kind != CLF_TOKEN_ARROW) {
        l->lex = start;
        l->tok = first;
        return CLF_OK;
    }
    if (clf_lang_constant(&first, &x))
        return clf_place_fail(l->err, CLF_E_SYNTAX, first.at, "'%.*s' is a constant", (int)first.len, first.text);
    *name = first;
    return clf_lang_advance(l);
}

static clf_status statement(clf_lang *l) {
    clf_token name;
    clf_term v;
    CLF_TRY(target(l, &name));
    CLF_TRY(clf_lang_expression(l, &v));
    CLF_TRY(own(l, &v));
    return record_entry(l, name, v);
}

static clf_status program(clf_lang *l) {
    CLF_TRY(clf_lang_advance(l));
    while (l->tok.kind != CLF_TOKEN_END) {
        if (l->tok.kind == CLF_TOKEN_LINE || l->tok.kind == CLF_TOKEN_SEMI)
            CLF_TRY(clf_lang_advance(l));
        else
            CLF_TRY(statement(l));
    }
    return CLF_OK;
}

static void release(clf_lang *l) {
    while (l->nval) clf_term_release(&l->val[--l->nval]);
    while (l->nentry) clf_term_release(&l->entry[--l->nentry].value);
    clf_mem_free(l->mem, l->val, l->cap_val, sizeof *l->val);
    clf_mem_free(l->mem, l->entry, l->cap_entry, sizeof *l->entry);
    clf_lang_items_free(l);
    clf_vars_release(&l->vars);
}

/* ---- results ---- */

/* The context's copy of a name. Names given out before are found again, so that parsing in a loop keeps no more than one of each. */
static const char *intern_name(clf_ctx *c, const clf_token *t) {
    for (size_t i = 0; i < c->nnames; i++)
        if (strlen(c->names[i]) == t->len && memcmp(c->names[i], t->text, t->len) == 0) return c->names[i];
    char *copy = clf_mem_new(&c->mem, t->len + 1, 1);
    char **names = copy ? clf_mem_grow(&c->mem, c->names, c->nnames, c->nnames + 1, sizeof *names) : NULL;
    if (!names) {
        clf_mem_free(&c->mem, copy, t->len + 1, 1);
        return NULL;
    }
    memcpy(copy, t->text, t->len);
    c->names = names;
    return names[c->nnames++] = copy;
}

static clf_status name_entry(clf_lang *l, const clf_entry *e, const char **out) {
    *out = "";
    if (!e->name.len) return CLF_OK;
    clf_ctx_lock(l->c);
    *out = intern_name(l->c, &e->name);
    clf_ctx_unlock(l->c);
    return *out ? CLF_OK : clf_fail(l->err, CLF_E_NOMEM, "clf_parse: out of memory");
}

/* Names first, so that nothing is given out when one of them fails. */
static clf_status give_out(clf_lang *l, clf_result *results, size_t *nresults) {
    size_t live = 0, at = 0;
    const char *name;
    for (size_t i = 0; i < l->nentry; i++) {
        live += !l->entry[i].dead;
        if (!l->entry[i].dead) CLF_TRY(name_entry(l, &l->entry[i], &name));
    }
    if (live > *nresults) return clf_fail(l->err, CLF_E_LIMIT, "clf_parse: %zu results, room for %zu", live, *nresults);
    for (size_t i = 0; i < l->nentry; i++) {
        clf_entry *e = &l->entry[i];
        if (e->dead) continue;
        CLF_TRY(name_entry(l, e, &name));
        results[at++] = (clf_result){.name = name, .value = e->value.mat, .bare = !e->name.len, .used = e->used};
        e->value.owned = false;
    }
    *nresults = live;
    return CLF_OK;
}

static void begin(clf_lang *l, clf_ctx *c, const char *text, clf_err *err) {
    *l = (clf_lang){.c = c, .mem = &c->mem, .err = err};
    clf_lexer_init(&l->lex, text);
    clf_vars_init(&l->vars, l->mem);
}

static clf_status remember(clf_ctx *c, const clf_err *err) {
    clf_ctx_lock(c);
    clf_status st = clf_ctx_fail(c, err);
    clf_ctx_unlock(c);
    return st;
}

clf_status clf_parse(clf_ctx *c, const char *text, const clf_binding *vars, size_t nvars, clf_result *results, size_t *nresults) {
    clf_lang l;
    clf_err err = {CLF_OK, ""};
    if (!c) return CLF_E_ARG;
    begin(&l, c, text, &err);
    clf_status st =
        text && nresults && (vars || !nvars) && (results || !*nresults) ? CLF_OK : clf_fail(&err, CLF_E_ARG, "clf_parse: a NULL argument");
    if (st == CLF_OK) st = bind_inputs(&l, vars, nvars);
    if (st == CLF_OK) st = program(&l);
    if (st == CLF_OK) st = give_out(&l, results, nresults);
    release(&l);
    return st == CLF_OK ? CLF_OK : remember(c, &err);
}

/* Bare expressions are the results, the first vars the parameters. */
static clf_status make_function(clf_lang *l, size_t nparams, const clf_binding *vars, clf_fn **out) {
    size_t n = 0, room = l->nentry + nparams + 1;
    clf_mat **handle = clf_mem_new(l->mem, room, sizeof *handle);
    if (!handle) return clf_fail(l->err, CLF_E_NOMEM, "clf_fn_parse: out of memory");
    for (size_t i = 0; i < nparams; i++) handle[i] = vars[i].value;
    for (size_t i = 0; i < l->nentry; i++)
        if (!l->entry[i].name.len) handle[nparams + n++] = l->entry[i].value.mat;
    clf_status st = clf_fn_new(l->c, nparams, handle, n, handle + nparams, out);
    if (st != CLF_OK) clf_fail(l->err, st, "%s", clf_last_error(l->c));
    clf_mem_free(l->mem, handle, room, sizeof *handle);
    return st;
}

clf_status clf_fn_parse(clf_ctx *c, const char *text, size_t nparams, const clf_binding *vars, size_t nvars, clf_fn **out) {
    clf_lang l;
    clf_err err = {CLF_OK, ""};
    if (!c) return CLF_E_ARG;
    begin(&l, c, text, &err);
    clf_status st = text && out && (vars || !nvars) ? CLF_OK : clf_fail(&err, CLF_E_ARG, "clf_fn_parse: a NULL argument");
    if (st == CLF_OK && nparams > nvars) st = clf_fail(&err, CLF_E_ARG, "clf_fn_parse: %zu parameters among %zu variables", nparams, nvars);
    if (st == CLF_OK) st = bind_inputs(&l, vars, nvars);
    if (st == CLF_OK) st = program(&l);
    if (st == CLF_OK) st = make_function(&l, nparams, vars, out);
    release(&l);
    return st == CLF_OK ? CLF_OK : remember(c, &err);
}

/* The last statement is the value; statements before it may bind names. */
static clf_status only_result(clf_lang *l, clf_mat **out) {
    if (!l->nentry) return clf_place_fail(l->err, CLF_E_SYNTAX, l->tok.at, "expected an expression, found the end of the program");
    clf_entry *last = &l->entry[l->nentry - 1];
    if (last->name.len) return clf_place_fail(l->err, CLF_E_SYNTAX, last->name.at, "expected an expression, found a binding");
    *out = last->value.mat;
    last->value.owned = false;
    return CLF_OK;
}

clf_mat *clf_expr(clf_ctx *c, const char *text, const clf_binding *vars, size_t nvars) {
    clf_lang l;
    clf_err err = {CLF_OK, ""};
    clf_mat *out = NULL;
    if (!c) return NULL;
    begin(&l, c, text, &err);
    clf_status st = text && (vars || !nvars) ? CLF_OK : clf_fail(&err, CLF_E_ARG, "clf_expr: a NULL argument");
    if (st == CLF_OK) st = bind_inputs(&l, vars, nvars);
    if (st == CLF_OK) st = program(&l);
    if (st == CLF_OK) st = only_result(&l, &out);
    release(&l);
    if (st == CLF_OK) return out;
    clf_ctx_lock(c);
    out = clf_handle_error(c, &err);
    clf_ctx_unlock(c);
    return out;
}
