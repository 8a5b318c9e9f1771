/* SPDX-License-Identifier: Apache-2.0
 * Batches of random programs on an OpenCL device; see device_net.h. Programs follow from their seeds alone, and so do batches, whose
 * kernels therefore come from the driver's own cache when a setting repeats what another one has built. */
#include "tests/support/device_net.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/run/run.h"
#include "planner/select.h"
#include "planner/skel.h"
#include "tests/oracle/dd_program.h"
#include "tests/support/net.h"
#include "tests/support/shrink.h"

enum { RARE = 4, BATCHES_A_CONTEXT = 20, MANY_CELLS = 700 * 220 /* of a sparse operand whose loops are split */ };

/* ---- settings ---- */

static const struct {
    const char *name, *host_pointers, *max_alloc;
} ways[] = {{"pointers", "on", "0"}, {"buffers", "off", "16K"}}; /* and larger operands in parts */
static const char roomy[] = "64K";                               /* of cell.generic: its registers alone are more than 16K */
static const char tight[] = "64K"; /* for copies on the device: a batch has more, so that some go and come back */

static bool seen_strategy(int i) {
    for (int k = 0; k < i; k++)
        if (!strcmp(clf_skels[k]->strategy, clf_skels[i]->strategy)) return true;
    return false;
}

static clf_ctx *open_on(const char *device) {
    clf_ctx *c = NULL;
    clf_options o = {.struct_size = sizeof o, .device = device};
    if (clf_open(&c, &o) != CLF_OK) printf("\n    %s: %s\n", device ? device : "any device", clf_open_error());
    return c;
}

static bool set(clf_ctx *c, const char *knob, const char *value) {
    if (clf_set(c, knob, value) == CLF_OK) return true;
    printf("\n    %s = %s: %s\n", knob, value, clf_last_error(c));
    return false;
}

static bool is_generic(const dn_setting *s) { return s->strategy && !strcmp(s->strategy, "generic"); }

static const char *max_alloc_of(const dn_setting *s) { return s->way && is_generic(s) ? roomy : ways[s->way].max_alloc; }

static bool open_setting(const dn_net *net, dn_setting *s) {
    s->c = open_on(s->strategy ? net->o.device : NULL); /* a device that is named gets everything */
    bool good = s->c && set(s->c, "host_pointers", ways[s->way].host_pointers) && set(s->c, "max_alloc", max_alloc_of(s)) &&
                set(s->c, "device_mem", net->o.buffers_only ? "0" : tight); /* Oclgrind takes new buffers in old places for empty */
    if (s->way) good = good && set(s->c, "results", "all");                 /* until they are compared */
    if (!s->strategy) return good && pinned_pair_set(s->two ? &net->two : &net->pair, s->c);
    if (s->clblast) good = good && set(s->c, "clblast", "on");
    if (s->large) good = good && pinned_pair_set(&net->large, s->c);
    return good && set(s->c, "tier", is_generic(s) ? "1" : "2") && set(s->c, "strategy", s->strategy) && set(s->c, "fuse", s->fuse);
}

static bool add_setting(dn_net *net, const char *strategy, const char *fuse, int way) {
    dn_setting *s = &net->setting[net->nsetting];
    if (net->nsetting == DN_SETTINGS) return false;
    *s = (dn_setting){.strategy = strategy, .fuse = fuse, .way = way, .every = !strategy ? 2 : strcmp(fuse, "none") ? 1 : RARE};
    bool in_turns = strategy && !strcmp(strategy, "group") && strcmp(net->o.device, "gpu"); /* CPUs take a group's items one by one */
    if (in_turns) s->every *= net_count(0, 1) ? RARE : 2 * RARE;
    if (is_generic(s)) s->every = RARE;                                      /* it covers few programs: nobody waits for a number of them */
    if (way == 1 && !net->o.buffers_only && !net_count(0, 1)) s->every *= 2; /* the kernels are those of the first way */
    snprintf(s->name, sizeof s->name, "%s, fuse %s, by %s", strategy ? strategy : "on host and device", fuse, ways[way].name);
    net->nsetting++;
    return open_setting(net, s);
}

