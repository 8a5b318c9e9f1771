/* SPDX-License-Identifier: Apache-2.0
 * The report: a line of the table and an object of JSON for each row. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "perf/algorithms.h"

void bench_head(const bench_run *r) {
    printf("device %s: %s; inputs of %zu MiB at most, %d rounds; times in ms (1e-3 ms = 1 us)\n", r->device, r->device_name,
           bench_data_bytes(r->opt->quick) >> 20, r->opt->rounds);
    printf("ratios are the other's time over ours: hand-written OpenMP C, our unfused plan; dev0: hand over device 0\n\n");
    printf("%-20s %16s %10s %10s %10s %10s %7s %7s %7s %7s %6s %8s %6s %6s %8s\n", "case", "size", "ours", "hand", "unfused", "device 0",
           "hand", "atleast", "unfused", "dev0", "noise", "GB/s", "roof", "krn", "error");
}

static void cell(int width, int digits, double v, const char *tail) {
    if (isnan(v))
        printf(" %*s", width, "-");
    else
        printf(" %*.*f%s", width - (int)strlen(tail), digits, v, tail);
}

/* Milliseconds with three significant digits whatever the size. */
static void time_cell(double ms) { cell(10, ms < 0.1 ? 6 : ms < 10 ? 4 : 2, ms, ""); }

static const char *verdict(const bench_row *row) {
    if (!row->ok) return "FAILED";
    if (!isnan(row->floor) && row->ratio_hand < row->floor) return row->ratio_hand < row->floor - row->noise ? "below" : "below, in noise";
    if (row->ratio_unfused < row->floor_unfused) return "below (unfused)";
    if (!isnan(row->limit_ms) && row->ours_ms > row->limit_ms) return "over the limit";
    if (row->saved < row->saved_least) return "below";
    return "";
}

/* A row of the suite plan: predicted against measured; chosen against best; fused against unfused; all devices against the
 * best one. */
static void plan_line(const bench_row *row) {
    if (row->part == BENCH_BEST) cell(6, 0, row->plans < 0 ? NAN : row->plans, "");
    if (row->part == BENCH_PREDICT) time_cell(row->predicted_ms);
    time_cell(row->ours_ms);
    if (row->part == BENCH_BEST || row->part == BENCH_DEVICES) time_cell(row->best_ms);
    if (row->part == BENCH_FUSED) time_cell(row->unfused_ms);
    if (row->part == BENCH_FUSED) cell(7, 2, row->ratio_fused_low, "");
    double ratio = row->part == BENCH_PREDICT ? row->ratio_predicted : row->part == BENCH_FUSED ? row->ratio_fused : row->ratio_best;
    cell(7, 2, ratio, "");
    if (row->part == BENCH_BEST || row->part == BENCH_DEVICES) cell(6, 1, row->noise * 100, "%");
    printf("  %s%s %s\n", row->device, row->ok ? row->below ? " below" : "" : " FAILED", row->why);
    fflush(stdout);
}

/* A row of the suite plan that counts: choices, components, all legal covers, partial covers costed without and with pruning. */
static void loops_line(const bench_row *row) {
    printf(" %8d %10d", row->choices, row->components);
    if (isnan(row->covers))
        printf(" %10s", "-");
    else
        printf(" %10.3g", row->covers);
    cell(11, 0, row->costed_unpruned, "");
    cell(9, 0, row->costed, "");
    cell(8, 2, row->saved * 100, "%");
    cell(8, 0, row->saved_least * 100, "%");
    printf("  %s %s\n", verdict(row), row->why);
    fflush(stdout);
}

/* A row of the suite plan that times planning. */
static void planning_line(const bench_row *row) {
    time_cell(row->ours_ms);
    time_cell(row->limit_ms);
    printf("  %s %s\n", verdict(row), row->why);
    fflush(stdout);
}

