/* SPDX-License-Identifier: Apache-2.0
 * One host step on its own: an operator over bytes that tell where they came from, with one thread and with several, in memory whose ends
 * are watched. What it has to be is said cell by cell. */
#ifndef CLF_TESTS_CALLOUT_TESTING_H
#define CLF_TESTS_CALLOUT_TESTING_H
#include "host/run/run.h"
#include "tests/unit/api_testing.h"

typedef struct shape { int64_t rows, cols; } shape;
typedef struct host_step {
    int op;
    clf_dtype type, result; /* of the operands; of what is made */
    int64_t attr[3];
    int operands;
    shape in[2], out;
    const void *x[2];
} host_step;

static inline size_t step_bytes(clf_dtype t, shape s) { return (size_t)s.rows * (size_t)s.cols * clf_dtype_bytes(t); }

/* In memory of `mem`; pool may be NULL. */
static inline clf_status run_step(const host_step *s, clf_pool *pool, clf_mem *mem, void *out) {
    clf_gnode node[3];
    clf_graph g = {.n = 3, .node = node};
    void *in[2] = {(void *)(uintptr_t)s->x[0], (void *)(uintptr_t)s->x[1]};
    clf_err err = {CLF_OK, ""};
    memset(node, 0, sizeof node);
    for (int k = 0; k < 2; k++) {
        node[k].op = CLF_OP_LEAF;
        node[k].dtype = (uint8_t)s->type;
        clf_gnode_shape(&node[k], s->in[k].rows, s->in[k].cols);
    }
    node[2].op = (uint8_t)s->op;
    node[2].dtype = (uint8_t)s->result;
    node[2].nin = (uint8_t)s->operands;
    node[2].in[1] = 1;
    memcpy(node[2].attr, s->attr, sizeof s->attr);
    clf_gnode_shape(&node[2], s->out.rows, s->out.cols);
    return clf_callout_run(&(clf_host_call){.pool = pool, .mem = mem, .g = &g, .node = &node[2], .in = in, .out = out}, &err);
}

/* Memory at a line, or a cell behind one; bytes behind it are watched. */
enum { WATCHED = 128 };
static inline char *watched_new(size_t bytes, size_t off) {
    void *p = NULL;
    CU_ASSERT_EQUAL_FATAL(posix_memalign(&p, 64, bytes + off + WATCHED), 0);
    memset(p, 0xc3, bytes + off + WATCHED);
    return (char *)p + off;
}
static inline void watched_free(char *p, size_t bytes, size_t off) {
    bool whole = true;
    for (size_t i = 0; i < WATCHED; i++) whole = whole && (uint8_t)p[bytes + i] == 0xc3;
    CU_ASSERT(whole);
    free(p - off);
}

/* Does the step make these bytes, with whatever threads? */
static inline void expect_step(const host_step *s, const void *want) {
    const size_t bytes = step_bytes(s->result, s->out), each = clf_dtype_bytes(s->result);
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    for (int threads = 0; threads < 4; threads += threads ? 2 : 1) {
        clf_pool *pool = threads ? clf_pool_new(&mem, threads) : NULL;
        char *out = watched_new(bytes, threads == 1 ? each : 0);
        CU_ASSERT_EQUAL(run_step(s, pool, &mem, out), CLF_OK);
        const bool same = memcmp(out, want, bytes) == 0;
        if (!same)
            printf("\n    op %d type %d %lldx%lld by %d threads\n", s->op, (int)s->type, (long long)s->in[0].rows, (long long)s->in[0].cols, threads);
        CU_ASSERT(same);
        watched_free(out, bytes, threads == 1 ? each : 0);
        clf_pool_free(pool);
    }
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
}

static inline uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 29;
}
#endif
