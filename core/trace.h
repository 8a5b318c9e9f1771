/* SPDX-License-Identifier: Apache-2.0
 * The trace: one call, topics from one list. Silent unless CLF_LOG names the topic; lines go to the host's callback, or to
 * stderr when CLF_LOG is set and no callback is installed. */
#ifndef CLF_CORE_TRACE_H
#define CLF_CORE_TRACE_H
#include <stdbool.h>
#include "clfuse/types.h"
#define CLF_TOPICS(T) T(graph) T(rules) T(memo) T(cost) T(plan) T(cplan) T(emit) T(build) T(launch) T(mem) T(io)
enum clf_topic {
#define T(n) CLF_TOPIC_##n,
    CLF_TOPICS(T)
#undef T
    CLF_NTOPICS
};
typedef struct clf_trace {
    uint32_t mask; /* bit per topic */
    clf_log_fn fn; /* NULL: stderr */
    void *user;
} clf_trace;
/** Parse "plan,build" or "all" into a mask; false when a name is unknown (then *bad points at it). */
bool clf_trace_mask(const char *topics, uint32_t *mask, const char **bad);
void clf_trace_line(const clf_trace *log, enum clf_topic topic, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static inline bool clf_trace_on(const clf_trace *log, enum clf_topic topic) { return log && (log->mask >> topic & 1u); }
/* The arguments are evaluated only when the topic is on; log may be NULL. */
#define CLF_TRACE(log, topic, ...)                                                                                     \
    do {                                                                                                               \
        if (clf_trace_on((log), CLF_TOPIC_##topic)) clf_trace_line((log), CLF_TOPIC_##topic, __VA_ARGS__); \
    } while (0)
#endif
