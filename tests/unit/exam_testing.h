/* SPDX-License-Identifier: Apache-2.0
 * What the suites that run golden cplans share: reading one, checking that it prints back unchanged, and binding other sizes. */
#ifndef CLF_TESTS_EXAM_TESTING_H
#define CLF_TESTS_EXAM_TESTING_H
#include "tests/unit/cplan_testing.h"

/* Read a golden file; its text after the leading comments is what the printer must give back. */
static inline void open_golden(plan *p, const char *name) {
    char path[1024], text[16384];
    snprintf(path, sizeof path, "%s/golden/cplan/%s.cplan", CLF_TESTS_DIR, name);
    FILE *f = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    plan_parse(p, text, n);
    if (p->st != CLF_OK) printf("%s: %s\n", name, p->err.text);
    CU_ASSERT_EQUAL_FATAL(p->st, CLF_OK);
    CU_ASSERT_EQUAL(clf_cplan_check(&p->c, &p->err), CLF_OK);

    const char *body = text;
    while (*body == ';') body = strchr(body, '\n') + 1;
    clf_str s, s2;
    plan again;
    clf_str_init(&s, &p->mem);
    clf_cplan_print(&p->c, &s);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&s), body);
    plan_parse(&again, clf_str_c(&s), s.len);
    CU_ASSERT_EQUAL_FATAL(again.st, CLF_OK);
    clf_str_init(&s2, &again.mem);
    clf_cplan_print(&again.c, &s2);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&s2), clf_str_c(&s));
    clf_hash h = clf_cplan_hash(&p->c), h2 = clf_cplan_hash(&again.c);
    CU_ASSERT(h.lo == h2.lo && h.hi == h2.hi);
    clf_str_release(&s2);
    clf_str_release(&s);
    plan_close(&again);
}

/* Extents bound for one run, started from those declared. */
typedef struct sizes {
    int64_t axis[CLF_MAX_AXES], in[8 * CLF_MAX_RANK], out[8 * CLF_MAX_RANK];
} sizes;

static inline sizes declared(const clf_cplan *c) {
    sizes z = {{0}, {0}, {0}};
    for (int a = 0; a < c->naxes; a++) z.axis[a] = c->axis[a].n.n;
    for (int i = 0; i < c->nin; i++)
        for (int d = 0; d < CLF_MAX_RANK; d++) z.in[i * CLF_MAX_RANK + d] = c->in[i].dim[d].n;
    for (int i = 0; i < c->nout; i++)
        for (int d = 0; d < CLF_MAX_RANK; d++) z.out[i * CLF_MAX_RANK + d] = c->out[i].dim[d].n;
    return z;
}

static inline void dims2(int64_t *dim, int operand, int64_t n, int64_t m) {
    dim[operand * CLF_MAX_RANK] = n;
    dim[operand * CLF_MAX_RANK + 1] = m;
}

/* z NULL: the sizes declared. */
static inline void run_ok(plan *p, void *const *in, const clf_scalar *param, void *const *out, const sizes *z) {
    clf_bind b = {.in = in, .param = param, .out = out};
    if (z) b.axis_n = z->axis, b.in_dim = z->in, b.out_dim = z->out;
    clf_status st = plan_run(p, &b);
    if (st != CLF_OK) printf("%s\n", p->err.text);
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
}

static inline bool same_bits(const double *x, const double *y, int64_t n) { return memcmp(x, y, (size_t)n * sizeof *x) == 0; }
#endif
