/* SPDX-License-Identifier: Apache-2.0
 * The public interface and nothing else: functions, results, files, statistics, memory, settings, explain, processes and threads. */
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "tests/unit/api_testing.h"

static const double x_data[6] = {1, 2, 3, 4, 5, 6};

static clf_mat *leaf(clf_ctx *c) { return clf_matrix(c, CLF_F64, 2, 3, x_data); }

static clf_mem_stats memory_of(clf_ctx *c) {
    clf_mem_stats s = {.struct_size = sizeof s};
    CU_ASSERT_EQUAL(clf_get_mem_stats(c, &s), CLF_OK);
    return s;
}

/* ---- functions ---- */

static void test_function(void) {
    clf_ctx *c = open_host();
    clf_mat *in[2] = {clf_param(c, CLF_F64, 2, 3, false), clf_param(c, CLF_F32, 0, 0, true)}, *hidden = leaf(c);
    clf_mat *res[3] = {clf_add(clf_mul(in[0], in[1]), hidden), in[0], in[1]}, *out[3] = {NULL, NULL, NULL};
    clf_fn *f = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_fn_new(c, 2, in, 3, res, &f), CLF_OK);
    for (int i = 0; i < 2; i++) clf_free(in[i]);
    clf_free(res[0]);
    clf_free(hidden); /* the function holds what it needs */
    clf_mat *x = leaf(c), *arg[2] = {x, clf_int(c, 10)};
    CU_ASSERT_EQUAL(clf_call(f, 2, arg, 3, out), CLF_OK);
    double got[6];
    CU_ASSERT_EQUAL(clf_read(out[0], got, sizeof got), CLF_OK);
    CU_ASSERT(got[0] == 11 && got[5] == 66);
    CU_ASSERT_EQUAL(read_f64(out[2]), 10);
    CU_ASSERT_EQUAL(clf_read(out[1], got, sizeof got), CLF_OK);
    CU_ASSERT_EQUAL(got[5], 6);
    /* handles of earlier results are taken over; what was recorded with them keeps the old values */
    clf_mat *uses = clf_sum(out[0]), *same = out[0];
    arg[1] = clf_num(c, 0.5);
    arg[0] = out[1];
    CU_ASSERT_EQUAL(clf_call(f, 2, arg, 3, out), CLF_OK);
    CU_ASSERT_PTR_EQUAL(out[0], same);
    CU_ASSERT_EQUAL(read_f64(clf_sum(out[0])), 31.5);
    CU_ASSERT_EQUAL(read_f64(uses), 231);
    /* arguments may be expressions, and results arguments */
    arg[0] = clf_mul(x, clf_num(c, 3));
    arg[1] = clf_as_scalar(clf_index(x, 1, 1, 2, 2));
    CU_ASSERT_EQUAL(clf_call(f, 2, arg, 3, out), CLF_OK);
    CU_ASSERT_EQUAL(read_f64(clf_sum(out[0])), 147);
    clf_fn_free(f);
    clf_fn_free(NULL);
    CU_ASSERT_EQUAL(read_f64(clf_sum(out[0])), 147);
    clf_close(c);
}

