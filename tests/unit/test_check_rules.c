/* SPDX-License-Identifier: Apache-2.0
 * The checker, rule by rule: texts that break exactly one rule, then fields of legal cplans put to values that no text can give. */
#include <stddef.h>

#include "tests/unit/cplan_testing.h"

#define CSR \
    "(axis r range ascending 3) (axis e entry ascending 9 owner a parent r) (in M f64 csr 3 5) (access a M entries (r 1 0) (e 1 0)) "
#define SEG "(axis r range ascending 3) (axis s seg ascending 9 owner a parent r) (in O i64 dense 4) (access a O stream (r 1 0)) "
#define DIC "(axis r range free 3) (axis d dict free 2 owner a parent r) (in D f64 compressed 3 1) (access a D dictionary (d 1 0) (- 0)) "
#define DIC2 "(axis r range free 3) (axis d dict free 2 owner a parent r) (access a D dictionary "
#define CELLS \
    "(axis i range ascending 3) (axis j range free 4) (in X f64 dense 3 4) (in n i64 dense 3) (param p f64) (access a X stream (i 1 0) " \
    "(j 1 0)) " \
    "(access b n stream (i 1 0)) (let x f64 load a) (let k i64 load b) (let w f64 param p) "
#define VECTOR "(axis i range free 3) (in X f64 dense 5) (access a X stream "
#define ENTRY2 "(axis r range free 3) (axis e entry free 9 owner a parent r) (in M f64 csr 3 5) "

