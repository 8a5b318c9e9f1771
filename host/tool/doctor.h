/* SPDX-License-Identifier: Apache-2.0
 * The subcommand doctor: findings, and the checks that make them.
 *   doctor.c          the table of checks, the report
 *   doctor_drivers.c  how OpenCL is installed here, without opening it
 *   doctor_devices.c  what the library sees and whether it computes right on it
 *   doctor_place.c    settings, directories and habits of this machine */
#ifndef CLFUSE_TOOL_DOCTOR_H
#define CLFUSE_TOOL_DOCTOR_H
#include "host/tool/tool.h"

typedef enum doctor_level { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_FAIL } doctor_level;
enum { DOCTOR_MOST = 64 };

typedef struct doctor_finding {
    const char *check;
    doctor_level level;
    char text[320], remedy[240]; /* remedy: one line, "" where nothing is to be done */
} doctor_finding;

typedef struct doctor {
    const tool_options *o;
    clf_ctx *c;          /* NULL when none could be opened */
    const char *check;   /* the one that runs */
    doctor_finding found[DOCTOR_MOST];
    int n;
} doctor;

/** Add a finding; remedy NULL for none. */
void doctor_say(doctor *d, doctor_level level, const char *remedy, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

typedef void (*doctor_check)(doctor *d);
void doctor_loader(doctor *d), doctor_icd(doctor *d), doctor_unregistered(doctor *d);
void doctor_devices(doctor *d), doctor_memory(doctor *d), doctor_profile(doctor *d), doctor_results(doctor *d), doctor_blas(doctor *d);
void doctor_clblast(doctor *d);
void doctor_settings(doctor *d), doctor_cache(doctor *d), doctor_affinity(doctor *d), doctor_variables(doctor *d);
#endif
