/* SPDX-License-Identifier: Apache-2.0
 * Calls that lack what they need: no context, no handle, a handle that was freed, one of another context, extents at the limits.
 * Each is refused by its status or by a sticky error, and the context works on. */
#include <math.h>

#include "host/graph/ctx.h"
#include "tests/unit/api_testing.h"

static const double x_data[6] = {1, 2, 3, 4, 5, 6};

typedef struct people {
    clf_ctx *c, *other;
    clf_mat *x, *alien, *sick, *gone;
} people;

/* The handle freed first is reused last: `gone` stays without an owner while the tests record some errors. */
static people meet(void) {
    enum { SPARE = 120 };
    people p = {.c = open_host(), .other = open_host()};
    clf_mat *spare[SPARE];
    p.x = clf_matrix(p.c, CLF_F64, 2, 3, x_data);
    p.alien = clf_matrix(p.other, CLF_F64, 2, 3, x_data);
    p.sick = clf_add(p.x, clf_t(p.x));
    for (int i = 0; i < SPARE; i++) spare[i] = clf_num(p.c, i);
    for (int i = 0; i < SPARE; i++) clf_free(spare[i]);
    p.gone = spare[0];
    CU_ASSERT_PTR_NULL(clf_ctx_of(p.gone));
    return p;
}

static void part(people *p) {
    CU_ASSERT_PTR_NULL(clf_ctx_of(p->gone));
    CU_ASSERT_EQUAL(read_f64(clf_sum(p->x)), 21);
    clf_close(p->other);
    clf_close(p->c);
}

static void test_no_context(void) {
    CU_ASSERT_PTR_NULL(clf_matrix(NULL, CLF_F64, 2, 3, x_data));
    CU_ASSERT_PTR_NULL(clf_borrow(NULL, CLF_F64, 2, 3, x_data, NULL, NULL));
    CU_ASSERT_PTR_NULL(clf_num(NULL, 1));
    CU_ASSERT_PTR_NULL(clf_int(NULL, 1));
    CU_ASSERT_PTR_NULL(clf_fill(NULL, CLF_F64, 1, 1, 0));
    CU_ASSERT_PTR_NULL(clf_seq(NULL, 1, 2, 1));
    CU_ASSERT_PTR_NULL(clf_rand(NULL, CLF_F64, 1, 1, 0, 1, 1, 1));
    CU_ASSERT_PTR_NULL(clf_param(NULL, CLF_F64, 1, 1, false));
    CU_ASSERT_PTR_NULL(clf_load(NULL, "x.npy"));
    CU_ASSERT_PTR_NULL(clf_expr(NULL, "1", NULL, 0));
    CU_ASSERT_STRING_EQUAL(clf_last_error(NULL), "");
    CU_ASSERT_STRING_EQUAL(clf_device_why(NULL), "");
    CU_ASSERT_EQUAL(clf_set(NULL, "fuse", "none"), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_calibrate(NULL), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_cache_list(NULL, false, NULL, NULL), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_cache_prune(NULL, 0, NULL, NULL), CLF_E_ARG);
    CU_ASSERT_STRING_EQUAL(clf_cache_folder(NULL, NULL), "");
    CU_ASSERT_EQUAL(clf_epoch_begin(NULL), 0);
    clf_epoch_end(NULL, 0);
    clf_trim(NULL);
    clf_close(NULL);
    clf_stats s = {.struct_size = sizeof s};
    clf_mem_stats m = {.struct_size = sizeof m};
    clf_device d = {.struct_size = sizeof d};
    CU_ASSERT_EQUAL(clf_get_stats(NULL, &s), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_get_mem_stats(NULL, &m), CLF_E_ARG);
    CU_ASSERT_FALSE(clf_device_at(NULL, 0, &d));
    clf_fn *f = NULL;
    CU_ASSERT_EQUAL(clf_fn_new(NULL, 0, NULL, 0, NULL, &f), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_call(NULL, 0, NULL, 0, NULL), CLF_E_ARG);
}

