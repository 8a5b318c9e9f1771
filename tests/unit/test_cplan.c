/* SPDX-License-Identifier: Apache-2.0
 * The cplan: its text form (malformed texts are refused at the right line and column), the checker, the builder, axes, loops and hash. */
#include <stddef.h>

#include "planner/builder.h"
#include "tests/unit/cplan_testing.h"
#include "tests/unit/heap_testing.h"

/* A legal cplan the malformed ones differ from in one place. One item a line; line 1 is "(cplan". */
#define AXES "(cplan\n(axis i range free 10)\n(axis j range ascending 4)\n"
#define INS "(in X f64 dense 10 4)\n(in n i64 dense 10)\n(param s f64)\n(out A f64 10 4)\n(out S f64)\n"
#define BODY \
    "(access a X stream (i 1 0) (j 1 0))\n(access b n stream (i 1 0))\n(let x f64 load a)\n(let p f64 param s)\n(let y f64 MUL x " \
    "p)\n(let k i64 load b)\n"
#define SINKS "(store A y keep i j)\n(fold S SUM y keep)\n)"

static void expect_fault(const char *text, size_t n, int line, int column, const char *say) {
    plan p;
    char where[64];
    plan_parse(&p, text, n);
    snprintf(where, sizeof where, "line %d, column %d: ", line, column);
    bool ok = p.st == CLF_E_SYNTAX && p.err.code == CLF_E_SYNTAX && strstr(p.err.text, where) && strstr(p.err.text, say) && p.c.nvalue == 0;
    if (!ok) printf("\n%s\n-> %d '%s', expected %s%s\n", text, p.st, p.err.text, where, say);
    CU_ASSERT(ok);
    plan_close(&p);
}

