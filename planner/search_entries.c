/* SPDX-License-Identifier: Apache-2.0
 * The costs of nodes and operands in loops that stored entries may drive: for each node the least over all drivers that its loop could
 * have, and over the formats that its operands could be in, term by term as a bill of it alone has them (bill.h).
 *
 * A loop is driven by a sparse leaf, by a result that has a leaf's pattern, or by the twin of one of them; so a driver has the shape of a
 * leaf and as many entries as one of that shape, or it is a transpose and has the mirrored shape. A term falls with fewer entries, so of
 * several of one shape the least is enough. Passing entries while others are looked for, and ranges between entries, are left out: whole
 * parts only know of them.
 *
 * A part has one driver, so its loop goes one way for all its nodes: terms are noted for each way, entries visited once. The least over all
 * ways is for what is not decided. */
#include <string.h>

#include "planner/searching.h"

enum { MOST_DRIVERS = CLF_MOST_WAYS - 1 };

typedef struct entries {
    clf_component *c;
    const clf_graph *g;
    clf_cover *cover;
    uint8_t *mark;
    int32_t n, driver[MOST_DRIVERS]; /* nodes that stand for all of their shape */
    int64_t nnz[MOST_DRIVERS];       /* least of the shape */
    bool summed[MOST_DRIVERS];       /* there are sums of all cells of the shape: their loops may need no places of entries (bill.c) */
    clf_bill bill;
    clf_ps together[CLF_MOST_DEVICES]; /* a node computed and written */
    clf_ps (*read)[CLF_MOST_DEVICES];  /* of all uses, in order of nodes: from memory in a loop */
    struct use_way *use;               /* [use][way][pattern] */
    int32_t *first;                    /* node -> its first use */
} entries;

/* How an operand is read on one way: the dearest kind of several readers' counts (bill.c). */
typedef struct use_way {
    int kind; /* rank; 0: not at all */
    clf_ps ps[CLF_MOST_DEVICES], looks[CLF_MOST_DEVICES];
} use_way;

static bool mirrored(const clf_gnode *a, const clf_gnode *b) { return clf_rows(a) == clf_cols(b) && clf_cols(a) == clf_rows(b); }

/* Which driver has x's shape? -1: none. */
static int shape_of(const entries *e, const clf_gnode *x) {
    for (int i = 0; i < e->n; i++)
        if (clf_gnode_alike(&e->g->node[e->driver[i]], x)) return i;
    return -1;
}

/* False: too many shapes. */
static bool add_driver(entries *e, int32_t q, int64_t nnz) {
    int i = shape_of(e, &e->g->node[q]);
    if (i < 0 && e->n == MOST_DRIVERS) return false;
    if (i < 0) e->nnz[i = e->n++] = nnz;
    e->driver[i] = q;
    if (nnz < e->nnz[i]) e->nnz[i] = nnz;
    return true;
}

static bool find_drivers(entries *e, const int32_t *sparse, int32_t nsparse) {
    for (int32_t i = 0; i < nsparse; i++)
        if (!add_driver(e, sparse[i], e->g->node[sparse[i]].nnz)) return false;
    for (int32_t i = 0; i < e->c->n; i++) {
        const clf_gnode *x = &e->g->node[e->c->node[i].id];
        for (int32_t k = 0; k < nsparse && x->op == CLF_OP_TRANSPOSE; k++) {
            const clf_gnode *leaf = &e->g->node[sparse[k]];
            bool twin = mirrored(x, leaf);
            if (twin && !add_driver(e, e->c->node[i].id, leaf->nnz)) return false;
        }
    }
    return true;
}

enum { ONLY_SINGLE = -1, OF_MORE = -2 };

