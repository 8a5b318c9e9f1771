/* SPDX-License-Identifier: Apache-2.0
 * Building kernels, and the in-process cache of them. The hash is only a way to the chain: a program is found when device, text,
 * entry and options are equal. A failed build is kept with its message, so that a loop does not build it over and over; running
 * out of memory is not kept. Behind it stands the disk cache of earlier processes (saved.c). */
#include <stdio.h>
#include <string.h>
#include "device/device_internal.h"

/* The first lines of a build log as one line of a message. */
static void log_squeeze(char *log) {
    char *to = log;
    for (char *s = log; *s && to - log < 300; s++) {
        char c = (unsigned char)*s < 32 ? ' ' : *s;
        if (c != ' ' || (to > log && to[-1] != ' ')) *to++ = c;
    }
    *to = 0;
}

static clf_status build_failed(clf_devs *d, const clf_dev *v, cl_program prog, const clf_source *src, cl_int rc, clf_err *err) {
    size_t n = 0;
    char *log = NULL;
    if (clGetProgramBuildInfo(prog, v->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &n) == CL_SUCCESS && n) log = clf_mem_new(d->mem, n + 1, 1);
    if (log && clGetProgramBuildInfo(prog, v->id, CL_PROGRAM_BUILD_LOG, n, log, NULL) != CL_SUCCESS) *log = 0;
    if (log) {
        CLF_TRACE(d->log, build, "log of %s: %s", src->entry, log);
        log_squeeze(log);
    }
    clf_fail(err, CLF_E_BUILD, "kernel %s does not build on '%s': %s: %s", src->entry, v->info.name, clf_cl_name(rc),
             log && *log ? log : "no build log");
    if (log) clf_mem_free(d->mem, log, n + 1, 1);
    return CLF_E_BUILD;
}

/* Is this code the text's fault, so that the same text fails again? */
static bool is_build_fault(cl_int rc) {
    return rc == CL_BUILD_PROGRAM_FAILURE || rc == CL_COMPILE_PROGRAM_FAILURE || rc == CL_LINK_PROGRAM_FAILURE ||
           rc == CL_INVALID_BUILD_OPTIONS;
}

clf_status clf_program_compile(clf_devs *d, int dev, const clf_source *src, cl_program *out, clf_err *err) {
    clf_dev *v = &d->dev[dev];
    cl_int rc;
    const char *text = src->text;
    cl_program prog = clCreateProgramWithSource(v->ctx, 1, &text, &src->text_len, &rc);
    if (!prog) return clf_cl_check(rc == CL_SUCCESS ? CL_OUT_OF_RESOURCES : rc, "clCreateProgramWithSource", v->info.name, err);
    rc = clBuildProgram(prog, 1, &v->id, src->options, NULL, NULL);
    if (rc == CL_SUCCESS) {
        *out = prog;
        return CLF_OK;
    }
    clf_status st = is_build_fault(rc) ? build_failed(d, v, prog, src, rc, err) : clf_cl_check(rc, "clBuildProgram", v->info.name, err);
    clReleaseProgram(prog);
    return st;
}

static clf_status kernel_make(clf_devs *d, clf_program *p, clf_err *err) {
    const char *name = d->dev[p->dev].info.name;
    cl_int rc;
    cl_uint nargs = 0;
    p->kernel = clCreateKernel(p->program, p->entry, &rc);
    if (!p->kernel) {
        if (rc == CL_INVALID_KERNEL_NAME) return clf_fail(err, CLF_E_BUILD, "kernel %s is not in its program text ('%s')", p->entry, name);
        return clf_cl_check(rc == CL_SUCCESS ? CL_OUT_OF_RESOURCES : rc, "clCreateKernel", name, err);
    }
    CLF_TRY(clf_cl_check(clGetKernelInfo(p->kernel, CL_KERNEL_NUM_ARGS, sizeof nargs, &nargs, NULL), "clGetKernelInfo", name, err));
    if (nargs != (cl_uint)p->nargs)
        return clf_fail(err, CLF_E_BUILD, "kernel %s has %u arguments, its description %d", p->entry, nargs, p->nargs);
    return CLF_OK;
}