static const struct {
    const char *text;
    int line, column;
    const char *say;
} malformed[] = {
    /* nesting and tokens */
    {"", 1, 1, "expected '(', found 'the text's end'"},
    {"   ; only a comment", 1, 20, "expected '('"},
    {"cplan", 1, 1, "expected '('"},
    {"()", 1, 2, "expected 'cplan', found ')'"},
    {"(cplan", 1, 7, "expected '('"},
    {"(cplan))", 1, 8, "')' after the end"},
    {"(cplan) (cplan)", 1, 9, "after the end"},
    {"(cplan x)", 1, 8, "expected '(', found 'x'"},
    {"(cplan\n ())", 2, 3, "')' is no item"},
    {"(cplan\n((axis i range free 3)))", 2, 2, "'(' is no item"},
    {"(cplan\n(axis i range free 3", 2, 1, "never closed"},
    {"(cplan\n(access a X stream ((i 1 0))))", 2, 21, "nested"},
    {"(cplan (loop i 3))", 1, 9, "'loop' is no item"},
    {"(cplan (CPLAN i))", 1, 9, "'CPLAN' is no item"},
    /* names */
    {"(cplan\n(axis i range free 3)\n(in i f64 dense 3))", 3, 5, "'i' is declared twice"},
    {"(cplan\n(param keep f64))", 2, 8, "'keep' cannot be a name"},
    {"(cplan\n(param 3 f64))", 2, 8, "'3' cannot be a name"},
    {"(cplan\n(param p\xc3\xa4 f64))", 2, 8, "cannot be a name"},
    {"(cplan\n(param ) )", 2, 8, "')' cannot be a name"},
    {AXES INS "(access a Z stream (i 1 0) (j 1 0)))", 9, 11, "'Z' is no input"},
    {AXES INS "(access a s stream))", 9, 11, "'s' is no input"},
    {AXES INS "(access a X stream (z 1 0) (j 1 0)))", 9, 21, "'z' is no axis"},
    {AXES INS "(let x f64 load a))", 9, 17, "'a' is no access"},
    {AXES INS "(let x f64 param X))", 9, 18, "'X' is no parameter"},
    {AXES INS BODY "(let z f64 ADD x zz)" SINKS, 15, 18, "'zz' is no value"},
    {AXES INS BODY "(let z f64 ADD x)" SINKS, 15, 17, "')' is no value"},
    {AXES INS BODY "(let z f64 NEG x x)" SINKS, 15, 18, "expected ')', found 'x'"},
    {AXES INS BODY "(let z f64 neg x)" SINKS, 15, 12, "'neg' is no operator"},
    {AXES INS BODY "(let z f64 LEAF)" SINKS, 15, 12, "'LEAF' is no operator"},
    {AXES INS BODY "(let z f64 fold MEDIAN j x)" SINKS, 15, 17, "'MEDIAN' is no fold"},
    {AXES INS BODY "(let z f64 fold SUM x j)" SINKS, 15, 21, "'x' is no axis"},
    {AXES INS BODY "(store B y keep i j))", 15, 8, "'B' is no output"},
    {AXES INS BODY "(store A y i j))", 15, 12, "expected 'keep', found 'i'"},
    {AXES INS BODY "(store A y keep i j i))", 15, 21, "'i' is kept twice"},
    {AXES INS BODY "(store A y keep i j guard))", 15, 26, "')' is no value"},
    {AXES INS BODY "(store A y keep i j order k guard y))", 15, 29, "expected ')', found 'guard'"},
    {AXES INS BODY "(group S SUM y count S keep))", 15, 16, "expected 'key'"},
    /* words and numbers */
    {"(cplan (axis i line free 3))", 1, 16, "'line' is no kind of axis"},
    {"(cplan (axis i range down 3))", 1, 22, "'down' is no order"},
    {"(cplan (axis i range free -3))", 1, 27, "'-3' is no extent"},
    {"(cplan (axis i range free 3:))", 1, 27, "'3:' is no extent"},
    {"(cplan (axis i range free 3:4294967296))", 1, 27, "is no extent"},
    {"(cplan (axis i range free 9223372036854775808))", 1, 27, "'9223372036854775808' is no extent"},
    {"(cplan (axis i range free 0x10))", 1, 27, "'0x10' is no extent"},
    {"(cplan (axis i range free 1e3))", 1, 27, "is no extent"},
    {"(cplan\n(in X f16 dense))", 2, 7, "'f16' is no element type"},
    {"(cplan\n(in X f64 sparse))", 2, 11, "'sparse' is no format"},
    {"(cplan\n(in X f64 dense 1 1 1 1 1 1 1 1 1))", 2, 33, "more than 8 dimensions"},
    {AXES INS "(access a X walk (i 1 0) (j 1 0)))", 9, 13, "'walk' is no protocol"},
    {AXES INS "(access a X stream (i 1 99999999999999999999) (j 1 0)))", 9, 25, "no whole number"},
    {AXES INS "(access a X stream (i 1 -) (j 1 0)))", 9, 25, "'-' is no whole number"},
    {AXES INS "(access a X stream (i 1 0 0) (j 1 0)))", 9, 27, "expected ')', found '0'"},
    {AXES INS "(access a X stream i j))", 9, 20, "expected '(', found 'i'"},
    /* what the checker finds, at the line of its item */
    {AXES INS "(access a X stream (i 1 0)))", 9, 2, "rank 1, its input has rank 2"},
    {AXES INS "(access a X stream (j 1 0) (i 1 0)))", 9, 2, "dimension 1: indices 0 to 9 leave the extent 4"},
    {AXES INS "(access a X stream (i -1 8) (j 1 0)))", 9, 2, "indices 8 to -1 leave the extent 10"},
    {AXES INS "(access a X stream (i 9223372036854775807 0) (j 1 0)))", 9, 2, "overflows"},
    {AXES INS BODY "(let z f64 ADD x k)" SINKS, 15, 2, "ADD over f64 and i64"},
    {AXES INS BODY "(let z f32 ADD x x)" SINKS, 15, 2, "ADD over f64 declared as f32"},
    {AXES INS BODY "(let z f64 ADD x z)" SINKS, 15, 2, "not an earlier value"},
    {AXES INS BODY "(let z f64 fold MEAN j k)" SINKS, 15, 2, "MEAN folds f64 values, not i64"},
    {AXES INS BODY "(let z f64 scan SUM i x)" SINKS, 15, 2, "ascending"},
    {AXES INS BODY "(let z f64 fold SUM i x)\n(let w f64 ADD z p)" SINKS, 16, 2, "outermost"},
    {AXES INS BODY "(store A k keep i j))", 15, 2, "differ in type"},
    {AXES INS BODY "(store A y keep i))", 15, 2, "varies with axes"},
    {AXES INS BODY "(store A y keep i j)\n(store A y keep i j))", 16, 2, "written twice"},
    {AXES INS BODY "(store A y keep i j))", 8, 2, "nothing writes it"},
    {AXES INS BODY "(fold A SUM y keep i)\n(fold S SUM y keep))", 15, 2, "dimension 1 of the output"},
    {"(cplan (axis a range free 1)(axis b range free 1)(axis c range free 1)(axis d range free 1)(axis e range free 1)(axis f range free "
     "1)\n"
     "(axis g range free 1)(axis h range free 1)(axis i range free 1)(axis j range free 1)(axis k range free 1)(axis l range free 1)\n"
     "(axis m range free 1)(axis n range free 1)(axis o range free 1)(axis p range free 1)\n(axis q range free 1))",
     4, 2, "more than 16"},
};

