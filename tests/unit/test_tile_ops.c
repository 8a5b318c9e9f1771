/* SPDX-License-Identifier: Apache-2.0
 * Every operator and cast of the host executor against a direct evaluation of its text, for every shape of a tile. */
#include "host/run/tile_prog.h"
#include "tests/unit/tile_testing.h"

/* ---- operators ------------------------------------------------------------------------------------------------------------------------ */

typedef void (*scalar_fn)(const void *a, const void *b, const void *c, void *r);
#define SCALAR_FN(ID, text) \
    static void ELEM_PASTE4(one_, ID, _, ELEM_T)(const void *pa, const void *pb, const void *pc, void *r) { \
        E_T a = *(const E_T *)pa, b = *(const E_T *)pb, c = *(const E_T *)pc; \
        (void)a, (void)b, (void)c; \
        *(E_T *)r = text; \
    }
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) SCALAR_FN(ID, (text))
#define ELEM_T f32
#include "core/ops.def"
#undef ELEM_T
#define ELEM_T f64
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) SCALAR_FN(ID, (text))
#include "core/ops.def"
#undef ELEM_T
#define ELEM_T i32
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) SCALAR_FN(ID, (text))
#include "core/ops.def"
#undef ELEM_T
#define ELEM_T i64
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) SCALAR_FN(ID, (text))
#include "core/ops.def"
#undef ELEM_T
#define ELEM_T u8
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) SCALAR_FN(ID, (text))
#include "core/ops.def"
#undef ELEM_T
static const scalar_fn one[CLF_NOPS][CLF_NDTYPES] = {
#define CLF_OP(ID, ...) {one_##ID##_f32, one_##ID##_f64, one_##ID##_i32, one_##ID##_i64, one_##ID##_u8},
#include "core/ops.def"
};

static bool close_to(clf_scalar a, clf_scalar b) {
    double tol = a.dtype == CLF_F32 ? 2e-6 : 1e-14;
    if (same_bits(a, b) || a.u.f == b.u.f) return true;
    return fabs(a.u.f - b.u.f) <= tol * fabs(b.u.f) + (a.dtype == CLF_F32 ? 1e-37 : 1e-300);
}

/* Elementary functions may differ from the C library's in the last places, and by instruction set. */
static void check_op(clf_op op, clf_dtype t, clf_isa isa, clf_dtype result) {
    enum { N = 531 };
    plan p;
    clf_tile *tile = NULL;
    clf_err err;
    void *in[3];
    char *out = malloc(N * 8), want[8];
    int64_t dim[1] = {N};
    int arg[3] = {-1, -1, -1};
    bool right = true, exact = !(clf_ops[op].flags & F_ELEM);
    clf_arena_init(&p.arena, &mem);
    clf_build_begin(&p.b, &p.arena);
    clf_build_axis(&p.b, CLF_AXIS_RANGE, N);
    for (int i = 0; i < 3; i++) {
        in[i] = new_data(t, N, exact);
        if (i < clf_ops[op].arity) arg[i] = clf_build_load(&p.b, clf_build_access(&p.b, clf_build_in(&p.b, t, 1, dim), (int[]){0}));
    }
    int v = clf_build_op(&p.b, op, result, arg[0], arg[1], arg[2]);
    clf_build_store(&p.b, clf_build_out(&p.b, result, 1, dim), v, 1);
    plan_end(&p);
    clf_err_clear(&err);
    CU_ASSERT_EQUAL_FATAL(clf_tile_new(&tile, &p.c, isa, &mem, &err), CLF_OK);
    void *outs[1] = {out};
    CU_ASSERT_EQUAL(clf_tile_run(tile, &(clf_bind){.in = in, .out = outs}, NULL, &err), CLF_OK);
    size_t each = clf_dtype_bytes(t);
    for (size_t i = 0; i < N; i++) {
        one[op][t]((char *)in[0] + i * each, (char *)in[1] + i * each, (char *)in[2] + i * each, want);
        clf_scalar w = clf_scalar_to(clf_scalar_load(want, 0, t), result), g = clf_scalar_load(out, i, result);
        right &= exact ? same_bits(w, g) : close_to(g, w);
    }
    CU_ASSERT(right);
    if (!right) fprintf(stderr, "%s %s %s\n", clf_ops[op].id, clf_dtype_name(t), clf_isa_name(isa));
    clf_tile_free(tile);
    for (int i = 0; i < 3; i++) free(in[i]);
    free(out);
    clf_arena_release(&p.arena);
}

