/* SPDX-License-Identifier: Apache-2.0
 * Recording failures. Invariant: the first message wins, since later ones are usually its consequences; the returned code is
 * always the one just given, so that `return clf_fail(...)` says what this caller saw. */
#include "core/err.h"

#include <stdarg.h>
#include <stdio.h>

clf_status clf_fail(clf_err *err, clf_status code, const char *fmt, ...) {
    if (!err || err->code != CLF_OK) return code;
    err->code = code;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    return code;
}

void clf_err_clear(clf_err *err) {
    if (!err) return;
    err->code = CLF_OK;
    err->text[0] = '\0';
}
