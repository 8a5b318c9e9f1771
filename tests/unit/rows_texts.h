/* SPDX-License-Identifier: Apache-2.0
 * Cplans in row form as text with holes, for the suite of the row executor: what the Row and Outer templates lower to. */
#ifndef CLF_TESTS_ROWS_TEXTS_H
#define CLF_TESTS_ROWS_TEXTS_H

/* Sizes by symbol: 0 rows, 1 columns, 2 the third; output dimension 9: stored entries. T: the element type. */
typedef struct shape_text {
    const char *name, *text;
} shape_text;

#define DENSE3 "(cplan (axis i range free 1:0) (axis j range free 1:1) (axis k range free 1:2) "
#define DENSE2 "(cplan (axis i range free 1:0) (axis j range free 1:1) "
#define SPARSE "(cplan (axis i range free 1:0) (axis j entry free 1 owner a0 parent i) "
#define SPARSE3 SPARSE "(axis k range free 1:2) "
#define X_DENSE "(in X T dense 1:0 1:1) (access a0 X stream (i 1 0) (j 1 0)) "
#define X_CSR "(in X T csr 1:0 1:1) (access a0 X entries (i 1 0) (j 1 0)) "
#define CHAIN "(let v0 T load a0) (let v1 T load a1) "
#define COL_V "(in V T dense 1:1 1) (access a1 V stream (j 1 0) (- 0)) "
#define ROW_W "(in W T dense 1:0 1) (access a2 W stream (i 1 0) (- 0)) "
#define MAT_V "(in V T dense 1:1 1:2) (access a1 V stream (j 1 0) (k 1 0)) "
#define MAT_VT "(in V T dense 1:2 1:1) (access a1 V stream (k 1 0) (j 1 0)) "
#define MAT_W "(in W T dense 1:0 1:2) (access a2 W stream (i 1 0) (k 1 0)) "
#define FACTORS \
    "(axis l range free 1:2) (in U T dense 1:0 1:2) (in V T dense 1:1 1:2) (access a1 U stream (i 1 0) (l 1 0)) " \
    "(access a2 V stream (j 1 0) (l 1 0)) (let v0 T load a0) (let v1 T load a1) (let v2 T load a2) (let v3 T dot l v1 v2) "

