/* SPDX-License-Identifier: Apache-2.0
 * Calibration of what loops do besides streaming and cell operators: products, looking up, stored entries, rows, and how much of moving
 * bytes goes on while a device computes; on a GPU also the best size of its groups for loops over cells, rows and stored entries. Needs
 * the tiers and rates that calibrate.c measured before. */
#include "device/calibrate.h"

/* Multiply-adds of a work-item per round of m_fma: eight for each of 32 vectors; on a GPU one for each of its numbers. */
clf_status clf_gauge_fma(clf_gauge_bench *b, clf_profile *p) {
    clf_program *k;
    double ns;
    CLF_TRY(clf_gauge_kernel(b, "m_fma", &k));
    clf_gauge_job j = {k, b->in, b->out, b->set_bytes, b->out_bytes, 16, 1, b->items};
    clf_status st = clf_gauge_best(b, &j, &j.n, &ns);
    if (st == CLF_OK)
        p->fma_per_s[b->type == CLF_F64] =
            (clf_gauge_groups(b) ? 1 : 8) * clf_gauge_round(b, CLF_CLASS_DIV) * (double)j.n * (double)j.items / ns * 1e9;
    clf_program_free(b->d, k, true);
    return st;
}

/* Multiply-adds of a work-item per round of m_tile: a tile of 12 rows and two vectors for each of TERMS, or as many in smaller ones. */
enum { TILE_TERMS = 256, TILE_ROWS = 12 };
clf_status clf_gauge_tile(clf_gauge_bench *b, clf_profile *p) {
    clf_program *k;
    double ns, lanes = 64 / (double)clf_dtype_bytes(b->type);
    CLF_TRY(clf_gauge_kernel(b, "m_tile", &k));
    clf_gauge_job j = {k, b->in, b->out, b->set_bytes, b->out_bytes, 4, 1, b->items};
    clf_status st = clf_gauge_best(b, &j, &j.n, &ns);
    if (st == CLF_OK) p->tile_fma_per_s[b->type == CLF_F64] = TILE_TERMS * TILE_ROWS * 2 * lanes * (double)j.n * (double)j.items / ns * 1e9;
    clf_program_free(b->d, k, true);
    return st;
}

/* Reads within a tier's reach, by every core in all of it; a power of two of elements, the largest below it. What they take in the first
 * tier is the kernel's own, and in what an entry takes. */
#define LEAST_GATHER_NS 0.01
static clf_status gathers(clf_gauge_bench *b, clf_profile *p) {
    clf_program *k;
    double ns;
    CLF_TRY(clf_gauge_kernel(b, "m_gather", &k));
    clf_status st = CLF_OK;
    for (int t = 0; t < CLF_PROFILE_TIERS && st == CLF_OK; t++) {
        double reach = clf_profile_reach(p, t), most = (double)b->set_bytes < reach ? (double)b->set_bytes : reach;
        clf_gauge_job j = {k, b->in, b->out, b->set_bytes, b->out_bytes, clf_gauge_groups(b) ? 64 : 4096, 1, b->items};
        while (2.0 * (double)j.sweeps * (double)clf_dtype_bytes(b->type) <= most) j.sweeps *= 2;
        st = clf_gauge_best(b, &j, &j.n, &ns);
        p->gather_ns[t] = ns / ((double)j.n * (double)j.items);
    }
    for (int t = CLF_PROFILE_TIERS; t-- > 0 && st == CLF_OK;)
        p->gather_ns[t] = p->gather_ns[t] > p->gather_ns[0] + LEAST_GATHER_NS && t ? p->gather_ns[t] - p->gather_ns[0] : LEAST_GATHER_NS;
    clf_program_free(b->d, k, true);
    return st;
}

/* Nanoseconds of one of the n things (stored entries, rows) that a kernel goes through in half the second tier. */
static clf_status walk(clf_gauge_bench *b, const char *entry, double thing_bytes, double tier_bytes, double *each_ns) {
    clf_program *k;
    double ns, n = (tier_bytes < (double)b->set_bytes ? tier_bytes : (double)b->set_bytes) / 2 / thing_bytes;
    CLF_TRY(clf_gauge_kernel(b, entry, &k));
    clf_gauge_job j = {k, b->in, b->out, b->set_bytes, b->out_bytes, (int64_t)n / 4096 * 4096 + 4096, 1, b->items};
    clf_status st = clf_gauge_best(b, &j, &j.sweeps, &ns);
    if (st == CLF_OK) *each_ns = ns / ((double)j.n * (double)j.sweeps);
    clf_program_free(b->d, k, true);
    return st;
}

