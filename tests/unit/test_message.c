/* SPDX-License-Identifier: Apache-2.0
 * Messages between a process and its compile workers: what is written is read, and nothing else is. */
#include "device/message.h"
#include "tests/unit/api_testing.h"

static clf_mem mem;
static const clf_arg_desc args[] = {{CLF_ARG_MEM_IN, CLF_F64, 0}, {CLF_ARG_PARAM, CLF_F32, 3}, {CLF_ARG_I64, 0, 7}};
static const clf_source first = {.entry = "k_first", .args = args, .nargs = 3}, second = {.entry = "k_second"};
static const clf_source *const both[] = {&first, &second};

static clf_msg_text text(const char *s) { return (clf_msg_text){s, strlen(s)}; }

static clf_str written(const clf_msg *m, int kernels) {
    clf_str s;
    clf_err err = {CLF_OK, ""};
    clf_str_init(&s, &mem);
    CU_ASSERT_EQUAL_FATAL(clf_msg_put(&s, m, both, kernels, &err), CLF_OK);
    return s;
}

static clf_msg build_message(void) {
    return (clf_msg){.kind = CLF_MSG_BUILD, .id = 1ull << 40, .text = {text("-DX=1"), text("__kernel void k_first() {}")}};
}

static void test_there_and_back(void) {
    clf_msg m = build_message(), r;
    clf_err err = {CLF_OK, ""};
    clf_str s = written(&m, 2);
    size_t body = 0;
    CU_ASSERT_EQUAL_FATAL(clf_msg_head(s.at, &body, &err), CLF_OK);
    CU_ASSERT_EQUAL(body + CLF_MSG_HEAD, s.len);
    CU_ASSERT_EQUAL_FATAL(clf_msg_get(&r, s.at, s.len, &err), CLF_OK);
    CU_ASSERT_EQUAL(r.kind, CLF_MSG_BUILD);
    CU_ASSERT_EQUAL(r.id, 1ull << 40);
    CU_ASSERT_STRING_EQUAL(r.text[0].at, "-DX=1");
    CU_ASSERT_STRING_EQUAL(r.text[1].at, m.text[1].at);
    CU_ASSERT_EQUAL_FATAL(r.nkernels, 2);
    const char *at = r.kernels;
    clf_msg_kernel k;
    clf_arg_desc got[3];
    clf_msg_next(&at, &k);
    CU_ASSERT_STRING_EQUAL(k.entry, "k_first");
    CU_ASSERT_EQUAL_FATAL(k.nargs, 3);
    clf_msg_args(&k, got);
    CU_ASSERT_EQUAL(memcmp(got, args, sizeof args), 0);
    clf_msg_next(&at, &k);
    CU_ASSERT_STRING_EQUAL(k.entry, "k_second");
    CU_ASSERT_EQUAL(k.nargs, 0);
    CU_ASSERT_PTR_EQUAL(at, s.at + s.len);
    clf_str_release(&s);
}

/* A binary may hold anything; no other text a NUL. */
static void test_binary(void) {
    static const char bytes[] = {0, 1, 0, 2};
    clf_msg m = {.kind = CLF_MSG_BUILT, .id = 3, .ns = 77, .text = {text(""), {bytes, sizeof bytes}}}, r;
    clf_str s = written(&m, 0);
    CU_ASSERT_EQUAL_FATAL(clf_msg_get(&r, s.at, s.len, NULL), CLF_OK);
    CU_ASSERT_EQUAL(r.ns, 77);
    CU_ASSERT_EQUAL(r.text[1].len, sizeof bytes);
    CU_ASSERT_EQUAL(memcmp(r.text[1].at, bytes, sizeof bytes), 0);
    clf_str_release(&s);
    m.kind = CLF_MSG_HELLO;
    s = written(&m, 0);
    CU_ASSERT_EQUAL(clf_msg_get(&r, s.at, s.len, NULL), CLF_E_FORMAT);
    clf_str_release(&s);
}

static clf_status read_copy(const char *at, size_t n) {
    clf_err err = {CLF_OK, ""};
    clf_msg r;
    char *copy = malloc(n + 1); /* of exactly n bytes for who watches steps beyond */
    char *exact = n ? realloc(copy, n) : copy;
    memcpy(exact, at, n);
    clf_status st = clf_msg_get(&r, exact, n, &err);
    CU_ASSERT(st == CLF_OK || (st == CLF_E_FORMAT && err.text[0]));
    free(exact);
    return st;
}

static void test_cut(void) {
    clf_msg m = build_message();
    clf_str s = written(&m, 2);
    for (size_t n = 0; n < s.len; n++) CU_ASSERT_EQUAL(read_copy(s.at, n), CLF_E_FORMAT);
    clf_str_putn(&s, "x", 1);
    CU_ASSERT_EQUAL(read_copy(s.at, s.len), CLF_E_FORMAT);
    clf_str_release(&s);
}

/* Every byte damaged in several ways: refused, or still a message. */
static void test_damaged(void) {
    static const unsigned char flips[] = {0x01, 0x80, 0xff};
    clf_msg m = build_message();
    clf_str s = written(&m, 2);
    int refused = 0;
    for (size_t i = 0; i < s.len; i++)
        for (size_t f = 0; f < sizeof flips; f++) {
            s.at[i] = (char)(s.at[i] ^ flips[f]);
            refused += read_copy(s.at, s.len) != CLF_OK;
            s.at[i] = (char)(s.at[i] ^ flips[f]);
        }
    CU_ASSERT(refused > 100);
    clf_str_release(&s);
}

static void test_other_version(void) {
    clf_msg m = build_message(), r;
    clf_err err = {CLF_OK, ""};
    clf_str s = written(&m, 1);
    s.at[8]++;
    CU_ASSERT_EQUAL(clf_msg_get(&r, s.at, s.len, &err), CLF_E_FORMAT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "version"));
    clf_str_release(&s);
}

static void test_too_large(void) {
    clf_msg m = build_message();
    clf_err err = {CLF_OK, ""};
    clf_str s;
    clf_str_init(&s, &mem);
    m.text[1].len = CLF_MSG_BODY_MOST;
    CU_ASSERT_EQUAL(clf_msg_put(&s, &m, both, 2, &err), CLF_E_LIMIT);
    CU_ASSERT_EQUAL(s.len, 0);
    CU_ASSERT_EQUAL(clf_msg_put(&s, &m, both, CLF_MSG_KERNELS_MOST + 1, &err), CLF_E_LIMIT);
    clf_str_release(&s);
}

static void test_memory(void) { CU_ASSERT_EQUAL(atomic_load(&mem.now_bytes), 0); }

int main(void) {
    static const test_case tests[] = {
        {"there and back", test_there_and_back}, {"a binary", test_binary},     {"cut short", test_cut}, {"damaged", test_damaged},
        {"version", test_other_version},         {"too large", test_too_large}, {"memory", test_memory}};
    clf_mem_init(&mem, NULL, NULL);
    return run_suite("messages", tests, sizeof tests / sizeof *tests);
}
