/* SPDX-License-Identifier: Apache-2.0
 * Where the variables of a program come from: --in NAME=SOURCE, --dims NAME=SHAPE.
 * A source is, in this order: seq:RxC, rand:RxC[:S[:SEED]], powerlaw:RxC:S[:SEED], a number, a file.
 * Generated and converted sources are evaluated at once, so
 * that a program starts from data whatever its source. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/tool.h"

/* RxC at *text, which moves behind it. */
static bool read_shape(const char **text, int64_t *rows, int64_t *cols) {
    char *end;
    int64_t *const into[2] = {rows, cols};
    for (int i = 0; i < 2; i++) {
        errno = 0;
        if (**text < '0' || **text > '9') return false;
        *into[i] = strtoll(*text, &end, 10);
        if (errno || (i == 0 && *end++ != 'x')) return false;
        *text = end;
    }
    return true;
}

/* ":NUMBER" at *text, when there is one. */
static bool read_fraction(const char **text, double *out) {
    char *end;
    if (**text != ':') return true;
    *out = strtod(*text + 1, &end);
    bool ok = end != *text + 1 && *out >= 0 && *out <= 1;
    *text = end;
    return ok;
}

static bool read_seed(const char **text, uint64_t *out) {
    char *end;
    if (**text != ':') return true;
    errno = 0;
    *out = strtoull(*text + 1, &end, 10);
    bool ok = (*text)[1] >= '0' && (*text)[1] <= '9' && !errno;
    *text = end;
    return ok;
}

static clf_dtype float_type(const tool_options *o) { return o->dtype && strcmp(o->dtype, "f32") == 0 ? CLF_F32 : CLF_F64; }

/* x in the type wanted (--dtype; integers stay), computed. A new handle; x is given up. */
static clf_mat *settle(clf_mat *x, const tool_options *o) {
    clf_dtype t;
    if (clf_info(x, NULL, NULL, &t, NULL) != CLF_OK) return x;
    if (o->dtype && (t == CLF_F32 || t == CLF_F64) && t != float_type(o)) {
        clf_mat *cast = clf_cast(x, float_type(o));
        clf_free(x);
        x = cast;
    }
    clf_eval(1, &x);
    return x;
}

static tool_exit make_seq(clf_ctx *c, const char *text, clf_mat **out) {
    int64_t rows = 0, cols = 0, n;
    const char *p = text + strlen("seq:");
    if (!read_shape(&p, &rows, &cols) || *p) return tool_fail(TOOL_USAGE, "--in '%s': expected seq:ROWSxCOLS", text);
    if (__builtin_mul_overflow(rows, cols, &n) || n > INT64_C(1) << 53) return tool_fail(TOOL_FAILED, "--in '%s': too many cells", text);
    if (n == 0) {
        *out = clf_fill(c, CLF_F64, rows, cols, 0);
        return TOOL_OK;
    }
    clf_mat *column = clf_seq(c, 1, (double)n, 1);
    *out = clf_reshape(column, rows, cols);
    clf_free(column);
    return TOOL_OK;
}

clf_mat *tool_sparse_leaf(clf_ctx *c, clf_mat *x) {
    static const clf_sparse_options ours = {.struct_size = sizeof ours, .trusted = true};
    int64_t rows, cols, nnz;
    clf_dtype t;
    const int64_t *offsets;
    const int32_t *indices;
    const void *values;
    clf_mat *s = clf_to_sparse(x);
    clf_free(x);
    if (clf_info(s, &rows, &cols, &t, NULL) != CLF_OK || clf_data_csr(s, &nnz, &offsets, &indices, &values) != CLF_OK) return s;
    clf_mat *leaf = clf_sparse_csr(c, t, rows, cols, nnz, offsets, indices, values, &ours);
    clf_free(s);
    return leaf;
}

