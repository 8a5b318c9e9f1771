/* SPDX-License-Identifier: Apache-2.0
 * The rewrite rules, each from both sides: a program it fires on, the graph it leaves, and the results with the rule and without it.
 * Exact rules give every bit, on NaN, infinities and -0, too; rules that round give every bit on small integers, and on reals stay within
 * the a-priori bound that the program itself has on the sizes of its operands. And programs on which a rule must not fire. */
#include <float.h>
#include <math.h>

#include "host/run/run.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/rewrite_testing.h"
#include "tests/unit/rules_cases.h"

static double cell_of(kind_of_data data, int which, int64_t k) {
    static const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0};
    uint64_t h = ((uint64_t)which * 1000003 + (uint64_t)k + 1) * UINT64_C(0x9E3779B97F4A7C15);
    double whole = (double)(h >> 40) - 8388608, x = data == INTEGERS ? (double)((int)((h >> 50) % 7) - 3) : whole / 1048576;
    if (operand[which].sparse && (h >> 33) % 5) return 0;
    if (operand[which].t == CLF_U8) return (double)((h >> 50) % 7);
    if (!clf_dtype_float(operand[which].t)) return data == SIZES ? (double)((h >> 50) % 7) : (double)((int)((h >> 50) % 7) - 3);
    if (data == SPECIALS && (h >> 20) % 11 == 0) return special[(h >> 30) % 5];
    return data == SIZES ? fabs(x) : x;
}

static clf_mat *sparse_operand(clf_ctx *c, int i, const double *v) {
    static int64_t ptr[ROWS + 1];
    static int32_t idx[MOST_CELLS];
    static double val[MOST_CELLS];
    for (int64_t row = 0, n = 0; row < operand[i].rows; row++) {
        for (int64_t k = 0; k < operand[i].cols; k++) {
            if (v[row * operand[i].cols + k] == 0) continue;
            idx[n] = (int32_t)k;
            val[n++] = v[row * operand[i].cols + k];
        }
        ptr[row + 1] = n;
    }
    return clf_sparse_csr(c, operand[i].t, operand[i].rows, operand[i].cols, ptr[operand[i].rows], ptr, idx, val, NULL);
}

static clf_mat *operand_of(clf_ctx *c, kind_of_data data, int i) {
    static double v[MOST_CELLS], store[MOST_CELLS];
    int64_t n = operand[i].rows * operand[i].cols;
    bool none = !strcmp(operand[i].name, "E");
    for (int64_t k = 0; k < n; k++) {
        v[k] = none ? 0 : cell_of(data, i, k);
        clf_scalar_store(store, (size_t)k, clf_scalar_to(clf_scalar_f64(v[k]), operand[i].t));
    }
    if (operand[i].sparse) return sparse_operand(c, i, v);
    return clf_matrix(c, operand[i].t, operand[i].rows, operand[i].cols, store);
}

static clf_mat *named(const clf_binding *var, const char *name) {
    int i = 0;
    while (strcmp(operand[i].name, name)) i++;
    return var[i].value;
}

/* What the language has no words for, or words of its own. */
static void add_spelled(clf_ctx *c, clf_binding *var, size_t *n) {
    clf_mat *two = clf_num(c, 2), *B32 = clf_cast(named(var, "B"), CLF_I32);
    var[(*n)++] = (clf_binding){"X_2", clf_pow(named(var, "X"), two)};
    var[(*n)++] = (clf_binding){"I_2", clf_pow(named(var, "I"), two)};
    var[(*n)++] = (clf_binding){"S_1", clf_pow(named(var, "S"), clf_num(c, 1))};
    var[(*n)++] = (clf_binding){"B_f32", clf_cast(B32, CLF_F32)};
    var[(*n)++] = (clf_binding){"I_u8", clf_cast(clf_cast(named(var, "I"), CLF_F64), CLF_U8)};
    var[(*n)++] = (clf_binding){"I_0", clf_add(named(var, "I"), clf_int(c, 0))};
}

