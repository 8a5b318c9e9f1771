/* SPDX-License-Identifier: Apache-2.0
 * The suite algorithms: whole trainings of examples/, time per iteration. What its files share.
 *
 * A case is an algorithm of the table in examples/algorithm.c at one shape. It is trained in turns under each selector (a context of its
 * own, the same memory), by fused OpenMP C (perf/hand/alg_*.c) and, for some, by a plain sequence of calls of which none is fused
 * (perf/hand/calls_*.c). Everybody does the same iterations from the same start: the objective after each of them is compared. Times are
 * those between iterations, the first left out, where plans are made and kernels loaded; ratios are over the iterations that both did.
 * A case whose algorithm is not in the table is left out. */
#ifndef CLF_PERF_ALGORITHMS_H
#define CLF_PERF_ALGORITHMS_H
#include "examples/algorithm.h"
#include "perf/bench.h"
#include "perf/hand/algorithm.h"
#include "perf/ml.h"

typedef enum alg_labels {
    ALG_NO_LABELS,
    ALG_SIGNS,   /* -1 or 1 */
    ALG_CLASSES, /* 1 to k */
    ALG_CHANCES, /* -1 or 1, with the chance that a normal distribution gives */
    ALG_COUNTS   /* of a Poisson distribution */
} alg_labels;
typedef enum alg_cells {
    ALG_SIGNED,   /* in [-1, 1) */
    ALG_POSITIVE, /* in [0.5, 1.5) */
    ALG_UNIT,     /* in [0, 1) */
    ALG_CLOUDS    /* in [-1, 1) around one of eight centres */
} alg_cells;

enum { ALG_STARTS = 4 };
typedef struct alg_case {
    const char *name, *algorithm;
    ml_matrix matrix;
    int64_t n, m, k; /* k: rank, classes, clusters; 0: the algorithm's own */
    int64_t quick_n, quick_m;
    double density;
    alg_cells cells;
    alg_labels labels;
    bool makes_cells; /* the plan that fuses nothing makes all cells of a sparse X */
    int inner;        /* at most so many iterations of the loop inside; 0: the algorithm's own */
    /* Programs over n, m, k, seed and X: what the example begins with, for those who are no example. An example that draws its start from
     * the data has it in its model, under the name "start". */
    const char *start[ALG_STARTS];
    hand_alg_fn hand, calls;
    double floor_none, floor_hand; /* promised at least; 0: nothing */
} alg_case;
extern const alg_case alg_cases[]; /* ends with name == NULL */

/* ---- alg_data.c */
/* Inputs of a case as everybody gets them; the memory is here. */
typedef struct alg_data {
    hand_alg a;
    double *x, *y, *start[ALG_STARTS];
    size_t start_cells[ALG_STARTS];
    hand_csr s, twin;
} alg_data;
/** Inputs of k with parameters p. False: why says it. */
bool alg_data_make(alg_data *d, const alg_case *k, const alg_params *p, bool quick, char *why, size_t why_n);
void alg_data_free(alg_data *d);
/** Room for so many numbers of start i. NULL: no memory. */
double *alg_data_start(alg_data *d, int i, size_t cells);
/** X and y of the data in a context, in place. */
void alg_data_bind(const alg_data *d, clf_ctx *c, clf_mat **X, clf_mat **y);
/** Write the inputs into a folder, for programs that are not linked with this one: arrays as they lie in memory; case.json says the rest,
 *  and what objective so many iterations reach. False: why says it. */
bool alg_data_save(const alg_data *d, const alg_case *k, const char *folder, char *why, size_t why_n);

/* ---- alg_trace.c: what was seen at the iterations of a training */
enum { ALG_STEPS = 64 };
typedef struct alg_trace {
    int n, calls;
    double begin_ms, end_ms, at_ms[ALG_STEPS], objective[ALG_STEPS];
    clf_stats before, at[ALG_STEPS]; /* zero where no context is trained in */
    clf_ctx *c;                      /* NULL: by hand */
} alg_trace;
/** Milliseconds per iteration over the iterations 2 to n. NaN when there are fewer than two. */
double alg_trace_ms(const alg_trace *t, int n);
/** Did the iterations 2 to n of both run the same plans? So they did where, counted at each of them, launches of every kind, waits, bytes
 *  and what the plans foretold of their time are the same. False by hand, and where n < 2. */
bool alg_trace_same(const alg_trace *a, const alg_trace *b);

/* ---- alg_train.c: one training
 * Who plays: the selectors, then those who use no library. The twin is a second context with the selector cost: its time over that of the
 * first shows how far apart two trainings by one plan are measured. */
typedef enum alg_who { ALG_COST, ALG_NONE, ALG_ALL, ALG_NORED, ALG_TWIN, ALG_HAND, ALG_CALLS, ALG_PLAYERS } alg_who;
extern const char *const alg_who_name[ALG_PLAYERS];
typedef struct alg_player {
    const algorithm *a;
    clf_ctx *c; /* NULL: by hand */
    clf_mat *X, *y;
    hand_alg_fn hand;
    bool alone; /* by one thread */
    alg_data *d;
    alg_params p;
} alg_player;
bool alg_player_plays(const alg_player *p);
/** Its context with the options applied, the inputs of p->d in place. False: why says it. */
bool alg_player_open(alg_player *p, const bench_run *r, const char *fuse, char *why, size_t why_n);
void alg_player_close(alg_player *p);
/** Train for so many iterations. False: why says it. */
bool alg_player_train(alg_player *p, int iterations, alg_trace *t, char *why, size_t why_n);

/* ---- what a row of this suite has besides */
typedef struct alg_figures {
    double ms[ALG_PLAYERS], ratio[ALG_PLAYERS]; /* per iteration; the other's over that of cost */
    double first_ms[ALG_PLAYERS];               /* from the call to the end of the first iteration, plans and kernels being there */
    bool same[ALG_PLAYERS];                     /* its iterations ran the plans that those of cost ran, see alg_trace_same */
    double ratio_others;                        /* the better of all and nored over cost; of the same plan: 1 */
    double ratio_calls;                         /* the plan that fuses nothing against the sequence of calls: the latter over the former */
    double bytes[ALG_PLAYERS], products[ALG_PLAYERS], launches,
        waits; /* per iteration; bytes are those of fused steps, products of the BLAS */
    double plan_ms, find_ms, load_ms,
        build_ms;      /* of a training in a new context: planning, devices found, kernels loaded; compiling, the first time */
    double plan_share; /* of a run of 20 iterations in a new context, without loading kernels */
    double peak_bytes[ALG_PLAYERS];
    int iterations, calls;
} alg_figures;

/* What is promised of every row. */
extern const double alg_least_others, alg_least_calls, alg_most_planning;
/** Is a promise of the row not kept, noise left aside? Which, into what (may be NULL). */
bool alg_below(const bench_row *row, const char **what);
void alg_line(const bench_row *row);
void alg_json(void *file, const bench_row *row);
#endif
