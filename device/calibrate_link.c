/* SPDX-License-Identifier: Apache-2.0
 * Calibration of the way to a device with memory of its own and back: of memory as the library has it (pageable), and of memory that the
 * driver has locked. Both ways count alike, a profile has one rate for them; a transfer of next to nothing tells what each one costs. */
#include "device/calibrate.h"

enum { MOST_BYTES = 64 << 20, LITTLE_BYTES = 4096, TIMES = 5 };

/* The best time of sending the first bytes of `at` and of getting them back, in the mean. */
static clf_status there_and_back(clf_gauge_bench *b, cl_mem mem, void *at, size_t bytes, double *ns) {
    const clf_dev *v = &b->d->dev[b->dev];
    double best[2] = {0, 0};
    for (int i = 0; i < TIMES; i++) {
        uint64_t t0 = clf_now_ns();
        CLF_TRY(clf_cl_check(clEnqueueWriteBuffer(v->queue, mem, CL_TRUE, 0, bytes, at, 0, NULL, NULL), "clEnqueueWriteBuffer",
                             v->info.name, b->err));
        uint64_t t1 = clf_now_ns();
        CLF_TRY(clf_cl_check(clEnqueueReadBuffer(v->queue, mem, CL_TRUE, 0, bytes, at, 0, NULL, NULL), "clEnqueueReadBuffer", v->info.name,
                             b->err));
        const double way[2] = {(double)(t1 - t0), (double)(clf_now_ns() - t1)};
        for (int w = 0; w < 2; w++)
            if (!i || way[w] < best[w]) best[w] = way[w];
    }
    *ns = (best[0] + best[1]) / 2;
    return CLF_OK;
}

static clf_status both_sizes(clf_gauge_bench *b, cl_mem mem, void *at, size_t bytes, double *per_s, double *each_ns) {
    double most, least;
    CLF_TRY(there_and_back(b, mem, at, LITTLE_BYTES, &least));
    CLF_TRY(there_and_back(b, mem, at, bytes, &most));
    double ns = most > 2 * least ? most - least : most / 2; /* a clock that stood still makes no rate */
    *per_s = (double)(bytes - LITTLE_BYTES) / (ns > 1 ? ns : 1) * 1e9;
    *each_ns = least;
    return CLF_OK;
}

/* Of memory that the driver gives. A driver that gives none is no failure: the figure stays 0. */
static clf_status locked(clf_gauge_bench *b, cl_mem mem, size_t bytes, double *per_s) {
    const clf_dev *v = &b->d->dev[b->dev];
    double each_ns;
    cl_int rc;
    cl_mem own = clCreateBuffer(v->ctx, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &rc);
    if (!own) return CLF_OK;
    void *at = clEnqueueMapBuffer(v->queue, own, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &rc);
    clf_status st = at ? both_sizes(b, mem, at, bytes, per_s, &each_ns) : CLF_OK;
    if (at) rc = clEnqueueUnmapMemObject(v->queue, own, at, 0, NULL, NULL);
    if (at && st == CLF_OK) st = clf_cl_check(rc, "clEnqueueUnmapMemObject", v->info.name, b->err);
    clReleaseMemObject(own);
    return st;
}

clf_status clf_gauge_link(clf_gauge_bench *b, clf_profile *p) {
    const clf_dev *v = &b->d->dev[b->dev];
    size_t bytes = b->set_bytes < MOST_BYTES ? b->set_bytes : MOST_BYTES;
    cl_int rc;
    cl_mem mem = clCreateBuffer(v->ctx, CL_MEM_READ_WRITE, bytes, NULL, &rc);
    if (!mem) return clf_cl_check(rc == CL_SUCCESS ? CL_OUT_OF_RESOURCES : rc, "clCreateBuffer", v->info.name, b->err);
    clf_status st = both_sizes(b, mem, b->in, bytes, &p->transfer_bytes_per_s, &p->transfer_ns);
    if (st == CLF_OK) st = locked(b, mem, bytes, &p->pinned_bytes_per_s);
    clReleaseMemObject(mem);
    return st;
}
