/* SPDX-License-Identifier: Apache-2.0
 * The thread behind clf_programs_ask: hands jobs to worker processes, several at once, and makes programs of the binaries that come back.
 *
 * A worker that crashes, hangs or talks nonsense is ended and its job given to a fresh one, once; then the job has failed. Without a worker
 * program, or where none gets ready, the thread itself builds, and one line of the log says so. Links are the thread's alone; the lock is
 * held for moving jobs, and never while anything is built, sent or waited for. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "device/worker.h"

enum { TRIES = 2, STARTS = 3, IDLE_MS = 10000 };

/* ---- ends of jobs -------------------------------------------------------------------------------------------------- */

static void finish(clf_workers *w, clf_job *j) {
    clf_claim_drop(w, j);
    pthread_mutex_lock(&w->lock);
    j->queued = w->done;
    w->done = j;
    w->under_way--;
    atomic_fetch_add(&w->ndone, 1);
    pthread_cond_broadcast(&w->came);
    pthread_mutex_unlock(&w->lock);
}

static clf_job *take(clf_workers *w) {
    pthread_mutex_lock(&w->lock);
    clf_job *j = w->queue;
    if (j) w->queue = j->queued;
    if (!w->queue) w->end = &w->queue;
    w->nqueue -= j != NULL;
    pthread_mutex_unlock(&w->lock);
    return j;
}

static void put_first(clf_workers *w, clf_job *j) {
    pthread_mutex_lock(&w->lock);
    j->queued = w->queue;
    if (!w->queue) w->end = &j->queued;
    w->queue = j;
    w->nqueue++;
    pthread_mutex_unlock(&w->lock);
}

static int queue_length(clf_workers *w) {
    pthread_mutex_lock(&w->lock);
    int n = w->nqueue;
    pthread_mutex_unlock(&w->lock);
    return n;
}

/* ---- workers ------------------------------------------------------------------------------------------------------- */

static void build_here(clf_workers *w, const char *why) {
    if (!w->here) CLF_TRACE(&w->log, build, "%s: a thread of this process builds kernels", why);
    w->here = true;
}

/* The worker is no good any more; its job gets another try. Those that end without ever having built anything count as missing. */
static void drop(clf_workers *w, clf_link *l, const char *why) {
    clf_job *j = l->job;
    CLF_TRACE(&w->log, build, "a compile worker is given up: %s", why);
    clf_link_stop(l);
    w->failures += !j;
    if (w->failures >= STARTS) build_here(w, why);
    if (j && ++j->tries < TRIES)
        put_first(w, j);
    else if (j) {
        clf_fail(&j->failed, CLF_E_BUILD, "kernel %s is not built any more: %d compile workers failed with it: %s", j->block[0]->entry,
                 TRIES, why);
        finish(w, j);
    }
}

static void load(clf_workers *w, clf_job *j, const clf_msg_text *binary) {
    uint64_t start = clf_now_ns();
    if (!clf_driver_enter()) {
        clf_fail(&j->failed, CLF_E_STATE, "the process ends");
        return;
    }
    clf_program_from_binary(w->d, j->dev, binary->at, binary->len, &j->built, &j->failed);
    clf_driver_leave();
    uint64_t loaded = clf_now_ns();
    j->kept = j->built && clf_saved_put(w->d, &w->disk, j->dev, j->block, j->n, binary->at, binary->len);
    CLF_TRACE(&w->log, build, "binary of %zu bytes with %d kernels loaded in %.1f ms, %s in %.1f ms", binary->len, j->n,
              (double)(loaded - start) * 1e-6, j->kept ? "kept on disk" : "not kept", (double)(clf_now_ns() - loaded) * 1e-6);
}

static void job_built(clf_workers *w, clf_link *l, const clf_msg *m) {
    clf_job *j = l->job;
    l->job = NULL;
    l->state = CLF_LINK_IDLE;
    l->until_ns = clf_now_ns() + (uint64_t)IDLE_MS * 1000000u;
    j->ns = m->ns;
    w->failures = 0;
    if (m->status != CLF_OK)
        clf_fail(&j->failed, m->status == CLF_E_BUILD ? CLF_E_BUILD : CLF_E_DEVICE, "%s", m->text[0].at);
    else
        load(w, j, &m->text[1]);
    finish(w, j);
}

