/* SPDX-License-Identifier: Apache-2.0
 * Operators as data: everything the library knows of them comes from ops.def. */
#ifndef CLF_CORE_OP_H
#define CLF_CORE_OP_H
#include <stdbool.h>
#include "clfuse/types.h"

typedef enum clf_op {
#define CLF_OP(ID, ...) CLF_OP_##ID,
#include "core/ops.def"
    CLF_NOPS, /* cell operators end here */
    CLF_OP_FORM0 = CLF_NOPS - 1,
#define CLF_FORM(ID, ...) CLF_OP_##ID,
#include "core/ops.def"
    CLF_NALLOPS
} clf_op;

/* Cost classes: the profile has one measured rate (cells per second, all cores) per class and float type. */
#define CLF_OP_CLASSES(C) C(ADD) C(CMP) C(DIV) C(SQRT) C(EXP) C(LOG) C(POW) C(TRIG)
typedef enum clf_op_class {
#define C(n) CLF_CLASS_##n,
    CLF_OP_CLASSES(C)
#undef C
    CLF_NCLASSES
} clf_op_class;

/* Claims. Each is checked by the generic operator test. */
enum {
    F_EXACT = 1,    /* exact on small integers: no rounding, any executor gives the same bits */
    F_COMM = 2,     /* f(a, b) == f(b, a) */
    F_BOOL = 4,     /* result is 0 or 1 (type u8 at recording; any type inside a cplan) */
    F_ZERO = 8,     /* f(0) == 0 */
    F_ANNIH = 16,   /* f(0, x) == f(x, 0) == 0 for finite x: zeros of both operands annihilate */
    F_ANNIH_A = 32, /* f(0, x) == 0 for finite non-zero x: zeros of the first annihilate */
    F_ELEM = 64     /* elementary function: bits depend on mathlib; at most one per kernel loop */
};

/* Operand types -> type the text is evaluated in ("operator type") and result type.
 *  ARITH   promoted; u8 becomes i32                       result: the same
 *  FLOAT   promoted; integers become f64                  result: the same
 *  CMP     promoted (u8 stays u8)                         result: u8
 *  SELECT  promoted over inputs 1 and 2; input 0 is a truth value (x != 0)   result: the same
 *  FIRST   type of input 0                                result: the same
 * Scalars (not matrices) never widen a matrix: among matrix operands only, unless all are scalars. A real scalar with integer
 * matrices gives f64, though: that changes the kind of number, not its width. */
typedef enum clf_type_rule { CLF_TYPE_ARITH, CLF_TYPE_FLOAT, CLF_TYPE_CMP, CLF_TYPE_SELECT, CLF_TYPE_FIRST } clf_type_rule;

typedef struct clf_op_row {
    const char *id;    /* "ADD" */
    const char *name;  /* "+" */
    int arity;         /* 1..3; 0 for structural */
    clf_op_class class_;
    unsigned flags;
    clf_type_rule type;
    int flops;
    const char *grad;
    const char *text;  /* "E_ADD(a, b)"; NULL for structural */
} clf_op_row;

extern const clf_op_row clf_ops[CLF_NALLOPS];
static inline bool clf_op_is_cell(int op) { return op >= 0 && op < CLF_NOPS; }
/** Operands whose zero alone makes the result zero, whatever the others are, where zeros annihilate (design section 6): a bit each. */
static inline unsigned clf_op_annihilators(int op) {
    unsigned flags = clf_op_is_cell(op) ? clf_ops[op].flags : 0;
    return flags & F_ANNIH ? 3u : flags & F_ANNIH_A ? 1u : 0u;
}
/** Operator by language name or by lower-case id; -1 if none. */
int clf_op_find(const char *name);
/** The type a row's text runs in, given operand types and which are scalars; and the result type. */
clf_dtype clf_op_type(clf_op op, int n, const clf_dtype *in, const bool *is_scalar, clf_dtype *result);
#endif
