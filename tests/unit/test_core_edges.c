/* SPDX-License-Identifier: Apache-2.0
 * The edges of core/: sizes that overflow, what is NULL or empty, values outside every set, and trace lines that nobody listens to. */
#include <CUnit/Basic.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/dtype.h"
#include "core/err.h"
#include "core/fold.h"
#include "core/knobs.h"
#include "core/op.h"
#include "core/print.h"
#include "core/str.h"
#include "core/trace.h"
#include "core/turns.h"

static void test_sizes(void) {
    clf_mem m;
    clf_arena a;
    clf_mem_init(&m, NULL, NULL);
    CU_ASSERT_PTR_NULL(clf_mem_new(&m, SIZE_MAX / 2, 1)); /* no overflow, no memory either */
    CU_ASSERT_PTR_NULL(clf_mem_data(&m, SIZE_MAX / 2));
    char *p = clf_mem_new(&m, 3, 1);
    CU_ASSERT_PTR_NULL(clf_mem_grow(&m, p, SIZE_MAX / 2, 4, 4)); /* the old size cannot be true */
    CU_ASSERT_EQUAL(m.now_bytes, 3);
    CU_ASSERT(clf_mem_charge(&m, 5));
    CU_ASSERT(!clf_mem_charge(&m, SIZE_MAX - 2)); /* without a budget, still no number of bytes */
    clf_mem_refund(&m, 5);
    clf_mem_free(&m, p, 3, 1);
    clf_arena_init(&a, &m);
    CU_ASSERT_PTR_NULL(clf_arena_new(&a, SIZE_MAX / 2, 3));
    CU_ASSERT_PTR_NULL(clf_arena_new(&a, SIZE_MAX - 3, 1));  /* not to be rounded up */
    CU_ASSERT_PTR_NULL(clf_arena_new(&a, SIZE_MAX - 20, 1)); /* no room for its header */
    CU_ASSERT_PTR_NULL(clf_arena_strn(&a, "", SIZE_MAX / 2));
    CU_ASSERT_PTR_NULL(a.head);
    CU_ASSERT_STRING_EQUAL(clf_arena_strn(&a, NULL, 0), "");
    clf_arena_release(&a);
    CU_ASSERT(m.now_bytes == 0 && m.data_bytes == 0);
}

static void test_text(void) {
    clf_mem m;
    clf_mem_init(&m, NULL, NULL);
    static const size_t far[] = {SIZE_MAX, SIZE_MAX - 4, SIZE_MAX / 2 + 2};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        clf_str s;
        clf_str_init(&s, &m);
        clf_str_put(&s, "abcd");
        clf_str_putn(&s, "x", far[i]); /* refused before a byte is read */
        CU_ASSERT(s.failed && s.len == 4);
        clf_str_put(&s, "more");
        clf_str_fmt(&s, "%d", 7);
        CU_ASSERT(s.len == 4 && clf_str_c(&s)[0] == '\0');
        clf_str_release(&s);
        clf_str_put(&s, "abcd");
        clf_str_room(&s, far[i]);
        CU_ASSERT(s.failed && s.len == 4);
        clf_str_release(&s);
    }
    clf_str t;
    clf_str_init(&t, &m);
    clf_str_putn(&t, NULL, 0);
    clf_str_fmt(&t, "%s", "");
    CU_ASSERT(!t.failed && t.len == 0);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&t), "");
    clf_str_fmt(&t, "%063d", 5); /* the first block to its last byte, then one more */
    CU_ASSERT(t.len == 63 && t.cap == 64);
    clf_str_put(&t, "z");
    CU_ASSERT(t.len == 64 && t.cap == 128 && clf_str_c(&t)[63] == 'z');
    clf_str_clear(&t);
    CU_ASSERT(t.len == 0 && t.cap == 128 && clf_str_c(&t)[0] == '\0');
    clf_str_release(&t);
    clf_str_clear(&t);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&t), "");
    CU_ASSERT_EQUAL(m.now_bytes, 0);
}

