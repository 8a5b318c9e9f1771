/* SPDX-License-Identifier: Apache-2.0
 * Write files; what is in them is said by the tables of writers.
 *
 * Bytes go through a fixed buffer to a new file beside the target, which is renamed over it when everything is on its way: a reader
 * never sees half a file, and a failure leaves neither a partial output nor the temporary. Targets that are no regular files
 * (/dev/null, a pipe) are written in place, since renaming would replace them.
 * Invariant: no memory is allocated, so writing works with the budget used up. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/file.h"
#include "formats/number.h"
#include "formats/write.h"

enum { SINK_BYTES = 1 << 15, ASK_BYTES = 1 << 20, TEMP_TRIES = 1000 };

struct clf_sink {
    int fd, error; /* errno of the first failed write; ECANCELED: the answer was to stop */
    const clf_ask *ask;
    const char *path;
    uint64_t sent, asked; /* bytes; how many there were when it was asked last */
    clf_err why;          /* of stopping */
    size_t n;
    char buf[SINK_BYTES];
};

static void ask(clf_sink *s) {
    if (s->sent - s->asked < ASK_BYTES) return;
    s->asked = s->sent;
    if (clf_ask_on(s->ask, CLF_STAGE_SAVE, s->path, s->sent, 0, &s->why) != CLF_OK) s->error = ECANCELED;
}

static void send_bytes(clf_sink *s, const char *p, size_t n) {
    while (n > 0 && !s->error) {
        ssize_t done = write(s->fd, p, n > ASK_BYTES ? ASK_BYTES : n);
        if (done == 0 || (done < 0 && errno != EINTR)) s->error = done ? errno : EIO;
        if (done <= 0) continue;
        p += done;
        n -= (size_t)done;
        s->sent += (uint64_t)done;
        ask(s);
    }
}

static void flush(clf_sink *s) {
    send_bytes(s, s->buf, s->n);
    s->n = 0;
}

void clf_sink_put(clf_sink *s, const void *p, size_t n) {
    if (n > SINK_BYTES - s->n) flush(s);
    if (n > SINK_BYTES) {
        send_bytes(s, p, n);
    } else if (n > 0) {
        memcpy(s->buf + s->n, p, n);
        s->n += n;
    }
}

void clf_sink_number(clf_sink *s, clf_scalar v, char after) {
    char text[CLF_NUMBER_TEXT];
    size_t n = clf_number_print(text, v);
    text[n++] = after;
    clf_sink_put(s, text, n);
}

void clf_sink_count(clf_sink *s, int64_t n, char after) { clf_sink_number(s, clf_scalar_i64(n), after); }

bool clf_sink_failed(const clf_sink *s) { return s->error != 0; }

static clf_status io_fail(clf_err *err, const char *path, int error) {
    char text[128];
    return clf_fail(err, CLF_E_IO, "%s: cannot write: %s", path, strerror_r(error, text, sizeof text));
}

/* A new file beside path; its name goes to temp. */
static clf_status open_temp(const char *path, char temp[PATH_MAX], int *fd, clf_err *err) {
    for (int i = 0; i < TEMP_TRIES; i++) {
        int n = snprintf(temp, PATH_MAX, "%s.tmp%ld.%d", path, (long)getpid(), i);
        if (n >= PATH_MAX) return io_fail(err, path, ENAMETOOLONG);
        *fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd >= 0) return CLF_OK;
        if (errno != EEXIST) break;
    }
    return io_fail(err, path, errno);
}

/* What is asked for, where; messages name that path. */
typedef struct order {
    const char *path;
    const clf_writer *writer;
    const clf_writing *w;
    clf_err *err;
} order;

/* Write everything and close. */
static clf_status write_all(const order *o, int fd) {
    clf_sink s;
    s.fd = fd;
    s.error = 0;
    s.ask = o->w->ask;
    s.path = o->path;
    s.sent = s.asked = 0;
    s.why = (clf_err){CLF_OK, ""};
    s.n = 0;
    o->writer->write(&s, o->w);
    flush(&s);
    if (close(fd) != 0 && !s.error) s.error = errno;
    if (s.why.code != CLF_OK) return clf_fail(o->err, s.why.code, "%s", s.why.text);
    return s.error ? io_fail(o->err, o->path, s.error) : CLF_OK;
}

static clf_status write_in_place(const order *o) {
    int fd = open(o->path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? io_fail(o->err, o->path, errno) : write_all(o, fd);
}

static clf_status write_and_rename(const order *o) {
    char temp[PATH_MAX];
    int fd = -1;
    CLF_TRY(open_temp(o->path, temp, &fd, o->err));
    clf_status st = write_all(o, fd);
    if (st == CLF_OK && rename(temp, o->path) != 0) st = io_fail(o->err, o->path, errno);
    if (st != CLF_OK) unlink(temp);
    return st;
}

static clf_status write_file(order *o) {
    char target[PATH_MAX]; /* behind symbolic links, so that a link stays one */
    struct stat st;
    CLF_TRY(clf_ask_on(o->w->ask, CLF_STAGE_SAVE, o->path, 0, 0, o->err));
    if (!realpath(o->path, target)) return write_and_rename(o);
    o->path = target;
    return stat(target, &st) == 0 && !S_ISREG(st.st_mode) ? write_in_place(o) : write_and_rename(o);
}

static clf_status find_writer(const char *path, const char *type, const clf_writer *writers, const clf_writer **out, clf_err *err) {
    CLF_TRY(clf_file_type(path, type, &type, err));
    while (writers->type && strcmp(type, writers->type) != 0) writers++;
    *out = writers;
    return writers->type ? CLF_OK
                         : clf_fail(err, CLF_E_FORMAT, "%s: dense matrices are not written as '%s'; use npy, csv or mtx", path, type);
}

clf_status clf_write(const char *path, const char *type, const clf_writing *w, clf_err *err) {
    order o = {path, NULL, w, err};
    const clf_dense *labels = w->labels;
    CLF_TRY(find_writer(path, type, w->csr ? clf_csr_writers : clf_dense_writers, &o.writer, err));
    int64_t rows = w->csr ? w->csr->rows : 0;
    bool fits = !labels || (labels->rows == rows && labels->cols == 1) || (labels->rows == 1 && labels->cols == rows);
    if (!fits)
        return clf_fail(err, CLF_E_SHAPE, "%s: labels of %lld x %lld for %lld rows", path, (long long)labels->rows, (long long)labels->cols,
                        (long long)rows);
    return write_file(&o);
}

clf_status clf_write_file(const char *path, const char *type, const clf_dense *m, clf_err *err) {
    return clf_write(path, type, &(clf_writing){.dense = m}, err);
}

clf_status clf_write_csr(const char *path, const char *type, const clf_csr *m, const clf_dense *labels, clf_err *err) {
    return clf_write(path, type, &(clf_writing){.csr = m, .labels = labels}, err);
}
