/* SPDX-License-Identifier: Apache-2.0
 * Folds over cells of i32: all of tile_folds.h. */
#define ELEM_T i32
#include "host/run/tile_folds.h"