/* Operators that every element type has. No elementary functions here: their bits are the math library's. */
static const shape_text any_type[] = {
    {"mvchain", DENSE2 X_DENSE COL_V ROW_W "(out Y T 1:1) " CHAIN "(let v2 T dot j v0 v1) (let v3 T load a2) (let v4 T MUL v3 v2) "
                                           "(dot Y v0 v4 keep j))"},
    {"mmchain", DENSE3 X_DENSE MAT_V MAT_W "(out Y T 1:1 1:2) " CHAIN "(let v2 T dot j v0 v1) (let v3 T load a2) (let v4 T MUL v3 v2) "
                                           "(dot Y v0 v4 keep j k))"},
    {"product", DENSE3 X_DENSE MAT_V "(out Y T 1:0 1:2) " CHAIN "(let v2 T dot j v0 v1) (store Y v2 keep i k))"},
    {"product of a transpose", DENSE3 X_DENSE "(in V T dense 1:2 1:1) (access a1 V stream (k 1 0) (j 1 0)) (out Y T 1:0 1:2) " CHAIN
                                              "(let v2 T dot j v0 v1 skip 1) (store Y v2 keep i k))"},
    {"product of a transpose, zeros and all",
     DENSE3 X_DENSE "(in V T dense 1:2 1:1) (access a1 V stream (k 1 0) (j 1 0)) (out Y T 1:0 1:2) " CHAIN
                    "(let v2 T dot j v0 v1) (store Y v2 keep i k))"},
    {"both sides by column",
     DENSE2 X_DENSE "(in Z T dense 1:0 1:1) (access a1 Z stream (i 1 0) (j 1 0)) (out Y T 1:1) (out Z0 T 1:0) " CHAIN
                    "(let v2 T dot j v0 v1 skip 2) (dot Y v0 v1 skip 3 keep j) (store Z0 v2 keep i))"},
    {"vectors alone",
     DENSE3 MAT_V "(in A T dense 1:1) (in X T dense 1:0 1:2) (access a0 A stream (j 1 0)) (access a2 X stream (i 1 0) (k 1 0)) "
                  "(out Y T 1:0 1:2) " CHAIN "(let v2 T dot j v0 v1) (let v3 T load a2) (let v4 T ADD v3 v2) "
                  "(store Y v4 keep i k))"},
    {"swapped sides", DENSE3 X_DENSE MAT_W "(out Y T 1:1 1:2) (let v0 T load a0) (let v1 T load a2) (dot Y v1 v0 skip 1 keep j k))"},
    {"column range", DENSE2 "(in X T dense 1:0 1:3) (access a0 X stream (i 1 0) (j 1 2)) " COL_V "(out Y T 1:0) " CHAIN
                            "(let v2 T MUL v0 v1) (let v3 T dot j v2 v0) (store Y v3 keep i))"},
    {"transposed main", DENSE2 "(in X T dense 1:1 1:0) (access a0 X stream (j 1 0) (i 1 0)) " COL_V "(out Y T 1:0) " CHAIN
                               "(let v2 T dot j v0 v1) (store Y v2 keep i))"},
    {"max and sign", DENSE2 X_DENSE "(out Y T 1:0) (out A i64 1:0) (out C T 1:1) (out S T) (let v0 T load a0) (let v1 T fold MAX j v0) "
                                    "(let v2 T SUB v0 v1) (let v3 T ABS v2) (store Y v1 keep i) (fold A ARGMAX v0 keep i) "
                                    "(fold C MIN v3 keep j) (fold S MAX v1 keep))"},
    {"spmv", SPARSE X_CSR COL_V "(out Y T 1:0) " CHAIN "(let v2 T dot j v0 v1) (store Y v2 keep i))"},
    {"spmv, vector first", SPARSE X_CSR COL_V "(out Y T 1:0) " CHAIN "(let v2 T dot j v1 v0 skip 2) (store Y v2 keep i))"},
    {"sparse mvchain", SPARSE X_CSR COL_V ROW_W "(out Y T 1:1) " CHAIN "(let v2 T dot j v0 v1 skip 1) (let v3 T load a2) "
                                                "(let v4 T MUL v3 v2) (dot Y v0 v4 skip 1 keep j))"},
    {"sparse mmchain", SPARSE3 X_CSR MAT_V MAT_W "(out Y T 1:1 1:2) " CHAIN "(let v2 T dot j v0 v1) (let v3 T load a2) "
                                                 "(let v4 T MUL v3 v2) (dot Y v0 v4 keep j k))"},
    {"sparse product of a transpose",
     SPARSE3 X_CSR MAT_VT "(out Y T 1:0 1:2) " CHAIN "(let v2 T dot j v0 v1 skip 1) (store Y v2 keep i k))"},
    {"sparse mmchain of a transpose", SPARSE3 X_CSR MAT_VT MAT_W "(out Y T 1:1 1:2) " CHAIN "(let v2 T dot j v0 v1) (let v3 T load a2) "
                                                                 "(let v4 T MUL v3 v2) (dot Y v0 v4 skip 1 keep j k))"},
    {"columns behind", "(cplan (axis i range free 1:0) (axis k range free 1:2) (axis j entry free 1 owner a0 parent i) " X_CSR MAT_W
                       "(out Y T 1:2 1:1) (let v0 T load a0) (let v1 T load a2) (dot Y v0 v1 skip 1 keep k j))"},
    {"sparse right", SPARSE3 FACTORS X_CSR "(in Q T dense 1:1 1:2) (access a3 Q stream (j 1 0) (k 1 0)) (out Y T 1:0 1:2) "
                                           "(let v4 T MUL v0 v3) (let v5 T load a3) (let v6 T dot j v4 v5 skip 1) (store Y v6 keep i k))"},
    {"sparse left", SPARSE3 FACTORS X_CSR "(access a3 U stream (i 1 0) (k 1 0)) (out Y T 1:1 1:2) (let v4 T MUL v0 v3) "
                                          "(let v5 T load a3) (dot Y v4 v5 keep j k))"},
    {"pattern", SPARSE FACTORS X_CSR "(out Y T 1:9) (let v4 T MUL v0 v3) (pattern Y v4 keep i j))"},
    {"pattern, factor across", SPARSE X_CSR "(axis l range free 1:2) (in U T dense 1:0 1:2) (in V T dense 1:2 1:1) "
                                            "(access a1 U stream (i 1 0) (l 1 0)) (access a2 V stream (l 1 0) (j 1 0)) (out Y T 1:9) " CHAIN
                                            "(let v2 T load a2) (let v3 T dot l v1 v2) (let v4 T MUL v0 v3) (pattern Y v4 keep i j))"},
    {"sparse extremes", SPARSE X_CSR "(out R T 1:0) (out C T 1:1) (out S T) (out A i64 1:0) (out B i64 1:1) (let v0 T load a0) "
                                     "(fold R MIN v0 keep i) (fold C MAX v0 keep j) (fold S MIN v0 keep) (fold A ARGMIN v0 keep i) "
                                     "(fold B ARGMAX v0 keep j))"},
    {"both by entry", SPARSE X_CSR COL_V "(out Y T 1:1) " CHAIN "(let v2 T ADD v0 v1) (dot Y v0 v2 skip 1 keep j))"},
};