static void test_malformed(void) {
    plan p;
    const char *legal = AXES INS BODY SINKS;
    plan_parse(&p, legal, strlen(legal));
    CU_ASSERT_EQUAL(p.st, CLF_OK);
    plan_close(&p);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        expect_fault(malformed[i].text, strlen(malformed[i].text), malformed[i].line, malformed[i].column, malformed[i].say);
}

/* Every prefix of a legal text, and every text with one byte replaced, is refused or read, never more; nothing leaks. */
static void test_truncated_and_damaged(void) {
    const char *legal = AXES INS BODY SINKS;
    char text[1024];
    size_t n = strlen(legal), read = 0;
    plan p;
    for (size_t k = 0; k < n; k++) {
        plan_parse(&p, legal, k);
        CU_ASSERT_EQUAL(p.st, CLF_E_SYNTAX);
        plan_close(&p);
    }
    for (size_t k = 0; k < n; k++)
        for (const char *c = "(); -0\x01\xff"; *c; c++) {
            memcpy(text, legal, n);
            text[k] = *c;
            plan_parse(&p, text, n);
            read += p.st == CLF_OK;
            CU_ASSERT(p.st == CLF_OK || p.st == CLF_E_SYNTAX);
            plan_close(&p);
        }
    CU_ASSERT(read > 0 && read < 8 * n);
    expect_fault("(cplan\0)", 8, 1, 2, "expected 'cplan'");
}

static const char everything[] =
    "(cplan (axis r range ascending 10:2) (axis e entry ascending 30 owner ent parent r) (axis g seg ascending 9 owner seg parent r)\n"
    "(axis d dict free 3 owner dic parent r) (in M f32 csr 10 7) (in O i64 dense 11) (in D f32 compressed 10:2 1) (in s f64 dense)\n"
    "(param p f64) (out P f32 30) (out K i64 7) (out C i64) (out V i64 7) (out H i64 10 7 2) (out R f32 10) (out T f64 9) (out B u8 10)\n"
    "(access ent M entries (r 1 0) (e 1 0)) (access seg O stream (r 1 0)) (access dic D dictionary (d 1 0) (- 0)) (access sc s locate)\n"
    "(access ga O cursor (col 2 -1)) ; a gather\n"
    "(let x f32 load ent) (let col i64 index e) (let y f32 load dic) (let z f32 MUL x y) (let off i64 load ga) (let q f64 load sc)\n"
    "(let big u8 GT x y) (let c i64 scan SUM e off) (let f f32 fold MAX e z) (let w f64 cast f) (let one i64 index r)\n"
    "(let two i64 fold SUM g one) (let pp f64 param p) (let m f64 IFELSE w q pp) (let gg i64 index g)\n"
    "(pattern P z keep r e guard big) (group V SUM off key col K count C keep) (scatter H NNZ c key col two keep r)\n"
    "(store R f keep r) (store B bb keep r) (let bb u8 fold ANY e z) (store T t keep g r) (let gc f64 cast gg) (let t f64 ADD m gc))";

