/* SPDX-License-Identifier: Apache-2.0
 * The bench program: what its parts share.
 *
 * A case is a program in our language, the cell function behind it as an oracle, and a hand-written reference. The way of measuring is
 * always the same: rounds of interleaved samples (hand, ours, unfused, device 0, hand again), each sample at least 8 ms of repeated
 * calls after a warm call; a ratio is the median over the rounds of the ratios inside each round; the noise is the median distance of
 * hand against itself. Every case checks its results inside the run, by a bound that follows from the reduction tree. */
#ifndef CLF_PERF_BENCH_H
#define CLF_PERF_BENCH_H
#include <stdbool.h>
#include <stddef.h>
#include "clfuse/clfuse.h"
#include "perf/hand/hand.h"

enum { BENCH_INS = 4, BENCH_OUTS = 3, BENCH_VALUES = 3, BENCH_ROUNDS_MAX = 101 };

typedef struct bench_options {
    const char *suites, *prefix, *json;                  /* comma list, case prefix, file; NULL: all, all, none */
    const char *inputs;                                  /* suite algorithms: folder that inputs are written to; NULL: they are not */
    const char *device, *fuse, *tier, *strategy, *dtype; /* NULL: default */
    int rounds;
    bool quick;
} bench_options;

/* Three input arrays, each of `bytes` bytes, filled with numbers in [0.5, 1.5) of one element type; two output arrays for the references. */
typedef struct bench_data {
    clf_dtype dtype;
    size_t bytes;
    void *in[3];
    void *out[2];
} bench_data;

/* How a result follows from cell value `value`: kept as it is, summed over all cells, over each row, over each column. */
typedef enum bench_kind { BENCH_CELLS, BENCH_SUM, BENCH_ROWS, BENCH_COLS } bench_kind;
typedef struct bench_out {
    const char *name;
    bench_kind kind;
    int value;
} bench_out;

typedef struct bench_case {
    const char *name; /* without _f32 */
    const char *program;
    int nin; /* inputs X, Y, Z: how many */
    int64_t cols;
    bench_out out[BENCH_OUTS]; /* ends with name == NULL; names of the program's results */
    /* The cell values for inputs in[], and against what size their errors are measured. Evaluated in double. */
    void (*cell)(const double in[3], double value[BENCH_VALUES], double scale[BENCH_VALUES]);
    int roundings;   /* bound of a cell value's error, in units of the element type's epsilon */
    hand_fn hand[2]; /* f32, f64 */
    double floor[2]; /* ratio to the reference that we promise at least: f32, f64 */
} bench_case;
extern const bench_case bench_cases[]; /* ends with name == NULL */

/* Parts of the suite plan: rows of each have columns of their own. */
typedef enum bench_plan_part { BENCH_PREDICT, BENCH_BEST, BENCH_FUSED, BENCH_DEVICES } bench_plan_part;

