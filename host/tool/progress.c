/* SPDX-License-Identifier: Apache-2.0
 * A line for those who wait: on a terminal, when two seconds have passed, stderr says what goes on, over and over in one line, and wipes
 * it before anything else is said. CLF_PROGRESS=on says it at once and to whatever stderr is; off never. It has no colours, and neither
 * has anything else that the tool prints, so NO_COLOR has what it wants. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/tool/tool.h"

enum { PATIENCE_MS = 2000, BETWEEN_MS = 100, WIDTH = 79 };

/* One line of one terminal: the process's, as stderr is. */
static struct {
    bool at_once;
    int shown; /* characters in the line */
    int64_t begun_ms, last_ms;
} line;

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void describe(const clf_progress *p, char *out, size_t n) {
    switch (p->stage) {
    case CLF_STAGE_LOAD: snprintf(out, n, "reading %s", p->what); break;
    case CLF_STAGE_SAVE: snprintf(out, n, "writing %s, %.0f MB", p->what, 1e-6 * (double)p->done); break;
    case CLF_STAGE_PLAN: snprintf(out, n, "planning"); break;
    case CLF_STAGE_BUILD: snprintf(out, n, "compiling kernel %" PRIu64 " of %" PRIu64, p->done + 1, p->all); break;
    default: snprintf(out, n, "step %" PRIu64 " of %" PRIu64, p->done + 1, p->all);
    }
    size_t len = strlen(out);
    if (p->stage == CLF_STAGE_LOAD && p->all) snprintf(out + len, n - len, " %.0f %%", 100 * (double)p->done / (double)p->all);
    for (char *c = out; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = ' ';
}

static int tell(void *user, const clf_progress *p) {
    char text[WIDTH - 8];
    int64_t now = now_ms();
    (void)user;
    if (!line.at_once && (now - line.begun_ms < PATIENCE_MS || now - line.last_ms < BETWEEN_MS)) return 0;
    line.last_ms = now;
    describe(p, text, sizeof text);
    int was = line.shown;
    line.shown = fprintf(stderr, "\rclfuse: %s", text) - 1;
    fprintf(stderr, "%*s", was > line.shown ? was - line.shown : 0, "");
    fflush(stderr);
    return 0;
}

void tool_progress_wipe(void) {
    if (line.shown > 0) fprintf(stderr, "\r%*s\r", line.shown, "");
    line.shown = 0;
}

void tool_progress(clf_ctx *c) {
    const char *how = getenv("CLF_PROGRESS"), *term = getenv("TERM");
    line.at_once = how && strcmp(how, "on") == 0;
    bool off = how && strcmp(how, "off") == 0, terminal = isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
    line.begun_ms = now_ms();
    if (line.at_once || (terminal && !off)) clf_set_progress(c, tell, NULL);
}
