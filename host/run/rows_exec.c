/* SPDX-License-Identifier: Apache-2.0
 * The instructions of a row program over one batch of rows, or, with one row and no batch, once per run.
 *
 * Loads point their slot at the operand's own memory where loops that read whole vectors stay inside it, and copy otherwise. */
#include "host/run/rows_run.h"

#include <string.h>

static int64_t pad_of(const clf_row_slot *s, int64_t n) { return s->padded ? clf_tile_pad(n) + CLF_TILE_PAD : n; }

static bool by_entry(const clf_rows_frame *f, int axis) { return axis >= 0 && axis == f->job->r->entry; }

/* Cells of a value of this shape in the batch. */
static int64_t cells_of(const clf_rows_frame *f, clf_row_shape shape, int axis) {
    switch (shape) {
    case CLF_RS_SCALAR: return 1;
    case CLF_RS_ROW: return f->rows;
    case CLF_RS_VEC: return f->job->n[axis];
    default: return by_entry(f, axis) ? f->e1 - f->e0 : f->rows * f->job->n[axis];
    }
}

static void clear_pad(void *reg, int64_t n, int log2) { memset((char *)reg + ((size_t)n << log2), 0, (size_t)CLF_TILE_PAD << log2); }

/* ---- registers ----------------------------------------------------------------------------------------------------------- */

static char *reg_of(const clf_rows_frame *f, const clf_row_slot *s) {
    const clf_rows_job *j = f->job;
    switch (s->shape) {
    case CLF_RS_SCALAR: return j->scalar + (size_t)s->reg * CLF_ROWS_SCALAR_BYTES;
    case CLF_RS_VEC: return j->vec + (size_t)s->reg * j->vec_bytes;
    case CLF_RS_ROW: return f->mem + j->row_at + (size_t)s->reg * CLF_ROWS_ROW_BYTES;
    default: break;
    }
    if (by_entry(f, s->axis) && f->e1 - f->e0 > CLF_ROWS_CELLS) return j->big + (size_t)s->reg * j->big_bytes;
    return f->mem + j->reg_at[s->axis] + (size_t)s->reg * j->reg_bytes[s->axis];
}

void clf_rows_use_big(clf_rows_frame *f, bool big) {
    const struct clf_rows *r = f->job->r;
    int64_t e1 = f->e1;
    if (!big) f->e1 = f->e0;
    for (int i = 0; i < r->nslot; i++)
        if (r->slot[i].shape == CLF_RS_MAT && r->slot[i].axis == r->entry && r->slot[i].reg >= 0) f->slot[i] = reg_of(f, &r->slot[i]);
    f->e1 = e1;
}

/* ---- loads --------------------------------------------------------------------------------------------------------------- */

static void move(const clf_rows_frame *f, int log2, int64_t n, void *to, const char *from, int64_t stride) {
    if (n <= 0) return;
    if (stride == 1)
        memcpy(to, from, (size_t)n << log2);
    else
        f->job->r->isa.cell->gather[log2](n, to, from, stride);
}

/* n elements from `at` on, `stride` apart: in place where that is safe. */
static void load_line(clf_rows_frame *f, const clf_row_instr *in, const clf_row_place *p, int64_t at, int64_t n, int64_t stride) {
    const clf_row_slot *s = &f->job->r->slot[in->dst];
    const char *from = p->at + at * ((int64_t)1 << s->log2);
    if (stride == 1 && at >= 0 && at + pad_of(s, n) <= p->elems) {
        f->slot[in->dst] = (void *)(uintptr_t)from;
        return;
    }
    char *reg = reg_of(f, s);
    move(f, s->log2, n, reg, from, stride);
    clear_pad(reg, n, s->log2);
    f->slot[in->dst] = reg;
}

