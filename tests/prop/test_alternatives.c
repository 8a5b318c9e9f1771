/* SPDX-License-Identifier: Apache-2.0
 * Every alternative that the memo holds, executed: for all programs up to three operators over twelve and for random ones of four and
 * five, each with results only and with every intermediate kept, each assignment of FUSE and READ that entries of the memo spell, with
 * loops joined and not. Every plan must pass the checkers and give the interpreter's cells, and all of them the same bytes. */
#include "host/run/run.h"
#include "planner/rewrite.h"
#include "planner/select.h"
#include "tests/support/net.h"
#include "tests/support/small_program.h"
#include "tests/unit/api_testing.h"

/* ---- a selector that does as it is told ---- */

enum { MOST_NODES = 2 * (SP_LEAVES + SP_OPS), MOST_PATTERNS = 8 };
typedef struct told {
    clf_selector base;
    bool fuse[MOST_NODES][3];
} told;

static bool fuse_told(const clf_selector *self, const clf_memo *m, int32_t n, int k) {
    (void)m;
    return ((const told *)self)->fuse[n][k];
}

/* The ways in which entries of the memo take the inputs of each node: masks of fused inputs. */
typedef struct ways {
    int32_t n;
    int count[MOST_NODES], at[MOST_NODES], pattern[MOST_NODES][MOST_PATTERNS];
} ways;

static void note_way(ways *w, int32_t n, int mask) {
    for (int i = 0; i < w->count[n]; i++)
        if (w->pattern[n][i] == mask) return;
    w->pattern[n][w->count[n]++] = mask;
}

/* Explored as the planner does it: after the rewrites. */
static clf_status find_ways(clf_ctx *c, const clf_graph *g, ways *w, clf_err *err) {
    const clf_gate gate = clf_run_gate(c);
    clf_graph own;
    clf_arena arena;
    clf_memo memo;
    memset(w, 0, sizeof *w);
    clf_arena_init(&arena, &c->mem);
    clf_status st = clf_rewrite(g, &gate, &arena, &arena, &own, NULL, err);
    if (st == CLF_OK) st = clf_explore(&own, &arena, &memo, err);
    w->n = st == CLF_OK ? own.n : 0;
    for (int32_t n = 0; n < w->n; n++) {
        for (int32_t e = memo.first[n]; e < memo.first[n + 1]; e++) {
            int mask = 0;
            for (int k = 0; k < 3; k++) mask |= (memo.entry[e].edge[k] == CLF_EDGE_FUSE) << k;
            note_way(w, n, mask);
        }
        if (!w->count[n]) note_way(w, n, 0);
    }
    clf_arena_release(&arena);
    return st;
}

static void tell(told *t, const ways *w) {
    for (int32_t n = 0; n < w->n; n++)
        for (int k = 0; k < 3; k++) t->fuse[n][k] = w->pattern[n][w->at[n]] >> k & 1;
}

/* The next assignment; false after the last. */
static bool advance(ways *w) {
    for (int32_t n = 0; n < w->n; n++) {
        if (++w->at[n] < w->count[n]) return true;
        w->at[n] = 0;
    }
    return false;
}

/* ---- running alternatives ---- */

/* Where alternatives run: every so-many-th program of a set, see the sets below. Limits of one or two operators cut loops apart. */
static const struct {
    const char *name, *knob, *value;
    int64_t rows, cols;
} places[] = {
    {"on the host executor", "threads", "1", 3, 2},
    {"of 65x7", "threads", "1", 65, 7},
    {"on ref.c", "tier", "ref", 3, 2},
    {"in kernels of one operator", "kernel_ops", "1", 3, 2},
    {"in kernels of two", "kernel_ops", "2", 3, 2},
};
enum { HOST, LARGE, REF, PLACES = sizeof places / sizeof *places };

typedef struct stage { /* leaves in a context */
    clf_ctx *c;
    clf_mat *handle[SP_LEAVES + SP_OPS];
    sp_cells *cells;
    int64_t every, alternatives;
} stage;

