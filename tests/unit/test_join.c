/* SPDX-License-Identifier: Apache-2.0
 * Kernels joined into one program: two to sixty-four of them, of every type and kind of sink, give the reference executor's bytes, each
 * as an entry of the cache under its own text; one broken kernel takes no others along; running out of memory is survived. */
#include "kernels-cl/join.h"

#include <sys/stat.h>

#include "device/device.h"
#include "host/run/run.h"
#include "kernels-cl/emit.h"
#include "kernels-cl/ref.h"
#include "planner/builder.h"
#include "planner/skel.h"
#include "tests/unit/api_testing.h"

enum { KERNELS = 64, ROWS = 65, COLS = 9, ARGS = 64, CELL_BYTES = 8 };

/* PoCL and LLVM keep memory until the process ends; what is ours is counted by the ledger. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static clf_mem mem;
static clf_devs *devs;
static clf_profile profile;

typedef struct kernel {
    clf_cplan c;
    clf_sched s;
    clf_source src;
} kernel;

static bool start(void) {
    clf_err err = {0};
    const char *cache = getenv("CLF_CACHE_DIR");
    clf_mem_init(&mem, NULL, NULL);
    clf_dev_opts opts = {.mem = &mem, .cache_dir = cache ? cache : ""};
    CU_ASSERT_EQUAL_FATAL(clf_devs_open(&devs, &opts, &err), CLF_OK);
    if (clf_devs_count(devs) < 1) printf("\n    no OpenCL device: %s\n", clf_devs_why(devs));
    clf_profile_assume(&profile, CLF_DEV_CPU, 2);
    if (clf_devs_count(devs) > 0) clf_dev_assume(devs, 0, &profile);
    return clf_devs_count(devs) > 0;
}

static void stop(void) {
    clf_devs_close(devs);
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
}

/* ---- kernels of many kinds ---- */