/* The one sparse leaf that node f is made of by cell operators, beside single values; of: the same of all locals before. */
static int32_t leaf_of(const entries *e, const int32_t *of, const clf_node_facts *f) {
    const clf_gnode *x = &e->g->node[f->id];
    int32_t leaf = ONLY_SINGLE;
    if (clf_gnode_single(x)) return ONLY_SINGLE;
    if (!clf_op_is_cell(x->op) && !clf_node_is_cellwise(x)) return OF_MORE;
    for (int32_t u = 0; u < f->nuse; u++) {
        int32_t q = of[f->use[u].local];
        if (q != ONLY_SINGLE && leaf != ONLY_SINGLE && q != leaf) return OF_MORE;
        if (q != ONLY_SINGLE) leaf = q;
    }
    return leaf;
}

static bool find_sums(entries *e) {
    int32_t *of = clf_arena_new(e->c->arena, (size_t)e->c->nlocal, sizeof *of);
    if (!of) return false;
    for (int32_t l = e->c->n; l < e->c->nlocal; l++) {
        const clf_gnode *x = &e->g->node[e->c->operand[l].id];
        of[l] = clf_gnode_single(x) ? ONLY_SINGLE : clf_node_is_slot(x) && x->format == CLF_CSR ? e->c->operand[l].id : OF_MORE;
    }
    for (int32_t i = e->c->n; i-- > 0;) { /* readers stand before what they read */
        const clf_node_facts *f = &e->c->node[i];
        of[i] = leaf_of(e, of, f);
        bool sums = clf_folds_all(&e->g->node[f->id]) && f->nuse > 0 && of[f->use[0].local] >= 0;
        if (sums) e->summed[shape_of(e, &e->g->node[of[f->use[0].local]])] = true;
        if (!sums && of[i] < 0) clf_bits_add(&e->c->places, i);
    }
    return true;
}

/* ---- one node ---- */

/* Values of a driver's shape are in its pattern, or in cells. What is in memory from the start has its format. */
static void set_format(entries *e, int32_t q, bool pattern) {
    const clf_gnode *x = &e->g->node[q];
    int shape = shape_of(e, x);
    e->cover->member[q] = 0;
    if (clf_node_is_slot(x)) return;
    e->cover->csr[q] = pattern && shape >= 0;
    e->cover->entries[q] = shape >= 0 ? e->nnz[shape] : 0;
}

static void set_formats(entries *e, int32_t n, bool pattern) {
    for (int k = 0; k < e->g->node[n].nin; k++) {
        set_format(e, clf_node_operand(e->g, n, k), pattern);
        set_format(e, e->g->node[n].in[k], pattern);
    }
    set_format(e, n, pattern);
}

static void least(clf_ps *of, clf_ps ps) {
    if (ps < *of) *of = ps;
}

/* Computing that hides behind nothing, as something moved. */
static clf_ps as_moved(const clf_profile *dev, clf_ps computed) {
    clf_ps more = clf_cost_both(dev, computed, computed) - computed;
    return more > 0 ? more - 1 : 0;
}

/* What a loop pays at least for what the bill says of reading. */
static clf_ps least_read(const entries *e, const clf_term *t, const clf_profile *dev) {
    const clf_gnode *x = &e->g->node[t->node];
    int shape = shape_of(e, x);
    clf_term values = *t;
    if (t->kind == CLF_TERM_READ && shape >= 0 && e->summed[shape] && e->cover->csr[t->node])
        values.a = (double)e->cover->entries[t->node] * (double)clf_dtype_bytes((clf_dtype)x->dtype);
    return clf_term_pay(&values, e->g, dev);
}

/* What the bill says of reading local l. */
static clf_ps reading(const entries *e, const clf_use *u, const clf_profile *dev) {
    int32_t q = e->c->operand[u->local].id;
    clf_ps sum = 0;
    for (int32_t t = 0; t < e->bill.n; t++)
        if (e->bill.term[t].kind <= CLF_TERM_SPARSELY && e->bill.term[t].node == q) sum = least_read(e, &e->bill.term[t], dev);
    return sum;
}

/* The same as the bill has it, noted for the way. What may be read whole instead is looked up for nothing: of a leaf with more entries it
 * may be. */
