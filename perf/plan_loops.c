/* SPDX-License-Identifier: Apache-2.0
 * The suite plan, part "loops": how many plans the search costs for the loops of six algorithms, one row each.
 *
 * Source: Boehm et al., PVLDB 11(12) 2018, section 5.3, figure 15, which counts plans for the whole graph, for its components one by one,
 * and for those with pruning. Here: 2^choices, a choice being an edge that may be fused or not, two readers of one operand that may share a
 * loop or not, an operator that a loop or a step of its own computes; partial covers costed when no branch is cut by its bound; and those
 * costed as plans are made. The second number stops at a budget; where it does not, the number of all legal covers is known, too.
 *
 * Programs are one iteration each, of the loops that take the time. Nothing is evaluated: sizes are what the algorithms are run on, and
 * costs are those of the assumed host, so the counts are the same on every machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "host/run/run.h"
#include "perf/plan.h"
#include "planner/rewrite.h"
#include "planner/search.h"

enum { FEW_CHOICES = 10, KERNEL_OPS = 200, KERNEL_INPUTS = 48 };
static const int64_t most_costed = 1000000, most_costed_quick = 5000; /* in a component, without bounds */
static const double saved_least = 0.9;                                /* where there are FEW_CHOICES at least */

enum { N = 1000000, M = 100, K = 5, ROWS = 100000, COLS = 10000, RANK = 20, B = 512, F = 784, H = 500, CODE = 2 };

typedef struct loop {
    const char *name, *program;
    plan_var var[PLAN_VARS]; /* 0 x 0: a number */
} loop;

static const loop loops[] = {
    /* a step of conjugate gradients with its line search */
    {"l2svm",
     "out = 1 - Y * (Xw + step * Xd); sv = out > 0; out = out * sv\n"
     "g1 = wd + step * dd - sum(out * Y * Xd); h1 = dd + sum(Xd * sv * Xd); step = step - g1 / h1\n"
     "w = w + step * s; Xw = Xw + step * Xd; out = 1 - Y * Xw; sv = out > 0; out = sv * out\n"
     "obj = 0.5 * sum(out * out) + 0.5 * lambda * sum(w * w)\n"
     "g = t(X) %*% (out * Y) - lambda * w; s = sum(g * g) / sum(old * old) * s + g; old = g\n",
     {{"X", N, M, 0},
      {"Y", N, 1, 0},
      {"Xw", N, 1, 0},
      {"Xd", N, 1, 0},
      {"w", M, 1, 0},
      {"s", M, 1, 0},
      {"old", M, 1, 0},
      {"step", 0, 0, 0},
      {"wd", 0, 0, 0},
      {"dd", 0, 0, 0},
      {"lambda", 0, 0, 0}}},
    /* a step of conjugate gradients, and the probabilities after it */
    {"mlogreg",
     "Q = P * (X %*% V); HV = t(X) %*% (Q - P * rowSums(Q)) + lambda * V; a = r2 / sum(V * HV)\n"
     "S = S + a * V; R = R - a * HV; n2 = sum(R^2); V = R + n2 / r2 * V; r2 = n2\n"
     "L = X %*% S; E = exp(L - rowMaxs(L)); P = E / rowSums(E)\n"
     "obj = sum(log(rowSums(E))) - sum(Y * (L - rowMaxs(L))) + 0.5 * lambda * sum(S^2)\n",
     {{"X", N, M, 0},
      {"Y", N, K, 0},
      {"P", N, K, 0},
      {"V", M, K, 0},
      {"S", M, K, 0},
      {"R", M, K, 0},
      {"r2", 0, 0, 0},
      {"lambda", 0, 0, 0}}},
    /* binomial, probit: reweighting, gradient, likelihood, and a step of conjugate gradients */
    {"glm",
     "eta = X %*% b; e = exp(-(eta^2) / 2) / 2.5066282746; t = 1 / (1 + abs(eta) * 0.2316419)\n"
     "tail = e * t * (0.31938153 + t * (t * (1.781477937 + t * (t * 1.330274429 - 1.821255978)) - 0.356563782))\n"
     "up = eta > 0; F = up + tail - 2 * up * tail; v = F * (1 - F); w = e^2 / v\n"
     "g = t(X) %*% ((Y - F) * e / v); ll = sum(Y * log(F) + (1 - Y) * log(1 - F))\n"
     "h = t(X) %*% (w * (X %*% p)) + lambda * p; a = r2 / sum(p * h); z = z + a * p; r = r + a * h\n"
     "n2 = sum(r^2); p = n2 / r2 * p - r; r2 = n2\n",
     {{"X", N, M, 0},
      {"Y", N, 1, 0},
      {"b", M, 1, 0},
      {"p", M, 1, 0},
      {"z", M, 1, 0},
      {"r", M, 1, 0},
      {"r2", 0, 0, 0},
      {"lambda", 0, 0, 0}}},
    {"kmeans",
     "D = -2 * (X %*% t(C)) + t(rowSums(C^2)); m = rowMins(D); P = D <= m; P = P / rowSums(P)\n"
     "C = (t(P) %*% X) / t(colSums(P)); wcss = sum(m) + squares\n",
     {{"X", N, M, 0}, {"C", K, M, 0}, {"squares", 0, 0, 0}}},
    /* a step of conjugate gradients for one factor, and the loss */
    {"als_cg",
     "W = X != 0; HS = (W * (S %*% t(V))) %*% V + lambda * S; a = r2 / sum(S * HS); U = U + a * S; R = R - a * HS\n"
     "n2 = sum(R^2); S = R + n2 / r2 * S; r2 = n2\n"
     "loss = sum(W * (U %*% t(V) - X)^2) + lambda * (sum(U^2 * rowSums(W)) + sum(V^2 * t(colSums(W))))\n",
     {{"X", ROWS, COLS, ROWS * 100},
      {"U", ROWS, RANK, 0},
      {"V", COLS, RANK, 0},
      {"S", ROWS, RANK, 0},
      {"R", ROWS, RANK, 0},
      {"r2", 0, 0, 0},
      {"lambda", 0, 0, 0}}},
    {"autoencoder",
     plan_autoencoder,
     {{"X", B, F, 0},
      {"W1", F, H, 0},
      {"W2", H, CODE, 0},
      {"W3", CODE, H, 0},
      {"W4", H, F, 0},
      {"b1", 1, H, 0},
      {"b2", 1, CODE, 0},
      {"b3", 1, H, 0},
      {"b4", 1, F, 0}}},
};
enum { LOOPS = sizeof loops / sizeof *loops };

