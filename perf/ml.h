/* SPDX-License-Identifier: Apache-2.0
 * The suite ml: chains of machine learning over one dense or sparse X. What its files share.
 *
 * A case is a program, a reference by hand (the better of up to two), and an oracle: naive loops in long double. References and every
 * subject are held against the oracle inside the run. All inputs are positive, so that every bound is relative. */
#ifndef CLF_PERF_ML_H
#define CLF_PERF_ML_H
#include "perf/bench.h"
#include "perf/hand/ml.h"

typedef enum ml_matrix { ML_DENSE, ML_UNIFORM, ML_POWER } ml_matrix; /* cells of X present with one chance, or by a power law over rows */
typedef enum ml_result { ML_NUMBER, ML_N_K, ML_M_K, ML_FACTOR } ml_result; /* FACTOR: R n x k, G m x k and the number L */
typedef enum ml_rival { ML_PLAN, ML_BLAS } ml_rival; /* who stands in the column "unfused": our own plan, or OpenBLAS and a loop */

/* Results the naive way, and against what size errors are measured. */
typedef void (*ml_oracle)(const hand_ml *a, double *want, double *scale);
typedef struct ml_case {
    const char *name, *program; /* the result is named R; those of ML_FACTOR R, G and L */
    const char *inputs;         /* letters of X Y Z (n x m), U W (n x k), V (m x k) */
    ml_matrix matrix;
    int64_t n, m, k; /* n == 0: as many rows as the bytes for a dense X allow */
    double density;
    ml_result result;
    ml_oracle oracle;
    hand_ml_fn hand[2];
    double floor, floor_unfused; /* 0: no promise */
    ml_rival rival;
    bool tiled; /* in the suite ml: the loops in tiles, see ml_subject_tile */
} ml_case;
extern const ml_case ml_cases[]; /* ends with name == NULL */

/* ---- ml_data.c */
/* One case's inputs; what the next one needs too is kept. A dense X is always there, to read for the roof; with s[0] set the case's X is
 * that. Zeroed: empty. */
typedef struct ml_data {
    hand_ml a;
    double *x, *u, *v, *w, *out, *want, *scale;
    size_t x_cap, u_cap, v_cap, w_cap, out_cap, want_cap, scale_cap;
    ml_matrix law; /* of the sparse matrices in a.s */
    double density;
    int64_t most_cells; /* of a dense X; 0: by the machine's memory */
} ml_data;
/** Inputs of k. False when out of memory. */
bool ml_data_make(ml_data *d, const ml_case *k, bool quick);
void ml_data_free(ml_data *d);
/** Cells of the result. */
int64_t ml_data_outs(const hand_ml *a, ml_result r);
bool ml_has(const ml_case *k, char input);
/** A sparse matrix of numbers in [0.5, 1.5), its cells present by the law; its transpose. False when out of memory; free what there is. */
bool ml_sparse_draw(hand_csr *s, ml_matrix law, double density, int64_t n, int64_t m, uint64_t stream);
bool ml_sparse_flip(hand_csr *t, const hand_csr *s);
void ml_sparse_free(hand_csr *s);

/* ---- ml_oracle.c */
void ml_oracle_chain(const hand_ml *a, double *want, double *scale), ml_oracle_mlogreg(const hand_ml *a, double *want, double *scale);
void ml_oracle_spmv(const hand_ml *a, double *want, double *scale), ml_oracle_sp_chain(const hand_ml *a, double *want, double *scale);
void ml_oracle_sp3(const hand_ml *a, double *want, double *scale), ml_oracle_loss(const hand_ml *a, double *want, double *scale);
void ml_oracle_product(const hand_ml *a, double *want, double *scale); /* X %*% V, all of them positive */
void ml_oracle_factor(const hand_ml *a, double *want, double *scale);
void ml_oracle_right(const hand_ml *a, double *want, double *scale), ml_oracle_left(const hand_ml *a, double *want, double *scale);
/** Largest error of got, in units of what the reduction tree allows, and as a relative error. */
double ml_check(const hand_ml *a, ml_result r, const double *got, const double *want, const double *scale, double *rel);

/* ---- ml_blas.c */
/** t(X) %*% (w * (X %*% v)) by two calls of OpenBLAS and a loop; scratch has n numbers. False when there is no OpenBLAS. */
bool ml_blas_chain(const hand_ml *a, double *scratch);
/** X %*% V by OpenBLAS; NAN when there is none. */
void ml_blas_product(const hand_ml *a);

/* ---- ml_subject.c */
/** The case as a subject on a device; its context is limited to `limit` bytes, so that a plan gone dense fails instead of swapping. */
bool ml_subject_open(bench_subject *s, const bench_run *r, const ml_case *k, const ml_data *d, const char *device, const char *fuse,
                     size_t limit, char *why, size_t why_n);
/** Before its first call: its product runs by the loops in tiles, whatever the cost model thinks of them; then what it predicts is no
 *  prediction. False with a message. */
bool ml_subject_tile(bench_subject *s, char *why, size_t why_n);
/** Hold the subject's result against the oracle. */
void ml_subject_check(bench_row *row, bench_subject *s, const ml_case *k, const ml_data *d, const char *who);

/* ---- ml_memory.c */
void ml_memory(const bench_run *r);
#endif
