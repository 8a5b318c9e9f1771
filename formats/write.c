/* SPDX-License-Identifier: Apache-2.0
 * Write .npy, .csv and .mtx.
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

enum { SINK_BYTES = 1 << 15, TEMP_TRIES = 1000, NPY_ALIGN = 64 };

typedef struct sink {
    int fd, error; /* errno of the first failed write */
    size_t n;
    char buf[SINK_BYTES];
} sink;

static void send_bytes(sink *s, const char *p, size_t n) {
    while (n > 0 && !s->error) {
        ssize_t done = write(s->fd, p, n > INT_MAX ? INT_MAX : n);
        if (done == 0 || (done < 0 && errno != EINTR)) s->error = done ? errno : EIO;
        if (done <= 0) continue;
        p += done;
        n -= (size_t)done;
    }
}

static void flush(sink *s) {
    send_bytes(s, s->buf, s->n);
    s->n = 0;
}

static void put(sink *s, const void *p, size_t n) {
    if (n > SINK_BYTES - s->n) flush(s);
    if (n > SINK_BYTES) {
        send_bytes(s, p, n);
    } else if (n > 0) {
        memcpy(s->buf + s->n, p, n);
        s->n += n;
    }
}

static void put_cell(sink *s, const clf_dense *m, size_t cell, char after) {
    char text[CLF_NUMBER_TEXT];
    size_t n = clf_number_print(text, clf_scalar_load(m->data, cell, m->dtype));
    text[n++] = after;
    put(s, text, n);
}

static void write_npy(sink *s, const clf_dense *m) {
    static const char *const descr[CLF_NDTYPES] = {
        [CLF_F32] = "<f4", [CLF_F64] = "<f8", [CLF_I32] = "<i4", [CLF_I64] = "<i8", [CLF_U8] = "|u1"};
    char shape[64] = "()", head[2 * NPY_ALIGN + 64];
    if (!m->scalar) snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)m->rows, (long long)m->cols);
    int n = snprintf(head + 10, sizeof head - 10, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr[m->dtype], shape) + 10;
    while ((n + 1) % NPY_ALIGN != 0) head[n++] = ' ';
    head[n++] = '\n';
    memcpy(head, "\x93NUMPY\x01\x00", 8);
    head[8] = (char)((n - 10) & 0xff);
    head[9] = (char)((n - 10) >> 8);
    put(s, head, (size_t)n);
    put(s, m->data, m->bytes);
}

static void write_csv(sink *s, const clf_dense *m) {
    for (int64_t r = 0; m->cols > 0 && r < m->rows && !s->error; r++)
        for (int64_t c = 0; c < m->cols; c++) put_cell(s, m, (size_t)(r * m->cols + c), c + 1 < m->cols ? ',' : '\n');
}

static void write_mtx(sink *s, const clf_dense *m) {
    char head[128];
    int n = snprintf(head, sizeof head, "%%%%MatrixMarket matrix array %s general\n%lld %lld\n",
                     clf_dtype_float(m->dtype) ? "real" : "integer", (long long)m->rows, (long long)m->cols);
    put(s, head, (size_t)n);
    for (int64_t c = 0; m->rows > 0 && c < m->cols && !s->error; c++)
        for (int64_t r = 0; r < m->rows; r++) put_cell(s, m, (size_t)(r * m->cols + c), '\n');
}

static const struct {
    const char *type;
    void (*write)(sink *s, const clf_dense *m);
} writers[] = {{"npy", write_npy}, {"csv", write_csv}, {"mtx", write_mtx}};
enum { NWRITERS = sizeof writers / sizeof *writers };

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
static int write_all(int fd, size_t writer, const clf_dense *m) {
    sink s;
    s.fd = fd;
    s.error = 0;
    s.n = 0;
    writers[writer].write(&s, m);
    flush(&s);
    if (close(fd) != 0 && !s.error) s.error = errno;
    return s.error;
}

static clf_status write_in_place(const char *path, size_t writer, const clf_dense *m, clf_err *err) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    int error = fd < 0 ? errno : write_all(fd, writer, m);
    return error ? io_fail(err, path, error) : CLF_OK;
}

static clf_status write_and_rename(const char *path, size_t writer, const clf_dense *m, clf_err *err) {
    char temp[PATH_MAX];
    int fd = -1;
    CLF_TRY(open_temp(path, temp, &fd, err));
    int error = write_all(fd, writer, m);
    if (!error && rename(temp, path) != 0) error = errno;
    if (!error) return CLF_OK;
    unlink(temp);
    return io_fail(err, path, error);
}

clf_status clf_write_file(const char *path, const char *type, const clf_dense *m, clf_err *err) {
    char target[PATH_MAX]; /* behind symbolic links, so that a link stays one */
    struct stat st;
    size_t w = 0;
    CLF_TRY(clf_file_type(path, type, &type, err));
    while (w < NWRITERS && strcmp(type, writers[w].type) != 0) w++;
    if (w == NWRITERS) return clf_fail(err, CLF_E_FORMAT, "%s: '%s' files are read but not written; use npy, csv or mtx", path, type);
    if (!realpath(path, target)) return write_and_rename(path, w, m, err);
    if (stat(target, &st) == 0 && !S_ISREG(st.st_mode)) return write_in_place(target, w, m, err);
    return write_and_rename(target, w, m, err);
}
