/* SPDX-License-Identifier: Apache-2.0
 * A cplan over cells that is made of one over rows or over stored entries, for cell.generic to translate. */
#ifndef CLF_KERNELS_SKEL_GENERIC_MADE_H
#define CLF_KERNELS_SKEL_GENERIC_MADE_H
#include "kernels-cl/skel/generic_plan.h"

enum { CLF_GEN_CELL_SINKS = CLF_GEN_OUTPUTS + CLF_GEN_FOLDS };

/* Its arrays are here, for nobody hands us memory. */
typedef struct clf_generic_made {
    const clf_cplan *from;
    clf_dtype t;
    clf_cplan c;
    clf_axis axis;
    clf_cinput in[CLF_GEN_INPUTS];
    clf_coutput out[CLF_GEN_OUTPUTS];
    clf_access access[CLF_GEN_ACCESSES];
    clf_value value[CLF_GEN_VALUES];
    clf_sink sink[CLF_GEN_CELL_SINKS];
    int as[CLF_GEN_VALUES]; /* what each value of `from` became; -1: nothing */
    bool used[CLF_GEN_VALUES];
} clf_generic_made;

/** Inputs, parameters and outputs of `from`, which are few enough, along one axis; nothing else yet. */
void clf_generic_made_begin(clf_generic_made *m, const clf_axis *axis);
/** What the values marked as used read is used, too. */
void clf_generic_made_use(clf_generic_made *m);
/** The next value's operands are what those of `from` became; false: they became nothing. */
bool clf_generic_made_operands(clf_generic_made *m);
/** Where the next access is, that one; -1: there is no room. */
int clf_generic_made_access(clf_generic_made *m, const clf_access *a);
#endif
