/* SPDX-License-Identifier: Apache-2.0
 * clfuse run BUNDLE --synthetic: the program of a bundle, under its settings, on made-up data of the same shapes, types, formats and
 * numbers of entries. What the command line says comes before what the bundle says. Plans are made with the bundle's profiles of the
 * OpenCL devices, where it has some; clfuse explain BUNDLE --synthetic needs neither data nor those devices, and plans by all profiles. The
 * bundle may come from anybody: lengths are compared with what follows, lines are read by rule. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/tool/tool.h"

struct tool_bundle {
    char *text; /* all of it; cut into lines by NULs */
    size_t n, at;
    const char *program;
    char **line; /* knob, in, number and out lines, behind each other */
    size_t nline;
    char profile[TOOL_PROFILES][64]; /* of the host, of the devices in their order: temporary files; "" none */
    size_t ndevice;
};

static tool_exit damaged(const tool_options *o, const char *what) { return tool_fail(TOOL_FAILED, "%s: no bundle: %s", o->file, what); }

/* The next line; NULL at the end. */
static char *next_line(struct tool_bundle *b) {
    if (b->at >= b->n) return NULL;
    char *line = b->text + b->at, *end = memchr(line, '\n', b->n - b->at);
    if (!end) return NULL;
    *end = '\0';
    b->at = (size_t)(end - b->text) + 1;
    return line;
}

/* "NAME LENGTH" begins a section of so many bytes and a line end. NULL: it does not fit. */
static char *section(struct tool_bundle *b, const char *length, size_t *n) {
    char *end, *at = b->text + b->at;
    errno = 0;
    unsigned long long bytes = strtoull(length, &end, 10);
    if (errno || end == length || *end || *length < '0' || *length > '9' || bytes >= b->n - b->at || at[bytes] != '\n') return NULL;
    at[bytes] = '\0';
    b->at += (size_t)bytes + 1;
    *n = (size_t)bytes;
    return at;
}

static bool begins(const char *line, const char *word, const char **rest) {
    size_t n = strlen(word);
    if (strncmp(line, word, n) != 0) return false;
    *rest = line + n;
    return true;
}

static tool_exit keep_profile(const tool_options *o, char path[64], const char *text, size_t n) {
    snprintf(path, 64, "%s/clfuse-profile-XXXXXX", P_tmpdir);
    int fd = mkstemp(path);
    bool good = fd >= 0 && write(fd, text, n) == (ssize_t)n;
    if (fd >= 0) close(fd);
    if (fd < 0) path[0] = '\0';
    return good ? TOOL_OK : tool_fail(TOOL_FAILED, "%s: cannot keep its profile: %s", o->file, strerror(errno));
}

static tool_exit read_section(const tool_options *o, struct tool_bundle *b, const char *kind, const char *length) {
    size_t n = 0;
    char *at = section(b, length, &n);
    if (!at) return damaged(o, "a section is longer than the file");
    if (strcmp(kind, "program") == 0) b->program = at;
    if (strcmp(kind, "program") == 0 && strlen(at) != n) return damaged(o, "a NUL byte in the program");
    if (strcmp(kind, "profile host") == 0 && !b->profile[0][0]) return keep_profile(o, b->profile[0], at, n);
    if (strcmp(kind, "profile device") == 0 && b->ndevice + 1 < TOOL_PROFILES) return keep_profile(o, b->profile[++b->ndevice], at, n);
    return TOOL_OK;
}

static tool_exit read_line(const tool_options *o, struct tool_bundle *b, char *line) {
    static const char *const kinds[] = {"program", "profile host", "profile device", "explain"};
    static const char *const words[] = {"knob ", "in ", "number ", "out "};
    const char *rest;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (begins(line, kinds[i], &rest) && *rest == ' ') return read_section(o, b, kinds[i], rest + 1);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!begins(line, words[i], &rest)) continue;
        char **grown = realloc(b->line, (b->nline + 1) * sizeof *grown);
        if (!grown) return tool_fail(TOOL_FAILED, "out of memory");
        b->line = grown;
        b->line[b->nline++] = line;
    }
    return TOOL_OK; /* what a later version says besides */
}

