/* SPDX-License-Identifier: Apache-2.0
 * Error lines and exit codes. Every error is one line, whatever a message holds: line breaks and control characters become blanks. */
#include <stdarg.h>
#include <string.h>

#include "host/tool/tool.h"

static void say(const char *head, const char *fmt, va_list ap) {
    char text[1024];
    vsnprintf(text, sizeof text, fmt, ap);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127) *p = ' ';
    fflush(stdout);
    tool_progress_wipe();
    fprintf(stderr, "%s%s\n", head, text);
}

tool_exit tool_fail(tool_exit code, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    say("clfuse: ", fmt, ap);
    va_end(ap);
    return code;
}

void tool_note(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    say("clfuse: note: ", fmt, ap);
    va_end(ap);
}

tool_exit tool_exit_of(clf_status st) {
    switch (st) {
    case CLF_OK: return TOOL_OK;
    case CLF_E_SYNTAX:
    case CLF_E_NAME: return TOOL_USAGE;
    case CLF_E_NODEV: return TOOL_MISSING;
    default: return TOOL_FAILED;
    }
}

tool_exit tool_fail_status(clf_ctx *c, clf_status st, const char *where) {
    const char *text = c ? clf_last_error(c) : clf_open_error();
    return tool_fail(tool_exit_of(st), "%s%s", where, text && *text ? text : clf_status_text(st));
}