static void load_range(clf_rows_frame *f, const clf_row_instr *in, const clf_row_place *p) {
    const clf_row_slot *s = &f->job->r->slot[in->dst];
    int64_t n = f->job->n[in->axis], row = p->step[0], col = p->step[in->axis], at = row * f->row;
    if (col == 1 && (row == n || f->rows == 1)) {
        load_line(f, in, p, at, f->rows * n, 1);
        return;
    }
    char *reg = reg_of(f, s);
    for (int64_t i = 0; i < f->rows; i++)
        move(f, s->log2, n, reg + ((size_t)(i * n) << s->log2), p->at + (at + i * row) * ((int64_t)1 << s->log2), col);
    clear_pad(reg, f->rows * n, s->log2);
    f->slot[in->dst] = reg;
}

static void load_entries(clf_rows_frame *f, const clf_row_instr *in, const clf_row_place *p) {
    const clf_rows_job *j = f->job;
    const clf_row_slot *s = &j->r->slot[in->dst];
    const clf_row_fns *fns = j->r->isa.row->type[in->dtype];
    const clf_access *a = &j->r->c.access[in->arg];
    const clf_csr *other = a->protocol == CLF_LOCATE ? j->bind->in[a->input] : NULL;
    if (a->protocol == CLF_ENTRIES || (other && other->idx == j->m->idx && other->ptr == j->m->ptr)) {
        load_line(f, in, p, f->e0, f->e1 - f->e0, 1);
        return;
    }
    char *reg = reg_of(f, s);
    if (other) {
        clf_rows_locate(f, other, in->dtype, s->log2, reg);
        clear_pad(reg, f->e1 - f->e0, s->log2);
        f->slot[in->dst] = reg;
        return;
    }
    const int32_t *idx = j->m->idx + f->e0;
    int64_t col = p->step[in->axis], row = p->step[0];
    if (row == 0) fns->gather(f->e1 - f->e0, reg, p->at, idx, col);
    for (int64_t i = 0; i < f->rows && row != 0; i++)
        fns->gather(f->off[i + 1] - f->off[i], reg + ((size_t)f->off[i] << s->log2), p->at + (f->row + i) * row * ((int64_t)1 << s->log2),
                    idx + f->off[i], col);
    clear_pad(reg, f->e1 - f->e0, s->log2);
    f->slot[in->dst] = reg;
}

static void exec_load(clf_rows_frame *f, const clf_row_instr *in) {
    const clf_row_place *p = &f->job->place[in->arg];
    const clf_row_slot *s = &f->job->r->slot[in->dst];
    switch (in->shape) {
    case CLF_RS_SCALAR: memcpy(f->slot[in->dst], p->at, (size_t)1 << s->log2); break;
    case CLF_RS_VEC: move(f, s->log2, f->job->n[in->axis], f->slot[in->dst], p->at, p->step[in->axis]); break;
    case CLF_RS_ROW: load_line(f, in, p, p->step[0] * f->row, f->rows, p->step[0]); break;
    default:
        if (by_entry(f, in->axis))
            load_entries(f, in, p);
        else
            load_range(f, in, p);
    }
}

static void exec_param(clf_rows_frame *f, const clf_row_instr *in) {
    clf_scalar_store(f->slot[in->dst], 0, clf_scalar_to(f->job->bind->param[in->arg], (clf_dtype)in->dtype));
}

static void exec_index(clf_rows_frame *f, const clf_row_instr *in) {
    const clf_rows_job *j = f->job;
    int64_t *o = f->slot[in->dst];
    if (by_entry(f, in->axis))
        for (int64_t e = f->e0; e < f->e1; e++) *o++ = j->m->idx[e];
    else
        j->r->isa.cell->iota(cells_of(f, (clf_row_shape)in->shape, in->axis), o, in->shape == CLF_RS_ROW ? f->row : 0);
}

/* ---- cells --------------------------------------------------------------------------------------------------------------- */

