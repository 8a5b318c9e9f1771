/* SPDX-License-Identifier: Apache-2.0
 * What a context needs to run: threads, devices (opened on first need), BLAS, tables of prepared plans and tile programs. */
#ifndef CLF_RUN_RUN_H
#define CLF_RUN_RUN_H
#include "core/blocks.h"
#include "host/run/covers.h"
#include "host/run/exe.h"
#include "host/run/rows.h"

/* Programs of the host executor are shared by all plans of a context, and forgotten with them; keyed by the step's canonical bytes. */
typedef struct clf_tile_entry {
    struct clf_tile_entry *next;
    uint64_t hash;
    uint32_t key_len;
    char *key;
    clf_tile *tile;
    struct clf_rows *rows; /* one of the two */
    uint64_t counted;      /* exe_scratch.c: the count that it was in last, */
    size_t counted_bytes;  /* and with how much */
} clf_tile_entry;

/* OpenCL devices in use, in the order of the device setting. */
typedef struct clf_used {
    int n;
    int at[CLF_MOST_OPENCL];    /* indices of clf_devs */
    int place[CLF_MOST_OPENCL]; /* in the setting */
    clf_profile profile[CLF_MOST_OPENCL]; /* its gemm_* only while CLBlast may be called there (gemm.c) */
    clf_clblast_rates declared[CLF_MOST_OPENCL]; /* what profile files say of these; 0: to be measured */
    char name[CLF_MOST_OPENCL][CLF_PROFILE_NAME + 24]; /* in explain: the device's, with its number where there are several */
} clf_used;

/* Texts of generic kernels (exe_generic.c). */
enum { CLF_GENERICS = 4 };
typedef struct clf_generic_text { const clf_skel *skel; int variant; clf_source src; } clf_generic_text;
typedef struct clf_generics {
    int n;
    clf_generic_text text[CLF_GENERICS];
    clf_arena arena;
} clf_generics;

enum { CLF_PLAN_BUCKETS = 256, CLF_TILE_BUCKETS = 256, CLF_PLANS_KEPT = 512, CLF_PLAN_KEYS_BYTES = 1 << 24 };

typedef struct clf_run {
    clf_blocks blocks;
    clf_spares spares; /* of planning */
    clf_generics generics;
    clf_pool *pool;
    clf_blas *blas;
    clf_disk covers; /* searched before: covers.c */
    clf_keeper keeper;
    bool covers_tried;
    clf_own_queue own; /* the caller's, retained */
    clf_devs *devs;
    clf_devs_opening *opening; /* under way; NULL if not */
    double wanted_ns;          /* work that ran on the host while devices that could be better were not open */
    uint64_t arrivals;         /* times that kernels have come from elsewhere */
    bool devs_tried, wants_devices, host_profiled;
    bool replan; /* CLBlast got ready, or was refused, since plans were made */
    clf_status devs_status; /* of the last open */
    char devs_why[CLF_ERR_TEXT];
    char cache_folder[CLF_ERR_TEXT], cache_why[CLF_ERR_TEXT]; /* of clf_cache_folder */
    clf_profile host;
    clf_used used; /* the OpenCL devices that plans are for; none until they are open */
    clf_exe *plans[CLF_PLAN_BUCKETS];
    size_t nplans, key_bytes; /* key_bytes: of all plans, as a measure of their memory */
    uint64_t epoch;           /* grows whenever plans are forgotten: remembered clf_exe pointers are stale then */
    clf_tile_entry *tiles[CLF_TILE_BUCKETS];
    uint64_t dump_serial;
    uint64_t scratch_counts;      /* exe_scratch.c */
    int lost[CLF_MOST_OPENCL];    /* by place in the device setting: how often since it was made */
    clf_exe *quarantine;          /* plans a lost device may still be writing for; freed at the end */
    const clf_selector *selector; /* instead of the one the setting names, if not NULL; clf_run_forget after a change */
} clf_run;

clf_run *clf_run_new(clf_ctx *c, clf_err *err);
void clf_run_free(clf_ctx *c);
/** The first OpenCL device this context uses by its settings: index, or -1 (then why, unless the setting is "host"). The others: run->used.
 *  errors: CLF_E_NODEV when the setting names a device that is not there. */
clf_status clf_run_device(clf_ctx *c, bool required, int *dev, clf_err *err);
/** How many devices the device setting names. */
int clf_run_named(const clf_ctx *c);
/** The position of device dev among those in use; -1: it is not. */
int clf_run_use_of(const clf_ctx *c, int dev);
/** Open OpenCL once; without it devs stays NULL and devs_why says why. */
void clf_run_open_devices(clf_ctx *c);
/** Add what the open devices have counted. */
void clf_run_add_devs(const clf_run *r, clf_stats *s);
/** The same for a plan that need not wait: -1 while the device is not open. Once the host has done so much that opening is worth it,
 *  that begins, on another thread. */
clf_status clf_run_device_later(clf_ctx *c, int *dev, clf_err *err);
/** Close devices by that function, after waiting for an opening under way. */
void clf_run_close_devices(clf_ctx *c, void (*close)(clf_devs *));
/** The stored profile of a device into *p, which stands where there is none. */
void clf_run_load_profile(clf_ctx *c, const char *name, const char *driver, clf_profile *p);
/** Ahead of looking a plan up: take in what was opened and built elsewhere. Plans may be forgotten. */
void clf_run_news(clf_ctx *c);
/** Wait, for ms milliseconds at most, until kernels have come that are being loaded from the disk. False: none are. Plans may be forgotten. */
bool clf_run_await_loads(clf_ctx *c, int ms);
bool clf_run_wants_host(const clf_ctx *c);
/** The device of that place in the setting does not answer any more: close all of them without waiting and forget their plans. What may
 *  still be written to is put aside until the context closes. They are opened once more; after its second loss a device is not used until
 *  a setting changes, and clf_run_lost is true when none is left. */