static clf_mat *record(clf_ctx *c, kind_of_data data, const char *text) {
    clf_binding var[OPERANDS + 8];
    clf_result r[1];
    size_t n = 1, vars = OPERANDS;
    for (int i = 0; i < OPERANDS; i++) var[i] = (clf_binding){operand[i].name, operand_of(c, data, i)};
    add_spelled(c, var, &vars);
    clf_status st = clf_parse(c, text, var, vars, r, &n);
    if (st != CLF_OK) printf("\n    %s: %s\n", text, clf_last_error(c));
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    return r[0].value;
}

static const clf_rule *rule_of(const char *id) {
    const clf_rule *r = clf_rules;
    while (r->id && strcmp(r->id, id)) r++;
    if (!r->id) printf("\n    no rule %s\n", id);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r->id);
    return r;
}

static const char *const mode[] = {"strict", "reassociate", "fast"};

static clf_ctx *open_mode(clf_rule_kind k, const char *off) {
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "math", mode[k]), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "rules_off", off), CLF_OK);
    return c;
}

/* ---- graphs ---- */

/* The operators that a gate leaves of a program, without what is bound; how often the rule was applied. */
static int32_t rewritten_ops(const char *text, const clf_gate *gate, const char *id, clf_str *out) {
    static const char *const way[] = {"", ".rows", ".cols"};
    clf_ctx *c = open_host();
    clf_mat *m = record(c, REALS, text);
    clf_frozen f;
    clf_err err = {0};
    rewriting r;
    CU_ASSERT_EQUAL_FATAL(clf_freeze(c, 1, &m->node, 0, NULL, &f, &err), CLF_OK);
    rewrite_in(&r, &f.g, gate);
    for (int32_t n = 0; n < r.g.n; n++) {
        const clf_gnode *x = &r.g.node[n];
        if (clf_node_is_slot(x)) continue;
        if (x->op == CLF_OP_FOLD)
            clf_str_fmt(out, "%s%s%s", out->len ? " " : "", clf_folds[x->attr[0]].name, way[x->attr[1]]);
        else
            clf_str_fmt(out, "%s%s", out->len ? " " : "", clf_ops[x->op].name);
    }
    same_again_in(&r.g, gate);
    int32_t fired = fired_by(&r, id);
    drop(&r);
    clf_frozen_release(&f);
    clf_close(c);
    return fired;
}

/* ---- results ---- */

typedef struct cells {
    clf_dtype t;
    int64_t n;
    double store[MOST_CELLS];
} cells;

static void evaluate(clf_rule_kind k, const char *off, kind_of_data data, const char *text, cells *out) {
    clf_ctx *c = open_mode(k, off);
    clf_mat *m = record(c, data, text);
    int64_t rows = 1, cols = 1;
    bool scalar;
    CU_ASSERT_EQUAL(clf_info(m, &rows, &cols, &out->t, &scalar), CLF_OK);
    out->n = rows * cols;
    CU_ASSERT_FATAL(out->n <= MOST_CELLS);
    memset(out->store, 0, sizeof out->store);
    clf_status st = clf_read(m, out->store, (size_t)out->n * clf_dtype_bytes(out->t));
    if (st != CLF_OK) printf("\n    %s: %s\n", text, clf_last_error(c));
    CU_ASSERT_EQUAL(st, CLF_OK);
    clf_close(c);
}

/* Is cell k the same: bit for bit (any NaN is NaN; rules that round may change a zero's sign), or within the bound? */
static bool agrees(const cells *on, const cells *off, const cells *size, int64_t k, bool exact, bool open_signs) {
    clf_scalar a = clf_scalar_load(on->store, (size_t)k, on->t), b = clf_scalar_load(off->store, (size_t)k, off->t);
    double x = clf_scalar_as_f64(a), y = clf_scalar_as_f64(b);
    if (exact) return clf_scalar_same(a, b) || (isnan(x) && isnan(y)) || (open_signs && x == 0 && y == 0);
    if (!size) return isfinite(y) || !isfinite(x);
    double eps = on->t == CLF_F32 ? FLT_EPSILON : DBL_EPSILON, steps = 2 * (ROWS * COLS + 16);
    return fabs(x - y) <= steps * eps * clf_scalar_as_f64(clf_scalar_load(size->store, (size_t)k, size->t));
}