/* Of a scan the reference executor computes every cell from the row's begin: apart, for rows of their own sizes. */
static const shape_text scans[] = {
    {"cumulated", "(cplan (axis i range free 1:0) (axis j range ascending 1:1) " X_DENSE
                  "(out Y T 1:0 1:1) (out S T) (out N i64 1:1) (let v0 T load a0) (let v1 T scan SUM j v0) (let v2 i64 index j) "
                  "(let v3 T cast v2) (let v4 T MUL v1 v3) (store Y v4 keep i j) (fold S SUM v4 keep) (fold N NNZ v4 keep j))"},
};

/* Five more columns, one of them a number a row, behind (or in front of) those of X: 1:3 columns. */
#define CAT5 \
    "(cplan (axis i range free 1:0) (axis j range free 1:1) (axis o range free 4) (axis p range free 5) (axis l range ascending 1:3) "
#define FIVE \
    "(in Z T dense 1:0 4) (in w T dense 1:0 1) (access a3 Z stream (i 1 0) (o 1 0)) (access a4 w stream (i 1 0) (- 0)) " \
    "(let v0 T load a0) (let v1 T load a3) (let v2 T load a4) (let v3 T cat p v1 o v2 -) "
static const shape_text cats[] = {
    {"cat chain", CAT5 X_DENSE "(in V T dense 1:3 1) (access a1 V stream (l 1 0) (- 0)) (out Y T 1:3) " FIVE
                               "(let v4 T cat l v0 j v3 p) (let v5 T load a1) (let v6 T dot l v4 v5) (let v7 T MUL v2 v6) "
                               "(dot Y v4 v7 keep l))"},
    {"cat stored, in front", CAT5 X_DENSE "(out Y T 1:0 1:3) (out S T 1:0) (out C T 1:3) " FIVE
                                          "(let v4 T cat l v3 p v0 j) (let v5 T fold MAX l v4) (let v6 T SUB v4 v5) "
                                          "(store Y v6 keep i l) (fold S SUM v4 keep i over l) (fold C MIN v6 keep l over i))"},
    {"cat cumulated", CAT5 X_DENSE "(out Y T 1:0 1:3) (out S T) " FIVE "(let v4 T ABS v0) (let v5 T cat l v4 j v3 p) "
                                   "(let v6 T scan SUM l v5) (store Y v6 keep i l) (fold S SUM v6 keep over i l))"},
    {"cat of vectors", CAT5 X_DENSE "(in V T dense 1:1 1) (access a1 V stream (j 1 0) (- 0)) (param p0 T) (out Y T 1:0 1:3) (out B T) " FIVE
                                    "(let v4 T param p0) (let v5 T load a1) (let v6 T cat p v4 o v4 -) (let v7 T cat l v5 j v6 p) "
                                    "(let v8 T cat l v0 j v6 p) (let v9 T cat l v2 j v3 p) (let v10 T MUL v8 v7) (let v11 T ADD v10 v9) "
                                    "(let v12 T fold MAX l v7) (store Y v11 keep i l) (store B v12 keep))"},
};

