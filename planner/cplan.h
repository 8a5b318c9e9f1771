/* SPDX-License-Identifier: Apache-2.0
 * The cplan: WHAT one fused operator computes, and nothing of how (design section 4). Plain data in one arena.
 *
 * A body of pure values over axes, read through accesses, leaving through sinks. A value carries the set of axes it varies
 * with; everything else (hoisting, replication, batching) follows from that set.
 *
 * Types: every in[] of a cell operator has the same dtype, the operator type, in which its text is evaluated. The result has
 * that dtype, except for F_BOOL operators, whose 0/1 result may be declared with any dtype. CAST changes dtype. IFELSE's
 * condition has the operator type too. A FOLD sink's value has the fold's value type already.
 *
 * Axes are listed from the outermost to the innermost. Kinds:
 *   RANGE  0 .. n-1.
 *   ENTRY  the stored entries of one row of a CSR operand (owner: an access to it by protocol `entries`), the row being the position
 *          of `parent`. Its position, in accesses and INDEX, is the entry's column.
 *   SEG    one segment: owner is an access to a dense i64 vector of offsets, at the position of `parent`: offset[p] .. offset[p+1]-1.
 *          Its position is absolute.
 *   DICT   entries of the dictionary of a compressed operand (owner: an access to it by protocol `dictionary`). With a parent it has one
 *          position, the code of the row `parent` stands at: values that vary with it alone need computing only once per dictionary
 *          entry. Without a parent it runs over all entries.
 * A value that varies with an ENTRY or SEG axis varies with its parent too; one that varies with a DICT axis does not.
 *
 * Which axes a sink runs over: see clf_sink_loop. A FOLD value over the outermost axis feeds only sinks.
 *
 * The text form (clf_cplan_print / clf_cplan_parse) is an s-expression, one item a line. Names may be used before they are declared and
 * share one name space; the printer calls axes i j k ... x, and the rest X0, p0, Y0, a0, v0. ';' starts a comment.
 *   (cplan
 *     (axis i range free 1000) (axis j range free 20)          ; kind order n; entries: (axis k entry free 300 owner a0 parent i)
 *     (in X f64 dense 1000 20) (in s f64 dense)                ; rank 0 = scalar in memory; an extent known at run time: 1000:3 (n:sym)
 *     (param p0 f64)
 *     (out S f64) (out A f64 1000 20)
 *     (access a0 X stream (i 1 0) (j 1 0))                     ; per dimension: axis-or-value, mul, add; (- add) = constant
 *     (access a1 Z locate (i 1 0) (k 1 0))                     ; Z csr: what Z stores at the column of an entry of another operand, or 0
 *     (let v0 f64 load a0) (let v1 f64 param p0) (let v2 f64 MUL v0 v1) (let v3 f64 fold SUM j v2) (let v4 i64 index i)
 *     (let v5 f64 scan SUM i v0) (let v6 f32 cast v5) (let v7 f64 dot j v0 v1 skip 1)
 *     (let v8 f64 cat l v0 j v1 -)                             ; v0 along j, behind it v1 in one position
 *     (store A v2 keep i j) (fold S SUM v2 keep) (pattern A v2 keep i k) (scatter A SUM v2 key v4 keep)
 *     (fold S SUM v2 keep over i j)                            ; or `keep k over i`
 *     (let v9 f64 fold MIN k v0 rest v5) (fold S SUM v2 rest v5 keep over i k)                ; cells without entry, see CLF_V_FOLD
 *     (append A v2 B v3 count N keep) (group A SUM v2 key v4 K count N keep) (dot B v0 v3 skip 1 keep j))     ; skip: 0 when missing
 * Every sink may end with `guard v`, an append also with `order v`.
 */
#ifndef CLF_PLANNER_CPLAN_H
#define CLF_PLANNER_CPLAN_H
#include "core/arena.h"
#include "core/err.h"
#include "core/fold.h"
#include "core/hash.h"
#include "core/op.h"
#include "core/str.h"
#include "formats/fmt.h"

enum { CLF_MAX_RANK = 8, CLF_MAX_AXES = 16, CLF_MAX_SINKS = 4096 };

typedef struct clf_dim {
    int64_t n;   /* extent, or an upper bound of it when sym >= 0 */
    int32_t sym; /* -1, or the id of a size known at run time */
} clf_dim;

