/* SPDX-License-Identifier: Apache-2.0
 * Rewrites: from a const graph to a new graph of the same type, before every selector, so that all plans of one program are plans of
 * one graph.
 *
 * The pass copies the nodes of the old graph, inputs first, into a new one in which equal nodes are one. Each copy, its inputs being
 * final, is shown to the rules; what a rule gives stands for it from then on. A rule may build nodes, which are shown to the rules like
 * any other, inputs first. When all is copied, what rules have left without use is dropped, and the rest keeps its order.
 *
 * How to write a rule: one function and one row of clf_rules.
 *
 *     // x * x = x ^ 2. Measure: operators MUL with equal operands.
 *     static int32_t square(clf_rewriter *w, int32_t n) {
 *         clf_gnode x = w->g.node[n];                       // by value: the array moves when a node is put
 *         if (x.op != CLF_OP_MUL || x.in[0] != x.in[1]) return -1;
 *         return clf_rewriter_cell(w, CLF_OP_SQR, 1, x.in);
 *     }
 *
 * What a rule makes of NaN, Inf, -0 and of zeros that annihilate decides its kind, and with it in which modes of the knob `math` it is
 * used; a function may have several rows, of different kinds, each with its own condition.
 *
 * A rule looks at n and what n is made of, never at who uses n or which nodes are results: a graph that was rewritten must stay as it is
 * when it is rewritten again, whatever its results (CLF_CHECK plans graphs of plans). It names a measure that every application makes
 * strictly smaller. It follows chains with a note per node (clf_rewriter_notes) instead of by recursion, so that the pass stays linear
 * in the nodes it reads and makes. What it gives has the form of n (dtype, shape, a scalar or not, the meaning of its zeros) and n's
 * cells; what has another form is not taken. */
#ifndef CLF_PLANNER_REWRITE_H
#define CLF_PLANNER_REWRITE_H
#include "core/fold.h"
#include "planner/graph.h"

/* EXACT: the cells' meaning is the same, in exact arithmetic and with NaN and Inf, and every plan gives the rewritten graph's bits.
 * ROUNDING: a sum or a product is associated differently, or a zero may get another sign. A result that is not finite stays so, unless
 * only an intermediate overflowed. NANLOSS: NaN or Inf of operands may get lost. */
typedef enum clf_rule_kind { CLF_RULE_EXACT, CLF_RULE_ROUNDING, CLF_RULE_NANLOSS } clf_rule_kind;

/* The modes of the knob `math`: each takes the rules of a kind up to its own. */
typedef enum clf_math { CLF_MATH_STRICT, CLF_MATH_REASSOCIATE, CLF_MATH_FAST } clf_math;

/* Which rules are used. All zero: the exact ones. */
typedef struct clf_gate {
    uint64_t off;    /* rules that are switched off, a bit each */
    uint8_t math;    /* clf_math */
    bool gpu;        /* a GPU is planned for: without the rules of CLF_AT_CPUS */
} clf_gate;

/* The new graph while it grows. */
typedef struct clf_rewriter {
    clf_graph g;      /* nodes so far; roots follow at the end */
    clf_arena *arena, *scratch;
    int32_t cap, nbucket, *bucket, *chain; /* equal nodes are found by hash; numbers are ids + 1 */
    int32_t rule;     /* the one being applied */
    struct clf_note { void *at; int32_t n; } *note; /* per rule */
    bool failed;      /* out of memory or ids; nodes are -1 then */
} clf_rewriter;

/* Operators by what rules ask of them, a bit each; slots are none of them. MOVED: whatever else has operands. */
enum { CLF_AT_CELLS = 1, CLF_AT_FOLD = 2, CLF_AT_PRODUCT = 4, CLF_AT_TRANSPOSE = 8, CLF_AT_MOVED = 16, CLF_AT_KINDS = 5,
       CLF_AT_CPUS = 32 /* besides: only where no GPU is planned for */ };

typedef struct clf_rule {
    const char *id;   /* what switches it off */
    const char *name; /* what explain says */
    clf_rule_kind kind;
    uint8_t at;       /* operators for which it may have something: it is not shown others */
    /* The node that stands for n, earlier or built here; -1: n itself. */
    int32_t (*apply)(clf_rewriter *w, int32_t n);
} clf_rule;
extern const clf_rule clf_rules[]; /* ends with id == NULL */
/** Which of the CLF_AT_ bits operator op is, by its number: 0 CELLS ...; -1: a slot. */
int clf_rule_at(int op);
/** "exact", "rounding" or "nanloss". */
const char *clf_rule_kind_name(clf_rule_kind k);
/** The gate of a mode's name, less the rules whose ids are listed: "square,sum-scaled". errors: CLF_E_NAME unknown mode or rule. */
clf_status clf_gate_set(clf_gate *gate, const char *math, const char *off, clf_err *err);
enum { CLF_MOST_RULES = 64 };

/** The node equal to *x in everything but nnz, put behind all others if there is none. -1 when out of memory. */
int32_t clf_rewriter_put(clf_rewriter *w, const clf_gnode *x);
/* Nodes by the rules of recording: type and shape follow from the operands, which must fit. Zeros are STRUCTURAL where the operator's flags
 * and its operands' zeros say so, else VALUE: a rule that knows more changes a draft and puts it. -1 as above, and for operands that
 * are -1 or do not fit. */
int32_t clf_rewriter_cell(clf_rewriter *w, clf_op op, int nin, const int32_t *in);
int32_t clf_rewriter_fold(clf_rewriter *w, clf_fold_id f, clf_way way, int32_t a);
int32_t clf_rewriter_product(clf_rewriter *w, int32_t a, int32_t b);
/** q in another type, or as a scalar or a matrix; q itself where it is that. */
int32_t clf_rewriter_cast(clf_rewriter *w, int32_t q, clf_dtype t, bool scalar);
/** t(q), without one where q is itself transposed or a single cell. */
int32_t clf_rewriter_transpose(clf_rewriter *w, int32_t q);
/** Node m with VALUE zeros: what it is made of may annihilate, it does not. */
int32_t clf_rewriter_plain(clf_rewriter *w, int32_t m);
/** Node `like` with other operands and another shape: operator, type, attributes and facts stay. */
int32_t clf_rewriter_like(clf_rewriter *w, int32_t like, const int32_t *in, int64_t rows, int64_t cols);
/** What the rule being applied keeps about nodes: `each` bytes a node, zeroed at first; room for all nodes so far. Moves. NULL when out
 *  of memory (w->failed). */
void *clf_rewriter_notes(clf_rewriter *w, size_t each);

/** Apply the rules of a gate (NULL: the exact ones) to g. *out lies in the arena; scratch may be released afterwards. fired, if not NULL,
 *  counts applications by rule. errors: CLF_E_NOMEM; CLF_E_LIMIT too many nodes. cost: linear in the nodes of g and those that rules build. */
clf_status clf_rewrite(const clf_graph *g, const clf_gate *gate, clf_arena *arena, clf_arena *scratch, clf_graph *out, int32_t *fired,
                       clf_err *err);
/** Have a and b the same type and shape, a scalar and a 1x1 matrix being two? */
bool clf_same_form(const clf_gnode *a, const clf_gnode *b);
#endif