static const struct {
    const char *text, *say;
} rules[] = {
    /* axes */
    {"(axis i range free 3) (axis j range free 4 parent i)", "axis 1: a range has no parent and no owner"},
    {"(axis i range free 3 owner a) (in X f64 dense 3) (access a X stream (i 1 0))", "axis 0: a range has no parent and no owner"},
    {"(axis s seg free 3 owner a) (in X i64 dense 4) (access a X stream (s 1 0))", "entries and segments need a parent"},
    {"(axis r range free 3) (axis e entry free 3 parent r)", "owner access -1 does not exist"},
    {ENTRY2 "(access a M stream (r 1 0) (e 1 0))", "must read a CSR matrix by entries"},
    {"(axis r range free 3) (axis e entry free 9 owner a parent r) (in M f64 csr 3) (access a M entries (r 1 0))", "CSR matrix by entries"},
    {ENTRY2 "(access a M entries (e 1 0) (r 1 0))", "must stand at the parent's row and this axis"},
    {ENTRY2 "(axis q range free 3) (access a M entries (q 1 0) (e 1 0))", "must stand at the parent's row and this axis"},
    {"(axis r range free 3) (axis s seg free 9 owner a parent r) (in O f64 dense 4) (access a O stream (r 1 0))", "dense i64 vector"},
    {"(axis r range free 3) (axis s seg free 9 owner a parent r) (in O i64 dense 4 1) (access a O stream (r 1 0) (- 0))",
     "dense i64 vector"},
    {"(axis r range free 3) (axis s seg free 9 owner a parent r) (in O i64 csr 4 1) (access a O stream (r 1 0) (- 0))", "dense i64 vector"},
    {"(axis r range free 3) (axis s seg free 9 owner a parent r) (in O i64 dense 4) (access a O stream (s 1 0))", "stand at the parent"},
    {"(axis r range free 3) (axis s seg free 9 owner a parent r) (in O i64 dense 9) (access a O stream (r 2 0))", "stand at the parent"},
    {"(axis r range free 3) (axis s seg free 9 owner a parent r) (in O i64 dense 9) (access a O stream (r 1 1))", "stand at the parent"},
    {DIC2 "(d 1 0) (- 0)) (in D f64 dense 3 1)", "must read a compressed matrix by dictionary"},
    {"(axis d dict free 2 owner a) (in D f64 compressed 3 1) (access a D stream (d 1 0) (- 0))", "compressed matrix by dictionary"},
    {"(axis d dict free 2 owner a) (in D f64 compressed 3) (access a D dictionary (d 1 0))", "compressed matrix by dictionary"},
    {DIC2 "(r 1 0) (- 0)) (in D f64 compressed 3 1)", "must stand at this axis"},
    /* operands */
    {"(in X f64 coo 3 3)", "format 3 is not supported"},
    {"(in X f64 csc 3 3)", "format 2 is not supported"},
    {"(in X f64 csr 3)", "has rank 2, not 1"},
    {"(in X f64 dense 4294967296 4294967296)", "number of cells overflows"},
    /* accesses */
    {VECTOR "(i 1 9223372036854775807))", "dimension 0: the index overflows"},
    {VECTOR "(i 1 -1))", "indices -1 to 1 leave the extent 5"},
    {VECTOR "(i 1 5))", "indices 5 to 7 leave the extent 5"},
    {VECTOR "(i 1 3))", "indices 3 to 5 leave the extent 5"},
    {VECTOR "(- 5))", "indices 5 to 5 leave the extent 5"},
    {"(axis i range free 3) (in X f64 dense 3 1) (access a X dictionary (i 1 0) (- 0))", "only compressed operands offer a dictionary"},
    {"(axis r range free 3) (axis e range free 5) (in M f64 csr 3 5) (access a M entries (r 1 0) (e 1 0))", "stand at an entry axis"},
    {"(axis r range free 3) (in M f64 csr 3 5) (access a M entries (r 1 0) (- 0))", "dimension 1 must stand at an entry axis"},
    {CSR "(access b M entries (r 1 0) (e 2 0))", "factor 1 and offset 0"},
    {CSR "(access b M entries (r 1 0) (e 1 1))", "factor 1 and offset 0"},
    {"(axis r range free 3) (in D f64 compressed 3 1) (access a D dictionary (r 1 0) (- 0))", "dimension 0 must stand at a dict axis"},
    /* values */
    {CELLS "(let m i64 fold SUM i k) (in Z f64 dense 9) (access g Z cursor (m 1 0)) (let z f64 load g)",
     "by a fold over the outermost axis"},
    {CELLS "(let z f32 load a)", "declared as f32, its input has f64"},
    {CELLS "(let z f32 param p)", "declared as f32, its parameter has f64"},
    {CELLS "(let z f64 index i)", "an index is i64, not f64"},
    {CELLS "(let z i64 fold SUM j x)", "SUM gives f64, not i64"},
    {CSR "(let x f64 load a) (let z f64 fold SUM r x)", "folds axis 0, on which axis 1 of the value depends"},
    {DIC "(let x f64 load a) (let z f64 fold SUM d x)", "axis 1 follows axis 0 and cannot be folded"},
    {CELLS "(let z f64 scan SUM j x)", "a scan needs an ascending axis"},
    /* sinks */
    {CELLS "(out A f64 3 5) (store A x keep i j)", "keeps axis 1 of extent 4, the output has 5"},
    {CELLS "(out A f64 3) (fold A SUM x keep i j)", "kept axis 1 has no dimension in the output"},
    {CELLS "(out A f64 3) (let g f64 GT x x) (store A w keep i guard g)", "its value or guard varies with axes"},
    {CELLS "(out A f32 3 4) (store A x keep i j)", "its value and its output differ in type"},
    {CELLS "(out A i64) (fold A SUM x keep)", "SUM gives f64, not i64"},
    {CELLS "(out A f64) (fold A SUM x keep order k)", "only an append has an order"},
    {CSR "(out A f64 9 1) (let x f64 load a) (pattern A x keep r e)", "its output has rank 1, not 2"},
    {CSR "(out A f64 9) (let x f64 load a) (store A x keep r e)", "entries leave through pattern"},
    {CSR "(out A f64 9) (let x f64 load a) (fold A SUM x keep e)", "keeps axis 1 of extent 5, the output has 9"},
    {CSR "(out A f64 3 5) (let x f64 load a) (fold A SUM x keep r e)", "so it folds axis 0 alone"},
    {CSR "(axis k range free 4) (out A f64 5) (let x f64 load a) (fold A SUM x keep e)", "so it folds axis 0 alone, not 0x5"},
    {CSR "(out A f64 5) (let x f64 load a) (dot A x x keep r)", "it folds axes 0x2; a dot folds axis 0"},
    {CSR "(out A f32 5) (let x f64 load a) (dot A x x keep e)", "its values and its output differ in type"},
    {CSR "(out A f64 5) (let x f64 load a) (dot A x x skip 4 keep e)", "skip is 0 to 3"},
    {CSR "(out A f64 3) (let x f64 load a) (let k i64 index e) (let y f64 dot e x k) (store A y keep r)", "all have one type"},
    {CSR "(out A f64 3) (let x f64 load a) (let y f64 dot r x x) (store A y keep r)", "on which axis 1 of the value depends"},
    {SEG "(out A i64 3) (let x i64 load a) (pattern A x keep r s)", "segments through store"},
    {SEG "(out A i64 3) (let x i64 load a) (fold A SUM x keep s)", "axis 1 has no place in the output"},
    {SEG "(out A i64 9) (let x i64 index s) (store A x keep s)", "with its parent and nothing else"},
    {CELLS "(out A f64 9) (scatter A SUM x key x keep)", "key 0 is not i64"},
    {CELLS "(out A f64 9 9) (scatter A SUM x key k x keep)", "key 1 is not i64"},
    {CELLS "(out A f64 9) (scatter A MEAN k key k keep)", "MEAN folds f64 values, not i64"},
    {CELLS "(out A f64 9) (scatter A SUM x key k k keep)", "its output has rank 1, below its 2 keys"},
    {CELLS "(out A f64 9 9) (scatter A SUM x key k keep)", "dimension 0 of the output is not written"},
    {CSR "(out A f64 9) (let x f64 load a) (let k i64 index e) (scatter A SUM x key k keep e)", "axis 1 has no place in the output"},
    {CELLS "(out A f64 9) (out K i64 9) (group A SUM x key k K keep i)", "it keeps no axes"},
    {CELLS "(out A f64 9) (out K i64 9) (out N f64) (group A SUM x key k K count N keep)", "the count is an i64 scalar"},
    {CELLS "(out A f64 9) (out K i64 9) (out N i64 1) (group A SUM x key k K count N keep)", "the count is an i64 scalar"},
    {CELLS "(out A f64 9) (out K i64 9) (group A SUM x key k k K keep)", "a group has one key"},
    {CELLS "(out A f64 9) (out K i64 9) (group A SUM x key x K keep)", "key 0 is not i64"},
    {CELLS "(out A f64 9) (out K i64 9) (group A MEAN k key k K keep)", "MEAN folds f64 values"},
    {CELLS "(out A f64 9) (out K f64 9) (group A SUM x key k K keep)", "the keys' output is not i64"},
    {CELLS "(out A f64 9 1) (out K i64 9) (group A SUM x key k K keep)", "the outputs of a group have rank 1"},
    {CELLS "(out A f64 9) (out K i64 9 1) (group A SUM x key k K keep)", "the outputs of a group have rank 1"},
    {CELLS "(out A f32 9) (out N i64) (append A x count N keep)", "column 0 and its output differ in type"},
    {CELLS "(out A f64 9 1) (out N i64) (append A x count N keep)", "the columns of an append have rank 1"},
    {CELLS "(out A f64 9) (out N i64) (append A x count N keep)", "appends along axis 1, which is not ascending"},
    {"(axis i range ascending 3) (out A i64 9) (let x i64 index i) (append A x keep)", "an append needs an output for its count"},
    {"(axis i range ascending 3) (out A i64 9) (out N i64) (let x i64 index i) (append A x count N keep i)", "it keeps no axes"},
    {"(axis i range ascending 3) (out A i64 9) (out N i64 1) (let x i64 index i) (append A x count N keep)", "the count is an i64 scalar"},
    {"(axis i range ascending 3) (out A i64 9) (out N i64) (let x i64 index i) (append A x A x count N keep)", "output 0 is written twice"},
};

