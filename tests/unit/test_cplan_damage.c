/* SPDX-License-Identifier: Apache-2.0
 * Reading damaged cplans: the wrong word at every place of every item, as a long word and as the text's end; and an arena that has
 * exactly so many bytes left, for every number of bytes. */
#include <stddef.h>

#include "core/arena.h"
#include "planner/builder.h"
#include "tests/unit/cplan_testing.h"
#include "tests/unit/heap_testing.h"

/* One item of each kind with all that it can have. */
static const char whole[] =
    "(cplan (axis r range ascending 3) (axis e entry ascending 9:2 owner a parent r) (in M f64 csr 3 5) (in V i64 dense 9)\n"
    "(param p f64) (out S f64) (out A i64 9) (out B i64 9) (out N i64) (out K i64 9) (out G f64 9) (out L i64)\n"
    "(access a M entries (r 1 0) (e 1 0)) (access g V cursor (k 1 -1)) (access c V locate (- 4)) (let x f64 load a) (let k i64 index e)\n"
    "(let z i64 load g) (let q i64 load c) (let w f64 param p) (let s f64 fold SUM e x) (let y f64 scan MAX e x) (let t f64 cast s)\n"
    "(let m f64 MUL x w) (fold S SUM m keep guard x) (append A k B z count N keep guard x order k) (group G SUM x key k K count L keep))";

static clf_status parse(const char *text, size_t n, clf_err *err) {
    plan p;
    plan_parse(&p, text, n);
    *err = p.err;
    clf_status st = p.st;
    plan_close(&p);
    return st;
}

/* Words of a text: what stands between blanks and parentheses. */
static size_t word_at(const char *text, size_t at) { return strcspn(text + at, " ()\n"); }

static void refuse(const char *text, size_t n, const char *shown) {
    clf_err err = {0};
    clf_status st = parse(text, n, &err);
    bool ok = st == CLF_E_SYNTAX && strstr(err.text, "line ") && (!shown || strstr(err.text, shown) || strstr(err.text, "is never closed"));
    if (!ok) printf("\n%.*s\n-> %d '%s'\n", (int)n, text, st, err.text);
    CU_ASSERT(ok);
}

/* A word of 60 letters, of which 40 are shown, in the place of each word; names used once only stay legal and are left out. */
static void test_long_words(void) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefgh";
    char text[2048];
    size_t n = sizeof whole - 1, legal = 0, places = 0;
    for (size_t at = 0; at < n; at += word_at(whole, at) + 1) {
        size_t len = word_at(whole, at);
        if (!len) continue;
        memcpy(text, whole, at);
        memcpy(text + at, letters, 60);
        memcpy(text + at + 60, whole + at + len, n - at - len);
        clf_err err = {0};
        clf_status st = parse(text, n - len + 60, &err);
        places++;
        legal += st == CLF_OK;
        CU_ASSERT(st == CLF_OK || (st == CLF_E_SYNTAX && err.code == st));
    }
    CU_ASSERT_EQUAL(places, 156);
    CU_ASSERT_EQUAL(legal, 3); /* q, y and t, which nothing reads */
}

/* A '-' instead of each word is no name, no number and nearly nowhere a word. */
static void test_no_words(void) {
    char text[2048];
    size_t n = sizeof whole - 1, legal = 0;
    for (size_t at = 0; at < n; at += word_at(whole, at) + 1) {
        size_t len = word_at(whole, at);
        if (!len) continue;
        memcpy(text, whole, at);
        text[at] = '-';
        memcpy(text + at + 1, whole + at + len, n - at - len);
        clf_err err = {0};
        legal += parse(text, n - len + 1, &err) == CLF_OK;
    }
    CU_ASSERT_EQUAL(legal, 1); /* (- 4) itself */
}

/* Each word missing: the next one, often ')', stands in its place. */
static void test_missing_words(void) {
    char text[2048];
    size_t n = sizeof whole - 1, legal = 0;
    for (size_t at = 0; at < n; at += word_at(whole, at) + 1) {
        size_t len = word_at(whole, at);
        if (!len) continue;
        memcpy(text, whole, at);
        memcpy(text + at, whole + at + len, n - at - len);
        clf_err err = {0};
        legal += parse(text, n - len, &err) == CLF_OK;
    }
    CU_ASSERT_EQUAL(legal, 0);
}

