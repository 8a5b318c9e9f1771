/* SPDX-License-Identifier: Apache-2.0
 * Sizes of row.group; private to its plan. */
#ifndef CLF_KERNELS_SKEL_BAND_CUT_H
#define CLF_KERNELS_SKEL_BAND_CUT_H
#include "kernels-cl/skel/band_plan.h"

/** Groups, passes, bands, steps and scratch of the jobs that are there. False: they are too large. */
bool clf_band_cut(clf_band *p, const clf_profile *profile, int local, int width);
#endif
