/* SPDX-License-Identifier: Apache-2.0
 * Values of cell.chunk: their names, which loop computes them, and the declaration of each. Every loop over vectors holds at most one
 * elementary function: two of them keep re-broadcasting their polynomials' constants (measured: 1.8x on log(1 + exp(x))). */
#include <string.h>

#include "kernels-cl/skel/cell_text.h"

#include "core/print.h"

enum { MAX_STAGES = 63 };

bool clf_ctext_varies(const clf_ctext *x, uint32_t axes) { return x->p->kind != CLF_CELL_FLAT && (axes & x->p->i); }

void clf_ctext_suffix(clf_ctext *x, uint32_t axes, int r) {
    if (!clf_ctext_varies(x, axes)) return;
    if (r == CLF_ROWS_IN_LANES)
        CLF_PUT(x, "_l");
    else
        CLF_PUT(x, "_%d", r);
}

void clf_ctext_value(clf_ctext *x, int v, int r) {
    CLF_PUT(x, "v%d", v);
    clf_ctext_suffix(x, clf_ctext_val(x, v)->axes, r);
}

void clf_ctext_operand(clf_ctext *x, int v, int width, int r) {
    char buf[CLF_EMIT_NAME];
    bool lanes = r == CLF_ROWS_IN_LANES && clf_ctext_varies(x, clf_ctext_val(x, v)->axes);
    bool splat = width > 1 && clf_ctext_level(x, v) < 2 && !lanes;
    if (splat) CLF_PUT(x, "((%s)(", clf_emit_type(buf, (clf_dtype)clf_ctext_val(x, v)->dtype, width));
    clf_ctext_value(x, v, r);
    if (splat) CLF_PUT(x, "))");
}

/* ---- which loop computes what ---- */

static int earliest(const clf_ctext *x, const clf_value *w) {
    int s = 0;
    for (int k = 0; k < 3; k++)
        if (w->in[k] >= 0 && clf_ctext_level(x, w->in[k]) == 2 && x->stage[w->in[k]] > s) s = x->stage[w->in[k]];
    return s;
}

void clf_ctext_schedule(clf_ctext *x) {
    uint64_t taken = 0;
    x->stages = 1;
    for (int v = 0; v < x->c->nvalue; v++) {
        const clf_value *w = clf_ctext_val(x, v);
        if (clf_ctext_level(x, v) < 2 || clf_ctext_is_read(x, v)) continue;
        int s = earliest(x, w);
        if (clf_op_is_cell(w->op) && (clf_ops[w->op].flags & F_ELEM)) {
            while (s < MAX_STAGES && (taken >> s & 1)) s++;
            taken |= (uint64_t)1 << s;
        }
        x->stage[v] = (uint8_t)s;
        if (s + 1 > x->stages) x->stages = s + 1;
    }
    for (int s = 0; s < x->c->nsink; s++) x->uses[x->c->sink[s].value[0]] |= (uint64_t)1 << x->stage[x->c->sink[s].value[0]];
    for (int v = x->c->nvalue - 1; v >= 0; v--)
        for (int k = 0; k < 3; k++)
            if (x->uses[v] && clf_ctext_val(x, v)->in[k] >= 0) x->uses[clf_ctext_val(x, v)->in[k]] |= (uint64_t)1 << x->stage[v];
}

/* ---- one value ---- */

static void load(clf_ctext *x, const clf_value *w, int width, int r) {
    clf_cell_at at;
    char buf[CLF_EMIT_NAME];
    int a = w->arg;
    clf_cell_access(x->p, &x->c->access[a], &at);
    if (width == 1) {
        CLF_PUT(x, "x%d[xb%d", a, a);
        if (clf_cell_level(x->p, at.axes) == 1) CLF_PUT(x, " + (i + %d) * xl%d", r, a);
        CLF_PUT(x, "]");
    } else if (x->p->kind == CLF_CELL_GROUP && at.axes == x->p->j) {
        CLF_PUT(x, "CLF_VLOAD(__private, %s, %d, g%d + u)", clf_emit_type(buf, (clf_dtype)x->c->in[x->c->access[a].input].dtype, 1), width,
                a);
    } else {
        if (x->tail)
            CLF_PUT(x, "%s_LOAD%c(q%d", clf_emit_run(&x->e, buf, (clf_dtype)x->c->in[x->c->access[a].input].dtype, width),
                    x->p->kind == CLF_CELL_NARROW && x->p->cols < width ? 'R' : 'T', a);
        else
            CLF_PUT(x, "CLF_VLOAD(__global, %s, %d, q%d", clf_emit_type(buf, (clf_dtype)x->c->in[x->c->access[a].input].dtype, 1), width,
                    a);
        clf_ctext_suffix(x, at.axes, r);
        CLF_PUT(x, x->tail ? " + u, r)" : " + u)");
    }
}