#define LONG "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww"
#define CUT "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww'" /* 40 of them */
static const struct {
    const char *text, *say;
} places[] = {
    {"(" LONG, "expected 'cplan', found '" CUT},
    {"(cplan", "found 'the text's end'"},
    {"(cplan) " LONG, "'" CUT " after the end"},
    {"(cplan (" LONG "))", "'" CUT " is no item"},
    {"(cplan (", "'the text's end' is no item"},
    {"(cplan (param %" LONG " f64))", "'%wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww' cannot be a name"},
    {"(cplan (param ", "'the text's end' cannot be a name"},
    {"(cplan (param " LONG " f64) (param " LONG " f64))", "'" CUT " is declared twice"},
    {"(cplan (param p " LONG "))", "'" CUT " is no element type"},
    {"(cplan (axis i " LONG " free 3))", "'" CUT " is no kind of axis"},
    {"(cplan (axis i range free " LONG "))", "'" CUT " is no extent"},
    {"(cplan (axis i range free 3 owner " LONG "))", "'" CUT " is no access"},
    {"(cplan (axis i range free 3 parent " LONG "))", "'" CUT " is no axis"},
    {"(cplan (axis i range free 3:-1))", "'3:-1' is no extent"},
    {"(cplan (axis i range free :3))", "':3' is no extent"},
    {"(cplan (in X f64 dense 3) (access a X stream (" LONG " 1 0)))", "'" CUT " is no axis"},
    {"(cplan (axis i range free 3) (in X f64 dense 3) (access a X stream (i " LONG " 0)))", "'" CUT " is no whole number"},
    {"(cplan (in X f64 dense 1 1 1 1 1 1 1 1) (access a X stream (- 0) (- 0) (- 0) (- 0) (- 0) (- 0) (- 0) (- 0) (- 0)))",
     "more than 8 dimensions"},
    {"(cplan (out X f64 1 1 1 1 1 1 1 1 1))", "more than 8 dimensions"},
    {"(cplan (let x f64 " LONG "))", "'" CUT " is no operator"},
    {"(cplan (axis i range free 3) (let x f64 fold " LONG " i x))", "'" CUT " is no fold"},
    {"(cplan (axis i range free 3) (let x f64 index " LONG "))", "'" CUT " is no axis"},
    {"(cplan (axis " LONG " range free 3) (out A i64 3) (let x i64 index " LONG ") (store A x keep " LONG " " LONG "))",
     "'" CUT " is kept twice"},
    {"(cplan (axis i range ascending 3) (out A i64 3) (out B i64 3) (out C i64 3) (out D i64 3) (let x i64 index i) (append A x B x C x D "
     "x))",
     "a record has at most 3 columns"},
    {"(cplan (out A i64) (fold A SUM " LONG " keep))", "'" CUT " is no value"},
    {"(cplan (out A f64 3) (param p f64) (let x f64 param p) (scatter A SUM x key " LONG " keep))", "'" CUT " is no value"},
    {"(cplan (out A f64 3) (param p f64) (let x f64 param p) (group A SUM x key x " LONG " keep))", "'" CUT " is no output"},
    {"(cplan (out A f64 3) (param p f64) (let x f64 param p) (append A x count " LONG " keep))", "'" CUT " is no output"},
    {"(cplan (param _a.9Z f64) (param A f64) (param z f64) (param Z@ f64))", "'Z@' cannot be a name"},
    {"(cplan (param p f64) (param `p f64))", "'`p' cannot be a name"},
    {"(cplan (param p/ f64))", "'p/' cannot be a name"},
    {"(cplan (param p: f64))", "'p:' cannot be a name"},
    {"(cplan (param p[ f64))", "'p[' cannot be a name"},
    {"(cplan (param p{ f64))", "'p{' cannot be a name"},
    {"(cplan (param p f64) ; a comment that never ends", "expected '('"},
};

static void test_places(void) {
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) refuse(places[i].text, strlen(places[i].text), places[i].say);
}


static void test_printed_whole(void) {
    plan p, q;
    clf_str a, b;
    plan_parse(&p, whole, sizeof whole - 1);
    CU_ASSERT_EQUAL_FATAL(p.st, CLF_OK);
    clf_str_init(&a, &p.mem);
    clf_str_init(&b, &p.mem);
    clf_cplan_print(&p.c, &a);
    plan_parse(&q, clf_str_c(&a), a.len);
    CU_ASSERT_EQUAL_FATAL(q.st, CLF_OK);
    clf_cplan_print(&q.c, &b);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&a), clf_str_c(&b));
    CU_ASSERT_PTR_NOT_NULL(strstr(clf_str_c(&a), "(append Y1 v1 Y2 v2 count Y3 keep guard v0 order v1)"));
    plan_close(&q);
    clf_str_release(&b);
    clf_str_release(&a);
    plan_close(&p);
}

