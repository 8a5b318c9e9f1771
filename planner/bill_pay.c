/* SPDX-License-Identifier: Apache-2.0
 * What bills cost on a device: a term's price by its profile, and of all terms those that move bytes beside those that compute. See
 * bill.h. */
#include "planner/bill.h"

static clf_ps times(clf_ps ps, double n) {
    double all = (double)ps * (n > 0 ? n : 0);
    return all < (double)CLF_PS_MOST ? (clf_ps)all : CLF_PS_MOST;
}

/* Kernels for CPUs that go through stored entries compute one value of a row after the other, where a function or a quotient takes as long
 * as for a whole vector. */
static clf_ps one_by_one(const clf_profile *dev, const clf_graph *g, int32_t n, clf_ps ps) {
    enum { VECTOR = 64 };
    bool dear = clf_ops[g->node[n].op].class_ >= CLF_CLASS_DIV;
    return dear && dev->kind == CLF_DEV_CPU ? times(ps, VECTOR / (clf_node_is_wide(g, n) ? 8 : 4)) : ps;
}

static clf_ps gathered(const clf_term *t, const clf_profile *dev) {
    return clf_ps_add(clf_cost_gather(dev, t->a, t->b, t->c), clf_cost_pick(dev, t->a, t->b));
}

/* Is reading all of it cheaper? */
static bool read_whole(const clf_term *t, const clf_graph *g, const clf_profile *dev) {
    return t->kind == CLF_TERM_SPARSELY && clf_cost_read(dev, t->c, g->bytes) <= gathered(t, dev);
}

/* The part of computing that hides behind nothing. */
static double alone(const clf_term *t, const clf_profile *dev) {
    const bool rows = t->kind == CLF_TERM_NODE || t->kind == CLF_TERM_ROWS || t->kind == CLF_TERM_DOTS;
    if (!rows && t->kind != CLF_TERM_ENTRIES && t->kind != CLF_TERM_BEGUN) return 0;
    return t->c == CLF_PACE_ROWS ? dev->row_alone : t->c == CLF_PACE_ENTRIES ? dev->entry_alone : 0;
}

clf_ps clf_term_look(const clf_term *t, const clf_graph *g, const clf_profile *dev) {
    if (t->kind > CLF_TERM_COMPUTE) {
        const double part = alone(t, dev);
        return part > 0 ? times(clf_term_pay(t, g, dev), part) : 0;
    }
    if (t->kind == CLF_TERM_PLACE) return clf_cost_look(dev, t->a, t->c);
    bool gathers = t->kind == CLF_TERM_GATHER || t->kind == CLF_TERM_SPARSELY;
    return gathers && !read_whole(t, g, dev) ? clf_ps_add(clf_cost_look(dev, t->a, t->c), clf_cost_pick(dev, t->a, t->b)) : 0;
}

clf_ps clf_term_pay(const clf_term *t, const clf_graph *g, const clf_profile *dev) {
    const clf_gnode *x = &g->node[t->node];
    clf_ps once = clf_cost_read(dev, t->a, g->bytes), near = clf_cost_read(dev, t->a, 0);
    switch ((clf_term_kind)t->kind) {
    case CLF_TERM_READ: return once;
    case CLF_TERM_AGAIN: return clf_ps_add(once, times(near, clf_cost_tiles(dev, x->dtype == CLF_F64) ? t->c : t->b));
    case CLF_TERM_GATHER:
    case CLF_TERM_SPARSELY: return read_whole(t, g, dev) ? clf_cost_read(dev, t->c, g->bytes) : gathered(t, dev);
    case CLF_TERM_PLACE: return clf_cost_gather(dev, t->a, t->b, t->c);
    case CLF_TERM_WRITE: return clf_cost_write(dev, t->a, g->bytes);
    case CLF_TERM_MEET: return times(clf_ps_add(near, clf_cost_write(dev, t->a, 0)), t->b);
    case CLF_TERM_NODE:
        if (t->b > 0) return clf_cost_tiled(dev, g, t->node, t->a);
        once = clf_cost_node(dev, g, t->node, t->a);
        return t->c == CLF_PACE_ONE_BY_ONE ? one_by_one(dev, g, t->node, once) : once;
    case CLF_TERM_ROWS: return clf_cost_rows(dev, t->a);
    case CLF_TERM_DOTS:
        return t->b == CLF_DOTS_SIDES   ? clf_cost_sides(dev, t->a)
               : t->b == CLF_DOTS_PAIRS ? clf_cost_pairs(dev, t->a)
                                        : clf_cost_dots(dev, t->a);
    case CLF_TERM_LOCATE: return clf_cost_locate(dev, t->a);
    case CLF_TERM_BEGUN: return clf_cost_entry_rows(dev, t->a);
    case CLF_TERM_ENTRIES: return clf_cost_entries(dev, t->a);
    case CLF_TERM_SCATTER: return clf_cost_scatter(dev, t->a);
    case CLF_TERM_GAPS: return clf_cost_gaps(dev, t->a);
    case CLF_TERM_HOST: return dev->kind == CLF_DEV_CPU ? CLF_PS_MOST : 0; /* GPUs have most of it (entry.group) */
    case CLF_TERM_ALONE: return clf_cost_alone(dev, g, t->node);
    case CLF_TERM_CONVERT:
        return clf_cost_convert(dev, (int)t->a, clf_rows(x) > 0 && clf_cols(x) > 0 ? (double)clf_rows(x) : 0, (double)clf_cols(x), t->b,
                                clf_dtype_bytes((clf_dtype)x->dtype));
    case CLF_TERM_COMPUTE: break;
    }
    return 0;
}

double clf_bill_occupancy(const clf_bill *b, const clf_profile *dev) { return clf_cost_occupancy(dev, b->cells, b->sums); }

clf_ps clf_bill_pay(const clf_bill *b, const clf_graph *g, const clf_profile *dev) {
    clf_ps sum[2] = {0, 0}, looks = 0;
    for (int32_t i = 0; i < b->n; i++) {
        bool computed = b->term[i].kind > CLF_TERM_COMPUTE;
        clf_ps look = clf_term_look(&b->term[i], g, dev);
        sum[computed] = clf_ps_add(sum[computed], clf_term_pay(&b->term[i], g, dev) - look);
        looks = clf_ps_add(looks, look);
    }
    double cores = b->serial && dev->kind == CLF_DEV_HOST ? dev->cores : 1;
    clf_ps moved = times(sum[0], cores), computed = times(sum[1], cores);
    clf_ps both = clf_ps_add(times(looks, cores), clf_cost_both(dev, moved, clf_cost_kept(dev, computed, b->kept)));
    return clf_ps_add(clf_cost_launch(dev, b->kind), clf_cost_at(both, clf_bill_occupancy(b, dev)));
}