static void note_reading(const entries *e, const clf_use *u, use_way *to) {
    int32_t q = e->c->operand[u->local].id;
    for (int32_t t = 0; t < e->bill.n; t++) {
        const clf_term *x = &e->bill.term[t];
        if (x->kind > CLF_TERM_SPARSELY || x->node != q) continue;
        to->kind = x->kind == CLF_TERM_AGAIN ? 3 : x->kind == CLF_TERM_READ ? 2 : 1;
        for (int d = 0; d < e->c->p->dev.n; d++) {
            const clf_profile *dev = e->c->p->dev.profile[d];
            to->ps[d] = least_read(e, x, dev);
            to->looks[d] = x->kind == CLF_TERM_GATHER ? clf_term_look(x, e->g, dev) : 0;
        }
    }
}

static use_way *at_way(const entries *e, int32_t n, int32_t u, int32_t way, int pattern) {
    return &e->use[2 * ((e->first[n] + u) * e->c->nway + way) + pattern];
}

static void take_bill(entries *e, clf_node_facts *f, clf_ps (*read)[CLF_MOST_DEVICES], int32_t way, int pattern) {
    for (int32_t u = 0; u < f->nuse; u++)
        if (f->use[u].in_loop) note_reading(e, &f->use[u], at_way(e, (int32_t)(f - e->c->node), u, way, pattern));
    for (int d = 0; d < e->c->p->dev.n; d++) {
        const clf_profile *dev = e->c->p->dev.profile[d];
        clf_ps computed = 0, written = 0, looks = 0;
        for (int32_t t = 0; t < e->bill.n; t++) {
            const clf_term *x = &e->bill.term[t];
            bool apart = x->kind == CLF_TERM_ENTRIES || x->kind == CLF_TERM_LOCATE;
            if (x->kind > CLF_TERM_COMPUTE && !apart) computed = clf_ps_add(computed, clf_term_pay(x, e->g, dev));
            if (x->kind >= CLF_TERM_COMPUTE || x->node != f->id) continue;
            written = clf_ps_add(written, clf_term_pay(x, e->g, dev));
            looks = clf_ps_add(looks, clf_term_look(x, e->g, dev));
        }
        least(&f->compute[d], computed);
        least(&f->write[1][d], written);
        least(&f->way_compute[way * e->c->p->dev.n + d], computed);
        least(&f->way_write[way * e->c->p->dev.n + d], written);
        least(&f->way_looks[way * e->c->p->dev.n + d], looks);
        least(&e->together[d], clf_ps_add(computed, written));
        for (int32_t u = 0; u < f->nuse; u++)
            if (f->use[u].in_loop) least(&read[u][d], reading(e, &f->use[u], dev));
    }
}

/* In a loop by itself over this driver's entries, -1: over cells. */
static clf_status bill_node(entries *e, clf_node_facts *f, clf_ps (*read)[CLF_MOST_DEVICES], int driver, bool pattern, clf_err *err) {
    clf_cover *v = e->cover;
    int32_t node = driver < 0 ? -1 : e->driver[driver];
    clf_part was = v->part[0];
    int32_t maker = v->maker[f->id];
    set_formats(e, f->id, pattern && driver >= 0);
    uint8_t csr = node < 0 ? 0 : v->csr[node];
    int64_t entries = node < 0 ? 0 : v->entries[node];
    if (node >= 0) v->csr[node] = 1;
    if (node >= 0) v->entries[node] = e->nnz[driver];
    v->part[0] = (clf_part){.n = 1, .node = &f->id, .loop = 1, .driver = node, .sparse = ""};
    v->maker[f->id] = 0;
    clf_cover_enter(v, 0);
    clf_status st = clf_bill_part(e->g, v, 0, e->mark, e->c->arena, &e->bill, err);
    if (st == CLF_OK) take_bill(e, f, read, driver + 1, pattern);
    v->part[0] = was;
    v->maker[f->id] = maker;
    v->member[f->id] = 0;
    if (node >= 0) v->csr[node] = csr;
    if (node >= 0) v->entries[node] = entries;
    return st;
}

