/* SPDX-License-Identifier: Apache-2.0
 * The skeletons, in order of preference. A new one is a .cl text, its C twin and a row here. */
#include "planner/skel.h"

extern const clf_skel clf_skel_cell_chunk;
extern const clf_skel clf_skel_tile_chunk;
extern const clf_skel clf_skel_row_chunk;
extern const clf_skel clf_skel_entry_chunk;
extern const clf_skel clf_skel_cell_group;
extern const clf_skel clf_skel_cell_generic;
extern const clf_skel clf_skel_row_generic;
extern const clf_skel clf_skel_entry_generic;
extern const clf_skel clf_skel_row_group;
extern const clf_skel clf_skel_entry_group;

const clf_skel *const clf_skels[] = {&clf_skel_cell_chunk,
                                     &clf_skel_tile_chunk,
                                     &clf_skel_row_chunk,
                                     &clf_skel_entry_chunk,
                                     &clf_skel_cell_group,
                                     &clf_skel_cell_generic,
                                     &clf_skel_row_generic,
                                     &clf_skel_entry_generic,
                                     &clf_skel_row_group,
                                     &clf_skel_entry_group,
                                     NULL};
