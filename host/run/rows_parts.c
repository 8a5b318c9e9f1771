/* SPDX-License-Identifier: Apache-2.0
 * How a run of a row program is cut: rows of a batch, how states of sinks over rows lie, and parts. Nothing here changes a bit of the
 * results: parts start at whole blocks of rows for every sink over rows, and full folds may start anywhere. */
#include "host/run/rows_run.h"

enum {
    PARALLEL_NS = 30000, /* one core's time below which waking others costs more than it gives */
    PARTS_PER_WORKER = 8,
    UNEVEN_PARTS = 256,      /* of a worker, where a few of the rows have most of the entries */
    STATES_BYTES = 64 << 20, /* partial results of all parts together, unless one part needs more */
    PICKED_CELLS = 1 << 16,  /* of rows picked by the entries of a batch, where they are read again */
    BLOCK = 8,               /* rows that loops take at once */
    WIDE_ROW = 16384,
    LONG_ROW = 65536,
    NARROW = 4 /* columns of a right side up to which sums of products stand column by column */
};

static bool times(int64_t a, int64_t b, int64_t *out) { return !__builtin_mul_overflow(a, b, out); }

/* ---- batches ------------------------------------------------------------------------------------------------------------- */

static bool is_inner_range(const clf_rows_job *j, int a) { return a > 0 && a != j->r->entry; }

/* Widest row of a value over a RANGE axis. */
static int64_t widest(const clf_rows_job *j) {
    int64_t n = 0;
    for (int i = 0; i < j->r->nslot; i++) {
        const clf_row_slot *s = &j->r->slot[i];
        if (s->shape == CLF_RS_MAT && is_inner_range(j, s->axis) && j->n[s->axis] > n) n = j->n[s->axis];
    }
    return n;
}

/* Entries of the longest row, where a batch must hold whole rows in registers. */
static int64_t longest_row(const clf_rows_job *j) {
    int64_t n = 0;
    if (!j->m || j->r->split || j->r->nreg[j->r->entry] == 0) return 0;
    for (int64_t i = 0; i < j->rows; i++) {
        int64_t row = j->m->ptr[i + 1] - j->m->ptr[i];
        n = row > n ? row : n;
    }
    return n;
}

/* The largest up to n. */
static int64_t power_of_two(int64_t n) {
    while ((n & (n - 1)) != 0) n &= n - 1;
    return n;
}

/* Entries of a batch: where two products pick rows of what they read by the same entries, the second finds them in a core's cache. */
static int64_t most_entries(const clf_rows_job *j) {
    const struct clf_rows *r = j->r;
    int64_t picks = 0, cells = 1;
    for (int i = 0; i < r->nbatch; i++) {
        const clf_row_instr *in = &r->batch[i];
        if (in->kind != CLF_RI_DOT || in->arg < 0 || r->entry < 0) continue;
        int along = in->over == r->entry ? in->axis : in->axis == r->entry ? (int)in->over : -1;
        if (along < 0) continue;
        cells = j->n[along] > cells ? j->n[along] : cells;
        picks++;
    }
    int64_t most = picks > 1 ? PICKED_CELLS / cells : CLF_ROWS_CELLS;
    return most < 1 ? 1 : most < CLF_ROWS_CELLS ? most : CLF_ROWS_CELLS;
}

void clf_rows_choose_batch(clf_rows_job *j) {
    int64_t n = widest(j), rows = n > 0 ? CLF_ROWS_CELLS / n & -(int64_t)BLOCK : CLF_ROWS_MOST;
    if (rows < BLOCK) rows = n <= WIDE_ROW ? BLOCK : n <= LONG_ROW ? BLOCK / 2 : 1;
    j->batch_rows = rows < CLF_ROWS_MOST ? rows : CLF_ROWS_MOST;
    if (j->r->nmeet > 0) j->batch_rows = power_of_two(j->batch_rows); /* whole blocks, or as many to each */
    j->batch_entries = most_entries(j);
    j->longest = longest_row(j);
}

/* ---- sinks over rows ----------------------------------------------------------------------------------------------------- */