static void close_setting(dn_net *net, dn_setting *s) {
    clf_stats st = {.struct_size = sizeof st};
    if (s->c && clf_get_stats(s->c, &st) == CLF_OK) {
        net->kernels += st.kernels_built;
        net->launches += st.launches_tier1 + st.launches_tier2;
        net->build_ns += st.build_ns;
        net->evictions += st.evictions;
    }
    clf_close(s->c);
    s->c = NULL;
}

/* A context keeps every kernel it has built: in a long run they would fill the memory. */
static bool start_over(dn_net *net) {
    bool good = true;
    for (int i = 0; i < net->nsetting && good; i++) {
        close_setting(net, &net->setting[i]);
        good = open_setting(net, &net->setting[i]);
    }
    return good;
}

/* By pointers, and what is handed over through copies; and by pointers with steps that both have a part of. */
static bool add_two(dn_net *net) {
    clf_profile host, first, second;
    clf_device d = {.struct_size = sizeof d};
    if (net->o.buffers_only || !clf_device_at(net->host, 2, &d)) return true;
    pinned_pair_contrast_two(&host, &first, &second);
    bool good = pinned_pair_make(&net->two, &host, &first) && pinned_pair_add(&net->two, &second);
    for (int i = 0; i < 3 && good; i++) {
        int way = i == 1;
        dn_setting *s = &net->setting[net->nsetting];
        if (net->nsetting == DN_SETTINGS) return false;
        net->nsetting++;
        *s = (dn_setting){.fuse = "cost", .way = way, .every = RARE, .two = true, .split = i == 2};
        snprintf(s->name, sizeof s->name, "on two devices%s, fuse cost, by %s", s->split ? " and split" : "", ways[way].name);
        good = open_setting(net, s);
    }
    return good;
}

/* Loops over cells, over rows and over entries, in groups of 128 or 256; work-items that take two or four cells side by side. */
static bool add_large(dn_net *net) {
    static const double items[2][CLF_GROUP_KINDS] = {
        {[CLF_GROUP_CELLS] = 128, [CLF_GROUP_ROWS] = 256, [CLF_GROUP_ENTRIES] = 128},
        {[CLF_GROUP_CELLS] = 256, [CLF_GROUP_ROWS] = 128, [CLF_GROUP_ENTRIES] = 256},
    };
    static const double cells[2][2] = {{4, 2}, {2, 4}};
    dn_setting *s = &net->setting[net->nsetting];
    clf_profile host, device;
    if (net->nsetting == DN_SETTINGS) return false;
    net->nsetting++;
    clf_profile_assume(&host, CLF_DEV_HOST, 2);
    clf_profile_assume(&device, CLF_DEV_GPU, 2);
    memcpy(device.group_items, items[net->o.buffers_only], sizeof device.group_items);
    memcpy(device.item_cells, cells[net->o.buffers_only], sizeof device.item_cells);
    *s = (dn_setting){.strategy = "group", .fuse = "all", .way = net->o.buffers_only, .every = RARE * RARE, .large = true};
    snprintf(s->name, sizeof s->name, "group, of 128 and 256, fuse all, by %s", ways[s->way].name);
    return pinned_pair_make(&net->large, &host, &device) && open_setting(net, s);
}

/* By pointers: operands that are cut in time are not split. */
static bool add_split(dn_net *net) {
    dn_setting *s = &net->setting[net->nsetting];
    if (net->o.buffers_only) return true;
    if (net->nsetting == DN_SETTINGS) return false;
    net->nsetting++;
    *s = (dn_setting){.strategy = strcmp(net->o.device, "gpu") ? "chunk" : "group", .fuse = "all", .every = RARE, .split = true};
    snprintf(s->name, sizeof s->name, "%s, split with the host", s->strategy);
    return open_setting(net, s);
}

