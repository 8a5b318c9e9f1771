/* SPDX-License-Identifier: Apache-2.0
 * The compile worker's loop: one message in, one out. The first names the device, the others are programs to build. A built program's
 * kernels are run once, with sizes of zero on one work-item, before the binary is taken: that is when drivers for CPUs compile for the kind
 * of launch, and what they made then is in the binary. Memory they are given is zeros that nobody reads; the counter of finished
 * work-items starts so low that none takes itself for the last. */
#include "device/worker/serve.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "device/device_internal.h"
#include "device/message.h"

enum { AREA_BYTES = 1 << 20, ARGS_MOST = CLF_MSG_ARGS_MOST };

typedef struct worker {
    int in, out, dev;
    clf_mem mem;
    clf_devs *devs;
    const clf_serve_opts *opts;
    int messages;
    void *area;
    clf_arg_desc desc[ARGS_MOST];
    clf_arg arg[ARGS_MOST];
} worker;

/* ---- bytes ---- */

static bool read_all(int fd, char *to, size_t n) {
    while (n) {
        ssize_t got = read(fd, to, n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        n -= (size_t)got;
    }
    return true;
}

static bool write_all(int fd, const char *at, size_t n) {
    while (n) {
        ssize_t put = write(fd, at, n);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
        n -= (size_t)put;
    }
    return true;
}

/* One more message has gone one way or the other. False: it is time to end. */
static bool boundary(worker *w) {
    if (w->opts->fault == CLF_SERVE_RIGHT || ++w->messages < w->opts->after) return true;
    if (w->opts->fault == CLF_SERVE_HANG) pause();
    if (w->opts->fault == CLF_SERVE_BABBLE) (void)!write(w->out, "this is no message at all", 25);
    return w->opts->fault == CLF_SERVE_HALF;
}

static bool send_message(worker *w, const clf_msg *m) {
    clf_str s;
    clf_str_init(&s, &w->mem);
    bool ok = clf_msg_put(&s, m, NULL, 0, NULL) == CLF_OK;
    bool half = w->opts->fault == CLF_SERVE_HALF && w->messages + 1 >= w->opts->after;
    ok = ok && write_all(w->out, s.at, half ? s.len / 2 : s.len) && !half;
    clf_str_release(&s);
    return ok && boundary(w);
}

/* owns: *bytes, of *n bytes. */
static bool receive(worker *w, clf_msg *m, char **bytes, size_t *n) {
    char head[CLF_MSG_HEAD];
    size_t body;
    if (!read_all(w->in, head, sizeof head) || clf_msg_head(head, &body, NULL) != CLF_OK) return false;
    *n = sizeof head + body;
    *bytes = clf_mem_new(&w->mem, *n, 1);
    if (!*bytes) return false;
    memcpy(*bytes, head, sizeof head);
    bool ok = read_all(w->in, *bytes + sizeof head, body) && clf_msg_get(m, *bytes, *n, NULL) == CLF_OK && boundary(w);
    if (!ok) clf_mem_free(&w->mem, *bytes, *n, 1);
    return ok;
}

static clf_msg_text text_of(const char *s) { return (clf_msg_text){s, strlen(s)}; }

/* ---- building ---- */

static void fill_args(worker *w, int nargs) {
    int *counter = w->area;
    *counter = -(1 << 30);
    for (int i = 0; i < nargs; i++) {
        bool memory = clf_arg_is_memory(w->desc[i].kind), one = w->desc[i].kind == CLF_ARG_COUNTER;
        w->arg[i] = (clf_arg){0};
        if (memory) w->arg[i].ptr = (char *)w->area + (one ? 0 : 64);
        if (memory) w->arg[i].bytes = one ? sizeof(int) : AREA_BYTES - 64;
    }
}

/* Kernels of groups are for GPUs, which compile all there is at once. */
static bool runs_alone(const worker *w, const clf_program *p) {
    const clf_dev *v = &w->devs->dev[w->dev];
    size_t group[3] = {0};
    cl_int rc = clGetKernelWorkGroupInfo(p->kernel, v->id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof group, group, NULL);
    return v->info.kind == CLF_DEV_CPU && rc == CL_SUCCESS && group[0] <= 1;
}

static clf_status run_once(worker *w, cl_program built, const clf_source *src, clf_err *err) {
    clf_program *p;
    CLF_TRY(clf_program_new(w->devs, w->dev, src, built, &p, err));
    clf_status st = p->failed.code == CLF_OK ? CLF_OK : clf_fail(err, p->failed.code, "%s", p->failed.text);
    bool run = st == CLF_OK && runs_alone(w, p);
    fill_args(w, src->nargs);
    if (run) st = clf_launch(w->devs, w->dev, p, w->arg, src->nargs, 1, 1, err);
    if (run && st == CLF_OK) st = clf_dev_wait(w->devs, w->dev, err);
    clf_program_free(w->devs, p, true);
    return st;
}

static clf_status build(worker *w, const clf_msg *m, void **binary, size_t *n, clf_err *err) {
    clf_source all = {.text = m->text[1].at, .text_len = m->text[1].len, .entry = "of a worker", .options = m->text[0].at};
    const char *at = m->kernels;
    cl_program built;
    if (!m->nkernels) return clf_fail(err, CLF_E_ARG, "a program without kernels");
    CLF_TRY(clf_options_check(all.options, err));
    CLF_TRY(clf_program_compile(w->devs, w->dev, &all, &built, err));
    clf_status st = CLF_OK;
    for (uint32_t k = 0; st == CLF_OK && k < m->nkernels; k++) {
        clf_msg_kernel kernel;
        clf_msg_next(&at, &kernel);
        clf_msg_args(&kernel, w->desc);
        clf_source src = all;
        src.entry = kernel.entry;
        src.args = w->desc;
        src.nargs = kernel.nargs;
        st = run_once(w, built, &src, err);
    }
    if (st == CLF_OK) st = clf_program_binary(w->devs, w->dev, built, &w->mem, binary, n, err);
    clReleaseProgram(built);
    return st;
}

static bool answer(worker *w, const clf_msg *m) {
    clf_err err = {CLF_OK, ""};
    void *binary = NULL;
    size_t n = 0;
    uint64_t start = clf_now_ns();
    clf_msg out = {.kind = CLF_MSG_BUILT, .id = m->id};
    out.status = (uint32_t)build(w, m, &binary, &n, &err);
    out.ns = clf_now_ns() - start;
    out.text[0] = text_of(err.text);
    out.text[1] = (clf_msg_text){binary, n};
    bool ok = send_message(w, &out);
    clf_mem_free(&w->mem, binary, n, 1);
    return ok;
}

/* ---- start ---- */

static int find_device(const clf_devs *d, const clf_msg *m) {
    for (int i = 0; i < d->n; i++)
        if (!strcmp(d->dev[i].info.name, m->text[0].at) && !strcmp(d->dev[i].info.driver, m->text[1].at)) return i;
    return -1;
}

static bool greet(worker *w, const clf_msg *m) {
    clf_err err = {CLF_OK, ""};
    clf_dev_opts o = {.mem = &w->mem, .cache_dir = m->text[2].at, .no_host_pointers = (m->status & CLF_MSG_BUFFERS) != 0};
    clf_status st = clf_devs_open(&w->devs, &o, &err);
    w->dev = st == CLF_OK ? find_device(w->devs, m) : -1;
    if (st == CLF_OK && w->dev < 0) st = clf_fail(&err, CLF_E_NODEV, "a worker finds no device '%s'", m->text[0].at);
    clf_msg out = {.kind = CLF_MSG_READY, .status = (uint32_t)st, .text = {text_of(err.text)}};
    return send_message(w, &out) && st == CLF_OK;
}

static bool one_message(worker *w) {
    clf_msg m;
    char *bytes;
    size_t n;
    if (!receive(w, &m, &bytes, &n)) return false;
    bool ok = m.kind == CLF_MSG_HELLO ? !w->devs && greet(w, &m) : m.kind == CLF_MSG_BUILD && w->devs && answer(w, &m);
    clf_mem_free(&w->mem, bytes, n, 1);
    return ok;
}

int clf_worker_serve(int in, int out, const clf_serve_opts *opts) {
    worker w = {.in = in, .out = out, .opts = opts};
    clf_mem_init(&w.mem, NULL, NULL);
    w.area = clf_mem_new(&w.mem, AREA_BYTES, 1);
    while (w.area && one_message(&w)) {
    }
    clf_devs_close(w.devs);
    clf_mem_free(&w.mem, w.area, AREA_BYTES, 1);
    return 0;
}
