/* SPDX-License-Identifier: Apache-2.0
 * Errors are values: a status, and the one message that names what went wrong and where.
 * The first message wins: clf_fail on a clf_err that already holds one keeps the old text. */
#ifndef CLF_CORE_ERR_H
#define CLF_CORE_ERR_H
#include "clfuse/types.h"

enum { CLF_ERR_TEXT = 512 };
typedef struct clf_err {
    clf_status code;
    char text[CLF_ERR_TEXT];
} clf_err;

/** Record a failure (printf form) and return its code. err may be NULL. */
clf_status clf_fail(clf_err *err, clf_status code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void clf_err_clear(clf_err *err);

#define CLF_TRY(x)                                  \
    do {                                            \
        clf_status clf_try_ = (x);                  \
        if (clf_try_ != CLF_OK) return clf_try_;    \
    } while (0)
/* As CLF_TRY for functions with an `out:` label and a local `clf_status st`. */
#define CLF_GO(x)                                   \
    do {                                            \
        if ((st = (x)) != CLF_OK) goto out;         \
    } while (0)
#endif
