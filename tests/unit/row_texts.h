/* SPDX-License-Identifier: Apache-2.0
 * Cplans in row form over dense operands, for the suites of row skeletons (tests/support/text_case.h): $n $m $k are extents, $s is m + k,
 * $o is m + 1, $t the element type. */
#ifndef CLF_TESTS_ROW_TEXTS_H
#define CLF_TESTS_ROW_TEXTS_H
#include "tests/support/text_case.h"

#define HEAD_J \
    "(cplan (axis i range free $n) (axis j range free $m) (in X $t dense $n $m) (access a0 X stream (i 1 0) (j 1 0)) (let x $t load a0) "
#define HEAD_ASCENDING \
    "(cplan (axis i range free $n) (axis j range ascending $m) (in X $t dense $n $m) (access a0 X stream (i 1 0) (j 1 0)) (let x $t load " \
    "a0) "
#define HEAD_JK \
    "(cplan (axis i range free $n) (axis j range free $m) (axis k range free $k) (in X $t dense $n $m) (in V $t dense $m $k) " \
    "(access a0 X stream (i 1 0) (j 1 0)) (access a1 V stream (j 1 0) (k 1 0)) (let x $t load a0) (let v $t load a1) "
#define HEAD_T \
    "(cplan (axis i range free $n) (axis j range free $m) (axis k range free $k) (in X $t dense $n $m) (in V $t dense $k $m) " \
    "(access a0 X stream (i 1 0) (j 1 0)) (access a1 V stream (k 1 0) (j 1 0)) (let x $t load a0) (let v $t load a1) "
#define VECTOR "(in v $t dense $m 1) (access av v stream (j 1 0) (- 0)) (let b $t load av) "
#define WEIGHT "(in w $t dense $n 1) (access aw w stream (i 1 0) (- 0)) (let c $t load aw) "
#define WEIGHTS "(in W $t dense $n $k) (access aw W stream (i 1 0) (k 1 0)) (let c $t load aw) "

static const char mvchain[] = HEAD_J VECTOR WEIGHT "(out Y $t $m) (let s $t dot j x b) (let q $t MUL c s) (dot Y x q keep j))";
static const char xtxv[] = HEAD_J VECTOR "(out Y $t $m) (let s $t dot j x b) (dot Y x s keep j))";
static const char xv[] = HEAD_J VECTOR "(out Y $t $n) (let s $t dot j x b) (store Y s keep i))";
static const char xtv[] = HEAD_J WEIGHT "(out Y $t $m) (dot Y x c keep j))";
static const char row_norms[] =
    HEAD_J "(out Y $t $n) (out Z $t $m) (let s $t dot j x x) (let r $t SQRT s) (let y $t DIV x r) (store Y r keep i)"
           " (dot Z y x keep j))";
static const char centred[] = /* what columns have is in a sum over rows, and in kept cells */
    HEAD_J VECTOR "(out Y $t $m) (out Z $t $n $m) (let a $t MUL b b) (let d $t SUB x a) (let s $t dot j d b) (let y $t MUL d s)"
                  " (fold Y SUM y keep j) (store Z y keep i j))";
static const char vector_dot[] = HEAD_J VECTOR "(out Y $t $n $m) (let s $t dot j b b) (let y $t MUL x s) (store Y y keep i j))";
static const char mmchain[] = HEAD_JK WEIGHTS "(out Y $t $m $k) (let s $t dot j x v) (let q $t MUL c s) (dot Y x q keep j k))";
static const char mlogreg[] = HEAD_JK WEIGHTS "(out Y $t $m $k) (let s $t dot j x v) (let q $t MUL c s) (let r $t fold SUM k q)"
                                              " (let a $t MUL c r) (let d $t SUB q a) (dot Y x d keep j k))";
static const char product[] = HEAD_JK "(out Y $t $n $k) (let s $t dot j x v) (store Y s keep i k))";
static const char product_folds[] = HEAD_JK "(out Y $t $n $k) (out Z $t $k) (out A i64 $n) (out B $t) (let s $t dot j x v) (let e $t ABS s)"
                                            " (store Y e keep i k) (fold Z SUM s keep k) (fold A ARGMAX s keep i) (fold B MAX s keep))";
static const char product_of_cells[] =
    HEAD_JK "(out Y $t $n $k) (let y $t ADD x x) (let z $t ABS y) (let s $t dot j z v) (store Y s keep i k))";
