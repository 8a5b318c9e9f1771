/* SPDX-License-Identifier: Apache-2.0
 * Degrees under scaling by a power of two, and parities under negation. Both are exact in floating point away from the ends of the
 * exponent range, up to the sign of zeros under negation: 0 is x + -x and -x + x alike. */
#include <math.h>

#include "tests/support/laws.h"
#include "tests/support/random_make.h"

/* A node's tag from those of its operands. */
typedef enum how {
    NEVER,   /* no promise */
    NEUTRAL, /* all 0: the operands do not change, nor does the result */
    SAME,    /* all equal: theirs */
    ADDED,
    SUBTRACTED,
    DOUBLED,
    HALVED,
    LEVEL,   /* all equal: 0 */
    NOTHING, /* 0 */
    CHOSEN,  /* of the second and third operand, equal */
} how;

typedef struct rule {
    how degree, parity;
} rule;

/* clang-format off */
static const rule ops[CLF_OP_CODES] = {
    [CLF_ADD] = {SAME, SAME},           [CLF_SUB] = {SAME, SAME},           [CLF_MUL] = {ADDED, ADDED},
    [CLF_DIV] = {SUBTRACTED, ADDED},    [CLF_MOD] = {SAME, SAME},           [CLF_IDIV] = {LEVEL, LEVEL},
    [CLF_POW] = {NEUTRAL, NEVER},       [CLF_ATAN2] = {NEUTRAL, NEVER},     [CLF_LOGB] = {NEUTRAL, NEVER},
    [CLF_MIN] = {SAME, NEUTRAL},        [CLF_MAX] = {SAME, NEUTRAL},
    [CLF_LT] = {LEVEL, NEUTRAL},        [CLF_LE] = {LEVEL, NEUTRAL},        [CLF_GT] = {LEVEL, NEUTRAL},
    [CLF_GE] = {LEVEL, NEUTRAL},        [CLF_EQ] = {LEVEL, LEVEL},          [CLF_NE] = {LEVEL, LEVEL},
    [CLF_AND] = {NOTHING, NOTHING},     [CLF_OR] = {NOTHING, NOTHING},      [CLF_XOR] = {NOTHING, NOTHING},
    [CLF_BITAND] = {NEUTRAL, NEUTRAL},  [CLF_BITOR] = {NEUTRAL, NEUTRAL},
    [CLF_NEG] = {SAME, SAME},           [CLF_NOT] = {NOTHING, NOTHING},     [CLF_ABS] = {SAME, NOTHING},
    [CLF_SIGN] = {NOTHING, SAME},       [CLF_ROUND] = {NEUTRAL, NEUTRAL},   [CLF_FLOOR] = {NEUTRAL, NEUTRAL},
    [CLF_CEIL] = {NEUTRAL, NEUTRAL},    [CLF_SQR] = {DOUBLED, NOTHING},     [CLF_SQRT] = {HALVED, NEUTRAL},
    [CLF_ISNAN] = {NOTHING, NOTHING},   [CLF_ISINF] = {NOTHING, NOTHING},
    [CLF_IFELSE] = {CHOSEN, CHOSEN},    [CLF_REPLACE] = {SAME, SAME},
};
static const rule folds[CLF_FOLD_CODES] = {
    [CLF_FOLD_CODE_SUM] = {SAME, SAME},         [CLF_FOLD_CODE_SUMSQ] = {DOUBLED, NOTHING},
    [CLF_FOLD_CODE_MIN] = {SAME, NEUTRAL},      [CLF_FOLD_CODE_MAX] = {SAME, NEUTRAL},
    [CLF_FOLD_CODE_PROD] = {NEUTRAL, NEUTRAL},  [CLF_FOLD_CODE_MEAN] = {SAME, SAME},
    [CLF_FOLD_CODE_VAR] = {DOUBLED, NOTHING},   [CLF_FOLD_CODE_ARGMIN] = {NOTHING, NEUTRAL},
    [CLF_FOLD_CODE_ARGMAX] = {NOTHING, NEUTRAL}, [CLF_FOLD_CODE_ANY] = {NOTHING, NOTHING},
    [CLF_FOLD_CODE_ALL] = {NOTHING, NOTHING},   [CLF_FOLD_CODE_NNZ] = {NOTHING, NOTHING},
};
static const rule cumulative[CLF_FOLD_CODES] = {
    [CLF_FOLD_CODE_SUM] = {SAME, SAME},         [CLF_FOLD_CODE_PROD] = {NEUTRAL, NEUTRAL},
    [CLF_FOLD_CODE_MIN] = {SAME, NEUTRAL},      [CLF_FOLD_CODE_MAX] = {SAME, NEUTRAL},
};
/* clang-format on */

