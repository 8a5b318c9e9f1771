/* SPDX-License-Identifier: Apache-2.0
 * What aggregates mean on integers held as doubles, and in which types they run. */
#include <math.h>

#include "tests/support/random_make.h"

double rp_limit(clf_dtype t) {
    switch (t) {
    case CLF_F32: return 0x1p24;
    case CLF_I32: return 0x1p31 - 1;
    case CLF_U8: return 255;
    default: return 0x1p53;
    }
}

clf_dtype rp_fold_value_type(int fold, clf_dtype t) {
    bool adds = fold == CLF_FOLD_CODE_SUM || fold == CLF_FOLD_CODE_SUMSQ || fold == CLF_FOLD_CODE_PROD;
    bool divides = fold == CLF_FOLD_CODE_MEAN || fold == CLF_FOLD_CODE_VAR;
    if (rp_real(t)) return t;
    return adds ? CLF_I64 : divides ? CLF_F64 : t;
}

typedef struct facts {
    double sum, squares, size, least, most, prod, growth;
    int64_t nnz, first_least, first_most;
} facts;

static facts look(const double *v, int64_t n, int64_t stride) {
    facts f = {.least = INFINITY, .most = -INFINITY, .prod = 1, .growth = 1};
    for (int64_t i = 0; i < n; i++) {
        double x = v[i * stride], a = fabs(x);
        f.sum += x;
        f.size += a;
        f.squares += x * x;
        f.prod *= x;
        f.growth *= a > 1 ? a : 1;
        f.nnz += x != 0;
        if (x < f.least) f.least = x, f.first_least = i + 1;
        if (x > f.most) f.most = x, f.first_most = i + 1;
    }
    return f;
}

static double mean(clf_dtype t, double sum, int64_t n) { return t == CLF_F32 ? (double)(float)(sum / (double)n) : sum / (double)n; }

bool rp_fold(int fold, clf_dtype t, const double *v, int64_t n, int64_t stride, double *out) {
    facts f = look(v, n, stride);
    double most = rp_limit(t);
    switch (fold) {
    case CLF_FOLD_CODE_SUM: *out = f.sum; return f.size <= most;
    case CLF_FOLD_CODE_SUMSQ: *out = f.squares; return f.squares <= most;
    case CLF_FOLD_CODE_MIN: *out = f.least; return n > 0;
    case CLF_FOLD_CODE_MAX: *out = f.most; return n > 0;
    case CLF_FOLD_CODE_PROD: *out = f.prod; return f.growth <= most;
    case CLF_FOLD_CODE_MEAN: *out = mean(t, f.sum, n); return n > 0 && f.size <= most;
    case CLF_FOLD_CODE_ARGMIN: *out = (double)f.first_least; return true;
    case CLF_FOLD_CODE_ARGMAX: *out = (double)f.first_most; return true;
    case CLF_FOLD_CODE_ANY: *out = f.nnz > 0; return true;
    case CLF_FOLD_CODE_ALL: *out = f.nnz == n; return true;
    case CLF_FOLD_CODE_NNZ: *out = (double)f.nnz; return true;
    default: return false;
    }
}
