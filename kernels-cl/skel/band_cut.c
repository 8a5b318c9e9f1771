/* SPDX-License-Identifier: Apache-2.0
 * Sizes of row.group and entry.group: work-items of a group, rows of a pass and of a band, scratch. */
#include "kernels-cl/skel/band_cut.h"
#include "kernels-cl/skel/cell_plan.h"
#include "kernels-cl/skel/group_local.h"

enum {
    MIN_PASS = 16,        /* rows: no block is smaller */
    MAX_PASS = 64,        /* unless leaves ask for more */
    PASS_BYTES = 32768,   /* of an operand that a pass reads: near caches hold it from job to job */
    NARROW_MERGE = 8,     /* results that a group of the merge takes side by side, so that its loads are neighbours */
    INT_ROOM = 1 << 24,   /* positions beyond the last cell that a group may compute */
    MAX_GROUPS = 1 << 30, /* work-groups of a launch */
    PASS_ENTRIES = 4096,  /* stored entries of a pass: a few for each work-item */
    MANY_ROWS = 256,      /* of such a pass, at most */
    ENTRY_ROOM = 64,      /* times as many as were guessed may be there */
    MAX_WORDS = 1 << 26,  /* of scratch */
    VECTOR_WORDS = 4      /* of the widest vector: buffers begin at whole ones */
};

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t pow2_up(int64_t n) {
    int64_t p = 1;
    while (p < n) p *= 2;
    return p;
}

/* Positions of axes, entries for rows and columns of the CSR operand; false: too many to count. */
static bool cells_of(const clf_band *p, uint32_t axes, int64_t *n) {
    *n = 1;
    for (int a = 0; a < p->c->naxes; a++)
        if (axes >> a & 1u && (a || !clf_band_by_entry(p, axes)) && __builtin_mul_overflow(*n, clf_band_extent(p, a), n)) return false;
    return *n <= INT64_MAX / 4096;
}

/* ---- jobs ---- */

/* The type of a COLS job's folds decides its lanes, as far as they are folds: a dot has one. */
static int col_lanes(const clf_band *p, int job, int64_t cells) {
    for (int s = 0; s < p->c->nsink; s++)
        if (p->item[s].job == job && p->c->sink[s].kind == CLF_SINK_FOLD)
            return clf_col_lanes(cells, (clf_dtype)p->c->value[p->c->sink[s].value[0]].dtype);
    return 1;
}

static bool size_job(clf_band *p, int k) {
    clf_job *j = &p->job[k];
    int64_t all, along = j->axis >= 0 ? clf_band_extent(p, j->axis) : 1;
    if (!cells_of(p, clf_band_by_entry(p, j->keep) ? 0 : j->keep & ~1u, &j->cells) ||
        !cells_of(p, j->keep | (j->axis >= 0 ? 1u << j->axis : 0) | 1u, &all))
        return false;
    j->leaves = 1;
    if (j->kind == CLF_JOB_LEAVES && j->axis != p->e) j->leaves = most(ceil_div(along, CLF_LEAF), 1);
    if (j->kind == CLF_JOB_FULL) j->leaves = most(ceil_div(p->rows * along, CLF_LEAF), 1);
    if (j->kind == CLF_JOB_MEET) {
        if (!cells_of(p, j->keep & ~(1u << p->e), &j->cells)) return false;
        if (__builtin_mul_overflow(j->cells, p->c->in[p->csr].dim[1].n, &j->cells) || j->cells > MAX_WORDS) return false;
        j->run = clf_scatter_block(p->rows, j->cells);
        j->leaves = most(ceil_div(p->rows, j->run), 1);
    }
    if (j->kind != CLF_JOB_COLS) return true;
    j->lanes = col_lanes(p, k, j->cells);
    j->run = clf_col_block(p->rows, j->cells);
    j->leaves = most(ceil_div(p->rows, j->run), 1);
    return true;
}

/* ---- groups, passes, bands ---- */

/* Work-items that the jobs of a few rows keep busy; the fewest where groups only take turns. 0: no group fits. */
static int local_for(const clf_band *p, const clf_profile *profile) {
    int64_t cols = 0;
    if (!profile || profile->kind != CLF_DEV_GPU) return CLF_LEAST_LOCAL;
    int full = clf_group_local(profile, p->e >= 0 ? CLF_GROUP_ENTRIES : CLF_GROUP_ROWS, CLF_BAND_PAIRS);
    for (int k = 0; k < p->njob; k++)
        if (p->job[k].kind == CLF_JOB_COLS) cols = most(cols, p->job[k].cells * p->job[k].lanes);
    return cols && cols < full ? (int)most(pow2_up(cols), CLF_LEAST_LOCAL) : full;
}

