/* SPDX-License-Identifier: Apache-2.0
 * Formats as rows: what a format is made of, which protocols it offers, how many bytes it takes. Skeletons ask for protocols, never
 * for formats. And files: a reader gives what a file holds, dense or CSR, and never makes the one of the other unasked. */
#ifndef CLF_FORMATS_FMT_H
#define CLF_FORMATS_FMT_H
#include "core/ask.h"
#include "core/dtype.h"
#include "core/err.h"
#include "core/mem.h"
#include "core/trace.h"
#include "formats/sparse.h"

typedef enum clf_format { CLF_DENSE = 0, CLF_CSR, CLF_CSC, CLF_COO, CLF_COMPRESSED, CLF_NFORMATS } clf_format;
enum { CLF_OFFERS_STREAM = 1, CLF_OFFERS_ENTRIES = 2, CLF_OFFERS_LOCATE = 4, CLF_OFFERS_CURSOR = 8, CLF_OFFERS_DICTIONARY = 16 };
typedef struct clf_format_row {
    const char *name;
    unsigned offers;       /* protocols */
    double (*bytes)(clf_dtype t, int64_t rows, int64_t cols, int64_t nnz); /* infinite for sizes the format cannot hold */
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

/* What a file holds: a dense matrix, or a sparse one that owns its arrays. Zeroed: nothing. */
typedef struct clf_loaded {
    bool sparse;           /* csr is what was read, else dense; the other one is empty */
    clf_dense dense;
    clf_sparse csr;
} clf_loaded;
void clf_loaded_release(clf_loaded *l, clf_mem *mem);
/** Its cells as a dense matrix: handed over, or all written out. Afterwards l is empty, unless it fails: then it stays as it was.
 *  name is used in messages. errors: CLF_E_NOMEM, naming the bytes needed and available. */
clf_status clf_loaded_dense(clf_loaded *l, const char *name, clf_mem *mem, clf_dense *out, clf_err *err);

typedef enum clf_na { CLF_NA_ERROR, CLF_NA_DROP, CLF_NA_NAN } clf_na; /* missing cells: refuse, drop the row, read NaN */
typedef struct clf_read_opts {
    clf_dtype dtype;        /* of text files: f64 or f32 */
    clf_na na;
    const char *label;      /* csv: name (header) or 1-based number of the label column; NULL none */
    const clf_trace *log;     /* topic io: notes such as "densified" */
    const clf_ask *ask;     /* whether to go on, in readers of texts; may be NULL */
} clf_read_opts;
/** Read a file: npy, csv and .mtx of layout array give a dense matrix, .mtx of layout coordinate and svm a CSR one (stored zeros stay,
 *  entries of an .mtx met twice add up, the mirrored half of a symmetric one is written out). Its memory is a few times that of the file,
 *  and 8 bytes a row, of which a coordinate file may claim 2^24, or 16 for each of its bytes.
 *  labels: n x 1 of the same type (text labels coded 1..k by first appearance); may be NULL; cleared (data NULL) when the source has
 *  none or o->label is NULL for a csv. A csv's label column never stays among the features.
 *  type: "npy", "csv", "mtx", "svm", or NULL for the file's ending. o may be NULL: f64, missing cells refused.
 *  note: receives a line worth telling the user ("" if none): rows that were dropped.
 *  errors: CLF_E_IO cannot open or read; CLF_E_FORMAT damaged, hostile or unsupported, naming path, line and column;
 *  CLF_E_CANCELLED o->ask said so; CLF_E_NAME no such label column; CLF_E_ARG unknown type; CLF_E_LIMIT an endless stream; CLF_E_NOMEM, also when the size is
 *  beyond the budget or the machine. No allocation is made from a header's sizes without checking them against the file's length.
 *  Outputs stay untouched on failure. */
clf_status clf_load_file(const char *path, const char *type, const clf_read_opts *o, clf_mem *mem, clf_loaded *out, clf_dense *labels,
                         char *note, size_t note_n, clf_err *err);
/** The same for callers who want cells: what is sparse is written out, and note says so. */
clf_status clf_read_file(const char *path, const char *type, const clf_read_opts *o, clf_mem *mem, clf_dense *out, clf_dense *labels,
                         char *note, size_t note_n, clf_err *err);
/** Write: .npy (0-d or 2-d C order), .csv (commas, no header, %.17g / %.9g), .mtx (array). Through a temporary file and rename; what
 *  is no regular file (/dev/null, a pipe) in place. errors: CLF_E_IO, CLF_E_FORMAT a type that is not written, CLF_E_ARG unknown type. */
clf_status clf_write_file(const char *path, const char *type, const clf_dense *m, clf_err *err);
/** The same of a sparse matrix, without a dense copy: .mtx (coordinate), .svm (labels: rows x 1 or 1 x rows of any type, NULL writes 0;
 *  columns after the last stored entry are lost, as that format has no place for them); .npy and .csv with all cells.
 *  errors: also CLF_E_SHAPE labels of another length. thread: reads m only. */
clf_status clf_write_csr(const char *path, const char *type, const clf_csr *m, const clf_dense *labels, clf_err *err);
/* What is written: one of the two; labels of a sparse matrix or NULL; whether to go on, asked at first and every MiB, or NULL. */
typedef struct clf_writing {
    const clf_dense *dense;
    const clf_csr *csr;
    const clf_dense *labels;
    const clf_ask *ask;
} clf_writing;
/** Either of the two. errors: also CLF_E_CANCELLED, the file at path then being what it was. */
clf_status clf_write(const char *path, const char *type, const clf_writing *w, clf_err *err);
/** Reading from memory, for tests and fuzzers. name is used in messages. */
clf_status clf_read_npy(const char *name, const void *p, size_t n, clf_mem *mem, clf_dense *out, clf_err *err);
clf_status clf_read_csv(const char *name, const void *p, size_t n, const clf_read_opts *o, clf_mem *mem, clf_dense *out, clf_dense *labels,
                        clf_err *err);
clf_status clf_read_mtx(const char *name, const void *p, size_t n, const clf_read_opts *o, clf_mem *mem, clf_loaded *out, clf_err *err);
clf_status clf_read_svm(const char *name, const void *p, size_t n, const clf_read_opts *o, clf_mem *mem, clf_sparse *out, clf_dense *labels,
                        clf_err *err);
#endif