/* Kernel number i: op(x, y) + i%3 twice x, in one of four types, stored or folded over all, rows or columns. */
static void make(kernel *k, clf_arena *arena, int i) {
    static const clf_op ops[] = {CLF_OP_ADD, CLF_OP_MUL, CLF_OP_MIN, CLF_OP_LT};
    static const clf_dtype types[] = {CLF_F64, CLF_F32, CLF_I64, CLF_I32};
    const clf_dtype t = types[i % 4];
    const int64_t dim[2] = {ROWS, COLS};
    clf_builder b;
    clf_err err = {0};
    clf_build_begin(&b, arena);
    const int axes[2] = {clf_build_axis(&b, CLF_AXIS_RANGE, ROWS), clf_build_axis(&b, CLF_AXIS_RANGE, COLS)};
    int x = clf_build_load(&b, clf_build_access(&b, clf_build_in(&b, t, 2, dim), axes));
    int y = clf_build_load(&b, clf_build_access(&b, clf_build_in(&b, t, 2, dim), axes));
    int v = clf_build_op(&b, ops[i / 4 % 4], t, x, y, -1);
    for (int n = 0; n < i % 3; n++) v = clf_build_op(&b, CLF_OP_ADD, t, v, x, -1);
    const unsigned keep[] = {3, 0, 1, 2};
    unsigned kept = keep[i / 16 % 4];
    const int64_t out[2] = {kept & 1 ? ROWS : 1, kept & 2 ? COLS : 1};
    if (kept == 3)
        clf_build_store(&b, clf_build_out(&b, t, 2, out), v, kept);
    else {
        v = clf_build_cast(&b, v, clf_fold_value_type(CLF_FOLD_SUM, t));
        clf_build_fold(&b, clf_build_out(&b, clf_fold_result_type(CLF_FOLD_SUM, clf_fold_value_type(CLF_FOLD_SUM, t)), kept ? 2 : 0, out),
                       CLF_FOLD_SUM, v, kept);
    }
    if (clf_build_end(&b, &k->c, &err) != CLF_OK) printf("\n    %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(err.code, CLF_OK);
    CU_ASSERT_TRUE_FATAL(clf_skels[0]->fits(&k->c, &profile));
    CU_ASSERT_EQUAL_FATAL(clf_skels[0]->sched(&k->c, &profile, (clf_grid){0, INT64_MAX}, &k->s, &err), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_skels[0]->emit(&k->c, &k->s, "", arena, &k->src, &err), CLF_OK);
}

typedef struct memory {
    char in[2][ROWS * COLS * CELL_BYTES], out[ROWS * COLS * CELL_BYTES], want[ROWS * COLS * CELL_BYTES];
} memory;

static void fill(const kernel *k, memory *m) {
    memset(m->out, 0x5a, sizeof m->out);
    memset(m->want, 0x5a, sizeof m->want);
    for (int i = 0; i < 2; i++)
        for (size_t p = 0; p < ROWS * COLS; p++)
            clf_scalar_store(m->in[i], p,
                             clf_scalar_to(clf_scalar_i64((int64_t)(p * (size_t)(7 + i) % 23) - 11), (clf_dtype)k->c.in[i].dtype));
}

static clf_arg argument(const kernel *k, memory *m, clf_arg_desc d, void *scratch, int *counter) {
    switch (d.kind) {
    case CLF_ARG_MEM_IN: return (clf_arg){.ptr = m->in[d.index], .bytes = sizeof m->in[0]};
    case CLF_ARG_MEM_OUT: return (clf_arg){.ptr = m->out, .bytes = sizeof m->out};
    case CLF_ARG_SCRATCH: return (clf_arg){.ptr = scratch, .bytes = k->s.scratch_bytes};
    case CLF_ARG_COUNTER: return (clf_arg){.ptr = counter, .bytes = sizeof *counter};
    default: return (clf_arg){.bytes = 8, .u.i64 = k->s.arg[d.index]};
    }
}

/* The kernel's bytes are the reference executor's. */
static bool right(const kernel *k, clf_program *p) {
    static memory m;
    clf_err err = {0};
    clf_arg arg[ARGS];
    int counter = 0;
    void *scratch = clf_mem_new(&mem, 1, k->s.scratch_bytes);
    fill(k, &m);
    CU_ASSERT_TRUE_FATAL(scratch && k->src.nargs <= ARGS);
    for (int a = 0; a < k->src.nargs; a++) arg[a] = argument(k, &m, k->src.args[a], scratch, &counter);
    clf_status st = clf_launch(devs, 0, p, arg, k->src.nargs, k->s.global, k->s.local, &err);
    if (st == CLF_OK) st = clf_dev_wait(devs, 0, &err);
    clf_mem_free(&mem, scratch, 1, k->s.scratch_bytes);
    void *in[2] = {m.in[0], m.in[1]}, *want = m.want;
    clf_bind bind = {.in = in, .out = &want};
    if (st == CLF_OK) st = clf_ref_run(&k->c, &bind, &mem, &err);
    if (st != CLF_OK) printf("\n    %s\n", err.text);
    return st == CLF_OK && !memcmp(m.out, m.want, sizeof m.out);
}

static clf_status build(const clf_join *j) {
    clf_err err = {0};
    clf_status st = clf_programs_build(devs, 0, clf_str_c(&j->text), j->text.len, j->src, j->n, &err);
    if (st != CLF_OK) printf("\n    %s\n", err.text);
    return st;
}

/* ---- joined ---- */

static void join_and_run(int first, int n) {
    clf_arena arena;
    static kernel k[KERNELS];
    clf_join j;
    clf_err err = {0};
    size_t alone = 0;
    clf_arena_init(&arena, &mem);
    clf_join_init(&j, &mem);
    for (int i = 0; i < n; i++) {
        make(&k[i], &arena, first + i);
        CU_ASSERT_EQUAL_FATAL(clf_join_add(&j, &k[i].src), CLF_JOIN_TAKEN);
        CU_ASSERT_FALSE(clf_program_known(devs, 0, &k[i].src));
        alone += k[i].src.text_len;
    }
    CU_ASSERT_FALSE(j.text.failed);
    CU_ASSERT_TRUE(j.text.len < alone * 2 / 3); /* the prelude is there once */
    uint64_t builds = clf_devs_stats(devs).builds;
    CU_ASSERT_EQUAL(build(&j), CLF_OK);
    CU_ASSERT_EQUAL(clf_devs_stats(devs).builds, builds + 1);
    for (int i = 0; i < n; i++) {
        clf_program *p = NULL;
        bool compiled = true;
        CU_ASSERT_TRUE(clf_program_known(devs, 0, &k[i].src));
        CU_ASSERT_EQUAL_FATAL(clf_program_get(devs, 0, &k[i].src, &p, &compiled, &err), CLF_OK);
        CU_ASSERT_FALSE(compiled);
        CU_ASSERT_TRUE(right(&k[i], p));
    }
    clf_join_release(&j);
    clf_arena_release(&arena);
}

static void test_few(void) {
    if (start()) {
        join_and_run(0, 2);
        join_and_run(14, 7);
    }
    stop();
}

static void test_many(void) {
    if (start()) join_and_run(0, KERNELS);
    stop();
}

/* What a joined program holds of each kernel is what the kernel's own text holds. */
static void test_text(void) {
    clf_arena arena;
    kernel k[2];
    clf_join j;
    start();
    clf_arena_init(&arena, &mem);
    clf_join_init(&j, &mem);
    for (int i = 0; i < 2; i++) {
        make(&k[i], &arena, i);
        size_t at = 0;
        for (int p = 0; p < k[i].src.npieces; at += k[i].src.piece[p++].len) CU_ASSERT_EQUAL(k[i].src.piece[p].at, at);
        CU_ASSERT_EQUAL(at, k[i].src.text_len);
        CU_ASSERT_EQUAL(clf_join_add(&j, &k[i].src), CLF_JOIN_TAKEN);
    }
    const char *text = clf_str_c(&j.text), *elem = strstr(text, "#define CLF_IOTA_2 ");
    CU_ASSERT_PTR_NOT_NULL_FATAL(elem);
    CU_ASSERT_PTR_NULL(strstr(elem + 1, "#define CLF_IOTA_2 "));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nCLF_ELEM_f64(8, 8)\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n#undef CLF_ENTRY\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n#undef CLF_FULL_MERGE\n"));
    for (int i = 0; i < 2; i++)
        for (int p = 0; p < k[i].src.npieces; p++) {
            const clf_text_piece *piece = &k[i].src.piece[p];
            char *copy = clf_arena_strn(&arena, k[i].src.text + piece->at, piece->len);
            if (piece->kind == CLF_TEXT_HOLES || piece->kind == CLF_TEXT_OWN) CU_ASSERT_PTR_NOT_NULL(strstr(text, copy));
        }
    clf_join_release(&j);
    clf_arena_release(&arena);
    stop();
}

/* ---- what does not come in ---- */

static clf_source whole(const char *text, const char *entry, const char *options, clf_text_piece *piece) {
    *piece = (clf_text_piece){CLF_TEXT_OWN, 0, strlen(text)};
    return (clf_source){.text = text, .text_len = strlen(text), .entry = entry, .options = options, .piece = piece, .npieces = 1};
}

static void test_limits(void) {
    static clf_source many[KERNELS + 1];
    static char name[KERNELS + 1][16], big[CLF_JOIN_BYTES + 2];
    clf_text_piece piece[KERNELS + 1], other, another;
    clf_join j;
    clf_mem_init(&mem, NULL, NULL);
    clf_join_init(&j, &mem);
    for (int i = 0; i <= KERNELS; i++) {
        snprintf(name[i], sizeof name[i], "k%d", i);
        many[i] = whole("/* */\n", name[i], "", &piece[i]);
        CU_ASSERT_EQUAL(clf_join_add(&j, &many[i]), i < KERNELS ? CLF_JOIN_TAKEN : CLF_JOIN_FULL);
    }
    CU_ASSERT_EQUAL(clf_join_add(&j, &many[3]), CLF_JOIN_UNFIT);
    clf_join_release(&j);
    CU_ASSERT_EQUAL(clf_join_add(&j, &many[KERNELS]), CLF_JOIN_TAKEN);
    clf_source bare = whole("/* */\n", "bare", "", &other), options = whole("/* */\n", "options", "-DX", &other);
    bare.npieces = 0;
    CU_ASSERT_EQUAL(clf_join_add(&j, &bare), CLF_JOIN_UNFIT);
    CU_ASSERT_EQUAL(clf_join_add(&j, &options), CLF_JOIN_UNFIT);
    memset(big, ' ', sizeof big - 1);
    clf_source large = whole(big + 2, "large", "", &other), larger = whole(big, "larger", "", &another);
    CU_ASSERT_EQUAL(clf_join_add(&j, &large), CLF_JOIN_FULL);
    CU_ASSERT_EQUAL(clf_join_add(&j, &larger), CLF_JOIN_UNFIT);
    clf_join_release(&j);
    CU_ASSERT_EQUAL(clf_join_add(&j, &large), CLF_JOIN_TAKEN);
    clf_join_release(&j);
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
}

/* ---- what is broken ---- */

static clf_source hand_made(const char *text, const char *entry, const clf_arg_desc *args, int nargs, clf_text_piece *piece) {
    clf_source s = whole(text, entry, "", piece);
    s.args = args;
    s.nargs = nargs;
    s.hash = clf_hash_bytes(text, s.text_len);
    return s;
}

/* A kernel that does not compile takes the joined build with it, and leaves no trace: alone, the others build and it alone fails. One
 * whose arguments are not as described is left out, and the others stay. */
static void test_broken(void) {
    static const clf_arg_desc args[] = {{CLF_ARG_MEM_OUT, CLF_I32, 0}, {CLF_ARG_MEM_IN, CLF_I32, 0}};
    static const char good[] = "__kernel void good(__global int *a) { a[get_global_id(0)] = 5; }\n",
                      bad[] = "__kernel void bad(__global int *a) { a[0] = no_such_thing; }\n",
                      wide[] = "__kernel void wide(__global int *a, __global int *b) { a[0] = b[0]; }\n";
    clf_text_piece piece[3];
    const clf_source src[3] = {hand_made(good, "good", args, 1, &piece[0]), hand_made(bad, "bad", args, 1, &piece[1]),
                               hand_made(wide, "wide", args, 1, &piece[2])};
    clf_program *p = NULL;
    clf_err err = {0};
    clf_join j;
    if (start()) {
        clf_join_init(&j, &mem);
        for (int i = 0; i < 2; i++) CU_ASSERT_EQUAL(clf_join_add(&j, &src[i]), CLF_JOIN_TAKEN);
        CU_ASSERT_EQUAL(clf_programs_build(devs, 0, clf_str_c(&j.text), j.text.len, j.src, j.n, &err), CLF_E_BUILD);
        CU_ASSERT_FALSE(clf_program_known(devs, 0, &src[0]) || clf_program_known(devs, 0, &src[1]));
        CU_ASSERT_EQUAL(clf_program_get(devs, 0, &src[1], &p, NULL, &err), CLF_E_BUILD);
        CU_ASSERT_TRUE(clf_program_known(devs, 0, &src[1])); /* it will not be tried again */
        clf_join_release(&j);
        CU_ASSERT_EQUAL(clf_join_add(&j, &src[2]), CLF_JOIN_TAKEN);
        CU_ASSERT_EQUAL(clf_join_add(&j, &src[0]), CLF_JOIN_TAKEN);
        CU_ASSERT_EQUAL(build(&j), CLF_OK);
        CU_ASSERT_TRUE(clf_program_known(devs, 0, &src[0]));
        CU_ASSERT_FALSE(clf_program_known(devs, 0, &src[2]));
        clf_err_clear(&err);
        CU_ASSERT_EQUAL(clf_program_get(devs, 0, &src[2], &p, NULL, &err), CLF_E_BUILD);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "2 arguments"));
        clf_join_release(&j);
    }
    stop();
}

