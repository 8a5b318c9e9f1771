/* SPDX-License-Identifier: Apache-2.0
 * A component's facts: its nodes and operands by local numbers, what each term costs on each device, and what depends on what through
 * nodes outside.
 *
 * Costs here are those of loops over all cells. Where a leaf is sparse, entries may drive a loop: what depends on a matrix of that shape
 * is scaled by the least share of cells that any such leaf stores, or taken as nothing, so that the bound stays below. The leaf itself is
 * read as it is stored, or in cells, whichever is less: its conversion is nobody's alone. */
#include <string.h>

#include "formats/fmt.h"
#include "planner/searching.h"

typedef struct localing {
    clf_component *c;
    const clf_problem *p;
    const clf_graph *g;
    int32_t *local;        /* graph node -> local + 1 */
    int32_t *sparse;       /* leaves in CSR that it reads */
    int32_t nsparse, nown; /* all of the graph; those */
    int64_t *looks;
    clf_arena *arena;
    clf_use *draft; /* room for those of the node being looked at */
} localing;

enum { MOST_USES = 3 * (CLF_MOST_SOURCES + 1) }; /* of a node */

static bool same_dims(const clf_gnode *x, int64_t rows, int64_t cols) { return clf_rows(x) == rows && clf_cols(x) == cols; }

/* The least share of the cells of a matrix of x's shape that a driver may have entries for; 1 where none has this shape. */
static double least_share(const localing *L, const clf_gnode *x) {
    double least = 1;
    for (int32_t i = 0; i < L->nown; i++) {
        const clf_gnode *s = &L->g->node[L->sparse[i]];
        double cells = (double)clf_rows(s) * (double)clf_cols(s), share = cells > 0 ? (double)s->nnz / cells : 1;
        bool fits = same_dims(x, clf_rows(s), clf_cols(s)) || same_dims(x, clf_cols(s), clf_rows(s));
        if (fits && share < least) least = share;
    }
    return least;
}

static clf_ps scaled(clf_ps ps, double share) { return share < 1 ? (clf_ps)((double)ps * share) : ps; }

/* ---- operands ---- */

static void operand_facts(const localing *L, int32_t l) {
    clf_operand_facts *o = &L->c->operand[l];
    const clf_gnode *x = &L->g->node[o->id];
    bool csr = clf_node_is_slot(x) && x->format == CLF_CSR;
    double bytes = csr ? (double)clf_csr_bytes(clf_rows(x), x->nnz, (clf_dtype)x->dtype) : clf_gnode_bytes(&L->g->node[o->id]);
    double cells = clf_gnode_bytes(&L->g->node[o->id]), share = csr ? 1 : least_share(L, x);
    double brought = cells < bytes ? cells : bytes; /* converted first, perhaps */
    o->least = CLF_PS_MOST;
    for (int d = 0; d < L->p->dev.n; d++) {
        o->read[d] = scaled(clf_cost_read(L->p->dev.profile[d], brought, L->g->bytes), share);
        o->transfer[d] = scaled(clf_problem_bring(L->p, o->id, brought, 0, d), csr ? 1 : least_share(L, x));
        if (o->read[d] < o->least) o->least = o->read[d];
    }
}

static bool more_locals(clf_component *c) {
    int32_t room = 2 * c->room < c->most ? 2 * c->room : c->most;
    clf_operand_facts *v = c->nlocal < c->most ? clf_arena_new(c->arena, (size_t)room, sizeof *v) : NULL;
    c->failed = c->failed || (!v && c->nlocal < c->most);
    if (!v) return false;
    if (c->nlocal) memcpy(v, c->operand, (size_t)c->nlocal * sizeof *v);
    c->operand = v;
    c->room = room;
    return true;
}

/* The local of graph node q, a new one from outside if it has none. -1: too many, or no memory. */
static int32_t local_of(localing *L, int32_t q) {
    clf_component *c = L->c;
    if (L->local[q]) return L->local[q] - 1;
    if (c->nlocal == c->room && !more_locals(c)) return -1;
    c->operand[c->nlocal].id = q;
    operand_facts(L, c->nlocal);
    L->local[q] = ++c->nlocal;
    return c->nlocal - 1;
}

/* ---- uses ---- */