static void test_rules(void) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        char text[1024];
        plan p;
        int n = snprintf(text, sizeof text, "(cplan %s)", rules[i].text);
        CU_ASSERT_FATAL(n > 0 && (size_t)n < sizeof text);
        plan_parse(&p, text, (size_t)n);
        bool ok = p.st == CLF_E_SYNTAX && strstr(p.err.text, rules[i].say) != NULL;
        if (!ok) printf("\n%s\n-> %d '%s', expected %s\n", text, p.st, p.err.text, rules[i].say);
        CU_ASSERT(ok);
        plan_close(&p);
    }
}

#define ALONE "(axis d dict free 2 owner a) (in D f64 compressed 3 1) (access a D dictionary (d 1 0) (- 0)) (let x f64 load a) "
#define RECORD "(axis i range ascending 3) (out A i64 9) (out B i64 9) (out C i64 9) (out N i64) (let x i64 index i) "
/* What stands close to a rule and is legal. */
static const char *const legal[] = {
    VECTOR "(i 1 2))",
    VECTOR "(i -1 2))",
    VECTOR "(- 4))",
    "(axis i range free 0) (in X f64 dense 5) (access a X stream (i 7 0))",    /* no position, no index */
    "(axis i range free 30:1) (in X f64 dense 5) (access a X stream (i 1 0))", /* an extent known at run time */
    "(axis i range free 30) (in X f64 dense 5:1) (access a X stream (i 1 0))",
    "(axis i range free 3:0) (axis j range free 1) (out A i64 9:1 1) (let x i64 index i) (store A x keep i j)",
    "(axis i range free 3) (out A i64 9:1) (let x i64 index i) (store A x keep i)",
    ALONE "(let s f64 fold SUM d x) (out S f64) (store S s keep)",
    "(axis i range free 3) (out A i64 1 3 1) (let x i64 index i) (store A x keep i)",
    ALONE "(out S f64) (fold S SUM x keep)",
    DIC "(let x f64 load a) (out A f64 3) (store A x keep r)",
    CSR "(access b M locate (r 1 0) (- 2)) (let x f64 load b) (out A f64 3) (store A x keep r)",
    CELLS "(out A f64 9) (out N i64) (append A x count N keep order k)",
    RECORD "(append A x B x C x count N keep)",
};

