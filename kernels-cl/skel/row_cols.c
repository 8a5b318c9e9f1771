/* SPDX-License-Identifier: Apache-2.0
 * What row.chunk adds up over rows into cells of a column sink: folds over each column, dots into columns, outer products. A block of
 * rows adds to accumulators; at its end lanes fold and the block's states go onto the work-item's carry stack; at the end of the
 * work-item that closes to one state per cell, and the last work-item merges those of all chunks level by level, in place: the same
 * binary tree over their index. Sinks may have blocks of two sizes. */
#include <string.h>

#include "kernels-cl/skel/row_text.h"

#include "core/print.h"

static const clf_row_sink *plan_of(const clf_rtext *w, int s) { return &w->p->sink[s]; }

const char *clf_rcols_slots(const clf_rtext *w, int s, char *buf) {
    const clf_row_sink *q = plan_of(w, s);
    bool constant = (q->j < 0 || clf_row_narrow(w->p, q->j)) && (q->k < 0 || clf_row_narrow(w->p, q->k));
    if (constant)
        clf_print(buf, sizeof w->x.strip, "%lld", (long long)q->slots);
    else
        clf_print(buf, sizeof w->x.strip, "cs%d", s);
    return buf;
}

const char *clf_rcols_space(const clf_rtext *w, int s) { return clf_row_private(w->p, s) ? "__private" : "__global"; }

/* ---- accumulators and stacks ---- */

void clf_rcols_setup(clf_rtext *w, int s) {
    clf_ctext *x = &w->x;
    char buf[CLF_EMIT_NAME], slots[24];
    int lanes = plan_of(w, s)->lanes;
    clf_rcols_slots(w, s, slots);
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        const char *t = clf_emit_type(buf, clf_fold_lane_type(x, s, m), 1);
        if (clf_row_private(w->p, s))
            CLF_PUT(x, "%s f%da%d[%d * %s + 16] CLF_LINES;\n", t, s, m, lanes, slots);
        else
            CLF_PUT(x, "__global %s *const f%da%d = (__global %s *)at; at += %d * %s + 16;\n", t, s, m, t, lanes, slots);
    }
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        const char *t = clf_emit_type(buf, clf_fold_wide_type(x, s, m), 1);
        CLF_PUT(x, "__global %s *const f%dk%d = (__global %s *)at; at += levels * %s;\n", t, s, m, t, slots);
    }
    CLF_PUT(x, "int kd%d = 0;\n", s);
}

/* Accumulators ('a') or stacks ('k', wide), width lanes from an offset: declared and loaded; then stored. */
static clf_dtype part_type(const clf_rtext *w, int s, int m, char which) {
    return which == 'k' ? clf_fold_wide_type(&w->x, s, m) : clf_fold_lane_type(&w->x, s, m);
}
static const char *part_space(const clf_rtext *w, int s, char which) { return which == 'k' ? "__global" : clf_rcols_space(w, s); }

static void load(clf_rtext *w, int s, const char *offset, char names[][CLF_FOLD_NAME], int width, char which) {
    char vec[CLF_EMIT_NAME], one[CLF_EMIT_NAME];
    for (int m = 0; m < clf_fold_states(&w->x, s); m++) {
        clf_dtype t = part_type(w, s, m, which);
        CLF_PUT(&w->x, "%s %s = CLF_VLOAD(%s, %s, %d, f%d%c%d + %s); ", clf_emit_type(vec, t, width), names[m], part_space(w, s, which),
                clf_emit_type(one, t, 1), width, s, which, m, offset);
    }
}
static void save(clf_rtext *w, int s, const char *offset, char names[][CLF_FOLD_NAME], int width, char which) {
    char one[CLF_EMIT_NAME];
    for (int m = 0; m < clf_fold_states(&w->x, s); m++)
        CLF_PUT(&w->x, "CLF_VSTORE(%s, %s, %d, %s, f%d%c%d + %s); ", part_space(w, s, which),
                clf_emit_type(one, part_type(w, s, m, which), 1), width, names[m], s, which, m, offset);
}

static void names_of(const clf_rtext *w, int s, clf_fold_vars *f, const char *t) {
    memset(f, 0, sizeof *f);
    for (int m = 0; m < clf_fold_states(&w->x, s); m++) {
        CLF_NAME(f->s[m], "s%d_", m);
        CLF_NAME(f->t[m], t, m);
    }
}

/* ---- rows to accumulators ---- */

