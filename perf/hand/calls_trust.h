/* SPDX-License-Identifier: Apache-2.0
 * What multinomial logistic regression and generalised linear models share as sequences of calls: the method, and its memory. */
#ifndef CLF_PERF_HAND_CALLS_TRUST_H
#define CLF_PERF_HAND_CALLS_TRUST_H
#include "perf/hand/calls.h"

enum { CALLS_COLUMNS = 8 };

typedef struct calls_newton calls_newton;
/* From the scores L: W2, the weights; E, what t(X) is multiplied by; gives the loss. */
typedef double (*calls_point)(calls_newton *p);
/* From Z = X V and W: C, what t(X) is multiplied by. */
typedef void (*calls_curve)(calls_newton *p);

struct calls_newton {
    hand_alg *a;
    int64_t k, cells, tall;                       /* columns of B; m * k; n * k */
    double *B, *B2, *S, *R, *V, *HV, *N, *N2, *t; /* m x k */
    double *Z, *C, *W, *W2, *L, *E, *Y;           /* n x k */
    double *column[CALLS_COLUMNS];                /* n */
    double radius, steep, next_steep, objective, next_objective;
    calls_point point;
    calls_curve curve;
    bool sharp, small; /* small: the last step promised no more than rounding hides */
    double rest; /* what the loss has besides the rows' */
};

/** Train from zeros, a->iterations times; sharp as in the example. False: memory is short, or there is no OpenBLAS. */
bool calls_trust(hand_alg *a, int64_t k, calls_point point, calls_curve curve, bool sharp, double rest);
#endif
