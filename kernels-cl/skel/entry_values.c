/* SPDX-License-Identifier: Apache-2.0
 * Values of entry.chunk: addresses, scalars of a row, private arrays along short axes, vectors of entries. Invariant: no lane reads
 * memory that no cell has: lanes behind the end of a row read later entries' cells, behind the last entry row 0 and column 0. */
#include <string.h>

#include "kernels-cl/skel/entry_text.h"

#include "core/print.h"

static const char LANE[] = "0123456789abcdef";

static void access_at(const clf_etext *t, int a, clf_entry_at *at) { clf_entry_access(t->p, &t->p->c->access[a], at); }
static clf_dtype access_type(const clf_etext *t, int a) { return (clf_dtype)t->p->c->in[t->p->c->access[a].input].dtype; }

/* Column times its stride, the stride a constant where it is small. */
static void column_step(clf_etext *t, int a, const clf_entry_at *at, const char *column) {
    if (at->se == 1)
        CLF_PUT(&t->x, " + %s", column);
    else if (at->se >= 0 && at->se <= CLF_ENTRY_STRIDE)
        CLF_PUT(&t->x, " + %s * %lldL", column, (long long)at->se);
    else
        CLF_PUT(&t->x, " + %s * xj%d", column, a);
}

void clf_etext_address(clf_etext *t, int a, const char *row, const char *column) {
    clf_entry_at at;
    access_at(t, a, &at);
    CLF_PUT(&t->x, "x%d + xb%d", a, a);
    if (at.axes & 1) CLF_PUT(&t->x, " + %s * xl%d", row, a);
    if (at.axes >> t->p->e & 1) column_step(t, a, &at, column);
}

void clf_etext_side_step(clf_etext *t, int a, const char *k) {
    clf_entry_at at;
    access_at(t, a, &at);
    if (at.sk == 1)
        CLF_PUT(&t->x, " + %s", k);
    else
        CLF_PUT(&t->x, " + (long)(%s) * xk%d", k, a);
}

void clf_etext_run_load(clf_etext *t, int a, const char *from, int at_, int lanes) {
    clf_entry_at at;
    char one[CLF_EMIT_NAME], run[CLF_EMIT_NAME];
    access_at(t, a, &at);
    clf_dtype type = access_type(t, a);
    int left = (int)clf_entry_extent(t->p, at.k) - at_;
    if (at.sk == 1 && left >= lanes) {
        CLF_PUT(&t->x, "CLF_VLOAD(__global, %s, %d, %s + %d)", clf_emit_type(one, type, 1), lanes, from, at_);
    } else if (at.sk == 1) {
        CLF_PUT(&t->x, "%s_LOADT(%s + %d, %d)", clf_emit_run(&t->x.e, run, type, lanes), from, at_, left);
    } else {
        CLF_PUT(&t->x, "(%s)(", clf_emit_type(run, type, lanes));
        for (int l = 0; l < lanes; l++)
            if (l < left)
                CLF_PUT(&t->x, "%s%s[%dL * xk%d]", l ? ", " : "", from, at_ + l, a);
            else
                CLF_PUT(&t->x, ", 0");
        CLF_PUT(&t->x, ")");
    }
}

void clf_etext_name(clf_etext *t, int v) { clf_ctext_value(&t->x, v, 0); }

/* ---- scalars and short axes ---- */

void clf_etext_row_scalar(clf_etext *t, int v) {
    const clf_value *w = clf_etext_val(t, v);
    char one[CLF_EMIT_NAME];
    if (w->op != CLF_V_LOAD && w->op != CLF_V_INDEX) {
        clf_ctext_compute(&t->x, v, 1, 0);
        return;
    }
    CLF_PUT(&t->x, "const %s ", clf_emit_type(one, clf_etext_type(t, v), 1));
    clf_etext_name(t, v);
    CLF_PUT(&t->x, " = ");
    if (w->op == CLF_V_INDEX) {
        CLF_PUT(&t->x, "%s;\n", t->row);
        return;
    }
    CLF_PUT(&t->x, "*(");
    clf_etext_address(t, w->arg, t->row, "");
    CLF_PUT(&t->x, ");\n");
}