static void exec_op(clf_rows_frame *f, const clf_row_instr *in) {
    const clf_row_slot *slot = f->job->r->slot;
    int64_t n = cells_of(f, (clf_row_shape)in->shape, in->axis);
    bool scalars = in->keep[0] || in->keep[1] || in->keep[2];
    int64_t step = scalars ? CLF_ROWS_CELLS : n;
    for (int64_t i = 0; i < n; i += step) {
        const char *x[3] = {NULL, NULL, NULL};
        for (int q = 0; q < 3; q++)
            if (in->in[q] >= 0) x[q] = (const char *)f->slot[in->in[q]] + (in->keep[q] ? 0 : (size_t)i << slot[in->in[q]].log2);
        in->fn(n - i < step ? n - i : step, (char *)f->slot[in->dst] + ((size_t)i << slot[in->dst].log2), x[0], x[1], x[2]);
    }
}

static void exec_spread(clf_rows_frame *f, const clf_row_instr *in) {
    const struct clf_rows *r = f->job->r;
    const clf_row_slot *from = &r->slot[in->in[0]];
    void *to = f->slot[in->dst];
    const void *x = f->slot[in->in[0]];
    int64_t n = cells_of(f, (clf_row_shape)in->shape, in->axis);
    if (from->shape == CLF_RS_SCALAR) {
        r->isa.cell->fill[from->log2](n, to, x);
        return;
    }
    if (by_entry(f, in->axis))
        r->isa.row->type[in->dtype]->expand(f->rows, f->off, to, x);
    else
        r->isa.cell->expand[from->log2](f->rows, f->job->n[in->axis], to, x);
    clear_pad(to, n, from->log2);
}

/* ---- folds and scans within rows ----------------------------------------------------------------------------------------- */

/* The state of n cells, any number of leaves. */
static void fold_state(const clf_row_instr *in, const char *x, int64_t n, int log2, clf_fold_state *s) {
    clf_tree tree;
    tree.top = 0;
    if (n <= CLF_LEAF) {
        in->fold->leaf(n, 0, x, NULL, NULL, s);
        return;
    }
    for (int64_t i = 0; i < n; i += CLF_LEAF) {
        in->fold->leaf(n - i < CLF_LEAF ? n - i : CLF_LEAF, i, x + ((size_t)i << log2), NULL, NULL, s);
        clf_tree_push(&tree, in->fold, i / CLF_LEAF, 0, s);
    }
    clf_tree_close(&tree, in->fold, s);
}

static void finish_state(const clf_row_instr *in, clf_fold_state *s, clf_word *out) {
    clf_word *const comp[3] = {&s->s[0], &s->s[1], &s->s[2]};
    in->fold->finish(1, out, comp);
}

static void fold_long(const clf_row_instr *in, const char *x, int64_t n, int log2, clf_word *out) {
    clf_fold_state s;
    fold_state(in, x, n, log2, &s);
    finish_state(in, &s, out);
}

static int64_t first_gap(const int32_t *idx, int64_t n) {
    int64_t k = 0;
    while (k < n && idx[k] == k) k++;
    return k;
}

/* Each row's entries and then, as one state, its cells without entry. A position is a state's second component (folds.def). */
static void fold_with_rest(clf_rows_frame *f, const clf_row_instr *in, const char *x, int log2) {
    const int32_t *idx = f->job->m->idx + f->e0;
    const char *rest = f->slot[in->in[1]];
    for (int64_t r = 0; r < f->rows; r++) {
        int64_t from = f->off[r], n = f->off[r + 1] - from, missing = f->job->m->cols - n;
        clf_fold_state s, t;
        fold_state(in, x + ((size_t)from << log2), n, log2, &s);
        if (in->fold->uses_k && s.s[1].i >= 0) s.s[1].i = idx[from + s.s[1].i];
        if (missing > 0) {
            if (in->gaps >= 0)
                clf_rows_gaps_row(f->job, in->gaps, idx + from, n, &t);
            else
                in->fold->repeat(rest + ((size_t)r << log2), missing, in->fold->uses_k ? first_gap(idx + from, n) : n, &t);
            in->fold->merge(&s, &t);
        }
        finish_state(in, &s, &f->word[r]);
    }
}

