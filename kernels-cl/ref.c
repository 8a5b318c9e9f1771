/* SPDX-License-Identifier: Apache-2.0
 * The reference executor: which values are computed where (frames, ref_run.h), and the machine that computes them. Chosen for being
 * obviously right: one value at a time, every fold value recomputed wherever its axes moved. ref_data.c reads memory, ref_sink.c runs
 * the sinks, ref_ops.c knows operators and the reduction tree. */
#include "kernels-cl/ref.h"

#include <string.h>

#include "kernels-cl/ref_run.h"

static bool is_fold(const clf_value *v) { return v->op == CLF_V_FOLD || v->op == CLF_V_SCAN || v->op == CLF_V_DOT; }

/* Frames that a value has. */
static int frames_of(const clf_cplan *c, const clf_value *v) {
    if (!is_fold(v)) return v->op == CLF_V_CAT ? 2 : 0;
    return clf_rest_axis(c, v) >= 0 ? 2 : 1;
}

/* ---- frames -------------------------------------------------------------------------------------------------------------- */

static void mark_value(clf_ref_job *r, int32_t v) {
    if (v >= 0) r->mark[v] = 1;
}

/* Mark what value v reads in the frame it is computed in; a fold's body lives in its own frame. */
static void mark_inputs(clf_ref_job *r, int v) {
    const clf_value *x = &r->c->value[v];
    for (int i = 0; i < frames_of(r->c, x); i++) {
        const clf_ref_frame *f = &r->frame[r->frame_of[v] + i];
        for (int q = 0; q < f->nhoist; q++) mark_value(r, f->hoist[q]);
    }
    if (frames_of(r->c, x)) return;
    for (int q = 0; q < 3; q++) mark_value(r, x->in[q]);
    if (x->op != CLF_V_LOAD) return;
    const clf_access *a = &r->c->access[x->arg];
    for (int d = 0; d < a->rank; d++) mark_value(r, a->at[d].value);
}

/* From the marked roots: values that vary with `axes` are computed in the frame, the others are handed in. */
static void fill_frame(clf_ref_job *r, clf_ref_frame *f, uint32_t axes) {
    f->nlist = f->nhoist = 0;
    for (int v = r->c->nvalue - 1; v >= 0; v--) {
        bool here = f->value < 0 || (r->c->value[v].axes & axes);
        if (r->mark[v] && here) mark_inputs(r, v);
    }
    for (int v = 0; v < r->c->nvalue; v++) {
        bool here = f->value < 0 || (r->c->value[v].axes & axes);
        if (r->mark[v] && here) f->list[f->nlist++] = v;
        if (r->mark[v] && !here) f->hoist[f->nhoist++] = v;
    }
}

enum { MOST_MEMO = 1 << 20 };

/* An ENTRY axis that says where v is: it varies with that and the entry's row alone. -1 none. */
static int entry_of(const clf_ref_job *r, const clf_value *v) {
    int a = clf_ref_entry_of(r->c, v->axes);
    return a >= 0 && r->c->axis[a].parent >= 0 && v->axes == (1u << a | 1u << r->c->axis[a].parent) ? a : -1;
}

/* Keep the results of frame f by their entry, or by its last RANGE axis, where there is memory: (X * (U %*% t(V))) %*% V needs each inner
 * product once an entry, t(X) %*% (X %*% V) once a row. */
static void make_memo(clf_ref_job *r, clf_ref_frame *f) {
    const clf_value *v = &r->c->value[f->value];
    bool inner = v->op == CLF_V_FOLD || v->op == CLF_V_DOT;
    f->memo_axis = inner ? entry_of(r, v) : -1;
    f->lasting = f->memo_axis >= 0;
    f->epoch = 1;
    for (int a = 0; a < r->c->naxes && inner && !f->lasting; a++)
        if (v->axes >> a & 1u && r->c->axis[a].kind == CLF_AXIS_RANGE) f->memo_axis = a;
    int64_t n = f->memo_axis < 0 ? INT64_MAX : f->lasting ? clf_ref_entries(r, f->memo_axis) : r->n[f->memo_axis];
    if (n > MOST_MEMO) return;
    f->memo_n = n;
    f->memo = clf_mem_new(r->mem, (size_t)f->memo_n, sizeof *f->memo);
    f->stamp = clf_mem_new(r->mem, (size_t)f->memo_n, sizeof *f->stamp);
}