typedef struct tally {
    stage at[PLACES];
    int64_t programs, failed;
    int64_t seen, share; /* of a hundred programs, how many run at all: sanitizers are slow */
} tally;

typedef struct job {
    const sp_program *p;
    const sp_cells *cells;
    const char *place;
    clf_ctx *c;
    clf_frozen f;
    int nroot, root[SP_OPS];
    void *first[SP_OPS]; /* bytes of the first alternative */
} job;

static bool complain(const job *j, const told *t, const char *what, int root) {
    printf("\n    %s, result n%d, %s, %d results, join %d, fused", what, root, j->place, j->nroot, t->base.join);
    for (int n = 0; n < MOST_NODES; n++)
        for (int k = 0; k < 3; k++)
            if (t->fuse[n][k]) printf(" %%%d.%d", n, k);
    printf("\n");
    sp_print(j->p);
    return false;
}

static size_t bytes_of(const sp_value *v) { return (size_t)(v->rows * v->cols) * clf_dtype_bytes(v->t); }

static bool check_result(job *j, const told *t, int r, const clf_buf *b) {
    const sp_value *want = &j->cells->value[SP_LEAVES + j->root[r]];
    const clf_gnode *g = &j->f.g.node[j->f.g.root[r]];
    if (g->dtype != want->t || g->scalar != want->scalar || clf_rows(g) != want->rows || clf_cols(g) != want->cols)
        return complain(j, t, "another type or shape", j->root[r]);
    if (sp_differs(want, b->host) >= 0) return complain(j, t, "not the interpreter's cells", j->root[r]);
    if (!j->first[r]) {
        j->first[r] = malloc(bytes_of(want) + 1);
        memcpy(j->first[r], b->host, bytes_of(want));
    }
    return !memcmp(j->first[r], b->host, bytes_of(want)) || complain(j, t, "other bits", j->root[r]);
}

static bool run_alternative(job *j, const told *t) {
    clf_err err = {CLF_OK, ""};
    clf_exe *x = NULL;
    clf_buf *got[SP_OPS] = {NULL};
    clf_status st = clf_exe_new(&x, j->c, &j->f.g, &t->base, NULL, &err);
    if (st == CLF_OK) st = clf_exe_run(j->c, x, j->f.slot, false, got, &err);
    bool good = st == CLF_OK || complain(j, t, err.text, j->root[0]);
    for (int r = 0; r < j->nroot && st == CLF_OK; r++) {
        good = good && check_result(j, t, r, got[r]);
        clf_buf_unref(got[r]);
    }
    clf_exe_free(j->c, x);
    return good;
}

static bool run_job(job *j, int64_t *alternatives) {
    told t = {.base = {.name = "told", .fuse = fuse_told}};
    clf_err err = {CLF_OK, ""};
    ways w;
    bool good = find_ways(j->c, &j->f.g, &w, &err) == CLF_OK;
    do {
        tell(&t, &w);
        for (int join = 0; join < 2 && good; join++) {
            t.base.join = join;
            good = run_alternative(j, &t);
            ++*alternatives;
        }
    } while (good && advance(&w));
    return good;
}

static bool run_results(const sp_program *p, stage *s, const char *place, bool kept) {
    job j = {.p = p, .cells = s->cells, .place = place, .c = s->c};
    clf_node *node[SP_OPS];
    clf_err err = {CLF_OK, ""};
    for (int i = 0; i < p->n; i++) {
        if (!kept && !sp_is_result(p, i)) continue;
        node[j.nroot] = s->handle[SP_LEAVES + i]->node;
        j.root[j.nroot++] = i;
    }
    bool good = clf_freeze(j.c, (size_t)j.nroot, node, 0, NULL, &j.f, &err) == CLF_OK;
    if (!good) printf("\n    %s\n", err.text);
    for (size_t i = 0; good && i < j.f.nslot; i++) clf_slot_fill(&j.f.slot[i], j.f.slot_node[i]);
    good = good && run_job(&j, &s->alternatives);
    clf_frozen_release(&j.f);
    for (int r = 0; r < j.nroot; r++) free(j.first[r]);
    return good;
}

