/* SPDX-License-Identifier: Apache-2.0
 * The jobs of row.group.cl and entry.group.cl: where their tasks stand, the values there, kept cells and rows put together. */
#include "kernels-cl/skel/band_text.h"

#include <string.h>

#include "core/print.h"

bool clf_btext_begin(clf_btext *t, const clf_band *p, clf_arena *arena) {
    memset(t, 0, sizeof *t);
    t->p = p;
    if (!clf_made_sinks(&t->c, &t->made, p->c, arena)) return false;
    t->cell = (clf_cell){.c = &t->c, .kind = CLF_CELL_FLAT, .width = 1, .ru = 1};
    t->x.p = &t->cell;
    t->x.c = &t->c;
    t->x.groups = true;
    t->scope = ~0u;
    t->width = 1;
    t->now = -1;
    t->used = clf_arena_new(arena, (size_t)p->c->nvalue, 1);
    return t->used != NULL;
}

/* ---- positions ---- */

static const char *position_of(const clf_btext *t, int axis, char buf[16]) {
    if (axis)
        clf_print(buf, 16, t->width > 1 && axis == t->beside && t->now < 0 ? "u%df" : "u%d", axis);
    else
        clf_print(buf, 16, "i");
    return buf;
}

void clf_btext_lines(clf_btext *t, uint32_t keep) {
    CLF_PUT(&t->x, "const CLF_INDEX cells = 1");
    for (int a = 1; a < t->p->c->naxes; a++)
        if (keep >> a & 1u && a != t->p->e) CLF_PUT(&t->x, " * e%d", a);
    if (clf_band_by_entry(t->p, keep))
        CLF_PUT(&t->x, ", lines = (CLF_INDEX)(xp[pass1] - xp[pass0]);\n");
    else
        CLF_PUT(&t->x, keep & 1u ? ", lines = (pass1 - pass0) * cells;\n" : ", lines = cells;\n");
}

void clf_btext_each(clf_btext *t, const char *x, const char *n) {
    if (t->width == 1)
        CLF_PUT(&t->x, "CLF_BAND_EACH(%s, %s) {\n", x, n);
    else
        CLF_PUT(&t->x, "CLF_BAND_EACH(turn, %s / %d) {\nconst CLF_INDEX %s = turn * %d;\n", n, t->width, x, t->width);
}

void clf_btext_position(clf_btext *t, uint32_t keep, const char *line) {
    char u[16];
    CLF_PUT(&t->x, "CLF_INDEX at_ = %s;\n", line);
    if (clf_band_by_entry(t->p, keep)) {
        CLF_PUT(&t->x,
                "const CLF_INDEX entry = (CLF_INDEX)xp[pass0] + at_, u%d = (CLF_INDEX)xc[entry]; CLF_INDEX r;\n"
                "CLF_ROW_OF(r, xp + pass0, pass1 - pass0, entry)\nconst CLF_INDEX i = pass0 + r;\n",
                t->p->e);
        return;
    }
    for (int a = t->p->c->naxes - 1; a >= 0; a--) {
        if (!(keep >> a & 1u)) continue;
        if (a == 0)
            CLF_PUT(&t->x, "const CLF_INDEX r = at_, i = pass0 + r;\n");
        else if (keep & ((1u << a) - 1))
            CLF_PUT(&t->x, "const CLF_INDEX %s = at_ %% e%d; at_ /= e%d;\n", position_of(t, a, u), a, a);
        else
            CLF_PUT(&t->x, "const CLF_INDEX %s = at_;\n", position_of(t, a, u));
    }
}

/* Rows are counted in the pass. */
void clf_btext_index(clf_btext *t, uint32_t axes) {
    int n = 0;
    char u[16];
    for (int a = 0; a < t->p->c->naxes; a++) n += axes >> a & 1u && a > 0;
    for (int k = 0; k < n; k++) CLF_PUT(&t->x, "(");
    CLF_PUT(&t->x, axes & 1u ? "r" : "0");
    for (int a = 1; a < t->p->c->naxes; a++)
        if (axes >> a & 1u) CLF_PUT(&t->x, " * e%d + %s)", a, position_of(t, a, u));
}