/* The frames of value v, from number f on. */
static void make_frames_of(clf_ref_job *r, int v, int f) {
    const clf_value *x = &r->c->value[v];
    int n = frames_of(r->c, x);
    r->frame_of[v] = f;
    for (int i = 0; i < n; i++) {
        clf_ref_frame *at = &r->frame[f + i];
        at->value = v;
        at->part = i;
        at->axis = x->op == CLF_V_CAT ? clf_cat_axis(x, i) : i ? clf_rest_axis(r->c, x) : x->axis;
        memset(r->mark, 0, (size_t)r->c->nvalue);
        for (int q = 0; q < 2; q++)
            if (n == 1 || q == i) mark_value(r, x->in[q]);
        fill_frame(r, at, at->axis < 0 ? 0 : r->moves[at->axis]);
        if (i == 0) make_memo(r, at);
    }
}

static clf_status make_frames(clf_ref_job *r) {
    const clf_cplan *c = r->c;
    size_t nv = (size_t)c->nvalue, cells;
    r->nframe = 1;
    for (int v = 0; v < c->nvalue; v++) r->nframe += frames_of(c, &c->value[v]);
    if (!clf_mul_ok((size_t)r->nframe * 2, nv, &cells)) return clf_fail(r->err, CLF_E_LIMIT, "reference executor: too many values");
    r->frame = clf_mem_new(r->mem, (size_t)r->nframe, sizeof *r->frame);
    r->frame_of = clf_mem_new(r->mem, nv, sizeof *r->frame_of);
    r->mark = clf_mem_new(r->mem, nv, 1);
    r->lists = clf_mem_new(r->mem, cells, sizeof *r->lists);
    r->slots = clf_mem_new(r->mem, cells / 2, sizeof *r->slots);
    if (!r->frame || !r->frame_of || !r->mark || !r->lists || !r->slots)
        return clf_fail(r->err, CLF_E_NOMEM, "reference executor: out of memory");
    for (int f = 0; f < r->nframe; f++) {
        r->frame[f].value = -1;
        r->frame[f].list = r->lists + 2 * nv * (size_t)f;
        r->frame[f].hoist = r->frame[f].list + nv;
        r->frame[f].at = r->slots + nv * (size_t)f;
    }
    for (int v = 0, f = 1; v < c->nvalue; f += frames_of(c, &c->value[v++]))
        if (frames_of(c, &c->value[v])) make_frames_of(r, v, f);
    return CLF_OK;
}

static void free_memo(clf_ref_job *r, clf_ref_frame *f) {
    clf_mem_free(r->mem, f->memo, (size_t)f->memo_n, sizeof *f->memo);
    clf_mem_free(r->mem, f->stamp, (size_t)f->memo_n, sizeof *f->stamp);
}

static void free_frames(clf_ref_job *r) {
    for (int f = 1; r->frame && f < r->nframe; f++) free_memo(r, &r->frame[f]);
    size_t nv = (size_t)r->c->nvalue, nf = (size_t)r->nframe;
    clf_mem_free(r->mem, r->slots, nf * nv, sizeof *r->slots);
    clf_mem_free(r->mem, r->lists, nf * nv * 2, sizeof *r->lists);
    clf_mem_free(r->mem, r->mark, nv, 1);
    clf_mem_free(r->mem, r->frame_of, nv, sizeof *r->frame_of);
    clf_mem_free(r->mem, r->frame, nf, sizeof *r->frame);
}

void clf_ref_root(clf_ref_job *r, const clf_sink *s) {
    memset(r->mark, 0, (size_t)r->c->nvalue);
    for (int q = 0; q < (s->kind == CLF_SINK_FOLD ? 1 : 4); q++) mark_value(r, s->value[q]); /* a rest is another root */
    for (int q = 0; q < 2; q++) mark_value(r, s->key[q]);
    mark_value(r, s->guard);
    mark_value(r, s->order);
    fill_frame(r, &r->frame[0], 0);
    r->fresh = true;
}

/* ---- the machine --------------------------------------------------------------------------------------------------------- */