/* ---- choices ---- */

static bool fusable(const clf_problem *p, int32_t n, int k) { return p->inside[n] >> k & 1; }

static bool reads(const clf_problem *p, int32_t n, int k) {
    return (p->is[n] & CLF_IS_NEEDED) && (p->by_rows[n] >> k & 1) && !fusable(p, n, k);
}

/* Does an earlier operand in a loop of n's class read the same by rows? */
static bool read_before(const clf_problem *p, int32_t n, int k) {
    int32_t q = clf_node_operand(p->g, n, k);
    for (int32_t m = 0; m < n; m++)
        for (int j = 0; j < p->g->node[m].nin; j++)
            if (p->class_[m] == p->class_[n] && reads(p, m, j) && clf_node_operand(p->g, m, j) == q) return true;
    return false;
}

static int count_choices(const clf_problem *p) {
    int choices = 0;
    for (int32_t n = 0; n < p->g->n; n++) {
        if (!(p->is[n] & CLF_IS_NEEDED) || (p->is[n] & CLF_IS_COPIED)) continue;
        choices += (p->is[n] & CLF_CAN_LOOP) && (p->is[n] & CLF_CAN_ALONE);
        for (int k = 0; k < p->g->node[n].nin; k++) choices += fusable(p, n, k) || (reads(p, n, k) && read_before(p, n, k));
    }
    return choices;
}

/* ---- one program ---- */

typedef struct counting {
    bench_run *r;
    bench_row *row;
    clf_ctx *c;
    clf_arena arena;
    clf_profile host;
    clf_limits lim;
} counting;

static bool bound(const char *name, const clf_binding *v, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(v[i].name, name) == 0) return true;
    return false;
}

