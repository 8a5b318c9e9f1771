/* SPDX-License-Identifier: Apache-2.0
 * Formats as rows: what a format is made of, which protocols it offers, how many bytes it takes. Skeletons ask for protocols, never
 * for formats. Only dense is wired up; the sparse rows come with their skeletons. */
#ifndef CLF_FORMATS_FMT_H
#define CLF_FORMATS_FMT_H
#include "core/dtype.h"
#include "core/err.h"
#include "core/trace.h"
#include "core/mem.h"
typedef enum clf_format { CLF_DENSE = 0, CLF_CSR, CLF_CSC, CLF_COO, CLF_COMPRESSED, CLF_NFORMATS } clf_format;
enum { CLF_OFFERS_STREAM = 1, CLF_OFFERS_ENTRIES = 2, CLF_OFFERS_LOCATE = 4, CLF_OFFERS_CURSOR = 8, CLF_OFFERS_DICTIONARY = 16 };
typedef struct clf_format_row {
    const char *name;
    unsigned offers;       /* protocols */
    double (*bytes)(clf_dtype t, int64_t rows, int64_t cols, int64_t nnz);
    double fill;           /* value of what is not stored */
} clf_format_row;
extern const clf_format_row clf_formats[CLF_NFORMATS];

/* A dense matrix on the host as readers produce it: row-major, data from clf_mem_data (owned by whoever holds the struct). */
typedef struct clf_dense {
    clf_dtype dtype;
    bool scalar;           /* 0-d npy */
    int64_t rows, cols;
    void *data;
    size_t bytes;
} clf_dense;
void clf_dense_release(clf_dense *d, clf_mem *mem);

typedef enum clf_na { CLF_NA_ERROR, CLF_NA_DROP, CLF_NA_NAN } clf_na; /* missing cells: refuse, drop the row, read NaN */
typedef struct clf_read_opts {
    clf_dtype dtype;        /* of text files: f64 or f32 */
    clf_na na;
    const char *label;      /* csv: name (header) or 1-based number of the label column; NULL none */
    const clf_trace *log;     /* topic io: notes such as "densified" */
} clf_read_opts;
/** Read a file into a new dense matrix (and labels, n x 1 of the same type: text labels coded 1..k by first appearance).
 *  type: "npy", "csv", "mtx", "svm", or NULL for the file's ending. labels may be NULL; it is cleared (data NULL) when the source has
 *  none or o->label is NULL for a csv. A csv's label column never stays among the features. o may be NULL: f64, missing cells refused.
 *  note: receives a line worth telling the user ("" if none): a sparse file that was densified, rows that were dropped.
 *  errors: CLF_E_IO cannot open or read; CLF_E_FORMAT damaged, hostile or unsupported, naming path, line and column;
 *  CLF_E_NAME no such label column; CLF_E_ARG unknown type; CLF_E_LIMIT an endless stream; CLF_E_NOMEM, also when the dense size is
 *  beyond the budget or the machine. No allocation is made from a header's sizes without checking them against the file's length.
 *  Outputs stay untouched on failure. */
clf_status clf_read_file(const char *path, const char *type, const clf_read_opts *o, clf_mem *mem, clf_dense *out, clf_dense *labels,
                         char *note, size_t note_n, clf_err *err);
/** Write: .npy (0-d or 2-d C order), .csv (commas, no header, %.17g / %.9g), .mtx (array). Through a temporary file and rename; what
 *  is no regular file (/dev/null, a pipe) in place. errors: CLF_E_IO, CLF_E_FORMAT a type that is not written, CLF_E_ARG unknown type. */
clf_status clf_write_file(const char *path, const char *type, const clf_dense *m, clf_err *err);
/** The same from memory, for tests and fuzzers. name is used in messages. */
clf_status clf_read_npy(const char *name, const void *p, size_t n, clf_mem *mem, clf_dense *out, clf_err *err);
clf_status clf_read_csv(const char *name, const void *p, size_t n, const clf_read_opts *o, clf_mem *mem, clf_dense *out, clf_dense *labels, clf_err *err);
clf_status clf_read_mtx(const char *name, const void *p, size_t n, const clf_read_opts *o, clf_mem *mem, clf_dense *out, bool *densified, clf_err *err);
clf_status clf_read_svm(const char *name, const void *p, size_t n, const clf_read_opts *o, clf_mem *mem, clf_dense *out, clf_dense *labels, clf_err *err);
#endif
