/* SPDX-License-Identifier: Apache-2.0
 * clfuse run: evaluate all that is asked for as one program, then print and save. Nothing is printed before everything is computed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/tool/tool.h"

/* What is evaluated: the results to print, then the --out names. */
typedef struct wanted {
    const clf_result **print;
    size_t nprint;
    clf_mat **all; /* prints first, then outs */
    size_t nall;
} wanted;

static tool_exit find_out(const tool_vars *vars, const tool_results *r, const char *name, clf_mat **out) {
    for (size_t i = 0; i < r->n; i++)
        if (!r->at[i].bare && strcmp(r->at[i].name, name) == 0) {
            *out = r->at[i].value;
            return TOOL_OK;
        }
    for (size_t i = 0; i < vars->n; i++)
        if (strcmp(vars->at[i].name, name) == 0) {
            *out = vars->at[i].value;
            return TOOL_OK;
        }
    return tool_fail(TOOL_USAGE, "--out '%s': no variable of that name", name);
}

static tool_exit choose(const tool_options *o, const tool_vars *vars, const tool_results *r, wanted *w) {
    w->print = calloc(r->n, sizeof *w->print);
    w->all = calloc(r->n + o->out.n, sizeof *w->all);
    if (!w->print || !w->all) return tool_fail(TOOL_FAILED, "out of memory");
    for (size_t i = 0; i < r->n; i++)
        if (r->at[i].bare) w->print[w->nprint++] = &r->at[i];
    if (!w->nprint && !o->out.n) w->print[w->nprint++] = &r->at[r->n - 1];
    for (size_t i = 0; i < w->nprint; i++) w->all[w->nall++] = w->print[i]->value;
    for (size_t i = 0; i < o->out.n; i++) TOOL_TRY(find_out(vars, r, o->out.at[i].name, &w->all[w->nall++]));
    return TOOL_OK;
}

static void to_stderr(void *user, const char *text, size_t n) {
    (void)user;
    tool_progress_wipe();
    fwrite(text, 1, n, stderr);
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static tool_exit compute(clf_ctx *c, const tool_options *o, const wanted *w, double *ms) {
    char where[300];
    clf_status st = o->explain ? clf_explain(w->nall, w->all, CLF_TEXT, 0, to_stderr, NULL) : CLF_OK;
    double start = now_ms();
    if (st == CLF_OK) st = clf_eval(w->nall, w->all);
    *ms = now_ms() - start;
    return st == CLF_OK ? TOOL_OK : tool_fail_status(c, st, tool_program_name(o, where, sizeof where));
}

/* Of made-up data only what it looks like, unless asked. */
static tool_exit print_shapes(const wanted *w) {
    for (size_t i = 0; i < w->nprint; i++) {
        int64_t rows, cols;
        clf_dtype t;
        clf_info(w->print[i]->value, &rows, &cols, &t, NULL);
        printf("%s%s%" PRId64 "x%" PRId64 " %s\n", w->print[i]->name, *w->print[i]->name ? " " : "", rows, cols, clf_dtype_name(t));
    }
    return TOOL_OK;
}

static tool_exit print(const tool_options *o, const wanted *w, double ms) {
    tool_progress_wipe();
    if (o->synthetic && !o->json && o->head_rows < 0) return print_shapes(w);
    if (o->json) TOOL_TRY(tool_print_json(stdout, w->print, w->nprint, ms));
    for (size_t i = 0; !o->json && i < w->nprint; i++) TOOL_TRY(tool_print(stdout, w->print[i]->value, o->head_rows));
    return TOOL_OK;
}

static tool_exit save(clf_ctx *c, const tool_options *o, const wanted *w) {
    for (size_t i = 0; i < o->out.n && !o->synthetic; i++) {
        const tool_pair *p = &o->out.at[i];
        clf_status st = clf_save(w->all[w->nprint + i], p->text, p->type);
        if (st != CLF_OK) return tool_fail_status(c, st, "");
    }
    return TOOL_OK;
}

static tool_exit run(clf_ctx *c, const tool_options *o) {
    tool_vars vars = {NULL, 0};
    tool_results r = {NULL, 0};
    wanted w = {NULL, 0, NULL, 0};
    double ms = 0;
    tool_exit st = tool_parse(c, o, &vars, &r);
    if (st == TOOL_OK) st = choose(o, &vars, &r, &w);
    if (st == TOOL_OK && o->bundle) st = tool_bundle_write(c, o, &vars);
    if (st == TOOL_OK) st = compute(c, o, &w, &ms);
    if (st == TOOL_OK) st = save(c, o, &w);
    if (st == TOOL_OK) st = print(o, &w, ms);
    free(w.print);
    free(w.all);
    free(r.at);
    free(vars.at);
    return st;
}

tool_exit tool_run(int argc, char **argv) {
    tool_options o;
    clf_ctx *c = NULL;
    tool_exit st = tool_options_read(&o, TOOL_RUN, argc, argv, 2);
    if (st == TOOL_OK && !o.help) st = tool_replay_read(&o);
    if (st == TOOL_OK && o.help)
        fputs(tool_usage, stdout);
    else if (st == TOOL_OK && (st = tool_open(&o, &c)) == TOOL_OK)
        st = run(c, &o);
    clf_close(c);
    tool_options_release(&o);
    return st;
}