static const char product_t[] = HEAD_T "(out Y $t $n $k) (let s $t dot j x v) (store Y s keep i k))";
static const char mmchain_t[] = HEAD_T WEIGHTS "(out Y $t $m $k) (let s $t dot j x v) (let q $t MUL c s) (dot Y x q keep j k))";
#define BACK WEIGHTS "(out Y $t $m) (let s $t dot j x v) (let d $t SUB s c) (let e $t dot k d v) (let f $t MUL e x) (fold Y SUM f keep j))"
static const char there_and_back[] = HEAD_JK BACK, there_and_back_t[] = HEAD_T BACK; /* one access, folded along both of its axes */
static const char cross[] =
    "(cplan (axis i range free $n) (axis j range free $m) (axis k range free $k) (in X $t dense $n $m) (in Z $t dense $n $k)"
    " (out Y $t $m $k) (access a0 X stream (i 1 0) (j 1 0)) (access a1 Z stream (i 1 0) (k 1 0)) (let x $t load a0)"
    " (let z $t load a1) (dot Y z x keep j k))";
/* t(Q) %*% Q: Q is X; is made of X, and read along both axes by others; is X, but other columns of it, or another operator, each time. */
#define GRAM \
    "(cplan (axis i range free $n) (axis j range free $m) (axis k range free $m) (in X $t dense $n $o) (in w $t dense $n) (in c $t dense $m)" \
    " (out Y $t $m $m) (access a0 X stream (i 1 0) (j 1 0)) (access a1 X stream (i 1 0) (k 1 0)) (access aw w stream (i 1 0))" \
    " (access aj c stream (j 1 0)) (access ak c stream (k 1 0)) (let x $t load a0) (let z $t load a1) (let r $t load aw)" \
    " (let a $t load aj) (let b $t load ak) "
static const char gram[] = GRAM "(dot Y z x keep j k))";
static const char gram_made[] =
    GRAM "(out A $t $m) (out B $t $m) (out C $t $n) (let d $t SUB x a) (let e $t MUL r d) (let s $t fold SUM j e) (let y $t ADD e s)"
         " (let f $t SUB z b) (let g $t MUL r f) (let t $t fold SUM k g) (let q $t ADD g t) (dot Y y q keep j k) (fold A SUM y keep j)"
         " (fold B MAX q keep k) (store C t keep i))";
static const char gram_columns[] = GRAM "(access a2 X stream (i 1 0) (k 1 1)) (let y $t load a2) (dot Y x y keep j k))";
static const char gram_terms[] = GRAM "(let y $t SUB x a) (let q $t SUB b z) (dot Y y q keep j k))";
static const char gram_weighted[] = GRAM "(let y $t MUL x r) (dot Y y z keep j k))";
/* t(X) %*% (w * Z) with what each row sums to, and beside it a product that takes X the usual way. */
static const char weighted[] =
    "(cplan (axis i range free $n) (axis j range free $m) (axis k range free $k) (axis l range free 3) (in X $t dense $n $m)"
    " (in Z $t dense $n $k) (in w $t dense $n) (in V $t dense $n 3) (out Y $t $m $k) (out A $t $m 3) (out B $t $n)"
    " (access a0 X stream (i 1 0) (j 1 0)) (access a1 Z stream (i 1 0) (k 1 0)) (access a2 w stream (i 1 0))"
    " (access a3 V stream (i 1 0) (l 1 0)) (let x $t load a0)"
    " (let z $t load a1) (let c $t load a2) (let v $t load a3) (let s $t MUL c z) (let r $t fold SUM k s) (let y $t ADD x r)"
    " (dot Y y s keep j k) (dot A y v keep j l) (store B r keep i))";
/* The nearest of k centres, with shares for ties: what is added up of each, and of the distances. */
#define NEAREST \
    "(in r $t dense 1 $k) (access ar r stream (- 0) (k 1 0)) (let c $t load ar) (out A $t $k) (out B $t $m $k) (out D $t)" \
    " (let s $t dot j x v) (let d $t ADD s c) (let l $t fold MIN k d) (let e $t SUB l d) (let g $t SIGN e) (let o $t fold SUM k g)" \
    " (let q $t SUB g o) (fold A SUM q keep k) (dot B q x keep j k) (fold D SUM l keep))"
static const char nearest[] = HEAD_JK NEAREST, nearest_t[] = HEAD_T NEAREST;
static const char nearest_first[] = /* the centres' axis before the cells' */
    "(cplan (axis i range free $n) (axis k range free $k) (axis j range free $m) (in X $t dense $n $m) (in V $t dense $k $m)"
    " (access a0 X stream (i 1 0) (j 1 0)) (access a1 V stream (k 1 0) (j 1 0)) (let x $t load a0) (let v $t load a1)"
    " (out B $t $k $m) (let s $t dot j x v) (let l $t fold MIN k s) (let e $t SUB l s) (dot B e x keep k j))";