/* One line of the report. NaN and negative counts mean: does not apply. */
typedef struct bench_row {
    const char *name, *suite, *dtype, *device;
    char text[64]; /* storage of name */
    int64_t rows, cols;
    int kernels, launches;
    double ours_ms, hand_ms, unfused_ms, host_ms;
    double ratio_hand, ratio_unfused, ratio_host, noise;
    double bytes, counted_bytes, gbs, roof_gbs, predicted_ms, max_rel_err;
    double limit_ms;                     /* tiny cases: what we promise to stay under */
    double floor;                        /* ratio to the reference promised at least */
    double floor_unfused;                /* ratio to the unfused plan promised at least */
    double sparsity;                     /* share of stored cells of the main input */
    int part;                            /* suite plan: which of its parts, a bench_plan_part */
    double ratio_predicted;              /* suite plan: predicted over measured time */
    int plans;                           /* suite plan: how many there are, -1: not known */
    double best_ms, ratio_best;          /* suite plan: of the best other plan, or device; the chosen one's time over it, >= 1 for plans */
    double ratio_fused, ratio_fused_low; /* suite plan: time over the unfused plan's: median, lower quartile */
    bool below;                          /* suite plan: a promise is not kept */
    /* suite plan, loops: choices and components of the program; legal covers, if all were seen; partial covers costed, and without pruning;
     * the share of them that pruning saves, and what is promised at least */
    int choices, components;
    double covers, costed, costed_unpruned, saved, saved_least;
    bool planning; /* suite plan: ours_ms is the planning of something */
    const struct alg_figures *alg; /* suite algorithms: what its rows have besides */
    bool ok;
    char why[160]; /* why not ok, or a remark */
} bench_row;
/** A row with everything at "does not apply", ok true. */
void bench_row_init(bench_row *r, const char *name, const char *suite, const char *dtype, const char *device);
/** Mark a row as failed; the first reason stays. */
void bench_row_fail(bench_row *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- data.c */
bool bench_data_new(bench_data *d, size_t bytes);
void bench_data_fill(bench_data *d, clf_dtype t);
void bench_data_free(bench_data *d);
/** Bytes of one input array: what puts a case beyond the caches, within an eighth of the machine's memory. */
size_t bench_data_bytes(bool quick);
/** Number i of stream `which`, in [0.5, 1.5) with 24 bits. */
double bench_number(uint64_t i, uint64_t which);

/* ---- check.c */
/** Largest error of results against the cell function in double, in units of the bound (1 is the bound), and as a relative error. */
double bench_check(const bench_case *k, const bench_data *d, int64_t rows, const void *const *outs, const clf_dtype *types,
                   double *max_rel);

/* ---- sample.c */
typedef bool (*bench_call)(void *subject);
double bench_now_ms(void);
/** Mean milliseconds of a call: one warm call, then as many as fill min_ms. NaN when a call fails. */
double bench_sample(bench_call call, void *subject, double min_ms);
/** Wait until the threads of whoever ran last have gone to sleep: OpenMP's spin for milliseconds after a loop, on somebody's core. */
void bench_rest(void);
double bench_median(const double *v, int n); /* NaN values are left out */

/* ---- subject.c: a program as a function of the library in a context of its own */
typedef struct bench_program {
    const char *text;
    const char *in[BENCH_INS], *out[BENCH_OUTS]; /* names of variables and of results */
    size_t nin, nout;
} bench_program;
typedef struct bench_subject {
    clf_ctx *ctx;
    clf_fn *fn;
    bench_program program;
    clf_mat *arg[BENCH_INS], *out[BENCH_OUTS];
    const char *device; /* the device's text, for messages */
} bench_subject;
/** A context with the options applied. device and fuse win over those of opt. NULL, and a message in why, when it cannot be had. */
clf_ctx *bench_ctx(const bench_options *opt, const char *device, const char *fuse, char *why, size_t why_n);
/** A function of parameters shaped like the leaves in arg. owns: c, whatever is returned. */
bool bench_subject_open(bench_subject *s, clf_ctx *c, const bench_program *p, clf_mat *const *param, clf_mat *const *arg, char *why,
                        size_t why_n);
bool bench_subject_call(void *subject);
/** The program's results over s->arg, as recorded values, in the order of its outputs. */
bool bench_subject_record(bench_subject *s, clf_mat **out);
void bench_subject_close(bench_subject *s);
/** Count launches and bytes of a first call (which compiles) and a second one, before anything is timed, into row. Fails where nothing ran
 *  on the device, the reference executor ran, bytes counted and those of the plan differ, or fewer were counted than `least`. */
void bench_count(bench_row *row, bench_subject *s, double least);
/** What the plan says a call takes, from the second on. False when explain fails. */
bool bench_predicted(bench_subject *s, double *ms);
clf_stats bench_stats(clf_ctx *c);
uint64_t bench_launches(const clf_stats *s);

/* ---- rounds.c: the rounds of samples, and the figures of a row that follow from them */
typedef enum bench_who { BENCH_OURS, BENCH_UNFUSED, BENCH_HOST, BENCH_SUBJECTS } bench_who;
typedef struct bench_player {
    bench_call call; /* NULL: not in this game */
    void *subject;
} bench_player;
typedef struct bench_field {
    bench_player hand, who[BENCH_SUBJECTS], reader;
    double read_bytes; /* what the reader, who measures the roof, reads */
} bench_field;
bool bench_rounds(bench_row *row, const bench_field *f, const bench_options *opt);

/* ---- cells.c, tiny.c, loop.c (suite micro), ml_run.c (suite ml), alg_run.c (suite algorithms), plan_loops.c, plan_time.c, predict.c,
 * best.c, fused.c, devices.c (suite plan): run the cases; each hands rows to emit */
typedef void (*bench_emit)(void *user, const bench_row *row);
typedef struct bench_run {
    const bench_options *opt;
    char device[128]; /* the device option's text that names the device, such as "1" or "host" */
    char device_name[128];
    bench_emit emit;
    void *user;
    bool calibrated; /* profiles were measured in this process */
    struct bench_gpu *gpu; /* references in OpenCL C (perf/gpu.h): they are checked; NULL: none */
    bool gpu_hand;         /* and are what is compared with */
} bench_run;
void bench_run_cells(bench_run *r);
void bench_run_tiny(bench_run *r);
void bench_run_loop(bench_run *r);
void bench_run_ml(bench_run *r);
void bench_run_algorithms(bench_run *r);
void bench_run_plan_loops(bench_run *r);
void bench_run_plan_time(bench_run *r);
void bench_run_predict(bench_run *r);
void bench_run_best(bench_run *r);
void bench_run_fused(bench_run *r);
void bench_run_devices(bench_run *r);
void bench_run_latency(bench_run *r);
bool bench_wanted(const bench_options *o, const char *suite, const char *name);

/** Rows that a cells case has with these data. */
int64_t bench_cells_rows(const bench_case *k, const bench_data *d, bool quick);
/** A cells case as a subject. */
bool bench_cells_open(bench_subject *s, clf_ctx *c, const bench_case *k, const bench_data *d, int64_t rows, char *why, size_t why_n);

/* ---- report.c */
void bench_head(const bench_run *r);
void bench_line(const bench_row *row);
void bench_json(void *file, const bench_row *row);
#endif
