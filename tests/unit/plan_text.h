/* SPDX-License-Identifier: Apache-2.0
 * Plans of programs in the language, written down as their steps,
 *
 *     Cell X Y > MUL sum > sum | ...
 *
 * template or operator, what is read, what is computed, what is stored. Programs run over parameters, so nothing is ever evaluated. */
#ifndef CLF_TESTS_PLAN_TEXT_H
#define CLF_TESTS_PLAN_TEXT_H
#include "host/run/run.h"
#include "planner/select.h"
#include "tests/unit/api_testing.h"

/* A parameter; nnz > 0: sparse, with so many entries. */
typedef struct plan_var {
    const char *name;
    int64_t rows, cols;
    bool scalar;
    int64_t nnz;
} plan_var;
enum { MOST_PLAN_VARS = 20 };

typedef struct planned {
    clf_ctx *c;
    clf_frozen f;
    clf_plan *p;
    clf_err err;
} planned;

static inline clf_mat *var_param(clf_ctx *c, const plan_var *v) {
    if (v->nnz) return clf_param_sparse(c, CLF_F64, v->rows, v->cols, v->nnz);
    return clf_param(c, CLF_F64, v->rows, v->cols, v->scalar);
}

static inline planned plan_with(const plan_var *vars, int n, const char *text, const char *selector, const clf_limits *lim) {
    planned r;
    memset(&r, 0, sizeof r);
    r.c = open_host();
    clf_binding b[MOST_PLAN_VARS];
    for (int i = 0; i < n; i++) {
        b[i] = (clf_binding){vars[i].name, var_param(r.c, &vars[i])};
        CU_ASSERT_EQUAL(clf_label(b[i].value, vars[i].name), CLF_OK);
    }
    program prog = parse_bare(r.c, text, b, (size_t)n);
    clf_node *root[MOST_RESULTS];
    for (size_t i = 0; i < prog.n; i++) root[i] = prog.result[i]->node;
    CU_ASSERT_EQUAL_FATAL(clf_freeze(r.c, prog.n, root, 0, NULL, &r.f, &r.err), CLF_OK);
    clf_status st = clf_plan_new(&r.p, &r.f.g, clf_selector_find(selector), lim, &r.c->mem, &r.err);
    if (st != CLF_OK) printf("\n    %s: %s\n", text, r.err.text);
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    return r;
}

static inline void drop(planned *r) {
    clf_plan_free(r->p);
    clf_frozen_release(&r->f);
    clf_close(r->c);
}

/* ---- plans as text ---- */

static inline void put_node(const planned *r, int32_t n, clf_str *out) {
    static const char *const way[] = {"", "row", "col"};
    const clf_gnode *x = &r->p->g.node[n];
    clf_str_put(out, " ");
    if (x->op == CLF_OP_LEAF || x->op == CLF_OP_PARAM)
        clf_str_put(out, r->f.slot_node[x->attr[0]]->text);
    else if (x->op == CLF_OP_FOLD)
        clf_str_fmt(out, "%s%s", way[x->attr[1]], clf_folds[x->attr[0]].name);
    else
        clf_str_put(out, clf_ops[x->op].id);
}

static inline void put_step(const planned *r, const clf_step *s, clf_str *out) {
    if (s->kind == CLF_STEP_FUSED)
        clf_str_put(out, clf_templates[s->template_]->name);
    else
        clf_str_fmt(out, "%s%s%s", clf_ops[r->p->g.node[s->node].op].id, s->ta ? "-ta" : "", s->tb ? "-tb" : "");
    for (int i = 0; i < s->nin; i++) put_node(r, r->p->value[s->in[i]].node, out);
    if (s->kind == CLF_STEP_FUSED) {
        clf_str_put(out, " >");
        for (int i = 0; i < s->ncover; i++) put_node(r, s->cover[i], out);
        clf_str_put(out, " >");
        for (int i = 0; i < s->nout; i++) put_node(r, r->p->value[s->out[i]].node, out);
    }
}

static inline void plan_text(const planned *r, clf_str *out) {
    for (int32_t s = 0; s < r->p->nstep; s++) {
        if (s) clf_str_put(out, " | ");
        put_step(r, &r->p->step[s], out);
    }
}

/* Compares, and lets the plan go. */
static inline void expect_text(planned *r, const char *text, const char *selector, const char *want) {
    clf_str got;
    clf_str_init(&got, &r->c->mem);
    plan_text(r, &got);
    if (strcmp(clf_str_c(&got), want)) printf("\n    %s (%s)\n      got  %s\n      want %s\n", text, selector, clf_str_c(&got), want);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&got), want);
    CU_ASSERT_EQUAL(clf_plan_check(r->p, &r->err), CLF_OK);
    clf_str_release(&got);
    drop(r);
}
#endif
