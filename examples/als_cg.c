/* SPDX-License-Identifier: Apache-2.0
 * ALS-CG: factors U (n x rank) and V (m x rank) of sparse ratings X, weighted squared loss, as SystemML's script ALS-CG.dml with wL2:
 *     sum((X != 0) * (X - U %*% t(V))^2) + lambda * (sum(r * U^2) + sum(c * V^2)),   r, c: ratings of each row and column
 * With one side held still this is quadratic in the other: each half of an iteration solves for one side by conjugate gradients, all rows
 * at once. A cell of X that is 0 is no rating; a row or column without ratings keeps factors of 0.
 * Reads lambda, tolerance (share of the loss), iterations, inner (steps of conjugate gradients, at most; 0: rank), rank, seed.
 *
 * How to read it: two programs do all work. U %*% t(V) names n x m cells, but is only needed where X has entries: `begin` is one pass
 * over them, and so is a step of conjugate gradients, its direction made and its curvature summed on the way. Both halves run the same
 * programs, one on X and one on its transpose, which is made once. Step lengths never reach C: it reads one number of each call. */
#include <math.h>

#include "examples/algorithm.h"

/* Half the gradient, downhill, by the factors F of this side; its squared norm; the loss. */
static const char begin_text[] = "E = (X != 0) * (F %*% t(G)) - X; R = -(E %*% G) - lambda*nf*F\n"
                                 "R; sum(R^2); sum(E^2) + lambda*(sum(nf*F^2) + sum(ng*G^2))";
/* A step: the next direction, as far along it as the curvature says, what is left of the residual, and the b of the step after. */
static const char step_text[] = "D = R + b*S; H = ((X != 0) * (D %*% t(G))) %*% G + lambda*nf*D\n"
                                "curved = sum(D*H); a = ifelse(curved > 0, rr/curved, 0); R2 = R - a*H; rr2 = sum(R2^2)\n"
                                "F + a*D; R2; D; rr2; rr2/rr";

static const double enough = 1e-9; /* of the residual's squared norm: as the script has it */

enum { ROWS, COLS };

typedef struct side {
    int64_t n;
    clf_mat *X, *F, *R, *S, *rr, *b; /* X as this side sees it: t(X) for columns */
    clf_mat *count, *zero;           /* ratings of each row of it */
    clf_fn *begin, *step;
} side;

static bool record(alg_run *r, side *s, const side *other, int64_t nnz) {
    clf_ctx *c = r->c;
    clf_mat *X = clf_param_sparse(c, r->type, s->n, other->n, nnz), *G = clf_param(c, r->type, other->n, r->p.rank, false);
    clf_mat *F = clf_param(c, r->type, s->n, r->p.rank, false), *R = clf_param(c, r->type, s->n, r->p.rank, false);
    clf_mat *S = clf_param(c, r->type, s->n, r->p.rank, false), *lambda = clf_num(c, r->p.lambda);
    clf_mat *rr = clf_param(c, r->type, 0, 0, true), *b = clf_param(c, r->type, 0, 0, true);
    const clf_binding begin[] = {{"X", X}, {"F", F}, {"G", G}, {"nf", s->count}, {"ng", other->count}, {"lambda", lambda}};
    const clf_binding step[] = {{"X", X},   {"F", F}, {"G", G},         {"R", R},          {"S", S},
                                {"rr", rr}, {"b", b}, {"nf", s->count}, {"lambda", lambda}};
    return alg_fn(r, begin_text, 3, begin, 6, &s->begin) && alg_fn(r, step_text, 7, step, 9, &s->step);
}

/* X as the side sees it, its ratings counted, and random factors for the rows that have some. */
static bool prepare(alg_run *r, side *s, clf_mat *X, int which) {
    clf_ctx *c = r->c;
    s->n = which == ROWS ? r->n : r->m;
    s->X = which == ROWS ? X : clf_t(X);
    s->count = clf_cast(clf_expr(c, "rowSums(X != 0)", &(clf_binding){"X", s->X}, 1), r->type);
    const clf_binding start[] = {{"R", clf_rand(c, CLF_F64, s->n, r->p.rank, -0.5, 0.5, 1, r->p.seed + 2 + (uint64_t)which)},
                                 {"n", s->count}};
    s->F = clf_cast(clf_expr(c, "R * (n != 0)", start, 2), r->type);
    s->S = clf_fill(c, r->type, s->n, r->p.rank, 0);
    s->R = clf_fill(c, r->type, s->n, r->p.rank, 0);
    s->zero = clf_cast(clf_num(c, 0), r->type);
    s->rr = s->b = NULL;
    clf_mat *all[] = {s->X, s->count, s->F, s->S, s->R, s->zero};
    return clf_eval(6, all) == CLF_OK || alg_library_failed(r);
}