/* One program in one place: results only, then with every intermediate, if there is one. */
static bool run_at(const sp_program *p, stage *s, const char *place) {
    if (!sp_compute(p, s->cells)) return true;
    size_t mark = clf_epoch_begin(s->c);
    bool inner = false;
    for (int i = 0; i < p->n; i++) inner = inner || !sp_is_result(p, i);
    for (int i = 0; i < p->n; i++) sp_record_node(p, i, s->handle);
    bool good = run_results(p, s, place, false) && (!inner || run_results(p, s, place, true));
    clf_epoch_end(s->c, mark);
    return good;
}

static bool each_program(void *user, const sp_program *p) {
    tally *t = user;
    bool good = true;
    if (!sp_compute(p, t->at[HOST].cells) || t->seen++ * 37 % 100 >= t->share) return true;
    for (int i = 0; i < PLACES && good; i++)
        if (t->programs % t->at[i].every == 0) good = run_at(p, &t->at[i], places[i].name);
    if (t->programs++ % 4096 == 0) /* tile programs gather otherwise */
        for (int i = 0; i < PLACES; i++) clf_run_forget(t->at[i].c);
    t->failed += !good;
    return good;
}

static void open_tally(tally *t, const int64_t *every) {
    memset(t, 0, sizeof *t);
    t->share = net_count(100, 100);
    for (int i = 0; i < PLACES; i++) {
        stage *s = &t->at[i];
        s->c = open_host();
        s->every = every[i];
        s->cells = calloc(1, sizeof *s->cells);
        CU_ASSERT_EQUAL(clf_set(s->c, places[i].knob, places[i].value), CLF_OK);
        sp_leaves(s->cells, places[i].rows, places[i].cols);
        for (int l = 0; l < SP_LEAVES; l++) sp_record_leaf(s->cells, l, s->c, s->handle);
    }
}

static void check_launches(const stage *s, bool ref) {
    clf_stats n = {.struct_size = sizeof n};
    CU_ASSERT_EQUAL(clf_get_stats(s->c, &n), CLF_OK);
    CU_ASSERT(s->alternatives > 0);
    CU_ASSERT((int64_t)(ref ? n.launches_ref : n.launches_tier0) >= s->alternatives / 2); /* t() alone launches nothing */
    CU_ASSERT_EQUAL(ref ? n.launches_tier0 : n.launches_ref, 0);
}

static void close_tally(tally *t, const char *what) {
    char name[96], text[512];
    size_t n = (size_t)snprintf(text, sizeof text, "%lld programs; alternatives", (long long)t->programs);
    CU_ASSERT_EQUAL(t->failed, 0);
    for (int i = 0; i < PLACES; i++) {
        stage *s = &t->at[i];
        n += (size_t)snprintf(text + n, sizeof text - n, " %lld %s,", (long long)s->alternatives, places[i].name);
        check_launches(s, i == REF);
        clf_close(s->c);
        free(s->cells);
    }
    snprintf(name, sizeof name, "memo alternatives: %s", what);
    net_figure(name, "%s differing %lld", text, (long long)t->failed);
    printf("\n    %s differing %lld ", text, (long long)t->failed);
}

static void test_small(void) {
    tally t;
    open_tally(&t, (const int64_t[PLACES]){1, 97, 61, 7, 7});
    for (int n = 1; n <= 2 && !t.failed; n++) sp_enumerate(n, false, each_program, &t);
    close_tally(&t, "all programs up to 2 operators");
}

static void test_three(void) {
    tally t;
    open_tally(&t, (const int64_t[PLACES]){1, 197, 211, 31, 37});
    t.share = net_count(25, 100);
    sp_enumerate(3, net_count(1, 2) < 2, each_program, &t);
    close_tally(&t, "programs of 3 operators");
}

static void test_random(void) {
    tally t;
    uint64_t only;
    bool replay = net_replay(&only);
    open_tally(&t, (const int64_t[PLACES]){1, 11, 7, 3, 5});
    t.share = 100;
    for (int64_t k = 0; k < net_count(500, 50000) && !t.failed; k++) {
        sp_program p;
        if (replay && (uint64_t)k != only) continue;
        sp_random(&p, 4 + (int)(k % 2), (uint64_t)k, t.at[HOST].cells);
        if (!each_program(&t, &p)) printf("    CLF_TEST_SEED=%lld\n", (long long)k);
    }
    close_tally(&t, "random programs of 4 and 5 operators");
}

