/* SPDX-License-Identifier: Apache-2.0
 * Measuring what the host does, besides the tiles of tile_calibrate.c. */
#ifndef CLF_RUN_CALIBRATE_H
#define CLF_RUN_CALIBRATE_H
#include "device/device.h"
#include "host/run/tile.h"

/** Loops over rows and stored entries, products of the library, conversions and structural operators, into *p, which holds the tiles'
 *  figures already. p stays as it was on failure. One pass, < 2 s; known: least times of the passes before, zeros at first. errors:
 *  CLF_E_NOMEM. */
clf_status clf_work_calibrate(clf_blas *blas, clf_pool *pool, clf_isa isa, clf_mem *mem, clf_least *known, clf_profile *p, clf_err *err);
#endif
