/* SPDX-License-Identifier: Apache-2.0
 * A cplan's translation into instructions while it is under way (generic_plan.c), and what of it is computed a block ahead
 * (generic_ahead.c). */
#ifndef CLF_KERNELS_SKEL_GENERIC_TRANSLATE_H
#define CLF_KERNELS_SKEL_GENERIC_TRANSLATE_H
#include "kernels-cl/skel/generic_plan.h"

enum { CLF_GEN_NO_PLACE = 255, CLF_GEN_AHEAD_MOST = 4 };

typedef struct clf_gen_translation {
    clf_generic *g;
    const clf_cplan *c;
    uint8_t place[CLF_GEN_VALUES];     /* of each value */
    int last[CLF_GEN_VALUES];          /* the last operator that reads it; -1: none */
    bool kept[CLF_GEN_VALUES];         /* some operator reads it from memory */
    int reads[CLF_GEN_VALUES];         /* operands that it is, and sinks */
    bool fused[CLF_GEN_VALUES];        /* its one reader computes it, in one instruction with itself */
    int first[CLF_GEN_VALUES];         /* of such a reader: what it computes so; -1: nothing */
    bool ahead[CLF_GEN_VALUES];        /* it is computed a block ahead, and keeps its register */
    int due[CLF_GEN_AHEAD_MOST], ndue; /* of those, what this block has read: a half of the next block's is computed every `pace` instructions */
    int halves, pace, since;   /* halves: of the first one, computed already */
    int acc;                   /* the value in the accumulator; -1: none */
    bool used[CLF_GEN_VALUES];         /* some sink needs it */
    bool busy[CLF_GEN_REGS];
    int nscalar;
    bool failed;
} clf_gen_translation;

static inline bool clf_gen_is_scalar(const clf_gen_translation *x, int v) {
    return clf_cell_level(&x->g->cell, x->c->value[v].axes) == 0;
}
bool clf_gen_is_sunk(const clf_cplan *c, int v);
int clf_gen_take_register(clf_gen_translation *x);
/** v, a load, has a place then. */
void clf_gen_translate_load(clf_gen_translation *x, int v);
void clf_gen_put(clf_gen_translation *x, int op, int to, int a, int b, int c);

/* ---- generic_ahead.c ---- */

/** Which values are computed ahead; before anything else is noted. */
void clf_gen_ahead_note(clf_gen_translation *x);
/** The instructions in front of all others, for a work-item's first block. */
void clf_gen_ahead_begin(clf_gen_translation *x);
/** Behind the instruction that computes v: half of a value, perhaps. */
void clf_gen_ahead_behind(clf_gen_translation *x, int v);
/** What is left behind the last instruction. */
void clf_gen_ahead_end(clf_gen_translation *x);
#endif
