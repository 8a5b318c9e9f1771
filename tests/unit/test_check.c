/* SPDX-License-Identifier: Apache-2.0
 * CLF_CHECK: silent on right results whatever they hold, and precise on wrong ones. Wrong results are planted in two ways: by a selector
 * that changes an operator of the graph being planned, so that every fused plan of it is wrong, and by exchanging two prepared tile
 * programs, so that only the plan that ran is. */
#include <math.h>

#include "host/run/check.h"
#include "planner/select.h"
#include "tests/support/net.h"
#include "tests/support/random_program.h"
#include "tests/unit/api_testing.h"

static clf_ctx *open_checked(const char *device) {
    clf_ctx *c = open_on(device);
    CU_ASSERT_EQUAL(clf_set(c, "check", "on"), CLF_OK);
    return c;
}

static clf_mat *counted(clf_ctx *c, int64_t rows, int64_t cols, int from) {
    double *v = malloc((size_t)(rows * cols) * sizeof *v);
    for (int64_t i = 0; i < rows * cols; i++) v[i] = (double)((i * 7 + from) % 11 - 5) / 4;
    clf_mat *m = clf_matrix(c, CLF_F64, rows, cols, v);
    free(v);
    return m;
}

/* X, Y, u: 70x9, 70x9, 70x1 */
static clf_status evaluate(clf_ctx *c, const char *text) {
    clf_binding vars[] = {{"X", counted(c, 70, 9, 1)}, {"Y", counted(c, 70, 9, 4)}, {"u", counted(c, 70, 1, 2)}};
    program p = parse_bare(c, text, vars, 3);
    return clf_eval(p.n, p.result);
}

/* ---- no false alarms ---- */

static bool silent(clf_ctx *c, uint64_t seed, const rp_options *o) {
    static clf_mat *handle[RP_NODES], *root[RP_NODES];
    rp_program *p = malloc(sizeof *p);
    size_t mark = clf_epoch_begin(c);
    rp_generate(p, seed, o);
    rp_record(p, c, handle);
    for (int r = 0; r < p->nroot; r++) root[r] = handle[p->root[r]];
    bool good = clf_eval((size_t)p->nroot, root) == CLF_OK;
    if (!good) {
        printf("\n    %s\n", clf_last_error(c));
        rp_print(p);
    }
    clf_epoch_end(c, mark);
    rp_release(p);
    free(p);
    return good;
}

/* Values of every kind: NaN, infinities, elementary functions, integers that wrap. */
static void test_silent(void) {
    clf_ctx *c = open_checked("host");
    int64_t n = net_count(300, 30000), k = 0, bad = 0;
    for (; k < n && !bad; k++) {
        rp_options o = {.nodes = 6 + (int)(k % 14), .most_cells = k % 10 ? 600 : 34000, .domain = k % 3 ? RP_REAL : RP_INTEGER};
        bad += !silent(c, 8000000 + (uint64_t)k, &o);
    }
    CU_ASSERT_EQUAL(bad, 0);
    net_figure("CLF_CHECK on right results", "%lld random programs; false alarms %lld", (long long)k, (long long)bad);
    clf_close(c);
}

static void test_nans(void) {
    clf_ctx *c = open_checked("host");
    CU_ASSERT_EQUAL(evaluate(c, "log(X) + sqrt(-abs(Y)); sum(log(X) * Y); rowSums(X / (Y - Y)); X / (X - X); exp(X * 400) - exp(Y * 400)"),
                    CLF_OK);
    CU_ASSERT_EQUAL(evaluate(c, "S = sum(X*Y); S; X %*% t(Y) + S; ifelse(X > Y, exp(X), log(Y + 2)); colSums(X * u); X"), CLF_OK);
    CU_ASSERT_EQUAL(evaluate(c, "X[1:3, 2:4] * 2; sum(X[1:3, 2:4]); t(X + Y); cbind(X, Y * 2); cumsum(X)"), CLF_OK);
    clf_close(c);
}