static size_t block_bytes(const clf_source *src) {
    size_t n = sizeof(clf_program), part;
    if (src->nargs < 0 || !clf_mul_ok((size_t)src->nargs, sizeof *src->args, &part) || !clf_add_ok(n, part, &n)) return 0;
    if (!clf_add_ok(n, src->text_len, &n) || !clf_add_ok(n, strlen(src->entry), &n) || !clf_add_ok(n, strlen(src->options) + 3, &n))
        return 0;
    return n;
}

/* [clf_program][args][text 0][entry 0][options 0] in one block. */
static clf_program *block_new(clf_devs *d, int dev, const clf_source *src) {
    size_t bytes = block_bytes(src), args_bytes = (size_t)src->nargs * sizeof *src->args;
    clf_program *p = bytes ? clf_mem_new(d->mem, 1, bytes) : NULL;
    if (!p) return NULL;
    clf_arg_desc *args = (clf_arg_desc *)(p + 1);
    char *text = (char *)args + args_bytes, *entry = text + src->text_len + 1, *options = entry + strlen(src->entry) + 1;
    if (args_bytes) memcpy(args, src->args, args_bytes);
    memcpy(text, src->text, src->text_len);
    memcpy(entry, src->entry, strlen(src->entry) + 1);
    memcpy(options, src->options, strlen(src->options) + 1);
    *p = (clf_program){.self_bytes = bytes,
                       .hash = src->hash,
                       .dev = dev,
                       .nargs = src->nargs,
                       .text_len = src->text_len,
                       .args = args,
                       .text = text,
                       .entry = entry,
                       .options = options};
    return p;
}

/* Compile, or share what is built already. */
static clf_status program_fill(clf_devs *d, clf_program *p, const clf_source *src, cl_program built, clf_err *err) {
    if (!built) return clf_program_compile(d, p->dev, src, &p->program, err);
    CLF_TRY(clf_cl_check(clRetainProgram(built), "clRetainProgram", d->dev[p->dev].info.name, err));
    p->program = built;
    return CLF_OK;
}

clf_status clf_program_complete(clf_devs *d, clf_program *p, const clf_source *src, cl_program built, clf_err *err) {
    clf_err why = {0};
    clf_status st = program_fill(d, p, src, built, &why);
    if (st == CLF_OK) st = kernel_make(d, p, &why);
    if (st != CLF_OK && st != CLF_E_BUILD) return clf_fail(err, st, "%s", why.text);
    p->failed = why;
    return CLF_OK;
}

clf_status clf_program_new(clf_devs *d, int dev, const clf_source *src, cl_program built, clf_program **out, clf_err *err) {
    clf_program *p = block_new(d, dev, src);
    if (!p) return clf_fail(err, CLF_E_NOMEM, "no memory to keep kernel %s", src->entry);
    clf_status st = clf_program_complete(d, p, src, built, err);
    if (st == CLF_OK)
        *out = p;
    else
        clf_program_free(d, p, true);
    return st;
}

void clf_program_free(clf_devs *d, clf_program *p, bool driver_alive) {
    if (!p) return;
    if (driver_alive && p->kernel) clReleaseKernel(p->kernel);
    if (driver_alive && p->program) clReleaseProgram(p->program);
    clf_mem_free(d->mem, p, 1, p->self_bytes);
}

void clf_programs_release(clf_devs *d, bool driver_alive) {
    for (int b = 0; b < CLF_PROGRAM_BUCKETS; b++)
        while (d->bucket[b]) {
            clf_program *p = d->bucket[b];
            d->bucket[b] = p->next;
            clf_program_free(d, p, driver_alive);
        }
}

static bool same(const clf_program *p, int dev, const clf_source *src) {
    return p->dev == dev && p->hash.lo == src->hash.lo && p->hash.hi == src->hash.hi && p->text_len == src->text_len &&
           p->nargs == src->nargs && !memcmp(p->text, src->text, src->text_len) && !strcmp(p->entry, src->entry) &&
           !strcmp(p->options, src->options) && (!p->nargs || !memcmp(p->args, src->args, (size_t)p->nargs * sizeof *p->args));
}

