/* SPDX-License-Identifier: Apache-2.0
 * Cells without entry in entry.group: one more wide state, the `repeat` of what they are, merged behind that of the stored entries (the rest
 * of a fold, cplan.h). A row's is made where its result is; that of a full fold, whose result may be another kernel's, waits in scratch
 * and behind it how many such cells there are. */

#include "kernels-cl/skel/band_text.h"

#include "core/print.h"

int clf_band_rest(const clf_band *p, int item) {
    if (item < p->c->nsink) return p->c->sink[item].kind == CLF_SINK_FOLD ? p->c->sink[item].value[1] : -1;
    const clf_value *v = &p->c->value[p->made[item - p->c->nsink]];
    return v->op == CLF_V_FOLD ? v->in[1] : -1;
}

/* In a block: n cells without entry and x_, what they are. */
static void put_cells(clf_btext *t, int s, const char *missing) {
    int rest = clf_band_rest(t->p, s);
    clf_dtype type = clf_ctext_type(&t->x, s);
    char buf[CLF_EMIT_NAME];
    CLF_PUT(&t->x, "const long n = %s; long k_ = 0;\nconst %s x_ = ", missing, clf_emit_type(buf, clf_wide(type), 1));
    clf_emit_cast(&t->x.e, type, clf_wide(type), 1);
    CLF_PUT(&t->x, "v%d);\n", rest);
}

void clf_btext_rest_of_row(clf_btext *t, int s) {
    int fold = t->c.sink[s].fold;
    if (clf_band_rest(t->p, s) < 0) return;
    CLF_PUT(&t->x, "{ ");
    put_cells(t, s, "mc_ - (e1 - e0)");
    if (fold == CLF_FOLD_ARGMIN || fold == CLF_FOLD_ARGMAX) CLF_PUT(&t->x, "while (k_ < e1 - e0 && xc[e0 + k_] == k_) k_++;\n");
    CLF_PUT(&t->x, "if (n > 0) {\n");
    clf_state_repeat(&t->x, s);
    clf_state_merge(&t->x, s);
    CLF_PUT(&t->x, "} }\n");
}

static clf_place waits(int s, char head[40]) {
    clf_print(head, 40, "scratch[fr%d + ", s);
    return (clf_place){head, "]", 0};
}

void clf_btext_rest_waits(clf_btext *t, int s) {
    char head[40];
    clf_place to = waits(s, head);
    if (clf_band_rest(t->p, s) < 0) return;
    CLF_PUT(&t->x, "{ ");
    put_cells(t, s, "rows_ * mc_ - xp[rows_]");
    clf_state_declare(&t->x, s);
    clf_state_repeat(&t->x, s);
    clf_state_save(&t->x, s, 'b', to);
    CLF_PUT(&t->x, "%s%d] = n; }\n", head, clf_fold_states(&t->x, s));
}

void clf_btext_rest_comes(clf_btext *t, int s) {
    char head[40];
    clf_place from = waits(s, head);
    if (clf_band_rest(t->p, s) < 0) return;
    CLF_PUT(&t->x, "if (%s%d] > 0) {\n", head, clf_fold_states(&t->x, s));
    clf_state_fetch(&t->x, s, 'b', from);
    clf_state_merge(&t->x, s);
    CLF_PUT(&t->x, "}\n");
}