/* ---- values ---- */

bool clf_btext_stride(const clf_band *p, int access, int axis) {
    clf_strides s;
    return p->c->access[access].protocol == CLF_STREAM && clf_strides_of(p->c, &p->c->access[access], &s) && s.axes >> axis & 1u &&
           s.step[axis] != 1;
}

void clf_btext_place(clf_btext *t, int a) {
    clf_strides s;
    char u[16];
    clf_strides_of(t->p->c, &t->p->c->access[a], &s);
    for (int k = 0; k < t->p->c->naxes; k++) {
        if (!(s.axes >> k & 1u)) continue;
        CLF_PUT(&t->x, "%s", position_of(t, k, u));
        if (clf_btext_stride(t->p, a, k)) CLF_PUT(&t->x, " * (CLF_INDEX)x%ds%d", k, a);
        CLF_PUT(&t->x, " + ");
    }
    CLF_PUT(&t->x, "0");
}

static void put_load(clf_btext *t, int a) {
    CLF_PUT(&t->x, "q%d[", a);
    if (t->p->c->access[a].protocol == CLF_ENTRIES)
        CLF_PUT(&t->x, "entry");
    else
        clf_btext_place(t, a);
    CLF_PUT(&t->x, "]");
}

/* What another CSR operand stores there, or 0. */
static void put_located(clf_btext *t, int v, int a) {
    char buf[CLF_EMIT_NAME];
    CLF_PUT(&t->x, "%s v%d = 0; { long p_ = xp%d[i]; const long end_ = xp%d[i + 1]; CLF_FROM_COLUMN(p_, end_, xc%d, u%d)\n",
            clf_emit_type(buf, (clf_dtype)t->p->c->value[v].dtype, 1), v, a, a, a, t->p->e);
    CLF_PUT(&t->x, "if (p_ < end_ && xc%d[p_] == u%d) v%d = x%d[p_]; }\n", a, t->p->e, v, a);
}

void clf_btext_value(clf_btext *t, int v) {
    const clf_value *w = &t->p->c->value[v];
    char buf[CLF_EMIT_NAME], u[16];
    if (w->op == CLF_V_LOAD && t->p->c->access[w->arg].protocol == CLF_LOCATE) {
        put_located(t, v, w->arg);
        return;
    }
    if (clf_band_is_pair(t->p, w)) {
        if (t->tiled)
            CLF_PUT(&t->x, "const %s v%d = l%d[entry - t0_];\n", clf_emit_type(buf, (clf_dtype)w->dtype, 1), v, v);
        else
            clf_btext_pair(t, v);
        return;
    }
    if (w->op != CLF_V_LOAD && w->op != CLF_V_INDEX && !clf_band_buffered(t->p, w)) {
        clf_ctext_compute(&t->x, v, 1, 0);
        return;
    }
    CLF_PUT(&t->x, "const %s v%d = ", clf_emit_type(buf, (clf_dtype)w->dtype, 1), v);
    if (t->loaded && clf_btext_is_vector(t, v)) {
        CLF_PUT(&t->x, "h%d.s%d", v, t->now);
    } else if (w->op == CLF_V_LOAD) {
        put_load(t, w->arg);
    } else if (w->op == CLF_V_INDEX) {
        CLF_PUT(&t->x, "%s", position_of(t, w->arg, u));
    } else {
        CLF_PUT(&t->x, "m%d[", v);
        clf_btext_index(t, w->axes);
        CLF_PUT(&t->x, "]");
    }
    CLF_PUT(&t->x, ";\n");
}

static void mark_inputs(clf_btext *t) {
    const clf_cplan *c = t->p->c;
    for (int v = c->nvalue - 1; v >= 0; v--) {
        bool there = clf_band_buffered(t->p, &c->value[v]) || (t->tiled && clf_band_is_pair(t->p, &c->value[v]));
        for (int q = 0; q < 3; q++)
            if (t->used[v] && !there && c->value[v].in[q] >= 0) t->used[c->value[v].in[q]] = 1;
    }
}

