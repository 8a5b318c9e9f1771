/* SPDX-License-Identifier: Apache-2.0
 * The memo as text: per node what exploration found, template and read or fuse per input, then one line for every step that computes the
 * node: how it takes each input there. A tap is an input from inside that the same step stores as well. */
#include "host/graph/explain.h"
#include "planner/template.h"

/* Numbers are steps + 1. */
typedef struct takes {
    const clf_plan *p;
    int32_t *has, *stores, *reads; /* node -> the last step entered that computes, stores, reads it */
} takes;

static bool begin(takes *t, clf_arena *a) {
    size_t n = (size_t)t->p->g.n;
    t->has = clf_arena_new(a, n, sizeof *t->has);
    t->stores = clf_arena_new(a, n, sizeof *t->stores);
    t->reads = clf_arena_new(a, n, sizeof *t->reads);
    return t->has && t->stores && t->reads;
}

static void enter(takes *t, int32_t s) {
    const clf_step *step = &t->p->step[s];
    for (int i = 0; i < step->ncover; i++) t->has[step->cover[i]] = s + 1;
    for (int i = 0; i < step->nout; i++) t->stores[t->p->value[step->out[i]].node] = s + 1;
    for (int i = 0; i < step->nin; i++) t->reads[t->p->value[step->in[i]].node] = s + 1;
}

/* What is neither in memory nor among the step's nodes is a cheap expression that the loop computes besides. */
static const char *how(const takes *t, int32_t s, int32_t q) {
    if (t->has[q] == s + 1) return t->stores[q] == s + 1 ? "tap" : "fuse";
    return t->reads[q] == s + 1 || clf_node_is_slot(&t->p->g.node[q]) ? "read" : "fuse";
}

static void put_taken(const takes *t, int32_t s, clf_str *out) {
    const clf_step *step = &t->p->step[s];
    for (int i = 0; i < step->ncover; i++) {
        const clf_gnode *x = &t->p->g.node[step->cover[i]];
        clf_str_fmt(out, "step %d %%%d %s: %s(", s + 1, step->cover[i], clf_ops[x->op].id, clf_templates[step->template_]->name);
        for (int k = 0; k < x->nin; k++) clf_str_fmt(out, "%s%s", k ? " " : "", how(t, s, clf_node_operand(&t->p->g, step->cover[i], k)));
        clf_str_fmt(out, ")%s\n", t->stores[step->cover[i]] == s + 1 ? " stored" : "");
    }
}

void clf_report_memo(const clf_report *r, clf_str *out) {
    takes t = {.p = r->x->plan};
    clf_memo memo;
    clf_arena scratch;
    clf_arena_init(&scratch, &r->c->mem);
    clf_str_put(out, " memo\n");
    if (clf_explore(&t.p->g, &scratch, &memo, NULL) == CLF_OK) clf_memo_print(&memo, out);
    bool room = begin(&t, &scratch);
    for (int32_t s = 0; s < t.p->nstep && room; s++) {
        if (t.p->step[s].kind != CLF_STEP_FUSED) continue;
        enter(&t, s);
        put_taken(&t, s, out);
    }
    out->failed = out->failed || !room;
    clf_arena_release(&scratch);
}
