/* SPDX-License-Identifier: Apache-2.0
 * What the fault layer can be told. The layer is a shared object that the OpenCL loader puts between program and driver (OPENCL_LAYERS);
 * the test opens the same file with dlopen and speaks to it through one table of functions. */
#ifndef CLF_TESTS_FAULT_LAYER_H
#define CLF_TESTS_FAULT_LAYER_H
#include <stdbool.h>

typedef enum fault_mode {
    FAULT_NONE,
    FAULT_ONCE,        /* call `at` fails and has no effect */
    FAULT_FOR_EVER,    /* so does every call of that function after it */
    FAULT_LATE,        /* kernel `at` runs, its event says it failed */
    FAULT_LATE_LOST,   /* kernel `at` does not run, its event says it failed */
    FAULT_LATE_ALWAYS, /* every kernel from `at` on fails late */
    FAULT_FINISH,      /* the clFinish behind kernel `at` does its work and fails */
    FAULT_SLOW,        /* events look as if they ran until somebody waits for them */
    FAULT_LOST,        /* from call `at` on every call fails: the device is gone; releases still give back what they hold */
    FAULT_ZOMBIE,      /* held and lost, but what is enqueued runs later all the same: when wake() says so */
    FAULT_BIG,         /* buffers of more than `at` bytes cannot be had */
    FAULT_DEVICE       /* one device of several is gone, number `function` by when its context was made: from call `at` to its queues on */
} fault_mode;

enum { FAULT_ANY = -1, FAULT_MOST_CODES = 6 };

typedef struct fault_layer {
    int functions; /* how many it knows; they are numbered from 0 */
    const char *(*name)(int function);
    /* What this function may answer by the OpenCL 1.2 specification. */
    const int *(*codes)(int function, int *n);
    /* Count from 0 again and fail as told: `at` counts calls of `function`, or of all (kernels for the late modes). */
    void (*arm)(fault_mode mode, int function, long at, int code);
    void (*disarm)(void);
    long (*calls)(int function);   /* since it was armed or disarmed */
    int (*function_at)(long call); /* which function that call was; -1 beyond what is remembered */
    long (*kernels)(void);
    long (*injected)(void);        /* failures given since it was armed */
    long (*objects)(void);         /* driver objects the library has and has not released, whatever the release answered */
    void (*hold)(void);            /* until disarmed no kernel starts before somebody waits: what was not waited for shows */
    void (*wake)(void);            /* let everything that is held run, and wait for it */
} fault_layer;

typedef const fault_layer *fault_layer_get(void); /* exported as clf_fault_layer */
#endif
