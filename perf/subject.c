/* SPDX-License-Identifier: Apache-2.0
 * A program on the library's public interface: parsed once into a function, called on borrowed memory, results kept so that their
 * memory is used again. What a call costs in launches and bytes is counted here and held against what the plan says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "perf/bench.h"

enum { RESULTS_MAX = 16 };

clf_ctx *bench_ctx(const bench_options *opt, const char *device, const char *fuse, char *why, size_t why_n) {
    clf_ctx *c = NULL;
    clf_options o = {.struct_size = sizeof o, .device = device, .fuse = fuse};
    if (clf_open(&c, &o) != CLF_OK) {
        snprintf(why, why_n, "clf_open: %s", clf_open_error());
        return NULL;
    }
    bool ok = clf_set(c, "CLF_COMPILE", "wait") == CLF_OK && clf_set(c, "CLF_TRIAL", "on") == CLF_OK &&
              (!opt->tier || clf_set(c, "CLF_TIER", opt->tier) == CLF_OK) &&
              (!opt->strategy || clf_set(c, "CLF_STRATEGY", opt->strategy) == CLF_OK);
    if (ok) return c;
    snprintf(why, why_n, "clf_set: %s", clf_last_error(c));
    clf_close(c);
    return NULL;
}

/* The program's results over the given leaves or parameters, in the order of its outputs. */
static bool record(clf_ctx *c, const bench_program *p, clf_mat *const *in, clf_mat **out) {
    clf_binding vars[BENCH_INS];
    clf_result results[RESULTS_MAX];
    size_t n = RESULTS_MAX;
    for (size_t i = 0; i < p->nin; i++) vars[i] = (clf_binding){p->in[i], in[i]};
    if (clf_parse(c, p->text, vars, p->nin, results, &n) != CLF_OK) return false;
    for (size_t o = 0; o < p->nout; o++) {
        size_t i = 0;
        while (i < n && strcmp(results[i].name, p->out[o]) != 0) i++;
        if (i == n) return false;
        out[o] = results[i].value;
    }
    return true;
}

bool bench_subject_record(bench_subject *s, clf_mat **out) { return record(s->ctx, &s->program, s->arg, out); }

bool bench_subject_open(bench_subject *s, clf_ctx *c, const bench_program *p, clf_mat *const *param, clf_mat *const *arg, char *why,
                        size_t why_n) {
    clf_mat *result[BENCH_OUTS];
    *s = (bench_subject){.ctx = c, .program = *p};
    for (size_t i = 0; i < p->nin; i++) s->arg[i] = arg[i];
    if (record(c, p, param, result) && clf_fn_new(c, p->nin, param, p->nout, result, &s->fn) == CLF_OK) return true;
    snprintf(why, why_n, "%s", clf_last_error(c));
    return false;
}

bool bench_subject_call(void *subject) {
    bench_subject *s = subject;
    return clf_call(s->fn, s->program.nin, s->arg, s->program.nout, s->out) == CLF_OK;
}

void bench_subject_close(bench_subject *s) {
    if (s->fn) clf_fn_free(s->fn);
    if (s->ctx) clf_close(s->ctx);
    *s = (bench_subject){0};
}

typedef struct text {
    char *at;
    size_t len, cap;
} text;

static void collect(void *user, const char *piece, size_t n) {
    text *t = user;
    if (t->len + n + 1 > t->cap) {
        size_t cap = 2 * (t->len + n + 1);
        char *at = realloc(t->at, cap);
        if (!at) return;
        t->at = at;
        t->cap = cap;
    }
    memcpy(t->at + t->len, piece, n);
    t->len += n;
    t->at[t->len] = 0;
}

static double number_after(const char *at, const char *key) {
    const char *p = strchr(at + strlen(key), ':');
    return p ? strtod(p + 1, NULL) : 0;
}

