/* SPDX-License-Identifier: Apache-2.0
 * Covers of earlier searches as bytes, and the search that asks for them first. Integers are little-endian.
 *
 *   gap costed (8 bytes each) beside parts (4)     and of each part: loop why device layout (1) nodes (4), each node 2 id + stored (4) */
#include "planner/cover_kept.h"

#include <string.h>

#include "core/little.h"
#include "planner_id.inc" /* generated: CLF_PLANNER_ID */

static void put(clf_str *out, uint64_t x, int bytes) {
    char at[8];
    clf_little_put(at, x, bytes);
    clf_str_putn(out, at, (size_t)bytes);
}

void clf_kept_key(const clf_problem *p, const clf_search_options *opt, clf_str *out) {
    const clf_limits *lim = p->lim;
    clf_str_put(out, CLF_PLANNER_ID);
    put(out, (uint64_t)opt->budget, 8);
    put(out, (uint64_t)opt->share, 4);
    put(out, (uint64_t)lim->kernel_ops, 4);
    put(out, (uint64_t)lim->kernel_inputs, 4);
    put(out, lim->own_products, 1);
    put(out, (uint64_t)p->dev.n, 4);
    for (int d = 0; d < p->dev.n; d++) {
        put(out, p->dev.loops_only[d], 1);
        clf_profile_key(p->dev.profile[d], out);
        put(out, p->dev.resident[d] != NULL, 1);
        for (int32_t s = 0; p->dev.resident[d] && s < p->g->nslot; s++) put(out, (uint64_t)p->dev.resident[d][s], 8);
    }
    put(out, (uint64_t)p->g->nslot, 4);
    clf_graph_key(p->g, out);
}

void clf_kept_write(const clf_problem *p, const clf_cover *c, const clf_search_stats *stats, clf_str *out) {
    if (p->g->n > INT32_MAX / 2) out->failed = true;
    put(out, (uint64_t)stats->gap, 8);
    put(out, (uint64_t)stats->plans, 8);
    put(out, c->host_beside, 1);
    put(out, (uint64_t)c->npart, 4);
    for (int32_t i = 0; i < c->npart; i++) {
        const clf_part *part = &c->part[i];
        const uint8_t said[] = {part->loop, part->why, part->device, part->layout};
        for (size_t k = 0; k < sizeof said; k++) put(out, said[k], 1);
        put(out, (uint64_t)part->n, 4);
        for (int32_t j = 0; j < part->n; j++) put(out, 2 * (uint64_t)part->node[j] + clf_cover_stores(c, i, part->node[j]), 4);
    }
}

/* ---- reading ---- */

typedef struct reading {
    const clf_problem *p;
    clf_bytes rest;
    clf_cover *c;
    uint8_t *layout;
    clf_arena *arena;
    bool ended; /* the bytes did, too soon */
} reading;

static uint64_t take(reading *r, int bytes) {
    if (r->rest.n < (size_t)bytes) {
        r->ended = true;
        return 0;
    }
    uint64_t x = clf_little_get(r->rest.at, bytes);
    r->rest = (clf_bytes){r->rest.at + bytes, r->rest.n - (size_t)bytes};
    return x;
}

static clf_status none(clf_err *err, const char *why) { return clf_fail(err, CLF_E_FORMAT, "a kept cover: %s", why); }
static clf_status no_memory(clf_err *err) { return clf_fail(err, CLF_E_NOMEM, "planning: out of memory"); }

/* A count that is followed by at least `bytes` for each. */
static clf_status take_count(reading *r, uint64_t most, size_t bytes, int32_t *out, clf_err *err) {
    uint64_t n = take(r, 4);
    if (n > most || n * bytes > r->rest.n) return none(err, "a count beyond what there is");
    *out = (int32_t)n;
    return CLF_OK;
}

static clf_status read_node(reading *r, int32_t i, int32_t j, clf_err *err) {
    clf_part *part = &r->c->part[i];
    uint64_t x = take(r, 4);
    if (x / 2 >= (uint64_t)r->p->g->n) return none(err, "a node beyond the graph's");
    int32_t n = part->node[j] = (int32_t)(x / 2), is = r->p->is[n];
    if (!(is & CLF_IS_NEEDED) || (is & CLF_IS_SLOT)) return none(err, "a node that nobody needs computed");
    if (j && part->node[j - 1] >= n) return none(err, "nodes are not in order");
    if (x % 2 && r->c->maker[n] >= 0) return none(err, "a value is stored twice");
    if (x % 2) r->c->maker[n] = i;
    return CLF_OK;
}

