/* SPDX-License-Identifier: Apache-2.0
 * Cplans over stored entries as text with holes, and patterns of entries, for the suites of entry skeletons. */
#ifndef CLF_TESTS_ENTRY_TEXTS_H
#define CLF_TESTS_ENTRY_TEXTS_H
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/kernel_job.h"

/* ---- cplans, their extents as %1 rows, %2 columns, %3 rank, %4 columns of a side; %t: the type ---- */

#define HEAD "(cplan (axis i range free %1) (axis j entry free 100 owner a0 parent i) "
#define X "(in X0 %t csr %1 %2) (access a0 X0 entries (i 1 0) (j 1 0)) (let v0 %t load a0) "
#define PAIR \
    "(in X1 %t dense %1 %3) (in X2 %t dense %2 %3) (access a1 X1 stream (i 1 0) (l 1 0)) (access a2 X2 stream (j 1 0) (l 1 0)) " \
    "(let v1 %t load a1) (let v2 %t load a2) (let v3 %t dot l v1 v2) "

/* More CSR operands of the main one's shape, at its entries. */
#define LOCATED(N) "(in X" #N " %t csr %1 %2) (access a" #N " X" #N " locate (i 1 0) (j 1 0)) "

static const struct plan {
    const char *name, *text;
    double ulp;
} plans[] = {
    {"spmv",
     HEAD X "(in X1 %t dense %2 1) (access a1 X1 stream (j 1 0) (- 0)) (out Y0 %t %1) (let v1 %t load a1) (let v2 %t dot j v0 v1) "
            "(store Y0 v2 keep i))",
     0},
    {"spmv, structural zeros",
     HEAD X "(in X1 %t dense %2 1) (access a1 X1 stream (j 1 0) (- 0)) (out Y0 %t %1) (let v1 %t load a1) "
            "(let v2 %t dot j v0 v1 skip 1) (store Y0 v2 keep i))",
     0},
    {"outer loss",
     HEAD "(axis l range free %3) " X PAIR "(out Y0 %t) (param p0 %t) (let v4 %t param p0) (let v5 %t ABS v3) "
          "(let v6 %t ADD v5 v4) (let v7 %t LOG v6) (let v8 %t MUL v0 v7) (fold Y0 SUM v8 keep))",
     64},
    {"outer sum", HEAD "(axis l range free %3) " X PAIR "(out Y0 %t) (let v4 %t MUL v0 v3) (fold Y0 SUM v4 keep))", 0},
    {"outer pattern", HEAD "(axis l range free %3) " X PAIR "(out Y0 %t 1) (let v4 %t MUL v0 v3) (pattern Y0 v4 keep i j))", 0},
    {"outer sum, rows weighted",
     HEAD "(axis l range free %3) " X PAIR "(in X3 %t dense %1 1) (access a3 X3 stream (i 1 0) (- 0)) (out Y0 %t) (let v4 %t load a3) "
          "(let v5 %t MUL v3 v4) (let v6 %t MUL v0 v5) (fold Y0 SUM v6 keep))",
     0},
    {"outer right",
     HEAD "(axis l range free %3) (axis k range free %4) " X PAIR
          "(in X3 %t dense %2 %4) (access a3 X3 stream (j 1 0) (k 1 0)) (let v5 %t load a3) (let v6 %t SUB v0 v3) (let v7 %t dot j v6 v5) "
          "(out Y0 %t %1 %4) (store Y0 v7 keep i k))",
     0},
    {"outer right twice",
     HEAD "(axis l range free %3) (axis k range free %4) " X PAIR
          "(in X3 %t dense %2 %4) (access a3 X3 stream (j 1 0) (k 1 0)) (let v5 %t load a3) (let v6 %t SUB v0 v3) (let v7 %t dot j v6 v5) "
          "(let v8 %t dot j v0 v2 skip 1) (let v9 %t fold MAX l v8) (out Y0 %t %1 %4) (out Y1 %t %1 %3) (out Y2 %t %1) "
          "(out Y3 %t) (store Y0 v7 keep i k) (store Y1 v8 keep i l) (store Y2 v9 keep i) (fold Y3 MIN v9 keep over i))",
     0},
    {"outer left",
     HEAD "(axis l range free %3) (axis k range free %4) " X PAIR
          "(in X3 %t dense %1 %4) (access a3 X3 stream (i 1 0) (k 1 0)) (let v5 %t load a3) (let v6 %t MUL v0 v3) "
          "(out Y0 %t %2 %4) (dot Y0 v6 v5 keep j k))",
     0},
    {"outer left, turned",
     "(cplan (axis i range free %1) (axis k range free %4) (axis j entry free 100 owner a0 parent i) (axis l range free %3) " X PAIR
     "(in X3 %t dense %1 %4) (access a3 X3 stream (i 1 0) (k 1 0)) (let v5 %t load a3) (let v6 %t MUL v0 v3) "
     "(out Y0 %t %4 %2) (dot Y0 v5 v6 skip 2 keep k j))",
     0},
    {"mvchain",
     HEAD X "(in X1 %t dense %2 1) (access a1 X1 stream (j 1 0) (- 0)) (in X2 %t dense %1 1) (access a2 X2 stream (i 1 0) (- 0)) "
            "(out Y0 %t %2) (let v1 %t load a1) (let v2 %t dot j v0 v1) (let v3 %t load a2) (let v4 %t MUL v3 v2) "
            "(dot Y0 v0 v4 keep j))",
     0},
    {"row scalars", /* much computed once a row: of a sum, a column (every second cell of a wider one) and the row's number */
     HEAD X "(in X1 %t dense %2 1) (access a1 X1 stream (j 1 0) (- 0)) (in X2 %t dense %1 2) (access a2 X2 stream (i 1 0) (- 1)) "
            "(in X3 %t dense %1 1) (access a3 X3 stream (i 1 0) (- 0)) (out Y0 %t %2) (out Y1 %t %1) (out Y2 i64 %1) (out Y3 %t) "
            "(let v1 %t load a1) (let v2 %t dot j v0 v1) (let v3 %t load a2) (let v4 %t MUL v2 v3) (let v5 %t SQRT v4) "
            "(let v6 %t load a3) (let v7 %t DIV v5 v6) (let v8 i64 index i) (let v9 %t cast v8) (let v10 %t DIV v9 v2) "
            "(let v11 %t SUB v7 v10) (let v12 %t MUL v0 v11) (let v13 %t fold MAX j v12) (let v14 %t DIV v13 v7) "
            "(let v15 i64 cast v14) (store Y1 v14 keep i) (store Y2 v15 keep i) (fold Y3 MIN v14 keep over i) (dot Y0 v0 v11 keep j))",
     0},
    {"row functions",
     HEAD X "(in X1 %t dense %2 1) (access a1 X1 stream (j 1 0) (- 0)) (out Y0 %t %2) (out Y1 %t %1) "
            "(let v1 %t load a1) (let v2 %t dot j v0 v1) (let v3 %t ABS v2) (let v4 %t NEG v3) (let v5 %t EXP v4) (let v6 %t PNORM v4) "
            "(let v7 %t DIV v5 v6) (let v8 %t TANH v7) (store Y1 v8 keep i) (dot Y0 v0 v8 keep j))",
     64},
    {"mmchain",
     HEAD "(axis k range free %4) " X
          "(in X1 %t dense %2 %4) (access a1 X1 stream (j 1 0) (k 1 0)) (in X2 %t dense %1 %4) (access a2 X2 stream (i 1 0) (k 1 0)) "
          "(out Y0 %t %2 %4) (let v1 %t load a1) (let v2 %t dot j v0 v1) (let v3 %t load a2) (let v4 %t MUL v3 v2) "
          "(dot Y0 v0 v4 keep j k))",
     0},
    {"mlogreg",
     HEAD "(axis k range free %4) " X
          "(in X1 %t dense %2 %4) (access a1 X1 stream (j 1 0) (k 1 0)) (in X2 %t dense %1 %4) (access a2 X2 stream (i 1 0) (k 1 0)) "
          "(out Y0 %t %2 %4) (let v1 %t load a1) (let v2 %t dot j v0 v1) (let v3 %t load a2) (let v4 %t MUL v3 v2) "
          "(let v5 %t fold SUM k v4) (let v6 %t MUL v3 v5) (let v7 %t SUB v4 v6) (dot Y0 v0 v7 skip 1 keep j k))",
     0},
    {"columns passed over",
     HEAD X "(in X1 %t dense %1 1) (access a1 X1 stream (i 1 0) (- 0)) (out Y0 %t %2) (out Y1 %t %2) (let v1 %t load a1) "
            "(let v2 %t MUL v0 v0) (dot Y0 v0 v1 skip 1 keep j) (dot Y1 v2 v1 skip 1 keep j))",
     0},
    {"rows passed over",
     HEAD "(axis k range free %4) " X "(in X1 %t dense %2 %4) (access a1 X1 stream (j 1 0) (k 1 0)) (out Y0 %t %1 %4) (let v1 %t load a1) "
          "(let v2 %t dot j v0 v1 skip 1) (store Y0 v2 keep i k))",
     0},
    {"sum of squares", HEAD X "(out Y0 %t) (let v1 %t MUL v0 v0) (fold Y0 SUM v1 keep))", 0},
    {"row sums and greatest",
     HEAD X "(out Y0 %t %1) (out Y1 i64 %1) (out Y2 %t %1) (fold Y0 SUM v0 keep i) (fold Y1 ARGMAX v0 keep i) "
            "(fold Y2 MIN v0 keep i))",
     0},
    {"column sums and greatest",
     HEAD X "(out Y0 %t %2) (out Y1 %t %2) (out Y2 i64 %2) (fold Y0 SUM v0 keep j) (fold Y1 MAX v0 keep j) (fold Y2 ARGMIN v0 keep j))", 0},
    {"side inputs",
     HEAD X "(in X1 %t dense %1 %2) (access a1 X1 stream (i 1 0) (j 1 0)) (in X2 %t dense %1 1) (access a2 X2 stream (i 1 0) (- 0)) "
            "(in X3 %t dense 1 %2) (access a3 X3 stream (- 0) (j 1 0)) (in X4 %t dense) (access a4 X4 stream) (out Y0 %t) (out Y1 %t 1) "
            "(let v1 %t load a1) (let v2 %t load a2) (let v3 %t load a3) (let v4 %t load a4) (let v5 %t MUL v0 v1) (let v6 %t MUL v5 v2) "
            "(let v7 %t ADD v6 v3) (let v8 %t MUL v7 v4) (fold Y0 SUM v8 keep) (pattern Y1 v8 keep i j))",
     0},
    {"rows scaled",
     HEAD X "(out Y0 %t 1) (out Y1 %t %1) (let v1 %t fold SUM j v0) (let v2 %t SUB v0 v1) (let v3 %t fold MAX j v2) (let v4 %t SUB v2 v3) "
            "(pattern Y0 v4 keep i j) (store Y1 v3 keep i))",
     0},
    {"row epilogue",
     HEAD "(axis k range free %4) " X "(in X1 %t dense %2 %4) (access a1 X1 stream (j 1 0) (k 1 0)) (in X2 %t dense 1 %4) (access a2 X2 "
          "stream (- 0) (k 1 0)) (out Y0 %t %1 %4) "
          "(out Y1 %t %1) (out Y2 i64 %1) (let v1 %t load a1) (let v2 %t dot j v0 v1) (let v3 %t load a2) (let v4 %t ADD v2 v3) "
          "(let v5 %t fold SUM k v4) (let v6 %t SUB v4 v5) (let v7 %t dot k v4 v6) (store Y0 v6 keep i k) (store Y1 v7 keep i) "
          "(fold Y2 ARGMAX v6 keep i))",
     0},
    {"squared error",
     HEAD X
     "(in X1 %t dense %2 1) (access a1 X1 stream (j 1 0) (- 0)) (in X2 %t dense %1 1) (access a2 X2 stream (i 1 0) (- 0)) (out Y0 %t) "
     "(out Y1 %t) (out Y2 i64) (out Y3 %t %2) (let v1 %t load a1) (let v2 %t dot j v0 v1) (let v3 %t load a2) (let v4 %t SUB v2 v3) "
     "(fold Y0 SUMSQ v4 keep) (fold Y1 MAX v4 keep) (fold Y2 ARGMIN v4 keep) (dot Y3 v0 v4 keep j))",
     0},
    {"squared error of a product",
     HEAD "(axis k range free %4) " X "(in X1 %t dense %2 %4) (access a1 X1 stream (j 1 0) (k 1 0)) (in X2 %t dense %1 %4) "
          "(access a2 X2 stream (i 1 0) (k 1 0)) (out Y0 %t) (out Y1 i64) (let v1 %t load a1) (let v2 %t dot j v0 v1) (let v3 %t load a2) "
          "(let v4 %t SUB v2 v3) (fold Y0 SUMSQ v4 keep over i) (fold Y1 ARGMAX v4 keep over i))",
     0},
    {"sum of a product of three",
     HEAD X LOCATED(1) LOCATED(2) "(out Y0 %t) (let v1 %t load a1) (let v2 %t load a2) (let v3 %t MUL v0 v1) (let v4 %t IFELSE v0 v3 v0) "
                                  "(let v5 %t MUL v4 v2) (fold Y0 SUM v5 keep))",
     0},
    {"pattern of a product", HEAD X LOCATED(1) "(out Y0 %t 1) (let v1 %t load a1) (let v2 %t MUL v0 v1) (pattern Y0 v2 keep i j))", 0},
    {"rows of a product",
     HEAD X LOCATED(1)
         LOCATED(2) "(out Y0 %t %1) (out Y1 %t %1) (out Y2 %t 1) (let v1 %t load a1) (let v2 %t load a2) (let v3 %t MUL v0 v1) "
                    "(let v4 %t fold SUM j v3) (let v5 %t dot j v1 v2 skip 1) (let v6 %t MUL v2 v4) (store Y0 v4 keep i) "
                    "(store Y1 v5 keep i) (pattern Y2 v6 keep i j))",
     0},
    {"columns of a product",
     HEAD X LOCATED(1) LOCATED(2) "(out Y0 %t %2) (out Y1 %t %2) (let v1 %t load a1) (let v2 %t load a2) (let v3 %t MUL v0 v1) "
                                  "(let v4 %t MUL v0 v2) (let v5 %t ADD v3 v4) (let v6 %t fold SUM j v2) (fold Y0 SUM v5 keep j over i) "
                                  "(dot Y1 v1 v6 skip 1 keep j))",
     0},
    {"outer sum at a product",
     HEAD "(axis l range free %3) " X PAIR "(in X3 %t csr %1 %2) (access a3 X3 locate (i 1 0) (j 1 0)) (out Y0 %t) (out Y1 %t 1) "
          "(let v4 %t load a3) (let v5 %t MUL v4 v3) (let v6 %t SUB v5 v0) (fold Y0 SUM v6 keep) (pattern Y1 v5 keep i j))",
     0},
    {"several folds", HEAD X "(out Y0 %t) (out Y1 %t) (out Y2 i64) (fold Y0 SUM v0 keep) (fold Y1 MAX v0 keep) (fold Y2 NNZ v0 keep))", 0},
    {"rows with a rest",
     HEAD X "(in X1 %t dense %1 1) (access a1 X1 stream (i 1 0) (- 0)) (param p0 %t) (out Y0 %t %1) (out Y1 %t %1) (out Y2 %t %1) "
            "(out Y3 i64 %1) (out Y4 i64 %1) (out Y5 i64 %1) (out Y6 %t %1) (out Y7 %t %1) (let v1 %t load a1) (let v2 %t ADD v0 v1) "
            "(let v3 %t param p0) (let v4 %t fold SUM j v2 rest v1) (let v5 %t fold MIN j v2 rest v1) (let v6 %t fold VAR j v2 rest v1) "
            "(let v7 i64 fold ARGMAX j v0 rest v3) (let v8 i64 fold ARGMIN j v2 rest v1) (let v9 i64 fold NNZ j v0 rest v3) "
            "(let v10 %t fold MEAN j v0 rest v3) (let v11 %t MUL v0 v5) (let v12 %t fold MAX j v11 rest v4) (store Y0 v4 keep i) "
            "(store Y1 v5 keep i) (store Y2 v6 keep i) (store Y3 v7 keep i) (store Y4 v8 keep i) (store Y5 v9 keep i) "
            "(store Y6 v10 keep i) (store Y7 v12 keep i))",
     0},
    {"the whole with a rest",
     HEAD X "(param p0 %t) (out Y0 %t) (out Y1 %t) (out Y2 %t) (out Y3 i64) (out Y4 u8) (out Y5 %t) (out Y6 %t) (out Y7 %t) "
            "(let v1 %t param p0) (let v2 %t ADD v0 v1) (fold Y0 SUM v2 rest v1 keep over i j) (fold Y1 MAX v2 rest v1 keep over i j) "
            "(fold Y2 VAR v2 rest v1 keep over i j) (fold Y3 NNZ v0 rest v1 keep over i j) (fold Y4 ALL v0 rest v1 keep over i j) "
            "(fold Y5 MEAN v2 rest v1 keep over i j) (fold Y6 SUMSQ v2 rest v1 keep over i j) (fold Y7 SUM v0 keep over i j))",
     0},
};
enum { PLANS = sizeof plans / sizeof *plans };