static clf_program **bucket_of(clf_devs *d, int dev, const clf_source *src) {
    return &d->bucket[(src->hash.lo ^ (uint64_t)dev) % CLF_PROGRAM_BUCKETS];
}

static clf_program *find(const clf_devs *d, int dev, const clf_source *src) {
    clf_program *p = *bucket_of((clf_devs *)d, dev, src);
    while (p && !same(p, dev, src)) p = p->next;
    return p;
}

static void keep(clf_devs *d, clf_program *p, const clf_source *src) {
    clf_program **slot = bucket_of(d, p->dev, src);
    p->next = *slot;
    *slot = p;
}

static bool complete(const clf_source *src) { return src && src->text && src->entry && src->options && (!src->nargs || src->args); }

static void note_build(clf_devs *d, int dev, const char *what, uint64_t start, bool failed) {
    uint64_t took = clf_now_ns() - start;
    d->stats.builds++;
    d->stats.build_ns += took;
    CLF_TRACE(d->log, build, "%s for %s: %.1f ms%s", what, d->dev[dev].info.name, (double)took * 1e-6, failed ? ", failed" : "");
}

/* In this process, or kept on disk by an earlier one. */
static clf_program *known(clf_devs *d, int dev, const clf_source *src) {
    clf_program *p = find(d, dev, src);
    if (p || clf_options_check(src->options, NULL) != CLF_OK) return p;
    p = clf_saved_get(d, dev, src);
    if (p) keep(d, p, src);
    return p;
}

static clf_status build(clf_devs *d, int dev, const clf_source *src, const clf_claim *claim, clf_program **out, clf_err *err) {
    uint64_t start = clf_now_ns();
    clf_status st = clf_program_new(d, dev, src, NULL, out, err);
    bool good = st == CLF_OK && (*out)->failed.code == CLF_OK;
    if (good) (*out)->fresh = true;
    if (good)
        clf_saved_later(d, dev, claim, out, 1);
    else
        clf_saved_unclaim(d, claim);
    if (st != CLF_OK) return st;
    note_build(d, dev, src->entry, start, !good);
    keep(d, *out, src);
    return CLF_OK;
}

static clf_status miss(clf_devs *d, int dev, const clf_source *src, clf_program **out, bool *compiled, clf_err *err) {
    clf_claim claim;
    CLF_TRY(clf_options_check(src->options, err));
    if (clf_saved_claim(d, dev, &src, 1, &claim) && (*out = known(d, dev, src))) {
        clf_saved_unclaim(d, &claim);
        return CLF_OK;
    }
    *compiled = true;
    return build(d, dev, src, &claim, out, err);
}

clf_status clf_program_get(clf_devs *d, int dev, const clf_source *src, clf_program **out, bool *compiled, clf_err *err) {
    clf_dev *v = NULL;
    CLF_TRY(clf_dev_enter(d, dev, &v, err));
    if (!complete(src)) return clf_fail(err, CLF_E_ARG, "incomplete kernel source");
    clf_program *p = known(d, dev, src);
    bool built = false;
    if (!p) CLF_TRY(miss(d, dev, src, &p, &built, err));
    if (compiled) *compiled = built;
    if (p->failed.code != CLF_OK) return clf_fail(err, p->failed.code, "%s", p->failed.text);
    *out = p;
    return CLF_OK;
}

/* ---- many kernels in one program ---- */

bool clf_program_known(clf_devs *d, int dev, const clf_source *src) {
    clf_dev *v = NULL;
    if (!complete(src)) return false;
    return find(d, dev, src) || (clf_dev_enter(d, dev, &v, NULL) == CLF_OK && known(d, dev, src));
}

static clf_status joined_check(const clf_source *const *src, int n, clf_err *err) {
    for (int i = 0; i < n; i++) {
        if (!complete(src[i])) return clf_fail(err, CLF_E_ARG, "incomplete kernel source");
        if (strcmp(src[i]->options, src[0]->options)) return clf_fail(err, CLF_E_ARG, "kernels of one program have different options");
    }
    return n < 1 ? clf_fail(err, CLF_E_ARG, "a program without kernels") : clf_options_check(src[0]->options, err);
}