/* Settings that options speak of, too. */
static tool_exit take_knob(tool_options *o, char *line) {
    const struct {
        const char *name, **to;
    } options[] = {{"device", &o->device}, {"fuse", &o->fuse}, {"tier", &o->tier}, {"strategy", &o->strategy}, {"dtype", &o->dtype}};
    char *name = line + strlen("knob "), *value = strchr(name, ' ');
    if (!value) return damaged(o, "a setting without a value");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strlen(options[i].name) == (size_t)(value - name) && memcmp(options[i].name, name, (size_t)(value - name)) == 0 &&
            !*options[i].to)
            *options[i].to = value + 1;
    return TOOL_OK;
}

static tool_exit parse(tool_options *o, struct tool_bundle *b) {
    char *line = next_line(b);
    const char *rest;
    if (!line || strcmp(line, "clfuse bundle 1") != 0) return damaged(o, "it does not begin with 'clfuse bundle 1'");
    while ((line = next_line(b))) TOOL_TRY(read_line(o, b, line));
    if (!b->program) return damaged(o, "no program in it");
    for (size_t i = 0; i < b->nline; i++) {
        if (begins(b->line[i], "knob ", &rest)) TOOL_TRY(take_knob(o, b->line[i]));
        if (begins(b->line[i], "out ", &rest)) TOOL_TRY(tool_pairs_add(&o->out, rest));
    }
    o->program = b->program;
    for (size_t i = 0; i <= b->ndevice && o->explains && !o->analyze && o->nprofile == i; i++)
        if (b->profile[i][0]) o->profile[o->nprofile++] = b->profile[i];
    return TOOL_OK;
}

tool_exit tool_replay_read(tool_options *o) {
    if (!o->synthetic) return TOOL_OK;
    struct tool_bundle *b = calloc(1, sizeof *b);
    if (!b) return tool_fail(TOOL_FAILED, "out of memory");
    o->replay = b;
    TOOL_TRY(tool_read_file(o->file, "bundle", &b->text, &b->n));
    return parse(o, b);
}

void tool_replay_release(tool_options *o) {
    struct tool_bundle *b = o->replay;
    if (!b) return;
    for (int i = 0; i < TOOL_PROFILES; i++)
        if (b->profile[i][0]) remove(b->profile[i]);
    free(b->line);
    free(b->text);
    free(b);
    o->replay = NULL;
}

/* One device has one profile, a list of them a list. */
static clf_status pin_profiles(clf_ctx *c, const tool_options *o) {
    const struct tool_bundle *b = o->replay;
    const char *device = o->device ? o->device : getenv("CLF_DEVICE");
    size_t n = device && strchr(device, ',') ? b->ndevice : b->ndevice > 0;
    char list[sizeof b->profile] = "";
    for (size_t i = 1; i <= n; i++) snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i > 1 ? "," : "", b->profile[i]);
    return n ? clf_set(c, "profile_file", list) : CLF_OK;
}

/* Settings that no option speaks of; those the version does not know are told of and left out. */
tool_exit tool_replay_open(clf_ctx *c, const tool_options *o) {
    const struct tool_bundle *b = o->replay;
    for (size_t i = 0; b && i < b->nline; i++) {
        const char *rest;
        if (!begins(b->line[i], "knob ", &rest)) continue;
        char name[64] = "";
        const char *value = strchr(rest, ' ') + 1;
        bool option = false;
        static const char *const options[] = {"device", "fuse", "tier", "strategy", "dtype"};
        snprintf(name, sizeof name, "%.*s", (int)(value - 1 - rest), rest);
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) option = option || strcmp(options[k], name) == 0;
        if (!option && clf_set(c, name, value) != CLF_OK) tool_note("%s: %s", o->file, clf_last_error(c));
    }
    return !b || pin_profiles(c, o) == CLF_OK ? TOOL_OK : tool_fail_status(c, CLF_E_IO, "");
}

/* ---- made-up data ---- */

typedef struct shape {
    char name[256], type[8], format[16];
    int64_t rows, cols, nnz, most;
} shape;

static clf_dtype type_of(const char *name) {
    for (int t = CLF_F32; t <= CLF_U8; t++)
        if (strcmp(clf_dtype_name((clf_dtype)t), name) == 0) return (clf_dtype)t;
    return CLF_F64;
}