static void test_function_errors(void) {
    clf_ctx *c = open_host();
    clf_mat *in[2] = {clf_param(c, CLF_F64, 2, 3, false), clf_param(c, CLF_F64, 1, 1, true)}, *res = clf_mul(in[0], in[1]), *out = NULL;
    clf_fn *f = NULL, *g = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_fn_new(c, 2, in, 1, &res, &f), CLF_OK);
    clf_mat *x = leaf(c), *two = clf_num(c, 2), *good[2] = {x, two};
    clf_mat *const bad[][2] = {
        {clf_t(x), two}, {x, x}, {clf_cast(x, CLF_F32), two}, {two, two}, {x, NULL}, {x, clf_exp(clf_add(x, clf_t(x)))}, {in[0], two}};
    static const clf_status want[] = {CLF_E_SHAPE, CLF_E_SHAPE, CLF_E_TYPE, CLF_E_SHAPE, CLF_E_ARG, CLF_E_SHAPE, CLF_E_ARG};
    static const char *const word[] = {"argument 1 is 3x2",     "argument 2",  "argument 1 is f32", "argument 1",
                                       "argument 2 is missing", "2x3 and 3x2", "parameter"};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) expect_error(c, clf_call(f, 2, bad[i], 1, &out), want[i], word[i]);
    expect_error(c, clf_call(f, 1, good, 1, &out), CLF_E_ARG, "1 arguments");
    expect_error(c, clf_call(f, 2, good, 2, &out), CLF_E_ARG, "2 results");
    expect_error(c, clf_call(f, 2, good, 1, NULL), CLF_E_ARG, "given");
    CU_ASSERT_PTR_NULL(out);
    CU_ASSERT_EQUAL(clf_call(f, 2, good, 1, &out), CLF_OK);
    CU_ASSERT_EQUAL(read_f64(clf_sum(out)), 42);
    clf_mat *twice[2] = {in[0], in[0]}, *leaves[1] = {x}, *error = clf_add(x, clf_t(x));
    expect_error(c, clf_fn_new(c, 2, twice, 1, &res, &g), CLF_E_ARG, "parameters 1 and 2 are the same");
    expect_error(c, clf_fn_new(c, 1, leaves, 1, &res, &g), CLF_E_ARG, "clf_param");
    expect_error(c, clf_fn_new(c, 1, in, 1, &res, &g), CLF_E_ARG, "not in the list");
    expect_error(c, clf_fn_new(c, 2, in, 0, NULL, &g), CLF_E_ARG, "results");
    expect_error(c, clf_fn_new(c, 2, in, 1, &error, &g), CLF_E_SHAPE, "2x3 and 3x2");
    CU_ASSERT_PTR_NULL(g);
    double r;
    expect_error(c, clf_read_f64(clf_sum(res), &r), CLF_E_ARG, "parameter");
    clf_close(c); /* frees f */
}

/* Twenty operators, ten thousand calls with other scalars: one plan, and memory does not grow. */
static void test_constant_memory(void) {
    clf_ctx *c = open_host();
    clf_mat *x = clf_param(c, CLF_F64, 2, 3, false), *s = clf_param(c, CLF_F64, 1, 1, true), *m = x, *out[2] = {NULL, NULL};
    for (int i = 0; i < 9; i++) m = clf_add(clf_mul(m, s), clf_num(c, i));
    clf_mat *res[2] = {m, clf_sum(clf_sub(m, x))}, *data = leaf(c);
    clf_fn *f = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_fn_new(c, 2, (clf_mat *[]){x, s}, 2, res, &f), CLF_OK);
    uint64_t after = 0, plans = 0;
    for (int i = 0; i < 10000; i++) {
        size_t mark = clf_epoch_begin(c);
        clf_mat *arg[2] = {data, clf_num(c, i % 3 * 0.5)};
        if (i == 1) out[0] = clf_keep(out[0]), out[1] = clf_keep(out[1]);
        if (clf_call(f, 2, arg, 2, out) != CLF_OK) break;
        if (i) clf_epoch_end(c, mark);
        if (i == 100) after = memory_of(c).now, plans = stats_of(c).plans;
    }
    CU_ASSERT_EQUAL(stats_of(c).evaluations, 10000);
    CU_ASSERT_EQUAL(stats_of(c).plans, plans);
    CU_ASSERT_EQUAL(memory_of(c).now, after);
    CU_ASSERT_EQUAL(read_f64(out[1]), 6 * 8 - 21); /* s = 0: every cell is 8 */
    clf_close(c);
}

