/* SPDX-License-Identifier: Apache-2.0
 * outer_memory_*: 10^5 x 10^5 cells with a chance of 10^-5 each, within 1 GiB. The matrix of all cells would be 75 GiB; what is checked is
 * the result, and that the library's own peak stays within the gibibyte its context is limited to. */
#include <math.h>
#include <stdio.h>
#include "perf/ml.h"

/* clang-format off */
#define MEMORY(what, program_, result_) \
    {.name = "outer_memory_" #what, .program = program_, .inputs = "XUV", .matrix = ML_UNIFORM, .n = 100000, .m = 100000, .k = 10, \
     .density = 1e-5, .result = result_, .oracle = ml_oracle_##what}
static const ml_case cases[] = {
    MEMORY(loss, "R = sum(X * log(U %*% t(V) + 1e-15))", ML_NUMBER),
    MEMORY(right, "R = (X * (U %*% t(V))) %*% V", ML_N_K),
    MEMORY(left, "R = t(X * (U %*% t(V))) %*% U", ML_M_K),
};
/* clang-format on */

static void run(bench_row *row, const ml_case *k, const ml_data *d, bench_subject *s, const bench_options *opt) {
    clf_mem_stats m = {.struct_size = sizeof m};
    bench_count(row, s, 0);
    if (row->ok) row->ours_ms = bench_sample(bench_subject_call, s, opt->quick ? 1 : 50);
    if (row->ok) ml_subject_check(row, s, k, d, "ours");
    if (clf_get_mem_stats(s->ctx, &m) != CLF_OK || m.peak > (size_t)1 << 30)
        return bench_row_fail(row, "peak of %llu bytes", (unsigned long long)m.peak);
    if (row->ok) snprintf(row->why, sizeof row->why, "peak %.1f MiB", (double)m.peak / (1 << 20));
}

static void memory_case(const bench_run *r, const ml_case *k, ml_data *d) {
    char why[200] = "";
    bench_subject s = {0};
    bench_row row;
    bench_row_init(&row, k->name, "ml", "f64", r->device_name);
    row.rows = k->n;
    row.cols = k->m;
    row.sparsity = k->density;
    if (!ml_data_make(d, k, false))
        bench_row_fail(&row, "not enough memory for the inputs");
    else if (!ml_subject_open(&s, r, k, d, r->device, r->opt->fuse, (size_t)1 << 30, why, sizeof why))
        bench_row_fail(&row, "%.150s", why);
    if (row.ok) {
        k->oracle(&d->a, d->want, d->scale);
        run(&row, k, d, &s, r->opt);
    }
    bench_subject_close(&s);
    r->emit(r->user, &row);
}

void ml_memory(const bench_run *r) {
    ml_data d = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (bench_wanted(r->opt, "ml", cases[i].name)) memory_case(r, &cases[i], &d);
    ml_data_free(&d);
}