static tool_exit make_rand(clf_ctx *c, const tool_options *o, const tool_pair *p, size_t position, clf_mat **out) {
    int64_t rows = 0, cols = 0;
    double share = 1;
    uint64_t seed = position;
    const char *q = p->text + strlen("rand:");
    if (!read_shape(&q, &rows, &cols) || !read_fraction(&q, &share) || !read_seed(&q, &seed) || *q)
        return tool_fail(TOOL_USAGE, "--in '%s': expected rand:ROWSxCOLS[:S[:SEED]], S from 0 to 1", p->text);
    *out = clf_rand(c, float_type(o), rows, cols, 0, 1, share, seed);
    if (share < 1) *out = tool_sparse_leaf(c, *out);
    return TOOL_OK;
}

static tool_exit make_powerlaw(clf_ctx *c, const tool_pair *p, size_t position, clf_mat **out) {
    int64_t rows = 0, cols = 0;
    double share = -1;
    uint64_t seed = position;
    const char *q = p->text + strlen("powerlaw:");
    if (!read_shape(&q, &rows, &cols) || !read_fraction(&q, &share) || share < 0 || !read_seed(&q, &seed) || *q)
        return tool_fail(TOOL_USAGE, "--in '%s': expected powerlaw:ROWSxCOLS:S[:SEED], S from 0 to 1", p->text);
    return tool_powerlaw(c, rows, cols, share, seed, out);
}

/* ---- files ---- */

static const char *ending(const tool_pair *p, const char *path) {
    const char *dot = strrchr(path, '.');
    return p->type ? p->type : dot ? dot + 1 : "";
}

/* FILE or FILE:label=COLUMN. owns: caller, *path. */
static tool_exit split_label(const tool_pair *p, char **path, const char **label) {
    static const char mark[] = ":label=";
    const char *at = strstr(p->text, mark);
    *path = strndup(p->text, at ? (size_t)(at - p->text) : strlen(p->text));
    *label = at ? at + strlen(mark) : NULL;
    if (!*path) return tool_fail(TOOL_FAILED, "out of memory");
    if (*label && !**label) return tool_fail(TOOL_USAGE, "--in '%s': the label column is empty", p->text);
    if (*label || !p->second) return TOOL_OK;
    if (strcmp(ending(p, *path), "svm") != 0)
        return tool_fail(TOOL_USAGE, "--in '%s,%s=%s': labels need FILE.csv:label=COLUMN or FILE.svm", p->name, p->second, p->text);
    *label = "label";
    return TOOL_OK;
}

static tool_exit load(clf_ctx *c, const tool_options *o, const tool_pair *p, clf_mat **out, clf_mat **labels) {
    char *path = NULL;
    const char *label;
    tool_exit st = split_label(p, &path, &label);
    if (st == TOOL_OK) {
        clf_load_options opt = {.struct_size = sizeof opt, .type = p->type, .label = label, .na = o->na};
        *out = clf_load_with(c, path, &opt, label ? labels : NULL);
    }
    free(path);
    return st;
}

static bool is_number(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0';
}

static tool_exit make(clf_ctx *c, const tool_options *o, size_t i, clf_mat **out, clf_mat **labels) {
    const tool_pair *p = &o->in.at[i];
    double x = 0;
    bool seq = strncmp(p->text, "seq:", 4) == 0, drawn = strncmp(p->text, "rand:", 5) == 0, law = strncmp(p->text, "powerlaw:", 9) == 0;
    bool made = seq || drawn || law || (!p->type && is_number(p->text, &x));
    if (made && p->second) return tool_fail(TOOL_USAGE, "--in '%s,%s=%s': only files have labels", p->name, p->second, p->text);
    if (seq) return make_seq(c, p->text, out);
    if (drawn) return make_rand(c, o, p, i + 1, out);
    if (law) return make_powerlaw(c, p, i + 1, out);
    if (made) {
        *out = clf_num(c, x);
        return TOOL_OK;
    }
    return load(c, o, p, out, labels);
}

