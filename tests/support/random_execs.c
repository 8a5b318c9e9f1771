/* SPDX-License-Identifier: Apache-2.0
 * Contexts per selector and setting, and one program on a row of them; see random_execs.h. */
#include "tests/support/random_execs.h"

#include <stdlib.h>
#include <string.h>

#include "planner/select.h"
#include "tests/support/net.h"
#include "tests/support/random_make.h"
#include "tests/support/shrink.h"

static const struct {
    const char *isa, *threads;
} settings[] = {{"baseline", "1"}, {"avx2", "2"}, {"avx512", "3"}, {"auto", "1"}, {"baseline", "4"}, {"avx2", "1"}, {"avx512", "1"}};

enum { RENEW = 1000 }; /* programs between two sets of contexts: their caches of plans grow */

static bool open_one(rx_exec *e, const char *selector, const char *isa, const char *threads, bool ref) {
    clf_options o = {.struct_size = sizeof o, .device = "host"};
    snprintf(e->name, sizeof e->name, "fuse %s, %s, threads %s", selector, ref ? "reference executor" : isa, threads);
    e->ref = ref;
    e->all = !ref && strcmp(selector, "all") == 0;
    if (clf_open(&e->c, &o) != CLF_OK) return false;
    e->strict = false;
    return clf_set(e->c, "fuse", selector) == CLF_OK && clf_set(e->c, "isa", isa) == CLF_OK &&
           clf_set(e->c, "threads", threads) == CLF_OK && (!ref || clf_set(e->c, "tier", "ref") == CLF_OK);
}

static void close_one(rx_exec *e) {
    clf_close(e->c);
    e->c = NULL;
}

static bool open_all(rx_execs *x) {
    for (int s = 0; s < x->nselector; s++) {
        const char *name = clf_selectors[s]->name;
        for (int k = 0; k < x->nsetting; k++)
            if (!open_one(&x->host[s][k], name, settings[k].isa, settings[k].threads, false)) return false;
        if (!open_one(&x->ref[s], name, "auto", "1", true)) return false;
    }
    return true;
}

bool rx_open(rx_execs *x) {
    memset(x, 0, sizeof *x);
    x->nsetting = sizeof settings / sizeof *settings;
    while (x->nselector < RX_SELECTORS && clf_selectors[x->nselector]) x->nselector++;
    return !clf_selectors[x->nselector] && open_all(x);
}

void rx_close(rx_execs *x) {
    for (int s = 0; s < x->nselector; s++) {
        for (int k = 0; k < x->nsetting; k++) close_one(&x->host[s][k]);
        close_one(&x->ref[s]);
    }
}

/* ---- one program ---- */

static uint64_t launches(const rx_exec *e) {
    clf_stats s = {.struct_size = sizeof s};
    if (clf_get_stats(e->c, &s) != CLF_OK) return 0;
    return e->ref ? s.launches_ref : s.launches_tier0;
}

typedef struct result {
    size_t mark;
    clf_mat *h[RP_NODES];
    clf_mat *root[RP_NODES + 8];
} result;

/* Ways to ask for the results: together, one by one from the last, as a function of the leaves. */
static clf_status ask_together(const rp_program *p, clf_ctx *c, result *r) {
    rp_record(p, c, r->h);
    for (int i = 0; i < p->nroot; i++) r->root[i] = r->h[p->root[i]];
    return clf_eval((size_t)p->nroot, r->root);
}

static clf_status ask_singly(const rp_program *p, clf_ctx *c, result *r) {
    clf_status st = CLF_OK;
    rp_record(p, c, r->h);
    for (int i = p->nroot - 1; i >= 0; i--) {
        r->root[i] = r->h[p->root[i]];
        if (st == CLF_OK) st = clf_eval(1, &r->root[i]);
    }
    return st;
}

/* Something else of the same type and shape. */
static clf_mat *other_arg(clf_ctx *c, clf_mat *arg) {
    int64_t rows, cols;
    clf_dtype t;
    bool scalar;
    if (clf_info(arg, &rows, &cols, &t, &scalar) != CLF_OK) return arg;
    clf_mat *m = clf_fill(c, t, rows, cols, 1);
    return scalar ? clf_as_scalar(m) : m;
}

