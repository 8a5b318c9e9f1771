/* SPDX-License-Identifier: Apache-2.0
 * Loops over stored entries that the host and an OpenCL device run together: wherever they are cut, by host memory or through buffers, in
 * either strategy, all bytes are those of the device alone. What cannot be cut runs as before. */
#include "host/run/run.h"
#include "tests/support/pinned_pair.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/split_matrix.h"
#include "tests/unit/split_ways.h"

enum { RANK = 6, DEEP = 32, MOST_BYTES = 4 * SPLIT_ENTRIES * 8 };

static const char *const shares[] = {"1", "50", "99"};

static void *cells(clf_dtype t) {
    enum { N = WIDE * DEEP };
    static double x[2][N];
    if (x[t == CLF_F32][0] == 0) /* not yet filled */
        for (int i = 0; i < N; i++) put_number(t, x[t == CLF_F32], i, number(3 * i + 2) / 64);
    return x[t == CLF_F32];
}

static void append(char *out, size_t *at, const void *from, size_t bytes) {
    CU_ASSERT_FATAL(*at + bytes <= MOST_BYTES);
    if (bytes) memcpy(out + *at, from, bytes);
    *at += bytes;
}

/* What is sparse: its entries. */
static void append_result(clf_mat *m, char *out, size_t *at) {
    const void *data = NULL;
    int64_t rows = 0, cols = 0, nnz = 0;
    clf_dtype t = CLF_F64;
    clf_storage is = {.struct_size = sizeof is};
    CU_ASSERT_EQUAL(clf_info(m, &rows, &cols, &t, NULL), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_storage_of(m, &is), CLF_OK);
    if (!strcmp(is.format, "csr")) {
        const int64_t *ptr;
        const int32_t *idx;
        CU_ASSERT_EQUAL_FATAL(clf_data_csr(m, &nnz, &ptr, &idx, &data), CLF_OK);
        append(out, at, data, (size_t)nnz * clf_dtype_bytes(t));
        return;
    }
    CU_ASSERT_EQUAL_FATAL(clf_data(m, &data), CLF_OK);
    append(out, at, data, (size_t)(rows * cols) * clf_dtype_bytes(t));
}

/* All results of a program, one behind the other; the bytes. Every other matrix has offsets of 32 bits. */
static size_t results_of(clf_ctx *c, const char *text, const sparse *s, clf_dtype t, char *out) {
    bool narrow = s->nnz % 2;
    const clf_sparse_options o = {.struct_size = sizeof o, .borrow = true, .offset_bytes = narrow ? 4 : 8};
    const void *ptr = narrow ? (const void *)s->ptr32 : s->ptr;
    void *x = cells(t);
    clf_binding vars[] = {{"X", clf_sparse_csr(c, t, s->rows, s->cols, s->nnz, ptr, s->idx, s->val, &o)},
                          {"w", clf_borrow(c, t, s->rows, 1, x, NULL, NULL)},
                          {"U", clf_borrow(c, t, s->rows, RANK, x, NULL, NULL)},
                          {"v", s->cols > WIDE ? NULL : clf_borrow(c, t, s->cols, 1, x, NULL, NULL)},
                          {"V", s->cols > WIDE ? NULL : clf_borrow(c, t, s->cols, RANK, x, NULL, NULL)},
                          {"D", clf_borrow(c, t, s->rows, DEEP, x, NULL, NULL)},
                          {"E", s->cols > WIDE ? NULL : clf_borrow(c, t, s->cols, DEEP, x, NULL, NULL)}};
    clf_result r[8];
    clf_mat *m[8];
    size_t n = 8, at = 0;
    clf_status st = clf_parse(c, text, vars, s->cols > WIDE ? 3 : 7, r, &n);
    for (size_t i = 0; i < n && st == CLF_OK; i++) m[i] = r[i].value;
    if (st == CLF_OK) st = clf_eval(n, m);
    if (st != CLF_OK) printf("\n    %s: %s\n", text, clf_last_error(c));
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    for (size_t i = 0; i < n; i++) append_result(m[i], out, &at);
    return at;
}