static void test_silent_kernels(void) {
    clf_ctx *c = open_checked(NULL);
    clf_device d = {.struct_size = sizeof d};
    if (clf_device_at(c, 1, &d)) {
        CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
        CU_ASSERT_EQUAL(evaluate(c, "A = exp(X) * Y + u; A; sum(A); rowSums(log(abs(A)) + sin(X)); colSums(A / (Y - Y)); X %*% t(A)"),
                        CLF_OK);
        rp_options o = {.nodes = 40, .most_cells = 34000, .rows = 65, .cols = 7, .cells_only = true, .domain = RP_REAL};
        CU_ASSERT(silent(c, 8500000, &o));
        CU_ASSERT(stats_of(c).launches_tier2 > 0);
    }
    clf_close(c);
}

/* ---- nothing else changes ---- */

static void test_counters(void) {
    static const char text[] = "A = X*Y + 1; A; sum(A); rowSums(A) %*% colSums(A); sum(exp(X))";
    clf_ctx *plain = open_host(), *checked = open_checked("host");
    for (int round = 0; round < 2; round++) {
        CU_ASSERT_EQUAL(evaluate(plain, text), CLF_OK);
        CU_ASSERT_EQUAL(evaluate(checked, text), CLF_OK);
    }
    clf_stats a = stats_of(plain), b = stats_of(checked);
    CU_ASSERT_EQUAL(a.evaluations, b.evaluations);
    CU_ASSERT_EQUAL(a.plans, b.plans);
    CU_ASSERT_EQUAL(a.plan_hits, b.plan_hits);
    CU_ASSERT_EQUAL(a.launches_tier0, b.launches_tier0);
    CU_ASSERT_EQUAL(a.launches_library, b.launches_library);
    CU_ASSERT_EQUAL(a.bytes_read, b.bytes_read);
    CU_ASSERT_EQUAL(plain->run->nplans, checked->run->nplans);
    clf_close(plain);
    clf_close(checked);
}

/* ---- a selector that spoils the graph it is asked about ---- */

typedef struct spoiler {
    clf_selector base;
    clf_op from, to; /* the first `from` of the graph becomes `to` */
} spoiler;

static bool fuse_spoilt(const clf_selector *self, const clf_memo *m, int32_t n, int k) {
    const spoiler *s = (const spoiler *)self;
    bool done = false;
    (void)n, (void)k;
    for (int32_t i = 0; i < m->g->n && !done; i++) done = m->g->node[i].op == s->to;
    for (int32_t i = 0; i < m->g->n && !done; i++) {
        done = m->g->node[i].op == s->from;
        if (done) m->g->node[i].op = (uint16_t)s->to;
    }
    return true;
}

typedef struct planted {
    const char *text;
    clf_op from, to;
    const char *says[3];
} planted;

/* X[1,1] = -1, Y[1,1] = -0.25 */
static const planted plants[] = {
    {"X*2 + Y", CLF_OP_ADD, CLF_OP_MIN, {"row 1, column 1", "-2.25 unfused", "first wrong operator is '+' (%4 = %2 %3, f64 70x9)"}},
    {"sum(abs(X*2 + Y) * 3)",
     CLF_OP_ABS,
     CLF_OP_NEG,
     {"result 1, row 1, column 1", "first wrong operator is 'abs'", "in the fused operator"}},
    {"A = X*Y; A; rowSums(A - Y) + u", CLF_OP_SUB, CLF_OP_MAX, {"result 2", "first wrong operator is '-'", " row sum"}},
    {"B = exp(X) + Y; sum(B); max(B); colSums(B*B)", CLF_OP_EXP, CLF_OP_EXPM1, {"result", "first wrong operator is 'exp'", "f64 70x9"}},
    {"t(X*Y + 1) %*% u", CLF_OP_MUL, CLF_OP_MAX, {"row 1, column 1", "first wrong operator is '*'", "%2 = %0 %1"}},
    {"abs(sqrt(abs(X*2 + Y) + 1) * 3 - u + Y/2 + X)", CLF_OP_SQRT, CLF_OP_NEG, {"result 1", "first wrong operator is 'sqrt'", " in all)"}},
    {"(X < Y) + (Y < u)", CLF_OP_ADD, CLF_OP_MIN, {"fused and", "first wrong operator is '+'", "i32 70x9"}},
};