/* What a struct says of its own size is believed and no more is touched. */
static void test_structs(void) {
    people p = meet();
    clf_stats s = {.struct_size = sizeof(size_t) - 1};
    clf_mem_stats m = {.struct_size = 2};
    clf_device d = {.struct_size = sizeof d - 1};
    CU_ASSERT_EQUAL(clf_get_stats(p.c, NULL), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_get_stats(p.c, &s), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_get_mem_stats(p.c, NULL), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_get_mem_stats(p.c, &m), CLF_E_ARG);
    CU_ASSERT_FALSE(clf_device_at(p.c, 0, &d));
    CU_ASSERT_FALSE(clf_device_at(p.c, 0, NULL));
    d.struct_size = sizeof d;
    CU_ASSERT_FALSE(clf_device_at(p.c, -1, &d));
    CU_ASSERT_TRUE(clf_device_at(p.c, 0, &d));
    CU_ASSERT_STRING_EQUAL(d.kind, "host");
    CU_ASSERT_FALSE(clf_knob_info(-1, NULL, NULL, NULL, NULL));
    CU_ASSERT_FALSE(clf_knob_info(10000, NULL, NULL, NULL, NULL));
    CU_ASSERT_TRUE(clf_knob_info(0, NULL, NULL, NULL, NULL));
    clf_ctx *c = NULL;
    clf_options o = {.struct_size = sizeof o,
                     .device = "a name that is much longer than a name of a device may be; "
                               "a name that is much longer than a name of a device may be; "
                               "a name that is much longer than a name of a device may be; "
                               "a name that is much longer than a name of a device may be; "
                               "a name that is much longer than a name of a device may be"};
    CU_ASSERT_EQUAL(clf_open(&c, &o), CLF_E_ARG);
    CU_ASSERT_PTR_NULL(c);
    CU_ASSERT_PTR_NOT_NULL(strstr(clf_open_error(), "CLF_DEVICE"));
    part(&p);
}

static void test_no_operand(void) {
    people p = meet();
    clf_mat *const none[] = {NULL, p.gone};
    for (int i = 0; i < 2; i++) {
        clf_mat *m = none[i];
        CU_ASSERT_PTR_NULL(clf_apply(CLF_ADD, m, m, NULL));
        CU_ASSERT_PTR_NULL(clf_apply((clf_op_code)-1, m, NULL, NULL));
        CU_ASSERT_PTR_NULL(clf_outer(CLF_MUL, m, m));
        CU_ASSERT_PTR_NULL(clf_matmul(m, m));
        CU_ASSERT_PTR_NULL(clf_cast(m, CLF_F32));
        CU_ASSERT_PTR_NULL(clf_as_scalar(m));
        CU_ASSERT_PTR_NULL(clf_as_matrix(m));
        CU_ASSERT_PTR_NULL(clf_sum(m));
        CU_ASSERT_PTR_NULL(clf_cum(CLF_FOLD_CODE_SUM, m));
        CU_ASSERT_PTR_NULL(clf_index(m, 1, 1, 1, 1));
        expect_sticky(clf_apply(CLF_ADD, p.x, m, NULL), CLF_E_ARG, "operand 2");
        expect_sticky(clf_apply(CLF_ADD, m, p.x, NULL), CLF_E_ARG, "operand 1");
        expect_sticky(clf_outer(CLF_MUL, p.x, m), CLF_E_ARG, "two handles");
        expect_sticky(clf_outer(CLF_MUL, m, p.x), CLF_E_ARG, "two handles");
        expect_sticky(clf_matmul(p.x, m), CLF_E_ARG, "operand 2");
        expect_sticky(clf_matmul(m, p.x), CLF_E_ARG, "operand 1");
    }
    expect_sticky(clf_apply((clf_op_code)-1, p.x, NULL, NULL), CLF_E_ARG, "no operator -1");
    expect_sticky(clf_outer((clf_op_code)-1, p.x, p.x), CLF_E_ARG, "binary");
    expect_sticky(clf_outer((clf_op_code)9999, p.x, p.x), CLF_E_ARG, "binary");
    expect_sticky(clf_outer(CLF_MUL, p.x, p.sick), CLF_E_SHAPE, "2x3 and 3x2");
    expect_sticky(clf_outer(CLF_MUL, p.x, clf_matrix(p.c, CLF_F64, 4, 1, x_data)), CLF_E_SHAPE, "2x3 and 1x4");
    expect_sticky(clf_fold((clf_fold_code)9999, CLF_ALL, p.x), CLF_E_ARG, "9999");
    expect_sticky(clf_fold(CLF_FOLD_CODE_SUM, (clf_dir)-1, p.x), CLF_E_ARG, "direction -1");
    expect_sticky(clf_cum((clf_fold_code)-1, p.x), CLF_E_ARG, "-1");
    part(&p);
}

