/* SPDX-License-Identifier: Apache-2.0
 * The calls a script can make, one function each: leaves, recording, results, functions, handles, settings, questions; the sparse ones
 * are in api_sparse.c. Arguments are drawn from small sets that hold good and hostile values; a call is added here when the interface
 * gains one. */
#include <math.h>

#include "tests/fuzz/api_value.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static int64_t extent(api_player *s) {
    static const int64_t small[] = {0, 1, 2, 3, 4, 5, 8, 17};
    static const int64_t wild[] = {-1, INT64_MAX, INT64_MIN, (int64_t)1 << 32, (int64_t)1 << 40, 65};
    unsigned k = api_byte(s);
    return k < 240 ? small[k % COUNT(small)] : wild[k % COUNT(wild)];
}

/* Mostly one of the five types. */
static clf_dtype type(api_player *s) {
    unsigned k = api_byte(s);
    return k < 250 ? (clf_dtype)(k % 5) : (clf_dtype)(k - 252);
}

static double real(api_player *s, api_kind *kind, double *bound) {
    static const double wild[] = {0.5, -0.25, 1e300, -1e-300, INFINITY, -INFINITY, NAN, 4294967296.5};
    unsigned k = api_byte(s);
    bool whole = k < 200;
    double x = whole ? (double)(k % 17) - 8 : wild[k % COUNT(wild)];
    if (!whole) *kind = API_CELLS;
    *bound = api_larger(*bound, fabs(x));
    return x;
}

/* ---- leaves ---- */

static void call_matrix(api_player *s) {
    clf_dtype t = type(s);
    int64_t rows = extent(s), cols = extent(s);
    unsigned seed = api_byte(s);
    double data[17 * 17];
    bool mine = rows >= 0 && cols >= 0 && rows <= 17 && cols <= 17;
    for (int64_t i = 0; mine && i < rows * cols; i++) api_store(data, i, t, (int)((i * 7 + seed * i + seed) % 17) - 8);
    /* what is too large has no memory behind it: only its refusal can be asked for */
    if (mine || rows < 0 || cols < 0 || rows > INT64_MAX / 2 || cols > INT64_MAX / 2)
        api_put(s, clf_matrix(s->c, t, rows, cols, mine && seed < 250 ? data : NULL), API_EXACT, t == CLF_U8 ? 255 : 8);
}

static void call_borrow(api_player *s) {
    unsigned shape = api_byte(s);
    int64_t rows = shape % 5, cols = shape / 5 % 5;
    api_put(s, clf_borrow(s->c, CLF_F64, rows, cols, s->borrowed, NULL, NULL), API_EXACT, 300);
}

static void call_changed(api_player *s) {
    clf_mat *m = api_take(s)->m;
    s->borrowed[api_byte(s) % API_BORROWED] = api_byte(s);
    s->changed = true;
    /* what was recorded over the old contents says nothing any more: only what is recorded from here on */
    for (int i = 0; i < API_OTHER; i++) s->slot[i].kind = API_FREE;
    clf_status st = m ? clf_changed(m) : CLF_OK;
    api_log(s, st);
}

static void call_num(api_player *s) {
    api_kind kind = API_EXACT;
    double bound = 0, x = real(s, &kind, &bound);
    api_put(s, clf_num(s->c, x), kind, bound);
}

static void call_int(api_player *s) {
    unsigned k = api_byte(s);
    int64_t x = k < 250 ? (int64_t)k - 125 : extent(s);
    api_put(s, clf_int(s->c, x), API_EXACT, fabs((double)x));
}

static void call_fill(api_player *s) {
    api_kind kind = API_EXACT;
    double bound = 0;
    clf_dtype t = type(s);
    int64_t rows = extent(s), cols = extent(s);
    double x = real(s, &kind, &bound);
    api_put(s, clf_fill(s->c, t, rows, cols, x), t == CLF_F64 ? kind : api_worse(kind, kind == API_EXACT ? API_EXACT : API_FREE), bound);
}

