/* SPDX-License-Identifier: Apache-2.0
 * Products on devices in use, by CLBlast; see gemm.c. */
#ifndef CLF_RUN_GEMM_H
#define CLF_RUN_GEMM_H
#include "host/run/run.h"
#include "host/run/runner.h"

/** Do settings allow it on device dev of clf_devs, and is it there? */
bool clf_gemm_found(const clf_ctx *c, int dev);
/** Device u of those in use got its profile: no plan is made for products there before the library is ready. */
void clf_gemm_unready(clf_used *used, int u);
/** Planning has come to devices: where the graph has a product that takes long enough, CLBlast warms up on them. Where kernels
 *  are waited for, so is that. */
void clf_gemm_want(clf_ctx *c, const clf_graph *g);
/** Where it got ready, or was refused, since: plans are made again. Not while one is being made. */
void clf_gemm_news(clf_ctx *c);
/** Does CLBlast compute step t, planned for device dev of clf_devs? */
bool clf_gemm_runs(clf_ctx *c, const clf_plan *p, const clf_step *t, int dev);
/** Why the host computes LIBRARY step t; "" where nobody else could. */
const char *clf_gemm_why(clf_ctx *c, const clf_plan *p, const clf_step *t);
/** Enqueue LIBRARY step t on its device. *refused: the library could not, and the host may. errors: what waiting for operands gives. */
clf_status clf_gemm_run(clf_runner *r, const clf_step *t, clf_exe_step *e, bool *refused, clf_err *err);
#endif
