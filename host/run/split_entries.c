/* SPDX-License-Identifier: Apache-2.0
 * Splitting loops over stored entries. They are cut anew in every run, where the operand's entries of that run are: by rows and entries
 * alike, so that of rows of very different length each side has its share of the work. The host takes the first rows, as a matrix of its
 * own that shares all arrays, whole blocks of them where they meet at columns; or, where all goes entry by entry, the first whole leaves of
 * entries, of whose last row it has a part. A second device has the last rows, or leaves: from about where its share begins, where a chunk
 * of either device does. Devices are shown all of a sparse operand, for their chunks are cut by all of it; of dense operands and of the
 * results what is their own. */
#include "host/run/exe_split.h"

#include <string.h>

#include "host/run/exe_kernels.h"
#include "host/run/run.h"

clf_status clf_split_sched(const clf_cplan *c, const clf_profile *dev, const clf_skel *skel, clf_grid grid, clf_sched *out) {
    CLF_TRY(skel->sched(c, dev, grid, out, NULL));
    if (clf_entry_axis(c) >= 0) out->extent = c->axis[0].n.n; /* what has a cell a row is parted */
    return CLF_OK;
}

clf_exe_entries *clf_entries_new(clf_exe *x, int32_t s, const clf_profile *dev, const clf_skel *skel, double share) {
    const clf_step *t = &x->plan->step[s];
    clf_exe_entries *n = clf_arena_new(&x->arena, 1, sizeof *n);
    clf_entry_end end;
    if (!n || !skel->ends(&t->c, dev, share, NULL, &end) || (end.inside && !clf_rows_may_end_inside(x->step[s].tile->rows))) return NULL;
    n->share = share;
    n->first = clf_arena_new(&x->arena, (size_t)t->nin, sizeof *n->first);
    n->in = clf_arena_new(&x->arena, (size_t)t->nin, sizeof *n->in);
    return n->first && n->in ? n : NULL;
}

/* Of sparse operands the rows before the end: of the loop's own, the entries before it. */
static void view_first(const clf_exe *x, const clf_cplan *c, int owner, clf_exe_entries *n) {
    const clf_csr *m = x->in[owner];
    int64_t rows = n->end.row + (n->end.entry > m->ptr[n->end.row]);
    n->whole = *m;
    for (int i = 0; i < c->nin; i++) {
        n->in[i] = x->in[i];
        if (c->in[i].format != CLF_CSR) continue;
        n->first[i] = *(const clf_csr *)x->in[i];
        n->first[i].rows = rows;
        n->first[i].nnz = i == owner ? n->end.entry : n->first[i].ptr[rows];
        n->in[i] = &n->first[i];
    }
}

/* ---- a second device ---- */

/* What is before an end, of rows and entries counted alike; of entries where rows may end inside. */
static double before(const clf_entry_end *e, const clf_csr *m) {
    double rows = e->inside ? 0 : (double)e->row, all = e->inside ? 0 : (double)m->rows;
    return (rows + (double)e->entry) / (all + (double)m->nnz);
}

static bool same_end(const clf_entry_end *a, const clf_entry_end *b) {
    return a->row == b->row && a->entry == b->entry && a->inside == b->inside;
}

/* A device's kernel, and the loop's operand. */
typedef struct side {
    const clf_cplan *c;
    const clf_profile *dev;
    const clf_skel *skel;
    const clf_csr *m;
} side;

static bool end_at(const side *s, double share, clf_entry_end *out) { return s->skel->ends(s->c, s->dev, share, s->m->ptr, out); }

/* Where a chunk of both begins, about there: chunks may be of another length on either, and then the longer ones say where. */
static bool meet(const side *one, const side *two, double share, clf_entry_end *a, clf_entry_end *b) {
    clf_entry_end first;
    if (!end_at(one, share, &first) || !end_at(two, share, b)) return false;
    *a = first;
    if (!same_end(a, b) && !end_at(one, before(b, one->m), a)) return false;
    if (same_end(a, b)) return true;
    *a = first;
    return end_at(two, before(a, two->m), b) && same_end(a, b);
}

/* Its part of this run. False: none, so what is behind the first device's beginning is all that one's. */
static bool cut_also(clf_ctx *c, const clf_exe *x, const clf_cplan *cp, const clf_profile *dev, const clf_csr *m, clf_exe_split *s) {
    clf_exe_entries *n = s->entries;
    clf_exe_also *a = s->also;
    clf_entry_end end;
    if (!a) return false;
    const side two = {cp, clf_run_profile_of(c, x->device[a->on - 1]), a->built.skel, m};
    const side one = {cp, dev, s->sched.skel, m};
    if (!meet(&one, &two, n->upto, &end, &n->also) || end.chunk <= s->chunk) return false;
    if (clf_split_sched(cp, two.dev, two.skel, (clf_grid){n->also.chunk, INT64_MAX}, &a->sched) != CLF_OK) return false;
    if (!clf_exe_same_text(&a->sched, &a->built) || a->sched.scratch_bytes > x->scratch_bytes) return false;
    a->chunk = n->also.chunk;
    s->end = end.chunk;
    return true;
}

void clf_entries_anew(clf_ctx *c, clf_exe *x, int32_t s) {
    const clf_exe_step *e = &x->step[s];
    const clf_exe_also *a = e->split ? e->split->also : NULL;
    const clf_cplan cp = clf_exe_cplan(&x->plan->step[s], e);
    clf_sched now;
    if (!a) return;
    if (clf_split_sched(&cp, clf_run_profile_of(c, x->device[a->on - 1]), a->sched.skel, (clf_grid){0, INT64_MAX}, &now) != CLF_OK) return;
    if (now.scratch_bytes > x->scratch_bytes) x->scratch_bytes = now.scratch_bytes;
}

/* ---- a run ---- */

bool clf_entries_cut(clf_ctx *c, const clf_exe *x, const clf_step *t, const clf_exe_step *e) {
    clf_exe_split *s = e->split;
    clf_exe_entries *n = s->entries;
    const clf_profile *dev = clf_run_profile_of(c, clf_exe_device(x, e));
    const clf_cplan cp = clf_exe_cplan(t, e);
    int axis = clf_entry_axis(&cp), owner = cp.access[cp.axis[axis].owner].input;
    const clf_csr *m = x->in[owner];
    if (!s->sched.skel->ends(&cp, dev, n->share, m->ptr, &n->end)) return false;
    s->chunk = n->end.chunk;
    s->end = INT64_MAX;
    n->three = cut_also(c, x, &cp, dev, m, s);
    if (clf_split_sched(&cp, dev, s->sched.skel, (clf_grid){s->chunk, s->end}, &s->sched) != CLF_OK) return false;
    view_first(x, &cp, owner, n);
    memcpy(s->axis_n, e->axis_n, (size_t)cp.naxes * sizeof *s->axis_n);
    s->axis_n[0] = s->from = n->first[owner].rows;
    s->axis_n[axis] = n->end.entry;
    return true;
}
