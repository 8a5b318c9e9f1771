/* SPDX-License-Identifier: Apache-2.0
 * Derivatives of random programs: of a weighted sum of their results, along a random direction in all leaves of reals, against difference
 * quotients, wherever those show the program smooth: the quotients to both sides agree, and those of three steps. Everything is in f64:
 * f32 is declared so, too. Cells of reals are moved apart a little, since a formula whose tests change exactly at the data has another
 * derivative than its values: x * (x != 0) at 0. Stored entries move, the zeros of sparse leaves stay. */
#include <float.h>
#include <math.h>

#include "tests/support/net.h"
#include "tests/support/random_program.h"
#include "tests/unit/api_testing.h"

static const uint64_t SEEDS = UINT64_C(700000000000);
static const double STEP = 0x1p-17; /* of a cell's size: a sixth of its square, and 2^-53 over it, are both about 10^-11 */

enum { LOW = 500 }; /* so far, operands of functions with steps or waves cross few of them */

typedef struct subject {
    rp_program p;
    clf_mat *handle[RP_NODES], *param[RP_NODES], *arg[RP_NODES], *wrt[RP_NODES], *grad[RP_NODES + 1];
    int leaf[RP_NODES];      /* node of each parameter */
    int by[RP_NODES];        /* parameter of each variable */
    double *along[RP_NODES]; /* direction, by parameter; NULL: stays */
    int nparam, nwrt;
    clf_fn *loss, *all;
} subject;

static struct {
    long programs, checked, telling, rough, no_number, unsupported;
    double worst;
} tally;