/* Opens a block with y, and for dots z, of row r; leaves what the step takes as position in k. */
static void bind(clf_rtext *w, int s, int r, clf_fold_vars *f, char *k, size_t room) {
    clf_ctext *x = &w->x;
    char buf[CLF_EMIT_NAME];
    int width = w->p->width;
    clf_fold_bind(x, s, r);
    if (w->c.sink[s].kind == CLF_SINK_DOT) {
        CLF_PUT(x, "const %s z = ", clf_emit_type(buf, clf_ctext_type(x, s), width));
        clf_ctext_operand(x, w->c.sink[s].value[1], width, r);
        CLF_PUT(x, ";\n");
        clf_print(k, room, "z");
    } else {
        clf_print(k, room, "((long%d)(i + %d))", width, r);
    }
    f->v = "y";
    f->k = k;
}

void clf_rcols_step(clf_rtext *w, int s) {
    clf_ctext *x = &w->x;
    clf_fold_vars f;
    char at[96], k[48], slots[24];
    int width = w->p->width, lanes = plan_of(w, s)->lanes;
    names_of(w, s, &f, "t%d_");
    CLF_PUT(x, "{ ");
    for (int r = 0; r < x->ru; r++) {
        clf_print(at, sizeof at, "u");
        if (lanes > 1) clf_print(at, sizeof at, "((i + %d) & %d) * %s + u", r, lanes - 1, clf_rcols_slots(w, s, slots));
        if (lanes > 1) CLF_PUT(x, "{ ");
        if (lanes > 1 || r == 0) load(w, s, at, f.s, width, 'a');
        bind(w, s, r, &f, k, sizeof k);
        clf_fold_masked_step(x, s, width, &f, NULL); /* padding is never read */
        CLF_PUT(x, "}\n");
        if (lanes > 1 || r == x->ru - 1) save(w, s, at, f.s, width, 'a');
        if (lanes > 1) CLF_PUT(x, "}\n");
    }
    CLF_PUT(x, "}\n");
}

void clf_rcols_one(clf_rtext *w, int s) {
    clf_ctext *x = &w->x;
    char a[CLF_EMIT_NAME], b[CLF_EMIT_NAME], c[CLF_EMIT_NAME];
    const clf_sink *k = &w->c.sink[s];
    for (int r = 0; r < x->ru; r++) {
        clf_print(a, sizeof a, w->c.value[k->value[0]].axes & 1u ? "v%d_%d" : "v%d", k->value[0], r);
        clf_print(b, sizeof b, w->c.value[k->value[1]].axes & 1u ? "v%d_%d" : "v%d", k->value[1], r);
        clf_print(c, sizeof c, "f%da0[0]", s);
        clf_rtext_fma(w, k->key[0], clf_ctext_type(x, s), 1, a, b, c);
    }
}

/* ---- blocks ---- */

static void each(clf_rtext *w, void (*f)(clf_rtext *, int)) {
    for (int s = 0; s < w->nsink; s++)
        if (plan_of(w, s)->layout) f(w, s);
}

/* Rows of the sink's blocks, as text. */
static const char *block_of(const clf_rtext *w, int s) { return plan_of(w, s)->block == w->p->block ? "block" : "wide"; }

static void init(clf_rtext *w, int s) {
    clf_ctext *x = &w->x;
    clf_fold_vars f;
    char slots[24];
    names_of(w, s, &f, "t%d_");
    CLF_PUT(x, "if ((b0 & (%s - 1)) == 0) { ", block_of(w, s));
    clf_fold_declare(x, s, false, CLF_MERGE_WIDTH, &f, false);
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->init, false, CLF_MERGE_WIDTH, &f);
    CLF_PUT(x, "CLF_COLD for (long u = 0; u < %d * %s + 16; u += 8) { ", plan_of(w, s)->lanes, clf_rcols_slots(w, s, slots));
    save(w, s, "u", f.s, CLF_MERGE_WIDTH, 'a');
    CLF_PUT(x, "} }\n");
}
void clf_rcols_init(clf_ctext *x) { each((clf_rtext *)x, init); }

