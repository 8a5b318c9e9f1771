/* SPDX-License-Identifier: Apache-2.0
 * Small programs: enumerating, interpreting, recording; see small_program.h. */
#include "tests/support/small_program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/type_rules.h"

/* ---- the basis ---- */

typedef enum rule { ARITH, COMPARE, SELECT, SUM, TURN } rule;
static double add(double a, double b, double c) { return (void)c, a + b; }
static double sub(double a, double b, double c) { return (void)c, a - b; }
static double mul(double a, double b, double c) { return (void)c, a * b; }
static double most(double a, double b, double c) { return (void)c, a > b ? a : b; }
static double less(double a, double b, double c) { return (void)c, a < b; }
static double pick(double a, double b, double c) { return a != 0 ? b : c; }
static double size(double a, double b, double c) { return (void)b, (void)c, fabs(a); }
static double minus(double a, double b, double c) { return (void)b, (void)c, -a; }

static const struct {
    const char *name;
    int arity;
    rule rule;
    bool commutes;
    int code; /* clf_op_code, or clf_dir of a sum */
    double (*f)(double, double, double);
} basis[SP_BASIS] = {
    {"+", 2, ARITH, true, CLF_ADD, add},        {"*", 2, ARITH, true, CLF_MUL, mul},        {"-", 2, ARITH, false, CLF_SUB, sub},
    {"max", 2, ARITH, true, CLF_MAX, most},     {"<", 2, COMPARE, false, CLF_LT, less},     {"ifelse", 3, SELECT, false, CLF_IFELSE, pick},
    {"abs", 1, ARITH, false, CLF_ABS, size},    {"-", 1, ARITH, false, CLF_NEG, minus},     {"sum", 1, SUM, false, CLF_ALL, NULL},
    {"rowSums", 1, SUM, false, CLF_ROWS, NULL}, {"colSums", 1, SUM, false, CLF_COLS, NULL}, {"t", 1, TURN, false, 0, NULL},
};

/* ---- the interpreter ---- */

static clf_dtype common(const sp_value *const *x, int from, int n) {
    rule_operand o[RULE_OPERANDS] = {{CLF_F64, false}};
    for (int k = from; k < n; k++) o[k - from] = (rule_operand){x[k]->t, x[k]->scalar};
    return rule_common(o, n - from);
}

static double convert(double x, clf_dtype t) { return t == CLF_U8 ? (double)((int64_t)x & 255) : x; }
static double at(const sp_value *m, int64_t i, int64_t j) { return m->v[(m->rows == 1 ? 0 : i) * m->cols + (m->cols == 1 ? 0 : j)]; }
static bool covers(const sp_value *big, const sp_value *x) {
    return (x->rows == big->rows || x->rows == 1) && (x->cols == big->cols || x->cols == 1);
}

static bool shape(sp_value *o, clf_dtype t, bool scalar, int64_t rows, int64_t cols) {
    o->t = t;
    o->scalar = scalar;
    o->rows = rows;
    o->cols = cols;
    return rows * cols <= SP_CELLS;
}

static bool compute_cell(int op, const sp_value *const *x, sp_value *o) {
    int n = basis[op].arity;
    const sp_value *big = NULL;
    bool scalar = true, select = basis[op].rule == SELECT;
    for (int k = 0; k < n; k++) {
        bool all = true;
        for (int q = 0; q < n; q++) all = all && covers(x[k], x[q]);
        if (all && !big) big = x[k];
        scalar = scalar && x[k]->scalar;
    }
    if (!big) return false;
    clf_dtype t = common(x, select, n);
    if (basis[op].rule == ARITH && t == CLF_U8) t = CLF_I32;
    if (!shape(o, basis[op].rule == COMPARE ? CLF_U8 : t, scalar, big->rows, big->cols)) return false;
    for (int64_t i = 0; i < o->rows; i++)
        for (int64_t j = 0; j < o->cols; j++) {
            double v[3] = {0, 0, 0};
            for (int k = 0; k < n; k++) v[k] = select && k == 0 ? at(x[k], i, j) : convert(at(x[k], i, j), t);
            o->v[i * o->cols + j] = basis[op].f(v[0], v[1], v[2]);
        }
    return true;
}

static bool compute_sum(int way, const sp_value *x, sp_value *o) {
    if (x->scalar) return false;
    shape(o, rule_real(x->t) ? x->t : CLF_I64, way == CLF_ALL, way == CLF_ROWS ? x->rows : 1, way == CLF_COLS ? x->cols : 1);
    memset(o->v, 0, (size_t)(o->rows * o->cols) * sizeof *o->v);
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++) o->v[way == CLF_ROWS ? i : way == CLF_COLS ? j : 0] += x->v[i * x->cols + j];
    return true;
}

static bool compute_turn(const sp_value *x, sp_value *o) {
    if (x->scalar) return false;
    shape(o, x->t, false, x->cols, x->rows);
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++) o->v[j * x->rows + i] = x->v[i * x->cols + j];
    return true;
}

