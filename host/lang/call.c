/* SPDX-License-Identifier: Apache-2.0
 * Calls: which function a name means, which argument goes to which parameter, and the checks common to all functions.
 * A cell operator of the operator table is a function by its name without a row of its own. */
#include "host/lang/lang.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool same(const clf_token *t, const char *name, size_t len) { return t->len == len && memcmp(t->text, name, len) == 0; }

static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

clf_status clf_lang_find(clf_lang *l, const clf_token *name, clf_lang_fn *out) {
    for (const clf_lang_fn *f = clf_lang_fns; f->name; f++)
        if (same(name, f->name, strlen(f->name))) {
            *out = *f;
            return CLF_OK;
        }
    for (int i = 0; i < CLF_NOPS; i++)
        if (letter(clf_ops[i].name[0]) && same(name, clf_ops[i].name, strlen(clf_ops[i].name))) {
            *out =
                (clf_lang_fn){.name = clf_ops[i].name, .min = clf_ops[i].arity, .max = clf_ops[i].arity, .build = clf_lang_cell, .code = i};
            return CLF_OK;
        }
    char shown[64], hint[64];
    return clf_place_fail(l->err, CLF_E_NAME, name->at, "no function %s%s", clf_token_show(name, shown, sizeof shown),
                          clf_hint_function(name, hint, sizeof hint));
}

clf_status clf_call_fail(const clf_lang_call *k, clf_status code, const char *fmt, ...) {
    char text[CLF_ERR_TEXT / 2];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return clf_place_fail(k->l->err, code, k->at, "%s: %s", k->fn->name, text);
}

/* The i-th name of "a,b,c"; length 0 past the end. */
static const char *param_name(const char *params, int i, size_t *len) {
    for (; params && i > 0; i--) {
        params = strchr(params, ',');
        params = params ? params + 1 : NULL;
    }
    *len = params ? strcspn(params, ",") : 0;
    return params;
}

static clf_status param_of(const clf_lang_call *k, const clf_token *name, int *out) {
    char shown[64];
    size_t len;
    for (int i = 0; i < CLF_LANG_PARAMS; i++) {
        const char *p = param_name(k->fn->params, i, &len);
        if (len == 0) break;
        *out = i;
        if (same(name, p, len)) return CLF_OK;
    }
    clf_token_show(name, shown, sizeof shown);
    if (!k->fn->params)
        return clf_place_fail(k->l->err, CLF_E_NAME, name->at, "%s: takes no named arguments, found %s", k->fn->name, shown);
    return clf_place_fail(k->l->err, CLF_E_NAME, name->at, "%s: no argument %s (it has %s)", k->fn->name, shown, k->fn->params);
}

/* Named arguments first, the others fill what is free, from the left. */
static clf_status bind(clf_lang_call *k) {
    int p = 0, next = 0;
    for (int i = 0; i < k->n; i++) {
        if (!k->list[i].arg.len) continue;
        CLF_TRY(param_of(k, &k->list[i].arg, &p));
        if (k->arg[p]) return clf_place_fail(k->l->err, CLF_E_SYNTAX, k->list[i].at, "%s: argument given twice", k->fn->name);
        k->arg[p] = &k->list[i];
    }
    for (int i = 0; i < k->n; i++) {
        if (k->list[i].arg.len) continue;
        while (k->arg[next]) next++;
        k->arg[next] = &k->list[i];
    }
    return CLF_OK;
}

static clf_status count_ok(const clf_lang_call *k) {
    const clf_lang_fn *f = k->fn;
    if (k->n >= f->min && k->n <= f->max) return CLF_OK;
    if (f->max == CLF_LANG_MANY) return clf_call_fail(k, CLF_E_SYNTAX, "takes %d or more arguments, found %d", f->min, k->n);
    if (f->min == f->max) return clf_call_fail(k, CLF_E_SYNTAX, "takes %d argument%s, found %d", f->min, f->min == 1 ? "" : "s", k->n);
    return clf_call_fail(k, CLF_E_SYNTAX, "takes %d to %d arguments, found %d", f->min, f->max, k->n);
}

/* Required parameters come first in the list of names. */
static clf_status required_ok(const clf_lang_call *k) {
    size_t len;
    for (int i = 0; i < k->fn->min; i++) {
        const char *name = param_name(k->fn->params, i, &len);
        if (!k->arg[i]) return clf_call_fail(k, CLF_E_SYNTAX, "argument '%.*s' is missing", (int)len, name ? name : "");
    }
    return CLF_OK;
}

static clf_status kinds_ok(const clf_lang_call *k) {
    for (int i = 0; i < k->n; i++)
        if (!k->list[i].mat && !(k->fn->build == clf_lang_outer && k->arg[2] == &k->list[i]))
            return clf_place_fail(k->l->err, CLF_E_TYPE, k->list[i].at, "%s: a string is no number", k->fn->name);
    return CLF_OK;
}

clf_status clf_lang_invoke(clf_lang *l, const clf_lang_fn *fn, clf_place at, int n, const clf_term *args, clf_term *out) {
    clf_lang_call k = {.l = l, .fn = fn, .at = at, .n = n, .list = args};
    const char *why = "out of memory";
    clf_term r = {.owned = true, .at = at};
    CLF_TRY(count_ok(&k));
    if (fn->max != CLF_LANG_MANY) {
        CLF_TRY(bind(&k));
        CLF_TRY(required_ok(&k));
    } else {
        for (int i = 0; i < n; i++)
            if (args[i].arg.len) return clf_place_fail(l->err, CLF_E_NAME, args[i].arg.at, "%s: takes no named arguments", fn->name);
    }
    CLF_TRY(kinds_ok(&k));
    CLF_TRY(fn->build(&k, &r));
    clf_status st = clf_status_of(r.mat, &why);
    if (st != CLF_OK) {
        st = clf_place_fail(l->err, st, at, "%s", why);
        clf_term_release(&r);
        return st;
    }
    *out = r;
    return CLF_OK;
}

clf_status clf_call_number(const clf_lang_call *k, int param, double dflt, double *out) {
    const clf_term *v = k->arg[param];
    size_t len;
    const char *name = param_name(k->fn->params, param, &len);
    if (v && !v->known)
        return clf_place_fail(k->l->err, CLF_E_ARG, v->at,
                              "%s: '%.*s' must be known when the program is read: literals, nrow, ncol, length", k->fn->name, (int)len,
                              name ? name : "");
    *out = v ? v->num : dflt;
    return CLF_OK;
}

clf_status clf_call_whole(const clf_lang_call *k, int param, int64_t lo, int64_t dflt, int64_t *out) {
    double x, most = 9007199254740992.0;
    size_t len;
    CLF_TRY(clf_call_number(k, param, (double)dflt, &x));
    const char *name = param_name(k->fn->params, param, &len);
    if (!(x >= (double)lo && x <= most && x == floor(x)))
        return clf_call_fail(k, CLF_E_ARG, "'%.*s' is %.17g, not a whole number from %" PRId64 " on", (int)len, name ? name : "", x, lo);
    *out = (int64_t)x;
    return CLF_OK;
}