/* Programs recorded anew each time are found in the plan cache; programs that never repeat do not pile up. */
static void test_plan_cache(void) {
    clf_ctx *c = open_host();
    clf_mat *x = leaf(c);
    for (int i = 0; i < 50; i++) {
        size_t mark = clf_epoch_begin(c);
        read_f64(clf_sum(clf_mul(x, clf_num(c, i))));
        clf_epoch_end(c, mark);
    }
    CU_ASSERT_EQUAL(stats_of(c).plans, 4); /* rewrites know 0, 1 and 2 from other numbers */
    CU_ASSERT_EQUAL(stats_of(c).plan_hits, 46);
    uint64_t most[2] = {0, 0};
    for (int i = 0; i < 3000; i++) {
        size_t mark = clf_epoch_begin(c);
        clf_mat *m = x;
        for (int bit = 0; bit < 12; bit++) m = i >> bit & 1 ? clf_abs(m) : clf_sqr(clf_sign(m));
        CU_ASSERT_EQUAL(read_f64(clf_sum(m)) > 0, true);
        clf_epoch_end(c, mark);
        uint64_t now = memory_of(c).now, *at = &most[i >= 1500];
        if (now > *at) *at = now;
    }
    CU_ASSERT_EQUAL(stats_of(c).plans, 3004);
    CU_ASSERT(most[1] <= most[0] + most[0] / 4);
    clf_close(c);
}

/* ---- results ---- */

static void test_results(void) {
    clf_ctx *c = open_host();
    clf_mat *x = leaf(c), *e = clf_mul(x, x), *all[12];
    for (int i = 0; i < 12; i++) all[i] = i % 3 ? clf_add(e, clf_num(c, i)) : i ? x : clf_num(c, 7);
    CU_ASSERT_EQUAL(clf_eval(12, all), CLF_OK);
    CU_ASSERT_EQUAL(stats_of(c).evaluations, 1);
    CU_ASSERT_EQUAL(stats_of(c).launches_tier0, 1); /* eight results, one pass */
    double got[6];
    CU_ASSERT_EQUAL(clf_read(all[11], got, sizeof got), CLF_OK);
    CU_ASSERT_EQUAL(got[5], 47);
    CU_ASSERT_EQUAL(read_f64(all[0]), 7);
    const void *p = NULL, *q = NULL;
    CU_ASSERT(clf_data(all[1], &p) == CLF_OK && clf_data(all[1], &q) == CLF_OK && p == q);
    CU_ASSERT_EQUAL(((const double *)p)[0], 2);
    expect_error(c, clf_read(all[1], got, 47), CLF_E_ARG, "47 bytes");
    expect_error(c, clf_read(all[1], NULL, sizeof got), CLF_E_ARG, "NULL");
    expect_error(c, clf_read_f64(all[0], NULL), CLF_E_ARG, "NULL");
    expect_error(c, clf_data(all[1], NULL), CLF_E_ARG, "NULL");
    clf_mat *hole[2] = {x, NULL};
    expect_error(c, clf_eval(2, hole), CLF_E_ARG, "result 2");
    CU_ASSERT_EQUAL(clf_eval(0, NULL), CLF_OK);
    CU_ASSERT_EQUAL(clf_eval(1, NULL), CLF_E_ARG);
    CU_ASSERT_STRING_EQUAL(clf_version(), "0.1.0");
    clf_close(c);
}

static void test_files(void) {
    static const char *const ending[] = {"npy", "csv", "mtx"};
    clf_ctx *c = open_host();
    for (int i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof path, "api_test_%d.%s", (int)getpid(), ending[i]);
        CU_ASSERT_EQUAL(clf_save(clf_add(leaf(c), clf_num(c, 0.25)), path, NULL), CLF_OK);
        double got[6] = {0};
        CU_ASSERT_EQUAL(clf_read(clf_load(c, path), got, sizeof got), CLF_OK);
        CU_ASSERT(got[0] == 1.25 && got[5] == 6.25);
        clf_mat *labels = NULL;
        expect_sticky(clf_load_with(c, path, NULL, &labels), CLF_E_ARG, "labels");
        expect_sticky(labels, CLF_E_ARG, "labels");
        unlink(path);
    }
    clf_close(c);
}

/* ---- memory ---- */

