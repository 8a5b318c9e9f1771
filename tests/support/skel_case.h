/* SPDX-License-Identifier: Apache-2.0
 * What every skeleton's suite asks of schedules and texts, without running them. */
#ifndef CLF_TESTS_SKEL_CASE_H
#define CLF_TESTS_SKEL_CASE_H
#include "tests/support/kernel_job.h"

/** Ends the builder of j; the skeleton's schedule of the whole cplan. */
void skel_planned(kernel_job *j, const clf_skel *skel, clf_sched *out);
/** The text of a schedule, in the job's memory. */
clf_source skel_text(kernel_job *j, const clf_sched *s);
/** Both have one text, complete in itself. */
void skel_same_text(kernel_job *a, const clf_sched *sa, kernel_job *b, const clf_sched *sb);
/** It fits the device, but not with so few bytes of arguments, nor without doubles. */
void skel_refuses(const kernel_job *j, const clf_skel *skel, double arg_bytes);
/** Emission fails cleanly whichever of its allocations fails. */
void skel_no_memory(const kernel_job *j, const clf_sched *s);
/** As job_kernel; operands and results begin an element behind where a vector may, for devices that work in the memory of their caller. */
clf_status skel_beside(kernel_job *j, const clf_skel *skel, int parts, clf_err *err);
#endif
