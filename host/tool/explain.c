/* SPDX-License-Identifier: Apache-2.0
 * clfuse explain: the plan of a program, over data (--in) or over shapes alone (--dims). Roots are the bare results and the bound names
 * that no later statement uses. --profile files are devices to plan for, the first being device 0; they need not be there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/tool/tool.h"

static void to_file(void *user, const char *text, size_t n) {
    tool_progress_wipe();
    fwrite(text, 1, n, user);
}

static clf_explain_format format_of(const char *name) {
    static const char *const names[] = {[CLF_TEXT] = "text", [CLF_DOT] = "dot", [CLF_SVG] = "svg", [CLF_JSON] = "json"};
    for (int i = CLF_TEXT; name && i <= CLF_JSON; i++)
        if (strcmp(name, names[i]) == 0) return (clf_explain_format)i;
    return CLF_TEXT;
}

static tool_exit show(clf_ctx *c, const tool_options *o, FILE *f, size_t n, clf_mat *const *roots) {
    char where[300];
    clf_explain_format format = format_of(o->format);
    unsigned flags = (o->analyze ? CLF_EXPLAIN_ANALYZE : 0) | (o->memo ? CLF_EXPLAIN_MEMO : 0) | (o->kernel ? CLF_EXPLAIN_KERNEL : 0);
    clf_status st = o->nprofile ? clf_explain_for(o->nprofile, o->profile, n, roots, format, flags, to_file, f)
                                : clf_explain(n, roots, format, flags, to_file, f);
    return st == CLF_OK ? TOOL_OK : tool_fail_status(c, st, tool_program_name(o, where, sizeof where));
}

static tool_exit write_out(clf_ctx *c, const tool_options *o, size_t n, clf_mat *const *roots) {
    if (!o->output) return show(c, o, stdout, n, roots);
    FILE *f = fopen(o->output, "wb");
    if (!f) return tool_fail(TOOL_FAILED, "%s: cannot write: %s", o->output, strerror(errno));
    struct stat is;
    tool_exit st = show(c, o, f, n, roots);
    bool bad = ferror(f), file = fstat(fileno(f), &is) == 0 && S_ISREG(is.st_mode);
    bad = fclose(f) != 0 || bad;
    if (st == TOOL_OK && bad) st = tool_fail(TOOL_FAILED, "%s: cannot write: %s", o->output, strerror(errno));
    if (st != TOOL_OK && file) remove(o->output); /* no half of a plan; a device stays where it is */
    return st;
}

static tool_exit explain(clf_ctx *c, const tool_options *o) {
    tool_vars vars = {NULL, 0};
    tool_results r = {NULL, 0};
    clf_mat **roots = NULL;
    size_t n = 0;
    tool_exit st = tool_parse(c, o, &vars, &r);
    if (st == TOOL_OK && !(roots = calloc(r.n, sizeof *roots))) st = tool_fail(TOOL_FAILED, "out of memory");
    if (st == TOOL_OK && o->synthetic) n = tool_bundle_roots(o, r.at, r.n, roots);
    for (size_t i = 0; st == TOOL_OK && !o->synthetic && i < r.n; i++)
        if (r.at[i].bare || !r.at[i].used) roots[n++] = r.at[i].value;
    if (st == TOOL_OK) st = write_out(c, o, n, roots);
    free(roots);
    free(r.at);
    free(vars.at);
    return st;
}

tool_exit tool_explain(int argc, char **argv) {
    tool_options o;
    clf_ctx *c = NULL;
    tool_exit st = tool_options_read(&o, TOOL_EXPLAIN, argc, argv, 2);
    o.explains = true;
    if (st == TOOL_OK && !o.help) st = tool_replay_read(&o);
    if (st == TOOL_OK && o.help) {
        fputs(tool_usage, stdout);
    } else if (st == TOOL_OK && o.analyze && o.dims.n) {
        st = tool_fail(TOOL_USAGE, "--analyze runs the program and needs data: '%s' has only a shape (--dims)", o.dims.at[0].name);
    } else if (st == TOOL_OK) {
        st = tool_open(&o, &c);
        if (st == TOOL_OK) st = explain(c, &o);
    }
    clf_close(c);
    tool_options_release(&o);
    return st;
}