/* The lanes at u, folded: declares b<l>_M, result in b0_M. */
static void fold_lanes(clf_rtext *w, int s) {
    clf_ctext *x = &w->x;
    char buf[CLF_EMIT_NAME], from[96], slots[24];
    int lanes = plan_of(w, s)->lanes, n = clf_fold_states(x, s);
    clf_rcols_slots(w, s, slots);
    for (int l = 0; l < lanes; l++)
        for (int m = 0; m < n; m++) {
            clf_print(from, sizeof from, "vload8(0, f%da%d + %d * %s + u)", s, m, l, slots);
            CLF_PUT(x, "%s b%d_%d = ", clf_emit_type(buf, clf_fold_wide_type(x, s, m), CLF_MERGE_WIDTH), l, m);
            clf_fold_widen(x, s, m, CLF_MERGE_WIDTH, from);
            CLF_PUT(x, ";\n");
        }
    clf_fold_halve(x, s, lanes, CLF_MERGE_WIDTH);
}

static void push(clf_rtext *w, int s) {
    clf_ctext *x = &w->x;
    clf_fold_vars f;
    char slots[24], at[64];
    names_of(w, s, &f, "b0_%d");
    clf_rcols_slots(w, s, slots);
    CLF_PUT(x, "if ((b1 & (%s - 1)) == 0 || b1 == i1) { const long bl = (b1 - 1 - i0) / %s;\n", block_of(w, s), block_of(w, s));
    CLF_PUT(x, "CLF_COLD for (long u = 0; u < %s; u += 8) {\n", slots);
    fold_lanes(w, s);
    clf_print(at, sizeof at, "d * %s + u", slots);
    CLF_PUT(x, "int d = kd%d;\nCLF_COLD for (long k_ = bl; k_ & 1; k_ >>= 1) { d--; ", s);
    load(w, s, at, f.s, CLF_MERGE_WIDTH, 'k');
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, CLF_MERGE_WIDTH, &f);
    for (int m = 0; m < clf_fold_states(x, s); m++) CLF_PUT(x, "%s = %s; ", f.t[m], f.s[m]);
    CLF_PUT(x, "}\n");
    save(w, s, at, f.t, CLF_MERGE_WIDTH, 'k');
    CLF_PUT(x, "}\nCLF_COLD for (long k_ = bl; k_ & 1; k_ >>= 1) kd%d--;\nkd%d++; }\n", s, s);
}
void clf_rcols_push(clf_ctext *x) { each((clf_rtext *)x, push); }

/* ---- chunks ---- */

/* States at offset `to` take those at `from`, the later rows; every cell. */
static void merge(clf_rtext *w, int s, const char *to, const char *from) {
    clf_ctext *x = &w->x;
    clf_fold_vars f;
    char at[128], slots[24], buf[CLF_EMIT_NAME];
    names_of(w, s, &f, "t%d_");
    CLF_PUT(x, "CLF_COLD for (long u = 0; u < %s; u += 8) { ", clf_rcols_slots(w, s, slots));
    clf_print(at, sizeof at, "%s + u", to);
    load(w, s, at, f.s, CLF_MERGE_WIDTH, 'k');
    for (int m = 0; m < clf_fold_states(x, s); m++)
        CLF_PUT(x, "%s %s = vload8(0, f%dk%d + %s + u); ", clf_emit_type(buf, clf_fold_wide_type(x, s, m), CLF_MERGE_WIDTH), f.t[m], s, m,
                from);
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, CLF_MERGE_WIDTH, &f);
    save(w, s, at, f.s, CLF_MERGE_WIDTH, 'k');
    CLF_PUT(x, "}\n");
}

static void close(clf_rtext *w, int s) {
    clf_ctext *x = &w->x;
    clf_fold_vars f;
    char slots[24], to[64], from[64];
    names_of(w, s, &f, "t%d_");
    clf_rcols_slots(w, s, slots);
    CLF_PUT(x, "if (kd%d == 0) { ", s);
    clf_fold_declare(x, s, true, CLF_MERGE_WIDTH, &f, false);
    clf_fold_empty(x, s, CLF_MERGE_WIDTH, &f);
    CLF_PUT(x, "CLF_COLD for (long u = 0; u < %s; u += 8) { ", slots);
    save(w, s, "u", f.s, CLF_MERGE_WIDTH, 'k');
    CLF_PUT(x, "} }\nCLF_COLD for (int d = kd%d - 1; d > 0; d--)\n", s);
    clf_print(to, sizeof to, "(d - 1) * %s", slots);
    clf_print(from, sizeof from, "d * %s", slots);
    merge(w, s, to, from);
    if (plan_of(w, s)->symmetric) clf_rtext_mirror(w, s);
}
void clf_rcols_finish(clf_ctext *x) {
    clf_rtext_each_stack((clf_rtext *)x, clf_full_finish);
    each((clf_rtext *)x, close);
}

/* ---- results ---- */