static void index_of(clf_ctext *x, const clf_value *w, int width, int r) {
    bool outer = x->p->i && w->arg == 0;
    if (width > 1) {
        CLF_PUT(x, "(long%d)(%su) + (long%d)(CLF_IOTA_%d)", width, x->p->kind == CLF_CELL_FLAT ? "i * 512 + " : "", width, width);
    } else if (outer && x->p->kind != CLF_CELL_FLAT) {
        CLF_PUT(x, "i + %d", r);
    } else {
        CLF_PUT(x, "0");
    }
}

static void cell(clf_ctext *x, const clf_value *w, int width, int r) {
    char name[3][CLF_EMIT_NAME * 2];
    clf_dtype t = (clf_dtype)clf_ctext_val(x, w->in[0])->dtype;
    clf_str *out = x->e.out;
    for (int k = 0; k < 3; k++) {
        clf_str one;
        clf_str_init(&one, out->mem);
        x->e.out = &one;
        if (w->in[k] >= 0) clf_ctext_operand(x, w->in[k], width, r);
        clf_print(name[k], sizeof name[k], "%s", clf_str_c(&one));
        out->failed = out->failed || one.failed;
        clf_str_release(&one);
    }
    x->e.out = out;
    const clf_emit_name names[] = {{"a", name[0]}, {"b", name[1]}, {"c", name[2]}, {NULL, NULL}};
    clf_emit_cast(&x->e, t, (clf_dtype)w->dtype, width);
    clf_emit_text(&x->e, clf_ops[w->op].text, t, width, names);
    CLF_PUT(x, ")");
}

/* Row buffers along narrow axes are private, unless they outlive a pass; they are padded, so tails need no mask. */
static int held_rows(const clf_ctext *x, int v) { return x->deep && x->deep[v] ? x->deep[v] : 1; }
static const char *held_space(const clf_ctext *x, int v) {
    return x->p->kind == CLF_CELL_NARROW && held_rows(x, v) == 1 ? "__private" : "__global";
}
static void held(clf_ctext *x, int v, int width, int r) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "CLF_VLOAD(%s, %s, %d, b%d", held_space(x, v), clf_emit_type(buf, (clf_dtype)clf_ctext_val(x, v)->dtype, 1), width, v);
    clf_ctext_suffix(x, clf_ctext_val(x, v)->axes, r);
    CLF_PUT(x, " + u * %d)", held_rows(x, v));
}
void clf_ctext_hold(clf_ctext *x, int v, int r) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "CLF_VSTORE(%s, %s, %d, ", held_space(x, v), clf_emit_type(buf, (clf_dtype)clf_ctext_val(x, v)->dtype, 1), x->p->width);
    clf_ctext_value(x, v, r);
    CLF_PUT(x, ", b%d", v);
    clf_ctext_suffix(x, clf_ctext_val(x, v)->axes, r);
    CLF_PUT(x, " + u * %d);\n", held_rows(x, v));
}

void clf_ctext_compute(clf_ctext *x, int v, int width, int r) {
    const clf_value *w = clf_ctext_val(x, v);
    char buf[CLF_EMIT_NAME];
    CLF_PUT(x, "const %s ", clf_emit_type(buf, (clf_dtype)w->dtype, width));
    clf_ctext_value(x, v, r);
    CLF_PUT(x, " = ");
    if (x->held && x->held[v] == CLF_HELD_READ)
        held(x, v, width, r);
    else if (w->op == CLF_V_LOAD)
        load(x, w, width, r);
    else if (w->op == CLF_V_INDEX)
        index_of(x, w, width, r);
    else if (w->op == CLF_V_PARAM)
        CLF_PUT(x, "p%d", w->arg);
    else if (w->op == CLF_V_CAST) {
        clf_emit_cast(&x->e, (clf_dtype)clf_ctext_val(x, w->in[0])->dtype, (clf_dtype)w->dtype, width);
        clf_ctext_operand(x, w->in[0], width, r);
        CLF_PUT(x, ")");
    } else
        cell(x, w, width, r);
    CLF_PUT(x, ";\n");
}

void clf_ctext_by_registers(clf_ctext *x, void (*put)(clf_ctext *, const void *), const void *what) {
    CLF_PUT(x, "if (CLF_WIDE_REGISTERS) {\n");
    x->registers = CLF_WIDE_REGISTERS;
    put(x, what);
    CLF_PUT(x, "} else {\n");
    x->registers = CLF_FEW_REGISTERS;
    put(x, what);
    CLF_PUT(x, "}\n");
    x->registers = CLF_ANY_REGISTERS;
}
