/* SPDX-License-Identifier: Apache-2.0
 * Numbers as text: correctly rounded in, round-trip exact out, the same under every locale. */
#ifndef CLF_FORMATS_NUMBER_H
#define CLF_FORMATS_NUMBER_H
#include "core/dtype.h"

/** Parse the longest number at [at, end): [+-] digits [. digits] [e [+-] digits], nan, inf, infinity (any case).
 *  Gives the first byte behind it, or NULL (out untouched) when no number starts here. Neither blanks nor a NUL end are needed.
 *  t is CLF_F64, or CLF_F32 for a value rounded once, to float. Too large gives infinity, too small zero. */
const char *clf_number_parse(const char *at, const char *end, clf_dtype t, double *out);
/** Parse plain decimal digits into 0 .. INT64_MAX; NULL when there is none or the value does not fit. */
const char *clf_number_parse_count(const char *at, const char *end, int64_t *out);

enum { CLF_NUMBER_TEXT = 40 };
/** Print one number as our files and the tool show it: f64 %.17g, f32 %.9g, integers plain, NaN Inf -Inf; the length is returned. */
size_t clf_number_print(char out[CLF_NUMBER_TEXT], clf_scalar s);
#endif
