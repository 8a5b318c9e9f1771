/* SPDX-License-Identifier: Apache-2.0
 * The thread pool: one job at a time, parts handed out by a counter, the caller working too.
 *
 * A job is published by raising `epoch`; a worker that sees a new epoch takes parts until none is left, then checks out. The
 * caller returns when all workers that checked in have checked out, so `fn` and `user` never outlive the call. Workers spin for
 * some microseconds before they sleep, because plans come in bursts. A second caller, or one inside a job, finds the pool busy
 * and does its parts alone. */
#include "host/run/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core/clock.h"

enum { MAX_THREADS = 256, SPIN_NS = 20000, SPIN_LOOPS = 64, YIELD_AFTER = 2000 };

typedef struct clf_pool_worker {
    struct clf_pool *pool;
    pthread_t thread;
    int number;
} clf_pool_worker;

struct clf_pool {
    clf_mem *mem;
    int threads;     /* with the caller */
    int started;     /* workers running: threads - 1, or fewer when the system refused; -1 not tried */
    atomic_int busy; /* a job is running */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_uint epoch; /* raised under lock for each job, and to stop */
    atomic_bool stop;
    atomic_int inside; /* workers that may look at the job */
    int sleeping;      /* under lock */
    atomic_int_fast64_t next;
    int64_t parts;
    void (*fn)(void *user, int64_t part, int worker);
    void *user;
    void (*told)(void *user, int worker, uint64_t start_ns, uint64_t end_ns); /* NULL: nobody watches */
    void *told_user;
    clf_pool_worker *worker;
};

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void take_parts(clf_pool *p, int worker) {
    int64_t part, taken = 0;
    uint64_t start = p->told ? clf_now_ns() : 0;
    for (; (part = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed)) < p->parts; taken++) p->fn(p->user, part, worker);
    if (p->told && taken) p->told(p->told_user, worker, start, clf_now_ns());
}

/* Wait until the epoch differs from `seen`: spin, then sleep. */
static void await_epoch(clf_pool *p, unsigned seen) {
    uint64_t until = clf_now_ns() + SPIN_NS;
    while (clf_now_ns() < until)
        for (int i = 0; i < SPIN_LOOPS; i++) {
            if (atomic_load_explicit(&p->epoch, memory_order_acquire) != seen) return;
            relax();
        }
    pthread_mutex_lock(&p->lock);
    p->sleeping++;
    while (atomic_load(&p->epoch) == seen) pthread_cond_wait(&p->wake, &p->lock);
    p->sleeping--;
    pthread_mutex_unlock(&p->lock);
}

/* Enter the job of the current epoch if it still runs: `inside` is raised before `busy` is read, and the caller clears `busy`
 * before it reads `inside`, so one of both sees the other. */
static void join_job(clf_pool *p, int worker) {
    atomic_fetch_add(&p->inside, 1);
    if (atomic_load(&p->busy) == 2) take_parts(p, worker);
    atomic_fetch_sub(&p->inside, 1);
}

static void *work(void *arg) {
    clf_pool_worker *w = arg;
    clf_pool *p = w->pool;
    for (unsigned seen = 0;;) {
        await_epoch(p, seen);
        seen = atomic_load(&p->epoch);
        if (atomic_load(&p->stop)) return NULL;
        join_job(p, w->number);
    }
}

static void start(clf_pool *p) {
    p->started = 0;
    for (int i = 0; i < p->threads - 1; i++) {
        p->worker[i] = (clf_pool_worker){.pool = p, .number = i + 1};
        if (pthread_create(&p->worker[i].thread, NULL, work, &p->worker[i]) != 0) return;
        p->started = i + 1;
    }
}

static void raise_epoch(clf_pool *p) {
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->epoch, 1);
    if (p->sleeping > 0) pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

static int usable_cores(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (int)n;
}

clf_pool *clf_pool_new(clf_mem *mem, int threads) {
    if (threads <= 0) threads = usable_cores();
    if (threads > MAX_THREADS) threads = MAX_THREADS;
    clf_pool *p = clf_mem_new(mem, 1, sizeof *p);
    if (!p) return NULL;
    p->worker = clf_mem_new(mem, (size_t)threads, sizeof *p->worker);
    if (!p->worker) {
        clf_mem_free(mem, p, 1, sizeof *p);
        return NULL;
    }
    p->mem = mem;
    p->threads = threads;
    p->started = -1;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    return p;
}

void clf_pool_free(clf_pool *p) {
    if (!p) return;
    atomic_store(&p->stop, true);
    raise_epoch(p);
    for (int i = 0; i < p->started; i++) pthread_join(p->worker[i].thread, NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    clf_mem_free(p->mem, p->worker, (size_t)p->threads, sizeof *p->worker);
    clf_mem_free(p->mem, p, 1, sizeof *p);
}

void clf_pool_watch(clf_pool *p, void (*told)(void *user, int worker, uint64_t start_ns, uint64_t end_ns), void *user) {
    p->told = told;
    p->told_user = user;
}

int clf_pool_threads(const clf_pool *p) { return p->threads; }

void clf_pool_run(clf_pool *p, int64_t parts, void (*fn)(void *user, int64_t part, int worker), void *user) {
    int idle = 0;
    if (parts < 2 || p->threads < 2 || !atomic_compare_exchange_strong(&p->busy, &idle, 1)) {
        for (int64_t i = 0; i < parts; i++) fn(user, i, 0);
        return;
    }
    if (p->started < 0) start(p);
    p->fn = fn;
    p->user = user;
    p->parts = parts;
    atomic_store(&p->next, 0);
    atomic_store(&p->busy, 2);
    if (p->started > 0) raise_epoch(p);
    take_parts(p, 0);
    atomic_store(&p->busy, 1);
    for (int spins = 0; atomic_load(&p->inside) > 0; spins++)
        if (spins < YIELD_AFTER)
            relax();
        else
            sched_yield();
    atomic_store(&p->busy, 0);
}