static void both_sides(const clf_rule *r, const char *text, kind_of_data data) {
    static cells on, off, size;
    bool exact = r->kind == CLF_RULE_EXACT || (data == INTEGERS && r->kind == CLF_RULE_ROUNDING), bounded = !exact && data != SPECIALS;
    if (r->kind == CLF_RULE_NANLOSS && data == SPECIALS) return;
    evaluate(r->kind, "", data, text, &on);
    evaluate(r->kind, r->id, data, text, &off);
    if (bounded) evaluate(r->kind, r->id, SIZES, text, &size);
    CU_ASSERT(on.t == off.t && on.n == off.n);
    int64_t k = 0;
    while (k < on.n && agrees(&on, &off, bounded ? &size : NULL, k, exact, r->kind > CLF_RULE_EXACT)) k++;
    if (k < on.n)
        printf("\n    %s, %s, data %d: cell %lld is %.17g, %.17g without\n", r->id, text, (int)data, (long long)k,
               clf_scalar_as_f64(clf_scalar_load(on.store, (size_t)k, on.t)),
               clf_scalar_as_f64(clf_scalar_load(off.store, (size_t)k, off.t)));
    CU_ASSERT_EQUAL(k, on.n);
}

static void test_graphs(void) {
    for (int i = 0; i < FIRES; i++) {
        const clf_rule *r = rule_of(fires[i].rule);
        const clf_gate gate = {.math = (uint8_t)r->kind}, off = {.math = (uint8_t)r->kind, .off = UINT64_C(1) << (r - clf_rules)};
        clf_mem mem;
        clf_str after, without;
        clf_mem_init(&mem, NULL, NULL);
        clf_str_init(&after, &mem);
        clf_str_init(&without, &mem);
        bool fired = rewritten_ops(fires[i].text, &gate, r->id, &after) > 0;
        bool kept = rewritten_ops(fires[i].text, &off, r->id, &without) == 0;
        bool same = !fires[i].after || !strcmp(clf_str_c(&after), fires[i].after);
        if (!fired || !kept || !same) printf("\n    %s on %s leaves: %s\n", r->id, fires[i].text, clf_str_c(&after));
        CU_ASSERT(fired && kept && same);
        if (r->kind > CLF_RULE_EXACT) {
            const clf_gate less = {.math = (uint8_t)(r->kind - 1)};
            clf_str_release(&without);
            CU_ASSERT_EQUAL(rewritten_ops(fires[i].text, &less, r->id, &without), 0);
        }
        clf_str_release(&after);
        clf_str_release(&without);
    }
}

static void test_results(void) {
    for (int i = 0; i < FIRES; i++)
        for (int data = 0; data < DATA; data++)
            if (data != SIZES) both_sides(rule_of(fires[i].rule), fires[i].text, (kind_of_data)data);
}

static void test_negative(void) {
    const clf_gate gate = {.math = CLF_MATH_FAST};
    for (size_t i = 0; i < sizeof stays / sizeof *stays; i++) {
        clf_mem mem;
        clf_str after;
        clf_mem_init(&mem, NULL, NULL);
        clf_str_init(&after, &mem);
        int32_t fired = rewritten_ops(stays[i].text, &gate, rule_of(stays[i].rule)->id, &after);
        if (fired) printf("\n    %s fires on %s and leaves: %s\n", stays[i].rule, stays[i].text, clf_str_c(&after));
        CU_ASSERT_EQUAL(fired, 0);
        clf_str_release(&after);
    }
}

/* ---- settings ---- */

