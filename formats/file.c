/* SPDX-License-Identifier: Apache-2.0
 * Read a file of any type: find its type, put its bytes into memory, hand them to the reader.
 *
 * Regular files are mapped, so the text itself takes no memory of ours. Pipes and other streams are read into growing memory, up to a
 * limit, since an endless one must not take the machine down.
 * A file that another process cuts off while it is being read is the one case that is not caught: the system signals it. */
#include "formats/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/csv.h"

enum { STREAM_FIRST = 1 << 16, STREAM_MOST = 1 << 30 };

/* Bytes of a file. */
typedef struct bytes {
    char *at;
    size_t n, cap; /* cap: of memory from clf_mem; 0 when mapped */
} bytes;

/* What a reader needs, and what it tells beside its result. */
typedef struct request {
    const char *path;
    bytes b;
    const clf_read_opts *o;
    clf_mem *mem;
    clf_loaded *out;
    clf_dense *labels;
    char *note;
    size_t note_n;
    clf_err *err;
} request;

static clf_status read_npy(const request *q) { return clf_read_npy(q->path, q->b.at, q->b.n, q->mem, &q->out->dense, q->err); }

static clf_status read_csv(const request *q) {
    int64_t dropped = 0;
    CLF_TRY(clf_csv_read(q->path, q->b.at, q->b.n, q->o, q->mem, &q->out->dense, q->labels, &dropped, q->err));
    if (dropped && q->note && q->note_n)
        snprintf(q->note, q->note_n, "%s: %lld row%s with missing cells dropped", q->path, (long long)dropped, dropped == 1 ? "" : "s");
    return CLF_OK;
}

static clf_status read_mtx(const request *q) { return clf_read_mtx(q->path, q->b.at, q->b.n, q->o, q->mem, q->out, q->err); }

static clf_status read_svm(const request *q) {
    q->out->sparse = true;
    return clf_read_svm(q->path, q->b.at, q->b.n, q->o, q->mem, &q->out->csr, q->labels, q->err);
}

static const struct {
    const char *type;
    clf_status (*read)(const request *q);
} readers[] = {{"npy", read_npy}, {"csv", read_csv}, {"mtx", read_mtx}, {"svm", read_svm}};
enum { NREADERS = sizeof readers / sizeof *readers };

/* Index of the reader whose type reads `type` in any case, or NREADERS. */
static size_t find_reader(const char *type) {
    for (size_t i = 0; i < NREADERS; i++) {
        const char *want = readers[i].type;
        size_t k = 0;
        while (want[k] && (type[k] | 0x20) == want[k]) k++;
        if (!want[k] && !type[k]) return i;
    }
    return NREADERS;
}

clf_status clf_file_type(const char *path, const char *type, const char **out, clf_err *err) {
    const char *dot = strrchr(path, '.');
    size_t i = type ? find_reader(type) : dot ? find_reader(dot + 1) : NREADERS;
    if (i == NREADERS && type) return clf_fail(err, CLF_E_ARG, "%s: unknown file type '%s' (npy, csv, mtx, svm)", path, type);
    if (i == NREADERS) return clf_fail(err, CLF_E_FORMAT, "%s: the ending names no known file type (npy, csv, mtx, svm); say which", path);
    *out = readers[i].type;
    return CLF_OK;
}

static clf_status io_fail(clf_err *err, const char *path, const char *what, int error) {
    char text[128];
    return clf_fail(err, CLF_E_IO, "%s: cannot %s: %s", path, what, strerror_r(error, text, sizeof text));
}

static clf_status grow(const request *q, bytes *b) {
    size_t cap = b->cap ? 2 * b->cap : STREAM_FIRST;
    if (cap > STREAM_MOST) return clf_fail(q->err, CLF_E_LIMIT, "%s: a stream of more than %d MiB; use a file", q->path, STREAM_MOST >> 20);
    char *at = clf_mem_grow(q->mem, b->at, b->cap, cap, 1);
    if (!at) return clf_fail(q->err, CLF_E_NOMEM, "%s: no memory for %zu bytes", q->path, cap);
    b->at = at;
    b->cap = cap;
    return CLF_OK;
}

static clf_status read_stream(const request *q, int fd, bytes *b) {
    for (;;) {
        if (b->n == b->cap) CLF_TRY(grow(q, b));
        ssize_t got = read(fd, b->at + b->n, b->cap - b->n);
        if (got == 0) return CLF_OK;
        if (got > 0) {
            b->n += (size_t)got;
            CLF_TRY(clf_ask_on(q->o ? q->o->ask : NULL, CLF_STAGE_LOAD, q->path, b->n, 0, q->err));
        } else if (errno != EINTR)
            return io_fail(q->err, q->path, "read", errno);
    }
}

static clf_status map_file(const request *q, int fd, off_t size, bytes *b) {
    void *p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) return io_fail(q->err, q->path, "map", errno);
    madvise(p, (size_t)size, MADV_SEQUENTIAL);
    b->at = p;
    b->n = (size_t)size;
    return CLF_OK;
}

static void release_bytes(clf_mem *mem, bytes *b) {
    if (b->cap)
        clf_mem_free(mem, b->at, b->cap, 1);
    else if (b->at)
        munmap(b->at, b->n);
}

/* On failure b still says what is to be released. */
static clf_status load_bytes(const request *q, bytes *b) {
    struct stat st;
    clf_status status;
    int fd = open(q->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return io_fail(q->err, q->path, "open", errno);
    if (fstat(fd, &st) != 0)
        status = io_fail(q->err, q->path, "open", errno);
    else if (S_ISREG(st.st_mode) && st.st_size > 0)
        status = map_file(q, fd, st.st_size, b);
    else
        status = read_stream(q, fd, b);
    close(fd);
    return status;
}

clf_status clf_load_file(const char *path, const char *type, const clf_read_opts *o, clf_mem *mem, clf_loaded *out, clf_dense *labels,
                         char *note, size_t note_n, clf_err *err) {
    clf_loaded m = {.sparse = false};
    clf_dense l = {.dtype = CLF_F64};
    request q = {.path = path, .o = o, .mem = mem, .out = &m, .labels = labels ? &l : NULL, .note = note, .note_n = note_n, .err = err};
    const char *known;
    if (note && note_n) *note = '\0';
    CLF_TRY(clf_file_type(path, type, &known, err));
    clf_status st = load_bytes(&q, &q.b);
    if (st == CLF_OK) st = readers[find_reader(known)].read(&q);
    release_bytes(mem, &q.b);
    if (st != CLF_OK) return st;
    *out = m;
    if (labels) *labels = l;
    return CLF_OK;
}

clf_status clf_read_file(const char *path, const char *type, const clf_read_opts *o, clf_mem *mem, clf_dense *out, clf_dense *labels,
                         char *note, size_t note_n, clf_err *err) {
    clf_loaded m;
    clf_dense d, l = {.dtype = CLF_F64};
    CLF_TRY(clf_load_file(path, type, o, mem, &m, labels ? &l : NULL, note, note_n, err));
    bool sparse = m.sparse;
    clf_status st = clf_loaded_dense(&m, path, mem, &d, err);
    if (st != CLF_OK) {
        clf_loaded_release(&m, mem);
        clf_dense_release(&l, mem);
        return st;
    }
    if (sparse && note && note_n)
        snprintf(note, note_n, "%s: a sparse file, held dense: %lld x %lld", path, (long long)d.rows, (long long)d.cols);
    *out = d;
    if (labels) *labels = l;
    return CLF_OK;
}
