/* SPDX-License-Identifier: Apache-2.0
 * Cells without entry in entry.chunk: one more wide state, the `repeat` of what they are, merged behind that of the stored entries (the
 * rest of a fold, cplan.h). For folds over a row's entries, and for full folds where all those cells are alike; columns and powers are
 * left to the host executor. */
#include <stdio.h>
#include <string.h>

#include "kernels-cl/skel/entry_text.h"

enum { MOST_ROWS = 1 << 30 }; /* columns are below 2^31, so cells are counted in 64 bits without overflow */

bool clf_entry_rest_fits(const clf_entry *p, int fold, int rest) {
    return p->space[rest] <= (p->by_entry ? CLF_AT_ONCE : CLF_AT_ROW) && fold != CLF_FOLD_PROD && p->cell.rows <= MOST_ROWS;
}

static bool is_position(const clf_etext *t, int s) {
    int fold = t->x.c->sink[s].fold;
    return fold == CLF_FOLD_ARGMIN || fold == CLF_FOLD_ARGMAX;
}

void clf_etext_rest(clf_etext *t, int s, const char *missing) {
    const clf_entry_task *d = &t->p->task[s];
    const char *repeat = clf_fold_row_of(&t->x, s)->repeat;
    clf_dtype type = clf_ctext_type(&t->x, s);
    char one[CLF_EMIT_NAME];
    clf_fold_vars f;
    if (d->rest < 0) return;
    memset(&f, 0, sizeof f);
    clf_fold_wide_names(&t->x, s, 0, f.s);
    for (int m = 0; m < clf_fold_states(&t->x, s); m++) CLF_NAME(f.t[m], "m%d_", m);
    f.v = "x_";
    f.k = "k_";
    CLF_PUT(&t->x, "{ const long n = %s; if (n > 0) { long k_ = 0;\n", missing);
    if (is_position(t, s)) CLF_PUT(&t->x, "while (k_ < e1 - e0 && xc[e0 + k_] == k_) k_++;\n");
    CLF_PUT(&t->x, "const %s x_ = ", clf_emit_type(one, clf_wide(type), 1));
    clf_emit_cast(&t->x.e, type, clf_wide(type), 1);
    clf_etext_name(t, d->rest);
    CLF_PUT(&t->x, ");\n");
    clf_fold_declare(&t->x, s, true, 1, &f, true);
    clf_fold_apply(&t->x, s, repeat, true, 1, &f);
    clf_fold_apply(&t->x, s, clf_fold_row_of(&t->x, s)->merge, true, 1, &f);
    CLF_PUT(&t->x, "} }\n");
}

void clf_etext_full_final(clf_etext *t) {
    if (!t->x.p->nfull) return;
    CLF_PUT(&t->x, "CLF_FULL_CLOSE()\n");
    for (int s = 0; s < t->p->ntask; s++) {
        if (t->p->task[s].kind != CLF_DO_FULL) continue;
        clf_etext_rest(t, s, "rows * mc_ - nnz");
        clf_full_result(&t->x, s);
    }
}