void clf_etext_along_decl(clf_etext *t, int v) {
    char one[CLF_EMIT_NAME];
    int axis = clf_entry_along(t->p, clf_etext_val(t, v)->axes);
    CLF_PUT(&t->x, "%s y%d[%d];\n", clf_emit_type(one, clf_etext_type(t, v), 1), v, clf_etext_padded(t, axis));
}

static void along_load(clf_etext *t, int v) {
    char one[CLF_EMIT_NAME], from[32];
    int a = clf_etext_val(t, v)->arg, w = t->x.p->width;
    int axis = clf_entry_along(t->p, clf_etext_val(t, v)->axes), padded = clf_etext_padded(t, axis);
    const char *type = clf_emit_type(one, access_type(t, a), 1);
    clf_print(from, sizeof from, "q%d_", v);
    CLF_PUT(&t->x, "{ const __global %s *const %s = ", type, from);
    clf_etext_address(t, a, t->row, "");
    CLF_PUT(&t->x, ";\n");
    for (int at = 0; at < padded; at += w) {
        CLF_PUT(&t->x, "CLF_VSTORE(__private, %s, %d, ", type, w);
        clf_etext_run_load(t, a, from, at, w);
        CLF_PUT(&t->x, ", y%d + %d);\n", v, at);
    }
    CLF_PUT(&t->x, "}\n");
}

static void along_input(clf_etext *t, int v) {
    char wide[CLF_EMIT_NAME], one[CLF_EMIT_NAME];
    int w = t->x.p->width;
    clf_dtype type = clf_etext_type(t, v);
    CLF_PUT(&t->x, "const %s ", clf_emit_type(wide, type, w));
    clf_etext_name(t, v);
    CLF_PUT(&t->x, " = CLF_VLOAD(__private, %s, %d, y%d + u);\n", clf_emit_type(one, type, 1), w, v);
}

/* A cell of an array must not look like a scalar of the row to the writer of operands: it gets its vector under the same name. */
static void along_value(clf_etext *t, int v) {
    const clf_value *w = clf_etext_val(t, v);
    char one[CLF_EMIT_NAME], wide[CLF_EMIT_NAME];
    int width = t->x.p->width;
    clf_etext_along_decl(t, v);
    if (w->op == CLF_V_LOAD) {
        along_load(t, v);
        return;
    }
    int padded = clf_etext_padded(t, clf_entry_along(t->p, w->axes));
    bool elementary = clf_op_is_cell(w->op) && (clf_ops[w->op].flags & F_ELEM);
    CLF_PUT(&t->x, "%sfor (int u = 0; u < %d; u += %d) {\n", elementary ? "" : clf_etext_short_loop(padded / width), padded, width);
    for (int k = 0; k < 3; k++) {
        int in = w->in[k];
        if (in >= 0 && t->p->space[in] == CLF_AT_ALONG && (k < 1 || in != w->in[0]) && (k < 2 || in != w->in[1])) along_input(t, in);
    }
    if (w->op == CLF_V_INDEX) {
        CLF_PUT(&t->x, "const %s ", clf_emit_type(wide, CLF_I64, width));
        clf_etext_name(t, v);
        CLF_PUT(&t->x, " = (long%d)(u) + (long%d)(CLF_IOTA_%d);\n", width, width, width);
    } else {
        clf_ctext_compute(&t->x, v, width, 0);
    }
    CLF_PUT(&t->x, "CLF_VSTORE(__private, %s, %d, ", clf_emit_type(one, clf_etext_type(t, v), 1), width);
    clf_etext_name(t, v);
    CLF_PUT(&t->x, ", y%d + u);\n}\n", v);
}

/* Along a short axis, or a scalar, with no use of entries. */
static void outer_value(clf_etext *t, int v) {
    int made = t->p->made[v];
    if (made >= 0 && t->p->task[made].kind < CLF_DO_ALONG_FOLD) return; /* declared where its sweep ended */
    if (made >= 0)
        clf_etext_along_task(t, made);
    else if (t->p->space[v] == CLF_AT_ALONG)
        along_value(t, v);
    else
        clf_etext_row_scalar(t, v);
}

