/* SPDX-License-Identifier: Apache-2.0
 * One round: a context's whole life around a scenario, while something fails. */
#ifndef CLF_TESTS_FAULT_ROUND_H
#define CLF_TESTS_FAULT_ROUND_H
#include "tests/fault/layer.h"
#include "tests/fault/scenario.h"
#include "tests/unit/api_testing.h"

typedef struct round {
    const scenario *what;
    const char *device;         /* NULL: the scenario's own */
    const char *const *extra;   /* more settings, applied after the scenario's; NULL: none */
    long long alloc_at;         /* this allocation fails, and with for_ever all after it; 0: none */
    bool for_ever;
    counting_heap heap;
    fault_mode mode;            /* arms the layer; FAULT_NONE: leaves it alone */
    int function, code;
    long at;
    bool held;                  /* kernels start as late as they may */
    /* what came out */
    clf_status status;          /* the first that was not CLF_OK, of opening, settings and the scenario */
    clf_status again;           /* of a good run in the same context afterwards */
    bool right, leaked;         /* right: no result that was reported good was wrong */
    long objects;               /* of the driver, not released */
    bool haunted;               /* FAULT_ZOMBIE: a kernel wrote to memory that had been given back */
    char message[512];
    clf_stats stats;            /* before the good run */
    long injected, calls, kernels; /* layer; allocations are heap.count */
    long long asked;            /* allocations before the good run */
} round_;

/** The layer, loaded and active; NULL when OpenCL does not take layers here. Call before anything touches OpenCL. */
const fault_layer *round_layer(void);
void round_run(round_ *r);
/** What was injected and what came of it, on one line. */
void round_print(const round_ *r, const char *what);

/* What a suite adds up. */
typedef struct tally { long injected, survived, statuses, seen[16]; } tally;
/** Judge a round: right result or a status with a message; a good run afterwards; nothing left. False, with a line, if not so. */
bool round_judge(const round_ *r, tally *t);
/** "CLF_E_NOMEM 12, CLF_E_DEVICE 3". */
const char *tally_text(const tally *t, char *buf, size_t n);
#endif