/* True when the message says all of it. */
static bool expect_planted(clf_ctx *c, const planted *p) {
    const spoiler s = {{.name = "spoiler", .fuse = fuse_spoilt, .join = true}, p->from, p->to};
    clf_run_forget(c);
    c->run->selector = &s.base;
    clf_status st = evaluate(c, p->text);
    CU_ASSERT_EQUAL(st, CLF_E_INTERNAL);
    bool all = true;
    for (int i = 0; i < 3; i++) {
        bool there = strstr(clf_last_error(c), p->says[i]) != NULL;
        if (!there) printf("\n    %s\n      %s\n      has no \"%s\"\n", p->text, clf_last_error(c), p->says[i]);
        all = all && there;
    }
    CU_ASSERT(all);
    clf_run_forget(c);
    c->run->selector = NULL;
    CU_ASSERT_EQUAL(evaluate(c, p->text), CLF_OK);
    return all && st == CLF_E_INTERNAL;
}

enum { PLANTS = sizeof plants / sizeof *plants };
static void test_planted(void) {
    clf_ctx *c = open_checked("host");
    int named = 0;
    for (int i = 0; i < PLANTS; i++) named += expect_planted(c, &plants[i]);
    CU_ASSERT_EQUAL(clf_set(c, "check", "off"), CLF_OK); /* who does not look does not see */
    const spoiler s = {{.name = "spoiler", .fuse = fuse_spoilt, .join = true}, plants[0].from, plants[0].to};
    c->run->selector = &s.base;
    CU_ASSERT_EQUAL(evaluate(c, plants[0].text), CLF_OK);
    net_figure("CLF_CHECK on planted faults", "%d planted, %d named by cell and operator", PLANTS, named);
    clf_close(c);
}

static void test_planted_kernels(void) {
    clf_ctx *c = open_checked(NULL);
    clf_device d = {.struct_size = sizeof d};
    if (clf_device_at(c, 1, &d)) {
        CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
        expect_planted(c, &plants[0]);
        CU_ASSERT(stats_of(c).launches_tier2 > 0);
    }
    clf_close(c);
}

/* ---- only the plan that ran is wrong ---- */

static clf_tile_entry *only_tile(clf_ctx *c, const clf_tile_entry *other) {
    clf_tile_entry *found = NULL;
    for (int b = 0; b < CLF_TILE_BUCKETS; b++)
        for (clf_tile_entry *t = c->run->tiles[b]; t; t = t->next)
            if (t != other) found = t;
    return found;
}

/* The re-plans that look for the operator find nothing wrong: then the value and its step are named. */
static void test_executor(void) {
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(evaluate(c, "sum(X*Y + 1)"), CLF_OK);
    clf_tile_entry *a = only_tile(c, NULL);
    CU_ASSERT_EQUAL(evaluate(c, "sum(X*Y - 1)"), CLF_OK);
    clf_tile_entry *b = only_tile(c, a);
    CU_ASSERT_FATAL(a && b && a != b);
    clf_tile *t = a->tile;
    a->tile = b->tile;
    b->tile = t;
    c->knobs.check = true; /* clf_set would forget the programs */
    CU_ASSERT_EQUAL(evaluate(c, "sum(X*Y + 1)"), CLF_E_INTERNAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(clf_last_error(c), "result 1, row 1, column 1"));
    CU_ASSERT_PTR_NOT_NULL(strstr(clf_last_error(c), "'sum' (%"));
    CU_ASSERT_PTR_NOT_NULL(strstr(clf_last_error(c), "in the fused operator * + sum"));
    clf_run_forget(c);
    CU_ASSERT_EQUAL(evaluate(c, "sum(X*Y + 1)"), CLF_OK);
    clf_close(c);
}

/* ---- functions, failures ---- */