/* Through buffers. Products of whole numbers are exact, those of reals have the bounds that OpenBLAS's have. */
static bool add_clblast(dn_net *net) {
    dn_setting *s = &net->setting[net->nsetting];
    clf_device d = {.struct_size = sizeof d};
    if (net->o.buffers_only) return true;
    if (net->nsetting == DN_SETTINGS) return false;
    *s = (dn_setting){
        .strategy = strcmp(net->o.device, "gpu") ? "chunk" : "group", .fuse = "none", .way = 1, .every = RARE, .clblast = true};
    snprintf(s->name, sizeof s->name, "%s, products by CLBlast", s->strategy);
    net->nsetting++;
    bool good = open_setting(net, s), found = false;
    for (int i = 1; good && clf_device_at(s->c, i, &d); i++) found = found || (d.chosen && !strcmp(d.library, "clblast"));
    if (!good || found) return good;
    close_setting(net, s);
    net->nsetting--;
    return true;
}

bool dn_open(dn_net *net, const dn_options *o) {
    static const char *const fuse[] = {"all", "none"};
    clf_profile host, device;
    memset(net, 0, sizeof *net);
    net->o = *o;
    pinned_pair_contrast(&host, &device);
    bool good = pinned_pair_make(&net->pair, &host, &device) && (net->host = open_on("host")) != NULL;
    for (int i = 0; clf_skels[i] && good; i++)
        for (int f = 0; f < 2 && !seen_strategy(i); f++)
            for (int way = o->buffers_only; way < 2; way++) good = good && add_setting(net, clf_skels[i]->strategy, fuse[f], way);
    return good && net->nsetting > 0 && add_two(net) && add_split(net) && add_clblast(net) && add_large(net) &&
           add_setting(net, NULL, "cost", o->buffers_only);
}

void dn_close(dn_net *net) {
    for (int i = 0; i < net->nsetting; i++) close_setting(net, &net->setting[i]);
    clf_close(net->host);
    pinned_pair_remove(&net->pair);
    if (net->two.third) pinned_pair_remove(&net->two);
    if (net->large.folder[0]) pinned_pair_remove(&net->large);
}

/* ---- programs ---- */

typedef struct batch {
    int n;
    rp_program p[DN_BATCH];
    clf_mat *want[DN_BATCH][RP_NODES], *got[DN_BATCH][RP_NODES];
} batch;

/* Most are made of what fuses, some of anything. Every third is of reals, half of these with cells that are hard to treat: two in three
 * of them without what a mathematical or product library computes, so that all bytes are the host's; the others beside sparse leaves. One
 * in sixteen has rows of several leaves, one in eight sparse leaves and products, half of these so many entries that two can share them. */
static rp_options options_of(const dn_net *net, uint64_t seed) {
    rp_options o = {.nodes = net->o.nodes + (int)(seed % 5), .most_cells = net->o.most_cells, .cells_only = seed % 8 > 1, .ranges = true};
    if (seed % 4 == 1) o.most_cells *= 16;
    if (seed % 8 == 2) { /* what loops over stored entries are made of */
        o.sparse = true;
        o.cells_only = false;
        o.nodes += 6;
    }
    if (seed % 16 == 10 && !net->o.buffers_only) {
        o.entries = true;
        o.most_cells = MANY_CELLS;
    }
    if (seed % 3 == 1) {
        o.domain = RP_REAL;
        o.no_elementary = true;
        o.sparse = seed % 9 == 1;
        o.dense = !o.sparse;
        if (o.sparse)
            o.cells_only = seed % 2;
        else
            o.without = 1u << RP_PRODUCT;
        o.special = seed % 2;
    }
    if (seed % 16 == 7) {
        o.rows = 1 + (int64_t)(seed % 5);
        o.cols = 1537 + (int64_t)(seed % 700);
        o.most_cells = o.rows * o.cols;
    }
    return o;
}