void clf_btext_mark_pairs(clf_btext *t) {
    for (int v = 0; v < t->p->c->nvalue; v++) t->used[v] = t->used[v] && clf_band_is_pair(t->p, &t->p->c->value[v]);
    t->tiled = false;
    t->scope = 1u | 1u << t->p->e;
    mark_inputs(t);
}

void clf_btext_mark(clf_btext *t, int k) {
    const clf_job *j = &t->p->job[k];
    memset(t->used, 0, (size_t)t->p->c->nvalue);
    t->tiled = j->pairs > 0;
    t->width = j->width;
    t->beside = j->beside;
    t->now = -1;
    if (t->p->e >= 0) t->scope = j->keep | (j->axis >= 0 ? 1u << j->axis : 0) | 1u;
    for (int s = 0; s < t->p->nitem; s++) {
        const clf_sink *sink = &t->c.sink[s];
        if (t->p->item[s].job != k) continue;
        t->used[sink->value[0]] = 1;
        if (sink->kind == CLF_SINK_DOT) t->used[sink->value[1]] = 1;
        if (clf_band_rest(t->p, s) >= 0) t->used[clf_band_rest(t->p, s)] = 1;
    }
    mark_inputs(t);
}

void clf_btext_values(clf_btext *t, uint32_t inside, bool vary) {
    for (int v = 0; v < t->p->c->nvalue; v++) {
        uint32_t axes = t->p->c->value[v].axes;
        if (t->used[v] && !(axes & ~t->scope) && ((axes & inside) != 0) == vary) clf_btext_value(t, v);
    }
}

bool clf_btext_asks_row(const clf_btext *t) {
    for (int v = 0; v < t->p->c->nvalue; v++) {
        const clf_value *w = &t->p->c->value[v];
        clf_strides s;
        if (!t->used[v] || !(w->axes & 1u)) continue;
        if (w->op == CLF_V_INDEX && w->arg == 0) return true;
        if (w->op != CLF_V_LOAD || t->p->c->access[w->arg].protocol == CLF_ENTRIES) continue;
        if (!clf_strides_of(t->p->c, &t->p->c->access[w->arg], &s) || (s.axes & 1u)) return true;
    }
    return false;
}

const char *clf_btext_result(const clf_btext *t, int item, const char *line, char buf[64]) {
    int n = t->p->c->nsink;
    if (t->c.sink[item].kind == CLF_SINK_PATTERN)
        clf_print(buf, 64, "r%d[entry]", t->c.sink[item].out[0]);
    else if (item >= n)
        clf_print(buf, 64, "m%d[%s]", t->made[item - n], line);
    else
        clf_print(buf, 64, t->c.sink[item].keep & 1u ? "r%d[pass0 * cells + %s]" : "r%d[%s]", t->c.sink[item].out[0], line);
    return buf;
}

void clf_btext_begin_lanes(clf_btext *t, int k) {
    for (int s = 0; s < t->p->nitem; s++)
        for (int e = 0; e < t->width && clf_btext_folds(t, s, k); e++) clf_state_begin(&t->x, s, clf_btext_lane(e));
}

void clf_btext_steps(clf_btext *t, int k, const char *pos) {
    for (int s = 0; s < t->p->nitem; s++)
        if (clf_btext_folds(t, s, k)) clf_state_step(&t->x, s, clf_btext_lane(t->now), pos);
}

/* ---- jobs without folds ---- */

/* What rows do not move is stored by the first pass. */
static void put_map(clf_btext *t, int k) {
    const clf_job *j = &t->p->job[k];
    clf_btext_mark(t, k);
    CLF_PUT(&t->x, "{\n");
    clf_btext_lines(t, j->keep);
    CLF_PUT(&t->x, "const CLF_INDEX here = %s;\n", j->keep & 1u ? "lines" : "pass0 == 0 ? lines : 0");
    clf_btext_each(t, "line", "here");
    clf_btext_position(t, j->keep, "line");
    clf_btext_before(t, ~0u);
    clf_btext_step(t, k, ~0u, "");
    CLF_PUT(&t->x, "}\n}\nCLF_BAND_SYNC\n");
}

