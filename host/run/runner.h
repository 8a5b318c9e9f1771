/* SPDX-License-Identifier: Apache-2.0
 * A plan while it runs: what exe_run.c, which walks the steps, and exe_memory.c, which finds them memory, share. */
#ifndef CLF_RUN_RUNNER_H
#define CLF_RUN_RUNNER_H
#include "host/run/exe.h"

typedef struct clf_runner {
    clf_ctx *c;
    clf_exe *x;
    clf_slot *slots;
    uint32_t pending; /* devices of the plan that have work in flight: a bit each */
} clf_runner;

/** A bit for every device of the plan. */
static inline uint32_t clf_runner_all(const clf_runner *r) { return (1u << r->x->ndevice) - 1; }
/** Wait for the devices that have something in flight. */
clf_status clf_runner_settle(clf_runner *r, clf_err *err);
/** What devices have of a value, and the host not yet, is on its way home: there after clf_runner_settle. */
clf_status clf_runner_home(clf_runner *r, int32_t v, clf_err *err);
/** All operands of a step are. */
clf_status clf_runner_operands_home(clf_runner *r, const clf_step *t, clf_err *err);
/** Operands that an earlier evaluation left on another device than the plan's only one come home. errors: as clf_run_fetch. */
clf_status clf_runner_leaves(clf_runner *r, clf_err *err);
/** All steps are enqueued: the results of the plan come home, each as soon as it is made, but for those that stay on the device; the devices
 *  are waited for. */
clf_status clf_runner_finish(clf_runner *r, clf_err *err);
/** The buffer behind a value; NULL for numbers and what is not made yet. */
clf_buf *clf_runner_buffer(const clf_runner *r, int32_t v);
/** Value v is what b holds; takes over the reference. */
void clf_runner_set(clf_runner *r, int32_t v, clf_buf *b);
/** Memory for value v, which a step is about to write. errors: CLF_E_NOMEM naming shape and bytes. */
clf_status clf_runner_allocate(clf_runner *r, int32_t v, clf_err *err);
/** Memory ran out: give back what the pool holds. *some: there was something, so that a second try may do. */
clf_status clf_runner_make_room(clf_runner *r, bool *some, clf_err *err);
/** Everything step t reads and writes: memory of its results (a conversion finds its own), addresses, numbers, extents over entries. */
clf_status clf_runner_gather(clf_runner *r, const clf_step *t, clf_exe_step *e, clf_err *err);
/* A launch of a kernel of a step: for all of it; for a part, of n positions of its extent from lo on; or for one beside other parts, of
 * whose operands the device may have copies. entry: the first stored entry of such a part; 0 where it goes over none. */
typedef enum clf_launch_what { CLF_LAUNCH_ALL, CLF_LAUNCH_PART, CLF_LAUNCH_BESIDE } clf_launch_what;
typedef struct clf_runner_job {
    clf_launch_what what;
    int on; /* as clf_exe_step.on */
    clf_program *program;
    const clf_arg_desc *args;
    int nargs;
    const clf_sched *sched;
    int64_t lo, n, entry, entries; /* of a part: positions, and stored entries of a result that has an operand's pattern, from `entry` on */
} clf_runner_job;
/** Positions of a grid. */
static inline int64_t clf_sched_positions(const clf_sched *s) { return (int64_t)(s->global / s->local) * s->grain; }
clf_status clf_runner_launch(clf_runner *r, const clf_step *t, const clf_runner_job *k, clf_err *err);
/** All kernels of a step that one device runs: its grid, or one part after the other, and what merges them. */
clf_status clf_runner_kernel(clf_runner *r, const clf_step *t, clf_exe_step *e, clf_err *err);
/** exe_split.c: run step t on its device and on the host together; its results are with the host then. */
clf_status clf_split_run(clf_runner *r, const clf_step *t, clf_exe_step *e, clf_err *err);
/* exe_flight.c: what is in flight on several devices. Of a plan for one device or none these do nothing, or all at once. */
/** Room for what is kept of values. errors: CLF_E_NOMEM. */
clf_status clf_flight_new(clf_exe *x, clf_err *err);
void clf_flight_begin(clf_exe *x);
/** Step t is about to run on `on` (clf_exe_step.on): what it reads from elsewhere is with the host. */
clf_status clf_flight_await(clf_runner *r, const clf_step *t, int on, clf_err *err);
/** Its kernels are enqueued: they start, and what others will read of their results follows on its way home. */
clf_status clf_flight_started(clf_runner *r, const clf_step *t, int on, clf_err *err);
/** Value v is read by nobody any more. True: it goes when no device uses its memory. */
bool clf_flight_keeps(clf_runner *r, int32_t v);
/** Drop what was kept for that and is not needed any more; where that is much, after waiting for it. */
clf_status clf_flight_drop(clf_runner *r, clf_err *err);

void clf_runner_drop(clf_runner *r, int32_t v);
/** Drop the values whose last reader step s was. */
clf_status clf_runner_release(clf_runner *r, int32_t s, clf_err *err);
/** A reference for every root. */
clf_status clf_runner_results(clf_runner *r, clf_buf **results, clf_err *err);
#endif
