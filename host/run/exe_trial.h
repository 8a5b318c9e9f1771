/* SPDX-License-Identifier: Apache-2.0
 * Steps that run on the host and on a kernel by turns until it is known which is faster. See exe_trial.c. */
#ifndef CLF_RUN_EXE_TRIAL_H
#define CLF_RUN_EXE_TRIAL_H
#include "host/run/exe.h"

enum { CLF_TRIAL_TURNS = 6, CLF_TRIAL_OVER = CLF_TRIAL_TURNS };

typedef struct clf_exe_trial {
    bool kernel;       /* the kernel was predicted to be faster, else the host */
    uint8_t host;      /* clf_executor there, from the first turn on */
    uint8_t turn;      /* turns that are over; CLF_TRIAL_OVER: no more come */
    double best_ns[2]; /* [0] the host [1] the kernel */
} clf_exe_trial;

/** Is what the host and the only device are predicted to take for step s too near each other to choose by? */
bool clf_trial_is_near(clf_ctx *c, const clf_plan *p, int32_t s, const clf_places *on);
/** Step s is placed: give it a trial if it is one. Where it was on the host, it waits for its kernel then, or gets it first.
 *  errors: CLF_E_NOMEM. */
clf_status clf_trial_place(clf_ctx *c, clf_exe *x, int32_t s, clf_err *err);
/** Before step s runs: whose turn it is becomes its executor. True: the run is to be timed, and told to clf_trial_note. */
bool clf_trial_turn(clf_ctx *c, clf_exe *x, int32_t s);
/** It took so long. Behind the last turn the step stays where it was faster. */
void clf_trial_note(clf_ctx *c, clf_exe *x, int32_t s, double ns);
/** What waiting for its kernel is taken to cost a step that is planned for the host. */
double clf_trial_hope_ns(const clf_exe_step *e);
#endif
