/* SPDX-License-Identifier: Apache-2.0
 * Running the references in OpenCL C: a case is one or two kernels, whose arguments are letters of its operands. */
#include "perf/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/str.h"
#include "kernels-cl/embedded.h"

extern const clf_embedded bench_texts[]; /* perf/hand/?.cl, generated */

enum { GROUP = 256, GROUPS_A_UNIT = 8 };

struct bench_gpu *gpu_open(const char *text, char *why, size_t why_n) {
    struct bench_gpu *g = calloc(1, sizeof *g);
    clf_err err = {.code = CLF_OK};
    if (!g) return snprintf(why, why_n, "out of memory"), NULL;
    clf_mem_init(&g->mem, NULL, NULL);
    const clf_dev_opts opts = {.mem = &g->mem, .cache_dir = ""};
    if (clf_devs_open(&g->devs, &opts, &err) == CLF_OK) {
        g->dev = clf_devs_find(g->devs, text);
        if (g->dev >= 0 && clf_devs_info(g->devs, g->dev)->fp64) return g;
        snprintf(why, why_n, g->dev < 0 ? "there is no OpenCL device '%s'" : "'%s' has no doubles", text);
    } else {
        snprintf(why, why_n, "%.150s", err.text);
    }
    gpu_close(g);
    return NULL;
}

void gpu_close(struct bench_gpu *g) {
    if (!g) return;
    clf_devs_close(g->devs);
    free(g);
}

/* ---- operands ---- */

static void number(gpu_ref *r, char letter, int64_t n) {
    r->operand[r->noperand++] = (gpu_operand){.letter = letter, .kind = CLF_ARG_I64, .arg = {.bytes = 8, .u.i64 = n}};
}

static void real(gpu_ref *r, char letter, double x) {
    r->operand[r->noperand++] = (gpu_operand){.letter = letter, .kind = CLF_ARG_PARAM, .arg = {.bytes = 8, .u.f64 = x}};
}

/* at NULL: memory of our own, for what groups leave. */
static void memory(gpu_ref *r, char letter, clf_arg_kind kind, const void *at, size_t bytes) {
    struct bench_gpu *g = r->g;
    clf_buf *b = at ? clf_buf_borrow(&g->mem, ++g->ids, (void *)at, bytes, NULL, NULL) : clf_buf_new(&g->mem, ++g->ids, bytes);
    if (!b) snprintf(r->why, sizeof r->why, "out of memory");
    r->operand[r->noperand++] =
        (gpu_operand){.letter = letter, .kind = (uint8_t)kind, .arg = {.ptr = b ? b->host : NULL, .bytes = bytes, .buf = b}};
}

static const gpu_operand *operand_of(const gpu_ref *r, char letter) {
    const gpu_operand *o = r->operand;
    while (o->letter != letter) o++;
    return o;
}

/* ---- kernels ---- */

static clf_status build(gpu_ref *r, const clf_source *src, clf_program **out, clf_err *err) {
    bool compiled;
    return clf_program_get(r->g->devs, r->g->dev, src, out, &compiled, err);
}

