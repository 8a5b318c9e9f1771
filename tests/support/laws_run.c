/* SPDX-License-Identifier: Apache-2.0
 * Evaluating and comparing for the laws; see laws_run.h. */
#include "tests/support/laws_run.h"

#include <math.h>
#include <string.h>

bool law_evaluate(const rp_program *p, clf_ctx *c, const int *node, int n, law_results *x) {
    clf_mat *root[RP_NODES];
    memset(x, 0, sizeof *x);
    rp_record(p, c, x->h);
    for (int k = 0; k < n; k++) root[k] = x->h[node[k]];
    bool good = clf_eval((size_t)n, root) == CLF_OK;
    for (int k = 0; k < n && good; k++) good = rp_compare(p, node[k], root[k]) == -1 && clf_data(root[k], &x->data[node[k]]) == CLF_OK;
    if (!good) printf("\n    %s\n", clf_last_error(c));
    return good;
}

bool law_evaluate_all(const rp_program *p, clf_ctx *c, law_results *x) {
    int all[RP_NODES];
    for (int i = 0; i < p->n; i++) all[i] = i;
    return law_evaluate(p, c, all, p->n, x);
}

static double real_at(const void *x, int64_t i, clf_dtype t) {
    return t == CLF_F32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

bool law_related(clf_dtype t, const void *a, int64_t i, const void *b, int64_t j, law_relation r) {
    size_t each = clf_dtype_bytes(t);
    if (t != CLF_F32 && t != CLF_F64) return !memcmp((const char *)a + (size_t)i * each, (const char *)b + (size_t)j * each, each);
    double x = real_at(a, i, t) * r.by, y = real_at(b, j, t);
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    return x == y && (x != 0 || r.any_zero || signbit(x) == signbit(y));
}

bool law_differs(const char *what, int node, clf_dtype t, const void *a, int64_t i, const void *b, int64_t j) {
    if (what && (t == CLF_F32 || t == CLF_F64))
        printf("\n    %s: node n%d, cell %lld: %.17g and %.17g\n", what, node, (long long)i, real_at(a, i, t), real_at(b, j, t));
    else if (what)
        printf("\n    %s: node n%d, cell %lld\n", what, node, (long long)i);
    return false;
}

bool law_same_run(const char *what, const rp_program *p, int i, const void *a, int64_t from, const void *b, int64_t n, law_relation r) {
    clf_dtype t = p->node[i].m.t;
    r.any_zero = r.any_zero || rp_sparse(p);
    for (int64_t k = 0; k < n; k++)
        if (!law_related(t, a, from + k, b, k, r)) return law_differs(what, i, t, a, from + k, b, k);
    return true;
}