static bool of_row(const clf_etext *t, int v) { return clf_etext_val(t, v)->axes & 1; }

void clf_etext_once_values(clf_etext *t) {
    for (int v = 0; v < t->p->c->nvalue; v++) {
        int space = t->p->space[v];
        if (space == CLF_AT_ONCE || (space == CLF_AT_ALONG && !of_row(t, v))) outer_value(t, v);
    }
}

void clf_etext_row_values(clf_etext *t, int ready) {
    for (int v = 0; v < t->p->c->nvalue; v++) {
        int space = t->p->space[v];
        if (t->p->ready[v] == ready && of_row(t, v) && (space == CLF_AT_ROW || space == CLF_AT_ALONG)) outer_value(t, v);
    }
}

/* ---- vectors of entries ---- */

/* Loads of a vector's lanes one by one, which is what volatile is for: a compiler (LLVM 14) would make a gather of them. On an AMD EPYC a
 * product of f32, 50 entries a row, takes 0.81 of the time without; Intel's processors were not measured. Behind the last whole vector
 * the addresses cost what it saves. */
void clf_etext_lane(clf_etext *t, int a, const char *row, int l, const char *k) {
    char column[32], one[CLF_EMIT_NAME];
    if (t->x.tail)
        clf_print(column, sizeof column, "(long)ix_.s%c", LANE[l]);
    else
        clf_print(column, sizeof column, "(long)xc[eb + u + %d]", l);
    CLF_PUT(&t->x, "%s*(", l ? ", " : "");
    if (!t->x.tail) CLF_PUT(&t->x, "const volatile __global %s *)(", clf_emit_type(one, access_type(t, a), 1));
    clf_etext_address(t, a, row, column);
    if (k) clf_etext_side_step(t, a, k);
    CLF_PUT(&t->x, ")");
}

static void gather(clf_etext *t, int a) {
    char type[CLF_EMIT_NAME], row[32];
    int w = t->x.p->width;
    CLF_PUT(&t->x, "(%s)(", clf_emit_type(type, access_type(t, a), w));
    for (int l = 0; l < w; l++) {
        clf_print(row, sizeof row, t->p->by_entry ? "row_[u + %d]" : "i", l);
        clf_etext_lane(t, a, row, l, NULL);
    }
    CLF_PUT(&t->x, ")");
}

static void entry_load(clf_etext *t, int v) {
    char buf[CLF_EMIT_NAME];
    int w = t->x.p->width;
    clf_dtype type = clf_etext_type(t, v);
    if (clf_entry_in_tile(t->p, v))
        CLF_PUT(&t->x, "CLF_VLOAD(__private, %s, %d, t%d + u)", clf_emit_type(buf, type, 1), w, v);
    else if (clf_etext_val(t, v)->op == CLF_V_INDEX && clf_etext_val(t, v)->arg == 0)
        CLF_PUT(&t->x, "CLF_VLOAD(__private, long, %d, row_ + u)", w);
    else if (clf_etext_val(t, v)->op == CLF_V_INDEX)
        CLF_PUT(&t->x, "convert_long%d(ix_)", w);
    else if (!clf_etext_is_stored(t, v))
        gather(t, clf_etext_val(t, v)->arg);
    else if (t->x.tail)
        CLF_PUT(&t->x, "%s_LOADT(xe + eb + u, m_)", clf_emit_run(&t->x.e, buf, type, w));
    else
        CLF_PUT(&t->x, "CLF_VLOAD(__global, %s, %d, xe + eb + u)", clf_emit_type(buf, type, 1), w);
}

void clf_etext_entry_value(clf_etext *t, int v) {
    char type[CLF_EMIT_NAME];
    if (!clf_etext_is_memory(t, v)) {
        clf_ctext_compute(&t->x, v, t->x.p->width, 0);
        return;
    }
    CLF_PUT(&t->x, "const %s ", clf_emit_type(type, clf_etext_type(t, v), t->x.p->width));
    clf_etext_name(t, v);
    CLF_PUT(&t->x, " = ");
    entry_load(t, v);
    CLF_PUT(&t->x, ";\n");
}
