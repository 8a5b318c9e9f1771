/* SPDX-License-Identifier: Apache-2.0
 * Folds over cells of u8: all of tile_folds.h. */
#define ELEM_T u8
#include "host/run/tile_folds.h"
