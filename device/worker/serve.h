/* SPDX-License-Identifier: Apache-2.0
 * The compile worker: what it does between its two pipes. */
#ifndef CLF_DEVICE_WORKER_SERVE_H
#define CLF_DEVICE_WORKER_SERVE_H

/* What goes wrong on purpose, for tests: after `after` messages in and out together. */
typedef enum clf_serve_fault { CLF_SERVE_RIGHT, CLF_SERVE_DIE, CLF_SERVE_HANG, CLF_SERVE_BABBLE, CLF_SERVE_HALF } clf_serve_fault;
typedef struct clf_serve_opts { clf_serve_fault fault; int after; } clf_serve_opts;

/** Serve until `in` ends. Exit code: 0, or 1 when the other end talks nonsense or cannot be written to. */
int clf_worker_serve(int in, int out, const clf_serve_opts *opts);
#endif