/* ---- in the evaluator ---- */

/* Two steps whose kernels differ: sum(x * x) of doubles, sum(y + y) of floats; their sum. */
static double evaluate(clf_ctx *c, clf_stats *s) {
    static double x[ROWS * COLS];
    static float y[7 * COLS];
    for (int i = 0; i < ROWS * COLS; i++) x[i] = i;
    for (int i = 0; i < 7 * COLS; i++) y[i] = (float)i;
    clf_mat *m = clf_matrix(c, CLF_F64, ROWS, COLS, x), *n = clf_matrix(c, CLF_F32, 7, COLS, y);
    clf_mat *root[2] = {clf_sum(clf_mul(m, m)), clf_sum(clf_add(n, n))};
    CU_ASSERT_EQUAL(clf_eval(2, root), CLF_OK);
    CU_ASSERT_EQUAL(clf_get_stats(c, s), CLF_OK);
    return read_f64(root[0]) + read_f64(root[1]);
}

static double expected(void) {
    double sum = 0;
    for (int i = 0; i < ROWS * COLS; i++) sum += (double)i * i;
    for (int i = 0; i < 7 * COLS; i++) sum += 2 * (double)i;
    return sum;
}

static void test_plan(void) {
    clf_ctx *c = open_kernels();
    clf_stats s = {.struct_size = sizeof s};
    if (!c) return;
    CU_ASSERT_EQUAL(evaluate(c, &s), expected());
    CU_ASSERT_EQUAL(s.kernels_built, 2);
    CU_ASSERT_EQUAL(s.kernel_hits, 0);
    CU_ASSERT_EQUAL(s.launches_tier2, 2);
    CU_ASSERT_EQUAL(clf_devs_stats(c->run->devs).builds, 1);
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "none"), CLF_OK); /* forgets all plans */
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "all"), CLF_OK);
    CU_ASSERT_EQUAL(evaluate(c, &s), expected());
    CU_ASSERT_EQUAL(s.kernels_built, 2);
    CU_ASSERT_EQUAL(s.kernel_hits, 2);
    clf_close(c);
}

