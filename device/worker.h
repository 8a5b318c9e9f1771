/* SPDX-License-Identifier: Apache-2.0
 * What the files of the compile workers share: jobs, and one worker process seen from this one (worker_link.c). worker.c is the owner's
 * side; worker_thread.c decides who builds what; worker_find.c where the program is. */
#ifndef CLF_DEVICE_WORKER_H
#define CLF_DEVICE_WORKER_H
#include <pthread.h>
#include "core/str.h"
#include "device/device_internal.h"
#include "device/message.h"

enum { CLF_LINKS_MOST = 4 };

/* One program to build, with all its kernels. */
typedef struct clf_job {
    struct clf_job *next;   /* asked for and not taken in; the owner's list */
    struct clf_job *queued; /* of the queue or of what is done; under the lock */
    uint64_t id, ns;
    int dev, n, tries;
    size_t text_len;
    char *text, *options;
    clf_program **block;    /* n, with neither program nor kernel */
    bool fetch;             /* for what is on the disk, and nothing is built */
    bool kept;              /* on disk */
    clf_claim claim;        /* the entry that it becomes, "": not looked at */
    bool claimed, elsewhere; /* whose lock is held; another process had it built, or an earlier one */
    uint64_t first_ns, again_ns; /* not claimed: when that was tried first, and when to look again */
    cl_program built;       /* when done: this, */
    clf_err failed;         /* or why not; CLF_E_STATE: cancelled */
} clf_job;

typedef enum clf_link_state { CLF_LINK_OFF, CLF_LINK_GREETED, CLF_LINK_IDLE, CLF_LINK_BUSY } clf_link_state;
typedef struct clf_link {
    clf_link_state state;
    pid_t pid;
    int to, from;        /* pipes */
    int dev;
    clf_str out, in;     /* bytes to be sent, and received of the next message */
    size_t sent;
    uint64_t until_ns;   /* when it counts as hung */
    clf_job *job;        /* BUSY */
} clf_link;

/* All jobs and workers of one clf_devs. */
typedef struct clf_workers {
    clf_devs *d;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t came;
    int wake;                       /* eventfd: there is something to look at */
    clf_job *asked;                 /* the owner's: not taken in yet */
    clf_job *queue, **end, *done;   /* under the lock */
    clf_job *others;                /* the thread's: another process has them built */
    bool stop, cancel;              /* under the lock */
    atomic_int ndone;
    int nqueue, under_way;                  /* under way: asked and not done; under the lock */
    clf_asked count;                /* the owner's */
    uint64_t ids;
    char **env;                     /* as it was when the first kernel was asked for */
    size_t env_bytes;
    clf_link link[CLF_LINKS_MOST];
    int nlinks, failures;           /* failures: workers that ended without a job, since one was done */
    bool here;                      /* the thread builds itself */
    char path[CLF_DEV_PATH];
    clf_disk_mode keep;             /* how it is opened */
    clf_disk disk;                  /* the thread's own; what workers built is kept there */
    clf_trace log;                  /* as it was then, too: settings change under the owner's lock */
} clf_workers;

/** The thread: hands jobs out until it is told to stop. */
void *clf_workers_serve(void *workers);
/* May a job be given to a worker? LATER: another process has it built; DONE: it did. */
typedef enum clf_claimed { CLF_CLAIM_MINE, CLF_CLAIM_LATER, CLF_CLAIM_DONE } clf_claimed;
clf_claimed clf_claim_try(clf_workers *w, clf_job *j);
void clf_claim_drop(clf_workers *w, clf_job *j);
/** Load what another process has kept; of a program of many, or where it cannot be had, j->built stays NULL. */
void clf_claim_load(clf_workers *w, clf_job *j);
/** The worker program: `given` when it is not "", else beside this library or in libexec. False: there is none. */
bool clf_worker_find(const char *given, char *out, size_t n);
/** Start a worker for device dev and greet it. heard: what it prints goes where our errors go. errors: CLF_E_IO, CLF_E_NOMEM. */
clf_status clf_link_start(clf_link *l, clf_devs *d, int dev, const char *path, char *const *env, bool heard, clf_err *err);
/** Give it a job. errors: CLF_E_NOMEM, CLF_E_LIMIT. */
clf_status clf_link_give(clf_link *l, clf_devs *d, clf_job *j, clf_err *err);
/** Send what can be sent and read what is there. *m: a whole message, valid until the next call, when *whole. errors: CLF_E_IO the other end is
 *  gone, CLF_E_FORMAT, CLF_E_NOMEM. */
clf_status clf_link_move(clf_link *l, clf_msg *m, bool *whole, clf_err *err);
/** End the process at once. */
void clf_link_stop(clf_link *l);

/** A job for n sources whose program is text. NULL: no memory. */
clf_job *clf_job_new(clf_devs *d, int dev, const char *text, size_t text_len, const clf_source *const *src, int n);
void clf_job_free(clf_devs *d, clf_job *j, bool driver_alive);
#endif