static clf_status compute(clf_ref_job *r, clf_slot *at, int v) {
    const clf_value *x = &r->c->value[v];
    if (clf_op_is_cell(x->op)) {
        clf_dtype t = (clf_dtype)r->c->value[x->in[0]].dtype;
        clf_slot in[3] = {{0}, {0}, {0}};
        for (int q = 0; q < 3 && x->in[q] >= 0; q++) in[q] = at[x->in[q]];
        at[v] = clf_ref_cast(clf_ref_cell(x->op, t, in), t, (clf_dtype)x->dtype);
        return CLF_OK;
    }
    switch (x->op) {
    case CLF_V_LOAD: return clf_ref_read(r, x->arg, at, &at[v]);
    case CLF_V_INDEX: at[v].i = r->pos[x->arg]; return CLF_OK;
    case CLF_V_CAST: at[v] = clf_ref_cast(at[x->in[0]], (clf_dtype)r->c->value[x->in[0]].dtype, (clf_dtype)x->dtype); return CLF_OK;
    default: {
        clf_scalar s = clf_scalar_to(r->bind->param[x->arg], (clf_dtype)x->dtype);
        if (clf_dtype_float(s.dtype))
            at[v].f = s.u.f;
        else
            at[v].i = s.u.i;
        return CLF_OK;
    }
    }
}

/* The value of a frame whose positions are done. */
static clf_slot result_of(clf_ref_job *r, clf_ref_frame *f) {
    const clf_value *v = &r->c->value[f->value];
    bool rest = v->op == CLF_V_FOLD && v->in[1] >= 0;
    if (v->op == CLF_V_CAT) return f->at[v->in[f->part]];
    if (f->part) return clf_ref_tree_end_with(&f[-1].tree, f->end > f[-1].tree.p ? clf_ref_tree_close(&f->tree) : NULL);
    return rest ? clf_ref_tree_end_rest(&f->tree, f->at[v->in[1]], r->n[v->axis] - f->tree.p, f->gap) : clf_ref_tree_end(&f->tree);
}

/* The last position is done: hand the result to the frame outside and put the axis back. */
static clf_status leave(clf_ref_job *r, int *top) {
    clf_ref_frame *f = &r->frame[*top];
    clf_ref_frame *up = &r->frame[f->up], *first = &r->frame[r->frame_of[f->value]];
    up->at[f->value] = result_of(r, f);
    if ((f->up == 0 || first->lasting) && first->memo && first->stamp) {
        int64_t k = r->count[first->memo_axis];
        first->memo[k] = up->at[f->value];
        first->stamp[k] = first->epoch;
    }
    up->cursor++;
    *top = f->up;
    return f->axis < 0 ? CLF_OK : clf_ref_axis_set(r, f->axis, f->outside);
}

/* The stored entries of a fold are done: on to its other frame, where the axis of the rest moves. gap: the next entry. */
static clf_status pass_on(clf_ref_job *r, int *top) {
    clf_ref_frame *f = &r->frame[*top], *g = f + 1;
    const clf_value *x = &r->c->value[f->value];
    CLF_TRY(clf_ref_axis_set(r, f->axis, f->outside));
    for (int q = 0; q < g->nhoist; q++) g->at[g->hoist[q]] = r->frame[f->up].at[g->hoist[q]];
    g->up = f->up;
    g->outside = r->count[g->axis];
    g->gap = f->end - f->tree.p;
    CLF_TRY(clf_ref_axis_open(r, g->axis, &g->now, &g->end));
    clf_ref_tree_begin(&g->tree, (clf_fold_id)x->arg, (clf_dtype)r->c->value[x->in[0]].dtype, 1, 1);
    ++*top;
    return CLF_OK;
}

/* Stand at the frame's current position, or leave when there is none. */
static clf_status stand(clf_ref_job *r, int *top) {
    clf_ref_frame *f = &r->frame[*top];
    if (f->now >= f->end && f->part == 0 && clf_rest_axis(r->c, &r->c->value[f->value]) >= 0) {
        CLF_TRY(pass_on(r, top));
        f = &r->frame[*top];
    }
    if (f->now >= f->end) return leave(r, top);
    f->cursor = 0;
    return f->axis < 0 ? CLF_OK : clf_ref_axis_set(r, f->axis, f->now);
}

/* All positions of the axis, of a SCAN up to where it stands; an empty tree. */
static clf_status open_fold(clf_ref_job *r, const clf_value *x, clf_ref_frame *f) {
    bool scan = x->op == CLF_V_SCAN, dot = x->op == CLF_V_DOT;
    clf_dtype t = (clf_dtype)r->c->value[x->in[0]].dtype;
    f->gap = 0;
    CLF_TRY(clf_ref_axis_open(r, x->axis, &f->now, &f->end));
    if (scan) f->end = f->outside + 1;
    int lanes = scan ? 1 : dot ? clf_dot_lanes(r->c, x, r->n) : clf_lanes(t);
    clf_ref_tree_begin(&f->tree, dot ? CLF_FOLD_SUM : (clf_fold_id)x->arg, t, lanes, scan ? INT64_MAX : CLF_LEAF);
    return CLF_OK;
}