/* Numbers stay numbers: index bounds may use them. */
static tool_exit add(clf_ctx *c, tool_vars *vars, const char *name, const char *text, clf_mat *x) {
    char where[300];
    const char *why = "";
    bool scalar = false;
    clf_status st = clf_status_of(x, &why);
    bool named = strncmp(why, text, strlen(text)) == 0 && why[strlen(text)] == ':'; /* the message begins with the file */
    snprintf(where, sizeof where, "%s%s%s: ", name, named ? "" : "=", named ? "" : text);
    if (st != CLF_OK)
        return tool_fail(st == CLF_E_NAME || st == CLF_E_SYNTAX ? TOOL_USAGE
                         : st == CLF_E_NODEV                    ? TOOL_MISSING
                                                                : TOOL_FAILED,
                         "%s%s", where, why);
    clf_info(x, NULL, NULL, NULL, &scalar);
    if (!scalar) st = clf_eval(1, &x);
    if (!scalar && st == CLF_OK) st = clf_label(x, name); /* which explain says */
    if (st != CLF_OK) return tool_fail_status(c, st, st == CLF_E_NODEV ? "" : where);
    vars->at[vars->n++] = (clf_binding){name, x};
    return TOOL_OK;
}

static tool_exit bind_in(clf_ctx *c, const tool_options *o, size_t i, tool_vars *vars) {
    const tool_pair *p = &o->in.at[i];
    bool scalar = false;
    clf_mat *x = NULL, *labels = NULL;
    TOOL_TRY(make(c, o, i, &x, &labels));
    clf_info(x, NULL, NULL, NULL, &scalar);
    TOOL_TRY(add(c, vars, p->name, p->text, scalar ? x : settle(x, o)));
    return p->second ? add(c, vars, p->second, p->text, settle(labels, o)) : TOOL_OK;
}

/* ---- shapes without data ---- */

static tool_exit bind_dims(clf_ctx *c, const tool_options *o, const tool_pair *p, tool_vars *vars) {
    static const char *const formats[] = {":dense", ":csr", ":csc", ":compressed"};
    const char *q = p->text;
    int64_t rows = 1, cols = 1;
    double share = 1;
    bool scalar = strcmp(q, "scalar") == 0, ok = scalar || (read_shape(&q, &rows, &cols) && read_fraction(&q, &share)), dense = share == 1;
    for (size_t i = 0; ok && !scalar && *q && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(q, formats[i]) == 0) {
            dense = i == 0;
            q += strlen(q);
        }
    if (!ok || (!scalar && *q))
        return tool_fail(TOOL_USAGE, "--dims '%s=%s': expected ROWSxCOLS[:S[:dense|csr|csc|compressed]] or scalar", p->name, p->text);
    bool compressed = strstr(p->text, ":compressed") != NULL, sparse = !scalar && !dense && !compressed;
    if (compressed) tool_note("%s: planned as dense; compressed formats are not part of this version", p->name);
    double nnz = ceil(share * (double)rows * (double)cols);
    clf_mat *x = sparse ? clf_param_sparse(c, float_type(o), rows, cols, nnz < 0x1p62 ? (int64_t)nnz : INT64_MAX)
                        : clf_param(c, scalar ? CLF_F64 : float_type(o), rows, cols, scalar);
    const char *why;
    if (clf_status_of(x, &why) != CLF_OK) return tool_fail(TOOL_FAILED, "--dims '%s=%s': %s", p->name, p->text, why);
    if (clf_label(x, p->name) != CLF_OK) return tool_fail_status(c, CLF_E_NOMEM, "");
    vars->at[vars->n++] = (clf_binding){p->name, x};
    return TOOL_OK;
}

tool_exit tool_bind(clf_ctx *c, const tool_options *o, tool_vars *vars) {
    if (o->replay) return tool_replay_bind(c, o, vars);
    vars->at = calloc(2 * o->in.n + o->dims.n + 1, sizeof *vars->at);
    if (!vars->at) return tool_fail(TOOL_FAILED, "out of memory");
    for (size_t i = 0; i < o->in.n; i++) TOOL_TRY(bind_in(c, o, i, vars));
    for (size_t i = 0; i < o->dims.n; i++) {
        for (size_t k = 0; k < o->in.n; k++)
            if (strcmp(o->in.at[k].name, o->dims.at[i].name) == 0)
                return tool_fail(TOOL_USAGE, "'%s' is in both --in and --dims", o->dims.at[i].name);
        TOOL_TRY(bind_dims(c, o, &o->dims.at[i], vars));
    }
    return TOOL_OK;
}
