/* SPDX-License-Identifier: Apache-2.0
 * The key of a fused step: its cplan as bytes, extents left out, for they are bound at run time. Equal keys are equal code, so prepared
 * programs and kernels are found again by it. Whatever an executor's code depends on must be in it; the key text is compared whole. */
#include "planner/lowering.h"

_Static_assert(sizeof(clf_value) == 24, "clf_value has no padding, so its bytes are its value");

static void put_numbers(clf_str *k, int n, const int64_t *x) { clf_str_putn(k, (const char *)x, (size_t)n * sizeof *x); }

static size_t most_bytes(const clf_cplan *c) {
    int numbers = 7 + 3 * c->nin + 2 * c->nout + (3 + 4 * CLF_MAX_RANK) * c->naccess + 3 * c->naxes + 7 * c->nsink;
    return (size_t)numbers * sizeof(int64_t) + (size_t)c->nparam + (size_t)c->nvalue * sizeof *c->value;
}

/* Canonical bytes without extents: equal keys, equal code. Counts come first, so no other list can give the same bytes. */
clf_status clf_step_key(clf_plan *plan, clf_step *s, clf_err *err) {
    const clf_cplan *c = &s->c;
    clf_str k;
    clf_str_init(&k, plan->arena.mem);
    clf_str_room(&k, most_bytes(c)); /* at once */
    put_numbers(&k, 7, (const int64_t[]){c->naxes, c->nin, c->nparam, c->nout, c->naccess, c->nvalue, c->nsink});
    for (int i = 0; i < c->nin; i++) put_numbers(&k, 3, (const int64_t[]){c->in[i].dtype, c->in[i].format, c->in[i].rank});
    for (int i = 0; i < c->nout; i++) put_numbers(&k, 2, (const int64_t[]){c->out[i].dtype, c->out[i].rank});
    clf_str_putn(&k, (const char *)c->param, (size_t)c->nparam);
    for (int i = 0; i < c->naccess; i++) {
        put_numbers(&k, 3, (const int64_t[]){c->access[i].input, c->access[i].protocol, c->access[i].rank});
        for (int d = 0; d < c->access[i].rank; d++) {
            const clf_at *at = &c->access[i].at[d];
            put_numbers(&k, 4, (const int64_t[]){at->axis, at->value, at->mul, at->add});
        }
    }
    clf_str_putn(&k, (const char *)c->value, (size_t)c->nvalue * sizeof *c->value); /* no padding in clf_value */
    for (int i = 0; i < c->naxes; i++) put_numbers(&k, 3, (const int64_t[]){c->axis[i].kind, c->axis[i].parent, c->axis[i].owner});
    for (int i = 0; i < c->nsink; i++) {
        const clf_sink *x = &c->sink[i];
        put_numbers(&k, 7, (const int64_t[]){x->kind, x->fold, x->keep, x->over, x->value[0], x->value[1], x->out[0]});
    }
    clf_status st = CLF_OK;
    s->key = k.failed ? NULL : clf_arena_strn(&plan->arena, clf_str_c(&k), k.len);
    s->key_len = (uint32_t)k.len;
    if (!s->key) st = clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    clf_str_release(&k);
    return st;
}