typedef enum clf_axis_kind { CLF_AXIS_RANGE, CLF_AXIS_ENTRY, CLF_AXIS_SEG, CLF_AXIS_DICT } clf_axis_kind;
typedef struct clf_axis {
    uint8_t kind;
    uint8_t ascending;  /* 1: iterations must run in order (SCAN, APPEND) */
    int8_t parent;      /* SEG, ENTRY, DICT: the axis whose position selects the segment, row or code; -1 none */
    int16_t owner;      /* ENTRY, SEG, DICT: the access whose operand defines it; -1 none */
    clf_dim n;
} clf_axis;

/* Value operators beyond the cell operators of ops.def. */
enum {
    CLF_V_LOAD = CLF_NALLOPS, /* arg = access */
    CLF_V_PARAM,              /* arg = param: a scalar kernel argument */
    CLF_V_INDEX,              /* arg = axis; 0-based position, i64 */
    CLF_V_FOLD,               /* in[0] folded over axis `axis` by fold arg; a reuse inside the axis is another sweep. Over an ENTRY axis
                                 in[1] may be the rest: what in[0] is in the row's cells without entry; it varies with the parent at most,
                                 or with one RANGE axis that stands for the columns. The tree takes the stored entries as if there were no
                                 others, giving a wide state; where cells are missing, one state follows it in one merge: `repeat` of the
                                 rest widened, n = columns - entries of the row, k = the first column without entry. By columns it is the
                                 state of gaps over all columns, see core/fold.h */
    CLF_V_SCAN,               /* in[0] cumulated along ascending axis `axis` by fold arg (inclusive) */
    CLF_V_CAST,               /* in[0] converted to dtype */
    CLF_V_DOT,                /* in[0] * in[1] summed over axis `axis`: the inner product, defined with fma (see clf_dot_lanes).
                                 arg: which zeros annihilate: a position where in[0] (1), in[1] (2) or either (3) is 0 adds nothing */
    CLF_V_CAT                 /* in[0] and in[1] one behind the other along RANGE axis `axis`: of its first positions in[0] at each
                                 position of the axis clf_cat_axis(v, 0), of the rest in[1] along its own. The axis is as long as both
                                 together. A part without an axis has one position; neither varies with `axis` itself. arg: both axes */
};
typedef struct clf_value {
    uint16_t op;     /* clf_op of a cell operator, or CLF_V_* */
    uint8_t dtype;
    int8_t axis;     /* FOLD, SCAN, DOT, CAT; -1 otherwise */
    uint32_t axes;   /* bit a: varies with axis a */
    int32_t in[3];   /* earlier values; -1 unused */
    int32_t arg;     /* see CLF_V_*; -1 otherwise */
} clf_value;

typedef enum clf_protocol { CLF_STREAM, CLF_ENTRIES, CLF_LOCATE, CLF_CURSOR, CLF_DICTIONARY } clf_protocol;
/* Index of one dimension of the input: mul * (axis position | value | 0) + add. */
typedef struct clf_at {
    int32_t axis;    /* axis number; or -1: none */
    int32_t value;   /* i64 value used as index (gather); or -1 */
    int64_t mul, add;
} clf_at;
typedef struct clf_access {
    int32_t input;
    uint8_t protocol;
    uint8_t rank;
    clf_at at[CLF_MAX_RANK];
} clf_access;

typedef struct clf_cinput {
    uint8_t dtype;
    uint8_t format;  /* clf_format of formats/fmt.h; dense = 0, row-major, contiguous */
    uint8_t rank;
    clf_dim dim[CLF_MAX_RANK];
} clf_cinput;
typedef clf_cinput clf_coutput;

