/* SPDX-License-Identifier: Apache-2.0
 * L2SVM in the tour: the data set of the program l2svm is written, read back, and trained on fused, unfused and by hand. The three must
 * find the same minimum; the library's weights are judged by a plain loop over the data. One iteration is drawn. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "examples/tour.h"

/* An iteration as one program, at a given step length: what the example's three functions do. */
static const char iteration_text[] = "s2 = g + b*s; Xd = X %*% s2\n"
                                     "slack = 1 - y*(Xw + a*Xd); active = slack > 0\n"
                                     "slope = sum(active*slack*y*Xd); curve = sum(active*Xd^2)\n"
                                     "w2 = w + a*s2; Xw2 = Xw + a*Xd; left = max(1 - y*Xw2, 0)\n"
                                     "g2 = t(X) %*% (left*y) - lambda*w2\n"
                                     "w2; Xw2; g2; slope; curve; 0.5*sum(left^2) + 0.5*lambda*sum(w2^2)";
enum { RESULTS_MAX = 24, VARS = 10 };

static void to_file(void *user, const char *text, size_t n) { fwrite(text, 1, n, user); }

static bool draw(l2svm *p, const char *path) {
    clf_mat *small = clf_num(p->c, 1e-3);
    const clf_binding vars[VARS] = {{"X", p->X},   {"y", p->y},   {"w", p->w},  {"s", p->s},  {"g", p->g},
                                    {"Xw", p->Xw}, {"Xd", p->Xd}, {"a", small}, {"b", small}, {"lambda", clf_num(p->c, p->o.lambda)}};
    clf_result all[RESULTS_MAX];
    clf_mat *results[RESULTS_MAX];
    size_t n = RESULTS_MAX, k = 0;
    for (int i = 0; i < 6; i++) clf_label(vars[i].value, vars[i].name);
    if (clf_parse(p->c, iteration_text, vars, VARS, all, &n) != CLF_OK) return false;
    for (size_t i = 0; i < n; i++)
        if (all[i].bare) results[k++] = all[i].value;
    FILE *f = fopen(path, "w");
    if (!f) return false;
    clf_status st = clf_explain(k, results, CLF_SVG, CLF_EXPLAIN_ANALYZE, to_file, f);
    return fclose(f) == 0 && st == CLF_OK;
}

/* ---- the training, three times ---- */

typedef struct trainings {
    l2svm fused, unfused;
    tour_hand_svm hand;
    double *space;
} trainings;

static bool fail(tour_row *row, const char *who, const char *why) {
    snprintf(row->why, sizeof row->why, "%s%s", who, why);
    return false;
}

/* Written and read in the fused context; the other one uses the same memory. */
static bool load(tour *t, trainings *all, tour_row *row) {
    static const char path[] = "out/l2svm.csv";
    const clf_load_options how = {.struct_size = sizeof how, .label = "1"};
    const l2svm_options o = L2SVM_DEFAULTS;
    const void *x, *y;
    clf_mat *labels = NULL;
    if (!l2svm_write_data(t->fused, path, t->svm_rows)) return fail(row, "", clf_last_error(t->fused));
    clf_mat *X = clf_load_with(t->fused, path, &how, &labels);
    if (clf_info(X, &row->rows, &row->cols, NULL, NULL) != CLF_OK || clf_data(X, &x) != CLF_OK || clf_data(labels, &y) != CLF_OK)
        return fail(row, "", clf_last_error(t->fused));
    if (!l2svm_prepare(&all->fused, t->fused, X, labels, &o)) return fail(row, "", all->fused.why);
    clf_mat *X2 = clf_borrow(t->unfused, CLF_F64, row->rows, row->cols, x, NULL, NULL),
            *labels2 = clf_borrow(t->unfused, CLF_F64, row->rows, 1, y, NULL, NULL);
    if (!l2svm_prepare(&all->unfused, t->unfused, X2, labels2, &o)) return fail(row, "unfused: ", all->unfused.why);
    return true;
}

