/* SPDX-License-Identifier: Apache-2.0
 * Jobs on the first OpenCL device (see kernel_job.h). Scratch starts as NaN, outputs as a pattern: nothing may read what nobody wrote, nor
 * leave a cell unwritten. */
#include "tests/support/kernel_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels-cl/join.h"
#include "kernels-cl/ref.h"

enum { MAX_ARGS = 256 };
job_place jobs;

bool jobs_open(bool buffers) {
    clf_err err = {.code = CLF_OK};
    const char *cache = getenv("CLF_CACHE_DIR");
    clf_mem_init(&jobs.mem, NULL, NULL);
    clf_profile_assume(&jobs.profile, CLF_DEV_CPU, 2);
    clf_dev_opts opts = {.mem = &jobs.mem, .cache_dir = cache ? cache : "", .no_host_pointers = buffers};
    jobs.device = clf_devs_open(&jobs.devs, &opts, &err) == CLF_OK && clf_devs_count(jobs.devs) > 0;
    if (jobs.device)
        clf_dev_assume(jobs.devs, 0, &jobs.profile);
    else
        printf("no OpenCL device (%s): kernels are not run\n", jobs.devs ? clf_devs_why(jobs.devs) : err.text);
    return jobs.device;
}

void jobs_close(void) {
    clf_devs_close(jobs.devs);
    jobs.devs = NULL;
}

const clf_skel *jobs_skel(const char *name) {
    const clf_skel *const *s = clf_skels;
    while (*s && strcmp((*s)->name, name) != 0) s++;
    return *s;
}

/* ---- making -------------------------------------------------------------------------------------------------------------- */

void job_begin(kernel_job *j, uint64_t seed) {
    memset(j, 0, sizeof *j);
    j->seed = seed;
    clf_arena_init(&j->arena, &jobs.mem);
    clf_build_begin(&j->b, &j->arena);
}

clf_status job_built(kernel_job *j, clf_err *err) {
    clf_status st = clf_build_end(&j->b, &j->c, err);
    if (st != CLF_OK) fprintf(stderr, "%s\n", err ? err->text : "the cplan is not legal");
    return st;
}

clf_status job_text(kernel_job *j, uint64_t seed, const char *text, clf_err *err) {
    job_begin(j, seed);
    clf_status st = clf_cplan_parse(&j->c, &j->arena, text, strlen(text), err);
    if (st != CLF_OK) fprintf(stderr, "%s\n", err ? err->text : "the text does not parse");
    return st;
}

double job_uniform(kernel_job *j) {
    j->seed = j->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(j->seed >> 11) / 9007199254740992.0;
}

static double cell(kernel_job *j, clf_dtype t, job_data data) {
    double u = job_uniform(j), kind = job_uniform(j);
    if (!clf_dtype_float(t)) return floor(u * 7) - (t == CLF_U8 ? 0 : 3);
    if (data == JOB_POSITIVE) return 0.05 + 3 * u;
    if (data == JOB_EXACT) return floor(u * 9) - 4;
    if (data == JOB_REAL && kind < 0.001) return u < 0.3 ? NAN : u < 0.6 ? INFINITY : -INFINITY;
    if (kind < 0.05) return u < 0.5 ? 0.0 : -0.0;
    return 4 * u - 2;
}

void job_fill(kernel_job *j, void *cells, clf_dtype t, size_t n, job_data data) {
    for (size_t k = 0; k < n; k++) clf_scalar_store(cells, k, clf_scalar_to(clf_scalar_f64(cell(j, t, data)), t));
}

size_t job_cells(const clf_cinput *o) {
    size_t n = 1;
    for (int d = 0; d < o->rank; d++) n *= (size_t)o->dim[d].n;
    return n;
}

static void free_in(kernel_job *j, int i) {
    if (j->in[i] && j->c.in[i].format == CLF_CSR) {
        clf_csr *m = j->in[i];
        clf_mem_data_free(&jobs.mem, (void *)m->ptr, (size_t)(m->rows + 1) * sizeof *m->ptr);
        clf_mem_data_free(&jobs.mem, (void *)m->idx, (size_t)m->nnz * sizeof *m->idx);
        clf_mem_data_free(&jobs.mem, (void *)m->val, (size_t)m->nnz * clf_dtype_bytes((clf_dtype)m->dtype));
    }
    clf_mem_data_free(&jobs.mem, j->in[i], j->in_bytes[i]);
    j->in[i] = NULL;
}

/* ---- CSR operands -------------------------------------------------------------------------------------------------------- */

typedef struct pattern {
    double density;
    uint64_t seed;
} pattern;