static double uniform(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

static bool is_real(clf_dtype t) { return t == CLF_F64 || t == CLF_F32; }

static void move_apart(rp_node *n, uint64_t *state) {
    for (int64_t i = 0; i < rp_count(&n->m); i++)
        if (n->m.v[i] != 0 || !rp_sparse_leaf(n)) n->m.v[i] += 0.01 * (0.5 + uniform(state));
}

static void prepare(rp_program *p, uint64_t seed) {
    uint64_t state = ~seed;
    for (int i = 0; i < p->n; i++) {
        rp_node *n = &p->node[i];
        if (n->m.t == CLF_F32) n->m.t = CLF_F64;
        if (n->m.t == CLF_F64 && (n->kind == RP_LEAF || n->kind == RP_NUMBER)) move_apart(n, &state);
    }
}

/* Structural zeros stay where they are. */
static double *direction(const rp_node *n, uint64_t *state) {
    double *d = calloc((size_t)rp_count(&n->m) + 1, sizeof *d);
    for (int64_t i = 0; d && i < rp_count(&n->m); i++) {
        double size = n->m.v[i] != 0 ? fabs(n->m.v[i]) : rp_sparse_leaf(n) ? 0 : 0.01;
        d[i] = (2 * uniform(state) - 1) * size;
    }
    return d;
}

/* The parameters stand for leaves and numbers in the order of nodes. */
static void take_params(subject *s, clf_ctx *c, uint64_t seed) {
    int k = 0;
    bool numbers = !rp_sparse(&s->p);
    uint64_t state = seed;
    s->nparam = rp_record_fn(&s->p, c, s->handle, s->param, s->arg);
    for (int i = 0; i < s->p.n; i++) {
        const rp_node *n = &s->p.node[i];
        if (n->kind != RP_LEAF && (n->kind != RP_NUMBER || !numbers)) continue;
        s->leaf[k] = i;
        if (is_real(n->m.t)) {
            s->along[k] = direction(n, &state);
            s->by[s->nwrt] = k;
            s->wrt[s->nwrt++] = s->param[k];
        }
        k++;
    }
}

/* NULL when no result is real. */
static clf_mat *loss_of(subject *s, clf_ctx *c) {
    clf_mat *loss = NULL;
    for (int r = 0; r < s->p.nroot; r++) {
        clf_mat *x = s->handle[s->p.root[r]];
        clf_dtype t = CLF_U8;
        if (clf_info(x, NULL, NULL, &t, NULL) != CLF_OK || !is_real(t)) continue;
        clf_mat *part = clf_mul(clf_sum(x), clf_num(c, 1 + 0.25 * (r % 5)));
        loss = loss ? clf_add(loss, part) : part;
    }
    return loss;
}

/* The operand in which a node has steps or waves of a fixed length: from far enough they look like something else. NULL: none. */
static clf_mat *stepped(const subject *s, const rp_node *n) {
    static const int ops[] = {CLF_ROUND, CLF_FLOOR, CLF_CEIL, CLF_SIN, CLF_COS, CLF_TAN};
    clf_mat *a = n->nin ? s->handle[n->in[0]] : NULL;
    if (n->kind == RP_CAST && !is_real(n->m.t)) return a;
    if (n->kind != RP_CELL && n->kind != RP_OUTER) return NULL;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (n->op == ops[i]) return a;
    if (n->op == CLF_BITAND || n->op == CLF_BITOR) return clf_num(clf_ctx_of(a), INFINITY); /* jump at every size */
    if (n->op != CLF_IDIV && n->op != CLF_MOD) return NULL;
    return n->kind == RP_OUTER ? clf_outer(CLF_DIV, a, s->handle[n->in[1]]) : clf_div(a, s->handle[n->in[1]]);
}

/* The largest of such operands. */
static clf_mat *height_of(const subject *s, clf_ctx *c) {
    clf_mat *most = clf_num(c, 0);
    for (int i = 0; i < s->p.n; i++) {
        clf_mat *x = stepped(s, &s->p.node[i]);
        if (x) most = clf_max(most, clf_fold(CLF_FOLD_CODE_MAX, CLF_ALL, clf_abs(clf_cast(x, CLF_F64))));
    }
    return most;
}

static clf_mat *argument(clf_ctx *c, const subject *s, int k, double t) {
    rp_node n = s->p.node[s->leaf[k]];
    const double *d = s->along[k];
    double *v = malloc(((size_t)rp_count(&n.m) + 1) * sizeof *v);
    for (int64_t i = 0; i < rp_count(&n.m); i++) v[i] = n.m.v[i] + (d && t != 0 ? t * d[i] : 0);
    n.m.v = v;
    clf_mat *m = n.kind == RP_LEAF ? rp_doors[n.attr[0]].open(c, &n.m) : n.m.t == CLF_F64 ? clf_num(c, v[0]) : clf_int(c, (int64_t)v[0]);
    free(v);
    return m;
}

static double value_at(clf_ctx *c, subject *s, double t) {
    clf_mat *arg[RP_NODES] = {NULL}, *out = NULL;
    double r = NAN;
    for (int k = 0; k < s->nparam; k++) arg[k] = argument(c, s, k, t);
    if (clf_call(s->loss, (size_t)s->nparam, arg, 1, &out) != CLF_OK || clf_read_f64(out, &r) != CLF_OK)
        printf("\n    %s", clf_last_error(c));
    return r;
}

/* The derivative along the direction, the sum of the sizes of its terms, and the height of stairs. */
static bool along(clf_ctx *c, subject *s, double *sum, double *size, double *height) {
    clf_mat *arg[RP_NODES] = {NULL}, *out[RP_NODES + 1] = {NULL};
    bool good = true;
    *sum = *size = 0;
    for (int k = 0; k < s->nparam; k++) arg[k] = argument(c, s, k, 0);
    if (clf_call(s->all, (size_t)s->nparam, arg, (size_t)s->nwrt + 1, out) != CLF_OK) return false;
    good = clf_read_f64(out[s->nwrt], height) == CLF_OK;
    for (int w = 0; w < s->nwrt && good; w++) {
        const rp_matrix *m = &s->p.node[s->leaf[s->by[w]]].m;
        const void *g = NULL;
        int64_t rows = -1, cols = -1;
        clf_dtype t = CLF_U8;
        good = clf_info(out[w], &rows, &cols, &t, NULL) == CLF_OK && rows == m->rows && cols == m->cols && t == CLF_F64;
        good = good && clf_data(out[w], &g) == CLF_OK;
        for (int64_t i = 0; good && i < rp_count(m); i++) {
            double d = s->along[s->by[w]][i], term = d != 0 ? ((const double *)g)[i] * d : 0;
            *sum += term;
            *size += fabs(term);
        }
    }
    return good;
}

static bool judge(clf_ctx *c, subject *s) {
    double sum, size, height, f[7], h = STEP;
    if (!along(c, s, &sum, &size, &height)) return false;
    static const double at[7] = {0, 1, -1, 2, -2, 0.5, -0.5};
    for (int i = 0; i < 7; i++) f[i] = value_at(c, s, at[i] * h);
    double right = (f[1] - f[0]) / h, left = (f[0] - f[2]) / h, mid = (f[1] - f[2]) / (2 * h), far = (f[3] - f[4]) / (4 * h),
           near = (f[5] - f[6]) / h;
    double all = fabs(right) + fabs(left) + fabs(mid), noise = 64 * DBL_EPSILON * (1 + fabs(f[0])) / h;
    double spread = fmax(fabs(mid - far), fabs(mid - near));
    bool smooth = fabs(right - left) <= 1e-2 * all + noise && spread <= 1e-4 * all + noise; /* false for NaN */
    if (!isfinite(all) || !smooth || !(height < LOW)) return tally.rough++, true;
    if (!isfinite(sum)) return tally.no_number++, true;
    double tolerance = 8 * spread + 1e-5 * (all + size) + noise; /* conditions up to some 10^10 */
    bool good = fabs(sum - mid) <= tolerance;
    if (!good) printf("\n    along the direction %.17g, differences %.17g %.17g %.17g +- %.2g", sum, near, mid, far, tolerance);
    tally.checked++;
    tally.telling += fabs(mid) > 100 * tolerance;
    if (good && fabs(sum - mid) / tolerance > tally.worst) tally.worst = fabs(sum - mid) / tolerance;
    return good;
}

static bool check(clf_ctx *c, subject *s, uint64_t seed) {
    take_params(s, c, seed);
    clf_mat *loss = loss_of(s, c);
    if (!loss || !s->nwrt) return true;
    tally.programs++;
    clf_status st = clf_grad(loss, (size_t)s->nwrt, s->wrt, s->grad);
    if (st == CLF_E_UNSUPPORTED && strstr(clf_last_error(c), "cumulative m")) return tally.unsupported++, true;
    s->grad[s->nwrt] = height_of(s, c);
    bool good = st == CLF_OK && clf_fn_new(c, (size_t)s->nparam, s->param, 1, &loss, &s->loss) == CLF_OK &&
                clf_fn_new(c, (size_t)s->nparam, s->param, (size_t)s->nwrt + 1, s->grad, &s->all) == CLF_OK;
    good = good && judge(c, s);
    if (!good) printf("\n    seed %llu: %s\n", (unsigned long long)seed, clf_last_error(c));
    return good;
}

static bool run_one(clf_ctx *c, uint64_t seed) {
    rp_options o = {.nodes = 4 + (int)(seed % 17), .most_cells = 300, .domain = RP_REAL};
    subject *s = calloc(1, sizeof *s);
    rp_generate(&s->p, seed, &o);
    prepare(&s->p, seed);
    size_t mark = clf_epoch_begin(c);
    bool good = check(c, s, seed);
    if (!good) rp_print(&s->p);
    clf_fn_free(s->loss);
    clf_fn_free(s->all);
    clf_epoch_end(c, mark);
    for (int k = 0; k < s->nparam; k++) free(s->along[k]);
    rp_release(&s->p);
    free(s);
    return good;
}

static void test_random(void) {
    uint64_t seed;
    int64_t n = net_count(12000, 300000), bad = 0;
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "threads", "1"), CLF_OK);
    if (net_replay(&seed)) {
        CU_ASSERT(run_one(c, seed));
        clf_close(c);
        return;
    }
    for (int64_t i = 0; i < n && bad < 3; i++) bad += !run_one(c, SEEDS + (uint64_t)i);
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT(tally.checked >= n / 4);
    CU_ASSERT(tally.telling >= n / 8);
    CU_ASSERT(tally.no_number <= n / 20);
    net_figure("clf_grad: random programs along a direction",
               "%ld of %ld, the others on a kink or not finite; worst error %.2g of its tolerance", tally.checked, tally.programs,
               tally.worst);
    printf("\n    %ld programs: %ld checked, %ld of them tell, %ld rough, %ld no number, %ld unsupported", tally.programs, tally.checked,
           tally.telling, tally.rough, tally.no_number, tally.unsupported);
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {{"random programs", test_random}};
    return run_suite("derivatives of random programs", tests, sizeof tests / sizeof *tests);
}