/* Vectors of q[j][k] as the loops want them: k outside for few k; whole vectors of k; or packed, where columns scatter and k are few. */
static bool dot_layout(const clf_rows_job *j, const clf_row_sink *s, clf_row_layout *l) {
    int64_t vec = j->r->isa.row->type[s->dtype]->lanes;
    l->vecs = 1, l->len = l->nj, l->out_step = 1;
    l->narrow = s->dot == CLF_RD_OUTER && l->nk <= NARROW;
    if (l->narrow) {
        l->vecs = l->nk;
        l->ld = l->nj;
        l->out_vec = s->swapped ? l->nj : 1;
        l->out_step = s->swapped ? 1 : l->nk;
    } else if (s->dot == CLF_RD_OUTER || s->dot == CLF_RD_SCATTER) {
        l->vecs = l->nj;
        l->len = l->nk;
        l->ld = s->dot == CLF_RD_OUTER || l->nk > vec / 2 ? (l->nk + vec - 1) / vec * vec : l->nk;
        l->out_vec = s->swapped ? 1 : l->nk;
        l->out_step = s->swapped ? l->nj : 1;
    }
    if (l->vecs > 1 && l->ld == l->len && l->out_step == 1 && l->out_vec == l->len) l->len *= l->vecs, l->vecs = 1;
    return times(l->vecs, l->ld > l->len ? l->ld : l->len, &l->cells);
}

static bool state_layout(const clf_rows_job *j, const clf_row_sink *s, clf_row_layout *l) {
    int64_t out;
    *l = (clf_row_layout){.nj = s->axis >= 0 ? j->n[s->axis] : 1, .nk = s->axis_k >= 0 ? j->n[s->axis_k] : 1, .lanes = 1, .out_step = 1};
    if (!times(l->nj, l->nk, &out)) return false;
    bool meets = s->kind == CLF_RK_MEET || s->dot == CLF_RD_SCATTER || s->dot == CLF_RD_SCATTER_EACH;
    l->block = meets ? clf_scatter_block(j->all_rows, out) : clf_col_block(j->all_rows, out);
    if (s->kind == CLF_RK_COLS) l->lanes = clf_col_lanes(l->nj, (clf_dtype)s->dtype);
    l->vecs = 1, l->ld = l->len = l->cells = l->nj;
    return s->kind != CLF_RK_DOT || dot_layout(j, s, l);
}

bool clf_rows_place_states(clf_rows_job *j) {
    int64_t blocks = 0;
    for (int i = 0; i < j->r->nsink; i++) {
        const clf_row_sink *s = &j->r->sink[i];
        if (s->kind < CLF_RK_COLS) continue;
        if (!state_layout(j, s, &j->layout[s->index])) return false;
        int64_t n = (j->all_rows - 1) / j->layout[s->index].block + 1;
        blocks = n > blocks ? n : blocks;
    }
    j->tree_places = j->all_rows > j->rows && blocks ? clf_col_tree_places(blocks) : 0;
    return true;
}

/* ---- parts and workers --------------------------------------------------------------------------------------------------- */

/* One core's time for the run, about. */
static double work_ns(const clf_rows_job *j) {
    const struct clf_rows *r = j->r;
    double ns = (double)j->rows * 2, entries = j->m ? (double)j->m->nnz : 0;
    for (int i = 0; i < r->nbatch; i++) {
        const clf_row_instr *in = &r->batch[i];
        double cells = in->axis < 0 ? (double)j->rows : in->axis == r->entry ? entries : (double)j->rows * (double)j->n[in->axis];
        if (in->over >= 0) cells *= in->over == r->entry ? entries / ((double)j->rows + 1) : (double)j->n[in->over];
        bool locate = in->kind == CLF_RI_LOAD && r->c.access[in->arg].protocol == CLF_LOCATE;
        ns += cells * (locate ? 2 : in->over >= 0 || in->kind == CLF_RI_LOAD ? 0.1 : 0.4);
    }
    return ns;
}

static bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

