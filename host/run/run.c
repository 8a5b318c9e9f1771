/* SPDX-License-Identifier: Apache-2.0
 * The running half of a context: opened lazily, kept in tables that compare whole keys, dropped as one. */
#include "host/run/run.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "device/disk.h"
#include "host/run/meter.h"
#include "host/run/residency.h"
#include "planner/select.h"

clf_run *clf_run_new(clf_ctx *c, clf_err *err) {
    clf_run *r = clf_mem_new(&c->mem, 1, sizeof *r);
    if (!r) {
        clf_fail(err, CLF_E_NOMEM, "clf_open: out of memory");
        return NULL;
    }
    clf_blocks_init(&r->blocks, &c->mem);
    clf_arena_init(&r->generics.arena, &c->mem);
    r->pool = clf_pool_new(&c->mem, (int)c->knobs.threads);
    r->blas = r->pool ? clf_blas_open(&c->mem, clf_pool_threads(r->pool)) : NULL;
    if (r->pool && r->blas) return r;
    clf_pool_free(r->pool);
    clf_mem_free(&c->mem, r, 1, sizeof *r);
    clf_fail(err, CLF_E_NOMEM, "clf_open: out of memory");
    return NULL;
}

static void free_tile(clf_ctx *c, clf_tile_entry *t) {
    clf_tile_free(t->tile);
    clf_rows_free(t->rows);
    clf_mem_free(&c->mem, t->key, t->key_len, 1);
    clf_mem_free(&c->mem, t, 1, sizeof *t);
}

/* Plans and tile programs go together: plans point to tile programs, and both depend on the settings. */
void clf_run_forget(clf_ctx *c) {
    clf_run *r = c->run;
    for (int b = 0; b < CLF_PLAN_BUCKETS; b++)
        while (r->plans[b]) {
            clf_exe *x = r->plans[b];
            r->plans[b] = x->next;
            clf_exe_free(c, x);
        }
    for (int b = 0; b < CLF_TILE_BUCKETS; b++)
        while (r->tiles[b]) {
            clf_tile_entry *t = r->tiles[b];
            r->tiles[b] = t->next;
            free_tile(c, t);
        }
    r->nplans = r->key_bytes = 0;
    r->epoch++;
}

void clf_run_free(clf_ctx *c) {
    clf_run *r = c->run;
    if (!r) return;
    clf_run_forget(c);
    if (r->opening) clf_run_open_devices(c);
    clf_devs_close(r->devs);
    clf_covers_close(c);
    clf_own_release(&r->own);
    clf_blas_close(r->blas);
    clf_pool_free(r->pool);
    clf_exe_free_quarantine(c);
    clf_blocks_release(&r->blocks);
    clf_spares_release(&r->spares, &c->mem);
    clf_arena_release(&r->generics.arena);
    clf_mem_free(&c->mem, r, 1, sizeof *r);
    c->run = NULL;
}

/* ---- profiles and settings ---- */

const clf_profile *clf_run_host_profile(clf_ctx *c) {
    clf_run *r = c->run;
    if (r->host_profiled) return &r->host;
    clf_profile_assume(&r->host, CLF_DEV_HOST, clf_pool_threads(r->pool));
    clf_run_load_profile(c, "host", clf_isa_name(clf_isa_pick(CLF_ISA_AUTO)), &r->host);
    r->host_profiled = true;
    return &r->host;
}

const clf_profile *clf_run_profile_of(clf_ctx *c, int dev) {
    int u = clf_run_use_of(c, dev);
    return &c->run->used.profile[u < 0 ? 0 : u];
}

clf_status clf_run_fetch(clf_ctx *c, const clf_buf *b, clf_err *err) {
    c->stats.waits += clf_mirror_ahead(b);
    return clf_mirror_fetch(c->run->devs, b, err);
}

/* ---- settings ---- */

