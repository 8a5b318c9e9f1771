/* SPDX-License-Identifier: Apache-2.0
 * Fuzz target: the text of device profiles.
 * Promised: a refusal has a message and changes nothing; what is accepted prints to a text that parses to the same profile, and
 * streaming any bytes takes a time that is no NaN. */
#include <math.h>

#include "device/profile.h"
#include "tests/fuzz/fuzz.h"

clf_status fuzz_one(const uint8_t *p, size_t n) {
    clf_profile a, b;
    clf_err err = {.code = CLF_OK};
    clf_mem mem;
    clf_str s;
    memset(&a, 0, sizeof a);
    clf_profile_assume(&a, CLF_DEV_CPU, 2);
    b = a;
    clf_status st = clf_profile_parse(&a, (const char *)p, n, &err);
    if (st != CLF_OK) {
        FUZZ_MUST(err.code == st && err.text[0] && memcmp(&a, &b, sizeof a) == 0);
        return st;
    }
    clf_mem_init(&mem, NULL, NULL);
    clf_str_init(&s, &mem);
    clf_profile_print(&a, &s);
    FUZZ_MUST(clf_profile_parse(&b, clf_str_c(&s), s.len, &err) == CLF_OK);
    clf_str again;
    clf_str_init(&again, &mem);
    clf_profile_print(&b, &again);
    FUZZ_MUST(strcmp(clf_str_c(&s), clf_str_c(&again)) == 0);
    clf_str_release(&again);
    clf_str_release(&s);
    for (double bytes = 1; bytes < 1e13; bytes *= 1e4) FUZZ_MUST(!isnan(clf_profile_stream_s(&a, bytes, bytes)));
    FUZZ_MUST(atomic_load(&mem.now_bytes) == 0);
    return CLF_OK;
}
