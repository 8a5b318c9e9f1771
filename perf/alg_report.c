/* SPDX-License-Identifier: Apache-2.0
 * The report of the suite algorithms: a line of the table, the keys that its rows have besides in JSON, and which promises are kept. */
#include <math.h>
#include <stdio.h>
#include "perf/algorithms.h"

bool alg_below(const bench_row *row, const char **what) {
    const alg_figures *f = row->alg;
    const struct {
        bool is;
        const char *text;
    } below[] = {
        {row->ratio_unfused < row->floor_unfused, "none"},
        {row->ratio_hand < row->floor - row->noise, "hand"},
        {f->ratio_others < alg_least_others - row->noise, "others"},
        {f->ratio_calls < alg_least_calls - row->noise, "calls"},
        {f->plan_share > alg_most_planning, "planning"},
    };
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        if (!below[i].is) continue;
        if (what) *what = below[i].text;
        return true;
    }
    return false;
}

static void cell(int width, int digits, double v) {
    if (isnan(v))
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, digits, v);
}

void alg_line(const bench_row *row) {
    const alg_figures *f = row->alg;
    const char *what = "";
    char size[32];
    snprintf(size, sizeof size, "%lldx%lld", (long long)row->rows, (long long)row->cols);
    printf("%-22s %12s", row->name, size);
    for (int i = 0; i < ALG_PLAYERS; i++) cell(9, f->ms[i] < 1 ? 4 : 2, f->ms[i]);
    cell(6, 2, row->ratio_unfused);
    cell(7, 2, row->floor_unfused);
    cell(6, 2, f->ratio_others);
    cell(6, 2, row->ratio_hand);
    cell(6, 2, f->ratio_calls);
    cell(8, 2, f->bytes[ALG_COST] * 1e-6);
    cell(8, 2, f->bytes[ALG_NONE] * 1e-6);
    cell(8, 3, f->plan_ms);
    cell(7, 3, f->plan_share * 100);
    printf("%%");
    cell(8, 1, f->first_ms[ALG_COST]);
    cell(6, 0, f->peak_bytes[ALG_COST] * 0x1p-20);
    if (!row->ok)
        printf("  FAILED");
    else if (row->below && alg_below(row, &what))
        printf("  below (%s)", what);
    printf(" %s\n", row->why);
    fflush(stdout);
}

static void number(FILE *f, const char *stem, const char *tail, double v) {
    if (isfinite(v))
        fprintf(f, ", \"%s%s\": %.9g", stem, tail, v);
    else
        fprintf(f, ", \"%s%s\": null", stem, tail);
}

void alg_json(void *file, const bench_row *row) {
    const alg_figures *a = row->alg;
    FILE *f = file;
    for (int i = 0; i < ALG_PLAYERS; i++) {
        number(f, "iteration_ms_", alg_who_name[i], a->ms[i]);
        number(f, "first_ms_", alg_who_name[i], a->first_ms[i]);
        number(f, "ratio_to_cost_", alg_who_name[i], a->ratio[i]);
        if (i >= ALG_HAND) continue;
        number(f, "iteration_bytes_", alg_who_name[i], a->bytes[i]);
        number(f, "iteration_products_", alg_who_name[i], a->products[i]);
        number(f, "peak_bytes_", alg_who_name[i], a->peak_bytes[i]);
        fprintf(f, ", \"same_plans_%s\": %s", alg_who_name[i], a->same[i] ? "true" : "false");
    }
    number(f, "ratio_others", "", a->ratio_others);
    number(f, "ratio_others_at_least", "", alg_least_others);
    number(f, "ratio_calls", "", a->ratio_calls);
    number(f, "ratio_calls_at_least", "", alg_least_calls);
    number(f, "iteration_launches", "", a->launches);
    number(f, "iteration_waits", "", a->waits);
    number(f, "plan_ms", "", a->plan_ms);
    number(f, "find_ms", "", a->find_ms);
    number(f, "load_ms", "", a->load_ms);
    number(f, "build_ms", "", a->build_ms);
    number(f, "plan_share", "", a->plan_share);
    number(f, "plan_share_at_most", "", alg_most_planning);
    number(f, "iterations", "", a->iterations);
    number(f, "calls", "", a->calls);
}
