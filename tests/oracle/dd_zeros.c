/* SPDX-License-Identifier: Apache-2.0
 * Whose zeros annihilate, by a rule of our own: those of sparse leaves; of what moves or casts the cells of nodes with such zeros alone;
 * and of a cell operator that is 0 wherever some operands with such zeros are 0, whatever the other operands may be. Numbers known when
 * the program is recorded (numbers, what is filled with them, scalars computed from them) are not "whatever": X > 1 keeps zeros,
 * X > y does not. One row per operator says for which sets of zero operands that is so; where all operands are zeros or numbers, the
 * operator itself is asked. */
#include "tests/oracle/dd_program.h"
#include "tests/support/random_make.h"

/* ---- numbers ---- */

static bool is_number(const rp_program *p, const rp_node *n, const bool *number) {
    switch (n->kind) {
    case RP_NUMBER:
    case RP_FILL: return true;
    case RP_CAST:
    case RP_FORM: return number[n->in[0]];
    case RP_CELL: break;
    default: return false;
    }
    for (int k = 0; k < n->nin; k++)
        if (!number[n->in[k]] || !p->node[n->in[k]].m.scalar) return false;
    return true;
}

/* ---- cell operators ---- */

enum { A = 1, B = 2 };

/* Zero for each of these sets of zero operands, whatever the other is; `whole`: of integers only; `truths`: of u8 operands only, which
 * are never negative. */
static const struct {
    uint8_t either, whole, truths; /* bit A: the first alone is enough; bit B: the second */
} alone[CLF_OP_CODES] = {
    [CLF_MUL] = {A | B, 0, 0}, [CLF_DIV] = {A, 0, 0},      [CLF_AND] = {A | B, 0, 0}, [CLF_BITAND] = {A | B, 0, 0},
    [CLF_MOD] = {0, A | B, 0}, [CLF_IDIV] = {0, A | B, 0}, [CLF_LT] = {0, 0, B},      [CLF_GT] = {0, 0, A},
};

typedef struct dd_seen {
    clf_dtype t;     /* the operator's type */
    unsigned zero;   /* operands that are 0 */
    unsigned number; /* operands whose value is known */
    dd_cell x[3];    /* of zeros and numbers, in type t (a condition: as it is) */
} seen;

static dd_truth not(dd_truth t) { return t == DD_MAYBE ? t : t == DD_TRUE ? DD_FALSE : DD_TRUE; }
static dd_truth is_zero(const seen *s, int k) { return s->number >> k & 1 || s->zero >> k & 1 ? not(dd_truth_of(s->x[k])) : DD_FALSE; }

static dd_truth both(dd_truth a, dd_truth b) { return a == DD_FALSE || b == DD_FALSE ? DD_FALSE : a == DD_TRUE ? b : a; }

/* Chosen by a known condition, or either. */
static dd_truth chosen(bool known, dd_truth condition, dd_truth yes, dd_truth no) {
    dd_truth all = both(yes, no);
    if (!known || all == DD_TRUE) return all;
    return condition == DD_MAYBE ? (yes == DD_FALSE && no == DD_FALSE ? DD_FALSE : DD_MAYBE) : condition == DD_TRUE ? yes : no;
}

/* replace(x, pattern, replacement): 0 stays, or becomes the replacement. */
static dd_truth replaced(const seen *s) {
    dd_truth x = is_zero(s, 0), r = is_zero(s, 2);
    bool fixed = (s->zero | s->number) >> 1 & 1;
    if (!((s->zero | s->number) & 1)) return DD_FALSE;
    if (!fixed) return both(x, r);
    bool nan = s->x[1].kind == DD_NAN; /* the pattern of NaN */
    dd_truth hit = nan ? (s->x[0].kind == DD_NAN ? DD_TRUE : DD_FALSE) : dd_equal(s->x[0], s->x[1]);
    return chosen(true, hit, r, x);
}

static dd_truth zero_there(int op, int nin, const seen *s) {
    unsigned all = (1u << nin) - 1;
    if (op == CLF_IFELSE) return chosen((s->zero | s->number) & 1, not(is_zero(s, 0)), is_zero(s, 1), is_zero(s, 2));
    if (op == CLF_REPLACE) return replaced(s);
    unsigned enough = alone[op].either | (dd_real(s->t) ? 0 : alone[op].whole) | (s->t == CLF_U8 ? alone[op].truths : 0);
    if (s->zero & enough) return DD_TRUE;
    for (int k = 0; k < nin; k++) /* a number that is 0 is as good, but for what only annihilation makes 0 */
        if ((s->number & enough) >> k & 1 && op != CLF_MUL && op != CLF_DIV && is_zero(s, k) == DD_TRUE) return DD_TRUE;
    if (((s->zero | s->number) & all) != all) return DD_FALSE;
    return not(dd_truth_of(dd_op(op, s->t, s->x)));
}

static dd_truth of_cells(const rp_program *p, const dd_values *v, const rp_node *n) {
    const rp_matrix *m[3] = {NULL, NULL, NULL};
    bool choice = rp_rule_of(n->op) == RP_SELECT, some = false, perhaps = false;
    seen s = {.zero = 0, .x = {{.kind = DD_KNOWN}, {.kind = DD_KNOWN}, {.kind = DD_KNOWN}}};
    for (int k = 0; k < n->nin; k++) m[k] = &p->node[n->in[k]].m;
    s.t = rp_op_type(n->op, n->nin, m);
    for (int k = 0; k < n->nin; k++) {
        int q = n->in[k];
        some = some || v->zeros[q] == DD_TRUE;
        perhaps = perhaps || v->zeros[q] == DD_MAYBE;
        if (v->zeros[q] == DD_TRUE)
            s.zero |= 1u << k;
        else if (v->number[q]) {
            if (rp_count(m[k]) == 0) return DD_MAYBE; /* a number that no cell shows */
            s.number |= 1u << k;
            s.x[k] = choice && k == 0 ? v->cell[q][0] : dd_cast(v->cell[q][0], m[k]->t, s.t);
        }
    }
    if (perhaps) return DD_MAYBE;
    return some ? zero_there(n->op, n->nin, &s) : DD_FALSE;
}

/* ---- nodes ---- */

static dd_truth of_all(const dd_values *v, const rp_node *n) {
    dd_truth r = DD_TRUE;
    for (int k = 0; k < n->nin; k++) r = both(r, v->zeros[n->in[k]]);
    return r;
}

void dd_zeros(const rp_program *p, dd_values *v, int i) {
    const rp_node *n = &p->node[i];
    v->number[i] = is_number(p, n, v->number);
    switch (n->kind) {
    case RP_LEAF: v->zeros[i] = rp_sparse_leaf(n) ? DD_TRUE : DD_FALSE; break;
    case RP_CELL:
    case RP_OUTER: v->zeros[i] = of_cells(p, v, n); break;
    case RP_CAST:
    case RP_FORM:
    case RP_INDEX:
    case RP_TRANSPOSE:
    case RP_CBIND:
    case RP_RBIND:
    case RP_DIAG:
    case RP_REV: v->zeros[i] = of_all(v, n); break;
    default: v->zeros[i] = DD_FALSE;
    }
}
