/* SPDX-License-Identifier: Apache-2.0
 * Writing the walks of cell.group.cl and cell.group.merge.cl. Values and states are scalars; names are those of cell_text.h: qA pointer
 * of access A with its base offset, vN value N; of fold sink S, per state component M: fSsM and fSxM the lanes that a work-item holds,
 * fSaM and fSbM wide states. */
#ifndef CLF_KERNELS_SKEL_GROUP_TEXT_H
#define CLF_KERNELS_SKEL_GROUP_TEXT_H
#include "kernels-cl/skel/group_states.h"
#include "kernels-cl/skel/group_plan.h"

typedef struct clf_gtext {
    clf_ctext x; /* first: writers of holes get its address */
    clf_cell cell; /* what x.p points to: one lane, nothing that varies from strip to strip */
    const clf_group *p;
    uint8_t *used; /* per value: by the walk that is being written */
} clf_gtext;

/** False: no memory. */
bool clf_gtext_begin(clf_gtext *g, const clf_group *p, clf_arena *arena);
/** Words of local memory that the states of folds pass through. */
int clf_gtext_words(const clf_gtext *g);

/* group_text.c: holes of cell.group.cl */
void clf_gtext_setup(clf_ctext *x);
void clf_gtext_walks(clf_ctext *x);

/* group_folds.c */
bool clf_gtext_folds(const clf_gtext *g, int s, clf_walk_id k); /* is sink s a fold of walk k? */
void clf_gtext_fold_begin(clf_gtext *g, int s);                 /* empty lanes */
void clf_gtext_fold_step(clf_gtext *g, int s, const char *pos); /* the value of its position `pos` */
void clf_gtext_fold_turn(clf_gtext *g, int s);                  /* the other of two lanes is next */
void clf_gtext_fold_ends(clf_gtext *g, clf_walk_id k);          /* all merged; results, or states in scratch */
void clf_gtext_merges(clf_ctext *x);                            /* hole of cell.group.merge.cl */
#endif