static void test_legal(void) {
    for (size_t i = 0; i < sizeof legal / sizeof *legal; i++) {
        char text[1024];
        plan p;
        int n = snprintf(text, sizeof text, "(cplan %s)", legal[i]);
        plan_parse(&p, text, (size_t)n);
        if (p.st) printf("\n%s\n-> %s\n", text, p.err.text);
        CU_ASSERT_EQUAL(p.st, CLF_OK);
        plan_close(&p);
    }
}

/* ---- fields that no text can give ---------------------------------------------------------------------------------------- */

static const char whole[] =
    "(cplan (axis r range ascending 3) (axis e entry ascending 9 owner ent parent r) (axis d dict free 2 owner dic parent r)\n"
    "(in M f64 csr 3 5) (in D f64 compressed 3 1) (param p f64) (out S f64) (out A i64 9) (out B i64 9) (out C i64 9) (out N i64)\n"
    "(out H f64 5) (out T f64 3)\n"
    "(access ent M entries (r 1 0) (e 1 0)) (access dic D dictionary (d 1 0) (- 0)) (access lo M locate (r 1 0) (- 2))\n"
    "(let x f64 load ent) (let y f64 load dic) (let w f64 param p) (let k i64 index e) (let q i64 index r) (let m f64 MUL x y)\n"
    "(let s f64 fold SUM e m) (let c i64 cast s)\n"
    "(fold S SUM m keep) (append A k B k C k count N keep) (scatter H SUM x key k keep) (store T s keep r))";
enum { AXIS_R, AXIS_E, AXIS_D };
enum { X, Y, W, K, Q, M, S, C };
enum { FOLD, APPEND, SCATTER, STORE };

