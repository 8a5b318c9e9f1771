/* SPDX-License-Identifier: Apache-2.0
 * The tour: what its parts share. */
#ifndef EXAMPLES_TOUR_H
#define EXAMPLES_TOUR_H
#include <stdbool.h>
#include "clfuse/clfuse.h"
#include "examples/l2svm.h"

enum { TOUR_INS = 3, TOUR_OUTS = 3, TOUR_ROUNDS_MIN = 3, TOUR_ROUNDS_MAX = 9 };

/* Three inputs of rows x cols numbers in [0.5, 1.5); two arrays of that size and three numbers for results of hand-written code. */
typedef struct tour_data {
    double *in[TOUR_INS], *out[2];
    double number[TOUR_OUTS];
    int64_t rows, cols;
} tour_data;

/* A workload: a program whose bare expressions are its results, a hand-written rival, and a check that shares no code with either. */
typedef struct tour_case {
    const char *name, *program;
    int ins;                     /* inputs X, Y, Z: how many */
    int64_t cols;
    void (*hand)(tour_data *d);
    /* Largest relative error of the results, computed by a plain loop; bound: what rounding may cost. */
    double (*error)(const tour_data *d, const void *const *outs, double *bound);
} tour_case;

/* One line of the table. */
typedef struct tour_row {
    const char *name;
    int64_t rows, cols;
    double fused_ms, unfused_ms, hand_ms;      /* medians of interleaved runs */
    double fused_bytes, unfused_bytes;         /* of one run, counted by the library; matrix products are not in it */
    bool products;                             /* there were some */
    double read_gbs;                           /* of plain reading, measured in turn with the others; 0: not measured */
    double error, bound;                       /* largest relative error; what it may be at most */
    char why[640];                             /* not empty: the case could not run */
} tour_row;

typedef struct tour {
    clf_ctx *fused, *unfused;                  /* on the same device */
    clf_device device;
    int64_t cells, svm_rows;                   /* of an input; of L2SVM's data set */
} tour;

/* ---- tour_case.c: the five micro workloads */
extern const tour_case tour_cases[];           /* ends with name == NULL */
bool tour_data_new(tour_data *d, int64_t cells);
void tour_data_free(tour_data *d);
void tour_run_case(tour *t, const tour_case *k, tour_data *d, tour_row *row);
/** Bytes streamed and library products so far. */
double tour_bytes(clf_ctx *c, uint64_t *products);
/** Median milliseconds of interleaved runs: run[i](user[i]) in turn, 3 to 9 rounds. NaN where a run fails. */
typedef bool (*tour_fn)(void *user);
void tour_time(int n, const tour_fn run[], void *const user[], double ms[]);
/** Gigabytes a second of reading the inputs. */
double tour_read_gbs(tour_data *d);

/* ---- tour_svm.c: L2SVM on the data set that the program l2svm writes; also draws one of its iterations */
bool tour_run_svm(tour *t, tour_row *row);

/* ---- tour_check.c: the errors */
double tour_error_xyz(const tour_data *d, const void *const *outs, double *bound);
double tour_error_three(const tour_data *d, const void *const *outs, double *bound);
double tour_error_loss(const tour_data *d, const void *const *outs, double *bound);
double tour_error_options(const tour_data *d, const void *const *outs, double *bound);
double tour_error_columns(const tour_data *d, const void *const *outs, double *bound);

/* ---- tour_hand.c: what a good programmer writes with OpenMP */
/** Read the three inputs and nothing else: what the memory gives. */
void tour_hand_read(tour_data *d);
void tour_hand_xyz(tour_data *d);
void tour_hand_three(tour_data *d);
void tour_hand_loss(tour_data *d);
void tour_hand_options(tour_data *d);
void tour_hand_columns(tour_data *d);

typedef struct tour_hand_svm {
    const double *x, *y;                       /* n x m, n */
    int64_t n, m;
    double lambda, tolerance;
    int max_iterations;
    double *w, *s, *g, *next;                  /* m each */
    double *xw, *xd;                           /* n each */
    double objective;
    int iterations;
} tour_hand_svm;
/** Train as the example does, every pass fused by hand. */
void tour_hand_train(tour_hand_svm *p);
#endif