static clf_status evaluate(const rp_program *p, int n, clf_mat *(*handle)[RP_NODES]) {
    static clf_mat *root[DN_BATCH * RP_NODES];
    size_t roots = 0;
    for (int i = 0; i < n; i++)
        for (int r = 0; r < p[i].nroot; r++) root[roots++] = handle[i][p[i].root[r]];
    return clf_eval(roots, root);
}

/* Sums of reals round by cells or by entries, and in products as a library likes: plans choose. */
static bool has_bounds(const rp_program *p) {
    bool product = false;
    for (int i = 0; i < p->n; i++) product = product || p->node[i].kind == RP_PRODUCT;
    return p->domain == RP_REAL && (rp_sparse(p) || product);
}

static const char *within_bounds(const rp_program *p, clf_mat **got) {
    dd_values x;
    dd_tally tally = {0};
    const void *data;
    bool good = dd_interpret(p, &x);
    for (int r = 0; r < p->nroot && good; r++) {
        int i = p->root[r];
        good = rp_compare(p, i, got[i]) == -1 && clf_data(got[i], &data) == CLF_OK && dd_check(p, &x, i, data, &tally) < 0;
    }
    dd_release(&x);
    return good ? "" : "outside its bounds";
}

static bool same_bytes(const rp_matrix *m, clf_mat *a, clf_mat *b, bool signs) {
    const void *x, *y;
    return clf_data(a, &x) == CLF_OK && clf_data(b, &y) == CLF_OK && rp_same_cells(m, x, y, signs);
}

/* Empty when every root is right, else what is wrong. */
static const char *verdict(const rp_program *p, clf_mat **got, clf_mat **want) {
    bool signs = !rp_sparse(p);
    if (has_bounds(p)) return within_bounds(p, got);
    for (int r = 0; r < p->nroot; r++) {
        int i = p->root[r];
        if (rp_compare(p, i, got[i]) != -1) return "not the interpreter's cells";
        if (want && !same_bytes(&p->node[i].m, got[i], want[i], signs)) return "not the host executor's bytes";
    }
    return "";
}

/* ---- failures ---- */

typedef struct failing {
    clf_ctx *host, *c;
} failing;

static bool fails(const rp_program *p, void *user) {
    failing *f = user;
    static clf_mat *want[1][RP_NODES], *got[1][RP_NODES];
    size_t mark[2] = {clf_epoch_begin(f->host), clf_epoch_begin(f->c)};
    rp_record(p, f->host, want[0]);
    rp_record(p, f->c, got[0]);
    bool bad = evaluate(p, 1, want) != CLF_OK || evaluate(p, 1, got) != CLF_OK || *verdict(p, got[0], want[0]);
    clf_epoch_end(f->c, mark[1]);
    clf_epoch_end(f->host, mark[0]);
    return bad;
}

static bool report(dn_net *net, const dn_setting *s, const rp_program *p, const char *what, bool together) {
    char why[256];
    failing f = {net->host, s->c};
    rp_program *small = malloc(sizeof *small);
    snprintf(why, sizeof why, "%s, %s: %s", s->name, together ? "among others" : "alone", what);
    if (!small) return false;
    rp_copy(p, small);
    if (fails(small, &f)) shrink(small, fails, &f, 400);
    rp_report(small, why);
    rp_release(small);
    free(small);
    return false;
}

/* ---- one setting ---- */

static clf_stats stats_of(const dn_setting *s) {
    clf_stats st = {.struct_size = sizeof st};
    clf_get_stats(s->c, &st);
    return st;
}