static void size_pass(clf_band *p) {
    int64_t wide = 1, entries = p->e >= 0 ? clf_band_extent(p, p->e) : 0;
    for (int a = 1; a < p->c->naxes; a++)
        if (a != p->e) wide = most(wide, clf_band_extent(p, a));
    p->pass = p->e < 0 ? MIN_PASS : 1;
    while (p->e < 0 && p->pass < MAX_PASS && 2 * p->pass * wide * (int64_t)sizeof(float) <= PASS_BYTES) p->pass *= 2;
    while (p->e >= 0 && p->pass < MANY_ROWS && (double)p->pass * (double)entries < PASS_ENTRIES / 2 * (double)p->rows) p->pass *= 2;
}

/* Groups in front of the bands; are there jobs for bands? */
static bool cut_entries(clf_band *p) {
    bool rows = p->e < 0 || !p->njob;
    for (int k = 0; k < p->njob; k++) {
        const clf_job *j = &p->job[k];
        rows = rows || j->kind != CLF_JOB_ENTRIES;
        if (j->kind == CLF_JOB_ENTRIES)
            p->flat = most(p->flat, most(ceil_div(ceil_div(clf_band_extent(p, p->e), CLF_LEAF), p->local / j->lanes), 1));
    }
    return rows;
}

static void cut_meets(clf_band *p, int64_t block) {
    p->meet.pass = least(p->pass, block);
    p->meet.band = block;
    p->meet.bands = most(ceil_div(p->rows, block), 1);
}

static void cut_rows(clf_band *p) {
    int64_t block = 0, leaves = 1, meet = 0;
    size_pass(p);
    for (int k = 0; k < p->njob; k++) {
        const clf_job *j = &p->job[k];
        int64_t along = j->axis >= 0 ? clf_band_extent(p, j->axis) : 1;
        if (j->kind == CLF_JOB_COLS) block = most(block, j->run);
        if (j->kind == CLF_JOB_MEET) meet = j->run;
        if (j->kind == CLF_JOB_FULL) leaves = most(leaves, along ? CLF_LEAF / clf_gcd(along, CLF_LEAF) : 1);
    }
    if (p->apart)
        cut_meets(p, meet);
    else
        block = most(block, meet);
    if (block) p->pass = least(p->pass, block);
    p->pass = most(p->pass, leaves);
    p->band = most(p->pass, block);
    p->bands = cut_entries(p) ? most(ceil_div(p->rows, p->band), 1) : 0;
    for (int k = 0; k < p->njob; k++) {
        clf_job *j = &p->job[k];
        int64_t along = j->axis >= 0 ? clf_band_extent(p, j->axis) : 1;
        if (j->kind == CLF_JOB_FULL) j->run = most(p->pass * along / CLF_LEAF, 1);
    }
}

/* One band does for all that meets at columns. */
static bool meets_fit(const clf_band *p) {
    int64_t run = 0;
    for (int k = 0; k < p->njob; k++) {
        if (p->job[k].kind != CLF_JOB_MEET) continue;
        if (run && p->job[k].run != run) return false;
        run = p->job[k].run;
    }
    return true;
}

/* ---- scratch ---- */

static bool take(int64_t *at, int64_t words) {
    *at += words;
    return words >= 0 && *at <= MAX_WORDS;
}

/* Of a row no stack is higher than the leaves of all columns ask for. */
static int64_t stack_words(const clf_band *p, const clf_job *j) {
    int64_t levels = 2;
    if (!j->pairs || j->kind == CLF_JOB_MEET) return (int64_t)CLF_BAND_LEVELS * j->states;
    for (int64_t n = ceil_div(p->c->in[p->csr].dim[1].n, CLF_LEAF); n > 1; n -= n / 2) levels++;
    return levels * j->states * j->cells;
}

/* Buffers and states of one band. Nothing here can overflow: factors are checked against MAX_WORDS one by one. */
static bool lay_out_band(clf_band *p) {
    int64_t at = 0, leaf_states = 0, n, per;
    for (int v = 0; v < p->c->nvalue; v++) {
        const clf_value *w = &p->c->value[v];
        if (!clf_band_buffered(p, w)) continue;
        if (!cells_of(p, w->axes & ~1u, &n) || n > MAX_WORDS) return false;
        at = ceil_div(at, VECTOR_WORDS) * VECTOR_WORDS;
        p->buffer[v] = at;
        if (!take(&at, (w->axes & 1u ? most(p->pass, p->meet.pass) : 1) * n)) return false;
    }
    for (int k = 0; k < p->njob; k++) {
        clf_job *j = &p->job[k];
        if (j->cells > MAX_WORDS || j->leaves > MAX_WORDS) return false;
        if (j->kind == CLF_JOB_LEAVES && j->leaves > 1) {
            per = (j->keep & 1u ? most(p->pass, p->meet.pass) : 1) * j->cells;
            if (per > MAX_WORDS || per * j->leaves > MAX_WORDS) return false;
            leaf_states = most(leaf_states, per * j->leaves * j->states);
        }
        if (clf_band_by_entry(p, j->axis >= 0 ? 1u << j->axis : 0)) leaf_states = most(leaf_states, stack_words(p, j));
        if (j->kind != CLF_JOB_COLS) continue;
        j->at = at;
        if (!take(&at, j->cells * j->lanes * j->states)) return false;
    }
    p->leaf_at = at;
    if (!take(&at, leaf_states)) return false;
    p->stride = ceil_div(at, 8) * 8;
    return true;
}