void bench_line(const bench_row *row) {
    char size[32] = "-";
    if (row->alg) return alg_line(row);
    if (row->rows) snprintf(size, sizeof size, "%lldx%lld", (long long)row->rows, (long long)row->cols);
    printf("%-20s %16s", row->name ? row->name : row->text, size);
    if (row->choices >= 0) return loops_line(row);
    if (strcmp(row->suite, "plan") == 0) return row->planning ? planning_line(row) : plan_line(row);
    time_cell(row->ours_ms);
    time_cell(row->hand_ms);
    time_cell(row->unfused_ms);
    time_cell(row->host_ms);
    cell(7, 2, row->ratio_hand, "");
    cell(7, 2, row->floor, "");
    cell(7, 2, row->ratio_unfused, "");
    cell(7, 2, row->ratio_host, "");
    cell(6, 1, row->noise * 100, "%");
    cell(8, 1, row->gbs, "");
    cell(6, 0, row->gbs / row->roof_gbs * 100, "%");
    if (row->kernels >= 0)
        printf(" %3d/%-2d", row->kernels, row->launches);
    else
        printf(" %6s", "-");
    if (isnan(row->max_rel_err))
        printf(" %8s", "-");
    else
        printf(" %8.1e", row->max_rel_err);
    printf("  %s", verdict(row));
    if (!isnan(row->limit_ms)) printf(" (limit %.4f)", row->limit_ms);
    if (row->why[0]) printf(" %s", row->why);
    printf("\n");
    fflush(stdout);
}

static void text(FILE *f, const char *key, const char *s) {
    fprintf(f, ", \"%s\": ", key);
    if (!s) {
        fputs("null", f);
        return;
    }
    fputc('"', f);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            fprintf(f, "\\%c", *s);
        else if ((unsigned char)*s < 32)
            fprintf(f, "\\u%04x", *s);
        else
            fputc(*s, f);
    }
    fputc('"', f);
}

static void number(FILE *f, const char *key, double v) {
    if (isfinite(v))
        fprintf(f, ", \"%s\": %.9g", key, v);
    else
        fprintf(f, ", \"%s\": null", key);
}

void bench_json(void *file, const bench_row *row) {
    FILE *f = file;
    fprintf(f, "{\"case\": \"%s\"", row->name ? row->name : row->text);
    text(f, "suite", row->suite);
    number(f, "rows", row->rows ? (double)row->rows : NAN);
    number(f, "cols", row->rows ? (double)row->cols : NAN);
    number(f, "sparsity", row->sparsity);
    text(f, "dtype", row->dtype);
    text(f, "device", row->device);
    number(f, "kernels", row->kernels >= 0 ? row->kernels : NAN);
    number(f, "launches", row->launches >= 0 ? row->launches : NAN);
    number(f, "ours_ms", row->ours_ms);
    number(f, "hand_ms", row->hand_ms);
    number(f, "unfused_ms", row->unfused_ms);
    number(f, "ratio_hand", row->ratio_hand);
    number(f, "ratio_unfused", row->ratio_unfused);
    number(f, "ratio_peer", NAN);
    number(f, "bytes", row->bytes);
    number(f, "counted_bytes", row->counted_bytes);
    number(f, "gbs", row->gbs);
    number(f, "roof_gbs", row->roof_gbs);
    number(f, "roof_share", row->gbs / row->roof_gbs);
    number(f, "predicted_ms", row->predicted_ms);
    number(f, "ratio_predicted", row->ratio_predicted);
    number(f, "noise", row->noise);
    number(f, "max_rel_err", row->max_rel_err);
    fprintf(f, ", \"ok\": %s", row->ok ? "true" : "false");
    number(f, "host_ms", row->host_ms);
    number(f, "ratio_host", row->ratio_host);
    number(f, "ratio_at_least", row->floor);
    number(f, "ratio_unfused_at_least", row->floor_unfused);
    number(f, "limit_ms", row->limit_ms);
    number(f, "plans", row->plans >= 0 ? row->plans : NAN);
    number(f, "best_ms", row->best_ms);
    number(f, "ratio_best", row->ratio_best);
    number(f, "ratio_fused", row->ratio_fused);
    number(f, "ratio_fused_quartile", row->ratio_fused_low);
    fprintf(f, ", \"below\": %s", row->below ? "true" : "false");
    number(f, "choices", row->choices >= 0 ? row->choices : NAN);
    number(f, "components", row->choices >= 0 ? row->components : NAN);
    number(f, "covers", row->covers);
    number(f, "costed", row->costed);
    number(f, "costed_unpruned", row->costed_unpruned);
    number(f, "saved", row->saved);
    number(f, "saved_at_least", row->saved_least);
    if (row->alg) alg_json(f, row);
    text(f, "note", row->why[0] ? row->why : NULL);
    fputs("}\n", f);
    fflush(f);
}
