/* SPDX-License-Identifier: Apache-2.0
 * libFuzzer target: the language, from text to recorded expressions. Seeds: any programs. How to run: README.md.
 * Checked besides the sanitizers: a refused program has a message; every result of an accepted one has a shape or a message; everything
 * is freed with its context. Nothing is evaluated: a short program can ask for any amount of work. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "clfuse/clfuse.h"

enum { MOST_RESULTS = 64 };
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void must(bool ok) {
    if (!ok) abort();
}

static void check_result(const clf_result *r) {
    int64_t rows = -1, cols = -1;
    const char *why = "";
    clf_status st = clf_info(r->value, &rows, &cols, NULL, NULL);
    must(st == CLF_OK ? rows >= 0 && cols >= 0 : clf_status_of(r->value, &why) == st && why[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
    clf_ctx *c = NULL;
    clf_options opt = {.struct_size = sizeof opt, .device = "host"};
    clf_result result[MOST_RESULTS];
    size_t nresults = MOST_RESULTS;
    char *text = malloc(n + 1);
    if (n) memcpy(text, p, n);
    text[n] = '\0';
    must(clf_open(&c, &opt) == CLF_OK);
    clf_binding var[] = {
        {"X", clf_param(c, CLF_F64, 4, 3, false)}, {"Y", clf_param(c, CLF_F32, 4, 3, false)}, {"u", clf_param(c, CLF_F64, 4, 1, false)},
        {"v", clf_param(c, CLF_F64, 1, 3, false)}, {"s", clf_param(c, CLF_F64, 1, 1, true)},  {"I", clf_param(c, CLF_I32, 4, 3, false)},
    };
    clf_status st = clf_parse(c, text, var, sizeof var / sizeof *var, result, &nresults);
    if (st == CLF_OK)
        for (size_t i = 0; i < nresults; i++) check_result(&result[i]);
    else
        must(clf_last_error(c)[0]);
    clf_close(c);
    free(text);
    return 0;
}