static char want[MOST_BYTES], got[MOST_BYTES];

/* How often a step was split; how often a kernel ran. */
typedef struct counted {
    uint64_t split, kernels;
} counted;

/* What is asked for, one after the other, against the device alone. */
static counted same_as_alone(clf_ctx *c, const char *text, kind k, clf_dtype t, const char *const *share, size_t nshare) {
    const sparse *s = matrix_of(k, t);
    const clf_stats before = stats_of(c);
    CU_ASSERT_EQUAL(clf_set(c, "split", "off"), CLF_OK);
    size_t n = results_of(c, text, s, t, want);
    const clf_stats alone = stats_of(c);
    CU_ASSERT_EQUAL(alone.launches_split, before.launches_split);
    for (size_t i = 0; i < nshare; i++) {
        CU_ASSERT_EQUAL(clf_set(c, "split", share[i]), CLF_OK);
        bool same = true;
        for (int again = 0; again < 2; again++) { /* by the same plan: counters are as they were */
            memset(got, 0x55, n);
            same = same && results_of(c, text, s, t, got) == n && !memcmp(got, want, n);
        }
        if (!same) printf("\n    %s, matrix %d of %s, %s %%: differs\n", text, (int)k, t == CLF_F32 ? "f32" : "f64", share[i]);
        CU_ASSERT(same);
    }
    const clf_stats after = stats_of(c);
    return (counted){after.launches_split - alone.launches_split, after.launches_tier2 - alone.launches_tier2};
}

/* How often it was split. */
static uint64_t same_bytes(clf_ctx *c, const char *text, kind k, clf_dtype t) {
    return same_as_alone(c, text, k, t, shares, sizeof shares / sizeof *shares).split;
}

static clf_ctx *open_way(size_t way) {
    clf_ctx *c = open_kernels();
    if (!c) return NULL;
    CU_ASSERT_EQUAL(clf_set(c, "strategy", strategies[way / 2]), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "host_pointers", pointers[way % 2]), CLF_OK);
    return c;
}

/* All are split, but for a matrix of one row and one of one entry, which may be. */
static void all_kinds(clf_ctx *c, const char *text, size_t way, size_t i) {
    for (int k = 0; k < KINDS; k++) {
        if (!takes(way, i, (size_t)k)) continue;
        uint64_t splits = same_bytes(c, text, (kind)k, type_of(way, i, (size_t)k));
        if (!splits && k != ALONE && k != FEW) printf("\n    %s, matrix %d is not split\n", text, k);
        CU_ASSERT(splits > 0 || k == ALONE || k == FEW);
    }
}

static void all_ways(const char *const *text, size_t n) {
    for (size_t way = 0; way < 4; way++) {
        clf_ctx *c = open_way(way);
        if (!c) return;
        for (size_t i = 0; i < n; i++) all_kinds(c, text[i], way, i);
        clf_close(c);
    }
}

/* What is kept of rows: sums over their entries, of products, too, of two sweeps, with cells beside them. */
static void test_rows(void) {
    static const char *const texts[] = {"X %*% v", "X %*% V", "rowMaxs(X)", "(X * (U %*% t(V))) %*% V", "w * (X / rowSums(X * X))"};
    all_ways(texts, sizeof texts / sizeof *texts);
}

/* What goes entry by entry: cells with the pattern of the operand. */
static void test_entries(void) {
    static const char *const texts[] = {"X * X + X", "X * (U %*% t(V))", "X * w"};
    all_ways(texts, sizeof texts / sizeof *texts);
}

/* Folds of all entries, of states of one, two and three words, with the cells without entry and without; beside cells. */
static void test_folds(void) {
    static const char *const texts[] = {"sum(X * (U %*% t(V)))", "max(X * w); min(X * w)", "var(X)", "Y = X * 3; Y; sum(Y * Y)"};
    all_ways(texts, sizeof texts / sizeof *texts);
}

