/* SPDX-License-Identifier: Apache-2.0
 * PageRank by the power method (L. Page, S. Brin, R. Motwani, T. Winograd, The PageRank citation ranking, 1998; nodes without links as in
 * A. Langville, C. Meyer, Deeper inside PageRank, 2004, section 3). X is a graph of n nodes: cell i, j is the weight of i's link to j,
 * 0 where there is none. y, if given, says where a surfer who follows no link goes, in proportion; else anywhere.
 * Reads lambda (the chance that a link is followed), tolerance (on the sum of absolute changes), iterations.
 *
 * How to read it: an iteration is one pass over the links, which gives the new ranks that are carried on and their sum, and one over the
 * ranks. What links do not carry on, for the surfer jumps or has no link to follow, is what is missing from a sum of 1, so nodes without
 * links need no handling of their own. The graph is turned round once, so that what a node receives stands in one row of G.
 * Changes shrink by lambda with every iteration, so it ends; f32 sees none below 1e-6. */
#include <math.h>

#include "examples/algorithm.h"

static const char graph_text[] = "out = rowSums(X); t(X * ifelse(out > 0, lambda / out, 0))";
static const char jump_text[] = "y / sum(y)";
static const char step_text[] = "q = G %*% p; p2 = q + (1 - sum(q)) * v\n"
                                "p2; sum(abs(p2 - p))";
static const double least_f32 = 1e-6;

static bool refuse(alg_run *r) {
    double sum[2] = {0, 1}; /* negative weights, the chances to jump */
    const char *asked = r->y ? "sum(X < 0) + sum(y < 0); sum(y)" : "sum(X < 0)";
    if (!alg_check(r, asked, r->y ? 2 : 1, sum)) return false;
    if (r->n != r->m) return alg_fail(r, "a graph has as many rows as columns, not %lld x %lld", (long long)r->n, (long long)r->m);
    if (!(r->p.lambda > 0 && r->p.lambda < 1)) return alg_fail(r, "lambda, the chance to follow a link, must be between 0 and 1");
    if (sum[0] > 0) return alg_fail(r, "%.0f weights are negative", sum[0]);
    return (sum[1] > 0 && isfinite(sum[1])) || alg_fail(r, "the chances to jump to a node sum up to %g", sum[1]);
}

static bool iterate(alg_run *r, clf_fn *step, clf_mat *G, clf_mat *p) {
    clf_mat *outs[] = {clf_fill(r->c, r->type, r->n, 1, 0), clf_num(r->c, 0)};
    double enough = r->type == CLF_F32 ? fmax(r->p.tolerance, least_f32) : r->p.tolerance;
    for (bool on = true; on;) {
        if (!alg_call(r, step, 2, (clf_mat *[]){G, p}, 2, outs)) return false;
        if (clf_read_f64(outs[1], &r->objective) != CLF_OK) return alg_library_failed(r);
        r->iterations++;
        if (r->each) r->each(r->user, r->iterations, r->objective);
        r->converged = r->objective <= enough;
        on = !r->converged && r->iterations < r->p.iterations && isfinite(r->objective);
        clf_mat *other = p;
        p = outs[0], outs[0] = other;
    }
    r->model[0].name = "rank";
    r->model[0].value = clf_keep(p);
    return isfinite(r->objective) || alg_fail(r, "the links' weights are beyond the range of the data's type");
}

static bool train(alg_run *r) {
    if (!refuse(r)) return false;
    size_t mark = clf_epoch_begin(r->c);
    const clf_binding graph[] = {{"X", r->X}, {"lambda", clf_num(r->c, r->p.lambda)}}, jump[] = {{"y", r->y}};
    clf_mat *made[] = {clf_expr(r->c, graph_text, graph, 2),
                       r->y ? clf_expr(r->c, jump_text, jump, 1) : clf_fill(r->c, r->type, r->n, 1, 1 / (double)r->n)};
    clf_storage links = {.struct_size = sizeof links};
    clf_fn *step = NULL;
    bool good = clf_eval(2, made) == CLF_OK;
    clf_mat *G = clf_to_sparse(made[0]), *v = made[1];
    good = (good && clf_storage_of(G, &links) == CLF_OK) || alg_library_failed(r);
    const clf_binding vars[] = {
        {"G", clf_param_sparse(r->c, r->type, r->n, r->n, links.nnz)}, {"p", clf_param(r->c, r->type, r->n, 1, false)}, {"v", v}};
    good = good && alg_fn(r, step_text, 2, vars, 3, &step) && iterate(r, step, G, v);
    clf_fn_free(step);
    clf_epoch_end(r->c, mark);
    return good;
}

const algorithm alg_pagerank = {
    .name = "pagerank",
    .about = "ranks of the nodes of a graph, X[i,j] being the weight of the link from i to j; --lambda follows links",
    .generate = "from = rand(rows=n, cols=1, seed=seed)^-0.5; to = rand(rows=n, cols=1, seed=seed+1)^-0.5\n"
                "X = rand(rows=n, cols=m, seed=seed+2) < 2/n * outer(from, to)",
    .rows = 3000,
    .cols = 3000,
    .defaults = {.lambda = 0.85, .tolerance = 1e-9, .iterations = 200, .seed = 1},
    .train = train,
};