/* Our own conversions, and formats that have others, against the C library: whole, cut short, and only measured. */
#define SAME_TEXT(...) \
    do { \
        for (size_t room = 0; room <= sizeof theirs; room += room < 8 ? 1 : 31) { \
            memset(ours, '#', sizeof ours); \
            memset(theirs, '#', sizeof theirs); \
            int want = snprintf(room ? theirs : NULL, room, __VA_ARGS__), n = clf_print(room ? ours : NULL, room, __VA_ARGS__); \
            CU_ASSERT_EQUAL(n, want); \
            CU_ASSERT(memcmp(ours, theirs, sizeof ours) == 0); \
        } \
    } while (0)

static void test_print(void) {
    char ours[101], theirs[101];
    SAME_TEXT("%s", "");
    SAME_TEXT("const %s v%d_%d = %.*s;%c%%\n", "double8", 17, -3, 4, "CLF_ADD", 'x');
    SAME_TEXT("%.*s|%.*s|%.*s", 0, "abc", 9, "abc", -1, "abc");
    SAME_TEXT("%d %d %d %d", 0, 9, 10, -10);
    SAME_TEXT("%d %d", INT_MAX, INT_MIN);
    SAME_TEXT("%ld %ld %lld %lld %lld", LONG_MAX, LONG_MIN, LLONG_MAX, LLONG_MIN, -1ll);
    SAME_TEXT("%zu %zu", (size_t)0, SIZE_MAX);
    SAME_TEXT("%x %x.s%x %x", 0u, 9u, 10u, UINT_MAX);
    SAME_TEXT("%d k_%016llx %s", 5, 0x1234abcdull, "what is not ours is the C library's, with all before it");
    SAME_TEXT("%5d|%-4s|%g|%u|%x|%.3s", 7, "ab", 0.25, 8u, 255u, "abcdef");
    const char two[2] = {'a', 'b'}; /* no NUL behind it */
    SAME_TEXT("%.*s", 2, two);
}

/* What one arena gives back the next one takes, cleared; not more than a megabyte of it waits. */
static void test_spares(void) {
    clf_mem m;
    clf_arena a;
    clf_spares s = {NULL, 0};
    clf_mem_init(&m, NULL, NULL);
    clf_arena_init_from(&a, &m, &s);
    char *p = clf_arena_new(&a, 20000, 1);
    memset(p, 7, 20000);
    clf_arena_release(&a);
    CU_ASSERT(m.now_bytes == 0 || (s.bytes >= 20000 && m.now_bytes > s.bytes)); /* none are kept where memory is watched */
    size_t kept = m.now_bytes;
    char *q = clf_arena_new(&a, 20000, 1);
    CU_ASSERT(q[0] == 0 && q[19999] == 0 && (kept == 0 || (m.now_bytes == kept && s.bytes == 0)));
    CU_ASSERT_PTR_NOT_NULL(clf_arena_new(&a, 3u << 20, 1)); /* no spare is as large, and it will be none */
    CU_ASSERT_PTR_NULL(clf_arena_new(&a, SIZE_MAX - 20, 1));
    clf_arena_release(&a);
    CU_ASSERT(s.bytes <= 1u << 20 && m.now_bytes == kept);
    for (int i = 0; i < 40; i++) CU_ASSERT_PTR_NOT_NULL(clf_arena_new(&a, 100000, 1));
    clf_arena_release(&a);
    CU_ASSERT(s.bytes <= 1u << 20);
    clf_spares_release(&s, &m);
    CU_ASSERT(m.now_bytes == 0 && s.bytes == 0 && !s.head);
}

/* Blocks beyond the largest class, and none at all. */
static void test_blocks(void) {
    clf_mem m;
    clf_blocks b;
    clf_mem_init(&m, NULL, NULL);
    clf_blocks_init(&b, &m);
    CU_ASSERT_PTR_NULL(clf_block_take(&b, SIZE_MAX));
    CU_ASSERT_PTR_NULL(clf_buf_pooled(&b, 1, SIZE_MAX));
    clf_block_give(&b, NULL);
    CU_ASSERT(b.pooled_bytes == 0 && !clf_blocks_trim(&b) && m.now_bytes == 0);
    clf_blocks_release(&b);
}

