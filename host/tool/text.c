/* SPDX-License-Identifier: Apache-2.0
 * Program texts: from the command line or a file, whole, without NUL bytes; and parsing them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/tool.h"

const char *tool_program_name(const tool_options *o, char *buf, size_t n) {
    if (o->program)
        buf[0] = '\0';
    else
        snprintf(buf, n, "%s: ", o->file);
    return buf;
}

/* All of f, terminated; NULL with errno set. */
static char *slurp(FILE *f, size_t *len) {
    enum { STEP = 1 << 16 };
    char *text = NULL;
    for (*len = 0;;) {
        char *more = realloc(text, *len + STEP + 1);
        if (!more) break;
        text = more;
        size_t n = fread(text + *len, 1, STEP, f);
        *len += n;
        text[*len] = '\0';
        if (n < STEP && !ferror(f)) return text;
        if (n < STEP) break;
    }
    free(text);
    return NULL;
}

tool_exit tool_read_file(const char *path, const char *what, char **text, size_t *n) {
    FILE *f = fopen(path, "rb");
    if (!f) return tool_fail(TOOL_FAILED, "%s: cannot open the %s: %s", path, what, strerror(errno));
    *text = slurp(f, n);
    int why = errno;
    fclose(f);
    return *text ? TOOL_OK : tool_fail(TOOL_FAILED, "%s: cannot read the %s: %s", path, what, strerror(why));
}

tool_exit tool_program(const tool_options *o, char **text) {
    size_t len = 0;
    if (o->program) {
        *text = strdup(o->program);
        return *text ? TOOL_OK : tool_fail(TOOL_FAILED, "out of memory");
    }
    TOOL_TRY(tool_read_file(o->file, "program", text, &len));
    if (strlen(*text) == len) return TOOL_OK;
    tool_exit st = tool_fail(TOOL_USAGE, "%s: a NUL byte at offset %zu: not a program", o->file, strlen(*text));
    free(*text);
    *text = NULL;
    return st;
}

/* At most one result a statement. */
static size_t statements(const char *text) {
    size_t n = 1;
    for (; *text; text++) n += *text == ';' || *text == '\n';
    return n;
}

static tool_exit parse(clf_ctx *c, const tool_options *o, const char *text, const tool_vars *vars, tool_results *r) {
    char where[300];
    r->n = statements(text);
    r->at = calloc(r->n, sizeof *r->at);
    if (!r->at) return tool_fail(TOOL_FAILED, "out of memory");
    clf_status st = clf_parse(c, text, vars->at, vars->n, r->at, &r->n);
    tool_program_name(o, where, sizeof where);
    if (st != CLF_OK) return tool_fail_status(c, st, where);
    return r->n ? TOOL_OK : tool_fail(TOOL_USAGE, "%sthe program is empty", where);
}

tool_exit tool_parse(clf_ctx *c, const tool_options *o, tool_vars *vars, tool_results *r) {
    char *text = NULL;
    tool_exit st = tool_program(o, &text);
    if (st == TOOL_OK) st = tool_bind(c, o, vars);
    if (st == TOOL_OK) st = parse(c, o, text, vars, r);
    free(text);
    return st;
}

void tool_size_text(char *buf, size_t n, uint64_t bytes) {
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double x = (double)bytes;
    int u = 0;
    for (; x >= 1024 && u < 4; u++) x /= 1024;
    if (bytes && u < 4)
        snprintf(buf, n, x < 10 && u ? "%.1f %s" : "%.0f %s", x, unit[u]);
    else
        snprintf(buf, n, "-");
}