/* Settings without a kernel of their kind leave everything to the host; those with one force it. */
static void test_forced(void) {
    static const struct {
        const char *tier, *strategy;
        uint64_t kernels;
        bool generic;
    } want[] = {{"2", "auto", 2, false},      {"2", "chunk", 2, false},  {"2", "group", 2, false}, {"auto", "chunk", 2, false},
                {"auto", "generic", 0, true}, {"2", "stride", 0, false}, {"0", "chunk", 0, false}, {"1", "auto", 0, true}};
    clf_ctx *c = open_kernels();
    clf_stats s = {.struct_size = sizeof s};
    uint64_t before = 0, before1 = 0;
    for (size_t i = 0; c && i < sizeof want / sizeof *want; i++, before = s.launches_tier2, before1 = s.launches_tier1) {
        CU_ASSERT_EQUAL(clf_set(c, "tier", want[i].tier), CLF_OK);
        CU_ASSERT_EQUAL(clf_set(c, "strategy", want[i].strategy), CLF_OK);
        CU_ASSERT_EQUAL(evaluate(c, &s), expected());
        CU_ASSERT_EQUAL(s.launches_tier2 - before, want[i].kernels);
        CU_ASSERT_EQUAL(s.launches_tier1 > before1, want[i].generic);
    }
    clf_close(c);
}