/* The rival gets the prepared data. */
static bool prepare_hand(trainings *all, tour_row *row) {
    const l2svm *p = &all->fused;
    tour_hand_svm *h = &all->hand;
    const void *x, *y;
    const size_t m = (size_t)p->m, n = (size_t)p->n;
    if (clf_data(p->X, &x) != CLF_OK || clf_data(p->y, &y) != CLF_OK) return fail(row, "", clf_last_error(p->c));
    double *at = all->space = calloc(4 * m + 2 * n, sizeof *at);
    if (!at) return fail(row, "", "out of memory");
    *h = (tour_hand_svm){
        .x = x, .y = y, .n = p->n, .m = p->m, .lambda = p->o.lambda, .tolerance = p->o.tolerance, .max_iterations = p->o.max_iterations};
    h->w = at;
    h->s = at + m;
    h->g = at + 2 * m;
    h->next = at + 3 * m;
    h->xw = at + 4 * m;
    h->xd = at + 4 * m + n;
    return true;
}

static bool train(void *user) { return l2svm_train(user); }

static bool train_hand(void *user) {
    tour_hand_train(user);
    return true;
}

/* The objective at the weights that the library found, by a plain loop. */
static long double objective_at(const tour_hand_svm *h, const double *w) {
    long double loss = 0, ww = 0;
    for (int64_t i = 0; i < h->n; i++) {
        long double score = 0;
        for (int64_t j = 0; j < h->m; j++) score += (long double)h->x[i * h->m + j] * w[j];
        long double slack = 1 - h->y[i] * score;
        if (slack > 0) loss += slack * slack;
    }
    for (int64_t j = 0; j < h->m; j++) ww += (long double)w[j] * w[j];
    return 0.5L * loss + 0.5L * h->lambda * ww;
}

/* Relative distance of what the library says from what is so at its weights, and of that from the rival's minimum. */
static bool check(l2svm *p, const tour_hand_svm *h, tour_row *row) {
    const void *w;
    if (!p->converged) return fail(row, "", "the training did not converge");
    if (clf_data(p->w, &w) != CLF_OK) return fail(row, "", clf_last_error(p->c));
    long double true_value = objective_at(h, w);
    double wrong = (double)(fabsl(true_value - p->objective) / true_value), high = (double)(fabsl(true_value - h->objective) / true_value);
    if (!(wrong <= row->error)) row->error = wrong;
    if (!(high <= row->error)) row->error = high;
    row->bound = 1e-8; /* both stop where an iteration promises less than 1e-12 of the objective */
    return true;
}

/* Median times of whole trainings, and the bytes of one. */
static void measure(trainings *all, tour_row *row) {
    double ms[3], before[] = {tour_bytes(all->fused.c, NULL), tour_bytes(all->unfused.c, NULL)};
    uint64_t products = 0;
    if (!l2svm_train(&all->fused)) {
        fail(row, "", all->fused.why);
        return;
    }
    if (!l2svm_train(&all->unfused)) {
        fail(row, "unfused: ", all->unfused.why);
        return;
    }
    row->fused_bytes = tour_bytes(all->fused.c, &products) - before[0];
    row->unfused_bytes = tour_bytes(all->unfused.c, NULL) - before[1];
    row->products = products > 0;
    tour_hand_train(&all->hand);
    if (!check(&all->fused, &all->hand, row) || !check(&all->unfused, &all->hand, row)) return;
    const tour_fn run[] = {train, train, train_hand};
    tour_time(3, run, (void *[]){&all->unfused, &all->fused, &all->hand}, ms);
    row->unfused_ms = ms[0];
    row->fused_ms = ms[1];
    row->hand_ms = ms[2];
}

bool tour_run_svm(tour *t, tour_row *row) {
    trainings *all = calloc(1, sizeof *all);
    *row = (tour_row){.name = "L2SVM training"};
    if (!all) return fail(row, "", "out of memory");
    if (mkdir("out", 0777) != 0 && errno != EEXIST)
        fail(row, "cannot make the folder out: ", strerror(errno));
    else if (load(t, all, row) && prepare_hand(all, row))
        measure(all, row);
    if (!row->why[0] && !draw(&all->fused, "out/plan.svg")) fail(row, "cannot draw out/plan.svg: ", clf_last_error(t->fused));
    free(all->space);
    free(all);
    return !row->why[0];
}