/* Rows such that parts of 1, 2, 4, .. times as many are subtrees of every sink over rows; all rows where their blocks do not nest. */
static int64_t granule(const clf_rows_job *j) {
    int64_t g = 1;
    for (int i = 0; i < j->r->nmeet; i++) {
        int64_t b = j->layout[i].block, most = b > g ? b : g, least = b > g ? g : b;
        if (i > 0 && (most % least != 0 || !is_power_of_two(most / least))) return j->rows > 0 ? j->rows : 1;
        g = most;
    }
    return g;
}

static int64_t most_parts(const clf_rows_job *j, int64_t wanted) {
    double states = 1;
    for (int i = 0; i < j->r->nmeet; i++) states += 24.0 * (double)j->layout[i].cells;
    double most = (double)STATES_BYTES / states;
    return most < 1 ? 1 : most < (double)wanted ? (int64_t)most : wanted;
}

/* First row that lies behind `share` of the work, rows and entries counted alike. */
static int64_t row_behind(const clf_rows_job *j, int64_t share) {
    int64_t lo = 0, hi = j->rows;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (mid + j->m->ptr[mid] < share)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Parts of equal work that may start at any row or, where batches split, at leaves of stored entries. */
static void free_bounds(clf_rows_job *j, int64_t parts) {
    int64_t extent = j->r->split ? j->m->nnz : j->rows, total = j->rows + (j->m ? j->m->nnz : 0);
    j->parts = extent < parts ? (extent > 0 ? extent : 1) : parts;
    for (int64_t p = 1; p < j->parts; p++) {
        double share = (double)p / (double)j->parts;
        j->bound[p] = (int64_t)(share * (double)extent) & (j->r->split ? -(int64_t)CLF_LEAF : -(int64_t)1);
        if (j->m && !j->r->split) j->bound[p] = row_behind(j, (int64_t)(share * (double)total));
    }
    j->bound[j->parts] = extent;
}

/* Rows and entries of the heaviest run of `size` rows. */
static int64_t heaviest(const clf_rows_job *j, int64_t size) {
    int64_t most = 0;
    for (int64_t row = 0, end; row < j->rows; row = end) {
        end = size < j->rows - row ? row + size : j->rows;
        int64_t work = end - row + j->m->ptr[end] - j->m->ptr[row];
        most = work > most ? work : most;
    }
    return most;
}

/* Parts of `least` rows, or 2, 4, .. times as many: about as many parts as asked for; more, where one would have too large a share, or the
 * last one would be no whole subtree although others go on behind it. */
static void even_bounds(clf_rows_job *j, int64_t parts, int64_t more, int64_t least) {
    int64_t size = least;
    while (size < j->rows && (j->rows - 1) / size + 1 > parts && (!j->tree_places || j->rows % (2 * size) == 0)) size *= 2;
    while (more > parts && size > least && (j->rows - 1) / (size / 2) < more && heaviest(j, size) > (j->rows + j->m->nnz) / parts * 2)
        size /= 2;
    j->parts = j->rows > 0 ? (j->rows - 1) / size + 1 : 1;
    for (int64_t p = 1; p < j->parts; p++) j->bound[p] = p * size;
    j->bound[j->parts] = j->rows;
}

bool clf_rows_choose_parts(clf_rows_job *j, const clf_pool *pool) {
    double ns = work_ns(j);
    int useful = pool && ns > PARALLEL_NS ? clf_pool_threads(pool) : 1;
    if (ns / (PARALLEL_NS / 2) < useful) useful = (int)(ns / (PARALLEL_NS / 2)) + 1;
    int64_t parts = useful > 1 ? most_parts(j, (int64_t)useful * PARTS_PER_WORKER) : 1;
    int64_t more = j->m && j->r->nmeet > 0 && parts > 1 ? most_parts(j, (int64_t)useful * UNEVEN_PARTS) : parts;
    int64_t least = granule(j), most = j->tree_places && j->rows / least > more ? j->rows / least : more;
    j->bound = clf_arena_new(&j->arena, (size_t)most + 1, sizeof *j->bound);
    if (!j->bound) return false;
    if (j->r->nmeet > 0)
        even_bounds(j, parts, more, least);
    else
        free_bounds(j, parts);
    bool many = useful > 1 && j->parts > 1;
    j->workers = many ? clf_pool_threads(pool) : 1; /* whichever thread of the pool is awake takes a part: all need memory */
    return true;
}
