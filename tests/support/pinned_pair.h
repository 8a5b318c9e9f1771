/* SPDX-License-Identifier: Apache-2.0
 * Contexts that plan with given figures for both of their devices: the host's profile is found in a cache folder of the pair's own, the
 * OpenCL device's is pinned by the profile_file setting. */
#ifndef CLF_TESTS_PINNED_PAIR_H
#define CLF_TESTS_PINNED_PAIR_H
#include "clfuse/clfuse.h"
#include "device/profile.h"

typedef struct pinned_pair { char folder[64]; bool third; } pinned_pair;

/** Write both down. False, with a line on stdout, where that fails. */
bool pinned_pair_make(pinned_pair *p, const clf_profile *host, const clf_profile *device);
/** From now on the context plans with them, and with the selector `cost`. */
bool pinned_pair_set(const pinned_pair *p, clf_ctx *c);
void pinned_pair_remove(pinned_pair *p);
/** A second OpenCL device: contexts then plan for devices 1 and 2. False, with a line on stdout, where writing it down fails. */
bool pinned_pair_add(pinned_pair *p, const clf_profile *second);
/** Such a context, by these profiles; NULL where there are no two devices. */
clf_ctx *pinned_pair_open(const pinned_pair *p);
/** Have PoCL, if it is there, show two devices. Before OpenCL is used first. */
void pinned_pair_two_devices(void);
/** Two devices of which each is good at what the other is bad at: additions and folds of doubles and all else of floats, or all else of
 *  doubles and additions of floats. So plans for small programs use both. */
void pinned_pair_contrast(clf_profile *host, clf_profile *device);
/** Three of them: the host is bad at all, the others share as above: the first one has additions of doubles. */
void pinned_pair_contrast_two(clf_profile *host, clf_profile *first, clf_profile *second);
/** Rates of one another but for what reads are faster by, as if each device had cores of its own. */
void pinned_pair_alike(clf_profile *p, clf_device_kind kind, double faster);
#endif