static how how_of(const rp_node *n, law_tag which) {
    rule r = {SAME, SAME}; /* data movement */
    if (n->kind == RP_CELL || n->kind == RP_OUTER) r = ops[n->op];
    if (n->kind == RP_FOLD) r = folds[n->op];
    if (n->kind == RP_CUM) r = cumulative[n->op];
    if (n->kind == RP_PRODUCT) r = (rule){ADDED, ADDED};
    if (n->kind == RP_CAST && !rp_real(n->m.t)) r = (rule){NEUTRAL, NEUTRAL};
    return which == LAW_DEGREE ? r.degree : r.parity;
}

static int combined(how h, const int *t, int n, law_tag which) {
    bool equal = true;
    int sum = 0;
    for (int k = 0; k < n; k++) {
        equal = equal && t[k] == t[0];
        sum += h == SUBTRACTED && k ? -t[k] : t[k];
    }
    switch (h) {
    case SAME: return equal ? t[0] : LAW_BAD;
    case ADDED:
    case SUBTRACTED: return which == LAW_PARITY ? sum % 2 : sum;
    case DOUBLED: return 2 * t[0];
    case HALVED: return t[0] % 2 ? LAW_BAD : t[0] / 2;
    case LEVEL: return equal ? 0 : LAW_BAD;
    case NOTHING: return 0;
    case CHOSEN: return t[1] == t[2] ? t[1] : LAW_BAD;
    case NEUTRAL: return equal && t[0] == 0 ? 0 : LAW_BAD;
    default: return LAW_BAD;
    }
}

static int source_tag(const rp_node *n, law_tag which) {
    bool changes = which == LAW_DEGREE || (n->kind != RP_RAND && n->kind != RP_SEQ);
    return changes && rp_real(n->m.t);
}

static int tag_of(const rp_program *p, int i, law_tag which, const law_tags tag) {
    const rp_node *n = &p->node[i];
    int t[3] = {0, 0, 0};
    if (rp_source(n->kind)) return source_tag(n, which);
    for (int k = 0; k < n->nin; k++) {
        t[k] = tag[n->in[k]];
        if (t[k] == LAW_BAD) return LAW_BAD;
    }
    how h = how_of(n, which);
    bool elementary = (n->kind == RP_CELL || n->kind == RP_OUTER) && h == NEVER && which == LAW_DEGREE;
    return combined(elementary ? NEUTRAL : h, t, n->nin, which);
}

static double real_cell(const rp_matrix *m, const void *data, int64_t k) {
    return m->t == CLF_F32 ? (double)((const float *)data)[k] : ((const double *)data)[k];
}

/* Zero, not finite, or far from the ends. */
static bool in_range(const rp_matrix *m, const void *data) {
    double least = m->t == CLF_F32 ? 0x1p-40 : 0x1p-400, most = m->t == CLF_F32 ? 0x1p40 : 0x1p400;
    for (int64_t k = 0; rp_real(m->t) && k < rp_count(m); k++) {
        double x = fabs(real_cell(m, data, k));
        if (x != 0 && isfinite(x) && (x < least || x > most)) return false;
    }
    return true;
}

/* The sign of a zero is nobody's business, except below a fraction. */
static bool divides_by_zero(const rp_program *p, const rp_node *n, const void *const *data) {
    bool fraction = (n->kind == RP_CELL || n->kind == RP_OUTER) && (n->op == CLF_DIV || n->op == CLF_IDIV || n->op == CLF_MOD);
    const rp_matrix *m = fraction ? &p->node[n->in[1]].m : NULL;
    for (int64_t k = 0; m && rp_real(m->t) && k < rp_count(m); k++)
        if (real_cell(m, data[n->in[1]], k) == 0) return true;
    return false;
}

void law_tag_nodes(const rp_program *p, law_tag which, const void *const *data, law_tags tag) {
    for (int i = 0; i < p->n; i++) {
        tag[i] = tag_of(p, i, which, tag);
        bool good = tag[i] == LAW_BAD || (in_range(&p->node[i].m, data[i]) && tag[i] >= -6 && tag[i] <= 6);
        if (!good || (which == LAW_PARITY && divides_by_zero(p, &p->node[i], data))) tag[i] = LAW_BAD;
    }
}

void law_scale(const rp_program *p, law_tag which, double by, rp_program *q) {
    rp_copy(p, q);
    for (int i = 0; i < q->n; i++) {
        rp_node *n = &q->node[i];
        if (!rp_source(n->kind) || source_tag(n, which) != 1) continue;
        n->num[0] *= by;
        n->num[1] *= by;
        for (int64_t k = 0; k < rp_count(&n->m); k++) n->m.v[k] *= by;
    }
}
