/* SPDX-License-Identifier: Apache-2.0
 * Folds over cells of f32: all of tile_folds.h. */
#define ELEM_T f32
#include "host/run/tile_folds.h"
