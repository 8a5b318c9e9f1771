/* SPDX-License-Identifier: Apache-2.0
 * KMeans: Lloyd's iterations (S. Lloyd, Least squares quantization in PCM, 1982; as SystemML's Kmeans.dml with one run) from rows that
 * k-means++ draws (D. Arthur, S. Vassilvitskii, 2007). Reads rank (clusters), iterations, tolerance, seed; X may be sparse.
 *
 * How to read it: `step` is one pass over X, in which a row is read, its distances to the centres are taken, and it is added to the sum
 * of the nearest; the n x k matrices D and P of the text never exist. Objective: the sum of squared distances; `step` leaves out sum(X^2),
 * which does not depend on the centres.
 * A row that is as near to several centres counts for each with its share. A centre that no row is nearest to stays where it is. Fewer
 * distinct rows than centres are refused. Rows far from the origin cost digits: what is summed up is |c|^2 - 2 x c. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "examples/algorithm.h"

/* Centre j is a row drawn with `near` as its chance: the squared distance to the nearest centre so far, and the same for all at first. */
static const char draw_text[] = "at = seq(1, nrow(C)) == j; u = sum(at * rand(rows=nrow(C), cols=1, seed=seed)) * sum(near)\n"
                                "drawn = seq(1, nrow(X)) == min(sum(cumsum(near) < u) + 1, nrow(X)); c = t(drawn) %%*%% X\n"
                                "%s\n"
                                "ifelse(j > 1, min(near, far), far); C + at %%*%% c; sum(near)";
/* From the drawn row. Entries alone do for sparse data, whose differences have none that are 0; but what rounding leaves is no distance. */
static const char far_cells[] = "far = rowSums((X - c)^2)";
static const char far_entries[] = "both = rowSums(X^2) + sum(c^2); d = both - 2*(X %*% t(c)); far = ifelse(d > hidden*both, d, 0)";
/* 1 + sign(d - D) is 1 where the distance is the least and 0 elsewhere, in the type of the data. */
static const char step_text[] = "D = -2*(X %*% t(C)) + t(rowSums(C^2)); d = rowMins(D); P = 1 + sign(d - D); P = P / rowSums(P)\n"
                                "size = t(colSums(P))\n"
                                "ifelse(size > 0, (t(P) %*% X) / size, C); sum(d)";
static const char nearest_text[] = "rowIndexMin(-2*(X %*% t(C)) + t(rowSums(C^2)))";

static bool beyond(alg_run *r) { return alg_fail(r, "the squares of distances are beyond the range of the data's type"); }

static bool draw(alg_run *r, clf_fn *f, clf_mat **near_and_centres, int64_t j) {
    clf_mat *args[] = {near_and_centres[0], near_and_centres[1], clf_int(r->c, j)};
    clf_mat *outs[] = {near_and_centres[0], near_and_centres[1], NULL};
    double all;
    if (!alg_call(r, f, 3, args, 3, outs)) return false;
    if (clf_read_f64(outs[2], &all) != CLF_OK) return alg_library_failed(r);
    if (!isfinite(all)) return beyond(r);
    return all > 0 || alg_fail(r, "%lld clusters, but only %lld distinct rows", (long long)r->p.rank, (long long)j - 1);
}

static bool start(alg_run *r, clf_mat *C, clf_fn **f) {
    char text[1024];
    clf_mat *state[] = {clf_fill(r->c, r->type, r->n, 1, 1), clf_fill(r->c, r->type, r->p.rank, r->m, 0)};
    const clf_binding vars[] = {{"near", clf_param(r->c, r->type, r->n, 1, false)},
                                {"C", C},
                                {"j", clf_param(r->c, CLF_I64, 0, 0, true)},
                                {"X", r->X},
                                {"seed", clf_int(r->c, (int64_t)r->p.seed)},
                                {"hidden", clf_num(r->c, 64 * (r->type == CLF_F32 ? FLT_EPSILON : DBL_EPSILON))}};
    snprintf(text, sizeof text, draw_text, alg_by_entries(r, false) ? far_entries : far_cells);
    if (!alg_fn(r, text, 3, vars, 6, f)) return false;
    for (int64_t j = 1; j <= r->p.rank; j++)
        if (!draw(r, *f, state, j)) return false;
    r->model[2].value = clf_keep(state[1]);
    return true;
}

/* Each call evaluates the centres it gets and makes new ones, in the memory of those before, but for the start's; those of the last call
 * are the model, as the objective is theirs. */
static bool iterate(alg_run *r, clf_fn *step, double squares) {
    clf_mat *outs[] = {NULL, clf_num(r->c, 0)}, *start = r->model[2].value, *C = start;
    double rest;
    for (bool on = true; on;) {
        if (!alg_call(r, step, 1, &C, 2, outs)) return false;
        if (clf_read_f64(outs[1], &rest) != CLF_OK) return alg_library_failed(r);
        on = alg_goes_on(r, fmax(squares + rest, 0));
        clf_mat *other = C == start ? NULL : C;
        if (on) C = outs[0], outs[0] = other;
    }
    r->model[0].value = clf_keep(C == start ? clf_add(C, clf_num(r->c, 0)) : C); /* two handles, whatever they hold */
    return isfinite(r->objective) || beyond(r);
}

/* sum(X^2); a finite one says that the squares of all data are. */
static bool prepare(alg_run *r, double *squares) {
    if (!alg_check(r, "sum(X^2)", 1, squares)) return false;
    if (!isfinite(*squares)) return beyond(r);
    return (r->p.rank >= 1 && r->p.rank <= r->n) || alg_fail(r, "%lld clusters of %lld rows", (long long)r->p.rank, (long long)r->n);
}

static bool train(alg_run *r) {
    clf_fn *f[3] = {NULL};
    double squares;
    if (!prepare(r, &squares)) return false;
    size_t mark = clf_epoch_begin(r->c);
    clf_mat *C = clf_param(r->c, r->type, r->p.rank, r->m, false);
    const clf_binding vars[] = {{"C", C}, {"X", r->X}};
    r->model[0].name = "centres", r->model[1].name = "nearest", r->model[2].name = "start";
    bool good = start(r, C, &f[0]) && alg_fn(r, step_text, 1, vars, 2, &f[1]) && iterate(r, f[1], squares);
    good = good && alg_fn(r, nearest_text, 1, vars, 2, &f[2]) && alg_call(r, f[2], 1, &r->model[0].value, 1, &r->model[1].value);
    if (good) clf_keep(r->model[1].value);
    for (int i = 0; i < 3; i++) clf_fn_free(f[i]);
    clf_epoch_end(r->c, mark);
    return good;
}

const algorithm alg_kmeans = {
    .name = "kmeans",
    .about = "clusters by Lloyd's iterations; --rank is their number",
    .generate = "at = floor(rand(rows=n, cols=1, max=k, seed=seed)) + 1; where = rand(rows=k, cols=m, min=-2, max=2, seed=seed+1)\n"
                "X = outer(at, seq(1, k), \"==\") %*% where + rand(rows=n, cols=m, min=-1, max=1, seed=seed+2)",
    .rows = 200000,
    .cols = 20,
    .defaults = {.rank = 5, .tolerance = 1e-12, .iterations = 20, .seed = 1},
    .train = train,
};