static void test_no_result(void) {
    people p = meet();
    double v = 0;
    const void *at = NULL;
    clf_mat *const none[] = {NULL, p.gone};
    CU_ASSERT_EQUAL(clf_eval(0, NULL), CLF_OK);
    CU_ASSERT_EQUAL(clf_eval(1, NULL), CLF_E_ARG);
    for (int i = 0; i < 2; i++) {
        clf_mat *m = none[i], *second[2] = {p.x, m};
        CU_ASSERT_EQUAL(clf_eval(1, &m), CLF_E_ARG);
        expect_error(p.c, clf_eval(2, second), CLF_E_ARG, "result 2 is missing");
        CU_ASSERT_EQUAL(clf_read(m, &v, sizeof v), CLF_E_ARG);
        CU_ASSERT_EQUAL(clf_read_f64(m, &v), CLF_E_ARG);
        CU_ASSERT_EQUAL(clf_data(m, &at), CLF_E_ARG);
        CU_ASSERT_EQUAL(clf_save(m, "never.npy", NULL), CLF_E_ARG);
        CU_ASSERT_EQUAL(clf_changed(m), CLF_E_ARG);
        CU_ASSERT_EQUAL(clf_label(m, "name"), CLF_E_ARG);
        CU_ASSERT_EQUAL(clf_info(m, NULL, NULL, NULL, NULL), CLF_E_ARG);
        const char *text = "";
        CU_ASSERT_EQUAL(clf_status_of(m, &text), CLF_E_ARG);
        CU_ASSERT_STRING_EQUAL(text, "no handle");
        CU_ASSERT_EQUAL(clf_status_of(m, NULL), CLF_E_ARG);
        CU_ASSERT_PTR_NULL(clf_ctx_of(m));
        CU_ASSERT_PTR_EQUAL(clf_keep(m), m);
        clf_free(m);
    }
    expect_error(p.c, clf_read_f64(clf_sum(p.x), NULL), CLF_E_ARG, "NULL");
    expect_error(p.c, clf_data(p.x, NULL), CLF_E_ARG, "NULL");
    expect_error(p.c, clf_read(p.x, NULL, sizeof x_data), CLF_E_ARG, "NULL");
    expect_error(p.c, clf_label(p.x, NULL), CLF_E_ARG, "NULL");
    expect_error(p.c, clf_label(clf_exp(p.x), "e"), CLF_E_ARG, "leaves");
    expect_error(p.c, clf_changed(p.x), CLF_E_ARG, "not a borrowed leaf");
    expect_error(p.c, clf_changed(clf_param(p.c, CLF_F64, 1, 1, false)), CLF_E_ARG, "not a borrowed leaf");
    expect_error(p.c, clf_changed(p.sick), CLF_E_SHAPE, "2x3 and 3x2");
    part(&p);
}

static void drop_text(void *user, const char *text, size_t n) { (void)user, (void)text, (void)n; }

static void test_explain(void) {
    people p = meet();
    clf_mat *const none[] = {NULL, p.gone, p.alien};
    CU_ASSERT_EQUAL(clf_explain(0, &p.x, CLF_TEXT, 0, drop_text, NULL), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_explain(1, NULL, CLF_TEXT, 0, drop_text, NULL), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_explain(1, &none[0], CLF_TEXT, 0, drop_text, NULL), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_explain(1, &none[1], CLF_TEXT, 0, drop_text, NULL), CLF_E_ARG);
    for (int i = 0; i < 3; i++) {
        clf_mat *second[2] = {p.x, none[i]};
        expect_error(p.c, clf_explain(2, second, CLF_TEXT, 0, drop_text, NULL), CLF_E_ARG, "result 2");
    }
    expect_error(p.c, clf_explain(1, &p.x, (clf_explain_format)-1, 0, drop_text, NULL), CLF_E_ARG, "no format -1");
    part(&p);
}

