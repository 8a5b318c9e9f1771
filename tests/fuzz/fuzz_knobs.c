/* SPDX-License-Identifier: Apache-2.0
 * Fuzz target: settings. The input is lines NAME=VALUE: each is set by name, and all are read as an environment.
 * Promised: a refusal has a message and changes nothing; setting the same again changes nothing; the environment gives what setting
 * one by one gives; a context takes or refuses a setting as the table does. */
#include "clfuse/clfuse.h"
#include "core/knobs.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_LINES = 64 };
extern char **environ;

static void set_one(clf_knobs *k, const char *name, const char *value, clf_status *all) {
    clf_err err = {.code = CLF_OK};
    clf_knobs was = *k;
    clf_status st = clf_knobs_set(k, name, value, &err);
    if (st != CLF_OK) {
        FUZZ_MUST((st == CLF_E_ARG || st == CLF_E_NAME) && err.code == st && err.text[0]);
        FUZZ_MUST(memcmp(k, &was, sizeof was) == 0);
        *all = st;
        return;
    }
    clf_knobs once = *k;
    FUZZ_MUST(clf_knobs_set(k, name, value, &err) == CLF_OK && memcmp(k, &once, sizeof once) == 0);
}

/* The environment is ours for the call: only the input's lines. The first of equal names counts, and only full names do. */
static void set_environment(char **line, size_t n) {
    char **theirs = environ;
    char *mine[MOST_LINES + 1];
    clf_knobs a, b;
    clf_err err = {.code = CLF_OK};
    for (size_t i = 0; i < n; i++) mine[i] = line[i];
    mine[n] = NULL;
    clf_knobs_init(&a);
    clf_knobs_init(&b);
    environ = mine;
    clf_status st = clf_knobs_env(&a, &err);
    clf_status want = CLF_OK;
    for (size_t i = 0; want == CLF_OK && clf_knob_rows[i].field; i++) {
        const char *value = getenv(clf_knob_rows[i].env);
        if (value) want = clf_knobs_set(&b, clf_knob_rows[i].env, value, NULL);
    }
    environ = theirs;
    FUZZ_MUST(st == want && (st == CLF_OK ? memcmp(&a, &b, sizeof a) == 0 : err.text[0] != '\0'));
}

/* Settings that open nothing, write nowhere and cost no threads. */
static bool harmless(const char *name) {
    static const char *const names[] = {"fuse", "tier", "strategy", "isa", "mem_limit", "dtype", "kernel_ops", "index_bits", "checksum"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static void set_context(const char *name, const char *value) {
    static clf_ctx *c;
    clf_options o = {.struct_size = sizeof o, .device = "host"};
    clf_knobs k;
    if (!c) FUZZ_MUST(clf_open(&c, &o) == CLF_OK);
    clf_knobs_init(&k);
    clf_status want = clf_knobs_set(&k, name, value, NULL);
    if (want == CLF_OK && !harmless(name)) return;
    clf_status st = clf_set(c, name, value);
    FUZZ_MUST(st == want && (st == CLF_OK || clf_last_error(c)[0]));
}

clf_status fuzz_one(const uint8_t *p, size_t n) {
    char *text = fuzz_text(p, n), *line[MOST_LINES], *rest = text;
    size_t lines = 0;
    while (lines < MOST_LINES && rest && *rest) line[lines++] = strsep(&rest, "\n");
    set_environment(line, lines);
    clf_knobs k;
    clf_status st = CLF_OK;
    clf_knobs_init(&k);
    for (size_t i = 0; i < lines; i++) {
        char *name = line[i], *value = strchr(name, '=');
        if (value) *value++ = '\0';
        set_one(&k, name, value, &st);
        if (value) set_context(name, value);
    }
    free(text);
    return st;
}
