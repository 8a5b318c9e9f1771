/* SPDX-License-Identifier: Apache-2.0
 * Open-fuse-merge-close exploration, bottom-up in id order, which is topological: no recursion. An entry that reads what nobody else wants,
 * though another of its template takes it in, is dominated and left out: whoever may not take it in cuts the edge itself.
 *
 * Source: Boehm et al., PVLDB 11(12) 2018, section 3. */
#include <string.h>

#include "planner/template.h"

/* Does only n want its input k? */
static bool alone(const clf_memo *m, int32_t n, int k) {
    int32_t q = clf_node_operand(m->g, n, k);
    return m->readers[q] == 1 && !clf_node_is_slot(&m->g->node[q]);
}

/* All ways to take the inputs of n given that input `base` is fused (-1: none): merge the others in or read them, if somebody else does. */
static void combine(clf_memo *m, int t, int32_t n, int base) {
    const clf_gnode *x = &m->g->node[n];
    const clf_template *T = clf_templates[t];
    clf_closing st = T->close(m->g, n);
    if (st == CLF_CLOSED_INVALID) return;
    int free[3], nfree = 0, must = 0;
    for (int k = 0; k < x->nin; k++) {
        if (base < 0 || k <= base || !T->merge(m->g, n, k)) continue;
        must |= alone(m, n, k) << nfree;
        free[nfree++] = k;
    }
    for (int mask = 0; mask < 1 << nfree; mask++) {
        if ((mask & must) != must) continue;
        clf_entry *e = &m->entry[m->nentry++];
        memset(e, 0, sizeof *e);
        e->template_ = (uint8_t)t;
        e->close = (uint8_t)st;
        if (base >= 0) e->edge[base] = CLF_EDGE_FUSE;
        for (int f = 0; f < nfree; f++)
            if (mask >> f & 1) e->edge[free[f]] = CLF_EDGE_FUSE;
    }
}

/* One template's entries of n. What the first input that it may take in starts, the others need not start again if they are merged in. */
static void explore_with(clf_memo *m, int t, int32_t n) {
    const clf_template *T = clf_templates[t];
    bool dominated = false;
    for (int k = 0; k < m->g->node[n].nin; k++) {
        if (!T->fuse(m->g, n, k)) continue;
        if (!dominated || !T->merge(m->g, n, k)) combine(m, t, n, k);
        dominated = dominated || alone(m, n, k);
    }
    if (!dominated && T->open(m->g, n)) combine(m, t, n, -1);
}

static void count_readers(clf_memo *m) {
    const clf_graph *g = m->g;
    for (int32_t n = 0; n < g->n; n++)
        for (int k = 0; k < g->node[n].nin; k++) m->readers[clf_node_operand(g, n, k)]++;
    for (int32_t r = 0; r < g->nroot; r++) m->readers[g->root[r]]++;
}

clf_status clf_explore(const clf_graph *g, clf_arena *arena, clf_memo *m, clf_err *err) {
    int ntemplate = 0;
    while (clf_templates[ntemplate]) ntemplate++;
    m->g = g;
    m->nentry = 0;
    m->cap = 0;
    m->first = clf_arena_new(arena, (size_t)g->n + 1, sizeof *m->first);
    size_t total = 0;
    for (int32_t n = 0; n < g->n; n++) total += (size_t)ntemplate << g->node[n].nin;
    m->entry = clf_arena_new(arena, total, sizeof *m->entry);
    m->readers = clf_arena_new(arena, (size_t)g->n, sizeof *m->readers);
    if (!m->first || !m->entry || !m->readers) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory for the memo table");
    count_readers(m);
    for (int32_t n = 0; n < g->n; n++) {
        m->first[n] = m->nentry;
        for (int t = 0; clf_templates[t]; t++) explore_with(m, t, n);
    }
    m->first[g->n] = m->nentry;
    return CLF_OK;
}

bool clf_memo_fusable(const clf_memo *m, int32_t n, int k) {
    for (int32_t e = m->first[n]; e < m->first[n + 1]; e++)
        if (m->entry[e].edge[k] == CLF_EDGE_FUSE) return true;
    return false;
}

void clf_memo_print(const clf_memo *m, clf_str *out) {
    static const char *const edge[] = {"read", "fuse", "tap"};
    static const char *const state[] = {"open", "open-invalid", "closed", "closed-invalid"};
    for (int32_t n = 0; n < m->g->n; n++) {
        if (m->first[n] == m->first[n + 1]) continue;
        clf_str_fmt(out, "%%%d %s:", n, clf_ops[m->g->node[n].op].id);
        for (int32_t e = m->first[n]; e < m->first[n + 1]; e++) {
            clf_str_fmt(out, " %s(", clf_templates[m->entry[e].template_]->name);
            for (int k = 0; k < m->g->node[n].nin; k++) clf_str_fmt(out, "%s%s", k ? " " : "", edge[m->entry[e].edge[k]]);
            clf_str_fmt(out, ") %s;", state[m->entry[e].close]);
        }
        clf_str_put(out, "\n");
    }
}
