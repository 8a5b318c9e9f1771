/* SPDX-License-Identifier: Apache-2.0
 * Writing the walks of cell.group.cl and cell.group.merge.cl. Values and states are scalars; names are those of cell_text.h: qA pointer
 * of access A with its base offset, vN value N; of fold sink S, per state component M: fSsM fStM fSuM fSvM the lanes of neighbouring slots
 * that a work-item holds, fSxM fSyM fSzM fSwM the second ones where a tree has twice the lanes, fSaM and fSbM wide states. */
#ifndef CLF_KERNELS_SKEL_GROUP_TEXT_H
#define CLF_KERNELS_SKEL_GROUP_TEXT_H
#include "kernels-cl/skel/group_states.h"
#include "kernels-cl/skel/group_plan.h"

typedef struct clf_gtext {
    clf_ctext x; /* first: writers of holes get its address */
    clf_cell cell; /* what x.p points to: one lane, nothing that varies from strip to strip */
    const clf_group *p;
    uint8_t *used; /* per value: by the walk that is being written */
    bool rows_apart;  /* that walk knows rows and columns of its cells */
    bool whole;       /* the step that is being written has all of its cells, */
    int cell_now;     /* this is the one of them */
} clf_gtext;

/** False: no memory. */
bool clf_gtext_begin(clf_gtext *g, const clf_group *p, clf_arena *arena);
/** Words of local memory that the states of folds pass through. */
int clf_gtext_words(const clf_gtext *g);

/* group_text.c: hole of cell.group.cl */
void clf_gtext_walks(clf_ctext *x);

/* group_cells.c */
void clf_gtext_setup(clf_ctext *x);                    /* hole of cell.group.cl */
void clf_gtext_hoisted(clf_gtext *g, clf_walk_id k);   /* what is computed before the loop of a walk */
void clf_gtext_step(clf_gtext *g, clf_walk_id k);      /* its cells, of a step that has all of them */
void clf_gtext_rest(clf_gtext *g, clf_walk_id k);      /* and of one that may be cut off at `to`, or whose operands are not aligned: */
bool clf_gtext_has_rest(const clf_gtext *g, clf_walk_id k); /* are there such steps? */

/* group_folds.c */
bool clf_gtext_folds(const clf_gtext *g, int s, clf_walk_id k); /* is sink s a fold of walk k? */
void clf_gtext_fold_begin(clf_gtext *g, int s);                 /* empty lanes */
void clf_gtext_fold_step(clf_gtext *g, int s, int e, const char *pos); /* the value of its position `pos` for the e-th slot */
void clf_gtext_fold_next(clf_gtext *g, int s);                  /* the next slot's lanes are the first now */
void clf_gtext_fold_turn(clf_gtext *g, int s);                  /* the other of two lanes is next, in all slots */
void clf_gtext_fold_ends(clf_gtext *g, clf_walk_id k);          /* all merged; results, or states in scratch */
void clf_gtext_merges(clf_ctext *x);                            /* hole of cell.group.merge.cl */
#endif
