/* SPDX-License-Identifier: Apache-2.0
 * Where steps that the host and one or two OpenCL devices run at once can be cut: between chunks of the device at which the host's program
 * may end, too. A second device's chunks may be of another length, and its part begins where chunks of both meet. Loops over stored entries
 * are cut in every run, and so is what a second device has of them (split_entries.c). */
#include "host/run/exe_split.h"

#include <string.h>

#include "host/run/exe_window.h"
#include "host/run/run.h"

enum { FINE_CUTS = 64 }; /* shares of a step are exact to a 64th, where finer ones would cost */

typedef struct folds {
    int full, columns;
} folds;

/* Is it a fold that keeps the columns of a matrix, or in row form those of any inner axis; or a product over rows? */
static bool keeps_columns(const clf_cplan *c, const clf_sink *s) {
    if (s->kind == CLF_SINK_DOT) return !(s->keep & 1u);
    bool matrix = s->keep == 2u && c->naxes == 2;
    return s->kind == CLF_SINK_FOLD && s->keep && !(s->keep & 1u) && (matrix || !clf_tile_fits(c));
}

/* How many of the sinks are such that states must meet; false: what is kept of one is neither by rows, entries nor columns. */
static bool count_folds(const clf_plan *p, const clf_step *t, const clf_sched *whole, folds *n) {
    *n = (folds){0, 0};
    for (int k = 0; k < t->c.nsink; k++) {
        const clf_sink *s = &t->c.sink[k];
        bool full = s->kind == CLF_SINK_FOLD && !s->keep, columns = keeps_columns(&t->c, s), entries = s->kind == CLF_SINK_PATTERN;
        if (!full && !columns && !entries && !clf_step_spans(p, t, whole, t->nin + s->out[0])) return false;
        n->full += full;
        n->columns += columns;
    }
    return true;
}

static bool all_dense(const clf_plan *p, const clf_step *t) {
    for (int i = 0; i < t->nin + t->nout; i++)
        if (p->value[i < t->nin ? t->in[i] : t->out[i - t->nin]].format != CLF_DENSE) return false;
    return true;
}

static int64_t chunks_of(const clf_sched *s) { return s->grain > 0 ? (s->extent + s->grain - 1) / s->grain : 0; }

static bool entries_fit(clf_ctx *c, const clf_plan *p, const clf_step *t, const clf_profile *dev, clf_sched *whole) {
    const clf_skel *skel = clf_rows_fits(&t->c) ? clf_exe_skel(c, &t->c, dev) : NULL;
    clf_entry_end end;
    folds n;
    if (!skel || !skel->ends || !skel->ends(&t->c, dev, 0.5, NULL, &end)) return false;
    if (clf_split_sched(&t->c, dev, skel, (clf_grid){0, INT64_MAX}, whole) != CLF_OK) return false;
    return count_folds(p, t, whole, &n) && (!n.columns || skel->columns) && (!n.full || skel->states);
}

bool clf_split_fits(clf_ctx *c, const clf_plan *p, const clf_step *t, const clf_profile *dev, clf_sched *whole) {
    if (t->kind == CLF_STEP_FUSED && clf_entry_axis(&t->c) >= 0) return entries_fit(c, p, t, dev, whole);
    bool dense = t->kind == CLF_STEP_FUSED && all_dense(p, t), tile = dense && clf_tile_fits(&t->c);
    const clf_skel *skel = tile || (dense && clf_rows_fits(&t->c)) ? clf_exe_skel(c, &t->c, dev) : NULL;
    if (!skel || skel->tier != 2 || skel->sched(&t->c, dev, (clf_grid){0, INT64_MAX}, whole, NULL) != CLF_OK) return false;
    folds n;
    bool merged = whole->merge == CLF_MERGE_FOLLOWS; /* by a kernel that takes all parts for the device's */
    if (!count_folds(p, t, whole, &n) || (n.full && !skel->states) || (n.columns && !skel->columns)) return false;
    if ((merged && !n.full && !n.columns) || (whole->flat && !tile)) return false;
    return chunks_of(whole) > 1 && (int64_t)(whole->global / whole->local) == chunks_of(whole);
}

/* Cells before a chunk of a program in tiles; rows before one in row form. */
static int64_t cells_before(const clf_cplan *c, const clf_sched *s, bool tile, int64_t chunk) {
    int64_t at = chunk * s->grain;
    return s->flat || c->naxes < 2 || !tile ? at : at * c->axis[c->naxes - 1].n.n;
}

/* The host's parts are subtrees that all its rows are a multiple of: few only where chunks before the cut are a multiple of many. */
static int64_t cuts_apart(const clf_cplan *c, int64_t chunks) {
    int64_t step = 1;
    for (int k = 0; k < c->nsink; k++)
        while (keeps_columns(c, &c->sink[k]) && chunks / (2 * step) >= FINE_CUTS) step *= 2;
    return step;
}

/* The chunk nearest to the one wanted at which the host's program may end; 0: none. */
static int64_t chunk_near(const clf_step *t, const clf_exe_step *e, const clf_sched *whole, int64_t wanted) {
    const clf_bind b = {.axis_n = e->axis_n, .in_dim = e->in_dim, .out_dim = e->out_dim};
    const clf_tile *tile = e->tile->tile;
    int64_t chunks = chunks_of(whole), step = cuts_apart(&t->c, chunks);
    for (int64_t off = 0; off < chunks; off++)
        for (int side = -1; side <= 1; side += 2) {
            int64_t k = wanted + side * off;
            if (k < 1 || k >= chunks || k % step) continue;
            if (!tile || clf_tile_may_end(tile, &b, cells_before(&t->c, whole, true, k))) return k;
        }
    return 0;
}