/* Called twice, the second time into the memory of the first. */
static clf_status ask_function(const rp_program *p, clf_ctx *c, result *r) {
    clf_mat *param[RP_NODES], *arg[RP_NODES], *ones[RP_NODES], *root[RP_NODES + 8];
    clf_fn *f = NULL;
    int n = rp_record_fn(p, c, r->h, param, arg);
    for (int i = 0; i < p->nroot; i++) {
        root[i] = r->h[p->root[i]];
        r->root[i] = NULL;
    }
    for (int k = 0; k < n; k++) ones[k] = other_arg(c, arg[k]);
    clf_status st = clf_fn_new(c, (size_t)n, param, (size_t)p->nroot, root, &f);
    if (st == CLF_OK) st = clf_call(f, (size_t)n, ones, (size_t)p->nroot, r->root);
    if (st == CLF_OK) st = clf_call(f, (size_t)n, arg, (size_t)p->nroot, r->root);
    clf_fn_free(f);
    return st;
}

static const struct {
    const char *name;
    clf_status (*ask)(const rp_program *p, clf_ctx *c, result *r);
} ways[] = {{"together", ask_together}, {"one by one", ask_singly}, {"as a function", ask_function}};
enum { WAYS = sizeof ways / sizeof *ways };

static bool evaluate(rx_execs *x, const rp_program *p, rx_exec *e, int way, result *r, char why[256]) {
    uint64_t before = launches(e);
    plan_mark plans = plan_classes_mark(e->c);
    clf_status st = ways[way].ask(p, e->c, r);
    if (e->all) plan_classes_add(&x->classes, &plans, e->c);
    if (st != CLF_OK) {
        snprintf(why, 256, "%s, asked %s: %s", e->name, ways[way].name, clf_last_error(e->c));
        return false;
    }
    return launches(e) > before;
}

/* Values of the interpreter, bytes of the first executor; where sparse leaves are, but for the sign of zeros. */
static bool compare(const rp_program *p, const rx_exec *e, const result *r, const rx_exec *first, const result *want, char why[256]) {
    bool signs = !rp_sparse(p) && e->strict;
    for (int i = 0; i < p->nroot; i++) {
        int n = p->root[i];
        const void *a, *b;
        int64_t cell = rp_compare(p, n, r->root[i]);
        if (cell != -1) {
            snprintf(why, 256, "%s: not the interpreter's value, node n%d, cell %lld", e->name, n, (long long)cell);
            return false;
        }
        if (clf_data(r->root[i], &a) == CLF_OK && clf_data(want->root[i], &b) == CLF_OK && rp_same_cells(&p->node[n].m, a, b, signs))
            continue;
        snprintf(why, 256, "%s: other bits than with %s, node n%d", e->name, first->name, n);
        return false;
    }
    return true;
}

static void count_nodes(rx_execs *x, const rp_program *p) {
    for (int i = 0; i < p->n; i++) {
        const rp_node *n = &p->node[i];
        x->kind[n->kind]++;
        x->type[n->m.t]++;
        if (n->kind == RP_LEAF) x->door[n->attr[0]]++;
        if (n->kind == RP_CELL || n->kind == RP_OUTER) x->op[n->op]++;
        if (n->kind == RP_FOLD) x->fold[n->op][n->attr[0]]++;
    }
}

/* Sums over the entries of a sparse matrix round in another order than over its cells, and plans choose: reals beside sparse leaves
 * have the same bits on every executor of one plan. */
static bool one_plan(const rp_program *p) { return p->domain == RP_REAL && rp_sparse(p); }

/* The first executor is asked for everything together, the others in turn. */
static bool run_row(rx_execs *x, const rp_program *p, uint64_t turn, rx_exec **row, int n, bool *counted, char why[256]) {
    static result results[RX_SELECTORS + 1];
    bool good = true;
    int opened = 0;
    *counted = true;
    for (; opened < n && good; opened++) {
        result *r = &results[opened];
        r->mark = clf_epoch_begin(row[opened]->c);
        why[0] = '\0';
        bool alone = one_plan(p) || (p->domain == RP_REAL && !row[opened]->strict);
        int way = opened && !alone ? (int)((turn / 2 + (uint64_t)opened) % WAYS) : 0;
        bool ran = evaluate(x, p, row[opened], way, r, why);
        row[opened]->programs += ran;
        *counted = *counted && (ran || row[opened]->ref);
        good = !why[0] && compare(p, row[opened], r, row[0], &results[0], why);
        x->way[way]++;
    }
    for (int i = 0; i < opened; i++) clf_epoch_end(row[i]->c, results[i].mark);
    x->programs++;
    return good;
}

