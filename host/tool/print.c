/* SPDX-License-Identifier: Apache-2.0
 * Results as text and as JSON. Numbers are printed so that reading them gives the same bits: %.17g for f64, %.9g for f32. */
#include <inttypes.h>
#include <math.h>

#include "host/tool/tool.h"

/* One number as text. Returns false when it is not finite. */
static bool number(char *buf, size_t n, const void *data, size_t i, clf_dtype t) {
    double x;
    switch (t) {
    case CLF_I32: snprintf(buf, n, "%" PRId32, ((const int32_t *)data)[i]); return true;
    case CLF_I64: snprintf(buf, n, "%" PRId64, ((const int64_t *)data)[i]); return true;
    case CLF_U8: snprintf(buf, n, "%u", ((const uint8_t *)data)[i]); return true;
    default: x = t == CLF_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
    }
    if (isfinite(x))
        snprintf(buf, n, t == CLF_F32 ? "%.9g" : "%.17g", x);
    else
        snprintf(buf, n, "%s", isnan(x) ? "NaN" : x > 0 ? "Inf" : "-Inf");
    return isfinite(x);
}

typedef struct view {
    const void *data;
    int64_t rows, cols;
    clf_dtype t;
    bool scalar;
    const char *format;
} view;

static tool_exit look(clf_mat *x, view *v) {
    clf_status st = clf_info(x, &v->rows, &v->cols, &v->t, &v->scalar);
    clf_storage s = {.struct_size = sizeof s};
    if (st == CLF_OK) st = clf_data(x, &v->data);
    if (st == CLF_OK) st = clf_storage_of(x, &s);
    v->format = s.format;
    return st == CLF_OK ? TOOL_OK : tool_fail_status(clf_ctx_of(x), st, "");
}

tool_exit tool_print(FILE *f, clf_mat *x, long head) {
    view v;
    char buf[40];
    TOOL_TRY(look(x, &v));
    int64_t rows = head >= 0 && head < v.rows && !v.scalar ? head : v.rows;
    for (int64_t i = 0; i < rows && !ferror(f); i++) {
        for (int64_t j = 0; j < v.cols; j++) {
            number(buf, sizeof buf, v.data, (size_t)(i * v.cols + j), v.t);
            if (j) putc(' ', f);
            fputs(buf, f);
        }
        putc('\n', f);
    }
    return TOOL_OK;
}

void tool_json_string(FILE *f, const char *s) {
    putc('"', f);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            fprintf(f, "\\%c", *s);
        else if ((unsigned char)*s < ' ')
            fprintf(f, "\\u%04x", *s);
        else
            putc(*s, f);
    }
    putc('"', f);
}

static void json_number(FILE *f, const view *v, int64_t i) {
    char buf[40];
    bool finite = number(buf, sizeof buf, v->data, (size_t)i, v->t);
    fprintf(f, finite ? "%s" : "\"%s\"", buf);
}

static void json_rows(FILE *f, const view *v) {
    putc('[', f);
    for (int64_t i = 0; i < v->rows && !ferror(f); i++) {
        fputs(i ? ", [" : "[", f);
        for (int64_t j = 0; j < v->cols; j++) {
            if (j) fputs(", ", f);
            json_number(f, v, i * v->cols + j);
        }
        putc(']', f);
    }
    putc(']', f);
}

static tool_exit json_result(FILE *f, const clf_result *r) {
    view v;
    TOOL_TRY(look(r->value, &v));
    fputs("{\"name\": ", f);
    if (r->bare)
        fputs("null", f);
    else
        tool_json_string(f, r->name);
    fprintf(f, ", \"rows\": %" PRId64 ", \"cols\": %" PRId64 ", \"dtype\": \"%s\", \"format\": \"%s\", \"value\": ", v.rows, v.cols,
            clf_dtype_name(v.t), v.format);
    if (v.scalar)
        json_number(f, &v, 0);
    else
        json_rows(f, &v);
    putc('}', f);
    return TOOL_OK;
}

tool_exit tool_print_json(FILE *f, const clf_result *const *r, size_t n, double time_ms) {
    fputs("{\"schema\": 1, \"results\": [", f);
    for (size_t i = 0; i < n; i++) {
        if (i) fputs(",\n  ", f);
        TOOL_TRY(json_result(f, r[i]));
    }
    fprintf(f, "], \"time_ms\": %.6f}\n", time_ms);
    return TOOL_OK;
}