/* Of the steps that are split as the setting is now those of which that is true. */
static int each_split(clf_ctx *c, bool (*is)(const clf_exe_step *e)) {
    int n = 0;
    for (int b = 0; b < CLF_PLAN_BUCKETS; b++)
        for (const clf_exe *x = c->run->plans[b]; x; x = x->next)
            for (int32_t s = 0; s < x->plan->nstep; s++) n += clf_exe_splits(&x->step[s]) && is(&x->step[s]);
    return n;
}

static bool has_long_positions(const clf_exe_step *e) { return e->sched.index_bits == 64; }

static void test_positions(void) {
    static const char *const texts[] = {"rowSums(X)", "X * w", "sum(X^2)"};
    for (size_t way = 0; way < 4; way++) {
        clf_ctx *c = open_way(way);
        if (!c) return;
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            CU_ASSERT(same_bytes(c, texts[i], BEYOND_INT, CLF_F64) > 0);
            CU_ASSERT_EQUAL(each_split(c, has_long_positions), 1);
        }
        clf_close(c);
    }
}

static bool is_blocked(const clf_exe_step *e) { return e->sched.variant >> 3 & 1; }

/* Products with a side beyond a core's own cache, by blocks of entries and of rows. */
static void test_blocks(void) {
    static const char *const texts[] = {"sum(X * (D %*% t(E)))", "X %*% E"};
    for (size_t way = 0; way < 2; way++) {
        clf_ctx *c = open_way(way);
        if (!c) return;
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            CU_ASSERT(same_bytes(c, texts[i], BLOCKS, CLF_F64) > 0);
            CU_ASSERT_EQUAL(each_split(c, is_blocked), 1);
        }
        clf_close(c);
    }
}

/* On either side of the cut there is about as much to do, however long rows are. */
static bool is_even(const clf_exe_step *e) {
    const clf_exe_entries *n = e->split->entries;
    double all = (double)(n->whole.rows + n->whole.nnz), first = (double)(n->end.row + n->end.entry) / all;
    return first > 0.3 && first < 0.7;
}

static void test_shares(void) {
    static const kind kinds[] = {EVEN, BANDS, UNEVEN};
    for (size_t way = 0; way < 4; way += 2)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            clf_ctx *c = open_way(way);
            if (!c) return;
            CU_ASSERT_EQUAL(clf_set(c, "split", "50"), CLF_OK);
            results_of(c, "X %*% v", matrix_of(kinds[k], CLF_F64), CLF_F64, got);
            CU_ASSERT_EQUAL(each_split(c, is_even), 1);
            clf_close(c);
        }
}

/* Of a sparse operand all is sent, once, and kept; of a dense one the device's rows, every time. */
static void test_transfers(void) {
    clf_ctx *c = open_way(1);
    if (!c) return;
    const sparse *s = matrix_of(EVEN, CLF_F64);
    uint64_t all = (uint64_t)(8 * (s->rows + 1) + 12 * s->nnz), sent[3] = {0};
    clf_mat *x = clf_sparse_csr(c, CLF_F64, s->rows, s->cols, s->nnz, s->ptr, s->idx, s->val, NULL);
    clf_mat *w = clf_borrow(c, CLF_F64, s->rows, 1, cells(CLF_F64), NULL, NULL);
    CU_ASSERT_EQUAL(clf_set(c, "split", "50"), CLF_OK);
    for (int i = 0; i < 3; i++) {
        clf_mat *m = clf_sum(clf_mul(clf_mul(x, clf_num(c, i + 2)), w));
        CU_ASSERT_EQUAL_FATAL(clf_eval(1, &m), CLF_OK);
        sent[i] = stats_of(c).bytes_to_device;
    }
    CU_ASSERT_EQUAL(stats_of(c).launches_split, 3);
    CU_ASSERT(sent[0] >= all && sent[0] < all + 4096); /* and what counts chunks; the host's memory is lent for w */
    CU_ASSERT(sent[1] - sent[0] < 4096 && sent[2] - sent[1] < 4096);
    clf_close(c);
}

