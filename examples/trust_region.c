/* SPDX-License-Identifier: Apache-2.0
 * The trust region Newton method that MLogreg and GLM share: C.-J. Lin, R. C. Weng, S. S. Keerthi, Trust region Newton method for
 * large-scale logistic regression, JMLR 9, 2008, algorithms 1 and 2, as SystemML's scripts MultiLogReg.dml and GLM.dml have it. An
 * iteration minimises the quadratic model of the objective by conjugate gradients within a radius, goes there if the objective follows
 * the model, and sets the next radius by how well it did.
 *
 * Two functions do the work, each in one pass over X. `step` is one turn of the conjugate gradients: the product with the second
 * derivative, and what follows from it; its scalars stay where they are, C reads one number to know whether to go on. `move` evaluates
 * loss, derivative and curvature at the point reached, before it is known whether that is taken: it nearly always is. */
#include "examples/trust_region.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* S: the solution so far, R: the residual, V: the direction, rr = sum(R^2). Where the minimum along V lies beyond the radius, the step
 * ends there, and the last result is 0. */
static const char step_text[] = "Z = X %%*%% V\n%s\nHV = t(X) %%*%% C + lambda*V\n"
                                "curve = sum(V*HV); sv = sum(S*V); vv = sum(V^2); ss = sum(S^2)\n"
                                "try = rr/curve; inside = curve > 0 & ss + try*(2*sv + try*vv) <= radius2\n"
                                "room = max(radius2 - ss, 0); edge = room/(sv + sqrt(sv^2 + vv*room))\n"
                                "a = ifelse(inside, try, edge); S2 = S + a*V; R2 = R - a*HV; rr2 = sum(R2^2); V2 = R2 + (rr2/rr)*V\n"
                                "S2; R2; V2; rr2; ifelse(inside, rr2, 0)";
/* To B + S: N is minus the derivative; numbers are what the next radius and the next step need. */
static const char move_text[] = "B2 = B + S; L = X %%*%% B2\n%s\nN2 = t(X) %%*%% D - lambda*B2\n"
                                "B2; N2; W2; sum(N2^2); loss + 0.5*lambda*sum(B2^2); sum(S*N); sum(S*R); sum(S^2)";

enum { SOLUTION, RESIDUAL, DIRECTION, SQUARE, REST, STEP_RESULTS };
enum { POINT, NEGATIVE, WEIGHTS, STEEP, OBJECTIVE, SLOPE, LEFT, LENGTH, MOVE_RESULTS };

typedef struct trust {
    alg_run *r;
    int64_t k;
    bool sharp, small; /* small: the last step promised no more than rounding hides */
    clf_fn *step, *move;
    clf_mat *zero, *solve[STEP_RESULTS], *at[MOVE_RESULTS], *to[MOVE_RESULTS]; /* at: where we are; to: where we look */
    double radius, steep;                                                      /* steep: square of the derivative's norm */
} trust;

static bool record(trust *t, const trust_loss *l) {
    alg_run *r = t->r;
    char text[2048];
    clf_mat *p[8];
    for (int i = 0; i < 5; i++) p[i] = clf_param(r->c, r->type, i ? r->m : r->n, l->k, false);
    p[5] = clf_param(r->c, CLF_F64, 0, 0, true);
    p[6] = clf_param(r->c, CLF_F64, 0, 0, true);
    p[7] = clf_num(r->c, r->p.lambda);
    const clf_binding step[] = {{"S", p[1]}, {"R", p[2]},       {"V", p[3]}, {"rr", p[5]},
                                {"W", p[0]}, {"radius2", p[6]}, {"X", r->X}, {"lambda", p[7]}};
    clf_binding move[16] = {{"B", p[1]}, {"S", p[2]}, {"R", p[3]}, {"N", p[4]}, {"X", r->X}, {"lambda", p[7]}};
    memcpy(move + 6, l->vars, l->nvars * sizeof *l->vars);
    snprintf(text, sizeof text, step_text, l->curve);
    if (!alg_fn(r, text, 6, step, 8, &t->step)) return false;
    snprintf(text, sizeof text, move_text, l->point);
    return alg_fn(r, text, 4, move, 6 + l->nvars, &t->move);
}

/* Look at B + S: the numbers of `move`, in their places. This is the one wait of an iteration outside the conjugate gradients. */
static bool look(trust *t, clf_mat *S, clf_mat *R, double num[MOVE_RESULTS]) {
    clf_mat *in[] = {t->at[POINT], S, R, t->at[NEGATIVE]};
    if (!alg_call(t->r, t->move, 4, in, MOVE_RESULTS, t->to)) return false;
    for (int i = STEEP; i < MOVE_RESULTS; i++)
        if (clf_read_f64(t->to[i], &num[i]) != CLF_OK) return alg_library_failed(t->r);
    return true;
}

static void take(trust *t, double steep) {
    clf_mat *old[MOVE_RESULTS];
    memcpy(old, t->at, sizeof old);
    memcpy(t->at, t->to, sizeof old);
    memcpy(t->to, old, sizeof old); /* whose memory the next look uses */
    t->steep = steep;
}

/* Squares of the residual, as shares of the derivative's: good enough for a step, and to believe that no step leads on. */
static double enough(const trust *t) {
    double loose = t->sharp ? fmin(0.25, sqrt(t->steep)) : 0.01;
    return t->steep * (t->small ? fmin(loose, 1e-4) : loose);
}