/* A seal tells of bytes that changed without a new version; a new version is sealed anew. */
static void test_seals(void) {
    clf_mem m;
    clf_mem_init(&m, NULL, NULL);
    char mine[3] = "ab";
    clf_buf *b = clf_buf_borrow(&m, 1, mine, sizeof mine, NULL, NULL), *none = clf_buf_new(&m, 2, 0);
    CU_ASSERT_EQUAL(m.borrowed_bytes, 3);
    CU_ASSERT(clf_buf_intact(b) && clf_buf_intact(b));
    mine[0] = 'x';
    CU_ASSERT(!clf_buf_intact(b));
    atomic_fetch_add(&b->version, 1);
    CU_ASSERT(clf_buf_intact(b));
    mine[1] = 'x';
    CU_ASSERT(!clf_buf_intact(b));
    CU_ASSERT(clf_buf_intact(none) && clf_buf_intact(none));
    clf_buf_unref(none);
    clf_buf_unref(b);
    CU_ASSERT(m.borrowed_bytes == 0 && m.now_bytes == 0);
}

static void test_outside_the_types(void) {
    CU_ASSERT_STRING_EQUAL(clf_dtype_name((clf_dtype)77), "?");
    CU_ASSERT_EQUAL(clf_dtype_bytes((clf_dtype)77), 0);
    CU_ASSERT_EQUAL(clf_dtype_bytes((clf_dtype)-1), 0);
    char memory[16] = {0};
    CU_ASSERT_EQUAL(clf_scalar_load(memory, 0, (clf_dtype)77).u.i, 0);
    clf_scalar_store(memory, 0, (clf_scalar){.dtype = (clf_dtype)77, .u.i = -1});
    CU_ASSERT_EQUAL(memory[0], 0);
    clf_scalar nan = clf_scalar_f64(NAN), one = clf_scalar_f64(1), zero = clf_scalar_f64(0), minus = clf_scalar_f64(-0.0);
    CU_ASSERT(clf_scalar_same(nan, clf_scalar_f64(-NAN)) && !clf_scalar_same(nan, one) && !clf_scalar_same(one, nan));
    CU_ASSERT(clf_scalar_same(one, one) && !clf_scalar_same(zero, minus) && !clf_scalar_same(one, clf_scalar_i64(1)));
    CU_ASSERT(clf_scalar_same(clf_scalar_i64(4), clf_scalar_i64(4)) && !clf_scalar_same(clf_scalar_i64(4), clf_scalar_i64(5)));
    clf_err_clear(NULL);
    CU_ASSERT_EQUAL(clf_fold_find("median"), -1);
    CU_ASSERT_EQUAL(clf_op_find("ad"), -1);
    CU_ASSERT_EQUAL(clf_op_find("addd"), -1);
    CU_ASSERT_EQUAL(clf_op_find("Add"), -1);
    CU_ASSERT_EQUAL(clf_op_find("add"), CLF_OP_ADD);
    CU_ASSERT_EQUAL(clf_op_find(""), -1);
}

static void refuse_knob(const char *name, const char *value, clf_status st, const char *say) {
    clf_knobs k;
    clf_err e = {0};
    clf_knobs_init(&k);
    clf_knobs before = k;
    CU_ASSERT_EQUAL(clf_knobs_set(&k, name, value, &e), st);
    if (!strstr(e.text, say)) printf("\n    '%s'\n", e.text);
    CU_ASSERT(strstr(e.text, say) && memcmp(&before, &k, sizeof k) == 0);
}

