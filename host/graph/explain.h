/* SPDX-License-Identifier: Apache-2.0
 * What explain knows of a plan, collected once; a writer per format turns it into text. */
#ifndef CLF_GRAPH_EXPLAIN_H
#define CLF_GRAPH_EXPLAIN_H
#include "core/str.h"
#include "host/run/run.h"

enum { CLF_MOST_ALTERNATIVES = 4 };
typedef struct clf_alternative { const char *selector; int32_t steps; double predicted_ns; } clf_alternative;
typedef struct clf_report {
    clf_ctx *c;
    const clf_exe *x;
    const clf_frozen *f;
    const char *selector;
    bool analyzed, memo, kernel;
    double measured_ns;      /* sum over steps; analyzed only */
    size_t peak_bytes;       /* predicted: results and intermediates alive at once */
    int nalternative;
    clf_alternative alternative[CLF_MOST_ALTERNATIVES];
} clf_report;

void clf_explain_text(const clf_report *r, clf_str *out);
void clf_explain_json(const clf_report *r, clf_str *out);
void clf_explain_dot(const clf_report *r, clf_str *out);
void clf_explain_svg(const clf_report *r, clf_str *out);

/** Name of a value: its label, or %n by graph node. buf receives generated names. */
const char *clf_report_name(const clf_report *r, int32_t value, char *buf, size_t n);
/** Stored entries of a sparse value: a leaf's own, else as planned; -1 when it is dense. */
int64_t clf_report_entries(const clf_report *r, int32_t value);
/** What a step computes, as a list of operators: "mul add sum". At most `most` operators, then "...". */
void clf_report_covers(const clf_report *r, const clf_step *s, int most, clf_str *out);
const char *clf_report_kind(const clf_step *s);
/** "Cell", "MAgg", or the operator's name. */
const char *clf_report_template(const clf_report *r, const clf_step *s);
/** "cell.chunk", "tile", "ref", "gemm", "callout". */
const char *clf_report_skeleton(const clf_exe_step *e);
/** 1.23 ms, 45 us, ... */
void clf_put_time(clf_str *out, double ns);
void clf_put_bytes(clf_str *out, double bytes);
#endif
