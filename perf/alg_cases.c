/* SPDX-License-Identifier: Apache-2.0
 * The cases of the suite algorithms: shapes, data and what is promised. Parameters are the algorithm's defaults, which are those of
 * Table 2 in Boehm et al., On Optimizing Operator Fusion Plans (PVLDB 11, 2018), with the classes and ranks said here. The promise against
 * the plan that fuses nothing stands at the paper's tall or sparse shape. */
#include "perf/algorithms.h"
#include "perf/hand/calls.h"

/* clang-format off */
#define TALL .matrix = ML_DENSE, .n = 1000000, .m = 10
#define MIDDLE .matrix = ML_DENSE, .n = 100000, .m = 100
#define WIDE .matrix = ML_DENSE, .n = 10000, .m = 1000
#define SPARSE .matrix = ML_UNIFORM, .n = 100000, .m = 1000, .density = 0.05
#define RATINGS .matrix = ML_POWER, .n = 50000, .m = 10000, .density = 0.005, .cells = ALG_POSITIVE
#define SOME_RATINGS .matrix = ML_POWER, .n = 10000, .m = 5000, .density = 0.005, .cells = ALG_POSITIVE
#define QUICK_RATINGS .quick_n = 300, .quick_m = 200
#define QUICK_SOME_RATINGS .quick_n = 0
#define QUICK_TALL .quick_n = 4000, .quick_m = 10
#define QUICK_SPARSE .quick_n = 1000, .quick_m = 200
#define HAND_AT_LEAST .floor_hand = 0.85

#define FEATURES(name_, k_, least, labels_, cells_, calls_) \
    {.name = #name_ "_1e6x10", .algorithm = #name_, TALL, QUICK_TALL, .k = k_, .labels = labels_, .cells = cells_, \
     .hand = hand_alg_##name_, .calls = calls_, .floor_none = least, HAND_AT_LEAST}, \
    {.name = #name_ "_1e5x100", .algorithm = #name_, MIDDLE, .k = k_, .labels = labels_, .cells = cells_, \
     .hand = hand_alg_##name_, .calls = calls_, HAND_AT_LEAST}, \
    {.name = #name_ "_1e4x1000", .algorithm = #name_, WIDE, .k = k_, .labels = labels_, .cells = cells_, \
     .hand = hand_alg_##name_, .calls = calls_, HAND_AT_LEAST}, \
    {.name = #name_ "_sparse", .algorithm = #name_, SPARSE, QUICK_SPARSE, .k = k_, .labels = labels_, .cells = cells_, \
     .hand = hand_alg_##name_, .calls = calls_, HAND_AT_LEAST}

#define ALS(name_, shape_, least) \
    {.name = name_, .algorithm = "als_cg", shape_, QUICK_##shape_, .k = 20, .makes_cells = true, \
     .start = {"rand(rows=n, cols=k, min=-0.5, max=0.5, seed=seed+2) * (rowSums(X != 0) != 0)", \
               "rand(rows=m, cols=k, min=-0.5, max=0.5, seed=seed+3) * t(colSums(X != 0) != 0)"}, \
     .hand = hand_alg_als_cg, .floor_none = least, HAND_AT_LEAST}

/* Uniform within sqrt(6 / (rows + cols)). */
#define WEIGHTS(rows, cols, add) \
    "(2*rand(rows=" rows ", cols=" cols ", seed=seed+" add ") - 1) * sqrt(6/(" rows "+" cols "))"

const alg_case alg_cases[] = {
    FEATURES(l2svm, 0, 3, ALG_SIGNS, ALG_SIGNED, hand_calls_l2svm),
    FEATURES(mlogreg, 2, 3, ALG_CLASSES, ALG_SIGNED, hand_calls_mlogreg),
    {.name = "mlogreg_5classes", .algorithm = "mlogreg", MIDDLE, .quick_n = 2000, .quick_m = 20, .k = 5, .labels = ALG_CLASSES,
     .hand = hand_alg_mlogreg, .calls = hand_calls_mlogreg, HAND_AT_LEAST},
    FEATURES(glm_probit, 0, 5, ALG_CHANCES, ALG_SIGNED, hand_calls_glm_probit),
    FEATURES(glm_poisson, 0, 0, ALG_COUNTS, ALG_SIGNED, hand_calls_glm_poisson),
    FEATURES(kmeans, 5, 4, ALG_NO_LABELS, ALG_CLOUDS, hand_calls_kmeans),
    ALS("als_cg_ratings", RATINGS, 0),
    ALS("als_cg_some", SOME_RATINGS, 50),
    {.name = "autoencoder_20k", .algorithm = "autoencoder", .matrix = ML_DENSE, .n = 20000, .m = 784, .quick_n = 1024, .quick_m = 64,
     .cells = ALG_UNIT, .start = {WEIGHTS("m", "k", "0"), WEIGHTS("k", "2", "1"), WEIGHTS("2", "k", "2"), WEIGHTS("k", "m", "3")},
     .hand = hand_alg_autoencoder, .calls = hand_calls_autoencoder, .floor_none = 1.3, HAND_AT_LEAST},
    {.name = "gnmf_ratings", .algorithm = "gnmf", RATINGS, QUICK_RATINGS, .k = 20,
     .start = {"rand(rows=n, cols=k, min=0.01, max=1, seed=seed+2)", "rand(rows=m, cols=k, min=0.01, max=1, seed=seed+3)"},
     .hand = hand_alg_gnmf, .calls = hand_calls_gnmf, HAND_AT_LEAST},
    {.name = "pagerank_1e5", .algorithm = "pagerank", .matrix = ML_POWER, .n = 100000, .m = 100000, .density = 1e-4,
     .quick_n = 1000, .quick_m = 1000, .cells = ALG_POSITIVE, .makes_cells = true, .hand = hand_alg_pagerank,
     .calls = hand_calls_pagerank, HAND_AT_LEAST},
    {0},
};
