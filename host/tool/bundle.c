/* SPDX-License-Identifier: Apache-2.0
 * clfuse run --bundle FILE: what a maintainer needs to see a plan again, and nothing of the data. A text: the program, the settings that
 * were given, of every variable its type, shape, format, number of entries and how many the fullest row has, the devices' profiles (the
 * host's, then those of the OpenCL devices in the order in which the setting names them), the plan as explain shows it.
 *
 * Numbers given with --in are data, too: their values are left out, unless the plan changes with another one, as where they say how many
 * rows to take; those that stay are named on stderr. Literals belong to the program. replay.c reads it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/tool.h"

/* ---- texts that grow ---- */

typedef struct text {
    char *at;
    size_t n;
    bool failed;
} text;

static void append(void *user, const char *at, size_t n) {
    text *t = user;
    char *grown = t->failed ? NULL : realloc(t->at, t->n + n + 1);
    if (!grown) {
        t->failed = true;
        return;
    }
    memcpy(grown + t->n, at, n);
    grown[t->n + n] = '\0';
    t->at = grown;
    t->n += n;
}

static void put_section(FILE *f, const char *name, const text *t) {
    fprintf(f, "%s %zu\n", name, t->n);
    fwrite(t->at, 1, t->n, f);
    putc('\n', f);
}

/* ---- settings ---- */

/* Given on the command line, else in the environment. */
static const char *given(const tool_options *o, const char *knob, const char *env) {
    const struct {
        const char *name, *value;
    } options[] = {{"device", o->device}, {"fuse", o->fuse}, {"tier", o->tier}, {"strategy", o->strategy}, {"dtype", o->dtype}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].value && strcmp(options[i].name, knob) == 0) return options[i].value;
    return getenv(env);
}

/* Those that say where files are do not matter elsewhere. */
static bool is_place(const char *knob) {
    static const char *const names[] = {"log", "dump", "profile", "trace", "profile_file", "kernel_dir", "cache_dir"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], knob) == 0) return true;
    return false;
}

static void put_knobs(FILE *f, const tool_options *o) {
    const char *name, *env, *value;
    for (int i = 0; clf_knob_info(i, &name, &env, NULL, NULL); i++)
        if (!is_place(name) && (value = given(o, name, env)) && *value && !strpbrk(value, "\r\n")) fprintf(f, "knob %s %s\n", name, value);
    for (size_t i = 0; i < o->out.n; i++) fprintf(f, "out %s\n", o->out.at[i].name);
}

/* ---- variables ---- */

static tool_exit put_matrix(FILE *f, clf_ctx *c, const clf_binding *v) {
    clf_storage s = {.struct_size = sizeof s};
    int64_t rows, cols, nnz = 0, most = 0;
    const int64_t *offsets;
    clf_dtype t;
    clf_status st = clf_info(v->value, &rows, &cols, &t, NULL);
    if (st == CLF_OK) st = clf_storage_of(v->value, &s);
    bool csr = st == CLF_OK && strcmp(s.format, "csr") == 0;
    if (st == CLF_OK && csr) st = clf_data_csr(v->value, &nnz, &offsets, NULL, NULL);
    if (st == CLF_OK && !csr) st = clf_nnz(v->value, &nnz);
    if (st != CLF_OK) return tool_fail_status(c, st, "--bundle: ");
    for (int64_t i = 0; csr && i < rows; i++)
        if (offsets[i + 1] - offsets[i] > most) most = offsets[i + 1] - offsets[i];
    fprintf(f, "in %s %s %" PRId64 " %" PRId64 " %s %" PRId64 " %" PRId64 "\n", v->name, clf_dtype_name(t), rows, cols,
            csr ? "csr" : "dense", nnz, most);
    return TOOL_OK;
}

size_t tool_bundle_roots(const tool_options *o, const clf_result *r, size_t n, clf_mat **root) {
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        bool out = r[i].bare;
        for (size_t j = 0; j < o->out.n && !out; j++) out = strcmp(o->out.at[j].name, r[i].name) == 0;
        if (out) root[k++] = r[i].value;
    }
    if (!k && n) root[k++] = r[n - 1].value;
    return k;
}

/* How the program is planned with these variables; false when it cannot be. */
static bool plan_of(clf_ctx *c, const tool_options *o, const char *program, const clf_binding *vars, size_t n, text *out) {
    size_t most = 1, results;
    for (const char *p = program; *p; p++) most += *p == ';' || *p == '\n';
    clf_result *r = calloc(most, sizeof *r);
    clf_mat **root = calloc(most, sizeof *root);
    results = most;
    bool good = r && root && clf_parse(c, program, vars, n, r, &results) == CLF_OK && results > 0;
    if (good) results = tool_bundle_roots(o, r, results, root);
    good = good && clf_explain(results, root, CLF_TEXT, 0, append, out) == CLF_OK && !out->failed;
    free(r);
    free(root);
    return good;
}