static bool add_use(localing *L, int32_t n, int32_t q, int k, int in_loop, int alone) {
    clf_node_facts *f = &L->c->node[n];
    const clf_gnode *x = &L->g->node[q];
    if (clf_node_is_slot(x) && x->scalar) return true;
    int32_t l = local_of(L, q);
    if (l < 0) return false;
    clf_use *u = &L->draft[f->nuse++];
    *u = (clf_use){.local = l, .in_loop = in_loop, .alone = alone, .part_of_it = L->g->node[f->id].op == CLF_OP_INDEX};
    u->by_rows = k >= 0 && (L->p->by_rows[f->id] >> k & 1);
    u->inside = k >= 0 && l < L->c->n && (L->p->inside[f->id] >> k & 1);
    if (k < 0 || !in_loop || L->nsparse || u->part_of_it) return true;
    clf_term t = clf_term_operand(L->g, f->id, k);
    for (int d = 0; d < L->p->dev.n; d++) u->again[d] = clf_term_pay(&t, L->g, L->p->dev.profile[d]) - L->c->operand[l].read[d];
    return true;
}

/* A copied operand is computed by a loop from what it reads, and read by a step alone. */
static bool add_operand(localing *L, int32_t n, int k) {
    clf_node_facts *f = &L->c->node[n];
    int32_t q = clf_node_operand(L->g, f->id, k), in[CLF_MOST_SOURCES];
    bool alone = f->is & CLF_CAN_ALONE, loop = f->is & CLF_CAN_LOOP;
    if (!(L->p->copies[f->id] >> k & 1)) return add_use(L, n, q, k, loop, alone);
    if (loop && (L->p->ties[f->id] >> k & 1) && L->local[q] && L->local[q] <= L->c->n)
        clf_bits_add(&L->c->node[L->local[q] - 1].copied_by, n);
    for (int s = loop ? clf_problem_sources(L->p, q, in) : 0; s-- > 0;)
        if (!add_use(L, n, in[s], -1, true, false)) return false;
    return !alone || add_use(L, n, q, -1, false, true);
}

static bool find_uses(localing *L, int32_t n) {
    clf_node_facts *f = &L->c->node[n];
    const clf_gnode *x = &L->g->node[f->id];
    for (int k = 0; k < x->nin; k++)
        if (!add_operand(L, n, k)) return false;
    f->use = clf_arena_new(L->arena, (size_t)f->nuse, sizeof *f->use);
    if (!f->use) return !(L->c->failed = true);
    if (f->nuse) memcpy(f->use, L->draft, (size_t)f->nuse * sizeof *f->use);
    return true;
}

/* ---- nodes ---- */

static double share_of(const localing *L, int32_t n) {
    const clf_gnode *x = &L->g->node[n];
    double share = least_share(L, x);
    for (int k = 0; k < x->nin; k++) {
        double s = least_share(L, &L->g->node[clf_node_operand(L->g, n, k)]);
        if (s < share) share = s;
    }
    return share;
}

static void least(clf_ps *of, clf_ps ps) {
    if (ps < *of) *of = ps;
}

/* Where a driver may have fewer entries than rows, products may be begun less often. */
static void compute_cost(const localing *L, clf_node_facts *f, int d) {
    const clf_profile *dev = L->p->dev.profile[d];
    clf_term t[3];
    int count = clf_terms_node(L->g, f->id, share_of(L, f->id), t);
    f->compute[d] = f->apart[d] = 0;
    for (int i = 0; i < count; i++) {
        if (t[i].kind == CLF_TERM_DOTS && L->nsparse) continue;
        clf_ps apart = L->nsparse ? 0 : clf_term_look(&t[i], L->g, dev);
        f->compute[d] = clf_ps_add(f->compute[d], clf_term_pay(&t[i], L->g, dev) - apart);
        f->apart[d] = clf_ps_add(f->apart[d], apart);
    }
}