static clf_status bill_all(entries *e, clf_node_facts *f, clf_ps (*read)[CLF_MOST_DEVICES], clf_err *err) {
    for (int d = 0; d < e->c->p->dev.n; d++) f->compute[d] = f->write[1][d] = e->together[d] = CLF_PS_MOST;
    for (int32_t u = 0; u < f->nuse; u++)
        for (int d = 0; d < e->c->p->dev.n; d++) read[u][d] = CLF_PS_MOST;
    for (int i = -1; i < e->n; i++) {
        bool fits = i < 0 || clf_rows(&e->g->node[e->driver[i]]) == clf_node_loop_rows(e->g, f->id);
        for (int pattern = 0; pattern < (i < 0 ? 1 : 2) && fits; pattern++) CLF_TRY(bill_node(e, f, read, i, pattern, err));
    }
    set_formats(e, f->id, false);
    f->loop = CLF_PS_MOST;
    for (int d = 0; d < e->c->p->dev.n; d++) {
        clf_ps more = e->together[d] - f->compute[d] - f->write[1][d]; /* what is cheap to compute may be dear to store */
        least(&f->loop, f->compute[d]);
        if (more > 0) f->write[1][d] = clf_ps_add(f->write[1][d], as_moved(e->c->p->dev.profile[d], more));
    }
    return CLF_OK;
}

/* ---- all of them ---- */

/* One stream of each operand is what the cheapest of its readers pays; the others do so again. */
static void share_readings(entries *e) {
    clf_component *c = e->c;
    for (int pass = 0; pass < 2; pass++) {
        int32_t at = 0;
        for (int32_t n = 0; n < c->n; n++)
            for (int32_t u = 0; u < c->node[n].nuse; u++, at++) {
                clf_use *x = &c->node[n].use[u];
                clf_operand_facts *o = &c->operand[x->local];
                for (int d = 0; d < c->p->dev.n && x->in_loop && !x->part_of_it; d++) {
                    if (!pass) least(&o->read[d], e->read[at][d]);
                    if (!pass) least(&o->least, o->read[d]);
                    if (pass) x->again[d] = e->read[at][d] - o->read[d];
                }
            }
    }
}

/* What a part pays at least that has use u of node n: readers yet to come may be of a dearer kind, and cheaper. */
static void least_of_kind(const entries *e, const clf_use *u, int32_t n, int32_t k, int32_t way, int pattern) {
    const use_way *mine = at_way(e, n, k, way, pattern);
    for (int d = 0; d < e->c->p->dev.n && mine->kind; d++)
        for (int32_t i = e->c->user_at[u->local]; i < e->c->user_at[u->local + 1]; i++) {
            const use_way *x = at_way(e, e->c->user[i].node, e->c->user[i].use, way, pattern);
            if (x->kind < mine->kind) continue;
            least(&u->ps[way * e->c->p->dev.n + d], x->ps[d]);
            least(&u->looks[way * e->c->p->dev.n + d], x->looks[d]);
        }
}

/* Ways on which a use was billed with nothing cost nothing. */
static void find_ways(const entries *e) {
    for (int32_t n = 0; n < e->c->n; n++)
        for (int32_t k = 0; k < e->c->node[n].nuse; k++) {
            const clf_use *u = &e->c->node[n].use[k];
            if (!u->in_loop || u->part_of_it) continue;
            for (int32_t i = 0; i < 2 * e->c->nway; i++) least_of_kind(e, u, n, k, i / 2, i % 2);
            for (int32_t i = 0; i < e->c->nway * e->c->p->dev.n; i++)
                if (u->ps[i] == CLF_PS_MOST) u->ps[i] = u->looks[i] = 0;
        }
}

