/* SPDX-License-Identifier: Apache-2.0
 * Fuzz target: kept covers. The first four bytes choose a graph, as the net draws them, its devices, and what the rest is: all that is kept,
 * or changes to what really was kept, three bytes each: a place (two) and what is there instead.
 * Promised: a refusal has a message; what is accepted is a cover of the program, which costs what it says and becomes a plan that every
 * checker passes; no byte stays allocated. */
#include "planner/cover_kept.h"

#include "planner/rewrite.h"
#include "planner/select.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/exact_case.h"

enum { HEAD = 4, EDIT = 3 };

/* The keeper that has the input. */
typedef struct holder {
    clf_str kept;
    bool dropped;
} holder;

static bool find(void *of, clf_bytes key, clf_str *out) {
    holder *h = of;
    FUZZ_MUST(key.n > 0);
    clf_str_putn(out, h->kept.at, h->kept.len);
    return true;
}

static void keep(void *of, clf_bytes key, clf_bytes cover, const clf_problem *p) { FUZZ_MUST(of && key.n && cover.n && p->g->n > 0); }

static void drop(void *of, clf_bytes key, const char *why) {
    FUZZ_MUST(key.n > 0 && *why);
    ((holder *)of)->dropped = true;
}

/* What is kept of this graph, as it is planned: rewritten. */
static void search(const clf_graph *g, const clf_limits *lim, clf_mem *mem, clf_str *kept) {
    const clf_search_options few = {.budget = 1};
    clf_err err = {CLF_OK, ""};
    clf_arena arena;
    clf_graph to;
    clf_memo memo;
    clf_problem problem;
    clf_cover cover;
    clf_search_stats stats;
    clf_arena_init(&arena, mem);
    int32_t *fired = clf_arena_new(&arena, CLF_MOST_RULES, sizeof *fired);
    FUZZ_MUST(fired && clf_rewrite(g, NULL, &arena, &arena, &to, fired, &err) == CLF_OK);
    FUZZ_MUST(clf_explore(&to, &arena, &memo, &err) == CLF_OK && clf_problem_new(&memo, lim, &arena, &problem, &err) == CLF_OK);
    FUZZ_MUST(clf_search(&problem, &few, &arena, &cover, &stats, &err) == CLF_OK);
    clf_kept_write(&problem, &cover, &stats, kept);
    clf_arena_release(&arena);
}

static void change(clf_str *kept, const char *edit, size_t n) {
    for (size_t i = 0; i + EDIT <= n; i += EDIT)
        kept->at[((unsigned char)edit[i] | (size_t)(unsigned char)edit[i + 1] << 8) % kept->len] = edit[i + 2];
}

static void plan(const clf_graph *g, const clf_limits *lim, clf_mem *mem) {
    clf_plan *p = NULL;
    clf_err err = {CLF_OK, ""};
    FUZZ_MUST(clf_plan_new(&p, g, clf_selector_find("cost"), lim, mem, &err) == CLF_OK);
    FUZZ_MUST(clf_plan_check(p, &err) == CLF_OK && p->cost_ps >= 0 && p->gap_ps >= 0);
    clf_plan_free(p);
}

clf_status fuzz_one(const uint8_t *in, size_t n) {
    static exact_case c;
    static bool ready;
    if (n < HEAD) return CLF_E_FORMAT;
    ready = ready || exact_case_begin(&c, CLF_TESTS_DIR "/golden/profiles");
    FUZZ_MUST(ready);
    char *rest = fuzz_text(in + HEAD, n - HEAD);
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    holder h = {.dropped = false};
    clf_keeper keeper = {&h, find, keep, drop};
    clf_str_init(&h.kept, &mem);
    exact_case_draw(&c, in[0] | (uint64_t)in[1] << 8 | (uint64_t)in[2] << 16);
    if (in[3] & 2) plan_random_sparse(&c.drawn);
    clf_limits lim = c.lim;
    lim.search_share = 1;
    lim.keeper = &keeper;
    lim.dev.n = c.devices.n;
    for (int d = 0; d < lim.dev.n; d++) lim.dev.profile[d] = c.devices.device[d];
    if (in[3] & 1) {
        clf_str_putn(&h.kept, rest, n - HEAD);
    } else {
        search(&c.drawn.g, &lim, &mem, &h.kept);
        change(&h.kept, rest, n - HEAD);
    }
    plan(&c.drawn.g, &lim, &mem);
    clf_str_release(&h.kept);
    FUZZ_MUST(atomic_load(&mem.now_bytes) == 0);
    free(rest);
    return h.dropped ? CLF_E_FORMAT : CLF_OK;
}
