/* SPDX-License-Identifier: Apache-2.0
 * Schedules and texts of skeletons, judged. See skel_case.h. */
#include "tests/support/skel_case.h"

#include <CUnit/Basic.h>
#include <string.h>

#include "tests/unit/heap_testing.h"

enum { MOST_ALLOCATIONS = 2000, LEAST_ALLOCATIONS = 3 };

void skel_planned(kernel_job *j, const clf_skel *skel, clf_sched *out) {
    CU_ASSERT_EQUAL_FATAL(job_built(j, NULL), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(skel->sched(&j->c, &jobs.profile, (clf_grid){0, INT64_MAX}, out, NULL), CLF_OK);
}

clf_source skel_text(kernel_job *j, const clf_sched *s) {
    clf_source text;
    CU_ASSERT_EQUAL_FATAL(s->skel->emit(&j->c, s, "", &j->arena, &text, NULL), CLF_OK);
    return text;
}

void skel_same_text(kernel_job *a, const clf_sched *sa, kernel_job *b, const clf_sched *sb) {
    clf_source ta = skel_text(a, sa), tb = skel_text(b, sb);
    CU_ASSERT_STRING_EQUAL(ta.text, tb.text);
    CU_ASSERT_STRING_EQUAL(ta.entry, tb.entry);
    CU_ASSERT_PTR_NULL(strstr(ta.text, "#include"));
}

void skel_refuses(const kernel_job *j, const clf_skel *skel, double arg_bytes) {
    clf_profile tight = jobs.profile;
    CU_ASSERT_TRUE(skel->fits(&j->c, &tight));
    tight.max_arg_bytes = arg_bytes;
    CU_ASSERT_FALSE(skel->fits(&j->c, &tight));
    tight = jobs.profile;
    tight.fp64 = 0;
    CU_ASSERT_FALSE(skel->fits(&j->c, &tight));
}

void skel_no_memory(const kernel_job *j, const clf_sched *s) {
    clf_status st = CLF_E_NOMEM;
    int n = 0;
    for (; st != CLF_OK && n < MOST_ALLOCATIONS; n++) {
        clf_mem small;
        clf_arena arena;
        clf_source src;
        clf_err err = {0};
        counting_heap heap = heap_but(n);
        clf_mem_init(&small, counting_alloc, &heap);
        clf_arena_init(&arena, &small);
        st = s->skel->emit(&j->c, s, "", &arena, &src, &err);
        CU_ASSERT_TRUE(st == CLF_OK || st == CLF_E_NOMEM);
        clf_arena_release(&arena);
        CU_ASSERT_EQUAL(atomic_load(&small.now_bytes), 0);
    }
    CU_ASSERT_EQUAL(st, CLF_OK);
    CU_ASSERT_TRUE(n > LEAST_ALLOCATIONS);
}

/* ---- memory that no vector fits ---- */

/* Memory of n bytes of what is at *at, `by` bytes into it. */
static void move_to(void **at, size_t n, size_t by) {
    char *p = clf_mem_data(&jobs.mem, n + by);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    memcpy(p + by, *at, n);
    *at = p + by;
}

/* Back home, with what it holds now. */
static void move_back(void **at, void *home, size_t n, size_t by) {
    memcpy(home, *at, n);
    clf_mem_data_free(&jobs.mem, (char *)*at - by, n + by);
    *at = home;
}

clf_status skel_beside(kernel_job *j, const clf_skel *skel, int parts, clf_err *err) {
    void *in[JOB_OPERANDS], *got[JOB_OPERANDS];
    memcpy(in, j->in, sizeof in);
    memcpy(got, j->got, sizeof got);
    for (int k = 0; k < j->c.nin; k++) move_to(&j->in[k], j->in_bytes[k], clf_dtype_bytes((clf_dtype)j->c.in[k].dtype));
    for (int k = 0; k < j->c.nout; k++) move_to(&j->got[k], j->out_bytes[k], clf_dtype_bytes((clf_dtype)j->c.out[k].dtype));
    clf_status st = job_kernel(j, skel, parts, err);
    for (int k = 0; k < j->c.nin; k++) move_back(&j->in[k], in[k], j->in_bytes[k], clf_dtype_bytes((clf_dtype)j->c.in[k].dtype));
    for (int k = 0; k < j->c.nout; k++) move_back(&j->got[k], got[k], j->out_bytes[k], clf_dtype_bytes((clf_dtype)j->c.out[k].dtype));
    return st;
}
