/* SPDX-License-Identifier: Apache-2.0
 * The parts of the csv reader: cutting lines into cells, guessing the dialect, reading the numbers. */
#ifndef CLF_FORMATS_CSV_H
#define CLF_FORMATS_CSV_H
#include "formats/fmt.h"
#include "formats/text.h"

/* One file. A record is a row: usually a line, more where a quoted cell holds line ends. */
typedef struct clf_csv {
    clf_text t;       /* without trailing line ends */
    char sep;         /* ',' ';' '\t', or ' ' for runs of blanks */
    bool quotes;      /* a '"' stands somewhere */
    bool header;
    int64_t cols;     /* cells of a record, the label included */
    int64_t label;    /* 1-based column, 0 none */
    const char *body; /* first record of data */
} clf_csv;

/* A cell as it stands, without surrounding blanks and without its quotes ("" inside still doubled). */
typedef struct clf_cell {
    const char *at;
    size_t n;
    bool quoted;
} clf_cell;

/** Cut the cell at `at`. Gives the place of the separator or line end behind it, or NULL for a broken quotation
 *  (then cell->at is the quotation mark). */
const char *clf_csv_cut(const clf_csv *c, const char *at, clf_cell *cell);
/** As above for a cell whose text ends at `at`: skip blanks to the separator or line end; NULL when something else comes. */
const char *clf_csv_gap(const clf_csv *c, const char *at);
/** Start of the first record at or after `at`, over blank lines (which are missing cells in a file of one column); NULL at the end. */
const char *clf_csv_find(const clf_csv *c, const char *at);
/** End of the record at `at`: its line end, or the text's end; NULL for a broken quotation. */
const char *clf_csv_record_end(const clf_csv *c, const char *at);
/** Where the next record may start behind the end `at` of one. */
static inline const char *clf_csv_behind(const clf_csv *c, const char *at) { return at < c->t.end ? at + 1 : at; }
/** Empty or NA. */
bool clf_cell_missing(const clf_cell *cell);
/** The whole cell is a number. */
bool clf_cell_number(const clf_cell *cell, clf_dtype t, double *out);

/** Find separator, header, columns and the label column. errors: CLF_E_FORMAT, CLF_E_NAME no such label column. */
clf_status clf_csv_detect(clf_csv *c, const char *label);

/** clf_read_csv that also tells how many rows with missing cells were dropped. */
clf_status clf_csv_read(const char *name, const void *p, size_t n, const clf_read_opts *o, clf_mem *mem, clf_dense *out,
                        clf_dense *labels, int64_t *dropped, clf_err *err);
#endif
