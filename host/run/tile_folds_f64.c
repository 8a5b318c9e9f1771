/* SPDX-License-Identifier: Apache-2.0
 * Folds over cells of f64: all of tile_folds.h. */
#define ELEM_T f64
#include "host/run/tile_folds.h"