static bool by_chance(int64_t i, int64_t k, void *at) {
    const pattern *p = at;
    uint64_t h = (p->seed ^ (uint64_t)i * 0x9e3779b97f4a7c15u ^ (uint64_t)k * 0xc2b2ae3d27d4eb4fu) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
    if (p->density < 1 && i % 11 == 5) return false; /* rows without entries among full ones */
    return (double)(h >> 11) / 9007199254740992.0 < p->density;
}

static void set_out_size(kernel_job *j, int o, int64_t n) {
    size_t bytes = (size_t)n * clf_dtype_bytes((clf_dtype)j->c.out[o].dtype);
    clf_mem_data_free(&jobs.mem, j->got[o], j->out_bytes[o]);
    clf_mem_data_free(&jobs.mem, j->want[o], j->out_bytes[o]);
    j->c.out[o].dim[0].n = n;
    j->out_bytes[o] = bytes;
    j->got[o] = memset(clf_mem_data(&jobs.mem, bytes), 0x5a, bytes);
    j->want[o] = memset(clf_mem_data(&jobs.mem, bytes), 0xa5, bytes);
}

/* Axes along the entries of input i, and the outputs of their patterns, have as many positions as it has entries. */
static void entries_are(kernel_job *j, int i, int64_t nnz) {
    for (int a = 0; a < j->c.naxes; a++) {
        if (j->c.axis[a].kind != CLF_AXIS_ENTRY || j->c.access[j->c.axis[a].owner].input != i) continue;
        j->c.axis[a].n.n = nnz;
        for (int s = 0; s < j->c.nsink; s++)
            if (j->c.sink[s].kind == CLF_SINK_PATTERN && j->c.sink[s].keep >> a & 1u) set_out_size(j, j->c.sink[s].out[0], nnz);
    }
}

void job_sparse(kernel_job *j, int in, bool (*has)(int64_t i, int64_t k, void *at), void *at, job_data data) {
    int64_t rows = j->c.in[in].dim[0].n, cols = j->c.in[in].dim[1].n, nnz = 0;
    clf_dtype t = (clf_dtype)j->c.in[in].dtype;
    free_in(j, in);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < cols; k++) nnz += has(i, k, at);
    int64_t *ptr = clf_mem_data(&jobs.mem, (size_t)(rows + 1) * sizeof *ptr), e = 0;
    int32_t *idx = clf_mem_data(&jobs.mem, (size_t)nnz * sizeof *idx);
    void *val = clf_mem_data(&jobs.mem, (size_t)nnz * clf_dtype_bytes(t));
    ptr[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < cols; k++)
            if (has(i, k, at)) idx[e++] = (int32_t)k;
        ptr[i + 1] = e;
    }
    job_fill(j, val, t, (size_t)nnz, data);
    clf_csr *m = clf_mem_data(&jobs.mem, sizeof *m);
    *m = (clf_csr){.ptr = ptr, .idx = idx, .val = val, .rows = rows, .cols = cols, .nnz = nnz, .dtype = (uint8_t)t};
    j->in[in] = m;
    j->in_bytes[in] = sizeof *m;
    entries_are(j, in, nnz);
}

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

void job_memory(kernel_job *j, job_data data, double density) {
    const clf_cplan *c = &j->c;
    for (int k = 0; k < c->nout; k++) {
        j->out_bytes[k] = job_cells(&c->out[k]) * clf_dtype_bytes((clf_dtype)c->out[k].dtype);
        j->got[k] = memset(clf_mem_data(&jobs.mem, j->out_bytes[k]), 0x5a, j->out_bytes[k]);
        j->want[k] = memset(clf_mem_data(&jobs.mem, j->out_bytes[k]), 0xa5, j->out_bytes[k]);
    }
    for (int k = 0; k < c->nin; k++) {
        if (c->in[k].format == CLF_CSR) {
            pattern p = {density, j->seed + (uint64_t)k};
            job_sparse(j, k, by_chance, &p, data);
            continue;
        }
        j->in_bytes[k] = job_cells(&c->in[k]) * clf_dtype_bytes((clf_dtype)c->in[k].dtype);
        j->in[k] = clf_mem_data(&jobs.mem, j->in_bytes[k]);
        job_fill(j, j->in[k], (clf_dtype)c->in[k].dtype, job_cells(&c->in[k]), data);
    }
    for (int k = 0; k < c->nparam; k++) j->param[k] = clf_scalar_to(clf_scalar_f64(2 + k), (clf_dtype)c->param[k]);
}