static void call_seq(api_player *s) {
    api_kind kind = API_EXACT;
    double bound = 0, from = real(s, &kind, &bound), to = real(s, &kind, &bound), by = real(s, &kind, &bound);
    api_put(s, clf_seq(s->c, from, to, by), kind, bound);
}

static void call_rand(api_player *s) {
    api_kind kind = API_CELLS;
    double bound = 0;
    clf_dtype t = type(s);
    int64_t rows = extent(s), cols = extent(s);
    double lo = real(s, &kind, &bound), hi = real(s, &kind, &bound), sparsity = api_byte(s) / 250.0;
    api_put(s, clf_rand(s->c, t, rows, cols, lo, hi, sparsity, api_byte(s)), kind, bound);
}

/* ---- recording ---- */

static void call_cell(api_player *s) {
    unsigned op = api_byte(s);
    const api_value *x[3] = {api_take(s), api_take(s), api_take(s)};
    double bound = 0;
    api_kind kind = api_signs_kind(s, (int)op, api_cell_kind((int)op, x, &bound));
    api_put(s, clf_apply((clf_op_code)op, x[0]->m, x[1]->m, x[2]->m), kind, bound);
}

static void call_outer(api_player *s) {
    unsigned op = api_byte(s);
    const api_value *u = api_take(s), *v = api_take(s), *x[3] = {u, v, v};
    double bound = 0;
    api_kind kind = api_signs_kind(s, (int)op, api_cell_kind((int)op, x, &bound));
    api_put(s, clf_outer((clf_op_code)op, u->m, v->m), kind, bound);
}

static void call_fold(api_player *s) {
    unsigned fold = api_byte(s) % (CLF_FOLD_CODES + 1), dir = api_byte(s) % 4;
    const api_value *x = api_take(s);
    int64_t rows, cols;
    double bound = 0;
    api_shape(x->m, &rows, &cols);
    int64_t n = dir == CLF_ROWS ? cols : dir == CLF_COLS ? rows : rows * cols;
    api_kind kind = api_fold_kind((int)fold, x, (double)n, &bound);
    api_put(s, clf_fold((clf_fold_code)fold, (clf_dir)dir, x->m), kind, bound);
}

static void call_cum(api_player *s) {
    unsigned fold = api_byte(s) % (CLF_FOLD_CODES + 1);
    const api_value *x = api_take(s);
    int64_t rows, cols;
    double bound = 0;
    api_shape(x->m, &rows, &cols);
    api_kind kind = api_fold_kind((int)fold, x, (double)rows, &bound);
    api_put(s, clf_cum((clf_fold_code)fold, x->m), kind, bound);
}

static void call_matmul(api_player *s) {
    const api_value *a = api_take(s), *b = api_take(s);
    int64_t rows, cols;
    api_shape(a->m, &rows, &cols);
    bool exact = a->kind == API_EXACT && b->kind == API_EXACT;
    api_put(s, clf_matmul(a->m, b->m), exact ? API_EXACT : API_FREE, (double)cols * a->bound * b->bound);
}

static void call_join(api_player *s) {
    clf_mat *(*const join[])(clf_mat *, clf_mat *) = {clf_cbind, clf_rbind};
    unsigned which = api_byte(s) % 2;
    const api_value *a = api_take(s), *b = api_take(s);
    api_put(s, join[which](a->m, b->m), api_worse(a->kind, b->kind), api_larger(a->bound, b->bound));
}

static void call_form(api_player *s) {
    clf_mat *(*const form[])(clf_mat *) = {clf_t, clf_diag, clf_rev, clf_as_scalar, clf_as_matrix, clf_neg};
    unsigned which = api_byte(s) % COUNT(form);
    const api_value *x = api_take(s);
    api_put(s, form[which](x->m), x->kind, x->bound);
}

static void call_cast(api_player *s) {
    const api_value *x = api_take(s);
    api_put(s, clf_cast(x->m, type(s)), x->kind, x->bound);
}

