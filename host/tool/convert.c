/* SPDX-License-Identifier: Apache-2.0
 * clfuse convert: a matrix from one file format into another, with what each format would take, estimated from the shape, the entries and
 * how long the numbers of a sample are in text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/tool.h"

/* What sizes follow from. */
typedef struct shape {
    int64_t rows, cols, nnz;
    clf_dtype type;
    double digits; /* characters of a number in text, on average */
} shape;

static double digits_of(int64_t n) { return n > 0 ? floor(log10((double)n)) + 1 : 1; }
static double width(const shape *s) { return (double)clf_dtype_bytes(s->type); }
static double npy_bytes(const shape *s) { return 128 + (double)s->rows * (double)s->cols * width(s); }
static double csv_bytes(const shape *s) {
    double zeros = (double)s->rows * (double)s->cols - (double)s->nnz;
    return (double)s->nnz * (s->digits + 1) + zeros * 2;
}
static double mtx_bytes(const shape *s) { return 60 + (double)s->nnz * (digits_of(s->rows) + digits_of(s->cols) + s->digits + 2); }
static double svm_bytes(const shape *s) { return (double)s->rows * 2 + (double)s->nnz * (digits_of(s->cols) + s->digits + 2); }

static const struct {
    const char *name, *what;
    double (*bytes)(const shape *s);
} formats[] = {
    {"npy", "dense, binary", npy_bytes},
    {"csv", "dense, text", csv_bytes},
    {"mtx", "entries, text", mtx_bytes},
    {"svm", "entries by rows, text", svm_bytes},
};
enum { FORMATS = sizeof formats / sizeof *formats, SAMPLE = 1000 };

static const char *bytes_text(char buf[32], double bytes) {
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    int u = 0;
    for (; bytes >= 999.5 && u < 5; u++) bytes /= 1000;
    snprintf(buf, 32, u ? "%.1f %s" : "%.0f %s", bytes, unit[u]);
    return buf;
}

/* Entries spread over the matrix, as text. */
static clf_status measure(clf_mat *x, shape *s) {
    int64_t nnz;
    const int64_t *offsets;
    const int32_t *indices;
    const void *values;
    char text[64];
    double sum = 0;
    clf_mat *reals = clf_cast(x, CLF_F64);
    clf_status st = clf_info(x, &s->rows, &s->cols, &s->type, NULL);
    if (st == CLF_OK) st = clf_data_csr(reals, &nnz, &offsets, &indices, &values);
    if (st != CLF_OK) return st;
    int64_t step = nnz / SAMPLE + 1, taken = 0;
    for (int64_t i = 0; i < nnz; i += step, taken++)
        sum += snprintf(text, sizeof text, s->type == CLF_F32 ? "%.9g" : "%.17g", ((const double *)values)[i]);
    s->nnz = nnz;
    s->digits = taken ? sum / (double)taken : 1;
    clf_free(reals);
    return CLF_OK;
}

static void print_sizes(const char *from, const shape *s) {
    char buf[32];
    double cells = (double)s->rows * (double)s->cols;
    printf("%s: %lld x %lld %s, %lld cells are not 0 (%.3g %%)\n", from, (long long)s->rows, (long long)s->cols, clf_dtype_name(s->type),
           (long long)s->nnz, cells > 0 ? 100 * (double)s->nnz / cells : 0.0);
    for (int i = 0; i < FORMATS; i++)
        printf("  .%s  about %-10s %s\n", formats[i].name, bytes_text(buf, formats[i].bytes(s)), formats[i].what);
}

/* What cannot go into a format is said before the file is touched: svm holds sparse matrices. */
static tool_exit write_to(clf_ctx *c, clf_mat *x, const char *path, const char *type) {
    const char *dot = strrchr(path, '.'), *kind = type ? type : dot ? dot + 1 : "";
    bool sparse = strcmp(kind, "svm") == 0 || strcmp(kind, "mtx") == 0;
    clf_mat *y = sparse ? clf_to_sparse(x) : x;
    clf_status st = clf_save(y, path, type);
    return st == CLF_OK ? TOOL_OK : tool_fail_status(c, st, "");
}

static tool_exit convert(clf_ctx *c, const tool_options *o) {
    shape s;
    clf_mat *labels = NULL;
    const clf_load_options with = {.struct_size = sizeof with, .type = o->type, .label = o->label, .na = o->na};
    if (o->dtype && clf_set(c, "dtype", o->dtype) != CLF_OK) return tool_fail_status(c, CLF_E_NAME, "");
    clf_mat *x = clf_load_with(c, o->file, &with, o->label ? &labels : NULL);
    clf_status st = clf_eval(1, &x);
    if (st == CLF_OK) st = measure(x, &s);
    if (st != CLF_OK) return tool_fail_status(c, st, "");
    if (!o->to) {
        print_sizes(o->file, &s);
        return TOOL_OK;
    }
    TOOL_TRY(write_to(c, x, o->to, NULL));
    return labels && o->output ? write_to(c, labels, o->output, NULL) : TOOL_OK;
}

tool_exit tool_convert(int argc, char **argv) {
    tool_options o;
    clf_ctx *c = NULL;
    tool_exit st = tool_options_read(&o, TOOL_CONVERT, argc, argv, 2);
    if (st == TOOL_OK && o.help)
        fputs(tool_usage, stdout);
    else if (st == TOOL_OK && (st = tool_open(&o, &c)) == TOOL_OK)
        st = convert(c, &o);
    clf_close(c);
    tool_options_release(&o);
    return st;
}