void job_end(kernel_job *j) {
    for (int k = 0; k < j->c.nin; k++) free_in(j, k);
    for (int k = 0; k < j->c.nout; k++) {
        clf_mem_data_free(&jobs.mem, j->got[k], j->out_bytes[k]);
        clf_mem_data_free(&jobs.mem, j->want[k], j->out_bytes[k]);
    }
    clf_arena_release(&j->arena);
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

static void bind_memory(clf_arg *a, const void *p, size_t bytes) {
    a->ptr = p;
    a->bytes = bytes;
}

static void bind_in(const kernel_job *j, clf_arg_desc d, clf_arg *a) {
    if (j->c.in[d.index].format != CLF_CSR) {
        bind_memory(a, j->in[d.index], j->in_bytes[d.index]);
        return;
    }
    const clf_csr *m = j->in[d.index];
    if (d.kind == CLF_ARG_CSR_PTR)
        bind_memory(a, m->ptr, (size_t)(m->rows + 1) * sizeof *m->ptr);
    else if (d.kind == CLF_ARG_CSR_IDX)
        bind_memory(a, m->idx, (size_t)m->nnz * sizeof *m->idx);
    else
        bind_memory(a, m->val, (size_t)m->nnz * clf_dtype_bytes((clf_dtype)m->dtype));
}

/* An operand of a generic kernel that this cplan does not have. */
static bool is_missing(const clf_cplan *c, clf_arg_desc d) {
    return (d.kind == CLF_ARG_MEM_IN && d.index >= c->nin) || (d.kind == CLF_ARG_MEM_OUT && d.index >= c->nout) ||
           (d.kind == CLF_ARG_PARAM && d.index >= c->nparam);
}

static void bind_arg(const kernel_job *j, const clf_sched *s, clf_arg_desc d, void *scratch, int *counter, clf_arg *a) {
    memset(a, 0, sizeof *a);
    if (is_missing(&j->c, d)) return;
    clf_scalar p = d.kind == CLF_ARG_PARAM ? j->param[d.index] : clf_scalar_i64(0);
    switch (d.kind) {
    case CLF_ARG_CSR_PTR:
    case CLF_ARG_CSR_IDX:
    case CLF_ARG_MEM_IN: bind_in(j, d, a); break;
    case CLF_ARG_MEM_OUT: bind_memory(a, j->got[d.index], j->out_bytes[d.index]); break;
    case CLF_ARG_SCRATCH: bind_memory(a, scratch, s->scratch_bytes); break;
    case CLF_ARG_COUNTER: bind_memory(a, counter, sizeof *counter); break;
    case CLF_ARG_I64: a->u.i64 = s->arg[d.index], a->bytes = 8; break;
    default: clf_scalar_store(&a->u, 0, p), a->bytes = clf_dtype_bytes(p.dtype); break;
    }
}

typedef struct launching {
    const clf_skel *skel;
    clf_sched whole, merge;
    clf_source src, merge_src;
    clf_program *program, *merge_program;
    void *scratch;
    int counter;
} launching;

/* Last part first: any order is right. */
static clf_status launch_merge(kernel_job *j, launching *l, clf_err *err) {
    clf_arg args[MAX_ARGS];
    if (!l->merge_program) return CLF_OK;
    for (int k = 0; k < l->merge_src.nargs; k++) bind_arg(j, &l->merge, l->merge_src.args[k], l->scratch, &l->counter, &args[k]);
    return clf_launch(jobs.devs, 0, l->merge_program, args, l->merge_src.nargs, l->merge.global, l->merge.local, err);
}

static clf_status launch_parts(kernel_job *j, launching *l, int parts, clf_err *err) {
    clf_arg args[MAX_ARGS];
    int64_t n = (int64_t)(l->whole.global / l->whole.local);
    if (l->src.nargs > MAX_ARGS) return clf_fail(err, CLF_E_LIMIT, "%d kernel arguments", l->src.nargs);
    for (int q = parts - 1; q >= 0; q--) {
        clf_sched s;
        clf_grid g = {n * q / parts, n * (q + 1) / parts};
        if (g.lo == g.hi) continue;
        CLF_TRY(l->skel->sched(&j->c, &jobs.profile, g, &s, err));
        for (int k = 0; k < l->src.nargs; k++) bind_arg(j, &s, l->src.args[k], l->scratch, &l->counter, &args[k]);
        CLF_TRY(clf_launch(jobs.devs, 0, l->program, args, l->src.nargs, s.global, s.local, err));
    }
    CLF_TRY(launch_merge(j, l, err));
    return clf_dev_wait(jobs.devs, 0, err);
}

/* ---- many kernels at once ------------------------------------------------------------------------------------------------ */

static struct {
    clf_arena arena; /* of the sources */
    clf_join join;
    bool open;
} noted;

static void build_joined(clf_join *x) {
    clf_err err = {0};
    if (x->n > 1 && !x->text.failed) clf_programs_build(jobs.devs, 0, clf_str_c(&x->text), x->text.len, x->src, x->n, &err);
    clf_join_release(x);
}

void jobs_build(void) {
    if (!noted.open) return;
    build_joined(&noted.join);
    clf_arena_release(&noted.arena);
    noted.open = false;
}

static void note_text(kernel_job *j, const clf_skel *skel, const clf_sched *s) {
    clf_err err = {0};
    clf_source *src = clf_arena_new(&noted.arena, 1, sizeof *src);
    if (!src || skel->emit(&j->c, s, "", &noted.arena, src, &err) != CLF_OK || clf_program_known(jobs.devs, 0, src)) return;
    if (clf_join_add(&noted.join, src) != CLF_JOIN_FULL) return;
    build_joined(&noted.join);
    clf_join_add(&noted.join, src);
}

void job_note(kernel_job *j, const clf_skel *skel) {
    clf_sched s;
    clf_err err = {0};
    if (!jobs.device || jobs.options || !skel->fits(&j->c, &jobs.profile)) return;
    if (!noted.open) {
        clf_arena_init(&noted.arena, &jobs.mem);
        clf_join_init(&noted.join, &jobs.mem);
        noted.open = true;
    }
    if (skel->sched(&j->c, &jobs.profile, (clf_grid){0, INT64_MAX}, &s, &err) != CLF_OK) return;
    note_text(j, skel, &s);
    if (s.merge == CLF_MERGE_FOLLOWS && skel->merge(&j->c, &jobs.profile, &s, &err) == CLF_OK) note_text(j, skel, &s);
}

/* ---- one kernel ---------------------------------------------------------------------------------------------------------- */

static clf_status build_merge(kernel_job *j, launching *l, clf_err *err) {
    bool compiled;
    if (l->whole.merge != CLF_MERGE_FOLLOWS) return CLF_OK;
    CLF_TRY(l->skel->merge(&j->c, &jobs.profile, &l->merge, err));
    CLF_TRY(l->skel->emit(&j->c, &l->merge, "", &j->arena, &l->merge_src, err));
    return clf_program_get(jobs.devs, 0, &l->merge_src, &l->merge_program, &compiled, err);
}

clf_status job_kernel(kernel_job *j, const clf_skel *skel, int parts, clf_err *err) {
    launching l = {.skel = skel};
    bool compiled;
    if (!skel->fits(&j->c, &jobs.profile)) return clf_fail(err, CLF_E_UNSUPPORTED, "%s does not take it", skel->name);
    CLF_TRY(skel->sched(&j->c, &jobs.profile, (clf_grid){0, INT64_MAX}, &l.whole, err));
    CLF_TRY(skel->emit(&j->c, &l.whole, "", &j->arena, &l.src, err));
    if (jobs.options) l.src.options = jobs.options;
    CLF_TRY(clf_program_get(jobs.devs, 0, &l.src, &l.program, &compiled, err));
    CLF_TRY(build_merge(j, &l, err));
    l.scratch = clf_mem_data(&jobs.mem, l.whole.scratch_bytes);
    if (!l.scratch) return clf_fail(err, CLF_E_NOMEM, "no memory for %zu bytes of scratch", l.whole.scratch_bytes);
    memset(l.scratch, 0xff, l.whole.scratch_bytes);
    clf_status st = launch_parts(j, &l, parts, err);
    clf_mem_data_free(&jobs.mem, l.scratch, l.whole.scratch_bytes);
    if (st == CLF_OK && l.counter != 0) return clf_fail(err, CLF_E_INTERNAL, "%s leaves its counter at %d", skel->name, l.counter);
    return st;
}

clf_status job_reference(kernel_job *j, clf_err *err) {
    clf_bind bind = {.in = j->in, .param = j->param, .out = j->want};
    return clf_ref_run(&j->c, &bind, &jobs.mem, err);
}

static bool same(clf_scalar a, clf_scalar b, double ulp) {
    if (clf_scalar_same(a, b)) return true;
    if (!clf_dtype_float(a.dtype)) return false;
    if (isnan(a.u.f) && isnan(b.u.f)) return true;
    return ulp > 0 && fabs(a.u.f - b.u.f) <= ulp * fabs(b.u.f) * (a.dtype == CLF_F32 ? 0x1p-23 : 0x1p-52);
}

size_t job_wrong(const kernel_job *j, int o, double ulp) {
    clf_dtype t = (clf_dtype)j->c.out[o].dtype;
    size_t bad = 0;
    for (size_t k = 0; k < job_cells(&j->c.out[o]); k++) {
        clf_scalar a = clf_scalar_load(j->got[o], k, t), b = clf_scalar_load(j->want[o], k, t);
        if (!same(a, b, ulp) && bad++ == 0)
            fprintf(stderr, "  output %d cell %zu: %.17g, reference %.17g\n", o, k, clf_scalar_as_f64(a), clf_scalar_as_f64(b));
    }
    return bad;
}