/* A device as fast as the host has a part of it; where it has to get all of the operand first, as soon as that is there. */
static void test_figures(void) {
    for (int copies = 0; copies < 2; copies++) {
        clf_profile host, device;
        pinned_pair pair;
        clf_ctx *c = open_on(NULL);
        clf_device d = {.struct_size = sizeof d};
        pinned_pair_alike(&host, CLF_DEV_HOST, 0.05);
        pinned_pair_alike(&device, CLF_DEV_GPU, copies ? 0.1 : 0.05);
        device.zero_copy = !copies;
        if (copies) device.transfer_bytes_per_s = 7e7;
        CU_ASSERT_FATAL(pinned_pair_make(&pair, &host, &device) && pinned_pair_set(&pair, c));
        if (copies) CU_ASSERT_EQUAL(clf_set(c, "host_pointers", "off"), CLF_OK);
        bool there = clf_device_at(c, 1, &d);
        const sparse *s = matrix_of(EVEN, CLF_F64);
        clf_mat *x = clf_sparse_csr(c, CLF_F64, s->rows, s->cols, s->nnz, s->ptr, s->idx, s->val, NULL);
        clf_mat *m = clf_sum(clf_sqr(x));
        static text_sink t;
        CU_ASSERT_EQUAL(clf_explain(1, &m, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
        bool split = strstr(t.at, "split  ") != NULL;
        if (there && split != !copies) printf("\n    %s\n", t.at);
        CU_ASSERT_EQUAL(split, there && !copies);
        CU_ASSERT_EQUAL(clf_eval(1, &m), CLF_OK);
        CU_ASSERT_EQUAL(stats_of(c).launches_split, there && !copies);
        for (int i = 0; i < 8; i++) CU_ASSERT_EQUAL(clf_eval(1, &(clf_mat *){clf_sum(clf_mul(clf_sqr(x), clf_num(c, i + 2)))}), CLF_OK);
        CU_ASSERT_EQUAL(stats_of(c).launches_split > 0, there);
        CU_ASSERT(stats_of(c).bytes_to_device < (uint64_t)(8 * (s->rows + 1) + 12 * s->nnz) + 4096); /* once */
        clf_close(c);
        pinned_pair_remove(&pair);
    }
}

/* What meets at columns: sums, and products with the transpose, of one and of several cells a column, either way round; beside what is kept
 * of rows. Then so many entries and columns that blocks of rows that are neighbours meet as soon as both are there. */
static void test_columns(void) {
    static const char *const texts[] = {"t(X) %*% w", "colSums(X * X)",   "t(X) %*% (w * (X %*% v))",
                                        "t(X) %*% U", "t(U) %*% (X * X)", "Z = X %*% V; Z; t(X) %*% Z"};
    all_ways(texts, sizeof texts / sizeof *texts);
    for (size_t way = 0; way < 4; way++) {
        clf_ctx *c = open_way(way);
        if (!c) return;
        for (size_t i = 0; i < 5; i++) CU_ASSERT(!takes(way, i, 0) || same_bytes(c, texts[i], BLOCKS, CLF_F64) > 0);
        clf_close(c);
    }
}

/* A row of so many leaves that a group takes three turns, whose states it has on a stack: compilers for CPUs have let every work-item of the
 * group merge them, when they optimise. */
static void test_long_row(void) {
    for (size_t way = 2; way < 4; way++) {
        clf_ctx *c = open_way(way);
        if (!c) return;
        CU_ASSERT(same_bytes(c, "X %*% v", HUGE_FIRST, CLF_F64) > 0);
        clf_close(c);
    }
}

static const char *const three[] = {"45+25", "20+20", "30+69"};
enum { THREE = sizeof three / sizeof *three };

/* The host and two devices. */
static clf_ctx *open_three(const pinned_pair *pair, size_t way) {
    clf_ctx *c = pinned_pair_open(pair);
    if (!c) return NULL;
    CU_ASSERT(clf_set(c, "strategy", strategies[way / 2]) == CLF_OK && clf_set(c, "host_pointers", pointers[way % 2]) == CLF_OK);
    return c;
}

/* The host and two devices: of a step that is split one kernel runs, or two, and each of these texts is one step. Where one row has nearly
 * all entries there may be no place for three. */
static void test_three(void) {
    static const char *const texts[] = {
        "X %*% v",    "X * (U %*% t(V))", "(X * (U %*% t(V))) %*% V", "sum(X * (U %*% t(V)))", "max(X * w); min(X * w)",
        "t(X) %*% w", "colSums(X * X)",   "t(X) %*% (w * (X %*% v))"};
    clf_profile host, first, second;
    pinned_pair pair;
    pinned_pair_contrast_two(&host, &first, &second);
    CU_ASSERT_FATAL(pinned_pair_make(&pair, &host, &first) && pinned_pair_add(&pair, &second));
    for (size_t way = 0; way < 4; way++) {
        clf_ctx *c = open_three(&pair, way);
        if (!c) break;
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            for (int k = 0; k < KINDS; k++) {
                if (!takes(way, i, (size_t)k)) continue;
                counted n = same_as_alone(c, texts[i], (kind)k, type_of(way, i, (size_t)k), three, THREE);
                bool all = n.split == 2 * THREE && n.kernels == 2 * n.split;
                if (!all && k == EVEN) printf("\n    %s, way %d: not three every time\n", texts[i], (int)way);
                CU_ASSERT(all || k != EVEN);
                CU_ASSERT(n.kernels > n.split || k != BANDS);
            }
        clf_close(c);
    }
    pinned_pair_remove(&pair);
}

/* Chunks of another length on one of the devices: the second one begins where chunks of both do. */
static void test_lengths(void) {
    static const char *const texts[] = {"X %*% v", "X * (U %*% t(V))", "sum(X * X)", "colSums(X * X)"};
    for (size_t way = 0; way < 4; way++) {
        clf_profile host, device[2];
        pinned_pair pair;
        uint64_t together = 0;
        pinned_pair_contrast_two(&host, &device[0], &device[1]);
        for (size_t i = 0; i < 2 && way > 1; i++) { /* groups of so many work-items */
            device[i].kind = CLF_DEV_GPU;
            device[i].group_items[CLF_GROUP_ENTRIES] = i == way % 2 ? 64 : 256;
        }
        if (way < 2) device[way % 2].cores *= 4;
        CU_ASSERT_FATAL(pinned_pair_make(&pair, &host, &device[0]) && pinned_pair_add(&pair, &device[1]));
        clf_ctx *c = open_three(&pair, way);
        for (size_t i = 0; i < sizeof texts / sizeof *texts && c; i++) {
            counted n = same_as_alone(c, texts[i], EVEN, CLF_F64, three, THREE);
            together += n.kernels - n.split;
        }
        CU_ASSERT(!c || together > 0);
        clf_close(c);
        pinned_pair_remove(&pair);
    }
}

/* Nobody asks for it: of two devices as fast as the host each has a part, unless it is too slow. */
static void test_chosen(void) {
    for (int slow = 0; slow < 2; slow++) {
        static text_sink t;
        clf_profile host, first, second;
        pinned_pair pair;
        pinned_pair_alike(&host, CLF_DEV_HOST, 0.02);
        pinned_pair_alike(&first, CLF_DEV_GPU, 0.02);
        pinned_pair_alike(&second, CLF_DEV_GPU, slow ? 0.0001 : 0.02);
        CU_ASSERT_FATAL(pinned_pair_make(&pair, &host, &first) && pinned_pair_add(&pair, &second));
        clf_ctx *c = pinned_pair_open(&pair);
        if (!c) break;
        const sparse *s = matrix_of(EVEN, CLF_F64);
        clf_mat *m = clf_sum(clf_sqr(clf_sparse_csr(c, CLF_F64, s->rows, s->cols, s->nnz, s->ptr, s->idx, s->val, NULL)));
        CU_ASSERT_EQUAL(clf_explain(1, &m, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
        const char *split = strstr(t.at, "split  "), *also = split ? strstr(split, " % 2: ") : NULL;
        bool three_shares = also && also < strchr(split, '\n');
        if (!split || three_shares == slow) printf("\n    %s\n", t.at);
        CU_ASSERT(split && three_shares == !slow);
        CU_ASSERT_EQUAL(clf_eval(1, &m), CLF_OK);
        CU_ASSERT(stats_of(c).launches_split == 1 && stats_of(c).launches_tier2 == (slow ? 1 : 2));
        clf_close(c);
        pinned_pair_remove(&pair);
    }
}

/* One function, called with other numbers of entries each time: with more, with one, then as at first. */
static void test_anew(void) {
    static const kind kinds[] = {BANDS, EVEN, FEW, BANDS};
    enum { CALLS = sizeof kinds / sizeof *kinds };
    static double all[2][CALLS][COLS];
    clf_profile host, first, second;
    pinned_pair pair;
    pinned_pair_contrast_two(&host, &first, &second);
    CU_ASSERT_FATAL(pinned_pair_make(&pair, &host, &first) && pinned_pair_add(&pair, &second));
    for (size_t way = 0; way < 8; way++) {
        const size_t split = way % 2;
        clf_ctx *c = open_three(&pair, way / 2);
        clf_fn *f = NULL;
        if (!c) break;
        CU_ASSERT_EQUAL(clf_set(c, "split", split ? three[0] : "off"), CLF_OK);
        const clf_binding vars[] = {{"X", clf_param_sparse(c, CLF_F64, ROWS, COLS, 1000)},
                                    {"w", clf_borrow(c, CLF_F64, ROWS, 1, cells(CLF_F64), NULL, NULL)},
                                    {"v", clf_borrow(c, CLF_F64, COLS, 1, cells(CLF_F64), NULL, NULL)}};
        CU_ASSERT_EQUAL_FATAL(clf_fn_parse(c, "t(X) %*% (w * (X %*% v))", 1, vars, 3, &f), CLF_OK);
        for (int i = 0; i < CALLS; i++) {
            const sparse *s = matrix_of(kinds[i], CLF_F64);
            clf_mat *x = clf_sparse_csr(c, CLF_F64, s->rows, s->cols, s->nnz, s->ptr, s->idx, s->val, NULL), *y = NULL;
            CU_ASSERT_EQUAL_FATAL(clf_call(f, 1, &x, 1, &y), CLF_OK);
            CU_ASSERT_EQUAL(clf_read(y, all[split][i], sizeof all[split][i]), CLF_OK);
        }
        if (split) CU_ASSERT_EQUAL(memcmp(all[0], all[1], sizeof all[0]), 0);
        if (split) CU_ASSERT(stats_of(c).launches_split >= CALLS - 1 && stats_of(c).launches_tier2 > CALLS); /* few may be too few */
        clf_fn_free(f);
        clf_close(c);
    }
    pinned_pair_remove(&pair);
}

/* What else meets over rows is not cut: totals of what is folded by row, columns with cells without entry. */
static void test_uncut(void) {
    static const char *const texts[] = {"sum((X %*% v)^2)", "colMins(X)"};
    for (size_t way = 0; way < 4; way += 2) {
        clf_ctx *c = open_way(way);
        if (!c) return;
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) CU_ASSERT_EQUAL(same_bytes(c, texts[i], EVEN, CLF_F64), 0);
        clf_close(c);
    }
}

int main(void) {
    static const test_case tests[] = {{"rows", test_rows},           {"entries", test_entries}, {"folds", test_folds},
                                      {"positions", test_positions}, {"blocks", test_blocks},   {"shares", test_shares},
                                      {"transfers", test_transfers}, {"figures", test_figures}, {"columns", test_columns},
                                      {"long row", test_long_row},   {"three", test_three},     {"lengths", test_lengths},
                                      {"anew", test_anew},           {"chosen", test_chosen},   {"what is not cut", test_uncut}};
    pinned_pair_two_devices();
    return run_suite("split of entries", tests, sizeof tests / sizeof *tests);
}
