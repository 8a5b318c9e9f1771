/* SPDX-License-Identifier: Apache-2.0
 * What the suites of CLBlast share: contexts on PoCL that use it, products with their bound by plain loops. */
#ifndef CLF_TESTS_CLBLAST_TESTING_H
#define CLF_TESTS_CLBLAST_TESTING_H
#include <float.h>
#include <math.h>

#include "tests/unit/api_testing.h"

/* Every operator a step on the first OpenCL device, products by CLBlast. NULL: there is no device. */
static inline clf_ctx *open_clblast(const char *library, const char *host_pointers, const char *compile) {
    clf_ctx *c = open_on("1");
    clf_device d = {.struct_size = sizeof d};
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "none"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK); /* tiny ones, too */
    CU_ASSERT_EQUAL(clf_set(c, "clblast", "on"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "clblast_library", library), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "host_pointers", host_pointers), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "compile", compile), CLF_OK);
    if (clf_device_at(c, 1, &d)) return c;
    clf_close(c);
    return NULL;
}

/* Numbers from -1 to 1 with all bits of the type in use. */
static inline void fill_random(clf_dtype t, size_t n, uint64_t seed, double *exact, void *cells) {
    for (size_t i = 0; i < n; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double x = (double)(seed >> 11) * 0x1p-52 - 1;
        exact[i] = t == CLF_F32 ? (double)(float)x : x;
        if (t == CLF_F32)
            ((float *)cells)[i] = (float)x;
        else
            ((double *)cells)[i] = x;
    }
}

/* m x k times k x n, operands as they lie; got, too. Any order of sums is within (k + 1) u |A| |B| of the exact product, and so is ours in
 * long double. */
static inline bool within_bound(clf_dtype t, bool ta, bool tb, size_t m, size_t n, size_t k, const double *a, const double *b, const void *got) {
    double u = t == CLF_F32 ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            long double sum = 0, size = 0;
            for (size_t p = 0; p < k; p++) {
                long double x = (long double)a[ta ? p * m + i : i * k + p] * (long double)b[tb ? j * k + p : p * n + j];
                sum += x;
                size += fabsl(x);
            }
            double g = t == CLF_F32 ? (double)((const float *)got)[i * n + j] : ((const double *)got)[i * n + j];
            if (fabsl((long double)g - sum) <= (long double)(((double)k + 2) * u) * size) continue;
            printf("\n    %zu x %zu x %zu%s%s: cell %zu, %zu is %.17g and not %.17Lg\n", m, k, n, ta ? " ta" : "", tb ? " tb" : "", i, j, g, sum);
            return false;
        }
    return true;
}

typedef struct product_case { bool ta, tb; size_t m, n, k; } product_case;

/* One product, computed and compared. */
static inline bool product_right(clf_ctx *c, clf_dtype t, const product_case *p) {
    size_t na = p->m * p->k, nb = p->k * p->n, nc = p->m * p->n;
    double *a = malloc((na + nb) * sizeof *a), *b = a + na, *cells = malloc((na + nb + nc) * sizeof *cells);
    void *ca = cells, *cb = cells + na, *got = cells + na + nb;
    fill_random(t, na, 1 + p->m, a, ca);
    fill_random(t, nb, 7 + p->n, b, cb);
    clf_mat *x = clf_matrix(c, t, (int64_t)(p->ta ? p->k : p->m), (int64_t)(p->ta ? p->m : p->k), ca);
    clf_mat *y = clf_matrix(c, t, (int64_t)(p->tb ? p->n : p->k), (int64_t)(p->tb ? p->k : p->n), cb);
    clf_mat *r = clf_matmul(p->ta ? clf_t(x) : x, p->tb ? clf_t(y) : y);
    clf_status st = clf_read(r, got, nc * (t == CLF_F32 ? 4 : 8));
    if (st != CLF_OK) printf("\n    %s: %s\n", clf_status_name(st), clf_last_error(c));
    bool good = st == CLF_OK && within_bound(t, p->ta, p->tb, p->m, p->n, p->k, a, b, got);
    clf_free(r);
    free(a);
    free(cells);
    return good;
}
#endif
