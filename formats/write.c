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

enum { SINK_BYTES = 1 << 15, TEMP_TRIES = 1000 };

struct clf_sink {
    int fd, error; /* errno of the first failed write */
    size_t n;
    char buf[SINK_BYTES];
};

static void send_bytes(clf_sink *s, const char *p, size_t n) {
    while (n > 0 && !s->error) {
        ssize_t done = write(s->fd, p, n > INT_MAX ? INT_MAX : n);
        if (done == 0 || (done < 0 && errno != EINTR)) s->error = done ? errno : EIO;
        if (done <= 0) continue;
        p += done;
        n -= (size_t)done;
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

/* Write everything and close; 0 or the errno of what failed. */
static int write_all(int fd, const clf_writer *writer, const clf_writing *w) {
    clf_sink s;
    s.fd = fd;
    s.error = 0;
    s.n = 0;
    writer->write(&s, w);
    flush(&s);
    if (close(fd) != 0 && !s.error) s.error = errno;
    return s.error;
}

static clf_status write_in_place(const char *path, const clf_writer *writer, const clf_writing *w, clf_err *err) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    int error = fd < 0 ? errno : write_all(fd, writer, w);
    return error ? io_fail(err, path, error) : CLF_OK;
}

static clf_status write_and_rename(const char *path, const clf_writer *writer, const clf_writing *w, clf_err *err) {
    char temp[PATH_MAX];
    int fd = -1;
    CLF_TRY(open_temp(path, temp, &fd, err));
    int error = write_all(fd, writer, w);
    if (!error && rename(temp, path) != 0) error = errno;
    if (!error) return CLF_OK;
    unlink(temp);
    return io_fail(err, path, error);
}

static clf_status write_file(const char *path, const clf_writer *writer, const clf_writing *w, clf_err *err) {
    char target[PATH_MAX]; /* behind symbolic links, so that a link stays one */
    struct stat st;
    if (!realpath(path, target)) return write_and_rename(path, writer, w, err);
    if (stat(target, &st) == 0 && !S_ISREG(st.st_mode)) return write_in_place(target, writer, w, err);
    return write_and_rename(target, writer, w, err);
}

static clf_status find_writer(const char *path, const char *type, const clf_writer *writers, const clf_writer **out, clf_err *err) {
    CLF_TRY(clf_file_type(path, type, &type, err));
    while (writers->type && strcmp(type, writers->type) != 0) writers++;
    *out = writers;
    return writers->type ? CLF_OK
                         : clf_fail(err, CLF_E_FORMAT, "%s: dense matrices are not written as '%s'; use npy, csv or mtx", path, type);
}

clf_status clf_write_file(const char *path, const char *type, const clf_dense *m, clf_err *err) {
    const clf_writer *writer;
    CLF_TRY(find_writer(path, type, clf_dense_writers, &writer, err));
    return write_file(path, writer, &(clf_writing){.dense = m}, err);
}

clf_status clf_write_csr(const char *path, const char *type, const clf_csr *m, const clf_dense *labels, clf_err *err) {
    const clf_writer *writer;
    CLF_TRY(find_writer(path, type, clf_csr_writers, &writer, err));
    bool fits = !labels || (labels->rows == m->rows && labels->cols == 1) || (labels->rows == 1 && labels->cols == m->rows);
    if (!fits)
        return clf_fail(err, CLF_E_SHAPE, "%s: labels of %lld x %lld for %lld rows", path, (long long)labels->rows, (long long)labels->cols,
                        (long long)m->rows);
    return write_file(path, writer, &(clf_writing){.csr = m, .labels = labels}, err);
}
