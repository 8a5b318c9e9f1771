/* SPDX-License-Identifier: Apache-2.0
 * Fuzz target: the language, from text to values.
 * Promised: a refused program has a message; every result of an accepted one has a shape or a message; what is small is evaluated, or
 * refused with a message; nothing is left when a context closes. A short program can ask for any amount of work, so results that reach
 * a large matrix, or many nodes, are recorded only. */
#include "host/graph/ctx.h"
#include "host/run/run.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_RESULTS = 64, MOST_CELLS = 4096, MOST_NODES = 300, RUNS_A_CONTEXT = 500 };

static clf_ctx *context(atomic_llong *live) {
    static clf_ctx *c;
    static int runs;
    if (c && ++runs % RUNS_A_CONTEXT == 0) {
        clf_close(c);
        c = NULL;
        FUZZ_MUST(atomic_load(live) == 0);
    }
    clf_options opt = {.struct_size = sizeof opt, .device = "host", .alloc = fuzz_alloc, .alloc_user = live};
    if (!c) FUZZ_MUST(clf_open(&c, &opt) == CLF_OK && clf_set(c, "threads", "1") == CLF_OK);
    return c;
}

/* Is all that these results reach small enough to compute? */
static bool is_small(clf_ctx *c, size_t n, clf_mat *const *m) {
    clf_node *root[MOST_RESULTS];
    clf_frozen f;
    clf_err err = {.code = CLF_OK};
    for (size_t i = 0; i < n; i++) root[i] = m[i]->node;
    clf_ctx_lock(c);
    bool small = clf_freeze(c, n, root, 0, NULL, &f, &err) == CLF_OK;
    if (small) {
        small = f.g.n <= MOST_NODES;
        for (int32_t i = 0; small && i < f.g.n; i++) {
            int64_t rows = clf_rows(&f.g.node[i]), cols = clf_cols(&f.g.node[i]);
            small = rows <= MOST_CELLS && cols <= MOST_CELLS && rows * cols <= MOST_CELLS;
        }
        clf_frozen_release(&f);
    }
    clf_ctx_unlock(c);
    return small;
}

/* A handle that is no error, or NULL after its promises are checked. */
static clf_mat *good(clf_mat *m) {
    int64_t rows = -1, cols = -1;
    const char *why = "";
    clf_status st = clf_info(m, &rows, &cols, NULL, NULL);
    FUZZ_MUST(st == CLF_OK ? rows >= 0 && cols >= 0 : clf_status_of(m, &why) == st && why[0]);
    return st == CLF_OK ? m : NULL;
}

static void evaluate(clf_ctx *c, const clf_result *r, size_t n) {
    clf_mat *m[MOST_RESULTS];
    size_t some = 0;
    for (size_t i = 0; i < n; i++)
        if ((m[some] = good(r[i].value))) some++;
    if (!some || !is_small(c, some, m)) return;
    clf_status st = clf_eval(some, m);
    FUZZ_MUST(st == CLF_OK || clf_last_error(c)[0]);
}

clf_status fuzz_one(const uint8_t *p, size_t n) {
    static atomic_llong live;
    static const double cells[12] = {1, -2, 3, 0, 5, 0.5, 7, 8, -9, 10, 11, 1e300};
    clf_ctx *c = context(&live);
    clf_result result[MOST_RESULTS];
    size_t nresults = MOST_RESULTS, mark = clf_epoch_begin(c);
    char *text = fuzz_text(p, n);
    clf_binding var[] = {
        {"X", clf_matrix(c, CLF_F64, 4, 3, cells)},
        {"Y", clf_cast(clf_fill(c, CLF_F32, 4, 3, 2), CLF_F32)},
        {"u", clf_matrix(c, CLF_F64, 4, 1, cells)},
        {"v", clf_matrix(c, CLF_F64, 1, 3, cells)},
        {"s", clf_num(c, 0.5)},
        {"I", clf_cast(clf_matrix(c, CLF_F64, 4, 3, cells), CLF_I32)},
        {"P", clf_param(c, CLF_F64, 4, 3, false)},
    };
    clf_status st = clf_parse(c, text, var, sizeof var / sizeof *var, result, &nresults);
    if (st == CLF_OK)
        evaluate(c, result, nresults);
    else
        FUZZ_MUST(clf_last_error(c)[0]);
    clf_epoch_end(c, mark);
    free(text);
    return st;
}
