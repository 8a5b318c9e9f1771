/* SPDX-License-Identifier: Apache-2.0
 * Fuzz target: the text form of cplans. Seeds also: tests/golden/cplan.
 * Promised: a refused text has a message; what is accepted prints to a text that parses to the same cplan; the reference executor runs
 * every accepted cplan over dense and CSR operands, or refuses it with a message; where the host executors (tiles, rows) take it too,
 * and no elementary function is involved, they give the same bits; no byte stays allocated. */
#include "formats/fmt.h"
#include "formats/sparse.h"
#include "host/run/rows.h"
#include "host/run/tile.h"
#include "kernels-cl/ref.h"
#include "planner/cplan.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_CELLS = 1024, MOST_STEPS = 1024, MOST_VALUES = 64, MOST_OPERANDS = 16 };

static void round_trip(const clf_cplan *c, clf_mem *mem) {
    clf_str s, again;
    clf_arena arena;
    clf_cplan c2;
    clf_err err = {.code = CLF_OK};
    clf_arena_init(&arena, mem);
    clf_str_init(&s, mem);
    clf_str_init(&again, mem);
    clf_cplan_print(c, &s);
    FUZZ_MUST(clf_cplan_parse(&c2, &arena, clf_str_c(&s), s.len, &err) == CLF_OK);
    clf_cplan_print(&c2, &again);
    FUZZ_MUST(strcmp(clf_str_c(&s), clf_str_c(&again)) == 0);
    clf_hash h = clf_cplan_hash(c), h2 = clf_cplan_hash(&c2);
    FUZZ_MUST(h.lo == h2.lo && h.hi == h2.hi);
    clf_str_release(&again);
    clf_str_release(&s);
    clf_arena_release(&arena);
}

/* Cells of an operand, also of a CSR one; more than MOST_CELLS when it is too large, of another format or negative. */
static int64_t cells_of(const clf_cinput *x) {
    int64_t n = 1;
    if (x->format != CLF_DENSE && (x->format != CLF_CSR || x->rank != 2)) return MOST_CELLS + 1;
    for (int d = 0; d < x->rank; d++) {
        if (x->dim[d].n < 0 || x->dim[d].n > MOST_CELLS) return MOST_CELLS + 1;
        n *= x->dim[d].n;
        if (n > MOST_CELLS) return MOST_CELLS + 1;
    }
    return n;
}

/* ---- operands ---- */

typedef struct operands {
    void *in[MOST_OPERANDS], *out[MOST_OPERANDS], *want[MOST_OPERANDS];
    clf_csr csr[MOST_OPERANDS];
    clf_scalar param[MOST_OPERANDS];
} operands;

static size_t bytes_of(const clf_cinput *x) { return (size_t)cells_of(x) * clf_dtype_bytes((clf_dtype)x->dtype); }

/* Blocks of the exact size, so that the sanitizer sees a step beyond an end. */
static void *block(size_t bytes) {
    void *p = calloc(bytes ? bytes : 1, 1);
    FUZZ_MUST(p);
    return p;
}

static void fill(void *p, int64_t n, clf_dtype t) {
    for (int64_t k = 0; k < n; k++) clf_scalar_store(p, (size_t)k, clf_scalar_to(clf_scalar_i64(k % 7 - 2), t));
}

/* A fifth of the cells, all of one row and none of every fourth; some entries are zeros. */
static bool stored(int64_t i, int64_t j, int64_t rows) { return i == rows / 2 || (i % 4 != 3 && (i * 5 + j * 3) % 5 == 0); }

static clf_csr make_csr(const clf_cinput *x) {
    int64_t rows = x->dim[0].n, cols = x->dim[1].n, nnz = 0, e = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) nnz += stored(i, j, rows);
    int64_t *ptr = block((size_t)(rows + 1) * sizeof *ptr);
    int32_t *idx = block((size_t)nnz * sizeof *idx);
    void *val = block((size_t)nnz * clf_dtype_bytes((clf_dtype)x->dtype));
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++)
            if (stored(i, j, rows)) idx[e++] = (int32_t)j;
        ptr[i + 1] = e;
    }
    fill(val, nnz, (clf_dtype)x->dtype);
    return (clf_csr){.ptr = ptr, .idx = idx, .val = val, .rows = rows, .cols = cols, .nnz = nnz, .dtype = x->dtype};
}