/* A kernel of one of the texts, `head` in front of it. */
static void step(gpu_ref *r, int text, const char *head, const char *kernel, const char *letters, size_t groups) {
    clf_arg_desc desc[GPU_OPERANDS];
    clf_err err = {.code = CLF_OK};
    clf_str all;
    gpu_step *s = &r->step[r->nstep++];
    *s = (gpu_step){.letters = letters, .groups = groups};
    for (int k = 0; letters[k]; k++) desc[k] = (clf_arg_desc){operand_of(r, letters[k])->kind, CLF_F64, (int16_t)k};
    clf_str_init(&all, &r->g->mem);
    clf_str_fmt(&all, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n%s%s", head, (const char *)bench_texts[text].bytes);
    clf_source src = {.text = clf_str_c(&all),
                      .text_len = all.len,
                      .entry = kernel,
                      .options = "",
                      .args = desc,
                      .nargs = (int)strlen(letters),
                      .hash = clf_hash_bytes(clf_str_c(&all), all.len)};
    if (!r->why[0] && (all.failed || build(r, &src, &s->program, &err) != CLF_OK))
        snprintf(r->why, sizeof r->why, "%s: %.130s", kernel, all.failed ? "out of memory" : err.text);
    clf_str_release(&all);
}

static clf_status launch(gpu_ref *r, const gpu_step *s, clf_err *err) {
    clf_arg arg[GPU_OPERANDS];
    int n = 0;
    for (; s->letters[n]; n++) arg[n] = operand_of(r, s->letters[n])->arg;
    return clf_launch(r->g->devs, r->g->dev, s->program, arg, n, s->groups * GROUP, GROUP, err);
}

static bool check(gpu_ref *r, clf_status st, const clf_err *err) {
    if (st != CLF_OK && !r->why[0]) snprintf(r->why, sizeof r->why, "%.150s", err->text);
    return st == CLF_OK;
}

bool gpu_call(void *ref) {
    gpu_ref *r = ref;
    clf_err err = {.code = CLF_OK};
    for (int k = 0; k < r->nstep; k++)
        if (!check(r, launch(r, &r->step[k], &err), &err)) return false;
    return check(r, clf_dev_wait(r->g->devs, r->g->dev, &err), &err);
}

/* What is there already would do for results. */
static void spoil(gpu_ref *r) {
    for (int k = 0; k < r->noperand; k++)
        if (r->operand[k].kind == CLF_ARG_MEM_OUT) memset(r->operand[k].arg.buf->host, 0xff, r->operand[k].arg.bytes);
}

bool gpu_results(gpu_ref *r) {
    clf_err err = {.code = CLF_OK};
    spoil(r);
    if (!gpu_call(r)) return false;
    for (int k = 0; k < r->noperand; k++)
        if (r->operand[k].kind == CLF_ARG_MEM_OUT && !check(r, clf_mirror_home(r->g->devs, r->operand[k].arg.buf, false, &err), &err))
            return false;
    return check(r, clf_dev_wait(r->g->devs, r->g->dev, &err), &err);
}

void gpu_release(gpu_ref *r) {
    for (int k = 0; k < r->noperand; k++)
        if (r->operand[k].arg.buf) clf_buf_unref(r->operand[k].arg.buf);
    *r = (gpu_ref){0};
}

/* ---- cases ---- */

enum { TEXT_CELLS, TEXT_ML };

static size_t groups_of(const struct bench_gpu *g, int64_t work) {
    size_t most = (size_t)clf_devs_info(g->devs, g->dev)->compute_units * GROUPS_A_UNIT, few = (size_t)(work / GROUP + 1);
    return few < most ? few : most;
}

static const struct {
    const char *name, *letters;
    int sums;
} cells[] = {{"read", "xpnc", 1},   {"sum_xyz", "xyzpnc", 1}, {"three_aggs", "xyzpnc", 3},
             {"tap", "xyzopnc", 1}, {"no_agg", "xyzonc", 0},  {NULL, NULL, 0}};

bool gpu_cells(gpu_ref *out, struct bench_gpu *g, const char *name, clf_dtype t, hand_args *a) {
    static const char *const head[2] = {
        "#define T float\n#define V float4\n#define TOTAL(v) (((double)(v).x + (v).y) + ((double)(v).z + (v).w))\n",
        "#define T double\n#define V double2\n#define TOTAL(v) ((v).x + (v).y)\n"};
    int k = 0;
    *out = (gpu_ref){.g = g};
    while (cells[k].name && strcmp(cells[k].name, name)) k++;
    if (!cells[k].name) return false;
    int64_t n = a->rows * a->cols, vectors = n * (int64_t)clf_dtype_bytes(t) / 16;
    size_t bytes = (size_t)n * clf_dtype_bytes(t), groups = groups_of(g, vectors / 4);
    const void *in[] = {a->x, a->y, a->z};
    for (int i = 0; i < 3; i++)
        if (strchr(cells[k].letters, "xyz"[i])) memory(out, "xyz"[i], CLF_ARG_MEM_IN, in[i], bytes);
    if (strchr(cells[k].letters, 'o')) memory(out, 'o', CLF_ARG_MEM_OUT, a->o[0], bytes);
    memory(out, 'p', CLF_ARG_SCRATCH, NULL, 3 * groups * sizeof(double));
    memory(out, 'r', CLF_ARG_MEM_OUT, a->r, sizeof a->r);
    number(out, 'n', vectors);
    number(out, 'c', n);
    number(out, 'g', (int64_t)groups);
    number(out, 's', cells[k].sums);
    step(out, TEXT_CELLS, head[t == CLF_F64], name, cells[k].letters, groups);
    if (cells[k].sums) step(out, TEXT_CELLS, head[t == CLF_F64], "sums", "prgs", 1);
    return !out->why[0];
}

/* Neighbours that take a row of m columns: a power of two. */
static int64_t team_of(int64_t m) {
    int64_t team = 8;
    while (team < m && team < GROUP) team *= 2;
    return team;
}

static void chain(gpu_ref *r, const hand_ml *a, double *result) {
    char head[64];
    int64_t team = team_of(a->m);
    size_t groups = groups_of(r->g, a->n * team), columns = (size_t)(a->m + 7) / 8;
    snprintf(head, sizeof head, "#define TEAM %d\n#define PER %d\n", (int)team, (int)((a->m + team - 1) / team));
    memory(r, 'x', CLF_ARG_MEM_IN, a->x, (size_t)(a->n * a->m) * sizeof(double));
    memory(r, 'v', CLF_ARG_MEM_IN, a->v, (size_t)a->m * sizeof(double));
    memory(r, 'w', CLF_ARG_MEM_IN, a->w, (size_t)a->n * sizeof(double));
    memory(r, 'p', CLF_ARG_SCRATCH, NULL, groups * (size_t)a->m * sizeof(double));
    memory(r, 'r', CLF_ARG_MEM_OUT, result, (size_t)a->m * sizeof(double));
    number(r, 'n', a->n);
    number(r, 'm', a->m);
    number(r, 'g', (int64_t)groups);
    step(r, TEXT_ML, head, "mvchain", "xvwpnm", groups);
    step(r, TEXT_ML, head, "columns", "prgm", columns);
}

static void entries(gpu_ref *r, const hand_csr *s) {
    memory(r, 'q', CLF_ARG_MEM_IN, s->ptr, (size_t)(s->rows + 1) * sizeof *s->ptr);
    memory(r, 'i', CLF_ARG_MEM_IN, s->idx, (size_t)s->nnz * sizeof *s->idx);
    memory(r, 'e', CLF_ARG_MEM_IN, s->val, (size_t)s->nnz * sizeof *s->val);
    number(r, 'n', s->rows);
}

static void spmv(gpu_ref *r, const hand_ml *a, double *result) {
    int64_t mean = a->n ? a->s[0].nnz / a->n : 0, team = 4;
    while (2 * team <= mean && team < 32) team *= 2;
    entries(r, &a->s[0]);
    memory(r, 'v', CLF_ARG_MEM_IN, a->v, (size_t)a->m * sizeof(double));
    memory(r, 'r', CLF_ARG_MEM_OUT, result, (size_t)a->n * sizeof(double));
    number(r, 't', team);
    step(r, TEXT_ML, "", "spmv", "qievrnt", groups_of(r->g, a->n * team));
}

static void outer_loss(gpu_ref *r, const hand_ml *a, double *result) {
    size_t groups = groups_of(r->g, a->s[0].nnz);
    entries(r, &a->s[0]);
    memory(r, 'u', CLF_ARG_MEM_IN, a->u, (size_t)(a->n * a->k) * sizeof(double));
    memory(r, 'v', CLF_ARG_MEM_IN, a->v, (size_t)(a->m * a->k) * sizeof(double));
    memory(r, 'p', CLF_ARG_SCRATCH, NULL, groups * sizeof(double));
    memory(r, 'r', CLF_ARG_MEM_OUT, result, sizeof *result);
    number(r, 'k', a->k);
    real(r, 'z', a->eps);
    number(r, 'g', (int64_t)groups);
    number(r, 's', 1);
    step(r, TEXT_ML, "", "outer_loss", "qieuvpnkz", groups);
    step(r, TEXT_CELLS, "#define T double\n#define V double2\n#define TOTAL(v) ((v).x + (v).y)\n", "sums", "prgs", 1);
}

bool gpu_ml(gpu_ref *out, struct bench_gpu *g, const ml_case *k, const hand_ml *a, double *result) {
    static const struct {
        const char *name;
        void (*make)(gpu_ref *, const hand_ml *, double *);
    } made[] = {{"mvchain_", chain}, {"spmv", spmv}, {"outer_loss_", outer_loss}};
    *out = (gpu_ref){.g = g};
    for (size_t q = 0; q < sizeof made / sizeof *made; q++)
        if (!strncmp(k->name, made[q].name, strlen(made[q].name))) {
            made[q].make(out, a, result);
            return !out->why[0];
        }
    return false;
}