/* Did what the setting is about run since then? */
static bool has_run(const dn_setting *s, const clf_stats *before) {
    clf_stats st = stats_of(s);
    if (s->split) return st.launches_split > before->launches_split;
    if (s->clblast) return st.launches_clblast > before->launches_clblast;
    if (!s->strategy) return st.launches_tier2 > before->launches_tier2 && (s->two || st.launches_tier0 > before->launches_tier0);
    if (is_generic(s)) return st.launches_tier1 > before->launches_tier1;
    return strcmp(s->strategy, "chunk") ? st.launches_group > before->launches_group : st.launches_chunk > before->launches_chunk;
}

/* Has a loop over stored entries been split, of the plans made since the share was set? */
static bool split_over_entries(const clf_ctx *c) {
    bool any = false;
    for (int b = 0; b < CLF_PLAN_BUCKETS; b++)
        for (const clf_exe *x = c->run->plans[b]; x; x = x->next)
            for (int32_t s = 0; s < x->plan->nstep; s++)
                any = any || (clf_exe_splits(&x->step[s]) && x->step[s].split->entries && x->step[s].split->entries->whole.rows);
    return any;
}

/* Wherever the seed says. */
static bool cut_somewhere(const dn_setting *s, uint64_t seed) {
    char share[24];
    int percent = 1 + (int)(seed * 31 % 97);
    if (!s->split) return true;
    int n = snprintf(share, sizeof share, "%d", percent);
    if (s->two) snprintf(share + n, sizeof share - (size_t)n, "+%d", 1 + (int)(seed % (uint64_t)(99 - percent)));
    return set(s->c, "split", share);
}

static bool run_together(dn_net *net, dn_setting *s, batch *b) {
    size_t mark = clf_epoch_begin(s->c);
    bool good = cut_somewhere(s, b->p[0].seed);
    for (int i = 0; i < b->n; i++) rp_record(&b->p[i], s->c, b->got[i]);
    clf_status st = evaluate(b->p, b->n, b->got);
    if (st != CLF_OK) printf("\n    %s: %d programs from seed %" PRIu64 ": %s\n", s->name, b->n, b->p[0].seed, clf_last_error(s->c));
    for (int i = 0; i < b->n && st == CLF_OK && good; i++) {
        const char *wrong = verdict(&b->p[i], b->got[i], b->want[i]);
        if (*wrong) good = report(net, s, &b->p[i], wrong, true);
    }
    clf_epoch_end(s->c, mark);
    return good && st == CLF_OK;
}

static bool run_alone(dn_net *net, dn_setting *s, batch *b, int i) {
    size_t mark = clf_epoch_begin(s->c);
    bool cut = cut_somewhere(s, b->p[i].seed);
    clf_stats before = stats_of(s);
    plan_mark plans = plan_classes_mark(s->c);
    rp_record(&b->p[i], s->c, b->got[i]);
    const char *wrong = evaluate(&b->p[i], 1, &b->got[i]) == CLF_OK ? verdict(&b->p[i], b->got[i], b->want[i]) : clf_last_error(s->c);
    bool good = cut && (!*wrong || report(net, s, &b->p[i], wrong, false));
    s->programs += has_run(s, &before);
    s->entries += s->split && split_over_entries(s->c);
    if (s == net->setting) plan_classes_add(&net->classes, &plans, s->c);
    clf_epoch_end(s->c, mark);
    return good;
}

static bool run_host(dn_net *net, batch *b) {
    bool good = true;
    for (int i = 0; i < b->n && good; i++) {
        rp_record(&b->p[i], net->host, b->want[i]);
        const char *wrong = evaluate(&b->p[i], 1, &b->want[i]) == CLF_OK ? verdict(&b->p[i], b->want[i], NULL) : clf_last_error(net->host);
        if (!*wrong) continue;
        rp_report(&b->p[i], wrong);
        good = false;
    }
    return good;
}

