/* SPDX-License-Identifier: Apache-2.0
 * Cases of the exact planner. See exact_case.h. */
#include "tests/support/exact_case.h"

#include <inttypes.h>

bool exact_case_begin(exact_case *c, const char *profiles) { return plan_devices_read(&c->devices, profiles); }

/* Credits from a fraction of most transfers to more than any. */
static void draw_devices(exact_case *c, uint64_t seed) {
    uint64_t state = seed + 91;
    for (int d = 1; d < c->devices.n; d++) {
        c->lim.dev.loops_only[d] = plan_random_below(&state, 2);
        if (plan_random_below(&state, 3)) continue;
        for (int32_t s = 0; s < c->drawn.g.nslot; s++) {
            static const clf_ps credit[] = {0, 1000000, 20000000, 30000000, CLF_PS_MOST};
            c->credit[d][s] = credit[plan_random_below(&state, 5)];
        }
        c->lim.dev.resident[d] = c->credit[d];
    }
}

static void draw(exact_case *c, uint64_t seed, int ops, uint64_t *state) {
    c->seed = seed;
    plan_random_make(&c->drawn, seed, ops);
    plan_devices_choose(&c->devices, seed);
    c->lim = (clf_limits){.kernel_ops = 200, .kernel_inputs = 48};
    draw_devices(c, seed);
    if (plan_random_below(state, 5)) return;
    c->lim.kernel_ops = 2 + (int)plan_random_below(state, 4);
    c->lim.kernel_inputs = 5 + (int)plan_random_below(state, 6);
}

void exact_case_draw(exact_case *c, uint64_t seed) {
    uint64_t state = seed + 17;
    int few = (int)plan_random_below(&state, 5);
    draw(c, seed, 7 - few * few / 4, &state);
}

void exact_case_draw_larger(exact_case *c, uint64_t seed) {
    uint64_t state = seed + 17;
    draw(c, seed, 2 + (int)plan_random_below(&state, 15), &state);
}

bool exact_case_tables(exact_case *c, const clf_graph *g) { return brute_make(&c->b, g, &c->lim, c->devices.n, c->devices.device); }

void exact_case_print(const exact_case *c, const clf_graph *g, const char *why) {
    clf_mem mem;
    clf_str t;
    clf_mem_init(&mem, NULL, NULL);
    clf_str_init(&t, &mem);
    clf_graph_print(g, &t);
    printf("\n    seed %" PRIu64 ": %s\n%s", c->seed, why, clf_str_c(&t));
    for (int d = 0; d < c->devices.n; d++) printf("device %d: %s\n", d, c->devices.device[d]->name);
    printf("at most %d operators and %d arguments a kernel\n", c->lim.kernel_ops, c->lim.kernel_inputs);
    clf_str_release(&t);
}