static const shape_text floats[] = {
    {"mlogreg", DENSE3 X_DENSE MAT_V MAT_W
     "(out Y T 1:1 1:2) " CHAIN
     "(let v2 T dot j v0 v1) (let v3 T load a2) (let v4 T MUL v3 v2) (let v5 T fold SUM k v4) (let v6 T MUL v3 v5) "
     "(let v7 T SUB v4 v6) (dot Y v0 v7 keep j k))"},
    {"softmax, with a square for exp",
     DENSE2 X_DENSE "(out Y T 1:0 1:1) (let v0 T load a0) (let v1 T fold MAX j v0) (let v2 T SUB v0 v1) (let v3 T SQR v2) "
                    "(let v4 T fold SUM j v3) (let v5 T DIV v3 v4) (store Y v5 keep i j))"},
    {"row statistics",
     DENSE2 X_DENSE COL_V "(param p0 T) (out M T 1:0) (out V0 T 1:0) (out C T 1:1) (out S T) (out B u8) " CHAIN
                          "(let v2 T MUL v0 v1) (let v3 T param p0) (let v4 T ADD v2 v3) (let v5 T fold MEAN j v4) (let v6 T SUB v4 v5) "
                          "(store M v5 keep i) (fold V0 VAR v6 keep i) (fold C VAR v6 keep j) (fold S SUM v6 keep) (fold B ANY v6 keep))"},
    {"outer loss, with a root for log",
     SPARSE FACTORS X_CSR "(param p0 T) (out Y T) (let v4 T param p0) (let v5 T ABS v3) (let v6 T ADD v5 v4) (let v7 T SQRT v6) "
                          "(let v8 T MUL v0 v7) (fold Y SUM v8 keep))"},
    {"sparse sums", SPARSE X_CSR ROW_W "(out R T 1:0) (out C T 1:1) (out S T) (out D T 1:9) (let v0 T load a0) (let v1 T load a2) "
                                       "(let v2 T MUL v0 v1) (fold R SUM v2 keep i) (fold C SUM v2 keep j) (fold S SUM v2 keep) "
                                       "(let v3 T fold SUM j v2) (let v4 T DIV v2 v3) (pattern D v4 keep i j))"},
    {"sparse positions", SPARSE X_CSR "(out S T) (out C T 1:1) (out V0 T 1:0) (let v0 T load a0) (let v1 i64 index j) (let v2 i64 index i) "
                                      "(let v3 i64 SUB v1 v2) (let v4 T cast v3) (let v5 T MUL v0 v4) (fold S VAR v5 keep) "
                                      "(fold C MEAN v5 keep j) (fold V0 VAR v5 keep i))"},
    {"sparse scaled", SPARSE X_CSR "(in D T dense 1:0 1:1) (access a1 D stream (i 1 0) (j 1 0)) (out Y T 1:9) (out S T) " CHAIN
                                   "(let v2 T MUL v0 v1) (pattern Y v2 keep i j) (fold S SUMSQ v2 keep))"},
};
#endif
