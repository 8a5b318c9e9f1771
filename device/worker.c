/* SPDX-License-Identifier: Apache-2.0
 * Kernels built elsewhere, from the side of who needs them: asks and goes on, and takes in what has come when it likes
 * (clf_programs_arrive); only then it is in the cache. Who builds is worker_thread.c's.
 *
 * A program of many kernels that fails is asked for again kernel by kernel, so that only the culprit stays away: it is kept as a failure,
 * and never built again. Signals are the process's own business: the thread takes none. */
#include "device/worker.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void wake(clf_workers *w) {
    uint64_t one = 1;
    while (write(w->wake, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

/* Workers start from the thread while the process may change its environment: they get a copy. */
static bool copy_env(clf_workers *w, clf_mem *mem) {
    size_t n = 0, bytes = 0;
    for (; environ[n]; n++) bytes += strlen(environ[n]) + 1;
    size_t table = (n + 1) * sizeof *w->env;
    w->env_bytes = table + bytes;
    w->env = clf_mem_new(mem, w->env_bytes, 1);
    if (!w->env) return false;
    char *at = (char *)w->env + table;
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(environ[i]) + 1;
        w->env[i] = memcpy(at, environ[i], len);
        at += len;
    }
    return true;
}

static int cores(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

static bool start_thread(clf_workers *w) {
    sigset_t all, was;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    int rc = pthread_create(&w->thread, NULL, clf_workers_serve, w);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    return rc == 0;
}

static void release(clf_workers *w) {
    clf_devs *d = w->d;
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->came);
    if (w->wake >= 0) close(w->wake);
    clf_disk_close(&w->disk);
    clf_mem_free(d->mem, w->env, w->env_bytes, 1);
    clf_mem_free(d->mem, w, 1, sizeof *w);
}

static clf_status start(clf_devs *d, clf_err *err) {
    if (d->workers) return CLF_OK;
    clf_workers *w = clf_mem_new(d->mem, 1, sizeof *w);
    if (!w) return clf_fail(err, CLF_E_NOMEM, "no memory for compile workers");
    w->d = d;
    w->end = &w->queue;
    if (d->log) w->log = *d->log;
    w->keep = d->disk.mode;
    for (int i = 0; i < d->n; i++) clf_saved_ready(d, i);
    w->nlinks = cores() < CLF_LINKS_MOST ? cores() : CLF_LINKS_MOST;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->came, NULL);
    w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->wake < 0 || !copy_env(w, d->mem) || !start_thread(w)) {
        release(w);
        return clf_fail(err, CLF_E_NOMEM, "no thread for building kernels can be had");
    }
    d->workers = w;
    return CLF_OK;
}

static clf_status ask(clf_workers *w, clf_job *j, clf_err *err) {
    if (!j) return clf_fail(err, CLF_E_NOMEM, "no memory to ask for a kernel");
    j->id = ++w->ids;
    j->next = w->asked;
    w->asked = j;
    w->count.asked += j->fetch ? 0 : (uint64_t)j->n;
    w->count.fetching += j->fetch;
    pthread_mutex_lock(&w->lock);
    *w->end = j;
    w->end = &j->queued;
    w->nqueue++;
    w->under_way++;
    pthread_mutex_unlock(&w->lock);
    wake(w);
    return CLF_OK;
}

clf_status clf_programs_ask(clf_devs *d, int dev, const char *text, size_t text_len, const clf_source *const *src, int n, clf_err *err) {
    clf_dev *v;
    CLF_TRY(clf_dev_enter(d, dev, &v, err));
    CLF_TRY(clf_sources_check(src, n, err));
    CLF_TRY(start(d, err));
    return ask(d->workers, clf_job_new(d, dev, text, text_len, src, n), err);
}

static bool under_way(const clf_devs *d, int dev, const clf_source *src, bool fetch) {
    for (const clf_job *j = d->workers ? d->workers->asked : NULL; j; j = j->next)
        for (int i = 0; i < j->n; i++)
            if (j->fetch == fetch && clf_program_same(j->block[i], dev, src)) return true;
    return false;
}

bool clf_program_asked(const clf_devs *d, int dev, const clf_source *src) { return under_way(d, dev, src, false); }

clf_status clf_program_fetch(clf_devs *d, int dev, const clf_source *src, clf_err *err) {
    clf_dev *v;
    CLF_TRY(clf_dev_enter(d, dev, &v, err));
    CLF_TRY(clf_sources_check(&src, 1, err));
    if (d->disk.mode == CLF_DISK_OFF || clf_program_held(d, dev, src) || under_way(d, dev, src, true)) return CLF_OK;
    CLF_TRY(start(d, err));
    clf_job *j = clf_job_new(d, dev, "", 0, &src, 1);
    if (j) j->fetch = true;
    return ask(d->workers, j, err);
}

/* A program of many failed: each of its kernels alone. */
static void ask_alone(clf_workers *w, const clf_job *j) {
    for (int i = 0; i < j->n; i++) {
        clf_source src = clf_program_source(j->block[i]);
        const clf_source *one = &src;
        w->count.asked--;
        if (ask(w, clf_job_new(w->d, j->dev, src.text, src.text_len, &one, 1), NULL) != CLF_OK) w->count.failed++;
    }
}