static void test_ops(void) {
    for (int op = 0; op < CLF_NOPS; op++)
        for (int t = 0; t < CLF_NDTYPES; t++)
            for (int isa = CLF_ISA_BASELINE; isa <= CLF_ISA_AVX512; isa++) {
                bool real = clf_dtype_float((clf_dtype)t);
                if (clf_ops[op].type == CLF_TYPE_FLOAT && !real) continue;
                if (clf_ops[op].type == CLF_TYPE_ARITH && t == CLF_U8) continue;
                check_op((clf_op)op, (clf_dtype)t, (clf_isa)isa, (clf_dtype)t);
                for (int r = 0; r < CLF_NDTYPES && (clf_ops[op].flags & F_BOOL); r++)
                    check_op((clf_op)op, (clf_dtype)t, (clf_isa)isa, (clf_dtype)r);
            }
}

/* outer(inner(a, b), c), or outer(c, inner(a, b)), or inner(a, b) alone; of a, b, c those of `uniform`'s bits are the same for all cells: one
 * loop where there is one, with the bits of each operator by itself. */
typedef struct pair_case {
    clf_op inner, outer;
    bool alone;
    int side;
    unsigned uniform;
} pair_case;

static bool has_loop(const pair_case *k, clf_dtype t, clf_isa isa) {
    const clf_pair_loops *loops = clf_isa_loops(clf_isa_pick(isa)).pair->inner[k->inner];
    return loops && loops->form[k->alone ? CLF_PAIR_ALONE : CLF_PAIR_MUL][t][k->uniform];
}

static void check_pair(const pair_case *k, clf_dtype t, clf_isa isa) {
    enum { N = 531 };
    plan p;
    clf_tile *tile = NULL;
    clf_err err;
    void *in[3];
    int arg[3];
    char *out = malloc(N * 8), *want = malloc(N * 8), between[8];
    size_t each = clf_dtype_bytes(t);
    clf_arena_init(&p.arena, &mem);
    clf_build_begin(&p.b, &p.arena);
    clf_build_axis(&p.b, CLF_AXIS_RANGE, N);
    for (int i = 0; i < 3; i++) {
        bool uniform = k->uniform >> i & 1;
        in[i] = new_data(t, N, true);
        if (uniform) memcpy(in[i], (char *)in[i] + (5 + 7 * (size_t)i) * each, each);
        arg[i] =
            clf_build_load(&p.b, clf_build_access(&p.b, clf_build_in(&p.b, t, 1, (int64_t[]){uniform ? 1 : N}), (int[]){uniform ? -1 : 0}));
    }
    int v = clf_build_op(&p.b, k->inner, t, arg[0], clf_ops[k->inner].arity > 1 ? arg[1] : -1, -1);
    if (!k->alone) v = clf_build_op(&p.b, k->outer, t, k->side ? arg[2] : v, k->side ? v : arg[2], -1);
    clf_build_store(&p.b, clf_build_out(&p.b, t, 1, (int64_t[]){N}), v, 1);
    plan_end(&p);
    clf_err_clear(&err);
    CU_ASSERT_EQUAL_FATAL(clf_tile_new(&tile, &p.c, isa, &mem, &err), CLF_OK);
    CU_ASSERT_EQUAL(tile->ninstr[CLF_LV_CELL], k->alone || has_loop(k, t, isa) ? 2 : 3);
    CU_ASSERT_EQUAL(clf_tile_run(tile, &(clf_bind){.in = in, .out = (void *[]){out}}, NULL, &err), CLF_OK);
    bool right = true;
    for (size_t i = 0; i < N; i++) {
        const char *x[3];
        for (int j = 0; j < 3; j++) x[j] = (char *)in[j] + (k->uniform >> j & 1 ? 0 : i * each);
        one[k->inner][t](x[0], x[1], x[2], between);
        if (k->alone)
            memcpy(want + i * each, between, each);
        else
            one[k->outer][t](k->side ? x[2] : between, k->side ? between : x[2], x[2], want + i * each);
        right &= same_bits(clf_scalar_load(want, i, t), clf_scalar_load(out, i, t));
    }
    CU_ASSERT(right);
    if (!right)
        fprintf(stderr, "%s in %s, uniform %u: %s %s\n", clf_ops[k->inner].id, k->alone ? "none" : clf_ops[k->outer].id, k->uniform,
                clf_dtype_name(t), clf_isa_name(isa));
    clf_tile_free(tile);
    for (int i = 0; i < 3; i++) free(in[i]);
    free(out);
    free(want);
    clf_arena_release(&p.arena);
}