bool dn_batch(dn_net *net, uint64_t seed, int n) {
    batch *b = calloc(1, sizeof *b);
    if (!b || n < 1 || n > DN_BATCH) {
        free(b);
        return false;
    }
    size_t mark = clf_epoch_begin(net->host);
    for (b->n = 0; b->n < n; b->n++) {
        rp_options o = options_of(net, seed + (uint64_t)b->n);
        rp_generate(&b->p[b->n], seed + (uint64_t)b->n, &o);
        net->bounded += has_bounds(&b->p[b->n]);
    }
    bool good = run_host(net, b);
    if (net->batches && net->batches % BATCHES_A_CONTEXT == 0) good = good && start_over(net);
    for (int s = 0; s < net->nsetting && good; s++) {
        if (net->batches % (uint64_t)net->setting[s].every) continue;
        good = run_together(net, &net->setting[s], b);
        for (int i = 0; i < n && good; i++) good = run_alone(net, &net->setting[s], b, i);
    }
    net->programs += (uint64_t)n;
    net->batches++;
    clf_epoch_end(net->host, mark);
    for (int i = 0; i < n; i++) rp_release(&b->p[i]);
    free(b);
    return good;
}

/* ---- what it came to ---- */

uint64_t dn_counted(const dn_net *net) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < net->nsetting; i++)
        if (net->setting[i].every == 1 && net->setting[i].programs < least) least = net->setting[i].programs;
    return least;
}

typedef struct groups {
    uint64_t kernels, small, many, asked, large; /* asked: of those, by a profile that wants more than the least; large: and have */
} groups;

static void look_at(const clf_exe *x, bool large, groups *g) {
    for (int32_t s = 0; s < x->plan->nstep; s++) {
        const clf_exe_step *e = &x->step[s];
        if (e->executor != CLF_ON_KERNEL || strcmp(e->sched.skel->strategy, "group")) continue;
        g->kernels++;
        g->small += e->sched.local < 64;
        g->many += e->sched.global >= 2 * e->sched.local;
        g->asked += large;
        g->large += large && e->sched.local > 64;
    }
}

bool dn_groups_are_real(const dn_net *net) {
    groups g = {0, 0, 0, 0, 0};
    for (int i = 0; i < net->nsetting; i++)
        for (int b = 0; b < CLF_PLAN_BUCKETS; b++)
            for (const clf_exe *x = net->setting[i].c->run->plans[b]; x; x = x->next) look_at(x, net->setting[i].large, &g);
    return !g.small && (!g.kernels || g.many) && (!g.asked || g.large);
}

bool dn_figures(dn_net *net, const char *what) {
    char line[256];
    start_over(net); /* adds up */
    for (int i = 0; i < net->nsetting; i++) net_figure(what, "%s: %" PRIu64 " programs", net->setting[i].name, net->setting[i].programs);
    for (int i = 0; i < net->nsetting; i++)
        if (net->setting[i].split) net_figure(what, "%s, entries: %" PRIu64 " programs", net->setting[i].name, net->setting[i].entries);
    snprintf(line, sizeof line,
             "%" PRIu64 " in %" PRIu64 " batches under %d settings: %" PRIu64 " kernels, %" PRIu64 " launches, %.1f s building",
             net->programs, net->batches, net->nsetting, net->kernels, net->launches, (double)net->build_ns * 1e-9);
    net_figure(what, "%s", line);
    printf("\n    %s: %s\n", what, line);
    net_figure(what, "%" PRIu64 " programs compared with bounds", net->bounded);
    if (net->evictions) net_figure(what, "%" PRIu64 " copies evicted", net->evictions);
    bool all = true; /* what runs by pointers does through buffers, and rare settings meet something */
    for (int i = 0; i < net->nsetting; i++) {
        const dn_setting *s = &net->setting[i];
        bool must = s->two || s->split || s->clblast || s->large || (i && s->way == 1 && s[-1].way == 0 && s[-1].programs);
        all = all && (s->programs || !must);
        all = all && (s->entries || !s->split || s->two); /* plans for two devices like other steps better */
    }
    return plan_classes_figure(&net->classes, what) && net->bounded && all && net->setting[net->nsetting - 1].programs;
}
