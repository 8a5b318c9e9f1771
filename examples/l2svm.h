/* SPDX-License-Identifier: Apache-2.0
 * A linear support vector machine with squared hinge loss, trained by the library: minimises
 *     0.5*sum(max(0, 1 - y*(X w))^2) + lambda/2*|w|^2        y: -1 or 1
 * Used by the program l2svm and by the tour. */
#ifndef EXAMPLES_L2SVM_H
#define EXAMPLES_L2SVM_H
#include <stdbool.h>
#include "clfuse/clfuse.h"

typedef struct l2svm_options {
    double lambda;
    double tolerance;   /* stop when an iteration promises to lower the objective by less than this share of it */
    int max_iterations;
    bool standardise;   /* columns to mean 0 and deviation 1 (divisor n) */
    bool intercept;     /* append a column of ones; its weight is regularised like the others */
} l2svm_options;
#define L2SVM_DEFAULTS {.lambda = 1e-3, .tolerance = 1e-12, .max_iterations = 1000, .standardise = true, .intercept = true}

/* A problem, its three functions and where the training stands. Handles belong to the context and go with it. */
typedef struct l2svm {
    clf_ctx *c;
    l2svm_options o;
    clf_mat *X, *y;                    /* n x m; n x 1 of -1 and 1 */
    int64_t n, m;
    clf_fn *direction, *line, *move;
    clf_mat *w, *s, *g, *Xw, *Xd;      /* weights, direction, -gradient (m x 1); X w and X s (n x 1) */
    clf_mat *number[5];                /* scalar results */
    double objective;
    int iterations, passes;            /* of the outer loop; calls of the three functions */
    bool converged;
    void (*each)(void *user, int iteration, double objective); /* after every iteration; NULL: nobody is told */
    void *user;
    char why[512];                     /* what went wrong */
} l2svm;

/** Write a labelled data set of 20 columns as CSV, the label (0 or 1) in front. Seeded; noise keeps the classes from being separable.
 *  False: the message is the context's. */
bool l2svm_write_data(clf_ctx *c, const char *path, int64_t rows);
/** Prepare features (n x m) and labels (n x 1, two different values: the larger one becomes 1, the other -1). False: see why. */
bool l2svm_prepare(l2svm *p, clf_ctx *c, clf_mat *features, clf_mat *labels, const l2svm_options *o);
/** Record the three functions (l2svm_prepare does it). False: the message is the context's. */
bool l2svm_record(l2svm *p);
/** Train from w = 0; may be called again. False: see why. */
bool l2svm_train(l2svm *p);
/** After it: the share of rows on the right side. False: see why. */
bool l2svm_accuracy(l2svm *p, double *out);
#endif
