/* SPDX-License-Identifier: Apache-2.0
 * Jobs and executors (see exec_run.h). Outputs and scratch start as a pattern that is a NaN in every float type, so that a cell nobody
 * writes, or one read before it is written, shows. Kernels are launched in two parts, the last one first. */
#include "tests/oracle/exec_run.h"

#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "host/run/tile.h"
#include "kernels-cl/ref.h"
#include "planner/skel.h"

enum { MAX_ARGS = 256, UNWRITTEN = 0xff };
static clf_mem mem;
static clf_devs *devs;
static clf_profile profile;

void exec_open(void) {
    clf_err err = {.code = CLF_OK};
    const char *cache = getenv("CLF_CACHE_DIR");
    clf_mem_init(&mem, NULL, NULL);
    clf_dev_opts opts = {.mem = &mem, .cache_dir = cache ? cache : ""};
    if (clf_devs_open(&devs, &opts, &err) == CLF_OK && clf_devs_count(devs) > 0)
        clf_dev_assume(devs, 0, &profile);
    else
        printf("no OpenCL device (%s): kernels are not run\n", devs ? clf_devs_why(devs) : err.text);
}

void exec_close(void) { clf_devs_close(devs); }

bool exec_has(exec_id e) {
    static const clf_isa isa[EXEC_N] = {[EXEC_BASELINE] = CLF_ISA_BASELINE, [EXEC_AVX2] = CLF_ISA_AVX2, [EXEC_AVX512] = CLF_ISA_AVX512};
    if (e == EXEC_REF) return true;
    if (e == EXEC_OPENCL) return devs && clf_devs_count(devs) > 0;
    return clf_isa_pick(isa[e]) == isa[e];
}

const char *exec_name(exec_id e) {
    static const char *const name[EXEC_N] = {"reference", "host baseline", "host avx2", "host avx512", "OpenCL"};
    return name[e];
}

/* ---- building ------------------------------------------------------------------------------------------------------------ */

void exec_begin(exec_job *j, int64_t rows, int64_t cols) {
    memset(j, 0, sizeof *j);
    j->rows = rows;
    j->cols = cols;
    clf_arena_init(&j->arena, &mem);
    clf_build_begin(&j->b, &j->arena);
    clf_build_axis(&j->b, CLF_AXIS_RANGE, rows);
    clf_build_axis(&j->b, CLF_AXIS_RANGE, cols);
}

void exec_end(exec_job *j) {
    for (int k = 0; k < EXEC_OPERANDS; k++) {
        free(j->in[k]);
        for (int e = 0; e < EXEC_N; e++) free(j->out[e][k]);
    }
    clf_arena_release(&j->arena);
}

int64_t exec_count(const exec_job *j, unsigned keep) { return (keep & EXEC_ROWS ? j->rows : 1) * (keep & EXEC_COLS ? j->cols : 1); }

static void *pattern(size_t bytes) { return memset(malloc(bytes + 64), UNWRITTEN, bytes + 64); }

exec_in exec_input(exec_job *j, clf_dtype t, unsigned keep) {
    const int64_t dim[2] = {keep & EXEC_ROWS ? j->rows : 1, keep & EXEC_COLS ? j->cols : 1};
    const int axes[2] = {keep & EXEC_ROWS ? 0 : -1, keep & EXEC_COLS ? 1 : -1};
    int in = clf_build_in(&j->b, t, keep ? 2 : 0, dim);
    j->in[in] = calloc((size_t)exec_count(j, keep) + 1, clf_dtype_bytes(t));
    return (exec_in){clf_build_load(&j->b, clf_build_access(&j->b, in, axes)), j->in[in]};
}

