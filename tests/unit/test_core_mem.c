/* SPDX-License-Identifier: Apache-2.0
 * Memory of core/: the ledger, the budget, arena, text, buffers, each also with the n-th allocation failing. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/hash.h"
#include "core/str.h"
#include "tests/unit/heap_testing.h"

static bool all_zero(const unsigned char *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (p[i]) return false;
    return true;
}

static void test_ledger(void) {
    clf_mem m;
    counting_heap f = {.fail_at = 0};
    clf_mem_init(&m, counting_alloc, &f);
    unsigned char *p = clf_mem_new(&m, 10, 8);
    CU_ASSERT(p && all_zero(p, 80));
    CU_ASSERT_EQUAL(m.now_bytes, 80);
    memset(p, 1, 80);
    unsigned char *q = clf_mem_grow(&m, p, 10, 100, 8);
    CU_ASSERT(q && q[0] == 1 && q[79] == 1 && all_zero(q + 80, 720));
    CU_ASSERT_EQUAL(m.now_bytes, 800);
    q = clf_mem_grow(&m, q, 100, 3, 8);
    CU_ASSERT(q && q[23] == 1);
    CU_ASSERT_EQUAL(m.now_bytes, 24);
    CU_ASSERT_EQUAL(m.peak_bytes, 800);
    clf_mem_free(&m, q, 3, 8);
    clf_mem_free(&m, NULL, 7, 8);
    CU_ASSERT_EQUAL(m.now_bytes, 0);
    CU_ASSERT_EQUAL(f.live, 0);
    CU_ASSERT_EQUAL(f.blocks, 0);
}

static void test_zero_and_overflow(void) {
    clf_mem m;
    counting_heap f = {.fail_at = 0};
    clf_mem_init(&m, counting_alloc, &f);
    void *p = clf_mem_new(&m, 0, 8), *d = clf_mem_data(&m, 0);
    CU_ASSERT(p && d && m.now_bytes == 0);
    CU_ASSERT_PTR_NULL(clf_mem_new(&m, SIZE_MAX / 4, 8));
    p = clf_mem_grow(&m, p, 0, 5, 4);
    CU_ASSERT(p && m.now_bytes == 20);
    CU_ASSERT_PTR_NULL(clf_mem_grow(&m, p, 5, SIZE_MAX / 2, 4));
    p = clf_mem_grow(&m, p, 5, 0, 4);
    CU_ASSERT(p && m.now_bytes == 0);
    clf_mem_free(&m, p, 0, 4);
    clf_mem_data_free(&m, d, 0);
    CU_ASSERT(f.live == 0 && f.blocks == 0);
}

static void test_budget_holds_data_only(void) {
    clf_mem m;
    clf_mem_init(&m, NULL, NULL);
    m.limit_bytes = 1000;
    void *a = clf_mem_data(&m, 600);
    CU_ASSERT(a && (uintptr_t)a % 64 == 0);
    CU_ASSERT_PTR_NULL(clf_mem_data(&m, 401));
    CU_ASSERT(!clf_mem_charge(&m, 401));
    CU_ASSERT(!clf_mem_charge(&m, SIZE_MAX));
    CU_ASSERT_EQUAL(m.data_bytes, 600);
    CU_ASSERT(clf_mem_charge(&m, 400));
    void *book = clf_mem_new(&m, 5000, 1);
    CU_ASSERT_PTR_NOT_NULL(book);
    CU_ASSERT_EQUAL(m.now_bytes, 6000);
    clf_mem_refund(&m, 400);
    clf_mem_data_free(&m, a, 600);
    clf_mem_free(&m, book, 5000, 1);
    CU_ASSERT(m.now_bytes == 0 && m.data_bytes == 0 && m.peak_bytes == 6000);
}

static void test_failed_request_changes_nothing(void) {
    clf_mem m;
    counting_heap f = heap_of(1);
    clf_mem_init(&m, counting_alloc, &f);
    int *p = clf_mem_new(&m, 4, sizeof *p);
    p[3] = 42;
    CU_ASSERT_PTR_NULL(clf_mem_grow(&m, p, 4, 400, sizeof *p));
    CU_ASSERT(p[3] == 42 && m.now_bytes == 16 && m.peak_bytes == 16);
    CU_ASSERT_PTR_NULL(clf_mem_data(&m, 64));
    CU_ASSERT(m.data_bytes == 0 && m.now_bytes == 16);
    clf_mem_free(&m, p, 4, sizeof *p);
    CU_ASSERT(f.live == 0 && m.now_bytes == 0);
}

static void test_arena(void) {
    clf_mem m;
    counting_heap f = {.fail_at = 0};
    clf_arena a;
    clf_mem_init(&m, counting_alloc, &f);
    clf_arena_init(&a, &m);
    unsigned char *last = NULL;
    for (size_t i = 0; i < 3000; i++) {
        unsigned char *p = clf_arena_new(&a, i % 97, 3);
        CU_ASSERT_FATAL(p && p != last && (uintptr_t)p % 16 == 0 && all_zero(p, i % 97 * 3));
        memset(p, 0xff, i % 97 * 3);
        last = p;
    }
    CU_ASSERT(f.blocks > 1 && f.blocks < 10); /* few, growing blocks */
    char *s = clf_arena_strn(&a, "abcdef", 3);
    CU_ASSERT_STRING_EQUAL(s, "abc");
    CU_ASSERT(clf_arena_new(&a, 1, 5 << 20) != NULL);
    CU_ASSERT_PTR_NULL(clf_arena_new(&a, SIZE_MAX, 1));
    CU_ASSERT_PTR_NULL(clf_arena_strn(&a, "", SIZE_MAX));
    clf_arena_release(&a);
    clf_arena_release(&a);
    CU_ASSERT(f.live == 0 && m.now_bytes == 0);
}