static void make_inputs(operands *o, const clf_cplan *c) {
    for (int i = 0; i < c->nin; i++) {
        if (c->in[i].format == CLF_CSR) {
            o->csr[i] = make_csr(&c->in[i]);
            o->in[i] = &o->csr[i];
            continue;
        }
        o->in[i] = block(bytes_of(&c->in[i]));
        fill(o->in[i], cells_of(&c->in[i]), (clf_dtype)c->in[i].dtype);
    }
    for (int i = 0; i < c->nparam; i++) o->param[i] = clf_scalar_to(clf_scalar_i64(3), (clf_dtype)c->param[i]);
}

static void make_outputs(operands *o, const clf_cplan *c) {
    for (int i = 0; i < c->nout; i++) o->out[i] = block(bytes_of(&c->out[i])), o->want[i] = block(bytes_of(&c->out[i]));
}

static void drop(operands *o, const clf_cplan *c) {
    for (int i = 0; i < c->nin; i++) {
        free((void *)(uintptr_t)o->csr[i].ptr);
        free((void *)(uintptr_t)o->csr[i].idx);
        free((void *)(uintptr_t)o->csr[i].val);
        if (o->in[i] != &o->csr[i]) free(o->in[i]);
    }
    for (int i = 0; i < c->nout; i++) free(o->out[i]), free(o->want[i]);
}

/* ---- sizes ---- */

static bool operands_small(const clf_cplan *c) {
    if (c->nin > MOST_OPERANDS || c->nout > MOST_OPERANDS || c->nparam > MOST_OPERANDS || c->nvalue > MOST_VALUES) return false;
    for (int i = 0; i < c->nin; i++)
        if (cells_of(&c->in[i]) > MOST_CELLS) return false;
    return true;
}

/* Axes along entries have as many positions as there are, and so have the outputs of patterns. */
static void bind_entries(clf_cplan *c, const operands *o) {
    for (int a = 0; a < c->naxes; a++) {
        int i = c->axis[a].kind == CLF_AXIS_ENTRY ? c->access[c->axis[a].owner].input : -1;
        if (i < 0 || c->in[i].format != CLF_CSR) continue;
        c->axis[a].n.n = o->csr[i].nnz;
        for (int s = 0; s < c->nsink; s++)
            if (c->sink[s].kind == CLF_SINK_PATTERN && c->sink[s].keep >> a & 1u) c->out[c->sink[s].out[0]].dim[0].n = o->csr[i].nnz;
    }
}

/* Steps of all loops within each other, an axis along entries counting as the longest row on average. */
static bool work_small(const clf_cplan *c) {
    int64_t steps = 1;
    for (int i = 0; i < c->nout; i++)
        if (cells_of(&c->out[i]) > MOST_CELLS) return false;
    for (int a = 0; a < c->naxes && steps <= MOST_STEPS; a++) {
        int64_t n = c->axis[a].n.n, parent = c->axis[a].parent >= 0 ? c->axis[c->axis[a].parent].n.n : 1;
        if (n < 0 || n > MOST_CELLS) return false;
        if (c->axis[a].kind == CLF_AXIS_ENTRY) n = n / (parent > 1 ? parent : 1) + 1;
        steps *= n > 1 ? n : 1;
    }
    return steps <= MOST_STEPS;
}

/* ---- running ---- */

static bool same_output(const clf_coutput *x, const void *a, const void *b) {
    for (int64_t k = 0; k < cells_of(x); k++)
        if (!clf_scalar_same(clf_scalar_load(a, (size_t)k, (clf_dtype)x->dtype), clf_scalar_load(b, (size_t)k, (clf_dtype)x->dtype)))
            return false;
    return true;
}