static int special_value(exec_job *j, int op, clf_dtype t, int arg) {
    return clf_build_value(&j->b, (clf_value){.op = (uint16_t)op, .dtype = (uint8_t)t, .axis = -1, .in = {-1, -1, -1}, .arg = arg});
}
int exec_param(exec_job *j, clf_scalar value) {
    int p = clf_build_param(&j->b, value.dtype);
    j->param[p] = value;
    return special_value(j, CLF_V_PARAM, value.dtype, p);
}
int exec_index(exec_job *j, int axis) { return special_value(j, CLF_V_INDEX, CLF_I64, axis); }

int exec_op(exec_job *j, int o, clf_dtype t, const int v[3]) {
    int arity = clf_ops[o].arity;
    return clf_build_op(&j->b, (clf_op)o, t, v[0], arity > 1 ? v[1] : -1, arity > 2 ? v[2] : -1);
}

static int new_out(exec_job *j, clf_dtype t, unsigned keep) {
    const int64_t dim[2] = {keep & EXEC_ROWS ? j->rows : 1, keep & EXEC_COLS ? j->cols : 1};
    int out = clf_build_out(&j->b, t, keep ? 2 : 0, dim);
    for (int e = 0; e < EXEC_N; e++) j->out[e][out] = pattern((size_t)exec_count(j, keep) * clf_dtype_bytes(t));
    return out;
}

int exec_store(exec_job *j, int v, unsigned keep) {
    int out = new_out(j, (clf_dtype)j->b.c.value[v].dtype, keep);
    clf_build_store(&j->b, out, v, keep);
    return out;
}