static void call_index(api_player *s) {
    const api_value *x = api_take(s);
    int64_t at[4];
    for (int i = 0; i < 4; i++) at[i] = extent(s);
    api_put(s, clf_index(x->m, at[0], at[1], at[2], at[3]), x->kind, x->bound);
}

static void call_reshape(api_player *s) {
    const api_value *x = api_take(s);
    int64_t rows, cols;
    api_shape(x->m, &rows, &cols);
    int64_t r = extent(s);
    if (r == 0) r = cols;
    api_put(s, clf_reshape(x->m, r, r > 0 && rows * cols % r == 0 ? rows * cols / r : extent(s)), x->kind, x->bound);
}

static void call_order(api_player *s) {
    const api_value *x = api_take(s);
    unsigned how = api_byte(s);
    int64_t by = extent(s);
    api_put(s, clf_order(x->m, by, how & 1, how & 2), x->kind == API_EXACT ? API_EXACT : API_FREE, api_larger(x->bound, API_MOST_CELLS));
}

/* Every derivative is a handle or nothing; what failed says so by the status and by each handle. */
static void call_grad(api_player *s) {
    clf_mat *loss = api_take(s)->m, *wrt[2] = {api_take(s)->m, api_take(s)->m}, *out[2] = {NULL, NULL};
    size_t n = api_byte(s) % 3;
    clf_status st = clf_grad(loss, n, wrt, out);
    api_log(s, st);
    for (size_t i = 0; i < n; i++) {
        if (!out[i]) continue;
        FUZZ_MUST((clf_status_of(out[i], NULL) == CLF_OK) == (st == CLF_OK));
        api_put(s, out[i], API_FREE, 0);
    }
}

/* ---- the language ---- */

static void call_expr(api_player *s) {
    static const char *const texts[] = {
        "a + b * 2", "sum(a) + sum(b)",   "a %*% t(b)", "a[1,] + b[1,]",        "rowSums(a) * 2 >", "cbind(a, b, a)", "a b",
        "",          "grad(sum(a^2), a)", "nosuch(a)",  "max(a, b) - min(a, b)"};
    const char *text = texts[api_byte(s) % COUNT(texts)];
    clf_binding b[2] = {{"a", api_take(s)->m}, {"b", api_take(s)->m}};
    api_put(s, clf_expr(s->c, text, b, 2), API_FREE, 0);
}

/* ---- results ---- */

static void call_read(api_player *s) { api_read(s, api_take(s)); }

static void call_eval(api_player *s) {
    clf_mat *m[4];
    unsigned n = api_byte(s) % 5;
    for (unsigned i = 0; i < n; i++) m[i] = api_take(s)->m;
    api_log(s, clf_eval(n, n || api_byte(s) % 2 ? m : NULL));
}

static void call_read_wrong(api_player *s) {
    const api_value *x = api_take(s);
    double out[2] = {0};
    const void *data = NULL;
    size_t bytes = api_byte(s) % 17;
    api_log(s, clf_read(x->m, out, bytes));
    api_log(s, clf_read(x->m, NULL, bytes));
    api_log(s, clf_data(x->m, api_byte(s) % 4 ? &data : NULL));
    clf_status st = clf_read_f64(x->m, out);
    api_log(s, st);
    if (st == CLF_OK && x->kind != API_FREE) api_log(s, out[0]);
    api_log(s, clf_save(x->m, NULL, NULL));
}

static void ignore(void *user, const char *text, size_t n) { *(size_t *)user += n + (text == NULL); }