/* Would another value give another plan, or none? */
static bool matters(clf_ctx *c, const tool_options *o, const char *program, const tool_vars *vars, size_t i, double value) {
    clf_binding *other = calloc(vars->n, sizeof *other);
    text a = {NULL, 0, false}, b = a;
    if (!other) return true;
    memcpy(other, vars->at, vars->n * sizeof *other);
    other[i].value = clf_num(c, value == TOOL_SOME_NUMBER ? value + 1 : TOOL_SOME_NUMBER);
    bool same = plan_of(c, o, program, vars->at, vars->n, &a) && plan_of(c, o, program, other, vars->n, &b) && strcmp(a.at, b.at) == 0;
    clf_free(other[i].value);
    free(other);
    free(a.at);
    free(b.at);
    return !same;
}

static tool_exit put_number(FILE *f, clf_ctx *c, const tool_options *o, const char *program, const tool_vars *vars, size_t i) {
    const clf_binding *v = &vars->at[i];
    double x = 0;
    clf_status st = clf_read_f64(v->value, &x);
    if (st != CLF_OK) return tool_fail_status(c, st, "--bundle: ");
    bool kept = matters(c, o, program, vars, i, x);
    fprintf(f, kept ? "number %s %.17g\n" : "number %s\n", v->name, x);
    if (kept) tool_note("--bundle: the value of '%s' is in the file: the plan depends on it", v->name);
    return TOOL_OK;
}

static tool_exit put_vars(FILE *f, clf_ctx *c, const tool_options *o, const char *program, const tool_vars *vars) {
    for (size_t i = 0; i < vars->n; i++) {
        bool scalar = false;
        clf_info(vars->at[i].value, NULL, NULL, NULL, &scalar);
        TOOL_TRY(scalar ? put_number(f, c, o, program, vars, i) : put_matrix(f, c, &vars->at[i]));
    }
    return TOOL_OK;
}

/* ---- the file ---- */

static void put_profile(FILE *f, clf_ctx *c, int i) {
    text t = {NULL, 0, false};
    if (clf_device_profile(c, i, append, &t) == CLF_OK && !t.failed) put_section(f, i ? "profile device" : "profile host", &t);
    free(t.at);
}

/* The first OpenCL device from `first` on that plans of the context are for; 0: none. */
static int chosen_from(clf_ctx *c, int first) {
    clf_device d = {.struct_size = sizeof d};
    for (int i = first; clf_device_at(c, i, &d); i++)
        if (d.chosen) return i;
    return 0;
}

/* Which device a name means, a context of its own says; 0: none, or the host. */
static int device_named(const char *name) {
    clf_ctx *c = NULL;
    const clf_options o = {.struct_size = sizeof o, .device = name};
    int i = clf_open(&c, &o) == CLF_OK && clf_set(c, "profile_file", "") == CLF_OK ? chosen_from(c, 1) : 0;
    clf_close(c);
    return i;
}

static void put_profiles(FILE *f, clf_ctx *c, const tool_options *o) {
    const char *names = given(o, "device", "CLF_DEVICE");
    int first = chosen_from(c, 1), i;
    put_profile(f, c, 0);
    if (!first || !chosen_from(c, first + 1)) {
        if (first) put_profile(f, c, first);
        return;
    }
    for (char name[256]; names && *names; names += *names == ',') {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(names, ","), names);
        names += strcspn(names, ",");
        if (*name && (i = device_named(name)) > 0) put_profile(f, c, i);
    }
}

static tool_exit put_all(FILE *f, clf_ctx *c, const tool_options *o, const tool_vars *vars, const char *program) {
    text plan = {NULL, 0, false}, whole = {(char *)(uintptr_t)program, strlen(program), false};
    fprintf(f, "clfuse bundle 1\nversion %s\n", clf_version());
    put_knobs(f, o);
    put_section(f, "program", &whole);
    TOOL_TRY(put_vars(f, c, o, program, vars));
    put_profiles(f, c, o);
    if (plan_of(c, o, program, vars->at, vars->n, &plan)) put_section(f, "explain", &plan);
    free(plan.at);
    return TOOL_OK;
}

tool_exit tool_bundle_write(clf_ctx *c, const tool_options *o, const tool_vars *vars) {
    char *program = NULL;
    TOOL_TRY(tool_program(o, &program));
    FILE *f = fopen(o->bundle, "wb");
    tool_exit st = f ? put_all(f, c, o, vars, program) : tool_fail(TOOL_FAILED, "%s: cannot write: %s", o->bundle, strerror(errno));
    bool bad = f && ferror(f);
    bad = f && (fclose(f) != 0 || bad);
    if (st == TOOL_OK && bad) st = tool_fail(TOOL_FAILED, "%s: cannot write: %s", o->bundle, strerror(errno));
    if (st != TOOL_OK && f) remove(o->bundle);
    free(program);
    return st;
}
