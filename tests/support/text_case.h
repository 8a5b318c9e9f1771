/* SPDX-License-Identifier: Apache-2.0
 * Cplans written as text with holes, run on the first OpenCL device by one skeleton's kernel and by the reference executor: same bits.
 *
 * A hole is a $ and a letter: $t the element type, one of `letters` an extent of the shape, any other what the suite says.
 *
 *     static text_suite suite = {.skel = "row.chunk", .letters = "nmk"};
 *     TEXT_CHECK(&suite, text, {12, 16, 80, "f64", 1}, {25, 512, 65, "f32", 2});   // n, m, k, $t, launches */
#ifndef CLF_TESTS_TEXT_CASE_H
#define CLF_TESTS_TEXT_CASE_H
#include "tests/support/kernel_job.h"

typedef struct text_shape {
    int64_t a, b, c; /* extents, in the order of the suite's letters */
    const char *t;
    int parts;       /* launches */
} text_shape;

typedef struct text_suite {
    const char *skel, *letters;
    int64_t (*other)(char letter, const text_shape *s); /* NULL: there are no other letters */
    bool (*takes)(text_shape *s); /* may make it smaller; false: too large for this device. NULL: any will do */
    clf_status (*run)(kernel_job *j, const clf_skel *skel, int parts, clf_err *err); /* NULL: job_kernel */
    bool every_shape;             /* else every second one, but at full length and in cases asked for by name */
    long kernels;                 /* that ran */
    int turn;                     /* texts checked so far */
} text_suite;

/** Compare all outputs for every shape, or for every second one by turns, but at least one; every second of these has NaN and infinities in
 *  its operands. Their kernels are built together. n > 0 shapes. */
void text_check(text_suite *u, const char *text, const text_shape *s, int n);
#define TEXT_CHECK(u, text, ...) \
    do { \
        static const text_shape list_[] = {__VA_ARGS__}; \
        text_check(u, text, list_, (int)(sizeof list_ / sizeof *list_)); \
    } while (0)

/** Does the skeleton take it? */
bool text_fits(const text_suite *u, const char *text, text_shape s);
/** The skeleton's schedule of it, which must fit. owns: the caller ends j. */
void text_planned(const text_suite *u, kernel_job *j, const char *text, text_shape s, clf_sched *out);
/** Emission fails cleanly whichever of its allocations fails. */
void text_no_memory(const text_suite *u, const char *text, text_shape s);
/** Both shapes have one text. out: their schedules. */
void text_same(const text_suite *u, const char *text, const text_shape s[2], clf_sched out[2]);
#endif