/* Here, or on machines that are not there: one device, several, more than can be, and files that are none. */
static void call_explain(api_player *s) {
#define PROFILE(name) CLF_TESTS_DIR "/golden/profiles/" name ".txt"
    static const char *const file[] = {PROFILE("host"),     PROFILE("fast-gpu-slow-link"),
                                       PROFILE("slow-gpu"), PROFILE("gone"),
                                       PROFILE("host"),     PROFILE("equal-a"),
                                       PROFILE("equal-b"),  PROFILE("pocl")};
    static const size_t devices[] = {0, 1, 3, 9};
    clf_mat *m[2] = {api_take(s)->m, api_take(s)->m};
    size_t seen = 0;
    unsigned how = api_byte(s), which = api_byte(s), flags = which % 8 & ~(unsigned)CLF_EXPLAIN_KERNEL;
    size_t n = 1 + how / 8 % 2, there = devices[which / 64];
    clf_explain_format format = (clf_explain_format)(how % 5);
    clf_write_fn write = how == 255 ? NULL : ignore;
    const char *profile[9];
    for (unsigned i = 0; i < COUNT(profile); i++) profile[i] = file[(which / 8 % 8 + i) % COUNT(file)];
    api_log(s, there ? clf_explain_for(there, profile, n, m, format, flags, write, &seen) : clf_explain(n, m, format, flags, write, &seen));
}

/* ---- functions ---- */

enum { PARAM_BOUND = 8 };
static void call_param(api_player *s) {
    clf_dtype t = type(s);
    int64_t rows = extent(s), cols = extent(s);
    api_put(s, clf_param(s->c, t, rows, cols, rows == 1 && cols == 1), API_EXACT, PARAM_BOUND);
}

static void call_fn_new(api_player *s) {
    api_function *f = &s->fn[api_byte(s) % API_FUNCTIONS];
    clf_mat *param[API_MOST_ARGS], *result[API_MOST_ARGS];
    clf_fn_free(f->f);
    *f = (api_function){.nparam = api_byte(s) % (API_MOST_ARGS + 1), .nresult = api_byte(s) % (API_MOST_ARGS + 1)};
    for (size_t i = 0; i < f->nparam; i++) param[i] = api_take(s)->m;
    for (size_t i = 0; i < f->nresult; i++) {
        f->result[i] = *api_take(s);
        result[i] = f->result[i].m;
    }
    clf_status st = clf_fn_new(s->c, f->nparam, param, f->nresult, result, &f->f);
    FUZZ_MUST(st == CLF_OK ? f->f != NULL : f->f == NULL);
    api_log(s, st);
}

/* The same from text: as many bare expressions as results. */
static void call_fn_parse(api_player *s) {
    static const char *const texts[] = {"a + b", "c = a*b; c; sum(c)", "sum(a); b; a", "a %*% b", "c = a", "a; nosuch", ""};
    static const uint8_t bare[] = {1, 2, 3, 1, 0, 0, 0};
    api_function *f = &s->fn[api_byte(s) % API_FUNCTIONS];
    unsigned which = api_byte(s) % COUNT(texts);
    clf_binding b[2] = {{"a", api_take(s)->m}, {"b", api_take(s)->m}};
    clf_fn_free(f->f);
    *f = (api_function){.nparam = api_byte(s) % 4, .nresult = bare[which]};
    clf_status st = clf_fn_parse(s->c, texts[which], f->nparam, b, 2, &f->f);
    FUZZ_MUST(st == CLF_OK ? f->f != NULL && f->nparam <= 2 : f->f == NULL);
    api_log(s, st);
}

static void call_fn_free(api_player *s) {
    api_function *f = &s->fn[api_byte(s) % API_FUNCTIONS];
    clf_fn_free(f->f);
    *f = (api_function){0};
}

/* Results go into neighbouring slots; what was there is used again where it fits. */
static void call_call(api_player *s) {
    api_function *f = &s->fn[api_byte(s) % API_FUNCTIONS];
    size_t nargs = f->nparam, first = api_byte(s) % (API_OTHER - API_MOST_ARGS);
    clf_mat *arg[API_MOST_ARGS], *out[API_MOST_ARGS] = {NULL};
    bool exact = true;
    for (size_t i = 0; i < nargs; i++) {
        const api_value *x = api_take(s);
        arg[i] = x->m;
        exact &= x->kind == API_EXACT && x->bound <= PARAM_BOUND;
    }
    for (size_t i = 0; i < f->nresult; i++) out[i] = s->slot[first + i].m;
    if (!f->f) {
        api_log(s, clf_call(NULL, nargs, arg, f->nresult, out));
        return;
    }
    unsigned wrong = api_byte(s);
    clf_status st = clf_call(f->f, nargs, arg, f->nresult + (wrong == 255), out);
    api_log(s, st);
    for (size_t i = 0; st == CLF_OK && i < f->nresult; i++) {
        uint64_t serial = s->slot[first + i].m ? s->slot[first + i].serial : ++s->serial;
        s->slot[first + i] = (api_value){out[i], exact ? f->result[i].kind : API_FREE, f->result[i].bound, serial};
    }
}