typedef struct extents {
    int64_t n[4];
} extents; /* rows, columns, rank, columns of a side */

static void spell(char *out, size_t room, const char *text, const extents *x, clf_dtype t) {
    size_t n = 0;
    for (; *text && n + 24 < room; text++) {
        if (*text != '%')
            out[n++] = *text;
        else if (*++text == 't')
            n += (size_t)snprintf(out + n, room - n, "%s", clf_dtype_name(t));
        else
            n += (size_t)snprintf(out + n, room - n, "%lld", (long long)x->n[*text - '1']);
    }
    out[n] = 0;
}

/* ---- patterns ---- */

static bool half_in_one(int64_t i, int64_t k, void *at) {
    const extents *x = at;
    int64_t row = x->n[0] / 3;
    if (i < 2 || i > x->n[0] - 3) return x->n[0] < 6 && k % 3 == 0;
    return i == row || (i * 7919 + k * 104729) % (x->n[0] + 1) == 0;
}
static bool never(int64_t i, int64_t k, void *at) { return (void)i, (void)k, (void)at, false; }
static bool always(int64_t i, int64_t k, void *at) { return (void)i, (void)k, (void)at, true; }

/* Of further CSR operands: a fifth of all cells and one whole row, or one in 61, in every third row. */
static bool one_of_five(int64_t i, int64_t k, void *at) { return (i * 31 + k * 17) % 5 == 0 || i == ((const extents *)at)->n[0] / 2; }
static bool one_of_many(int64_t i, int64_t k, void *at) { return (void)at, i % 3 == 0 && (i * 13 + k * 7) % 61 < 3; }

typedef struct shape {
    const char *name;
    extents x;
    double density;
    bool (*has)(int64_t i, int64_t k, void *at);
} shape;

static void make(kernel_job *j, const struct plan *p, const shape *s, clf_dtype t, job_data data) {
    char text[4096];
    clf_err err = {0};
    spell(text, sizeof text, p->text, &s->x, t);
    CU_ASSERT_EQUAL_FATAL(job_text(j, 11, text, &err), CLF_OK);
    job_memory(j, data, s->density);
    extents at = s->x;
    if (s->has) job_sparse(j, 0, s->has, &at, data);
    for (int k = 1; k < j->c.nin; k++)
        if (j->c.in[k].format == CLF_CSR) job_sparse(j, k, k == 2 ? one_of_many : one_of_five, &at, data);
}

#endif
