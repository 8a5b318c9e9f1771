/* SPDX-License-Identifier: Apache-2.0
 * Fuzz target: the text form of cplans. Seeds also: tests/golden/cplan.
 * Promised: a refused text has a message; what is accepted prints to a text that parses to the same cplan; the reference executor runs
 * every accepted cplan over dense operands, or refuses it with a message; where the host executor takes it too, and no elementary
 * function is involved, both give the same bits; no byte stays allocated. */
#include "host/run/tile.h"
#include "kernels-cl/ref.h"
#include "planner/cplan.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_CELLS = 1024, MOST_STEPS = 512, MOST_VALUES = 64, MOST_OPERANDS = 16 };

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

/* Cells of an operand; more than MOST_CELLS when it is too large, sparse or negative. */
static int64_t cells_of(const clf_cinput *x) {
    int64_t n = 1;
    if (x->format != 0) return MOST_CELLS + 1;
    for (int d = 0; d < x->rank; d++) {
        if (x->dim[d].n < 0 || x->dim[d].n > MOST_CELLS) return MOST_CELLS + 1;
        n *= x->dim[d].n;
        if (n > MOST_CELLS) return MOST_CELLS + 1;
    }
    return n;
}

static bool is_small(const clf_cplan *c) {
    int64_t steps = 1;
    if (c->nin > MOST_OPERANDS || c->nout > MOST_OPERANDS || c->nparam > MOST_OPERANDS || c->nvalue > MOST_VALUES) return false;
    for (int a = 0; a < c->naxes && steps <= MOST_STEPS; a++) {
        if (c->axis[a].n.n < 0 || c->axis[a].n.n > MOST_STEPS) return false;
        steps *= c->axis[a].n.n > 1 ? c->axis[a].n.n : 1;
    }
    for (int i = 0; i < c->nin; i++)
        if (cells_of(&c->in[i]) > MOST_CELLS) return false;
    for (int i = 0; i < c->nout; i++)
        if (cells_of(&c->out[i]) > MOST_CELLS) return false;
    return steps <= MOST_STEPS;
}

typedef struct operands {
    void *in[MOST_OPERANDS], *out[MOST_OPERANDS], *want[MOST_OPERANDS];
    clf_scalar param[MOST_OPERANDS];
} operands;

static size_t bytes_of(const clf_cinput *x) { return (size_t)cells_of(x) * clf_dtype_bytes((clf_dtype)x->dtype); }

/* Blocks of the exact size, so that the sanitizer sees a step beyond an end. */
static void *block(const clf_cinput *x, int fill) {
    void *p = malloc(bytes_of(x) ? bytes_of(x) : 1);
    return memset(p, fill, bytes_of(x));
}

static void make(operands *o, const clf_cplan *c) {
    for (int i = 0; i < c->nin; i++) {
        o->in[i] = block(&c->in[i], 0);
        for (int64_t k = 0; k < cells_of(&c->in[i]); k++)
            clf_scalar_store(o->in[i], (size_t)k, clf_scalar_to(clf_scalar_i64(k % 7 - 2), (clf_dtype)c->in[i].dtype));
    }
    for (int i = 0; i < c->nout; i++) o->out[i] = block(&c->out[i], 0), o->want[i] = block(&c->out[i], 0);
    for (int i = 0; i < c->nparam; i++) o->param[i] = clf_scalar_to(clf_scalar_i64(3), (clf_dtype)c->param[i]);
}

static void drop(operands *o, const clf_cplan *c) {
    for (int i = 0; i < c->nin; i++) free(o->in[i]);
    for (int i = 0; i < c->nout; i++) free(o->out[i]), free(o->want[i]);
}

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

static void run(const clf_cplan *c, clf_mem *mem) {
    operands o = {{0}, {0}, {0}, {{0}}};
    clf_err err = {.code = CLF_OK};
    clf_tile *t = NULL;
    make(&o, c);
    clf_bind want = {.in = o.in, .param = o.param, .out = o.want}, got = {.in = o.in, .param = o.param, .out = o.out};
    clf_status st = clf_ref_run(c, &want, mem, &err);
    FUZZ_MUST(st == CLF_OK || (err.code == st && err.text[0]));
    if (st == CLF_OK && clf_tile_fits(c)) {
        FUZZ_MUST(clf_tile_new(&t, c, CLF_ISA_AUTO, mem, &err) == CLF_OK);
        FUZZ_MUST(clf_tile_run(t, &got, NULL, &err) == CLF_OK);
        for (int i = 0; i < c->nout; i++) FUZZ_MUST(elementary(c) || same_output(&c->out[i], o.out[i], o.want[i]));
    }
    clf_tile_free(t);
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
        if (is_small(&c)) run(&c, &mem);
    }
    clf_arena_release(&arena);
    FUZZ_MUST(atomic_load(&mem.now_bytes) == 0);
    return st;
}