static void test_memory(void) {
    counting_heap h = {.fail_at = 0};
    clf_options o = {.struct_size = sizeof o, .device = "host", .alloc = counting_alloc, .alloc_user = &h, .mem_limit = 1 << 20};
    clf_ctx *c = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_open(&c, &o), CLF_OK);
    CU_ASSERT_EQUAL(memory_of(c).now, (uint64_t)h.live);
    CU_ASSERT_EQUAL(memory_of(c).limit, 1 << 20);
    clf_mat *m = clf_add(clf_seq(c, 1, 10000, 1), clf_num(c, 1));
    CU_ASSERT_EQUAL(clf_eval(1, &m), CLF_OK);
    CU_ASSERT(memory_of(c).data >= 80000);
    CU_ASSERT_EQUAL(memory_of(c).pooled, 0);
    clf_free(m);
    CU_ASSERT(memory_of(c).pooled >= 80000);
    clf_trim(c);
    CU_ASSERT(memory_of(c).pooled == 0 && memory_of(c).data < 80000);
    clf_mat *big = clf_matrix(c, CLF_F64, 1000, 1000, x_data); /* refused before the data is looked at */
    expect_sticky(big, CLF_E_NOMEM, "8000000 bytes");
    CU_ASSERT_EQUAL(clf_set(c, "mem_limit", "2M"), CLF_OK);
    CU_ASSERT_EQUAL(memory_of(c).limit, 2 << 20);
    CU_ASSERT(memory_of(c).peak >= 80000 && memory_of(c).peak >= memory_of(c).now);
    CU_ASSERT_EQUAL(memory_of(c).now, (uint64_t)h.live);
    clf_mem_stats unset = {0};
    CU_ASSERT_EQUAL(clf_get_mem_stats(c, &unset), CLF_E_ARG);
    struct {
        size_t struct_size;
        uint64_t evaluations, guard;
    } old = {sizeof(size_t) + sizeof(uint64_t), 99, 77};
    CU_ASSERT_EQUAL(clf_get_stats(c, (clf_stats *)&old), CLF_OK); /* a caller built with fewer fields */
    CU_ASSERT(old.evaluations == 1 && old.guard == 77);
    clf_close(c);
    CU_ASSERT_EQUAL(h.live, 0);
}

/* ---- settings ---- */

static void test_settings(void) {
    clf_ctx *c = open_host();
    clf_mat *x = leaf(c);
    uint64_t launches = stats_of(c).launches_tier0;
    read_f64(clf_sum(clf_sqr(clf_abs(x))));
    CU_ASSERT_EQUAL(stats_of(c).launches_tier0, launches + 1);
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "none"), CLF_OK);
    read_f64(clf_sum(clf_sqr(clf_abs(x))));
    CU_ASSERT_EQUAL(stats_of(c).launches_tier0, launches + 3); /* abs and sumsq */
    CU_ASSERT_EQUAL(clf_set(c, "CLF_FUSE", "all"), CLF_OK);    /* by the environment's name */
    CU_ASSERT_EQUAL(clf_set(c, "kernel_ops", "1"), CLF_OK);
    read_f64(clf_sum(clf_sqr(clf_abs(x))));
    CU_ASSERT_EQUAL(stats_of(c).launches_tier0, launches + 5);
    CU_ASSERT_EQUAL(clf_set(c, "kernel_ops", "200"), CLF_OK);
    static const char *const isas[] = {"baseline", "avx2", "avx512", "auto"};
    for (int i = 0; i < 4; i++)
        for (int t = 1; t <= 4; t++) {
            char n[2] = {(char)('0' + t), 0};
            CU_ASSERT(clf_set(c, "isa", isas[i]) == CLF_OK && clf_set(c, "threads", n) == CLF_OK);
            clf_device d = {.struct_size = sizeof d};
            CU_ASSERT(clf_device_at(c, 0, &d) && d.compute_units == (unsigned)t && d.index == 0 && d.chosen);
            CU_ASSERT_EQUAL(read_f64(clf_sum(clf_seq(c, 1, 100000, 1))), 5000050000.0);
        }
    /* functions find their plan again */
    clf_mat *p = clf_param(c, CLF_F64, 2, 3, false), *r = clf_sum(clf_sqr(p)), *out = NULL;
    clf_fn *f = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_fn_new(c, 1, &p, 1, &r, &f), CLF_OK);
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(clf_set(c, "fuse", i % 2 ? "none" : "all"), CLF_OK);
        CU_ASSERT_EQUAL(clf_call(f, 1, &x, 1, &out), CLF_OK);
        CU_ASSERT_EQUAL(read_f64(out), 91);
    }
    const char *name, *env, *def, *doc;
    int n = 0;
    while (clf_knob_info(n, &name, &env, &def, &doc)) CU_ASSERT(name && !strncmp(env, "CLF_", 4) && def && strlen(doc) > 0 && n++ < 100);
    CU_ASSERT(n > 10);
    CU_ASSERT(!clf_knob_info(-1, NULL, NULL, NULL, NULL));
    clf_close(c);
}

