/* SPDX-License-Identifier: Apache-2.0
 * The cases of the suite ml, those with the same matrix side by side. */
#include "perf/ml.h"

/* clang-format off */
#define MVCHAIN(m_, floor_) \
    {.name = "mvchain_" #m_, .program = chain, .inputs = "XVW", .m = m_, .k = 1, .result = ML_M_K, .oracle = ml_oracle_chain, \
     .hand = {hand_mvchain_1, hand_mvchain_4}, .floor = floor_, .floor_unfused = 2.0, .rival = ML_BLAS}
#define MMCHAIN(k_, floor_) \
    {.name = "mmchain_k" #k_, .program = chain, .inputs = "XVW", .m = 100, .k = k_, .result = ML_M_K, .oracle = ml_oracle_chain, \
     .hand = {hand_mmchain_k##k_##_1, hand_mmchain_k##k_##_4}, .floor = floor_}
#define OUTER(what, r, d, program_, size, result_, floor_) \
    {.name = "outer_" #what "_r" #r "_d" #d, .program = program_, .inputs = "XUV", .matrix = ML_UNIFORM, .n = size, .m = size, .k = r, \
     .density = d, .result = result_, .oracle = ml_oracle_##what, .hand = {hand_outer_##what}, .floor = floor_}
#define OUTERS(d, size, right_10, right_100) \
    OUTER(loss, 10, d, loss, size, ML_NUMBER, 1.3), OUTER(loss, 100, d, loss, size, ML_NUMBER, 1.3), \
    OUTER(right, 10, d, right, size, ML_N_K, right_10), OUTER(right, 100, d, right, size, ML_N_K, right_100), \
    OUTER(left, 10, d, left, size, ML_M_K, 1.1), OUTER(left, 100, d, left, size, ML_M_K, 1.1)
#define SP3(d, rows) \
    {.name = "sp3_sum_d" #d, .program = "R = sum(X * Y * Z)", .inputs = "XYZ", .matrix = ML_UNIFORM, .n = rows, .m = 10000, .k = 1, \
     .density = d, .result = ML_NUMBER, .oracle = ml_oracle_sp3, .hand = {hand_sp3_sum}, .floor = 2.0}

/* Two square matrices by the loops in tiles, whatever the cost model thinks of them, beside one call of OpenBLAS. */
#define PRODUCT(side) \
    {.name = "product_" #side, .program = "R = X %*% V", .inputs = "XV", .n = side, .m = side, .k = side, .result = ML_N_K, \
     .oracle = ml_oracle_product, .hand = {ml_blas_product}, .floor = 0.9, .tiled = true}

static const char chain[] = "R = t(X) %*% (W * (X %*% V))";
static const char logreg[] = "P = W * (X %*% V); R = t(X) %*% (P - W * rowSums(P))";
static const char loss[] = "R = sum(X * log(U %*% t(V) + 1e-15))";
static const char factor[] = "L = sum((X != 0) * (X - U %*% t(V))^2) + 0.02 * (sum(U^2) + sum(V^2)); R = grad(L, U); G = grad(L, V)";
static const char right[] = "R = (X * (U %*% t(V))) %*% V", left[] = "R = t(X * (U %*% t(V))) %*% U";

const ml_case ml_cases[] = {
    MVCHAIN(10, 1.05), MVCHAIN(100, 1.05), MVCHAIN(1000, 0.88), MVCHAIN(10000, 0.88),
    MMCHAIN(2, 1.2), MMCHAIN(8, 0.95), MMCHAIN(32, 0.85),
    {.name = "mlogreg_k8", .program = logreg, .inputs = "XVW", .m = 100, .k = 8, .result = ML_M_K, .oracle = ml_oracle_mlogreg,
     .hand = {hand_mlogreg_k8_1, hand_mlogreg_k8_4}, .floor = 0.9},
    {.name = "spmv", .program = "R = X %*% V", .inputs = "XV", .matrix = ML_UNIFORM, .n = 100000, .m = 100000, .k = 1, .density = 1e-3,
     .result = ML_N_K, .oracle = ml_oracle_spmv, .hand = {hand_spmv_1, hand_spmv_4}, .floor = 0.93},
    {.name = "sp_mvchain", .program = chain, .inputs = "XVW", .matrix = ML_UNIFORM, .n = 100000, .m = 100000, .k = 1, .density = 1e-3,
     .result = ML_M_K, .oracle = ml_oracle_sp_chain, .hand = {hand_sp_mvchain_1, hand_sp_mvchain_4}, .floor = 1.0},
    {.name = "spmv_powerlaw", .program = "R = X %*% V", .inputs = "XV", .matrix = ML_POWER, .n = 100000, .m = 100000, .k = 1,
     .density = 1e-3, .result = ML_N_K, .oracle = ml_oracle_spmv, .hand = {hand_spmv_1, hand_spmv_4}, .floor = 0.9},
    OUTERS(0.1, 4000, 1.5, 1.5),
    OUTERS(0.01, 20000, 1.5, 1.5),
    OUTERS(0.001, 50000, 1.5, 1.5),
    OUTERS(0.0001, 100000, 1.0, 1.25),
    /* A matrix small enough that our unfused plan, which makes U %*% t(V), finishes. */
    {.name = "outer_loss_unfused", .program = loss, .inputs = "XUV", .matrix = ML_UNIFORM, .n = 10000, .m = 10000, .k = 10, .density = 1e-4,
     .result = ML_NUMBER, .oracle = ml_oracle_loss, .hand = {hand_outer_loss}, .floor_unfused = 300},
    SP3(0.1, 4000), SP3(0.01, 40000),
    /* An epoch of a factorisation: the loss and both gradients. */
    {.name = "factorize", .program = factor, .inputs = "XUV", .matrix = ML_POWER, .n = 100000, .m = 50000, .k = 20, .density = 1e-3,
     .result = ML_FACTOR, .oracle = ml_oracle_factor, .hand = {hand_factorize}, .floor = 0.9},
    PRODUCT(500), PRODUCT(1000), PRODUCT(2000),
    {.name = NULL},
};
/* clang-format on */