static void node_costs(const localing *L, clf_node_facts *f) {
    const clf_gnode *x = &L->g->node[f->id];
    const clf_term result = clf_term_result(L->g, f->id), meeting = clf_term_meeting(L->g, f->id, false);
    bool meets = clf_term_meets(L->g, f->id) && !L->nsparse, loop = f->is & CLF_CAN_LOOP, alone = f->is & CLF_CAN_ALONE;
    bool twin = L->nsparse && x->op == CLF_OP_TRANSPOSE;
    f->loop = f->step = f->least_write = CLF_PS_MOST;
    for (int d = 0; d < L->p->dev.n; d++) {
        const clf_profile *dev = L->p->dev.profile[d];
        f->write[0][d] = f->write[1][d] = scaled(clf_term_pay(&result, L->g, dev), least_share(L, x));
        if (meets) f->write[1][d] = clf_ps_add(f->write[1][d], clf_term_pay(&meeting, L->g, dev));
        f->compute[d] = CLF_PS_MOST;
        if (loop) compute_cost(L, f, d);
        bool runs = alone && clf_problem_alone_on(L->p, f->id, d);
        f->alone[d] = !runs ? CLF_PS_MOST : twin ? 0 : clf_cost_alone(dev, L->g, f->id);
        least(&f->loop, loop ? clf_ps_add(f->compute[d], f->apart[d]) : CLF_PS_MOST);
        least(&f->step, f->alone[d]);
        least(&f->least_write, f->write[!alone][d]);
    }
}

/* A step of its own: launched, and computed or moved. */
static void alone_cost(const localing *L, clf_node_facts *f) {
    int kind = L->g->node[f->id].op == CLF_OP_MATMUL ? CLF_STEP_LIBRARY : CLF_STEP_CALLOUT;
    f->least_alone = CLF_PS_MOST;
    for (int d = 0; d < L->p->dev.n; d++) {
        if (!clf_problem_alone_on(L->p, f->id, d)) continue;
        clf_ps moved = f->write[0][d];
        for (int32_t u = 0; u < f->nuse; u++) moved = clf_ps_add(moved, clf_read_alone(f, u) ? L->c->operand[f->use[u].local].read[d] : 0);
        clf_ps launch = L->nsparse ? 0 : clf_cost_launch(L->p->dev.profile[d], kind);
        least(&f->least_alone, clf_ps_add(launch, clf_cost_both(L->p->dev.profile[d], moved, f->alone[d])));
    }
}

static int32_t class_of(localing *L, int32_t n, int32_t *seen) {
    int32_t k = L->p->class_[n];
    for (int32_t i = 0; i < L->c->nclass; i++)
        if (seen[i] == k) return i;
    seen[L->c->nclass] = k;
    return L->c->nclass++;
}

/* ---- who depends on whom ---- */

/* Does it read anything that is made behind its first node, and may so be made from it? */
static bool reads_back(const localing *L) {
    const clf_component *c = L->c;
    for (int32_t n = 0; n < c->n; n++)
        for (int k = 0; k < L->g->node[c->node[n].id].nin; k++) {
            int32_t q = clf_node_operand(L->g, c->node[n].id, k), l = L->local[q] - 1;
            if (q > c->node[c->n - 1].id && !(L->p->is[q] & CLF_IS_SLOT) && (l < 0 || l >= c->n)) return true;
        }
    return false;
}

/* What n reads for operand k, whatever is chosen: a copied one is made of its sources wherever n is. */
static int sources_of(const localing *L, int32_t n, int k, int32_t in[CLF_MOST_SOURCES]) {
    in[0] = clf_node_operand(L->g, n, k);
    return L->p->copies[n] >> k & 1 ? clf_problem_sources(L->p, in[0], in) : 1;
}

/* n is made of q. made: of each node from `lo` on that is outside, the component's nodes that it is made of. */
static void note_source(const localing *L, clf_bits *made, int32_t lo, int32_t n, int32_t q) {
    clf_component *c = L->c;
    int32_t here = L->local[n] - 1, l = L->local[q] - 1;
    bool own = here >= 0 && here < c->n;
    if (q < lo) return;
    if (l >= 0 && l < c->n) {
        if (!own) clf_bits_add(&made[n - lo], l);
        return;
    }
    for (int v = 0; own && v < c->n; v++)
        if (clf_bits_has(&made[q - lo], v)) clf_bits_add(&c->node[v].beyond, here);
    for (int w = 0; !own && w < CLF_BITS_WORDS; w++) made[n - lo].w[w] |= made[q - lo].w[w];
}