/* Everything that leaves a row, of what is computed inside it; positions along the row and down the column, and a truth value. */
static const char row_leaves[] =
    HEAD_JK WEIGHT "(out A i64 $n) (out B $t $n $k) (out C $t $n) (out D $t $m) (out E $t) (out F $t $k) (out G $t $n) (out H u8 $n $k)"
                   " (let s $t dot j x v) (let p i64 index k) (let f $t cast p) (let d $t ADD s f) (let l $t fold MAX k d)"
                   " (let e $t SUB d l) (let h u8 LT e f) (let t i64 index i) (let z $t cast t) (let y $t MUL z l) (store B e keep i k)"
                   " (store H h keep i k) (store G y keep i) (fold A ARGMIN e keep i) (fold C VAR e keep i) (dot D x l keep j)"
                   " (dot E l c keep) (fold F VAR e keep k))";
static const char softmax[] = HEAD_J "(out Y $t $n $m) (let a $t fold MAX j x) (let b $t SUB x a) (let e $t SQRT b) (let s $t fold SUM j e)"
                                     " (let y $t DIV e s) (store Y y keep i j))";
static const char scaled[] = HEAD_J "(out Y $t $n $m) (out Z $t $n) (let s $t fold SUM j x) (let y $t DIV x s) (store Y y keep i j)"
                                    " (store Z s keep i))";
static const char row_max[] = HEAD_J "(out Y i64 $n) (out Z $t $n) (out A $t $m) (let p i64 fold ARGMAX j x) (let a $t fold MAX j x)"
                                     " (let y $t SUB x a) (store Y p keep i) (fold Z VAR y keep i) (fold A SUM y keep j))";
/* Much computed once a row, of a column (every second cell of a wider one), a product, the row's number and a whole number. */
static const char row_scalars[] =
    HEAD_J VECTOR "(in w $t dense $n 2) (access aw w stream (i 1 0) (- 1)) (let c $t load aw) (out Y $t $m) (out Z f64 $n) (out A $t)"
                  " (out B i64 $n) (let s $t dot j x b) (let a $t MUL s c) (let e $t SQRT a) (let g i64 cast e) (let h $t cast g)"
                  " (let p i64 index i) (let q i64 ADD p g) (let y $t SUB e h) (let z $t DIV y c) (let u $t MUL z z) (let f f64 cast u)"
                  " (store Z f keep i) (store B q keep i) (fold A SUM z keep) (dot Y x z keep j))";
static const char row_functions[] =
    HEAD_J VECTOR WEIGHT "(out Y $t $m) (out Z $t $n) (let s $t dot j x b) (let a $t ABS s) (let n $t NEG a) (let e $t EXP n)"
                         " (let q $t PNORM n) (let r $t DIV e q) (let g u8 LT a c) (let h $t cast g) (let y $t IFELSE h r e)"
                         " (let z $t TANH y) (let t $t LOG y) (let u $t SIN z) (let p $t POW a u) (let f $t ADD p t)"
                         " (store Z f keep i) (dot Y x y keep j))";
static const char scan[] = HEAD_ASCENDING "(out Y $t $n $m) (out Z $t $n) (let s $t scan SUM j x) (let y $t ADD s x) (store Y y keep i j)"
                                          " (fold Z MAX s keep i))";
#define HEAD_ONE \
    "(cplan (axis i range free $n) (axis j range free $m) (axis g range ascending $o) (in X $t dense $n $m) (in V $t dense $o 1)" \
    " (access a0 X stream (i 1 0) (j 1 0)) (access a1 V stream (g 1 0) (- 0)) (let x $t load a0) (let v $t load a1) "
#define HEAD_CAT \
    "(cplan (axis i range free $n) (axis j range free $m) (axis k range free $k) (axis g range free $s) (in X $t dense $n $m)" \
    " (in Z $t dense $n $k) (access a0 X stream (i 1 0) (j 1 0)) (access a1 Z stream (i 1 0) (k 1 0)) (let x $t load a0)" \
    " (let z $t load a1) "
static const char cat_chain[] = HEAD_ONE WEIGHT "(out Y $t $o) (param p $t) (let one $t param p) (let q $t cat g x j one -)"
                                                " (let s $t dot g q v) (let r $t MUL c s) (dot Y q r keep g))";