static clf_status read_part(reading *r, int32_t i, clf_err *err) {
    clf_part *part = &r->c->part[i];
    *part = (clf_part){.driver = -1, .sparse = ""};
    part->loop = (uint8_t)take(r, 1);
    part->why = (uint8_t)take(r, 1);
    part->device = (uint8_t)take(r, 1);
    r->layout[i] = (uint8_t)take(r, 1);
    if (part->loop > 1 || part->why > CLF_NREASONS || part->device >= r->p->dev.n || r->layout[i] > CLF_LAYOUT_CELLS)
        return none(err, "a part of no kind");
    CLF_TRY(take_count(r, (uint64_t)r->p->g->n, 4, &part->n, err));
    part->node = clf_arena_new(r->arena, (size_t)part->n, sizeof *part->node);
    if (!part->node) return no_memory(err);
    for (int32_t j = 0; j < part->n; j++) CLF_TRY(read_node(r, i, j, err));
    return CLF_OK;
}

static clf_status begin(reading *r, clf_err *err) {
    const clf_graph *g = r->p->g;
    clf_cover *c = r->c;
    CLF_TRY(clf_cover_begin(c, g, 3 * g->n + g->nroot, r->arena, err));
    for (int32_t n = 0; n < g->n; n++) c->copied[n] = !!(r->p->is[n] & CLF_IS_COPIED);
    clf_cover_copies(c, g);
    CLF_TRY(take_count(r, (uint64_t)g->n, 8, &c->npart, err));
    c->part = clf_arena_new(r->arena, (size_t)c->npart, sizeof *c->part);
    r->layout = clf_arena_new(r->arena, (size_t)c->npart, 1);
    return c->part && r->layout ? CLF_OK : no_memory(err);
}

/* What the bytes say is a cover of the problem, or refused; then its layouts, drivers and price follow. */
static clf_status settle(reading *r, clf_ps *cost, clf_err *err) {
    clf_pricer pricer;
    clf_status st = clf_cover_check(r->p, r->c, r->arena, err);
    if (st != CLF_OK) return st == CLF_E_NOMEM ? st : none(err, "not one of this program");
    if (!clf_cover_lay_out(r->p, r->c, r->layout)) return none(err, "a layout that a part cannot have");
    CLF_TRY(clf_pricer_new(r->p, r->arena, &pricer, err));
    return clf_cover_price(&pricer, r->c, cost, err);
}

clf_status clf_kept_read(const clf_problem *p, clf_bytes kept, clf_arena *arena, clf_cover *out, clf_search_stats *stats, clf_err *err) {
    reading r = {.p = p, .rest = kept, .c = out, .arena = arena};
    memset(stats, 0, sizeof *stats);
    stats->gap = (clf_ps)take(&r, 8);
    stats->plans = (int64_t)take(&r, 8);
    uint64_t beside = take(&r, 1);
    if (stats->gap < 0 || stats->plans < 0 || beside > 1) return none(err, "not what a search says");
    CLF_TRY(begin(&r, err));
    for (int32_t i = 0; i < out->npart; i++) CLF_TRY(read_part(&r, i, err));
    if (r.ended || r.rest.n) return none(err, "shorter or longer than it says");
    CLF_TRY(settle(&r, &stats->cost, err));
    out->host_beside = beside; /* as the search left it */
    return CLF_OK;
}

/* ---- searching ---- */

enum {
    WORTH_KEEPING = 8, /* partial covers costed; a cover is read about as quickly */
    FEW = 4            /* operators for which no search comes near that */
};

static bool few_operators(const clf_problem *p) {
    int32_t n = 0;
    for (int32_t i = 0; i < p->g->n && n < FEW; i++) n += (p->is[i] & CLF_IS_NEEDED) && !(p->is[i] & CLF_IS_SLOT);
    return n < FEW;
}

clf_status clf_kept_search(const clf_problem *p, const clf_search_options *opt, clf_arena *scratch, clf_cover *out, clf_search_stats *stats,
                           clf_err *err) {
    const clf_keeper *k = p->lim->keeper;
    if (!k || few_operators(p)) return clf_search_sure(p, opt, scratch, out, stats, err);
    clf_str key, kept;
    clf_err why = {CLF_OK, ""};
    clf_str_init(&key, scratch->mem);
    clf_str_init(&kept, scratch->mem);
    clf_kept_key(p, opt, &key);
    bool asked = !key.failed, found = asked && k->find(k->of, (clf_bytes){key.at, key.len}, &kept) && !kept.failed;
    clf_status st = found ? clf_kept_read(p, (clf_bytes){kept.at, kept.len}, scratch, out, stats, &why) : CLF_E_NAME;
    stats->kept = st == CLF_OK;
    if (st == CLF_E_FORMAT) k->drop(k->of, (clf_bytes){key.at, key.len}, why.text);
    if (st != CLF_OK) {
        st = clf_search_sure(p, opt, scratch, out, stats, err);
        clf_str_clear(&kept);
        if (st == CLF_OK && stats->plans >= WORTH_KEEPING && !stats->whole) clf_kept_write(p, out, stats, &kept);
        if (asked && kept.len && !kept.failed) k->keep(k->of, (clf_bytes){key.at, key.len}, (clf_bytes){kept.at, kept.len}, p);
    }
    clf_str_release(&kept);
    clf_str_release(&key);
    return st;
}