static void fold_entries(clf_rows_frame *f, const clf_row_instr *in, const char *x, int log2) {
    const int32_t *idx = f->job->m->idx + f->e0;
    for (int64_t r = 0; r < f->rows; r++) {
        int64_t from = f->off[r], n = f->off[r + 1] - from;
        const char *at = x + ((size_t)from << log2);
        if (n <= CLF_LEAF)
            in->fold->rows(1, n, at, NULL, NULL, &f->word[r]);
        else
            fold_long(in, at, n, log2, &f->word[r]);
        if (in->fold->uses_k && f->word[r].i > 0) f->word[r].i = (int64_t)idx[from + f->word[r].i - 1] + 1; /* the entry's column */
    }
}

static void exec_fold(clf_rows_frame *f, const clf_row_instr *in) {
    const clf_rows_job *j = f->job;
    const char *x = f->slot[in->in[0]];
    int log2 = j->r->slot[in->in[0]].log2;
    int64_t rows = in->shape == CLF_RS_SCALAR ? 1 : f->rows, n = j->n[in->over];
    if (by_entry(f, in->over) && in->in[1] >= 0)
        fold_with_rest(f, in, x, log2);
    else if (by_entry(f, in->over))
        fold_entries(f, in, x, log2);
    else if (n <= CLF_LEAF)
        in->fold->rows(rows, n, x, NULL, NULL, f->word);
    else
        for (int64_t r = 0; r < rows; r++) fold_long(in, x + ((size_t)(r * n) << log2), n, log2, &f->word[r]);
    in->fn(rows, f->slot[in->dst], f->word, NULL, NULL);
}

static void exec_scan(clf_rows_frame *f, const clf_row_instr *in) {
    int64_t rows = in->shape == CLF_RS_VEC ? 1 : f->rows;
    f->job->r->isa.row->type[in->dtype]->scan[in->arg](rows, f->job->n[in->over], f->slot[in->in[0]], f->slot[in->dst]);
}

/* ---- inner products ------------------------------------------------------------------------------------------------------ */

/* Cells between rows of a MAT value over a RANGE axis; one VEC serves all rows. */
static int64_t lead(const clf_rows_frame *f, int32_t slot) {
    const clf_row_slot *s = &f->job->r->slot[slot];
    return s->shape == CLF_RS_MAT ? f->job->n[s->axis] : 0;
}

static clf_dots_fn dot_entries(clf_rows_frame *f, const clf_row_instr *in, clf_dots *d) {
    const clf_rows_job *j = f->job;
    const clf_row_fns *fns = j->r->isa.row->type[in->dtype];
    const clf_row_place *p = in->arg >= 0 ? &j->place[in->arg] : NULL;
    d->off = f->off;
    d->idx = j->m->idx + f->e0;
    if (!p) return d->y = f->slot[in->in[1]], fns->packed;
    if (in->pack >= 0 && j->pack_at[in->pack] != SIZE_MAX) {
        d->y = j->pack + j->pack_at[in->pack];
        d->ldy = (d->cols + fns->lanes - 1) / fns->lanes * fns->lanes;
        return fns->gathered_whole;
    }
    d->y = p->at;
    d->ldy = p->step[in->over];
    d->sy = in->axis >= 0 ? p->step[in->axis] : 0;
    bool whole = in->axis >= 0 && clf_dot_lanes(&j->r->c, &j->r->c.value[in->value], j->n) == 1;
    return whole ? fns->picked_whole : fns->gathered;
}

static clf_dots_fn dot_picked(clf_rows_frame *f, const clf_row_instr *in, clf_dots *d) {
    const clf_row_place *p = &f->job->place[in->arg];
    d->off = f->off;
    d->idx = f->job->m->idx + f->e0;
    d->y = p->at;
    d->ldy = p->step[in->axis];
    d->sy = p->step[in->over];
    return f->job->r->isa.row->type[in->dtype]->picked;
}