/* ---- many programs in one plan, each at a random alternative, as kernels ---- */

typedef struct drawn {
    clf_selector base;
    uint64_t seed;
} drawn;

/* Every subset of the edges that may be fused is spelled by entries. */
static bool fuse_drawn(const clf_selector *self, const clf_memo *m, int32_t n, int k) {
    int32_t edge[2] = {n, k};
    (void)m;
    return clf_hash64(edge, sizeof edge, ((const drawn *)self)->seed) >> 7 & 1;
}

enum { BATCH = 30 };
typedef struct batch {
    sp_program p[BATCH];
    int nroot, program[BATCH * SP_OPS], node[BATCH * SP_OPS];
    clf_mat *root[BATCH * SP_OPS];
} batch;

/* Programs with leaves of their own, so that they stay apart. */
static void record_batch(batch *b, clf_ctx *c, uint64_t seed, sp_cells *cells) {
    memset(b, 0, sizeof *b);
    for (int q = 0; q < BATCH; q++) {
        clf_mat *handle[SP_LEAVES + SP_OPS];
        sp_random(&b->p[q], 3 + q % 3, seed + (uint64_t)q, cells);
        for (int l = 0; l < SP_LEAVES; l++) sp_record_leaf(cells, l, c, handle);
        for (int i = 0; i < b->p[q].n; i++) {
            sp_record_node(&b->p[q], i, handle);
            if (q % 2 && !sp_is_result(&b->p[q], i)) continue; /* every other one keeps its intermediates */
            b->program[b->nroot] = q;
            b->node[b->nroot] = i;
            b->root[b->nroot++] = handle[SP_LEAVES + i];
        }
    }
}

static bool check_batch(const batch *b, sp_cells *cells) {
    for (int r = 0; r < b->nroot; r++) {
        const sp_program *p = &b->p[b->program[r]];
        const void *data;
        if (clf_data(b->root[r], &data) != CLF_OK || !sp_compute(p, cells)) return false;
        if (sp_differs(&cells->value[SP_LEAVES + b->node[r]], data) < 0) continue;
        printf("\n    kernels: n%d\n", b->node[r]);
        sp_print(p);
        return false;
    }
    return true;
}

static void test_kernels(void) {
    clf_ctx *c = open_on(NULL);
    clf_device d = {.struct_size = sizeof d};
    clf_stats s = {.struct_size = sizeof s};
    sp_cells *cells = calloc(1, sizeof *cells);
    batch *b = calloc(1, sizeof *b);
    if (clf_device_at(c, 1, &d)) {
        CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
        sp_leaves(cells, 65, 7);
        for (int join = 0; join < 2; join++) {
            drawn sel = {{.name = "drawn", .fuse = fuse_drawn, .join = join}, 11 + (uint64_t)join};
            clf_run_forget(c);
            c->run->selector = &sel.base;
            record_batch(b, c, 90000 + 1000 * (uint64_t)join, cells);
            CU_ASSERT_EQUAL(clf_eval((size_t)b->nroot, b->root), CLF_OK);
            CU_ASSERT(check_batch(b, cells));
            c->run->selector = NULL;
        }
        CU_ASSERT_EQUAL(clf_get_stats(c, &s), CLF_OK);
        CU_ASSERT(s.launches_tier2 >= BATCH && s.launches_tier0 == 0);
        net_figure("memo alternatives: in OpenCL kernels", "%d programs, %llu launches; differing 0", 2 * BATCH,
                   (unsigned long long)s.launches_tier2);
    }
    free(b);
    free(cells);
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {
        {"all programs up to two operators", test_small},
        {"programs of three operators", test_three},
        {"random programs of four and five", test_random},
        {"alternatives in OpenCL kernels", test_kernels},
    };
    return run_suite("alternatives", tests, sizeof tests / sizeof *tests);
}
