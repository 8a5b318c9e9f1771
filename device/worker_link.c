/* SPDX-License-Identifier: Apache-2.0
 * One worker process: started with nothing of ours but its two pipes and a clean signal state, written to and read from without ever
 * waiting, ended by a signal. The thread that calls this has all signals blocked, so a pipe without a reader is an error and no signal. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/worker.h"

static clf_status io_failed(clf_err *err, const char *what, int code) {
    return clf_fail(err, CLF_E_IO, "compile worker: %s: %s", what, strerror(code));
}

/* ---- starting ---- */

/* Signals as a new program expects them, the pipes as standard input and output; errors are heard only where the log asks for builds. */
static int spawn(pid_t *pid, const char *path, char *const *env, int in, int out, bool heard) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    char *argv[] = {(char *)"clfuse-worker", NULL};
    int rc = posix_spawn_file_actions_init(&files);
    if (rc) return rc;
    rc = posix_spawnattr_init(&attr);
    if (!rc) {
        sigemptyset(&none);
        sigfillset(&all);
        rc = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        if (!rc) rc = posix_spawnattr_setsigmask(&attr, &none);
        if (!rc) rc = posix_spawnattr_setsigdefault(&attr, &all);
        if (!rc) rc = posix_spawn_file_actions_adddup2(&files, in, 0);
        if (!rc) rc = posix_spawn_file_actions_adddup2(&files, out, 1);
        if (!rc && !heard) rc = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
        if (!rc) rc = posix_spawn(pid, path, &files, &attr, argv, env);
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

static void close_pair(const int p[2]) {
    close(p[0]);
    close(p[1]);
}

/* A pipe whose ends are none of the standard streams, which may be closed here and are another's in the worker. */
static int make_pipe(int p[2]) {
    int low[2];
    if (pipe2(low, O_CLOEXEC)) return errno;
    p[0] = fcntl(low[0], F_DUPFD_CLOEXEC, 3);
    p[1] = fcntl(low[1], F_DUPFD_CLOEXEC, 3);
    int code = p[0] < 0 || p[1] < 0 ? errno : 0;
    close_pair(low);
    if (code && p[0] >= 0) close(p[0]);
    if (code && p[1] >= 0) close(p[1]);
    return code;
}

static clf_status start_process(clf_link *l, const char *path, char *const *env, bool heard, clf_err *err) {
    int to[2], from[2];
    int rc = make_pipe(to);
    if (rc) return io_failed(err, "pipe", rc);
    rc = make_pipe(from);
    if (rc) {
        close_pair(to);
        return io_failed(err, "pipe", rc);
    }
    rc = spawn(&l->pid, path, env, to[0], from[1], heard);
    if (rc) {
        close_pair(to);
        close_pair(from);
        return io_failed(err, path, rc);
    }
    close(to[0]);
    close(from[1]);
    l->to = to[1];
    l->from = from[0];
    fcntl(l->to, F_SETFL, O_NONBLOCK);
    fcntl(l->from, F_SETFL, O_NONBLOCK);
    return CLF_OK;
}

static clf_msg_text text_of(const char *s) { return (clf_msg_text){s, strlen(s)}; }

static void await_until(clf_link *l, const clf_devs *d) { l->until_ns = clf_now_ns() + (uint64_t)d->worker_ms * 1000000u; }

clf_status clf_link_start(clf_link *l, clf_devs *d, int dev, const char *path, char *const *env, bool heard, clf_err *err) {
    const clf_dev_info *info = &d->dev[dev].info;
    clf_msg hello = {.kind = CLF_MSG_HELLO,
                     .status = d->no_host_pointers ? CLF_MSG_BUFFERS : 0,
                     .text = {text_of(info->name), text_of(info->driver), text_of(d->cache_dir)}};
    clf_str_init(&l->out, d->mem);
    clf_str_init(&l->in, d->mem);
    CLF_TRY(start_process(l, path, env, heard, err));
    l->state = CLF_LINK_GREETED;
    l->dev = dev;
    l->sent = 0;
    l->job = NULL;
    await_until(l, d);
    return clf_msg_put(&l->out, &hello, NULL, 0, err);
}

clf_status clf_link_give(clf_link *l, clf_devs *d, clf_job *j, clf_err *err) {
    clf_msg m = {.kind = CLF_MSG_BUILD, .id = j->id, .text = {text_of(j->options), {j->text, j->text_len}}};
    clf_source *src = clf_mem_new(d->mem, (size_t)j->n, sizeof *src);
    const clf_source **at = clf_mem_new(d->mem, (size_t)j->n, sizeof *at);
    clf_status st = src && at ? CLF_OK : clf_fail(err, CLF_E_NOMEM, "no memory to ask a compile worker");
    for (int i = 0; st == CLF_OK && i < j->n; i++) {
        src[i] = clf_program_source(j->block[i]);
        at[i] = &src[i];
    }
    if (st == CLF_OK) st = clf_msg_put(&l->out, &m, at, j->n, err);
    clf_mem_free(d->mem, src, (size_t)j->n, sizeof *src);
    clf_mem_free(d->mem, at, (size_t)j->n, sizeof *at);
    if (st != CLF_OK) return st;
    l->state = CLF_LINK_BUSY;
    l->job = j;
    await_until(l, d);
    return CLF_OK;
}

/* ---- moving bytes ---- */

static clf_status push(clf_link *l, clf_err *err) {
    while (l->sent < l->out.len) {
        ssize_t n = write(l->to, l->out.at + l->sent, l->out.len - l->sent);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return CLF_OK;
        if (n < 0) return io_failed(err, "write", errno);
        l->sent += (size_t)n;
    }
    l->out.len = l->sent = 0;
    return CLF_OK;
}

/* Bytes of the message that is under way which are still missing; of its head first. */
static clf_status missing(const clf_link *l, size_t *n, clf_err *err) {
    size_t body = 0;
    *n = CLF_MSG_HEAD - l->in.len;
    if (l->in.len < CLF_MSG_HEAD) return CLF_OK;
    CLF_TRY(clf_msg_head(l->in.at, &body, err));
    *n = CLF_MSG_HEAD + body - l->in.len;
    return CLF_OK;
}

static clf_status pull(clf_link *l, bool *whole, clf_err *err) {
    char some[1 << 16];
    for (;;) {
        size_t n;
        CLF_TRY(missing(l, &n, err));
        *whole = !n;
        if (!n) return CLF_OK;
        ssize_t got = read(l->from, some, n < sizeof some ? n : sizeof some);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return CLF_OK;
        if (got <= 0) return got ? io_failed(err, "read", errno) : clf_fail(err, CLF_E_IO, "compile worker: it ended");
        clf_str_putn(&l->in, some, (size_t)got);
        if (l->in.failed) return clf_fail(err, CLF_E_NOMEM, "no memory for a compile worker's answer");
    }
}

clf_status clf_link_move(clf_link *l, clf_msg *m, bool *whole, clf_err *err) {
    *whole = false;
    CLF_TRY(push(l, err));
    CLF_TRY(pull(l, whole, err));
    if (!*whole) return CLF_OK;
    CLF_TRY(clf_msg_get(m, l->in.at, l->in.len, err));
    l->in.len = 0; /* the bytes stay until the next call */
    return CLF_OK;
}

/* ---- ending ---- */

/* Whoever waits for all children may have taken ours: then its number is nobody's or another's, and gets no signal. */
static void end_process(pid_t pid) {
    siginfo_t info;
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT)) return;
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

void clf_link_stop(clf_link *l) {
    if (l->state == CLF_LINK_OFF) return;
    close(l->to);
    close(l->from);
    end_process(l->pid);
    clf_str_release(&l->out);
    clf_str_release(&l->in);
    l->state = CLF_LINK_OFF;
    l->job = NULL;
}