static bool lay_out_merges(clf_band *p) {
    for (int k = 0; k < p->njob; k++)
        if (p->job[k].kind == CLF_JOB_ENTRIES) p->job[k].at = p->base++;
    for (int s = 0; s < p->c->nsink; s++) {
        clf_item *q = &p->item[s];
        const clf_job *j = &p->job[q->job];
        clf_sink k = p->c->sink[s];
        q->merge.end = p->merges;
        int64_t parts = j->kind == CLF_JOB_ENTRIES && k.kind == CLF_SINK_FOLD ? p->flat : j->leaves;
        q->rest = p->base;
        if (clf_band_rest(p, s) >= 0) p->base += clf_cell_states(&k) + 1;
        if (j->kind == CLF_JOB_LEAVES || j->kind == CLF_JOB_MAP || (parts == 1 && j->kind != CLF_JOB_MEET)) continue;
        q->parts = parts;
        q->results = j->cells;
        q->at = p->base;
        if (q->parts * q->results > MAX_WORDS) return false;
        if (!take(&p->base, q->parts * q->results * clf_cell_states(&k))) return false;
        if (parts == 1) continue;
        int64_t many = pow2_up(q->parts), side = least(pow2_up(q->results), NARROW_MERGE);
        q->merge.units = least(many, p->local / side);
        q->merge.inner = p->local / q->merge.units;
        q->merge.run = many / q->merge.units;
        p->merges += ceil_div(q->results, q->merge.inner);
        q->merge.end = p->merges;
    }
    p->base = ceil_div(p->base, 8) * 8;
    return true;
}

/* ---- cutting in time, indices ---- */

static bool is_small(int64_t n) { return n < INT32_MAX - INT_ROOM; }

/* Do positions and offsets of every operand and the numbers of tasks fit an int? */
static bool small(const clf_band *p) {
    bool fits = is_small(p->rows) && (p->e < 0 || is_small(clf_band_extent(p, p->e) * ENTRY_ROOM));
    int64_t n;
    for (int k = 0; k < p->njob && fits; k++) {
        const clf_job *j = &p->job[k];
        uint32_t all = j->keep | (j->axis >= 0 ? 1u << j->axis : 0) | (j->kind == CLF_JOB_FULL || j->kind == CLF_JOB_COLS ? 1u : 0);
        if (j->kind == CLF_JOB_CAT) all |= p->c->value[j->value].axes;
        fits = cells_of(p, all, &n) && is_small(n) && cells_of(p, j->keep, &n) && is_small(n) && cells_of(p, j->keep & ~1u, &n) &&
               n < INT32_MAX / 16 && is_small(n * 16); /* what is kept of no cells is there all the same */
    }
    for (int k = 0; k < p->c->nin && fits; k++) {
        int64_t cells = 1;
        for (int d = 0; d < p->c->in[k].rank; d++) fits = fits && !__builtin_mul_overflow(cells, p->c->in[k].dim[d].n, &cells);
        fits = fits && is_small(cells);
    }
    return fits;
}

bool clf_band_cut(clf_band *p, const clf_profile *profile, int local, int width) {
    for (int k = 0; k < p->njob; k++)
        if (!size_job(p, k)) return false;
    p->local = local ? local : local_for(p, profile);
    if (!p->local) return false;
    if (p->e >= 0 && clf_band_extent(p, p->e) > INT64_MAX / CLF_LEAF) return false;
    cut_rows(p);
    if (!meets_fit(p) || !lay_out_merges(p) || !lay_out_band(p)) return false;
    clf_band_widen(p, profile ? clf_group_width(p->c, profile) : width);
    int64_t groups = p->flat + p->bands + p->meet.bands;
    if (groups > MAX_GROUPS || p->merges > MAX_GROUPS || groups > MAX_WORDS / most(p->stride, 1)) return false;
    p->words = p->base + groups * p->stride;
    p->extent = p->e < 0 ? most(p->rows, 1) : 0; /* an operand in entries is never cut */
    p->grain = p->e >= 0 ? 1 : p->band;
    p->index_bits = small(p) ? 32 : 64;
    return true;
}
