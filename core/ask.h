/* SPDX-License-Identifier: Apache-2.0
 * Long work asks now and then whether it is to go on: one call, that the host program's progress callback answers. */
#ifndef CLF_CORE_ASK_H
#define CLF_CORE_ASK_H
#include "core/err.h"
typedef struct clf_ask {
    clf_progress_fn fn; /* NULL: nobody is asked, and everything goes on */
    void *user;
} clf_ask;
/** Tell where the work is. a may be NULL. errors: CLF_E_CANCELLED when the answer is to stop. */
static inline clf_status clf_ask_on(const clf_ask *a, clf_stage stage, const char *what, uint64_t done, uint64_t all, clf_err *err) {
    if (!a || !a->fn) return CLF_OK;
    const clf_progress p = {.struct_size = sizeof p, .stage = stage, .what = what, .done = done, .all = all};
    if (!a->fn(a->user, &p)) return CLF_OK;
    static const char *const doing[] = {"reading", "planning", "compiling", "running", "writing"};
    return clf_fail(err, CLF_E_CANCELLED, "cancelled by the progress callback while %s%s%.200s", doing[stage], *what ? " " : "", what);
}
#endif
