/* SPDX-License-Identifier: Apache-2.0
 * Contexts that plan with given figures for both of their devices: the host's profile is found in a cache folder of the pair's own, the
 * OpenCL device's is pinned by the profile_file setting. */
#ifndef CLF_TESTS_PINNED_PAIR_H
#define CLF_TESTS_PINNED_PAIR_H
#include "clfuse/clfuse.h"
#include "device/profile.h"

typedef struct pinned_pair { char folder[64]; } pinned_pair;

/** Write both down. False, with a line on stdout, where that fails. */
bool pinned_pair_make(pinned_pair *p, const clf_profile *host, const clf_profile *device);
/** From now on the context plans with them, and with the selector `cost`. */
bool pinned_pair_set(const pinned_pair *p, clf_ctx *c);
void pinned_pair_remove(pinned_pair *p);
/** Two devices of which each is good at what the other is bad at: additions and folds of doubles and all else of floats, or all else of
 *  doubles and additions of floats. So plans for small programs use both. */
void pinned_pair_contrast(clf_profile *host, clf_profile *device);
#endif