static clf_dots_fn dot_range(clf_rows_frame *f, const clf_row_instr *in, clf_dots *d) {
    const clf_rows_job *j = f->job;
    const clf_row_fns *fns = j->r->isa.row->type[in->dtype];
    if (in->arg < 0) {
        d->y = f->slot[in->in[1]];
        d->sy = lead(f, in->in[1]);
        return fns->along;
    }
    const clf_row_place *p = &j->place[in->arg];
    bool packed = j->pack_at[in->pack] != SIZE_MAX, whole = clf_dot_lanes(&j->r->c, &j->r->c.value[in->value], j->n) == 1;
    int64_t vectors = (d->cols + fns->lanes - 1) / fns->lanes * fns->lanes;
    d->y = packed ? j->pack + j->pack_at[in->pack] : p->at;
    d->ldy = whole ? (packed ? vectors : p->step[in->over]) : packed ? d->n : p->step[in->axis];
    return whole ? fns->whole : fns->along;
}

static void exec_dot(clf_rows_frame *f, const clf_row_instr *in) {
    const clf_rows_job *j = f->job;
    bool first = in->shape == CLF_RS_SCALAR || in->shape == CLF_RS_VEC;
    clf_dots d = {.rows = first ? 1 : f->rows,
                  .cols = in->axis >= 0 ? j->n[in->axis] : 1,
                  .n = j->n[in->over],
                  .x = f->slot[in->in[0]],
                  .out = f->slot[in->dst],
                  .skip = in->skip};
    clf_dots_fn fn;
    d.ldo = d.cols;
    if (by_entry(f, in->over)) {
        fn = dot_entries(f, in, &d);
    } else {
        d.ldx = lead(f, in->in[0]);
        fn = by_entry(f, in->axis) ? dot_picked(f, in, &d) : dot_range(f, in, &d);
    }
    fn(&d);
}

/* ---- all ----------------------------------------------------------------------------------------------------------------- */

static void exec_sink(clf_rows_frame *f, const clf_row_instr *in) { clf_rows_drink(f, &f->job->r->sink[in->arg]); }

/* What loops over cells expect of a value computed once: a scalar fills its register, a vector is there for every row of a batch. */
static void settle(clf_rows_frame *f, const clf_row_instr *in) {
    const clf_rows_job *j = f->job;
    const clf_row_slot *s = &j->r->slot[in->dst];
    char *at = f->slot[in->dst];
    if (in->shape == CLF_RS_SCALAR) {
        j->r->isa.cell->fill[s->log2](CLF_ROWS_CELLS, at, at);
        return;
    }
    size_t row = (size_t)j->n[in->axis] << s->log2;
    int64_t rows = s->repeat ? j->batch_rows : 1;
    for (int64_t r = 1; r < rows && row > 0; r++) memcpy(at + (size_t)r * row, at, row);
    clear_pad(at, rows * j->n[in->axis], s->log2);
}

void clf_rows_exec(clf_rows_frame *f, const clf_row_instr *in) {
    static void (*const by_kind[])(clf_rows_frame *, const clf_row_instr *) = {
        [CLF_RI_LOAD] = exec_load,        [CLF_RI_PARAM] = exec_param, [CLF_RI_INDEX] = exec_index, [CLF_RI_OP] = exec_op,
        [CLF_RI_SPREAD] = exec_spread,    [CLF_RI_FOLD] = exec_fold,   [CLF_RI_SCAN] = exec_scan,   [CLF_RI_DOT] = exec_dot,
        [CLF_RI_CAT] = clf_rows_exec_cat, [CLF_RI_SINK] = exec_sink};
    by_kind[in->kind](f, in);
    if (in->kind != CLF_RI_SINK && (in->shape == CLF_RS_SCALAR || in->shape == CLF_RS_VEC)) settle(f, in);
}