/* A folder of kernel texts whose instantiation of floats does not compile. */
static void write_broken(char *folder, size_t n) {
    char path[256];
    clf_str text;
    clf_err err = {0};
    clf_mem_init(&mem, NULL, NULL);
    clf_str_init(&text, &mem);
    snprintf(folder, n, "%s/clfuse-test-join-XXXXXX", P_tmpdir);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/prelude", folder);
    CU_ASSERT_EQUAL_FATAL(mkdir(path, 0700), 0);
    CU_ASSERT_EQUAL_FATAL(clf_kernel_text("prelude/elem.clh", "", &text, &err), CLF_OK);
    clf_str_put(&text, "#undef CLF_ELEM_f32\n#define CLF_ELEM_f32(NW, K) no such thing;\n");
    snprintf(path, sizeof path, "%s/prelude/elem.clh", folder);
    FILE *f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fwrite(text.at, 1, text.len, f), text.len);
    CU_ASSERT_EQUAL(fclose(f), 0);
    clf_str_release(&text);
}

static void remove_folder(const char *folder) {
    static const char *const names[] = {"/prelude/elem.clh", "/prelude", ""};
    char path[256];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", folder, names[i]);
        CU_ASSERT_EQUAL(remove(path), 0);
    }
}

static void test_broken_plan(void) {
    char folder[128];
    clf_stats s = {.struct_size = sizeof s};
    clf_ctx *c = open_kernels();
    if (!c) return;
    write_broken(folder, sizeof folder);
    CU_ASSERT_EQUAL(clf_set(c, "kernel_dir", folder), CLF_OK);
    CU_ASSERT_EQUAL(evaluate(c, &s), expected());
    CU_ASSERT_EQUAL(s.kernels_built, 1);
    CU_ASSERT_EQUAL(s.launches_tier2, 1);
    CU_ASSERT_EQUAL(s.launches_tier0, 1);
    clf_close(c);
    remove_folder(folder);
}

