/* SPDX-License-Identifier: Apache-2.0
 * Texts with holes, filled and run. See text_case.h. */
#include "tests/support/text_case.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/net.h"
#include "tests/support/skel_case.h"

enum { TEXT_BYTES = 4096 };

/* ---- texts --------------------------------------------------------------------------------------------------------------- */

static int64_t extent_of(const text_suite *u, char letter, const text_shape *s) {
    const int64_t own[] = {s->a, s->b, s->c};
    const char *at = strchr(u->letters, letter);
    return at ? own[at - u->letters] : u->other ? u->other(letter, s) : -1;
}

static void fill(const text_suite *u, char *out, const char *text, const text_shape *s) {
    size_t at = 0;
    for (; *text && at + 24 < TEXT_BYTES; text++) {
        if (*text != '$')
            out[at++] = *text;
        else if (*++text == 't')
            at += (size_t)snprintf(out + at, TEXT_BYTES - at, "%s", s->t);
        else
            at += (size_t)snprintf(out + at, TEXT_BYTES - at, "%lld", (long long)extent_of(u, *text, s));
    }
    out[at] = 0;
}

static bool takes(const text_suite *u, text_shape *s) { return !u->takes || u->takes(s); }

/* ---- running ------------------------------------------------------------------------------------------------------------- */

static void note(const text_suite *u, const char *text, text_shape s) {
    kernel_job j;
    clf_err err = {0};
    char plan[TEXT_BYTES];
    if (!takes(u, &s)) return;
    fill(u, plan, text, &s);
    if (job_text(&j, 42, plan, &err) == CLF_OK) job_note(&j, jobs_skel(u->skel));
    job_end(&j);
}

static void check(text_suite *u, const char *text, text_shape s, job_data data) {
    kernel_job j;
    clf_err err = {0};
    char plan[TEXT_BYTES];
    size_t bad = 0;
    if (!takes(u, &s)) return;
    fill(u, plan, text, &s);
    clf_status st = job_text(&j, 42, plan, &err);
    if (st == CLF_OK) {
        job_memory(&j, data, 0);
        st = (u->run ? u->run : job_kernel)(&j, jobs_skel(u->skel), s.parts, &err);
    }
    if (st == CLF_OK) st = job_reference(&j, &err);
    for (int o = 0; st == CLF_OK && o < j.c.nout; o++) bad += job_wrong(&j, o, 0);
    if (st != CLF_OK || bad) fprintf(stderr, "%s\n%zu cells differ; %s\n", plan, bad, err.text);
    CU_ASSERT_EQUAL(st, CLF_OK);
    CU_ASSERT_EQUAL(bad, 0);
    u->kernels++;
    job_end(&j);
}

void text_check(text_suite *u, const char *text, const text_shape *s, int n) {
    const int every = u->every_shape ? 1 : net_turns(2, 2), first = net_first(u->turn++, every, n);
    for (int i = first; i < n; i += every) note(u, text, s[i]);
    jobs_build();
    for (int i = first; i < n; i += every) check(u, text, s[i], i / every % 2 ? JOB_REAL : JOB_FINITE);
}

/* ---- without running ----------------------------------------------------------------------------------------------------- */

static void parse(const text_suite *u, kernel_job *j, const char *text, const text_shape *s) {
    clf_err err = {0};
    char plan[TEXT_BYTES];
    fill(u, plan, text, s);
    CU_ASSERT_EQUAL_FATAL(job_text(j, 1, plan, &err), CLF_OK);
}

bool text_fits(const text_suite *u, const char *text, text_shape s) {
    kernel_job j;
    parse(u, &j, text, &s);
    bool yes = jobs_skel(u->skel)->fits(&j.c, &jobs.profile);
    job_end(&j);
    return yes;
}

void text_planned(const text_suite *u, kernel_job *j, const char *text, text_shape s, clf_sched *out) {
    clf_err err = {0};
    const clf_skel *skel = jobs_skel(u->skel);
    parse(u, j, text, &s);
    CU_ASSERT_TRUE_FATAL(skel->fits(&j->c, &jobs.profile));
    CU_ASSERT_EQUAL_FATAL(skel->sched(&j->c, &jobs.profile, (clf_grid){0, INT64_MAX}, out, &err), CLF_OK);
}

void text_no_memory(const text_suite *u, const char *text, text_shape s) {
    kernel_job j;
    clf_sched sched;
    text_planned(u, &j, text, s, &sched);
    skel_no_memory(&j, &sched);
    job_end(&j);
}

void text_same(const text_suite *u, const char *text, const text_shape s[2], clf_sched out[2]) {
    kernel_job j[2];
    for (int k = 0; k < 2; k++) text_planned(u, &j[k], text, s[k], &out[k]);
    skel_same_text(&j[0], &out[0], &j[1], &out[1]);
    for (int k = 0; k < 2; k++) job_end(&j[k]);
}