static void test_function(void) {
    clf_ctx *c = open_checked("host");
    clf_mat *w = clf_param(c, CLF_F64, 70, 9, false), *s = clf_param(c, CLF_F64, 0, 0, true), *param[] = {w, s};
    clf_mat *result[] = {clf_add(clf_mul(w, s), clf_exp(w)), clf_sum(w)}, *out[2] = {NULL, NULL};
    clf_fn *f = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_fn_new(c, 2, param, 2, result, &f), CLF_OK);
    clf_mat *x = counted(c, 70, 9, 1);
    for (int i = 0; i < 5; i++) {
        clf_mat *arg[] = {x, clf_num(c, i - 2)};
        CU_ASSERT_EQUAL(clf_call(f, 2, arg, 2, out), CLF_OK);
    }
    const spoiler spoilt = {{.name = "spoiler", .fuse = fuse_spoilt, .join = true}, CLF_OP_MUL, CLF_OP_MAX};
    clf_run_forget(c);
    c->run->selector = &spoilt.base;
    clf_mat *arg[] = {x, clf_num(c, 3)};
    CU_ASSERT_EQUAL(clf_call(f, 2, arg, 2, out), CLF_E_INTERNAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(clf_last_error(c), "first wrong operator is '*'"));
    clf_close(c);
}

static clf_status under(counting_heap *h, const spoiler *s, const char *text) {
    clf_options o = {.struct_size = sizeof o, .device = "host", .alloc = counting_alloc, .alloc_user = h};
    clf_ctx *c = NULL;
    clf_status st = clf_open(&c, &o);
    if (st != CLF_OK) return st;
    c->knobs.check = true;
    c->knobs.threads = 1;
    clf_binding vars[] = {{"X", counted(c, 70, 9, 1)}, {"Y", counted(c, 70, 9, 4)}};
    clf_result r[8];
    size_t n = 8;
    clf_mat *root[8];
    st = clf_parse(c, text, vars, 2, r, &n);
    for (size_t i = 0; i < n && st == CLF_OK; i++) root[i] = r[i].value;
    c->run->selector = s ? &s->base : NULL;
    if (st == CLF_OK) st = clf_eval(n, root);
    clf_close(c);
    return st;
}

/* The n-th allocation fails: the call fails for want of memory, or tells the truth; nothing stays behind. */
static void test_allocations(void) {
    const spoiler spoilt = {{.name = "spoiler", .fuse = fuse_spoilt, .join = true}, CLF_OP_MUL, CLF_OP_MAX};
    for (int wrong = 0; wrong < 2; wrong++) {
        counting_heap h = {.fail_at = 0};
        clf_status want = wrong ? CLF_E_INTERNAL : CLF_OK, st = under(&h, wrong ? &spoilt : NULL, "sum(X*Y + X); X*Y");
        CU_ASSERT_EQUAL(st, want);
        long long all = atomic_load(&h.count), bad = 0;
        CU_ASSERT(all > 50);
        for (long long n = 1; n <= all; n++) {
            counting_heap g = {.fail_at = n};
            st = under(&g, wrong ? &spoilt : NULL, "sum(X*Y + X); X*Y");
            bad += (st != CLF_E_NOMEM && st != want) || atomic_load(&g.live) != 0;
        }
        CU_ASSERT_EQUAL(bad, 0);
    }
}

static void test_setting(void) {
    clf_ctx *c = open_host();
    expect_error(c, clf_set(c, "CLF_CHECK", "maybe"), CLF_E_ARG, "CLF_CHECK");
    CU_ASSERT_EQUAL(clf_set(c, "CLF_CHECK", "1"), CLF_OK);
    CU_ASSERT(c->knobs.check);
    CU_ASSERT_EQUAL(clf_set(c, "tier", "ref"), CLF_OK);
    CU_ASSERT_EQUAL(evaluate(c, "A = X*Y + exp(u); A; sum(A)"), CLF_OK);
    clf_stats s = stats_of(c);
    CU_ASSERT(s.launches_ref == 1 && s.launches_tier0 == 0);
    expect_error(c, clf_set(c, "tier", "reference"), CLF_E_NAME, "auto|0|1|2|ref");
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {
        {"random programs pass", test_silent},          {"NaNs, infinities, structure pass", test_nans},
        {"kernels pass", test_silent_kernels},          {"counters and plans stay", test_counters},
        {"planted faults are named", test_planted},     {"in kernels, too", test_planted_kernels},
        {"a wrong executor is noticed", test_executor}, {"functions", test_function},
        {"allocations fail", test_allocations},         {"the settings", test_setting},
    };
    return run_suite("check", tests, sizeof tests / sizeof *tests);
}
