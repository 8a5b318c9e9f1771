/* SPDX-License-Identifier: Apache-2.0
 * Fuzz target: the public interface. The input is a script of bytes (api.h); it is played in a context that fuses nothing and in one
 * that fuses all it can.
 * Promised: no call crashes or leaves the context unusable, whatever its arguments; a failure has a message; both contexts give the same
 * statuses, shapes and, where the value is determined to the bit whatever the plan, the same cells; nothing is left when they close. */
#include "tests/fuzz/api.h"

enum { RUNS_A_CONTEXT = 400 };
static const char *const selectors[] = {"none", "all"};
enum { CONTEXTS = sizeof selectors / sizeof *selectors };

static clf_ctx *open_one(const char *fuse, atomic_llong *live) {
    clf_ctx *c = NULL;
    clf_options opt = {.struct_size = sizeof opt, .device = "host", .fuse = fuse, .alloc = fuzz_alloc, .alloc_user = live};
    FUZZ_MUST(clf_open(&c, &opt) == CLF_OK && clf_set(c, "threads", "1") == CLF_OK);
    return c;
}

static bool same_number(api_cells *const *log, size_t i) {
    double x = log[0]->cell[i], y = log[1]->cell[i];
    return x == y || (x != x && y != y);
}

static void compare(api_cells *const *log) {
    FUZZ_MUST(log[0]->n == log[1]->n);
    for (size_t i = 0; i < log[0]->n; i++) {
        if (!same_number(log, i)) fprintf(stderr, "entry %zu: %.17g unfused, %.17g fused\n", i, log[0]->cell[i], log[1]->cell[i]);
        FUZZ_MUST(same_number(log, i));
    }
}

clf_status fuzz_one(const uint8_t *p, size_t n) {
    static clf_ctx *c[CONTEXTS], *other;
    static atomic_llong live[CONTEXTS + 1];
    static int runs;
    static api_cells log[CONTEXTS];
    clf_status st = CLF_OK;
    if (!other) other = open_one("all", &live[CONTEXTS]);
    for (int k = 0; k < CONTEXTS; k++) {
        if (!c[k]) c[k] = open_one(selectors[k], &live[k]);
        log[k].n = 0;
        st = api_play(c[k], other, p, n, &log[k]);
    }
    compare((api_cells *const[]){&log[0], &log[1]});
    if (++runs % RUNS_A_CONTEXT == 0) {
        clf_close(other);
        other = NULL;
        for (int k = 0; k < CONTEXTS; k++) clf_close(c[k]), c[k] = NULL;
        for (int k = 0; k <= CONTEXTS; k++) FUZZ_MUST(atomic_load(&live[k]) == 0);
    }
    return st;
}