/* As many entries, spread evenly, or over few rows where the fullest is far above the others. Too many cells to visit: the latter, too. */
static tool_exit make_sparse(clf_ctx *c, const shape *s, clf_dtype t, double share, uint64_t seed, clf_mat **out) {
    double cells = (double)s->rows * (double)s->cols, mean = s->rows ? (double)s->nnz / (double)s->rows : 0;
    bool uneven = (double)s->most > 8 * mean + 64 || cells > 0x1p30;
    if (uneven && s->nnz > 0) return tool_powerlaw(c, s->rows, s->cols, share, seed, out);
    *out = tool_sparse_leaf(c, clf_rand(c, t == CLF_F32 ? CLF_F32 : CLF_F64, s->rows, s->cols, 0.5, 1, share, seed));
    return TOOL_OK;
}

/* Shapes alone, for plans that are not run. */
static clf_mat *make_param(clf_ctx *c, const shape *s) {
    clf_dtype t = type_of(s->type);
    bool sparse = strcmp(s->format, "csr") == 0;
    return sparse ? clf_param_sparse(c, t, s->rows, s->cols, s->nnz) : clf_param(c, t, s->rows, s->cols, false);
}

static tool_exit make_matrix(clf_ctx *c, const shape *s, uint64_t seed, clf_mat **out) {
    clf_dtype t = type_of(s->type), made;
    bool real = t == CLF_F32 || t == CLF_F64;
    double cells = (double)s->rows * (double)s->cols, share = cells > 0 ? (double)s->nnz / cells : 1;
    if (share > 1) share = 1;
    if (strcmp(s->format, "csr") == 0)
        TOOL_TRY(make_sparse(c, s, t, share, seed, out));
    else
        *out = clf_rand(c, t == CLF_F32 ? CLF_F32 : CLF_F64, s->rows, s->cols, real ? 0 : 1, real ? 1 : 100, share, seed);
    if (clf_info(*out, NULL, NULL, &made, NULL) == CLF_OK && made != t) {
        clf_mat *cast = clf_cast(*out, t);
        clf_free(*out);
        *out = cast;
    }
    return TOOL_OK;
}

static tool_exit bind(clf_ctx *c, const tool_options *o, tool_vars *vars, const char *name, clf_mat *x, bool number) {
    clf_status st = clf_status_of(x, NULL);
    if (st == CLF_OK && !number && !o->nprofile) st = clf_eval(1, &x);
    if (st == CLF_OK && !number) st = clf_label(x, name);
    if (st != CLF_OK) {
        const char *why = "";
        clf_status_of(x, &why);
        return *why ? tool_fail(TOOL_FAILED, "%s: %s: %s", o->file, name, why) : tool_fail_status(c, st, "");
    }
    vars->at[vars->n++] = (clf_binding){name, x};
    return TOOL_OK;
}

static tool_exit bind_line(clf_ctx *c, const tool_options *o, char *line, size_t i, tool_vars *vars) {
    const char *rest;
    shape s = {.nnz = 0};
    clf_mat *x = NULL;
    double value = TOOL_SOME_NUMBER;
    if (begins(line, "number ", &rest)) {
        int got = sscanf(rest, "%255s %lg", s.name, &value);
        if (got < 1) return damaged(o, "a number without a name");
        x = clf_num(c, value);
    } else if (begins(line, "in ", &rest)) {
        int got = sscanf(rest, "%255s %7s %" SCNd64 " %" SCNd64 " %15s %" SCNd64 " %" SCNd64, s.name, s.type, &s.rows, &s.cols, s.format,
                         &s.nnz, &s.most);
        if (got != 7 || s.rows < 0 || s.cols < 0 || s.nnz < 0 || s.most < 0)
            return damaged(o, "a variable without type, shape and entries");
        if (o->nprofile)
            x = make_param(c, &s);
        else
            TOOL_TRY(make_matrix(c, &s, i + 1, &x));
    } else
        return TOOL_OK;
    char *name = line + (rest - line); /* cut behind the name: nothing else of the line is needed */
    name[strlen(s.name)] = '\0';
    return bind(c, o, vars, name, x, begins(line, "number ", &rest));
}

tool_exit tool_replay_bind(clf_ctx *c, const tool_options *o, tool_vars *vars) {
    struct tool_bundle *b = o->replay;
    vars->at = calloc(b->nline + 1, sizeof *vars->at);
    if (!vars->at) return tool_fail(TOOL_FAILED, "out of memory");
    for (size_t i = 0; i < b->nline; i++) TOOL_TRY(bind_line(c, o, b->line[i], i, vars));
    return TOOL_OK;
}
