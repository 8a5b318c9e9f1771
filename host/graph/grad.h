/* SPDX-License-Identifier: Apache-2.0
 * Reverse accumulation: what the files of clf_grad share.
 *   grad.c          the call: checks, the sweep from the loss backwards, results      grad_walk.c   the loss's graph, inputs first
 *   grad_parts.c    adjoints: sums of parts, reduced and spread between shapes        grad_text.c   derivatives written in the language
 *   grad_form.c     what an operator hands on to its inputs, a table                  grad_move.c   the operators that only move cells
 *
 * An adjoint, the derivative of the loss by a node, is kept as a sum of parts by their shape: one that is the same in all cells, in all
 * rows or in all columns is never spread out unless something asks for cells, and one whose zeros annihilate stays apart from the others,
 * so that what is driven by a sparse matrix stays driven by it. Everything is recorded through the public interface, handle by handle, so
 * the context is locked during the walk only. */
#ifndef CLF_GRAPH_GRAD_H
#define CLF_GRAPH_GRAD_H
#include "host/graph/ctx.h"

/* Bits: 1 the part has the node's rows, 2 it has its columns. An extent of 1 is had by every part. */
enum {
    CLF_PART_NUMBER = 0, CLF_PART_COLUMN = 1, CLF_PART_ROW = 2, CLF_PART_CELLS = 3,
    CLF_PART_SPARSE = 4, /* cells with structural zeros */
    CLF_PARTS
};

/* A node of the loss's graph, as the walk saw it. */
typedef struct clf_grad_node {
    clf_node *node;      /* a reference; evaluation by another thread may settle it, which changes neither g nor in[] here */
    clf_gnode g;
    int32_t in[3];       /* inputs, by their place in the walk */
    bool wanted;         /* one of wrt */
    bool live;           /* depends, differentiably, on one of wrt */
    clf_mat *mat;        /* its handle, once asked for */
    clf_mat *part[CLF_PARTS]; /* of the adjoint; NULL: zero */
} clf_grad_node;

typedef struct clf_sweep {
    clf_ctx *c;
    clf_err *err;
    clf_grad_node *node; /* inputs before what uses them; the loss last */
    size_t n, cap;
    clf_mat **temp;      /* handles of the step at work */
    size_t ntemp, cap_temp;
} clf_sweep;

/* ---- grad_walk.c ---- */
/** Number what the loss is computed from; place[i] becomes wrt[i]'s place or -1. Under the context's lock. */
clf_status clf_grad_walk(clf_sweep *w, clf_node *loss, size_t n, clf_mat *const *wrt, int32_t *place);
void clf_grad_release(clf_sweep *w);
/** A handle of node i, kept until the end. */
clf_mat *clf_grad_mat(clf_sweep *w, int32_t i);
/** Let m go with the step at work. Returns m. */
clf_mat *clf_grad_temp(clf_sweep *w, clf_mat *m);
void clf_grad_drop_temps(clf_sweep *w);

/* ---- grad_parts.c: all handles returned are temporary ---- */
/** What m's description is now. */
clf_gnode clf_grad_look(const clf_mat *m);
/** A second handle of m's node, not temporary. */
clf_mat *clf_grad_again(clf_mat *m);
/** Which part of an adjoint of shape g is m? */
int clf_grad_part(const clf_mat *m, const clf_gnode *g);
/** Add m, which broadcasts to node i's shape, to its adjoint. errors: m's own. */
clf_status clf_grad_add(clf_sweep *w, int32_t i, clf_mat *m);
/** The sum of the parts of set (bits by CLF_PART); NULL when there are none. */
clf_mat *clf_grad_sum(clf_sweep *w, const clf_grad_node *n, unsigned set);
/** m in rows x cols cells of type t; m itself if it has them. */
clf_mat *clf_grad_spread(clf_sweep *w, clf_mat *m, clf_dtype t, int64_t rows, int64_t cols);
/** Sum m, which broadcasts to shape `from`, over what was repeated to make `from` of `to`. */
clf_mat *clf_grad_reduce(clf_sweep *w, clf_mat *m, const clf_gnode *from, const clf_gnode *to);
/** The transpose; of a transpose what it is of. */
clf_mat *clf_grad_turn(clf_sweep *w, clf_mat *m);

/* ---- grad_text.c ---- */
/** Input k's derivative in the table of cell operators. */
typedef struct clf_grad_piece { const char *text; int len; } clf_grad_piece;
clf_grad_piece clf_grad_cell_text(int op, int k);
/** Of a fold's or cumulative fold's input, NULL: zero, or (cum) not known. */
const char *clf_grad_fold_text(int fold);
const char *clf_grad_cum_text(int fold);
/** Hand g, a part of node i's adjoint, on to its inputs. */
typedef clf_status clf_grad_step(clf_sweep *w, int32_t i, clf_mat *g);
clf_grad_step clf_grad_cell, clf_grad_fold, clf_grad_cum;
/* ---- grad_move.c ---- */
clf_grad_step clf_grad_cast, clf_grad_transpose, clf_grad_index, clf_grad_bind, clf_grad_diag, clf_grad_reshape, clf_grad_rev,
    clf_grad_order, clf_grad_fill;
/* ---- grad_form.c ---- */
clf_grad_step clf_grad_matmul;
/** Can the derivative of node n by its input k differ from zero? */
bool clf_grad_passes(const clf_grad_node *n, int k);
/** Hand node i's adjoint on to its inputs. */
clf_status clf_grad_backward(clf_sweep *w, int32_t i);
#endif
