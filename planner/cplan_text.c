/* SPDX-License-Identifier: Apache-2.0
 * The printer of the cplan's text form (cplan.h). Names are made from positions, so equal cplans print equally and reading the text back
 * gives the same cplan. Expects a legal cplan. */
#include "planner/cplan.h"

#include <inttypes.h>

#include "planner/cplan_words.h"

static void print_dim(clf_str *out, clf_dim d) {
    clf_str_fmt(out, " %" PRId64, d.n);
    if (d.sym >= 0) clf_str_fmt(out, ":%" PRId32, d.sym);
}

static void print_axis(const clf_cplan *c, int i, clf_str *out) {
    const clf_axis *x = &c->axis[i];
    clf_str_fmt(out, "(axis %c %s %s", 'i' + i, clf_axis_words[x->kind], clf_order_words[x->ascending]);
    print_dim(out, x->n);
    if (x->owner >= 0) clf_str_fmt(out, " owner a%d", x->owner);
    if (x->parent >= 0) clf_str_fmt(out, " parent %c", 'i' + x->parent);
}

static void print_in(const clf_cplan *c, int i, clf_str *out) {
    clf_str_fmt(out, "(in X%d %s %s", i, clf_dtype_name((clf_dtype)c->in[i].dtype), clf_format_words[c->in[i].format]);
    for (int d = 0; d < c->in[i].rank; d++) print_dim(out, c->in[i].dim[d]);
}

static void print_param(const clf_cplan *c, int i, clf_str *out) {
    clf_str_fmt(out, "(param p%d %s", i, clf_dtype_name((clf_dtype)c->param[i]));
}

static void print_out(const clf_cplan *c, int i, clf_str *out) {
    clf_str_fmt(out, "(out Y%d %s", i, clf_dtype_name((clf_dtype)c->out[i].dtype));
    for (int d = 0; d < c->out[i].rank; d++) print_dim(out, c->out[i].dim[d]);
}

static void print_access(const clf_cplan *c, int i, clf_str *out) {
    const clf_access *a = &c->access[i];
    clf_str_fmt(out, "(access a%d X%" PRId32 " %s", i, a->input, clf_protocol_words[a->protocol]);
    for (int d = 0; d < a->rank; d++) {
        const clf_at *at = &a->at[d];
        if (at->axis >= 0)
            clf_str_fmt(out, " (%c %" PRId64, 'i' + at->axis, at->mul);
        else if (at->value >= 0)
            clf_str_fmt(out, " (v%" PRId32 " %" PRId64, at->value, at->mul);
        else
            clf_str_put(out, " (-");
        clf_str_fmt(out, " %" PRId64 ")", at->add);
    }
}

static void print_form(const clf_value *v, clf_str *out) {
    clf_str_fmt(out, " %s", clf_form_words[v->op - CLF_V_LOAD]);
    switch (v->op) {
    case CLF_V_LOAD: clf_str_fmt(out, " a%" PRId32, v->arg); break;
    case CLF_V_PARAM: clf_str_fmt(out, " p%" PRId32, v->arg); break;
    case CLF_V_INDEX: clf_str_fmt(out, " %c", 'i' + v->arg); break;
    case CLF_V_CAST: break;
    case CLF_V_DOT:
    case CLF_V_CAT: clf_str_fmt(out, " %c", 'i' + v->axis); break;
    default: clf_str_fmt(out, " %s %c", clf_folds[v->arg].id, 'i' + v->axis);
    }
}

/* An input, and what is said of it. */
static void print_input(const clf_value *v, int q, clf_str *out) {
    clf_str_fmt(out, v->op == CLF_V_FOLD && q ? " rest v%" PRId32 : " v%" PRId32, v->in[q]);
    if (v->op != CLF_V_CAT) return;
    int along = clf_cat_axis(v, q);
    clf_str_fmt(out, " %c", along < 0 ? '-' : 'i' + along);
}

static void print_value(const clf_cplan *c, int i, clf_str *out) {
    const clf_value *v = &c->value[i];
    clf_str_fmt(out, "(let v%d %s", i, clf_dtype_name((clf_dtype)v->dtype));
    if (clf_op_is_cell(v->op))
        clf_str_fmt(out, " %s", clf_ops[v->op].id);
    else
        print_form(v, out);
    for (int q = 0; q < 3 && v->in[q] >= 0; q++) print_input(v, q, out);
    if (v->op == CLF_V_DOT && v->arg) clf_str_fmt(out, " skip %" PRId32, v->arg);
}

static void print_sink(const clf_cplan *c, int i, clf_str *out) {
    const clf_sink *s = &c->sink[i];
    clf_str_fmt(out, "(%s", clf_sink_words[s->kind]);
    for (int q = 0; q < (s->kind == CLF_SINK_APPEND ? 3 : 1) && s->value[q] >= 0; q++) {
        clf_str_fmt(out, " Y%" PRId32, s->out[q]);
        if (s->kind == CLF_SINK_FOLD || s->kind == CLF_SINK_SCATTER || s->kind == CLF_SINK_GROUP)
            clf_str_fmt(out, " %s", clf_folds[s->fold].id);
        clf_str_fmt(out, " v%" PRId32, s->value[q]);
    }
    if (s->kind == CLF_SINK_DOT) clf_str_fmt(out, " v%" PRId32, s->value[1]);
    if (s->kind == CLF_SINK_FOLD && s->value[1] >= 0) clf_str_fmt(out, " rest v%" PRId32, s->value[1]);
    if (s->kind == CLF_SINK_DOT && s->fold) clf_str_fmt(out, " skip %d", s->fold);
    if (s->key[0] >= 0) clf_str_fmt(out, " key v%" PRId32, s->key[0]);
    if (s->key[1] >= 0) clf_str_fmt(out, " v%" PRId32, s->key[1]);
    if (s->kind == CLF_SINK_GROUP) clf_str_fmt(out, " Y%" PRId32, s->out[1]);
    if (s->out[3] >= 0) clf_str_fmt(out, " count Y%" PRId32, s->out[3]);
    clf_str_put(out, " keep");
    for (int a = 0; a < c->naxes; a++)
        if (s->keep >> a & 1u) clf_str_fmt(out, " %c", 'i' + a);
    if (s->over) clf_str_put(out, " over");
    for (int a = 0; a < c->naxes; a++)
        if (s->over >> a & 1u) clf_str_fmt(out, " %c", 'i' + a);
    if (s->guard >= 0) clf_str_fmt(out, " guard v%" PRId32, s->guard);
    if (s->order >= 0) clf_str_fmt(out, " order v%" PRId32, s->order);
}

void clf_cplan_print(const clf_cplan *c, clf_str *out) {
    const struct {
        int n;
        void (*print)(const clf_cplan *, int, clf_str *);
    } part[] = {{c->naxes, print_axis},     {c->nin, print_in},       {c->nparam, print_param}, {c->nout, print_out},
                {c->naccess, print_access}, {c->nvalue, print_value}, {c->nsink, print_sink}};
    clf_str_put(out, "(cplan");
    for (size_t p = 0; p < sizeof part / sizeof *part; p++)
        for (int i = 0; i < part[p].n; i++) {
            clf_str_put(out, "\n  ");
            part[p].print(c, i, out);
            clf_str_put(out, ")");
        }
    clf_str_put(out, ")\n");
}