typedef enum clf_sink_kind {
    CLF_SINK_STORE, CLF_SINK_FOLD, CLF_SINK_PATTERN, CLF_SINK_APPEND, CLF_SINK_SCATTER, CLF_SINK_GROUP, CLF_SINK_DOT
} clf_sink_kind;
/* What a sink does at each position of its loop (in row-major order of the axes) where its guard holds:
 *   STORE    out[kept position] = value
 *   FOLD     out[kept position] = the fold of value over the other axes of the loop, by the reduction tree (core/fold.h): axes kept
 *            before every folded one only repeat it. Of the others, none kept: the tree of full and row folds over N = the product of
 *            the folded extents. All kept after all folded: the column tree with R = folded, C = kept. Otherwise: the tree of row folds.
 *            p counts positions whatever the guard says; along an ENTRY axis it counts stored entries, so a full fold over rows and their
 *            entries goes by the number of the stored entry in the operand. Position k of a fold is p; for a fold over one ENTRY axis
 *            the entry's column.
 *            An ENTRY axis kept while its parent i is folded (all kept after i): values meet at the entry's column; cells without one hold
 *            the empty fold. Rows form blocks of clf_scatter_block(R, C) (C: cells of the output), one lane, steps in iteration order,
 *            blocks merged in the binary tree.
 *            value[1], or -1: the rest, what value[0] is in the cells without entry of an ENTRY axis and its RANGE of rows, which are the
 *            whole loop; without guard. Where cells are missing, one state follows that of the tree in one merge, as for CLF_V_FOLD.
 *            The ENTRY axis kept: a column's is `repeat` with n = rows - entries of the column, k = the first row without entry; the rest
 *            varies with nothing, or with a RANGE axis outside the loop that stands for the columns; or with the rows, and then it is the
 *            state of gaps over all rows of the column (core/fold.h). Nothing kept, and no fold that gives positions: the rest may also
 *            vary with the rows. With nothing: n = rows * columns - entries. Otherwise the state is the binary tree over all rows
 *            (columns) of `repeat` with n = the cells missing there.
 *   DOT      out[kept position] = value[0] * value[1] summed over the folded axis 0, all kept axes after it: t(A) %*% B. The column
 *            tree with R rows and C = the output's cells, but always one lane, stepping s = fma(value[0], value[1], s); kept ENTRY axes
 *            as for FOLD.
 *   PATTERN  out[number of the stored entry] = value; the output has the pattern of the ENTRY axis kept (with its parent, nothing else)
 * A STORE that keeps a SEG axis keeps its parent too and nothing else: out[position in the segment axis] = value.
 *   APPEND   one more record: value[q] to out[q]; in iteration order (axes ascending), or stably sorted by `order`
 *   SCATTER  values meet at out[kept position, key[0], key[1]]; cells without a value hold the empty fold
 *   GROUP    values meet by key[0]; groups ascend by key: out[0] = folds, out[1] = keys
 * SCATTER and GROUP step one lane in iteration order. A kept axis of extent 1 and an output dimension of extent 1 may be missing on
 * the other side. A FOLD value uses the tree of row folds over its axis. SCAN: one lane, steps in order, finished at every position. */
typedef struct clf_sink {
    uint8_t kind;
    uint8_t fold;       /* FOLD, SCATTER, GROUP: how values meet; DOT: which zeros annihilate, as arg of CLF_V_DOT */
    uint32_t keep;      /* axes that index the output, ascending axis order = output dimensions */
    uint32_t over;      /* FOLD: the axes folded, besides those its value varies with; 0: as clf_sink_loop says. Loops over several inner
                           axes say it, for each of their folds runs over one of them only */
    int32_t value[4];   /* STORE FOLD PATTERN: [0]; FOLD: [1] the rest, whose axes do not make the loop; APPEND: columns of a record */
    int32_t key[2];     /* SCATTER: output indices; GROUP: the key; -1 unused */
    int32_t guard;      /* only where this value is true; -1 always */
    int32_t order;      /* APPEND: value to order by; -1 iteration order */
    int32_t out[4];     /* output per value[]; -1 unused. GROUP: out[0] = folds, out[1] = keys; APPEND, GROUP: also out[3] = count (i64 scalar) */
} clf_sink;

typedef struct clf_cplan {
    int naxes, nin, nparam, nout, naccess, nvalue, nsink;
    clf_axis *axis;
    clf_cinput *in;
    uint8_t *param;       /* dtypes */
    clf_coutput *out;
    clf_access *access;
    clf_value *value;
    clf_sink *sink;
} clf_cplan;

/* Memory and numbers bound to a cplan for one run. Arrays are indexed like the cplan's. Dense operands are row-major and
 * contiguous with the extents of `in[i].dim` as bound: when axis_n is not NULL it overrides every axis extent, and in_dim / out_dim
 * (CLF_MAX_RANK per operand) override operand extents: one prepared program serves all sizes. */
typedef struct clf_bind {
    void *const *in;
    const clf_scalar *param;
    void *const *out;
    const int64_t *axis_n;
    const int64_t *in_dim, *out_dim;
} clf_bind;

