/* SPDX-License-Identifier: Apache-2.0
 * Names and texts of status codes, from status.def. Values outside the table are answered, not asserted: they may come from a caller. */
#include "clfuse/types.h"

typedef struct status_row {
    int value;
    const char *name, *text;
} status_row;

static const status_row rows[] = {
#define CLF_STATUS(ID, value, text) {value, "CLF_" #ID, text},
#include "core/status.def"
#undef CLF_STATUS
};

#define CLF_STATUS(ID, value, text) _Static_assert(CLF_##ID == (value), "status.def and types.h disagree on " #ID);
#include "core/status.def"
#undef CLF_STATUS

static const status_row *row_of(clf_status s) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value == (int)s) return &rows[i];
    return NULL;
}

const char *clf_status_name(clf_status s) {
    const status_row *r = row_of(s);
    return r ? r->name : "CLF_E_?";
}

const char *clf_status_text(clf_status s) {
    const status_row *r = row_of(s);
    return r ? r->text : "unknown status";
}
