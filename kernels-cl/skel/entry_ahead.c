/* SPDX-License-Identifier: Apache-2.0
 * What rows of entry.chunk have besides entries, a few cells each, is asked for before its row comes, be it read or written: between one row
 * and the next entries reach for their rows of a side, so no processor sees a stream, and a store whose line is not there holds up all
 * stores behind it. */
#include "kernels-cl/skel/entry_text.h"

enum { ROWS_AHEAD = 2 /* rows: measured, 1 to 8 are alike */, LINE_BYTES = 64 };

/* Lines of the n cells that lie `at` .. in row `row` of a run of rows. */
static void ask(clf_etext *t, const char *at, const char *row, int64_t n, clf_dtype type) {
    for (int64_t k = 0; k < n; k += LINE_BYTES / (int64_t)clf_dtype_bytes(type))
        CLF_PUT(&t->x, "CLF_FETCH(%s + %s * %d + %d)\n", at, row, (int)n, (int)k);
}

static void ask_operand(clf_etext *t, int v, const char *row) {
    const clf_value *w = clf_etext_val(t, v);
    const int64_t n = clf_entry_extent(t->p, clf_entry_along(t->p, w->axes));
    for (int64_t k = 0; k < n; k += LINE_BYTES / (int64_t)clf_dtype_bytes(clf_etext_type(t, v))) {
        CLF_PUT(&t->x, "CLF_FETCH(");
        clf_etext_address(t, w->arg, row, "");
        CLF_PUT(&t->x, " + %d)\n", (int)k);
    }
}

static void ask_result(clf_etext *t, int s, const char *row) {
    const clf_entry_task *d = &t->p->task[s];
    const int o = t->p->c->sink[s].out[0];
    char at[64];
    if (d->axis < 0) return;
    if (d->kind == CLF_DO_TOTAL) {
        clf_print(at, sizeof at, "w%d_", s);
        ask(t, at, row, clf_entry_extent(t->p, d->axis), clf_ctext_type(&t->x, s));
    } else if (d->kind == CLF_DO_STORE && t->p->c->sink[s].keep & 1) {
        clf_print(at, sizeof at, "o%d + ob%d", o, o);
        ask(t, at, row, clf_entry_extent(t->p, d->axis), (clf_dtype)t->p->c->out[o].dtype);
    }
}

void clf_etext_rows_ahead(clf_etext *t) {
    char row[32];
    clf_print(row, sizeof row, "(%s + %d)", t->row, ROWS_AHEAD);
    for (int v = 0; v < t->p->c->nvalue; v++) {
        const clf_value *w = clf_etext_val(t, v);
        if (w->op == CLF_V_LOAD && t->p->space[v] == CLF_AT_ALONG && w->axes & 1) ask_operand(t, v, row);
    }
    for (int s = 0; s < t->p->c->nsink; s++) ask_result(t, s, row);
}
