/* SPDX-License-Identifier: Apache-2.0
 * A case on the library's public interface: parsed once into a function, called on borrowed memory, results kept so that their
 * memory is used again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "perf/bench.h"

enum { RESULTS_MAX = 16 };
static const char *const input_names[3] = {"X", "Y", "Z"};

clf_ctx *bench_ctx(const bench_options *opt, const char *device, const char *fuse, char *why, size_t why_n) {
    clf_ctx *c = NULL;
    clf_options o = {.struct_size = sizeof o, .device = device, .fuse = fuse};
    if (clf_open(&c, &o) != CLF_OK) {
        snprintf(why, why_n, "clf_open: %s", clf_open_error());
        return NULL;
    }
    bool ok = (!opt->tier || clf_set(c, "CLF_TIER", opt->tier) == CLF_OK) &&
              (!opt->strategy || clf_set(c, "CLF_STRATEGY", opt->strategy) == CLF_OK);
    if (ok) return c;
    snprintf(why, why_n, "clf_set: %s", clf_last_error(c));
    clf_close(c);
    return NULL;
}

/* The program's results over the given leaves or parameters, in the order of the case's outputs. */
static bool record(clf_ctx *c, const bench_case *k, clf_mat *const *in, clf_mat **out, size_t *nouts) {
    clf_binding vars[3];
    clf_result results[RESULTS_MAX];
    size_t n = RESULTS_MAX;
    for (int i = 0; i < k->nin; i++) vars[i] = (clf_binding){input_names[i], in[i]};
    if (clf_parse(c, k->program, vars, (size_t)k->nin, results, &n) != CLF_OK) return false;
    for (*nouts = 0; *nouts < BENCH_OUTS && k->out[*nouts].name; ++*nouts) {
        size_t i = 0;
        while (i < n && strcmp(results[i].name, k->out[*nouts].name) != 0) i++;
        if (i == n) return false;
        out[*nouts] = results[i].value;
    }
    return true;
}

bool bench_subject_open(bench_subject *s, clf_ctx *c, const bench_case *k, const bench_data *d, int64_t rows, char *why, size_t why_n) {
    *s = (bench_subject){.ctx = c, .nargs = (size_t)k->nin};
    clf_mat *param[3], *result[BENCH_OUTS];
    for (int i = 0; i < k->nin; i++) {
        param[i] = clf_param(c, d->dtype, rows, k->cols, false);
        s->arg[i] = clf_borrow(c, d->dtype, rows, k->cols, d->in[i], NULL, NULL);
    }
    if (record(c, k, param, result, &s->nouts) && clf_fn_new(c, s->nargs, param, s->nouts, result, &s->fn) == CLF_OK) return true;
    snprintf(why, why_n, "%s", clf_last_error(c));
    return false;
}

bool bench_subject_call(void *subject) {
    bench_subject *s = subject;
    return clf_call(s->fn, s->nargs, s->arg, s->nouts, s->out) == CLF_OK;
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

bool bench_subject_facts(bench_subject *s, const bench_case *k, double *bytes, double *predicted_ms) {
    clf_mat *result[BENCH_OUTS];
    size_t n;
    text t = {0};
    bool ok = record(s->ctx, k, s->arg, result, &n) && clf_explain(n, result, CLF_JSON, 0, collect, &t) == CLF_OK && t.at;
    if (ok) {
        *bytes = sum_of(t.at, "\"reads_bytes\"") + sum_of(t.at, "\"writes_bytes\"");
        *predicted_ms = predicted(t.at) * 1e-6;
    }
    free(t.at);
    return ok;
}

clf_stats bench_stats(clf_ctx *c) {
    clf_stats s = {.struct_size = sizeof s};
    if (clf_get_stats(c, &s) != CLF_OK) s = (clf_stats){.struct_size = sizeof s};
    return s;
}

uint64_t bench_launches(const clf_stats *s) {
    return s->launches_tier0 + s->launches_tier1 + s->launches_tier2 + s->launches_library + s->launches_callout;
}