static const char cat_scan[] =
    HEAD_ONE "(out Y $t $n $o) (out A $t $n) (let m $t fold MAX j x) (let q $t cat g m - x j) (let s $t scan SUM g q)"
             " (let y $t MUL s v) (store Y y keep i g) (fold A MIN y keep i over g))";
static const char cat_two[] = HEAD_CAT "(out Y $t $n $s) (out A $t $s) (out B i64 $n) (let y $t ADD x x) (let q $t cat g y j z k)"
                                       " (let e $t fold SUM g q) (let d $t SUB q e) (store Y d keep i g) (fold A SUM d keep g over i)"
                                       " (fold B ARGMAX q keep i over g))";
static const char cat_vectors[] =
    HEAD_CAT "(in B $t dense $k 1) (access ab B stream (k 1 0) (- 0)) (out Y $t $n $s) (out A $t $k $s) (let b $t load ab)"
             " (let f $t fold SUM k b) (let q $t cat g x j b k) (let u $t cat g f j z k) (let y $t SUB q u) (store Y y keep i g)"
             " (dot A q z keep k g))";
static const char totals[] =
    HEAD_J WEIGHT "(out Y $t) (out Z $t) (let s $t fold SUM j x) (let y $t MUL x s) (fold Y SUM y keep) (fold Z MAX x keep))";
/* Optimised by PoCL 3.1, the second of three or more folds of all cells has lost its states. */
static const char three_totals[] =
    HEAD_J WEIGHT "(out Y $t) (out Z $t) (out A $t) (out B $t) (out C $t $n) (let s $t fold SUM j x) (let y $t MUL x c) (fold Y SUM y keep)"
                  " (fold Z MIN x keep) (fold A VAR x keep) (fold B SUM s keep) (store C s keep i))";
static const char row_totals[] =
    HEAD_J WEIGHT "(out Y $t) (out Z i64) (out A $t) (let s $t fold SUM j x) (let y $t MUL c s) (fold Y SUM y keep)"
                  " (fold Z ARGMIN s keep) (dot A y s keep))";
/* Over rows times j, rows times k, and rows alone. */
static const char three_widths[] =
    HEAD_JK "(out Y $t) (out Z i64) (out A $t) (out B $t) (out C $t $n) (let s $t dot j x v) (let r $t fold MAX k s)"
            " (fold Y VAR x keep) (fold Z ARGMAX s keep) (fold A SUM s keep) (fold B VAR r keep) (store C r keep i))";
static const char column_folds[] = HEAD_J "(out Y $t $m) (out Z i64 $m) (out A $t $m) (let s $t fold MAX j x) (let y $t SUB x s)"
                                          " (fold Y VAR y keep j) (fold Z ARGMIN y keep j) (dot A y x keep j))";
static const char two_widths[] =
    HEAD_JK "(out Y $t $m) (out Z $t $k) (out A $t $m $k) (out B $t $n) (let s $t dot j x v) (let r $t fold MAX k s)"
            " (fold Y SUM x keep j) (fold Z SUM s keep k) (dot A x s keep j k) (store B r keep i))";
static const char annihilating[] =
    HEAD_JK WEIGHT "(out Y $t $m $k) (out Z $t $m) (out A $t) (let s $t dot j x v skip 1) (let r $t dot j x x skip 2)"
                   " (dot Y s x skip 1 keep j k) (dot Z x c skip 3 keep j) (dot A r c skip 2 keep))";
static const char positions[] =
    HEAD_J "(out Y $t $n $m) (param p $t) (let q $t param p) (let a i64 index i) (let b i64 index j) (let d i64 ADD a b)"
           " (let e $t cast d) (let s $t fold SUM j x) (let f $t ADD s e) (let y $t MUL f q) (store Y y keep i j))";

/* One number for each row, of these or of whole columns a fold. */
static inline void check_folds_over_rows(text_suite *u) {
    TEXT_CHECK(u, row_totals, {5131, 10, 0, "f64", 2}, {133, 530, 0, "f64", 1}, {4500, 3, 0, "f32", 1}, {0, 4, 0, "f64", 1});
    TEXT_CHECK(u, column_folds, {5131, 10, 0, "f64", 2}, {133, 530, 0, "f64", 2}, {450, 3, 0, "f32", 1}, {0, 4, 0, "f64", 1});
    TEXT_CHECK(u, two_widths, {2000, 1000, 8, "f64", 2}, {300, 10, 3, "f64", 1});
}

static inline int64_t sum_of(char letter, const text_shape *s) { return letter == 's' ? s->b + s->c : s->b + 1; }
#endif
