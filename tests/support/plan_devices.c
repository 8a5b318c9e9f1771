/* SPDX-License-Identifier: Apache-2.0
 * Checked-in profiles as devices. See plan_devices.h. */
#include "tests/support/plan_devices.h"

#include <stdio.h>

#include "tests/support/plan_random.h"

static const char *const name[PLAN_PROFILES] = {"host", "pocl", "fast-gpu-slow-link", "slow-gpu", "equal-a", "equal-b"};

static bool read_profile(const char *folder, const char *which, clf_profile *out) {
    char path[1024], text[16384];
    clf_err err = {CLF_OK, ""};
    snprintf(path, sizeof path, "%s/%s.txt", folder, which);
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, sizeof text, f) : 0;
    if (f) fclose(f);
    clf_profile_assume(out, CLF_DEV_HOST, 2);
    bool good = n > 0 && clf_profile_parse(out, text, n, &err) == CLF_OK;
    if (!good) printf("\n    %s: %s\n", path, n ? err.text : "cannot be read");
    return good;
}

bool plan_devices_read(plan_devices *d, const char *folder) {
    bool good = true;
    for (int i = 0; i < PLAN_PROFILES; i++) good = read_profile(folder, name[i], &d->profile[i]) && good;
    return good;
}

/* No library of its own, one slower than the host's, or one as a GPU has; cells of small programs are few. */
static void draw_gemm(clf_profile *p, uint64_t *state) {
    double speed = (double[]){0, 0, 0.3, 8}[plan_random_below(state, 4)];
    for (int w = 0; w < 2; w++) p->gemm_flops_per_s[w] = speed * p->library_flops_per_s[w];
    p->gemm_half_cells = plan_random_below(state, 2) ? 0 : 1000;
    p->gemm_ns = 500;
}

/* A GPU that grids of any size fill, or one of few groups of few cells, some of them with local memory for few sums. */
static void draw_groups(clf_profile *p, uint64_t *state) {
    bool filled = p->kind != CLF_DEV_GPU || plan_random_below(state, 2);
    p->unit_groups = filled ? 0 : 1 + (double)plan_random_below(state, 4);
    p->group_cells = (double[]){1, 100, 1000, 1e5}[plan_random_below(state, 4)];
    p->group_sum_bytes = 1024;
    p->unit_local_bytes = (double[]){0, 2048, 4096}[plan_random_below(state, 3)];
}

void plan_devices_choose(plan_devices *d, uint64_t seed) {
    uint64_t state = seed ^ UINT64_C(0x5DEECE66D);
    d->n = 1 + (int)plan_random_below(&state, PLAN_DEVICES);
    d->device[0] = &d->profile[0];
    for (int i = 1; i < d->n; i++) d->device[i] = &d->profile[1 + plan_random_below(&state, PLAN_PROFILES - 1)];
    for (int i = 1; i < PLAN_PROFILES; i++) draw_gemm(&d->profile[i], &state);
    for (int i = 1; i < PLAN_PROFILES; i++) draw_groups(&d->profile[i], &state);
}