/* ---- out of memory ---- */

/* Failing allocation n of joining: all is as nothing had been, or it worked. */
static bool join_failing(counting_heap *heap, const kernel *k, long long n) {
    clf_mem small;
    clf_join j;
    clf_mem_init(&small, counting_alloc, heap);
    clf_join_init(&j, &small);
    heap->count = 0;
    heap->fail_at = n;
    for (int i = 0; i < 2; i++) CU_ASSERT_EQUAL(clf_join_add(&j, &k[i].src), CLF_JOIN_TAKEN);
    bool failed = j.text.failed;
    CU_ASSERT(failed || strstr(clf_str_c(&j.text), k[1].src.entry));
    clf_join_release(&j);
    CU_ASSERT_EQUAL(heap->live, 0);
    CU_ASSERT_EQUAL(failed, heap->count >= n);
    return failed;
}

/* Failing allocation n of building: an error, no leak, and what is not there builds alone afterwards. */
static bool build_failing(counting_heap *heap, const kernel *k, const clf_join *j, long long n) {
    clf_err err = {0};
    clf_dev_opts opts = {.mem = &mem, .cache_dir = getenv("CLF_CACHE_DIR") ? getenv("CLF_CACHE_DIR") : ""};
    clf_mem_init(&mem, counting_alloc, heap);
    heap->fail_at = 0;
    CU_ASSERT_EQUAL_FATAL(clf_devs_open(&devs, &opts, &err), CLF_OK);
    heap->count = 0;
    heap->fail_at = n;
    clf_status st = clf_programs_build(devs, 0, clf_str_c(&j->text), j->text.len, j->src, j->n, &err);
    CU_ASSERT_EQUAL(st, heap->count >= n ? CLF_E_NOMEM : CLF_OK);
    heap->fail_at = 0;
    for (int i = 0; i < j->n; i++) {
        clf_program *p = NULL;
        CU_ASSERT_EQUAL_FATAL(clf_program_get(devs, 0, &k[i].src, &p, NULL, &err), CLF_OK);
        CU_ASSERT_TRUE(right(&k[i], p));
    }
    clf_devs_close(devs);
    CU_ASSERT_EQUAL(heap->live, 0);
    return st != CLF_OK;
}

static void test_memory(void) {
    counting_heap heap = {.fail_at = 0};
    clf_arena arena;
    clf_mem keep;
    kernel k[2];
    clf_join j;
    int64_t failed = 0;
    clf_mem_init(&keep, NULL, NULL);
    clf_arena_init(&arena, &keep);
    bool device = start();
    for (int i = 0; i < 2; i++) make(&k[i], &arena, i);
    stop();
    for (long long n = 1; join_failing(&heap, k, n); n++) failed++;
    CU_ASSERT(failed > 2);
    clf_join_init(&j, &keep);
    for (int i = 0; i < 2; i++) CU_ASSERT_EQUAL(clf_join_add(&j, &k[i].src), CLF_JOIN_TAKEN);
    failed = 0;
    for (long long n = 1; device && build_failing(&heap, k, &j, n); n++) failed++;
    CU_ASSERT(!device || failed >= 2); /* one block a kernel */
    clf_join_release(&j);
    clf_arena_release(&arena);
    CU_ASSERT_EQUAL(keep.now_bytes, 0);
}

int main(void) {
    static const test_case tests[] = {{"texts", test_text},
                                      {"limits", test_limits},
                                      {"two and seven kernels", test_few},
                                      {"sixty-four kernels", test_many},
                                      {"a broken kernel", test_broken},
                                      {"a plan's kernels", test_plan},
                                      {"forced tiers and strategies", test_forced},
                                      {"a plan with a broken kernel", test_broken_plan},
                                      {"out of memory", test_memory}};
    return run_suite("joined kernels", tests, sizeof tests / sizeof *tests);
}