static void put_cat(clf_btext *t, int k) {
    const clf_job *j = &t->p->job[k];
    const clf_value *w = &t->p->c->value[j->value];
    int first = clf_cat_axis(w, 0);
    for (int q = 0; q < 2; q++) {
        int along = clf_cat_axis(w, q);
        uint32_t keep = j->keep | (along > 0 ? 1u << along : 0);
        memset(t->used, 0, (size_t)t->p->c->nvalue);
        t->used[w->in[q]] = 1;
        t->width = 1;
        mark_inputs(t);
        CLF_PUT(&t->x, "{\n");
        clf_btext_lines(t, keep);
        CLF_PUT(&t->x, "CLF_BAND_EACH(line, lines) {\n");
        clf_btext_position(t, keep, "line");
        clf_btext_values(t, 0, false);
        CLF_PUT(&t->x, "const CLF_INDEX u%d = ", w->axis);
        if (q && first >= 0) CLF_PUT(&t->x, "e%d + ", first);
        if (q && first < 0) CLF_PUT(&t->x, "1 + ");
        CLF_PUT(&t->x, along > 0 ? "u%d;\n" : "0;\n", along);
        CLF_PUT(&t->x, "m%d[", j->value);
        clf_btext_index(t, w->axes);
        CLF_PUT(&t->x, "] = v%d;\n}\n}\nCLF_BAND_SYNC\n", w->in[q]);
    }
}

void clf_btext_scan(clf_btext *t, int k) {
    const clf_job *j = &t->p->job[k];
    const clf_value *w = &t->p->c->value[j->value];
    int s = 0;
    char u[16];
    while (t->p->item[s].job != k) s++;
    clf_btext_mark(t, k);
    CLF_PUT(&t->x, "{\n");
    clf_btext_lines(t, j->keep);
    CLF_PUT(&t->x, "CLF_BAND_EACH(line, lines) {\n");
    clf_btext_position(t, j->keep, "line");
    clf_btext_values(t, 1u << j->axis, false);
    clf_state_begin(&t->x, s, 's');
    clf_state_declare(&t->x, s);
    CLF_PUT(&t->x, "for (CLF_INDEX u%d = 0; u%d < e%d; u%d++) {\n", j->axis, j->axis, j->axis, j->axis);
    clf_btext_values(t, 1u << j->axis, true);
    clf_state_step(&t->x, s, 's', position_of(t, j->axis, u));
    clf_state_widen(&t->x, s, 's', 'a');
    CLF_PUT(&t->x, "const CLF_INDEX to_ = ");
    clf_btext_index(t, w->axes);
    CLF_PUT(&t->x, ";\n");
    char to[64];
    clf_state_result(&t->x, s, clf_btext_result(t, s, "to_", to));
    CLF_PUT(&t->x, "}\n}\n}\nCLF_BAND_SYNC\n");
}

/* ---- holes ---- */

static void put_jobs(clf_btext *t, int set) {
    static void (*const put[])(clf_btext *, int) = {
        [CLF_JOB_LEAVES] = clf_btext_leaves, [CLF_JOB_SCAN] = clf_btext_scan, [CLF_JOB_CAT] = put_cat,        [CLF_JOB_MAP] = put_map,
        [CLF_JOB_COLS] = clf_btext_cols,     [CLF_JOB_FULL] = clf_btext_full, [CLF_JOB_MEET] = clf_btext_meet};
    for (int level = 0; level <= t->p->levels; level++)
        for (int k = 0; k < t->p->njob; k++)
            if (t->p->job[k].level == level && t->p->job[k].kind != CLF_JOB_ENTRIES && t->p->job[k].sets >> set & 1)
                (t->p->job[k].kind == CLF_JOB_LEAVES && t->p->job[k].axis == t->p->e ? clf_btext_rows : put[t->p->job[k].kind])(t, k);
}

void clf_btext_pass(clf_ctext *x) {
    clf_btext *t = (clf_btext *)x;
    if (t->p->apart) CLF_PUT(x, "if (!meets) {\n");
    put_jobs(t, 0);
    if (!t->p->apart) return;
    CLF_PUT(x, "} else {\n");
    put_jobs(t, 1);
    CLF_PUT(x, "}\n");
}
