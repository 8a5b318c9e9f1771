/* SPDX-License-Identifier: Apache-2.0
 * A case of the suite ml as a function of the library: leaves over the generated arrays in place, parameters of their shapes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "perf/ml.h"

typedef struct shape {
    int64_t rows, cols;
    const double *cells;
} shape;

static shape shape_of(const hand_ml *a, char input) {
    switch (input) {
    case 'U': return (shape){a->n, a->k, a->u};
    case 'V': return (shape){a->m, a->k, a->v};
    case 'W': return (shape){a->n, a->k, a->w};
    default: return (shape){a->n, a->m, a->x};
    }
}

static void bind_dense(clf_ctx *c, const hand_ml *a, char input, clf_mat **param, clf_mat **arg) {
    shape s = shape_of(a, input);
    *param = clf_param(c, CLF_F64, s.rows, s.cols, false);
    *arg = clf_borrow(c, CLF_F64, s.rows, s.cols, s.cells, NULL, NULL);
}

static void bind_sparse(clf_ctx *c, const hand_csr *s, clf_mat **param, clf_mat **arg) {
    const clf_sparse_options in_place = {.struct_size = sizeof in_place, .borrow = true};
    *param = clf_param_sparse(c, CLF_F64, s->rows, s->cols, s->nnz);
    *arg = clf_sparse_csr(c, CLF_F64, s->rows, s->cols, s->nnz, s->ptr, s->idx, s->val, &in_place);
}

/* The first call, by a profile that says of tiles that they cost next to nothing. It is read when that call is planned. */
bool ml_subject_tile(bench_subject *s, char *why, size_t why_n) {
    char path[] = P_tmpdir "/clfuse-bench-XXXXXX";
    const int file = mkstemp(path);
    FILE *f = file < 0 ? NULL : fdopen(file, "w");
    bool good = f && fputs("tile_fma_per_s 1e15 1e15\n", f) >= 0;
    if (f) good = fclose(f) == 0 && good && clf_set(s->ctx, "CLF_PROFILE_FILE", path) == CLF_OK && bench_subject_call(s);
    if (f) unlink(path);
    const clf_stats after = bench_stats(s->ctx);
    if (good && after.launches_library == 0 && after.launches_chunk == 1) return true;
    snprintf(why, why_n, "the product is not one loop in tiles: %.150s", clf_last_error(s->ctx));
    return false;
}

bool ml_subject_open(bench_subject *s, const bench_run *r, const ml_case *k, const ml_data *d, const char *device, const char *fuse,
                     size_t limit, char *why, size_t why_n) {
    static const char *const names[] = {"U", "V", "W", "X", "Y", "Z"};
    bench_program p = {.text = k->program, .out = {"R", "G", "L"}, .nin = strlen(k->inputs), .nout = k->result == ML_FACTOR ? 3 : 1};
    clf_mat *param[BENCH_INS], *arg[BENCH_INS];
    char bytes[32];
    clf_ctx *c = bench_ctx(r->opt, device, fuse, why, why_n);
    if (!c) return false;
    for (size_t i = 0; i < p.nin; i++) {
        char input = k->inputs[i];
        p.in[i] = names[input - 'U'];
        if (input >= 'X' && k->matrix != ML_DENSE)
            bind_sparse(c, &d->a.s[input - 'X'], &param[i], &arg[i]);
        else
            bind_dense(c, &d->a, input, &param[i], &arg[i]);
    }
    snprintf(bytes, sizeof bytes, "%zu", limit);
    bool ok = bench_subject_open(s, c, &p, param, arg, why, why_n);
    s->device = device;
    ok = ok && clf_set(c, "CLF_MEM_LIMIT", bytes) == CLF_OK;
    if (ok) return true;
    if (s->fn) snprintf(why, why_n, "%s", clf_last_error(c));
    return false;
}

void ml_subject_check(bench_row *row, bench_subject *s, const ml_case *k, const ml_data *d, const char *who) {
    double rel = NAN, *got = d->out;
    int64_t outs = ml_data_outs(&d->a, k->result), at = 0;
    for (size_t i = 0; i < s->program.nout; i++) { /* one behind the other */
        const void *cells;
        int64_t rows = 0, cols = 0;
        clf_dtype t = CLF_F64;
        if (clf_data(s->out[i], &cells) != CLF_OK || clf_info(s->out[i], &rows, &cols, &t, NULL) != CLF_OK)
            return bench_row_fail(row, "%s: %.130s", who, clf_last_error(s->ctx));
        if (t != CLF_F64 || at + rows * cols > outs) return bench_row_fail(row, "%s: the result has a wrong shape", who);
        memcpy(got + at, cells, (size_t)(rows * cols) * sizeof *got);
        at += rows * cols;
    }
    if (at != outs) return bench_row_fail(row, "%s: the result has a wrong shape", who);
    double share = ml_check(&d->a, k->result, got, d->want, d->scale, &rel);
    if (strcmp(who, "ours") == 0) row->max_rel_err = rel;
    if (!(share <= 1)) bench_row_fail(row, "%s: error %.2g is %.2g times the bound", who, rel, share);
}
