/* SPDX-License-Identifier: Apache-2.0
 * What the text readers share: a text in memory, messages that say where, and a cursor over blank-separated fields. */
#ifndef CLF_FORMATS_TEXT_H
#define CLF_FORMATS_TEXT_H
#include "core/ask.h"
#include "core/dtype.h"
#include "core/err.h"

typedef struct clf_text {
    const char *name;        /* of the file, for messages */
    const char *start, *end; /* without a byte order mark */
    clf_err *err;
    const clf_ask *ask;      /* NULL: nobody is asked */
    const char *asked;       /* where that was last */
} clf_text;

/** Wrap n bytes. errors: CLF_E_LIMIT when n is beyond what offsets hold. */
clf_status clf_text_init(clf_text *t, const char *name, const void *p, size_t n, clf_err *err);
/** Fail with "NAME: line L, column C: what". The line is that of `at`; field 0 leaves the column out. cost: counts lines from the start. */
clf_status clf_text_fail(const clf_text *t, const char *at, int64_t field, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/** Refuse a NUL byte. separators: the bytes that part fields, to name the column. */
clf_status clf_text_check_nul(const clf_text *t, const char *separators);

/** A reader has come to `at`: every MiB, is it to go on? */
clf_status clf_text_ask(clf_text *t, const char *at);
enum { CLF_TEXT_ASK_BYTES = 1 << 20 };
static inline clf_status clf_text_go_on(clf_text *t, const char *at) {
    return at < t->asked || at - t->asked >= CLF_TEXT_ASK_BYTES ? clf_text_ask(t, at) : CLF_OK;
}

enum { CLF_TEXT_SHOWN = 32 };
/** n bytes made fit for a message: quoted, cut after some 24, what does not print as '?'. */
const char *clf_text_show(char out[CLF_TEXT_SHOWN], const char *p, size_t n);

/* A place in a text, moving over fields parted by blanks (space, tab, carriage return), line by line. */
typedef struct clf_cursor {
    const clf_text *t;
    const char *at;
    int64_t field; /* 1-based number of the field last taken in the line */
    char comment;  /* starts a comment that runs to the end of the line */
} clf_cursor;
void clf_cursor_init(clf_cursor *c, const clf_text *t, char comment);
/** Move to the next field, over line ends and comments; false at the end of the text. Restarts `field` in a new line. */
bool clf_cursor_find(clf_cursor *c);
/** Skip blanks; true when the line has no further field. */
bool clf_cursor_eol(clf_cursor *c);
/** Length of the field at hand. */
size_t clf_cursor_length(const clf_cursor *c);
/** Take a whole number in [min, max] or a number. `what` names it in the message. A field may end at `stop` too (0: none). */
clf_status clf_cursor_count(clf_cursor *c, const char *what, int64_t min, int64_t max, char stop, int64_t *out);
clf_status clf_cursor_number(clf_cursor *c, const char *what, clf_dtype t, double *out);
/** Refuse a further field in the line. */
clf_status clf_cursor_end_line(clf_cursor *c);
/** Fail at the cursor. */
#define CLF_CURSOR_FAIL(c, ...) clf_text_fail((c)->t, (c)->at, (c)->field, __VA_ARGS__)
#endif