bool sp_compute(const sp_program *p, sp_cells *c) {
    for (int i = 0; i < p->n; i++) {
        const sp_node *n = &p->node[i];
        const sp_value *x[3];
        sp_value *o = &c->value[SP_LEAVES + i];
        for (int k = 0; k < basis[n->op].arity; k++) x[k] = &c->value[n->in[k]];
        bool good = basis[n->op].rule == SUM    ? compute_sum(basis[n->op].code, x[0], o)
                    : basis[n->op].rule == TURN ? compute_turn(x[0], o)
                                                : compute_cell(n->op, x, o);
        if (!good) return false;
    }
    return true;
}

void sp_leaves(sp_cells *c, int64_t rows, int64_t cols) {
    static const struct { bool rows, cols; } spans[SP_LEAVES] = {{true, true}, {true, true}, {true, false}, {false, true}, {false, false}};
    uint64_t state = 7;
    for (int l = 0; l < SP_LEAVES; l++) {
        sp_value *o = &c->value[l];
        shape(o, CLF_F64, l == SP_SCALAR, spans[l].rows ? rows : 1, spans[l].cols ? cols : 1);
        for (int64_t i = 0; i < o->rows * o->cols; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            o->v[i] = (double)((int)(state >> 40) % 7 - 3);
        }
    }
    c->value[SP_SCALAR].v[0] = 2;
}

static double load(const void *data, int64_t i, clf_dtype t) {
    switch (t) {
    case CLF_F64: return ((const double *)data)[i];
    case CLF_I32: return (double)((const int32_t *)data)[i];
    case CLF_I64: return (double)((const int64_t *)data)[i];
    default: return (double)((const uint8_t *)data)[i];
    }
}

int64_t sp_differs(const sp_value *v, const void *data) {
    for (int64_t i = 0; i < v->rows * v->cols; i++)
        if (load(data, i, v->t) != v->v[i]) return i;
    return -1;
}

/* ---- recording and printing ---- */

void sp_record_leaf(const sp_cells *c, int l, clf_ctx *ctx, clf_mat **handle) {
    const sp_value *v = &c->value[l];
    handle[l] = v->scalar ? clf_num(ctx, v->v[0]) : clf_matrix(ctx, v->t, v->rows, v->cols, v->v);
}

void sp_record_node(const sp_program *p, int i, clf_mat **handle) {
    const sp_node *n = &p->node[i];
    clf_mat *x[3] = {NULL, NULL, NULL};
    for (int k = 0; k < basis[n->op].arity; k++) x[k] = handle[n->in[k]];
    handle[SP_LEAVES + i] = basis[n->op].rule == SUM    ? clf_fold(CLF_FOLD_CODE_SUM, (clf_dir)basis[n->op].code, x[0])
                            : basis[n->op].rule == TURN ? clf_t(x[0])
                                                        : clf_apply((clf_op_code)basis[n->op].code, x[0], x[1], x[2]);
}

bool sp_reads(const sp_program *p, int i, int of) {
    for (int k = 0; k < basis[p->node[i].op].arity; k++)
        if (p->node[i].in[k] == SP_LEAVES + of) return true;
    return false;
}

bool sp_is_result(const sp_program *p, int i) {
    for (int j = i + 1; j < p->n; j++)
        if (sp_reads(p, j, i)) return false;
    return true;
}

void sp_print(const sp_program *p) {
    static const char *const leaf[] = {"X", "Y", "c", "r", "s"};
    printf("    ");
    for (int i = 0; i < p->n; i++) {
        const sp_node *n = &p->node[i];
        bool infix = basis[n->op].arity == 2 && basis[n->op].code != CLF_MAX;
        printf("n%d = %s%s", i, infix ? "" : basis[n->op].name, infix ? "" : "(");
        for (int k = 0; k < basis[n->op].arity; k++) {
            if (k) printf(infix ? " %s " : ", ", basis[n->op].name);
            if (n->in[k] < SP_LEAVES)
                printf("%s", leaf[n->in[k]]);
            else
                printf("n%d", n->in[k] - SP_LEAVES);
        }
        printf(infix ? "; " : "); ");
    }
    printf("\n");
}

/* ---- enumerating ---- */

enum { PLACE = -1 }; /* a leaf, not yet which */

static int order_nodes(const sp_node *a, const sp_node *b) { return memcmp(a, b, sizeof *a); }

/* Of equal programs only one is canonical. Leaves are filled in. */
static bool canonical(const sp_program *p) {
    bool seen_x = false;
    for (int i = 0; i < p->n; i++) {
        const sp_node *n = &p->node[i];
        if (basis[n->op].commutes && n->in[0] > n->in[1]) return false;
        for (int j = 0; j < i; j++)
            if (!order_nodes(&p->node[j], n)) return false; /* the same node twice */
        if (i && !sp_reads(p, i, i - 1) && order_nodes(&p->node[i - 1], n) > 0) return false;
        for (int k = 0; k < basis[n->op].arity; k++) {
            if (n->in[k] == SP_Y && !seen_x) return false;
            seen_x = seen_x || n->in[k] == SP_X;
        }
    }
    return true;
}