static void test_functions(void) {
    people p = meet();
    clf_mat *in[2] = {clf_param(p.c, CLF_F64, 2, 3, false), clf_param(p.c, CLF_F64, 1, 1, false)};
    clf_mat *alien = clf_param(p.other, CLF_F64, 2, 3, false), *none = NULL, *r = clf_add(in[0], in[1]), *out = NULL;
    clf_fn *f = NULL, *g = NULL, *h = NULL;
    CU_ASSERT_EQUAL(clf_fn_new(p.c, 2, in, 1, &r, NULL), CLF_E_ARG);
    expect_error(p.c, clf_fn_new(p.c, 2, in, 1, NULL, &f), CLF_E_ARG, "needs results");
    expect_error(p.c, clf_fn_new(p.c, 2, NULL, 1, &r, &f), CLF_E_ARG, "needs results");
    expect_error(p.c, clf_fn_new(p.c, 2, in, 1, &none, &f), CLF_E_ARG, "result 1");
    expect_error(p.c, clf_fn_new(p.c, 2, in, 1, &p.alien, &f), CLF_E_ARG, "result 1");
    expect_error(p.c, clf_fn_new(p.c, 2, (clf_mat *[]){in[0], NULL}, 1, &r, &f), CLF_E_ARG, "parameter 2");
    expect_error(p.c, clf_fn_new(p.c, 2, (clf_mat *[]){alien, in[1]}, 1, &r, &f), CLF_E_ARG, "parameter 1");
    CU_ASSERT_PTR_NULL(f);
    CU_ASSERT_EQUAL_FATAL(clf_fn_new(p.c, 2, in, 1, &r, &f), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_fn_new(p.c, 2, in, 1, &r, &g), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_fn_new(p.c, 0, NULL, 1, &p.x, &h), CLF_OK); /* a constant */
    clf_mat *one = clf_matrix(p.c, CLF_F64, 1, 1, x_data), *num = clf_num(p.c, 1), *row = clf_matrix(p.c, CLF_F64, 1, 3, x_data);
    expect_error(p.c, clf_call(f, 2, NULL, 1, &out), CLF_E_ARG, "2 arguments");
    expect_error(p.c, clf_call(f, 2, (clf_mat *[]){p.alien, one}, 1, &out), CLF_E_ARG, "argument 1");
    expect_error(p.c, clf_call(f, 2, (clf_mat *[]){p.x, p.sick}, 1, &out), CLF_E_SHAPE, "2x3 and 3x2");
    expect_error(p.c, clf_call(f, 2, (clf_mat *[]){p.x, num}, 1, &out), CLF_E_SHAPE, "argument 2");
    expect_error(p.c, clf_call(f, 2, (clf_mat *[]){row, one}, 1, &out), CLF_E_SHAPE, "argument 1 is 1x3");
    expect_error(p.c, clf_call(f, 2, (clf_mat *[]){clf_index(p.x, 1, 2, 1, 2), one}, 1, &out), CLF_E_SHAPE, "argument 1 is 2x2");
    expect_error(p.c, clf_call(f, 2, (clf_mat *[]){p.x, clf_int(p.c, 1)}, 1, &out), CLF_E_TYPE, "i64");
    CU_ASSERT_PTR_NULL(out);
    clf_fn_free(g); /* from the middle of the list */
    out = p.alien;  /* of another context: left alone, a new handle is given */
    CU_ASSERT_EQUAL(clf_call(f, 2, (clf_mat *[]){p.x, one}, 1, &out), CLF_OK);
    CU_ASSERT_PTR_NOT_EQUAL(out, p.alien);
    CU_ASSERT_EQUAL(read_f64(clf_sum(out)), 27);
    out = p.gone;
    CU_ASSERT_EQUAL(clf_call(h, 0, NULL, 1, &out), CLF_OK);
    CU_ASSERT_PTR_NOT_EQUAL(out, p.gone);
    CU_ASSERT_EQUAL(read_f64(clf_sum(out)), 21);
    part(&p);
}

static void test_language(void) {
    people p = meet();
    clf_result r[2];
    size_t n = 2;
    clf_binding bad[] = {{NULL, p.x}, {"X", NULL}, {"X", p.alien}};
    static const char *const word[] = {"no name or no value", "no name or no value", "another context"};
    for (int i = 0; i < 3; i++) {
        expect_error(p.c, clf_parse(p.c, "1", &bad[i], 1, r, &n), CLF_E_ARG, word[i]);
        expect_sticky(clf_expr(p.c, "1", &bad[i], 1), CLF_E_ARG, word[i]);
    }
    expect_error(p.c, clf_parse(p.c, "1", NULL, 0, NULL, &n), CLF_E_ARG, "NULL");
    expect_sticky(clf_expr(p.c, NULL, NULL, 0), CLF_E_ARG, "NULL");
    expect_sticky(clf_expr(p.c, "1", NULL, 1), CLF_E_ARG, "NULL");
    n = 0; /* asks only whether there are results */
    CU_ASSERT_EQUAL(clf_parse(p.c, "# none", NULL, 0, NULL, &n), CLF_OK);
    expect_error(p.c, clf_parse(p.c, "1", NULL, 0, NULL, &n), CLF_E_LIMIT, "1 results, room for 0");
    part(&p);
}

