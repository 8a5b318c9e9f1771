/* SPDX-License-Identifier: Apache-2.0
 * Where the time of a context goes: CLF_PROFILE's table and CLF_TRACE's file.
 *
 * One account a part, and one a kind of step. Time is charged to what is innermost when it passes: entering a part stops the one
 * around it, leaving goes on with that. So every nanosecond from the beginning on is in exactly one account, and the accounts add up
 * to the wall time without a rest that nobody explains. What no call of the library covers belongs to the program itself.
 *
 * While the meter is there, plans run step by step, each waited for: a step's time is its own, and not that of a wait somewhere later.
 * thread: used under the context's lock, but for what the pool's workers tell of (trace only), which has a lock of its own. */
#ifndef CLF_RUN_METER_H
#define CLF_RUN_METER_H
#include <pthread.h>

#include "core/knobs.h"
#include "host/run/exe.h"

/* CLF_PART(ID, what table and trace call it) */
#define CLF_PARTS(P) \
    P(OUTSIDE, "the program itself") \
    P(OPEN, "opening the context") \
    P(CALLS, "recording and other calls") \
    P(DEVICES, "opening devices") \
    P(FILES, "files") \
    P(PLAN, "planning") \
    P(BUILD, "compiling") \
    P(EVALUATE, "evaluation beside its steps") \
    P(STEP, "steps")
typedef enum clf_meter_part {
#define P(id, name) CLF_PART_##id,
    CLF_PARTS(P)
#undef P
        CLF_NPARTS
} clf_meter_part;
const char *clf_meter_part_name(clf_meter_part p);

/* A kind of step: what it computes, and by which executor. */
typedef struct clf_meter_row {
    char name[96], by[32];
    uint64_t calls, ns;
    double bytes, roof_ns, predicted_ns; /* roof_ns: what streaming the bytes takes by the device's profile */
    bool assumed;                        /* that profile was not measured */
    int track;
} clf_meter_row;

/* A slice of the trace. */
typedef struct clf_meter_event {
    uint64_t start_ns, ns;
    double bytes;
    int16_t part, row; /* row: of a step, else -1 */
    int32_t track;
} clf_meter_event;

enum {
    CLF_METER_ROWS = 256, /* the last takes what has no row of its own */
    CLF_METER_DEEP = 12,
    CLF_METER_EVENTS = 1 << 18,
    CLF_TRACK_HOST = 0,   /* threads of the trace: the caller's, devices' queues, workers of the pool */
    CLF_TRACK_QUEUE = 1,
    CLF_TRACK_WORKER = 100
};

typedef struct clf_meter {
    clf_mem *mem;
    bool table;                  /* CLF_PROFILE */
    char path[CLF_KNOB_TEXT_MAX]; /* CLF_TRACE; "" none */
    uint64_t began_ns, mark_ns;  /* charged up to mark_ns */
    uint64_t ns[CLF_NPARTS], times[CLF_NPARTS];
    struct { clf_meter_part part; int row; uint64_t start_ns; } frame[CLF_METER_DEEP];
    int deep;                    /* frames in use; beyond CLF_METER_DEEP they count, and are charged to the last */
    int nrow;
    clf_meter_row row[CLF_METER_ROWS];
    pthread_mutex_t lock;        /* of the events */
    clf_meter_event *event;
    size_t nevent, cap;
    uint64_t lost;               /* events that found no room */
} clf_meter;

/** Have a meter where the settings ask for one, and none where they do not: then what it has is told and it goes.
 *  errors: CLF_E_IO the trace's file cannot be written, CLF_E_NOMEM. */
clf_status clf_meter_adapt(clf_ctx *c, clf_err *err);
/** Tell what there is, and drop the meter. */
void clf_meter_close(clf_ctx *c);

/** A part begins and ends. Without a meter nothing happens. */
void clf_meter_enter(clf_meter *m, clf_meter_part part);
void clf_meter_leave(clf_meter *m);
/** A step of a plan begins and ends, on its way to an executor. */
void clf_meter_step(clf_ctx *c, const clf_exe *x, int32_t s);
void clf_meter_step_done(clf_ctx *c, const clf_exe *x, int32_t s);

/** meter_table.c: the table, line by line. */
void clf_meter_print(const clf_meter *m, void (*line)(void *user, const char *text), void *user);
/** meter_trace.c: one more slice. thread: any. */
void clf_meter_note(clf_meter *m, const clf_meter_event *e);
/** Write the file. */
void clf_meter_write(clf_ctx *c, clf_meter *m);
#endif
