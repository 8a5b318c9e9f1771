/* SPDX-License-Identifier: Apache-2.0
 * Devices to plan for, from the profiles that are checked in under tests/golden/profiles. */
#ifndef CLF_TESTS_PLAN_DEVICES_H
#define CLF_TESTS_PLAN_DEVICES_H
#include "device/profile.h"

enum { PLAN_PROFILES = 6, PLAN_DEVICES = 3 };
typedef struct plan_devices {
    clf_profile profile[PLAN_PROFILES]; /* [0]: the host */
    int n;
    const clf_profile *device[PLAN_DEVICES];
} plan_devices;

/** Read all profiles from the folder; false, with a line on stdout, when one is missing or no profile. */
bool plan_devices_read(plan_devices *d, const char *folder);
/** Choose one to three of them, the host first; some of the others get a library for products, some GPUs
 *  work-groups of which a grid may have too few. */
void plan_devices_choose(plan_devices *d, uint64_t seed);
#endif