/* The chunk of one device, behind `first`, nearest to the one wanted at which a chunk of the other one begins, *at; 0: none. */
static int64_t meeting_near(const clf_cplan *c, const clf_sched *one, const clf_sched *other, int64_t first, int64_t wanted, int64_t *at) {
    bool tile = clf_tile_fits(c);
    int64_t chunks = chunks_of(one), most = chunks_of(other), each = cells_before(c, other, tile, 1);
    for (int64_t off = 0; off < chunks && each > 0; off++)
        for (int side = -1; side <= 1; side += 2) {
            int64_t k = wanted + side * off, cells = cells_before(c, one, tile, k);
            if (k <= first || k >= chunks || cells % each || cells / each >= most) continue;
            *at = cells / each;
            return k;
        }
    return 0;
}

static int share_of(int64_t n, int64_t all) { return (int)(100 * (double)n / (double)all + 0.5); }

/* The second device's part, behind out->chunk; none where chunks do not meet. */
static clf_exe_also *cut_also(clf_ctx *c, clf_exe *x, const clf_step *t, const clf_sched *whole, const clf_split_way *way,
                              clf_exe_split *out) {
    const clf_profile *dev = clf_run_profile_of(c, x->device[way->also - 1]);
    clf_exe_also *a = clf_arena_new(&x->arena, 1, sizeof *a);
    clf_sched other;
    if (!a || !clf_split_fits(c, x->plan, t, dev, &other)) return NULL;
    int64_t chunks = chunks_of(whole), wanted = (int64_t)((double)chunks * (100 - way->also_percent) / 100 + 0.5);
    int64_t end = meeting_near(&t->c, whole, &other, out->chunk, wanted, &a->chunk);
    if (!end || other.skel->sched(&t->c, dev, (clf_grid){a->chunk, INT64_MAX}, &a->sched, NULL) != CLF_OK) return NULL;
    a->on = way->also;
    a->percent = share_of(chunks - end, chunks);
    out->end = end;
    out->percent -= a->percent;
    return a;
}

/* A second device's part; where it begins, every run sees for itself. */
static clf_exe_also *also_entries(clf_ctx *c, clf_exe *x, const clf_step *t, const clf_split_way *way) {
    clf_exe_also *a = clf_arena_new(&x->arena, 1, sizeof *a);
    if (!a || !clf_split_fits(c, x->plan, t, clf_run_profile_of(c, x->device[way->also - 1]), &a->sched)) return NULL;
    a->on = way->also;
    a->percent = way->also_percent;
    return a;
}

/* Where exactly, every run sees for itself. */
static bool cut_entries(clf_ctx *c, clf_exe *x, int32_t s, const clf_sched *whole, const clf_split_way *way, clf_exe_split *out) {
    const clf_profile *dev = clf_run_profile_of(c, clf_exe_device(x, &x->step[s]));
    out->percent = way->percent;
    out->end = INT64_MAX;
    out->sched = *whole;
    out->entries = clf_entries_new(x, s, dev, whole->skel, (100 - way->percent - way->also_percent) / 100.0);
    if (!out->entries) return false;
    out->entries->upto = (100 - way->also_percent) / 100.0;
    out->also = way->also ? also_entries(c, x, &x->plan->step[s], way) : NULL;
    return true;
}

bool clf_split_cut(clf_ctx *c, clf_exe *x, int32_t s, const clf_split_way *way, clf_exe_split *out) {
    const clf_step *t = &x->plan->step[s];
    clf_exe_step *e = &x->step[s];
    const clf_profile *dev = clf_run_profile_of(c, clf_exe_device(x, e));
    bool tile = clf_tile_fits(&t->c);
    clf_sched whole;
    if (!clf_split_fits(c, x->plan, t, dev, &whole) || clf_run_tile(c, t, tile, &e->tile, NULL) != CLF_OK) return false;
    out->axis_n = clf_arena_new(&x->arena, (size_t)t->c.naxes, sizeof *out->axis_n);
    if (!out->axis_n) return false;
    if (clf_entry_axis(&t->c) >= 0) return cut_entries(c, x, s, &whole, way, out);
    int64_t chunks = chunks_of(&whole);
    int host = 100 - way->percent - way->also_percent;
    out->chunk = chunk_near(t, e, &whole, (int64_t)((double)chunks * host / 100 + 0.5));
    out->from = cells_before(&t->c, &whole, tile, out->chunk);
    out->percent = share_of(chunks - out->chunk, chunks);
    out->end = INT64_MAX;
    if (!out->chunk) return false;
    memcpy(out->axis_n, e->axis_n, (size_t)t->c.naxes * sizeof *out->axis_n);
    if (!tile) out->axis_n[0] = out->from;
    out->also = way->also ? cut_also(c, x, t, &whole, way, out) : NULL;
    return whole.skel->sched(&t->c, dev, (clf_grid){out->chunk, out->end}, &out->sched, NULL) == CLF_OK;
}