/* Comments and every kind of blank stand between any two words. */
static void test_blanks(void) {
    static const char text[] = ";first\n(\tcplan\r\n( axis;kind\ni range\tfree 3 )) ; last";
    clf_err err = {0};
    CU_ASSERT_EQUAL(parse(text, sizeof text - 1, &err), CLF_OK);
    CU_ASSERT_EQUAL(parse("(cplan)\0", 7, &err), CLF_OK);
}

/* The counts of items have limits: 16 axes, 32767 inputs, 4096 sinks. */
static void test_many(void) {
    static const struct {
        const char *item;
        int n;
        const char *say;
    } many[] = {{"(in X%d f64 dense)\n", INT16_MAX + 1, "more than 32767 of these"},
                {"(param X%d f64)\n", INT16_MAX + 1, "more than 32767 of these"},
                {"(out X%d f64)\n", 4 * CLF_MAX_SINKS + 1, "more than 16384 of these"},
                {"(fold X%d SUM x keep)\n", CLF_MAX_SINKS + 1, "more than 4096 of these"}};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        size_t cap = (size_t)many[i].n * 40 + 64, len;
        char *text = malloc(cap);
        len = (size_t)sprintf(text, "(cplan ");
        for (int k = 0; k < many[i].n; k++) len += (size_t)sprintf(text + len, many[i].item, k);
        len += (size_t)sprintf(text + len, ")");
        refuse(text, len, many[i].say);
        free(text);
    }
}

/* ---- an arena with exactly so many bytes left ------------------------------------------------------------------------------ */

enum { BLOCK = 16 * 1024 };

/* `bytes` of one block are left, and no other block comes. */
static void arena_left(clf_arena *a, clf_mem *mem, counting_heap *heap, size_t bytes) {
    *heap = heap_of(1);
    clf_mem_init(mem, counting_alloc, heap);
    clf_arena_init(a, mem);
    CU_ASSERT_PTR_NOT_NULL_FATAL(clf_arena_new(a, BLOCK - bytes, 1));
}

/* Whatever is left, it is made whole or refused, with nothing of it in *out. */
static void with_little(clf_status (*make)(clf_arena *arena, clf_cplan *out, clf_err *err), int sinks) {
    clf_mem mem;
    clf_arena arena;
    counting_heap heap;
    int refused = 0;
    clf_status st = CLF_E_NOMEM;
    for (size_t bytes = 0; bytes < BLOCK && st != CLF_OK; bytes += 16) {
        clf_cplan c = {0};
        clf_err err = {0};
        arena_left(&arena, &mem, &heap, bytes);
        st = make(&arena, &c, &err);
        CU_ASSERT(st == CLF_OK ? c.nsink == sinks : st == CLF_E_NOMEM && c.nvalue == 0 && strstr(err.text, "out of memory"));
        refused += st != CLF_OK;
        clf_arena_release(&arena);
        CU_ASSERT_EQUAL(mem.now_bytes, 0);
    }
    CU_ASSERT(st == CLF_OK && refused > 50);
}

static clf_status parse_whole(clf_arena *arena, clf_cplan *out, clf_err *err) {
    return clf_cplan_parse(out, arena, whole, sizeof whole - 1, err);
}

static void test_parse_memory(void) { with_little(parse_whole, 3); }

/* Everything a builder can make, wrong numbers among it. */
static clf_status build(clf_arena *arena, clf_cplan *out, clf_err *err) {
    clf_builder b;
    const int64_t dim[2] = {6, 5};
    const int none[2] = {-1, -1};
    clf_build_begin(&b, arena);
    int i = clf_build_axis(&b, CLF_AXIS_RANGE, 6), j = clf_build_axis(&b, CLF_AXIS_RANGE, 5), axes[2] = {i, j};
    int in = clf_build_in(&b, CLF_F64, 2, dim);
    int x = clf_build_load(&b, clf_build_access(&b, in, axes)), y = clf_build_load(&b, clf_build_access(&b, in, none));
    for (int k = 0; k < 6; k++) {
        int p = clf_build_param(&b, CLF_F64);
        y = clf_build_op(&b, CLF_OP_ADD, CLF_F64, y, x, -1);
        y = clf_build_op(&b, CLF_OP_MUL, CLF_F64, y,
                         clf_build_value(&b, (clf_value){.op = CLF_V_PARAM, .dtype = CLF_F64, .axis = -1, .in = {-1, -1, -1}, .arg = p}),
                         -1);
        clf_build_store(&b, clf_build_out(&b, CLF_F64, 2, dim), y, 3);
    }
    clf_build_fold(&b, clf_build_out(&b, CLF_F32, 0, NULL), CLF_FOLD_SUM, clf_build_cast(&b, y, CLF_F32), 0);
    return clf_build_end(&b, out, err);
}