static bool elementary(const clf_cplan *c) {
    for (int v = 0; v < c->nvalue; v++)
        if (clf_op_is_cell(c->value[v].op) && clf_ops[c->value[v].op].flags & F_ELEM) return true;
    return false;
}

static void check_outputs(const clf_cplan *c, const operands *o) {
    for (int i = 0; i < c->nout; i++) FUZZ_MUST(elementary(c) || same_output(&c->out[i], o->out[i], o->want[i]));
}

static void run_tiles(const clf_cplan *c, const clf_bind *b, const operands *o, clf_mem *mem) {
    clf_err err = {.code = CLF_OK};
    clf_tile *t = NULL;
    FUZZ_MUST(clf_tile_new(&t, c, CLF_ISA_AUTO, mem, &err) == CLF_OK);
    FUZZ_MUST(clf_tile_run(t, b, NULL, &err) == CLF_OK);
    check_outputs(c, o);
    clf_tile_free(t);
}

/* The row executor takes matrices of as many rows as the plan has, all with as many columns; the reference also looks at a part. */
static bool whole_matrices(const clf_cplan *c) {
    int64_t cols = -1;
    for (int i = 0; i < c->nin; i++) {
        if (c->in[i].format != CLF_CSR) continue;
        if (c->in[i].dim[0].n != c->axis[0].n.n || (cols >= 0 && c->in[i].dim[1].n != cols)) return false;
        cols = c->in[i].dim[1].n;
    }
    return true;
}

static void run_rows(const clf_cplan *c, const clf_bind *b, const operands *o, clf_mem *mem) {
    clf_err err = {.code = CLF_OK};
    struct clf_rows *r = NULL;
    for (int i = 0; i < c->nout; i++) memset(o->out[i], 0, bytes_of(&c->out[i]));
    FUZZ_MUST(clf_rows_new(&r, c, CLF_ISA_AUTO, mem, &err) == CLF_OK);
    clf_status st = clf_rows_run(r, b, NULL, &err);
    FUZZ_MUST(st == (whole_matrices(c) ? CLF_OK : CLF_E_SHAPE) && err.code == st);
    if (st == CLF_OK) check_outputs(c, o);
    clf_rows_free(r);
}

static void run(clf_cplan *c, clf_mem *mem) {
    operands o = {{0}, {0}, {0}, {{0}}, {{0}}};
    clf_err err = {.code = CLF_OK};
    make_inputs(&o, c);
    bind_entries(c, &o);
    bool small = work_small(c);
    if (small) make_outputs(&o, c);
    clf_bind want = {.in = o.in, .param = o.param, .out = o.want}, got = {.in = o.in, .param = o.param, .out = o.out};
    clf_status st = small ? clf_ref_run(c, &want, mem, &err) : CLF_E_LIMIT;
    FUZZ_MUST(st == CLF_OK || !small || (err.code == st && err.text[0]));
    if (st == CLF_OK && clf_tile_fits(c)) run_tiles(c, &got, &o, mem);
    if (st == CLF_OK && clf_rows_fits(c)) run_rows(c, &got, &o, mem);
    drop(&o, c);
}

clf_status fuzz_one(const uint8_t *p, size_t n) {
    clf_mem mem;
    clf_arena arena;
    clf_cplan c;
    clf_err err = {.code = CLF_OK};
    clf_mem_init(&mem, NULL, NULL);
    clf_arena_init(&arena, &mem);
    clf_status st = clf_cplan_parse(&c, &arena, (const char *)p, n, &err);
    FUZZ_MUST(st == CLF_OK || (err.code == st && err.text[0]));
    if (st == CLF_OK) {
        FUZZ_MUST(clf_cplan_check(&c, &err) == CLF_OK);
        round_trip(&c, &mem);
        if (operands_small(&c)) run(&c, &mem);
    }
    clf_arena_release(&arena);
    FUZZ_MUST(atomic_load(&mem.now_bytes) == 0);
    return st;
}
