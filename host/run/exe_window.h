/* SPDX-License-Identifier: Apache-2.0
 * Between exe_kernels.c, which writes the kernels of a plan window by window and builds them, and exe_later.c, for when they are built
 * elsewhere. */
#ifndef CLF_RUN_EXE_WINDOW_H
#define CLF_RUN_EXE_WINDOW_H
#include "host/run/exe_kernels.h"
#include "kernels-cl/join.h"

/* A window's texts are held until its kernels are built. */
enum { CLF_WINDOW_KERNELS = CLF_JOIN_KERNELS, CLF_WINDOW_BYTES = 1 << 23 };

typedef struct clf_draft {
    int32_t step;
    const clf_skel *skel;
    clf_source src, merge; /* merge.text NULL: none */
    clf_sched *merge_sched;
    bool joined;  /* taken into a program of many */
    bool generic; /* again: a generic kernel ran the step so far */
} clf_draft;

typedef struct clf_window {
    clf_ctx *c;
    clf_exe *x;
    int on, dev;     /* the device whose kernels these are: as clf_exe_step.on, and of clf_devs */
    clf_arena arena; /* sources */
    clf_join join;
    clf_draft d[CLF_WINDOW_KERNELS];
    int n;
    size_t text_bytes;
    bool later, again, all; /* kernels come later; these are steps that wait; ask for every kernel */
    uint64_t done, nkernels; /* kernels of the plan */
    clf_err cancelled;       /* while building many at once */
} clf_window;

/** Write and get the kernels of x window by window: of steps placed on the device, or again: of steps that wait for theirs; all: ask for each
 *  of these. */
clf_status clf_windows(clf_ctx *c, clf_exe *x, bool again, bool all, clf_err *err);
/** What to do with a window's drafts when kernels come later. */
clf_status clf_window_later(clf_window *w, clf_err *err);
/** A kernel that is built already costs nothing, and asks for nothing; of all kernels of the plan, done are there. errors: as
 *  clf_program_get, CLF_E_CANCELLED. */
clf_status clf_window_program(clf_ctx *c, int dev, const clf_source *src, uint64_t done, uint64_t all, clf_program **out, bool *compiled,
                              clf_err *err);
/** exe_parts.c: step s in parts, where an operand exceeds the device's largest allocation. errors: CLF_E_NOMEM; CLF_E_LIMIT: parts do not
 *  help. */
clf_status clf_exe_cut(clf_ctx *c, clf_exe *x, int32_t s, const clf_skel *skel, clf_err *err);
/** The kernel of a draft, built now if it is not known, is its step's. */
clf_status clf_window_keep(clf_window *w, const clf_draft *d, clf_err *err);
/** What cannot have its kernel runs on the host, whatever went wrong short of running out of memory. */
clf_status clf_window_give_up(clf_ctx *c, clf_exe *x, int32_t s, const clf_err *failed, clf_err *err);
/** The generic kernel of a step that waits is its step's: where there is one, it is there already, and pays. errors: CLF_E_NOMEM. */
clf_status clf_window_generic(clf_window *w, int32_t s, bool *taken);
/** Ask for that kernel, unless it is there. */
void clf_window_ask_generic(clf_window *w, int32_t s);
/** errors: CLF_E_STATE: kernels come later, and this one is being built; CLF_E_NOMEM. */
clf_status clf_window_await(clf_ctx *c, int dev, const clf_source *src, clf_err *err);
#endif