/* Squared norm of the gradient by s's factors, and the loss. */
static bool begin(alg_run *r, side *s, const side *other, double *norm, double *loss) {
    clf_mat *out[] = {s->R, s->rr, NULL};
    bool good = alg_call(r, s->begin, 3, (clf_mat *[]){s->X, s->F, other->F}, 3, out);
    s->R = out[0], s->rr = out[1];
    good = good && ((clf_read_f64(out[1], norm) == CLF_OK && clf_read_f64(out[2], loss) == CLF_OK) || alg_library_failed(r));
    clf_free(out[2]);
    return good && (isfinite(*loss) || alg_fail(r, "the loss is not a finite number: ratings or lambda are too large"));
}

/* Solve for the side's factors, its residual and its squared norm being `begin`'s. */
static bool solve(alg_run *r, side *s, const side *other, double norm) {
    const double stop = enough * norm;
    const int64_t most = r->p.inner > 0 ? r->p.inner : r->p.rank;
    bool good = true;
    for (int64_t i = 0; good && i < most && norm > stop; i++) {
        clf_mat *b = i ? s->b : s->zero; /* begin anew: the direction of before counts for nothing */
        clf_mat *args[] = {s->X, s->F, other->F, s->R, s->S, s->rr, b}, *out[] = {s->F, s->R, s->S, s->rr, s->b};
        good = alg_call(r, s->step, 7, args, 5, out);
        s->F = out[0], s->R = out[1], s->S = out[2], s->rr = out[3], s->b = out[4];
        good = good && (clf_read_f64(s->rr, &norm) == CLF_OK || alg_library_failed(r));
    }
    return good;
}

static bool iterate(alg_run *r, side *u, side *v) {
    double norm, loss;
    bool go = r->p.iterations > 0;
    if (!begin(r, u, v, &norm, &loss)) return false;
    r->objective = loss;
    while (go) {
        if (!solve(r, u, v, norm) || !begin(r, v, u, &norm, &loss) || !solve(r, v, u, norm)) return false;
        if (!begin(r, u, v, &norm, &loss)) return false; /* of the next iteration: it tells what this one reached */
        go = alg_goes_on(r, loss);
    }
    return true;
}

static bool check(alg_run *r, int64_t *nnz) {
    if (!alg_check(r, "", 0, NULL)) return false;
    if (r->p.rank < 1) return alg_fail(r, "the rank is %lld: at least 1 is needed", (long long)r->p.rank);
    if (!(r->p.lambda >= 0)) return alg_fail(r, "lambda is %g: it may not be negative", r->p.lambda);
    if (clf_nnz(r->X, nnz) != CLF_OK) return alg_library_failed(r);
    return *nnz > 0 || alg_fail(r, "no ratings: every cell is 0");
}

static bool train(alg_run *r) {
    side u = {.n = 0}, v = {.n = 0};
    int64_t nnz;
    if (!check(r, &nnz)) return false;
    size_t mark = clf_epoch_begin(r->c); /* of what is made from here on, only the model stays */
    clf_mat *X = alg_entries(r);
    bool good =
        X && prepare(r, &u, X, ROWS) && prepare(r, &v, X, COLS) && record(r, &u, &v, nnz) && record(r, &v, &u, nnz) && iterate(r, &u, &v);
    if (good) {
        r->model[0].name = "U", r->model[0].value = clf_keep(u.F);
        r->model[1].name = "V", r->model[1].value = clf_keep(v.F);
    }
    clf_epoch_end(r->c, mark);
    clf_fn *fns[] = {u.begin, u.step, v.begin, v.step};
    for (int i = 0; i < 4; i++) clf_fn_free(fns[i]);
    return good;
}

const algorithm alg_als_cg = {
    .name = "als_cg",
    .about = "factors of sparse ratings, weighted squared loss, alternating conjugate gradients",
    .generate = "P = rand(rows=n, cols=m, min=-0.1, max=0.1, sparsity=0.05, seed=seed); A = rand(rows=n, cols=k, seed=seed+8)\n"
                "B = rand(rows=m, cols=k, seed=seed+9); X = (P != 0) * (A %*% t(B)) + P",
    .rows = 10000,
    .cols = 1000,
    .defaults = {.lambda = 1e-3, .tolerance = 1e-12, .iterations = 20, .rank = 20, .seed = 1},
    .train = train,
};
