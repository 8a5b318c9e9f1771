/* SPDX-License-Identifier: Apache-2.0
 * A pool of threads for the host executor and host steps. Started on the first parallel job, so that contexts stay cheap. */
#ifndef CLF_RUN_POOL_H
#define CLF_RUN_POOL_H
#include "core/err.h"
#include "core/mem.h"
typedef struct clf_pool clf_pool;
/** threads <= 0: one per core the process may use. NULL when out of memory. */
clf_pool *clf_pool_new(clf_mem *mem, int threads);
void clf_pool_free(clf_pool *p);
int clf_pool_threads(const clf_pool *p);
/** Run fn(user, part, worker) for part in [0, parts), the caller taking part; returns when all are done. worker < clf_pool_threads.
 *  If threads cannot be started the caller does everything. Waiting workers spin briefly (microseconds) before they sleep. */
void clf_pool_run(clf_pool *p, int64_t parts, void (*fn)(void *user, int64_t part, int worker), void *user);
/** Have every thread that took parts of a job, the caller too, tell when it began and ended, before the job counts as done. NULL: no
 *  more. Not while a job runs.  thread: `told` is called from the workers, at once. */
void clf_pool_watch(clf_pool *p, void (*told)(void *user, int worker, uint64_t start_ns, uint64_t end_ns), void *user);
#endif