/* Cells in a row of `count` from slot `slot` on go to out + `to`. */
static void put_run(clf_rtext *w, int s, const char *count, const char *slot, const char *to) {
    clf_ctext *x = &w->x;
    clf_fold_vars f;
    char at[160], buf[CLF_EMIT_NAME];
    int o = w->c.sink[s].out[0];
    names_of(w, s, &f, "t%d_");
    CLF_PUT(x, "CLF_COLD for (long u = 0; u < %s; u += 8) {\n", count);
    clf_print(at, sizeof at, "%s + u - me * cstride", slot);
    load(w, s, at, f.s, CLF_MERGE_WIDTH, 'k');
    clf_fold_result(x, s, CLF_MERGE_WIDTH, &f, "z_");
    CLF_PUT(x, "const int r = (int)min(8L, %s - u);\n", count);
    CLF_PUT(x, "%s_STORET(z_, o%d + ob%d + %s + u, r); }\n", clf_emit_run(&x->e, buf, (clf_dtype)w->c.out[o].dtype, CLF_MERGE_WIDTH), o, o,
            to);
}

/* Cell by cell, where those that lie together in the states do not in the result. */
static void put_cells(clf_rtext *w, int s, const char *j, const char *k, const char *slot, bool turned) {
    clf_ctext *x = &w->x;
    clf_fold_vars f;
    int o = w->c.sink[s].out[0];
    names_of(w, s, &f, "t%d_");
    CLF_PUT(x, "CLF_COLD for (long j = 0; j < %s; j++) CLF_COLD for (long c_ = 0; c_ < %s; c_++) {\n", j, k);
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        char buf[CLF_EMIT_NAME];
        CLF_PUT(x, "%s %s = f%dk%d[%s - me * cstride]; ", clf_emit_type(buf, clf_fold_wide_type(x, s, m), 1), f.s[m], s, m, slot);
    }
    clf_fold_result(x, s, 1, &f, "z_");
    CLF_PUT(x, "o%d[ob%d + %s * %s + %s] = z_; }\n", o, o, turned ? "c_" : "j", turned ? j : k, turned ? "j" : "c_");
}

/* States are rows of k, or columns, of j, apart; a row of the result is a run of k, or, where the product is turned, of j. */
static void put_outer(clf_rtext *w, int s) {
    char j[24], k[24], slot[128], to[64];
    const clf_row_sink *q = plan_of(w, s);
    int lanes = clf_lanes(clf_ctext_type(&w->x, s));
    bool turned = q->j > q->k, by_columns = q->layout == CLF_ROW_BY_COLS;
    clf_rtext_extent(w, q->j, j);
    clf_rtext_extent(w, q->k, k);
    if (turned != by_columns) {
        if (by_columns)
            clf_print(slot, sizeof slot, "c_ * ((%s + 15) / 16 * 16) + j", j);
        else
            clf_print(slot, sizeof slot, "j * ((%s + %d) / %d * %d) + c_", k, lanes - 1, lanes, lanes);
        put_cells(w, s, j, k, slot, turned);
        return;
    }
    CLF_PUT(&w->x, "CLF_COLD for (long j = 0; j < %s; j++) {\n", turned ? k : j);
    if (turned)
        clf_print(slot, sizeof slot, "j * ((%s + 15) / 16 * 16)", j);
    else
        clf_print(slot, sizeof slot, "j * ((%s + %d) / %d * %d)", k, lanes - 1, lanes, lanes);
    clf_print(to, sizeof to, "j * %s", turned ? j : k);
    put_run(w, s, turned ? j : k, slot, to);
    CLF_PUT(&w->x, "}\n");
}

static void result(clf_rtext *w, int s) {
    char ext[24];
    const clf_row_sink *q = plan_of(w, s);
    CLF_PUT(&w->x, "CLF_COLD for (long w_ = 1; w_ < chunks; w_ *= 2)\nCLF_COLD for (long c_ = 0; c_ + w_ < chunks; c_ += 2 * w_)\n");
    merge(w, s, "(c_ - me) * cstride", "(c_ + w_ - me) * cstride");
    switch (q->layout) {
    case CLF_ROW_LANES: put_run(w, s, clf_rtext_extent(w, q->j, ext), "0", "0"); break;
    case CLF_ROW_ONE: put_run(w, s, "1", "0", "0"); break;
    default: put_outer(w, s);
    }
}
void clf_rcols_final(clf_ctext *x) {
    clf_rtext_each_stack((clf_rtext *)x, clf_full_final);
    each((clf_rtext *)x, result);
}