/* The program that this one is a renaming of: X before Y, operands and neighbours in order. */
static void make_canonical(sp_program *p) {
    int first = -1;
    for (int i = 0; i < p->n && first < 0; i++)
        for (int k = 0; k < basis[p->node[i].op].arity && first < 0; k++)
            if (p->node[i].in[k] == SP_X || p->node[i].in[k] == SP_Y) first = p->node[i].in[k];
    for (int i = 0; i < p->n; i++) {
        sp_node *n = &p->node[i];
        for (int k = 0; k < basis[n->op].arity; k++)
            if (first == SP_Y && n->in[k] <= SP_Y) n->in[k] = SP_Y - n->in[k];
        if (basis[n->op].commutes && n->in[0] > n->in[1]) {
            int t = n->in[0];
            n->in[0] = n->in[1];
            n->in[1] = t;
        }
    }
}

typedef struct walk {
    sp_program wiring;
    int nplace;
    int *place[3 * SP_OPS];
    bool pairs, go;
    bool (*each)(void *user, const sp_program *p);
    void *user;
} walk;

static void give(walk *w, const sp_program *p) {
    if (canonical(p)) w->go = w->each(w->user, p);
}

/* Row (i, j) of the orthogonal array over five leaves: any two of the first six columns see all 25 pairs. */
static int array_leaf(int row, int column) {
    int i = row / SP_LEAVES, j = row % SP_LEAVES;
    return column == SP_LEAVES ? j : (i + j * column) % SP_LEAVES;
}

static void fill_pairs(walk *w) {
    for (int row = 0; row < SP_LEAVES * SP_LEAVES && w->go; row++) {
        for (int q = 0; q < w->nplace; q++) *w->place[q] = array_leaf(row, q % (SP_LEAVES + 1));
        sp_program p = w->wiring;
        make_canonical(&p);
        give(w, &p);
    }
}

static void fill_all(walk *w) {
    int64_t rows = 1;
    for (int q = 0; q < w->nplace; q++) rows *= SP_LEAVES;
    for (int64_t row = 0; row < rows && w->go; row++) {
        int64_t left = row;
        for (int q = 0; q < w->nplace; q++, left /= SP_LEAVES) *w->place[q] = (int)(left % SP_LEAVES);
        give(w, &w->wiring);
    }
}

static void fill(walk *w) {
    w->nplace = 0;
    for (int i = 0; i < w->wiring.n; i++)
        for (int k = 0; k < basis[w->wiring.node[i].op].arity; k++)
            if (w->wiring.node[i].in[k] < SP_LEAVES) w->place[w->nplace++] = &w->wiring.node[i].in[k];
    if (w->pairs && w->nplace > 2)
        fill_pairs(w);
    else
        fill_all(w);
    for (int q = 0; q < w->nplace; q++) *w->place[q] = PLACE;
}

/* All operands of node i: leaves or earlier nodes. */
static void wire(walk *w, int i);
static void wire_operand(walk *w, int i, int k) {
    sp_node *n = &w->wiring.node[i];
    if (k == basis[n->op].arity) {
        wire(w, i + 1);
        return;
    }
    for (int source = 0; source <= i && w->go; source++) {
        n->in[k] = source < i ? SP_LEAVES + source : PLACE;
        wire_operand(w, i, k + 1);
    }
}

static void wire(walk *w, int i) {
    if (i == w->wiring.n) {
        fill(w);
        return;
    }
    for (int op = 0; op < SP_BASIS && w->go; op++) {
        w->wiring.node[i] = (sp_node){op, {0, 0, 0}};
        wire_operand(w, i, 0);
    }
}

void sp_enumerate(int n, bool pairs, bool (*each)(void *user, const sp_program *p), void *user) {
    walk w = {.pairs = pairs, .go = true, .each = each, .user = user};
    w.wiring.n = n;
    wire(&w, 0);
}

void sp_random(sp_program *p, int n, uint64_t seed, sp_cells *scratch) {
    uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    memset(p, 0, sizeof *p);
    while (p->n < n) {
        sp_node *x = &p->node[p->n];
        uint64_t draw[4];
        for (int k = 0; k < 4; k++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            draw[k] = state >> 33;
        }
        *x = (sp_node){(int)(draw[3] % SP_BASIS), {0, 0, 0}};
        for (int k = 0; k < basis[x->op].arity; k++) { /* earlier nodes more often than leaves */
            bool node = p->n && draw[k] % 3;
            x->in[k] = node ? SP_LEAVES + (int)(draw[k] / 3 % (uint64_t)p->n) : (int)(draw[k] / 3 % SP_LEAVES);
        }
        bool fresh = true;
        for (int j = 0; j < p->n; j++) fresh = fresh && order_nodes(&p->node[j], x);
        p->n++;
        if (!fresh || !sp_compute(p, scratch)) p->n--;
    }
}