/* Settings of open devices: they are opened again, and everything that was made for them is made again. */
static void test_device_settings(void) {
    static const char *const change[][2] = {{"host_pointers", "off"}, {"max_alloc", "64K"}, {"host_pointers", "on"},
                                            {"max_alloc", "0"},       {"tier", "0"},        {"tier", "2"}};
    clf_ctx *c = open_on(NULL);
    clf_device d = {.struct_size = sizeof d};
    if (clf_device_at(c, 1, &d)) {
        CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
        clf_mat *x = clf_seq(c, 1, 20000, 1), *p = clf_param(c, CLF_F64, 20000, 1, false), *r = clf_sum(clf_sqr(p)), *out = NULL;
        clf_fn *f = NULL;
        CU_ASSERT_EQUAL_FATAL(clf_fn_new(c, 1, &p, 1, &r, &f), CLF_OK);
        uint64_t begin = clf_now_ns();
        for (int i = -1; i < 6; i++) {
            if (i >= 0) CU_ASSERT_EQUAL(clf_set(c, change[i][0], change[i][1]), CLF_OK);
            CU_ASSERT_EQUAL(clf_call(f, 1, &x, 1, &out), CLF_OK);
            CU_ASSERT_EQUAL(read_f64(out), 2666866670000.0);
        }
        clf_stats s = stats_of(c);
        CU_ASSERT(s.build_ns > 0 && s.plan_ns > 0);
        CU_ASSERT(s.plan_ns + s.build_ns + s.run_ns <= clf_now_ns() - begin); /* each counted once */
    }
    clf_close(c);
}

/* ---- explain ---- */

/* A checker of JSON with a stack of brackets: true when the text is one value. */
static const char *json_token(const char *s, bool *good) {
    if (*s == '"') {
        for (s++; *s && *s != '"'; s++) {
            if ((unsigned char)*s < 0x20) *good = false;
            if (*s == '\\' && !strchr("\"\\/bfnrtu", *++s)) *good = false;
        }
        *good = *good && *s == '"';
        return *s ? s + 1 : s;
    }
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++)
        if (!strncmp(s, words[i], strlen(words[i]))) return s + strlen(words[i]);
    char *end;
    (void)strtod(s, &end);
    *good = *good && end != s;
    return end == s ? s + 1 : end;
}

static bool json_good(const char *s) {
    char stack[64];
    int depth = 0, values = 0;
    bool good = true, want_value = true, want_key = false, after_open = false;
    for (s += strspn(s, " \n"); *s && good; s += strspn(s, " \n")) {
        if (*s == '{' || *s == '[') {
            good = want_value && !want_key && depth < 64;
            if (good) stack[depth++] = *s;
            want_key = *s++ == '{';
            after_open = true;
            want_value = true;
        } else if (*s == '}' || *s == ']') {
            good = depth > 0 && stack[depth - 1] == (*s == '}' ? '{' : '[') && (after_open || !want_value);
            depth--;
            s++;
            after_open = want_value = want_key = false;
            values += depth == 0;
        } else if (*s == ',') {
            good = depth > 0 && !want_value;
            want_value = true;
            want_key = depth > 0 && stack[depth - 1] == '{';
            after_open = false;
            s++;
        } else {
            good = want_value && (!want_key || *s == '"');
            s = json_token(s, &good);
            after_open = false;
            if (want_key) {
                s += strspn(s, " \n");
                good = good && *s == ':';
                s += *s != 0;
                want_key = false;
            } else
                want_value = false;
        }
    }
    return good && depth == 0 && values == 1;
}