static void test_str(void) {
    clf_mem m;
    counting_heap f = {.fail_at = 0};
    clf_str s;
    clf_mem_init(&m, counting_alloc, &f);
    clf_str_init(&s, &m);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&s), "");
    for (int i = 0; i < 500; i++) clf_str_fmt(&s, "%d,", i);
    clf_str_put(&s, "end");
    clf_str_putn(&s, "ing", 3);
    CU_ASSERT(s.len == strlen(clf_str_c(&s)) && !s.failed);
    CU_ASSERT(strncmp(clf_str_c(&s), "0,1,2,", 6) == 0 && strcmp(clf_str_c(&s) + s.len - 10, "499,ending") == 0);
    clf_str_release(&s);
    int before = f.count;
    clf_str_room(&s, 1000);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&s), "");
    for (int i = 0; i < 1000; i++) clf_str_put(&s, "x");
    CU_ASSERT(s.len == 1000 && !s.failed && f.count == before + 1);
    clf_str_room(&s, 1); /* is there */
    CU_ASSERT(f.count == before + 1);
    char *space = clf_str_space(&s, 5000);
    CU_ASSERT_FATAL(space != NULL && s.len == 6000 && s.at[6000] == '\0' && s.at[999] == 'x');
    memset(space, 'y', 5000);
    clf_str_put(&s, "z");
    CU_ASSERT(s.len == 6001 && s.at[1000] == 'y' && s.at[5999] == 'y' && s.at[6000] == 'z');
    clf_str_release(&s);
    f.fail_at = f.count + 1;
    clf_str_room(&s, 1);
    CU_ASSERT_TRUE(s.failed);
    CU_ASSERT_PTR_NULL(clf_str_space(&s, 1));
    clf_str_release(&s);
    CU_ASSERT(f.live == 0 && m.now_bytes == 0);
}

/* One job through everything; fails somewhere for small n. Returns whether it succeeded. */
static bool job(clf_mem *m) {
    clf_arena a;
    clf_str s;
    bool ok;
    clf_arena_init(&a, m);
    clf_str_init(&s, m);
    for (int i = 0; i < 100; i++) clf_str_put(&s, "0123456789");
    ok = !s.failed && strlen(clf_str_c(&s)) == 1000;
    if (s.failed) CU_ASSERT_STRING_EQUAL(clf_str_c(&s), "");
    for (int i = 0; ok && i < 50; i++) ok = clf_arena_new(&a, 1000, 1) != NULL;
    clf_buf *b = ok ? clf_buf_new(m, 7, 4096) : NULL;
    ok = b != NULL;
    clf_buf_unref(b);
    clf_str_release(&s);
    clf_arena_release(&a);
    return ok;
}

static void test_nth_allocation_fails(void) {
    clf_mem m;
    counting_heap f = {.fail_at = 0};
    long n = 0;
    bool done = false;
    for (; !done && n < 100; n++) {
        f = heap_of(n);
        clf_mem_init(&m, counting_alloc, &f);
        done = job(&m);
        CU_ASSERT(f.live == 0 && f.blocks == 0 && m.now_bytes == 0 && m.data_bytes == 0);
    }
    CU_ASSERT(done && n > 5);
}

static int released;
static void count_release(void *user, void *data) {
    CU_ASSERT(user == &released && data != NULL);
    released++;
}

static void test_buf(void) {
    clf_mem m;
    double mine[8] = {0};
    clf_mem_init(&m, NULL, NULL);
    clf_buf *b = clf_buf_borrow(&m, 3, mine, sizeof mine, count_release, &released);
    CU_ASSERT(b && b->host == mine && b->id == 3 && m.data_bytes == 0);
    CU_ASSERT_PTR_EQUAL(clf_buf_ref(b), b);
    clf_buf_unref(b);
    CU_ASSERT_EQUAL(released, 0);
    clf_buf_unref(b);
    CU_ASSERT_EQUAL(released, 1);
    b = clf_buf_new(&m, 4, 100);
    CU_ASSERT(b && b->version == 0 && m.data_bytes == 100 && !b->borrowed);
    clf_buf_unref(b);
    clf_buf_unref(NULL);
    m.limit_bytes = 10;
    CU_ASSERT_PTR_NULL(clf_buf_new(&m, 5, 11));
    CU_ASSERT_EQUAL(m.now_bytes, 0);
}

static void test_hash(void) {
    clf_hash empty = clf_hash_bytes("", 0), a = clf_hash_bytes("abc", 3), b = clf_hash_bytes("abd", 3), c = clf_hash_bytes("abc", 3);
    /* published XXH3-128 of the empty input */
    CU_ASSERT(empty.hi == UINT64_C(0x99aa06d3014798d8) && empty.lo == UINT64_C(0x6001c324468d497f));
    CU_ASSERT(a.lo == c.lo && a.hi == c.hi && a.lo != b.lo);
    CU_ASSERT(clf_hash64("abc", 3, 1) != clf_hash64("abc", 3, 2) && clf_hash64("abc", 3, 1) == clf_hash64("abc", 3, 1));
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("core: memory", NULL, NULL);
    CU_add_test(s, "every byte is counted", test_ledger);
    CU_add_test(s, "zero sizes and overflow", test_zero_and_overflow);
    CU_add_test(s, "the budget holds data only", test_budget_holds_data_only);
    CU_add_test(s, "a failed request changes nothing", test_failed_request_changes_nothing);
    CU_add_test(s, "arena", test_arena);
    CU_add_test(s, "growing text", test_str);
    CU_add_test(s, "n-th allocation fails", test_nth_allocation_fails);
    CU_add_test(s, "buffers", test_buf);
    CU_add_test(s, "hash", test_hash);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
