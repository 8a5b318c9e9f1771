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

void plan_devices_choose(plan_devices *d, uint64_t seed) {
    uint64_t state = seed ^ UINT64_C(0x5DEECE66D);
    d->n = 1 + (int)plan_random_below(&state, PLAN_DEVICES);
    d->device[0] = &d->profile[0];
    for (int i = 1; i < d->n; i++) d->device[i] = &d->profile[1 + plan_random_below(&state, PLAN_PROFILES - 1)];
}
