/* SPDX-License-Identifier: Apache-2.0
 * Which leaves are worth moving to a device that has memory of its own. A leaf that is there costs no transfer; for one that is not, each
 * evaluation adds to the leaf's credit what it would have saved had the leaf been there, and as much less of the transfer is charged to
 * the next plan. So a loop moves its matrix once, as soon as the calls that were slower for its absence, and this one, outweigh the way.
 *
 * Plans see credits by class: in how many quarters of the transfer are paid. The classes of a plan's leaves are part of its key. */
#ifndef CLF_RUN_RESIDENCY_H
#define CLF_RUN_RESIDENCY_H
#include "host/run/exe.h"
#include "planner/cost.h"

enum { CLF_RESIDENT = 4 }; /* the class of what is on the device, or wholly paid for */

/** The class of a credit; what plans of that class are not charged. A transfer of 0 is always paid. */
int clf_residency_class(clf_ps credit, clf_ps transfer);
clf_ps clf_residency_free(int class_, clf_ps transfer);

/** What one evaluation by plan p of graph g loses because leaves are not on that device of lim: shares by slot of how much cheaper the best
 *  plan would be if they were, for the leaves that it reads there and p does not, by their bytes. lost: zeros, one a slot.
 *  errors: as clf_plan_new. */
clf_status clf_residency_lost(const clf_plan *p, const clf_graph *g, const clf_selector *sel, const clf_limits *lim, int device,
                              clf_mem *mem, int64_t *lost, clf_err *err);

/** Append the classes of the leaves in these slots to a plan's key; nothing where they make no difference. */
void clf_residency_key(clf_ctx *c, int32_t nslot, const clf_slot *slots, clf_str *key);
/** Are the classes still those of plan x? */
bool clf_residency_same(clf_ctx *c, const clf_exe *x, int32_t nslot, const clf_slot *slots);
/** What a plan with these classes (the key's last n bytes) is not charged, a number a slot. out: by device in use, from the arena; NULL: all is charged.
 *  errors: CLF_E_NOMEM. */
clf_status clf_residency_credits(clf_ctx *c, const char *classes, size_t n, int32_t nslot, const clf_slot *slots, clf_arena *arena,
                                 int64_t **out, clf_err *err);
/** Find out what evaluations by x lose, by the device on which that is most. errors: as clf_plan_new. */
clf_status clf_residency_watch(clf_ctx *c, clf_exe *x, const clf_graph *g, const clf_selector *sel, clf_err *err);
/** What is charged now for bringing a slot's leaf to device dev of clf_devs. */
clf_ps clf_residency_charge(clf_ctx *c, int dev, const clf_slot *slot, clf_ps transfer);
/** x has run. */
void clf_residency_add(clf_ctx *c, const clf_exe *x, const clf_slot *slots);
#endif