static void test_build_memory(void) { with_little(build, 7); }

/* Numbers that name nothing give 0 or come back, and change nothing; equal accesses are one in every member. */
static void test_build_wrong(void) {
    clf_mem mem;
    clf_arena arena;
    clf_builder b;
    const int64_t dim[2] = {6, 5};
    clf_mem_init(&mem, NULL, NULL);
    clf_arena_init(&arena, &mem);
    clf_build_begin(&b, &arena);
    int i = clf_build_axis(&b, CLF_AXIS_RANGE, 6), in = clf_build_in(&b, CLF_F64, 2, dim);
    CU_ASSERT_EQUAL(clf_build_access(&b, -1, &i), 0);
    CU_ASSERT_EQUAL(clf_build_access(&b, 1, &i), 0);
    CU_ASSERT_EQUAL(clf_build_load(&b, 0), 0);
    CU_ASSERT_EQUAL(clf_build_load(&b, -1), 0);
    CU_ASSERT_EQUAL(clf_build_cast(&b, -1, CLF_F32), -1);
    CU_ASSERT_EQUAL(clf_build_cast(&b, 7, CLF_F32), 7);
    CU_ASSERT(b.c.naccess == 0 && b.c.nvalue == 0 && !b.failed);
    clf_access a = {.input = in, .protocol = CLF_STREAM, .rank = 2, .at = {{i, -1, 1, 0}, {-1, -1, 0, 3}}};
    CU_ASSERT_EQUAL(clf_build_access_at(&b, &a), 0);
    clf_access other[] = {a, a, a, a, a, a, a};
    other[0].protocol = CLF_LOCATE;
    other[1].rank = 1;
    other[2].at[1].axis = i;
    other[3].at[1].value = 0;
    other[4].at[1].mul = 1;
    other[5].at[1].add = 4;
    other[6].input = 5;
    for (int k = 0; k < 7; k++) CU_ASSERT_EQUAL(clf_build_access_at(&b, &other[k]), k + 1);
    for (int k = 0; k < 7; k++) CU_ASSERT_EQUAL(clf_build_access_at(&b, &other[k]), k + 1);
    clf_access deep = a;
    deep.rank = CLF_MAX_RANK + 4; /* only the dimensions there are count */
    CU_ASSERT_EQUAL(clf_build_access_at(&b, &deep), 8);
    CU_ASSERT_EQUAL(clf_build_access_at(&b, &deep), 8);
    int v = clf_build_load(&b, 7); /* of an input that is not there: some type, and the checker says what is wrong */
    CU_ASSERT_EQUAL(b.c.value[v].dtype, CLF_F64);
    other[6].input = -1;
    v = clf_build_load(&b, clf_build_access_at(&b, &other[6]));
    CU_ASSERT_EQUAL(b.c.value[v].dtype, CLF_F64);
    clf_cplan c = {0};
    clf_err err = {0};
    CU_ASSERT_EQUAL(clf_build_end(&b, &c, &err), CLF_E_INTERNAL);
    CU_ASSERT(c.nvalue == 0 && strstr(err.text, "access"));
    clf_arena_release(&arena);
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("damaged cplans", NULL, NULL);
    CU_add_test(s, "long words", test_long_words);
    CU_add_test(s, "no words", test_no_words);
    CU_add_test(s, "missing words", test_missing_words);
    CU_add_test(s, "each message", test_places);
    CU_add_test(s, "blanks", test_blanks);
    CU_add_test(s, "printed and read back", test_printed_whole);
    CU_add_test(s, "too many", test_many);
    CU_add_test(s, "parsing in so many bytes", test_parse_memory);
    CU_add_test(s, "building in so many bytes", test_build_memory);
    CU_add_test(s, "building wrongly", test_build_wrong);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
