/* SPDX-License-Identifier: Apache-2.0
 * Kernels with planted faults, launched through the device layer: what a checking device must report. */
#ifndef CLF_TESTS_PLANTED_H
#define CLF_TESTS_PLANTED_H
/** Launch one: "race" (two work-items write different values to one place), "bounds" (a read and a write behind the end), "uninitialised"
 *  (a result computed from memory nobody wrote), or "none", which has no fault. Exit code: 0 when it ran, 77 without a device, else 1. */
int planted_run(const char *which);
#endif