/* What in[] points at for inputs that are not dense (in[i].format): clf_csr (formats/sparse.h) for CLF_CSR. */
typedef struct clf_dictionary {   /* CLF_COMPRESSED: row i is row code[i] of value */
    const void *code;
    clf_dtype code_dtype;         /* u8 or i32 */
    const void *value;            /* entries x cols, row-major, of the input's dtype */
    int64_t rows, entries, cols;
} clf_dictionary;

/** Lanes of a DOT value: its tree is that of row folds, stepping s = fma(in[0], in[1], s), with the usual lanes if in[1] runs along the
 *  axis in memory, else one: when in[1] is a LOAD whose last dimension is indexed by another RANGE axis, of extent 5 or more (axis_n
 *  overrides extents; NULL: the cplan's). So a small product is computed in whole rows of its right operand. */
int clf_dot_lanes(const clf_cplan *c, const clf_value *dot, const int64_t *axis_n);
/** The axis outside in[0] along which the rest of a FOLD value varies by columns; -1: none, or no rest. */
int clf_rest_axis(const clf_cplan *c, const clf_value *fold);
/** Axes folded by some FOLD or DOT value, rests included, or gone along by a CAT: they are loops of a sink only where its values vary with
 *  them. */
uint32_t clf_cplan_inner(const clf_cplan *c);
/** Axes the sink runs over. STORE, PATTERN: the kept ones. Others: the kept ones, those its values, keys and guard vary with, and every
 *  other RANGE or parentless DICT axis that is not inner, unless `over` names the folded ones (DOT: of these axis 0 only). DICT axes
 *  with a parent follow it and are never in the set. */
uint32_t clf_sink_loop(const clf_cplan *c, const clf_sink *s);

/** The first axis over stored entries, which stands behind its parent; -1: none. */
static inline int clf_entry_axis(const clf_cplan *c) {
    for (int a = 1; a < c->naxes; a++)
        if (c->axis[a].kind == CLF_AXIS_ENTRY) return a;
    return -1;
}
/** The axis along which a CAT takes in[q]; -1: none, one position. */
static inline int clf_cat_axis(const clf_value *cat, int q) { return (cat->arg >> 8 * q & 0xff) - 1; }
/** The arg of a CAT whose parts run along these axes (-1: none). */
static inline int32_t clf_cat_arg(int first, int second) { return (first + 1) | (second + 1) << 8; }

/* The item a check failed at. */
typedef enum clf_citem { CLF_ITEM_PLAN, CLF_ITEM_AXIS, CLF_ITEM_IN, CLF_ITEM_PARAM, CLF_ITEM_OUT, CLF_ITEM_ACCESS, CLF_ITEM_VALUE, CLF_ITEM_SINK } clf_citem;
typedef struct clf_cwhere { clf_citem item; int index; } clf_cwhere;
/** clf_cplan_check that also tells the item at fault; `where` may be NULL. */
clf_status clf_cplan_check_at(const clf_cplan *c, clf_cwhere *where, clf_err *err);
/** Is the cplan legal? Every reference in range and earlier, axes right, types as above, sinks fit outputs.
 *  errors: CLF_E_INTERNAL with the first violation. Must be safe on arbitrary (fuzzed) content reached through the parser. */
clf_status clf_cplan_check(const clf_cplan *c, clf_err *err);
void clf_cplan_print(const clf_cplan *c, clf_str *out);
/** Parse the text form into `arena`. errors: CLF_E_SYNTAX with line and column. The result has passed clf_cplan_check. */
clf_status clf_cplan_parse(clf_cplan *c, clf_arena *arena, const char *text, size_t n, clf_err *err);
/** Hash of everything that changes generated code: structure, dtypes, access shapes; not extents (sizes are kernel arguments). */
clf_hash clf_cplan_hash(const clf_cplan *c);
/** Recompute value axes from accesses and inputs (after building by hand). */
void clf_cplan_axes(clf_cplan *c);
/** The axis and the DICT axes that follow it: what changes when it moves. */
uint32_t clf_axis_moves(const clf_cplan *c, int axis);
/** The axes v varies with, from its inputs' axes. Safe on arbitrary content. */
uint32_t clf_value_axes(const clf_cplan *c, const clf_value *v);
#endif
