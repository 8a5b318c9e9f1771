/* SPDX-License-Identifier: Apache-2.0
 * Right indexing. Bounds are 1-based and inclusive; they are checked here, where the language's meaning is known: 0 and "all" are
 * different things in a program, though clf_index spells both 0. An axis without cells may be selected as 1:0. */
#include "host/lang/index.h"

#include <inttypes.h>
#include <math.h>

clf_status clf_range_bound(clf_lang *l, clf_range *r, const clf_term *v) {
    const double most = 9007199254740992.0;
    if (!v->known)
        return clf_place_fail(l->err, CLF_E_ARG, v->at, "an index must be known when the program is read: literals, nrow, ncol, length");
    if (!(fabs(v->num) <= most && v->num == floor(v->num)))
        return clf_place_fail(l->err, CLF_E_ARG, v->at, "the index %.17g is not a whole number", v->num);
    if (!r->ranged) r->lo[r->axis] = (int64_t)v->num;
    r->hi[r->axis] = (int64_t)v->num;
    r->given[r->axis] = true;
    return CLF_OK;
}

static clf_status inside(clf_lang *l, const clf_range *r, clf_place at, int axis, int64_t extent) {
    const char *what = axis ? "columns" : "rows";
    if (!r->given[axis] || (extent == 0 && r->lo[axis] == 1 && r->hi[axis] == 0)) return CLF_OK;
    if (r->hi[axis] < r->lo[axis])
        return clf_place_fail(l->err, CLF_E_SHAPE, at, "index: %s %" PRId64 ":%" PRId64 " select nothing", what, r->lo[axis], r->hi[axis]);
    if (r->lo[axis] < 1 || r->hi[axis] > extent)
        return clf_place_fail(l->err, CLF_E_SHAPE, at, "index: %s %" PRId64 ":%" PRId64 " of a matrix with %" PRId64, what, r->lo[axis],
                              r->hi[axis], extent);
    return CLF_OK;
}

clf_status clf_range_take(clf_lang *l, const clf_range *r, clf_place at, const clf_term *x, clf_term *out) {
    int64_t rows, cols;
    const char *why = "out of memory";
    if (!x->mat) return clf_place_fail(l->err, CLF_E_TYPE, at, "a string has no rows and columns");
    CLF_TRY(clf_info(x->mat, &rows, &cols, NULL, NULL));
    CLF_TRY(inside(l, r, at, 0, rows));
    CLF_TRY(inside(l, r, at, 1, cols));
    clf_term v = {.owned = true, .at = at};
    v.mat =
        clf_index(x->mat, r->given[0] ? r->lo[0] : 1, r->given[0] ? r->hi[0] : 0, r->given[1] ? r->lo[1] : 1, r->given[1] ? r->hi[1] : 0);
    clf_status st = clf_status_of(v.mat, &why);
    if (st != CLF_OK) {
        st = clf_place_fail(l->err, st, at, "%s", why);
        clf_term_release(&v);
        return st;
    }
    *out = v;
    return CLF_OK;
}