/* An entry whose row of a side is two vectors, less these: nothing is picked into lanes there. */
static clf_status sides(clf_gauge_bench *b, clf_profile *p) {
    double each, bytes = (double)clf_dtype_bytes(b->type), all = p->entry_ns;
    CLF_TRY(walk(b, "m_side", bytes, p->tier_bytes[1], &each));
    each -= 1e9 * 2 * 64 / bytes / p->fma_per_s[b->type == CLF_F64];
    p->entry_ns = each < all / 8 ? all / 8 : each < all ? each : all;
    p->pick_ns = all - p->entry_ns;
    return CLF_OK;
}

/* An inner product with such a row, four at a time, less its multiply-adds; an eighth of it is left at least. */
static clf_status pairs(clf_gauge_bench *b, clf_profile *p) {
    double each, bytes = (double)clf_dtype_bytes(b->type);
    CLF_TRY(walk(b, "m_pair", bytes, p->tier_bytes[1], &each));
    const double beside = each - 1e9 * 2 * 64 / bytes / p->fma_per_s[b->type == CLF_F64];
    p->pair_ns = beside > each / 8 ? beside : each / 8;
    return CLF_OK;
}

/* An entry visited for a row's sum, and again for that of its column. */
static clf_status scatters(clf_gauge_bench *b, clf_profile *p) {
    double both;
    CLF_TRY(walk(b, "m_scatter", (double)clf_dtype_bytes(b->type), p->tier_bytes[1], &both));
    p->scatter_ns = both > p->entry_ns ? both - p->entry_ns : 0;
    return CLF_OK;
}

/* The size of a group with which a kernel is fastest; the assumed one unless another is clearly faster. */
static clf_status best_group(clf_gauge_bench *b, const char *entry, double thing_bytes, const clf_profile *p, double *items) {
    static const size_t sizes[] = {256, 128, 64};
    const size_t local = b->local;
    double best = 0, ns;
    clf_status st = CLF_OK;
    for (int k = 0; k < 3 && st == CLF_OK; k++) {
        b->local = sizes[k];
        st = walk(b, entry, thing_bytes, p->tier_bytes[1], &ns);
        if (st == CLF_OK && (!k || ns < CLF_CLEARLY * best)) {
            best = ns;
            *items = (double)sizes[k];
        }
    }
    b->local = local;
    return st;
}

/* A compute unit runs as many work-items whatever the size of its groups; what one computes and sums grows with it. */
static clf_status groups(clf_gauge_bench *b, clf_profile *p) {
    double before = p->group_items[CLF_GROUP_CELLS] > 0 ? p->group_items[CLF_GROUP_CELLS] : (double)b->local;
    CLF_TRY(best_group(b, "m_read", 64, p, &p->group_items[CLF_GROUP_CELLS]));
    CLF_TRY(best_group(b, "m_row", 64, p, &p->group_items[CLF_GROUP_ROWS]));
    CLF_TRY(best_group(b, "m_entry", (double)clf_dtype_bytes(b->type), p, &p->group_items[CLF_GROUP_ENTRIES]));
    double times = p->group_items[CLF_GROUP_CELLS] / before;
    p->unit_groups /= times;
    p->group_cells *= times;
    p->group_sum_bytes *= times;
    return CLF_OK;
}

/* Of moving, computing, and both; `known`: the computing of both over that of the second. */
static double hidden(const double *ns, double known) { return clf_part_hidden(ns[2], ns[0], ns[1] * known); }

enum { WORK_NS = 3000000 };

/* Half of the set streamed, an operator of a class on registers, and that operator on each element of the half: how much of the shorter
 * part the longer one hides. */
static clf_status overlap_of(clf_gauge_bench *b, const clf_profile *p, const char *streamed, const char *alone, int class_, double *part) {
    clf_program *k[3] = {NULL};
    const char *const entry[3] = {"m_read", alone, streamed};
    const size_t bytes = b->set_bytes / 2;
    const double round = clf_gauge_round(b, class_) * (double)b->items, rate = p->cells_per_s[b->type == CLF_F64][class_];
    const int64_t rounds = (int64_t)(WORK_NS * 1e-9 * rate / round) + 1, vectors = (int64_t)(bytes / 64);
    const double cells = (double)vectors * (64.0 / (double)clf_dtype_bytes(b->type));
    clf_status st = CLF_OK;
    for (int i = 0; i < 3 && st == CLF_OK; i++) st = clf_gauge_kernel(b, entry[i], &k[i]);
    const clf_gauge_job job[3] = {clf_gauge_sweep(b, k[0], (double)bytes),
                                  {k[1], b->in, b->out, b->set_bytes, b->out_bytes, rounds, 1, b->items},
                                  {k[2], b->in, b->out, b->set_bytes, b->out_bytes, vectors, 1, clf_gauge_workers(b, bytes)}};
    if (st == CLF_OK) st = clf_gauge_turns(b, job, 3, hidden, cells / (round * (double)rounds), part);
    for (int i = 0; i < 3; i++) clf_program_free(b->d, k[i], true);
    return st;
}