static void test_round_trip(void) {
    plan p, q;
    clf_str a, b;
    plan_parse(&p, everything, sizeof everything - 1);
    if (p.st) printf("%s\n", p.err.text);
    CU_ASSERT_EQUAL_FATAL(p.st, CLF_OK);
    CU_ASSERT(p.c.naxes == 4 && p.c.nin == 4 && p.c.nsink == 6 && p.c.axis[0].n.sym == 2 && p.c.access[4].at[0].add == -1);
    clf_str_init(&a, &p.mem);
    clf_cplan_print(&p.c, &a);
    plan_parse(&q, clf_str_c(&a), a.len);
    CU_ASSERT_EQUAL_FATAL(q.st, CLF_OK);
    clf_str_init(&b, &q.mem);
    clf_cplan_print(&q.c, &b);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&a), clf_str_c(&b));
    CU_ASSERT_PTR_NOT_NULL(strstr(clf_str_c(&a), "(axis i range ascending 10:2)"));
    CU_ASSERT_PTR_NOT_NULL(strstr(clf_str_c(&a), "(access a4 X1 cursor (v1 2 -1))"));
    CU_ASSERT_PTR_NOT_NULL(strstr(clf_str_c(&a), "(group Y3 SUM v4 key v1 Y1 count Y2 keep)"));
    clf_hash h = clf_cplan_hash(&p.c), k = clf_cplan_hash(&q.c);
    CU_ASSERT(h.lo == k.lo && h.hi == k.hi);
    clf_str_release(&b);
    clf_str_release(&a);
    plan_close(&q);
    plan_close(&p);
}

/* ---- the checker on hand-made damage ------------------------------------------------------------------------------------- */