static void heard(clf_workers *w, clf_link *l, const clf_msg *m) {
    if (l->state == CLF_LINK_GREETED && m->kind == CLF_MSG_READY) {
        if (m->status != CLF_OK) {
            build_here(w, m->text[0].at);
            clf_link_stop(l);
            return;
        }
        l->state = CLF_LINK_IDLE;
        l->until_ns = clf_now_ns() + (uint64_t)IDLE_MS * 1000000u;
    } else if (l->state == CLF_LINK_BUSY && m->kind == CLF_MSG_BUILT && m->id == l->job->id)
        job_built(w, l, m);
    else
        drop(w, l, "an answer that nobody asked for");
}

static void move(clf_workers *w, clf_link *l) {
    bool whole = true;
    while (l->state != CLF_LINK_OFF && whole) {
        clf_err err = {CLF_OK, ""};
        clf_msg m;
        if (clf_link_move(l, &m, &whole, &err) != CLF_OK) {
            drop(w, l, err.text);
            return;
        }
        if (whole) heard(w, l, &m);
    }
    if (l->state == CLF_LINK_OFF || clf_now_ns() < l->until_ns) return;
    if (l->state == CLF_LINK_IDLE)
        clf_link_stop(l);
    else
        drop(w, l, "no answer in time");
}

/* A worker for the job: an idle one of its device, else a new one. NULL: all have work. */
static clf_link *find_link(clf_workers *w, const clf_job *j) {
    clf_link *off = NULL;
    for (int i = 0; i < w->nlinks; i++) {
        clf_link *l = &w->link[i];
        if (l->state == CLF_LINK_IDLE && l->dev != j->dev) clf_link_stop(l);
        if (l->state == CLF_LINK_IDLE) return l;
        if (l->state == CLF_LINK_OFF && !off) off = l;
    }
    return off;
}

static int starting(const clf_workers *w) {
    int n = 0;
    for (int i = 0; i < w->nlinks; i++) n += w->link[i].state == CLF_LINK_GREETED;
    return n;
}

static void start_link(clf_workers *w, clf_link *l, int dev) {
    clf_err err = {CLF_OK, ""};
    if (clf_link_start(l, w->d, dev, w->path, w->env, clf_trace_on(&w->log, CLF_TOPIC_build), &err) == CLF_OK) return;
    if (l->state == CLF_LINK_OFF)
        build_here(w, err.text);
    else
        drop(w, l, err.text);
}

static void give(clf_workers *w, clf_link *l, clf_job *j) {
    clf_err err = {CLF_OK, ""};
    if (clf_link_give(l, w->d, j, &err) == CLF_OK) return;
    clf_fail(&j->failed, CLF_E_DEVICE, "%s", err.text);
    clf_link_stop(l);
    finish(w, j);
}

/* Not, while another process has it built, nor what is only to be loaded. */
static bool claim(clf_workers *w, clf_job *j) {
    clf_claimed how = j->fetch ? CLF_CLAIM_DONE : clf_claim_try(w, j);
    if (how == CLF_CLAIM_DONE) {
        clf_claim_load(w, j);
        finish(w, j);
    }
    if (how == CLF_CLAIM_LATER) {
        j->queued = w->others;
        w->others = j;
    }
    return how == CLF_CLAIM_MINE;
}

/* Those that are to be looked at again. */
static void look_again(clf_workers *w) {
    uint64_t now = clf_now_ns();
    for (clf_job **at = &w->others; *at;) {
        clf_job *j = *at;
        if (j->again_ns > now) {
            at = &j->queued;
            continue;
        }
        *at = j->queued;
        put_first(w, j);
    }
}