/* ---- handles ---- */

static void call_free(api_player *s) {
    api_value *x = &s->slot[api_byte(s) % API_OTHER];
    clf_free(x->m);
    *x = (api_value){0};
}

static void call_label(api_player *s) {
    static const char *const names[] = {"x", "", "a name with \" and \\ and <&>", NULL};
    clf_mat *m = api_take(s)->m;
    if (m) api_log(s, clf_label(m, names[api_byte(s) % COUNT(names)]));
}

static void call_epoch_begin(api_player *s) {
    if (s->epochs == API_EPOCHS) return;
    s->mark[s->epochs] = clf_epoch_begin(s->c);
    s->mark_serial[s->epochs++] = s->serial;
}

/* What is kept outlives the epoch but not the play: its slot forgets it with the others. */
static void call_epoch_end(api_player *s) {
    unsigned keep = api_byte(s);
    if (keep < API_OTHER && s->slot[keep].m) FUZZ_MUST(clf_keep(s->slot[keep].m) == s->slot[keep].m);
    if (s->epochs == 0) return;
    s->epochs--;
    clf_epoch_end(s->c, s->mark[s->epochs]);
    api_forget(s, s->mark_serial[s->epochs]);
}

/* ---- settings and questions ---- */

static void call_set(api_player *s) {
    static const char *const names[] = {"CLF_KERNEL_OPS", "checksum", "isa",   "index_bits", "dtype",
                                        "strategy",       "tier",     "check", "nosuch",     NULL};
    static const char *const values[] = {"1",  "2",   "on",    "off", "auto", "baseline", "avx2", "32",
                                         "64", "f32", "chunk", "ref", "0",    "-1",       "",     NULL};
    const char *name = names[api_byte(s) % COUNT(names)], *value = values[api_byte(s) % COUNT(values)];
    clf_status st = clf_set(s->c, name, value);
    FUZZ_MUST(st == CLF_OK || clf_last_error(s->c)[0]);
    s->knobs_changed |= st == CLF_OK;
    api_log(s, st);
}

static void call_ask(api_player *s) {
    union {
        size_t struct_size;
        clf_stats stats;
        clf_mem_stats mem;
    } u;
    memset(&u, 0, sizeof u);
    u.struct_size = api_byte(s);
    if (u.struct_size > sizeof u) u.struct_size = sizeof u;
    api_log(s, api_byte(s) % 2 ? clf_get_stats(s->c, &u.stats) : clf_get_mem_stats(s->c, &u.mem));
    clf_trim(s->c);
    const char *text;
    for (int i = -1; i < 3; i++) (void)clf_knob_info(i, &text, NULL, NULL, NULL);
}

const api_call api_calls[] = {
    call_matrix, call_matrix, call_borrow, call_changed,     call_num,       call_int,   call_fill,    call_seq,
    call_rand,   call_cell,   call_cell,   call_cell,        call_grad,      call_outer, call_fold,    call_fold,
    call_cum,    call_matmul, call_join,   call_form,        call_cast,      call_index, call_reshape, call_order,
    call_expr,   call_read,   call_eval,   call_read_wrong,  call_explain,   call_param, call_fn_new,  call_fn_free,
    call_call,   call_free,   call_label,  call_epoch_begin, call_epoch_end, call_set,   call_ask,     call_fn_parse,
};
const unsigned api_ncalls = COUNT(api_calls);