static void test_checker(void) {
    plan p;
    plan_parse(&p, everything, sizeof everything - 1);
    CU_ASSERT_EQUAL_FATAL(p.st, CLF_OK);
    HURT(naxes, -1, "-1 axes");
    HURT(naxes, 17, "17 axes");
    HURT(nvalue, -2, "-2 values");
    HURT(axis[0].kind, 4, "axis 0: kind 4");
    HURT(axis[0].parent, 0, "parent 0 is not an earlier axis");
    HURT(axis[1].parent, -1, "need a parent");
    HURT(axis[1].owner, 99, "owner access 99 does not exist");
    HURT(axis[1].owner, 1, "CSR matrix by entries");
    HURT(axis[2].owner, 0, "vector of offsets");
    HURT(axis[3].owner, 0, "compressed matrix by dictionary");
    HURT(axis[1].n.sym, -2, "size id -2");
    HURT(in[0].dtype, 9, "input 0: type 9");
    HURT(in[3].format, CLF_MAX_RANK, "format 8");
    HURT(in[1].rank, 9, "rank 9 is above 8");
    HURT(param[0], 5, "parameter 0: type 5");
    HURT(out[0].format, 1, "outputs are dense");
    HURT(access[0].input, 4, "input 4, which does not exist");
    HURT(access[3].protocol, 7, "protocol 7");
    HURT(access[3].protocol, CLF_ENTRIES, "only CSR");
    HURT(access[4].at[0].value, 77, "value 77 does not exist");
    HURT(access[4].at[0].value, 0, "not i64");
    HURT(access[4].at[0].value, 14, "not an earlier value");
    HURT(access[4].at[0].axis, 0, "both an axis and a value");
    HURT(access[1].at[0].axis, 16, "owner must stand");
    HURT(value[0].op, CLF_NALLOPS + 40, "operator");
    HURT(value[0].op, CLF_OP_LEAF, "operator");
    HURT(value[0].dtype, CLF_F64, "declared as f64, its input has f32");
    HURT(value[0].arg, -1, "access -1 does not exist");
    HURT(value[0].axes, 0, "axes 0 declared");
    HURT(value[0].in[2], 3, "input 2 is not used");
    HURT(value[1].arg, 4, "axis 4 does not exist");
    HURT(value[3].in[1], 3, "not an earlier value");
    HURT(value[3].in[0], -1, "not an earlier value");
    HURT(value[8].axis, 9, "axis 9 does not exist");
    HURT(value[8].axis, 3, "follows axis 0");
    HURT(value[8].arg, CLF_NFOLDS, "does not exist");
    HURT(value[12].arg, 1, "parameter 1 does not exist");
    HURT(sink[0].kind, 7, "sink 0: kind 7");
    HURT(sink[0].keep, 1 << 4, "there are 4");
    HURT(sink[0].keep, 1, "a pattern keeps an entry axis");
    HURT(sink[0].keep, 7, "entries leave through pattern");
    HURT(sink[0].keep, 2, "with its parent and nothing else");
    HURT(sink[0].guard, 99, "guard 99");
    HURT(sink[0].order, 0, "only an append");
    HURT(sink[0].value[0], 99, "value 99");
    HURT(sink[0].value[2], 0, "value 2 is not used");
    HURT(sink[0].out[0], -1, "output -1 does not exist");
    HURT(sink[1].out[1], -1, "an output for its keys");
    HURT(sink[1].key[0], 0, "not i64");
    HURT(sink[1].key[1], 1, "one key");
    HURT(sink[1].out[3], 1, "i64 scalar");
    HURT(sink[2].fold, CLF_NFOLDS, "does not exist");
    HURT(sink[2].keep, 3, "no place in the output");
    HURT(sink[3].keep, 1 | 8, "follows axis 0; keep that");
    HURT(sink[3].fold, 1, "it has no fold");
    clf_axis *axes = p.c.axis;
    p.c.axis = NULL;
    CU_ASSERT_EQUAL(clf_cplan_check(&p.c, NULL), CLF_E_INTERNAL);
    p.c.axis = axes;
    clf_cwhere where = {CLF_ITEM_PLAN, 0};
    p.c.sink[4].guard = -7;
    CU_ASSERT_EQUAL(clf_cplan_check_at(&p.c, &where, NULL), CLF_E_INTERNAL);
    CU_ASSERT(where.item == CLF_ITEM_SINK && where.index == 4);
    plan_close(&p);
}

/* ---- axes, loops, hash --------------------------------------------------------------------------------------------------- */

static void test_axes_and_loops(void) {
    plan p;
    plan_parse(&p, everything, sizeof everything - 1);
    CU_ASSERT_EQUAL_FATAL(p.st, CLF_OK);
    CU_ASSERT_EQUAL(p.c.value[0].axes, 3); /* entries vary with their row */
    CU_ASSERT_EQUAL(p.c.value[1].axes, 3);
    CU_ASSERT_EQUAL(p.c.value[2].axes, 8); /* the dictionary alone */
    CU_ASSERT_EQUAL(p.c.value[3].axes, 11);
    CU_ASSERT_EQUAL(p.c.value[8].axes, 1 | 8); /* folded over the entries */
    CU_ASSERT_EQUAL(p.c.value[7].axes, 3);     /* a scan keeps its axis */
    CU_ASSERT_EQUAL(p.c.value[5].axes, 0);
    CU_ASSERT_EQUAL(clf_axis_moves(&p.c, 0), 1 | 8);
    CU_ASSERT_EQUAL(clf_cplan_inner(&p.c), 2 | 4);
    CU_ASSERT_EQUAL(clf_sink_loop(&p.c, &p.c.sink[0]), 3);
    CU_ASSERT_EQUAL(clf_sink_loop(&p.c, &p.c.sink[1]), 3);
    CU_ASSERT_EQUAL(clf_sink_loop(&p.c, &p.c.sink[2]), 3);
    plan_close(&p);

    const char *two = AXES INS BODY SINKS;
    plan_parse(&p, two, strlen(two));
    CU_ASSERT_EQUAL(clf_sink_loop(&p.c, &p.c.sink[1]), 3);
    p.c.sink[1].value[0] = 1; /* the sum of a constant still runs over all cells */
    CU_ASSERT_EQUAL(clf_sink_loop(&p.c, &p.c.sink[1]), 3);
    plan_close(&p);
}