/* As many jobs as there are workers for; as many workers start as there are jobs. */
static void hand_out(clf_workers *w) {
    for (clf_job *j; !w->here && (j = take(w)) != NULL;) {
        if (!claim(w, j)) continue;
        clf_link *l = find_link(w, j);
        if (l && l->state == CLF_LINK_IDLE) {
            give(w, l, j);
            continue;
        }
        put_first(w, j);
        if (!l || starting(w) >= queue_length(w)) return;
        start_link(w, l, j->dev);
    }
}

static void compile_here(clf_workers *w) {
    clf_job *j = take(w);
    if (!j || !claim(w, j)) return;
    uint64_t start = clf_now_ns();
    clf_source src = {.text = j->text, .text_len = j->text_len, .entry = j->block[0]->entry, .options = j->options};
    if (clf_driver_enter()) {
        clf_program_compile(w->d, j->dev, &src, &j->built, &j->failed);
        clf_driver_leave();
    } else
        clf_fail(&j->failed, CLF_E_STATE, "the process ends");
    j->ns = clf_now_ns() - start;
    finish(w, j);
}

/* ---- the loop ------------------------------------------------------------------------------------------------------ */

static int wait_ms(const clf_workers *w) {
    uint64_t now = clf_now_ns(), first = UINT64_MAX;
    for (int i = 0; i < w->nlinks; i++)
        if (w->link[i].state != CLF_LINK_OFF && w->link[i].until_ns < first) first = w->link[i].until_ns;
    for (const clf_job *j = w->others; j; j = j->queued)
        if (j->again_ns < first) first = j->again_ns;
    if (first == UINT64_MAX) return -1;
    return first <= now ? 0 : (int)((first - now) / 1000000u) + 1;
}

static void wait_for_news(clf_workers *w) {
    struct pollfd fd[1 + 2 * CLF_LINKS_MOST] = {{w->wake, POLLIN, 0}};
    nfds_t n = 1;
    for (int i = 0; i < w->nlinks; i++) {
        const clf_link *l = &w->link[i];
        if (l->state == CLF_LINK_OFF) continue;
        fd[n++] = (struct pollfd){l->from, POLLIN, 0};
        if (l->sent < l->out.len) fd[n++] = (struct pollfd){l->to, POLLOUT, 0};
    }
    uint64_t seen;
    if (poll(fd, n, w->here && queue_length(w) ? 0 : wait_ms(w)) > 0 && fd[0].revents) (void)!read(w->wake, &seen, sizeof seen);
}

static void forget_jobs(clf_workers *w) {
    clf_job *j;
    for (int i = 0; i < w->nlinks; i++) {
        if ((j = w->link[i].job) == NULL) continue;
        clf_link_stop(&w->link[i]);
        clf_fail(&j->failed, CLF_E_STATE, "cancelled");
        finish(w, j);
    }
    while ((j = w->others) != NULL || (j = take(w)) != NULL) {
        if (j == w->others) w->others = j->queued;
        clf_fail(&j->failed, CLF_E_STATE, "cancelled");
        finish(w, j);
    }
}

/* True when it is time to end. */
static bool told(clf_workers *w) {
    pthread_mutex_lock(&w->lock);
    bool stop = w->stop, cancel = w->cancel;
    w->cancel = false;
    pthread_mutex_unlock(&w->lock);
    if (stop || cancel) forget_jobs(w);
    return stop;
}

void *clf_workers_serve(void *arg) {
    clf_workers *w = arg;
    if (!clf_worker_find(w->d->worker, w->path, sizeof w->path)) build_here(w, "there is no program clfuse-worker");
    clf_disk_open(&w->disk, w->d->mem, &w->log, w->d->cache_dir, w->keep, w->d->disk.limit_bytes);
    while (!told(w)) {
        for (int i = 0; i < w->nlinks; i++) move(w, &w->link[i]);
        look_again(w);
        if (w->here)
            compile_here(w);
        else
            hand_out(w);
        wait_for_news(w);
    }
    for (int i = 0; i < w->nlinks; i++) clf_link_stop(&w->link[i]);
    return NULL;
}