/* Extents one beyond what is there, one at a time; sums of extents that wrap. */
static void test_extents(void) {
    people p = meet();
    static const int64_t outside[][4] = {{0, 1, 1, 3}, {3, 1, 1, 3}, {1, 3, 1, 3}, {1, 2, 0, 3}, {1, 2, 3, 1}, {1, 2, 1, 4}};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        expect_sticky(clf_index(p.x, outside[i][0], outside[i][1], outside[i][2], outside[i][3]), CLF_E_SHAPE, "outside 2x3");
    clf_mat *col = clf_matrix(p.c, CLF_F64, 3, 3, (double[9]){0}), *wide = clf_matrix(p.c, CLF_F64, 4, 3, (double[12]){0});
    expect_sticky(clf_matmul(p.x, p.x), CLF_E_SHAPE, "did you mean t(A) %*% B?");
    expect_sticky(clf_matmul(col, wide), CLF_E_SHAPE, "did you mean A %*% t(B)?");
    const char *text = "";
    CU_ASSERT_EQUAL(clf_status_of(clf_matmul(p.x, clf_matrix(p.c, CLF_F64, 4, 1, x_data)), &text), CLF_E_SHAPE);
    CU_ASSERT_PTR_NULL(strstr(text, "did you mean"));
    expect_sticky(clf_reshape(p.x, 6, -1), CLF_E_SHAPE, "6x-1");
    expect_sticky(clf_fill(p.c, CLF_F64, 2, -1, 0), CLF_E_SHAPE, "negative");
    expect_sticky(clf_fill(p.c, CLF_F64, -1, 2, 0), CLF_E_SHAPE, "negative");
    expect_sticky(clf_rand(p.c, CLF_F64, 2, -2, 0, 1, 1, 1), CLF_E_SHAPE, "negative");
    expect_sticky(clf_rand(p.c, CLF_F64, 2, 2, 0, INFINITY, 1, 1), CLF_E_ARG, "max");
    expect_sticky(clf_rand(p.c, CLF_F64, 2, 2, 1, 0, 1, 1), CLF_E_ARG, "min");
    expect_sticky(clf_rand(p.c, CLF_F64, 2, 2, 0, 1, -0.5, 1), CLF_E_ARG, "sparsity");
    expect_sticky(clf_seq(p.c, NAN, 1, 1), CLF_E_ARG, "seq");
    expect_sticky(clf_seq(p.c, 1, 2, INFINITY), CLF_E_ARG, "seq");
    expect_sticky(clf_param(p.c, (clf_dtype)31, 1, 1, false), CLF_E_TYPE, "31");
    expect_sticky(clf_param(p.c, CLF_F64, -1, 1, false), CLF_E_SHAPE, "negative");
    clf_mat *flat = clf_fill(p.c, CLF_U8, 0, INT64_MAX, 0), *tall = clf_fill(p.c, CLF_U8, INT64_MAX, 0, 0);
    expect_sticky(clf_cbind(flat, flat), CLF_E_LIMIT, "too many cells");
    expect_sticky(clf_rbind(tall, tall), CLF_E_LIMIT, "too many cells");
    part(&p);
}

/* The rules of recording have no row for what is not recorded by operands. */
static void test_rules(void) {
    people p = meet();
    clf_node *out = NULL;
    clf_err err = {CLF_OK, ""};
    CU_ASSERT_EQUAL(clf_record_form(p.c, CLF_OP_LEAF, NULL, 0, NULL, &out, &err), CLF_E_INTERNAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "not recorded this way"));
    CU_ASSERT_PTR_NULL(out);
    part(&p);
}

int main(void) {
    static const test_case tests[] = {
        {"no context", test_no_context}, {"structs", test_structs}, {"no operand", test_no_operand},
        {"no result", test_no_result},   {"explain", test_explain}, {"functions", test_functions},
        {"the language", test_language}, {"extents", test_extents}, {"rules", test_rules},
    };
    return run_suite("misuse", tests, sizeof tests / sizeof *tests);
}