void clf_run_lose(clf_ctx *c, int place);
bool clf_run_lost(const clf_ctx *c);
const clf_profile *clf_run_host_profile(clf_ctx *c);
/** Of device dev, which is in use. */
const clf_profile *clf_run_profile_of(clf_ctx *c, int dev);
/** What a device has of b, and the host not yet, comes home: a wait, where there is something. errors: as clf_mirror_fetch. */
clf_status clf_run_fetch(clf_ctx *c, const clf_buf *b, clf_err *err);
/** The selector this context plans with. errors: CLF_E_NAME. */
clf_status clf_run_selector(const clf_ctx *c, const clf_selector **out, clf_err *err);
/** Which rewrites the settings ask for. */
clf_gate clf_run_gate(const clf_ctx *c);
/** What compiling has taken so far, devices' part included. */
uint64_t clf_run_built_ns(const clf_ctx *c);
/** The prepared plan for a graph, from the cache or made now. slots: what its leaves hold, which may be on a device already. */
clf_status clf_run_plan(clf_ctx *c, const clf_graph *g, const clf_slot *slots, clf_exe **out, clf_err *err);
/** Run prepared plan x of graph g: results[r] receives a reference for root r. Whatever goes wrong on a device goes through the
 *  failure table first. errors: what no row of the table survives. */
clf_status clf_run_exe(clf_ctx *c, const clf_graph *g, clf_exe *x, clf_slot *slots, clf_buf **results, clf_err *err);
/** After a setting changed: what was opened or made under the old ones goes. On failure nothing has changed. */
clf_status clf_run_adapt(clf_ctx *c, const clf_knobs *was, clf_err *err);
/** Forget all plans and tile programs. */
void clf_run_forget(clf_ctx *c);
/** The host executor's program for a step: in tiles, or in row form. */
clf_status clf_run_tile(clf_ctx *c, const clf_step *s, bool tile, clf_tile_entry **out, clf_err *err);
/** The dump folder's next file, or nothing when CLF_DUMP is not set. Never fails the evaluation. */
void clf_run_dump(clf_ctx *c, const char *what, const char *ext, const char *text, size_t n);
/** What led from recorded graph g to plan p, into that folder. */
void clf_run_dump_plan(clf_ctx *c, const clf_graph *g, const clf_plan *p);

/** With the checksum setting: does borrowed memory among these leaves still hold what it held? errors: CLF_E_STATE naming the leaf. */
clf_status clf_leaves_check(clf_ctx *c, size_t n, clf_node *const *leaf, clf_err *err);
/** Evaluate handles while holding the lock (eval.c). */
clf_status clf_eval_in_lock(clf_ctx *c, size_t n, clf_mat *const *m, clf_err *err);

/* Host steps. in/out are addresses in operand order. c: for the library alone; pool: NULL for the caller's thread alone. */
typedef struct clf_host_call {
    clf_ctx *c;
    clf_pool *pool;
    clf_mem *mem;
    const clf_graph *g;
    const clf_gnode *node;
    bool ta, tb;
    void *const *in;
    void *out;
} clf_host_call;
clf_status clf_callout_run(const clf_host_call *call, clf_err *err);
/** count numbers of the RAND node g, from row-major position `first` on, on the pool's threads (NULL: the caller's). */
void clf_rand_cells(const clf_gnode *g, int64_t first, int64_t count, clf_pool *pool, void *out);
clf_status clf_product_run(const clf_host_call *call, clf_err *err);
/** The same where both operands are clf_csr, of type f32 or f64: zeros of either add nothing whatever they meet, and the bits do not depend
 *  on the threads. */
clf_status clf_product_entries(const clf_host_call *call, clf_err *err);

/* A slot whose content is a block of another's, a sparse parameter: made when that is bound. */
typedef struct clf_block_slot {
    int32_t node, of; /* the node that the slot belongs to; the parameter's slot */
    int64_t row, col; /* its first */
    clf_buf *made;    /* of the content (id, version) below; NULL: not yet */
    uint64_t id, version;
} clf_block_slot;

/* A leaf for what was in memory already, in place of node `of`. */
typedef struct clf_part_slot {
    clf_node *leaf;
    const clf_node *of;
} clf_part_slot;

/* From recorded nodes to a planning graph (freeze.c). */
typedef struct clf_frozen {
    clf_ctx *c;
    clf_graph g;
    clf_node **node; /* graph node -> recorded node */
    clf_slot *slot;  /* room for every slot's content */
    clf_node **slot_node;
    clf_part_slot *part;
    clf_block_slot *block;
    size_t cap_node, cap_gnode, cap_slot, cap_part, cap_block, nslot, nroot, npart, nblock;
} clf_frozen;
/** Copy what is reachable from roots; evaluated nodes are leaves, and so is what clf_part_leaf has. params: nodes that become slots 0..
 *  in this order (functions). */
clf_status clf_freeze(clf_ctx *c, size_t nroots, clf_node *const *roots, size_t nparams, clf_node *const *params, clf_frozen *out,
                      clf_err *err);
void clf_frozen_release(clf_frozen *f);
/** Does a slot's content come with a call: a parameter's, or a block of one's? */
static inline bool clf_slot_is_bound(const clf_node *n) { return n->g.op == CLF_OP_PARAM || n->g.op == CLF_OP_INDEX; }
/** Fill a slot from a computed node (LEAF or CONST). */
void clf_slot_fill(clf_slot *s, const clf_node *n);
#endif