/* Other threads; the old ones stay when these cannot be had. */
static clf_status change_threads(clf_ctx *c, clf_err *err) {
    clf_run *r = c->run;
    clf_pool *pool = clf_pool_new(&c->mem, (int)c->knobs.threads);
    clf_blas *blas = pool ? clf_blas_open(&c->mem, clf_pool_threads(pool)) : NULL;
    if (!blas) {
        clf_pool_free(pool);
        return clf_fail(err, CLF_E_NOMEM, "clf_set: out of memory for threads");
    }
    clf_blas_close(r->blas);
    clf_pool_free(r->pool);
    r->pool = pool;
    r->blas = blas;
    return CLF_OK;
}

clf_status clf_run_adapt(clf_ctx *c, const clf_knobs *was, clf_err *err) {
    clf_run *r = c->run;
    const clf_knobs *is = &c->knobs;
    bool folder = strcmp(was->cache_dir, is->cache_dir), kept = strcmp(was->cache, is->cache) || was->cache_bytes != is->cache_bytes,
         workers = strcmp(was->worker, is->worker) || was->worker_ms != is->worker_ms,
         reopen = folder || kept || workers || was->max_alloc != is->max_alloc || was->host_pointers != is->host_pointers ||
                  was->device_mem != is->device_mem || strcmp(was->clblast, is->clblast) ||
                  strcmp(was->clblast_library, is->clblast_library) || strcmp(was->transfer_queue, is->transfer_queue);
    clf_gate gate;
    CLF_TRY(clf_gate_set(&gate, is->math, is->rules_off, err));
    if (was->threads != is->threads) CLF_TRY(change_threads(c, err));
    if (!memcmp(was, is, sizeof *is)) return CLF_OK;
    clf_run_forget(c);
    if (reopen) clf_run_close_devices(c, clf_devs_close);
    if (folder || kept) clf_covers_close(c);
    if (reopen || strcmp(was->device, is->device) || strcmp(was->profile_file, is->profile_file)) r->used.n = 0;
    if (reopen || strcmp(was->device, is->device)) memset(r->lost, 0, sizeof r->lost);
    if (folder || was->threads != is->threads) r->host_profiled = false;
    return CLF_OK;
}

/* ---- tables ---- */

static clf_isa isa_of(const clf_ctx *c) {
    static const struct {
        const char *name;
        clf_isa isa;
    } table[] = {{"baseline", CLF_ISA_BASELINE}, {"avx2", CLF_ISA_AVX2}, {"avx512", CLF_ISA_AVX512}, {NULL, CLF_ISA_AUTO}};
    int i = 0;
    while (table[i].name && strcmp(table[i].name, c->knobs.isa)) i++;
    return clf_isa_pick(table[i].isa);
}

static clf_status new_program(clf_ctx *c, const clf_step *s, bool tile, clf_tile_entry *t, clf_err *err) {
    return tile ? clf_tile_new(&t->tile, &s->c, isa_of(c), &c->mem, err) : clf_rows_new(&t->rows, &s->c, isa_of(c), &c->mem, err);
}

clf_status clf_run_tile(clf_ctx *c, const clf_step *s, bool tile, clf_tile_entry **out, clf_err *err) {
    clf_run *r = c->run;
    uint64_t h = clf_hash64(s->key, s->key_len, 1);
    clf_tile_entry **bucket = &r->tiles[h % CLF_TILE_BUCKETS];
    for (clf_tile_entry *t = *bucket; t; t = t->next)
        if (t->hash == h && !!t->tile == tile && t->key_len == s->key_len && !memcmp(t->key, s->key, s->key_len)) {
            *out = t;
            return CLF_OK;
        }
    clf_tile_entry *t = clf_mem_new(&c->mem, 1, sizeof *t);
    char *key = clf_mem_new(&c->mem, s->key_len, 1);
    clf_status st = t && key ? new_program(c, s, tile, t, err) : clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory");
    if (st != CLF_OK) {
        clf_mem_free(&c->mem, key, s->key_len, 1);
        clf_mem_free(&c->mem, t, 1, sizeof *t);
        return st;
    }
    memcpy(key, s->key, s->key_len);
    t->key = key;
    t->key_len = s->key_len;
    t->hash = h;
    t->next = *bucket;
    *bucket = t;
    *out = t;
    return CLF_OK;
}