static clf_hash hash_of(const char *text) {
    plan p;
    plan_parse(&p, text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(p.st, CLF_OK);
    clf_hash h = clf_cplan_hash(&p.c);
    plan_close(&p);
    return h;
}

static bool same_hash(const char *a, const char *b) {
    clf_hash x = hash_of(a), y = hash_of(b);
    return x.lo == y.lo && x.hi == y.hi;
}

static void test_hash(void) {
#define SMALL(n, in, mul, op, sink) \
    "(cplan (axis i range free " n ") (in X " in " dense " n ") (out A " in " " n ") (access a X stream (i " mul "))" \
    "(let x " in " load a) (let y " in " " op " x x) (" sink "))"
    const char *base = SMALL("8", "f64", "1 0", "ADD", "store A y keep i");
    CU_ASSERT(same_hash(base, SMALL("8", "f64", "1 0", "ADD", "store A y keep i")));
    CU_ASSERT(same_hash(base, SMALL("9000", "f64", "1 0", "ADD", "store A y keep i"))); /* not the extents */
    CU_ASSERT(!same_hash(base, SMALL("8", "f32", "1 0", "ADD", "store A y keep i")));
    CU_ASSERT(!same_hash(base, SMALL("8", "f64", "-1 7", "ADD", "store A y keep i")));
    CU_ASSERT(!same_hash(base, SMALL("8", "f64", "1 0", "SUB", "store A y keep i")));
    CU_ASSERT(!same_hash(base, SMALL("8", "f64", "1 0", "ADD", "store A x keep i")));
    CU_ASSERT(!same_hash(base, SMALL("8", "f64", "1 0", "ADD", "store A y keep i guard x")));
    CU_ASSERT(!same_hash(base, SMALL("8", "f64", "1 0", "ADD", "store A y keep i) (param p f64")));
}

/* ---- the builder --------------------------------------------------------------------------------------------------------- */

static clf_status build_many(clf_arena *arena, int nops, clf_cplan *out, clf_err *err) {
    clf_builder b;
    const int64_t dim[2] = {6, 5};
    clf_build_begin(&b, arena);
    int i = clf_build_axis(&b, CLF_AXIS_RANGE, 6), j = clf_build_axis(&b, CLF_AXIS_RANGE, 5);
    int x = clf_build_load(&b, clf_build_access(&b, clf_build_in(&b, CLF_F64, 2, dim), (const int[]){i, j})), v = x;
    for (int k = 0; k < nops; k++) v = clf_build_op(&b, k % 2 ? CLF_OP_ADD : CLF_OP_MUL, CLF_F64, v, x, -1);
    clf_build_store(&b, clf_build_out(&b, CLF_F64, 2, dim), v, 3);
    clf_build_fold(&b, clf_build_out(&b, CLF_F64, 1, dim), CLF_FOLD_SUM, v, 1);
    return clf_build_end(&b, out, err);
}

static void test_builder(void) {
    plan p;
    clf_builder b;
    const int64_t dim[1] = {9};
    plan_parse(&p, "(cplan)", 7);
    CU_ASSERT_EQUAL(p.st, CLF_OK);
    clf_build_begin(&b, &p.arena);
    int i = clf_build_axis(&b, CLF_AXIS_RANGE, 9), in = clf_build_in(&b, CLF_F32, 1, dim);
    int a = clf_build_access(&b, in, &i), x = clf_build_load(&b, a);
    CU_ASSERT_EQUAL(clf_build_access(&b, in, &i), a);
    CU_ASSERT_EQUAL(clf_build_load(&b, a), x);
    CU_ASSERT_EQUAL(b.c.value[x].axes, 1);
    int lt = clf_build_op(&b, CLF_OP_LT, CLF_U8, x, x, -1), n = b.c.nvalue;
    CU_ASSERT_EQUAL(clf_build_op(&b, CLF_OP_LT, CLF_U8, x, x, -1), lt);
    CU_ASSERT_EQUAL(b.c.nvalue, n);
    CU_ASSERT_EQUAL(clf_build_cast(&b, x, CLF_F32), x);
    int again = clf_build_cast(&b, lt, CLF_F32); /* a truth value is declared anew, not converted */
    CU_ASSERT(again != lt && b.c.value[again].op == CLF_OP_LT && b.c.value[again].dtype == CLF_F32);
    int wide = clf_build_cast(&b, x, CLF_F64);
    CU_ASSERT(b.c.value[wide].op == CLF_V_CAST && b.c.value[wide].in[0] == x);
    clf_build_store(&b, clf_build_out(&b, CLF_F64, 1, dim), wide, 1);
    clf_build_fold(&b, clf_build_out(&b, CLF_I64, 0, NULL), CLF_FOLD_NNZ, again, 0);
    CU_ASSERT_EQUAL(clf_build_end(&b, &p.c, &p.err), CLF_OK);
    CU_ASSERT(p.c.nsink == 2 && p.c.nout == 2 && p.c.nvalue == 4);

    clf_build_store(&b, clf_build_out(&b, CLF_F64, 1, dim), x, 1); /* f32 into f64 */
    CU_ASSERT_EQUAL(clf_build_end(&b, &p.c, &p.err), CLF_E_INTERNAL);
    CU_ASSERT_EQUAL(p.c.nsink, 2);
    clf_err_clear(&p.err);
    CU_ASSERT_EQUAL(build_many(&p.arena, 3000, &p.c, &p.err), CLF_OK);
    CU_ASSERT_EQUAL(p.c.nvalue, 3001);
    plan_close(&p);
}

/* ---- the n-th allocation fails ------------------------------------------------------------------------------------------- */

static clf_status with_memory(int allocations, bool build) {
    clf_mem mem;
    clf_arena arena;
    clf_cplan c = {0};
    clf_err err = {0};
    counting_heap heap = heap_of(allocations);
    clf_mem_init(&mem, counting_alloc, &heap);
    clf_arena_init(&arena, &mem);
    clf_status st = build ? build_many(&arena, 3000, &c, &err) : clf_cplan_parse(&c, &arena, everything, sizeof everything - 1, &err);
    if (st != CLF_OK) CU_ASSERT(c.nvalue == 0 && err.code == st && strstr(err.text, "memory"));
    clf_arena_release(&arena);
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
    return st;
}

static void test_memory_out(void) {
    for (int build = 0; build < 2; build++) {
        int n = 0;
        for (; n < 100 && with_memory(n, build) == CLF_E_NOMEM; n++) continue;
        CU_ASSERT(n > 0 && n < 100 && with_memory(n, build) == CLF_OK);
    }
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("cplan", NULL, NULL);
    CU_add_test(s, "malformed texts", test_malformed);
    CU_add_test(s, "truncated and damaged texts", test_truncated_and_damaged);
    CU_add_test(s, "printed and read back", test_round_trip);
    CU_add_test(s, "checker", test_checker);
    CU_add_test(s, "axes and loops", test_axes_and_loops);
    CU_add_test(s, "hash", test_hash);
    CU_add_test(s, "builder", test_builder);
    CU_add_test(s, "memory runs out", test_memory_out);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
