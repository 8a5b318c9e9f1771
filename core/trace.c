/* SPDX-License-Identifier: Apache-2.0
 * Trace lines. A line is formatted on the stack (tracing must work when memory is out) and cut, visibly, when it is too long. */
#include "core/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 2048 };

static const char *const topic_names[CLF_NTOPICS] = {
#define T(n) #n,
    CLF_TOPICS(T)
#undef T
};

static uint32_t mask_of(const char *name, size_t n) {
    if (n == 3 && memcmp(name, "all", 3) == 0) return (UINT32_C(1) << CLF_NTOPICS) - 1;
    for (int i = 0; i < CLF_NTOPICS; i++)
        if (strlen(topic_names[i]) == n && memcmp(topic_names[i], name, n) == 0) return UINT32_C(1) << i;
    return 0;
}

bool clf_trace_mask(const char *topics, uint32_t *mask, const char **bad) {
    static const char separators[] = ", ";
    uint32_t m = 0;
    for (const char *at = topics + strspn(topics, separators); *at;) {
        size_t n = strcspn(at, separators);
        uint32_t bit = mask_of(at, n);
        if (!bit) {
            if (bad) *bad = at;
            return false;
        }
        m |= bit;
        at += n;
        at += strspn(at, separators);
    }
    *mask = m;
    return true;
}

void clf_trace_line(const clf_trace *log, enum clf_topic topic, const char *fmt, ...) {
    static const char cut[] = " ...";
    char line[LINE_MAX_BYTES];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (n < 0) return;
    if ((size_t)n >= sizeof line) memcpy(line + sizeof line - sizeof cut, cut, sizeof cut);
    if (log->fn)
        log->fn(log->user, topic_names[topic], line);
    else
        fprintf(stderr, "clfuse %s: %s\n", topic_names[topic], line);
}
