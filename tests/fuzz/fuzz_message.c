/* SPDX-License-Identifier: Apache-2.0
 * Fuzz target: messages between a process and its compile workers.
 * Promised: a refusal has a message; what is accepted lies within the bytes, all its texts and kernels can be walked, and written again it
 * is the same bytes. */
#include "device/message.h"
#include "tests/fuzz/fuzz.h"

enum { KERNELS = CLF_MSG_KERNELS_MOST };

typedef struct kernels {
    clf_source src[KERNELS];
    const clf_source *at[KERNELS];
    clf_arg_desc args[CLF_MSG_ARGS_MOST];
} kernels;

static bool inside(const char *at, size_t len, const uint8_t *p, size_t n) {
    const uint8_t *b = (const uint8_t *)at;
    return b >= p && b + len < p + n && !at[len];
}

/* The arguments stand in the message as they are in memory. */
static void walk(const clf_msg *m, const uint8_t *p, size_t n, kernels *k) {
    const char *at = m->kernels;
    for (uint32_t i = 0; i < m->nkernels; i++) {
        clf_msg_kernel one;
        clf_msg_next(&at, &one);
        FUZZ_MUST(inside(one.entry, strlen(one.entry), p, n) && one.nargs >= 0 && one.nargs <= CLF_MSG_ARGS_MOST);
        FUZZ_MUST((const uint8_t *)at <= p + n);
        clf_msg_args(&one, k->args);
        k->src[i] = (clf_source){.entry = one.entry, .nargs = one.nargs, .args = (const clf_arg_desc *)(const void *)one.args};
        k->at[i] = &k->src[i];
    }
}

clf_status fuzz_one(const uint8_t *p, size_t n) {
    static kernels k;
    clf_err err = {.code = CLF_OK};
    clf_msg m;
    clf_mem mem;
    clf_str s;
    clf_status st = clf_msg_get(&m, p, n, &err);
    if (st != CLF_OK) {
        FUZZ_MUST(err.code == st && err.text[0]);
        return st;
    }
    for (int i = 0; i < CLF_MSG_TEXTS; i++) FUZZ_MUST(inside(m.text[i].at, m.text[i].len, p, n));
    walk(&m, p, n, &k);
    clf_mem_init(&mem, NULL, NULL);
    clf_str_init(&s, &mem);
    FUZZ_MUST(clf_msg_put(&s, &m, k.at, (int)m.nkernels, &err) == CLF_OK);
    FUZZ_MUST(s.len == n && memcmp(s.at, p, n) == 0);
    clf_str_release(&s);
    FUZZ_MUST(atomic_load(&mem.now_bytes) == 0);
    return CLF_OK;
}
