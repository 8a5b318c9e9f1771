/* SPDX-License-Identifier: Apache-2.0
 * The functions of the language, one row each: name, how many arguments, their names, what builds it, and the operator or fold it
 * stands for. Cell operators whose name in the operator table is the language's (exp, atan2, ifelse, ...) need no row. */
#include "host/lang/lang.h"

#define FULL(fn, FOLD) \
    { .name = fn, .min = 1, .max = 1, .build = clf_lang_fold, .code = CLF_FOLD_CODE_##FOLD, .dir = CLF_ALL }
#define ROWS(fn, FOLD) \
    { .name = fn, .min = 1, .max = 1, .build = clf_lang_fold, .code = CLF_FOLD_CODE_##FOLD, .dir = CLF_ROWS }
#define COLS(fn, FOLD) \
    { .name = fn, .min = 1, .max = 1, .build = clf_lang_fold, .code = CLF_FOLD_CODE_##FOLD, .dir = CLF_COLS }
#define CUM(fn, FOLD) \
    { .name = fn, .min = 1, .max = 1, .build = clf_lang_cum, .code = CLF_FOLD_CODE_##FOLD }
#define ONE(fn, call) \
    { .name = fn, .min = 1, .max = 1, .build = clf_lang_one, .one = call }

/* clang-format off */
const clf_lang_fn clf_lang_fns[] = {
    FULL("sum", SUM),      FULL("mean", MEAN),    FULL("prod", PROD),    FULL("var", VAR),
    ROWS("rowSums", SUM),  ROWS("rowMeans", MEAN), ROWS("rowMaxs", MAX), ROWS("rowMins", MIN), ROWS("rowVars", VAR), ROWS("rowProds", PROD),
    COLS("colSums", SUM),  COLS("colMeans", MEAN), COLS("colMaxs", MAX), COLS("colMins", MIN), COLS("colVars", VAR), COLS("colProds", PROD),
    ROWS("rowIndexMax", ARGMAX), ROWS("rowIndexMin", ARGMIN),
    CUM("cumsum", SUM),    CUM("cumprod", PROD),  CUM("cummin", MIN),    CUM("cummax", MAX),
    {.name = "sd",  .min = 1, .max = 1, .build = clf_lang_sd},
    {.name = "min", .min = 1, .max = CLF_LANG_MANY, .build = clf_lang_extreme, .code = CLF_MIN, .dir = CLF_FOLD_CODE_MIN},
    {.name = "max", .min = 1, .max = CLF_LANG_MANY, .build = clf_lang_extreme, .code = CLF_MAX, .dir = CLF_FOLD_CODE_MAX},
    {.name = "log", .min = 1, .max = 2, .params = "x,base", .build = clf_lang_log},
    {.name = "is.na", .min = 1, .max = 1, .build = clf_lang_cell, .code = CLF_ISNAN},
    {.name = "replace", .min = 3, .max = 3, .params = "target,pattern,replacement", .build = clf_lang_cell, .code = CLF_REPLACE},
    {.name = "outer", .min = 2, .max = 3, .params = "u,v,op", .build = clf_lang_outer},
    ONE("t", clf_t), ONE("diag", clf_diag), ONE("rev", clf_rev), ONE("as.scalar", clf_as_scalar), ONE("as.matrix", clf_as_matrix),
    {.name = "cbind", .min = 1, .max = CLF_LANG_MANY, .build = clf_lang_chain, .two = clf_cbind},
    {.name = "rbind", .min = 1, .max = CLF_LANG_MANY, .build = clf_lang_chain, .two = clf_rbind},
    {.name = "nrow",   .min = 1, .max = 1, .build = clf_lang_extent, .code = 1},
    {.name = "ncol",   .min = 1, .max = 1, .build = clf_lang_extent, .code = 2},
    {.name = "length", .min = 1, .max = 1, .build = clf_lang_extent, .code = 3},
    {.name = "seq",    .min = 2, .max = 3, .params = "from,to,by", .build = clf_lang_seq},
    {.name = "matrix", .min = 1, .max = 3, .params = "v,rows,cols", .build = clf_lang_matrix},
    {.name = "rand",   .min = 2, .max = 6, .params = "rows,cols,min,max,sparsity,seed", .build = clf_lang_rand},
    {.name = "order",  .min = 1, .max = 4, .params = "target,by,decreasing,index.return", .build = clf_lang_order},
    {.name = "grad",   .min = 2, .max = 2, .params = "loss,x", .build = clf_lang_grad},
    {.name = NULL},
};
