/* SPDX-License-Identifier: Apache-2.0
 * What reading (saved.c) and keeping (saved_put.c) programs of the disk cache share: the questions that entries answer. */
#ifndef CLF_DEVICE_SAVED_H
#define CLF_DEVICE_SAVED_H
#include "device/device_internal.h"

/* Kernels just built, one program, on their way to the disk. */
typedef struct clf_unsaved {
    struct clf_unsaved *next;
    int dev, n;
    clf_claim claim;
    clf_program *of[];
} clf_unsaved;

/* A program of many kernels that was read, for its other kernels. */
typedef struct clf_shared {
    struct clf_shared *next;
    int dev;
    char name[CLF_SAVED_NAME];
    cl_program program;
} clf_shared;

/** Key and name of one kernel, and of the program of several. owns: *key, initialised here, also after a failure.
 *  errors: false when memory is out. */
bool clf_saved_kernel_key(clf_devs *d, int dev, const clf_source *src, clf_str *key, char name[CLF_SAVED_NAME]);
bool clf_saved_joined_key(clf_devs *d, int dev, const clf_source *const *src, int n, clf_str *key, char name[CLF_SAVED_NAME]);

static inline clf_bytes clf_saved_bytes(const clf_str *s) { return (clf_bytes){clf_str_c(s), s->len}; }
#endif