static void test_explain(void) {
    static const char *const word[] = {"sum", "digraph", "</svg>", "\"schema\": 1"};
    static text_sink t;
    clf_ctx *c = open_host();
    clf_mat *x = leaf(c), *y = leaf(c), *r[2] = {clf_sum(clf_mul(x, y)), clf_matmul(clf_t(x), clf_exp(y))};
    CU_ASSERT_EQUAL(clf_label(x, "a \"quoted\" <name> & more\n"), CLF_OK);
    for (int f = 0; f < 4; f++)
        for (unsigned flags = 0; flags < 8; flags++) {
            t.n = 0;
            CU_ASSERT_EQUAL(clf_explain(2, r, (clf_explain_format)f, flags, collect, &t), CLF_OK);
            if (!strstr(t.at, word[f])) printf("\n    %s\n", t.at);
            CU_ASSERT_PTR_NOT_NULL(strstr(t.at, word[f]));
            if (f == CLF_JSON) {
                if (!json_good(t.at)) printf("\n    %s\n", t.at);
                CU_ASSERT(json_good(t.at));
            }
            if (f == CLF_SVG || f == CLF_DOT) CU_ASSERT_PTR_NULL(strstr(t.at, "a \"quoted\""));
        }
    CU_ASSERT(!json_good("{\"a\": 1,}") && !json_good("{\"a\" 1}") && !json_good("[1 2]") && !json_good("{1: 2}") &&
              json_good("[{}, [], {\"a\": [1, null, \"x\\n\"]}]"));
    expect_error(c, clf_explain(2, r, (clf_explain_format)9, 0, collect, &t), CLF_E_ARG, "format");
    expect_error(c, clf_explain(2, r, CLF_TEXT, 0, NULL, NULL), CLF_E_ARG, "writer");
    clf_mat *bad = clf_add(x, clf_t(x));
    expect_error(c, clf_explain(1, &bad, CLF_TEXT, 0, collect, &t), CLF_E_SHAPE, "2x3 and 3x2");
    clf_mat *p = clf_sum(clf_param(c, CLF_F64, 2, 2, false));
    CU_ASSERT_EQUAL(clf_explain(1, &p, CLF_TEXT, 0, collect, &t), CLF_OK);
    expect_error(c, clf_explain(1, &p, CLF_TEXT, CLF_EXPLAIN_ANALYZE, collect, &t), CLF_E_ARG, "parameters");
    CU_ASSERT_EQUAL(read_f64(r[0]), 91); /* explaining changed nothing */
    clf_close(c);
}

/* ---- processes and threads ---- */