/* Each source's kernel out of the program that holds them all; those made here are p[0..*made). */
static clf_status share(clf_devs *d, int dev, cl_program built, const clf_source *const *src, int n, clf_program **made, int *nmade,
                        clf_err *err) {
    for (int i = 0; i < n; i++) {
        clf_program *p = NULL;
        if (find(d, dev, src[i])) continue;
        CLF_TRY(clf_program_new(d, dev, src[i], built, &p, err));
        if (p->failed.code == CLF_OK) {
            keep(d, p, src[i]);
            made[(*nmade)++] = p;
        } else
            clf_program_free(d, p, true);
    }
    return CLF_OK;
}

/* Did another process just build them all? */
static bool all_known(clf_devs *d, int dev, const clf_source *const *src, int n) {
    int have = 0;
    for (int i = 0; i < n; i++) have += known(d, dev, src[i]) != NULL;
    return have == n;
}

static clf_status build_all(clf_devs *d, int dev, const clf_source *all, const clf_source *const *src, int n, const clf_claim *claim,
                            clf_err *err) {
    uint64_t start = clf_now_ns();
    cl_program built = NULL;
    int nmade = 0;
    clf_program **made = clf_mem_new(d->mem, (size_t)n, sizeof *made);
    clf_status st = made ? clf_program_compile(d, dev, all, &built, err) : clf_fail(err, CLF_E_NOMEM, "no memory to build %s", all->entry);
    if (st == CLF_OK) {
        st = share(d, dev, built, src, n, made, &nmade, err);
        clReleaseProgram(built);
        for (int i = 0; i < nmade; i++) made[i]->fresh = true;
    }
    note_build(d, dev, all->entry, start, st != CLF_OK);
    if (nmade)
        clf_saved_later(d, dev, claim, made, nmade);
    else
        clf_saved_unclaim(d, claim);
    clf_mem_free(d->mem, made, (size_t)n, sizeof *made);
    return st;
}

clf_status clf_programs_build(clf_devs *d, int dev, const char *text, size_t text_len, const clf_source *const *src, int n, clf_err *err) {
    clf_dev *v = NULL;
    clf_claim claim;
    char what[64];
    CLF_TRY(clf_dev_enter(d, dev, &v, err));
    CLF_TRY(joined_check(src, n, err));
    if (clf_saved_claim(d, dev, src, n, &claim) && all_known(d, dev, src, n)) {
        clf_saved_unclaim(d, &claim);
        return CLF_OK;
    }
    snprintf(what, sizeof what, "%.40s and %d more", src[0]->entry, n - 1);
    const clf_source all = {.text = text, .text_len = text_len, .entry = what, .options = src[0]->options};
    return build_all(d, dev, &all, src, n, &claim, err);
}

/* ---- for kernels that are built elsewhere (worker.c) ---- */

bool clf_program_compiles_on(const clf_devs *d, const clf_program *p) { return p && p->fresh && d->dev[p->dev].info.kind == CLF_DEV_CPU; }

bool clf_program_held(const clf_devs *d, int dev, const clf_source *src) { return find(d, dev, src) != NULL; }

clf_program *clf_program_block(clf_devs *d, int dev, const clf_source *src) { return block_new(d, dev, src); }

clf_source clf_program_source(const clf_program *p) {
    return (clf_source){.text = p->text,
                        .text_len = p->text_len,
                        .entry = p->entry,
                        .options = p->options,
                        .args = p->args,
                        .nargs = p->nargs,
                        .hash = p->hash};
}

void clf_program_keep(clf_devs *d, clf_program *p) {
    clf_source src = clf_program_source(p);
    keep(d, p, &src);
}

bool clf_program_same(const clf_program *p, int dev, const clf_source *src) { return same(p, dev, src); }

clf_status clf_sources_check(const clf_source *const *src, int n, clf_err *err) { return joined_check(src, n, err); }