static bool set_math(rx_exec *e, bool strict) {
    if (e->strict == strict) return true;
    e->strict = strict;
    return clf_set(e->c, "math", strict ? "strict" : "reassociate") == CLF_OK;
}

bool rx_check(rx_execs *x, const rp_program *p, uint64_t turn, char why[256]) {
    rx_exec *row[RX_SELECTORS + 1];
    int n = 0, s = (int)(turn % (uint64_t)x->nselector);
    bool counted;
    if (x->programs % RENEW == RENEW - 1) {
        rx_close(x);
        if (!open_all(x)) {
            snprintf(why, 256, "a context cannot be opened again: %s", clf_open_error());
            return false;
        }
    }
    for (int i = 0; i < x->nselector; i++) row[n++] = &x->host[one_plan(p) ? s : i][(turn + 3 * (uint64_t)i) % (uint64_t)x->nsetting];
    row[n++] = &x->ref[s];
    bool strict = turn / 2 % 2 == 0;
    for (int i = 0; i < n; i++)
        if (!set_math(row[i], strict)) return false;
    x->strict += strict;
    bool good = run_row(x, p, turn, row, n, &counted, why);
    x->everywhere += counted;
    if (counted) count_nodes(x, p);
    return good;
}

/* ---- failures ---- */

typedef struct again {
    rx_execs *x;
    uint64_t turn;
} again;

static bool fails(const rp_program *p, void *user) {
    again *a = user;
    char why[256];
    return !rx_check(a->x, p, a->turn, why);
}

bool rx_check_or_report(rx_execs *x, const rp_program *p, uint64_t turn) {
    char first[256], why[256];
    if (rx_check(x, p, turn, first)) return true;
    again a = {x, turn};
    rp_program *small = malloc(sizeof *small);
    if (small) {
        rp_copy(p, small);
        shrink(small, fails, &a, 2000);
        bool still = !rx_check(x, small, turn, why);
        if (!still) printf("\n    not every time:");
        rp_report(small, still ? why : first);
        rp_release(small);
    }
    free(small);
    return false;
}

/* ---- figures ---- */

static int covered(const uint64_t *count, int n) {
    int k = 0;
    for (int i = 0; i < n; i++) k += count[i] > 0;
    return k;
}

bool rx_figures(const rx_execs *x, const char *what) {
    char name[160];
    snprintf(name, sizeof name, "%s: run, and counted by the host executor under every selector", what);
    net_figure(name, "%llu, %llu", (unsigned long long)x->programs, (unsigned long long)x->everywhere);
    for (int s = 0; s < x->nselector; s++) {
        for (int k = 0; k < x->nsetting; k++) {
            snprintf(name, sizeof name, "%s: %s", what, x->host[s][k].name);
            net_figure(name, "%llu", (unsigned long long)x->host[s][k].programs);
        }
        snprintf(name, sizeof name, "%s: %s", what, x->ref[s].name);
        net_figure(name, "%llu", (unsigned long long)x->ref[s].programs);
    }
    snprintf(name, sizeof name, "%s: of these with exact rewrites only", what);
    net_figure(name, "%llu", (unsigned long long)x->strict);
    snprintf(name, sizeof name, "%s: asked together, one by one, as a function", what);
    net_figure(name, "%llu, %llu, %llu", (unsigned long long)x->way[0], (unsigned long long)x->way[1], (unsigned long long)x->way[2]);
    snprintf(name, sizeof name, "%s: operators, aggregates (and their directions), kinds of node, types covered", what);
    net_figure(name, "%d of %d, %d of %d, %d of %d, %d of 5", covered(x->op, CLF_OP_CODES), CLF_OP_CODES,
               covered(&x->fold[0][0], 3 * CLF_FOLD_CODES), 3 * CLF_FOLD_CODES, covered(x->kind, RP_KINDS), RP_KINDS, covered(x->type, 5));
    return plan_classes_figure(&x->classes, what);
}
