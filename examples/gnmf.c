/* SPDX-License-Identifier: Apache-2.0
 * GNMF: factors W (n x rank) and H (m x rank, a transpose of the paper's) without negative numbers of an X without negative numbers,
 * sum((X - W %*% t(H))^2) being minimised by multiplicative updates (Lee and Seung, Algorithms for Non-negative Matrix Factorization,
 * 2001, theorem 1; the benchmark of the FuseME paper). X may be sparse: its zeros are data, they cost nothing.
 * Reads tolerance (share of the objective), iterations, rank, seed.
 *
 * How to read it: both updates are one program, once on X and once on its transpose, F being the factor that is made new and G the
 * other. The transpose of few entries is made, once, so that both updates are passes over rows. The objective costs no pass of its own
 * and never makes the n x m cells of the product, for
 *     sum((X - F %*% t(G))^2) = sum(X^2) - 2 * sum(F * (X %*% G)) + sum((t(F) %*% F) * (t(G) %*% G)),
 * whose rounding is that of sum(X^2): less than 1e-15 of it (f32: 1e-6) is not told apart from 0, which is the least that is said.
 * Divisors are 1e-15 larger than the paper's, so that what is 0 stays 0: rows and columns of X without entries get factors of 0. */
#include <math.h>

#include "examples/algorithm.h"

static const char update_text[] = "P = X %*% G; F2 = F * P / (F %*% GG + 1e-15); FF = t(F2) %*% F2\n"
                                  "F2; FF; sum(F2 * P); sum(FF * GG)";

typedef struct side {
    clf_mat *F, *FF; /* factors, and t(F) %*% F */
    clf_fn *update;
} side;

/* X: the data by rows of the factor. */
static bool prepare(alg_run *r, side *s, clf_mat *X, bool rows) {
    clf_ctx *c = r->c;
    const int64_t n = rows ? r->n : r->m, m = rows ? r->m : r->n, k = r->p.rank;
    s->F = clf_cast(clf_rand(c, CLF_F64, n, k, 0.01, 1, 1, r->p.seed + (rows ? 2 : 3)), r->type);
    s->FF = clf_matmul(clf_t(s->F), s->F);
    clf_mat *start[] = {s->F, s->FF}, *F = clf_param(c, r->type, n, k, false), *G = clf_param(c, r->type, m, k, false);
    const clf_binding vars[] = {{"F", F}, {"G", G}, {"GG", clf_param(c, r->type, k, k, false)}, {"X", X}};
    return (clf_eval(2, start) == CLF_OK || alg_library_failed(r)) && alg_fn(r, update_text, 3, vars, 4, &s->update);
}

/* New factors for s; what the objective is made of into cross and norm. */
static bool update(alg_run *r, side *s, const side *other, clf_mat *number[2]) {
    clf_mat *out[] = {s->F, s->FF, number[0], number[1]};
    bool good = alg_call(r, s->update, 3, (clf_mat *[]){s->F, other->F, other->FF}, 4, out);
    s->F = out[0], s->FF = out[1], number[0] = out[2], number[1] = out[3];
    return good;
}

static bool iterate(alg_run *r, side *w, side *h, double squares) {
    clf_mat *number[2] = {NULL, NULL};
    double cross, norm;
    for (bool go = r->p.iterations > 0; go;) {
        if (!update(r, h, w, number) || !update(r, w, h, number)) return false;
        if (clf_read_f64(number[0], &cross) != CLF_OK || clf_read_f64(number[1], &norm) != CLF_OK) return alg_library_failed(r);
        if (!isfinite(cross) || !isfinite(norm))
            return alg_fail(r, "the factors are not finite numbers: the data is too large or too small");
        go = alg_goes_on(r, fmax(squares - 2 * cross + norm, 0));
    }
    return true;
}

static bool check(alg_run *r, double *squares) {
    double sum[2]; /* cells below 0, squares */
    if (!alg_check(r, "sum(X < 0); sum(X^2)", 2, sum)) return false;
    if (r->p.rank < 1) return alg_fail(r, "the rank is %lld: at least 1 is needed", (long long)r->p.rank);
    if (sum[0] > 0) return alg_fail(r, "%.0f cells of the data are negative", sum[0]);
    *squares = sum[1];
    if (!isfinite(*squares)) return alg_fail(r, "the data is too large: the sum of its squares is no number");
    return *squares > 0 || alg_fail(r, "every cell of the data is 0, or its square is");
}

static bool train(alg_run *r) {
    side w = {.update = NULL}, h = {.update = NULL};
    double squares = 0;
    int64_t nnz;
    if (!check(r, &squares)) return false;
    if (clf_nnz(r->X, &nnz) != CLF_OK) return alg_library_failed(r);
    size_t mark = clf_epoch_begin(r->c); /* of what is made from here on, only the model stays */
    bool few = nnz < r->n * r->m / 8;    /* of the cells: work on those */
    clf_mat *X = few ? alg_entries(r) : r->X, *T = X ? clf_t(X) : NULL;
    bool good = X && (!few || clf_eval(1, &T) == CLF_OK || alg_library_failed(r));
    good = good && prepare(r, &w, X, true) && prepare(r, &h, T, false) && iterate(r, &w, &h, squares);
    if (good) {
        r->model[0].name = "W", r->model[0].value = clf_keep(w.F);
        r->model[1].name = "H", r->model[1].value = clf_keep(h.F);
    }
    clf_epoch_end(r->c, mark);
    clf_fn_free(w.update);
    clf_fn_free(h.update);
    return good;
}

const algorithm alg_gnmf = {
    .name = "gnmf",
    .about = "non-negative factors of dense or sparse data, multiplicative updates",
    .generate = "P = rand(rows=n, cols=m, sparsity=0.02, seed=seed); A = rand(rows=n, cols=k, seed=seed+8)\n"
                "B = rand(rows=m, cols=k, seed=seed+9); X = (P != 0) * (A %*% t(B)) + P",
    .rows = 10000,
    .cols = 1000,
    .defaults = {.tolerance = 1e-12, .iterations = 20, .rank = 20, .seed = 1},
    .train = train,
};