/* Nodes outside carry the component's nodes that they are made of. */
static bool find_beyond(localing *L) {
    clf_component *c = L->c;
    int32_t lo = c->node[c->n - 1].id, hi = c->node[0].id;
    if (!reads_back(L)) return true;
    *L->looks -= hi - lo;
    if (*L->looks < 0) return false;
    clf_bits *made = clf_arena_new(L->arena, (size_t)(hi - lo) + 1, sizeof *made);
    if (!made) {
        c->failed = true;
        return false;
    }
    for (int32_t n = lo; n <= hi; n++)
        for (int k = 0; k < L->g->node[n].nin && (L->p->is[n] & CLF_IS_NEEDED); k++) {
            int32_t in[CLF_MOST_SOURCES];
            for (int s = sources_of(L, n, k, in); s-- > 0;) note_source(L, made, lo, n, in[s]);
        }
    return true;
}

/* ---- the whole ---- */

/* Leaves in CSR that the component's nodes read: no others can drive their loops. */
static bool find_sparse(localing *L) {
    L->sparse = L->nsparse ? clf_arena_new(L->arena, 3 * (size_t)L->c->n, sizeof *L->sparse) : NULL;
    for (int32_t i = 0; i < L->c->n && L->sparse; i++)
        for (int k = 0; k < L->g->node[L->c->node[i].id].nin; k++) {
            int32_t q = clf_node_operand(L->g, L->c->node[i].id, k);
            if (clf_node_is_slot(&L->g->node[q]) && L->g->node[q].format == CLF_CSR) L->sparse[L->nown++] = q;
        }
    return L->sparse || !L->nsparse;
}

static bool build(localing *L, const int32_t *node, const uint8_t *demanded) {
    clf_component *c = L->c;
    int32_t *seen = clf_arena_new(L->arena, (size_t)c->n + 1, sizeof *seen);
    c->most = 8 * c->n + 64 < CLF_MOST_LOCALS ? 8 * c->n + 64 : CLF_MOST_LOCALS;
    c->room = c->n + 8;
    c->operand = clf_arena_new(L->arena, (size_t)c->room, sizeof *c->operand);
    c->node = clf_arena_new(L->arena, (size_t)c->n, sizeof *c->node);
    if (!seen || !c->operand || !c->node) return !(c->failed = true);
    for (int32_t i = 0; i < c->n; i++) c->node[i].id = node[c->n - 1 - i];
    if (!find_sparse(L)) return !(c->failed = true);
    for (int32_t i = 0; i < c->n; i++) {
        clf_node_facts *f = &c->node[i];
        f->is = L->p->is[f->id];
        f->root = f->is & CLF_IS_ROOT;
        f->demanded = f->root || demanded[f->id];
        f->optional = (f->is & CLF_IS_COPIED) && !f->demanded;
        f->class_ = f->is & CLF_CAN_LOOP ? class_of(L, f->id, seen) : -1;
        f->immediates = clf_node_immediates(&L->g->node[f->id]);
        (void)local_of(L, f->id);
        node_costs(L, f);
    }
    for (int32_t i = 0; i < c->n; i++)
        if (!find_uses(L, i)) return false;
    for (int32_t i = 0; i < c->n; i++) alone_cost(L, &c->node[i]);
    if (!clf_component_ways(c)) return !(c->failed = true);
    clf_component_tiles(c, L->local);
    return find_beyond(L);
}

clf_status clf_component_new(clf_component *c, const clf_problem *p, const int32_t *node, int32_t n, int32_t *local,
                             const uint8_t *demanded, clf_arena *arena, int64_t *looks, bool *fits, clf_err *err) {
    clf_use draft[MOST_USES]; /* too large to clear for each component */
    localing L = {.c = c, .p = p, .g = p->g, .local = local, .arena = arena, .nsparse = p->nsparse, .looks = looks, .draft = draft};
    memset(c, 0, sizeof *c);
    c->p = p;
    c->arena = arena;
    c->n = n;
    *fits = n <= CLF_MOST_SEARCHED;
    if (!*fits) return CLF_OK;
    *fits = build(&L, node, demanded);
    for (int32_t l = 0; c->operand && l < c->nlocal; l++) local[c->operand[l].id] = 0;
    bool room = !c->failed && (!*fits || clf_component_room(c));
    return room ? CLF_OK : clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
}