/* The step, in solve[SOLUTION]: good enough, or as far as the radius. Each turn begins where the last ended. */
static bool conjugate_gradients(trust *t) {
    alg_run *r = t->r;
    int64_t limit = r->p.inner > 0 ? r->p.inner : r->m * t->k;
    clf_mat *radius2 = clf_num(r->c, t->radius * t->radius);
    clf_mat *in[] = {t->zero, t->at[NEGATIVE], t->at[NEGATIVE], t->at[STEEP], t->at[WEIGHTS], radius2};
    double rest = t->steep, least = enough(t);
    bool good = true;
    for (int64_t i = 0; i < limit && rest > least && good; i++) {
        good = alg_call(r, t->step, 6, in, STEP_RESULTS, t->solve);
        if (good && clf_read_f64(t->solve[REST], &rest) != CLF_OK) good = alg_library_failed(r);
        memcpy(in, t->solve, 4 * sizeof *in);
    }
    clf_free(radius2);
    return good;
}

/* Lin, Weng and Keerthi, (10) and what follows it. gain: the share of the promise that came true; alpha: where a parabola through the
 * objective along the step has its minimum, in lengths of the step. */
static double next_radius(double radius, double length, double gain, double alpha) {
    double there = fmin(alpha * length, 4 * radius);
    if (!(gain >= 1e-4)) return fmin(fmax(alpha, 0.25) * length, 0.5 * radius);
    if (gain < 0.25) return fmax(0.25 * radius, fmin(there, 0.5 * radius));
    return fmax(gain < 0.75 ? 0.25 * radius : radius, there);
}

/* What rounding of the objective hides, or the tolerance: of a change that is no larger nobody knows which share of a promise it is. */
static double hidden(const trust *t) {
    const alg_run *r = t->r;
    return fmax(r->p.tolerance, 16 * (r->type == CLF_F32 ? FLT_EPSILON : DBL_EPSILON)) * fabs(r->objective);
}

/* Told, counted, and whether there is more to gain than rounding hides: not, where a step that was solved with care promises nothing
 * either. One turn down a steep direction alone says nothing of a long valley. */
static bool goes_on(trust *t, double promise) {
    alg_run *r = t->r;
    r->iterations++;
    if (r->each) r->each(r->user, r->iterations, r->objective);
    bool careful = t->small;
    t->small = promise <= hidden(t);
    r->converged = (t->small && careful) || t->steep == 0;
    return !r->converged && r->iterations < r->p.iterations;
}

static bool out_of_range(alg_run *r) {
    return alg_fail(r, "the data's numbers are too large or too small to compute with: scale the columns");
}

static bool iterate(trust *t) {
    alg_run *r = t->r;
    double num[MOVE_RESULTS], promise, length, excess;
    do {
        if (!conjugate_gradients(t) || !look(t, t->solve[SOLUTION], t->solve[RESIDUAL], num)) return false;
        promise = 0.5 * (num[SLOPE] + num[LEFT]);
        length = sqrt(num[LENGTH]);
        if (!isfinite(promise) || !isfinite(length)) return out_of_range(r);
        double gain = (r->objective - num[OBJECTIVE]) / promise;
        excess = num[OBJECTIVE] - r->objective + num[SLOPE];
        if (r->iterations == 0) t->radius = fmin(t->radius, length);
        if (promise > hidden(t)) t->radius = next_radius(t->radius, length, gain, excess <= 0 ? 4 : fmax(0.25, 0.5 * num[SLOPE] / excess));
        if (gain > 1e-4) {
            r->objective = num[OBJECTIVE];
            take(t, num[STEEP]);
        }
    } while (goes_on(t, promise));
    return true;
}

/* What functions refer to are leaves, computed together. */
static bool leaves(trust *t, const trust_loss *l) {
    clf_mat *all[TRUST_VARS + 2] = {t->r->X, t->zero};
    for (size_t i = 0; i < l->nvars; i++) all[2 + i] = l->vars[i].value;
    return clf_eval(2 + l->nvars, all) == CLF_OK || alg_library_failed(t->r);
}

/* At B = 0. */
static bool start(trust *t) {
    alg_run *r = t->r;
    double num[MOVE_RESULTS];
    t->at[POINT] = t->at[NEGATIVE] = t->zero;
    if (!look(t, t->zero, t->zero, num)) return false;
    if (!isfinite(num[STEEP]) || !isfinite(num[OBJECTIVE])) return out_of_range(r);
    t->at[POINT] = t->at[NEGATIVE] = NULL;
    take(t, num[STEEP]);
    r->objective = num[OBJECTIVE];
    r->converged = num[STEEP] == 0; /* nothing to gain: no feature says anything */
    return true;
}

bool trust_train(alg_run *r, const trust_loss *loss) {
    trust t = {.r = r, .k = loss->k, .sharp = loss->sharp, .radius = loss->radius};
    if (!(r->p.lambda >= 0) || !(r->p.tolerance >= 0) || r->p.iterations < 1 || r->p.inner < 0)
        return alg_fail(r, "lambda, tolerance and inner iterations must not be negative, iterations must be positive");
    size_t mark = clf_epoch_begin(r->c); /* of the handles made from here on the model stays */
    t.zero = clf_fill(r->c, r->type, r->m, t.k, 0);
    bool good = leaves(&t, loss) && record(&t, loss) && start(&t) && (r->converged || iterate(&t));
    r->model[0].name = "B";
    r->model[0].value = good ? clf_keep(t.at[POINT]) : NULL;
    clf_fn_free(t.step);
    clf_fn_free(t.move);
    clf_epoch_end(r->c, mark);
    return good;
}