static void test_knobs(void) {
    refuse_knob(NULL, "1", CLF_E_ARG, "a name and a value");
    refuse_knob("threads", NULL, CLF_E_ARG, "a name and a value");
    refuse_knob("threads", "4097", CLF_E_ARG, "4097 is not within 0 to 4096");
    refuse_knob("threads", "99999999999999999999", CLF_E_ARG, "not a whole number");
    refuse_knob("threads", "3x", CLF_E_ARG, "'3x' is not a whole number");
    refuse_knob("search", "-1", CLF_E_ARG, "-1 is not within 0 to 1000000");
    refuse_knob("index_bits", "65", CLF_E_ARG, "65 is not within 0 to 64");
    refuse_knob("index_bits", "33", CLF_E_ARG, "33 is not 0, 32 or 64");
    refuse_knob("mem_limit", "", CLF_E_ARG, "is not a size");
    refuse_knob("mem_limit", "1T1", CLF_E_ARG, "is not a size");
    refuse_knob("mem_limit", "99999999T", CLF_E_ARG, "is not a size");
    refuse_knob("log", "nonsense", CLF_E_NAME, "unknown topic 'nonsense'");
    refuse_knob("log", "plan,nonsense,build", CLF_E_NAME, "unknown topic 'nonsense'");
    refuse_knob("checksum", "", CLF_E_ARG, "is not on or off");
    clf_knobs k;
    clf_knobs_init(&k);
    static const char *const yes[] = {"on", "1", "true", "yes"}, *const no[] = {"off", "0", "false", "no"};
    for (int i = 0; i < 4; i++) {
        CU_ASSERT(clf_knobs_set(&k, "checksum", yes[i], NULL) == CLF_OK && k.checksum);
        CU_ASSERT(clf_knobs_set(&k, "checksum", no[i], NULL) == CLF_OK && !k.checksum);
    }
    static const struct {
        const char *text;
        size_t bytes;
    } sizes[] = {{"7", 7}, {"2g", (size_t)2 << 30}, {"1T", (size_t)1 << 40}, {"0", 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        CU_ASSERT(clf_knobs_set(&k, "mem_limit", sizes[i].text, NULL) == CLF_OK && k.mem_limit == sizes[i].bytes);
}

/* Without a callback lines go to stderr; a topic that is off evaluates nothing. */
static void test_trace_to_stderr(void) {
    char text[256] = "";
    int ends[2], old = dup(2), evaluated = 0;
    CU_ASSERT_FATAL(old >= 0 && pipe(ends) == 0);
    fflush(stderr);
    dup2(ends[1], 2);
    const clf_trace log = {.mask = 1u << CLF_TOPIC_emit};
    CLF_TRACE(&log, emit, "kernel %d", ++evaluated);
    CLF_TRACE(&log, io, "never %d", ++evaluated);
    fflush(stderr);
    dup2(old, 2);
    close(old);
    close(ends[1]);
    ssize_t n = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    CU_ASSERT(n > 0 && evaluated == 1);
    CU_ASSERT_STRING_EQUAL(text, "clfuse emit: kernel 1\n");
}

/* What 10 and 4 take together, and what comes before and behind all there is. */
static void test_turns(void) {
    double sorted[5];
    const double in[] = {3, 1, 4, 1, 5}, want[] = {1, 1, 3, 4, 5};
    for (int i = 0; i < 5; i++) clf_sorted_insert(sorted, i, in[i]);
    for (int i = 0; i < 5; i++) CU_ASSERT_EQUAL(sorted[i], want[i]);
    CU_ASSERT_EQUAL(clf_part_hidden(10, 10, 4), 1);
    CU_ASSERT_EQUAL(clf_part_hidden(14, 4, 10), 0);
    CU_ASSERT_EQUAL(clf_part_hidden(13, 4, 10), 0.25);
    CU_ASSERT_EQUAL(clf_part_hidden(9, 10, 4), 1);
    CU_ASSERT_EQUAL(clf_part_hidden(15, 10, 4), 0);
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("core: edges", NULL, NULL);
    CU_add_test(s, "sizes", test_sizes);
    CU_add_test(s, "text", test_text);
    CU_add_test(s, "print", test_print);
    CU_add_test(s, "spares", test_spares);
    CU_add_test(s, "blocks", test_blocks);
    CU_add_test(s, "seals", test_seals);
    CU_add_test(s, "outside the types", test_outside_the_types);
    CU_add_test(s, "knobs", test_knobs);
    CU_add_test(s, "trace to stderr", test_trace_to_stderr);
    CU_add_test(s, "turns", test_turns);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
