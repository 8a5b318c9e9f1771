/* SPDX-License-Identifier: Apache-2.0
 * Names and operands in the text of row.chunk: what a value, an extent, a row buffer is called, and how one cell or a vector of a value is
 * read outside the loops of cell_text.c. */

#include "kernels-cl/skel/row_text.h"

#include "core/print.h"

int clf_rtext_at(const clf_rtext *w, int s) { return s < w->nsink ? w->p->sink[s].at : w->p->value[w->made[s - w->nsink]].at; }

int clf_rtext_fold_of(const clf_rtext *w, int v) {
    int s = w->nsink;
    while (w->made[s - w->nsink] != v) s++;
    return s;
}

void clf_rtext_along(clf_rtext *w, int axis) {
    w->cell = (clf_cell){.c = &w->c, .i = 1, .rows = w->p->rows, .cols = 1, .kind = CLF_CELL_NARROW, .width = w->p->width, .ru = w->p->ru};
    clf_print(w->x.strip, sizeof w->x.strip, "1");
    w->cell.nfull = w->p->nfull;
    if (axis < 0) return;
    w->cell.j = 1u << axis;
    w->cell.cols = clf_row_extent(w->p, axis);
    if (!clf_row_narrow(w->p, axis)) w->cell.kind = CLF_CELL_ROWS;
    clf_rtext_extent(w, axis, w->x.strip);
}

void clf_rtext_stack(clf_rtext *w, int axis) {
    for (int k = 0; k < w->p->nstack; k++)
        if (w->p->stack_axis[k] == axis) w->x.stack = k;
}

void clf_rtext_each_stack(clf_rtext *w, void (*f)(clf_ctext *)) {
    for (int k = 0; k < w->p->nstack; k++) {
        clf_rtext_along(w, w->p->stack_axis[k]);
        w->x.stack = k;
        f(&w->x);
    }
}

const char *clf_rtext_extent(const clf_rtext *w, int axis, char *buf) {
    if (clf_row_narrow(w->p, axis))
        clf_print(buf, sizeof w->x.strip, "%lld", (long long)clf_row_extent(w->p, axis));
    else
        clf_print(buf, sizeof w->x.strip, "n%d", axis);
    return buf;
}

const char *clf_rtext_padded(const clf_rtext *w, int axis, char *buf) {
    if (clf_row_narrow(w->p, axis))
        clf_print(buf, sizeof w->x.strip, "%lld", (long long)clf_row_padded(w->p, axis));
    else
        clf_print(buf, sizeof w->x.strip, "np%d", axis);
    return buf;
}

const char *clf_rtext_space(const clf_rtext *w, int axis) { return clf_row_narrow(w->p, axis) ? "__private" : "__global"; }

const char *clf_rtext_buffer_space(const clf_rtext *w, int v) {
    return w->p->value[v].deep ? "__global" : clf_rtext_space(w, clf_row_inner(w->c.value[v].axes));
}

static void suffixed(char letter, int id, uint32_t axes, int r, char *buf) {
    if (axes & 1u)
        clf_print(buf, CLF_EMIT_NAME, "%c%d_%d", letter, id, r);
    else
        clf_print(buf, CLF_EMIT_NAME, "%c%d", letter, id);
}

const char *clf_rtext_buffer(const clf_rtext *w, int v, int r, char *buf) {
    suffixed('b', v, w->c.value[v].axes, r, buf);
    return buf;
}

/* What is in memory is read there rather than from a deep buffer. */
static bool in_buffer(const clf_rtext *w, int v) {
    const clf_row_value *q = &w->p->value[v];
    return q->kept && q->at < w->t && !(q->deep && w->c.value[v].op == CLF_V_LOAD);
}

void clf_rtext_element(clf_rtext *w, int v, int r, const char *at) {
    clf_ctext *x = &w->x;
    char name[CLF_EMIT_NAME];
    const clf_value *q = &w->c.value[v];
    if (clf_row_inner(q->axes) < 0) {
        suffixed('v', v, q->axes, r, name);
        CLF_PUT(x, "%s", name);
        return;
    }
    if (in_buffer(w, v))
        clf_rtext_buffer(w, v, r, name);
    else
        suffixed('q', q->arg, q->axes, r, name);
    if (in_buffer(w, v) && w->p->value[v].deep)
        CLF_PUT(x, "%s[(%s) / %d * %d + (%s) %% %d]", name, at, w->p->width, w->p->width * CLF_ROW_DEEP, at, w->p->width);
    else
        CLF_PUT(x, "%s[%s]", name, at);
}

void clf_rtext_vector(clf_rtext *w, int v, int r, int width, const char *at) {
    clf_ctext *x = &w->x;
    char name[CLF_EMIT_NAME], buf[CLF_EMIT_NAME];
    const clf_value *q = &w->c.value[v];
    clf_dtype t = (clf_dtype)q->dtype;
    int axis = clf_row_inner(q->axes);
    if (axis < 0) {
        CLF_PUT(x, "(%s)(", clf_emit_type(buf, t, width));
        clf_rtext_element(w, v, r, at);
        CLF_PUT(x, ")");
    } else if (in_buffer(w, v)) {
        CLF_PUT(x, "CLF_VLOAD(%s, %s, %d, ", clf_rtext_buffer_space(w, v), clf_emit_type(buf, t, 1), width);
        CLF_PUT(x, w->p->value[v].deep ? "%s + (%s) * %d)" : "%s + %s)", clf_rtext_buffer(w, v, r, name), at, CLF_ROW_DEEP);
    } else {
        suffixed('q', q->arg, q->axes, r, name);
        if (x->tail)
            CLF_PUT(x, "%s_LOADT(%s + %s, r)", clf_emit_run(&x->e, buf, t, width), name, at);
        else
            CLF_PUT(x, "CLF_VLOAD(__global, %s, %d, %s + %s)", clf_emit_type(buf, t, 1), width, name, at);
    }
}

void clf_rtext_fma(clf_rtext *w, int skip, clf_dtype t, int width, const char *a, const char *b, const char *c) {
    static const char *const text[] = {"E_FMA(a, b, c)", "E_SEL(a, E_FMA(a, b, c), c)", "E_SEL(b, E_FMA(a, b, c), c)",
                                       "E_SEL(E_AND(a, b), E_FMA(a, b, c), c)"};
    const clf_emit_name names[] = {{"a", a}, {"b", b}, {"c", c}, {NULL, NULL}};
    CLF_PUT(&w->x, "%s = ", c);
    clf_emit_text(&w->x.e, text[skip & 3], t, width, names);
    CLF_PUT(&w->x, ";\n");
}
