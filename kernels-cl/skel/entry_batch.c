/* SPDX-License-Identifier: Apache-2.0
 * Rows of entry.chunk with much to compute once a row, such as log(w) between two products: as many rows as a vector has lanes go through
 * each sweep one after the other, and what is computed once a row is computed between sweeps for all of them, a lane a row (vN_l), as
 * row_batch.c does for dense rows. Entries that a second sweep reads come from a core's own caches; it asks for those of the next batch
 * (ahead_; measured, t(X) %*% (y - exp(X %*% b)) of rows of 50 entries, in 0.86 of the time). Invariant: no value of a row but
 * scalars lives from one sweep to the next; those wait in private memory (mN). A batch at a work-item's end has the rows it has: lanes
 * behind them compute again what the last row has. */
#include "kernels-cl/skel/entry_text.h"

#include "core/print.h"

enum { LEAST_AHEAD = 192, MOST_AHEAD = 1024 /* entries, 12 kB of them */ };

static bool of_rows(const clf_etext *t, int v) { return t->p->space[v] == CLF_AT_ROW && (clf_etext_val(t, v)->axes & 1); }

/* Scalars that sweeps leave to others, and others to sweeps. */
static bool kept(const clf_etext *t, int v) {
    const clf_value *w = clf_etext_val(t, v);
    return of_rows(t, v) && (t->p->made[v] >= 0 || clf_op_is_cell(w->op) || w->op == CLF_V_CAST);
}

void clf_etext_batch_setup(clf_etext *t) {
    char one[CLF_EMIT_NAME];
    for (int v = 0; v < t->p->c->nvalue && t->p->batch; v++)
        if (kept(t, v)) CLF_PUT(&t->x, "%s m%d[%d] CLF_LINES = {0};\n", clf_emit_type(one, clf_etext_type(t, v), 1), v, t->x.p->width);
}

/* ---- vectors, a lane a row ---- */

/* A column of the operand at the batch's rows: as it lies where there is no step between them. */
static void load_lanes(clf_etext *t, int v) {
    char one[CLF_EMIT_NAME], row[40];
    int a = clf_etext_val(t, v)->arg, w = t->x.p->width;
    CLF_PUT(&t->x, "n_ == %d && xl%d == 1 ? CLF_VLOAD(__global, %s, %d, ", w, a, clf_emit_type(one, clf_etext_type(t, v), 1), w);
    clf_etext_address(t, a, "i_", "");
    CLF_PUT(&t->x, ") : (%s)(", clf_emit_type(one, clf_etext_type(t, v), w));
    for (int l = 0; l < w; l++) {
        clf_print(row, sizeof row, "(i_ + min(%d, n_ - 1))", l);
        CLF_PUT(&t->x, l ? ", *(" : "*(");
        clf_etext_address(t, a, row, "");
        CLF_PUT(&t->x, ")");
    }
    CLF_PUT(&t->x, ");\n");
}

static void row_numbers(clf_etext *t) {
    int w = t->x.p->width;
    CLF_PUT(&t->x, "(long%d)(i_) + (long%d)(CLF_IOTA_%d);\n", w, w, w);
}

/* vN_l of what is not computed in lanes. */
static void gather(clf_etext *t, int v, bool *laned) {
    const clf_value *q = clf_etext_val(t, v);
    char buf[CLF_EMIT_NAME];
    if (!of_rows(t, v) || laned[v]) return;
    laned[v] = true;
    CLF_PUT(&t->x, "const %s v%d_l = ", clf_emit_type(buf, clf_etext_type(t, v), t->x.p->width), v);
    if (kept(t, v))
        CLF_PUT(&t->x, "CLF_VLOAD(__private, %s, %d, m%d);\n", clf_emit_type(buf, clf_etext_type(t, v), 1), t->x.p->width, v);
    else if (q->op == CLF_V_LOAD)
        load_lanes(t, v);
    else
        row_numbers(t);
}

/* What can be computed once `ready` sweeps are over. */
static void lanes(clf_etext *t, int ready, bool *laned) {
    char one[CLF_EMIT_NAME];
    for (int v = 0; v < t->p->c->nvalue; v++) {
        const clf_value *q = clf_etext_val(t, v);
        if (!kept(t, v) || t->p->made[v] >= 0 || t->p->ready[v] != ready) continue;
        for (int k = 0; k < 3; k++)
            if (q->in[k] >= 0) gather(t, q->in[k], laned);
        clf_ctext_compute(&t->x, v, t->x.p->width, CLF_ROWS_IN_LANES);
        laned[v] = true;
        CLF_PUT(&t->x, "CLF_VSTORE(__private, %s, %d, v%d_l, m%d);\n", clf_emit_type(one, clf_etext_type(t, v), 1), t->x.p->width, v, v);
    }
}

/* ---- one row after the other ---- */

/* What stands before sweep k of a row. */
static void single_ones(clf_etext *t, int k) {
    char one[CLF_EMIT_NAME];
    for (int v = 0; v < t->p->c->nvalue; v++) {
        int made = t->p->made[v];
        if (!of_rows(t, v) || (made >= 0 ? t->p->task[made].sweep >= k : t->p->ready[v] > k)) continue;
        if (kept(t, v))
            CLF_PUT(&t->x, "const %s v%d_0 = m%d[g];\n", clf_emit_type(one, clf_etext_type(t, v), 1), v, v);
        else
            clf_etext_row_scalar(t, v);
    }
}

static void each_row(clf_etext *t, int k) {
    CLF_PUT(&t->x, "CLF_COLD for (int g = 0; g < n_; g++) {\nconst long i = i_ + g, e0 = xp[i], e1 = xp[i + 1];\n");
    single_ones(t, k);
    if (k < t->p->sweeps) {
        clf_etext_mark(t, k);
        clf_etext_sweep(t);
        for (int v = 0; v < t->p->c->nvalue; v++)
            if (kept(t, v) && t->p->made[v] >= 0 && t->p->task[t->p->made[v]].sweep == k) CLF_PUT(&t->x, "m%d[g] = v%d_0;\n", v, v);
    } else {
        clf_etext_row_stores(t);
    }
    CLF_PUT(&t->x, "}\n");
}

void clf_etext_batch(clf_etext *t) {
    bool laned[CLF_ENTRY_VALUES] = {false};
    CLF_PUT(&t->x, "const long i_ = i;\nconst int n_ = (int)min(%dL, b1 - i);\n", t->x.p->width);
    CLF_PUT(&t->x, "const long ahead_ = max(%dL, min(xp[i + n_] - xp[i], %dL));\n", LEAST_AHEAD, MOST_AHEAD);
    lanes(t, 0, laned);
    for (int k = 0; k <= t->p->sweeps; k++) {
        each_row(t, k);
        if (k < t->p->sweeps) lanes(t, k + 1, laned);
    }
    CLF_PUT(&t->x, "i = i_ + n_ - 1;\ne1 = xp[i + 1];\n");
}
