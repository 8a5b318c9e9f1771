/* SPDX-License-Identifier: Apache-2.0
 * Algorithms on the public interface: what the files of this kind share (mlogreg.c, glm.c, kmeans.c, ... one algorithm each, a row in
 * algorithm.c's table) and what runs them (train.c, a program; tests and the bench call them too).
 *
 * How such a file is written: the work on the data is a few programs in the library's language, recorded once as functions; C code steers
 * with the numbers they return. What C does not decide by stays a handle: scalars go from one call into the next without being read, so
 * that an iteration waits for the device once, where it asks whether to go on. */
#ifndef EXAMPLES_ALGORITHM_H
#define EXAMPLES_ALGORITHM_H
#include <stdbool.h>
#include <stddef.h>
#include "clfuse/clfuse.h"

/* What the user may set; which of them an algorithm reads is said in its file. */
typedef struct alg_params {
    double lambda;    /* weight of the regularisation */
    double tolerance; /* stop when an iteration lowers the objective by less than this share of it, or as the algorithm's file says */
    int iterations;   /* at most */
    int inner;        /* of the loop inside, at most; 0: no limit of its own */
    int64_t rank;     /* columns of factors, clusters, hidden units, classes: as the algorithm's file says */
    int64_t batch;    /* rows of a mini-batch */
    double step;      /* learning rate */
    uint64_t seed;    /* of random starts */
} alg_params;

enum { ALG_MODEL = 8 };

/* One training: what goes in, and what comes out. Handles belong to the context. */
typedef struct alg_run {
    clf_ctx *c;
    clf_mat *X, *y; /* n x m and n x 1, f64 or f32, X may be sparse; y NULL where there are no labels */
    alg_params p;
    void (*each)(void *user, int iteration, double objective); /* after every iteration (from 1); may be NULL */
    void *user;
    /* results */
    double objective;      /* what is minimised, at the model */
    int iterations, calls; /* iterations done, in the outer loop and calls of functions in all */
    bool converged;
    struct {
        const char *name;
        clf_mat *value;
    } model[ALG_MODEL]; /* ends with name == NULL or is full */
    char why[512];      /* what went wrong */
    /* for the files' own use */
    int64_t n, m;
    clf_dtype type;
} alg_run;

typedef struct algorithm {
    const char *name, *about;
    bool labels;          /* needs y */
    const char *generate; /* a program that makes X (and y) when no file is given: variables n, m, k (rank) and seed */
    int64_t rows, cols;   /* of what is generated, unless said otherwise */
    alg_params defaults;
    /* Train. False: see why. */
    bool (*train)(alg_run *r);
} algorithm;

extern const algorithm *const algorithms[];         /* ends with NULL */
const algorithm *algorithm_named(const char *name); /* NULL: none */

/** X (and y) as the algorithm's `generate` says, evaluated leaves. rank as in the parameters. False: the message is the context's. */
bool alg_generate(const algorithm *a, clf_ctx *c, clf_dtype type, int64_t rows, int64_t cols, const alg_params *p, clf_mat **X,
                  clf_mat **y);

/* ---- for the files of the algorithms ---- */

/** Say what is wrong; gives false. */
bool alg_fail(alg_run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** The context's last message becomes the reason; gives false. */
bool alg_library_failed(alg_run *r);
/** Shape and type of X into n, m, type; y must be n x 1; every cell must be a finite number. In the same pass over the data: what else the
 *  algorithm asks of it, a program over X and y whose n bare expressions are numbers, as of alg_numbers ("" for none; NULL: the algorithm
 *  looks at the cells itself). False: see why. */
bool alg_check(alg_run *r, const char *asked, size_t n, double *out);
/** The values of a program's n bare expressions, each one number, evaluated together. False: see why. */
bool alg_numbers(alg_run *r, const char *text, const clf_binding *vars, size_t nvars, size_t n, double *out);
/** A function from text (clf_fn_parse). False: see why. */
bool alg_fn(alg_run *r, const char *text, size_t nparams, const clf_binding *vars, size_t nvars, clf_fn **out);
/** Call, counting; out as clf_call has it. False: see why. */
bool alg_call(alg_run *r, clf_fn *f, size_t nargs, clf_mat *const *args, size_t nouts, clf_mat **outs);
/** An iteration is done and reached this objective: tells `each`, sets r->objective and r->iterations, and says whether to go on: not
 *  when the last one lowered the objective by less than tolerance times it, and not beyond the limit. */
bool alg_goes_on(alg_run *r, double objective);
/** Is X stored by its entries? structural: and are its other cells zeros that annihilate? After alg_check. */
bool alg_by_entries(const alg_run *r, bool structural);
/** X by its entries, with zeros that annihilate: X itself if it is so, else a copy of what is not 0. After alg_check. NULL: see why. */
clf_mat *alg_entries(alg_run *r);
#endif
