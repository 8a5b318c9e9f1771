/* SPDX-License-Identifier: Apache-2.0
 * What explain knows of a plan, collected once; a writer per format turns it into text. */
#ifndef CLF_GRAPH_EXPLAIN_H
#define CLF_GRAPH_EXPLAIN_H
#include "core/str.h"
#include "host/run/residency.h"
#include "host/run/run.h"

/* Another plan: of another selector, or of the same one with every step on another device. */
enum { CLF_MOST_ALTERNATIVES = 4 + CLF_MOST_DEVICES };
typedef struct clf_alternative {
    const char *selector;
    const char *device;      /* where all its steps run */
    bool elsewhere;          /* not where this plan runs */
    int32_t steps;
    double predicted_ns, transfer_ns; /* transfers are part of what is predicted */
} clf_alternative;
/* A value that is read on another device than it was made on. */
typedef struct clf_handover {
    int32_t value, from, to; /* steps; from -1: a leaf, to -1: a result, for the caller */
    double predicted_ns;     /* on the way, and waiting for its maker where nobody did before */
} clf_handover;
typedef struct clf_report {
    clf_ctx *c;
    const clf_exe *x;
    const clf_frozen *f;
    const char *selector;
    const clf_devices *devices; /* planned for by their profiles alone; NULL: the context's */
    bool analyzed, memo, kernel;
    bool searched;              /* the plan is a search's: costed covers and gap mean something */
    double measured_ns;      /* sum over steps; analyzed only */
    size_t peak_bytes;       /* predicted: results, intermediates and programs' working memory */
    int32_t nhandover;
    const clf_handover *handover;
    int nalternative;
    clf_alternative alternative[CLF_MOST_ALTERNATIVES];
} clf_report;

void clf_explain_text(const clf_report *r, clf_str *out);
void clf_explain_json(const clf_report *r, clf_str *out);
void clf_explain_dot(const clf_report *r, clf_str *out);
void clf_explain_svg(const clf_report *r, clf_str *out);

/* explain_others.c */
/** Fill the alternatives. */
clf_status clf_report_compare(clf_report *r, clf_err *err);
/* explain_handover.c */
/** Fill the hand-overs, in the order of the steps that ask for them; they live in the arena. */
clf_status clf_report_handovers(clf_report *r, clf_arena *arena, clf_err *err);
/* explain_memo.c */
/** What exploration found for every node, and how the plan's steps take its inputs. */
void clf_report_memo(const clf_report *r, clf_str *out);
/* explain_profiles.c */
/** Read profiles as devices; the first is the host. They and *out live in the arena. errors: CLF_E_IO, CLF_E_FORMAT naming the file. */
clf_status clf_report_profiles(size_t n, const char *const *file, clf_arena *arena, clf_devices *out, clf_err *err);
/** A plan for these devices as if they were there: nothing is opened or built, and it cannot run. *out->plan is to be freed. */
clf_status clf_report_plan_for(clf_ctx *c, const clf_graph *g, const clf_devices *dev, clf_arena *arena, clf_exe **out, clf_err *err);

/** The device of step s: its name, its profile. -1, for the name: where leaves lie and results are wanted. */
const char *clf_report_where(const clf_report *r, int32_t s);
const clf_profile *clf_report_profile(const clf_report *r, int32_t s);
/** What bringing the leaf in a slot to device dev (of clf_devs; -1: one of a profile) costs now, of a transfer's full price. */
clf_ps clf_report_charge(const clf_report *r, int32_t slot, int dev, clf_ps transfer);

/** Name of a value: its label, or %n by graph node. buf receives generated names. */
const char *clf_report_name(const clf_report *r, int32_t value, char *buf, size_t n);
/** Stored entries of a sparse value: a leaf's own, else as planned; -1 when it is dense. */
int64_t clf_report_entries(const clf_report *r, int32_t value);
/** What a step computes, as a list of operators: "mul add sum". At most `most` operators, then "...". */
void clf_report_covers(const clf_report *r, const clf_step *s, int most, clf_str *out);
const char *clf_report_kind(const clf_step *s);
/** "Cell", "MAgg", or the operator's name. */
const char *clf_report_template(const clf_report *r, const clf_step *s);
/** "cell.chunk", "tile", "ref", "gemm", "entries", "callout". */
const char *clf_report_skeleton(const clf_exe_step *e);
/** 1.23 ms, 45 us, ... */
void clf_put_time(clf_str *out, double ns);
void clf_put_bytes(clf_str *out, double bytes);
#endif
