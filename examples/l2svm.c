/* SPDX-License-Identifier: Apache-2.0
 * L2SVM on the public interface: nonlinear conjugate gradients outside, a line search by Newton steps inside (the algorithm that
 * SystemML's fusion paper measures).
 *
 * How to read it: three programs in the library's language, recorded once as functions, do all work on the data; C code steers with
 * the numbers they return. Each program is planned as a whole: `line` is one pass over y, Xw and Xd that gives two sums, however many
 * operators it names; in `move`, X w, the loss and the slacks come from one pass, and the gradient is a library product.
 * Scalars are arguments, so the loop compiles nothing after its first turn and runs in constant memory. */
#include "examples/l2svm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The next direction, and X times it. b = 0 starts anew with the gradient. */
static const char direction_text[] = "s2 = g + b*s; Xd = X %*% s2\n"
                                     "s2; Xd; sum(w*s2); sum(s2^2); sum(s2*g)";
/* First and second derivative of the loss along the direction, at step length a. */
static const char line_text[] = "slack = 1 - y*(Xw + a*Xd); active = slack > 0\n"
                                "sum(active*slack*y*Xd); sum(active*Xd^2)";
/* Go there: new weights, scores, loss and gradient, and the numbers that the next direction needs. */
static const char move_text[] = "w2 = w + a*s; Xw2 = Xw + a*Xd; slack = max(1 - y*Xw2, 0)\n"
                                "g2 = t(X) %*% (slack*y) - lambda*w2\n"
                                "w2; Xw2; g2; sum(slack^2); sum(w2^2); sum(g2^2); sum(g2*g)";

enum { LINE_STEPS = 30 };

bool l2svm_record(l2svm *p) {
    clf_ctx *c = p->c;
    size_t mark = clf_epoch_begin(c); /* handles made from here on are only needed for recording */
    clf_mat *w = clf_param(c, CLF_F64, p->m, 1, false), *s = clf_param(c, CLF_F64, p->m, 1, false);
    clf_mat *g = clf_param(c, CLF_F64, p->m, 1, false), *Xw = clf_param(c, CLF_F64, p->n, 1, false);
    clf_mat *Xd = clf_param(c, CLF_F64, p->n, 1, false), *num = clf_param(c, CLF_F64, 0, 0, true);
    const clf_binding direction[] = {{"w", w}, {"s", s}, {"g", g}, {"b", num}, {"X", p->X}};
    const clf_binding line[] = {{"Xw", Xw}, {"Xd", Xd}, {"a", num}, {"y", p->y}};
    const clf_binding move[] = {
        {"w", w}, {"s", s}, {"g", g}, {"Xw", Xw}, {"Xd", Xd}, {"a", num}, {"X", p->X}, {"y", p->y}, {"lambda", clf_num(c, p->o.lambda)}};
    clf_status st = clf_fn_parse(c, direction_text, 4, direction, 5, &p->direction);
    if (st == CLF_OK) st = clf_fn_parse(c, line_text, 3, line, 4, &p->line);
    if (st == CLF_OK) st = clf_fn_parse(c, move_text, 6, move, 9, &p->move);
    clf_epoch_end(c, mark);
    return st == CLF_OK;
}

/* Run a function on matrices and one number; its first results are matrices, the others scalars, which are read. A result may replace
 * an argument: a handle is only a name, the values themselves do not change. */
static clf_status run(l2svm *p, clf_fn *f, size_t nargs, clf_mat *const *in, double scalar, size_t nmats, clf_mat *const *out, size_t nnums,
                      double *num) {
    clf_mat *args[8], *results[8];
    memcpy(args, in, nargs * sizeof *in);
    args[nargs] = clf_num(p->c, scalar);
    if (nmats) memcpy(results, out, nmats * sizeof *out);
    memcpy(results + nmats, p->number, nnums * sizeof *results);
    clf_status st = clf_call(f, nargs + 1, args, nmats + nnums, results);
    for (size_t i = 0; st == CLF_OK && i < nnums; i++) st = clf_read_f64(results[nmats + i], &num[i]);
    clf_free(args[nargs]);
    p->passes++;
    return st;
}

static clf_status next_direction(l2svm *p, double b, double num[3]) {
    return run(p, p->direction, 3, (clf_mat *[]){p->w, p->s, p->g}, b, 2, (clf_mat *[]){p->s, p->Xd}, 3, num);
}

static clf_status move(l2svm *p, double a, double num[4]) {
    clf_mat *in[] = {p->w, p->s, p->g, p->Xw, p->Xd}, *out[] = {p->w, p->Xw, p->g};
    clf_status st = run(p, p->move, 5, in, a, 3, out, 4, num);
    if (st == CLF_OK) p->objective = 0.5 * num[0] + 0.5 * p->o.lambda * num[1];
    return st;
}

/* Newton's method on the objective along the direction: its first derivative is piecewise linear. */
static clf_status line_search(l2svm *p, double ws, double ss, double *a) {
    double num[2], first = 1, second = 0;
    *a = 0;
    for (int k = 0; k < LINE_STEPS && !(first * first <= p->o.tolerance * p->objective * second); k++) {
        clf_status st = run(p, p->line, 2, (clf_mat *[]){p->Xw, p->Xd}, *a, 0, NULL, 2, num);
        if (st != CLF_OK) return st;
        first = p->o.lambda * (ws + *a * ss) - num[0];
        second = p->o.lambda * ss + num[1];
        if (!(second > 0)) break;
        *a -= first / second;
    }
    return CLF_OK;
}

/* Where the training starts: all zero, so that `move` by 0 gives the first gradient. */
static void start(l2svm *p) {
    clf_mat **const state[] = {&p->w, &p->s, &p->g, &p->Xw, &p->Xd};
    for (int i = 0; i < 5; i++) {
        if (*state[i]) clf_free(*state[i]);
        *state[i] = clf_fill(p->c, CLF_F64, i < 3 ? p->m : p->n, 1, 0);
    }
    for (int i = 0; i < 5; i++)
        if (!p->number[i]) p->number[i] = clf_num(p->c, 0);
    p->iterations = p->passes = 0;
    p->converged = false;
}

static clf_status train(l2svm *p) {
    double d[3], v[4], a, b = 0, gg;
    start(p);
    clf_status st = move(p, 0, v);
    while (st == CLF_OK && !p->converged && p->iterations < p->o.max_iterations) {
        gg = v[2];
        if ((st = next_direction(p, b, d)) != CLF_OK) break;
        if ((st = line_search(p, d[0], d[1], &a)) != CLF_OK) break;
        if ((st = move(p, a, v)) != CLF_OK) break;
        p->iterations++;
        if (p->each) p->each(p->user, p->iterations, p->objective);
        p->converged = !(a * d[2] > p->o.tolerance * p->objective); /* step times slope: what this iteration promised */
        b = fmax(0, (v[2] - v[3]) / gg);                            /* Polak and Ribiere; 0 begins anew with the gradient */
    }
    return st;
}

static bool done(l2svm *p, clf_status st) {
    if (st != CLF_OK) snprintf(p->why, sizeof p->why, "%s", clf_last_error(p->c));
    return st == CLF_OK;
}

bool l2svm_train(l2svm *p) { return done(p, train(p)); }

bool l2svm_accuracy(l2svm *p, double *out) {
    const clf_binding vars[] = {{"y", p->y}, {"Xw", p->Xw}};
    clf_mat *right = clf_expr(p->c, "mean(y*Xw > 0)", vars, 2);
    clf_status st = clf_read_f64(right, out);
    clf_free(right);
    return done(p, st);
}