clf_status clf_run_selector(const clf_ctx *c, const clf_selector **out, clf_err *err) {
    const clf_selector *sel = c->run->selector ? c->run->selector : clf_selector_find(c->knobs.fuse);
    if (!sel) return clf_fail(err, CLF_E_NAME, "no fusion selector named '%s' (none, all)", c->knobs.fuse);
    *out = sel;
    return CLF_OK;
}

/* Settings were looked at when they were made, so this cannot fail. */
clf_gate clf_run_gate(const clf_ctx *c) {
    clf_gate gate = {0};
    (void)clf_gate_set(&gate, c->knobs.math, c->knobs.rules_off, NULL);
    return gate;
}

/* Kernels compiled, or loaded from the disk. */
uint64_t clf_run_built_ns(const clf_ctx *c) {
    clf_dev_stats d = clf_devs_stats(c->run->devs);
    return c->stats.build_ns + d.build_ns + d.load_ns;
}

/* Planned with what leaves have been credited. */
static clf_status prepare(clf_ctx *c, const clf_graph *g, const clf_slot *slots, const clf_str *key, size_t graph_len, clf_exe **out,
                          clf_err *err) {
    const clf_selector *sel = NULL;
    clf_exe_ways ways = {0};
    int64_t *credit[CLF_MOST_OPENCL] = {NULL};
    clf_arena arena;
    CLF_TRY(clf_run_selector(c, &sel, err));
    clf_arena_init_from(&arena, &c->mem, &c->run->spares);
    clf_status st = clf_residency_credits(c, key->at + graph_len, key->len - graph_len, g->nslot, slots, &arena, credit, err);
    ways.credit = (const int64_t *const *)credit;
    if (st == CLF_OK) st = clf_exe_new(out, c, g, sel, &ways, err);
    if (st == CLF_OK) {
        st = clf_residency_watch(c, *out, g, sel, err);
        if (st != CLF_OK) clf_exe_free(c, *out);
    }
    clf_arena_release(&arena);
    return st;
}

static clf_status new_plan(clf_ctx *c, const clf_graph *g, const clf_slot *slots, const clf_str *key, size_t graph_len, uint64_t h,
                           clf_exe **out, clf_err *err) {
    clf_run *r = c->run;
    uint64_t start = clf_now_ns(), built = clf_run_built_ns(c);
    clf_exe *x = NULL;
    /* a cache, not a leak: programs that never repeat start over */
    if (r->nplans >= CLF_PLANS_KEPT || r->key_bytes > CLF_PLAN_KEYS_BYTES) clf_run_forget(c);
    CLF_TRY(prepare(c, g, slots, key, graph_len, &x, err));
    x->key = clf_mem_new(&c->mem, key->len, 1);
    if (!x->key) {
        clf_exe_free(c, x);
        return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory");
    }
    memcpy(x->key, key->at, key->len);
    x->key_len = key->len;
    x->graph_key_len = graph_len;
    x->next = r->plans[h % CLF_PLAN_BUCKETS];
    r->plans[h % CLF_PLAN_BUCKETS] = x;
    r->nplans++;
    r->key_bytes += key->len;
    c->stats.plans++;
    c->stats.plan_ns += clf_now_ns() - start - (clf_run_built_ns(c) - built);
    *out = x;
    return CLF_OK;
}

clf_status clf_run_plan(clf_ctx *c, const clf_graph *g, const clf_slot *slots, clf_exe **out, clf_err *err) {
    clf_str key;
    clf_str_init(&key, &c->mem);
    clf_graph_key(g, &key);
    size_t graph_len = key.len;
    clf_residency_key(c, g->nslot, slots, &key);
    if (key.failed) {
        clf_str_release(&key);
        return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory");
    }
    uint64_t h = clf_hash64(key.at, key.len, 2);
    clf_exe *x = c->run->plans[h % CLF_PLAN_BUCKETS];
    while (x && (x->key_len != key.len || memcmp(x->key, key.at, key.len))) x = x->next;
    clf_status st = CLF_OK;
    if (x) {
        c->stats.plan_hits++;
        *out = x;
    } else
        st = new_plan(c, g, slots, &key, graph_len, h, out, err);
    clf_str_release(&key);
    return st;
}