/* What is the text's fault is kept as a failure, other failures are not. */
static void keep_one(clf_workers *w, clf_job *j, int i) {
    clf_program *p = j->block[i];
    clf_source src = clf_program_source(p);
    clf_status st = j->failed.code;
    if (st == CLF_OK) st = clf_program_complete(w->d, p, &src, j->built, NULL);
    if (st == CLF_E_BUILD) p->failed = j->failed;
    if (!j->fetch) {
        bool good = st == CLF_OK && p->failed.code == CLF_OK;
        w->count.built += good;
        w->count.failed += !good;
    }
    if ((st != CLF_OK && st != CLF_E_BUILD) || clf_program_held(w->d, j->dev, &src)) return; /* held: somebody could not wait */
    j->block[i] = NULL;
    clf_program_keep(w->d, p);
    if (p->failed.code == CLF_OK && !j->kept) clf_saved_later(w->d, j->dev, &(clf_claim){""}, &p, 1);
}

/* What another process had built is taken from the disk now; what is gone again is built after all. */
static void take_elsewhere(clf_workers *w, const clf_job *j) {
    for (int i = 0; i < j->n; i++) {
        clf_source src = clf_program_source(j->block[i]);
        const clf_source *one = &src;
        bool known = clf_program_known(w->d, j->dev, &src);
        w->count.built += known;
        if (known || clf_program_held(w->d, j->dev, &src)) continue;
        w->count.asked--;
        if (ask(w, clf_job_new(w->d, j->dev, src.text, src.text_len, &one, 1), NULL) != CLF_OK) w->count.failed++;
    }
}

static void note(clf_workers *w, const clf_job *j, bool cancelled) {
    clf_dev_stats *st = &w->d->stats;
    bool loaded = j->elsewhere && j->built;
    st->loads += loaded;
    st->load_ns += loaded ? j->ns : 0;
    st->build_ns += loaded ? 0 : j->ns;
    st->builds += !cancelled && !j->elsewhere;
    st->saves += j->kept && !j->elsewhere;
    if (j->fetch && !loaded) return;
    CLF_TRACE(w->d->log, build, "%s%s for %s: %s%.1f ms%s%s", j->block[0]->entry, j->n > 1 ? " and others" : "",
              w->d->dev[j->dev].info.name, loaded ? "from the disk, " : "", (double)j->ns * 1e-6, j->failed.code == CLF_OK ? "" : ", ",
              j->failed.text);
}

static void take_programs(clf_workers *w, clf_job *j) {
    if (j->elsewhere && !j->built)
        take_elsewhere(w, j);
    else if (j->failed.code != CLF_OK && j->n > 1)
        ask_alone(w, j);
    else
        for (int i = 0; i < j->n; i++) keep_one(w, j, i);
}

/* False: what was to be fetched is not there. */
static bool take_in(clf_workers *w, clf_job *j) {
    bool cancelled = j->failed.code == CLF_E_STATE, there = !j->fetch || j->built;
    clf_job **at = &w->asked;
    while (*at != j) at = &(*at)->next;
    *at = j->next;
    w->count.fetching -= j->fetch;
    note(w, j, cancelled);
    if (cancelled)
        w->count.cancelled += j->fetch ? 0 : (uint64_t)j->n;
    else if (there)
        take_programs(w, j);
    clf_job_free(w->d, j, true);
    return there;
}

int clf_programs_arrive(clf_devs *d) {
    clf_workers *w = d ? d->workers : NULL;
    if (!w || !atomic_load(&w->ndone) || getpid() != d->pid) return 0;
    pthread_mutex_lock(&w->lock);
    clf_job *j = w->done;
    w->done = NULL;
    atomic_store(&w->ndone, 0);
    pthread_mutex_unlock(&w->lock);
    int n = 0;
    for (clf_job *next; j; j = next) {
        next = j->queued;
        n += take_in(w, j);
    }
    return n;
}

clf_asked clf_programs_asked(const clf_devs *d) { return d && d->workers ? d->workers->count : (clf_asked){0}; }

bool clf_programs_await(clf_devs *d, int ms) {
    clf_workers *w = d ? d->workers : NULL;
    struct timespec until;
    if (!w || getpid() != d->pid) return true;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&w->lock);
    while (!w->done && w->under_way && pthread_cond_timedwait(&w->came, &w->lock, &until) == 0) {
    }
    bool idle = !w->under_way;
    pthread_mutex_unlock(&w->lock);
    return idle;
}

void clf_programs_cancel(clf_devs *d) {
    clf_workers *w = d ? d->workers : NULL;
    if (!w || getpid() != d->pid) return;
    pthread_mutex_lock(&w->lock);
    w->cancel = true;
    pthread_mutex_unlock(&w->lock);
    wake(w);
}

void clf_workers_close(clf_devs *d, bool alive) {
    clf_workers *w = d->workers;
    if (!w) return;
    if (alive) {
        pthread_mutex_lock(&w->lock);
        w->stop = true;
        pthread_mutex_unlock(&w->lock);
        wake(w);
        pthread_join(w->thread, NULL);
    }
    while (w->asked) {
        clf_job *j = w->asked;
        w->asked = j->next;
        clf_job_free(d, j, alive);
    }
    release(w);
    d->workers = NULL;
}