static double sum_of(const char *json, const char *key) {
    double total = 0;
    for (const char *p = strstr(json, key); p; p = strstr(p + 1, key)) total += number_after(p, key);
    return total;
}

/* The plan's own predicted time stands right before "peak_bytes"; those of steps and alternatives stand elsewhere. */
static double predicted(const char *json) {
    const char key[] = "\"predicted_ns\"", *end = strstr(json, "\"peak_bytes\""), *last = NULL;
    for (const char *p = strstr(json, key); p && (!end || p < end); p = strstr(p + 1, key)) last = p;
    return last ? number_after(last, key) : 0;
}

/* What the plan expects of twins, which are made in the first call and kept. */
static double predicted_twins(const char *json) {
    static const char twin[] = "\"template\": \"twin\"", key[] = "\"predicted_ns\"";
    double ns = 0;
    for (const char *p = strstr(json, twin); p; p = strstr(p + 1, twin)) {
        const char *of = strstr(p, key);
        ns += of ? number_after(of, key) : 0;
    }
    return ns;
}

/* Bytes that the plan says it moves, and its predicted time from the second call on: from explain's JSON. False when explain fails. */
static bool facts_of(bench_subject *s, double *bytes, double *predicted_ms) {
    clf_mat *result[BENCH_OUTS];
    text t = {0};
    bool ok =
        record(s->ctx, &s->program, s->arg, result) && clf_explain(s->program.nout, result, CLF_JSON, 0, collect, &t) == CLF_OK && t.at;
    if (ok) {
        *bytes = sum_of(t.at, "\"reads_bytes\"") + sum_of(t.at, "\"writes_bytes\"");
        *predicted_ms = (predicted(t.at) - predicted_twins(t.at)) * 1e-6;
    }
    free(t.at);
    return ok;
}

bool bench_predicted(bench_subject *s, double *ms) {
    double bytes;
    return facts_of(s, &bytes, ms);
}

clf_stats bench_stats(clf_ctx *c) {
    clf_stats s = {.struct_size = sizeof s};
    if (clf_get_stats(c, &s) != CLF_OK) s = (clf_stats){.struct_size = sizeof s};
    return s;
}

uint64_t bench_launches(const clf_stats *s) {
    return s->launches_tier0 + s->launches_tier1 + s->launches_tier2 + s->launches_library + s->launches_callout;
}

void bench_count(bench_row *row, bench_subject *s, double least) {
    clf_stats a = bench_stats(s->ctx);
    if (!bench_subject_call(s)) return bench_row_fail(row, "ours: %.140s", clf_last_error(s->ctx));
    clf_stats b = bench_stats(s->ctx);
    if (!bench_subject_call(s)) return bench_row_fail(row, "ours: %.140s", clf_last_error(s->ctx));
    clf_stats c = bench_stats(s->ctx);
    double facts = NAN;
    row->kernels = (int)(b.kernels_built - a.kernels_built);
    row->launches = (int)(bench_launches(&c) - bench_launches(&b));
    row->counted_bytes = (double)(c.bytes_read - b.bytes_read) + (double)(c.bytes_written - b.bytes_written);
    uint64_t on_device = (c.launches_tier1 - b.launches_tier1) + (c.launches_tier2 - b.launches_tier2);
    if (on_device == 0 && strcmp(s->device, "host") != 0) bench_row_fail(row, "nothing ran on device %s", s->device);
    if (c.launches_ref > b.launches_ref) bench_row_fail(row, "the reference executor ran");
    if (!facts_of(s, &facts, &row->predicted_ms)) return bench_row_fail(row, "explain: %.140s", clf_last_error(s->ctx));
    if (fabs(row->counted_bytes - facts) > 0.5) bench_row_fail(row, "counted %.0f bytes, facts say %.0f", row->counted_bytes, facts);
    if (row->counted_bytes < least * 0.99) bench_row_fail(row, "counted %.0f bytes, one pass needs %.0f", row->counted_bytes, least);
}