static void test_counts(void) {
    plan p;
    plan_parse(&p, whole, sizeof whole - 1);
    if (p.st) printf("%s\n", p.err.text);
    CU_ASSERT_EQUAL_FATAL(p.st, CLF_OK);
    HURT(nin, INT16_MAX + 1, "32768 inputs; at most 32767");
    HURT(nparam, -1, "-1 parameters");
    HURT(nout, 4 * CLF_MAX_SINKS + 1, "16385 outputs");
    HURT(naccess, INT16_MAX + 1, "32768 accesses");
    HURT(nsink, CLF_MAX_SINKS + 1, "4097 sinks");
    void *arrays[] = {&p.c.axis, &p.c.in, &p.c.param, &p.c.out, &p.c.access, &p.c.value, &p.c.sink};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) hurt(&p, arrays[i], 0, sizeof(void *), "but no array");
    plan_close(&p);
}

static void test_axes_and_accesses(void) {
    plan p;
    plan_parse(&p, whole, sizeof whole - 1);
    CU_ASSERT_EQUAL_FATAL(p.st, CLF_OK);
    HURT(axis[AXIS_R].ascending, 2, "order 2 does not exist");
    HURT(axis[AXIS_R].n.n, -1, "extent -1 is negative");
    HURT(axis[AXIS_E].parent, -2, "parent -2 is not an earlier axis");
    HURT(access[0].input, -1, "its owner reads input -1");
    HURT(access[0].input, 2, "its owner reads input 2");
    HURT(access[1].rank, 1, "compressed matrix by dictionary");
    HURT(access[2].input, -1, "input -1 does not exist");
    HURT(access[2].input, 2, "input 2 does not exist");
    HURT(in[0].dim[1].n, -5, "input 0: extent -5 is negative");
    HURT(in[0].dim[1].sym, -2, "input 0: size id -2");
    HURT(out[1].dim[0].n, -5, "output 1: extent -5 is negative");
    HURT(access[0].at[0].value, -2, "dimension 0: value -2 does not exist");
    HURT(access[1].at[1].axis, -2, "dimension 1: axis -2 does not exist");
    HURT(access[1].at[1].axis, 3, "dimension 1: axis 3 does not exist");
    HURT(access[1].at[0].value, 0, "must stand at a dict axis");
    p.c.access[1].at[0].value = 77; /* never read through, whatever it says */
    CU_ASSERT_EQUAL(clf_cplan_check(&p.c, NULL), CLF_E_INTERNAL);
    plan_close(&p);
}

static void test_values(void) {
    plan p;
    plan_parse(&p, whole, sizeof whole - 1);
    CU_ASSERT_EQUAL_FATAL(p.st, CLF_OK);
    HURT(value[X].dtype, 9, "value 0: type 9 does not exist");
    HURT(value[X].op, CLF_V_CAT + 1, "does not exist");
    HURT(value[X].axis, 1, "a load has no axis");
    HURT(value[X].in[0], 0, "input 0 is not used but is not -1");
    HURT(value[X].arg, 3, "access 3 does not exist");
    HURT(value[W].axis, 0, "a parameter has no axis");
    HURT(value[W].arg, -1, "parameter -1 does not exist");
    HURT(value[W].in[1], 0, "input 1 is not used");
    HURT(value[K].axis, 0, "an index has its axis in arg");
    HURT(value[K].arg, -1, "axis -1 does not exist");
    HURT(value[K].in[0], 0, "input 0 is not used");
    HURT(value[M].arg, 0, "an operator has no argument and no axis");
    HURT(value[M].axis, 0, "an operator has no argument and no axis");
    HURT(value[M].in[1], -1, "input 1 is value -1");
    HURT(value[S].axis, -1, "axis -1 does not exist");
    HURT(value[S].arg, -1, "fold -1 does not exist");
    HURT(value[S].in[0], 6, "not an earlier value");
    HURT(value[S].in[1], 0, "its rest varies with axes");
    HURT(value[C].arg, 0, "a cast has no argument and no axis");
    HURT(value[C].axis, 0, "a cast has no argument and no axis");
    HURT(value[C].in[0], -1, "not an earlier value");
    plan_close(&p);
}