/* Of several leaves of one shape that a loop reads, one is visited entry by entry, and the others are passed meanwhile. */
static void note_entries(clf_component *c, int32_t i, double nnz, bool summed) {
    const clf_profile *dev = c->p->dev.profile[i % c->p->dev.n];
    clf_ps visited = clf_cost_entries(dev, nnz), passed = clf_cost_locate(dev, nnz);
    c->way_entries[i] = visited;
    c->way_sums[i] = summed ? 0 : visited;
    c->way_visit[i] = summed ? 0 : as_moved(dev, visited < passed ? visited : passed);
}

static void find_leaves(const entries *e, const int32_t *sparse, int32_t nsparse) {
    for (int32_t l = 0; l < e->c->nlocal; l++)
        for (int32_t i = 0; i < nsparse; i++)
            if (e->c->operand[l].id == sparse[i]) e->c->operand[l].way = shape_of(e, &e->g->node[sparse[i]]) + 1;
    for (int32_t l = 0; l < e->c->nlocal; l++)
        if (e->c->operand[l].way) clf_bits_add(&e->c->way_leaf[e->c->operand[l].way], l);
}

static bool begin_ways(entries *e, int32_t uses) {
    clf_component *c = e->c;
    int32_t cells = (e->n + 1) * c->p->dev.n, at = 0;
    e->first = clf_arena_new(c->arena, (size_t)c->n, sizeof *e->first);
    e->use = clf_arena_new(c->arena, 2 * (size_t)uses * (size_t)(e->n + 1), sizeof *e->use);
    if (!e->first || !e->use || !clf_component_ways_room(c, e->n + 1)) return false;
    for (int32_t i = c->p->dev.n; i < cells; i++) {
        int32_t driver = i / c->p->dev.n - 1;
        note_entries(c, i, (double)e->nnz[driver], e->summed[driver]);
    }
    for (int32_t n = 0; n < c->n; n++) {
        clf_node_facts *f = &c->node[n];
        e->first[n] = at;
        at += f->nuse;
        for (int32_t i = 0; i < cells; i++) f->way_compute[i] = f->way_write[i] = f->way_looks[i] = CLF_PS_MOST;
        for (int32_t i = 0; i < cells * f->nuse; i++) f->use[i / cells].ps[i % cells] = f->use[i / cells].looks[i % cells] = CLF_PS_MOST;
    }
    return true;
}

/* What nothing is known of costs nothing. */
static void know_nothing(clf_component *c) {
    for (int32_t l = 0; l < c->nlocal; l++) {
        memset(c->operand[l].read, 0, sizeof c->operand[l].read);
        c->operand[l].least = 0;
    }
}

clf_status clf_component_entries(clf_component *c, clf_err *err) {
    entries e = {.c = c, .g = c->p->g, .cover = &c->leaf, .mark = c->mark};
    int32_t uses = 0, nsparse = 0, *sparse = clf_arena_new(c->arena, (size_t)c->nlocal, sizeof *sparse);
    for (int32_t n = 0; n < c->n; n++) uses += c->node[n].nuse;
    e.read = clf_arena_new(c->arena, (size_t)uses, sizeof *e.read);
    if (!sparse || !e.read) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    c->leaf.host_beside = c->p->host_beside;
    for (int32_t l = c->n; l < c->nlocal; l++) {
        const clf_gnode *x = &e.g->node[c->operand[l].id];
        if (clf_node_is_slot(x) && x->format == CLF_CSR) sparse[nsparse++] = c->operand[l].id;
    }
    if (!nsparse) return CLF_OK;
    if (!find_drivers(&e, sparse, nsparse)) {
        know_nothing(c);
        return clf_component_ways(c) ? CLF_OK : clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    }
    if (!find_sums(&e) || !begin_ways(&e, uses)) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    find_leaves(&e, sparse, nsparse);
    for (int32_t n = 0, at = 0; n < c->n; at += c->node[n++].nuse)
        if (c->node[n].is & CLF_CAN_LOOP) CLF_TRY(bill_all(&e, &c->node[n], e.read + at, err));
    share_readings(&e);
    find_ways(&e);
    return CLF_OK;
}