/* The graph over parameters of what the next iteration needs, and of what nobody in this one reads. */
static bool record(counting *t, const loop *l, clf_frozen *f, clf_err *err) {
    clf_binding v[PLAN_VARS];
    clf_result out[PLAN_MOST_RESULTS];
    clf_node *root[PLAN_MOST_RESULTS];
    size_t nv = 0, n = PLAN_MOST_RESULTS;
    for (const plan_var *p = l->var; nv < PLAN_VARS && p->name; p++) {
        int64_t rows = p->rows ? p->rows : 1, cols = p->rows ? p->cols : 1;
        v[nv++] = (clf_binding){p->name, p->nnz ? clf_param_sparse(t->c, CLF_F64, rows, cols, p->nnz)
                                                : clf_param(t->c, CLF_F64, rows, cols, p->rows == 0)};
    }
    if (clf_parse(t->c, l->program, v, nv, out, &n) != CLF_OK) {
        snprintf(err->text, sizeof err->text, "%.150s", clf_last_error(t->c));
        return false;
    }
    size_t roots = 0;
    for (size_t i = 0; i < n; i++)
        if (!out[i].used || bound(out[i].name, v, nv)) root[roots++] = out[i].value->node;
    return clf_freeze(t->c, roots, root, 0, NULL, f, err) == CLF_OK;
}

static clf_status search(counting *t, const clf_problem *p, bool unbounded, clf_search_stats *s, clf_err *err) {
    clf_search_options o = {.unbounded = unbounded};
    clf_cover cover;
    o.budget = t->r->opt->quick ? most_costed_quick : most_costed;
    return clf_search(p, &o, &t->arena, &cover, s, err);
}

static clf_status count(counting *t, const clf_graph *recorded, clf_err *err) {
    clf_graph g;
    clf_memo memo;
    clf_problem p;
    clf_search_stats all, pruned;
    bench_row *row = t->row;
    CLF_TRY(clf_rewrite(recorded, NULL, &t->arena, &t->arena, &g, NULL, err));
    CLF_TRY(clf_explore(&g, &t->arena, &memo, err));
    CLF_TRY(clf_problem_new(&memo, &t->lim, &t->arena, &p, err));
    CLF_TRY(search(t, &p, false, &pruned, err));
    CLF_TRY(search(t, &p, true, &all, err));
    row->choices = count_choices(&p);
    row->components = pruned.components;
    row->costed = (double)pruned.plans;
    row->costed_unpruned = (double)all.plans;
    if (!all.stopped) row->covers = all.covers;
    row->saved = 1 - row->costed / row->costed_unpruned;
    if (row->choices >= FEW_CHOICES && !t->r->opt->quick) row->saved_least = saved_least;
    if (pruned.stopped)
        snprintf(row->why, sizeof row->why, "stopped by the budget with a gap of %.3g ms", (double)pruned.gap * 1e-9);
    else if (all.stopped)
        snprintf(row->why, sizeof row->why, "without pruning stopped in %d components", all.stopped);
    if (!all.stopped && all.cost != pruned.cost)
        bench_row_fail(row, "pruning made it %.17g ps, not %.17g", (double)pruned.cost, (double)all.cost);
    return CLF_OK;
}

static void run(bench_run *r, const loop *l, bool *headed) {
    bench_row row;
    clf_err err = {CLF_OK, ""};
    clf_frozen f = {0};
    counting t = {.r = r, .row = &row};
    char why[200] = "";
    bench_row_init(&row, NULL, "plan", "f64", "host");
    snprintf(row.text, sizeof row.text, "loops_%s", l->name);
    if (!bench_wanted(r->opt, "plan", row.text)) return;
    if (!*headed)
        printf("\n%-20s %16s %8s %10s %10s %11s %9s %8s %8s\n", "plans of loops", "", "choices", "components", "covers", "unpruned",
               "pruned", "saved", "atleast");
    *headed = true;
    clf_profile_assume(&t.host, CLF_DEV_HOST, 1);
    t.lim = (clf_limits){.dev = {.n = 1, .profile = {&t.host}}, .kernel_ops = KERNEL_OPS, .kernel_inputs = KERNEL_INPUTS};
    t.c = bench_ctx(r->opt, "host", "cost", why, sizeof why);
    if (!t.c) bench_row_fail(&row, "%.150s", why);
    if (t.c) {
        clf_arena_init(&t.arena, &t.c->mem);
        if (!record(&t, l, &f, &err) || count(&t, &f.g, &err) != CLF_OK) bench_row_fail(&row, "%.150s", err.text);
        clf_arena_release(&t.arena);
        clf_frozen_release(&f);
    }
    clf_close(t.c);
    r->emit(r->user, &row);
}

void bench_run_plan_loops(bench_run *r) {
    bool headed = false;
    for (int i = 0; i < LOOPS; i++) run(r, &loops[i], &headed);
}