/* Loops that keep their values in registers hide more than those that fill tiles for a function: the mean of both kinds. */
static clf_status overlap(clf_gauge_bench *b, clf_profile *p) {
    double in_registers, in_tiles;
    CLF_TRY(overlap_of(b, p, "m_quotients", "m_DIV", CLF_CLASS_DIV, &in_registers));
    CLF_TRY(overlap_of(b, p, "m_tiles", "m_EXP", CLF_CLASS_EXP, &in_tiles));
    p->overlap = (in_registers + in_tiles) / 2;
    return CLF_OK;
}

/* Kernels for CPUs ask for the entries ahead of them: of bringing and visiting these the longer is all that passes. What an entry takes is
 * then what gives that by the rule that all loops are costed by (clf_cost_both); an eighth of it is left at least. */
enum { INDEX_BYTES = 4 };
static void ahead(const clf_gauge_bench *b, clf_profile *p) {
    const double brought = 1e9 * ((double)clf_dtype_bytes(b->type) + INDEX_BYTES) / p->read_bytes_per_s[CLF_PROFILE_TIERS - 1];
    const double visited = p->entry_ns, beside = visited > brought ? visited - (1 - p->overlap) * brought : 0;
    p->entry_ns = beside > visited / 8 ? beside : visited / 8;
}

static double faster(const double *ns, double known) { return ns[1] / ns[0] - known; }

/* Short rows one after the other, or four side by side where those are faster by far, as they are where hardware foresees all of their
 * streams. A quarter of the set is more than caches hold of it. */
#define BY_FAR 0.8
static clf_status rows_at_once(clf_gauge_bench *b, clf_profile *p) {
    enum { ROW_BYTES = 800, FOUR = 4 };
    static const char *const entry[2] = {"m_rows1", "m_rows4"};
    clf_program *k[2] = {NULL};
    clf_gauge_job job[2];
    const int64_t rows = (int64_t)(b->set_bytes / 4 / ROW_BYTES) / FOUR * FOUR;
    double part = 1;
    clf_status st = CLF_OK;
    for (int i = 0; i < 2 && st == CLF_OK; i++) {
        st = clf_gauge_kernel(b, entry[i], &k[i]);
        job[i] = (clf_gauge_job){k[i], b->in, b->out, b->set_bytes, b->out_bytes, rows, 1, clf_gauge_workers(b, b->set_bytes)};
    }
    if (st == CLF_OK) st = clf_gauge_turns(b, job, 2, faster, 0, &part);
    if (st == CLF_OK) p->rows_at_once = part < BY_FAR ? FOUR : 1;
    for (int i = 0; i < 2; i++) clf_program_free(b->d, k[i], true);
    return st;
}

clf_status clf_gauge_loops(clf_gauge_bench *b, clf_profile *p) {
    CLF_TRY(gathers(b, p));
    CLF_TRY(walk(b, "m_entry", (double)clf_dtype_bytes(b->type), p->tier_bytes[1], &p->entry_ns));
    CLF_TRY(scatters(b, p));
    CLF_TRY(walk(b, "m_merge", (double)clf_dtype_bytes(b->type), p->tier_bytes[1], &p->locate_ns));
    CLF_TRY(overlap(b, p));
    if (!clf_gauge_groups(b)) {
        ahead(b, p);
        CLF_TRY(sides(b, p));
        CLF_TRY(pairs(b, p));
        CLF_TRY(rows_at_once(b, p));
    }
    CLF_TRY(walk(b, "m_row", 64, p->tier_bytes[1], &p->row_ns));
    p->dot_ns = p->row_ns; /* both are a sum over lanes */
    if (clf_gauge_groups(b)) p->side_ns = p->pair_ns = p->dot_ns;
    return clf_gauge_groups(b) ? groups(b, p) : CLF_OK;
}