/* On every instruction set, of both types, with every set of uniform operands that leaves the inner operator one that varies. */
static void check_everywhere(pair_case k) {
    unsigned inner = clf_ops[k.inner].arity > 1 ? 3 : 1;
    for (k.uniform = 0; k.uniform < CLF_UNIFORM_MASKS; k.uniform++) {
        if ((k.uniform & inner) == inner || (inner == 1 && k.uniform & 2) || (k.alone && k.uniform & 4)) continue;
        for (int isa = CLF_ISA_BASELINE; isa <= CLF_ISA_AVX512; isa++)
            for (int t = CLF_F32; t <= CLF_F64; t++) check_pair(&k, (clf_dtype)t, (clf_isa)isa);
    }
}

static void test_pairs(void) {
    static const clf_op outer[] = {CLF_OP_ADD, CLF_OP_SUB, CLF_OP_MUL};
    int loops = 0;
    for (int inner = 0; inner < CLF_NOPS; inner++) {
        if (clf_ops[inner].arity > 2 || (clf_ops[inner].flags & F_ELEM) || !one[inner][0]) continue;
        for (int o = 0; o < 3; o++)
            for (int side = 0; side < 2; side++) check_everywhere((pair_case){(clf_op)inner, outer[o], false, side, 0});
        if (clf_ops[inner].arity == 2) check_everywhere((pair_case){.inner = (clf_op)inner, .alone = true});
        loops += clf_isa_loops(CLF_ISA_BASELINE).pair->inner[inner] != NULL;
    }
    CU_ASSERT(loops >= 14);
}

static void test_casts(void) {
    enum { N = 300 };
    for (int from = 0; from < CLF_NDTYPES; from++)
        for (int to = 0; to < CLF_NDTYPES; to++) {
            plan p;
            plan_begin(&p, 3, 100);
            int x = plan_load(&p, (clf_dtype)from, 3, 100);
            int v = clf_build_value(&p.b, (clf_value){.op = CLF_V_CAST, .dtype = (uint8_t)to, .axis = -1, .in = {x, -1, -1}, .arg = -1});
            clf_build_store(&p.b, plan_out(&p, (clf_dtype)to, 3, 100, 3), v, 3);
            plan_end(&p);
            void *in[1] = {new_data((clf_dtype)from, N, true)}, *want[1] = {malloc(N * 8)};
            for (size_t i = 0; i < N; i++)
                clf_scalar_store(want[0], i, clf_scalar_to(clf_scalar_load(in[0], i, (clf_dtype)from), (clf_dtype)to));
            run_all(&p, in, NULL, 1, &(clf_dtype){(clf_dtype)to}, &(int64_t){N}, want);
            free(in[0]);
            free(want[0]);
            clf_arena_release(&p.arena);
        }
}

int main(void) {
    static const tile_test tests[] = {
        {"operators", test_ops},
        {"two operators in one loop", test_pairs},
        {"casts", test_casts},
    };
    return run_tile_suite("tile operators", tests, sizeof tests / sizeof *tests);
}
