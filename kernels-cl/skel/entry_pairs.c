/* SPDX-License-Identifier: Apache-2.0
 * DOTs over a short axis between a row's cells and the row of a side at an entry's column: one number per entry, into a private tile.
 * The row's cells stay in registers while its entries pass. Invariant: lanes behind the end of the axis multiply -0 by 0, and adding
 * -0 changes no number. */
#include <stdio.h>

#include "kernels-cl/skel/entry_text.h"

enum {
    AHEAD = 8,      /* entries; measured: 5 and 16 gain no more where the side is larger than the caches */
    FAR_AHEAD = 32, /* entries; 24 and 48 gain half as much */
    LINE_BYTES = 64,
    FEW_LINES = 8, /* a row of fewer is asked for once */
};

static bool now(const clf_etext *t, int v) { return clf_entry_is_pair(t->p, v) && (t->x.uses[v] || t->late[v]); }

bool clf_etext_pairs_now(const clf_etext *t) {
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (now(t, v)) return true;
    return false;
}

static int along_of(const clf_etext *t, int v) {
    const clf_value *w = clf_etext_val(t, v);
    return t->p->space[w->in[0]] == CLF_AT_ALONG ? w->in[0] : w->in[1];
}
static int side_of(const clf_etext *t, int v) {
    const clf_value *w = clf_etext_val(t, v);
    return clf_etext_val(t, w->in[t->p->space[w->in[0]] == CLF_AT_ALONG ? 1 : 0])->arg;
}

static void registers(clf_etext *t, int v) {
    char wide[CLF_EMIT_NAME], one[CLF_EMIT_NAME], run[CLF_EMIT_NAME];
    clf_dtype type = clf_etext_type(t, v);
    int lanes = clf_lanes(type), n = (int)clf_entry_extent(t->p, clf_etext_val(t, v)->axis);
    for (int at = 0; at < n; at += lanes) {
        CLF_PUT(&t->x, "const %s d%d_%d = ", clf_emit_type(wide, type, lanes), v, at / lanes);
        if (n - at < lanes) CLF_PUT(&t->x, "%s_UPTO(%d, ", clf_emit_run(&t->x.e, run, type, lanes), n - at);
        CLF_PUT(&t->x, "CLF_VLOAD(__private, %s, %d, y%d + %d)", clf_emit_type(one, type, 1), lanes, along_of(t, v), at);
        if (n - at < lanes) CLF_PUT(&t->x, ", (%s)(%s))", wide, clf_dtype_float(type) ? "-0.0f" : "0");
        CLF_PUT(&t->x, ";\n");
    }
}

void clf_etext_pair_rows(clf_etext *t) {
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (now(t, v)) registers(t, v);
}

/* Lanes of s_ widened and folded pairwise, rounded to the type, into the tile. */
static void fold_lanes(clf_etext *t, int v) {
    char type[CLF_EMIT_NAME], one[CLF_EMIT_NAME], lo[24], hi[96];
    clf_dtype narrow = clf_etext_type(t, v), wide = clf_wide(narrow);
    int lanes = clf_lanes(narrow);
    CLF_PUT(&t->x, "const %s s%d_ = ", clf_emit_type(type, wide, lanes), lanes);
    clf_emit_cast(&t->x.e, narrow, wide, lanes);
    CLF_PUT(&t->x, "s_); ");
    for (int half = lanes / 2; half >= 1; half /= 2) {
        snprintf(lo, sizeof lo, "s%d_.lo", half * 2);
        snprintf(hi, sizeof hi, "CLF_UPPER(%s, %d, s%d_)", clf_emit_type(one, wide, 1), half, half * 2);
        const clf_emit_name names[] = {{"a", lo}, {"b", hi}, {NULL, NULL}};
        CLF_PUT(&t->x, "const %s s%d_ = ", clf_emit_type(type, wide, half), half);
        clf_emit_text(&t->x.e, "W_ADD(a, b)", narrow, half, names);
        CLF_PUT(&t->x, "; ");
    }
    CLF_PUT(&t->x, "t%d[z] = ", v);
    clf_emit_cast(&t->x.e, wide, narrow, 1);
    CLF_PUT(&t->x, "s1_); }\n");
}

static void one_pair(clf_etext *t, int v) {
    char wide[CLF_EMIT_NAME], one[CLF_EMIT_NAME];
    clf_dtype type = clf_etext_type(t, v);
    int lanes = clf_lanes(type), n = (int)clf_entry_extent(t->p, clf_etext_val(t, v)->axis), a = side_of(t, v);
    int given = clf_etext_val(t, v)->arg, skip = along_of(t, v) == clf_etext_val(t, v)->in[0] ? given : given >> 1 | (given & 1) << 1;
    CLF_PUT(&t->x, "{ const __global %s *const q_ = ", clf_emit_type(one, type, 1));
    clf_etext_address(t, a, t->row, "c_");
    CLF_PUT(&t->x, ";\n%s s_ = (%s)(0);\n", clf_emit_type(wide, type, lanes), wide);
    for (int at = 0; at < n; at += lanes) {
        char d[32];
        snprintf(d, sizeof d, "d%d_%d", v, at / lanes);
        CLF_PUT(&t->x, "{ const %s y = ", wide);
        clf_etext_run_load(t, a, "q_", at, lanes);
        CLF_PUT(&t->x, "; s_ = ");
        clf_etext_fma(t, skip, type, lanes, d, "y", "s_");
        CLF_PUT(&t->x, "; }\n");
    }
    fold_lanes(t, v);
}

/* Ask for the first `lines` lines of the side's row at the entry `ahead` of this one. */
static void ask(clf_etext *t, int a, int ahead, int lines) {
    int bytes = (int)clf_dtype_bytes((clf_dtype)t->p->c->in[t->p->c->access[a].input].dtype);
    CLF_PUT(&t->x, "{ const long n_ = xc[min(eb + z + %d, nnz - 1)];\n", ahead);
    for (int k = 0; k < lines; k++) {
        CLF_PUT(&t->x, "CLF_FETCH(");
        clf_etext_address(t, a, t->row, "n_");
        CLF_PUT(&t->x, " + %d)\n", k * LINE_BYTES / bytes);
    }
    CLF_PUT(&t->x, "}\n");
}

/* The side's rows that entries soon to come will read: the first half of a long row well ahead, which gets its page and sets the device's
 * own reading ahead off, the whole of it when it is due. Measured with sides of 16 to 80 MiB in rows of 512 to 1600 bytes: 8 to 30 % less
 * time than asking once; all of a row well ahead gains nothing, for a core keeps few lines under way. */
void clf_etext_fetch(clf_etext *t, int a, int cells) {
    clf_entry_at at;
    clf_entry_access(t->p, &t->p->c->access[a], &at);
    int bytes = (int)clf_dtype_bytes((clf_dtype)t->p->c->in[t->p->c->access[a].input].dtype);
    int lines = (cells * bytes + LINE_BYTES - 1) / LINE_BYTES;
    if (a >= CLF_ENTRY_TASKS || !t->p->fetch[a] || at.sk != 1) return;
    if (lines >= FEW_LINES) ask(t, a, FAR_AHEAD, (lines + 1) / 2);
    ask(t, a, AHEAD, lines);
}

void clf_etext_pair_entries(clf_etext *t) {
    for (int v = 0; v < t->p->c->nvalue; v++) {
        if (!now(t, v)) continue;
        if (!t->p->blocked) clf_etext_fetch(t, side_of(t, v), (int)clf_entry_extent(t->p, clf_etext_val(t, v)->axis));
        one_pair(t, v);
    }
}
