/* SPDX-License-Identifier: Apache-2.0
 * Loops over vectors of entries in entry.chunk, with at most one elementary function each. Values that several loops read stand in private
 * tiles between them; values that several sweeps over a row read are computed again in each. */
#include <string.h>

#include "kernels-cl/skel/entry_text.h"

#include "core/print.h"

static bool at_entry(const clf_etext *t, int v) { return v >= 0 && t->p->space[v] == CLF_AT_ENTRY; }
/* Done inside the loops over vectors? */
static bool in_vectors(uint8_t kind) {
    return kind == CLF_DO_PATTERN || kind == CLF_DO_FULL || kind == CLF_DO_FOLD || kind == CLF_DO_DOT || kind == CLF_DO_ACROSS;
}
static bool task_now(const clf_etext *t, int s) { return t->p->task[s].sweep == t->sweep; }

/* ---- which loop needs what, in this sweep ---- */

static int loop_of(const clf_etext *t, int s) {
    const clf_entry_task *d = &t->p->task[s];
    int a = at_entry(t, d->a) ? t->x.stage[d->a] : 0, b = at_entry(t, d->b) ? t->x.stage[d->b] : 0;
    return a > b ? a : b;
}

static void mark_task(clf_etext *t, int s) {
    const clf_entry_task *d = &t->p->task[s];
    const int in[2] = {d->a, d->b};
    for (int k = 0; k < 2; k++) {
        if (!at_entry(t, in[k])) continue;
        if (clf_entry_late(d->kind))
            t->late[in[k]] = true;
        else if (in_vectors(d->kind))
            t->x.uses[in[k]] |= (uint64_t)1 << loop_of(t, s);
    }
}

void clf_etext_mark(clf_etext *t, int sweep) {
    const clf_cplan *c = t->p->c;
    t->sweep = sweep;
    memset(t->x.uses, 0, (size_t)c->nvalue * sizeof *t->x.uses);
    memset(t->late, 0, sizeof t->late);
    for (int s = 0; s < t->p->ntask; s++)
        if (task_now(t, s)) mark_task(t, s);
    for (int v = c->nvalue - 1; v >= 0; v--) {
        if (!(t->x.uses[v] || t->late[v]) || !at_entry(t, v) || clf_etext_is_memory(t, v)) continue;
        for (int k = 0; k < 3; k++)
            if (at_entry(t, c->value[v].in[k])) t->x.uses[c->value[v].in[k]] |= (uint64_t)1 << t->x.stage[v];
    }
    for (int v = 0; v < c->nvalue; v++) {
        if (!at_entry(t, v)) continue;
        bool kept = !clf_etext_is_memory(t, v) && t->x.uses[v] >> (t->x.stage[v] + 1);
        if (kept || (t->late[v] && !clf_etext_is_stored(t, v)) || (clf_entry_in_tile(t->p, v) && t->x.uses[v])) t->tile[v] = true;
    }
}

/* Loops that this sweep needs, and whether one of them holds an elementary function. */
static int loops_now(const clf_etext *t, bool *elementary) {
    int n = 0;
    *elementary = false;
    for (int v = 0; v < t->p->c->nvalue; v++) {
        const clf_value *w = clf_etext_val(t, v);
        if (!at_entry(t, v) || !(t->x.uses[v] || t->late[v])) continue;
        if (t->x.stage[v] + 1 > n) n = t->x.stage[v] + 1;
        *elementary = *elementary || (clf_op_is_cell(w->op) && (clf_ops[w->op].flags & F_ELEM));
    }
    for (int s = 0; s < t->p->ntask; s++)
        if (task_now(t, s) && in_vectors(t->p->task[s].kind) && loop_of(t, s) + 1 > n) n = loop_of(t, s) + 1;
    return n;
}

/* ---- vectors ---- */

static void put_operand(clf_etext *t, const char *name, int v) {
    char type[CLF_EMIT_NAME];
    CLF_PUT(&t->x, "const %s %s = ", clf_emit_type(type, clf_etext_type(t, v), t->x.p->width), name);
    if (at_entry(t, v)) {
        clf_etext_name(t, v);
    } else {
        CLF_PUT(&t->x, "(%s)(", type);
        clf_etext_name(t, v);
        CLF_PUT(&t->x, ")");
    }
    CLF_PUT(&t->x, ";\n");
}

static void across(clf_etext *t, int s) {
    const clf_entry_task *d = &t->p->task[s];
    char type[CLF_EMIT_NAME], k[16];
    int w = t->x.p->width, a = clf_etext_val(t, d->b)->arg;
    for (int r = 0; r < (int)clf_entry_extent(t->p, d->axis); r++) {
        CLF_PUT(&t->x, "{ const %s z_ = (%s)(", clf_emit_type(type, clf_etext_type(t, d->b), w), type);
        clf_print(k, sizeof k, "%d", r);
        for (int l = 0; l < w; l++) clf_etext_lane(t, a, t->row, l, k);
        CLF_PUT(&t->x, ");\n");
        clf_etext_dot_step(t, s, r, "y", "z_", t->x.tail);
        CLF_PUT(&t->x, "}\n");
    }
}