static void test_sinks(void) {
    plan p;
    plan_parse(&p, whole, sizeof whole - 1);
    CU_ASSERT_EQUAL_FATAL(p.st, CLF_OK);
    HURT(sink[FOLD].order, -2, "order -2 does not exist");
    HURT(sink[FOLD].order, 8, "order 8 does not exist");
    HURT(sink[FOLD].guard, -2, "guard -2 does not exist");
    HURT(sink[FOLD].out[0], 99, "output 99 does not exist");
    HURT(sink[FOLD].out[1], 0, "output 1 is not used but is not -1");
    HURT(sink[FOLD].key[0], K, "key 0 is not used but is not -1");
    HURT(sink[FOLD].value[0], -1, "value -1 does not exist");
    HURT(sink[FOLD].fold, CLF_NFOLDS, "does not exist");
    HURT(sink[APPEND].value[1], -1, "value -1 does not exist");
    HURT(sink[APPEND].out[2], -1, "output -1 does not exist");
    HURT(sink[APPEND].out[3], 99, "output 99 does not exist");
    HURT(sink[APPEND].value[3], K, "value 3 is not used but is not -1");
    HURT(sink[APPEND].key[1], K, "key 1 is not used but is not -1");
    HURT(sink[APPEND].fold, 1, "it has no fold");
    HURT(sink[SCATTER].key[0], -1, "key 0 is value -1, which does not exist");
    HURT(sink[SCATTER].key[0], 99, "key 0 is value 99, which does not exist");
    HURT(sink[SCATTER].key[1], -7, "key 1 is value -7, which does not exist");
    HURT(sink[STORE].keep, 1u << AXIS_D, "keeps axis 2, which follows axis 0");
    HURT(sink[STORE].guard, X, "its value or guard varies with axes");
    p.c.sink[APPEND].value[1] = p.c.sink[APPEND].out[1] = -1;
    CU_ASSERT_EQUAL(clf_cplan_check(&p.c, &p.err), CLF_E_INTERNAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(p.err.text, "value 2 without value 1"));
    plan_close(&p);
}

/* Axes of values are found before anything is checked: wrong references count as nothing, and parents in a ring end. */
static void test_axes_of_anything(void) {
    plan p;
    plan_parse(&p, whole, sizeof whole - 1);
    CU_ASSERT_EQUAL_FATAL(p.st, CLF_OK);
    clf_value v = p.c.value[X];
    CU_ASSERT_EQUAL(clf_value_axes(&p.c, &v), 3);
    for (int bad = -1; bad <= 3; bad += 4) {
        v.arg = bad;
        CU_ASSERT_EQUAL(clf_value_axes(&p.c, &v), 0);
    }
    v = p.c.value[M];
    v.in[1] = 99;
    CU_ASSERT_EQUAL(clf_value_axes(&p.c, &v), 3);
    v = p.c.value[S];
    v.axis = 99;
    CU_ASSERT_EQUAL(clf_value_axes(&p.c, &v), 7); /* nothing folded, nothing known of its axis */
    p.c.axis[AXIS_E].parent = AXIS_E;
    CU_ASSERT_EQUAL(clf_value_axes(&p.c, &p.c.value[K]), 2);
    p.c.axis[AXIS_E].parent = 55;
    CU_ASSERT_EQUAL(clf_value_axes(&p.c, &p.c.value[K]), 2);
    p.c.access[0].rank = 200;
    (void)clf_value_axes(&p.c, &p.c.value[X]);
    CU_ASSERT_EQUAL(clf_axis_moves(&p.c, 99), 0);
    plan_close(&p);
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("the checker's rules", NULL, NULL);
    CU_add_test(s, "one text a rule", test_rules);
    CU_add_test(s, "close to a rule", test_legal);
    CU_add_test(s, "counts and arrays", test_counts);
    CU_add_test(s, "axes and accesses", test_axes_and_accesses);
    CU_add_test(s, "values", test_values);
    CU_add_test(s, "sinks", test_sinks);
    CU_add_test(s, "axes of anything", test_axes_of_anything);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
