/* SPDX-License-Identifier: Apache-2.0
 * Right indexing, X[a:b, c]: its bounds while they are read, and the selection they make. */
#ifndef CLF_LANG_INDEX_H
#define CLF_LANG_INDEX_H
#include "host/lang/lang.h"

typedef struct clf_range {
    int axis;               /* 0 rows, 1 columns: the half being read */
    bool ranged;            /* behind ':' */
    bool given[2];          /* else all */
    int64_t lo[2], hi[2];
} clf_range;

/** Take v as the next bound of the half being read. errors: not a known whole number. */
clf_status clf_range_bound(clf_lang *l, clf_range *r, const clf_term *v);
/** Record x[r]. errors: CLF_E_SHAPE when r is empty or outside x, naming both. */
clf_status clf_range_take(clf_lang *l, const clf_range *r, clf_place at, const clf_term *x, clf_term *out);
/** TRUE FALSE NaN Inf pi. */
bool clf_lang_constant(const clf_token *t, double *out);
#endif