static void test_settings(void) {
    static text_sink t;
    clf_ctx *c = open_host();
    clf_mat *m = record(c, REALS, "rowSums(3 * X)");
    expect_error(c, clf_set(c, "math", "loose"), CLF_E_NAME, "strict|reassociate|fast");
    expect_error(c, clf_set(c, "rules_off", "square,cube"), CLF_E_NAME, "no rule 'cube'");
    CU_ASSERT_EQUAL(clf_explain(1, &m, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(t.at, " rules sum-scaled: sum(a * X) = a * sum(X), rounding\n"));
    CU_ASSERT_EQUAL(clf_explain(1, &m, CLF_JSON, 0, collect, empty_sink(&t)), CLF_OK);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(t.at, "\"name\": \"sum(a * X) = a * sum(X)\", \"id\": \"sum-scaled\", \"kind\": \"rounding\", \"applied\": 1"));
    CU_ASSERT_EQUAL(clf_set(c, "rules_off", "square,sum-scaled"), CLF_OK);
    CU_ASSERT_EQUAL(clf_explain(1, &m, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
    CU_ASSERT_PTR_NULL(strstr(t.at, "sum-scaled"));
    CU_ASSERT_EQUAL(clf_set(c, "rules_off", ""), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "math", "strict"), CLF_OK);
    CU_ASSERT_EQUAL(clf_explain(1, &m, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
    CU_ASSERT_PTR_NULL(strstr(t.at, "sum-scaled"));
    clf_close(c);
}

static void test_table(void) {
    for (int i = 0; clf_rules[i].id; i++) {
        static const char *const elsewhere[] = {"cum-rows", "left-twin", "turned-side",
                                                "turned-result"}; /* test_rows.c, _left_product, _turned */
        int tried = 0;
        for (size_t k = 0; k < sizeof elsewhere / sizeof *elsewhere; k++) tried += !strcmp(clf_rules[i].id, elsewhere[k]);
        for (int k = 0; k < i; k++) CU_ASSERT(strcmp(clf_rules[i].id, clf_rules[k].id) && !strchr(clf_rules[i].id, ','));
        for (int k = 0; k < FIRES; k++) tried += !strcmp(clf_rules[i].id, fires[k].rule);
        tried += i < 5; /* test_plan_edges.c */
        if (!tried) printf("\n    %s is not tried\n", clf_rules[i].id);
        CU_ASSERT(tried);
    }
}

/* What a row says of operators: its rule has nothing for others. */
static void keep_to_theirs(const clf_graph *g) {
    clf_mem mem;
    clf_arena arena;
    clf_mem_init(&mem, NULL, NULL);
    clf_arena_init(&arena, &mem);
    clf_rewriter w = {.arena = &arena, .scratch = &arena};
    CU_ASSERT_FATAL(clf_rewriter_begin(&w, g->n));
    for (int32_t n = 0; n < g->n; n++) CU_ASSERT_EQUAL_FATAL(clf_rewriter_put(&w, &g->node[n]), n);
    for (int32_t n = 0; n < g->n; n++)
        for (w.rule = 0; clf_rules[w.rule].id; w.rule++) {
            int kind = clf_rule_at(g->node[n].op);
            if (kind < 0 || !(clf_rules[w.rule].at >> kind & 1)) CU_ASSERT_EQUAL(clf_rules[w.rule].apply(&w, n), -1);
        }
    clf_arena_release(&arena);
}

static void test_operators(void) {
    for (int i = 0; i < FIRES; i++) {
        clf_ctx *c = open_host();
        clf_mat *m = record(c, REALS, fires[i].text);
        clf_frozen f;
        clf_err err = {0};
        CU_ASSERT_EQUAL_FATAL(clf_freeze(c, 1, &m->node, 0, NULL, &f, &err), CLF_OK);
        keep_to_theirs(&f.g);
        clf_frozen_release(&f);
        clf_close(c);
    }
}

int main(void) {
    static const test_case tests[] = {{"graphs", test_graphs},     {"operators", test_operators}, {"results", test_results},
                                      {"not here", test_negative}, {"settings", test_settings},   {"every rule", test_table}};
    return run_suite("rules", tests, sizeof tests / sizeof *tests);
}