static void pattern(clf_etext *t, int s) {
    char buf[CLF_EMIT_NAME];
    int o = t->p->c->sink[s].out[0], w = t->x.p->width;
    clf_dtype to = (clf_dtype)t->p->c->out[o].dtype;
    if (t->x.tail)
        CLF_PUT(&t->x, "%s_STORET(", clf_emit_run(&t->x.e, buf, to, w));
    else
        CLF_PUT(&t->x, "CLF_VSTORE(__global, %s, %d, ", clf_emit_type(buf, to, 1), w);
    clf_emit_cast(&t->x.e, clf_etext_type(t, t->p->task[s].a), to, w);
    CLF_PUT(&t->x, "y), o%d + ob%d + eb + u%s);\n", o, o, t->x.tail ? ", r" : "");
}

static void vector_task(clf_etext *t, int s) {
    const clf_entry_task *d = &t->p->task[s];
    char position[96];
    int w = t->x.p->width;
    CLF_PUT(&t->x, "{ ");
    put_operand(t, "y", d->a);
    if (d->kind == CLF_DO_DOT) put_operand(t, "z", d->b);
    switch (d->kind) {
    case CLF_DO_PATTERN: pattern(t, s); break;
    case CLF_DO_DOT: clf_etext_dot_step(t, s, 0, "y", "z", t->x.tail); break;
    case CLF_DO_ACROSS: across(t, s); break;
    case CLF_DO_FOLD:
        clf_print(position, sizeof position, "convert_long%d(ix_)", w);
        clf_etext_fold_step(t, s, position, t->x.tail);
        break;
    default:
        clf_print(position, sizeof position, "(long%d)(eb + u) + (long%d)(CLF_IOTA_%d)", w, w, w);
        clf_etext_fold_step(t, s, position, t->x.tail);
    }
    CLF_PUT(&t->x, "}\n");
}

static void tile_store(clf_etext *t, int v) {
    char one[CLF_EMIT_NAME];
    CLF_PUT(&t->x, "CLF_VSTORE(__private, %s, %d, ", clf_emit_type(one, clf_etext_type(t, v), 1), t->x.p->width);
    clf_etext_name(t, v);
    CLF_PUT(&t->x, ", t%d + u);\n", v);
}

static void tile_load(clf_etext *t, int v) {
    char one[CLF_EMIT_NAME], wide[CLF_EMIT_NAME];
    clf_dtype type = clf_etext_type(t, v);
    int w = t->x.p->width;
    CLF_PUT(&t->x, "const %s ", clf_emit_type(wide, type, w));
    clf_etext_name(t, v);
    CLF_PUT(&t->x, " = CLF_VLOAD(__private, %s, %d, t%d + u);\n", clf_emit_type(one, type, 1), w, v);
}

static void body_value(clf_etext *t, int v) {
    bool memory = clf_etext_is_memory(t, v), read = t->x.uses[v] >> t->x.now & 1, needed = t->x.uses[v] || t->late[v];
    bool kept = t->late[v] && !clf_etext_is_stored(t, v) && !clf_entry_in_tile(t->p, v);
    bool here = needed && t->x.stage[v] == t->x.now;
    if (memory ? read || (here && kept) : here)
        clf_etext_entry_value(t, v);
    else if (!memory && read && t->x.stage[v] < t->x.now)
        tile_load(t, v);
    if (here && (kept || (!memory && t->x.uses[v] >> (t->x.now + 1)))) tile_store(t, v);
}

static void body(clf_etext *t) {
    int w = t->x.p->width;
    if (t->x.tail) {
        char run[CLF_EMIT_NAME];
        CLF_PUT(&t->x, "const int r = cells - u, m_ = (int)min(%dL, nnz - eb - u);\n", w);
        CLF_PUT(&t->x, "const int%d ix_ = %s_LOADT(xc + eb + u, m_);\n", w, clf_emit_run(&t->x.e, run, CLF_I32, w));
    } else {
        CLF_PUT(&t->x, "const int%d ix_ = CLF_VLOAD(__global, int, %d, xc + eb + u);\n", w, w);
    }
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (at_entry(t, v)) body_value(t, v);
    for (int s = 0; s < t->p->ntask; s++)
        if (task_now(t, s) && in_vectors(t->p->task[s].kind) && loop_of(t, s) == t->x.now) vector_task(t, s);
}

static void one_loop(clf_etext *t, bool apart) {
    int w = t->x.p->width;
    CLF_PUT(&t->x, "{ int u = 0;\n");
    t->x.tail = false;
    if (apart) {
        CLF_PUT(&t->x, "for (; u + %d <= cells; u += %d) {\n", w, w);
        body(t);
        CLF_PUT(&t->x, "}\n");
    }
    t->x.tail = true;
    CLF_PUT(&t->x, apart ? "if (u < cells) {\n" : "for (; u < cells; u += %d) {\n", w);
    body(t);
    CLF_PUT(&t->x, "}\n}\n");
    t->x.tail = false;
}

/* Whole vectors and the short one have loops of their own, but for long bodies, where masks cost nothing. */
void clf_etext_vectors(clf_etext *t) {
    bool elementary;
    int n = loops_now(t, &elementary);
    for (t->x.now = 0; t->x.now < n; t->x.now++) one_loop(t, !elementary);
}

bool clf_etext_vectors_short(const clf_etext *t) {
    bool elementary;
    return loops_now(t, &elementary) > 0 && !elementary;
}

void clf_etext_vector(clf_etext *t, bool tail) {
    bool elementary;
    int n = loops_now(t, &elementary);
    t->x.tail = tail;
    for (t->x.now = 0; t->x.now < n; t->x.now++) {
        CLF_PUT(&t->x, "{ const int u = 0;\n");
        body(t);
        CLF_PUT(&t->x, "}\n");
    }
    t->x.tail = false;
}
