/* SPDX-License-Identifier: Apache-2.0
 * Cells of other CSR operands at the entries of the main one, one row's part of a tile at a time, into private tiles. A row of the other
 * operand is merged with the main one's or, where the operands are filled and rows short enough (clf_entry.filled) and so is the row,
 * placed into a row of zeros in scratch that belongs to the work-item. Invariant: only copies, so the way changes no bit; rows of zeros
 * are zero between uses. */
#include "kernels-cl/skel/entry_text.h"

static bool now(const clf_etext *t, int v) { return clf_entry_is_located(t->p, v) && (t->x.uses[v] || t->late[v]); }

bool clf_etext_locates_now(const clf_etext *t) {
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (now(t, v)) return true;
    return false;
}

/* Rows of zeros: zA of access A. */
void clf_etext_locate_setup(clf_etext *t) {
    const clf_cplan *c = t->p->c;
    char one[CLF_EMIT_NAME];
    int k = 0;
    for (int a = 0; a < c->naccess && t->p->filled; a++) {
        if (c->access[a].protocol != CLF_LOCATE) continue;
        const char *type = clf_emit_type(one, (clf_dtype)c->in[c->access[a].input].dtype, 1);
        CLF_PUT(&t->x, "__global %s *const z%d = (__global %s *)(scratch + zb + (me * %d + %d) * zn);\n", type, a, type, t->p->zeros, k++);
        CLF_PUT(&t->x, "for (long z = 0; z < zn; z++) z%d[z] = 0;\n", a);
    }
}

/* Integers as wide as the type. */
static const char *bits_of(clf_dtype t) {
    static const char *const name[CLF_NDTYPES] = {
        [CLF_F32] = "int", [CLF_F64] = "long", [CLF_I32] = "int", [CLF_I64] = "long", [CLF_U8] = "char"};
    return name[t];
}

static void locate(clf_etext *t, int v, const char *from, const char *begin) {
    int a = clf_etext_val(t, v)->arg;
    clf_dtype type = clf_etext_type(t, v);
    char one[CLF_EMIT_NAME];
    CLF_PUT(&t->x, "{ long p_ = xp%d[%s];\nconst long q_end = xp%d[%s + 1];\n", a, t->row, a, t->row);
    if (t->p->filled) CLF_PUT(&t->x, "const bool place_ = (q_end - p_) * %d >= zn;\n", CLF_ENTRY_FILLED);
    CLF_PUT(&t->x, "if (eb + %s > %s) CLF_FROM_COLUMN(p_, q_end, xc%d, c_[0])\n", from, begin, a);
    if (t->p->filled) CLF_PUT(&t->x, "if (place_) CLF_PLACE(t%d + %s, n_, c_, p_, q_end, xc%d, x%d, z%d)\nelse\n", v, from, a, a, a);
    CLF_PUT(&t->x, "CLF_MERGE(%s, %s, t%d + %s, n_, c_, p_, q_end, xc%d, x%d) }\n", clf_emit_type(one, type, 1), bits_of(type), v, from, a,
            a);
}

void clf_etext_locate(clf_etext *t, const char *from, const char *to, const char *begin) {
    if (!clf_etext_locates_now(t)) return;
    CLF_PUT(&t->x, "if (%s < %s) { const long n_ = %s - %s;\nconst __global int *const c_ = xc + eb + %s;\n", from, to, to, from, from);
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (now(t, v)) locate(t, v, from, begin);
    CLF_PUT(&t->x, "}\n");
}
