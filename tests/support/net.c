/* SPDX-License-Identifier: Apache-2.0
 * How much the net runs, and its figures; see net.h. */
#include "tests/support/net.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool set(const char *name) {
    const char *text = getenv(name);
    return text && *text && *text != '0';
}

int64_t net_count(int64_t ci, int64_t full) {
    if (set("CLF_TEST_LONG")) return full;
    return set("CLF_TEST_SANITIZED") ? (ci + 9) / 10 : ci;
}

int64_t net_every(int64_t ci, int64_t sanitized) {
    if (set("CLF_TEST_LONG")) return 1;
    return set("CLF_TEST_SANITIZED") ? sanitized : ci;
}

int net_turns(int ci, int sanitized) { return set("CLF_TEST_CASE") ? 1 : (int)net_every(ci, sanitized); }

int net_first(int turn, int every, int n) { return (turn + turn / 2) % (n < every ? n : every); }

bool net_replay(uint64_t *seed) {
    const char *text = getenv("CLF_TEST_SEED");
    if (!text || !*text) return false;
    *seed = strtoull(text, NULL, 10);
    return true;
}

void net_figure(const char *what, const char *fmt, ...) {
    const char *folder = getenv("CLF_FIGURES");
    char path[4096];
    if (!folder || !*folder) return;
    snprintf(path, sizeof path, "%s/%s.tsv", folder, program_invocation_short_name);
    FILE *f = fopen(path, "a");
    if (!f) return;
    va_list ap;
    va_start(ap, fmt);
    fprintf(f, "%s\t", what);
    vfprintf(f, fmt, ap);
    fprintf(f, "\n");
    va_end(ap);
    fclose(f);
}