int exec_fold(exec_job *j, clf_fold_id f, int v, unsigned keep) {
    clf_dtype t = clf_fold_value_type(f, (clf_dtype)j->b.c.value[v].dtype);
    int out = new_out(j, clf_fold_result_type(f, t), keep);
    clf_build_fold(&j->b, out, f, clf_build_cast(&j->b, v, t), keep);
    return out;
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

static clf_status run_host(exec_job *j, clf_isa isa, const clf_bind *bind, clf_err *err) {
    clf_tile *t = NULL;
    if (!clf_tile_fits(&j->c)) return clf_fail(err, CLF_E_UNSUPPORTED, "the host executor does not take it");
    clf_status st = clf_tile_new(&t, &j->c, isa, &mem, err);
    if (st == CLF_OK) st = clf_tile_run(t, bind, NULL, err);
    clf_tile_free(t);
    return st;
}

static int64_t out_bytes(const exec_job *j, int out) {
    const clf_coutput *o = &j->c.out[out];
    int64_t n = (int64_t)clf_dtype_bytes((clf_dtype)o->dtype);
    for (int d = 0; d < o->rank; d++) n *= o->dim[d].n;
    return n;
}
static int64_t in_bytes(const exec_job *j, int in) {
    const clf_cinput *x = &j->c.in[in];
    int64_t n = (int64_t)clf_dtype_bytes((clf_dtype)x->dtype);
    for (int d = 0; d < x->rank; d++) n *= x->dim[d].n;
    return n;
}

static clf_arg argument(const exec_job *j, const clf_sched *s, clf_arg_desc d, void *scratch, int *counter) {
    clf_arg a = {.ptr = NULL};
    switch (d.kind) {
    case CLF_ARG_MEM_IN: a.ptr = j->in[d.index], a.bytes = (size_t)in_bytes(j, d.index); break;
    case CLF_ARG_MEM_OUT: a.ptr = j->out[EXEC_OPENCL][d.index], a.bytes = (size_t)out_bytes(j, d.index); break;
    case CLF_ARG_SCRATCH: a.ptr = scratch, a.bytes = s->scratch_bytes; break;
    case CLF_ARG_COUNTER: a.ptr = counter, a.bytes = sizeof *counter; break;
    case CLF_ARG_I64: a.u.i64 = s->arg[d.index], a.bytes = 8; break;
    default:
        clf_scalar_store(&a.u, 0, j->param[d.index]);
        a.bytes = clf_dtype_bytes(j->param[d.index].dtype);
        break;
    }
    return a;
}

static clf_status launch(exec_job *j, const clf_skel *skel, const clf_sched *whole, const clf_source *src, clf_program *p, clf_err *err) {
    enum { PARTS = 2 };
    clf_arg arg[MAX_ARGS];
    clf_status st = src->nargs <= MAX_ARGS ? CLF_OK : clf_fail(err, CLF_E_LIMIT, "%d kernel arguments", src->nargs);
    void *scratch = clf_mem_data(&mem, whole->scratch_bytes);
    int counter = 0;
    memset(scratch, UNWRITTEN, whole->scratch_bytes);
    for (int part = PARTS - 1; part >= 0 && st == CLF_OK; part--) {
        clf_sched s;
        int64_t n = (int64_t)whole->global;
        clf_grid grid = {n * part / PARTS, n * (part + 1) / PARTS};
        if (grid.lo == grid.hi) continue;
        CLF_GO(skel->sched(&j->c, &profile, grid, &s, err));
        for (int k = 0; k < src->nargs; k++) arg[k] = argument(j, &s, src->args[k], scratch, &counter);
        st = clf_launch(devs, 0, p, arg, src->nargs, s.global, s.local, err);
    }
    if (st == CLF_OK) st = clf_dev_wait(devs, 0, err);
out:
    clf_mem_data_free(&mem, scratch, whole->scratch_bytes);
    return st;
}

static clf_status run_opencl(exec_job *j, clf_err *err) {
    clf_sched s;
    clf_source src;
    clf_program *p = NULL;
    bool compiled;
    const clf_skel *const *skel = clf_skels;
    while (*skel && (strcmp((*skel)->strategy, "chunk") || !(*skel)->fits(&j->c, &profile))) skel++;
    if (!*skel) return clf_fail(err, CLF_E_UNSUPPORTED, "no skeleton takes it");
    CLF_TRY((*skel)->sched(&j->c, &profile, (clf_grid){0, INT64_MAX}, &s, err));
    CLF_TRY((*skel)->emit(&j->c, &s, "", &j->arena, &src, err));
    CLF_TRY(clf_program_get(devs, 0, &src, &p, &compiled, err));
    return launch(j, *skel, &s, &src, p, err);
}

static clf_status run_on(exec_job *j, exec_id e, clf_err *err) {
    static const clf_isa isa[EXEC_N] = {[EXEC_BASELINE] = CLF_ISA_BASELINE, [EXEC_AVX2] = CLF_ISA_AVX2, [EXEC_AVX512] = CLF_ISA_AVX512};
    clf_bind bind = {.in = j->in, .param = j->param, .out = j->out[e]};
    if (e == EXEC_REF) return clf_ref_run(&j->c, &bind, &mem, err);
    return e == EXEC_OPENCL ? run_opencl(j, err) : run_host(j, isa[e], &bind, err);
}

void exec_all(exec_job *j) {
    clf_err err = {.code = CLF_OK};
    clf_status st = clf_build_end(&j->b, &j->c, &err);
    for (int e = 0; e < EXEC_N && st == CLF_OK; e++) {
        if (!exec_has((exec_id)e) || (e == EXEC_OPENCL && j->no_kernel)) continue;
        clf_status ran = run_on(j, (exec_id)e, &err);
        if (ran != CLF_OK) printf("%s: %s\n", exec_name((exec_id)e), err.text);
        CU_ASSERT_EQUAL(ran, CLF_OK);
        j->ran[e] = ran == CLF_OK;
        clf_err_clear(&err);
    }
    if (st != CLF_OK) printf("%s\n", err.text);
    CU_ASSERT_EQUAL(st, CLF_OK);
}

clf_dtype exec_type(const exec_job *j, int out) { return (clf_dtype)j->b.c.out[out].dtype; }
clf_scalar exec_result(const exec_job *j, exec_id e, int out, int64_t k) {
    return clf_scalar_load(j->out[e][out], (size_t)k, exec_type(j, out));
}