static void test_fork(void) {
    clf_ctx *c = open_host();
    clf_mat *done = clf_sum(leaf(c)), *open = clf_exp(leaf(c)), *p = clf_param(c, CLF_F64, 2, 3, false), *r = clf_sqr(p), *x = leaf(c);
    CU_ASSERT_EQUAL(clf_set(c, "threads", "3"), CLF_OK);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_seq(c, 1, 1000000, 1))), 500000500000.0); /* threads run */
    CU_ASSERT_EQUAL(read_f64(done), 21);
    clf_fn *f = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_fn_new(c, 1, &p, 1, &r, &f), CLF_OK);
    fflush(stdout);
    pid_t pid = fork();
    CU_ASSERT_NOT_EQUAL_FATAL(pid, -1);
    if (pid == 0) {
        double v = 0;
        clf_mat *out = NULL;
        bool good =
            clf_eval(1, &open) == CLF_E_STATE && strstr(clf_last_error(c), "fork") && clf_call(f, 1, &x, 1, &out) == CLF_E_STATE && !out;
        good = good && clf_explain(1, &open, CLF_TEXT, 0, collect, NULL) == CLF_E_STATE && clf_set(c, "fuse", "none") == CLF_E_STATE;
        good = good && clf_read_f64(done, &v) == CLF_OK && v == 21; /* what is computed can be read */
        clf_close(c);
        clf_ctx *mine = NULL;
        good = good && clf_open(&mine, &(clf_options){.struct_size = sizeof(clf_options), .device = "host"}) == CLF_OK;
        good = good && clf_read_f64(clf_sum(leaf(mine)), &v) == CLF_OK && v == 21;
        clf_close(mine);
        _exit(!good);
    }
    int status = 0;
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CU_ASSERT_EQUAL(clf_eval(1, &open), CLF_OK);
    clf_close(c);
}

static void test_two_contexts(void) {
    clf_ctx *a = open_host(), *b = open_host();
    CU_ASSERT_EQUAL(clf_set(b, "fuse", "none"), CLF_OK);
    clf_mat *x = leaf(a), *y = leaf(b), *ra = clf_sum(clf_sqr(x)), *rb = clf_sum(clf_sqr(y));
    CU_ASSERT_EQUAL(read_f64(ra), 91);
    expect_sticky(clf_add(y, clf_t(y)), CLF_E_SHAPE, "2x3");
    CU_ASSERT_STRING_EQUAL(clf_last_error(a), "");
    CU_ASSERT(strlen(clf_last_error(b)) > 0);
    clf_close(a);
    CU_ASSERT_EQUAL(read_f64(rb), 91);
    CU_ASSERT_EQUAL(stats_of(b).launches_tier0, 1); /* sumsq */
    clf_close(b);
}

typedef struct worker {
    pthread_t thread;
    clf_ctx *c;
    clf_mat *shared;
    int number;
    bool good;
} worker;

static void *record_much(void *arg) {
    worker *w = arg;
    w->good = true;
    for (int i = 0; i < 400 && w->good; i++) {
        clf_mat *n = clf_num(w->c, w->number * 1000 + i), *m = clf_mul(w->shared, n), *s = clf_sum(clf_add(m, clf_t(clf_t(m)))),
                *bad = clf_matmul(m, m);
        int64_t rows = 0;
        double v = 0;
        w->good = clf_info(m, &rows, NULL, NULL, NULL) == CLF_OK && rows == 2 && clf_status_of(bad, NULL) == CLF_E_SHAPE;
        w->good = w->good && clf_read_f64(s, &v) == CLF_OK && v == 42.0 * (w->number * 1000 + i);
        clf_mat *const drop[] = {n, m, s, bad};
        for (int k = 0; k < 4; k++) clf_free(drop[k]);
    }
    return NULL;
}

static void test_threads(void) {
    clf_ctx *c = open_host();
    worker w[4];
    clf_mat *shared =
        clf_sqr(clf_sqrt(clf_abs(clf_matrix(c, CLF_F64, 2, 3, (double[6]){1, 4, 9, 1, 4, 2 + 0})))); /* evaluated by whoever comes first */
    for (int i = 0; i < 4; i++) {
        w[i] = (worker){.c = c, .shared = shared, .number = i};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&w[i].thread, NULL, record_much, &w[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(w[i].thread, NULL);
        CU_ASSERT(w[i].good);
    }
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {
        {"functions", test_function},
        {"wrong calls", test_function_errors},
        {"constant memory", test_constant_memory},
        {"plan cache", test_plan_cache},
        {"results", test_results},
        {"files", test_files},
        {"memory", test_memory},
        {"settings", test_settings},
        {"settings of devices", test_device_settings},
        {"explain", test_explain},
        {"fork", test_fork},
        {"two contexts", test_two_contexts},
        {"threads", test_threads},
    };
    return run_suite("api", tests, sizeof tests / sizeof *tests);
}
