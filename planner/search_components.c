/* SPDX-License-Identifier: Apache-2.0
 * The components of a graph: nodes that no choice of one couples with another's are searched apart. See search.h. */
#include <string.h>

#include "planner/searching.h"

static clf_status no_memory(clf_err *err) { return clf_fail(err, CLF_E_NOMEM, "planning: out of memory while searching"); }

/* A node that is some part's: needed, and not only copied. */
static bool counts(const clf_searcher *s, int32_t n) {
    int is = s->p->is[n];
    if (!(is & CLF_IS_NEEDED) || (is & CLF_IS_SLOT)) return false;
    return !(is & CLF_IS_COPIED) || s->wanted[n] || (is & CLF_IS_ROOT);
}

static int32_t find(int32_t *up, int32_t i) {
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

static void link(clf_searcher *s, int32_t a, int32_t b) {
    a = find(s->comp, a);
    b = find(s->comp, b);
    if (a != b) s->comp[a > b ? a : b] = a > b ? b : a;
}

/* Readers of one operand in loops of one class may join: they are chained by (operand, class). */
typedef struct reading {
    int32_t operand, class_, node, next;
} reading;

static clf_status link_readers(clf_searcher *s, clf_err *err) {
    const clf_graph *g = s->p->g;
    size_t nb = 64;
    int32_t nr = 0;
    while (nb < (size_t)g->n) nb *= 2;
    int32_t *bucket = clf_arena_new(s->arena, nb, sizeof *bucket);
    reading *r = clf_arena_new(s->arena, 3 * (size_t)g->n, sizeof *r);
    if (!bucket || !r) return no_memory(err);
    for (int32_t n = 0; n < g->n; n++) {
        if (!counts(s, n)) continue;
        for (int k = 0; k < g->node[n].nin; k++) {
            int32_t q = clf_node_operand(g, n, k), key[2] = {q, s->p->class_[n]};
            if (!(s->p->by_rows[n] >> k & 1)) continue;
            size_t h = clf_hash64(key, sizeof key, 0) & (nb - 1);
            int32_t e = bucket[h];
            while (e && (r[e - 1].operand != q || r[e - 1].class_ != key[1])) e = r[e - 1].next;
            if (e) {
                link(s, r[e - 1].node, n);
                continue;
            }
            r[nr] = (reading){q, key[1], n, bucket[h]};
            bucket[h] = ++nr;
        }
    }
    return CLF_OK;
}

/* Copied expressions that somebody may read from memory. */
void clf_searcher_wanted(clf_searcher *s) {
    const clf_graph *g = s->p->g;
    for (int32_t n = 0; n < g->n; n++)
        for (int k = 0; k < g->node[n].nin && (s->p->is[n] & CLF_IS_NEEDED); k++)
            if ((s->p->is[n] & CLF_CAN_ALONE) || !(s->p->copies[n] >> k & 1)) s->wanted[clf_node_operand(g, n, k)] = 1;
}

/* What n reads: operand k, or what a loop computes it from. */
static int reads_of(const clf_searcher *s, int32_t n, int k, int32_t in[CLF_MOST_SOURCES]) {
    int32_t q = clf_node_operand(s->p->g, n, k);
    if (s->p->copies[n] >> k & 1) return clf_problem_sources(s->p, q, in);
    in[0] = q;
    return 1;
}

/* What is read from another component. */
static void find_demand(clf_searcher *s) {
    const clf_graph *g = s->p->g;
    for (int32_t n = 0; n < g->n; n++)
        for (int k = 0; k < g->node[n].nin && counts(s, n); k++) {
            int32_t in[CLF_MOST_SOURCES];
            for (int i = reads_of(s, n, k, in); i-- > 0;) s->demanded[in[i]] |= s->comp[in[i]] != s->comp[n];
        }
}

/* What an opening cover computes in one loop for two components, by way of what both copy, couples them. */
static void link_parts(clf_searcher *s, const clf_cover *c) {
    for (int32_t i = 0; i < c->npart; i++) {
        int32_t first = -1;
        for (int32_t j = 0; j < c->part[i].n; j++) {
            int32_t n = c->part[i].node[j];
            if (!counts(s, n)) continue;
            if (first >= 0) link(s, first, n);
            first = n;
        }
    }
}

/* Is something brought, or converted, once for all who read it? */
static bool shares_what_is_read(const clf_searcher *s) {
    bool shared = s->p->nsparse > 0;
    for (int d = 1; d < s->p->dev.n; d++) shared = shared || clf_cost_transfer(s->p->dev.profile[d], 1) > 0;
    return shared;
}

/* Devices and formats couple who makes a value and who reads it, and perhaps all who read the same. */
static void link_all(clf_searcher *s) {
    bool readers = shares_what_is_read(s);
    const clf_graph *g = s->p->g;
    int32_t in[CLF_MOST_SOURCES], *reader = s->local; /* of each node: one, + 1 */
    for (int32_t n = 0; n < g->n; n++)
        for (int k = 0; k < g->node[n].nin && counts(s, n); k++)
            for (int i = reads_of(s, n, k, in); i-- > 0;) {
                if (counts(s, in[i])) link(s, n, in[i]);
                if (readers && reader[in[i]]) link(s, reader[in[i]] - 1, n);
                reader[in[i]] = n + 1;
            }
    memset(reader, 0, (size_t)g->n * sizeof *reader);
}

clf_status clf_searcher_components(clf_searcher *s, clf_err *err) {
    const clf_graph *g = s->p->g;
    for (int32_t n = 0; n < g->n; n++) s->comp[n] = n;
    for (int32_t n = 0; n < g->n; n++)
        for (int k = 0; k < g->node[n].nin && counts(s, n); k++) {
            int32_t q = clf_node_operand(g, n, k);
            bool tied = (s->p->inside[n] | s->p->copies[n]) >> k & 1; /* what is copied may be stored by a loop that wants it */
            if (tied && counts(s, q)) link(s, n, q);
        }
    CLF_TRY(link_readers(s, err));
    if (s->p->dev.n > 1 || s->p->nsparse) link_all(s);
    for (int o = 0; o < s->nopen; o++) link_parts(s, &s->open[o].cover);
    for (int32_t n = 0; n < g->n; n++) {
        s->comp[n] = find(s->comp, n);
        if (counts(s, n)) s->size[s->comp[n]]++;
    }
    find_demand(s);
    int32_t at = 0;
    for (int32_t n = 0; n < g->n; n++) {
        s->start[n] = at;
        at += s->size[n];
        s->size[n] = 0;
    }
    for (int32_t n = 0; n < g->n; n++)
        if (counts(s, n)) s->nodes[s->start[s->comp[n]] + s->size[s->comp[n]]++] = n;
    return CLF_OK;
}