/* Positions of a CAT's first part. */
static int64_t first_part(const clf_ref_job *r, const clf_value *x) { return clf_cat_axis(x, 0) < 0 ? 1 : r->n[clf_cat_axis(x, 0)]; }

/* The frame of v that computes it where the axes stand. */
static clf_ref_frame *frame_for(clf_ref_job *r, int v) {
    const clf_value *x = &r->c->value[v];
    bool second = x->op == CLF_V_CAT && r->count[x->axis] >= first_part(r, x);
    return &r->frame[r->frame_of[v] + second];
}

static clf_status enter(clf_ref_job *r, int *top, int v) {
    const clf_value *x = &r->c->value[v];
    clf_ref_frame *f = frame_for(r, v);
    for (int q = 0; q < f->nhoist; q++) f->at[f->hoist[q]] = r->frame[*top].at[f->hoist[q]];
    f->up = *top;
    f->outside = f->axis < 0 ? -1 : r->count[f->axis];
    if (x->op == CLF_V_CAT) {
        f->now = r->count[x->axis] - (f->part ? first_part(r, x) : 0);
        f->end = f->now + 1;
    } else {
        CLF_TRY(open_fold(r, x, f));
    }
    *top = (int)(f - r->frame);
    return stand(r, top);
}

/* One position of the frame is evaluated: fold it and move on. */
static clf_status advance(clf_ref_job *r, int *top) {
    clf_ref_frame *f = &r->frame[*top];
    const clf_value *x = &r->c->value[f->value];
    if (x->op == CLF_V_CAT) return leave(r, top);
    if (f->part) {
        bool stored = f->gap < f[-1].end && clf_ref_entry_column(r, x->axis, f->gap) == f->now;
        f->gap += stored;
        clf_ref_tree_repeat(&f->tree, f->at[x->in[1]], !stored);
        f->now++;
        return stand(r, top);
    }
    int64_t k = r->c->axis[x->axis].kind == CLF_AXIS_ENTRY ? r->pos[x->axis] : f->tree.p;
    f->gap += k == f->gap;
    if (x->op == CLF_V_DOT)
        clf_ref_tree_dot(&f->tree, f->at[x->in[0]], f->at[x->in[1]], x->arg);
    else
        clf_ref_tree_step(&f->tree, f->at[x->in[0]], k, true);
    f->now++;
    return stand(r, top);
}

/* Is the result of v known where the axes stand? Outside the root frame only that of an entry is. */
static bool recall(clf_ref_job *r, int top, int v, uint32_t moved) {
    clf_ref_frame *f = &r->frame[r->frame_of[v]];
    if (!f->memo || !f->stamp || (top > 0 && !f->lasting)) return false;
    if (!f->lasting && moved & r->c->value[v].axes & ~(1u << f->memo_axis)) f->epoch++;
    int64_t k = r->count[f->memo_axis];
    if (f->stamp[k] != f->epoch) return false;
    r->frame[top].at[v] = f->memo[k];
    return true;
}

clf_status clf_ref_eval(clf_ref_job *r) {
    int top = 0;
    uint32_t moved = r->fresh ? UINT32_MAX : r->moved;
    r->frame[0].cursor = 0;
    for (;;) {
        clf_ref_frame *f = &r->frame[top];
        if (f->cursor == f->nlist) {
            if (top == 0) break;
            CLF_TRY(advance(r, &top));
            continue;
        }
        int v = f->list[f->cursor];
        bool fold = frames_of(r->c, &r->c->value[v]) > 0;
        if ((top == 0 && !r->fresh && !(r->c->value[v].axes & moved)) || (fold && recall(r, top, v, moved))) {
            f->cursor++;
        } else if (fold) {
            CLF_TRY(enter(r, &top, v));
        } else {
            CLF_TRY(compute(r, f->at, v));
            f->cursor++;
        }
    }
    r->fresh = false;
    r->moved = 0;
    return CLF_OK;
}

clf_status clf_ref_run(const clf_cplan *c, const clf_bind *bind, clf_mem *mem, clf_err *err) {
    clf_ref_job r = {.c = c, .bind = bind, .mem = mem, .err = err};
    clf_status st;
    CLF_GO(clf_ref_bind(&r));
    CLF_GO(make_frames(&r));
    for (int i = 0; i < c->nsink; i++) CLF_GO(clf_ref_sink(&r, i));
out:
    free_frames(&r);
    return st;
}
